//! A flow that is kept a maximum while limits change.

mod reach;
mod search;
mod standing;
mod state;

use self::reach::Reach;
use self::standing::Effort as Mended;
use self::state::{Flow, State, each};
use crate::solve::assemble::{Shape, outcome};
use crate::{Answer, ArcId, Capacity, Cut, Error, Limit, Method, Network, NodeId, Outcome, Place};

/// What a change of a limit took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effort {
    /// The change is known to move neither the flow nor its value. O(1) but for O(log V) to find a
    /// node.
    Nothing,
    /// The flow was mended where it had to be.
    Repaired,
    /// Mending was not possible, or would have cost more than half of the last solution: the
    /// network was solved anew.
    Solved,
}

/// A change of a limit, and what it did to the flow.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
#[must_use]
pub struct Change<C> {
    /// The value before.
    pub before: C,
    /// The value after.
    pub after: C,
    /// What it took.
    pub effort: Effort,
    /// Arcs looked at for the repair, and steps of the solver if it was called.
    pub work: u64,
}

/// A network and a flow that is a maximum at all times, or exactly the rate if that is less.
///
/// A change mends the flow that stands. Where it provably changes nothing it is O(1): a raise whose
/// near end cannot be reached from the sources or whose far end does not reach the sinks, as they
/// stand now, and a cut that leaves room. Else flow is led around, added or taken back: by the source
/// or the sink, where the sides of the cuts tell the way, and else by search trees that are kept from
/// one path to the next; as long as that stays below half of the work of the last solution and a few
/// hundred arcs. Then the network is solved anew. So no change costs much more than a solution.
/// Sides of cuts that a change moved are brought up to date with it, O(V + E) at most.
///
/// Also solved anew is what does not fit the numbers at work: a first capacity of a node that had
/// none, a float that is finer than the grid of the flow, a limit that becomes zero or positive
/// where there are gains.
///
/// Holds the network, and the residual network with two arcs of 16, 24 or 48 bytes for each of it,
/// and for each node its levels and its places in two trees of a search, some 16 bytes more.
#[derive(Clone, Debug)]
pub struct Warm<C> {
    net: Network<C>,
    rate: Option<C>,
    method: Method,
    state: State<C>,
    value: C,
    source_cut: Cached<C>,
    sink_cut: Cached<C>,
}

/// A cut, and the version of the set that it was made of.
#[derive(Clone, Debug)]
struct Cached<C> {
    version: u64,
    cut: Cut<C>,
}

impl<C: Capacity> Cached<C> {
    fn new() -> Self {
        let sides = alloc::vec::Vec::new();
        // No set has this version.
        Cached { version: u64::MAX, cut: Cut { sides, rate: false, capacity: C::ZERO } }
    }

    fn update(&mut self, shape: &Shape<'_, C>, side: &Reach, value: C) {
        if self.version != side.version {
            shape.sides(|node| side.is_source_side(node), &mut self.cut.sides);
            self.version = side.version;
        }
        self.cut.rate = shape.crosses_rate(|node| side.is_source_side(node));
        self.cut.capacity = value;
    }
}

impl<C: Capacity> Warm<C> {
    /// Solves a network by [`Method::Auto`], and keeps the flow.
    ///
    /// # Errors
    /// As for [`Solver::solve`](crate::Solver::solve).
    pub fn new(net: Network<C>) -> Result<Self, Error<C>> {
        Self::with_method(net, Method::Auto)
    }

    /// Chooses the method of the first solution, and of those that a repair hands over to.
    ///
    /// # Errors
    /// As for [`Solver::solve`](crate::Solver::solve).
    pub fn with_method(net: Network<C>, method: Method) -> Result<Self, Error<C>> {
        let state = State::solve(&net, None, method)?;
        let value = state.value()?;
        let (source_cut, sink_cut) = (Cached::new(), Cached::new());
        Ok(Warm { net, rate: None, method, state, value, source_cut, sink_cut })
    }

    /// The network as it stands.
    #[must_use]
    pub fn network(&self) -> &Network<C> {
        &self.net
    }

    /// The network, without the flow.
    #[must_use]
    pub fn into_network(self) -> Network<C> {
        self.net
    }

    /// The rate that the flow follows, if any.
    #[must_use]
    pub fn rate(&self) -> Option<C> {
        self.rate
    }

    /// The value of the flow.
    #[must_use]
    pub fn value(&self) -> C {
        self.value
    }

    /// How the value stands to the rate.
    #[must_use]
    pub fn outcome(&self) -> Outcome<C> {
        outcome(true, self.rate, self.value)
    }

    /// The flow on an arc, in source-equivalent units; `None` if there is no such arc. An arc
    /// without limit may carry more than the type holds, around in cycles; then the value is given,
    /// as [`Self::answer`] would without cycles. O(1).
    #[must_use]
    pub fn flow(&self, arc: ArcId) -> Option<C> {
        self.net.arc(arc)?;
        let whole = each!(&self.state.flow, standing => standing.flow(arc.index()));
        Some(C::from_grid(whole, self.state.grid.k).unwrap_or(self.value))
    }

    /// Changes the capacity of an arc.
    ///
    /// # Errors
    /// [`Error::NoSuchArc`], [`Error::BadCapacity`], and all of
    /// [`Solver::solve`](crate::Solver::solve) where the network has no answer any more; then
    /// nothing is changed.
    pub fn set_capacity(
        &mut self,
        arc: ArcId,
        capacity: impl Into<Limit<C>>,
    ) -> Result<Change<C>, Error<C>> {
        let missing = Error::NoSuchArc { arc, arcs: self.net.arc_count() };
        let old = self.net.arc(arc).ok_or(missing)?.capacity;
        self.edit(Place::Arc(arc), old, capacity.into())
    }

    /// Changes what a node can bear. The first capacity of a node that had none when the network was
    /// last solved makes it be solved anew.
    ///
    /// # Errors
    /// [`Error::NoSuchNode`], and else as for [`Self::set_capacity`].
    pub fn set_node_capacity(
        &mut self,
        node: NodeId,
        capacity: impl Into<Limit<C>>,
    ) -> Result<Change<C>, Error<C>> {
        let old = self.net.node_capacity(node);
        self.edit(Place::Node(node), old, capacity.into())
    }

    /// Changes the bound of a source. O(sources) to find it.
    ///
    /// # Errors
    /// [`Error::NotATerminal`], and else as for [`Self::set_capacity`].
    pub fn set_source_bound(
        &mut self,
        node: NodeId,
        bound: impl Into<Limit<C>>,
    ) -> Result<Change<C>, Error<C>> {
        let at = Place::Source(node);
        let found = self.net.sources().find(|&(other, _)| other == node);
        let (_, old) = found.ok_or(Error::NotATerminal { at })?;
        self.edit(at, old, bound.into())
    }

    /// Changes the bound of a sink. O(sinks) to find it.
    ///
    /// # Errors
    /// As for [`Self::set_source_bound`].
    pub fn set_sink_bound(
        &mut self,
        node: NodeId,
        bound: impl Into<Limit<C>>,
    ) -> Result<Change<C>, Error<C>> {
        let at = Place::Sink(node);
        let found = self.net.sinks().find(|&(other, _)| other == node);
        let (_, old) = found.ok_or(Error::NotATerminal { at })?;
        self.edit(at, old, bound.into())
    }

    /// Makes the flow exactly the lesser of `rate` and the maximum, upwards and downwards.
    ///
    /// # Errors
    /// [`Error::BadCapacity`] of the rate; then nothing is changed.
    pub fn solve_to(&mut self, rate: C) -> Result<Change<C>, Error<C>> {
        self.edit(Place::Rate, self.rate_limit(), Limit::Finite(rate))
    }

    /// Makes the flow a maximum.
    ///
    /// # Errors
    /// [`Error::Unbounded`], [`Error::Overflow`]; then nothing is changed.
    pub fn solve(&mut self) -> Result<Change<C>, Error<C>> {
        self.edit(Place::Rate, self.rate_limit(), Limit::Unbounded)
    }

    fn rate_limit(&self) -> Limit<C> {
        self.rate.map_or(Limit::Unbounded, Limit::Finite)
    }

    fn edit(&mut self, at: Place, old: Limit<C>, new: Limit<C>) -> Result<Change<C>, Error<C>> {
        self.write(at, new)?;
        let before = self.value;
        let mended = self.mend(at, old, new);
        match mended.and_then(|done| Ok((done, self.state.value()?))) {
            Ok(((effort, work), value)) => {
                self.value = value;
                Ok(Change { before, after: value, effort, work })
            }
            Err(error) => {
                // As it was: this has been solved before.
                self.write(at, old)?;
                self.anew()?;
                Err(error)
            }
        }
    }

    /// Changes the network, and nothing else.
    fn write(&mut self, at: Place, limit: Limit<C>) -> Result<(), Error<C>> {
        match at {
            Place::Arc(arc) => self.net.set_capacity(arc, limit),
            Place::Node(node) => self.net.set_node_capacity(node, limit),
            Place::Source(node) => self.net.set_source_bound(node, limit),
            Place::Sink(node) => self.net.set_sink_bound(node, limit),
            Place::Rate => {
                self.rate = match limit {
                    Limit::Finite(value) if !value.is_valid() => {
                        return Err(Error::BadCapacity { at, value });
                    }
                    Limit::Finite(rate) => Some(rate),
                    Limit::Unbounded => None,
                };
                Ok(())
            }
        }
    }

    /// Mends the flow after the network has changed.
    fn mend(&mut self, at: Place, old: Limit<C>, new: Limit<C>) -> Result<(Effort, u64), Error<C>> {
        self.state.expanded.rate = self.rate;
        if old == new {
            return Ok((Effort::Nothing, 0));
        }
        let opened = old.is_positive() != new.is_positive() && at != Place::Rate;
        let units_may_change = self.state.expanded.has_units() && opened;
        if !units_may_change && let Some(link) = self.state.link(&self.net, at) {
            let limit = self.state.scaled(&self.net, at, new)?;
            if let Some(whole) = self.state.whole(limit)
                && let Some((mended, work)) = self.state.set(link, whole)
            {
                return Ok(match mended {
                    Mended::Nothing => (Effort::Nothing, work),
                    Mended::Repair => (Effort::Repaired, work),
                });
            }
        }
        self.anew()?;
        Ok((Effort::Solved, self.state.stats.steps))
    }

    fn anew(&mut self) -> Result<(), Error<C>> {
        self.state = State::solve(&self.net, self.rate, self.method)?;
        self.source_cut = Cached::new();
        self.sink_cut = Cached::new();
        Ok(())
    }

    /// The minimum cut nearest the sources. O(1) if it has not moved since it was last read, else O(V).
    pub fn source_cut(&mut self) -> &Cut<C> {
        let State { expanded, grid, flow, .. } = &mut self.state;
        let shape = Shape { net: &self.net, expanded, grid };
        let side = each!(flow, standing => standing.near.refreshed(&standing.net));
        self.source_cut.update(&shape, side, self.value);
        &self.source_cut.cut
    }

    /// The minimum cut nearest the sinks. O(1) if it has not moved since it was last read, else O(V).
    pub fn sink_cut(&mut self) -> &Cut<C> {
        let State { expanded, grid, flow, .. } = &mut self.state;
        let shape = Shape { net: &self.net, expanded, grid };
        let side = each!(flow, standing => standing.far.refreshed(&standing.net));
        self.sink_cut.update(&shape, side, self.value);
        &self.sink_cut.cut
    }

    /// The flow and its evidence, as a solver would answer: for [`verify`](crate::verify),
    /// [`bottlenecks`](crate::bottlenecks) and [`paths`](crate::paths). The method and the
    /// statistics are those of the last solution. O(V + E), and O(V E) at worst where an arc may
    /// carry more than the type holds.
    ///
    /// Floats are solved anew where limits were finer before and the flow still is, so much that it
    /// would have to be rounded.
    pub fn answer(&mut self) -> Answer<C> {
        let cap = self.state.grid.cap();
        let finer = C::ROUNDED
            && each!(&self.state.flow, standing => standing.is_finer_than_limits(53, cap));
        if finer {
            // It has an answer, which stands.
            let _ = self.anew();
        }
        let State { expanded, grid, method, stats, flow, .. } = &mut self.state;
        let shape = Shape { net: &self.net, expanded, grid };
        each!(flow, standing => {
            let near = standing.near.refreshed(&standing.net).source_side();
            let far = standing.far.refreshed(&standing.net).source_side();
            let sides = [near, far];
            shape.answer(&mut standing.net, self.value, Some(sides), *method, *stats)
        })
    }
}
