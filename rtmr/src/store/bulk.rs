//! Whole trees: built from sorted pairs, walked, taken apart, counted.

use std::ops::{Bound, RangeBounds};

use super::footprint::Footprint;
use super::tree::{Inner, Tree, array, heap};

impl<K: Ord + Clone + Footprint, V: Footprint> Tree<K, V> {
    /// A tree of `count` pairs that come in strictly ascending order of keys; `None` if they do
    /// not, or are fewer or missing. O(count), and no array is larger than it must be.
    pub(crate) fn build(count: usize, mut pairs: impl FnMut() -> Option<(K, V)>) -> Option<Self> {
        // Three quarters full, so that the next pairs split no leaf.
        let leaves = if count <= Self::LEAF { 1 } else { count.div_ceil(Self::LEAF * 3 / 4) };
        let mut level = Vec::with_capacity(leaves);
        for leaf in 0..leaves {
            let size = (leaf + 1) * count / leaves - leaf * count / leaves;
            let mut list: Vec<(K, V)> = Vec::with_capacity(size);
            let last_of = |level: &Vec<(K, Self)>| match level.last() {
                Some((_, Tree::Leaf(before))) => before.last().map(|(key, _)| key.clone()),
                _ => None,
            };
            let mut before = last_of(&level);
            for _ in 0..size {
                let (key, value) = pairs()?;
                if list.last().map(|(key, _)| key).or(before.as_ref()).is_some_and(|k| *k >= key) {
                    return None;
                }
                before = None;
                list.push((key, value));
            }
            let Some((least, _)) = list.first() else { return Some(Tree::default()) };
            level.push((least.clone(), Tree::Leaf(list)));
        }
        while level.len() > 1 {
            let nodes = level.len().div_ceil(24);
            let (many, mut rest) = (level.len(), level.into_iter());
            level = Vec::with_capacity(nodes);
            for node in 0..nodes {
                let size = (node + 1) * many / nodes - node * many / nodes;
                let (mut keys, mut children) =
                    (Vec::with_capacity(size - 1), Vec::with_capacity(size));
                let (least, first) = rest.next()?;
                children.push(first);
                for (key, child) in rest.by_ref().take(size - 1) {
                    keys.push(key);
                    children.push(child);
                }
                level.push((least, Tree::Inner(Box::new(Inner { keys, children }))));
            }
        }
        level.pop().map(|(_, root)| root)
    }

    /// What the tree holds on the heap, counted anew. O(n) for n pairs, less if they are flat.
    pub(crate) fn footprint(&self) -> isize {
        match self {
            Tree::Leaf(pairs) => {
                let flat = K::FLAT && V::FLAT;
                let held = |(key, value): &(K, V)| heap(key) + heap(value);
                array(pairs) + if flat { 0 } else { pairs.iter().map(held).sum() }
            }
            Tree::Inner(inner) => {
                let below: isize = inner.children.iter().map(Self::footprint).sum();
                inner.own() + inner.keys.iter().map(heap).sum::<isize>() + below
            }
        }
    }
}

impl<K: Ord, V> Tree<K, V> {
    /// All pairs in order.
    pub(crate) fn for_each(&self, visit: &mut impl FnMut(&K, &V)) {
        match self {
            Tree::Leaf(pairs) => pairs.iter().for_each(|(key, value)| visit(key, value)),
            Tree::Inner(inner) => inner.children.iter().for_each(|child| child.for_each(visit)),
        }
    }

    /// The pairs of a range in order: O(log n) and what is visited.
    pub(crate) fn range(&self, range: &impl RangeBounds<K>, visit: &mut impl FnMut(&K, &V)) {
        let below = |key: &K| match range.start_bound() {
            Bound::Included(start) => key < start,
            Bound::Excluded(start) => key <= start,
            Bound::Unbounded => false,
        };
        let above = |key: &K| match range.end_bound() {
            Bound::Included(end) => key > end,
            Bound::Excluded(end) => key >= end,
            Bound::Unbounded => false,
        };
        match self {
            Tree::Leaf(pairs) => {
                let from = pairs.partition_point(|(key, _)| below(key));
                let inside = pairs[from..].iter().take_while(|(key, _)| !above(key));
                inside.for_each(|(key, value)| visit(key, value));
            }
            Tree::Inner(inner) => {
                // A separator is a key of the right side, or was one: equal keys are right of it.
                let from = inner.keys.partition_point(below);
                for (at, child) in inner.children.iter().enumerate().skip(from) {
                    if at > from && above(&inner.keys[at - 1]) {
                        break;
                    }
                    child.range(range, visit);
                }
            }
        }
    }

    /// All pairs in order, taken out.
    pub(crate) fn drain(self, out: &mut Vec<(K, V)>) {
        match self {
            Tree::Leaf(pairs) => out.extend(pairs),
            Tree::Inner(inner) => inner.children.into_iter().for_each(|child| child.drain(out)),
        }
    }

    /// The number of pairs. O(leaves).
    pub(crate) fn len(&self) -> usize {
        match self {
            Tree::Leaf(pairs) => pairs.len(),
            Tree::Inner(inner) => inner.children.iter().map(Self::len).sum(),
        }
    }
}
