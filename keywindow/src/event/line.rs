//! Slices in order, each still to be had.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::Aggregate;
use crate::kernel::ring;

/// Two stacks that keep their elements: those in the window, and older ones before them.
///
/// The suffix merges of the front are beside the elements rather than in their place, so that the
/// elements can go into a finger tree when a record comes late.
#[derive(Clone, Debug)]
pub(crate) struct Line<Acc> {
    elements: VecDeque<(i64, Acc)>,
    /// The first that is in the window.
    start: usize,
    /// Of the first elements in the window, each merged with those after it; oldest last.
    front: Vec<Acc>,
    /// The merge of the other elements in the window.
    back: Option<Acc>,
}

impl<Acc: Clone> Line<Acc> {
    pub(crate) const fn new() -> Self {
        Self { elements: VecDeque::new(), start: 0, front: Vec::new(), back: None }
    }

    /// Elements of which those before `start` have left the window, and of the others the first `front`
    /// have been merged from behind, the others as they came.
    pub(crate) fn of<A: Aggregate<Acc = Acc>>(
        agg: &A,
        elements: VecDeque<(i64, Acc)>,
        start: usize,
        front: usize,
    ) -> Self {
        let mut line = Self { elements, start, front: Vec::new(), back: None };
        line.merge_front(agg, start + front);
        let mut rest = line.elements.iter().skip(start + front);
        line.back = rest
            .next()
            .map(|(_, first)| rest.fold(first.clone(), |merged, (_, acc)| agg.merge(&merged, acc)));
        line
    }

    /// Merges the elements in the window up to this one from behind.
    fn merge_front<A: Aggregate<Acc = Acc>>(&mut self, agg: &A, end: usize) {
        let Self { elements, front, start, .. } = self;
        front.reserve_exact(end - *start);
        for (_, acc) in elements.range(*start..end).rev() {
            let merged = match front.last() {
                Some(later) => agg.merge(acc, later),
                None => acc.clone(),
            };
            front.push(merged);
        }
    }

    #[inline]
    pub(crate) fn push<A: Aggregate<Acc = Acc>>(&mut self, agg: &A, time: i64, acc: Acc) {
        self.back = Some(match &self.back {
            Some(back) => agg.merge(back, &acc),
            None => acc.clone(),
        });
        ring::push(&mut self.elements, (time, acc));
    }

    /// The oldest element in the window.
    #[inline]
    pub(crate) fn oldest(&self) -> Option<i64> {
        self.elements.get(self.start).map(|slot| slot.0)
    }

    pub(crate) fn newest(&self) -> Option<i64> {
        self.elements.back().map(|slot| slot.0)
    }

    /// Lets the oldest leave the window.
    #[inline]
    pub(crate) fn leave<A: Aggregate<Acc = Acc>>(&mut self, agg: &A) {
        if self.front.is_empty() {
            self.merge_front(agg, self.elements.len());
            self.back = None;
        }
        self.front.pop();
        self.start += 1;
        if self.front.capacity() > 16 && 3 * self.front.len() < self.front.capacity() {
            self.front.shrink_to(self.front.len() + self.front.len() / 2);
        }
    }

    /// Forgets what has left the window and is before `time`.
    #[inline]
    pub(crate) fn forget_before(&mut self, time: i64) {
        while self.start > 0 && self.elements.front().is_some_and(|slot| slot.0 < time) {
            self.elements.pop_front();
            self.start -= 1;
            if self.elements.len().is_multiple_of(16) {
                ring::shrink(&mut self.elements);
            }
        }
    }

    /// The merge of what is in the window.
    #[inline]
    pub(crate) fn query<A: Aggregate<Acc = Acc>>(&self, agg: &A) -> Option<Acc> {
        match (self.front.last(), &self.back) {
            (Some(front), Some(back)) => Some(agg.merge(front, back)),
            (Some(one), None) | (None, Some(one)) => Some(one.clone()),
            (None, None) => None,
        }
    }

    pub(crate) fn into_elements(self) -> VecDeque<(i64, Acc)> {
        self.elements
    }

    pub(crate) fn elements(&self) -> &VecDeque<(i64, Acc)> {
        &self.elements
    }

    /// How many elements have left, and how many are merged from behind.
    #[cfg(feature = "snapshot")]
    pub(crate) fn cuts(&self) -> (usize, usize) {
        (self.start, self.front.len())
    }

    #[cfg(feature = "keys")]
    pub(crate) fn heap_bytes(&self) -> usize {
        ring::heap_bytes(&self.elements) + self.front.capacity() * size_of::<Acc>()
    }
}
