//! The store itself: a directory of 2^b entries, each an ordered map.

use super::codec::Codec;
use super::error::StoreError;
use super::footprint::{Footprint, allocation};
use super::place::{Mixed, Place};
use super::spill::{NoSpill, Spill};
use super::tree::{Tags, Tree};

/// What is known of an entry without looking at it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct EntryStats {
    /// What it takes in memory, or took when it was last there, in bytes: d_i of a plan.
    pub bytes: usize,
    /// Its keys.
    pub keys: u32,
    /// Changes since the last [`Store::reset_loads`]: Δ_i of a plan.
    pub load: u64,
    /// Whether it is in memory.
    pub resident: bool,
    /// Whether it has changed since it was last written.
    pub dirty: bool,
}

/// What a store has done since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Traffic {
    /// Entries read back.
    pub loads: u64,
    /// Entries sent away to make room.
    pub evictions: u64,
    /// Entries written, for that or for a checkpoint.
    pub writes: u64,
}

/// In memory now.
pub(super) const RESIDENT: u8 = 1;
/// Used since the clock's hand came by.
pub(super) const USED: u8 = 2;
/// Not as the spill has it.
pub(super) const DIRTY: u8 = 4;
/// The spill has it, as it is or as it was.
pub(super) const STORED: u8 = 8;
/// Some pairs of it are in memory, as the spill has them.
pub(super) const PART: u8 = 16;

#[derive(Debug)]
pub(super) struct Slot<K, V> {
    pub(super) tree: Tree<K, V>,
    pub(super) tags: Tags,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Size {
    pub(super) bytes: usize,
    pub(super) load: u64,
    pub(super) keys: u32,
}

/// Counts an entry anew if a caller's closure panics while it has hold of a value.
struct Recount<'a, K, V, S, P>
where
    K: Ord + Clone + Codec + Footprint,
    V: Codec + Footprint,
    S: Spill,
    P: Place<K>,
{
    store: &'a mut Store<K, V, S, P>,
    at: usize,
}

impl<K, V, S, P> Drop for Recount<'_, K, V, S, P>
where
    K: Ord + Clone + Codec + Footprint,
    V: Codec + Footprint,
    S: Spill,
    P: Place<K>,
{
    fn drop(&mut self) {
        let (store, at) = (&mut *self.store, self.at);
        if store.flags[at] & RESIDENT != 0 {
            let bytes = store.slots[at].tree.footprint().cast_unsigned();
            store.settle(at, bytes.wrapping_sub(store.sizes[at].bytes).cast_signed());
        }
    }
}

/// No entry takes as much memory, or sees as many changes.
const MOST_BYTES: usize = usize::MAX >> 16;
pub(super) const MOST_LOAD: u64 = 1 << 62;

/// An entry is encoded in one piece: what of it is over a block is set aside.
pub(super) const BLOCK: usize = 1 << 16;

/// A hash table of 2^b entries, each an ordered map from keys to values, that holds no more than
/// a number of bytes in memory and leaves the rest to a [`Spill`].
///
/// An operation costs one hash, one look into the directory, and O(log n) within the entry's n
/// keys; on top, if the entry is not in memory, one read of O(n) and the eviction of others. Where
/// a call fails nothing has changed but which entries are in memory.
#[derive(Debug)]
pub struct Store<K, V, S = NoSpill, P = Mixed> {
    pub(super) bits: u32,
    pub(super) budget: usize,
    pub(super) slots: Vec<Slot<K, V>>,
    pub(super) flags: Vec<u8>,
    pub(super) sizes: Vec<Size>,
    /// What slots, flags and sizes take.
    pub(super) directory: usize,
    /// Sum of `bytes` over the entries in memory.
    pub(super) resident: usize,
    /// Sum of `keys` over all entries.
    pub(super) keys: u64,
    /// No entry in memory is larger, nor one that is on its way; `stale` if that may be too much.
    pub(super) largest: usize,
    pub(super) stale: bool,
    /// Where the clock's hand stands.
    pub(super) hand: usize,
    pub(super) spill: S,
    pub(super) place: P,
    /// Bytes of the entry that is on its way.
    pub(super) scratch: Vec<u8>,
    pub(super) traffic: Traffic,
    pub(super) epoch: Option<u64>,
}

impl<K: Ord + Clone + Codec + Footprint, V: Codec + Footprint> Store<K, V>
where
    Mixed: Place<K>,
{
    /// A store of 2^`bits` entries in memory alone, of at most `budget` bytes.
    ///
    /// # Errors
    /// `Bits`, `Budget`.
    pub fn new(bits: u32, budget: usize) -> Result<Self, StoreError> {
        Self::with(bits, budget, NoSpill, Mixed)
    }
}

impl<K, V, S, P> Store<K, V, S, P>
where
    K: Ord + Clone + Codec + Footprint,
    V: Codec + Footprint,
    S: Spill,
    P: Place<K>,
{
    /// A store of 2^`bits` entries that holds at most `budget` bytes in memory, its directory
    /// included, and beside them one block of 64 KiB for the entry that is on its way. It begins
    /// with what `spill` held at its last checkpoint.
    ///
    /// # Errors
    /// `Bits`, also when the spill has other bits; `Budget`, with the least that works; `NoEntry` or
    /// `Entry` when what the spill held cannot be.
    pub fn with(bits: u32, budget: usize, mut spill: S, place: P) -> Result<Self, StoreError> {
        if !(1..=31).contains(&bits) {
            return Err(StoreError::Bits { bits });
        }
        let restored = spill.restored();
        if let Some(found) = restored.as_ref().filter(|found| found.bits != bits) {
            return Err(StoreError::Bits { bits: found.bits });
        }
        let least = Self::least_budget(bits, &spill);
        if budget < least {
            return Err(StoreError::Budget { budget, least });
        }
        let entries = 1_usize << bits;
        let mut store = Self {
            bits,
            budget,
            slots: Vec::with_capacity(entries),
            flags: vec![0; entries],
            sizes: vec![Size::default(); entries],
            directory: Self::directory(bits),
            resident: 0,
            keys: 0,
            largest: 0,
            stale: false,
            hand: 0,
            spill,
            place,
            scratch: Vec::new(),
            traffic: Traffic::default(),
            epoch: restored.as_ref().map(|found| found.epoch),
        };
        store.slots.resize_with(entries, || Slot { tree: Tree::default(), tags: Tags::default() });
        for (entry, meta) in restored.into_iter().flat_map(|found| found.entries) {
            let at = store.index(entry)?;
            // No sum of such sizes overflows.
            let bytes = usize::try_from(meta.bytes).ok().filter(|&bytes| bytes < MOST_BYTES);
            let bytes = bytes.filter(|_| meta.load < MOST_LOAD);
            let bytes = bytes.ok_or(StoreError::Entry { entry, why: "sizes that cannot be" })?;
            store.flags[at] = STORED;
            store.sizes[at] = Size { bytes, keys: meta.keys, load: meta.load };
            store.keys += u64::from(meta.keys);
        }
        Ok(store)
    }

    /// The least budget of a store of 2^`bits` entries that spills to `spill`: its directory, and
    /// one entry of one key.
    fn least_budget(bits: u32, spill: &S) -> usize {
        let step = Tree::<K, V>::default().step();
        Self::directory(bits).saturating_add(spill.footprint(bits)).saturating_add(step)
    }

    fn directory(bits: u32) -> usize {
        let entries = 1_usize << bits;
        allocation(entries.saturating_mul(size_of::<Slot<K, V>>()))
            .saturating_add(allocation(entries))
            .saturating_add(allocation(entries.saturating_mul(size_of::<Size>())))
    }

    /// The value of a key. Of an entry that was spilled the pair alone is read back, and only
    /// after some pairs of it the whole.
    ///
    /// # Errors
    /// When the entry cannot be read, is damaged, or does not fit.
    #[inline]
    pub fn get(&mut self, key: &K) -> Result<Option<&V>, StoreError> {
        let at = self.place.place(key, self.bits) as usize;
        // What cannot be spilled needs no mark: a store in memory reads the slot alone.
        let flags = if S::KEEPS { self.flags[at] } else { RESIDENT | USED };
        if flags & (RESIDENT | USED) != RESIDENT | USED {
            if flags & (RESIDENT | STORED) == 0 {
                return Ok(None);
            }
            if flags & RESIDENT == 0 {
                return self.get_away(at, key);
            }
            self.touch(at)?;
        }
        let slot = &self.slots[at];
        Ok(slot.tree.get_tagged(slot.tags, self.place.tag(key), key))
    }

    /// Sets the value of a key and gives back the one before. On an error the value is dropped:
    /// [`reserve`](Self::reserve) first where that matters.
    ///
    /// # Errors
    /// When the entry cannot be read back, is damaged, or there is no room: `EntryExceedsBudget`,
    /// `OverBudget`, or what the spill says.
    #[inline]
    pub fn insert(&mut self, key: K, value: V) -> Result<Option<V>, StoreError> {
        let held = key.heap() + value.heap();
        let at = self.ready(&key, held)?;
        let (slot, tag) = (&mut self.slots[at], self.place.tag(&key));
        self.sizes[at].load += 1;
        if let Some(old) = slot.tree.get_mut_tagged(slot.tags, tag, &key) {
            let old = std::mem::replace(old, value);
            let grown = held.wrapping_sub(key.heap()).wrapping_sub(old.heap()).cast_signed();
            self.settle(at, grown);
            return Ok(Some(old));
        }
        self.add(at, key, value);
        Ok(None)
    }

    /// Changes the value of a key in place; a key that is not there begins with `new`.
    ///
    /// What `change` adds cannot be known before: it may overshoot the budget until the call ends,
    /// and the entry may outgrow it. That is no error of this call, as the change was made, but of
    /// the next that needs the entry in memory.
    ///
    /// # Errors
    /// Those of [`insert`](Self::insert); `change` has not run then.
    ///
    /// # Panics
    /// Where `new` or `change` does. What `change` had done to a value that was there stays, and is
    /// counted; a new key is not added.
    #[inline]
    pub fn update<R>(
        &mut self,
        key: K,
        new: impl FnOnce() -> V,
        change: impl FnOnce(&K, &mut V) -> R,
    ) -> Result<R, StoreError> {
        let at = self.ready(&key, key.heap())?;
        let tag = self.place.tag(&key);
        self.sizes[at].load += 1;
        let guard = Recount { store: self, at };
        let slot = &mut guard.store.slots[at];
        if let Some(value) = slot.tree.get_mut_tagged(slot.tags, tag, &key) {
            let before = value.heap();
            let result = change(&key, value);
            let grown = value.heap().wrapping_sub(before).cast_signed();
            std::mem::forget(guard);
            self.settle(at, grown);
            return Ok(result);
        }
        std::mem::forget(guard);
        let mut value = new();
        let result = change(&key, &mut value);
        self.add(at, key, value);
        Ok(result)
    }

    /// Takes a key out.
    ///
    /// # Errors
    /// When the entry cannot be read back, is damaged, or does not fit.
    pub fn remove(&mut self, key: &K) -> Result<Option<V>, StoreError> {
        let at = self.place.place(key, self.bits) as usize;
        if self.flags[at] & (RESIDENT | STORED) == 0 {
            return Ok(None);
        }
        self.touch(at)?;
        let mut grown = 0;
        let removed = self.slots[at].tree.remove(key, &mut grown);
        if removed.is_some() {
            self.tag_anew(at);
            self.sizes[at].load += 1;
            self.sizes[at].keys -= 1;
            self.keys -= 1;
            self.settle(at, grown);
            self.drop_if_empty(at);
        }
        Ok(removed)
    }

    /// Makes sure that the next [`insert`](Self::insert) of this key with a value that holds
    /// `heap` bytes finds room.
    ///
    /// # Errors
    /// Those of that call.
    pub fn reserve(&mut self, key: &K, heap: usize) -> Result<(), StoreError> {
        self.ready(key, key.heap() + heap).map(|_| ())
    }

    /// The entry of a key, in memory, with room for the key and `held` bytes that it and its
    /// value hold.
    #[inline]
    fn ready(&mut self, key: &K, held: usize) -> Result<usize, StoreError> {
        let at = self.place.place(key, self.bits) as usize;
        let flags = self.flags[at];
        if flags & (RESIDENT | USED) != RESIDENT | USED && flags & (RESIDENT | STORED) != 0 {
            self.touch(at)?;
        }
        let room = held + self.slots[at].tree.step();
        if self.used() + room > self.budget {
            self.room_for(at, key, held, room)?;
        }
        Ok(at)
    }

    #[cold]
    fn room_for(&mut self, at: usize, key: &K, held: usize, room: usize) -> Result<(), StoreError> {
        match self.make_room(room, at) {
            // A key that is there already needs no node.
            Err(_)
                if self.used() + held <= self.budget && self.slots[at].tree.get(key).is_some() =>
            {
                Ok(())
            }
            other => other,
        }
    }

    fn add(&mut self, at: usize, key: K, value: V) {
        let mut grown = 0;
        let (slot, tag) = (&mut self.slots[at], self.place.tag(&key));
        slot.tree.insert_tagged(&mut slot.tags, tag, key, value, &mut grown);
        self.sizes[at].keys += 1;
        self.keys += 1;
        self.flags[at] |= RESIDENT;
        self.settle(at, grown);
    }

    /// Sets the tags of an entry whose pairs have moved.
    pub(super) fn tag_anew(&mut self, at: usize) {
        let slot = &mut self.slots[at];
        slot.tags = Tags::of(&slot.tree, |key| self.place.tag(key));
    }

    /// Counts a change of an entry in memory.
    #[inline]
    pub(super) fn settle(&mut self, at: usize, grown: isize) {
        let flags = &mut self.flags[at];
        if *flags & (DIRTY | USED) != DIRTY | USED {
            *flags |= DIRTY | USED;
        }
        if grown != 0 {
            let bytes = &mut self.sizes[at].bytes;
            self.stale |= grown < 0 && *bytes == self.largest;
            *bytes = bytes.wrapping_add_signed(grown);
            self.largest = self.largest.max(*bytes);
            self.resident = self.resident.wrapping_add_signed(grown);
            if self.used() > self.budget {
                self.overshot(at);
            }
        }
    }

    pub(super) fn index(&self, entry: u32) -> Result<usize, StoreError> {
        let entries = 1 << self.bits;
        if entry < entries {
            Ok(entry as usize)
        } else {
            Err(StoreError::NoEntry { entry, entries })
        }
    }

    /// Bytes in memory that are counted against the budget.
    #[must_use]
    #[inline]
    pub fn used(&self) -> usize {
        self.fixed() + self.resident
    }

    /// The directory, that of the spill, and what of the largest entry in memory does not fit into
    /// a block: it is there once more while it is written.
    #[inline]
    pub(super) fn fixed(&self) -> usize {
        let aside = if S::KEEPS { self.largest.saturating_sub(BLOCK) } else { 0 };
        self.directory + self.spill.footprint(self.bits) + aside
    }

    /// What an entry takes and how much it is used. O(1).
    ///
    /// # Errors
    /// `NoEntry`.
    pub fn stats(&self, entry: u32) -> Result<EntryStats, StoreError> {
        let at = self.index(entry)?;
        Ok(EntryStats {
            bytes: self.sizes[at].bytes,
            keys: self.sizes[at].keys,
            load: self.sizes[at].load,
            resident: self.flags[at] & RESIDENT != 0,
            dirty: self.flags[at] & DIRTY != 0,
        })
    }

    /// Begins to count loads anew, as after a plan. O(2^b).
    pub fn reset_loads(&mut self) {
        self.sizes.iter_mut().for_each(|size| size.load = 0);
    }

    /// Sets another budget, and sends entries away until it holds.
    ///
    /// # Errors
    /// `Budget`, or what the spill says: the budget is the old one then.
    pub fn set_budget(&mut self, budget: usize) -> Result<(), StoreError> {
        let least = Self::least_budget(self.bits, &self.spill);
        if budget < least {
            return Err(StoreError::Budget { budget, least });
        }
        let before = std::mem::replace(&mut self.budget, budget);
        self.make_room(0, usize::MAX).inspect_err(|_| self.budget = before)
    }

    /// The entry of a key.
    #[must_use]
    pub fn entry_of(&self, key: &K) -> u32 {
        self.place.place(key, self.bits)
    }

    /// The number of entries is 2 to the power of this.
    #[must_use]
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// The number of keys, wherever they are. O(1).
    #[must_use]
    pub fn len(&self) -> u64 {
        self.keys
    }

    /// Whether there is no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys == 0
    }

    /// The most bytes in memory.
    #[must_use]
    pub fn budget(&self) -> usize {
        self.budget
    }

    /// What has been read and written so far.
    #[must_use]
    pub fn traffic(&self) -> Traffic {
        self.traffic
    }

    /// The spill.
    #[must_use]
    pub fn spill(&self) -> &S {
        &self.spill
    }

    /// The epoch of the last checkpoint, made or reopened.
    #[must_use]
    pub fn epoch(&self) -> Option<u64> {
        self.epoch
    }
}
