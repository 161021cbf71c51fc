//! Checks an answer from the network alone.

mod gains;
pub(crate) mod sums;

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use self::sums::Sum;
use crate::{Answer, ArcId, Capacity, Cut, Limit, Network, NodeId, Outcome, Place, Side};

/// The rule that an answer breaks, and where.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Violation {
    /// A list has not one entry for each arc, node, source or sink, in their order.
    Shape {
        /// The field of the answer.
        field: &'static str,
    },
    /// An amount is negative, infinite or not a number.
    BadAmount {
        /// The field of the answer.
        field: &'static str,
    },
    /// The network has no source or no sink, or its gains are inconsistent or out of range: there
    /// is nothing to answer.
    BadNetwork,
    /// The units are not those of the gains.
    WrongUnits {
        /// The first node where they differ; `None` if there should be none, or some.
        node: Option<NodeId>,
    },
    /// More flows than the limit allows.
    OverLimit {
        /// The limit.
        at: Place,
    },
    /// What a node gets is not what it sends, both in source-equivalent units.
    Unbalanced {
        /// The node.
        node: NodeId,
    },
    /// The value is not what the sources send, or not what the sinks take.
    WrongValue,
    /// The outcome does not follow from the value and the rate, or a cut is there for a flow that
    /// was stopped, or missing for one that was not.
    WrongOutcome,
    /// What can cross the cut is not the value, or not the capacity that it states: it proves
    /// nothing.
    WrongCut {
        /// The field of the answer.
        field: &'static str,
    },
    /// The cut has a part without limit.
    UnboundedCut {
        /// The field of the answer.
        field: &'static str,
        /// The part.
        at: Place,
    },
    /// A sum is too large to be checked.
    Overflow,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Violation::Shape { field } => write!(f, "`{field}` has not one entry for each"),
            Violation::BadAmount { field } => {
                write!(f, "`{field}` has an amount that is negative or not finite")
            }
            Violation::BadNetwork => write!(f, "the network has no answer"),
            Violation::WrongUnits { node: Some(node) } => {
                write!(f, "the units of {node} are not those of the gains")
            }
            Violation::WrongUnits { node: None } => {
                write!(f, "units must be there exactly if there are gains")
            }
            Violation::OverLimit { at } => write!(f, "more flows than {at} allows"),
            Violation::Unbalanced { node } => write!(f, "{node} sends not what it gets"),
            Violation::WrongValue => write!(f, "the value is not what is sent and taken"),
            Violation::WrongOutcome => write!(f, "the outcome does not follow from the value"),
            Violation::WrongCut { field } => write!(f, "what can cross `{field}` is not the value"),
            Violation::UnboundedCut { field, at } => {
                write!(f, "`{field}` goes through {at}, which has no limit")
            }
            Violation::Overflow => write!(f, "a sum is too large"),
        }
    }
}

impl core::error::Error for Violation {}

/// Checks that an answer is a flow of its value, and that its cuts prove it a maximum.
///
/// Trusts the network alone, and shares no code with the solvers. In order: shape and amounts;
/// units; every limit; balance at every node; the value; the outcome, against the rate that the
/// answer names; each cut. Any flow is at most any cut, so a cut of the flow's value shows that no
/// flow has more. That the cuts are those nearest the sources and the sinks is not checked, nor are
/// the statistics.
///
/// Whole numbers are checked exactly, in 128 bits. Floats are summed in twice their precision and
/// then compared: the two sides of a balance may differ by 2^-52 of the larger side *at that
/// node*, and an amount exceed a limit at which several arcs meet by 2^-52 of the limit. So nothing
/// small is hidden by something large elsewhere. A single arc may not exceed its capacity at all.
/// A solver computes exactly and rounds each amount once, by at most 2^-53 of itself, so all its
/// answers pass.
///
/// # Errors
/// The first [`Violation`] found.
///
/// # Complexity
/// O(V + E) time and memory; with gains O(log c) more an arc for whole capacities up to c.
pub fn verify<C: Capacity>(net: &Network<C>, answer: &Answer<C>) -> Result<(), Violation> {
    shape(net, answer)?;
    let expected = gains::units(net).ok_or(Violation::BadNetwork)?;
    match (&answer.units, &expected) {
        (None, None) => {}
        (Some(stated), Some(units)) => {
            let wrong = stated.iter().zip(units).position(|(a, b)| a.to_bits() != b.to_bits());
            let too_few = stated.len() != units.len();
            if wrong.is_some() || too_few {
                let node = wrong.map(|index| NodeId(index as u32));
                return Err(Violation::WrongUnits { node });
            }
        }
        _ => return Err(Violation::WrongUnits { node: None }),
    }
    let limits = Limits { net, units: expected };
    match balance(&limits, answer, 1.0) {
        // Sums of floats near the largest: once more, far below.
        Err(Violation::Overflow) => balance(&limits, answer, 1.0 / (1_u64 << 40) as f64)?,
        checked => checked?,
    }
    value(answer)?;
    outcome(answer)?;
    for (field, cut) in [("source_cut", &answer.source_cut), ("sink_cut", &answer.sink_cut)] {
        if let Some(cut) = cut {
            check_cut(&limits, answer, field, cut)?;
        }
    }
    Ok(())
}

fn shape<C: Capacity>(net: &Network<C>, answer: &Answer<C>) -> Result<(), Violation> {
    if net.sources().len() == 0 || net.sinks().len() == 0 {
        return Err(Violation::BadNetwork);
    }
    let nodes = |list: &[(NodeId, C)]| list.iter().map(|&(node, _)| node).collect::<Vec<_>>();
    if answer.flows.len() != net.arc_count() {
        return Err(Violation::Shape { field: "flows" });
    }
    if !nodes(&answer.sent).into_iter().eq(net.sources().map(|(node, _)| node)) {
        return Err(Violation::Shape { field: "sent" });
    }
    if !nodes(&answer.taken).into_iter().eq(net.sinks().map(|(node, _)| node)) {
        return Err(Violation::Shape { field: "taken" });
    }
    let bad = |amount: &C| !amount.is_valid();
    if answer.flows.iter().any(bad) {
        return Err(Violation::BadAmount { field: "flows" });
    }
    if answer.sent.iter().any(|(_, amount)| bad(amount)) {
        return Err(Violation::BadAmount { field: "sent" });
    }
    if answer.taken.iter().any(|(_, amount)| bad(amount)) {
        return Err(Violation::BadAmount { field: "taken" });
    }
    if bad(&answer.value) {
        return Err(Violation::BadAmount { field: "value" });
    }
    Ok(())
}

/// The limits in source-equivalent units.
struct Limits<'a, C> {
    net: &'a Network<C>,
    units: Option<Vec<f64>>,
}

impl<C: Capacity> Limits<'_, C> {
    fn at_node(&self, limit: Limit<C>, node: NodeId) -> Result<Limit<C>, Violation> {
        match &self.units {
            None => Ok(limit),
            Some(units) => gains::share(limit, units[node.index()]).ok_or(Violation::BadNetwork),
        }
    }

    /// The capacity of each arc, with its number and ends.
    fn arcs(&self) -> impl Iterator<Item = Result<(ArcId, NodeId, NodeId, Limit<C>), Violation>> {
        (0..).map(ArcId).zip(self.net.arcs()).map(|(id, arc)| {
            let limit = match &self.units {
                None => arc.capacity,
                Some(units) => {
                    let (from, to) = (units[arc.from.index()], units[arc.to.index()]);
                    let dead = from == 0.0 || to == 0.0;
                    let passing = if dead { 0.0 } else { from * self.net.gain(arc.from) };
                    gains::share(arc.capacity, passing).ok_or(Violation::BadNetwork)?
                }
            };
            Ok((id, arc.from, arc.to, limit))
        })
    }
}

/// Limits, and what comes in and goes out at every node.
fn balance<C: Capacity>(
    limits: &Limits<'_, C>,
    answer: &Answer<C>,
    scale: f64,
) -> Result<(), Violation> {
    let net = limits.net;
    let mut got: Vec<C::Sum> = vec![C::Sum::default(); net.node_count()];
    let mut gave = got.clone();
    for (arc, &flow) in limits.arcs().zip(&answer.flows) {
        let (id, from, to, limit) = arc?;
        if matches!(limit, Limit::Finite(most) if flow > most) {
            return Err(Violation::OverLimit { at: Place::Arc(id) });
        }
        gave[from.index()].add(flow, scale);
        got[to.index()].add(flow, scale);
    }
    for ((node, bound), &(_, amount)) in net.sources().zip(&answer.sent) {
        if matches!(limits.at_node(bound, node)?, Limit::Finite(most) if amount > most) {
            return Err(Violation::OverLimit { at: Place::Source(node) });
        }
        got[node.index()].add(amount, scale);
    }
    for ((node, bound), &(_, amount)) in net.sinks().zip(&answer.taken) {
        if matches!(limits.at_node(bound, node)?, Limit::Finite(most) if amount > most) {
            return Err(Violation::OverLimit { at: Place::Sink(node) });
        }
        gave[node.index()].add(amount, scale);
    }
    for (node, (got, gave)) in (0..).map(NodeId).zip(got.iter().zip(&gave)) {
        if !got.is_sound() || !gave.is_sound() {
            return Err(Violation::Overflow);
        }
        if !got.agrees(gave) {
            return Err(Violation::Unbalanced { node });
        }
    }
    for (node, capacity) in net.node_capacities() {
        if let Limit::Finite(most) = limits.at_node(Limit::Finite(capacity), node)? {
            let mut sum = C::Sum::default();
            sum.add(most, scale);
            if got[node.index()].exceeds(&sum) {
                return Err(Violation::OverLimit { at: Place::Node(node) });
            }
        }
    }
    Ok(())
}

fn value<C: Capacity>(answer: &Answer<C>) -> Result<(), Violation> {
    let scale = answer.value.scale();
    let total = |list: &[(NodeId, C)]| {
        let mut sum = C::Sum::default();
        list.iter().for_each(|&(_, amount)| sum.add(amount, scale));
        sum
    };
    let mut stated = C::Sum::default();
    stated.add(answer.value, scale);
    for sum in [total(&answer.sent), total(&answer.taken)] {
        if !sum.is_sound() {
            return Err(Violation::Overflow);
        }
        if !sum.agrees(&stated) {
            return Err(Violation::WrongValue);
        }
    }
    Ok(())
}

fn outcome<C: Capacity>(answer: &Answer<C>) -> Result<(), Violation> {
    let proven = answer.source_cut.is_some() && answer.sink_cut.is_some();
    let bare = answer.source_cut.is_none() && answer.sink_cut.is_none();
    let right = match (answer.outcome, answer.rate) {
        (Outcome::Maximum, None) => proven,
        (Outcome::Met, Some(rate)) => proven && answer.value == rate,
        (Outcome::Shortfall { by }, Some(rate)) => {
            proven && answer.value < rate && C::is_difference(by, rate, answer.value)
        }
        (Outcome::Stopped, None) => bare,
        (Outcome::Stopped, Some(rate)) => bare && answer.value <= rate,
        _ => false,
    };
    if right { Ok(()) } else { Err(Violation::WrongOutcome) }
}

/// Sums all that can cross from the source side to the sink side.
fn check_cut<C: Capacity>(
    limits: &Limits<'_, C>,
    answer: &Answer<C>,
    field: &'static str,
    cut: &Cut<C>,
) -> Result<(), Violation> {
    let net = limits.net;
    if cut.sides.len() != net.node_count() {
        return Err(Violation::Shape { field });
    }
    let takes = |node: NodeId| cut.sides[node.index()] != Side::Sink;
    let sends = |node: NodeId| cut.sides[node.index()] == Side::Source;
    let scale = answer.value.scale();
    let mut sum = C::Sum::default();
    let mut crossing = |limit: Limit<C>, at: Place| match limit {
        Limit::Finite(capacity) => {
            sum.add(capacity, scale);
            Ok(())
        }
        Limit::Unbounded => Err(Violation::UnboundedCut { field, at }),
    };
    for arc in limits.arcs() {
        let (id, from, to, limit) = arc?;
        if sends(from) && !takes(to) {
            crossing(limit, Place::Arc(id))?;
        }
    }
    for (&side, node) in cut.sides.iter().zip((0..).map(NodeId)) {
        if side == Side::Within {
            crossing(limits.at_node(net.node_capacity(node), node)?, Place::Node(node))?;
        }
    }
    for (node, bound) in net.sources() {
        if !cut.rate && !takes(node) {
            crossing(limits.at_node(bound, node)?, Place::Source(node))?;
        }
    }
    for (node, bound) in net.sinks() {
        if sends(node) {
            crossing(limits.at_node(bound, node)?, Place::Sink(node))?;
        }
    }
    if cut.rate {
        let rate = answer.rate.ok_or(Violation::WrongCut { field })?;
        crossing(Limit::Finite(rate), Place::Rate)?;
    }
    let mut stated = C::Sum::default();
    stated.add(answer.value, scale);
    if !sum.is_sound() || !sum.agrees(&stated) || cut.capacity != answer.value {
        return Err(Violation::WrongCut { field });
    }
    Ok(())
}
