//! A method at work on a residual network, whatever the width of its numbers.

use super::dinic::Dinic;
use super::edmonds_karp::EdmondsKarp;
use super::expand::Expanded;
use super::grid::Grid;
use super::push_relabel::PushRelabel;
use super::residual::{Residual, Width};
use super::restore;
use crate::{Capacity, Error, Method, Stats};

/// The state of a method.
#[derive(Clone, Debug)]
enum Algorithm<W> {
    EdmondsKarp(EdmondsKarp),
    Dinic(Dinic),
    PushRelabel(PushRelabel<W>),
}

/// A method and its network.
#[derive(Clone, Debug)]
pub(crate) struct Worker<W> {
    pub(crate) net: Residual<W>,
    algorithm: Algorithm<W>,
    pub(crate) stats: Stats,
    pub(crate) done: bool,
}

/// A [`Worker`] of the narrowest numbers that do.
#[derive(Clone, Debug)]
pub(crate) enum Machine {
    Narrow(Worker<u32>),
    Middle(Worker<u64>),
    Wide(Worker<u128>),
}

impl<W: Width> Worker<W> {
    fn new<C: Capacity>(net: &Expanded<C>, grid: &Grid, method: Method, zeros: bool) -> Self {
        let links = || {
            let links = net.links.iter();
            links.map(|link| (link.from, link.to, W::narrow(grid.whole(link.limit))))
        };
        let build = if zeros { Residual::with_zeros } else { Residual::new };
        let net = build(net.nodes, net.source, net.sink, links);
        let nodes = net.nodes();
        let algorithm = match method {
            Method::EdmondsKarp => Algorithm::EdmondsKarp(EdmondsKarp::new(nodes)),
            Method::Dinic => Algorithm::Dinic(Dinic::new(nodes)),
            // Unit capacities fill whole levels at once, and no excess has to be sent back.
            Method::Auto if net.is_unit() => Algorithm::Dinic(Dinic::new(nodes)),
            Method::Auto | Method::PushRelabel => {
                Algorithm::PushRelabel(PushRelabel::new(nodes, net.edges.len()))
            }
        };
        Worker { net, algorithm, stats: Stats::default(), done: false }
    }

    fn run(&mut self, budget: &mut u64) -> bool {
        if self.done {
            return true;
        }
        let (net, stats) = (&mut self.net, &mut self.stats);
        let before = *budget;
        self.done = match &mut self.algorithm {
            Algorithm::EdmondsKarp(method) => method.run(net, budget, stats),
            Algorithm::Dinic(method) => method.run(net, budget, stats),
            Algorithm::PushRelabel(method) => method.run(net, budget, stats),
        };
        self.stats.steps += before - *budget;
        self.done
    }

    /// Makes a true flow of what there is.
    pub(crate) fn close(&mut self, acyclic: bool) {
        if let Algorithm::PushRelabel(method) = &mut self.algorithm {
            method.finish(&mut self.net);
        }
        if acyclic {
            restore::cancel_cycles(&mut self.net);
        }
    }

    /// The value of the flow that there is, in steps of the grid.
    fn value(&self) -> u128 {
        match &self.algorithm {
            Algorithm::EdmondsKarp(method) => method.value,
            Algorithm::Dinic(method) => method.value,
            Algorithm::PushRelabel(method) => method.value(&self.net),
        }
    }

    pub(crate) fn method(&self) -> Method {
        match self.algorithm {
            Algorithm::EdmondsKarp(_) => Method::EdmondsKarp,
            Algorithm::Dinic(_) => Method::Dinic,
            Algorithm::PushRelabel(_) => Method::PushRelabel,
        }
    }
}

impl Machine {
    /// `zeros` keeps arcs of capacity zero in the residual network.
    pub(crate) fn new<C: Capacity>(
        net: &Expanded<C>,
        grid: &Grid,
        method: Method,
        zeros: bool,
    ) -> Result<Self, Error<C>> {
        Ok(if grid.total <= u128::from(u32::MAX) {
            Machine::Narrow(Worker::new(net, grid, method, zeros))
        } else if grid.total <= u128::from(u64::MAX) {
            Machine::Middle(Worker::new(net, grid, method, zeros))
        } else {
            Machine::Wide(Worker::new(net, grid, method, zeros))
        })
    }

    pub(crate) fn run(&mut self, budget: &mut u64) -> bool {
        match self {
            Machine::Narrow(worker) => worker.run(budget),
            Machine::Middle(worker) => worker.run(budget),
            Machine::Wide(worker) => worker.run(budget),
        }
    }

    pub(crate) fn stats(&self) -> Stats {
        match self {
            Machine::Narrow(worker) => worker.stats,
            Machine::Middle(worker) => worker.stats,
            Machine::Wide(worker) => worker.stats,
        }
    }

    /// The value of the flow so far, in steps of the grid.
    pub(crate) fn value(&self) -> u128 {
        match self {
            Machine::Narrow(worker) => worker.value(),
            Machine::Middle(worker) => worker.value(),
            Machine::Wide(worker) => worker.value(),
        }
    }

    pub(crate) fn done(&self) -> bool {
        match self {
            Machine::Narrow(worker) => worker.done,
            Machine::Middle(worker) => worker.done,
            Machine::Wide(worker) => worker.done,
        }
    }
}
