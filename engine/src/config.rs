//! What a run may be told, and which values are refused.

mod show;

use core::time::Duration;

use crate::topology::BuildError;

/// What is promised of a root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Guarantee {
    /// No tracking: nothing is delivered twice, what is lost is lost.
    AtMostOnce,
    /// Every root is acked, or after its last attempt a dead letter; replays may count twice.
    #[default]
    AtLeastOnce,
    /// As `AtLeastOnce`, and bolts that keep state drop what they have seen, so that each record
    /// counts in their state once. Asks of them and of those before them what
    /// [`stateful`](crate::BoltBuilder::stateful) says; what a plain sink writes may repeat.
    ExactlyOnce,
}

/// What becomes of an exactly-once run when a root is out of attempts: part of it may stand in
/// some state and part of it not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Exhausted {
    /// The run ends, with the root's component and the reason.
    #[default]
    Stop,
    /// The root becomes a dead letter; its partial effect stays, and the letter names it.
    Skip,
}

/// When an epoch ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EpochEnd {
    /// After this time, if anything happened in it; or after 2^20 records, since an acker
    /// remembers every root until its epoch is closed.
    Every(Duration),
    /// After about this many records of all spouts together.
    Records(u64),
}

/// Settings of a run. [`Config::default`] is in force where nothing is said; the report repeats
/// them, and `Display` prints them, one a line.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Config {
    /// Worker threads.
    pub workers: u32,
    /// Ackers on the ring, one a worker; at most as many as workers.
    pub ackers: u32,
    /// Changes of `ackers` as the run goes on: from each of these epochs on there are so many. Roots
    /// of earlier epochs stay with the acker that they had, replays included. Epochs rise, from 1 at
    /// the least; at most [`MAX_ACKER_CHANGES`], and only where roots are tracked.
    pub acker_changes: Vec<(u64, u32)>,
    /// What is promised of a root.
    pub guarantee: Guarantee,
    /// When an epoch ends.
    pub epoch: EpochEnd,
    /// Epochs that a spout may be ahead of the last one closed everywhere.
    pub window: u32,
    /// Batches that a worker's queue of one component holds.
    pub queue: usize,
    /// Tuples at which a batch is full and leaves. It is looked at after a whole buffer of what a task
    /// emitted was shared out, so it may hold up to three times as many.
    pub batch: usize,
    /// Payload bytes, as [`Batch::size`](crate::Batch::size) has them, at which a batch is full
    /// whatever it counts; it may hold up to three times as much, and a larger record passes all the
    /// same.
    pub batch_bytes: usize,
    /// How long a batch that is not full may wait.
    pub linger: Duration,
    /// Unfinished roots a spout task may have.
    pub max_pending: usize,
    /// Payload bytes, as [`Batch::size`](crate::Batch::size) has them, of unfinished roots at which
    /// a spout task waits for verdicts.
    pub max_pending_bytes: usize,
    /// How long a root may show no sign of life before it is replayed.
    pub timeout: Duration,
    /// How long a [`Ticket`](crate::Ticket) may be open after the first flush that left it open; then
    /// its root fails.
    pub ticket_limit: Duration,
    /// Attempts before a root is a dead letter.
    pub attempts: u32,
    /// What becomes of an exactly-once run when a root is out of attempts.
    pub exhausted: Exhausted,
    /// Exactly once: of so many roots in a million, one more attempt is made after they are done, to
    /// see whether bolts are functions of the tuple alone: the checking mode. It compares how many
    /// tuples each tuple led to, and where keyed streams took them. Costs memory for each tuple.
    pub check_ppm: u32,
    /// Wait before the second attempt; it doubles with each further one, up to `max_backoff`.
    pub backoff: Duration,
    /// The longest wait between two attempts.
    pub max_backoff: Duration,
    /// Largest size of one record in bytes, as [`Batch::size`](crate::Batch::size) has it; a larger
    /// one is a dead letter that names both.
    pub record_limit: usize,
    /// Slots of a keyed stream: `2^slot_bits`. `None` picks enough for the tasks.
    pub slot_bits: Option<u32>,
    /// Steps that the deepest runnable components take before every other one has its turn.
    pub turn: u32,
    /// No progress for this long gives a stall report.
    pub stall_after: Duration,
    /// A call of user code longer than this is named in the status. (The clock of time-outs stands
    /// earlier: while a worker is in a step for longer than this or a quarter of the time-out.)
    pub overrun: Duration,
    /// How long a drain may take before it is cut short.
    pub drain: Duration,
    /// Tuples in a million that are lost on their way, for trying out replay.
    pub drop_ppm: u32,
    /// How often one and the same cause at the same epoch may start all anew, before the run ends
    /// with it; 0 never. It takes spouts that can go back: see
    /// [`Spout::position`](crate::Spout::position).
    pub restarts: u32,
    /// The seed of all that is drawn by lot.
    pub seed: u64,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            workers: 1,
            ackers: 1,
            acker_changes: Vec::new(),
            guarantee: Guarantee::default(),
            epoch: EpochEnd::Every(Duration::from_millis(50)),
            window: 64,
            queue: 4,
            batch: 1024,
            batch_bytes: 256 << 10,
            linger: Duration::from_millis(5),
            max_pending: 1024,
            max_pending_bytes: 16 << 20,
            timeout: Duration::from_secs(30),
            ticket_limit: Duration::from_secs(30),
            attempts: 10,
            exhausted: Exhausted::default(),
            check_ppm: 0,
            backoff: Duration::from_millis(1),
            max_backoff: Duration::from_secs(1),
            record_limit: 1 << 26,
            slot_bits: None,
            turn: 8,
            stall_after: Duration::from_secs(10),
            overrun: Duration::from_millis(500),
            drain: Duration::from_secs(30),
            drop_ppm: 0,
            restarts: 3,
            seed: 0,
        }
    }
}

/// Most workers of a run.
pub const MAX_WORKERS: u32 = 512;
/// Most changes of the ring of ackers in a run: each has a ring of its own in memory.
pub const MAX_ACKER_CHANGES: usize = 256;
/// Most slot bits of a keyed stream.
pub const MAX_SLOT_BITS: u32 = 24;

impl Config {
    /// Whether roots are tracked.
    #[must_use]
    pub fn tracked(&self) -> bool {
        self.guarantee != Guarantee::AtMostOnce
    }

    /// Whether bolts that keep state drop what they have seen.
    #[must_use]
    pub fn exactly_once(&self) -> bool {
        self.guarantee == Guarantee::ExactlyOnce
    }

    /// Appends an error for every value that makes no sense.
    pub(crate) fn check(&self, errors: &mut Vec<BuildError>) {
        let mut at_least_one = |field: &'static str, value: u64| {
            if value == 0 {
                errors.push(BuildError::Zero { field });
            }
        };
        at_least_one("workers", u64::from(self.workers));
        at_least_one("window", u64::from(self.window));
        at_least_one("queue", self.queue as u64);
        at_least_one("batch", self.batch as u64);
        at_least_one("batch_bytes", self.batch_bytes as u64);
        at_least_one("record_limit", self.record_limit as u64);
        at_least_one("turn", u64::from(self.turn));
        at_least_one("stall_after", whole(self.stall_after));
        at_least_one("overrun", whole(self.overrun));
        at_least_one("ticket_limit", whole(self.ticket_limit));
        match self.epoch {
            EpochEnd::Every(time) => at_least_one("epoch", whole(time)),
            EpochEnd::Records(records) => at_least_one("epoch", records),
        }
        if self.tracked() {
            at_least_one("ackers", u64::from(self.ackers));
            at_least_one("max_pending", self.max_pending as u64);
            at_least_one("max_pending_bytes", self.max_pending_bytes as u64);
            at_least_one("attempts", u64::from(self.attempts));
            if self.ackers > self.workers {
                errors.push(BuildError::Above {
                    field: "ackers",
                    value: u64::from(self.ackers),
                    limit: u64::from(self.workers),
                });
            }
            self.check_acker_changes(errors);
            if self.timeout <= self.linger {
                errors.push(BuildError::TimeoutWithinLinger {
                    timeout: self.timeout,
                    linger: self.linger,
                });
            }
            if self.timeout < Duration::from_millis(10) {
                errors.push(BuildError::TimeoutTooShort { timeout: self.timeout });
            }
            let (backoff, max_backoff) = (self.backoff, self.max_backoff);
            if backoff > max_backoff {
                errors.push(BuildError::BackoffAboveMax { backoff, max_backoff });
            }
        }
        if !self.tracked() && !self.acker_changes.is_empty() {
            errors.push(BuildError::UntrackedAckerChanges { guarantee: self.guarantee });
        }
        if self.check_ppm > 0 && !self.exactly_once() {
            let guarantee = self.guarantee;
            errors.push(BuildError::NothingToCheck { check_ppm: self.check_ppm, guarantee });
        }
        let mut at_most = |field, value: u64, limit: u64| {
            if value > limit {
                errors.push(BuildError::Above { field, value, limit });
            }
        };
        at_most("workers", u64::from(self.workers), u64::from(MAX_WORKERS));
        at_most("slot_bits", u64::from(self.slot_bits.unwrap_or(0)), u64::from(MAX_SLOT_BITS));
        at_most("drop_ppm", u64::from(self.drop_ppm), 1_000_000);
        at_most("check_ppm", u64::from(self.check_ppm), 1_000_000);
        at_most("batch", self.batch as u64, 1 << 24);
        at_most("queue", self.queue as u64, 1 << 24);
        at_most("window", u64::from(self.window), 1 << 20);
        let limit = Duration::from_secs(10_000 * 24 * 3600);
        let epoch = match self.epoch {
            EpochEnd::Every(time) => time,
            EpochEnd::Records(_) => Duration::ZERO,
        };
        for (field, time) in [
            ("epoch", epoch),
            ("timeout", self.timeout),
            ("linger", self.linger),
            ("backoff", self.backoff),
            ("max_backoff", self.max_backoff),
            ("stall_after", self.stall_after),
            ("overrun", self.overrun),
            ("ticket_limit", self.ticket_limit),
            ("drain", self.drain),
        ] {
            if time > limit {
                errors.push(BuildError::TooLong { field, value: time, limit });
            }
        }
    }

    fn check_acker_changes(&self, errors: &mut Vec<BuildError>) {
        let (value, limit) = (self.acker_changes.len() as u64, MAX_ACKER_CHANGES as u64);
        if value > limit {
            errors.push(BuildError::Above { field: "acker_changes", value, limit });
            return;
        }
        let workers = self.workers;
        let mut before = None;
        for &(epoch, ackers) in &self.acker_changes {
            if epoch == 0 {
                errors.push(BuildError::AckerChangeAtStart { ackers });
            } else if let Some(before) = before.filter(|&before| before >= epoch) {
                errors.push(BuildError::AckerChangeOrder { epoch, before });
            }
            if ackers == 0 || ackers > workers {
                errors.push(BuildError::AckerChangeCount { epoch, ackers, workers });
            }
            before = Some(epoch);
        }
    }
}

/// A duration in whole nanoseconds, at most `u64::MAX`.
#[must_use]
pub(crate) fn whole(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
