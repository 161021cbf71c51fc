//! Which keys a slice leaves at which tick.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::mem;

use crate::Tick;
use crate::lattice::NEVER;

/// Entries a chunk.
const ENTRIES: usize = 512;
/// The number of no key: the entry has the upper half of a distance, and the next one the rest.
const NONE: u32 = u32::MAX;

/// The slices of all keys that will leave, in the order in which they do: a queue.
///
/// In order of time a slice that enters later leaves no earlier, so that the queue is sorted as it
/// is filled. What it costs is an entry a slice and no more than looking at its ends, and it knows
/// for any time ahead which keys come next.
///
/// An entry is a key's number and the distance from the tick before, eight bytes; sixteen where the
/// distance is more than 32 bits long. Chunks of them are given back as they are used up.
#[derive(Clone, Debug)]
pub(super) struct Departures {
    /// The first chunk, and how many of its entries have been read.
    first: Vec<Entry>,
    read: usize,
    chunks: VecDeque<Vec<Entry>>,
    /// The chunk that is filled.
    last: Vec<Entry>,
    /// The first slice, which has been read already: its tick, NEVER for none, and its key.
    next: Tick,
    id: u32,
    /// The tick of the last slice.
    newest: Tick,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    apart: u32,
    id: u32,
}

impl Departures {
    pub(super) const fn new() -> Self {
        Self {
            first: Vec::new(),
            read: 0,
            chunks: VecDeque::new(),
            last: Vec::new(),
            next: NEVER,
            id: NONE,
            newest: 0,
        }
    }

    /// Adds a slice of this key that leaves at the tick, which is not before that of the last one.
    #[inline]
    pub(super) fn push(&mut self, tick: Tick, id: u32) {
        if self.next == NEVER {
            (self.next, self.id, self.newest) = (tick, id, tick);
            return;
        }
        let apart = tick - self.newest;
        self.newest = tick;
        // Room for two, so that they stay together.
        if self.last.len() + 2 > self.last.capacity() {
            self.grow();
        }
        if apart > Tick::from(u32::MAX) {
            self.last.push(Entry { apart: (apart >> 32) as u32, id: NONE });
        }
        self.last.push(Entry { apart: apart as u32, id });
    }

    #[cold]
    fn grow(&mut self) {
        if self.last.capacity() > 0 {
            let full = mem::take(&mut self.last);
            self.chunks.push_back(full);
        }
        self.last.reserve_exact(ENTRIES);
    }

    /// The first tick, NEVER for none.
    #[inline]
    pub(super) const fn next(&self) -> Tick {
        self.next
    }

    /// The key of the first slice, which there must be, and goes to the next.
    #[inline]
    pub(super) fn pop(&mut self) -> u32 {
        let id = self.id;
        self.read();
        id
    }

    /// Puts the keys of the slices that leave at this tick, none before it, into `due`, in the order
    /// in which they were added.
    #[inline]
    pub(super) fn take(&mut self, tick: Tick, due: &mut Vec<u32>) {
        while self.next == tick && tick != NEVER {
            due.push(self.pop());
        }
    }

    /// Reads the next slice.
    #[inline]
    fn read(&mut self) {
        if self.read == self.first.len() && !self.refill() {
            self.next = NEVER;
            return;
        }
        let mut entry = self.first[self.read];
        self.read += 1;
        if entry.id == NONE {
            self.next += Tick::from(entry.apart) << 32;
            entry = self.first[self.read];
            self.read += 1;
        }
        self.next += Tick::from(entry.apart);
        self.id = entry.id;
    }

    /// Goes to the next chunk; whether there is one.
    #[cold]
    fn refill(&mut self) -> bool {
        self.read = 0;
        self.first = self.chunks.pop_front().unwrap_or_else(|| mem::take(&mut self.last));
        if self.chunks.len() < self.chunks.capacity() / 4 {
            self.chunks.shrink_to(2 * self.chunks.len());
        }
        !self.first.is_empty()
    }

    /// The keys of slices that leave after the first, as many as are at hand.
    #[inline]
    pub(super) fn soon(&self) -> impl Iterator<Item = u32> + Clone {
        self.first.get(self.read..).unwrap_or_default().iter().map(|entry| entry.id)
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let chunks = self.chunks.iter().chain([&self.first, &self.last]);
        let entries: usize = chunks.map(Vec::capacity).sum();
        entries * size_of::<Entry>() + self.chunks.capacity() * size_of::<Vec<Entry>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;

    #[test]
    fn departures_are_a_queue() {
        let (mut departures, mut map) = (Departures::new(), BTreeMap::<Tick, Vec<u32>>::new());
        let mut random = 7_u64;
        let mut next = |below: u64| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (random >> 24) % below
        };
        let take = |departures: &mut Departures, map: &mut BTreeMap<Tick, Vec<u32>>| {
            let (tick, ids) = map.pop_first().unwrap();
            assert_eq!(departures.next(), tick);
            // Without those of distances.
            let soon = departures.soon().filter(|&id| id != NONE);
            assert!(soon.zip(&ids[1..]).all(|(soon, &id)| soon == id));
            let mut due = Vec::new();
            departures.take(tick, &mut due);
            assert_eq!(due, ids);
        };
        let (mut tick, mut chunks) = (0, 0);
        for id in 0..200_000 {
            let reach = [1, 3, 300, 1 << 33, 1 << 38][next(5) as usize];
            tick += next(reach);
            departures.push(tick, id);
            map.entry(tick).or_default().push(id);
            chunks = chunks.max(departures.chunks.len());
            // Longer and shorter in turns, over several chunks.
            let draining = id / 10_000 % 2 == 1;
            for _ in 0..next(if draining { 4 } else { 2 }) {
                if map.len() > 1 {
                    take(&mut departures, &mut map);
                }
            }
        }
        assert!(chunks > 2);
        while !map.is_empty() {
            take(&mut departures, &mut map);
        }
        assert_eq!((departures.next(), departures.soon().count()), (NEVER, 0));
        departures.push(tick, 5);
        assert_eq!(departures.next(), tick);
    }
}
