//! The table of records: open addressing, linear probing, deletion by shifting back.
//!
//! A record is its own slot: no root is zero, so a zero root marks a vacant slot and there
//! are no control bytes. Deletion leaves no tombstones, so a table that has grown to its
//! load serves inserts and removals for ever without a rehash. The home of a root is the
//! high half of `hash · slots`, which allows any number of slots: the table grows by a
//! quarter, and holds 25 to 31.3 bytes for each record once it is large.

use alloc::vec;
use alloc::vec::Vec;

use crate::RootId;
use crate::mixing::{fold, scramble};

/// The paper's ⟨spring id, check value, task⟩ in 20 bytes, flags and generation included.
#[derive(Clone, Copy)]
#[repr(C, packed(4))]
pub(crate) struct Record {
    pub(crate) root: u64,
    pub(crate) check: u64,
    pub(crate) meta: u32,
}

const _: () = assert!(size_of::<Record>() == 20);

const VACANT: Record = Record { root: 0, check: 0, meta: 0 };
const FEWEST_SLOTS: usize = 16;

#[derive(Clone)]
pub(crate) struct Table {
    slots: Vec<Record>,
    len: usize,
    /// The most records that the slots may hold: four fifths.
    limit: usize,
    whiten: u64,
    multiply: u64,
}

impl Table {
    pub(crate) const fn new(seed: u64) -> Self {
        let whiten = scramble(seed);
        let multiply = scramble(whiten) | 1;
        Self { slots: Vec::new(), len: 0, limit: 0, whiten, multiply }
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    pub(crate) const fn heap_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Record>()
    }

    pub(crate) fn clear(&mut self) {
        self.slots.fill(VACANT);
        self.len = 0;
    }

    /// The slot of a root. Expected O(1).
    #[inline]
    pub(crate) fn find(&self, root: RootId) -> Option<usize> {
        if self.slots.is_empty() {
            return None;
        }
        let mut at = self.home(root.get());
        loop {
            let found = self.slots[at].root;
            if found == root.get() {
                return Some(at);
            }
            if found == 0 {
                return None;
            }
            at = self.after(at);
        }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, at: usize) -> &mut Record {
        &mut self.slots[at]
    }

    /// Adds a record whose root is not in the table. Expected O(1), amortised.
    #[inline]
    pub(crate) fn insert(&mut self, record: Record) {
        if self.len >= self.limit {
            self.grow();
        }
        self.place(record);
        self.len += 1;
    }

    /// Takes the record out of its slot and closes the gap. Expected O(1).
    #[inline]
    pub(crate) fn remove(&mut self, at: usize) -> Record {
        let removed = self.slots[at];
        let mut hole = at;
        let mut next = self.after(at);
        while self.slots[next].root != 0 {
            // A record may step back into the hole unless its home lies after the hole.
            let home = self.home(self.slots[next].root);
            if self.distance(home, next) >= self.distance(hole, next) {
                self.slots[hole] = self.slots[next];
                hole = next;
            }
            next = self.after(next);
        }
        self.slots[hole] = VACANT;
        self.len -= 1;
        removed
    }

    /// Removes the records that `doomed` picks, of which there are `count`. O(slots).
    ///
    /// `doomed` may see a record twice and must answer the same.
    pub(crate) fn sweep(&mut self, mut count: usize, mut doomed: impl FnMut(Record) -> bool) {
        let mut at = 0;
        while count > 0 && at < self.slots.len() {
            let record = self.slots[at];
            if record.root != 0 && doomed(record) {
                // Another record may have stepped into the slot: look at it again.
                self.remove(at);
                count -= 1;
            } else {
                at += 1;
            }
        }
        debug_assert_eq!(count, 0, "the counts by generation have gone astray");
    }

    #[cold]
    fn grow(&mut self) {
        let size = self.slots.len();
        let size = size.saturating_add(size / 4).max(FEWEST_SLOTS);
        let old = core::mem::replace(&mut self.slots, vec![VACANT; size]);
        self.limit = size - size.div_ceil(5);
        for record in old.into_iter().filter(|record| record.root != 0) {
            self.place(record);
        }
    }

    #[inline]
    fn place(&mut self, record: Record) {
        let mut at = self.home(record.root);
        while self.slots[at].root != 0 {
            at = self.after(at);
        }
        self.slots[at] = record;
    }

    #[inline]
    fn home(&self, root: u64) -> usize {
        let hash = fold(root ^ self.whiten, self.multiply);
        ((u128::from(hash) * self.slots.len() as u128) >> 64) as usize
    }

    const fn after(&self, at: usize) -> usize {
        if at + 1 == self.slots.len() { 0 } else { at + 1 }
    }

    /// Steps from one slot on to another, around the end if need be.
    const fn distance(&self, from: usize, to: usize) -> usize {
        if to >= from { to - from } else { to + self.slots.len() - from }
    }
}
