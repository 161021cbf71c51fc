//! Several windows over one store of slices.

use alloc::vec::Vec;

use super::lateness::Late;
use super::rules::Rules;
use super::update::Update;
use crate::kernel::{Finger, Kernel};
use crate::lattice::NEVER;
use crate::{Aggregate, Emit, Error, Outcome, Tick, WindowSpec};

/// Windows of several sizes, slides and phases over the same records of one key.
///
/// A slice is stored once, in one finger B-tree, and each of the windows reads its range of it:
/// O(log n) for each change of each window, n slices in the longest. For the last minute, hour and day that
/// is a day's worth of slices and no more. Records may come in any order; each window counts them as
/// [`EventWindow`](crate::EventWindow) would, without corrections.
///
/// ```
/// use keywindow::{MultiWindow, Said, WindowSpec};
/// use keywindow::aggregates::Count;
///
/// let specs = [WindowSpec::sliding(10, 1)?, WindowSpec::sliding(100, 20)?];
/// let mut windows = MultiWindow::new(Count::new(), specs);
/// for time in [30, 5, 42] {
///     let _ = windows.push(time, &())?;
/// }
/// let mut said = Vec::new();
/// windows.advance_to(42, |window, update| said.push((window, update.end, update.said)));
/// assert_eq!(said, [
///     (0, 6, Said::Value(1)),
///     (0, 16, Said::Empty),
///     (1, 20, Said::Value(1)),
///     (0, 31, Said::Value(1)),
///     (1, 40, Said::Value(2)),
///     (0, 41, Said::Empty),
/// ]);
/// # Ok::<(), keywindow::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MultiWindow<A: Aggregate> {
    agg: A,
    windows: Vec<One<A::Acc>>,
    watermark: i64,
    /// Slices, those that have not entered with them.
    slices: Finger<A::Acc, i64>,
    outcomes: Vec<Outcome>,
}

#[derive(Clone, Debug)]
struct One<Acc> {
    rules: Rules,
    /// The next tick that is due, or [`NEVER`].
    next: Tick,
    /// The last window as it was told, where that is to be compared.
    before: Option<Acc>,
}

impl<Acc> One<Acc> {
    /// The next tick from this one on at which a slice enters or leaves, or [`NEVER`].
    fn after(&self, slices: &Finger<Acc, i64>, from: Tick) -> Tick
    where
        Acc: Clone,
    {
        let spec = &self.rules.spec;
        let (mut enter, mut leave) = (NEVER, NEVER);
        if from > spec.last_tick() {
            return NEVER;
        }
        // What has not entered by the tick before, and what was in the window then. A slice may lie in none.
        let reached = from.checked_sub(1);
        let mut time = slices.first_from(reached.map_or(i64::MIN, |tick| spec.end(tick)));
        while let Some(at) = time {
            match spec.place(at, spec.passed(at)) {
                Ok(Some((first, _))) => {
                    enter = first;
                    break;
                }
                // On to the next window.
                Ok(None) => time = slices.first_from(spec.start(spec.passed(at))),
                Err(_) => break,
            }
        }
        if let Some(reached) = reached {
            let (start, end) = (spec.start(reached), spec.end(reached));
            if let Some(at) = slices.first_from(start).filter(|&at| at < end) {
                leave = spec.leave_tick(at);
            }
        }
        enter.min(leave)
    }
}

impl<A: Aggregate> MultiWindow<A> {
    /// Empty windows that tell of changes of content, and count late records where they are still to be
    /// told.
    #[must_use]
    pub fn new(agg: A, specs: impl IntoIterator<Item = WindowSpec>) -> Self {
        let one = |spec| One { rules: Rules::new(spec), next: NEVER, before: None };
        let windows = specs.into_iter().map(one).collect();
        let slices = Kernel::<A, i64>::new(&agg);
        Self { agg, windows, watermark: i64::MIN, slices, outcomes: Vec::new() }
    }

    /// Which windows to tell of. To be chosen before the first record.
    #[must_use]
    pub fn emit(mut self, emit: Emit) -> Self {
        self.windows.iter_mut().for_each(|one| one.rules.emit = emit);
        self
    }

    /// Drops records that are late for one of the windows, as [`Late::Drop`] does. To be chosen before the
    /// first record.
    #[must_use]
    pub fn drop_late(mut self) -> Self {
        self.windows.iter_mut().for_each(|one| one.rules.late = Late::Drop);
        self
    }

    /// Adds a record of any time, and returns what becomes of it in each window.
    ///
    /// The slices are one store: with [`drop_late`](Self::drop_late) a record is dropped as a whole if one
    /// of the windows drops it, and all outcomes are [`Outcome::Late`] or [`Outcome::Gap`] then.
    ///
    /// # Errors
    ///
    /// [`Error::NeverEnters`] if one of the windows has no end by `i64::MAX` for it.
    pub fn push(&mut self, time: i64, record: &A::In) -> Result<&[Outcome], Error> {
        self.outcomes.clear();
        for one in &self.windows {
            self.outcomes.push(one.rules.judge(time)?.0);
        }
        let dropping = self.windows.iter().any(|one| one.rules.late == Late::Drop);
        if dropping && self.outcomes.contains(&Outcome::Late) {
            for outcome in &mut self.outcomes {
                if *outcome != Outcome::Gap {
                    *outcome = Outcome::Late;
                }
            }
            return Ok(&self.outcomes);
        }
        let counts = |outcome: &Outcome| !matches!(outcome, Outcome::Late | Outcome::Gap);
        if !self.outcomes.iter().any(counts) {
            return Ok(&self.outcomes);
        }
        let mut slice = time;
        if A::COMMUTATIVE {
            // The latest start: a slice of all windows.
            let starts = self.windows.iter().map(|one| one.rules.spec.slice(time));
            slice = starts.max().unwrap_or(time);
        }
        self.slices.add(&self.agg, slice, record);
        for (one, outcome) in self.windows.iter_mut().zip(&self.outcomes) {
            match outcome {
                Outcome::Accepted => one.next = one.next.min(one.rules.spec.passed(time)),
                Outcome::Partial { .. } => one.next = one.rules.horizon.told,
                Outcome::Late | Outcome::Gap => {}
            }
        }
        Ok(&self.outcomes)
    }

    /// Lets the watermark come to `watermark`: the windows that end until then, inclusive, are told with
    /// the position of their spec; by ascending end, and of one end by that position.
    pub fn advance_to(&mut self, watermark: i64, mut sink: impl FnMut(usize, Update<A::Out>)) {
        if watermark <= self.watermark {
            return;
        }
        self.watermark = watermark;
        loop {
            let ends = self
                .windows
                .iter()
                .enumerate()
                .filter(|(_, one)| one.next <= one.rules.spec.last_tick());
            let ends = ends.map(|(at, one)| (one.rules.spec.end(one.next), at));
            let Some((_, at)) = ends.min().filter(|first| first.0 <= watermark) else { break };
            if let Some(update) = self.turn(at) {
                sink(at, update);
            }
        }
        let mut keep = i64::MAX;
        for one in &mut self.windows {
            one.rules.watermark = watermark;
            one.rules.horizon = one.rules.horizon_now();
            let reached = one.rules.horizon.told.checked_sub(1);
            keep = keep.min(reached.map_or(i64::MIN, |tick| one.rules.spec.start(tick)));
        }
        self.slices.evict_before(&self.agg, keep);
    }

    /// One window goes to its next tick.
    fn turn(&mut self, at: usize) -> Option<Update<A::Out>> {
        let Self { agg, windows, slices, .. } = self;
        let one = windows.get_mut(at)?;
        let (spec, tick) = (&one.rules.spec, one.next);
        let end = spec.end(tick);
        let after = slices.range(agg, spec.start(tick), end);
        let changed = match one.rules.emit {
            Emit::ContentChange => true,
            Emit::ValueChange => !super::state::same(agg, one.before.as_ref(), after.as_ref()),
        };
        one.next = one.after(slices, tick + 1);
        if one.rules.emit == Emit::ValueChange {
            one.before.clone_from(&after);
        }
        changed.then(|| Update::on_time(end, after.map(|acc| agg.get(&acc))))
    }

    /// The watermark at which something is to be told next, if nothing is pushed before.
    #[must_use]
    pub fn next_deadline(&self) -> Option<i64> {
        let due = self.windows.iter().filter(|one| one.next <= one.rules.spec.last_tick());
        due.map(|one| one.rules.spec.end(one.next)).min()
    }

    /// The watermark; `i64::MIN` at first.
    #[must_use]
    pub const fn watermark(&self) -> i64 {
        self.watermark
    }

    /// Slices that are in one of the windows or wait to enter one.
    #[must_use]
    pub fn slices(&self) -> usize {
        self.slices.count()
    }

    /// The windows, in the order in which they were given.
    pub fn specs(&self) -> impl Iterator<Item = &WindowSpec> {
        self.windows.iter().map(|one| &one.rules.spec)
    }

    /// The aggregate.
    #[must_use]
    pub const fn aggregate(&self) -> &A {
        &self.agg
    }
}
