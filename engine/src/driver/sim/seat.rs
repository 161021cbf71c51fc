//! What the simulator knows of one worker between its steps.

use std::time::Duration;

use crate::core::{Nanos, WorkerId};
use crate::report::{WorkerFigures, WorkerStats};

/// Where a worker is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    /// It has nothing to do.
    Rest,
    /// A step is due at this very time.
    Called,
    /// It waits for a core.
    Queued,
    /// It is in a step.
    Working,
    /// It heard the word to stop.
    Stopped,
}

/// One seat: the place of a worker.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) worker: WorkerId,
    pub(super) at: At,
    /// Whether another step is due as this one ends.
    pub(super) again: bool,
    /// Whether the step under way is the last.
    pub(super) stop: bool,
    /// When it asked to be woken.
    pub(super) wake_at: Nanos,
    /// The time of its wake in the calendar that counts; others are stale.
    pub(super) wake_due: Nanos,
    /// Whether all it had was stuck behind full queues as it went to rest.
    pub(super) blocked: bool,
    /// Places that its step frees as it ends: component, bytes.
    pub(super) frees: Vec<(u32, u64)>,
    since: Nanos,
    times: WorkerStats,
    pub(super) figures: Option<WorkerFigures>,
}

impl Seat {
    pub(super) fn new(worker: WorkerId, now: Nanos) -> Self {
        Seat {
            worker,
            at: At::Rest,
            again: false,
            stop: false,
            wake_at: Nanos::MAX,
            wake_due: Nanos::MAX,
            blocked: false,
            frees: Vec::new(),
            since: now,
            times: WorkerStats::default(),
            figures: None,
        }
    }

    /// It goes from rest to work.
    pub(super) fn awake(&mut self, now: Nanos) {
        let time = self.pass(now);
        if self.blocked {
            self.times.blocked += time;
        } else {
            self.times.idle += time;
        }
    }

    /// It goes from work to rest, or ends.
    pub(super) fn rest(&mut self, now: Nanos, blocked: bool) {
        let time = self.pass(now);
        self.times.busy += time;
        self.blocked = blocked;
    }

    fn pass(&mut self, now: Nanos) -> Duration {
        let time = Duration::from_nanos(now.saturating_sub(self.since));
        self.since = now;
        time
    }

    /// Its times so far.
    pub(super) fn times(&self) -> WorkerStats {
        self.times
    }
}
