//! The kernel that is obviously right.

use alloc::collections::VecDeque;

use super::{Kernel, ring};
use crate::{Aggregate, Tick};

/// Merges everything anew for each query: the oracle of the other kernels.
#[derive(Clone, Debug)]
pub struct Recalculate<Acc, T = Tick> {
    elements: VecDeque<(T, Acc)>,
}

impl<A: Aggregate, T: Copy + Default> Kernel<A, T> for Recalculate<A::Acc, T> {
    fn new(_: &A) -> Self {
        Self { elements: VecDeque::new() }
    }

    fn push(&mut self, _: &A, tag: T, acc: A::Acc) {
        ring::push(&mut self.elements, (tag, acc));
    }

    fn pop(&mut self, _: &A) -> Option<T> {
        let (tag, _) = self.elements.pop_front()?;
        ring::shrink(&mut self.elements);
        Some(tag)
    }

    fn oldest(&self) -> Option<T> {
        self.elements.front().map(|&(tag, _)| tag)
    }

    fn query(&self, agg: &A) -> A::Acc {
        self.elements.iter().fold(agg.create(), |older, (_, newer)| agg.merge(&older, newer))
    }

    fn len(&self) -> usize {
        self.elements.len()
    }

    fn heap_bytes(&self) -> usize {
        ring::heap_bytes(&self.elements)
    }
}
