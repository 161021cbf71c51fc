//! A tree as bytes: its shape as well, so that what is merged later is merged in the same order.

use alloc::vec::Vec;

use super::{Finger, MAX, MIN, Side};
use crate::Aggregate;
use crate::snapshot::{Codec, Input, RestoreError};

/// A tree with more levels than this would have more nodes than have numbers.
const HIGHEST: u8 = 16;

/// Where the next element may lie.
struct Bounds {
    /// Not before what was read.
    least: i64,
    elements: usize,
}

impl<Acc: Clone + Codec> Finger<Acc, i64> {
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        self.node(self.root).level.encode(out);
        self.encode_node(self.root, out);
    }

    fn encode_node(&self, id: u32, out: &mut Vec<u8>) {
        let node = self.node(id);
        (node.slots.len() as u8).encode(out);
        for (at, (time, acc)) in node.slots.iter().enumerate() {
            time.encode(out);
            match node.children.get(at) {
                Some(&child) => self.encode_node(child, out),
                None => acc.encode(out),
            }
        }
    }

    pub(crate) fn decode<A: Aggregate<Acc = Acc>>(
        agg: &A,
        input: &mut Input<'_>,
    ) -> Result<Self, RestoreError> {
        let mut tree: Self = super::super::Kernel::<A, i64>::new(agg);
        let level = u8::decode(input)?;
        if level > HIGHEST {
            return Err(input.corrupt());
        }
        tree.node_mut(0).level = level;
        let mut bounds = Bounds { least: i64::MIN, elements: 0 };
        tree.decode_node(agg, 0, &mut bounds, input)?;
        tree.len = bounds.elements;
        tree.left = tree.end(|children| children.first().copied());
        tree.right = tree.end(|children| children.last().copied());
        tree.repair_outside(agg);
        Ok(tree)
    }

    /// The leaf at an end.
    fn end(&self, next: impl Fn(&[u32]) -> Option<u32>) -> u32 {
        let mut id = self.root;
        while let Some(child) = next(&self.node(id).children) {
            id = child;
        }
        id
    }

    fn decode_node<A: Aggregate<Acc = Acc>>(
        &mut self,
        agg: &A,
        id: u32,
        bounds: &mut Bounds,
        input: &mut Input<'_>,
    ) -> Result<(), RestoreError> {
        let (level, side) = (self.node(id).level, self.node(id).side);
        let count = usize::from(u8::decode(input)?);
        let fewest = match (side, level) {
            (Side::Root, 0) => 0,
            (Side::Root, _) => 2,
            _ => MIN,
        };
        if !(fewest..=MAX).contains(&count) {
            return Err(input.corrupt());
        }
        for at in 0..count {
            let time = i64::decode(input)?;
            // The first slot on the left spine may lie after its elements, but never after the next slot.
            let first = at == 0 && level > 0 && matches!(side, Side::Root | Side::Left);
            if time < bounds.least {
                return Err(input.corrupt());
            }
            if !first {
                bounds.least = time;
            }
            if level == 0 {
                let acc = Acc::decode(input)?;
                self.node_mut(id).slots.push((time, acc));
                bounds.elements += 1;
                continue;
            }
            let child_side = match side {
                Side::Root | Side::Left if at == 0 => Side::Left,
                Side::Root | Side::Right if at + 1 == count => Side::Right,
                _ => Side::Inner,
            };
            let child = self.create_node(agg.create(), level - 1, child_side);
            self.node_mut(child).parent = id;
            let node = self.node_mut(id);
            node.slots.push((time, agg.create()));
            node.children.push(child);
            self.decode_node(agg, child, bounds, input)?;
            if child_side == Side::Inner {
                self.tell_parent(agg, child);
            }
            // Where the next slot begins, the first must have begun.
            if first {
                bounds.least = bounds.least.max(time);
            }
        }
        Ok(())
    }
}
