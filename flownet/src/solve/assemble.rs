//! From a residual network to an answer.

use super::Run;
use super::expand::Expanded;
use super::grid::Grid;
use super::machine::{Machine, Worker};
use super::residual::Width;
use crate::{Answer, Capacity, Cut, Error, NodeId, Outcome, Side};

pub(crate) fn answer<C: Capacity>(run: Run<'_, C>) -> Result<Answer<C>, Error<C>> {
    let Run { expanded, grid, machine, acyclic, .. } = run;
    match machine {
        Machine::Narrow(worker) => build(expanded, grid, worker, acyclic),
        Machine::Middle(worker) => build(expanded, grid, worker, acyclic),
        Machine::Wide(worker) => build(expanded, grid, worker, acyclic),
    }
}

fn build<C: Capacity, W: Width>(
    net: Expanded<'_, C>,
    grid: Grid,
    mut worker: Worker<W>,
    acyclic: bool,
) -> Result<Answer<C>, Error<C>> {
    let amount = |whole: u128| C::from_grid(whole, grid.k);
    // Without cycles no arc carries more than the value, so that all flows fit if that does.
    worker.close(acyclic || amount(grid.cap()).is_none());
    let residual = &worker.net;

    // What leaves the source, less what comes back to it.
    let mut value: u128 = 0;
    let mut back: u128 = 0;
    for edge in &residual.edges[residual.row(residual.source)] {
        if edge.is_backward() {
            back += edge.cap.widen();
        } else {
            value += edge.back.widen();
        }
    }
    let value = amount(value - back).ok_or(Error::Overflow { largest: C::LARGEST })?;

    let flow = |link: usize| amount(residual.flow(link).widen()).unwrap_or(value);
    let flows = (0..net.net.arc_count()).map(flow).collect();
    let sent = if net.has_source_links() {
        let links = net.source_links()..;
        net.net.sources().zip(links).map(|((node, _), link)| (node, flow(link))).collect()
    } else {
        net.net.sources().map(|(node, _)| (node, value)).collect()
    };
    let taken = if net.has_sink_links() {
        let links = net.sink_links()..;
        net.net.sinks().zip(links).map(|((node, _), link)| (node, flow(link))).collect()
    } else {
        net.net.sinks().map(|(node, _)| (node, value)).collect()
    };

    let outcome = match net.rate {
        _ if !worker.done => Outcome::Stopped,
        None => Outcome::Maximum,
        Some(rate) if value < rate => Outcome::Shortfall { by: rate.minus(value) },
        Some(_) => Outcome::Met,
    };
    let (source_cut, sink_cut) = if worker.done {
        let after = residual.after_source();
        let mut before = residual.before_sink();
        for mark in &mut before {
            *mark = !*mark;
        }
        (Some(cut(&net, &after, value)), Some(cut(&net, &before, value)))
    } else {
        (None, None)
    };
    Ok(Answer {
        value,
        outcome,
        rate: net.rate,
        flows,
        sent,
        taken,
        source_cut,
        sink_cut,
        method: worker.method(),
        stats: worker.stats,
        units: net.into_units(),
    })
}

/// The cut of the nodes on the source side.
fn cut<C: Capacity>(net: &Expanded<'_, C>, source_side: &[bool], capacity: C) -> Cut<C> {
    let side = |node: u32| {
        // What sends is only ever fed by what takes: both lie on the source side if it does.
        match (source_side[node as usize], source_side[net.sender(NodeId(node)) as usize]) {
            (_, true) => Side::Source,
            (true, false) => Side::Within,
            (false, false) => Side::Sink,
        }
    };
    let rate = net.rate.is_some() && net.hub().is_some_and(|hub| !source_side[hub as usize]);
    Cut { sides: (0..net.net.node_count() as u32).map(side).collect(), rate, capacity }
}
