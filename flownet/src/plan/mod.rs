//! Dispatch: which share of its tuples each node sends over each of its arcs.

mod balanced;
mod dispatcher;
mod fixed;
mod planner;
mod weights;

use alloc::vec::Vec;

pub use self::dispatcher::Dispatcher;
pub use self::planner::{PlanError, Planner, Policy, Split, plan};
pub use self::weights::largest_remainder;
use crate::{ArcId, NodeId};

/// What each node sends where, at one rate.
///
/// The shares of a node are ratios of whole numbers, its *parts*, and so exact: they add up to one.
/// A node that nothing flows through has none. With [`Policy::MinMax`] and [`Policy::Balanced`] the
/// shares do not depend on the rate, and are there at rate 0 too.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Plan {
    /// Where the arcs of each node begin; one more than nodes.
    first: Vec<u32>,
    /// The arcs that carry something, by the node that they leave, then by number.
    arcs: Vec<ArcId>,
    parts: Vec<u128>,
    totals: Vec<u128>,
    rate: f64,
    value: f64,
    arc_rates: Vec<f64>,
    node_rates: Vec<f64>,
}

impl Plan {
    /// From the parts of each arc by its number, and the tuples on each arc and at each node when
    /// `value` flows.
    fn new(
        ends: impl ExactSizeIterator<Item = NodeId> + Clone,
        by_arc: &[u128],
        [rate, value]: [f64; 2],
        arc_rates: Vec<f64>,
        node_rates: Vec<f64>,
    ) -> Self {
        let nodes = node_rates.len();
        let mut first = alloc::vec![0_u32; nodes + 2];
        let mut totals = alloc::vec![0_u128; nodes];
        for (from, &part) in ends.clone().zip(by_arc) {
            first[from.index() + 2] += u32::from(part > 0);
            totals[from.index()] += part;
        }
        for node in 2..nodes + 2 {
            first[node] += first[node - 1];
        }
        let count = first[nodes + 1] as usize;
        let (mut arcs, mut parts) = (alloc::vec![ArcId(0); count], alloc::vec![0; count]);
        for ((from, &part), id) in ends.zip(by_arc).zip(0..) {
            if part > 0 {
                let place = &mut first[from.index() + 1];
                arcs[*place as usize] = ArcId(id);
                parts[*place as usize] = part;
                *place += 1;
            }
        }
        first.pop();
        Plan { first, arcs, parts, totals, rate, value, arc_rates, node_rates }
    }

    /// The rate that was asked for, in source tuples.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// What of it the network can carry.
    #[must_use]
    pub fn value(&self) -> f64 {
        self.value
    }

    /// The arcs that a node sends over, in order of their numbers, with the parts of each. Its share
    /// is the part divided by the sum of all of the node, exactly. Empty for a node that nothing
    /// flows through, and for one that does not exist.
    pub fn parts(&self, node: NodeId) -> impl ExactSizeIterator<Item = (ArcId, u128)> + '_ {
        let range = self.range(node);
        self.arcs[range.clone()].iter().copied().zip(self.parts[range].iter().copied())
    }

    /// The same with each share as a float, rounded.
    pub fn shares(&self, node: NodeId) -> impl ExactSizeIterator<Item = (ArcId, f64)> + '_ {
        let total = self.totals.get(node.index()).copied().unwrap_or(1);
        self.parts(node).map(move |(arc, part)| (arc, part as f64 / total as f64))
    }

    /// The tuples that an arc carries at [`Self::value`]; 0 if there is no such arc, infinite if gains
    /// make more of them than a float holds.
    #[must_use]
    pub fn arc_rate(&self, arc: ArcId) -> f64 {
        self.arc_rates.get(arc.index()).copied().unwrap_or(0.0)
    }

    /// The tuples that a node gets at [`Self::value`]; 0 if there is no such node, infinite as above.
    #[must_use]
    pub fn node_rate(&self, node: NodeId) -> f64 {
        self.node_rates.get(node.index()).copied().unwrap_or(0.0)
    }

    /// How many of `slots` equal slots each arc of a node gets: its share, rounded down, and one
    /// more for those with the largest remainders, the first of equal ones. Exact. They add up to
    /// `slots`; an arc may get none. Empty where [`Self::parts`] is. O(d log d).
    #[must_use]
    pub fn weights(&self, node: NodeId, slots: u32) -> Vec<(ArcId, u32)> {
        let range = self.range(node);
        let weights = largest_remainder(&self.parts[range.clone()], slots);
        self.arcs[range].iter().copied().zip(weights).collect()
    }

    /// A dispatcher of single tuples over the arcs of a node, by [`Self::weights`]; `None` where
    /// [`Self::parts`] is empty, or `slots` is 0 or more than [`Dispatcher::MAX_PERIOD`] and the
    /// period as well. O(slots · log d).
    #[must_use]
    pub fn dispatcher(&self, node: NodeId, slots: u32) -> Option<Dispatcher> {
        let weights = self.weights(node, slots);
        let (arcs, weights): (Vec<_>, Vec<_>) = weights.into_iter().unzip();
        Dispatcher::with_items(&weights, &arcs)
    }

    fn range(&self, node: NodeId) -> core::ops::Range<usize> {
        match (self.first.get(node.index()), self.first.get(node.index() + 1)) {
            (Some(&begin), Some(&end)) => begin as usize..end as usize,
            _ => 0..0,
        }
    }

    /// The share of what a node sends that goes over an arc; 0 if the arc does not leave the node, or
    /// nothing flows there. O(log d).
    #[must_use]
    pub fn share(&self, from: NodeId, arc: ArcId) -> f64 {
        let range = self.range(from);
        match self.arcs[range.clone()].binary_search(&arc) {
            Ok(place) => self.parts[range.start + place] as f64 / self.totals[from.index()] as f64,
            Err(_) => 0.0,
        }
    }
}
