//! What the threads of one run can see of each other beside their mail: the time, and who is in
//! user code since when.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

use crate::core::{Nanos, Now, TaskId};

/// Times of one run.
#[derive(Debug)]
pub(crate) struct Watch {
    start: Instant,
    /// The clock of time-outs: stands while some worker is long in one step, and runs by little at
    /// once.
    clock: AtomicU64,
    seats: Vec<Seat>,
}

/// What one worker is at.
#[derive(Debug, Default)]
struct Seat {
    task: AtomicU32,
    /// When it entered that task's code; 0 outside of user code.
    since: AtomicU64,
    /// When its step began; 0 between steps.
    step: AtomicU64,
}

impl Watch {
    pub(crate) fn new(workers: u32) -> Self {
        Watch {
            start: Instant::now(),
            clock: AtomicU64::new(0),
            seats: (0..workers).map(|_| Seat::default()).collect(),
        }
    }

    /// Nanoseconds since the start.
    pub(crate) fn mono(&self) -> Nanos {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX).max(1)
    }

    pub(crate) fn now(&self) -> Now {
        Now { mono: self.mono(), clock: self.clock.load(Ordering::Relaxed) }
    }

    /// A worker's thread starts: whoever sat there before is gone.
    pub(crate) fn sit_down(&self, worker: u32) {
        let seat = &self.seats[worker as usize];
        seat.since.store(0, Ordering::Relaxed);
        seat.step.store(0, Ordering::Relaxed);
    }

    /// A worker begins a step.
    pub(crate) fn begin(&self, worker: u32, now: Nanos) {
        self.seats[worker as usize].step.store(now, Ordering::Relaxed);
    }

    /// A worker has ended its step.
    pub(crate) fn end(&self, worker: u32) {
        self.seats[worker as usize].step.store(0, Ordering::Relaxed);
    }

    /// Whether some worker has been in one step for longer than its `limit`: it answers nobody, and
    /// says of nothing it holds that it is alive.
    pub(crate) fn stands(&self, limit: impl Fn(u32) -> Nanos) -> bool {
        let now = self.mono();
        (0..).zip(&self.seats).any(|(worker, seat)| {
            let step = seat.step.load(Ordering::Relaxed);
            step != 0 && now.saturating_sub(step) > limit(worker)
        })
    }

    /// Enters user code; when.
    pub(crate) fn enter(&self, worker: u32, task: TaskId) -> Nanos {
        let (seat, now) = (&self.seats[worker as usize], self.mono());
        seat.task.store(task, Ordering::Relaxed);
        seat.since.store(now, Ordering::Relaxed);
        now
    }

    /// Leaves user code; how long was it, by the wall?
    pub(crate) fn leave(&self, worker: u32) -> Nanos {
        let since = self.seats[worker as usize].since.swap(0, Ordering::Relaxed);
        if since == 0 { 0 } else { self.mono().saturating_sub(since) }
    }

    /// Tasks that have been in user code for longer than `limit`: worker, task, for how long.
    pub(crate) fn overrunning(&self, limit: Nanos) -> Vec<(u32, TaskId, Nanos)> {
        let now = self.mono();
        let seats = (0..).zip(&self.seats);
        seats
            .filter_map(|(worker, seat)| {
                let since = seat.since.load(Ordering::Relaxed);
                let task = seat.task.load(Ordering::Relaxed);
                let time = now.saturating_sub(since);
                (since != 0 && time > limit).then_some((worker, task, time))
            })
            .collect()
    }

    /// Lets the clock of time-outs run by the time since `last`, unless the engine stands.
    /// Returns the new `last`.
    pub(crate) fn tick(&self, last: Nanos, standing: bool, leap: Nanos) -> Nanos {
        let now = self.mono();
        if !standing {
            let by = now.saturating_sub(last).min(leap);
            self.clock.fetch_add(by, Ordering::Relaxed);
        }
        now
    }
}
