//! Where the keys live: numbered places that are used again.

use alloc::vec::Vec;

/// Places a chunk.
const PLACES: usize = 512;
const WORDS: usize = PLACES / 64;

/// Items under numbers, in chunks: nothing is moved as they grow, and a chunk whose last item goes
/// gives its memory back. A new item gets the lowest free number, so that the last chunks empty.
#[derive(Clone, Debug)]
pub(super) struct Slab<S> {
    chunks: Vec<Chunk<S>>,
    /// A bit for each chunk with a free place.
    room: Vec<u64>,
    len: usize,
}

#[derive(Clone, Debug)]
struct Chunk<S> {
    items: Vec<Option<S>>,
    taken: [u64; WORDS],
}

impl<S> Chunk<S> {
    const fn new() -> Self {
        Self { items: Vec::new(), taken: [0; WORDS] }
    }
}

/// The position of the first bit that is set.
fn first_set(words: impl IntoIterator<Item = u64>) -> Option<usize> {
    words
        .into_iter()
        .enumerate()
        .find(|&(_, word)| word != 0)
        .map(|(i, word)| i * 64 + word.trailing_zeros() as usize)
}

impl<S> Slab<S> {
    pub(super) const fn new() -> Self {
        Self { chunks: Vec::new(), room: Vec::new(), len: 0 }
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(super) fn get(&self, id: u32) -> Option<&S> {
        self.chunks.get(id as usize / PLACES)?.items.get(id as usize % PLACES)?.as_ref()
    }

    #[inline]
    pub(super) fn get_mut(&mut self, id: u32) -> Option<&mut S> {
        self.chunks.get_mut(id as usize / PLACES)?.items.get_mut(id as usize % PLACES)?.as_mut()
    }

    /// Keeps the item under the lowest free number, `None` where there is no number left.
    pub(super) fn insert(&mut self, item: S) -> Option<u32> {
        let at = first_set(self.room.iter().copied()).unwrap_or(self.chunks.len());
        if at == self.chunks.len() {
            self.chunks.push(Chunk::new());
            self.room.resize(self.chunks.len().div_ceil(64), 0);
            self.room[at / 64] |= 1 << (at % 64);
        }
        let chunk = &mut self.chunks[at];
        let place = first_set(chunk.taken.iter().map(|word| !word))?;
        // The last number stands for none.
        let id = u32::try_from(at * PLACES + place).ok().filter(|&id| id < u32::MAX)?;
        chunk.taken[place / 64] |= 1 << (place % 64);
        if place < chunk.items.len() {
            chunk.items[place] = Some(item);
        } else {
            if at > 0 && chunk.items.is_empty() {
                chunk.items.reserve_exact(PLACES);
            }
            chunk.items.push(Some(item));
        }
        if chunk.taken == [u64::MAX; WORDS] {
            self.room[at / 64] &= !(1 << (at % 64));
        }
        self.len += 1;
        Some(id)
    }

    pub(super) fn remove(&mut self, id: u32) -> Option<S> {
        let (at, place) = (id as usize / PLACES, id as usize % PLACES);
        let chunk = self.chunks.get_mut(at)?;
        let item = chunk.items.get_mut(place)?.take()?;
        chunk.taken[place / 64] &= !(1 << (place % 64));
        self.room[at / 64] |= 1 << (at % 64);
        self.len -= 1;
        if chunk.taken == [0; WORDS] {
            chunk.items = Vec::new();
            while self.chunks.last().is_some_and(|chunk| chunk.items.capacity() == 0) {
                self.chunks.pop();
                let at = self.chunks.len();
                self.room[at / 64] &= !(1 << (at % 64));
            }
            self.room.truncate(self.chunks.len().div_ceil(64));
            if self.chunks.len() < self.chunks.capacity() / 4 {
                self.chunks.shrink_to(self.chunks.len() * 2);
            }
        }
        Some(item)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &S> {
        self.chunks.iter().flat_map(|chunk| chunk.items.iter().flatten())
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let items: usize = self.chunks.iter().map(|chunk| chunk.items.capacity()).sum();
        items * size_of::<Option<S>>()
            + self.chunks.capacity() * size_of::<Chunk<S>>()
            + self.room.capacity() * size_of::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::{BTreeMap, BTreeSet};

    /// Against a map, with fillings and drainings over several chunks.
    #[test]
    fn a_slab_is_a_map_with_the_lowest_numbers() {
        let (mut slab, mut map) = (Slab::new(), BTreeMap::new());
        let mut free: BTreeSet<u32> = (0..60_000).collect();
        let mut random = 1_u64;
        for step in 0..60_000_u64 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let draining = step / 5_000 % 2 == 1;
            if (random >> 40) % 10 < if draining { 2 } else { 8 } {
                let lowest = free.pop_first().unwrap();
                assert_eq!(slab.insert(step), Some(lowest));
                map.insert(lowest, step);
            } else {
                let id = (random >> 33) as u32 % 3_000;
                assert_eq!(slab.remove(id), map.remove(&id));
                free.insert(id);
            }
            assert_eq!(slab.len(), map.len());
        }
        assert!(slab.iter().eq(map.values()));
        assert!(map.iter().all(|(&id, item)| slab.get(id) == Some(item)));
        for id in map.into_keys() {
            slab.remove(id);
        }
        assert_eq!((slab.len(), slab.chunks.len(), slab.room.len()), (0, 0, 0));
    }
}
