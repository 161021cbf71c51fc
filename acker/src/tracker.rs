//! The tracker: one check value for each pending root.

use alloc::vec::Vec;
use core::fmt;

use crate::expiry::{Clock, SLOTS, Ticks, Timeout};
use crate::table::{Record, Table};
use crate::{Applied, Delta, Error, Outcome, RootId, Stats, Update, Verdict};

/// How a tracker is set up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TrackerConfig {
    /// When to give up.
    pub timeout: Timeout,
    /// Generations in 3..=8: the more, the closer a time-out follows its `T`.
    pub generations: u8,
    /// The key of the table's hash. Ids come from outside, so choose it at random where
    /// the sender is not trusted; no verdict depends on it.
    pub seed: u64,
}

const TASK_BITS: u32 = 27;
const GENERATION: u32 = 0b111 << TASK_BITS;
const ARMED: u32 = 1 << 30;
const FAILED: u32 = 1 << 31;

impl Record {
    const fn task(self) -> u32 {
        self.meta & Tracker::MAX_TASK
    }

    const fn slot(self) -> usize {
        ((self.meta & GENERATION) >> TASK_BITS) as usize
    }

    const fn is(self, flag: u32) -> bool {
        self.meta & flag != 0
    }
}

/// Tracks the tuple trees of many roots in 20 bytes of payload each (paper sections 2 and 3.1).
///
/// The tracker is a plain state machine without clock, thread or I/O: the caller brings
/// messages in any order, tells the time with [`advance`](Self::advance), and receives
/// one [`Verdict`] for each accepted [`init`](Self::init).
///
/// A root is *armed* from its init to its verdict. A message for a root that is not armed
/// leaves an *orphan*: its sum and its failure wait for the init, for one time-out at
/// most. After a verdict nothing is remembered, so that an init that is repeated after
/// the verdict arms the root again: drop repeats before they come here, and replay under
/// a new id ([`mix`](crate::mix)).
#[derive(Clone)]
pub struct Tracker {
    table: Table,
    clock: Clock,
    /// Whether armed roots expire, or only orphans.
    roots_expire: bool,
    armed: usize,
    /// Records that may expire, by generation.
    expiring: [usize; SLOTS],
    stats: Stats,
}

impl Tracker {
    /// The largest task number that a record can hold: 2²⁷ − 1.
    pub const MAX_TASK: u32 = (1 << TASK_BITS) - 1;

    /// A tracker without roots, at time 0. Allocates nothing. O(1).
    ///
    /// If the caller's clock does not start at 0, [`advance`](Self::advance) to its
    /// present before the first init.
    ///
    /// # Errors
    ///
    /// [`Error::BadGenerations`] outside 3..=8; [`Error::BadTimeout`] for zero ticks.
    pub const fn new(config: TrackerConfig) -> Result<Self, Error> {
        let generations = config.generations;
        if generations < 3 || generations > SLOTS as u8 {
            return Err(Error::BadGenerations { generations });
        }
        if let Some(0) = config.timeout.ticks() {
            return Err(Error::BadTimeout);
        }
        Ok(Self {
            table: Table::new(config.seed),
            clock: Clock::new(config.timeout.ticks(), generations),
            roots_expire: matches!(config.timeout, Timeout::After(_)),
            armed: 0,
            expiring: [0; SLOTS],
            stats: Stats::NONE,
        })
    }

    /// Announces a root: `task` sent the tuples `produced` as the children of `root`.
    ///
    /// The root's own id is not part of the sum (paper section 3.3). Messages that came
    /// before are taken into account: the root may be done, or failed, at once. A root
    /// without children and without earlier messages is done at once. The time-out starts
    /// here. Expected O(1), amortised.
    ///
    /// # Errors
    ///
    /// [`Error::DuplicateRoot`] if the root is armed: taking a repeat would XOR its
    /// children away and call the root done. [`Error::TaskTooLarge`] above
    /// [`MAX_TASK`](Self::MAX_TASK). Neither changes the root.
    #[inline]
    pub fn init(&mut self, root: RootId, task: u32, produced: Delta) -> Result<Applied, Error> {
        if task > Self::MAX_TASK {
            return Err(Error::TaskTooLarge { task });
        }
        let orphan = match self.table.find(root) {
            Some(at) => {
                if self.table.get_mut(at).is(ARMED) {
                    self.stats.duplicate_inits += 1;
                    return Err(Error::DuplicateRoot { root });
                }
                let orphan = self.table.remove(at);
                self.expiring[orphan.slot()] -= 1;
                orphan
            }
            None => Record { root: root.get(), check: 0, meta: 0 },
        };
        self.stats.inits += 1;
        self.stats.updates += 1;
        let check = orphan.check ^ produced.bits();
        if orphan.is(FAILED) {
            return Ok(self.verdict(root, task, Outcome::Failed));
        }
        if check == 0 {
            return Ok(self.verdict(root, task, Outcome::Done));
        }
        self.armed += 1;
        self.insert(root, check, task | ARMED);
        Ok(Applied::Pending)
    }

    /// A tuple of the tree is finished: it consumed the ids `consumed` and produced the
    /// ids `produced`, in one message (paper section 3.3). Expected O(1).
    ///
    /// The order of acks and init is free. Deliver each ack at most once: a repeat keeps
    /// the check value from zero and the root ends by its time-out, on the safe side.
    #[inline]
    pub fn ack(&mut self, root: RootId, consumed: Delta, produced: Delta) -> Applied {
        self.update(root, Update::new(consumed, produced))
    }

    /// The merged form of [`ack`](Self::ack): several finished tuples of one root.
    /// Expected O(1).
    ///
    /// An update whose sum is zero says nothing, and leaves no orphan.
    #[inline]
    pub fn update(&mut self, root: RootId, update: Update) -> Applied {
        self.stats.updates += 1;
        let Some(at) = self.table.find(root) else {
            if update.bits() != 0 {
                self.insert(root, update.bits(), 0);
            }
            return Applied::Orphan;
        };
        let record = self.table.get_mut(at);
        record.check ^= update.bits();
        if !record.is(ARMED) {
            return Applied::Orphan;
        }
        if record.check != 0 {
            return Applied::Pending;
        }
        self.end(root, at, Outcome::Done)
    }

    /// A tuple of the tree has failed: the root fails now, or as soon as its init comes,
    /// even if its check value is zero by then. Expected O(1).
    pub fn fail(&mut self, root: RootId) -> Applied {
        let Some(at) = self.table.find(root) else {
            self.insert(root, 0, FAILED);
            return Applied::Orphan;
        };
        let record = self.table.get_mut(at);
        if record.is(ARMED) {
            return self.end(root, at, Outcome::Failed);
        }
        record.meta |= FAILED;
        Applied::Orphan
    }

    /// Restarts the time-out of an armed root. Expected O(1).
    ///
    /// Returns whether the root is armed. A root that is not has no time-out to restart:
    /// nothing is stored for it, and an orphan's end is not put off.
    pub fn touch(&mut self, root: RootId) -> bool {
        let Some(at) = self.table.find(root) else { return false };
        let slot = self.clock.slot();
        let record = self.table.get_mut(at);
        if !record.is(ARMED) {
            return false;
        }
        let before = record.slot();
        record.meta = (record.meta & !GENERATION) | (slot << TASK_BITS);
        if self.roots_expire {
            self.expiring[before] -= 1;
            self.expiring[slot as usize] += 1;
        }
        true
    }

    /// Moves the clock to `now` and appends the roots that have timed out to `out`, in
    /// the order of their ids. A time at or before the present is ignored. (Paper section 2
    /// has roots fail "within the given time", without saying how it is kept.)
    ///
    /// A root whose time-out started at `t` ends at the first call with `now` at or after
    /// an instant in `t + T ..= t + T + L − 1`, where `L = max(1, ⌈(T − 1)/(g − 1)⌉)` for
    /// `g` generations: never early, and at most `L − 1` ticks late. Orphans end in the
    /// same way, silently.
    ///
    /// O(1) while nothing expires, however far the clock jumps; otherwise one pass over
    /// the table, and O(k log k) for k verdicts. Allocates only in `out`.
    pub fn advance(&mut self, now: Ticks, out: &mut Vec<Verdict>) {
        let slots = self.clock.advance(now);
        let mut count = 0;
        for (slot, expiring) in self.expiring.iter_mut().enumerate() {
            if slots & (1 << slot) != 0 {
                count += core::mem::take(expiring);
            }
        }
        if count == 0 {
            return;
        }
        let first = out.len();
        let Self { table, roots_expire, stats, .. } = self;
        table.sweep(count, |record| {
            let armed = record.is(ARMED);
            if slots & (1 << record.slot()) == 0 || (armed && !*roots_expire) {
                return false;
            }
            match RootId::new(record.root) {
                Some(root) if armed => {
                    let task = record.task();
                    out.push(Verdict { root, task, outcome: Outcome::TimedOut });
                }
                _ => stats.orphans_expired += 1,
            }
            true
        });
        let timed_out = &mut out[first..];
        self.armed -= timed_out.len();
        self.stats.timed_out += timed_out.len() as u64;
        timed_out.sort_unstable_by_key(|verdict| verdict.root);
    }

    /// The number of armed roots. O(1).
    #[must_use]
    pub const fn len(&self) -> usize {
        self.armed
    }

    /// The number of roots that have messages but no init. O(1).
    #[must_use]
    pub const fn orphans(&self) -> usize {
        self.table.len() - self.armed
    }

    /// Whether no root is armed; there may be orphans. O(1).
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.armed == 0
    }

    /// Forgets all roots and orphans, without verdicts. The memory, the clock and the
    /// counts stay. O(slots).
    pub fn clear(&mut self) {
        self.table.clear();
        self.armed = 0;
        self.expiring = [0; SLOTS];
    }

    /// The bytes on the heap, exactly. O(1).
    ///
    /// They grow with the largest number of records held at once, by a quarter at a time,
    /// and never for churn. Above a thousand records the largest number costs 25 to 31.3
    /// bytes each; while it grows the old table is alive as well.
    #[must_use]
    pub const fn heap_bytes(&self) -> usize {
        self.table.heap_bytes()
    }

    /// The counts. O(1).
    #[must_use]
    pub const fn stats(&self) -> Stats {
        self.stats
    }

    /// Stores a record that starts its time-out now.
    fn insert(&mut self, root: RootId, check: u64, meta: u32) {
        let slot = self.clock.slot();
        let record = Record { root: root.get(), check, meta: meta | (slot << TASK_BITS) };
        self.table.insert(record);
        if self.roots_expire || !record.is(ARMED) {
            self.expiring[slot as usize] += 1;
        }
    }

    /// Ends the armed root in this slot.
    #[inline]
    fn end(&mut self, root: RootId, at: usize, outcome: Outcome) -> Applied {
        let record = self.table.remove(at);
        self.armed -= 1;
        if self.roots_expire {
            self.expiring[record.slot()] -= 1;
        }
        self.verdict(root, record.task(), outcome)
    }

    #[inline]
    fn verdict(&mut self, root: RootId, task: u32, outcome: Outcome) -> Applied {
        match outcome {
            Outcome::Done => self.stats.done += 1,
            Outcome::Failed => self.stats.failed += 1,
            Outcome::TimedOut => self.stats.timed_out += 1,
        }
        Applied::Verdict(Verdict { root, task, outcome })
    }
}

impl fmt::Debug for Tracker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tracker")
            .field("len", &self.len())
            .field("orphans", &self.orphans())
            .field("clock", &self.clock)
            .field("stats", &self.stats)
            .finish_non_exhaustive()
    }
}
