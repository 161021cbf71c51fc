//! Which record a hash stands for: groups of a cache line each.

use alloc::vec;
use alloc::vec::Vec;

/// The most records that an index can tell apart: no step of a segment moves more.
pub(crate) const POSITIONS: usize = 1 << 12;
/// Entries of a group.
const ENTRIES: usize = 20;
/// No position: what a guess returns if its group has nothing that fits.
pub(crate) const NONE: usize = u32::MAX as usize;

/// The part of a hash that an index needs.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Print {
    upper: u32,
    /// Never zero.
    tag: u8,
}

impl Print {
    #[inline]
    pub(crate) const fn of(hash: u64) -> Self {
        // The bits below choose a segment: up to 2^24 of them, which hold over 600 GB.
        let tag = (hash >> 24) as u8;
        Self { upper: (hash >> 32) as u32, tag: if tag == 0 { 1 } else { tag } }
    }
}

/// A byte of hash and a position for each entry that belongs here, or before and found no room.
///
/// All entries are compared at once, without a branch; an entry is added at the end, and the last
/// takes the place of one that is removed: nothing is shifted and there are no tombstones.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct Group {
    /// Twenty tags, the first in the lowest byte of the first word; then, in units of [`LEN`], a
    /// byte for the number of entries; then, in units of [`PASSED`], the number of those that
    /// belong here or before, found no room, and stand further on.
    words: [u64; 3],
    positions: [u16; ENTRIES],
}

const _: () = assert!(size_of::<Group>() == 64);

const LEN: u64 = 1 << 32;
const PASSED: u64 = 1 << 40;
/// One in every byte.
const BYTES: u64 = 0x0101_0101_0101_0101;

/// The highest bit of each byte that is zero.
#[inline]
const fn zero_bytes(word: u64) -> u64 {
    let low = 0x7f * BYTES;
    !(((word & low) + low) | word | low)
}

impl Group {
    pub(crate) const VACANT: Self = Self { words: [0; 3], positions: [u16::MAX; ENTRIES] };

    #[inline]
    const fn len(&self) -> usize {
        (self.words[2] / LEN) as usize % (PASSED / LEN) as usize
    }

    #[inline]
    const fn passed(&self) -> u64 {
        self.words[2] / PASSED
    }

    /// The entries with this tag: bit `8 * lane + word` for each. There is no branch.
    #[inline]
    const fn tagged(&self, tag: u8) -> u64 {
        let wanted = tag as u64 * BYTES;
        let [a, b, c] = self.words;
        // The last word has four tags only.
        let last = zero_bytes(c ^ wanted) & (LEN - 1);
        zero_bytes(a ^ wanted) >> 7 | zero_bytes(b ^ wanted) >> 6 | last >> 5
    }

    /// Something of it, so that the processor has all of it.
    #[inline]
    pub(crate) const fn touch(&self) -> u64 {
        self.words[0]
    }

    /// The position of an entry with this print, most often the only one; [`NONE`] if there is
    /// none here.
    #[inline]
    pub(crate) fn guess(&self, print: Print) -> usize {
        self.position(self.tagged(print.tag))
    }

    /// The position of the first of these entries, or [`NONE`].
    #[inline]
    fn position(&self, tagged: u64) -> usize {
        let bit = tagged.trailing_zeros() as usize;
        let position = self.positions.get(8 * (bit % 8) + bit / 8);
        if tagged == 0 { NONE } else { position.map_or(NONE, |&position| position.into()) }
    }

    /// The positions of these entries.
    fn positions(&self, mut tagged: u64) -> impl Iterator<Item = usize> + '_ {
        core::iter::from_fn(move || {
            let position = (tagged != 0).then(|| self.position(tagged));
            tagged &= tagged.wrapping_sub(1);
            position
        })
    }

    /// Adds an entry, if there is room.
    #[inline]
    fn push(&mut self, tag: u8, position: u16) -> bool {
        let len = self.len();
        let Some(vacant) = self.positions.get_mut(len) else { return false };
        *vacant = position;
        self.words[len / 8] |= u64::from(tag) << (8 * (len % 8));
        self.words[2] += LEN;
        true
    }

    /// Takes out the entry with this position, if it is here. The search has no branch.
    #[inline]
    fn remove(&mut self, position: u16) -> bool {
        let mut found = 0;
        for (&each, at) in self.positions.iter().zip(1..) {
            found |= u16::from(each == position).wrapping_neg() & at;
        }
        let (Some(at), Some(last)) = (usize::from(found).checked_sub(1), self.len().checked_sub(1))
        else {
            return false;
        };
        let tag = self.words[last / 8] >> (8 * (last % 8)) & 0xff;
        let differ = tag ^ (self.words[at / 8] >> (8 * (at % 8)) & 0xff);
        self.words[at / 8] ^= differ << (8 * (at % 8));
        self.words[last / 8] ^= tag << (8 * (last % 8));
        self.words[2] -= LEN;
        self.positions[at] = self.positions[last];
        self.positions[last] = u16::MAX;
        true
    }
}

/// Groups of twenty entries, of which five eighths are taken when the segment is full: one in some
/// sixty overflows into the next. It counts the entries that passed it, so that a search knows where
/// to end.
#[derive(Clone, Default, Debug)]
pub(crate) struct Index {
    groups: Vec<Group>,
}

impl Index {
    /// An index of groups that hold twelve and a half entries each, on average, of `records`.
    pub(crate) fn for_records(records: usize) -> Self {
        Self { groups: vec![Group::VACANT; (records * 2).div_ceil(25).max(1)] }
    }

    pub(crate) const fn heap_bytes(&self) -> usize {
        self.groups.capacity() * size_of::<Group>()
    }

    #[inline]
    pub(crate) const fn home(&self, print: Print) -> usize {
        ((print.upper as u64 * self.groups.len() as u64) >> 32) as usize
    }

    #[inline]
    const fn after(&self, group: usize) -> usize {
        if group + 1 < self.groups.len() { group + 1 } else { 0 }
    }

    /// The group of this home.
    #[inline]
    pub(crate) fn group(&self, home: usize) -> Option<&Group> {
        self.groups.get(home)
    }

    /// As [`Group::guess`], of the group of this home.
    #[inline]
    pub(crate) fn guess(&self, home: usize, print: Print) -> usize {
        self.groups.get(home).map_or(NONE, |group| group.guess(print))
    }

    /// Whether there may be entries of this home elsewhere.
    #[inline]
    pub(crate) fn overflows(&self, home: usize) -> bool {
        self.groups.get(home).is_some_and(|group| group.passed() > 0)
    }

    /// The positions of all entries with this print.
    pub(crate) fn with_print(&self, home: usize, print: Print) -> impl Iterator<Item = usize> + '_ {
        let mut next = Some(home);
        // Each group is looked at once at most.
        let groups = (0..self.groups.len()).map_while(move |_| {
            let at = next?;
            let group = self.groups.get(at)?;
            next = (group.passed() > 0).then(|| self.after(at));
            Some(group)
        });
        groups.flat_map(move |group| group.positions(group.tagged(print.tag)))
    }

    /// Adds an entry; there is room. Expected O(1).
    #[inline]
    pub(crate) fn insert(&mut self, home: usize, print: Print, position: usize) {
        let mut at = home;
        while !self.groups[at].push(print.tag, position as u16) {
            self.groups[at].words[2] += PASSED;
            at = self.after(at);
        }
    }

    /// Takes out the entry of a position that is here. Expected O(1).
    #[inline]
    pub(crate) fn remove(&mut self, home: usize, position: usize) {
        let mut at = home;
        for _ in 0..self.groups.len() {
            if self.groups[at].remove(position as u16) {
                return;
            }
            self.groups[at].words[2] -= PASSED;
            at = self.after(at);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.groups.fill(Group::VACANT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each entry stands in the first group from its home on that does not count it, and no group
    /// counts others.
    fn check(index: &Index, entries: &[(Print, usize)]) {
        let mut passed = vec![0; index.groups.len()];
        for &(print, position) in entries {
            let mut at = index.home(print);
            while !index.groups[at].positions.contains(&(position as u16)) {
                passed[at] += 1;
                at = index.after(at);
            }
        }
        assert!(index.groups.iter().map(Group::passed).eq(passed));
        assert_eq!(index.groups.iter().map(Group::len).sum::<usize>(), entries.len());
        for group in &index.groups {
            let vacant = |&at: &usize| group.positions[at] == u16::MAX;
            let tagless = |&at: &usize| group.words[at / 8].to_le_bytes()[at % 8] == 0;
            assert!((0..group.len()).all(|at| !vacant(&at) && !tagless(&at)));
            assert!((group.len()..ENTRIES).all(|at| vacant(&at) && tagless(&at)));
        }
    }

    fn entries(hash: impl Fn(u64) -> u64, count: u64) -> Vec<(Print, usize)> {
        (0..count).map(|n| (Print::of(hash(n)), n as usize)).collect()
    }

    #[test]
    fn entries_are_found_where_they_are_and_nowhere_else() {
        let mut index = Index::for_records(1_000);
        let all = entries(crate::mixing::scramble, 1_000);
        for &(print, position) in &all {
            index.insert(index.home(print), print, position);
        }
        check(&index, &all);
        let (kept, gone): (Vec<_>, Vec<_>) = all.iter().partition(|entry| entry.1 % 3 == 0);
        for &(print, position) in &gone {
            index.remove(index.home(print), position);
        }
        check(&index, &kept);
        let mut guessed = 0;
        for &(print, position) in &all {
            let home = index.home(print);
            let found = index.with_print(home, print).any(|found| found == position);
            assert_eq!(found, position % 3 == 0);
            guessed += u32::from(index.guess(home, print) == position);
        }
        assert!(guessed > kept.len() as u32 * 9 / 10, "{guessed}");
    }

    #[test]
    fn equal_prints_pass_all_groups_and_go_on_at_the_first() {
        let mut index = Index::for_records(500);
        let all = entries(|_| u64::MAX, 500);
        for &(print, position) in &all {
            assert_eq!(index.home(print), index.groups.len() - 1);
            index.insert(index.home(print), print, position);
        }
        check(&index, &all);
        let (print, _) = all[0];
        let home = index.home(print);
        let mut found: Vec<_> = index.with_print(home, print).collect();
        found.sort_unstable();
        assert!(found.iter().copied().eq(0..500));
        for left in (0..500).rev() {
            index.remove(home, left);
            check(&index, &all[..left]);
        }
        assert_eq!(index.guess(home, print), NONE);
    }

    #[test]
    fn a_group_tells_all_tags_apart() {
        let print = |tag| Print::of(u64::from(tag) << 24);
        for seed in 0..100_u64 {
            let mut group = Group::VACANT;
            let mut tags = Vec::new();
            for position in 0..ENTRIES as u64 {
                let tag = (crate::mixing::scramble(seed * 100 + position) % 255 + 1) as u8;
                assert!(group.push(tag, position as u16));
                tags.push(tag);
            }
            assert!(!group.push(1, 99));
            for tag in 1..=u8::MAX {
                let mut found: Vec<_> = group.positions(group.tagged(tag)).collect();
                found.sort_unstable();
                assert!(found.iter().copied().eq((0..ENTRIES).filter(|&at| tags[at] == tag)));
                let guess = group.guess(print(tag));
                assert!(if found.is_empty() { guess == NONE } else { found.contains(&guess) });
            }
        }
    }
}
