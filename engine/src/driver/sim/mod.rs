//! The simulator: the same engine in virtual time, over a cluster under faults.
//!
//! A run is a function of the topology, the scenario and one seed: the same three give the same
//! events, counts and [`Outcome::trace`], on every machine, in debug and in release. So whatever
//! fails can be looked at again, and what a cluster of eight machines would do can be tried on a
//! laptop. Nothing waits: an hour of virtual time takes as long as its events do.
//!
//! # What is simulated
//! - [`Cluster`]: nodes with cores, speed and memory; links with latency and bandwidth. Workers are
//!   threads of nodes; the cores of a node are shared by its workers, and a step of a worker waits
//!   for a core.
//! - [`Cost`]: how long a component's code takes. The code itself runs for real, in no virtual time.
//! - [`Faults`]: loss, repeats, delay, reordering; nodes that are slow, unreachable, or crash.
//!
//! The engine's rules hold as on threads: bounded queues (batches on their way counted), acks and
//! replays, epochs, time-outs by a clock that stands while a worker is long in one step.
//!
//! # What is not
//! That a place of a queue is free is known to a sender as word of it has travelled the link's latency;
//! that another sender took it, at once. No fault of the network touches such words, nor used-up
//! memory on its way back.
//!
//! User code must be a function of what the engine gives it: a spout with a thread of its own, a
//! random number or a look at the wall clock makes a run that cannot be repeated. A
//! [`TaskContext`](crate::TaskContext)'s waker works, where it is called from within the run.

mod audit;
mod calendar;
mod check;
mod clock;
mod cluster;
mod deliver;
mod dice;
mod end;
mod engine;
mod error;
mod faults;
mod hands;
mod incarnation;
mod letters;
mod link;
mod net;
mod node;
mod outcome;
mod post;
mod queues;
mod seat;
mod step;
mod trace;
mod wakers;
mod windows;

use core::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

pub use cluster::{Cluster, Cost, Link, Node, Overhead};
pub use error::{Cause, SimError};
pub use faults::{Event, Fault, Faults};
pub use outcome::{FaultStats, LinkStats, NodeStats, Outcome, Traffic};

use crate::component::BoxError;
use crate::report::DeadLetter;
use crate::topology::Topology;

/// A simulation to be run. See the [module](self).
pub struct Sim {
    cluster: Cluster,
    faults: Faults,
    seed: u64,
    costs: Vec<(String, Cost)>,
    bytes: Vec<(String, u64)>,
    overhead: Overhead,
    workers_on: Option<Vec<usize>>,
    drain_at: Option<Duration>,
    stop_at: Option<Duration>,
    until: Duration,
    events: u64,
    letters: Option<letters::Handler>,
    stop_when: Option<Arc<AtomicBool>>,
}

impl fmt::Debug for Sim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sim")
            .field("cluster", &self.cluster)
            .field("faults", &self.faults)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}

impl Sim {
    /// A simulation on this cluster: no faults, seed 0, every component at its default [`Cost`],
    /// workers round robin over the nodes, at most an hour of virtual time.
    #[must_use]
    pub fn new(cluster: Cluster) -> Self {
        Sim {
            cluster,
            faults: Faults::default(),
            seed: 0,
            costs: Vec::new(),
            bytes: Vec::new(),
            overhead: Overhead::default(),
            workers_on: None,
            drain_at: None,
            stop_at: None,
            until: Duration::from_secs(3600),
            events: 1_000_000_000,
            letters: None,
            stop_when: None,
        }
    }

    /// The seed of all chances of the network. (The engine draws from
    /// [`Config::seed`](crate::Config::seed).)
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// What goes wrong.
    #[must_use]
    pub fn faults(mut self, faults: Faults) -> Self {
        self.faults = faults;
        self
    }

    /// What the code of a component costs. Said twice, the later one counts.
    #[must_use]
    pub fn cost(mut self, component: &str, cost: Cost) -> Self {
        self.costs.push((component.to_owned(), cost));
        self
    }

    /// Bytes of each tuple that a component emits, in place of what
    /// [`Batch::size`](crate::Batch::size) says, which for `Vec<T>` leaves out what the items point
    /// to.
    #[must_use]
    pub fn bytes(mut self, component: &str, tuple: u64) -> Self {
        self.bytes.push((component.to_owned(), tuple));
        self
    }

    /// What the engine's own work costs.
    #[must_use]
    pub fn overhead(mut self, overhead: Overhead) -> Self {
        self.overhead = overhead;
        self
    }

    /// The node of each worker, by its place in [`Cluster::nodes`]; in place of round robin, and of
    /// what [`Topology::on_nodes`] says. Workers of dedicated tasks come after the others, and may be
    /// left out: then they are round robin over the nodes.
    #[must_use]
    pub fn workers_on(mut self, nodes: Vec<usize>) -> Self {
        self.workers_on = Some(nodes);
        self
    }

    /// Tells the topology at this time to drain: spouts emit nothing new, what is under way is
    /// finished, within [`Config::drain`](crate::Config::drain).
    #[must_use]
    pub fn drain_at(mut self, at: Duration) -> Self {
        self.drain_at = Some(at);
        self
    }

    /// Stops the topology at this time, wherever it is.
    #[must_use]
    pub fn stop_at(mut self, at: Duration) -> Self {
        self.stop_at = Some(at);
        self
    }

    /// Stops the topology, wherever it is, soon after this is set from outside of the run. Where
    /// that falls in virtual time is chance: such a run cannot be repeated.
    #[must_use]
    pub fn stop_when(mut self, flag: Arc<AtomicBool>) -> Self {
        self.stop_when = Some(flag);
        self
    }

    /// The longest virtual time that the topology may take: past it the run fails.
    #[must_use]
    pub fn until(mut self, time: Duration) -> Self {
        self.until = time;
        self
    }

    /// The most events that the run may take (10⁹ where nothing is said): past them it fails.
    #[must_use]
    pub fn most_events(mut self, events: u64) -> Self {
        self.events = events;
        self
    }

    /// Where dead letters go, in place of the report: called as each is written, in the middle of
    /// the run. An error or a panic ends the run.
    #[must_use]
    pub fn on_letter(
        mut self,
        handler: impl FnMut(DeadLetter) -> Result<(), BoxError> + Send + 'static,
    ) -> Self {
        self.letters = Some(Box::new(handler));
        self
    }

    /// Runs a topology to its end.
    ///
    /// # Errors
    /// Where the scenario makes no sense, with the culprit; where the topology fails, does not end
    /// or crashes, with the seed that repeats it: see [`SimError`].
    ///
    /// # Panics
    /// Only where a panic of the caller's code escapes: a handler's or an item's is caught. The
    /// seed is printed then.
    pub fn run(mut self, topology: Topology) -> Result<Outcome, SimError> {
        let plan = topology.plan();
        check::cluster(&self.cluster)?;
        check::faults(&self.faults, self.cluster.nodes.len())?;
        for &(ref name, cost) in &self.costs {
            check::component(plan, "cost", name)?;
            check::cost(name, cost)?;
        }
        for (name, _) in &self.bytes {
            check::component(plan, "bytes", name)?;
        }
        check::time(|| "until".to_owned(), self.until)?;
        check::time(|| "drain_at".to_owned(), self.drain_at.unwrap_or_default())?;
        check::time(|| "stop_at".to_owned(), self.stop_at.unwrap_or_default())?;
        let Overhead { step, message } = self.overhead;
        check::time(|| "the overhead of a step".to_owned(), step)?;
        check::time(|| "the overhead of a message".to_owned(), message)?;
        let (nodes, workers) = (self.cluster.nodes.len(), plan.config.workers as usize);
        let on = self.workers_on.take();
        let on = on.unwrap_or_else(|| (0..workers).map(|worker| worker % nodes).collect());
        let shared = plan.shared as usize;
        let mut on = on;
        if on.len() == shared {
            on.extend((shared..workers).map(|worker| worker % nodes));
        }
        if on.len() != workers {
            return Err(SimError::Workers { given: on.len(), workers: shared });
        }
        if let Some(worker) = on.iter().position(|&node| node >= nodes) {
            return Err(SimError::NoSuchNode { worker, node: on[worker], nodes });
        }
        let on: Vec<u32> = on.iter().map(|&n| u32::try_from(n).unwrap_or(0)).collect();
        let topology = topology.on_nodes(&on);
        let named = Named(self.seed);
        let letters = self.letters.take();
        let outcome = engine::Engine::new(&self, &topology, on)?.run(letters);
        drop(named);
        outcome
    }
}

/// Prints the seed where a panic passes through the run.
struct Named(u64);

impl Drop for Named {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the run failed with seed {}", self.0);
        }
    }
}
