//! The windows of many keys.

mod batch;
mod slab;
mod stats;
mod wheel;

use alloc::borrow::ToOwned;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::hash::{BuildHasher, Hash};
use core::hint::black_box;
use core::{fmt, iter, mem};

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::kernel::{Few, Kernel};
use crate::lattice::{NEVER, Place};
use crate::tick::{turn, value};
use crate::{Aggregate, Change, Emit, Error, Outcome, Tick, WindowSpec};
pub use batch::Batch;
use slab::Slab;
pub use stats::Stats;
use wheel::Wheel;

/// No entry of the list of what waits.
const NONE: u32 = u32::MAX;

/// So many that two slices of each, which is what can wait, are numbered below [`NONE`].
const MOST_KEYS: usize = (u32::MAX / 2) as usize;
/// Entries of lists for which room is kept where there is no key.
const ROOM: usize = 64;
/// Keys that are brought near before the first of them is visited.
const AHEAD: usize = 16;

/// The sliding windows of many keys, in order of time.
///
/// Each key has a [`KeyWindow`](crate::KeyWindow)'s worth of slices, and is forgotten as its last
/// record leaves. What has not entered a window yet is in one list for all keys; when the next
/// record of a key leaves is in a timing wheel, one entry a key. So a record costs a look-up of its
/// key and, for each slice, its kernel's merges and two visits of the key.
///
/// Changes come in the order of window ends. Of one end, first come the keys that a record enters,
/// in the order in which they came, then those that only lose some, in the order in which the
/// wheel learned of it: an order that depends on the records alone, and neither on the hasher nor on
/// how often the time is told.
///
/// ```
/// use keywindow::{KeyWindows, WindowSpec};
/// use keywindow::aggregates::Count;
///
/// let mut windows = KeyWindows::<String, _>::new(Count::new(), WindowSpec::sliding(120, 2)?);
/// let mut told = Vec::new();
/// for (key, time) in [("a", 1), ("b", 1), ("a", 4)] {
///     let _ = windows.push(key, time, &(), |key, change| told.push((key.clone(), change)))?;
/// }
/// windows.advance_to(200, |key, change| told.push((key.clone(), change)));
/// let told = told.iter().map(|(key, change)| (key.as_str(), change.end, change.value));
/// assert!(told.eq([
///     ("a", 2, Some(1)),
///     ("b", 2, Some(1)),
///     ("a", 6, Some(2)),
///     ("a", 122, Some(1)),
///     ("b", 122, None),
///     ("a", 126, None),
/// ]));
/// assert!(windows.is_empty());
/// # Ok::<(), keywindow::Error>(())
/// ```
#[derive(Clone)]
pub struct KeyWindows<K, A: Aggregate, Q = Few<<A as Aggregate>::Acc>, S = DefaultHashBuilder> {
    agg: A,
    spec: WindowSpec,
    emit: Emit,
    now: i64,
    hasher: S,
    index: HashTable<u32>,
    keys: Slab<Key<K, Q>>,
    /// When the oldest slice of each key that has one leaves.
    wheel: Wheel,
    /// Slices that enter at `enter`.
    waiting: Vec<Waiting<A::Acc>>,
    enter: Tick,
    due: Vec<u32>,
    stats: Stats,
}

#[derive(Clone, Debug)]
struct Key<K, Q> {
    key: K,
    /// The newest of its slices that wait, or [`NONE`].
    waiting: u32,
    slices: Q,
}

#[derive(Clone, Debug)]
struct Waiting<Acc> {
    id: u32,
    /// The same key's next slice that waits, or [`NONE`]: where the slide does not divide the size,
    /// records that enter together may leave apart.
    next: u32,
    leave: Tick,
    /// `None` once it has entered.
    acc: Option<Acc>,
}

/// Brings a key near that is visited soon.
#[inline]
fn touch<A: Aggregate, K, Q: Kernel<A, Tick>>(keys: &Slab<Key<K, Q>>, id: u32) {
    if let Some(key) = keys.get(id) {
        // A key may lie in two lines of the cache.
        black_box((key.slices.oldest(), key.slices.len()));
        key.slices.touch_oldest();
    }
}

impl<K: Hash + Eq, A: Aggregate> KeyWindows<K, A> {
    /// No keys; a few slices a key in place and more on two stacks; tells of changes of content.
    #[must_use]
    pub fn new(agg: A, spec: WindowSpec) -> Self {
        Self::with_kernel(agg, spec)
    }
}

impl<K: Hash + Eq, A: Aggregate, Q: Kernel<A, Tick>> KeyWindows<K, A, Q> {
    /// No keys, and a kernel of the caller's choice for each, as in
    /// `KeyWindows::<&str, _, Daba<_>>::with_kernel(agg, spec)`.
    #[must_use]
    pub fn with_kernel(agg: A, spec: WindowSpec) -> Self {
        Self::with_kernel_and_hasher(agg, spec, DefaultHashBuilder::default())
    }
}

impl<K: Hash + Eq, A: Aggregate, Q: Kernel<A, Tick>, S: BuildHasher> KeyWindows<K, A, Q, S> {
    /// No keys, and both kernel and hasher of the caller's choice. No output depends on the hasher.
    #[must_use]
    pub fn with_kernel_and_hasher(agg: A, spec: WindowSpec, hasher: S) -> Self {
        Self {
            agg,
            spec,
            emit: Emit::default(),
            now: i64::MIN,
            hasher,
            index: HashTable::new(),
            keys: Slab::new(),
            wheel: Wheel::new(),
            waiting: Vec::new(),
            enter: NEVER,
            due: Vec::new(),
            stats: Stats::default(),
        }
    }

    /// Which windows to tell of. To be chosen before the first record: a change of mind in
    /// between holds for the windows that are still to come.
    #[must_use]
    pub fn emit(mut self, emit: Emit) -> Self {
        self.emit = emit;
        self
    }

    /// Lets the time come to that of the record, and adds the record to its key.
    ///
    /// The changes of all keys in windows that end until then, inclusive, go to `sink` first. The
    /// key is cloned only if it is new.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfOrder`] if the time has passed already, [`Error::NeverEnters`] if every window
    /// with the record would end after `i64::MAX`, [`Error::TooManyKeys`].
    pub fn push<B>(
        &mut self,
        key: &B,
        time: i64,
        record: &A::In,
        sink: impl FnMut(&K, Change<A::Out>),
    ) -> Result<Outcome, Error>
    where
        K: Borrow<B>,
        B: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        let Some((enter, leave)) = self.reach(time, sink)? else { return Ok(Outcome::Gap) };
        let hash = self.hasher.hash_one(key);
        let id = match self.find(hash, key) {
            Some(id) => id,
            None => self.create(hash, key.to_owned())?,
        };
        self.add(id, enter, leave, record);
        Ok(Outcome::Accepted)
    }

    /// Lets the time come to that of a record, and finds the record's ticks; `None` in a gap.
    #[inline]
    fn reach(
        &mut self,
        time: i64,
        sink: impl FnMut(&K, Change<A::Out>),
    ) -> Result<Option<(Tick, Tick)>, Error> {
        if time < self.now {
            return Err(Error::OutOfOrder { time, now: self.now });
        }
        let passed = self.spec.passed(time);
        self.now = time;
        self.fire_until(passed, sink);
        match self.spec.place(time, passed) {
            Place::Windows { enter, leave } => Ok(Some((enter, leave))),
            Place::Gap => {
                self.stats.gaps += 1;
                Ok(None)
            }
            Place::Never => Err(Error::NeverEnters { time }),
        }
    }

    #[inline]
    fn find<B>(&self, hash: u64, key: &B) -> Option<u32>
    where
        K: Borrow<B>,
        B: Eq + ?Sized,
    {
        self.index.find(hash, |&id| self.is(id, key)).copied()
    }

    #[inline]
    fn is<B>(&self, id: u32, key: &B) -> bool
    where
        K: Borrow<B>,
        B: Eq + ?Sized,
    {
        self.keys.get(id).is_some_and(|live| live.key.borrow() == key)
    }

    fn create(&mut self, hash: u64, key: K) -> Result<u32, Error> {
        if self.keys.len() >= MOST_KEYS {
            return Err(Error::TooManyKeys);
        }
        let key = Key { key, waiting: NONE, slices: Q::new(&self.agg) };
        let id = self.keys.insert(key).ok_or(Error::TooManyKeys)?;
        let Self { index, keys, hasher, .. } = self;
        index.insert_unique(hash, id, |&id| {
            keys.get(id).map_or(0, |live| hasher.hash_one(&live.key))
        });
        Ok(id)
    }

    /// Adds a record to what waits for `enter`: its key's slice, or a new one.
    #[inline]
    fn add(&mut self, id: u32, enter: Tick, leave: Tick, record: &A::In) {
        self.stats.records += 1;
        let Some(key) = self.keys.get_mut(id) else { return };
        let new = self.waiting.len() as u32;
        if let Some(newest) = self.waiting.get_mut(key.waiting as usize) {
            if newest.leave == leave {
                if let Some(acc) = &mut newest.acc {
                    self.agg.add(acc, record);
                }
                return;
            }
            newest.next = new;
        }
        key.waiting = new;
        let mut acc = self.agg.create();
        self.agg.add(&mut acc, record);
        self.waiting.push(Waiting { id, next: NONE, leave, acc: Some(acc) });
        // All that wait have their time in one cell of the lattice, so this is one tick.
        self.enter = enter;
    }

    /// Lets the time come to `time`: all windows that end until then, inclusive, are final, and
    /// their changes go to `sink`. A time that has passed already changes nothing.
    pub fn advance_to(&mut self, time: i64, sink: impl FnMut(&K, Change<A::Out>)) {
        if time > self.now {
            self.now = time;
            self.fire_until(self.spec.passed(time), sink);
        }
    }

    /// The next tick with changes, or [`NEVER`].
    #[inline]
    fn next(&self) -> Tick {
        self.wheel.next().min(self.enter)
    }

    /// All changes of ticks before `passed`, which is never [`NEVER`].
    #[inline]
    fn fire_until(&mut self, passed: Tick, mut sink: impl FnMut(&K, Change<A::Out>)) {
        while self.next() < passed {
            self.fire(self.next(), &mut sink);
        }
    }

    /// All changes of one tick.
    fn fire(&mut self, tick: Tick, sink: &mut impl FnMut(&K, Change<A::Out>)) {
        let end = self.spec.end(tick);
        // First off the wheel, since keys that a record enters are put on it anew.
        let mut due = mem::take(&mut self.due);
        if self.wheel.next() == tick {
            let keys = &self.keys;
            self.wheel.take(tick, &mut due, |id| touch::<A, _, _>(keys, id));
        }
        if self.enter == tick {
            self.enter_waiting(tick, end, sink);
        }
        for due in due.chunks(AHEAD) {
            if due.len() > 1 {
                due.iter().for_each(|&id| touch::<A, _, _>(&self.keys, id));
            }
            for &id in due {
                // Unless a record has just entered.
                if self.keys.get(id).is_some_and(|key| key.slices.oldest() == Some(tick)) {
                    self.visit(id, tick, end, None, sink);
                }
            }
        }
        due.clear();
        self.due = due;
        if self.keys.len() == 0 {
            // Nothing is left of keys that were.
            self.due.shrink_to(ROOM);
            self.waiting.shrink_to(ROOM);
            self.wheel.release();
        }
    }

    /// Lets what waits in.
    fn enter_waiting(&mut self, tick: Tick, end: i64, sink: &mut impl FnMut(&K, Change<A::Out>)) {
        self.enter = NEVER;
        let mut waiting = mem::take(&mut self.waiting);
        for i in 0..waiting.len() {
            if i % AHEAD == 1 {
                for soon in waiting.iter().skip(i).take(AHEAD) {
                    let Some(key) = self.keys.get(soon.id) else { continue };
                    if key.slices.oldest() == Some(tick) {
                        key.slices.touch_oldest();
                    }
                    key.slices.touch_newest();
                }
            }
            let Waiting { id, next, leave, ref mut acc } = waiting[i];
            let Some(acc) = acc.take() else { continue };
            let first = (leave, acc);
            match waiting.get_mut(next as usize) {
                None => self.visit(id, tick, end, Some(first), sink),
                Some(second) => {
                    let second = second.acc.take().map(|acc| (second.leave, acc));
                    self.visit(id, tick, end, iter::once(first).chain(second), sink);
                }
            }
        }
        waiting.clear();
        self.waiting = waiting;
    }

    /// What one tick does to one key.
    #[inline]
    fn visit(
        &mut self,
        id: u32,
        tick: Tick,
        end: i64,
        entering: impl IntoIterator<Item = (Tick, A::Acc)>,
        sink: &mut impl FnMut(&K, Change<A::Out>),
    ) {
        let Some(key) = self.keys.get_mut(id) else { return };
        key.waiting = NONE;
        let (held, before) = (key.slices.oldest(), key.slices.len());
        let told = turn(&self.agg, self.emit, &mut key.slices, tick, entering);
        self.stats.slices = self.stats.slices + key.slices.len() - before;
        if let Some(value) = told {
            self.stats.changes += 1;
            sink(&key.key, Change { end, value });
        }
        match key.slices.oldest() {
            None => self.forget(id),
            // The entry on the wheel still stands.
            Some(_) if held.is_some_and(|held| held != tick) => {}
            Some(NEVER) => {}
            Some(leave) => self.wheel.insert(leave, id),
        }
    }

    fn forget(&mut self, id: u32) {
        let Some(Key { key, .. }) = self.keys.remove(id) else { return };
        let hash = self.hasher.hash_one(&key);
        if let Ok(entry) = self.index.find_entry(hash, |&other| other == id) {
            entry.remove();
        }
        let live = self.index.len();
        if live < self.index.capacity() / 8 {
            let keys = &self.keys;
            let hasher = &self.hasher;
            self.index.shrink_to(2 * live, |&id| {
                keys.get(id).map_or(0, |live| hasher.hash_one(&live.key))
            });
        }
    }

    /// The time at which something is to be told next, if nothing is pushed before: the host needs
    /// one timer for all keys, and calls [`advance_to`](Self::advance_to) then.
    #[must_use]
    pub fn next_deadline(&self) -> Option<i64> {
        let next = self.next();
        (next != NEVER).then(|| self.spec.end(next))
    }

    /// The result of a key in the last window that has ended, `None` if it held no record of it.
    #[must_use]
    pub fn get<B>(&self, key: &B) -> Option<A::Out>
    where
        K: Borrow<B>,
        B: Hash + Eq + ?Sized,
    {
        let id = self.find(self.hasher.hash_one(key), key)?;
        value(&self.agg, &self.keys.get(id)?.slices)
    }

    /// The live keys, and the result of each in the last window that has ended, `None` if all its
    /// records wait to enter; in no order of meaning.
    pub fn iter(&self) -> impl Iterator<Item = (&K, Option<A::Out>)> {
        self.keys.iter().map(|live| (&live.key, value(&self.agg, &live.slices)))
    }

    /// The number of live keys: those with a record that has not left.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is no live key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The time that has been reached; `i64::MIN` at first.
    #[must_use]
    pub const fn now(&self) -> i64 {
        self.now
    }

    /// The windows.
    #[must_use]
    pub const fn spec(&self) -> &WindowSpec {
        &self.spec
    }

    /// The aggregate.
    #[must_use]
    pub const fn aggregate(&self) -> &A {
        &self.agg
    }

    /// What there is and what there has been; takes a pass over all keys for the bytes.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let slices: usize = self.keys.iter().map(|live| live.slices.heap_bytes()).sum();
        let waiting = self.waiting.iter().filter(|waiting| waiting.acc.is_some()).count();
        Stats {
            keys: self.keys.len(),
            slices: self.stats.slices + waiting,
            heap_bytes: slices
                + self.keys.heap_bytes()
                + self.wheel.heap_bytes()
                + self.index.allocation_size()
                + self.waiting.capacity() * size_of::<Waiting<A::Acc>>()
                + self.due.capacity() * size_of::<u32>(),
            ..self.stats
        }
    }
}

impl<K, A: Aggregate, Q, S> fmt::Debug for KeyWindows<K, A, Q, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyWindows")
            .field("spec", &self.spec)
            .field("emit", &self.emit)
            .field("now", &self.now)
            .field("keys", &self.keys.len())
            .finish_non_exhaustive()
    }
}
