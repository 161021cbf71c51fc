//! The deque of those that may still be a result.

use alloc::collections::VecDeque;

use super::{Kernel, ring};
use crate::{Selective, Tick};

/// The monotone deque: an element that a newer one supersedes is forgotten at once. For minima, maxima
/// and other [`Selective`] aggregates.
///
/// In random order about ln n of n partial results remain. Tags are kept for all elements, since a
/// window that loses a forgotten one has changed all the same.
#[derive(Clone, Debug)]
pub struct Monotone<Acc, T = Tick> {
    tags: VecDeque<T>,
    /// With the number of the element, from the first one ever on.
    candidates: VecDeque<(u64, Acc)>,
    popped: u64,
}

impl<A: Selective, T: Copy + Default> Kernel<A, T> for Monotone<A::Acc, T> {
    fn new(_: &A) -> Self {
        Self { tags: VecDeque::new(), candidates: VecDeque::new(), popped: 0 }
    }

    #[inline]
    fn push(&mut self, agg: &A, tag: T, acc: A::Acc) {
        while self.candidates.back().is_some_and(|(_, older)| agg.supersedes(&acc, older)) {
            self.candidates.pop_back();
        }
        let number = self.popped + self.tags.len() as u64;
        ring::push(&mut self.candidates, (number, acc));
        ring::push(&mut self.tags, tag);
    }

    #[inline]
    fn pop(&mut self, _: &A) -> Option<T> {
        let tag = self.tags.pop_front()?;
        if self.candidates.front().is_some_and(|&(number, _)| number == self.popped) {
            self.candidates.pop_front();
        }
        self.popped += 1;
        ring::shrink(&mut self.candidates);
        ring::shrink(&mut self.tags);
        Some(tag)
    }

    #[inline]
    fn oldest(&self) -> Option<T> {
        self.tags.front().copied()
    }

    #[inline]
    fn query(&self, agg: &A) -> A::Acc {
        self.candidates.front().map_or_else(|| agg.create(), |(_, acc)| acc.clone())
    }

    #[inline]
    fn len(&self) -> usize {
        self.tags.len()
    }

    fn heap_bytes(&self) -> usize {
        ring::heap_bytes(&self.tags) + ring::heap_bytes(&self.candidates)
    }
}
