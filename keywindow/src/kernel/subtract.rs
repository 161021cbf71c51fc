//! A running result from which the oldest is taken back.

use alloc::collections::VecDeque;

use super::{Kernel, ring};
use crate::{Invertible, Tick};

/// The merge of all elements, with the oldest taken back as it goes: for exact types with an inverse.
#[derive(Clone, Debug)]
pub struct SubtractOnEvict<Acc, T = Tick> {
    elements: VecDeque<(T, Acc)>,
    whole: Acc,
}

impl<A: Invertible, T: Copy + Default> Kernel<A, T> for SubtractOnEvict<A::Acc, T> {
    fn new(agg: &A) -> Self {
        Self { elements: VecDeque::new(), whole: agg.create() }
    }

    #[inline]
    fn push(&mut self, agg: &A, tag: T, acc: A::Acc) {
        self.whole = agg.merge(&self.whole, &acc);
        ring::push(&mut self.elements, (tag, acc));
    }

    #[inline]
    fn pop(&mut self, agg: &A) -> Option<T> {
        let (tag, acc) = self.elements.pop_front()?;
        agg.unmerge(&mut self.whole, &acc);
        ring::shrink(&mut self.elements);
        Some(tag)
    }

    #[inline]
    fn oldest(&self) -> Option<T> {
        self.elements.front().map(|&(tag, _)| tag)
    }

    #[inline]
    fn query(&self, _: &A) -> A::Acc {
        self.whole.clone()
    }

    #[inline]
    fn len(&self) -> usize {
        self.elements.len()
    }

    fn heap_bytes(&self) -> usize {
        ring::heap_bytes(&self.elements)
    }
}
