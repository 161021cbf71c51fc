//! Edmonds–Karp: shortest augmenting paths, the paper's Algorithm 2 with its faults mended.
//!
//! Each path is found by two breadth-first searches, one along the arcs from the source and one
//! against them from the sink. If all nodes within `i` arcs of the source and all within `j` of the
//! sink are known and none is both, then no way is shorter than `i + j + 1`, and an arc that joins
//! the two is part of a shortest one.
//!
//! Raising the flow along a shortest path opens no arc but those that lead back along it, so a
//! search would do all again as before until it looks for the first time at an arc that is now
//! full. It is therefore not begun anew but taken back to there. That shortest ways never become
//! shorter keeps the bound above true meanwhile.

use alloc::vec;
use alloc::vec::Vec;

use super::residual::{Edge, NONE, Residual, Width, spend};
use crate::Stats;

/// The state between two steps. The flow in the residual network is valid at all times.
///
/// O(V E²), in at most V E / 2 searches of O(E) each; with whole capacities also O(E · value).
#[derive(Clone, Debug)]
pub(crate) struct EdmondsKarp {
    /// For each node its place in the queue of the search that reached it, doubled, and one more if
    /// that is the one from the sink; [`NONE`] if neither has. Every node but the first of a queue
    /// was reached over an arc of its own, of which there are at most 2^30.
    labels: Vec<u32>,
    ahead: Front,
    behind: Front,
    /// The path that was found: the arc that joins the searches, then those from there back to the
    /// source, then those on to the sink. Empty while a search is under way.
    path: Vec<u32>,
    /// How many of these are before the last part; 0 before the first search.
    split: usize,
    /// What flows so far.
    pub(crate) value: u128,
}

/// One of the two searches.
#[derive(Clone, Debug)]
struct Front {
    /// The nodes that were reached, in order, and some that were not; one more than there are.
    queue: Vec<Reached>,
    reached: usize,
    /// How many of them have been looked at.
    head: usize,
    /// For each distance that is known in full, where its nodes end in the queue.
    ends: Vec<usize>,
    /// To which distance nodes are wanted.
    depth: usize,
}

/// A node and the arc over which it was reached: the one that leads here, or from here.
#[derive(Clone, Copy, Debug)]
struct Reached {
    node: u32,
    arc: u32,
}

impl Front {
    fn new(nodes: usize) -> Self {
        Front {
            queue: vec![Reached { node: 0, arc: NONE }; nodes + 1],
            reached: 0,
            head: 0,
            ends: Vec::new(),
            depth: 0,
        }
    }

    fn begin(&mut self, node: u32) {
        self.queue[0].node = node;
        self.reached = 1;
        self.ends.push(1);
    }

    fn is_complete(&self) -> bool {
        self.ends.len() > self.depth
    }

    /// Notes that all nodes of the next distance are known, if so.
    fn end_level(&mut self) {
        if self.ends.last() == Some(&self.head) {
            self.ends.push(self.reached);
        }
    }

    /// Labels the nodes at the other ends of open arcs. Stops at one that the other search reached.
    ///
    /// Whether an arc leads to a new node is a coin toss to the processor, so nothing depends on it
    /// but where the next node is written, and what.
    #[inline]
    fn scan<W: Width>(
        &mut self,
        labels: &mut [u32],
        edges: &[Edge<W>],
        side: u32,
        mut look: impl FnMut(&Edge<W>) -> (bool, u32),
    ) -> Option<usize> {
        let mut reached = self.reached;
        let mut met = None;
        for (index, edge) in edges.iter().enumerate() {
            let (open, arc) = look(edge);
            let label = &mut labels[edge.head as usize];
            if *label & 1 != side && *label != NONE && open {
                met = Some(index);
                break;
            }
            let new = open & (*label == NONE);
            *label = if new { (reached as u32) << 1 | side } else { *label };
            self.queue[reached] = Reached { node: edge.head, arc };
            reached += usize::from(new);
        }
        self.reached = reached;
        met
    }

    /// Forgets all that was found since `node` was reached; its arc came from `from`.
    fn take_back(&mut self, labels: &mut [u32], node: u32, from: u32) {
        let place = (labels[node as usize] >> 1) as usize;
        for late in &self.queue[place..self.reached] {
            labels[late.node as usize] = NONE;
        }
        self.reached = place;
        self.head = (labels[from as usize] >> 1) as usize;
        while self.ends.last().is_some_and(|&end| end > place) {
            self.ends.pop();
        }
    }
}

impl EdmondsKarp {
    pub(crate) fn new(nodes: usize) -> Self {
        EdmondsKarp {
            labels: vec![NONE; nodes],
            ahead: Front::new(nodes),
            behind: Front::new(nodes),
            path: Vec::new(),
            split: 0,
            value: 0,
        }
    }

    /// Goes on until the flow is a maximum (`true`) or the next step is beyond the budget.
    pub(crate) fn run<W: Width>(
        &mut self,
        net: &mut Residual<W>,
        budget: &mut u64,
        stats: &mut Stats,
    ) -> bool {
        if self.split == 0 {
            self.ahead.begin(net.source);
            self.behind.begin(net.sink);
            self.labels[net.source as usize] = 0;
            self.labels[net.sink as usize] = 1;
            self.split = 1;
            stats.searches += 1;
        }
        loop {
            if self.path.is_empty() {
                match self.find(net, budget) {
                    Found::Path => {}
                    Found::Nothing => return true,
                    Found::Limit => return false,
                }
            }
            if !spend(budget, self.path.len() as u64) {
                return false;
            }
            self.augment(net);
            stats.augmentations += 1;
            stats.searches += 1;
        }
    }

    fn find<W: Width>(&mut self, net: &Residual<W>, budget: &mut u64) -> Found {
        loop {
            let (ahead, behind) = (&self.ahead, &self.behind);
            if ahead.is_complete() && behind.is_complete() {
                // The next level is of the side where fewer nodes wait.
                let forth = ahead.reached - ahead.head <= behind.reached - behind.head;
                let front = if forth { &mut self.ahead } else { &mut self.behind };
                front.depth += 1;
                continue;
            }
            let forth = !ahead.is_complete();
            let front = if forth { &mut self.ahead } else { &mut self.behind };
            if front.head == front.reached {
                // All that there is on this side is known, and the other end is not.
                return Found::Nothing;
            }
            let node = front.queue[front.head].node;
            if !spend(budget, net.degree(node)) {
                return Found::Limit;
            }
            let row = net.row(node);
            let edges = &net.edges[row.clone()];
            let met = if forth {
                // Rows hold fewer than 2^31 arcs.
                let mut place = row.start as u32;
                front.scan(&mut self.labels, edges, 0, |edge| {
                    place += 1;
                    (edge.cap > W::ZERO, place - 1)
                })
            } else {
                front.scan(&mut self.labels, edges, 1, |edge| {
                    (edge.back > W::ZERO, edge.partner() as u32)
                })
            };
            if let Some(index) = met {
                // The node stays at the head: its row is not done.
                let joint = if forth { row.start + index } else { edges[index].partner() };
                self.trace(net, joint as u32);
                return Found::Path;
            }
            front.head += 1;
            front.end_level();
        }
    }

    /// Collects the path over the arc that joins the two searches.
    fn trace<W: Width>(&mut self, net: &Residual<W>, joint: u32) {
        self.path.push(joint);
        let mut node = net.tail(joint);
        while node != net.source {
            let arc = self.ahead.queue[(self.labels[node as usize] >> 1) as usize].arc;
            self.path.push(arc);
            node = net.tail(arc);
        }
        self.split = self.path.len();
        let mut node = net.edges[joint as usize].head;
        while node != net.sink {
            let arc = self.behind.queue[(self.labels[node as usize] >> 1) as usize].arc;
            self.path.push(arc);
            node = net.edges[arc as usize].head;
        }
    }

    /// Raises the flow by the least residual capacity of the path, and takes the searches back to
    /// where they looked at the first arc that is now full.
    fn augment<W: Width>(&mut self, net: &mut Residual<W>) {
        let least = self.path.iter().map(|&arc| net.edges[arc as usize].cap).min();
        let least = least.unwrap_or_default();
        for &arc in &self.path {
            net.send(arc as usize, least);
        }
        self.value += least.widen();
        let full = |arc: &&u32| net.edges[**arc as usize].cap == W::ZERO;
        // The arcs of each part begin in the middle, so the first that a search met is the last.
        if let Some(&arc) = self.path[1..self.split].iter().rfind(full) {
            let (from, to) = (net.tail(arc), net.edges[arc as usize].head);
            self.ahead.take_back(&mut self.labels, to, from);
        }
        if let Some(&arc) = self.path[self.split..].iter().rfind(full) {
            let (from, to) = (net.tail(arc), net.edges[arc as usize].head);
            self.behind.take_back(&mut self.labels, from, to);
        }
        self.path.clear();
    }
}

enum Found {
    Path,
    Nothing,
    Limit,
}
