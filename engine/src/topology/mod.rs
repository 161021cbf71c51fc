//! Topologies: components joined by typed streams, checked whole before they run.

mod build;
mod combined;
mod error;
mod graph;
mod stream;

use core::fmt;
use std::sync::Arc;

pub(crate) use build::attach;
pub use build::{BoltBuilder, TopologyBuilder};
pub use error::{BuildError, BuildErrors};
pub use stream::Stream;
pub(crate) use stream::StreamMaker;

use crate::core::{ComponentId, Host, Plan, WorkerId};

/// Makes a component's part at one worker.
pub(crate) type MakeHost = Box<dyn Fn(&Arc<Plan>, WorkerId) -> Box<dyn Host> + Send + Sync>;

/// A checked topology with its settings, ready to run.
pub struct Topology {
    plan: Arc<Plan>,
    makers: Vec<MakeHost>,
    graph: graph::Drawing,
}

impl fmt::Debug for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Topology").field("plan", &self.plan).finish_non_exhaustive()
    }
}

impl Topology {
    /// Starts a topology.
    #[must_use]
    pub fn builder() -> TopologyBuilder {
        TopologyBuilder::new()
    }

    /// Components, edges, tables and settings.
    #[must_use]
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// Says which node each worker is on: workers of one node share memory, and local grouping
    /// prefers them. Workers beyond the list are on node 0, as all are where nothing is said.
    #[must_use]
    pub fn on_nodes(mut self, nodes: &[u32]) -> Self {
        let plan = Arc::make_mut(&mut self.plan);
        for (at, node) in plan.nodes.iter_mut().enumerate() {
            *node = nodes.get(at).copied().unwrap_or(0);
        }
        self
    }

    /// The graph in the DOT language of Graphviz.
    #[must_use]
    pub fn dot(&self) -> String {
        self.graph.dot()
    }

    /// Names of the components that tuples of `component` can reach, in topological order;
    /// empty for an unknown name.
    #[must_use]
    pub fn reachable(&self, component: &str) -> Vec<&str> {
        self.graph.reachable(component)
    }

    /// The components that have tasks on `worker`.
    pub(crate) fn hosts(&self, worker: WorkerId) -> Vec<Box<dyn Host>> {
        let ids = 0..ComponentId::try_from(self.makers.len()).unwrap_or(0);
        ids.zip(&self.makers)
            .filter(|(id, _)| self.plan.hosted(*id, worker, 0).next().is_some())
            .map(|(_, make)| make(&self.plan, worker))
            .collect()
    }
}
