//! Where the keys live: numbered places that are used again.

use alloc::boxed::Box;
use alloc::vec::Vec;

/// Places a chunk: a bit of a word for each.
const PLACES: usize = 64;

/// Items under numbers, in chunks: nothing is moved as they grow, and a chunk whose last item goes
/// gives its memory back, but for the first. A new item gets the lowest free number, so that the
/// last chunks empty.
#[derive(Clone, Debug)]
pub(super) struct Slab<S> {
    /// `None` for one that holds nothing.
    chunks: Vec<Option<Box<Chunk<S>>>>,
    /// A bit for each chunk with a free place.
    room: Vec<u64>,
    len: usize,
}

/// As aligned as a line of the cache: an item of 64 bytes lies in one.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Chunk<S> {
    items: [Option<S>; PLACES],
    taken: u64,
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

    /// The place of this number, without a look at what is there.
    #[inline]
    pub(super) fn place(&self, id: u32) -> Option<&Option<S>> {
        Some(&self.chunks.get(id as usize / PLACES)?.as_ref()?.items[id as usize % PLACES])
    }

    #[inline]
    pub(super) fn get(&self, id: u32) -> Option<&S> {
        self.place(id)?.as_ref()
    }

    #[inline]
    pub(super) fn get_mut(&mut self, id: u32) -> Option<&mut S> {
        self.chunks.get_mut(id as usize / PLACES)?.as_mut()?.items[id as usize % PLACES].as_mut()
    }

    /// Keeps the item under the lowest free number, `None` where there is no number left.
    pub(super) fn insert(&mut self, item: S) -> Option<u32> {
        let at = first_set(self.room.iter().copied()).unwrap_or(self.chunks.len());
        if at == self.chunks.len() {
            self.chunks.push(None);
            self.room.resize(self.chunks.len().div_ceil(64), 0);
            self.room[at / 64] |= 1 << (at % 64);
        }
        let chunk = self.chunks[at]
            .get_or_insert_with(|| Box::new(Chunk { items: [const { None }; PLACES], taken: 0 }));
        let place = first_set([!chunk.taken])?;
        // The last number stands for none.
        let id = u32::try_from(at * PLACES + place).ok().filter(|&id| id < u32::MAX)?;
        chunk.taken |= 1 << place;
        chunk.items[place] = Some(item);
        if chunk.taken == u64::MAX {
            self.room[at / 64] &= !(1 << (at % 64));
        }
        self.len += 1;
        Some(id)
    }

    pub(super) fn remove(&mut self, id: u32) -> Option<S> {
        let (at, place) = (id as usize / PLACES, id as usize % PLACES);
        let chunk = self.chunks.get_mut(at)?.as_mut()?;
        let item = chunk.items[place].take()?;
        chunk.taken &= !(1 << place);
        self.room[at / 64] |= 1 << (at % 64);
        self.len -= 1;
        if chunk.taken == 0 && at > 0 {
            self.chunks[at] = None;
            while self.chunks.last().is_some_and(Option::is_none) {
                self.chunks.pop();
                let at = self.chunks.len();
                self.room[at / 64] &= !(1 << (at % 64));
            }
            self.room.truncate(self.chunks.len().div_ceil(64));
            if self.chunks.len() < self.chunks.capacity() / 4 {
                self.chunks.shrink_to(self.chunks.len() * 2);
                self.room.shrink_to(self.room.len() * 2);
            }
        }
        Some(item)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &S> {
        self.chunks.iter().flatten().flat_map(|chunk| chunk.items.iter().flatten())
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.chunks.iter().flatten().count() * size_of::<Chunk<S>>()
            + self.chunks.capacity() * size_of::<Option<Box<Chunk<S>>>>()
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
        assert_eq!((slab.len(), slab.chunks.len(), slab.room.len()), (0, 1, 1));
    }

    #[test]
    fn what_is_left_of_many_items_is_what_is_left_of_few() {
        let left = |items: u32| {
            let mut slab = Slab::new();
            for item in 0..items {
                slab.insert(item);
            }
            for id in 0..items {
                assert_eq!(slab.remove(id), Some(id));
            }
            assert!(slab.chunks.capacity() < 16, "{} chunks", slab.chunks.capacity());
            assert!(slab.room.capacity() < 16, "room in {} words", slab.room.capacity());
        };
        left(100);
        left(200_000);
    }
}
