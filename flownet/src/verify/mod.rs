//! Checks an answer from the network alone.

mod cuts;
mod gains;
mod limits;
pub(crate) mod sums;

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use self::limits::Limits;
use self::sums::{Rule, Sum};
use crate::{Answer, Capacity, Limit, Method, Network, NodeId, Outcome, Place};

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
    /// The method is [`Method::Auto`], which stands for another.
    WrongMethod,
    /// What can cross the cut, or what does, is not the value, or the capacity that it states is
    /// not, or something comes back over it: it proves nothing.
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
            Violation::WrongMethod => write!(f, "the method is Auto, not the one that it took"),
            Violation::WrongCut { field } => write!(f, "what crosses `{field}` is not the value"),
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
/// Whole numbers are checked exactly, in 128 bits. Floats are summed in twice their precision. No
/// arc and no terminal may exceed its limit at all. Where several amounts meet, they are allowed
/// what a solver needs that computes exactly and rounds each amount once:
///
/// * An exact flow is a whole number of times the lowest bit of all limits. A float that is below
///   2^53 times that bit was not rounded, and is allowed nothing. So where all amounts are, the
///   check is exact, and so is the proof.
/// * A larger one is allowed 2^-53 of itself, at its own nodes; so nothing small is hidden by
///   something large elsewhere. A node that gets one amount and sends one is allowed nothing.
/// * What crosses a cut must be the value, up to one rounding of each amount that crosses, and
///   nothing may come back; the limits of the cut must add up to the value up to 2^-52 of it, and
///   exactly if it was not rounded. This does not grow with the network.
///
/// What the nodes are allowed does add up: with rounded amounts, the true maximum may be less than
/// the value by 2^-53 of the sum of all rounded amounts, each taken at both of its ends. That is up
/// to V · 2^-52 of the value where all of it passes V nodes one after another, in several arcs each.
///
/// # Errors
/// The first [`Violation`] found.
///
/// # Complexity
/// O(V + E) time and memory; with gains a factor of O(log c) for whole capacities up to c.
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
    let limits = Limits::new(net, expected);
    let rounded_from = limits.rounded_from(answer.rate)?;
    match balance(&limits, answer, Rule { scale: 1.0, rounded_from }) {
        // Sums of floats near the largest: once more, far below.
        Err(Violation::Overflow) => {
            balance(&limits, answer, Rule { scale: 1.0 / (1_u64 << 40) as f64, rounded_from })?;
        }
        checked => checked?,
    }
    let rule = Rule { scale: answer.value.scale(), rounded_from };
    value(answer, rule)?;
    outcome(answer)?;
    for (field, cut) in [("source_cut", &answer.source_cut), ("sink_cut", &answer.sink_cut)] {
        if let Some(cut) = cut {
            cuts::check(&limits, answer, field, cut, rule)?;
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
    if answer.rate.as_ref().is_some_and(bad) {
        return Err(Violation::BadAmount { field: "rate" });
    }
    if matches!(&answer.outcome, Outcome::Shortfall { by } if bad(by)) {
        return Err(Violation::BadAmount { field: "outcome" });
    }
    if answer.method == Method::Auto {
        return Err(Violation::WrongMethod);
    }
    Ok(())
}

/// Limits, and what comes in and goes out at every node.
fn balance<C: Capacity>(
    limits: &Limits<'_, C>,
    answer: &Answer<C>,
    rule: Rule,
) -> Result<(), Violation> {
    let net = limits.net;
    let mut got: Vec<C::Sum> = vec![C::Sum::default(); net.node_count()];
    let mut gave = got.clone();
    for (arc, &flow) in limits.arcs().zip(&answer.flows) {
        let (id, from, to, limit) = arc?;
        if matches!(limit, Limit::Finite(most) if flow > most) {
            return Err(Violation::OverLimit { at: Place::Arc(id) });
        }
        gave[from.index()].add(flow, rule);
        got[to.index()].add(flow, rule);
    }
    for ((node, bound), &(_, amount)) in net.sources().zip(&answer.sent) {
        if matches!(limits.at_node(bound, node)?, Limit::Finite(most) if amount > most) {
            return Err(Violation::OverLimit { at: Place::Source(node) });
        }
        got[node.index()].add(amount, rule);
    }
    for ((node, bound), &(_, amount)) in net.sinks().zip(&answer.taken) {
        if matches!(limits.at_node(bound, node)?, Limit::Finite(most) if amount > most) {
            return Err(Violation::OverLimit { at: Place::Sink(node) });
        }
        gave[node.index()].add(amount, rule);
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
            sum.add(most, rule);
            if got[node.index()].exceeds(&sum) {
                return Err(Violation::OverLimit { at: Place::Node(node) });
            }
        }
    }
    Ok(())
}

fn value<C: Capacity>(answer: &Answer<C>, rule: Rule) -> Result<(), Violation> {
    let total = |list: &[(NodeId, C)]| {
        let mut sum = C::Sum::default();
        list.iter().for_each(|&(_, amount)| sum.add(amount, rule));
        sum
    };
    let mut stated = C::Sum::default();
    stated.add(answer.value, rule);
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
