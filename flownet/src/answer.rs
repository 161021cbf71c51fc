//! What a solver answers: plain data, with evidence.

use alloc::vec::Vec;

use crate::{Arc, ArcId, Capacity, Method, Network, NodeId};

/// How an [`Answer`] stands to the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome<C> {
    /// No rate was asked for, and the flow is a maximum.
    Maximum,
    /// The flow has the value of the rate that was asked for.
    Met,
    /// The flow is a maximum, and less than the rate that was asked for.
    Shortfall {
        /// The rate less the value; more than zero.
        by: C,
    },
    /// The steps ran out, or the caller said stop. The flow is valid, and may not be a maximum.
    Stopped,
}

/// Counts of the work done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Arcs looked at, and nodes set up: the unit of a step budget.
    pub steps: u64,
    /// Breadth-first searches: of an augmenting path, of levels, or of heights.
    pub searches: u64,
    /// Augmenting paths (Edmonds–Karp, Dinic).
    pub augmentations: u64,
    /// Pushes (push–relabel): each time that excess moves over one arc, the first ones out of the
    /// source too. What is sent back at the end, which is [`Run::finish`](crate::Run::finish), is
    /// not counted.
    pub pushes: u64,
    /// Relabels (push–relabel).
    pub relabels: u64,
    /// Gaps found (push–relabel).
    pub gaps: u64,
}

/// Where a node lies in a [`Cut`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// With the sources.
    Source,
    /// With the sinks.
    Sink,
    /// The cut goes through the node: it takes from the source side and sends to the sink side,
    /// and its capacity is part of the cut.
    Within,
}

impl Side {
    /// Whether what flows into the node is still on the source side.
    pub(crate) fn takes(self) -> bool {
        self != Side::Sink
    }

    /// Whether what flows out of the node is still on the source side.
    pub(crate) fn sends(self) -> bool {
        self == Side::Source
    }
}

/// A cut: the limits that part the sources from the sinks.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Cut<C> {
    /// Where each node lies, by its number.
    pub sides: Vec<Side>,
    /// Whether the rate that was asked for is part of the cut. It lies before all sources, so then
    /// their bounds are not.
    pub rate: bool,
    /// What can cross, in source-equivalent units.
    pub capacity: C,
}

impl<C: Capacity> Cut<C> {
    /// A node that is missing from `sides`, which is so in no answer of a solver, lies with the
    /// sinks: so the methods below name no more than they know.
    fn side(&self, node: NodeId) -> Side {
        self.sides.get(node.index()).copied().unwrap_or(Side::Sink)
    }

    /// Whether an arc crosses from the source side to the sink side.
    fn crosses(&self, arc: &Arc<C>) -> bool {
        self.side(arc.from).sends() && !self.side(arc.to).takes()
    }

    /// The arcs that cross, those of capacity zero too: without them no way is left from a source
    /// to a sink, but for the nodes and terminals of the cut. O(E).
    pub fn arcs<'a>(&'a self, net: &'a Network<C>) -> impl Iterator<Item = ArcId> + 'a {
        let arcs = (0..).map(ArcId).zip(net.arcs());
        arcs.filter(|(_, arc)| self.crosses(arc)).map(|(id, _)| id)
    }

    /// The nodes whose capacity is part of the cut. O(V).
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + '_ {
        let sides = (0..).map(NodeId).zip(&self.sides);
        sides.filter(|&(_, &side)| side == Side::Within).map(|(node, _)| node)
    }

    /// The sources whose bound is part of the cut.
    pub fn sources<'a>(&'a self, net: &'a Network<C>) -> impl Iterator<Item = NodeId> + 'a {
        let sources = net.sources().map(|(node, _)| node);
        sources.filter(|&node| !self.rate && !self.side(node).takes())
    }

    /// The sinks whose bound is part of the cut.
    pub fn sinks<'a>(&'a self, net: &'a Network<C>) -> impl Iterator<Item = NodeId> + 'a {
        net.sinks().map(|(node, _)| node).filter(|&node| self.side(node).sends())
    }
}

/// A flow, its value, and the cuts that prove it a maximum.
///
/// Amounts are in source-equivalent units: tuples of the sources that stand for what passes. They
/// are the tuples themselves where no node has a gain. [`verify`](crate::verify) checks all of it
/// but the statistics. How far amounts in `f64` are exact is told at [`Capacity`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Answer<C> {
    /// What the sources send and the sinks take.
    pub value: C,
    /// How the value stands to the question.
    pub outcome: Outcome<C>,
    /// The rate that was asked for.
    pub rate: Option<C>,
    /// The flow on each arc, by its number. Zero on self loops.
    pub flows: Vec<C>,
    /// What each source sends, in order of the nodes.
    pub sent: Vec<(NodeId, C)>,
    /// What each sink takes, in order of the nodes.
    pub taken: Vec<(NodeId, C)>,
    /// The minimum cut nearest the sources, unless stopped.
    pub source_cut: Option<Cut<C>>,
    /// The minimum cut nearest the sinks, unless stopped.
    pub sink_cut: Option<Cut<C>>,
    /// Tuples that reach each node for each source tuple, if any node has a gain; 0 where no flow
    /// can be.
    pub units: Option<Vec<f64>>,
    /// The method that was used; never [`Method::Auto`].
    pub method: Method,
    /// The work that was done.
    pub stats: Stats,
}

impl<C: Capacity> Answer<C> {
    /// The flow on an arc, in source-equivalent units; `None` if there is no such arc.
    #[must_use]
    pub fn flow(&self, arc: ArcId) -> Option<C> {
        self.flows.get(arc.index()).copied()
    }

    /// The tuples that an arc carries for each source-equivalent unit of its flow; 1 without
    /// gains. `None` if there is no such arc.
    #[must_use]
    pub fn tuples_per_unit(&self, net: &Network<C>, arc: ArcId) -> Option<f64> {
        let from = net.arc(arc)?.from;
        match &self.units {
            None => Some(1.0),
            Some(units) => Some(units.get(from.index())? * net.gain(from)),
        }
    }

    /// What the rate lacks; zero unless there is a shortfall.
    #[must_use]
    pub fn shortfall(&self) -> C {
        match self.outcome {
            Outcome::Shortfall { by } => by,
            _ => C::ZERO,
        }
    }
}
