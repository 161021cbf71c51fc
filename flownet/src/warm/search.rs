//! Ways between two nodes of a residual network, looked for from both ends.

use alloc::vec;
use alloc::vec::Vec;

use crate::solve::residual::{Residual, Width};

/// What a search came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// A way; it is in [`Search::path`].
    Path,
    /// There is none.
    Nothing,
    /// The work that was allowed was not enough to know.
    Limit,
}

/// Two trees, of what is reached from one node and of what the other is reached from.
///
/// They cost what they visit, and not what there is: nothing is cleared between two searches. When
/// an amount has been sent along a way, the trees are kept, and mended where an arc that became full
/// is met again; so to send over many ways costs little more than to find the longest of them.
#[derive(Clone, Debug)]
pub(super) struct Search {
    nodes: Vec<Node>,
    number: u32,
    ahead: Tree,
    behind: Tree,
    /// Whether a tree may have lost what it could still reach.
    torn: bool,
    /// The arcs of the way, in order.
    pub(super) path: Vec<u32>,
    /// All arcs over which something was sent since it was emptied.
    pub(super) touched: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Node {
    /// Twice the number of the search that reached it last, and one more if it was reached against
    /// the arcs from the far end.
    mark: u32,
    /// The arc over which it was reached: into it, or out of it from the far end.
    via: u32,
    /// More than that of the node it was reached from, if that still holds it.
    level: u32,
}

#[derive(Clone, Debug, Default)]
struct Tree {
    queue: Vec<u32>,
    head: usize,
    /// The arcs of the node in hand that were not looked at yet.
    rest: core::ops::Range<usize>,
    mark: u32,
    /// The highest level.
    depth: u32,
    /// Arcs looked at.
    work: u64,
}

impl Tree {
    fn begin(&mut self, root: u32, mark: u32) {
        self.queue.clear();
        self.queue.push(root);
        self.head = 0;
        self.rest = 0..0;
        self.mark = mark;
        self.depth = 0;
        self.work = 0;
    }

    fn root(&self) -> u32 {
        self.queue[0]
    }
}

impl Search {
    pub(super) fn new(nodes: usize) -> Self {
        Search {
            nodes: vec![Node::default(); nodes],
            number: 0,
            ahead: Tree::default(),
            behind: Tree::default(),
            torn: false,
            path: Vec::new(),
            touched: Vec::new(),
        }
    }

    /// Looks for a way from `from` to another node `to` over arcs that have room. Each look at an
    /// arc takes one from the allowance. The end that has looked at fewer arcs goes on, so that a
    /// node that is cut off is known as such after twice what can be reached from it.
    pub(super) fn find<W: Width>(
        &mut self,
        net: &Residual<W>,
        from: u32,
        to: u32,
        allowance: &mut u64,
    ) -> Found {
        self.begin(from, to);
        match self.grow(net, allowance) {
            Ok(Some(arc)) => {
                self.join(net, arc);
                Found::Path
            }
            Ok(None) => Found::Nothing,
            Err(()) => Found::Limit,
        }
    }

    /// Sends as much of `left` from `from` to another node `to` as there are ways for, and takes it
    /// from `left`. [`Found::Nothing`] if something is left.
    pub(super) fn lead<W: Width>(
        &mut self,
        net: &mut Residual<W>,
        from: u32,
        to: u32,
        left: &mut W,
        allowance: &mut u64,
    ) -> Found {
        self.begin(from, to);
        loop {
            match self.grow(net, allowance) {
                Ok(Some(arc)) => {
                    let (tail, head) = (net.tail(arc), net.edges[arc as usize].head);
                    if self.mend(net, true, tail, allowance)
                        && self.mend(net, false, head, allowance)
                    {
                        self.join(net, arc);
                        let amount = self.room(net, *left);
                        for &arc in &self.path {
                            net.send(arc as usize, amount);
                        }
                        self.touched.extend_from_slice(&self.path);
                        self.torn = true;
                        *left -= amount;
                        if *left == W::ZERO {
                            return Found::Path;
                        }
                    }
                }
                // What the trees have lost may be reached another way.
                Ok(None) if self.torn => self.begin(from, to),
                Ok(None) => return Found::Nothing,
                Err(()) => return Found::Limit,
            }
        }
    }

    fn begin(&mut self, from: u32, to: u32) {
        debug_assert_ne!(from, to);
        self.path.clear();
        self.torn = false;
        if self.number >= u32::MAX / 2 {
            self.nodes.fill(Node::default());
            self.number = 0;
        }
        self.number += 1;
        for (tree, root, mark) in [
            (&mut self.ahead, from, 2 * self.number),
            (&mut self.behind, to, 2 * self.number + 1),
        ] {
            tree.begin(root, mark);
            self.nodes[root as usize] = Node { mark, via: 0, level: 0 };
        }
    }

    /// Goes on until an arc leads from one tree to the other: it is looked at again by the next
    /// call. `None` if a tree has come to its end.
    fn grow<W: Width>(
        &mut self,
        net: &Residual<W>,
        allowance: &mut u64,
    ) -> Result<Option<u32>, ()> {
        loop {
            let forth = self.ahead.work <= self.behind.work;
            let (tree, other) = if forth {
                (&mut self.ahead, self.behind.mark)
            } else {
                (&mut self.behind, self.ahead.mark)
            };
            if tree.rest.is_empty() {
                let Some(&node) = tree.queue.get(tree.head) else { return Ok(None) };
                tree.head += 1;
                if self.nodes[node as usize].mark != tree.mark {
                    continue;
                }
                let degree = net.degree(node);
                if *allowance < degree {
                    return Err(());
                }
                *allowance -= degree;
                tree.rest = net.row(node);
            }
            let node = tree.queue[tree.head - 1];
            let Node { mark, level, .. } = self.nodes[node as usize];
            if mark != tree.mark {
                // It was lost while it was looked at.
                tree.rest = 0..0;
                continue;
            }
            let level = level + 1;
            for place in tree.rest.clone() {
                let edge = &net.edges[place];
                let room = if forth { edge.cap } else { edge.back };
                let there = &mut self.nodes[edge.head as usize];
                if room == W::ZERO || there.mark == tree.mark {
                    continue;
                }
                let arc = if forth { place } else { edge.partner() } as u32;
                if there.mark == other {
                    tree.rest.start = place;
                    return Ok(Some(arc));
                }
                *there = Node { mark: tree.mark, via: arc, level };
                tree.depth = tree.depth.max(level);
                tree.queue.push(edge.head);
            }
            tree.work += net.degree(node) + 1;
            tree.rest = 0..0;
        }
    }

    /// Sees to it that a tree still leads to a node, by other arcs where some have become full.
    /// If not, the node is no longer of the tree.
    fn mend<W: Width>(
        &mut self,
        net: &Residual<W>,
        forth: bool,
        node: u32,
        allowance: &mut u64,
    ) -> bool {
        if !self.torn {
            return true;
        }
        let tree = if forth { &self.ahead } else { &self.behind };
        let mut at = node;
        while at != tree.root() {
            let Node { via, level, .. } = self.nodes[at as usize];
            let next = if forth { net.tail(via) } else { net.edges[via as usize].head };
            let before = self.nodes[next as usize];
            if net.edges[via as usize].cap > W::ZERO
                && before.mark == tree.mark
                && before.level < level
            {
                at = next;
                continue;
            }
            *allowance = allowance.saturating_sub(net.degree(at));
            let mut best = Node { mark: 0, via: 0, level: tree.depth };
            for place in net.row(at) {
                let edge = &net.edges[place];
                let (room, arc) =
                    if forth { (edge.back, edge.partner()) } else { (edge.cap, place) };
                let there = self.nodes[edge.head as usize];
                if room > W::ZERO && there.mark == tree.mark && there.level < best.level {
                    best = Node { mark: tree.mark, via: arc as u32, level: there.level };
                    if there.level < level {
                        break;
                    }
                }
            }
            if best.mark == 0 {
                self.nodes[at as usize].mark = 0;
                if at == node {
                    return false;
                }
                at = node;
            } else {
                best.level = (best.level + 1).max(level);
                self.nodes[at as usize] = best;
            }
        }
        true
    }

    /// The way through an arc between the trees.
    fn join<W: Width>(&mut self, net: &Residual<W>, middle: u32) {
        self.path.clear();
        let mut node = net.tail(middle);
        while node != self.ahead.root() {
            let arc = self.nodes[node as usize].via;
            self.path.push(arc);
            node = net.tail(arc);
        }
        self.path.reverse();
        self.path.push(middle);
        node = net.edges[middle as usize].head;
        while node != self.behind.root() {
            let arc = self.nodes[node as usize].via;
            self.path.push(arc);
            node = net.edges[arc as usize].head;
        }
    }

    /// What the way has room for, and at most `most`.
    pub(super) fn room<W: Width>(&self, net: &Residual<W>, most: W) -> W {
        self.path.iter().map(|&arc| net.edges[arc as usize].cap).fold(most, Ord::min)
    }
}
