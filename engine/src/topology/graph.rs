//! The topology as a graph: order, reachability, drawing.

use petgraph::dot::{Config as DotConfig, Dot};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{Dfs, Walker};

use crate::core::{ComponentPlan, EdgePlan};

/// The graph of components and edges, labelled for people.
#[derive(Debug)]
pub(crate) struct Drawing {
    graph: DiGraph<String, String>,
    names: Vec<String>,
    order: Vec<NodeIndex>,
}

impl Drawing {
    pub(crate) fn new(components: &[ComponentPlan], edges: &[EdgePlan]) -> Self {
        let mut graph = DiGraph::new();
        let nodes: Vec<NodeIndex> =
            components.iter().map(|c| graph.add_node(format!("{} ×{}", c.name, c.tasks))).collect();
        for edge in edges {
            let (from, to) = (nodes[edge.from as usize], nodes[edge.to as usize]);
            graph.add_edge(from, to, edge.grouping.to_owned());
        }
        // A bolt's inputs are streams of components declared before it, so there is no cycle.
        let order = petgraph::algo::toposort(&graph, None).unwrap_or(nodes);
        let names = components.iter().map(|c| c.name.clone()).collect();
        Drawing { graph, names, order }
    }

    /// The place of each component in a topological order.
    pub(crate) fn ranks(&self) -> Vec<u32> {
        let mut ranks = vec![0; self.order.len()];
        for (rank, node) in self.order.iter().enumerate() {
            ranks[node.index()] = u32::try_from(rank).unwrap_or(u32::MAX);
        }
        ranks
    }

    pub(crate) fn dot(&self) -> String {
        format!("{:?}", Dot::with_config(&Labels(&self.graph).plain(), &[] as &[DotConfig]))
    }

    pub(crate) fn reachable(&self, name: &str) -> Vec<&str> {
        let Some(at) = self.names.iter().position(|n| n == name) else { return Vec::new() };
        let start = NodeIndex::new(at);
        let seen: Vec<NodeIndex> = Dfs::new(&self.graph, start).iter(&self.graph).collect();
        self.order
            .iter()
            .filter(|node| **node != start && seen.contains(node))
            .map(|node| self.names[node.index()].as_str())
            .collect()
    }
}

/// Labels that print without quotes of their own.
struct Labels<'a>(&'a DiGraph<String, String>);

struct Plain(String);

impl core::fmt::Debug for Plain {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Labels<'_> {
    fn plain(&self) -> DiGraph<Plain, Plain> {
        self.0.map(|_, n| Plain(n.clone()), |_, e| Plain(e.clone()))
    }
}
