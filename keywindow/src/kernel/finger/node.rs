//! Nodes, and where they live.

use alloc::vec::Vec;
use core::mem;

use super::Finger;

/// Slots of a node that is not the root, at least and at most. With three times as many at most, nodes
/// that are filled in order stay two thirds full.
pub(super) const MIN: usize = 4;
pub(super) const MAX: usize = 3 * MIN;
/// The number of no node.
pub(super) const NONE: u32 = u32::MAX;
/// Below this many nodes the memory is kept.
const SMALL: usize = 64;

/// Where a node lies, and so what its `agg` stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// The merge of a leaf; of a node with children, those that are on no spine.
    Root,
    /// The merge of all of it but its first child, and of the left spine above.
    Left,
    /// The merge of the right spine above, and of all of it but its last child.
    Right,
    /// Nothing: its merge is in its parent's slot.
    Inner,
}

#[derive(Clone, Debug)]
pub(super) struct Node<Acc, T> {
    /// An element each in a leaf. Elsewhere for each child a time that no element of it is before,
    /// but for the first child on the left spine, and the merge of the child unless it is on a spine.
    pub(super) slots: Vec<(T, Acc)>,
    pub(super) children: Vec<u32>,
    pub(super) agg: Acc,
    pub(super) parent: u32,
    pub(super) level: u8,
    pub(super) side: Side,
}

impl<Acc, T> Node<Acc, T> {
    pub(super) const fn new(agg: Acc, level: u8, side: Side) -> Self {
        Self { slots: Vec::new(), children: Vec::new(), agg, parent: NONE, level, side }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<(T, Acc)>() + self.children.capacity() * size_of::<u32>()
    }
}

impl<Acc: Clone, T: Copy + Ord> Finger<Acc, T> {
    #[inline]
    pub(super) fn node(&self, id: u32) -> &Node<Acc, T> {
        &self.nodes[id as usize]
    }

    #[inline]
    pub(super) fn node_mut(&mut self, id: u32) -> &mut Node<Acc, T> {
        &mut self.nodes[id as usize]
    }

    /// Which child of its parent this is.
    #[inline]
    pub(super) fn position(&self, parent: u32, child: u32) -> usize {
        let children = &self.node(parent).children;
        // It is one of them; the last is asked for most.
        children.iter().rposition(|&id| id == child).unwrap_or(0)
    }

    /// A node without slots.
    pub(super) fn create_node(&mut self, agg: Acc, level: u8, side: Side) -> u32 {
        if let Some(id) = self.free.pop() {
            let node = self.node_mut(id);
            (node.agg, node.level, node.side) = (agg, level, side);
            return id;
        }
        self.nodes.push(Node::new(agg, level, side));
        (self.nodes.len() - 1) as u32
    }

    /// Frees one node. Its memory is kept for the next one.
    pub(super) fn free_node(&mut self, id: u32) {
        let node = self.node_mut(id);
        node.slots.clear();
        node.children.clear();
        node.parent = NONE;
        self.free.push(id);
    }

    /// Frees a node and all below it, and returns how many elements that were.
    pub(super) fn free_all(&mut self, id: u32) -> usize {
        let mut elements = 0;
        let mut all = Vec::from([id]);
        while let Some(id) = all.pop() {
            let node = self.node_mut(id);
            if node.level == 0 {
                elements += node.slots.len();
            }
            all.append(&mut node.children);
            self.free_node(id);
        }
        elements
    }

    /// Makes `parent` the parent of its children from this one on.
    pub(super) fn adopt(&mut self, parent: u32, from: usize) {
        for at in from..self.node(parent).children.len() {
            let child = self.node(parent).children[at];
            self.node_mut(child).parent = parent;
        }
    }

    /// Gives the memory of free nodes back where seven of eight are free. The shape of the tree, and so the
    /// order in which anything is merged, stays as it is.
    pub(super) fn give_back(&mut self) {
        let live = self.nodes.len() - self.free.len();
        if self.nodes.len() <= SMALL || 8 * live > self.nodes.len() {
            return;
        }
        let mut nodes: Vec<Node<Acc, T>> = Vec::with_capacity(2 * live);
        let mut moved = Vec::from([(self.root, NONE)]);
        let (left, right) = (self.left, self.right);
        while let Some((id, parent)) = moved.pop() {
            let new = nodes.len() as u32;
            let old = self.node_mut(id);
            let agg = old.agg.clone();
            let mut node = mem::replace(old, Node::new(agg, 0, Side::Inner));
            node.parent = parent;
            moved.extend(node.children.iter().map(|&child| (child, new)));
            if let Some(parent) = nodes.get_mut(parent as usize) {
                // Children of a moved node keep their old numbers until they are moved themselves.
                if let Some(at) = parent.children.iter().rposition(|&child| child == id) {
                    parent.children[at] = new | MOVED;
                }
            }
            if id == left {
                self.left = new;
            }
            if id == right {
                self.right = new;
            }
            nodes.push(node);
        }
        for child in nodes.iter_mut().flat_map(|node| &mut node.children) {
            *child &= !MOVED;
        }
        self.root = 0;
        self.nodes = nodes;
        self.free = Vec::new();
    }
}

/// Tells a child's new number from its old one.
const MOVED: u32 = 1 << 31;
