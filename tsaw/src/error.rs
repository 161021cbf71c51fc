//! What can be wrong with an input, and why no plan came of it.

use crate::{ComponentId, NodeId, TaskId};

/// The largest sum of rates, of memory and of state that a graph may have: 2⁶⁰. Below it no sum
/// of this crate overflows.
pub const MAX_TOTAL: u64 = 1 << 60;

/// The largest sum of CPU that the tasks of a graph, or the nodes of a cluster, may have: 2⁴⁸.
/// It is smaller, as shares of CPU are multiplied.
pub const MAX_CPU_TOTAL: u64 = 1 << 48;

/// The largest number of nodes.
pub const MAX_NODES: usize = 1 << 16;

/// What is wrong with a graph, a cluster or a placement as it was given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The graph has no such task.
    #[error("{0} was never added to the graph")]
    UnknownTask(TaskId),
    /// The graph has no such component.
    #[error("component {} was never added to the graph", .0.0)]
    UnknownComponent(ComponentId),
    /// The cluster has no such node.
    #[error("{0} is not of the cluster")]
    UnknownNode(NodeId),
    /// A rate is below zero, as after a counter was reset.
    #[error("the stream from {from} to {to} has the negative rate {rate}: drop the sample")]
    NegativeRate {
        /// Sender.
        from: TaskId,
        /// Receiver.
        to: TaskId,
        /// The rate.
        rate: i64,
    },
    /// The rates, or the rates times the largest distance, sum to more than [`MAX_TOTAL`].
    #[error("the rates (times the largest distance) sum to more than 2^60: use a larger unit")]
    RateOverflow,
    /// The CPU of the tasks or of the nodes sums to more than [`MAX_CPU_TOTAL`].
    #[error("CPU sums to more than 2^48: use a larger unit")]
    CpuOverflow,
    /// The memory of the tasks sums to more than [`MAX_TOTAL`].
    #[error("memory sums to more than 2^60: use a larger unit")]
    MemoryOverflow,
    /// The state of the tasks sums to more than [`MAX_TOTAL`].
    #[error("state sums to more than 2^60 bytes: use a larger unit")]
    StateOverflow,
    /// More than 2³² − 1 tasks.
    #[error("more tasks than 2^32 - 1")]
    TooManyTasks,
    /// A group that may be on no node.
    #[error("a spread group with at most 0 tasks a node can be placed nowhere")]
    SpreadOfZero,
    /// A task is twice in one spread group.
    #[error("{0} is twice in one spread group")]
    SpreadTwice(TaskId),
    /// A cluster without a node.
    #[error("the cluster has no node")]
    NoNodes,
    /// More than [`MAX_NODES`] nodes.
    #[error("{0} nodes are more than 65536")]
    TooManyNodes(usize),
    /// A node that is up and has no CPU: mark it dead instead.
    #[error("{0} has no CPU: mark it dead")]
    ZeroCpu(NodeId),
    /// An imbalance that is no number from 0 to 1000.
    #[error("the imbalance {0} is no number from 0 to 1000")]
    Imbalance(String),
    /// The distances are no symmetric square over the nodes, zero exactly on the diagonal.
    #[error(
        "the distance between nodes {0} and {1} is missing, asymmetric, or zero off the diagonal, or not zero on it"
    )]
    Distance(usize, usize),
    /// Racks whose inner distance is zero, or larger than the one across.
    #[error("distances of racks need 0 < same <= cross")]
    RackDistance,
    /// A pin without a node.
    #[error("{0} is pinned to no node at all")]
    EmptyPin(TaskId),
    /// A placement for another number of tasks.
    #[error("the placement has {got} tasks, the graph {want}")]
    PlacementLength {
        /// Tasks of the placement.
        got: usize,
        /// Tasks of the graph.
        want: usize,
    },
    /// A number that an instance or a baseline can't be made from.
    #[error("{what}: {why}")]
    Parameter {
        /// The parameter.
        what: &'static str,
        /// The rule it broke.
        why: &'static str,
    },
}

/// A resource of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Resource {
    /// CPU under the cap.
    Cpu,
    /// Memory.
    Memory,
    /// Tuples a second that enter or leave the node.
    Bandwidth,
    /// Members of a spread group on one node.
    Spread,
}

/// By how much a placement breaks each hard limit, summed over the nodes. All zero: none broken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Excess {
    /// CPU over the cap.
    pub cpu: u64,
    /// Memory over the node's.
    pub memory: u64,
    /// Inter-node tuples a second over the node's bandwidth.
    pub bandwidth: u64,
    /// Tasks of spread groups over their limit.
    pub spread: u64,
    /// Tasks on a node that is dead, that they are not pinned to, or that lacks their source.
    pub misplaced: u64,
    /// Tasks away from the task that leads their colocation group.
    pub parted: u64,
}

impl Excess {
    /// True if no limit is broken.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// The cluster and the graph don't fit together.
    #[error(transparent)]
    Input(#[from] BuildError),
    /// Every node is dead.
    #[error("no node is alive")]
    NoNodes,
    /// No node is allowed to hold this task, or its colocation group.
    #[error("{0} may be placed nowhere: its pins, its source and its group leave no live node")]
    PinConflict(TaskId),
    /// One task, or its colocation group, is larger than every node that may hold it.
    #[error(
        "{task} with its group needs {need} of {resource:?}, no node that may hold it offers more than {best}"
    )]
    TaskTooLarge {
        /// The first task of the group.
        task: TaskId,
        /// Of what it needs too much.
        resource: Resource,
        /// How much it needs.
        need: u64,
        /// The most that a node offers.
        best: u64,
    },
    /// Proof that no placement keeps the limits: all that needs a resource needs `lower_bound`
    /// of it at least, and the nodes offer `cap`.
    #[error(
        "no placement fits: at least {lower_bound} of {resource:?} are needed, {cap} are there"
    )]
    Infeasible {
        /// The resource.
        resource: Resource,
        /// What every placement needs at least.
        lower_bound: u64,
        /// What the nodes in question offer.
        cap: u64,
    },
    /// None was found, and none was proven not to exist. More steps may help.
    #[error(
        "no placement found within the steps: the best breaks {best_excess:?}; the largest load can't be under {bound}"
    )]
    NotFound {
        /// What the best placement found breaks.
        best_excess: Excess,
        /// The lower bound for the largest load over CPU of a node.
        bound: crate::Level,
    },
    /// A baseline that gives up where no node takes a task.
    #[error("the baseline found no room for {0}: it never goes back on a choice")]
    Unplaced(TaskId),
    /// Proof that the limits can't be kept within the budget for moves or bytes: so many are
    /// needed at least.
    #[error("at least {moves} moves and {bytes} bytes are needed, more than the budget")]
    BudgetTooSmall {
        /// A lower bound for the moves.
        moves: u64,
        /// A lower bound for the moved bytes.
        bytes: u64,
    },
}
