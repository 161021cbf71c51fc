//! Why a simulation was refused, or failed.

use std::time::Duration;

use crate::report::RunError;

/// Why a simulation was refused, or failed. A message of a failed run ends with the seed that
/// repeats it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SimError {
    /// The cluster has no node.
    #[error("the cluster has no node")]
    NoNode,
    /// More nodes than can be simulated.
    #[error("the cluster has {nodes} nodes, over the limit of {limit}")]
    TooManyNodes {
        /// The nodes.
        nodes: usize,
        /// The limit.
        limit: usize,
    },
    /// A node has no core.
    #[error("node {node} ({name}) has no core: give it at least 1")]
    NoCore {
        /// The node.
        node: usize,
        /// Its name.
        name: String,
    },
    /// A node's speed is no number above zero, or out of all measure.
    #[error("node {node} ({name}) has speed {speed}: it must be from 0.000001 to 1000000")]
    Speed {
        /// The node.
        node: usize,
        /// Its name.
        name: String,
        /// Its speed.
        speed: f64,
    },
    /// A link carries nothing.
    #[error("{link} has bandwidth 0: nothing would ever arrive")]
    Bandwidth {
        /// Which link.
        link: String,
    },
    /// A link between nodes of which one does not exist, or of a node to itself.
    #[error("a link is between nodes {from} and {to}: of {nodes} nodes name two, from 0")]
    Ends {
        /// One end.
        from: usize,
        /// The other.
        to: usize,
        /// Nodes in the cluster.
        nodes: usize,
    },
    /// Something is said of a component that the topology does not have.
    #[error("{field} is given for the component {component:?}, which the topology does not have{}", hint(.nearest.as_deref()))]
    UnknownComponent {
        /// What is said: `cost` or `bytes`.
        field: &'static str,
        /// The component.
        component: String,
        /// The name nearest to it.
        nearest: Option<String>,
    },
    /// A worker is on a node that does not exist.
    #[error("worker {worker} is on node {node}, and there are {nodes} nodes, from 0")]
    NoSuchNode {
        /// The worker.
        worker: usize,
        /// The node.
        node: usize,
        /// Nodes in the cluster.
        nodes: usize,
    },
    /// Nodes are given for more or fewer workers than there are.
    #[error("nodes are given for {given} workers, and the topology has {workers}")]
    Workers {
        /// Workers that nodes are given for.
        given: usize,
        /// Workers of the topology.
        workers: usize,
    },
    /// A fault happens to a node that does not exist.
    #[error("fault {fault} happens to node {node}, and there are {nodes} nodes, from 0")]
    FaultNode {
        /// The fault's place among the events.
        fault: usize,
        /// The node.
        node: usize,
        /// Nodes in the cluster.
        nodes: usize,
    },
    /// A node is slowed by no number above zero, or out of all measure.
    #[error("fault {fault} slows a node by {factor}: it must be from 0.000001 to 1000000")]
    Factor {
        /// The fault's place among the events.
        fault: usize,
        /// The factor.
        factor: f64,
    },
    /// A chance is above a million in a million.
    #[error("{field} is {chance} in a million: at most 1000000")]
    Chance {
        /// Which chance.
        field: &'static str,
        /// Its value.
        chance: u32,
    },
    /// A time is longer than a run can be.
    #[error("{field} is {time:?}: at most {most:?}")]
    Time {
        /// Which time.
        field: String,
        /// Its value.
        time: Duration,
        /// The longest.
        most: Duration,
    },
    /// The topology ended before its time.
    #[error("{error} (at {at:?}; seed {seed})")]
    Run {
        /// Why.
        error: RunError,
        /// When.
        at: Duration,
        /// The seed that repeats it.
        seed: u64,
    },
    /// A node crashed, and nothing brings its tasks back.
    #[error("node {node} crashed, {cause} (at {at:?}; seed {seed})")]
    Crashed {
        /// The node.
        node: usize,
        /// Why.
        cause: Cause,
        /// When.
        at: Duration,
        /// The seed that repeats it.
        seed: u64,
    },
    /// Nothing is left to happen, and the topology has not ended.
    #[error("a deadlock: nothing is left to happen; {holds} (at {at:?}; seed {seed})")]
    Deadlock {
        /// What holds it.
        holds: String,
        /// When.
        at: Duration,
        /// The seed that repeats it.
        seed: u64,
    },
    /// The topology has not ended within its time.
    #[error("no end within {limit}, after {events} events; {holds} (at {at:?}; seed {seed})")]
    NoEnd {
        /// The limit that was passed: of virtual time, or of events.
        limit: String,
        /// What holds it.
        holds: String,
        /// Events so far.
        events: u64,
        /// When.
        at: Duration,
        /// The seed that repeats it.
        seed: u64,
    },
    /// A complete run left batches in queues: a fault of the engine.
    #[error("{batches} batches were left in queues at the end (at {at:?}; seed {seed})")]
    LeftOver {
        /// How many.
        batches: u64,
        /// When.
        at: Duration,
        /// The seed that repeats it.
        seed: u64,
    },
    /// The places taken in a queue are not those of its batches: a fault of the simulator.
    #[error(
        "worker {worker} has {taken} places taken at {component}, for {batches} batches (at {at:?}; seed {seed})"
    )]
    Places {
        /// The worker.
        worker: usize,
        /// The component.
        component: String,
        /// Places taken.
        taken: u64,
        /// Batches that wait or are on their way there.
        batches: u64,
        /// When.
        at: Duration,
        /// The seed that repeats it.
        seed: u64,
    },
}

/// Why a node crashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Cause {
    /// The scenario says so.
    #[error("as the scenario says")]
    Scenario,
    /// It was unreachable for too long.
    #[error("unreachable for longer than the limit")]
    Unreachable,
    /// Its batches took more than its memory.
    #[error("out of memory: {bytes} bytes of batches, {memory} allowed")]
    Memory {
        /// Bytes of batches there.
        bytes: u64,
        /// Bytes allowed.
        memory: u64,
    },
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!(": did you mean {name:?}?"))
}
