//! A ring whose elements keep their numbers.

use alloc::vec::Vec;
use core::mem;

/// Below this many places a ring never shrinks.
const SMALL: usize = 16;

/// A queue of elements numbered from 0 on. There is a power of two of places, those that are not
/// taken filled with something cheap, so that finding an element takes no more than a mask.
#[derive(Clone, Debug)]
pub(super) struct Masked<E> {
    places: Vec<E>,
    start: u64,
    end: u64,
    /// Fewer elements than this are too few for the places.
    least: u64,
}

/// The places, to find several elements in.
pub(super) struct View<'a, E> {
    places: &'a mut [E],
    mask: usize,
}

impl<E> View<'_, E> {
    /// The element of this number, which must be there.
    #[inline(always)]
    pub(super) fn get(&self, number: u64) -> &E {
        &self.places[number as usize & self.mask]
    }

    #[inline(always)]
    pub(super) fn at(&mut self, number: u64) -> &mut E {
        &mut self.places[number as usize & self.mask]
    }
}

impl<E> Masked<E> {
    pub(super) const fn new() -> Self {
        Self { places: Vec::new(), start: 0, end: 0, least: 0 }
    }

    /// The number of the first element.
    #[inline]
    pub(super) const fn start(&self) -> u64 {
        self.start
    }

    /// The number of the next element.
    #[inline]
    pub(super) const fn end(&self) -> u64 {
        self.end
    }

    #[inline]
    pub(super) const fn len(&self) -> usize {
        (self.end - self.start) as usize
    }

    #[inline]
    fn place(&self, number: u64) -> usize {
        number as usize & (self.places.len().wrapping_sub(1))
    }

    /// The element of this number, which must be there.
    #[inline]
    pub(super) fn at(&self, number: u64) -> &E {
        &self.places[self.place(number)]
    }

    #[inline(always)]
    pub(super) fn view(&mut self) -> View<'_, E> {
        let mask = self.places.len().wrapping_sub(1);
        View { places: &mut self.places, mask }
    }

    #[inline]
    fn at_mut(&mut self, number: u64) -> &mut E {
        let place = self.place(number);
        &mut self.places[place]
    }

    #[inline]
    pub(super) fn first(&self) -> Option<&E> {
        (self.start < self.end).then(|| self.at(self.start))
    }

    #[inline]
    pub(super) fn last(&self) -> Option<&E> {
        (self.start < self.end).then(|| self.at(self.end - 1))
    }

    #[inline]
    pub(super) fn push(&mut self, element: E, filler: impl Fn() -> E) {
        if self.len() == self.places.len() {
            self.resize((2 * self.places.len()).max(4), filler);
        }
        *self.at_mut(self.end) = element;
        self.end += 1;
    }

    #[inline]
    pub(super) fn pop(&mut self, filler: impl Fn() -> E) -> Option<E> {
        if self.start == self.end {
            return None;
        }
        let first = mem::replace(self.at_mut(self.start), filler());
        self.start += 1;
        if self.end - self.start < self.least {
            self.resize(self.places.len() / 2, filler);
        }
        Some(first)
    }

    #[cold]
    #[inline(never)]
    fn resize(&mut self, places: usize, filler: impl Fn() -> E) {
        let mut resized: Vec<E> = (0..places).map(|_| filler()).collect();
        for number in self.start..self.end {
            mem::swap(&mut resized[number as usize & (places - 1)], self.at_mut(number));
        }
        self.places = resized;
        self.least = if places > SMALL { places as u64 / 4 } else { 0 };
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.places.capacity() * size_of::<E>()
    }
}
