//! Native windows (section 2).

use alloc::collections::VecDeque;

use super::Cost;
use crate::clock::Clock;
use crate::lattice::NEVER;
use crate::{Aggregate, Change, Error, Outcome, Tick, WindowSpec};

/// What engines do: every record goes into every window that holds it, size / slide of them.
#[derive(Clone, Debug)]
pub struct Native<A: Aggregate> {
    agg: A,
    clock: Clock,
    /// The windows that hold a record, ascending.
    windows: VecDeque<(Tick, A::Acc)>,
    cost: Cost,
}

impl<A: Aggregate> Native<A> {
    /// No window.
    #[must_use]
    pub fn new(agg: A, spec: WindowSpec) -> Self {
        Self { agg, clock: Clock::new(spec), windows: VecDeque::new(), cost: Cost::default() }
    }

    /// As [`KeyWindow::push`](crate::KeyWindow::push), but every window is told.
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
        let last = self.clock.spec.passed(i64::MAX);
        let next = self.windows.back().map_or(enter, |(last, _)| (last + 1).max(enter));
        for tick in next..if leave == NEVER { last } else { leave } {
            self.windows.push_back((tick, self.agg.create()));
            self.cost.windows += 1;
        }
        for (_, acc) in &mut self.windows {
            self.agg.add(acc, record);
            self.cost.adds += 1;
        }
        Ok(Outcome::Accepted)
    }

    /// Tells every window that ends by `time` and holds a record.
    pub fn advance_to(&mut self, time: i64, sink: impl FnMut(Change<A::Out>)) {
        let passed = self.clock.advance(time);
        self.fire(passed, sink);
    }

    fn fire(&mut self, passed: Tick, mut sink: impl FnMut(Change<A::Out>)) {
        while let Some((tick, acc)) = self.windows.front().filter(|&&(tick, _)| tick < passed) {
            sink(Change { end: self.clock.spec.end(*tick), value: Some(self.agg.get(acc)) });
            self.windows.pop_front();
        }
    }

    /// What was done so far.
    #[must_use]
    pub const fn cost(&self) -> Cost {
        self.cost
    }
}
