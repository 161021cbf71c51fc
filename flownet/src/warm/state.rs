//! The network as the repairs see it: links, a grid with room to spare, and a standing flow.

use super::standing::{Effort, Standing};
use crate::solve::expand::Expanded;
use crate::solve::grid::Grid;
use crate::solve::machine::{Machine, Worker};
use crate::solve::residual::Width;
use crate::{Capacity, Error, Limit, Method, Network, Place, Stats};

/// A standing flow in the narrowest numbers that do.
#[derive(Clone, Debug)]
pub(super) enum Flow {
    Narrow(Standing<u32>),
    Middle(Standing<u64>),
    Wide(Standing<u128>),
}

/// The same for a flow of each width.
macro_rules! each {
    ($flow:expr, $standing:ident => $body:expr) => {
        match $flow {
            Flow::Narrow($standing) => $body,
            Flow::Middle($standing) => $body,
            Flow::Wide($standing) => $body,
        }
    };
}
pub(super) use each;

/// A network that was solved.
#[derive(Clone, Debug)]
pub(super) struct State<C> {
    pub(super) expanded: Expanded<C>,
    pub(super) grid: Grid,
    pub(super) flow: Flow,
    pub(super) method: Method,
    pub(super) stats: Stats,
}

impl<C: Capacity> State<C> {
    /// Solves a network from nothing.
    pub(super) fn solve(
        net: &Network<C>,
        rate: Option<C>,
        method: Method,
    ) -> Result<Self, Error<C>> {
        let mut expanded = Expanded::flexible(net, rate)?;
        let grid = Grid::new(net, &expanded)?.roomy::<C>();
        let mut machine = Machine::new(&expanded, &grid, method, true)?;
        let mut steps = u64::MAX;
        machine.run(&mut steps);
        // They are all in the residual network now.
        expanded.links = alloc::vec::Vec::new();
        let stats = machine.stats();
        let (flow, method) = match machine {
            Machine::Narrow(worker) => {
                let method = worker.method();
                (Flow::Narrow(stand(worker)), method)
            }
            Machine::Middle(worker) => {
                let method = worker.method();
                (Flow::Middle(stand(worker)), method)
            }
            Machine::Wide(worker) => {
                let method = worker.method();
                (Flow::Wide(stand(worker)), method)
            }
        };
        let state = State { expanded, grid, flow, method, stats };
        state.value()?;
        Ok(state)
    }

    /// The value of the flow.
    pub(super) fn value(&self) -> Result<C, Error<C>> {
        let whole = each!(&self.flow, standing => standing.value);
        C::from_grid(whole, self.grid.k).ok_or(Error::Overflow { largest: C::LARGEST })
    }

    /// The number of the link that holds a limit; `None` if there is none yet.
    pub(super) fn link(&self, net: &Network<C>, at: Place) -> Option<usize> {
        let expanded = &self.expanded;
        match at {
            Place::Arc(arc) => Some(arc.index()),
            Place::Node(node) => expanded.node_link(node),
            Place::Source(node) => {
                let place = net.sources().position(|(other, _)| other == node)?;
                Some(expanded.source_links() + place)
            }
            Place::Sink(node) => {
                let place = net.sinks().position(|(other, _)| other == node)?;
                Some(expanded.sink_links() + place)
            }
            Place::Rate => Some(expanded.rate_link(net)),
        }
    }

    /// A limit in source-equivalent units.
    pub(super) fn scaled(
        &self,
        net: &Network<C>,
        at: Place,
        limit: Limit<C>,
    ) -> Result<Limit<C>, Error<C>> {
        match at {
            Place::Arc(id) => match net.arc(id) {
                Some(arc) => self.expanded.of_arc(net, id, &arc),
                None => Ok(limit),
            },
            // As if it were not split, also where no flow can be.
            Place::Node(_) if limit == Limit::Unbounded => Ok(limit),
            Place::Node(node) => self.expanded.at_node(node, limit, at),
            Place::Source(node) | Place::Sink(node) => {
                self.expanded.at_terminal(node, limit, at, net)
            }
            Place::Rate => Ok(limit),
        }
    }

    /// A limit in steps of the grid; `None` if it is finer than that.
    pub(super) fn whole(&self, limit: Limit<C>) -> Option<u128> {
        let fits = self.grid.exact && self.grid.holds(limit);
        fits.then(|| self.grid.whole(limit))
    }

    /// Changes a limit and mends the flow; `None` if that would be too dear, or if the value is no
    /// longer below what stands for "unbounded": then this state is of no more use.
    pub(super) fn set(&mut self, link: usize, whole: u128) -> Option<(Effort, u64)> {
        let (mended, value) = each!(&mut self.flow, standing => {
            let mended = standing.set(link, Width::narrow(whole)).ok()?;
            ((mended, standing.work), standing.value)
        });
        (value < self.grid.cap()).then_some(mended)
    }
}

fn stand<W: Width>(mut worker: Worker<W>) -> Standing<W> {
    worker.close(false);
    let steps = worker.stats.steps;
    Standing::new(worker.net, steps)
}
