//! A few elements without a heap.

use core::{array, mem};

use super::{Kernel, TwoStacks};
use crate::{Aggregate, Tick};

/// Up to N elements in place, merged anew for each query; more of them in another kernel, until that
/// one is empty again. Where most keys are sparse, most keys have no heap.
#[derive(Clone, Debug)]
pub struct Few<Acc, T = Tick, Q = TwoStacks<Acc, T>, const N: usize = 3> {
    tier: Tier<Acc, T, Q, N>,
}

#[derive(Clone, Debug)]
enum Tier<Acc, T, Q, const N: usize> {
    /// The elements from `len` on are `create()` under any tag.
    Few {
        len: u32,
        elements: [(T, Acc); N],
    },
    Many(Q),
}

impl<Acc, T, Q, const N: usize> Few<Acc, T, Q, N> {
    fn empty<A: Aggregate<Acc = Acc>>(agg: &A) -> Tier<Acc, T, Q, N>
    where
        T: Default,
    {
        Tier::Few { len: 0, elements: array::from_fn(|_| (T::default(), agg.create())) }
    }
}

impl<A, T, Q, const N: usize> Kernel<A, T> for Few<A::Acc, T, Q, N>
where
    A: Aggregate,
    T: Copy + Default,
    Q: Kernel<A, T>,
{
    fn new(agg: &A) -> Self {
        Self { tier: Self::empty(agg) }
    }

    #[inline]
    fn push(&mut self, agg: &A, tag: T, acc: A::Acc) {
        match &mut self.tier {
            Tier::Many(kernel) => kernel.push(agg, tag, acc),
            Tier::Few { len, elements } => {
                if let Some(place) = elements.get_mut(*len as usize) {
                    *place = (tag, acc);
                    *len += 1;
                    return;
                }
                let mut kernel = Q::new(agg);
                for (tag, acc) in elements {
                    kernel.push(agg, *tag, mem::replace(acc, agg.create()));
                }
                kernel.push(agg, tag, acc);
                self.tier = Tier::Many(kernel);
            }
        }
    }

    #[inline]
    fn pop(&mut self, agg: &A) -> Option<T> {
        match &mut self.tier {
            Tier::Many(kernel) => {
                let tag = kernel.pop(agg);
                if kernel.is_empty() {
                    self.tier = Self::empty(agg);
                }
                tag
            }
            Tier::Few { len: 0, .. } => None,
            Tier::Few { len, elements } => {
                let (tag, acc) = elements.first_mut()?;
                let tag = *tag;
                *acc = agg.create();
                elements.rotate_left(1);
                *len -= 1;
                Some(tag)
            }
        }
    }

    #[inline]
    fn oldest(&self) -> Option<T> {
        match &self.tier {
            Tier::Many(kernel) => kernel.oldest(),
            Tier::Few { len: 0, .. } => None,
            Tier::Few { elements, .. } => elements.first().map(|&(tag, _)| tag),
        }
    }

    #[inline]
    fn query(&self, agg: &A) -> A::Acc {
        match &self.tier {
            Tier::Many(kernel) => kernel.query(agg),
            Tier::Few { len, elements } => {
                let mut elements = elements.iter().take(*len as usize).map(|(_, acc)| acc);
                let Some(oldest) = elements.next() else { return agg.create() };
                let Some(second) = elements.next() else { return oldest.clone() };
                elements.fold(agg.merge(oldest, second), |older, newer| agg.merge(&older, newer))
            }
        }
    }

    #[inline]
    fn len(&self) -> usize {
        match &self.tier {
            Tier::Many(kernel) => kernel.len(),
            Tier::Few { len, .. } => *len as usize,
        }
    }

    #[inline]
    fn next_popped(&self) -> Option<&A::Acc> {
        match &self.tier {
            Tier::Many(kernel) => kernel.next_popped(),
            Tier::Few { .. } => None,
        }
    }

    #[inline]
    fn newest(&self) -> Option<&A::Acc> {
        match &self.tier {
            Tier::Many(kernel) => kernel.newest(),
            Tier::Few { .. } => None,
        }
    }

    fn heap_bytes(&self) -> usize {
        match &self.tier {
            Tier::Many(kernel) => kernel.heap_bytes(),
            Tier::Few { .. } => 0,
        }
    }
}
