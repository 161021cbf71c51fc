//! From a residual network to an answer.

use alloc::vec::Vec;

use super::Run;
use super::expand::Expanded;
use super::grid::Grid;
use super::machine::{Machine, Worker};
use super::residual::{Residual, Width};
use super::restore;
use crate::{Answer, Capacity, Cut, Error, Method, Network, NodeId, Outcome, Side, Stats};

pub(crate) fn answer<C: Capacity>(run: Run<'_, C>) -> Result<Answer<C>, Error<C>> {
    let Run { net, expanded, grid, machine, acyclic, .. } = run;
    let shape = Shape { net, expanded: &expanded, grid: &grid };
    match machine {
        Machine::Narrow(worker) => close(&shape, worker, acyclic),
        Machine::Middle(worker) => close(&shape, worker, acyclic),
        Machine::Wide(worker) => close(&shape, worker, acyclic),
    }
}

fn close<C: Capacity, W: Width>(
    shape: &Shape<'_, C>,
    mut worker: Worker<W>,
    acyclic: bool,
) -> Result<Answer<C>, Error<C>> {
    worker.close(acyclic);
    let sides = worker.done.then(|| worker.net.sides());
    let value = C::from_grid(worker.net.value(), shape.grid.k);
    let value = value.ok_or(Error::Overflow { largest: C::LARGEST })?;
    let (method, stats) = (worker.method(), worker.stats);
    Ok(shape.answer(&mut worker.net, value, sides, method, stats))
}

/// What a residual network stands for.
pub(crate) struct Shape<'a, C> {
    pub(crate) net: &'a Network<C>,
    pub(crate) expanded: &'a Expanded<C>,
    pub(crate) grid: &'a Grid,
}

impl<C: Capacity> Shape<'_, C> {
    /// The answer that a flow of that value is. `sides` are the nodes of the two cuts on the source side, if it is
    /// a maximum. Cancels the cycles of the flow if it might not fit the type otherwise.
    pub(crate) fn answer<W: Width>(
        &self,
        residual: &mut Residual<W>,
        value: C,
        sides: Option<[Vec<bool>; 2]>,
        method: Method,
        stats: Stats,
    ) -> Answer<C> {
        let (net, expanded) = (self.net, self.expanded);
        let amount = |whole: u128| C::from_grid(whole, self.grid.k);
        // Without cycles no arc carries more than the value, so that all flows fit if that does.
        if amount(self.grid.cap()).is_none() {
            restore::cancel_cycles(residual);
        }

        let flow = |link: usize| amount(residual.flow(link).widen()).unwrap_or(value);
        let flows = (0..net.arc_count()).map(flow).collect();
        let sent = if expanded.has_source_links() {
            let links = expanded.source_links()..;
            net.sources().zip(links).map(|((node, _), link)| (node, flow(link))).collect()
        } else {
            net.sources().map(|(node, _)| (node, value)).collect()
        };
        let taken = if expanded.has_sink_links() {
            let links = expanded.sink_links()..;
            net.sinks().zip(links).map(|((node, _), link)| (node, flow(link))).collect()
        } else {
            net.sinks().map(|(node, _)| (node, value)).collect()
        };

        let (source_cut, sink_cut) = match sides {
            Some([near, far]) => (Some(self.cut(&near, value)), Some(self.cut(&far, value))),
            None => (None, None),
        };
        Answer {
            value,
            outcome: outcome(source_cut.is_some(), expanded.rate, value),
            rate: expanded.rate,
            flows,
            sent,
            taken,
            source_cut,
            sink_cut,
            method,
            stats,
            units: expanded.units().map(Vec::from),
        }
    }

    /// The cut of the nodes on the source side.
    fn cut(&self, source_side: &[bool], capacity: C) -> Cut<C> {
        let source_side = |node: u32| source_side[node as usize];
        let mut sides = Vec::with_capacity(self.net.node_count());
        self.sides(source_side, &mut sides);
        Cut { sides, rate: self.crosses_rate(source_side), capacity }
    }

    /// Where each node of the user's network lies.
    pub(crate) fn sides(&self, source_side: impl Fn(u32) -> bool, sides: &mut Vec<Side>) {
        let side = |node: u32| {
            // What sends is only ever fed by what takes: both lie on the source side if it does.
            match (source_side(node), source_side(self.expanded.sender(NodeId(node)))) {
                (_, true) => Side::Source,
                (true, false) => Side::Within,
                (false, false) => Side::Sink,
            }
        };
        sides.clear();
        sides.extend((0..self.net.node_count() as u32).map(side));
    }

    /// Whether the rate is part of a cut: its far end is not on the source side.
    pub(crate) fn crosses_rate(&self, source_side: impl Fn(u32) -> bool) -> bool {
        self.expanded.rate.is_some() && self.expanded.hub().is_some_and(|hub| !source_side(hub))
    }
}

/// How a value stands to the rate.
pub(crate) fn outcome<C: Capacity>(maximum: bool, rate: Option<C>, value: C) -> Outcome<C> {
    match rate {
        _ if !maximum => Outcome::Stopped,
        None => Outcome::Maximum,
        Some(rate) if value < rate => Outcome::Shortfall { by: rate.minus(value) },
        Some(_) => Outcome::Met,
    }
}
