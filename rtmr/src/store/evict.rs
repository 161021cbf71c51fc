//! Entries that come and go: a clock over all of them, read and written whole.

use super::codec::{Codec, put_varint, varint};
use super::error::StoreError;
use super::footprint::Footprint;
use super::place::Place;
use super::spill::Spill;
use super::table::{BLOCK, DIRTY, PART, RESIDENT, STORED, Size, Store, USED};
use super::tree::Tree;

impl<K, V, S, P> Store<K, V, S, P>
where
    K: Ord + Clone + Codec + Footprint,
    V: Codec + Footprint,
    S: Spill,
    P: Place<K>,
{
    /// Brings an entry that has something into memory, and marks it as used. One that was just
    /// read back is not marked: what is touched once only goes first.
    #[cold]
    pub(super) fn touch(&mut self, at: usize) -> Result<(), StoreError> {
        if self.flags[at] & RESIDENT != 0 {
            self.flags[at] |= USED;
            return Ok(());
        }
        self.drop_part(at);
        let bytes = self.sizes[at].bytes;
        self.make_room_for(bytes, at)?;
        let mut scratch = std::mem::take(&mut self.scratch);
        let tree = self.read_back(at, &mut scratch);
        self.keep(scratch);
        let tree = tree?;
        let bytes = tree.footprint().cast_unsigned();
        self.slots[at].tree = tree;
        self.tag_anew(at);
        self.flags[at] |= RESIDENT;
        self.sizes[at].bytes = bytes;
        self.largest = self.largest.max(bytes);
        self.resident += bytes;
        self.traffic.loads += 1;
        self.make_room(0, at)
    }

    fn read_back(&mut self, at: usize, scratch: &mut Vec<u8>) -> Result<Tree<K, V>, StoreError> {
        let entry = at as u32;
        if !self.spill.read(entry, scratch)? {
            return Err(StoreError::Entry { entry, why: "the spill does not hold it" });
        }
        let tree = self.decode(entry, scratch)?;
        if tree.len() != self.sizes[at].keys as usize {
            return Err(StoreError::Entry { entry, why: "not as many keys as there were" });
        }
        Ok(tree)
    }

    /// A tree from the bytes of an entry: keys of that entry only, strictly ascending.
    pub(super) fn decode(&self, entry: u32, bytes: &[u8]) -> Result<Tree<K, V>, StoreError> {
        let wrong = |why| StoreError::Entry { entry, why };
        let mut from = bytes;
        let count = varint(&mut from).and_then(|count| usize::try_from(count).ok());
        let least = (K::LEAST + V::LEAST).max(1);
        let count = count.filter(|&count| count > 0 && count <= from.len() / least);
        let count = count.ok_or(wrong("the number of keys does not fit"))?;
        let mut stray = false;
        let tree = Tree::build(count, || {
            let key = K::decode(&mut from)?;
            stray |= self.place.place(&key, self.bits) != entry;
            let value = V::decode(&mut from)?;
            // Keeps pairs of no bytes from being many.
            if K::LEAST + V::LEAST == 0 {
                super::codec::take(&mut from, 1)?;
            }
            (!stray).then_some((key, value))
        });
        match tree {
            Some(tree) if from.is_empty() => Ok(tree),
            Some(_) => Err(wrong("bytes are left over")),
            None if stray => Err(wrong("a key of another entry: another `Place`?")),
            None => Err(wrong("not the keys and values of this store, or not in order")),
        }
    }

    /// Puts the bytes of an entry in memory into `scratch`.
    pub(super) fn encode(&self, at: usize, scratch: &mut Vec<u8>) {
        scratch.clear();
        put_varint(u64::from(self.sizes[at].keys), scratch);
        self.slots[at].tree.for_each(&mut |key, value| {
            key.encode(scratch);
            value.encode(scratch);
            if K::LEAST + V::LEAST == 0 {
                scratch.push(0);
            }
        });
    }

    /// Gives the scratch back; what is over a block was only lent.
    pub(super) fn keep(&mut self, mut scratch: Vec<u8>) {
        if scratch.capacity() > BLOCK {
            scratch = Vec::new();
        }
        self.scratch = scratch;
    }

    /// Makes room for an entry of `bytes`, which is not in memory, and for its encoding.
    pub(super) fn make_room_for(&mut self, bytes: usize, at: usize) -> Result<(), StoreError> {
        self.sizes[at].bytes = bytes;
        self.largest = self.largest.max(bytes);
        self.make_room(bytes, at).inspect_err(|_| self.stale = true)
    }

    /// Sends entries away until `need` more bytes fit, but not `pinned`.
    pub(super) fn make_room(&mut self, need: usize, pinned: usize) -> Result<(), StoreError> {
        while self.used().saturating_add(need) > self.budget {
            if self.stale && self.largest > BLOCK {
                self.stale = false;
                let here = self.sizes.iter().zip(&self.flags).enumerate();
                let here = here.filter(|&(at, (_, flags))| flags & RESIDENT != 0 || at == pinned);
                self.largest = here.map(|(_, (size, _))| size.bytes).max().unwrap_or(0);
                continue;
            }
            let Some(victim) = self.victim(pinned) else {
                return Err(self.no_room(need, pinned));
            };
            self.evict(victim)?;
        }
        Ok(())
    }

    fn no_room(&self, need: usize, pinned: usize) -> StoreError {
        let missing = (self.used().saturating_add(need)).saturating_sub(self.budget);
        match u32::try_from(pinned) {
            Ok(entry) if S::KEEPS && pinned < self.slots.len() => {
                let held =
                    if self.flags[pinned] & RESIDENT != 0 { self.sizes[pinned].bytes } else { 0 };
                let limit = self.budget.saturating_sub(self.fixed());
                StoreError::EntryExceedsBudget { entry, bytes: held.saturating_add(need), limit }
            }
            _ => StoreError::OverBudget { need: missing },
        }
    }

    /// The next entry under the hand that was not used since it came by last.
    fn victim(&mut self, pinned: usize) -> Option<usize> {
        if !S::KEEPS {
            return None;
        }
        // Two rounds: the first may clear every mark.
        for _ in 0..2 * self.flags.len() {
            let at = self.hand;
            self.hand = (at + 1) & (self.flags.len() - 1);
            let flags = &mut self.flags[at];
            if *flags & (RESIDENT | PART) == 0 || at == pinned {
                continue;
            }
            if *flags & USED == 0 {
                return Some(at);
            }
            *flags &= !USED;
        }
        None
    }

    fn evict(&mut self, at: usize) -> Result<(), StoreError> {
        if self.flags[at] & RESIDENT == 0 {
            self.drop_part(at);
            return Ok(());
        }
        self.write_back(at)?;
        self.slots[at].tree = Tree::default();
        self.flags[at] = STORED;
        self.resident -= self.sizes[at].bytes;
        self.stale |= self.sizes[at].bytes == self.largest;
        self.traffic.evictions += 1;
        Ok(())
    }

    /// Writes an entry in memory, if the spill has it otherwise or not at all.
    pub(super) fn write_back(&mut self, at: usize) -> Result<(), StoreError> {
        if self.flags[at] & DIRTY == 0 {
            return Ok(());
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        self.encode(at, &mut scratch);
        let written = self.spill.write(at as u32, &scratch);
        if written.is_ok() {
            self.flags[at] = (self.flags[at] & !DIRTY) | STORED;
            self.traffic.writes += 1;
            // Space that cannot be put in order now can be later.
            let _ = self.spill.tidy(&mut scratch);
        }
        self.keep(scratch);
        written
    }

    /// After a change took more than was foreseen: others go; and the entry itself, if it is too
    /// large. What cannot be written stays, and the next call that needs room tells why.
    #[cold]
    pub(super) fn overshot(&mut self, at: usize) {
        if self.make_room(0, at).is_err() && S::KEEPS {
            let _ = self.evict(at);
        }
    }

    /// Forgets an entry that has become empty.
    pub(super) fn drop_if_empty(&mut self, at: usize) {
        if self.sizes[at].keys == 0 {
            self.drop_part(at);
            if self.flags[at] & RESIDENT != 0 {
                self.resident -= self.sizes[at].bytes;
                self.stale |= self.sizes[at].bytes == self.largest;
            }
            if self.flags[at] & STORED != 0 {
                self.spill.remove(at as u32);
            }
            self.slots[at].tree = Tree::default();
            self.flags[at] = 0;
            self.sizes[at] = Size { load: self.sizes[at].load, ..Size::default() };
        }
    }
}
