//! Where a single raise helps.

use alloc::vec::Vec;

use crate::{Answer, Capacity, Limit, Network, Place, Side};

/// A limit whose raise alone would raise the flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bottleneck<C> {
    /// Whose limit it is.
    pub at: Place,
    /// The limit as it stands in the network, in tuples and not in source-equivalent units.
    pub limit: C,
}

/// The limits whose raise alone would raise the flow: those that every minimum cut goes through.
/// In order: the rate, sources, nodes, arcs, sinks.
///
/// A limit helps if its near end can still be reached from the sources and the sinks from its far
/// end, and these two are what the two cuts of the answer tell. There may be none: two cuts in
/// series hold each other. A limit of zero says that something is not there, and is never named.
/// Empty for an answer that was stopped. If a cut has too few sides, which is so in no answer of a
/// solver, the nodes that are missing count as being with the sources.
///
/// # Complexity
/// O(V + E).
#[must_use]
pub fn bottlenecks<C: Capacity>(net: &Network<C>, answer: &Answer<C>) -> Vec<Bottleneck<C>> {
    let (Some(near), Some(far)) = (&answer.source_cut, &answer.sink_cut) else {
        return Vec::new();
    };
    let side = |cut: &crate::Cut<C>, node: crate::NodeId| {
        cut.sides.get(node.index()).copied().unwrap_or(Side::Source)
    };
    // Flow can still come to where the node takes, or sends.
    let comes = |node| side(near, node).takes();
    let sends = |node| side(near, node).sends();
    // From where the node takes, or sends, flow can still go to a sink.
    let goes_in = |node| !side(far, node).takes();
    let goes_out = |node| !side(far, node).sends();

    let mut found = Vec::new();
    let mut name = |at, limit: Limit<C>| {
        if let Limit::Finite(limit) = limit
            && limit > C::ZERO
        {
            found.push(Bottleneck { at, limit });
        }
    };
    if let Some(rate) = answer.rate
        && near.rate
        && far.rate
    {
        name(Place::Rate, Limit::Finite(rate));
    }
    // Whether flow can come to where the bounds of the sources begin.
    if !near.rate {
        for (node, bound) in net.sources() {
            if goes_in(node) {
                name(Place::Source(node), bound);
            }
        }
    }
    for (node, capacity) in net.node_capacities() {
        if comes(node) && goes_out(node) {
            name(Place::Node(node), Limit::Finite(capacity));
        }
    }
    for (id, arc) in (0..).map(crate::ArcId).zip(net.arcs()) {
        if sends(arc.from) && goes_in(arc.to) {
            name(Place::Arc(id), arc.capacity);
        }
    }
    for (node, bound) in net.sinks() {
        if sends(node) {
            name(Place::Sink(node), bound);
        }
    }
    found
}
