//! Which record a hash stands for: a sorted array with gaps.

use alloc::vec;
use alloc::vec::Vec;

/// Bits of an entry that name a record; those above are the hash's.
const POSITION_BITS: u32 = 12;
/// The most records that an index can tell apart.
pub(crate) const POSITIONS: usize = 1 << POSITION_BITS;
/// Entries that a search compares at once.
const WINDOW: usize = 8;
/// Entries after the last home.
const TAIL: usize = 48;

/// The part of a hash that an entry keeps, in the bits of an entry: the highest bit is set, so
/// that no entry is zero, then nineteen bits of hash, then zeros.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Print(u32);

impl Print {
    #[inline]
    pub(crate) const fn of(hash: u64) -> Self {
        Self(((hash >> 32) as u32 | 1 << 31) & !(POSITIONS as u32 - 1))
    }
}

/// Entries of four bytes, a print and a position each, in the order of their prints.
///
/// Linear probing, kept in order (Robin Hood): an entry stands at its home or after it, with no
/// gap between, and its home grows with its print. So a search may stop at the first greater
/// entry, a removal shifts entries back and leaves no tombstone, and a larger index is filled
/// in one pass without a hash. Homes end before the entries do, so that nothing wraps.
#[derive(Clone, Default, Debug)]
pub(crate) struct Index {
    entries: Vec<u32>,
    homes: u32,
}

impl Index {
    /// An index that is four fifths full with `records` entries.
    pub(crate) fn for_records(records: usize) -> Self {
        let homes = (records * 5).div_ceil(4).max(1);
        // For those whose home is near the end; more is added if ever it is needed.
        Self { entries: vec![0; homes + TAIL], homes: homes as u32 }
    }

    pub(crate) const fn heap_bytes(&self) -> usize {
        self.entries.capacity() * size_of::<u32>()
    }

    #[inline]
    pub(crate) const fn home(&self, print: Print) -> usize {
        (((print.0 << 1) as u64 * self.homes as u64) >> 32) as usize
    }

    /// Something of each cache line that [`guess`](Self::guess) reads.
    #[inline]
    pub(crate) fn touch(&self, home: usize) -> u32 {
        let window = self.entries.get(home..).and_then(|rest| rest.first_chunk::<WINDOW>());
        window.map_or(0, |window| window[0] ^ window[WINDOW - 1])
    }

    /// The position of the entry with this print among the first from its home on; seldom
    /// wrong, if there are several, or if the entry is further on. There is no branch.
    #[inline]
    pub(crate) fn guess(&self, home: usize, print: Print) -> usize {
        let Some(window) = self.entries.get(home..).and_then(|rest| rest.first_chunk::<WINDOW>())
        else {
            return usize::MAX;
        };
        let mut found = 0;
        for &entry in window {
            let same = entry >> POSITION_BITS == print.0 >> POSITION_BITS;
            found |= if same { entry } else { 0 };
        }
        if found == 0 { usize::MAX } else { position(found) }
    }

    /// The positions of the entries with this print, with their places in the index.
    #[inline]
    pub(crate) fn with_print(
        &self,
        home: usize,
        print: Print,
    ) -> impl Iterator<Item = (usize, usize)> + '_ {
        let entries = self.entries.get(home..).unwrap_or(&[]).iter();
        (home..)
            .zip(entries)
            .skip_while(move |&(_, &entry)| entry != 0 && entry < print.0)
            .take_while(move |&(_, &entry)| entry >> POSITION_BITS == print.0 >> POSITION_BITS)
            .map(|(at, &entry)| (at, position(entry)))
    }

    /// Adds an entry. Expected O(1).
    #[inline]
    pub(crate) fn insert(&mut self, home: usize, print: Print, position: usize) {
        let mut carried = print.0 | position as u32;
        let mut at = home;
        while let Some(entry) = self.entries.get_mut(at) {
            if *entry == 0 {
                *entry = carried;
                return;
            }
            // The smaller stays, and from here on all move up by one.
            let smaller = carried.min(*entry);
            carried = carried.max(*entry);
            *entry = smaller;
            at += 1;
        }
        self.entries.reserve_exact(WINDOW);
        self.entries.push(carried);
    }

    /// Takes out the entry at this place: those after it step back, up to a gap or to one at its
    /// home. Expected O(1).
    #[inline]
    pub(crate) fn remove(&mut self, mut at: usize) {
        while let Some(&next) = self.entries.get(at + 1) {
            if next == 0 || self.home(Print(next & !(POSITIONS as u32 - 1))) > at {
                break;
            }
            self.entries[at] = next;
            at += 1;
        }
        self.entries[at] = 0;
    }

    pub(crate) fn clear(&mut self) {
        self.entries.fill(0);
    }

    /// The positions, in the order of their prints.
    pub(crate) fn positions(&self) -> impl Iterator<Item = (Print, usize)> + '_ {
        let entries = self.entries.iter().filter(|&&entry| entry != 0);
        entries.map(|&entry| (Print(entry & !(POSITIONS as u32 - 1)), position(entry)))
    }

    /// The same entries in an index for `records` of them. O(entries).
    pub(crate) fn resized(&self, records: usize) -> Self {
        let mut new = Self::for_records(records);
        let mut next = 0;
        for (print, position) in self.positions() {
            next = new.append(next, print, position);
        }
        new
    }

    /// Adds an entry that is greater than all; `next` is what the last call returned, or 0.
    pub(crate) fn append(&mut self, next: usize, print: Print, position: usize) -> usize {
        let at = self.home(print).max(next);
        while self.entries.len() <= at {
            self.entries.reserve_exact(WINDOW);
            self.entries.push(0);
        }
        self.entries[at] = print.0 | position as u32;
        at + 1
    }
}

#[inline]
const fn position(entry: u32) -> usize {
    (entry & (POSITIONS as u32 - 1)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries stand in order, each at its home or after it without a gap.
    fn check(index: &Index, count: usize) {
        let mut before = None;
        for (at, &entry) in index.entries.iter().enumerate().filter(|entry| *entry.1 != 0) {
            assert!(before.is_none_or(|before| before < entry));
            let home = index.home(Print(entry & !(POSITIONS as u32 - 1)));
            assert!(home <= at && index.entries[home..=at].iter().all(|&entry| entry != 0));
            before = Some(entry);
        }
        assert_eq!(index.positions().count(), count);
    }

    #[test]
    fn entries_stay_in_order_and_near_their_homes() {
        let hash = |n: u64| crate::mixing::scramble(n);
        let mut index = Index::for_records(300);
        for position in 0..300 {
            let print = Print::of(hash(position));
            index.insert(index.home(print), print, position as usize);
        }
        check(&index, 300);
        for position in (0..300).step_by(2) {
            let print = Print::of(hash(position));
            let found = index.with_print(index.home(print), print).find(|f| f.1 as u64 == position);
            index.remove(found.unwrap().0);
        }
        check(&index, 150);
        let larger = index.resized(400);
        check(&larger, 150);
        assert!(larger.positions().eq(index.positions()));
        for position in 0..300 {
            let print = Print::of(hash(position));
            let mut all = larger.with_print(larger.home(print), print);
            assert_eq!(all.any(|f| f.1 as u64 == position), position % 2 == 1);
        }
    }

    #[test]
    fn equal_prints_are_all_found_and_go_on_past_the_end() {
        let print = Print::of(u64::MAX);
        let mut index = Index::for_records(10);
        for position in (0..1_000).rev() {
            index.insert(index.home(print), print, position);
        }
        check(&index, 1_000);
        let found = index.with_print(index.home(print), print).map(|found| found.1);
        assert!(found.eq(0..1_000));
        for left in (0..1_000).rev() {
            index.remove(index.home(print));
            check(&index, left);
        }
    }
}
