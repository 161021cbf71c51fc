//! Slices that have entered: in the window, or kept for corrections.

use alloc::boxed::Box;
use alloc::collections::VecDeque;

use super::line::Line;
use super::rules::Rules;
use crate::kernel::{Finger, Kernel};
use crate::{Aggregate, Tick};

/// In order while all came so; from the first that did not, a tree, until the tree has turned over.
#[derive(Clone, Debug)]
pub(crate) enum Slices<Acc> {
    Line(Line<Acc>),
    Tree(Box<Tree<Acc>>),
}

#[derive(Clone, Debug)]
pub(crate) struct Tree<Acc> {
    pub(crate) tree: Finger<Acc, i64>,
    /// So many slices are to enter until all goes back into a line, if none comes late before.
    pub(crate) calm: u64,
}

impl<Acc: Clone> Slices<Acc> {
    pub(crate) const fn new() -> Self {
        Self::Line(Line::new())
    }

    /// A slice enters in order.
    #[inline]
    pub(crate) fn enter<A: Aggregate<Acc = Acc>>(&mut self, agg: &A, time: i64, acc: Acc) {
        match self {
            Self::Line(line) => line.push(agg, time, acc),
            Self::Tree(tree) => {
                tree.tree.insert(agg, time, acc);
                tree.calm = tree.calm.saturating_sub(1);
            }
        }
    }

    /// A record comes when its window has been told. It goes to its place.
    pub(crate) fn add_late<A: Aggregate<Acc = Acc>>(&mut self, agg: &A, time: i64, record: &A::In) {
        match self {
            Self::Line(line) if line.newest().is_none_or(|newest| newest < time) => {
                let mut acc = agg.create();
                agg.add(&mut acc, record);
                line.push(agg, time, acc);
            }
            _ => {
                let tree = self.tree(agg);
                tree.tree.add(agg, time, record);
            }
        }
    }

    /// All in a tree. Amortised, the way there and back costs nothing: at least as many slices enter
    /// meanwhile.
    pub(crate) fn tree<A: Aggregate<Acc = Acc>>(&mut self, agg: &A) -> &mut Tree<Acc> {
        if let Self::Line(line) = self {
            let line = core::mem::replace(line, Line::new());
            let tree = Finger::of(agg, line.into_elements().into());
            *self = Self::Tree(Box::new(Tree { tree, calm: 0 }));
        }
        match self {
            Self::Tree(tree) => {
                tree.calm = tree.tree.count() as u64 + 1;
                tree
            }
            Self::Line(_) => unreachable!("it has just been made a tree"),
        }
    }

    /// Back into a line when the tree is not needed. `start` is the start of the window.
    #[inline]
    pub(crate) fn calm<A: Aggregate<Acc = Acc>>(&mut self, agg: &A, start: i64) {
        let Self::Tree(tree) = self else { return };
        let len = tree.tree.count();
        if tree.calm > 0 && len > 0 {
            return;
        }
        let elements: VecDeque<_> = tree.tree.iter().cloned().collect();
        let left = elements.partition_point(|slot| slot.0 < start);
        *self = Self::Line(Line::of(agg, elements, left, len - left));
    }

    /// Lets all before `start` leave the window, and forgets all before `keep`, which is not after it.
    #[inline]
    pub(crate) fn leave<A: Aggregate<Acc = Acc>>(&mut self, agg: &A, start: i64, keep: i64) {
        match self {
            Self::Line(line) => {
                while line.oldest().is_some_and(|oldest| oldest < start) {
                    line.leave(agg);
                }
                line.forget_before(keep);
            }
            Self::Tree(tree) => {
                tree.tree.evict_before(agg, keep);
            }
        }
    }

    /// Forgets all that has left the window and is before `keep`.
    pub(crate) fn forget_before<A: Aggregate<Acc = Acc>>(&mut self, agg: &A, keep: i64) {
        match self {
            Self::Line(line) => line.forget_before(keep),
            Self::Tree(tree) => {
                tree.tree.evict_before(agg, keep);
            }
        }
    }

    /// The time of the oldest slice in the window that begins at `start`, the one that has been reached.
    #[inline]
    pub(crate) fn oldest(&self, start: i64) -> Option<i64> {
        match self {
            Self::Line(line) => line.oldest(),
            Self::Tree(tree) => tree.tree.first_from(start),
        }
    }

    /// The merge of the window that has been reached, whose tick is `tick`.
    #[inline]
    pub(crate) fn window<A: Aggregate<Acc = Acc>>(
        &self,
        agg: &A,
        rules: &Rules,
        tick: Option<Tick>,
    ) -> Option<Acc> {
        match self {
            Self::Line(line) => line.query(agg),
            Self::Tree(tree) => tree.at(agg, rules, tick?),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Line(line) => line.elements().len(),
            Self::Tree(tree) => tree.tree.count(),
        }
    }

    #[cfg(feature = "keys")]
    pub(crate) fn heap_bytes(&self) -> usize {
        match self {
            Self::Line(line) => line.heap_bytes(),
            Self::Tree(tree) => tree.tree.bytes() + size_of::<Tree<Acc>>(),
        }
    }
}

impl<Acc: Clone> Tree<Acc> {
    /// The merge of any window that is not final, of those that have been reached.
    pub(crate) fn at<A: Aggregate<Acc = Acc>>(
        &self,
        agg: &A,
        rules: &Rules,
        tick: Tick,
    ) -> Option<Acc> {
        let start = rules.spec.start(tick);
        let oldest = self.tree.oldest_time()?;
        let end = rules.spec.end(tick);
        if oldest >= start && self.tree.newest_time().is_none_or(|newest| newest < end) {
            return Some(Kernel::<A, i64>::query(&self.tree, agg));
        }
        self.tree.range(agg, start, end)
    }
}
