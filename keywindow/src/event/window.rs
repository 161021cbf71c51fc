//! The window of one key in event time.

use core::num::NonZeroU64;

use super::lateness::Late;
use super::rules::Rules;
use super::state::State;
use super::update::Update;
use crate::lattice::NEVER;
use crate::{Aggregate, Emit, Error, Outcome, WindowSpec};

/// The sliding window of one key, of records in any order under a watermark.
///
/// Records that have not entered a window wait in the order of their time, and enter as the watermark
/// reaches the end of the first window that holds them. In order they lie on two stacks; from the first
/// that comes when a window of it has been told, and is older than what is there, they lie in a finger B-tree,
/// until as many slices have entered in order as there were.
///
/// A record costs O(log d) at worst, d slices behind the newest, and with corrections O(log n) more for each
/// end that it changes. A slice is the records with the same windows, or, if the aggregate
/// [does not commute](Aggregate::COMMUTATIVE), of the same time.
///
/// ```
/// use keywindow::{EventWindow, Late, Outcome, Said, WindowSpec};
/// use keywindow::aggregates::Count;
///
/// let mut window = EventWindow::new(Count::new(), WindowSpec::sliding(10, 5)?)
///     .late(Late::Correct { allowed: 60 })?;
/// let mut said = Vec::new();
/// for time in [7, 3, 12] {
///     let _ = window.push(time, &(), |_| unreachable!("nothing has been told"))?;
/// }
/// window.advance_to(15, |update| said.push((update.end, update.said, update.revision)));
/// assert_eq!(said.split_off(0), [
///     (5, Said::Value(1), 0),
///     (10, Said::Value(2), 0),
///     (15, Said::Value(2), 0),
/// ]);
/// // Out of order, and late: it was in the windows to 10 and to 15.
/// let outcome = window.push(8, &(), |update| said.push((update.end, update.said, update.revision)))?;
/// assert_eq!(outcome, Outcome::Accepted);
/// assert_eq!(said, [(10, Said::Value(3), 1), (15, Said::Value(3), 1)]);
/// # Ok::<(), keywindow::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct EventWindow<A: Aggregate> {
    pub(crate) agg: A,
    pub(crate) rules: Rules,
    pub(crate) state: State<A::Acc>,
    /// The number of the last record that corrected something.
    pub(crate) revision: u64,
}

impl<A: Aggregate> EventWindow<A> {
    /// An empty window that tells of changes of content, and counts late records in the windows that are
    /// still to be told.
    #[must_use]
    pub fn new(agg: A, spec: WindowSpec) -> Self {
        Self { agg, rules: Rules::new(spec), state: State::new(), revision: 0 }
    }

    /// Which windows to tell of. To be chosen before the first record.
    #[must_use]
    pub fn emit(mut self, emit: Emit) -> Self {
        self.rules.emit = emit;
        self
    }

    /// What becomes of late records. To be chosen before the first record.
    ///
    /// # Errors
    ///
    /// [`Error::BadAllowance`] for a negative time.
    pub fn late(mut self, late: Late) -> Result<Self, Error> {
        self.rules.late = late.checked()?;
        Ok(self)
    }

    /// Tells besides, if nothing changes, of each window that is not empty and whose number is a multiple of
    /// `every`, counted from the first end after `i64::MIN`. A reader of changes of value may then forget
    /// a key after that many slides without a word. With 1 each window is told that is not empty.
    ///
    /// This makes as many updates as there are such windows, whatever the records. To be chosen before
    /// the first record.
    #[must_use]
    pub fn heartbeat(mut self, every: NonZeroU64) -> Self {
        self.rules.beat = Some(every);
        self
    }

    /// Refuses records that are more than `ahead` units of time after the watermark, so that one from the
    /// far future neither waits for ever nor, where the host takes the watermark from the records, makes
    /// all others late. Before the first watermark nothing is refused.
    ///
    /// # Errors
    ///
    /// [`Error::BadReach`] for a negative distance.
    pub fn max_ahead(mut self, ahead: i64) -> Result<Self, Error> {
        self.rules.ahead = Some(Rules::ahead(ahead)?);
        Ok(self)
    }

    /// Adds a record of any time. Corrections of windows that have been told, under
    /// [`Late::Correct`] alone, go to `sink`, by ascending end.
    ///
    /// # Errors
    ///
    /// [`Error::TooFarAhead`], [`Error::NeverEnters`] if every window with the record would end after
    /// `i64::MAX`.
    pub fn push(
        &mut self,
        time: i64,
        record: &A::In,
        mut sink: impl FnMut(Update<A::Out>),
    ) -> Result<Outcome, Error> {
        let (outcome, span) = self.rules.judge(time)?;
        if let Some(span) = span {
            let revision = self.revision + 1;
            let Self { agg, rules, state, .. } = self;
            if state.add(agg, rules, (time, record), span, revision, &mut sink) {
                self.revision = revision;
            }
        }
        Ok(outcome)
    }

    /// Lets the watermark come to `watermark`: the windows that end until then, inclusive, are told, by
    /// ascending end. A watermark that has been passed already changes nothing.
    pub fn advance_to(&mut self, watermark: i64, mut sink: impl FnMut(Update<A::Out>)) {
        if !self.rules.advance(watermark) {
            return;
        }
        let mut from = self.rules.horizon.told;
        self.rules.horizon = self.rules.horizon_now();
        loop {
            let tick = self.state.next(&self.rules, from);
            if tick >= self.rules.horizon.told {
                break;
            }
            if let Some(update) = self.state.turn(&self.agg, &self.rules, tick) {
                sink(update);
            }
            from = tick + 1;
        }
        // The first end is reached once the horizon is past it.
        if let Some(reached) = self.rules.horizon.told.checked_sub(1) {
            self.state.purge(&self.agg, &self.rules, reached);
        }
    }

    /// The watermark at which something is to be told next, if nothing is pushed before.
    #[must_use]
    pub fn next_deadline(&self) -> Option<i64> {
        let next = self.state.next(&self.rules, self.rules.horizon.told);
        (next <= self.rules.spec.last_tick() && next != NEVER).then(|| self.rules.spec.end(next))
    }

    /// The result of the last window that has ended, `None` if it holds no record. Late records are in it
    /// that count from the next window on.
    #[must_use]
    pub fn current(&self) -> Option<A::Out> {
        let reached = self.rules.horizon.told.checked_sub(1)?;
        let merged = self.state.slices.window(&self.agg, &self.rules, Some(reached));
        merged.map(|acc| self.agg.get(&acc))
    }

    /// The watermark; `i64::MIN` at first.
    #[must_use]
    pub const fn watermark(&self) -> i64 {
        self.rules.watermark
    }

    /// Slices that wait to enter, are in the window, or are kept for corrections.
    #[must_use]
    pub fn slices(&self) -> usize {
        self.state.pending.len() + self.state.slices.len()
    }

    /// The windows.
    #[must_use]
    pub const fn spec(&self) -> &WindowSpec {
        &self.rules.spec
    }

    /// The aggregate.
    #[must_use]
    pub const fn aggregate(&self) -> &A {
        &self.agg
    }
}
