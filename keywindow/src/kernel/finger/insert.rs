//! Elements come in: at their place, one or many.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::{Finger, MAX, MIN, Side};
use crate::Aggregate;

impl<Acc: Clone, T: Copy + Ord> Finger<Acc, T> {
    /// Adds an element after all of its time or before: O(log d) merges and steps, amortised, where d is
    /// the distance from the nearer end.
    #[inline]
    pub fn insert<A: Aggregate<Acc = Acc>>(&mut self, agg: &A, time: T, acc: Acc) {
        let leaf = self.leaf(time);
        if leaf == self.right && self.append(agg, time, &acc) {
            return;
        }
        self.place(leaf, time, acc);
        self.settle(agg, leaf);
    }

    /// Adds a record to the element of this time, or a new element with it: as [`insert`](Self::insert).
    pub fn add<A: Aggregate<Acc = Acc>>(&mut self, agg: &A, time: T, record: &A::In) {
        let leaf = self.leaf(time);
        let slots = &mut self.node_mut(leaf).slots;
        let at = slots.partition_point(|&(slot, _)| slot <= time);
        match at.checked_sub(1).and_then(|at| slots.get_mut(at)).filter(|slot| slot.0 == time) {
            Some((_, acc)) => {
                agg.add(acc, record);
                self.repair(agg, leaf);
            }
            None => {
                let mut acc = agg.create();
                agg.add(&mut acc, record);
                self.place(leaf, time, acc);
                self.settle(agg, leaf);
            }
        }
    }

    /// Adds many elements, in the order of their time or nearly so. Each node that changes is repaired once.
    pub fn extend<A: Aggregate<Acc = Acc>>(
        &mut self,
        agg: &A,
        elements: impl IntoIterator<Item = (T, Acc)>,
    ) {
        let mut changed = BTreeSet::new();
        for (time, acc) in elements {
            let mut id = self.leaf(time);
            self.place(id, time, acc);
            changed.insert((0, id));
            while self.node(id).slots.len() > MAX {
                let new = self.split(agg, id);
                let level = self.node(id).level;
                id = self.node(id).parent;
                changed.extend([(level, new), (level + 1, id)]);
            }
        }
        while let Some((level, id)) = changed.pop_first() {
            match self.node(id).side {
                Side::Inner => {
                    let parent = self.tell_parent(agg, id);
                    changed.insert((level + 1, parent));
                }
                // What is below the highest of them is repaired from there once more.
                Side::Left => self.repair_left(agg, id),
                Side::Right => self.repair_right(agg, id),
                Side::Root => self.repair_outside(agg),
            }
        }
    }

    /// The leaf in which the time lies.
    #[inline]
    fn leaf(&mut self, time: T) -> u32 {
        let (mut left, mut right) = (self.left, self.right);
        let mut id = loop {
            if right == self.root || self.node(right).slots.first().is_some_and(|s| s.0 <= time) {
                break right;
            }
            let above = self.node(left).parent;
            // The left node ends where its sibling begins.
            if self.node(above).slots.get(1).is_some_and(|sibling| time < sibling.0) {
                break left;
            }
            (left, right) = (above, self.node(right).parent);
        };
        while self.node(id).level > 0 {
            let node = self.node_mut(id);
            let after = node.slots.partition_point(|&(slot, _)| slot <= time);
            if after == 0 {
                node.slots[0].0 = time;
            }
            id = node.children[after.saturating_sub(1)];
        }
        id
    }

    /// The usual case: the newest element, in a leaf with room for it.
    #[inline]
    fn append<A: Aggregate<Acc = Acc>>(&mut self, agg: &A, time: T, acc: &Acc) -> bool {
        let id = self.right;
        let node = self.node_mut(id);
        if node.slots.len() >= MAX || node.slots.last().is_some_and(|last| last.0 > time) {
            return false;
        }
        node.agg = match node.slots.is_empty() {
            true => acc.clone(),
            false => agg.merge(&node.agg, acc),
        };
        node.slots.push((time, acc.clone()));
        self.len += 1;
        true
    }

    fn place(&mut self, leaf: u32, time: T, acc: Acc) {
        let slots = &mut self.node_mut(leaf).slots;
        let at = slots.partition_point(|&(slot, _)| slot <= time);
        slots.insert(at, (time, acc));
        self.len += 1;
    }

    /// Splits what is too full and repairs what changed.
    fn settle<A: Aggregate<Acc = Acc>>(&mut self, agg: &A, mut id: u32) {
        let mut split = false;
        while self.node(id).slots.len() > MAX {
            self.split(agg, id);
            id = self.node(id).parent;
            split = true;
        }
        // Where the split went up to the root, one of the spines may begin with other slots.
        if split && id == self.root { self.repair_outside(agg) } else { self.repair(agg, id) }
    }

    /// Moves the upper part of a node into a new one after it, and returns that. The parent may be too
    /// full then. Merges below the two must be right.
    fn split<A: Aggregate<Acc = Acc>>(&mut self, agg: &A, id: u32) -> u32 {
        let side = self.node(id).side;
        // What grows at its end is left nearly full.
        let keep = match side {
            Side::Right | Side::Root => self.node(id).slots.len() - MIN,
            Side::Left | Side::Inner => self.node(id).slots.len() / 2,
        };
        let level = self.node(id).level;
        let new_side =
            if matches!(side, Side::Right | Side::Root) { Side::Right } else { Side::Inner };
        let new = self.create_node(agg.create(), level, new_side);
        if side == Side::Root {
            let first = self.node(id).slots[0].0;
            let root = self.create_node(agg.create(), level + 1, Side::Root);
            let node = self.node_mut(root);
            node.slots.push((first, agg.create()));
            node.children.push(id);
            node.parent = super::NONE;
            self.root = root;
            (self.node_mut(id).side, self.node_mut(id).parent) = (Side::Left, root);
        }
        let [node, later] = self.two(id, new);
        later.slots.extend(node.slots.drain(keep..));
        if level > 0 {
            later.children.extend(node.children.drain(keep..));
        }
        let (parent, first) = (node.parent, later.slots[0].0);
        let oldest = node.slots[0].0;
        later.parent = parent;
        self.adopt(new, 0);
        let at = self.position(parent, id) + 1;
        let above = self.node_mut(parent);
        // On the left spine the time of the first slot may be too late by what came since.
        above.slots[at - 1].0 = above.slots[at - 1].0.min(oldest);
        above.slots.insert(at, (first, agg.create()));
        above.children.insert(at, new);
        if new_side == Side::Right {
            if level == 0 {
                self.right = new;
            }
            if side == Side::Right {
                self.node_mut(id).side = Side::Inner;
            }
        } else {
            self.tell_parent(agg, new);
        }
        if self.node(id).side == Side::Inner {
            self.tell_parent(agg, id);
        }
        new
    }

    /// Two different nodes.
    pub(super) fn two(&mut self, a: u32, b: u32) -> [&mut super::Node<Acc, T>; 2] {
        let (low, high) = (a.min(b) as usize, a.max(b) as usize);
        let (lower, upper) = self.nodes.split_at_mut(high);
        let (low, high) = (&mut lower[low], &mut upper[0]);
        if a < b { [low, high] } else { [high, low] }
    }

    /// A tree of elements in the order of their time.
    pub fn of<A: Aggregate<Acc = Acc>>(agg: &A, elements: Vec<(T, Acc)>) -> Self
    where
        T: Default,
    {
        let mut tree: Self = super::Kernel::<A, T>::new(agg);
        tree.extend(agg, elements);
        tree
    }
}
