//! Two stacks in one ring.

use alloc::collections::VecDeque;

use super::{Kernel, ring};
use crate::{Aggregate, Tick};

/// Two stacks, in the space of one (two-stacks lite): amortised three merges a push, pop and query.
///
/// The ring is a *front* of suffix results, element i standing for the merge of i and all later
/// ones of the front, and a *back* of elements as they came, with their merge beside. A query merges
/// the first of the front with that of the back. When the front is used up, the back becomes the
/// front in one pass from behind.
#[derive(Clone, Debug)]
pub struct TwoStacks<Acc, T = Tick> {
    elements: VecDeque<(T, Acc)>,
    front: usize,
    back: Acc,
}

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

impl<Acc: Clone, T: Copy> TwoStacks<Acc, T> {
    /// Turns the back into the front; the oldest element, which is about to go, stays as it is.
    #[inline(never)]
    fn flip<A: Aggregate<Acc = Acc>>(&mut self, agg: &A) {
        let (older, newer) = self.elements.as_mut_slices();
        let Some((_, older)) = older.split_first_mut() else { return };
        suffixes(agg, newer, None);
        suffixes(agg, older, newer.first().map(|(_, acc)| acc));
        self.front = self.elements.len();
        self.back = agg.create();
    }
}

impl<A: Aggregate, T: Copy> Kernel<A, T> for TwoStacks<A::Acc, T> {
    fn new(agg: &A) -> Self {
        Self { elements: VecDeque::new(), front: 0, back: agg.create() }
    }

    #[inline]
    fn push(&mut self, agg: &A, tag: T, acc: A::Acc) {
        self.back = match self.elements.len() == self.front {
            true => acc.clone(),
            false => agg.merge(&self.back, &acc),
        };
        ring::push(&mut self.elements, (tag, acc));
    }

    #[inline]
    fn pop(&mut self, agg: &A) -> Option<T> {
        if self.front == 0 {
            self.flip(agg);
        }
        let (tag, _) = self.elements.pop_front()?;
        self.front -= 1;
        ring::shrink(&mut self.elements);
        Some(tag)
    }

    #[inline]
    fn oldest(&self) -> Option<T> {
        self.elements.front().map(|&(tag, _)| tag)
    }

    #[inline]
    fn query(&self, agg: &A) -> A::Acc {
        match self.elements.front() {
            Some((_, front)) if self.front > 0 => match self.front < self.elements.len() {
                true => agg.merge(front, &self.back),
                false => front.clone(),
            },
            _ => self.back.clone(),
        }
    }

    #[inline]
    fn len(&self) -> usize {
        self.elements.len()
    }

    fn heap_bytes(&self) -> usize {
        ring::heap_bytes(&self.elements)
    }
}
