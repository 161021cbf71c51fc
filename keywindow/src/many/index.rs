//! From the hash of a key to its number, by one line of memory.

use alloc::vec;
use alloc::vec::Vec;

/// As few places as there ever are.
const FEWEST: usize = 16;

/// Numbers under hashes, in one table with linear probing.
///
/// A place holds 32 bits of the hash beside the number: a look-up reads one line of memory, where
/// a table that keeps bytes of hashes apart from its entries reads two, and with a million keys
/// each of them is a wait. The bits also spare looks at other keys, and growing needs no key.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    /// A power of two of them, or none; at most three in four are taken.
    places: Vec<Place>,
    len: usize,
}

/// The tag in the upper half and the number, plus one, in the lower; 0 for none.
type Place = u64;

const fn place(tag: u32, id: u32) -> Place {
    ((tag as u64) << 32) | (id as u64 + 1)
}

const fn tag(place: Place) -> u32 {
    (place >> 32) as u32
}

const fn id(place: Place) -> u32 {
    (place as u32).wrapping_sub(1)
}

/// What is kept of a hash: its upper half, once all bits have their part in it.
const fn tag_of(hash: u64) -> u32 {
    (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
}

impl Index {
    pub(super) const fn new() -> Self {
        Self { places: Vec::new(), len: 0 }
    }

    const fn mask(&self) -> usize {
        self.places.len().wrapping_sub(1)
    }

    /// Where the search for a tag begins: its upper bits, as many as number the places; 0 for none.
    #[inline]
    const fn home(&self, tag: u32) -> usize {
        ((tag as u64 * self.places.len() as u64) >> 32) as usize
    }

    /// The first place in which a hash can be, to read it beforehand.
    #[inline]
    pub(super) fn first(&self, hash: u64) -> Option<&Place> {
        self.places.get(self.home(tag_of(hash)))
    }

    /// The place of the number that is `right` of those under this hash.
    #[inline]
    fn position(&self, hash: u64, right: impl Fn(u32) -> bool) -> Option<usize> {
        let sought = tag_of(hash);
        let mut at = self.home(sought);
        loop {
            match *self.places.get(at)? {
                0 => return None,
                place if tag(place) == sought && right(id(place)) => return Some(at),
                _ => at = (at + 1) & self.mask(),
            }
        }
    }

    /// The number that is `right` of those under this hash.
    #[inline]
    pub(super) fn find(&self, hash: u64, right: impl Fn(u32) -> bool) -> Option<u32> {
        self.position(hash, right).map(|at| id(self.places[at]))
    }

    /// Adds a number that is not there. Amortised O(1), as removing is.
    pub(super) fn insert(&mut self, hash: u64, id: u32) {
        if 4 * (self.len + 1) > 3 * self.places.len() {
            self.resize((2 * self.places.len()).max(FEWEST));
        }
        self.put(place(tag_of(hash), id));
        self.len += 1;
    }

    fn put(&mut self, place: Place) {
        let mut at = self.home(tag(place));
        while self.places[at] != 0 {
            at = (at + 1) & self.mask();
        }
        self.places[at] = place;
    }

    fn resize(&mut self, places: usize) {
        let old = core::mem::replace(&mut self.places, vec![0; places]);
        old.into_iter().filter(|&place| place != 0).for_each(|place| self.put(place));
    }

    /// Removes a number, if it is there.
    pub(super) fn remove(&mut self, hash: u64, id: u32) {
        let Some(mut hole) = self.position(hash, |other| other == id) else { return };
        let mask = self.mask();
        let mut at = hole;
        // Those after it move up, as far as their searches pass the hole, so that none breaks off.
        loop {
            at = (at + 1) & mask;
            let place = self.places[at];
            if place == 0 {
                break;
            }
            let from_home = at.wrapping_sub(self.home(tag(place))) & mask;
            if from_home >= at.wrapping_sub(hole) & mask {
                self.places[hole] = place;
                hole = at;
            }
        }
        self.places[hole] = 0;
        self.len -= 1;
        if self.places.len() > FEWEST && 8 * self.len < self.places.len() {
            self.resize(self.places.len() / 2);
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.places.capacity() * size_of::<Place>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;

    /// Against a map, with hashes that are well spread, that collide, and that differ in few bits.
    #[test]
    fn an_index_is_a_map() {
        let hashes: [fn(u32) -> u64; 4] = [
            |id| u64::from(id).wrapping_mul(0xd6e8_feb8_6659_fd93),
            |id| u64::from(id % 7),
            u64::from,
            |id| u64::from(id) << 32,
        ];
        for hash in hashes {
            let (mut index, mut map) = (Index::new(), BTreeMap::new());
            let (mut random, mut most) = (5_u64, 0);
            for step in 0..20_000_u32 {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let id = (random >> 40) as u32 % 600;
                let draining = step / 2_500 % 2 == 1;
                let adding = (random >> 33) % 10 < if draining { 1 } else { 8 };
                let there = map.contains_key(&id);
                assert_eq!(index.find(hash(id), |other| other == id), there.then_some(id));
                match (adding, there) {
                    (true, false) => {
                        index.insert(hash(id), id);
                        map.insert(id, ());
                    }
                    (false, true) => {
                        index.remove(hash(id), id);
                        map.remove(&id);
                    }
                    // Nothing is there to remove.
                    (false, false) => index.remove(hash(id), id),
                    (true, true) => {}
                }
                assert_eq!(index.len, map.len());
                most = most.max(index.places.len());
                let places = index.places.len();
                assert!(4 * index.len <= 3 * places && places <= FEWEST.max(8 * index.len + 8));
            }
            assert!(most >= 512, "{most} places");
            for id in 0..600 {
                let there = map.contains_key(&id).then_some(id);
                assert_eq!(index.find(hash(id), |other| other == id), there);
            }
            map.into_keys().for_each(|id| index.remove(hash(id), id));
            assert_eq!((index.len, index.places.len()), (0, FEWEST));
        }
    }
}
