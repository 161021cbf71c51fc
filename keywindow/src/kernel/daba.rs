//! De-amortised bankers' aggregator, lite.

use alloc::collections::VecDeque;

use super::{Kernel, ring};
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
    elements: VecDeque<(T, Acc)>,
    left: usize,
    right: usize,
    gathered: usize,
    front: usize,
    from_right: Acc,
    back: Acc,
}

impl<Acc: Clone, T: Copy> Daba<Acc, T> {
    #[inline]
    fn step<A: Aggregate<Acc = Acc>>(&mut self, agg: &A) {
        let len = self.elements.len();
        if self.front == 0 {
            // At most one element is left, and alone it is the front.
            (self.left, self.right, self.gathered, self.front) = (len, len, len, len);
            self.back = agg.create();
            return;
        }
        if self.left == self.front {
            // The whole front is done: it becomes the left list, and the back the right one.
            (self.left, self.right, self.gathered) = (0, self.front, len);
            self.front = len;
            self.from_right = core::mem::replace(&mut self.back, agg.create());
        }
        if self.left == self.right {
            // The lists are used up, and what is gathered is done, one by one.
            self.left += 1;
            self.right += 1;
            self.gathered += 1;
            return;
        }
        if let Some((_, acc)) = self.elements.get_mut(self.left) {
            *acc = agg.merge(acc, &self.from_right);
        }
        self.left += 1;
        self.gathered -= 1;
        if self.gathered + 1 < self.front {
            let merged =
                match (self.elements.get(self.gathered), self.elements.get(self.gathered + 1)) {
                    (Some((_, acc)), Some((_, later))) => agg.merge(acc, later),
                    _ => return,
                };
            if let Some((_, acc)) = self.elements.get_mut(self.gathered) {
                *acc = merged;
            }
        }
    }
}

impl<A: Aggregate, T: Copy> Kernel<A, T> for Daba<A::Acc, T> {
    fn new(agg: &A) -> Self {
        Self {
            elements: VecDeque::new(),
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
        self.back = match self.elements.len() == self.front {
            true => acc.clone(),
            false => agg.merge(&self.back, &acc),
        };
        ring::push(&mut self.elements, (tag, acc));
        self.step(agg);
    }

    #[inline]
    fn pop(&mut self, agg: &A) -> Option<T> {
        let (tag, _) = self.elements.pop_front()?;
        // The first list always has an element, and it has just lost one.
        self.left -= 1;
        self.right -= 1;
        self.gathered -= 1;
        self.front -= 1;
        self.step(agg);
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
            Some((_, front)) => match self.front < self.elements.len() {
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

    fn heap_bytes(&self) -> usize {
        ring::heap_bytes(&self.elements)
    }
}
