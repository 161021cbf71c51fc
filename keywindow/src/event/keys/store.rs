//! Where the keys live: numbered places, of which a new key takes the lowest that is free.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

#[derive(Clone, Debug)]
pub(crate) struct Store<T> {
    places: Vec<Option<T>>,
    /// Numbers of free places below the last one that is taken, and some beyond.
    free: BinaryHeap<Reverse<u32>>,
    len: usize,
}

impl<T> Store<T> {
    pub(crate) const fn new() -> Self {
        Self { places: Vec::new(), free: BinaryHeap::new(), len: 0 }
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) fn get(&self, id: u32) -> Option<&T> {
        self.places.get(id as usize)?.as_ref()
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: u32) -> Option<&mut T> {
        self.places.get_mut(id as usize)?.as_mut()
    }

    /// Keeps the item under the lowest free number, `None` where there is none left.
    pub(crate) fn insert(&mut self, item: T) -> Option<u32> {
        while let Some(Reverse(id)) = self.free.pop() {
            if let Some(place) = self.places.get_mut(id as usize) {
                *place = Some(item);
                self.len += 1;
                return Some(id);
            }
        }
        let id = self.places.len();
        if id >= super::MOST_KEYS {
            return None;
        }
        self.places.push(Some(item));
        self.len += 1;
        Some(id as u32)
    }

    pub(crate) fn remove(&mut self, id: u32) -> Option<T> {
        let item = self.places.get_mut(id as usize)?.take()?;
        self.len -= 1;
        self.free.push(Reverse(id));
        while self.places.last().is_some_and(Option::is_none) {
            self.places.pop();
        }
        if self.places.len() < self.places.capacity() / 4 {
            self.places.shrink_to(2 * self.places.len());
            let taken = self.places.len() as u32;
            self.free.retain(|free| free.0 < taken);
            self.free.shrink_to_fit();
        }
        Some(item)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.places.iter().flatten()
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.places.capacity() * size_of::<Option<T>>() + self.free.capacity() * size_of::<u32>()
    }
}
