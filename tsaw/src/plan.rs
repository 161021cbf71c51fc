//! What a scheduler hands back: a placement, and the evidence for it.

use crate::{Level, NodeId, Placement, TaskId};

/// A task that changes its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Move {
    /// The task.
    pub task: TaskId,
    /// Where it was.
    pub from: NodeId,
    /// Where it goes.
    pub to: NodeId,
}

/// The loads of the live nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LoadStats {
    /// The largest.
    pub largest: u64,
    /// The smallest.
    pub smallest: u64,
    /// Standard deviation over the live nodes, equation (6).
    pub sigma: f64,
    /// The largest load over mean load; 1 if there is no load.
    pub imbalance: f64,
    /// The largest load over CPU of a node.
    pub peak: Level,
}

/// The evidence for a plan: every field can be worked out from graph, cluster and placement, and
/// [`verify`](crate::verify) does so.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Certificate {
    /// The placement that the plan starts from, if there is one.
    pub standing: Option<Placement>,
    /// Inter-node tuples a second of `standing`.
    pub cut_before: Option<i64>,
    /// Inter-node tuples a second, equation (7).
    pub cut_after: i64,
    /// Tuples a second times distance of `standing`.
    pub cost_before: Option<i64>,
    /// Tuples a second times distance. The same as the cut at flat distance.
    pub cost_after: i64,
    /// Tuples a second of all streams: by theorem 1 `cut_after` and what stays within nodes.
    pub total: i64,
    /// No placement whose loads are within `caps` cuts less.
    pub cut_lower_bound: i64,
    /// No placement whose loads are within `caps` costs less.
    pub cost_lower_bound: i64,
    /// Loads of `standing`.
    pub load_before: Option<LoadStats>,
    /// Loads.
    pub load: LoadStats,
    /// No placement on the nodes that the tasks are allowed has a lower peak.
    pub peak_lower_bound: Level,
    /// The CPU cap of each node that the placement keeps: the asked one, raised for all nodes to
    /// the peak if that is over it.
    pub caps: Vec<u64>,
    /// True if `caps` had to be raised over the asked ones.
    pub cap_relaxed: bool,
    /// Live nodes without a task.
    pub empty_nodes: u32,
    /// Live nodes with less than half of their share of the CPU.
    pub starved_nodes: u32,
    /// Where `standing` and the placement differ, by task.
    pub moves: Vec<Move>,
    /// State of the moved tasks.
    pub moved_bytes: u64,
}

impl Certificate {
    /// How far the cost may be from the least possible: 0 is proven optimal, 1 is no evidence.
    #[must_use]
    pub fn gap(&self) -> f64 {
        match self.cost_after {
            0 => 0.0,
            cost => (cost - self.cost_lower_bound) as f64 / cost as f64,
        }
    }
}

/// A placement that keeps every limit, with its certificate.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct Plan {
    /// The node of every task.
    pub placement: Placement,
    /// The evidence.
    pub certificate: Certificate,
    /// The steps that the search took, at most [`Options::steps`](crate::Options::steps).
    pub steps: u64,
}
