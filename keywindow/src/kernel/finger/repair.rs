//! The merges that the nodes keep.

use super::{Finger, Side};
use crate::Aggregate;

impl<Acc: Clone, T: Copy + Ord> Finger<Acc, T> {
    /// The merge of slots, after `older` if there is one.
    #[inline]
    fn fold<'a, A: Aggregate<Acc = Acc>>(
        agg: &A,
        older: Option<&Acc>,
        slots: impl IntoIterator<Item = &'a (T, Acc)>,
    ) -> Option<Acc>
    where
        Acc: 'a,
        T: 'a,
    {
        let mut slots = slots.into_iter().map(|(_, acc)| acc);
        let mut merged = match older {
            Some(older) => match slots.next() {
                Some(first) => agg.merge(older, first),
                None => return Some(older.clone()),
            },
            None => slots.next()?.clone(),
        };
        for acc in slots {
            merged = agg.merge(&merged, acc);
        }
        Some(merged)
    }

    /// Puts the merge of a node that is on no spine into its parent's slot, and returns the parent.
    pub(super) fn tell_parent<A: Aggregate<Acc = Acc>>(&mut self, agg: &A, id: u32) -> u32 {
        let node = self.node(id);
        let parent = node.parent;
        if let Some(merged) = Self::fold(agg, None, &node.slots) {
            let at = self.position(parent, id);
            self.node_mut(parent).slots[at].1 = merged;
        }
        parent
    }

    /// After a node changed: all that stand for it.
    pub(super) fn repair<A: Aggregate<Acc = Acc>>(&mut self, agg: &A, mut id: u32) {
        loop {
            match self.node(id).side {
                Side::Inner => id = self.tell_parent(agg, id),
                Side::Left => return self.repair_left(agg, id),
                Side::Right => return self.repair_right(agg, id),
                Side::Root => return self.repair_root(agg),
            }
        }
    }

    pub(super) fn repair_root<A: Aggregate<Acc = Acc>>(&mut self, agg: &A) {
        let root = self.node(self.root);
        let inside = match root.level {
            0 => root.slots.as_slice(),
            _ => root.slots.get(1..root.slots.len() - 1).unwrap_or_default(),
        };
        let merged = Self::fold(agg, None, inside).unwrap_or_else(|| agg.create());
        let root = self.root;
        self.node_mut(root).agg = merged;
    }

    /// The root and both spines.
    pub(super) fn repair_outside<A: Aggregate<Acc = Acc>>(&mut self, agg: &A) {
        self.repair_root(agg);
        let children = &self.node(self.root).children;
        if let (Some(&left), Some(&right)) = (children.first(), children.last()) {
            self.repair_left(agg, left);
            self.repair_right(agg, right);
        }
    }

    /// The left spine from a node on it down to the leaf.
    pub(super) fn repair_left<A: Aggregate<Acc = Acc>>(&mut self, agg: &A, mut id: u32) {
        loop {
            let node = self.node(id);
            let skip = usize::from(node.level > 0);
            let own = Self::fold(agg, None, node.slots.iter().skip(skip));
            let above = self.node(node.parent);
            let merged = match (above.side == Side::Root, own) {
                (true, own) => own.unwrap_or_else(|| agg.create()),
                (false, Some(own)) => agg.merge(&own, &above.agg),
                (false, None) => above.agg.clone(),
            };
            let next = node.children.first().copied();
            self.node_mut(id).agg = merged;
            match next {
                Some(next) => id = next,
                None => return,
            }
        }
    }

    /// The right spine from a node on it down to the leaf. The fold begins above, so that it is, to the
    /// last bit, what one push after the other makes of it.
    pub(super) fn repair_right<A: Aggregate<Acc = Acc>>(&mut self, agg: &A, mut id: u32) {
        loop {
            let node = self.node(id);
            let above = self.node(node.parent);
            let above = (above.side != Side::Root).then_some(&above.agg);
            let own = node.slots.len() - usize::from(node.level > 0);
            let merged = Self::fold(agg, above, node.slots.iter().take(own));
            let next = node.children.last().copied();
            self.node_mut(id).agg = merged.unwrap_or_else(|| agg.create());
            match next {
                Some(next) => id = next,
                None => return,
            }
        }
    }
}
