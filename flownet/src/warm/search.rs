//! A way between two nodes of a residual network, looked for from both ends.

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

/// A search that costs what it visits, and not what there is: nothing is cleared between two.
#[derive(Clone, Debug)]
pub(super) struct Search {
    /// For each node twice the number of the search that reached it last, and one more if it was
    /// reached against the arcs from the far end.
    marks: Vec<u32>,
    number: u32,
    /// The arc over which the node was reached: into it, or out of it from the far end.
    via: Vec<u32>,
    ahead: Front,
    behind: Front,
    /// The arcs of the way, in order.
    pub(super) path: Vec<u32>,
}

#[derive(Clone, Debug, Default)]
struct Front {
    queue: Vec<u32>,
    head: usize,
    /// Arcs looked at.
    work: u64,
}

impl Front {
    fn begin(&mut self, node: u32) {
        self.queue.clear();
        self.queue.push(node);
        self.head = 0;
        self.work = 0;
    }

    fn next(&mut self) -> Option<u32> {
        let node = self.queue.get(self.head).copied();
        self.head += usize::from(node.is_some());
        node
    }
}

impl Search {
    pub(super) fn new(nodes: usize) -> Self {
        Search {
            marks: vec![0; nodes],
            number: 0,
            via: vec![0; nodes],
            ahead: Front::default(),
            behind: Front::default(),
            path: Vec::new(),
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
        debug_assert_ne!(from, to);
        self.path.clear();
        if self.number >= u32::MAX / 2 {
            self.marks.fill(0);
            self.number = 0;
        }
        self.number += 1;
        let (ours, theirs) = (2 * self.number, 2 * self.number + 1);
        self.marks[from as usize] = ours;
        self.marks[to as usize] = theirs;
        self.ahead.begin(from);
        self.behind.begin(to);
        loop {
            let forth = self.ahead.work <= self.behind.work;
            let front = if forth { &mut self.ahead } else { &mut self.behind };
            let Some(node) = front.next() else { return Found::Nothing };
            let degree = net.degree(node);
            if *allowance < degree {
                return Found::Limit;
            }
            *allowance -= degree;
            front.work += degree + 1;
            let (mine, other) = if forth { (ours, theirs) } else { (theirs, ours) };
            for place in net.row(node) {
                let edge = &net.edges[place];
                let (room, arc) =
                    if forth { (edge.cap, place) } else { (edge.back, edge.partner()) };
                let mark = self.marks[edge.head as usize];
                if room == W::ZERO || mark == mine {
                    continue;
                }
                if mark == other {
                    self.join(net, arc as u32, ours);
                    return Found::Path;
                }
                self.marks[edge.head as usize] = mine;
                self.via[edge.head as usize] = arc as u32;
                front.queue.push(edge.head);
            }
        }
    }

    /// The way through an arc between what the two ends have reached.
    fn join<W: Width>(&mut self, net: &Residual<W>, middle: u32, ours: u32) {
        debug_assert_eq!(self.marks[net.tail(middle) as usize], ours);
        let mut node = net.tail(middle);
        while node != self.ahead.queue[0] {
            let arc = self.via[node as usize];
            self.path.push(arc);
            node = net.tail(arc);
        }
        self.path.reverse();
        self.path.push(middle);
        node = net.edges[middle as usize].head;
        while node != self.behind.queue[0] {
            let arc = self.via[node as usize];
            self.path.push(arc);
            node = net.edges[arc as usize].head;
        }
    }

    /// What the way has room for, and at most `most`.
    pub(super) fn room<W: Width>(&self, net: &Residual<W>, most: W) -> W {
        self.path.iter().map(|&arc| net.edges[arc as usize].cap).fold(most, Ord::min)
    }

    /// Sends an amount along the way.
    pub(super) fn send<W: Width>(&self, net: &mut Residual<W>, amount: W) {
        for &arc in &self.path {
            net.send(arc as usize, amount);
        }
    }
}
