//! The solvers, and what they share.

pub(crate) mod assemble;
mod dinic;
mod edmonds_karp;
pub(crate) mod expand;
pub(crate) mod grid;
pub(crate) mod machine;
pub(crate) mod push_relabel;
pub(crate) mod residual;
pub(crate) mod restore;
pub(crate) mod whole;

use self::expand::Expanded;
use self::grid::Grid;
use self::machine::Machine;
use crate::{Answer, Capacity, Error, Network, Stats};

/// How a flow is found. All methods give the same value and the same two cuts; the flows may
/// differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// The one that suits the network: [`Method::Dinic`] where all limits that are not zero are one
    /// and the same power of two, else [`Method::PushRelabel`]. The limits are those of arcs, nodes
    /// and terminals and the rate, in source-equivalent units. One that is unbounded is no power of
    /// two; but without a rate a lone unbounded source is no limit, nor ever a lone unbounded sink.
    #[default]
    Auto,
    /// Shortest augmenting paths, one at a time: O(V E²). The paper's Algorithm 2, repaired.
    EdmondsKarp,
    /// Blocking flows over levels: O(V² E), and O(E √V) for matching.
    Dinic,
    /// Push–relabel, the highest label first, with gaps and global relabelling: O(V² √E + V E).
    /// Nothing is pushed to a node that could only push it back; such a node is lifted at once. A
    /// node that is lifted again and again by more than one waits, as often as the bound allows, for
    /// the next global relabelling, which mostly finds that it is cut off from the sinks.
    PushRelabel,
}

/// A question about a network: the method, the rate, and how long it may take.
#[derive(Clone, Debug)]
#[must_use = "a question is answered by `solve`"]
pub struct Solver<'a, C> {
    net: &'a Network<C>,
    method: Method,
    rate: Option<C>,
    acyclic: bool,
}

impl<'a, C: Capacity> Solver<'a, C> {
    /// Asks for a maximum flow by [`Method::Auto`].
    pub fn new(net: &'a Network<C>) -> Self {
        Solver { net, method: Method::Auto, rate: None, acyclic: false }
    }

    /// Chooses the method.
    pub fn method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    /// Asks for a flow of exactly the lesser of `rate` and the maximum.
    pub fn rate(mut self, rate: C) -> Self {
        self.rate = Some(rate);
        self
    }

    /// Asks for a flow without cycles, at O(V E) more at worst.
    pub fn acyclic(mut self, acyclic: bool) -> Self {
        self.acyclic = acyclic;
        self
    }

    /// Answers the question.
    ///
    /// # Errors
    /// [`Error::NoSource`], [`Error::NoSink`], [`Error::BadCapacity`] of the rate,
    /// [`Error::Unbounded`], [`Error::InconsistentGain`], [`Error::GainOutOfRange`],
    /// [`Error::LimitOutOfRange`], [`Error::Overflow`], [`Error::TooLarge`].
    pub fn solve(self) -> Result<Answer<C>, Error<C>> {
        let mut run = self.start()?;
        run.step(u64::MAX);
        run.finish()
    }

    /// Answers with what there is after at most `steps` steps.
    ///
    /// Each call starts anew. To go on where it stopped, keep a [`Run`].
    ///
    /// # Errors
    /// As for [`Self::solve`].
    pub fn solve_within(self, steps: u64) -> Result<Answer<C>, Error<C>> {
        let mut run = self.start()?;
        run.step(steps);
        run.finish()
    }

    /// Answers with what there is as soon as `keep_going` says no. It is asked before the first
    /// step, and then every `every` steps (1 if that is 0).
    ///
    /// # Errors
    /// As for [`Self::solve`].
    pub fn solve_while(
        self,
        every: u64,
        mut keep_going: impl FnMut(&Progress<C>) -> bool,
    ) -> Result<Answer<C>, Error<C>> {
        let mut run = self.start()?;
        while keep_going(&run.progress()) && run.step(every.max(1)) == Status::Paused {}
        run.finish()
    }

    /// Starts to answer, step by step. O(V + E); with gains O(V + E log V), as the gain of each
    /// arc's tail is looked up in a sorted map.
    ///
    /// # Errors
    /// As for [`Self::solve`], but for [`Error::Overflow`].
    pub fn start(self) -> Result<Run<'a, C>, Error<C>> {
        let expanded = Expanded::new(self.net, self.rate)?;
        let grid = Grid::new(self.net, &expanded)?;
        let machine = Machine::new(&expanded, &grid, self.method, false)?;
        Ok(Run { net: self.net, expanded, grid, machine, acyclic: self.acyclic, saved: 0 })
    }
}

/// Whether a [`Run`] has come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The flow is a maximum, or meets the rate.
    Done,
    /// There is more to do.
    Paused,
}

/// How far a [`Run`] has come.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Progress<C> {
    /// The work so far.
    pub stats: Stats,
    /// The value of the flow so far: what [`Run::finish`] would answer. It never falls. `None` if
    /// it is beyond the type: then the answer is [`Error::Overflow`].
    pub value: Option<C>,
    /// Whether it is done.
    pub done: bool,
}

/// A solver that is under way. It keeps all that it has found, so that any number of small steps
/// does the same as a large one.
///
/// Some work cannot be halved: looking at all arcs of a node, or raising the flow along a path. If
/// the budget of a call does not suffice, nothing is done and the budget is kept for the next call.
/// So the steps taken are never more than the steps granted so far, and enough calls always
/// get to the end. What is not counted: reading the network in [`Solver::start`], and
/// [`Run::finish`].
#[derive(Clone, Debug)]
pub struct Run<'a, C> {
    net: &'a Network<C>,
    expanded: Expanded<C>,
    grid: Grid,
    machine: Machine,
    acyclic: bool,
    /// Granted and not yet used.
    saved: u64,
}

impl<C: Capacity> Run<'_, C> {
    /// Goes on for `steps` steps and what earlier calls left over.
    pub fn step(&mut self, steps: u64) -> Status {
        self.saved = self.saved.saturating_add(steps);
        if self.machine.run(&mut self.saved) { Status::Done } else { Status::Paused }
    }

    /// How far it has come. O(1).
    #[must_use]
    pub fn progress(&self) -> Progress<C> {
        let (machine, k) = (&self.machine, self.grid.k);
        let value = C::from_grid(machine.value(), k);
        Progress { stats: machine.stats(), value, done: machine.done() }
    }

    /// The answer, with [`Outcome::Stopped`](crate::Outcome::Stopped) unless done. O(V + E), and
    /// O(V E) at worst for push–relabel, which sends back what has not reached the sink.
    ///
    /// # Errors
    /// [`Error::Overflow`].
    pub fn finish(self) -> Result<Answer<C>, Error<C>> {
        assemble::answer(self)
    }
}
