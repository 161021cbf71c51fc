//! A finger B-tree.

#[cfg(feature = "snapshot")]
mod bytes;
mod evict;
mod insert;
mod node;
mod repair;
#[cfg(test)]
mod shape;

use alloc::vec::Vec;

use super::Kernel;
use crate::{Aggregate, Tick};
use node::{MAX, MIN, NONE, Node, Side};

/// A finger B-tree: elements in the order of their time, anywhere in which one can be put.
///
/// | call | merges, amortised |
/// |---|---|
/// | [`insert`](Self::insert), at a distance of d elements from the nearer end | O(log d) |
/// | [`push`](Kernel::push) at the newest end, [`pop`](Kernel::pop) | O(1) |
/// | [`query`](Kernel::query) of all | 2 at worst |
/// | [`range`](Self::range) | O(log n) |
/// | [`evict_before`](Self::evict_before), of m elements | O(log n), and m / 4 steps at most that free nodes |
/// | [`extend`](Self::extend) by m elements in order | O(m + log n) next to each other, O(m log d) apart |
///
/// The elements are in the leaves, 4 to 12 a node but for the root. A node inside has the merge of each
/// of its children. Not so those on the two outer paths from the root to a leaf, its *spines*: there a node has
/// the merge of its own children, without the one on the spine, and of all spine nodes above it. So
/// the leaf at either end knows its whole spine, and what happens at an end is not told to the root.
/// A search climbs both spines at once, until one of them has the time below it.
///
/// # References
///
/// K. Tangwongsan, M. Hirzel, S. Schneider: Optimal and general out-of-order sliding-window
/// aggregation, 2019, sections 3 to 5; Out-of-order sliding-window aggregation with efficient bulk
/// evictions and insertions, 2023. Other than there, all elements are in leaves, the merge of a child
/// lies with its parent, and a bulk insertion places element by element and repairs each node once.
///
/// ```
/// use keywindow::aggregates::Max;
/// use keywindow::kernel::{Finger, Kernel};
///
/// let max = Max::<i64>::new();
/// let mut window = Finger::<_, i64>::new(&max);
/// for (time, x) in [(10, 3), (30, 4), (20, 9)] {
///     window.insert(&max, time, Some(x));
/// }
/// assert_eq!(window.query(&max), Some(9));
/// assert_eq!(window.range(&max, 21, 99), Some(Some(4)));
/// assert_eq!(window.evict_before(&max, 30), 2);
/// assert_eq!(window.query(&max), Some(4));
/// ```
#[derive(Clone, Debug)]
pub struct Finger<Acc, T = Tick> {
    nodes: Vec<Node<Acc, T>>,
    free: Vec<u32>,
    root: u32,
    /// The leaves at the ends.
    left: u32,
    right: u32,
    len: usize,
}

impl<Acc: Clone, T: Copy + Ord> Finger<Acc, T> {
    /// How many elements there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.len
    }

    /// Bytes on the heap, without those that the partial results may have there.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let slots: usize = self.nodes.iter().map(Node::heap_bytes).sum();
        self.nodes.capacity() * size_of::<Node<Acc, T>>()
            + self.free.capacity() * size_of::<u32>()
            + slots
    }

    /// The time of the oldest element.
    #[must_use]
    pub fn oldest_time(&self) -> Option<T> {
        self.node(self.left).slots.first().map(|&(time, _)| time)
    }

    /// The time of the newest element.
    #[must_use]
    pub fn newest_time(&self) -> Option<T> {
        self.node(self.right).slots.last().map(|&(time, _)| time)
    }

    /// The time of the first element that is not before `time`.
    #[must_use]
    pub fn first_from(&self, time: T) -> Option<T> {
        self.first_from_in(self.root, time)
    }

    fn first_from_in(&self, id: u32, time: T) -> Option<T> {
        let node = self.node(id);
        if node.level == 0 {
            let at = node.slots.partition_point(|&(slot, _)| slot < time);
            return node.slots.get(at).map(|&(time, _)| time);
        }
        // Elements of that time may end one child and begin the next.
        let at = node.slots.partition_point(|&(slot, _)| slot < time).saturating_sub(1);
        node.children.iter().skip(at).find_map(|&child| self.first_from_in(child, time))
    }

    /// The merge of the elements from `from` on and before `until`, `None` for none.
    pub fn range<A: Aggregate<Acc = Acc>>(&self, agg: &A, from: T, until: T) -> Option<Acc> {
        let mut merged = None;
        self.range_in(agg, self.root, (from, until), &mut merged);
        merged
    }

    fn range_in<A: Aggregate<Acc = Acc>>(
        &self,
        agg: &A,
        id: u32,
        (from, until): (T, T),
        merged: &mut Option<Acc>,
    ) {
        let node = self.node(id);
        if node.level == 0 {
            let start = node.slots.partition_point(|&(time, _)| time < from);
            let inside = node.slots.iter().skip(start).take_while(|&&(time, _)| time < until);
            inside.for_each(|(_, acc)| merge_into(agg, merged, acc));
            return;
        }
        let last = node.children.len() - 1;
        for (i, (&child, (first, acc))) in node.children.iter().zip(&node.slots).enumerate() {
            let next = node.slots.get(i + 1).map(|&(time, _)| time);
            if next.is_some_and(|next| next < from) {
                continue;
            }
            if i > 0 && *first >= until {
                return;
            }
            let spine = (i == 0 && matches!(node.side, Side::Left | Side::Root))
                || (i == last && matches!(node.side, Side::Right | Side::Root));
            if !spine && *first >= from && next.is_some_and(|next| next < until) {
                merge_into(agg, merged, acc);
            } else {
                self.range_in(agg, child, (from, until), merged);
            }
        }
    }

    /// The elements, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &(T, Acc)> {
        let mut path = Vec::from([(self.root, 0)]);
        core::iter::from_fn(move || {
            loop {
                let (id, at) = path.last_mut()?;
                let node = &self.nodes[*id as usize];
                let now = *at;
                *at += 1;
                if let Some(&child) = node.children.get(now) {
                    path.push((child, 0));
                } else if let Some(slot) = node.slots.get(now).filter(|_| node.level == 0) {
                    return Some(slot);
                } else {
                    path.pop();
                }
            }
        })
    }
}

fn merge_into<A: Aggregate>(agg: &A, merged: &mut Option<A::Acc>, acc: &A::Acc) {
    *merged = Some(match merged.take() {
        Some(older) => agg.merge(&older, acc),
        None => acc.clone(),
    });
}

impl<A: Aggregate, T: Copy + Default + Ord> Kernel<A, T> for Finger<A::Acc, T> {
    fn new(agg: &A) -> Self {
        let root = Node::new(agg.create(), 0, Side::Root);
        let nodes = Vec::from([root]);
        Self { nodes, free: Vec::new(), root: 0, left: 0, right: 0, len: 0 }
    }

    fn push(&mut self, agg: &A, tag: T, acc: A::Acc) {
        self.insert(agg, tag, acc);
    }

    fn pop(&mut self, agg: &A) -> Option<T> {
        self.pop_oldest(agg)
    }

    fn oldest(&self) -> Option<T> {
        self.oldest_time()
    }

    fn query(&self, agg: &A) -> A::Acc {
        let root = self.node(self.root);
        if root.level == 0 {
            return root.agg.clone();
        }
        let (left, right) = (&self.node(self.left).agg, &self.node(self.right).agg);
        match root.children.len() {
            2 => agg.merge(left, right),
            _ => agg.merge(&agg.merge(left, &root.agg), right),
        }
    }

    fn len(&self) -> usize {
        self.count()
    }

    fn heap_bytes(&self) -> usize {
        self.bytes()
    }
}
