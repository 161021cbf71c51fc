//! The limits of a network in source-equivalent units.

use alloc::vec::Vec;

use super::{Violation, gains};
use crate::{ArcId, Capacity, Limit, Network, NodeId};

/// A network and the units of its nodes.
pub(super) struct Limits<'a, C> {
    pub(super) net: &'a Network<C>,
    /// Tuples that a node gets, and that it sends, for each source tuple; 0 where no flow can be.
    units: Option<Vec<(f64, f64)>>,
}

impl<'a, C: Capacity> Limits<'a, C> {
    pub(super) fn new(net: &'a Network<C>, units: Option<Vec<f64>>) -> Self {
        let units = units.map(|units| {
            let mut both: Vec<_> = units.into_iter().map(|gets| (gets, gets)).collect();
            for (node, gain) in net.gains() {
                both[node.index()].1 *= gain;
            }
            both
        });
        Limits { net, units }
    }

    /// A limit at a node.
    pub(super) fn at_node(&self, limit: Limit<C>, node: NodeId) -> Result<Limit<C>, Violation> {
        match &self.units {
            None => Ok(limit),
            Some(units) => gains::share(limit, units[node.index()].0).ok_or(Violation::BadNetwork),
        }
    }

    /// The capacity of each arc, with its number and ends.
    pub(super) fn arcs(
        &self,
    ) -> impl Iterator<Item = Result<(ArcId, NodeId, NodeId, Limit<C>), Violation>> {
        (0..).map(ArcId).zip(self.net.arcs()).map(|(id, arc)| {
            let limit = match &self.units {
                None => arc.capacity,
                Some(units) => {
                    let (_, sends) = units[arc.from.index()];
                    let passing = if units[arc.to.index()].0 == 0.0 { 0.0 } else { sends };
                    gains::share(arc.capacity, passing).ok_or(Violation::BadNetwork)?
                }
            };
            Ok((id, arc.from, arc.to, limit))
        })
    }

    /// The least amount that may have been rounded: 2^53 times the lowest bit of all limits.
    pub(super) fn rounded_from(&self, rate: Option<C>) -> Result<f64, Violation> {
        let mut lowest = f64::INFINITY;
        if !C::ROUNDED {
            return Ok(lowest);
        }
        let mut look = |limit| {
            if let Limit::Finite(c) = limit {
                lowest = lowest.min(C::lowest_bit(c));
            }
        };
        for arc in self.arcs() {
            let (_, from, to, limit) = arc?;
            if from != to {
                look(limit);
            }
        }
        for (node, capacity) in self.net.node_capacities() {
            look(self.at_node(Limit::Finite(capacity), node)?);
        }
        for (node, bound) in self.net.sources().chain(self.net.sinks()) {
            look(self.at_node(bound, node)?);
        }
        if let Some(rate) = rate {
            look(Limit::Finite(rate));
        }
        Ok(lowest * (1_u64 << 53) as f64)
    }
}
