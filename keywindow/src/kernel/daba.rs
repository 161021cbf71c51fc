//! De-amortised bankers' aggregator, lite.

use core::mem;

use super::Kernel;
use super::masked::Masked;
use crate::{Aggregate, Tick};

/// DABA Lite: at most three merges a push, two a pop and one a query, whatever the window held.
///
/// As with two stacks there is a front of suffix results and a back, but the back is made into the
/// front step by step, one step a push or pop, so that it is ready in time. The elements from the
/// oldest on are
///
/// | list | up to | element i stands for |
/// |---|---|---|
/// | done | `left` | i to the end of the front |
/// | left | `right` | i to the end of this list |
/// | right | `gathered` | i alone |
/// | gathered | `front` | i to the end of the front |
/// | back | the end | i alone |
///
/// beside which stand the merge of all from `right` to the end of the front, and that of the back.
/// A step takes one element from the left list to the first and one from the right to the gathered
/// ones. The two lists have equal length, and the back is as long as the first list when they are
/// used up and it takes their place.
#[derive(Clone, Debug)]
pub struct Daba<Acc, T = Tick> {
    elements: Masked<(T, Acc)>,
    /// Where the lists end, numbered from the first element ever.
    left: u64,
    right: u64,
    gathered: u64,
    front: u64,
    from_right: Acc,
    back: Acc,
}

impl<Acc: Clone, T: Copy + Default> Daba<Acc, T> {
    #[inline(always)]
    fn step<A: Aggregate<Acc = Acc>>(&mut self, agg: &A) {
        if self.left == self.front {
            self.turn(agg);
        }
        if self.left == self.right {
            // The lists are used up, and what is gathered is done, one by one.
            if self.left < self.front {
                self.left += 1;
                self.right += 1;
                self.gathered += 1;
            }
            return;
        }
        let mut elements = self.elements.view();
        let done = &mut elements.at(self.left).1;
        *done = agg.merge(done, &self.from_right);
        self.left += 1;
        let later = self.gathered;
        self.gathered -= 1;
        if later < self.front {
            let merged = agg.merge(&elements.get(self.gathered).1, &elements.get(later).1);
            elements.at(self.gathered).1 = merged;
        }
    }

    /// The whole front is done: it becomes the left list, and the back the right one.
    #[inline(never)]
    fn turn<A: Aggregate<Acc = Acc>>(&mut self, agg: &A) {
        let (start, end) = (self.elements.start(), self.elements.end());
        self.from_right = mem::replace(&mut self.back, agg.create());
        if self.front == start {
            // There is at most one element, and alone it is the front, and done.
            (self.left, self.right, self.gathered, self.front) = (end, end, end, end);
            return;
        }
        (self.left, self.right, self.gathered, self.front) = (start, self.front, end, end);
    }
}

impl<A: Aggregate, T: Copy + Default> Kernel<A, T> for Daba<A::Acc, T> {
    fn new(agg: &A) -> Self {
        Self {
            elements: Masked::new(),
            left: 0,
            right: 0,
            gathered: 0,
            front: 0,
            from_right: agg.create(),
            back: agg.create(),
        }
    }

    #[inline]
    fn push(&mut self, agg: &A, tag: T, acc: A::Acc) {
        self.back = match self.elements.end() == self.front {
            true => acc.clone(),
            false => agg.merge(&self.back, &acc),
        };
        self.elements.push((tag, acc), || (T::default(), agg.create()));
        self.step(agg);
    }

    #[inline]
    fn pop(&mut self, agg: &A) -> Option<T> {
        let (tag, _) = self.elements.pop(|| (T::default(), agg.create()))?;
        self.step(agg);
        Some(tag)
    }

    #[inline]
    fn oldest(&self) -> Option<T> {
        self.elements.first().map(|&(tag, _)| tag)
    }

    #[inline]
    fn query(&self, agg: &A) -> A::Acc {
        match self.elements.first() {
            Some((_, front)) => match self.front < self.elements.end() {
                true => agg.merge(front, &self.back),
                false => front.clone(),
            },
            None => agg.create(),
        }
    }

    #[inline]
    fn len(&self) -> usize {
        self.elements.len()
    }

    #[inline]
    fn next_popped(&self) -> Option<&A::Acc> {
        self.elements.first().map(|(_, acc)| acc)
    }

    #[inline]
    fn newest(&self) -> Option<&A::Acc> {
        self.elements.last().map(|(_, acc)| acc)
    }

    fn heap_bytes(&self) -> usize {
        self.elements.heap_bytes()
    }
}
