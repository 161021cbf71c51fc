//! Dinic: blocking flows over the levels of a backward search.

use alloc::vec;
use alloc::vec::Vec;

use super::residual::{NONE, Residual, Width, spend};
use crate::Stats;

/// The state between two steps. The flow in the residual network is valid at all times.
///
/// O(V² E); O(E √V) for unit capacities on bipartite networks, O(E · min(√E, V^⅔)) for unit
/// capacities. Levels count from the sink, so that every arc that goes down leads to it.
#[derive(Clone, Debug)]
pub(crate) struct Dinic {
    /// Arcs to the sink, [`NONE`] if there is no way or it was found to be blocked.
    level: Vec<u32>,
    /// The first arc of a node that may still lead down.
    current: Vec<u32>,
    queue: Vec<u32>,
    head: usize,
    /// The arcs from the source to where the blocking flow stands.
    path: Vec<u32>,
    /// What flows so far.
    pub(crate) value: u128,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    Begin,
    Levels,
    Blocking,
    Done,
}

impl Dinic {
    pub(crate) fn new(nodes: usize) -> Self {
        Dinic {
            level: vec![NONE; nodes],
            current: vec![0; nodes],
            queue: Vec::with_capacity(nodes),
            head: 0,
            path: Vec::new(),
            value: 0,
            stage: Stage::Begin,
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
            match self.stage {
                Stage::Begin => {
                    if !spend(budget, net.nodes() as u64) {
                        return false;
                    }
                    self.level.fill(NONE);
                    self.level[net.sink as usize] = 0;
                    self.queue.clear();
                    self.queue.push(net.sink);
                    self.head = 0;
                    self.stage = Stage::Levels;
                    stats.searches += 1;
                }
                Stage::Levels => match self.levels(net, budget) {
                    None => return false,
                    Some(reached) => {
                        self.stage = if reached { Stage::Blocking } else { Stage::Done };
                    }
                },
                Stage::Blocking => {
                    if !self.blocking(net, budget, stats) {
                        return false;
                    }
                    self.stage = Stage::Begin;
                }
                Stage::Done => return true,
            }
        }
    }

    /// Whether the source has a level; `None` if the budget ran out before that is known.
    fn levels<W: Width>(&mut self, net: &Residual<W>, budget: &mut u64) -> Option<bool> {
        while let Some(&node) = self.queue.get(self.head) {
            if !spend(budget, net.degree(node)) {
                return None;
            }
            self.head += 1;
            self.current[node as usize] = net.first[node as usize];
            let level = self.level[node as usize] + 1;
            for edge in &net.edges[net.row(node)] {
                let from = edge.head as usize;
                if self.level[from] == NONE && edge.back > W::ZERO {
                    self.level[from] = level;
                    if edge.head == net.source {
                        // What is not reached by now is as far as the source, and of no use.
                        for &node in &self.queue[self.head..] {
                            self.current[node as usize] = net.first[node as usize];
                        }
                        self.current[from] = net.first[from];
                        return Some(true);
                    }
                    self.queue.push(edge.head);
                }
            }
        }
        Some(false)
    }

    /// Fills the level network until no way is left in it.
    fn blocking<W: Width>(
        &mut self,
        net: &mut Residual<W>,
        budget: &mut u64,
        stats: &mut Stats,
    ) -> bool {
        let mut node = match self.path.last() {
            Some(&edge) => net.edges[edge as usize].head,
            None => net.source,
        };
        loop {
            if node == net.sink {
                if !spend(budget, self.path.len() as u64) {
                    return false;
                }
                node = self.augment(net);
                stats.augmentations += 1;
            }
            let below = self.level[node as usize].wrapping_sub(1);
            let end = net.first[node as usize + 1];
            let mut next = self.current[node as usize];
            let mut left = *budget;
            let mut found = false;
            while next < end {
                if left == 0 {
                    self.current[node as usize] = next;
                    *budget = 0;
                    return false;
                }
                left -= 1;
                let edge = &net.edges[next as usize];
                if edge.cap > W::ZERO && self.level[edge.head as usize] == below {
                    found = true;
                    break;
                }
                next += 1;
            }
            *budget = left;
            self.current[node as usize] = next;
            if found {
                self.path.push(next);
                node = net.edges[next as usize].head;
            } else {
                // Blocked: back over the arc that led here, and never again over it.
                self.level[node as usize] = NONE;
                let Some(edge) = self.path.pop() else { return true };
                node = net.edges[net.edges[edge as usize].partner()].head;
                self.current[node as usize] += 1;
            }
        }
    }

    /// Raises the flow along the path and goes back to the node before the first full arc.
    fn augment<W: Width>(&mut self, net: &mut Residual<W>) -> u32 {
        let mut least: Option<W> = None;
        let mut full = 0;
        for (depth, &edge) in self.path.iter().enumerate() {
            let cap = net.edges[edge as usize].cap;
            if least.is_none_or(|least| cap < least) {
                least = Some(cap);
                full = depth;
            }
        }
        let least = least.unwrap_or_default();
        for &edge in &self.path {
            net.send(edge as usize, least);
        }
        self.value += least.widen();
        let edge = self.path[full] as usize;
        self.path.truncate(full);
        net.edges[net.edges[edge].partner()].head
    }
}
