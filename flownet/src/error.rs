//! The one error type of networks and solvers.

use alloc::vec::Vec;
use core::fmt;

use crate::{ArcId, NodeId};

/// Where a limit stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Place {
    /// The capacity of an arc.
    Arc(ArcId),
    /// The capacity of a node.
    Node(NodeId),
    /// The bound of a source.
    Source(NodeId),
    /// The bound of a sink.
    Sink(NodeId),
    /// The rate that was asked for.
    Rate,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Arc(arc) => write!(f, "{arc}"),
            Place::Node(node) => write!(f, "{node}"),
            Place::Source(node) => write!(f, "the source at {node}"),
            Place::Sink(node) => write!(f, "the sink at {node}"),
            Place::Rate => write!(f, "the rate"),
        }
    }
}

/// Why a network or a question was refused.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error<C> {
    /// The node does not exist; add it first.
    NoSuchNode {
        /// The node that was named.
        node: NodeId,
        /// How many there are.
        nodes: usize,
    },
    /// The arc does not exist; add it first.
    NoSuchArc {
        /// The arc that was named.
        arc: ArcId,
        /// How many there are.
        arcs: usize,
    },
    /// A capacity, bound or rate is negative, infinite or not a number. Use
    /// [`Limit::Unbounded`](crate::Limit::Unbounded) for no limit.
    BadCapacity {
        /// Whose it is.
        at: Place,
        /// What was given.
        value: C,
    },
    /// A gain must be a positive normal number. Make a node that sends nothing a sink.
    BadGain {
        /// Whose it is.
        node: NodeId,
        /// What was given.
        gain: f64,
    },
    /// Nothing can flow without a source; add one.
    NoSource,
    /// Nothing can flow without a sink; add one.
    NoSink,
    /// A node cannot be both source and sink: the flow would be without bound.
    SameTerminals {
        /// The node.
        node: NodeId,
    },
    /// The node is a source, or sink, already.
    DuplicateTerminal {
        /// The node.
        node: NodeId,
    },
    /// The node is no source, or no sink, whose bound could be changed: add it as one.
    NotATerminal {
        /// What it is not.
        at: Place,
    },
    /// A way from a source to a sink has no limit at all: give one of its parts a capacity, or ask
    /// for a rate.
    Unbounded {
        /// The source where it starts.
        source: NodeId,
        /// Its arcs, in order.
        arcs: Vec<ArcId>,
        /// The sink where it ends.
        sink: NodeId,
    },
    /// The tuples at a node for each source tuple depend on the way they come, by more than a
    /// billionth: the network is no flow network but a generalised one. Mend the gains.
    InconsistentGain {
        /// The node, which lies on a way from a source to a sink.
        node: NodeId,
        /// The arc into it that disagrees.
        arc: ArcId,
        /// Tuples a source tuple by the way with the fewest arcs; 1 at a source.
        expected: f64,
        /// Tuples a source tuple by `arc`.
        found: f64,
    },
    /// The product of the gains up to here is beyond the normal numbers.
    GainOutOfRange {
        /// The node where it is.
        node: NodeId,
        /// Tuples a source tuple that it sends: infinite, zero or too small.
        units: f64,
    },
    /// A limit, divided by the tuples a source tuple, is too large for its type, or a positive
    /// float became zero. Change the unit.
    LimitOutOfRange {
        /// Whose it is.
        at: Place,
        /// What was given.
        value: C,
        /// Tuples a source tuple there.
        units: f64,
    },
    /// The value of the flow is too large for its type. Change the unit, or ask for a rate.
    Overflow {
        /// The largest number that it may be, as text.
        largest: &'static str,
    },
    /// More than fits the 32-bit indices.
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How much there may be.
        limit: usize,
    },
}

impl<C: fmt::Display> fmt::Display for Error<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoSuchNode { node, nodes } => {
                write!(f, "{node} does not exist: there are {nodes} nodes")
            }
            Error::NoSuchArc { arc, arcs } => {
                write!(f, "{arc} does not exist: there are {arcs} arcs")
            }
            Error::BadCapacity { at, value } => write!(
                f,
                "the capacity {value} of {at} must be zero or more, and finite; \
                 use Limit::Unbounded for no limit"
            ),
            Error::BadGain { node, gain } => {
                write!(f, "the gain {gain} of {node} must be a positive normal number")
            }
            Error::NoSource => write!(f, "there is no source: add one"),
            Error::NoSink => write!(f, "there is no sink: add one"),
            Error::SameTerminals { node } => write!(f, "{node} is both source and sink"),
            Error::DuplicateTerminal { node } => {
                write!(f, "{node} is a source or sink already")
            }
            Error::NotATerminal { at } => write!(f, "{at} does not exist: add it first"),
            Error::Unbounded { source, arcs, sink } => write!(
                f,
                "no limit on a way of {} arcs from {source} to {sink}: \
                 give it a capacity or ask for a rate",
                arcs.len()
            ),
            Error::InconsistentGain { node, arc, expected, found } => write!(
                f,
                "{expected} tuples a source tuple reach {node}, but {found} by {arc}: \
                 the gains depend on the way"
            ),
            Error::GainOutOfRange { node, units } => {
                write!(f, "the gains up to {node} multiply to {units}, which is out of range")
            }
            Error::LimitOutOfRange { at, value, units } => write!(
                f,
                "the capacity {value} of {at}, divided by {units} tuples a source tuple, \
                 is out of range"
            ),
            Error::Overflow { largest } => {
                write!(f, "the value of the flow is above {largest}")
            }
            Error::TooLarge { what, limit } => write!(f, "more than {limit} {what}"),
        }
    }
}

impl<C: fmt::Debug + fmt::Display> core::error::Error for Error<C> {}
