//! Which keys are due at which tick.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::mem;

use crate::Tick;
use crate::lattice::NEVER;

const LEVELS: usize = 4;
/// Bits of a tick that tell the buckets of a level apart; the last level has two.
const BITS: usize = 10;
const BUCKETS: usize = 1 << BITS;
/// Emptied buckets whose memory is kept for the next ones: so many, with room for so few.
const SPARES: usize = 256;
const SPARE: usize = 16;

/// A hierarchical timing wheel over ticks, one entry a key.
///
/// Level l has the entries whose tick differs from the wheel's in digit l, of ten bits, and in none
/// above, in a bucket for each value of that digit; what differs above the lower four bytes is far away, by its
/// upper four. So the least tick is in the first bucket of the lowest level that is not empty.
/// Entries of one tick come out in the order in which they went in, and an entry moves at most four
/// times.
#[derive(Clone, Debug)]
pub(super) struct Wheel {
    /// The tick that was taken last. No entry is before it.
    now: Tick,
    levels: [Level; LEVELS],
    far: BTreeMap<u32, Bucket>,
    spares: Vec<Vec<Entry>>,
    /// The least tick of all entries, NEVER for none.
    next: Tick,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The lower half of the tick.
    low: u32,
    id: u32,
}

#[derive(Clone, Debug, Default)]
struct Bucket {
    entries: Vec<Entry>,
    /// The least of their ticks.
    least: u32,
}

#[derive(Clone, Debug, Default)]
struct Level {
    /// None, before the first entry of this level.
    buckets: Vec<Bucket>,
    used: [u64; BUCKETS / 64],
}

impl Level {
    #[inline]
    fn first(&self) -> Option<usize> {
        let word = self.used.iter().position(|&word| word != 0)?;
        Some(word * 64 + self.used[word].trailing_zeros() as usize)
    }
}

impl Bucket {
    #[inline]
    fn push(&mut self, entry: Entry) {
        self.least = match self.entries.is_empty() {
            true => entry.low,
            false => self.least.min(entry.low),
        };
        self.entries.push(entry);
    }
}

const fn high(tick: Tick) -> u32 {
    (tick >> 32) as u32
}

impl Wheel {
    pub(super) fn new() -> Self {
        Self {
            now: 0,
            levels: Default::default(),
            far: BTreeMap::new(),
            spares: Vec::new(),
            next: NEVER,
        }
    }

    /// Adds an entry, not before the tick that was taken last.
    #[inline]
    pub(super) fn insert(&mut self, tick: Tick, id: u32) {
        self.next = self.next.min(tick);
        self.place(tick, id);
    }

    #[inline]
    fn place(&mut self, tick: Tick, id: u32) {
        let entry = Entry { low: tick as u32, id };
        if high(tick) != high(self.now) {
            self.far.entry(high(tick)).or_default().push(entry);
            return;
        }
        let differ = entry.low ^ self.now as u32;
        let at = (31 - (differ | 1).leading_zeros() as usize) / BITS;
        let level = &mut self.levels[at];
        if level.buckets.is_empty() {
            level.buckets.resize_with(BUCKETS, Bucket::default);
        }
        let place = (entry.low >> (BITS * at)) as usize % BUCKETS;
        let bucket = &mut level.buckets[place];
        if bucket.entries.capacity() == 0 {
            bucket.entries = self.spares.pop().unwrap_or_default();
        }
        bucket.push(entry);
        level.used[place / 64] |= 1 << (place % 64);
    }

    /// The least tick of all entries, NEVER for none.
    #[inline]
    pub(super) const fn next(&self) -> Tick {
        self.next
    }

    fn find_next(&self) -> Tick {
        for level in &self.levels {
            if let Some(place) = level.first() {
                let least = level.buckets[place].least;
                return Tick::from(high(self.now)) << 32 | Tick::from(least);
            }
        }
        let far = self.far.first_key_value();
        far.map_or(NEVER, |(&high, bucket)| Tick::from(high) << 32 | Tick::from(bucket.least))
    }

    /// Takes the entries with this tick, which must be the least, and puts their keys into `due`.
    /// Tells `soon` of those that come up within the next ticks.
    pub(super) fn take(&mut self, tick: Tick, due: &mut Vec<u32>, mut soon: impl FnMut(u32)) {
        let mut entries = Vec::new();
        let mut level_0 = false;
        if high(tick) == high(self.now) {
            let place = |at: usize| (tick as u32 >> (BITS * at)) as usize % BUCKETS;
            let used = |at: &usize| {
                let place = place(*at);
                self.levels[*at].used[place / 64] & 1 << (place % 64) != 0
            };
            // The least tick is in the lowest level that has any, and in its first bucket.
            let Some(at) = (0..LEVELS).find(used) else { return };
            let (level, place) = (&mut self.levels[at], place(at));
            entries = mem::take(&mut level.buckets[place].entries);
            level.used[place / 64] &= !(1 << (place % 64));
            level_0 = at == 0;
        } else if let Some(bucket) = self.far.remove(&high(tick)) {
            entries = bucket.entries;
        }
        self.now = tick;
        if level_0 {
            due.extend(entries.iter().map(|entry| entry.id));
        } else {
            for entry in &entries {
                if entry.low == tick as u32 {
                    due.push(entry.id);
                } else {
                    if (entry.low ^ tick as u32) < BUCKETS as u32 {
                        soon(entry.id);
                    }
                    self.place(Tick::from(high(tick)) << 32 | Tick::from(entry.low), entry.id);
                }
            }
        }
        self.next = self.find_next();
        entries.clear();
        if self.spares.len() < SPARES && (1..=SPARE).contains(&entries.capacity()) {
            self.spares.push(entries);
        }
    }

    /// Gives back what is kept for reuse.
    pub(super) fn release(&mut self) {
        self.spares = Vec::new();
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let buckets = self.levels.iter().flat_map(|level| &level.buckets).chain(self.far.values());
        let entries: usize = buckets.map(|bucket| bucket.entries.capacity()).sum();
        let spare: usize = self.spares.iter().map(Vec::capacity).sum();
        let levels: usize = self.levels.iter().map(|level| level.buckets.capacity()).sum();
        let spare = spare * size_of::<Entry>() + self.spares.capacity() * size_of::<Vec<Entry>>();
        spare + entries * size_of::<Entry>() + (levels + self.far.len()) * size_of::<Bucket>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wheel_is_a_sorted_list_first_in_first_out() {
        let (mut wheel, mut map) = (Wheel::new(), BTreeMap::<Tick, Vec<u32>>::new());
        let mut random = 7_u64;
        let mut next = |below: u64| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (random >> 24) % below
        };
        let mut now = 0;
        for id in 0..200_000 {
            let reach = [3, 300, 70_000, 20_000_000, 1 << 38][next(5) as usize];
            let tick = now + 1 + next(reach);
            wheel.insert(tick, id);
            map.entry(tick).or_default().push(id);
            assert_eq!(Some(wheel.next()), map.keys().next().copied());
            if next(2) == 0 {
                let (tick, ids) = map.pop_first().unwrap();
                let mut due = Vec::new();
                wheel.take(tick, &mut due, |_| ());
                assert_eq!(due, ids);
                now = tick;
            }
        }
        while let Some((tick, ids)) = map.pop_first() {
            assert_eq!(wheel.next(), tick);
            let mut due = Vec::new();
            wheel.take(tick, &mut due, |_| ());
            assert_eq!(due, ids);
        }
        assert_eq!(wheel.next(), NEVER);
    }
}
