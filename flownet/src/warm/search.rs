//! Ways between two nodes of a residual network, looked for from both ends.

use alloc::vec;
use alloc::vec::Vec;

use crate::solve::residual::{Residual, Width, spend};

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

/// A node in a tree's front counts as so many arcs to be looked at.
const PENDING: u64 = 16;

/// Two trees, of what is reached from one node and of what the other is reached from.
///
/// They cost what they visit, and not what there is: nothing is cleared between two searches. When
/// an amount has been sent along a way, the trees are kept, and mended where an arc that became full
/// is met again; so to send over many ways costs little more than to find the longest of them. This
/// is how Boykov and Kolmogorov find maximum flows, but for orphans, which are not looked for: they
/// are adopted, or lost, when a way leads over them.
#[derive(Clone, Debug)]
pub(super) struct Search {
    /// For each node twice the number of the search that reached it last, and one more if it was
    /// reached against the arcs from the far end.
    marks: Vec<u32>,
    nodes: Vec<Node>,
    number: u32,
    ahead: Tree,
    behind: Tree,
    /// Whether anything was sent since the trees were begun.
    torn: bool,
    /// Arcs looked at to mend the trees.
    mending: u64,
    /// The arcs of the way, in order.
    pub(super) path: Vec<u32>,
    /// All arcs over which something was sent since it was emptied.
    pub(super) touched: Vec<u32>,
}

/// How a tree reached a node.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    /// The place in the row of the node before it.
    via: u32,
    /// More than that of the node before it, as long as that holds it.
    level: u32,
}

#[derive(Clone, Debug, Default)]
struct Tree {
    forth: bool,
    mark: u32,
    root: u32,
    queue: Vec<u32>,
    head: usize,
    /// The node in hand, and the places of its row that may lead on: so many, and the next of them.
    node: u32,
    ready: Vec<u32>,
    count: usize,
    next: usize,
    /// The highest level.
    depth: u32,
    /// Arcs looked at.
    work: u64,
}

impl Tree {
    fn begin(&mut self, root: u32, mark: u32) {
        self.mark = mark;
        self.root = root;
        self.queue.clear();
        self.queue.push(root);
        self.head = 0;
        self.count = 0;
        self.next = 0;
        self.depth = 0;
        self.work = 0;
    }

    #[inline]
    fn is_ready(&self) -> bool {
        self.next < self.count
    }

    /// What will have been looked at when the front has moved on.
    #[inline]
    fn cost(&self) -> u64 {
        self.work + PENDING * (self.queue.len() - self.head) as u64
    }

    /// Whether what is reached over a place has room on its arc.
    #[inline]
    fn room<W: Width>(&self, net: &Residual<W>, place: usize) -> W {
        if self.forth { net.edges[place].cap } else { net.edges[place].back }
    }

    /// Takes the places of a row that have room and lead out of the tree. Without a branch that
    /// depends on either: they could not be foretold.
    #[inline]
    fn take<W: Width>(&mut self, net: &Residual<W>, node: u32, marks: &[u32]) {
        let row = net.row(node);
        if self.ready.len() < row.len() {
            self.ready.resize(row.len(), 0);
        }
        let (mut count, mut place) = (0, row.start as u32);
        for edge in &net.edges[row] {
            let room = if self.forth { edge.cap } else { edge.back };
            let open = (room > W::ZERO) & (marks[edge.head as usize] != self.mark);
            self.ready[count] = place;
            count += usize::from(open);
            place += 1;
        }
        (self.node, self.count, self.next) = (node, count, 0);
    }
}

impl Search {
    pub(super) fn new(nodes: usize) -> Self {
        Search {
            marks: vec![0; nodes],
            nodes: vec![Node::default(); nodes],
            number: 0,
            ahead: Tree { forth: true, ..Tree::default() },
            behind: Tree::default(),
            torn: false,
            mending: 0,
            path: Vec::new(),
            touched: Vec::new(),
        }
    }

    /// Looks for a way from `from` to another node `to` over arcs that have room. Each look at an
    /// arc takes one from the allowance. The end whose front is moved on after fewer looks goes
    /// first, so that a node that is cut off is soon known as such.
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
                // Much is lost, and what is left may be little: known at once if looked for anew.
                Ok(Some(_)) if self.is_worn() => self.begin(from, to),
                Ok(Some(arc)) => {
                    let (tail, head) = (net.tail(arc), net.edges[arc as usize].head);
                    let whole = self
                        .mend(net, true, tail, allowance)
                        .and_then(|whole| Ok(whole && self.mend(net, false, head, allowance)?));
                    match whole {
                        Ok(true) => {}
                        Ok(false) => continue,
                        Err(()) => return Found::Limit,
                    }
                    self.join(net, arc);
                    self.send(net, left);
                    if *left == W::ZERO {
                        return Found::Path;
                    }
                    // A way is walked again for each arc between the trees: that is work too.
                    if !spend(allowance, self.path.len() as u64) {
                        return Found::Limit;
                    }
                }
                Ok(None) => return Found::Nothing,
                Err(()) => return Found::Limit,
            }
        }
    }

    /// Whether so much was mended that the trees had better be begun anew.
    fn is_worn(&self) -> bool {
        self.mending > 32 + (self.ahead.work + self.behind.work) / 4
    }

    fn begin(&mut self, from: u32, to: u32) {
        debug_assert_ne!(from, to);
        self.path.clear();
        self.torn = false;
        self.mending = 0;
        if self.number >= u32::MAX / 2 {
            self.marks.fill(0);
            self.number = 0;
        }
        self.number += 1;
        self.ahead.begin(from, 2 * self.number);
        self.behind.begin(to, 2 * self.number + 1);
        for tree in [&self.ahead, &self.behind] {
            self.marks[tree.root as usize] = tree.mark;
            self.nodes[tree.root as usize] = Node { via: 0, level: 0 };
        }
    }

    /// Goes on until an arc leads from one tree to the other: it is looked at again by the next
    /// call. `None` if a tree has come to its end: then no arc with room leads out of it, and so
    /// there is no way, whether all of it still hangs together or not.
    fn grow<W: Width>(
        &mut self,
        net: &Residual<W>,
        allowance: &mut u64,
    ) -> Result<Option<u32>, ()> {
        loop {
            let forth = self.ahead.is_ready()
                || !self.behind.is_ready() && self.ahead.cost() <= self.behind.cost();
            let (tree, other) = if forth {
                (&mut self.ahead, self.behind.mark)
            } else {
                (&mut self.behind, self.ahead.mark)
            };
            if !tree.is_ready() {
                let Some(&node) = tree.queue.get(tree.head) else { return Ok(None) };
                tree.head += 1;
                if self.marks[node as usize] != tree.mark {
                    continue;
                }
                let degree = net.degree(node);
                if *allowance < degree {
                    return Err(());
                }
                *allowance -= degree;
                tree.work += degree + 1;
                tree.take(net, node, &self.marks);
            }
            if self.marks[tree.node as usize] != tree.mark {
                // It was lost while it was in hand.
                tree.next = tree.count;
                continue;
            }
            let level = self.nodes[tree.node as usize].level + 1;
            tree.depth = tree.depth.max(level);
            while tree.is_ready() {
                let via = tree.ready[tree.next];
                let edge = &net.edges[via as usize];
                let mark = &mut self.marks[edge.head as usize];
                // Both may have changed since the places were taken.
                if *mark != tree.mark && tree.room(net, via as usize) > W::ZERO {
                    if *mark == other {
                        return Ok(Some(if forth { via } else { edge.partner() as u32 }));
                    }
                    *mark = tree.mark;
                    self.nodes[edge.head as usize] = Node { via, level };
                    tree.queue.push(edge.head);
                }
                tree.next += 1;
            }
        }
    }

    /// Sees to it that a tree still leads to a node, by other arcs where some have become full.
    /// What it does not lead to any more is lost to it. `false` if that is the node, or if the trees
    /// are worn; an error if the allowance does not do.
    fn mend<W: Width>(
        &mut self,
        net: &Residual<W>,
        forth: bool,
        node: u32,
        allowance: &mut u64,
    ) -> Result<bool, ()> {
        let mut at = node;
        let mut walked = 0;
        while self.torn {
            if self.is_worn() {
                return Ok(false);
            }
            let tree = if forth { &mut self.ahead } else { &mut self.behind };
            if at == tree.root {
                break;
            }
            let Node { via, level } = self.nodes[at as usize];
            let before = net.tail(via);
            if tree.room(net, via as usize) > W::ZERO
                && self.marks[before as usize] == tree.mark
                && self.nodes[before as usize].level < level
            {
                at = before;
                walked += 1;
                continue;
            }
            // The steps up to here are lost with it, or walked in vain if it is lifted.
            let cost = net.degree(at) + core::mem::take(&mut walked);
            self.mending += cost;
            if !spend(allowance, cost) {
                return Err(());
            }
            let adopted = adopt(net, tree, &self.marks, &self.nodes, at);
            if let Some(found) = adopted {
                self.nodes[at as usize] = found;
                continue;
            }
            self.marks[at as usize] = 0;
            // It may be reached again, from what has been looked at already.
            for edge in &net.edges[net.row(at)] {
                let room = if forth { edge.back } else { edge.cap };
                if room > W::ZERO && self.marks[edge.head as usize] == tree.mark {
                    tree.queue.push(edge.head);
                }
            }
            if at == node {
                return Ok(false);
            }
            at = node;
        }
        Ok(true)
    }

    /// The way through an arc between the trees.
    fn join<W: Width>(&mut self, net: &Residual<W>, middle: u32) {
        self.path.clear();
        let mut node = net.tail(middle);
        while node != self.ahead.root {
            let via = self.nodes[node as usize].via;
            self.path.push(via);
            node = net.tail(via);
        }
        self.path.reverse();
        self.path.push(middle);
        node = net.edges[middle as usize].head;
        while node != self.behind.root {
            let arc = net.edges[self.nodes[node as usize].via as usize].partner();
            self.path.push(arc as u32);
            node = net.edges[arc].head;
        }
    }

    /// What the way has room for, and at most `most`.
    pub(super) fn room<W: Width>(&self, net: &Residual<W>, most: W) -> W {
        self.path.iter().map(|&arc| net.edges[arc as usize].cap).fold(most, Ord::min)
    }

    /// Sends what the way has room for of `left`.
    pub(super) fn send<W: Width>(&mut self, net: &mut Residual<W>, left: &mut W) {
        let amount = self.room(net, *left);
        for &arc in &self.path {
            net.send(arc as usize, amount);
        }
        self.touched.extend_from_slice(&self.path);
        self.torn = true;
        *left -= amount;
    }
}

/// The least level at which a tree can hold a node by another node of it. One that was lower holds
/// it at its own level; one that was not lifts it, and then what it held must be mended in turn.
fn adopt<W: Width>(
    net: &Residual<W>,
    tree: &Tree,
    marks: &[u32],
    nodes: &[Node],
    node: u32,
) -> Option<Node> {
    let level = nodes[node as usize].level;
    let mut best = None;
    let mut least = tree.depth;
    for edge in &net.edges[net.row(node)] {
        let room = if tree.forth { edge.back } else { edge.cap };
        let there = nodes[edge.head as usize].level;
        if room > W::ZERO && marks[edge.head as usize] == tree.mark && there < least {
            best = Some(Node { via: edge.partner() as u32, level: level.max(there + 1) });
            least = there;
            if there < level {
                break;
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One long wide way to many narrow arcs: each takes a walk of all of it.
    #[test]
    fn long_ways_that_are_kept_count_as_work() {
        let (length, width) = (100, 100);
        let fan = 2 + length;
        let wide = 2 * width;
        let mut arcs: Vec<(u32, u32, u64)> = vec![(0, 2, u64::from(wide))];
        arcs.extend((2..fan - 1).map(|node| (node, node + 1, u64::from(wide))));
        for node in fan..fan + width {
            arcs.extend([(fan - 1, node, 1), (node, 1, u64::from(wide))]);
        }
        let net = Residual::new((fan + width) as usize, 0, 1, || arcs.iter().copied());
        let lead = |mut allowance: u64| {
            let mut search = Search::new(net.nodes());
            let mut left = u64::from(width);
            let found = search.lead(&mut net.clone(), 0, 1, &mut left, &mut allowance);
            (found, left, search.touched.len() as u64)
        };
        assert_eq!(lead(20_000), (Found::Path, 0, u64::from(width * (length + 2))));
        let (found, _, walked) = lead(2_000);
        assert_eq!(found, Found::Limit);
        assert!(walked <= 2_000, "{walked}");
    }
}
