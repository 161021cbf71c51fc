//! Entries as wholes: scanned, filtered, handed over, and all of them made a checkpoint.

use std::ops::RangeBounds;

use super::codec::{Codec, take};
use super::error::StoreError;
use super::footprint::Footprint;
use super::place::Place;
use super::spill::{Meta, Spill};
use super::table::{DIRTY, MOST_LOAD, RESIDENT, STORED, Size, Store, USED};
use super::tree::Tree;

/// What becomes of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fate {
    /// It stays as it is.
    Keep,
    /// It stays, and its value was changed.
    Changed,
    /// It goes.
    Drop,
}

/// First bytes of an exported entry: a name and the version of the format.
const EXPORT: [u8; 8] = *b"RTMRent\x01";
/// Those, the checksum of the rest, the entry, bits, the load.
const HEAD: usize = 8 + 4 + 4 + 4 + 8;

/// An entry that is taken apart, and is put together again whatever happens.
struct Apart<'a, K, V, S, P>
where
    K: Ord + Clone + Codec + Footprint,
    V: Codec + Footprint,
    S: Spill,
    P: Place<K>,
{
    store: &'a mut Store<K, V, S, P>,
    at: usize,
    pairs: Vec<(K, V)>,
    /// How many pairs there were.
    before: usize,
    changed: bool,
}

impl<K, V, S, P> Drop for Apart<'_, K, V, S, P>
where
    K: Ord + Clone + Codec + Footprint,
    V: Codec + Footprint,
    S: Spill,
    P: Place<K>,
{
    fn drop(&mut self) {
        let (store, at, kept) = (&mut *self.store, self.at, self.pairs.len());
        let mut pairs = std::mem::take(&mut self.pairs).into_iter();
        store.slots[at].tree = Tree::build(kept, || pairs.next()).unwrap_or_default();
        store.tag_anew(at);
        let bytes = store.slots[at].tree.footprint().cast_unsigned();
        let grown = bytes.wrapping_sub(store.sizes[at].bytes).cast_signed();
        store.sizes[at].keys = kept as u32;
        store.keys -= (self.before - kept) as u64;
        if self.changed {
            store.settle(at, grown);
        } else {
            store.resident = store.resident.wrapping_add_signed(grown);
            store.sizes[at].bytes = bytes;
            store.largest = store.largest.max(bytes);
        }
        store.drop_if_empty(at);
    }
}

impl<K, V, S, P> Store<K, V, S, P>
where
    K: Ord + Clone + Codec + Footprint,
    V: Codec + Footprint,
    S: Spill,
    P: Place<K>,
{
    /// Visits the keys of an entry within a range, ascending: O(log n) and what is visited, if the
    /// entry is in memory.
    ///
    /// # Errors
    /// `NoEntry`, or when it cannot be read back.
    pub fn scan(
        &mut self,
        entry: u32,
        range: impl RangeBounds<K>,
        mut visit: impl FnMut(&K, &V),
    ) -> Result<(), StoreError> {
        let at = self.index(entry)?;
        if self.flags[at] & (RESIDENT | STORED) != 0 {
            self.touch(at)?;
            self.slots[at].tree.range(&range, &mut visit);
        }
        Ok(())
    }

    /// Visits all keys, entry by entry and ascending within each. Reads back what was spilled.
    ///
    /// # Errors
    /// When an entry cannot be read back; those before it were visited.
    pub fn for_each(&mut self, mut visit: impl FnMut(&K, &V)) -> Result<(), StoreError> {
        for entry in 0..1 << self.bits {
            self.scan(entry, .., &mut visit)?;
        }
        Ok(())
    }

    /// Asks of every key of an entry what becomes of it, ascending. O(n). It is no load. Its pairs
    /// lie in a list of their own meanwhile, beside the budget.
    ///
    /// # Errors
    /// `NoEntry`, or when it cannot be read back.
    ///
    /// # Panics
    /// Where `fate` does: what it said before is done, and all other keys stay.
    pub fn retain(
        &mut self,
        entry: u32,
        mut fate: impl FnMut(&K, &mut V) -> Fate,
    ) -> Result<(), StoreError> {
        let at = self.index(entry)?;
        if self.flags[at] & (RESIDENT | STORED) == 0 {
            return Ok(());
        }
        self.touch(at)?;
        let mut pairs = Vec::new();
        std::mem::take(&mut self.slots[at].tree).drain(&mut pairs);
        let (before, changed) = (pairs.len(), true);
        let mut apart = Apart { store: self, at, pairs, before, changed };
        let mut changed = false;
        apart.pairs.retain_mut(|(key, value)| {
            let fate = fate(key, value);
            changed |= fate != Fate::Keep;
            fate != Fate::Drop
        });
        apart.changed = changed;
        Ok(())
    }

    /// The bytes of an entry, to be imported by another store with the same bits and `Place`; the
    /// entry stays. `None` if it is empty. O(n); an entry that was spilled is not decoded and need
    /// not fit into memory.
    ///
    /// # Errors
    /// `NoEntry`, or when it cannot be read.
    pub fn export(&mut self, entry: u32) -> Result<Option<Vec<u8>>, StoreError> {
        let at = self.index(entry)?;
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        let found = if self.flags[at] & RESIDENT != 0 {
            self.encode(at, &mut scratch);
            Ok(true)
        } else if self.flags[at] & STORED != 0 {
            self.spill.read(entry, &mut scratch)
        } else {
            Ok(false)
        };
        let exported = found.map(|found| {
            found.then(|| {
                let mut out = Vec::with_capacity(HEAD + scratch.len());
                out.extend_from_slice(&EXPORT);
                out.extend_from_slice(&[0; 4]);
                out.extend_from_slice(&entry.to_le_bytes());
                out.extend_from_slice(&self.bits.to_le_bytes());
                out.extend_from_slice(&self.sizes[at].load.to_le_bytes());
                out.extend_from_slice(&scratch);
                let sum = crc32c::crc32c(&out[12..]);
                out[8..12].copy_from_slice(&sum.to_le_bytes());
                out
            })
        });
        self.keep(scratch);
        exported
    }

    /// Takes over an entry that another store exported, with its load. O(n). It is decoded before
    /// it is known how much room it needs, so it lies beside the budget until then.
    ///
    /// # Errors
    /// `NoEntry`; `Occupied`; `Entry` when the bytes are damaged, of another entry or version, or
    /// of other types; when there is no room. The entry stays empty then.
    pub fn import(&mut self, entry: u32, bytes: &[u8]) -> Result<(), StoreError> {
        let at = self.index(entry)?;
        if self.flags[at] & (RESIDENT | STORED) != 0 {
            return Err(StoreError::Occupied { entry });
        }
        let wrong = |why| StoreError::Entry { entry, why };
        let mut from = bytes;
        let mut word = |n| take(&mut from, n).ok_or(wrong("shorter than its head"));
        let (name, sum) = (word(8)?, word(4)?);
        let (of, bits, load) = (word(4)?, word(4)?, word(8)?);
        if name[..7] != EXPORT[..7] {
            return Err(wrong("not an exported entry"));
        }
        if name != EXPORT {
            return Err(wrong("of another version"));
        }
        if crc32c::crc32c(&bytes[12..]).to_le_bytes() != sum {
            return Err(wrong("the checksum does not match"));
        }
        if of != entry.to_le_bytes() || bits != self.bits.to_le_bytes() {
            return Err(wrong("another entry, or another number of entries"));
        }
        let load = u64::decode(&mut &load[..]).filter(|&load| load < MOST_LOAD);
        let load = load.ok_or(wrong("a load that cannot be"))?;
        let tree = self.decode(entry, from)?;
        let (size, keys) = (tree.footprint().cast_unsigned(), tree.len());
        let keys = u32::try_from(keys).map_err(|_| wrong("more than 2^32 keys"))?;
        if let Err(error) = self.make_room_for(size, at) {
            self.sizes[at].bytes = 0;
            return Err(error);
        }
        self.slots[at].tree = tree;
        self.tag_anew(at);
        self.flags[at] = RESIDENT | DIRTY | USED;
        self.sizes[at] = Size { bytes: 0, keys, load };
        self.keys += u64::from(keys);
        self.settle(at, size.cast_signed());
        Ok(())
    }

    /// Forgets an entry, as after its export. O(1), and what dropping its values takes.
    ///
    /// # Errors
    /// `NoEntry`.
    pub fn clear(&mut self, entry: u32) -> Result<(), StoreError> {
        let at = self.index(entry)?;
        self.keys -= u64::from(self.sizes[at].keys);
        self.sizes[at].keys = 0;
        self.drop_if_empty(at);
        self.sizes[at].load = 0;
        Ok(())
    }

    /// Writes every entry that has changed, and makes all of them the checkpoint `epoch`: the
    /// state that a store on the same spill begins with, whatever happens after it. O(2^b) and
    /// what has changed.
    ///
    /// # Errors
    /// What the spill says; the checkpoint before stays the last one then, and nothing is lost.
    pub fn checkpoint(&mut self, epoch: u64) -> Result<(), StoreError> {
        for at in 0..self.flags.len() {
            self.write_back(at)?;
        }
        let sizes = &self.sizes;
        self.spill.commit(epoch, self.bits, &|entry| {
            let at = entry as usize;
            Meta { bytes: sizes[at].bytes as u64, keys: sizes[at].keys, load: sizes[at].load }
        })?;
        self.epoch = Some(epoch);
        Ok(())
    }
}
