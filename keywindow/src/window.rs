//! The window of one key.

use alloc::vec::Vec;
use core::mem;

use crate::clock::Clock;
use crate::kernel::{Kernel, TwoStacks};
use crate::lattice::NEVER;
use crate::tick::{turn, value};
use crate::{Aggregate, Change, Emit, Error, Outcome, Tick, WindowSpec};

/// The sliding window of one key, in order of time.
///
/// Records of one *slice*, which enter and leave the window together, are added up. The slices in
/// the window are in a [`Kernel`], and those that have not entered yet wait beside it. So a record
/// costs one `add`, and a slice four merges at most with [`TwoStacks`], amortised and without reads
/// between window ends; memory is a partial result a slice: at most size / slide + 1 of them where
/// the slide divides the size, and 2⌈size / slide⌉ + 1 elsewhere, however many records there are.
///
/// ```
/// use keywindow::{Change, KeyWindow, WindowSpec};
/// use keywindow::aggregates::Sum;
///
/// let mut window = KeyWindow::new(Sum::<i64>::new(), WindowSpec::sliding(60_000, 1)?);
/// let mut changes = Vec::new();
/// window.push(500, &4, |change| changes.push(change))?;
/// window.push(900, &5, |change| changes.push(change))?;
/// assert_eq!(window.next_deadline(), Some(901));
/// window.advance_to(100_000, |change| changes.push(change));
/// assert_eq!(
///     changes,
///     [
///         Change::new(501, Some(Ok(4))),
///         Change::new(901, Some(Ok(9))),
///         Change::new(60_501, Some(Ok(5))),
///         Change::new(60_901, None),
///     ]
/// );
/// # Ok::<(), keywindow::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct KeyWindow<A: Aggregate, Q = TwoStacks<<A as Aggregate>::Acc>> {
    agg: A,
    clock: Clock,
    emit: Emit,
    slices: Q,
    /// Slices that enter at `enter`, oldest first; two at most.
    waiting: Vec<(Tick, A::Acc)>,
    enter: Tick,
}

impl<A: Aggregate> KeyWindow<A> {
    /// An empty window on two stacks that tells of changes of content.
    #[must_use]
    pub fn new(agg: A, spec: WindowSpec) -> Self {
        Self::with_kernel(agg, spec)
    }
}

impl<A: Aggregate, Q: Kernel<A, Tick>> KeyWindow<A, Q> {
    /// An empty window on a kernel of the caller's choice, as in
    /// `KeyWindow::<_, Daba<_>>::with_kernel(agg, spec)`.
    #[must_use]
    pub fn with_kernel(agg: A, spec: WindowSpec) -> Self {
        let slices = Q::new(&agg);
        let (clock, emit) = (Clock::new(spec), Emit::default());
        Self { agg, clock, emit, slices, waiting: Vec::new(), enter: NEVER }
    }

    /// Which windows to tell of. To be chosen before the first record: a change of mind in
    /// between holds for the windows that are still to come.
    #[must_use]
    pub fn emit(mut self, emit: Emit) -> Self {
        self.emit = emit;
        self
    }

    /// Lets the time come to that of the record, and adds the record.
    ///
    /// The windows that end until then, inclusive, go to `sink` first, ascending.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfOrder`] if the time has passed already, [`Error::NeverEnters`] if every window
    /// with the record would end after `i64::MAX`.
    pub fn push(
        &mut self,
        time: i64,
        record: &A::In,
        sink: impl FnMut(Change<A::Out>),
    ) -> Result<Outcome, Error> {
        let passed = self.clock.reach(time)?;
        self.fire(passed, sink);
        let Some((enter, leave)) = self.clock.spec.place(time, passed)? else {
            return Ok(Outcome::Gap);
        };
        match self.waiting.last_mut() {
            Some((last, acc)) if *last == leave => self.agg.add(acc, record),
            _ => {
                let mut acc = self.agg.create();
                self.agg.add(&mut acc, record);
                self.waiting.push((leave, acc));
                // All that wait have the time in one cell of the lattice, so this is one tick.
                self.enter = enter;
            }
        }
        Ok(Outcome::Accepted)
    }

    /// Lets the time come to `time`: all windows that end until then, inclusive, are final, and
    /// their changes go to `sink`, ascending. A time that has passed already changes nothing.
    pub fn advance_to(&mut self, time: i64, sink: impl FnMut(Change<A::Out>)) {
        let passed = self.clock.advance(time);
        self.fire(passed, sink);
    }

    /// Everything before the tick `passed`.
    fn fire(&mut self, passed: Tick, mut sink: impl FnMut(Change<A::Out>)) {
        let Some(mut tick) = self.next() else { return };
        while tick < passed {
            let mut entering = if tick == self.enter {
                self.enter = NEVER;
                mem::take(&mut self.waiting)
            } else {
                Vec::new()
            };
            let told = turn(&self.agg, self.emit, &mut self.slices, |agg, slices| {
                while slices.oldest() == Some(tick) {
                    slices.pop(agg);
                }
                for (leave, acc) in entering.drain(..) {
                    slices.push(agg, leave, acc);
                }
            });
            if entering.capacity() > 0 {
                self.waiting = entering;
            }
            if let Some(value) = told {
                sink(Change { end: self.clock.spec.end(tick), value });
            }
            let Some(next) = self.next() else { return };
            tick = next;
        }
    }

    fn next(&self) -> Option<Tick> {
        let next = self.slices.oldest().map_or(self.enter, |leave| leave.min(self.enter));
        (next != NEVER).then_some(next)
    }

    /// The time at which something is to be told next, if nothing is pushed before: the host
    /// needs one timer, and calls [`advance_to`](Self::advance_to) then.
    #[must_use]
    pub fn next_deadline(&self) -> Option<i64> {
        self.next().map(|tick| self.clock.spec.end(tick))
    }

    /// The result of the last window that has ended, `None` if it held no record.
    #[must_use]
    pub fn current(&self) -> Option<A::Out> {
        value(&self.agg, &self.slices)
    }

    /// The time that has been reached; `i64::MIN` at first.
    #[must_use]
    pub const fn now(&self) -> i64 {
        self.clock.now
    }

    /// Slices that are in the window or wait to enter it.
    #[must_use]
    pub fn slices(&self) -> usize {
        self.slices.len() + self.waiting.len()
    }

    /// The windows.
    #[must_use]
    pub const fn spec(&self) -> &WindowSpec {
        &self.clock.spec
    }

    /// The aggregate.
    #[must_use]
    pub const fn aggregate(&self) -> &A {
        &self.agg
    }
}
