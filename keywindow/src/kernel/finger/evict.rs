//! The oldest elements go: one, or all before a time.

use super::{Finger, MAX, MIN, NONE, Side};
use crate::Aggregate;

impl<Acc: Clone, T: Copy + Ord> Finger<Acc, T> {
    #[inline]
    pub(super) fn pop_oldest<A: Aggregate<Acc = Acc>>(&mut self, agg: &A) -> Option<T> {
        let leaf = self.left;
        let slots = &mut self.node_mut(leaf).slots;
        if slots.is_empty() {
            return None;
        }
        let (time, _) = slots.remove(0);
        self.len -= 1;
        let enough = self.node(leaf).slots.len() >= MIN;
        match leaf == self.root {
            true => self.repair_root(agg),
            false if enough => self.repair_left(agg, leaf),
            false => {
                let highest = self.refill_up(agg, leaf, 0);
                self.repair_from(agg, highest);
                self.give_back();
            }
        }
        Some(time)
    }

    /// Removes all elements before `time` and returns how many that were: O(log n) merges, and a
    /// step for each node that is freed.
    pub fn evict_before<A: Aggregate<Acc = Acc>>(&mut self, agg: &A, time: T) -> usize {
        let oldest = self.node(self.left).slots.first();
        if oldest.is_none_or(|oldest| oldest.0 >= time) {
            return 0;
        }
        // The cut is below this node of the left spine, or right of it.
        let mut top = self.left;
        while top != self.root {
            let above = self.node(top).parent;
            if self.node(above).slots.get(1).is_none_or(|sibling| sibling.0 >= time) {
                break;
            }
            top = above;
        }
        let before = self.len;
        // Joining two nodes takes a slot from the one above.
        let level = self.node(top).level + 1;
        top = self.cut(top, time);
        // From the top, so that each has siblings to be filled from; then what this took away above.
        let mut id = top;
        loop {
            if id != self.root && self.node(id).slots.len() < MIN {
                self.refill(agg, id);
            }
            match self.node(id).children.first() {
                Some(&child) => id = child,
                None => break,
            }
        }
        let highest = self.refill_up(agg, id, level);
        self.repair_from(agg, highest);
        self.give_back();
        before - self.len
    }

    /// Cuts what is before `time` off, from this node of the left spine down. The nodes there may have
    /// too few slots then, down to one, and the leaf none. Returns the highest node that is left.
    fn cut(&mut self, mut top: u32, time: T) -> u32 {
        let mut id = top;
        while self.node(id).level > 0 {
            let begun = self.node(id).slots.iter().skip(1).take_while(|slot| slot.0 < time).count();
            for _ in 0..begun {
                let child = self.node_mut(id).children.remove(0);
                self.len -= self.free_all(child);
            }
            self.node_mut(id).slots.drain(..begun);
            let first = self.node(id).children[0];
            if id == self.root && self.node(id).children.len() == 1 {
                self.crown(first);
                top = first;
            } else {
                self.node_mut(first).side = Side::Left;
            }
            id = first;
        }
        self.left = id;
        let slots = &mut self.node_mut(id).slots;
        let gone = slots.partition_point(|slot| slot.0 < time);
        slots.drain(..gone);
        self.len -= gone;
        top
    }

    /// Makes the only child of the root the root.
    fn crown(&mut self, child: u32) {
        let old = self.root;
        self.free_node(old);
        self.root = child;
        let node = self.node_mut(child);
        (node.side, node.parent) = (Side::Root, NONE);
    }

    /// Refills from this node of the left spine upwards, at least to this level, and returns the highest
    /// node that changed.
    fn refill_up<A: Aggregate<Acc = Acc>>(&mut self, agg: &A, mut id: u32, level: u8) -> u32 {
        while id != self.root {
            let few = self.node(id).slots.len() < MIN;
            if few {
                self.refill(agg, id);
            }
            if id == self.root || (!few && self.node(id).level >= level) {
                break;
            }
            id = self.node(id).parent;
        }
        id
    }

    fn repair_from<A: Aggregate<Acc = Acc>>(&mut self, agg: &A, highest: u32) {
        match highest == self.root {
            true => self.repair_outside(agg),
            false => self.repair_left(agg, highest),
        }
    }

    /// Fills a node of the left spine from its sibling, which has enough, or joins the two.
    fn refill<A: Aggregate<Acc = Acc>>(&mut self, agg: &A, id: u32) {
        let parent = self.node(id).parent;
        let Some(&sibling) = self.node(parent).children.get(1) else { return };
        let (few, many) = (self.node(id).slots.len(), self.node(sibling).slots.len());
        let join = few + many <= MAX;
        let moved = if join { many } else { (many - few) / 2 };
        let [node, later] = self.two(id, sibling);
        node.slots.extend(later.slots.drain(..moved));
        if node.level > 0 {
            node.children.extend(later.children.drain(..moved));
        }
        self.adopt(id, few);
        if !join {
            let first = self.node(sibling).slots[0].0;
            self.node_mut(parent).slots[1].0 = first;
            if self.node(sibling).side == Side::Inner {
                self.tell_parent(agg, sibling);
            }
            return;
        }
        if self.right == sibling {
            self.right = id;
        }
        self.free_node(sibling);
        let above = self.node_mut(parent);
        above.slots.remove(1);
        above.children.remove(1);
        let alone = above.children.len() == 1;
        if alone && parent == self.root {
            self.crown(id);
        }
    }
}
