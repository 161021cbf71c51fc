//! The windows of many keys.

mod batch;
mod departures;
mod fire;
mod index;
mod near;
mod room;
mod slab;
mod stats;

use alloc::borrow::ToOwned;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::fmt;
use core::hash::{BuildHasher, Hash};

use hashbrown::DefaultHashBuilder;

use crate::clock::Clock;
use crate::kernel::{Few, Kernel};
use crate::lattice::NEVER;
use crate::tick::value;
use crate::{Aggregate, Change, Emit, Error, Outcome, Tick, WindowSpec};
pub use batch::Batch;
use departures::Departures;
use index::Index;
use slab::Slab;
pub use stats::Stats;

/// Marks of a key that has nothing to do with the tick, or that one slice leaves or two.
const NONE: u32 = u32::MAX;
const ONE_LEAVES: u32 = NONE - 1;
const TWO_LEAVE: u32 = NONE - 2;

/// So many that two slices of each, which is what can wait, are numbered below the marks.
const MOST_KEYS: usize = (TWO_LEAVE / 2) as usize;

/// The sliding windows of many keys, in order of time.
///
/// Each key has a [`KeyWindow`](crate::KeyWindow)'s worth of slices, and is forgotten as its last
/// record leaves. What has not entered a window yet is in one list for all keys; what leaves is in one
/// queue for all. So a record costs a look-up of its key and, for each slice, its kernel's merges and
/// two visits of the key.
///
/// Changes come in the order of window ends. Of one end, first come the keys that a record enters,
/// in the order in which they came, then those that only lose some, in the order in which these came:
/// an order that depends on the records alone, and neither on the hasher nor on how often the time
/// is told.
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
pub struct KeyWindows<K, A: Aggregate, Q = Few<<A as Aggregate>::Acc, ()>, S = DefaultHashBuilder> {
    agg: A,
    clock: Clock,
    emit: Emit,
    hasher: S,
    index: Index,
    keys: Slab<Key<K, Q>>,
    /// When the slices leave.
    departures: Departures,
    /// So many of the next that leave are near.
    near: usize,
    /// Slices that enter at `enter`.
    waiting: Vec<Waiting<A::Acc>>,
    enter: Tick,
    due: Vec<u32>,
    stats: Stats,
}

#[derive(Clone, Debug)]
struct Key<K, Q> {
    key: K,
    /// The newest of its slices that wait; or how many leave at this tick, while one is told.
    mark: u32,
    slices: Q,
}

#[derive(Clone, Debug)]
struct Waiting<Acc> {
    id: u32,
    /// The same key's next slice that waits, or [`NONE`]: where the slide does not divide the size,
    /// records that enter together may leave apart.
    next: u32,
    /// So many of the key's slices leave as this one enters.
    leaving: u32,
    leave: Tick,
    /// `None` once it has entered.
    acc: Option<Acc>,
}

impl<K: Hash + Eq, A: Aggregate> KeyWindows<K, A> {
    /// No keys; a few slices a key in place and more on two stacks; tells of changes of content.
    #[must_use]
    pub fn new(agg: A, spec: WindowSpec) -> Self {
        Self::with_kernel(agg, spec)
    }
}

impl<K: Hash + Eq, A: Aggregate, Q: Kernel<A>> KeyWindows<K, A, Q> {
    /// No keys, and a kernel of the caller's choice for each, as in
    /// `KeyWindows::<&str, _, Daba<_, ()>>::with_kernel(agg, spec)`.
    #[must_use]
    pub fn with_kernel(agg: A, spec: WindowSpec) -> Self {
        Self::with_kernel_and_hasher(agg, spec, DefaultHashBuilder::default())
    }
}

impl<K: Hash + Eq, A: Aggregate, Q: Kernel<A>, S: BuildHasher> KeyWindows<K, A, Q, S> {
    /// No keys, and both kernel and hasher of the caller's choice. No output depends on the hasher.
    #[must_use]
    pub fn with_kernel_and_hasher(agg: A, spec: WindowSpec, hasher: S) -> Self {
        Self {
            agg,
            clock: Clock::new(spec),
            emit: Emit::default(),
            hasher,
            index: Index::new(),
            keys: Slab::new(),
            departures: Departures::new(),
            near: 0,
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
        let passed = self.clock.reach(time)?;
        self.fire_until(passed, sink);
        let ticks = self.clock.spec.place(time, passed)?;
        self.stats.gaps += u64::from(ticks.is_none());
        Ok(ticks)
    }

    #[inline]
    fn find<B>(&self, hash: u64, key: &B) -> Option<u32>
    where
        K: Borrow<B>,
        B: Eq + ?Sized,
    {
        self.index.find(hash, |id| self.is(id, key))
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
        let key = Key { key, mark: NONE, slices: Q::new(&self.agg) };
        let id = self.keys.insert(key).ok_or(Error::TooManyKeys)?;
        self.index.insert(hash, id);
        Ok(id)
    }

    /// Adds a record to what waits for `enter`: its key's slice, or a new one.
    #[inline]
    fn add(&mut self, id: u32, enter: Tick, leave: Tick, record: &A::In) {
        self.stats.records += 1;
        let Some(key) = self.keys.get_mut(id) else { return };
        let new = self.waiting.len() as u32;
        if let Some(newest) = self.waiting.get_mut(key.mark as usize) {
            if newest.leave == leave {
                if let Some(acc) = &mut newest.acc {
                    self.agg.add(acc, record);
                }
                return;
            }
            newest.next = new;
        }
        key.mark = new;
        let mut acc = self.agg.create();
        self.agg.add(&mut acc, record);
        self.waiting.push(Waiting { id, next: NONE, leaving: 0, acc: Some(acc), leave });
        if leave != NEVER {
            self.departures.push(leave, id);
        }
        // All that wait have their time in one cell of the lattice, so this is one tick.
        self.enter = enter;
    }

    /// Lets the time come to `time`: all windows that end until then, inclusive, are final, and
    /// their changes go to `sink`. A time that has passed already changes nothing.
    pub fn advance_to(&mut self, time: i64, sink: impl FnMut(&K, Change<A::Out>)) {
        let passed = self.clock.advance(time);
        self.fire_until(passed, sink);
    }

    /// The next tick with changes, or [`NEVER`].
    #[inline]
    fn next(&self) -> Tick {
        self.departures.next().min(self.enter)
    }

    fn forget(&mut self, id: u32) {
        let Some(Key { key, .. }) = self.keys.remove(id) else { return };
        let hash = self.hasher.hash_one(&key);
        self.index.remove(hash, id);
    }

    /// The time at which something is to be told next, if nothing is pushed before: the host needs
    /// one timer for all keys, and calls [`advance_to`](Self::advance_to) then.
    #[must_use]
    pub fn next_deadline(&self) -> Option<i64> {
        let next = self.next();
        (next != NEVER).then(|| self.clock.spec.end(next))
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
        self.clock.now
    }

    /// The windows.
    #[must_use]
    pub const fn spec(&self) -> &WindowSpec {
        &self.clock.spec
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
                + self.departures.heap_bytes()
                + self.index.heap_bytes()
                + self.waiting.capacity() * size_of::<Waiting<A::Acc>>()
                + self.due.capacity() * size_of::<u32>(),
            ..self.stats
        }
    }
}

impl<K, A: Aggregate, Q, S> fmt::Debug for KeyWindows<K, A, Q, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyWindows")
            .field("spec", &self.clock.spec)
            .field("emit", &self.emit)
            .field("now", &self.clock.now)
            .field("keys", &self.keys.len())
            .finish_non_exhaustive()
    }
}
