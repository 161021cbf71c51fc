//! Two stacks in one ring.

use alloc::collections::VecDeque;
use core::mem;

use super::{Kernel, ring};
use crate::{Aggregate, Tick};

/// Two stacks, in the space of one (two-stacks lite): amortised three merges a push, pop and query.
///
/// The elements are a *front* of suffix results, each standing for itself and all later ones of the
/// front, and a *back* of elements as they came, with their merge beside. A query merges the first
/// of the front with that of the back. When the front is used up, the back becomes the front in one
/// pass from behind.
///
/// The first element is not in the ring: a query needs no more memory than the queue itself, and a
/// lone element has no heap.
#[derive(Clone, Debug)]
pub struct TwoStacks<Acc, T = Tick> {
    /// Of no meaning while the front is empty; then the back is, too.
    first: (T, Acc),
    rest: VecDeque<(T, Acc)>,
    /// The length of the front, with the first.
    front: usize,
    back: Acc,
}

/// Pops between two looks at whether the ring is too large.
const SHRINK: usize = 16;

/// Makes each element the merge of itself and all that follow, `later` at the very end.
fn suffixes<A: Aggregate, T>(agg: &A, elements: &mut [(T, A::Acc)], later: Option<&A::Acc>) {
    let mut elements = elements.iter_mut().rev();
    let Some((_, newest)) = elements.next() else { return };
    if let Some(later) = later {
        *newest = agg.merge(newest, later);
    }
    let mut later: &A::Acc = newest;
    for (_, acc) in elements {
        *acc = agg.merge(acc, later);
        later = acc;
    }
}

impl<Acc: Clone, T: Copy + Default> TwoStacks<Acc, T> {
    /// Turns the back into the front, which is empty.
    #[inline(never)]
    fn flip<A: Aggregate<Acc = Acc>>(&mut self, agg: &A) {
        let (older, newer) = self.rest.as_mut_slices();
        suffixes(agg, newer, None);
        suffixes(agg, older, newer.first().map(|(_, acc)| acc));
        self.front = self.rest.len();
        self.back = agg.create();
    }
}

impl<A: Aggregate, T: Copy + Default> Kernel<A, T> for TwoStacks<A::Acc, T> {
    fn new(agg: &A) -> Self {
        let first = (T::default(), agg.create());
        Self { first, rest: VecDeque::new(), front: 0, back: agg.create() }
    }

    #[inline]
    fn push(&mut self, agg: &A, tag: T, acc: A::Acc) {
        if self.front == 0 {
            self.first = (tag, acc);
            self.front = 1;
            return;
        }
        self.back = match self.rest.len() < self.front {
            true => acc.clone(),
            false => agg.merge(&self.back, &acc),
        };
        ring::push(&mut self.rest, (tag, acc));
    }

    #[inline]
    fn pop(&mut self, agg: &A) -> Option<T> {
        self.front = self.front.checked_sub(1)?;
        if self.front == 0 && !self.rest.is_empty() {
            self.flip(agg);
        }
        let next = self.rest.pop_front().unwrap_or_else(|| (T::default(), agg.create()));
        if self.front.is_multiple_of(SHRINK) {
            ring::shrink(&mut self.rest);
        }
        Some(mem::replace(&mut self.first, next).0)
    }

    #[inline]
    fn oldest(&self) -> Option<T> {
        (self.front > 0).then_some(self.first.0)
    }

    #[inline]
    fn query(&self, agg: &A) -> A::Acc {
        match self.rest.len() < self.front {
            true => self.first.1.clone(),
            // Also where there is nothing: both are `create()` then.
            false => agg.merge(&self.first.1, &self.back),
        }
    }

    #[inline]
    fn len(&self) -> usize {
        self.rest.len() + usize::from(self.front > 0)
    }

    #[inline]
    fn next_popped(&self) -> Option<&A::Acc> {
        self.rest.front().map(|(_, acc)| acc)
    }

    #[inline]
    fn newest(&self) -> Option<&A::Acc> {
        self.rest.back().map(|(_, acc)| acc)
    }

    fn heap_bytes(&self) -> usize {
        ring::heap_bytes(&self.rest)
    }
}
