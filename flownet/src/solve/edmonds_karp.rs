//! Edmonds–Karp: shortest augmenting paths, the paper's Algorithm 2 with its faults mended.

use alloc::vec;
use alloc::vec::Vec;

use super::residual::{NONE, Residual, Width, spend};
use crate::Stats;

/// The state between two steps. The flow in the residual network is valid at all times.
///
/// O(V E²), in at most V E / 2 searches of O(E) each; with whole capacities also O(E · value).
#[derive(Clone, Debug)]
pub(crate) struct EdmondsKarp {
    /// The arc over which a node was reached, in the search of its stamp.
    parent: Vec<u32>,
    /// The search in which a node was reached.
    stamp: Vec<u32>,
    search: u32,
    queue: Vec<u32>,
    /// How much of the queue has been looked at; a search is under way if it is not empty.
    head: usize,
    /// The arcs of the path that was found; 0 if it has not been measured.
    length: u64,
}

impl EdmondsKarp {
    pub(crate) fn new(nodes: usize) -> Self {
        EdmondsKarp {
            parent: vec![NONE; nodes],
            stamp: vec![0; nodes],
            search: 0,
            queue: Vec::with_capacity(nodes),
            head: 0,
            length: 0,
        }
    }

    /// Goes on until the flow is a maximum (`true`) or the next step is beyond the budget.
    pub(crate) fn run<W: Width>(
        &mut self,
        net: &mut Residual<W>,
        budget: &mut u64,
        stats: &mut Stats,
    ) -> bool {
        loop {
            if self.queue.is_empty() {
                self.begin(net.source);
                stats.searches += 1;
            }
            match self.find(net, budget) {
                Found::Sink => {}
                Found::Nothing => return true,
                Found::Limit => return false,
            }
            if !self.augment(net, budget) {
                return false;
            }
            stats.augmentations += 1;
            self.queue.clear();
        }
    }

    fn begin(&mut self, source: u32) {
        self.search = self.search.wrapping_add(1);
        if self.search == 0 {
            self.stamp.fill(0);
            self.search = 1;
        }
        self.stamp[source as usize] = self.search;
        self.queue.push(source);
        self.head = 0;
    }

    fn find<W: Width>(&mut self, net: &Residual<W>, budget: &mut u64) -> Found {
        if self.stamp[net.sink as usize] == self.search {
            return Found::Sink;
        }
        while let Some(&node) = self.queue.get(self.head) {
            if !spend(budget, net.degree(node)) {
                return Found::Limit;
            }
            self.head += 1;
            let row = net.row(node);
            // Rows hold fewer than 2^31 arcs.
            for (edge, place) in net.edges[row.clone()].iter().zip(row.start as u32..) {
                let to = edge.head as usize;
                if edge.cap > W::ZERO && self.stamp[to] != self.search {
                    self.stamp[to] = self.search;
                    self.parent[to] = place;
                    if edge.head == net.sink {
                        return Found::Sink;
                    }
                    self.queue.push(edge.head);
                }
            }
        }
        Found::Nothing
    }

    /// Raises the flow by the least residual capacity of the path that was found.
    fn augment<W: Width>(&mut self, net: &mut Residual<W>, budget: &mut u64) -> bool {
        let mut path = Path { parent: &self.parent, node: net.sink, source: net.source };
        if self.length == 0 {
            // No longer than the search that found it.
            while path.step(net).is_some() {
                self.length += 1;
            }
            path.node = net.sink;
        }
        if !spend(budget, self.length) {
            return false;
        }
        self.length = 0;
        let mut least: Option<W> = None;
        while let Some(edge) = path.step(net) {
            let cap = net.edges[edge].cap;
            least = Some(least.map_or(cap, |least| least.min(cap)));
        }
        path.node = net.sink;
        while let Some(edge) = path.step(net) {
            net.send(edge, least.unwrap_or_default());
        }
        true
    }
}

enum Found {
    Sink,
    Nothing,
    Limit,
}

/// The arcs of the path that was found, from the sink back to the source.
struct Path<'a> {
    parent: &'a [u32],
    node: u32,
    source: u32,
}

impl Path<'_> {
    fn step<W: Width>(&mut self, net: &Residual<W>) -> Option<usize> {
        if self.node == self.source {
            return None;
        }
        let edge = self.parent[self.node as usize] as usize;
        self.node = net.edges[net.edges[edge].partner()].head;
        Some(edge)
    }
}
