//! Left and right key windows (section 4).

use alloc::collections::VecDeque;

use super::Cost;
use crate::clock::Clock;
use crate::lattice::NEVER;
use crate::{Aggregate, Change, Error, Outcome, Tick, WindowSpec};

/// How section 4.2 is read. Its words allow all of these; only one is right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reading {
    /// "The newest right key window" is the one with the greatest start in the part of the last left
    /// window before the new one; a window that is there already is not made again; a state
    /// outlives the end of its window.
    #[default]
    Corrected,
    /// "The newest right key window" is the one that was created last.
    NewestCreated,
    /// "The part that does not overlap" lies on both sides.
    BothSides,
    /// Every record gets a left window of its own, also where there is one with its bounds.
    NoCoincidence,
    /// A window's state goes as it ends, as in Flink.
    Purged,
}

/// The paper's method: for each record a *left* window, the first with it, which inherits a state,
/// and a *right* one, the first without it, which is empty at first; and each record is added to
/// every window that holds it.
///
/// It makes two windows a record at most, and adds a record to as many as there are slices in the
/// window: with one record a slide that is more than the native windows need. On a lattice with one
/// end per instant this is the paper's drawing; on a coarser one the windows keep to it.
#[derive(Clone, Debug)]
pub struct LeftRight<A: Aggregate> {
    agg: A,
    clock: Clock,
    reading: Reading,
    /// Windows that have not ended, by their end.
    live: VecDeque<Window<A::Acc>>,
    /// The left window that ended last, and the right one that ended last after it.
    left: Option<Window<A::Acc>>,
    right: Option<Window<A::Acc>>,
    cost: Cost,
}

#[derive(Clone, Debug)]
struct Window<Acc> {
    end: Tick,
    is_left: bool,
    empty: bool,
    acc: Acc,
}

impl<A: Aggregate> LeftRight<A> {
    /// No window.
    #[must_use]
    pub fn new(agg: A, spec: WindowSpec, reading: Reading) -> Self {
        let (live, cost) = (VecDeque::new(), Cost::default());
        Self { agg, clock: Clock::new(spec), reading, live, left: None, right: None, cost }
    }

    /// As [`KeyWindow::push`](crate::KeyWindow::push).
    ///
    /// # Errors
    ///
    /// Those of [`KeyWindow::push`](crate::KeyWindow::push).
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
        let exists = self.live.front().is_some_and(|window| window.end == enter);
        if !exists || self.reading == Reading::NoCoincidence {
            let left = self.left_window(enter);
            self.cost.windows += 1;
            self.live.push_front(left);
        } else if let Some(window) = self.live.front_mut() {
            // A right window that coincides is a left one from now on.
            window.is_left = true;
        }
        // It starts after the record, so that nothing is added to it now. One that ends after
        // `i64::MAX` is never told.
        if leave != NEVER && self.live.back().is_none_or(|window| window.end < leave) {
            let acc = self.agg.create();
            self.live.push_back(Window { end: leave, is_left: false, empty: true, acc });
            self.cost.windows += 1;
        }
        for window in &mut self.live {
            if window.end < leave {
                self.agg.add(&mut window.acc, record);
                window.empty = false;
                self.cost.adds += 1;
            }
        }
        Ok(Outcome::Accepted)
    }

    /// The left window of a new record, with the state that it inherits.
    fn left_window(&mut self, enter: Tick) -> Window<A::Acc> {
        let lefts = self.live.iter().filter(|window| window.is_left).chain(&self.left);
        // The two overlap if the last left one ends after the start of the new one.
        let last = lefts.max_by_key(|window| window.end).filter(|last| {
            let apart = self.clock.spec.end(enter).abs_diff(self.clock.spec.end(last.end));
            apart < self.clock.spec.size().unsigned_abs()
        });
        // Starts in the part of the last left window before the new one: it has ended already.
        let inside = self.right.as_ref().filter(|_| last.is_some_and(|last| last.end != enter));
        let mut rights = self.live.iter().rev().filter(|window| !window.is_left);
        let right = match self.reading {
            Reading::NewestCreated if inside.is_some() => rights.next().or(inside),
            Reading::BothSides => {
                rights.find(|window| self.starts_before(window.end, enter)).or(inside)
            }
            _ => inside,
        };
        let inherited = last.map(|last| right.unwrap_or(last));
        let create = self.agg.create();
        let Some(inherited) = inherited else {
            return Window { end: enter, is_left: true, empty: true, acc: create };
        };
        let (acc, empty) = (self.agg.merge(&inherited.acc, &create), inherited.empty);
        self.cost.merges += 1;
        Window { end: enter, is_left: true, empty, acc }
    }

    fn starts_before(&self, end: Tick, other: Tick) -> bool {
        let start = i128::from(self.clock.spec.end(end)) - i128::from(self.clock.spec.size());
        start < i128::from(self.clock.spec.end(other))
    }

    /// Tells every key window that ends by `time`.
    pub fn advance_to(&mut self, time: i64, sink: impl FnMut(Change<A::Out>)) {
        let passed = self.clock.advance(time);
        self.fire(passed, sink);
    }

    fn fire(&mut self, passed: Tick, mut sink: impl FnMut(Change<A::Out>)) {
        while self.live.front().is_some_and(|window| window.end < passed) {
            let Some(window) = self.live.pop_front() else { return };
            let value = (!window.empty).then(|| self.agg.get(&window.acc));
            sink(Change { end: self.clock.spec.end(window.end), value });
            match self.reading {
                Reading::Purged => {}
                _ if window.is_left => (self.left, self.right) = (Some(window), None),
                _ => self.right = Some(window),
            }
        }
    }

    /// What was done so far.
    #[must_use]
    pub const fn cost(&self) -> Cost {
        self.cost
    }
}
