//! The windows of many keys in event time.

mod batch;
mod schedule;
mod store;

use alloc::borrow::ToOwned;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::fmt;
use core::hash::{BuildHasher, Hash};
use core::num::NonZeroU64;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::lateness::Late;
use super::rules::Rules;
use super::slices::Slices;
use super::state::State;
use super::update::Update;
use crate::lattice::NEVER;
use crate::{Aggregate, Emit, Error, Outcome, Tick, WindowSpec};
pub use batch::EventBatch;
use schedule::Schedule;
use store::Store;

/// More numbers than this are not given out.
pub(crate) const MOST_KEYS: usize = (u32::MAX / 2) as usize;

/// The sliding windows of many keys, of records in any order under one watermark.
///
/// Each key has the slices of an [`EventWindow`](crate::EventWindow): on two stacks in order, and in a
/// finger B-tree only from a late record of its own on until that has turned over. What is due is known by
/// one entry a key, not a slice. A key is forgotten as its last record leaves and nothing of it can be
/// corrected.
///
/// Updates come in the order of window ends; of one end, in the order in which the keys came, a key that
/// was forgotten meanwhile anew. Neither the hasher nor how often the watermark is told makes a
/// difference.
///
/// ```
/// use keywindow::{EventWindows, Outcome, Said, WindowSpec};
/// use keywindow::aggregates::Count;
///
/// let mut windows = EventWindows::<String, _>::new(Count::new(), WindowSpec::sliding(120, 2)?);
/// let mut said = Vec::new();
/// for (key, time) in [("a", 4), ("b", 1), ("a", 1)] {
///     let _ = windows.push(key, time, &(), |_, _| ())?;
/// }
/// windows.advance_to(4, |key, update| said.push((key.clone(), update.end, update.said)));
/// assert_eq!(said, [("a".into(), 2, Said::Value(1)), ("b".into(), 2, Said::Value(1))]);
/// // The windows to 2 and to 4 are final and do not count it.
/// assert_eq!(windows.push("b", 0, &(), |_, _| ())?, Outcome::Partial { missed: 2 });
/// # Ok::<(), keywindow::Error>(())
/// ```
#[derive(Clone)]
pub struct EventWindows<K, A: Aggregate, S = DefaultHashBuilder> {
    pub(crate) agg: A,
    pub(crate) rules: Rules,
    pub(crate) revision: u64,
    hasher: S,
    index: HashTable<u32>,
    pub(crate) keys: Store<Keyed<K, A::Acc>>,
    /// Keys that have come so far.
    born: u64,
    schedule: Schedule,
    due: Vec<u32>,
    counts: EventStats,
}

#[derive(Clone, Debug)]
pub(crate) struct Keyed<K, Acc> {
    pub(crate) key: K,
    pub(crate) state: State<Acc>,
    /// How many keys came before it.
    pub(crate) born: u64,
    /// The ticks at which it is scheduled, or [`NEVER`]: as something enters, as something leaves or a
    /// heartbeat is due, and when it can be forgotten.
    entering: Tick,
    leaving: Tick,
    pub(crate) forgetting: Tick,
}

/// What [`EventWindows`] hold now, and what they have done since they were made or restored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventStats {
    /// Live keys.
    pub keys: usize,
    /// Those of them that are in a finger B-tree, because of late records.
    pub trees: usize,
    /// Slices in the windows, waiting to enter them, or kept for corrections, of all keys.
    pub slices: usize,
    /// Bytes on the heap, without those that keys and partial results may have there, and without
    /// what the allocator adds.
    pub heap_bytes: usize,
    /// Records that count in all windows that hold them.
    pub accepted: u64,
    /// Records that count in some of the windows that hold them.
    pub partial: u64,
    /// Records that came too late for all windows.
    pub late: u64,
    /// Records that no window holds.
    pub gaps: u64,
    /// What has been told on time.
    pub updates: u64,
    /// What has been told as a correction.
    pub corrections: u64,
}

impl<K: Hash + Eq, A: Aggregate> EventWindows<K, A> {
    /// No keys; tells of changes of content, and counts late records in the windows that are still to be
    /// told.
    #[must_use]
    pub fn new(agg: A, spec: WindowSpec) -> Self {
        Self::with_hasher(agg, spec, DefaultHashBuilder::default())
    }
}

impl<K: Hash + Eq, A: Aggregate, S: BuildHasher> EventWindows<K, A, S> {
    /// No keys, and a hasher of the caller's choice. No output depends on it.
    #[must_use]
    pub fn with_hasher(agg: A, spec: WindowSpec, hasher: S) -> Self {
        Self {
            agg,
            rules: Rules::new(spec),
            revision: 0,
            hasher,
            index: HashTable::new(),
            keys: Store::new(),
            born: 0,
            schedule: Schedule::new(),
            due: Vec::new(),
            counts: EventStats::default(),
        }
    }

    /// As [`EventWindow::emit`](crate::EventWindow::emit).
    #[must_use]
    pub fn emit(mut self, emit: Emit) -> Self {
        self.rules.emit = emit;
        self
    }

    /// As [`EventWindow::late`](crate::EventWindow::late).
    ///
    /// # Errors
    ///
    /// [`Error::BadAllowance`] for a negative time.
    pub fn late(mut self, late: Late) -> Result<Self, Error> {
        self.rules.late = late.checked()?;
        Ok(self)
    }

    /// As [`EventWindow::heartbeat`](crate::EventWindow::heartbeat).
    #[must_use]
    pub fn heartbeat(mut self, every: NonZeroU64) -> Self {
        self.rules.beat = Some(every);
        self
    }

    /// As [`EventWindow::max_ahead`](crate::EventWindow::max_ahead).
    ///
    /// # Errors
    ///
    /// [`Error::BadReach`] for a negative distance.
    pub fn max_ahead(mut self, ahead: i64) -> Result<Self, Error> {
        self.rules.ahead = Some(Rules::ahead(ahead)?);
        Ok(self)
    }

    /// Adds a record of any time to its key. Corrections of windows that have been told, under
    /// [`Late::Correct`] alone, go to `sink`, by ascending end. The key is cloned only if it is new.
    ///
    /// # Errors
    ///
    /// [`Error::TooFarAhead`], [`Error::NeverEnters`] if every window with the record would end after
    /// `i64::MAX`, [`Error::TooManyKeys`].
    #[inline]
    pub fn push<B>(
        &mut self,
        key: &B,
        time: i64,
        record: &A::In,
        mut sink: impl FnMut(&K, Update<A::Out>),
    ) -> Result<Outcome, Error>
    where
        K: Borrow<B>,
        B: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        let (outcome, span) = self.rules.judge(time)?;
        let Some(span) = span else {
            match outcome {
                Outcome::Gap => self.counts.gaps += 1,
                _ => self.counts.late += 1,
            }
            return Ok(outcome);
        };
        let hash = self.hasher.hash_one(key);
        let id = match self.find(hash, key) {
            Some(id) => id,
            None => self.create(hash, key.to_owned(), State::new())?,
        };
        let Self { agg, rules, keys, counts, .. } = self;
        let Some(Keyed { key, state, .. }) = keys.get_mut(id) else { return Ok(outcome) };
        let revision = self.revision + 1;
        let corrects = state.add(agg, rules, (time, record), span, revision, &mut |update| {
            counts.corrections += 1;
            sink(key, update);
        });
        self.revision += u64::from(corrects);
        match outcome {
            Outcome::Accepted => counts.accepted += 1,
            _ => counts.partial += 1,
        }
        self.schedule(id, self.rules.horizon.told);
        if corrects {
            self.schedule_idle(id);
        }
        Ok(outcome)
    }

    /// After a correction: a key of which nothing else is left is to be forgotten when that is final.
    fn schedule_idle(&mut self, id: u32) {
        let Some(keyed) = self.keys.get(id).filter(|keyed| keyed.state.is_idle()) else { return };
        let last = keyed.state.last_point();
        let by = last.map_or(NEVER, |last| self.rules.final_by(last));
        if by != keyed.forgetting {
            self.schedule_end(id, by);
        }
    }

    #[inline]
    fn find<B>(&self, hash: u64, key: &B) -> Option<u32>
    where
        K: Borrow<B>,
        B: Eq + ?Sized,
    {
        let is = |id: &u32| self.keys.get(*id).is_some_and(|live| live.key.borrow() == key);
        self.index.find(hash, is).copied()
    }

    fn create(&mut self, hash: u64, key: K, state: State<A::Acc>) -> Result<u32, Error> {
        let (entering, leaving, forgetting) = (NEVER, NEVER, NEVER);
        let key = Keyed { key, state, born: self.born, entering, leaving, forgetting };
        let id = self.keys.insert(key).ok_or(Error::TooManyKeys)?;
        self.born += 1;
        let Self { index, keys, hasher, .. } = self;
        index.insert_unique(hash, id, |&id| {
            keys.get(id).map_or(0, |live| hasher.hash_one(&live.key))
        });
        Ok(id)
    }

    /// Schedules what the key has to do from this tick on, where that is sooner than what it is scheduled
    /// for.
    #[inline]
    fn schedule(&mut self, id: u32, from: Tick) {
        let Some(keyed) = self.keys.get_mut(id) else { return };
        let state = &keyed.state;
        let entering = state.enter.min(state.touched);
        if entering < keyed.entering {
            keyed.entering = entering;
            self.schedule.entering.push(entering, id);
        }
        let leaving = state.leave.min(state.beat(&self.rules, from));
        if leaving < keyed.leaving {
            keyed.leaving = leaving;
            self.schedule.leaving.push(leaving, id);
        }
    }

    /// The key is to be forgotten by this tick.
    fn schedule_end(&mut self, id: u32, by: Tick) {
        if let Some(keyed) = self.keys.get_mut(id) {
            keyed.forgetting = by;
            if by != NEVER {
                self.schedule.forgetting.push(by, id);
            }
        }
    }

    /// Lets the watermark come to `watermark`: the windows of all keys that end until then, inclusive, are
    /// told. A watermark that has been passed already changes nothing.
    pub fn advance_to(&mut self, watermark: i64, mut sink: impl FnMut(&K, Update<A::Out>)) {
        if !self.rules.advance(watermark) {
            return;
        }
        self.rules.horizon = self.rules.horizon_now();
        loop {
            let tick = self.schedule.next();
            if tick >= self.rules.horizon.told {
                break;
            }
            self.fire(tick, &mut sink);
        }
        let keys = &self.keys;
        self.schedule.drop_stale(
            |id, tick| keys.get(id).is_some_and(|keyed| keyed.entering == tick),
            |id, tick| keys.get(id).is_some_and(|keyed| keyed.leaving == tick),
        );
    }

    /// All that is due at one tick.
    fn fire(&mut self, tick: Tick, sink: &mut impl FnMut(&K, Update<A::Out>)) {
        let mut due = core::mem::take(&mut self.due);
        self.schedule.take(tick, &mut due);
        if due.len() > 1 {
            let keys = &self.keys;
            due.sort_unstable_by_key(|&id| (keys.get(id).map(|keyed| keyed.born), id));
            due.dedup();
        }
        for &id in &due {
            let Self { agg, rules, keys, counts, .. } = self;
            let Some(keyed) = keys.get_mut(id) else { continue };
            let turns = keyed.state.next(rules, tick) == tick;
            if turns && let Some(update) = keyed.state.turn(agg, rules, tick) {
                counts.updates += 1;
                sink(&keyed.key, update);
            }
            let forgetting = keyed.forgetting;
            // A stale entry must do nothing: a snapshot has none.
            if turns || forgetting == tick {
                keyed.state.purge(agg, rules, tick);
            }
            for scheduled in [&mut keyed.entering, &mut keyed.leaving, &mut keyed.forgetting] {
                if *scheduled <= tick {
                    *scheduled = NEVER;
                }
            }
            if !keyed.state.is_idle() {
                self.schedule(id, tick + 1);
                continue;
            }
            // Exactly when that is final, however far the watermark is ahead by now: whether what comes
            // next finds the key must not depend on how often the watermark was told.
            let by = if turns { rules.final_by(tick) } else { forgetting };
            if by <= tick {
                self.forget(id);
            } else if turns {
                self.schedule_end(id, by);
            }
        }
        due.clear();
        self.due = due;
    }

    fn forget(&mut self, id: u32) {
        let Some(Keyed { key, .. }) = self.keys.remove(id) else { return };
        let hash = self.hasher.hash_one(&key);
        if let Ok(entry) = self.index.find_entry(hash, |&other| other == id) {
            entry.remove();
        }
        let live = self.index.len();
        if live < self.index.capacity() / 8 {
            let Self { index, keys, hasher, .. } = self;
            index.shrink_to(2 * live, |&id| {
                keys.get(id).map_or(0, |live| hasher.hash_one(&live.key))
            });
        }
    }

    /// The watermark at which something is to be told next, if nothing is pushed before.
    #[must_use]
    pub fn next_deadline(&self) -> Option<i64> {
        let next = self.schedule.next_told();
        (next <= self.rules.spec.last_tick()).then(|| self.rules.spec.end(next))
    }

    /// The result of a key in the last window that has ended, as
    /// [`EventWindow::current`](crate::EventWindow::current).
    #[must_use]
    pub fn get<B>(&self, key: &B) -> Option<A::Out>
    where
        K: Borrow<B>,
        B: Hash + Eq + ?Sized,
    {
        let id = self.find(self.hasher.hash_one(key), key)?;
        self.value(&self.keys.get(id)?.state)
    }

    fn value(&self, state: &State<A::Acc>) -> Option<A::Out> {
        let reached = self.rules.horizon.told.checked_sub(1)?;
        let merged = state.slices.window(&self.agg, &self.rules, Some(reached));
        merged.map(|acc| self.agg.get(&acc))
    }

    /// The live keys and the result of each, in no order of meaning.
    pub fn iter(&self) -> impl Iterator<Item = (&K, Option<A::Out>)> {
        self.keys.iter().map(|live| (&live.key, self.value(&live.state)))
    }

    /// The number of live keys: those with a record that has not left, or with a window that may be
    /// corrected.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is no live key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The watermark; `i64::MIN` at first.
    #[must_use]
    pub const fn watermark(&self) -> i64 {
        self.rules.watermark
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

    /// What there is and what there has been; takes a pass over all keys.
    #[must_use]
    pub fn stats(&self) -> EventStats {
        let mut stats = self.counts;
        stats.keys = self.keys.len();
        stats.heap_bytes = self.keys.heap_bytes()
            + self.index.allocation_size()
            + self.schedule.heap_bytes()
            + self.due.capacity() * size_of::<u32>();
        for Keyed { state, .. } in self.keys.iter() {
            stats.trees += usize::from(matches!(state.slices, Slices::Tree(_)));
            stats.slices += state.slices.len() + state.pending.len();
            stats.heap_bytes += state.heap_bytes();
        }
        stats
    }

    /// The same rules with restored keys, in the order in which they came; `None` where two are the
    /// same.
    #[cfg(feature = "snapshot")]
    pub(crate) fn restart(self, revision: u64, all: Vec<(K, Tick, State<A::Acc>)>) -> Option<Self> {
        let Self { agg, rules, hasher, .. } = self;
        let mut restored = Self::with_hasher(agg, rules.spec, hasher);
        (restored.rules, restored.revision) = (rules, revision);
        for (key, by, state) in all {
            let hash = restored.hasher.hash_one(&key);
            if restored.find(hash, &key).is_some() {
                return None;
            }
            let id = restored.create(hash, key, state).ok()?;
            restored.schedule(id, rules.horizon.told);
            restored.schedule_end(id, by);
        }
        Some(restored)
    }
}

impl<K, A: Aggregate, S> fmt::Debug for EventWindows<K, A, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventWindows")
            .field("rules", &self.rules)
            .field("keys", &self.keys.len())
            .finish_non_exhaustive()
    }
}
