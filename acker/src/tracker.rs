//! The tracker: one check value for each pending root.

use alloc::vec::Vec;
use core::fmt;
use core::hint::black_box;

use crate::expiry::{Clock, SLOTS, Ticks, Timeout};
use crate::index::Group;
use crate::record::{ARMED, FAILED, Record, SHORT_TASK_BITS, TASK_BITS, task_of};
use crate::table::{Home, Table};
use crate::{Applied, Delta, Error, Message, Op, Outcome, Refused, RootId, Stats, Update, Verdict};

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

/// Messages of a batch that are looked up together: enough to keep all of the memory busy, few
/// enough to stay in the first cache.
const BATCH: usize = 64;

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
    pub(crate) table: Table,
    pub(crate) clock: Clock,
    /// Whether armed roots expire, or only orphans.
    roots_expire: bool,
    /// The second clock, where time-outs follow progress: since the init.
    pub(crate) cap: Option<Clock>,
    armed: usize,
    /// Records that may expire, by generation.
    expiring: [usize; SLOTS],
    /// Armed records by generation of their init, where time-outs follow progress.
    capped: [usize; SLOTS],
    pub(crate) stats: Stats,
}

impl Tracker {
    /// The largest task number that a record can hold: 2²⁷ − 1. See [`max_task`](Self::max_task).
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
        let cap = config.timeout.cap();
        if matches!(config.timeout.ticks(), Some(0)) || matches!(cap, Some(0)) {
            return Err(Error::BadTimeout);
        }
        let roots_expire = match config.timeout {
            Timeout::After(_) | Timeout::Progress { .. } => true,
            Timeout::Never | Timeout::OrphansAfter(_) => false,
        };
        Ok(Self {
            table: Table::new(config.seed),
            clock: Clock::new(config.timeout.ticks(), generations),
            roots_expire,
            cap: if cap.is_some() { Some(Clock::new(cap, generations)) } else { None },
            armed: 0,
            expiring: [0; SLOTS],
            capped: [0; SLOTS],
            stats: Stats::NONE,
        })
    }

    /// The largest task number that this tracker takes: 2²⁷ − 1, or 2²⁴ − 1 with
    /// [`Timeout::Progress`], whose records have a second generation. O(1).
    #[must_use]
    pub const fn max_task(&self) -> u32 {
        if self.cap.is_some() { (1 << SHORT_TASK_BITS) - 1 } else { Self::MAX_TASK }
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
    /// [`max_task`](Self::max_task). Neither changes the root.
    #[inline]
    pub fn init(&mut self, root: RootId, task: u32, produced: Delta) -> Result<Applied, Error> {
        self.init_at(root, task, produced, self.table.locate(root))
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
        self.update_at(root, update, self.table.locate(root))
    }

    /// A tuple of the tree has failed: the root fails now, or as soon as its init comes,
    /// even if its check value is zero by then. Expected O(1).
    pub fn fail(&mut self, root: RootId) -> Applied {
        self.fail_at(root, self.table.locate(root))
    }

    /// Restarts the time-out of an armed root, but not its cap. Expected O(1).
    ///
    /// Returns whether the root is armed. A root that is not has no time-out to restart:
    /// nothing is stored for it, and an orphan's end is not put off.
    pub fn touch(&mut self, root: RootId) -> bool {
        self.touch_at(root, self.table.locate(root))
    }

    /// Applies many messages in their order, as the calls for one message would, and appends
    /// the verdicts and what was refused.
    ///
    /// The places of some dozens of messages are computed and read together before the first
    /// of them is applied, so that the processor waits for memory once and not for each: with
    /// more roots than its caches hold this is what decides the speed. Expected O(messages).
    pub fn apply(&mut self, ops: &[Op], verdicts: &mut Vec<Verdict>, refused: &mut Vec<Refused>) {
        let mut homes = [Home::default(); BATCH];
        for (batch, first) in ops.chunks(BATCH).zip((0..).step_by(BATCH)) {
            let homes = &mut homes[..batch.len()];
            self.look_ahead(batch, homes);
            let version = self.table.version();
            for ((op, &home), at) in batch.iter().zip(homes.iter()).zip(first..) {
                let fresh = self.table.version() == version;
                let home = if fresh { home } else { self.table.locate(op.root) };
                // Not a match: acks are the rule, and a table of jumps would be guessed badly.
                let applied = if let Message::Update(update) = op.message {
                    self.update_at(op.root, update, home)
                } else {
                    match self.apply_rare(op, home) {
                        Ok(applied) => applied,
                        Err(error) => {
                            refused.push(Refused { at, error });
                            continue;
                        }
                    }
                };
                if let Applied::Verdict(verdict) = applied {
                    verdicts.push(verdict);
                }
            }
        }
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
        let caps = self.cap.as_mut().map_or(0, |cap| cap.advance(now));
        let dies = |slots: u8, slot: usize| slots >> slot & 1 == 1;
        let of = |slots, counts: &[usize; SLOTS]| -> usize {
            counts.iter().enumerate().filter(|&(at, _)| dies(slots, at)).map(|(_, n)| n).sum()
        };
        // A record may be counted by both clocks: then this is more than there are.
        let count = of(slots, &self.expiring) + of(caps, &self.capped);
        if count == 0 {
            return;
        }
        let first = out.len();
        let Self { table, roots_expire, cap, stats, expiring, capped, .. } = self;
        let (roots_expire, has_cap) = (*roots_expire, cap.is_some());
        let doomed = |record: &Record| {
            let armed = record.is(ARMED);
            let idle = dies(slots, record.slot()) && (roots_expire || !armed);
            let over = armed && has_cap && dies(caps, record.cap_slot());
            idle || over
        };
        table.sweep(count, doomed, |record| {
            expiring[record.slot()] -= 1;
            match RootId::new(record.root) {
                Some(root) if record.is(ARMED) => {
                    if has_cap {
                        capped[record.cap_slot()] -= 1;
                    }
                    let task = task_of(record, has_cap);
                    out.push(Verdict { root, task, outcome: Outcome::TimedOut });
                }
                _ => stats.orphans_expired += 1,
            }
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
        self.capped = [0; SLOTS];
    }

    /// Gives back the memory that the present records do not need. O(slots).
    ///
    /// Nothing else gives memory back: it follows the largest number of records so far.
    pub fn shrink_to_fit(&mut self) {
        self.table.shrink_to_fit();
    }

    /// The bytes on the heap, exactly. O(segments), of which there is one for some 1,500 records.
    ///
    /// From ten thousand records on, the largest number of them so far costs at most 28 bytes
    /// each. The table grows by a fraction of a segment at a time, and so never stands still for
    /// more than 4,096 records. Under churn a segment grows only when chance gives it
    /// more records than ever before.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.table.heap_bytes()
    }

    /// The counts. O(1).
    #[must_use]
    pub const fn stats(&self) -> Stats {
        self.stats
    }

    /// Finds the places of a batch, and brings what they hold near.
    ///
    /// One thing at a time: the shorter a loop that waits for memory, the more of its turns the
    /// processor runs at once.
    #[inline]
    fn look_ahead(&self, batch: &[Op], homes: &mut [Home]) {
        let mut groups = [&Group::VACANT; BATCH];
        let mut records = [&Record::VACANT; BATCH];
        for ((op, home), group) in batch.iter().zip(&mut *homes).zip(&mut groups) {
            *home = self.table.locate(op.root);
            *group = self.table.group(*home);
        }
        black_box(groups.iter().fold(0, |read, group| read ^ group.touch()));
        for ((home, group), record) in homes.iter_mut().zip(groups).zip(&mut records) {
            *record = self.table.guess(home, group);
        }
        black_box(records.iter().fold(0, |read, record| read ^ record.touch()));
    }

    #[inline]
    fn apply_rare(&mut self, op: &Op, home: Home) -> Result<Applied, Error> {
        match op.message {
            Message::Init { task, produced } => self.init_at(op.root, task, produced, home),
            Message::Update(update) => Ok(self.update_at(op.root, update, home)),
            Message::Fail => Ok(self.fail_at(op.root, home)),
            Message::Touch => {
                let armed = self.touch_at(op.root, home);
                Ok(if armed { Applied::Pending } else { Applied::Orphan })
            }
        }
    }

    #[inline]
    fn init_at(
        &mut self,
        root: RootId,
        task: u32,
        produced: Delta,
        home: Home,
    ) -> Result<Applied, Error> {
        if task > self.max_task() {
            return Err(Error::TaskTooLarge { task, largest: self.max_task() });
        }
        let orphan = match self.table.find(root, home) {
            Some((_, record)) if record.is(ARMED) => {
                self.stats.duplicate_inits += 1;
                return Err(Error::DuplicateRoot { root });
            }
            Some((at, _)) => self.take_at(at),
            None => Record { root: root.get(), ..Record::VACANT },
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
        let mut meta = task | ARMED;
        if let Some(cap) = &self.cap {
            meta |= cap.slot() << SHORT_TASK_BITS;
        }
        self.insert(root, check, meta, home);
        Ok(Applied::Pending)
    }

    #[inline]
    fn update_at(&mut self, root: RootId, update: Update, home: Home) -> Applied {
        self.stats.updates += 1;
        let Some((at, record)) = self.table.find(root, home) else {
            if update.bits() != 0 {
                self.insert(root, update.bits(), 0, home);
            }
            return Applied::Orphan;
        };
        record.check ^= update.bits();
        if !record.is(ARMED) {
            return Applied::Orphan;
        }
        if record.check == 0 {
            return self.end(root, at, Outcome::Done);
        }
        if self.cap.is_some() {
            let slot = self.clock.slot();
            self.expiring[record.slot()] -= 1;
            self.expiring[slot as usize] += 1;
            *record = record.in_slot(slot);
        }
        Applied::Pending
    }

    #[inline]
    fn fail_at(&mut self, root: RootId, home: Home) -> Applied {
        let Some((at, record)) = self.table.find(root, home) else {
            self.insert(root, 0, FAILED, home);
            return Applied::Orphan;
        };
        if record.is(ARMED) {
            return self.end(root, at, Outcome::Failed);
        }
        record.meta |= FAILED;
        Applied::Orphan
    }

    #[inline]
    fn touch_at(&mut self, root: RootId, home: Home) -> bool {
        let slot = self.clock.slot();
        let Some((_, record)) = self.table.find(root, home) else { return false };
        if !record.is(ARMED) {
            return false;
        }
        let before = record.slot();
        *record = record.in_slot(slot);
        if self.roots_expire {
            self.expiring[before] -= 1;
            self.expiring[slot as usize] += 1;
        }
        true
    }

    /// Stores a record that starts its time-out now.
    #[inline]
    fn insert(&mut self, root: RootId, check: u64, meta: u32, home: Home) {
        self.insert_in(self.clock.slot(), root, check, meta, home);
    }

    /// Stores a record whose time-out started in the generation of `slot`.
    #[inline]
    pub(crate) fn insert_in(&mut self, slot: u32, root: RootId, check: u64, meta: u32, home: Home) {
        let record = Record { root: root.get(), check, meta }.in_slot(slot);
        self.table.insert(record, home);
        if !record.is(ARMED) {
            self.expiring[slot as usize] += 1;
            return;
        }
        self.armed += 1;
        if self.roots_expire {
            self.expiring[slot as usize] += 1;
        }
        if self.cap.is_some() {
            self.capped[record.cap_slot()] += 1;
        }
    }

    /// Takes a root's record out of the table and of the counts, without a verdict.
    pub(crate) fn take(&mut self, root: RootId) -> Option<Record> {
        let (at, _) = self.table.find(root, self.table.locate(root))?;
        Some(self.take_at(at))
    }

    /// As [`take`](Self::take).
    pub(crate) fn forget(&mut self, root: RootId) {
        self.take(root);
    }

    #[inline]
    fn take_at(&mut self, at: Home) -> Record {
        let record = self.table.remove(at);
        if !record.is(ARMED) {
            self.expiring[record.slot()] -= 1;
            return record;
        }
        self.armed -= 1;
        if self.roots_expire {
            self.expiring[record.slot()] -= 1;
        }
        if self.cap.is_some() {
            self.capped[record.cap_slot()] -= 1;
        }
        record
    }

    /// Ends the armed root in this place.
    #[inline]
    fn end(&mut self, root: RootId, at: Home, outcome: Outcome) -> Applied {
        let record = self.take_at(at);
        self.verdict(root, task_of(record, self.cap.is_some()), outcome)
    }

    #[inline]
    fn verdict(&mut self, root: RootId, task: u32, outcome: Outcome) -> Applied {
        Applied::Verdict(self.count(root, task, outcome))
    }

    #[inline]
    pub(crate) fn count(&mut self, root: RootId, task: u32, outcome: Outcome) -> Verdict {
        match outcome {
            Outcome::Done => self.stats.done += 1,
            Outcome::Failed => self.stats.failed += 1,
            Outcome::TimedOut => self.stats.timed_out += 1,
        }
        Verdict { root, task, outcome }
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
