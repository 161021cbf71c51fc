//! What the threads of one run can see of each other beside their mail: the time, and who is in
//! user code since when.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

use crate::core::{Nanos, Now, TaskId};

/// Times of one run.
#[derive(Debug)]
pub(crate) struct Watch {
    start: Instant,
    /// The clock of time-outs: stands while some step overruns, and never leaps.
    clock: AtomicU64,
    seats: Vec<Seat>,
}

/// What one worker is at.
#[derive(Debug, Default)]
struct Seat {
    task: AtomicU32,
    /// When it entered that task's code; 0 outside of user code.
    since: AtomicU64,
}

/// A gap between two looks longer than this is the machine's standstill, not the topology's.
const LEAP: Nanos = 50_000_000;

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

    pub(crate) fn enter(&self, worker: u32, task: TaskId) {
        let seat = &self.seats[worker as usize];
        seat.task.store(task, Ordering::Relaxed);
        seat.since.store(self.mono(), Ordering::Relaxed);
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
    pub(crate) fn tick(&self, last: Nanos, standing: bool) -> Nanos {
        let now = self.mono();
        if !standing {
            let by = now.saturating_sub(last).min(LEAP);
            self.clock.fetch_add(by, Ordering::Relaxed);
        }
        now
    }
}
