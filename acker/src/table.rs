//! The table of records: linear hashing over small segments.
//!
//! Segments are picked by the low bits of a hash, as many as there are segments; a table of
//! `2^k + s` segments has split its first `s`, which look at one bit more. When the segments
//! hold too much on average the next in turn is split in two; when one is full it gets room for
//! a twenty-fourth more. So no step moves more than 4,096 records and the table has few gaps, where
//! a table that doubles is between 4/9 and 7/8 full.

use alloc::vec::Vec;

use crate::RootId;
use crate::index::{Group, NONE, Print};
use crate::mixing::{E, fold, scramble};
use crate::record::Record;
use crate::segment::Segment;

/// A segment is split when the mean exceeds this; those yet to be split hold up to twice it,
/// give or take what chance does, and 4,096 at most.
const MEAN_RECORDS: usize = 1_800;

/// Where a root would be: found step by step, and right until the table next grows.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Home {
    segment: u32,
    slot: u32,
    print: Print,
    /// The position of its record: a guess, unless [`Table::find`] returned it.
    position: u32,
}

#[derive(Clone)]
pub(crate) struct Table {
    segments: Vec<Segment>,
    /// Twice the greatest power of two that is at most the number of segments, less one.
    mask: u32,
    len: usize,
    /// How often a [`Home`] has become stale.
    version: u32,
    key: Key,
}

/// The key of the hash.
#[derive(Clone, Copy)]
struct Key {
    whiten: u64,
    multiply: u64,
}

impl Key {
    const fn new(seed: u64) -> Self {
        // Not of the seed itself: zero would stay zero, and the hash be its root.
        let whiten = scramble(seed ^ E);
        Self { whiten, multiply: scramble(whiten) | 1 }
    }

    #[inline]
    const fn hash(self, root: u64) -> u64 {
        fold(root ^ self.whiten, self.multiply)
    }
}

impl Table {
    pub(crate) const fn new(seed: u64) -> Self {
        Self { segments: Vec::new(), mask: 1, len: 0, version: 0, key: Key::new(seed) }
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Changes whenever a [`Home`] becomes stale.
    #[inline]
    pub(crate) const fn version(&self) -> u32 {
        self.version
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.segments.capacity() * size_of::<Segment>()
            + self.segments.iter().map(Segment::heap_bytes).sum::<usize>()
    }

    pub(crate) fn clear(&mut self) {
        self.segments.iter_mut().for_each(Segment::clear);
        self.len = 0;
    }

    /// Gives back the memory that the records do not need. O(records).
    pub(crate) fn shrink_to_fit(&mut self) {
        self.rebuild(self.key);
    }

    fn rebuild(&mut self, key: Key) {
        let version = self.version.wrapping_add(1);
        let mut new = Self { segments: Vec::new(), mask: 1, len: 0, version, key };
        for record in self.records() {
            let home = new.home(record.root);
            new.insert(record, home);
        }
        *self = new;
    }

    /// Where `root` would be, without a guess at its position. O(1).
    #[inline]
    pub(crate) fn locate(&self, root: RootId) -> Home {
        self.home(root.get())
    }

    #[inline]
    fn home(&self, root: u64) -> Home {
        let hash = self.key.hash(root);
        let segment = self.segment(hash);
        let print = Print::of(hash);
        let slot = self.segments.get(segment as usize).map_or(0, |s| s.home(print)) as u32;
        Home { segment, slot, print, position: NONE as u32 }
    }

    #[inline]
    const fn segment(&self, hash: u64) -> u32 {
        let long = hash as u32 & self.mask;
        let short = long & self.mask >> 1;
        if (long as usize) < self.segments.len() { long } else { short }
    }

    /// What [`guess`](Self::guess) will read; it is not read yet.
    #[inline]
    pub(crate) fn group(&self, home: Home) -> &Group {
        let segment = self.segments.get(home.segment as usize);
        segment.and_then(|s| s.group(home.slot as usize)).unwrap_or(&Group::VACANT)
    }

    /// Guesses at the position, and returns the record that [`find`](Self::find) will read first,
    /// or [`insert`](Self::insert); it is not read yet.
    #[inline]
    pub(crate) fn guess(&self, home: &mut Home, group: &Group) -> &Record {
        let position = group.guess(home.print);
        home.position = position as u32;
        let segment = self.segments.get(home.segment as usize);
        segment.and_then(|s| s.likely(position)).unwrap_or(&Record::VACANT)
    }

    /// Where `root` is, whatever the guess. Expected O(1).
    #[inline]
    pub(crate) fn find(&mut self, root: RootId, home: Home) -> Option<(Home, &mut Record)> {
        let segment = self.segments.get_mut(home.segment as usize)?;
        let Home { slot, print, position, .. } = home;
        let position = segment.find(root.get(), position as usize, slot as usize, print)?;
        Some((Home { position: position as u32, ..home }, segment.get_mut(position)))
    }

    /// Adds a record whose root is not in the table. Expected O(1), amortised.
    #[inline]
    pub(crate) fn insert(&mut self, record: Record, mut home: Home) {
        while self.segments.get(home.segment as usize).is_none_or(Segment::is_full) {
            self.grow(home.segment as usize);
            home = self.home(record.root);
        }
        self.segments[home.segment as usize].insert(record, home.slot as usize, home.print);
        self.len += 1;
    }

    /// Removes the record that [`find`](Self::find) found. Expected O(1).
    #[inline]
    pub(crate) fn remove(&mut self, found: Home) -> Record {
        self.len -= 1;
        let segment = &mut self.segments[found.segment as usize];
        segment.remove(found.position as usize, found.slot as usize)
    }

    /// Removes the records that `doomed` picks, of which there are at most `count`, and tells `gone`
    /// of them. O(slots).
    pub(crate) fn sweep(
        &mut self,
        mut count: usize,
        doomed: impl Fn(&Record) -> bool,
        mut gone: impl FnMut(Record),
    ) {
        let key = self.key;
        for segment in &mut self.segments {
            if count == 0 {
                return;
            }
            let before = segment.len();
            segment.sweep(&doomed, &mut gone, |root| key.hash(root));
            let went = before - segment.len();
            self.len -= went;
            count = count.saturating_sub(went);
        }
    }

    pub(crate) fn records(&self) -> impl Iterator<Item = Record> + '_ {
        self.segments.iter().flat_map(Segment::records)
    }

    /// Makes room in a full segment, splitting the next in turn first if their mean is too large.
    #[cold]
    fn grow(&mut self, full: usize) {
        self.version = self.version.wrapping_add(1);
        if self.segments.is_empty() {
            self.segments.push(Segment::with_room(8));
            return;
        }
        if self.len >= self.segments.len() * MEAN_RECORDS {
            self.split();
        }
        let segment = &mut self.segments[full];
        if segment.is_largest() {
            // Chance does not do this: somebody has chosen the ids. Another key is another table.
            self.rebuild(Key::new(self.key.multiply));
        } else if segment.is_full() {
            let key = self.key;
            segment.grow((segment.len() / 24).max(8), |root| key.hash(root));
        }
    }

    /// Splits the next segment in turn. O(its records).
    fn split(&mut self) {
        let count = self.segments.len();
        let from = count & (self.mask >> 1) as usize;
        let old = core::mem::take(&mut self.segments[from]);
        self.segments.reserve_exact(1);
        self.segments.push(Segment::default());
        if self.segments.len() > self.mask as usize {
            self.mask = self.mask << 1 | 1;
        }
        let stays = |hash| self.segment(hash) as usize == from;
        let staying = old.records().filter(|record| stays(self.key.hash(record.root))).count();
        let room = |len: usize| Segment::with_room(len + (len / 32).max(8));
        let (mut stayed, mut moved) = (room(staying), room(old.len() - staying));
        for record in old.records() {
            let hash = self.key.hash(record.root);
            let print = Print::of(hash);
            let new = if stays(hash) { &mut stayed } else { &mut moved };
            new.insert(record, new.home(print), print);
        }
        self.segments[from] = stayed;
        self.segments[count] = moved;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ids that all fall into one segment, as somebody who knows the seed would choose them.
    #[test]
    fn chosen_ids_make_the_table_choose_another_key() {
        let mut table = Table::new(7);
        let first = table.key.multiply;
        let key = table.key;
        let roots = (1..).filter(|&root| key.hash(root) & 0xff == 0);
        let roots: Vec<_> = roots.take(10_000).filter_map(RootId::new).collect();
        for (&root, n) in roots.iter().zip(0..) {
            let home = table.locate(root);
            assert!(table.find(root, home).is_none());
            table.insert(Record { root: root.get(), check: n, meta: 0 }, home);
        }
        assert_ne!(table.key.multiply, first);
        assert_eq!(table.len(), roots.len());
        for (&root, n) in roots.iter().zip(0..) {
            let home = table.locate(root);
            let (found, record) = table.find(root, home).unwrap();
            assert_eq!({ record.check }, n);
            table.remove(found);
        }
        assert_eq!((table.len(), table.records().count()), (0, 0));
    }

    /// A seed that nobody chose, and ids that are counted: no group and no tag has many of them.
    #[test]
    fn seed_zero_spreads_counted_ids() {
        let key = Table::new(0).key;
        for shift in [24, 56] {
            let mut counts = [0; 256];
            (1..=4_096).for_each(|root| counts[(key.hash(root) >> shift) as usize % 256] += 1);
            assert!(counts.iter().all(|&count| (1..64).contains(&count)), "{shift}: {counts:?}");
        }
    }

    /// What is looked up early is still found after the table has grown.
    #[test]
    fn a_stale_home_is_told_by_the_version() {
        let mut table = Table::new(7);
        let root = |n| RootId::new(crate::mixing::scramble(n)).unwrap();
        let mut changes = 0;
        for n in 1..20_000 {
            let (home, version) = (table.locate(root(n)), table.version());
            table.insert(Record { root: root(n).get(), ..Record::VACANT }, home);
            changes += u32::from(table.version() != version);
            assert!(table.find(root(n), table.locate(root(n))).is_some());
        }
        assert!(changes > 100 && table.segments.len() > 10);
    }
}
