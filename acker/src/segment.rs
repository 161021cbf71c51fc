//! A small table of up to 4,096 records: the step by which the table grows.

use alloc::vec::Vec;

use crate::index::{Group, Index, NONE, POSITIONS, Print};
use crate::record::Record;

/// Records without gaps between them to speak of, and an index that finds them.
#[derive(Clone, Default, Debug)]
pub(crate) struct Segment {
    /// A vacant one has no root, and names the next vacant one in its check value, plus one.
    records: Vec<Record>,
    index: Index,
    /// The first vacant record, plus one.
    vacant: u32,
    len: u32,
}

impl Segment {
    pub(crate) fn with_room(records: usize) -> Self {
        let records = records.min(POSITIONS);
        let index = Index::for_records(records);
        Self { records: Vec::with_capacity(records), index, vacant: 0, len: 0 }
    }

    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.len as usize
    }

    #[inline]
    pub(crate) const fn is_full(&self) -> bool {
        let len = self.records.len();
        self.vacant == 0 && (len == self.records.capacity() || len >= POSITIONS)
    }

    /// Whether it is full for good.
    pub(crate) const fn is_largest(&self) -> bool {
        self.len as usize >= POSITIONS
    }

    pub(crate) const fn heap_bytes(&self) -> usize {
        self.records.capacity() * size_of::<Record>() + self.index.heap_bytes()
    }

    #[inline]
    pub(crate) const fn home(&self, print: Print) -> usize {
        self.index.home(print)
    }

    #[inline]
    pub(crate) fn group(&self, home: usize) -> Option<&Group> {
        self.index.group(home)
    }

    /// The record at this position, or the vacant one that a new record would take.
    #[inline]
    pub(crate) fn likely(&self, position: usize) -> Option<&Record> {
        let at = if position == NONE { self.vacant.wrapping_sub(1) as usize } else { position };
        self.records.get(at)
    }

    /// The position of `root`, looked for first where it is guessed to be. Expected O(1).
    #[inline]
    pub(crate) fn find(&self, root: u64, guess: usize, home: usize, print: Print) -> Option<usize> {
        let is_at = |position| self.records.get(position).is_some_and(|r: &Record| r.root == root);
        if is_at(guess) {
            return Some(guess);
        }
        // It may have come since the guess.
        let guess = self.index.guess(home, print);
        if guess == NONE && !self.index.overflows(home) {
            return None;
        }
        if is_at(guess) { Some(guess) } else { self.search(root, home, print) }
    }

    #[cold]
    fn search(&self, root: u64, home: usize, print: Print) -> Option<usize> {
        let mut positions = self.index.with_print(home, print);
        positions.find(|&position| self.records.get(position).is_some_and(|r| r.root == root))
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, position: usize) -> &mut Record {
        &mut self.records[position]
    }

    /// Adds a record that is not here; the segment is not full. Expected O(1).
    #[inline]
    pub(crate) fn insert(&mut self, record: Record, home: usize, print: Print) {
        let position = match self.vacant.checked_sub(1) {
            Some(vacant) => {
                let slot = &mut self.records[vacant as usize];
                self.vacant = slot.check as u32;
                *slot = record;
                vacant as usize
            }
            None => {
                self.records.push(record);
                self.records.len() - 1
            }
        };
        self.index.insert(home, print, position);
        self.len += 1;
    }

    /// Expected O(1).
    #[inline]
    pub(crate) fn remove(&mut self, position: usize, home: usize) -> Record {
        self.index.remove(home, position);
        let gap = Record { check: u64::from(self.vacant), ..Record::VACANT };
        self.vacant = position as u32 + 1;
        self.len -= 1;
        core::mem::replace(&mut self.records[position], gap)
    }

    /// Keeps the memory. O(slots).
    pub(crate) fn clear(&mut self) {
        self.records.clear();
        self.index.clear();
        (self.vacant, self.len) = (0, 0);
    }

    /// Makes room for `more` records, as far as there are positions. O(records).
    pub(crate) fn grow(&mut self, more: usize, hash: impl Fn(u64) -> u64) {
        let room = (self.records.capacity() + more).min(POSITIONS);
        self.records.reserve_exact(room - self.records.len());
        self.index = Index::for_records(room);
        for (position, record) in self.records.iter().enumerate() {
            if record.root != 0 {
                let print = Print::of(hash(record.root));
                self.index.insert(self.index.home(print), print, position);
            }
        }
    }

    /// The records in the order of their positions.
    pub(crate) fn records(&self) -> impl Iterator<Item = Record> + '_ {
        self.records.iter().copied().filter(|record| record.root != 0)
    }

    /// Removes the records that `doomed` picks, and tells `gone` of them. O(slots).
    pub(crate) fn sweep(
        &mut self,
        doomed: impl Fn(&Record) -> bool,
        gone: &mut impl FnMut(Record),
        hash: impl Fn(u64) -> u64,
    ) {
        let count = self.records().filter(&doomed).count();
        if count == self.len() {
            // Nothing to keep: then no entry need be looked for.
            self.records().for_each(gone);
            return self.clear();
        }
        if count == 0 {
            return;
        }
        for position in 0..self.records.len() {
            let record = self.records[position];
            if record.root != 0 && doomed(&record) {
                let print = Print::of(hash(record.root));
                gone(self.remove(position, self.home(print)));
            }
        }
    }
}
