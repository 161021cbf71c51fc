//! A flow in whole steps of the grid, not rounded to the type of the capacities.

use alloc::vec::Vec;

use super::expand::Expanded;
use super::grid::Grid;
use super::machine::{Machine, Worker};
use super::residual::Width;
use crate::capacity::Dyadic;
use crate::{Capacity, Error, Method, Network};

/// A flow without cycles, of the rate or the maximum.
#[derive(Clone, Debug)]
pub(crate) struct WholeFlow {
    /// The steps on each arc of the network.
    pub(crate) arcs: Vec<u128>,
    /// What leaves the sources.
    pub(crate) total: u128,
    /// The same, not in steps.
    pub(crate) value: f64,
    /// The tuples that reach each node for each source tuple, if any node has a gain.
    pub(crate) units: Option<Vec<f64>>,
}

impl WholeFlow {
    pub(crate) fn new<C: Capacity>(
        net: &Network<C>,
        rate: Option<C>,
        method: Method,
    ) -> Result<Self, Error<C>> {
        let expanded = Expanded::new(net, rate)?;
        let grid = Grid::new(net, &expanded)?;
        let mut machine = Machine::new(&expanded, &grid, method, false)?;
        let mut steps = u64::MAX;
        machine.run(&mut steps);
        let (arcs, total) = match machine {
            Machine::Narrow(worker) => amounts(worker, net.arc_count()),
            Machine::Middle(worker) => amounts(worker, net.arc_count()),
            Machine::Wide(worker) => amounts(worker, net.arc_count()),
        };
        let value = f64::from_grid(total, grid.k).unwrap_or(f64::INFINITY);
        Ok(WholeFlow { arcs, total, value, units: expanded.units().map(Vec::from) })
    }
}

fn amounts<W: Width>(mut worker: Worker<W>, arcs: usize) -> (Vec<u128>, u128) {
    worker.close(true);
    let flows = (0..arcs).map(|arc| worker.net.flow(arc).widen()).collect();
    (flows, worker.net.value())
}
