//! How the rings of the kernels grow and shrink.

use alloc::collections::VecDeque;

/// Below this many elements a ring never shrinks.
const SMALL: usize = 16;

/// Adds an element; a full ring grows by half, so that a fifth of it is empty on average, where
/// doubling would leave more.
#[inline]
pub(crate) fn push<E>(ring: &mut VecDeque<E>, element: E) {
    if ring.len() == ring.capacity() {
        grow(ring);
    }
    ring.push_back(element);
}

#[cold]
fn grow<E>(ring: &mut VecDeque<E>) {
    ring.reserve_exact((ring.len() / 2).max(4));
}

/// Gives memory back where less than a third of it is used.
#[inline]
pub(crate) fn shrink<E>(ring: &mut VecDeque<E>) {
    if ring.capacity() > SMALL && 3 * ring.len() < ring.capacity() {
        ring.shrink_to(ring.len() + ring.len() / 2);
    }
}

pub(crate) fn heap_bytes<E>(ring: &VecDeque<E>) -> usize {
    ring.capacity() * size_of::<E>()
}
