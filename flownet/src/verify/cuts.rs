//! Whether a cut proves that no flow has a larger value.

use super::Violation;
use super::limits::Limits;
use super::sums::{Rule, Sum};
use crate::{Answer, Capacity, Cut, Limit, NodeId, Place, Side};

/// What can cross from the source side to the sink side, and what does.
struct Crossing<C: Capacity> {
    field: &'static str,
    rule: Rule,
    room: C::Sum,
    flow: C::Sum,
}

impl<C: Capacity> Crossing<C> {
    fn limit(&mut self, limit: Limit<C>, at: Place) -> Result<(), Violation> {
        match limit {
            Limit::Finite(capacity) => {
                self.room.add(capacity, self.rule);
                Ok(())
            }
            Limit::Unbounded => Err(Violation::UnboundedCut { field: self.field, at }),
        }
    }

    fn flow(&mut self, amount: C) {
        self.flow.add(amount, self.rule);
    }
}

pub(super) fn check<C: Capacity>(
    limits: &Limits<'_, C>,
    answer: &Answer<C>,
    field: &'static str,
    cut: &Cut<C>,
    rule: Rule,
) -> Result<(), Violation> {
    let net = limits.net;
    if cut.sides.len() != net.node_count() {
        return Err(Violation::Shape { field });
    }
    let wrong = Err(Violation::WrongCut { field });
    let side = |node: NodeId| cut.sides[node.index()];
    let takes = |node| side(node) != Side::Sink;
    let sends = |node| side(node) == Side::Source;
    let mut sum = Crossing { field, rule, room: C::Sum::default(), flow: C::Sum::default() };
    let mut comes_back = false;
    for (arc, &flow) in limits.arcs().zip(&answer.flows) {
        let (id, from, to, limit) = arc?;
        if sends(from) && !takes(to) {
            sum.limit(limit, Place::Arc(id))?;
            sum.flow(flow);
        }
        if side(to) == Side::Within {
            sum.flow(flow);
        }
        comes_back |= !sends(from) && takes(to) && flow > C::ZERO;
    }
    let mut capacities = net.node_capacities().peekable();
    for node in (0..).map(NodeId).zip(&cut.sides).filter(|&(_, &side)| side == Side::Within) {
        let node = node.0;
        while capacities.next_if(|&(other, _)| other < node).is_some() {}
        let own = capacities.next_if(|&(other, _)| other == node);
        let own = own.map_or(Limit::Unbounded, |(_, capacity)| Limit::Finite(capacity));
        sum.limit(limits.at_node(own, node)?, Place::Node(node))?;
    }
    for ((node, bound), &(_, amount)) in net.sources().zip(&answer.sent) {
        if !cut.rate && !takes(node) {
            sum.limit(limits.at_node(bound, node)?, Place::Source(node))?;
        }
        // What a source behind the rate sends has crossed with the rate.
        if !cut.rate && side(node) != Side::Source {
            sum.flow(amount);
        }
        comes_back |= cut.rate && takes(node) && amount > C::ZERO;
    }
    for ((node, bound), &(_, amount)) in net.sinks().zip(&answer.taken) {
        if sends(node) {
            sum.limit(limits.at_node(bound, node)?, Place::Sink(node))?;
            sum.flow(amount);
        }
    }
    if cut.rate {
        let Some(rate) = answer.rate else { return wrong };
        sum.limit(Limit::Finite(rate), Place::Rate)?;
        sum.flow(answer.value);
    }
    let mut stated = C::Sum::default();
    stated.add(answer.value, rule);
    let sound = sum.room.is_sound() && sum.flow.is_sound();
    let proves = sum.room.holds(&stated) && sum.flow.agrees(&stated);
    if sound && proves && !comes_back && cut.capacity == answer.value { Ok(()) } else { wrong }
}
