//! Push–relabel: highest label first, with gaps, global relabelling, a look ahead and waits.
//!
//! The look ahead: nothing is pushed to a node that has no arc down, which would only push it back
//! once it is lifted; that node is lifted at once. (Goldberg, "Two-level push-relabel algorithm for
//! the maximum flow problem", 2009, looks ahead alike.) The waits: a node that leaps, that is lifted
//! by more than one, again and again is left alone until the next global relabelling.
//!
//! First a maximum preflow is found, and with it a minimum cut: a node that is known to be cut off
//! from the sink keeps what it has. [`restore`](super::restore) then sends that back to the
//! source, so that the answer is a true flow.

use alloc::vec;
use alloc::vec::Vec;

use super::residual::{Edge, NONE, Residual, Width, spend};
use super::restore;
use crate::Stats;

/// The state between two steps: a preflow, whose excesses are zero or more.
///
/// O(V² √E + V E) for the preflow; the second term counts only where parallel arcs make E > V².
#[derive(Clone, Debug)]
pub(crate) struct PushRelabel<W> {
    /// A lower bound of the arcs to the sink; the number of nodes where there is no way.
    height: Vec<u32>,
    /// The first arc of a node that may lead down.
    current: Vec<u32>,
    excess: Vec<W>,
    /// For each height the node that was last made active there, and for each node the one before.
    active: Vec<u32>,
    before: Vec<u32>,
    /// No active node is higher.
    highest: u32,
    /// How many nodes have a height.
    count: Vec<u32>,
    queue: Vec<u32>,
    head: usize,
    /// How often each node was lifted by more than one since the last global relabelling. One that
    /// leaps again and again is most likely cut off from the sink, which global relabelling sees at
    /// once and lifting only after many more leaps.
    leaps: Vec<u8>,
    /// Whether an active node waits for the next global relabelling.
    waiting: bool,
    /// How often active nodes may still wait: V or √E times in all, whichever is less. To find exact
    /// heights as often takes no more than O(V E) and O(V² √E) do, and active nodes that no longer
    /// wait raise the highest label by at most V each time, which is O(V²) in all.
    waits: u32,
    /// Work since the last global relabelling.
    work: u64,
    /// How much work it is time for the next one after.
    often: u64,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    Begin,
    Heights,
    Saturate,
    Discharge,
    Done,
}

/// What a scan of a node's arcs is taken to cost beside the arcs themselves.
const RELABEL_WORK: u64 = 12;
/// A node that has leapt as often waits.
const LEAPS: u8 = 4;

impl<W: Width> PushRelabel<W> {
    pub(crate) fn new(nodes: usize, edges: usize) -> Self {
        PushRelabel {
            height: vec![0; nodes],
            current: vec![0; nodes],
            excess: vec![W::ZERO; nodes],
            active: vec![NONE; nodes + 1],
            before: vec![NONE; nodes],
            highest: 0,
            count: vec![0; nodes + 1],
            queue: Vec::with_capacity(nodes),
            head: 0,
            leaps: vec![0; nodes],
            waiting: false,
            waits: u32::try_from(edges.isqrt().min(nodes)).unwrap_or(u32::MAX),
            work: 0,
            often: 12 * nodes as u64 + edges as u64,
            stage: Stage::Begin,
        }
    }

    /// Goes on until the preflow is a maximum (`true`) or the next step is beyond the budget.
    pub(crate) fn run(
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
                    self.begin(net);
                    stats.searches += 1;
                    self.stage = Stage::Heights;
                }
                Stage::Heights => {
                    if !self.heights(net, budget) {
                        return false;
                    }
                    self.stage =
                        if stats.searches == 1 { Stage::Saturate } else { Stage::Discharge };
                }
                Stage::Saturate => {
                    if !spend(budget, net.degree(net.source)) {
                        return false;
                    }
                    self.saturate(net);
                    self.stage = Stage::Discharge;
                }
                Stage::Discharge => match self.discharge_all(net, budget, stats) {
                    Pause::Empty => self.stage = Stage::Done,
                    Pause::Relabel => self.stage = Stage::Begin,
                    Pause::Limit => return false,
                },
                Stage::Done => return true,
            }
        }
    }

    /// What has reached the sink, which is what flows once the rest is sent back.
    pub(crate) fn value(&self, net: &Residual<W>) -> u128 {
        self.excess[net.sink as usize].widen()
    }

    /// Makes a flow of the preflow: what did not reach the sink goes back to the source.
    pub(crate) fn finish(&mut self, net: &mut Residual<W>) {
        self.excess[net.source as usize] = W::ZERO;
        self.excess[net.sink as usize] = W::ZERO;
        restore::return_excess(net, &mut self.excess);
    }

    fn begin(&mut self, net: &Residual<W>) {
        let top = net.nodes() as u32;
        self.height.fill(top);
        self.active.fill(NONE);
        self.count.fill(0);
        self.highest = 0;
        self.height[net.sink as usize] = 0;
        self.count[0] = 1;
        self.queue.clear();
        self.queue.push(net.sink);
        self.head = 0;
        self.work = 0;
        self.leaps.fill(0);
        self.waits -= u32::from(self.waiting);
        self.waiting = false;
    }

    /// The exact heights, by a search backwards from the sink.
    fn heights(&mut self, net: &mut Residual<W>, budget: &mut u64) -> bool {
        let top = net.nodes() as u32;
        while let Some(&node) = self.queue.get(self.head) {
            if !spend(budget, net.degree(node)) {
                return false;
            }
            self.head += 1;
            let above = self.height[node as usize] + 1;
            for place in net.row(node) {
                let edge = net.edges[place];
                let (from, there) = (edge.head, edge.partner());
                let room = edge.back;
                if self.height[from as usize] != top || room == W::ZERO || from == net.source {
                    continue;
                }
                // Excess that is met takes a step to the sink at once.
                let excess = self.excess[from as usize];
                if excess > W::ZERO {
                    let amount = excess.min(room);
                    net.send(there, amount);
                    self.excess[from as usize] -= amount;
                    self.excess[node as usize] += amount;
                    if amount == room {
                        // The arc is full: `from` is not reached this way.
                        continue;
                    }
                }
                self.height[from as usize] = above;
                self.count[above as usize] += 1;
                self.current[from as usize] = net.first[from as usize];
                self.queue.push(from);
            }
        }
        for index in 1..self.queue.len() {
            let node = self.queue[index];
            if self.excess[node as usize] > W::ZERO {
                self.activate(node, self.height[node as usize]);
            }
        }
        true
    }

    #[inline]
    fn activate(&mut self, node: u32, height: u32) {
        self.before[node as usize] = self.active[height as usize];
        self.active[height as usize] = node;
        self.highest = self.highest.max(height);
    }

    /// Fills the arcs of the source that lead to nodes with a way to the sink.
    fn saturate(&mut self, net: &mut Residual<W>) {
        let top = net.nodes() as u32;
        for edge in net.row(net.source) {
            let (head, cap) = (net.edges[edge].head, net.edges[edge].cap);
            let height = self.height[head as usize];
            if cap > W::ZERO && height < top {
                net.send(edge, cap);
                let idle = self.excess[head as usize] == W::ZERO;
                self.excess[head as usize] += cap;
                if idle && head != net.sink {
                    self.activate(head, height);
                }
            }
        }
    }

    /// Discharges active nodes, the highest first.
    fn discharge_all(
        &mut self,
        net: &mut Residual<W>,
        budget: &mut u64,
        stats: &mut Stats,
    ) -> Pause {
        loop {
            let node = self.active[self.highest as usize];
            if node == NONE {
                if self.highest == 0 {
                    return if self.waiting { Pause::Relabel } else { Pause::Empty };
                }
                self.highest -= 1;
                continue;
            }
            if self.work > self.often {
                return Pause::Relabel;
            }
            if self.leaps[node as usize] >= LEAPS && self.waits > 0 {
                self.active[self.highest as usize] = self.before[node as usize];
                self.waiting = true;
                continue;
            }
            if *budget < Self::cost(net, node) {
                return Pause::Limit;
            }
            self.active[self.highest as usize] = self.before[node as usize];
            if !self.discharge(net, node, budget, stats) && self.work <= self.often {
                return Pause::Limit;
            }
        }
    }

    /// A scan for pushes and one for the new height.
    #[inline]
    fn cost(net: &Residual<W>, node: u32) -> u64 {
        2 * net.degree(node) + 1
    }

    /// Pushes what a node has down, and lifts the node once if that is not enough. `false` where a
    /// look ahead is beyond the budget, or comes when it is time for exact heights: the node is as
    /// active as before, and goes on at that arc. (It is the same time however small the steps are:
    /// a node that goes on is asked again whether it is, and must find the same answer.)
    fn discharge(
        &mut self,
        net: &mut Residual<W>,
        node: u32,
        budget: &mut u64,
        stats: &mut Stats,
    ) -> bool {
        let height = self.highest;
        let end = net.first[node as usize + 1];
        let start = self.current[node as usize];
        let mut excess = self.excess[node as usize];
        let mut next = start;
        let mut within = true;
        while next < end {
            let edge = &net.edges[next as usize];
            let (head, cap) = (edge.head, edge.cap);
            if cap > W::ZERO && self.height[head as usize] + 1 == height {
                let idle = self.excess[head as usize] == W::ZERO;
                if idle && head != net.sink && self.leaps[head as usize] < LEAPS {
                    let own = Self::cost(net, node) + u64::from(next - start);
                    if self.work > self.often || *budget < own + Self::cost(net, head) {
                        within = false;
                        break;
                    }
                    if !self.look_ahead(net, head, budget, stats) {
                        next += 1;
                        continue;
                    }
                }
                let amount = cap.min(excess);
                net.send(next as usize, amount);
                self.excess[head as usize] += amount;
                stats.pushes += 1;
                if idle && head != net.sink {
                    self.before[head as usize] = self.active[height as usize - 1];
                    self.active[height as usize - 1] = head;
                }
                excess -= amount;
                if excess == W::ZERO {
                    break;
                }
            }
            next += 1;
        }
        self.excess[node as usize] = excess;
        self.current[node as usize] = next;
        *budget -= u64::from(next - start) + u64::from(within);
        if !within {
            self.activate(node, height);
        } else if excess > W::ZERO {
            *budget -= net.degree(node);
            self.lift(net, node, stats);
        }
        within
    }

    /// Whether a node without excess could push down what it got. If not, it is lifted.
    fn look_ahead(
        &mut self,
        net: &Residual<W>,
        node: u32,
        budget: &mut u64,
        stats: &mut Stats,
    ) -> bool {
        let below = self.height[node as usize] - 1;
        let (start, end) = (self.current[node as usize], net.first[node as usize + 1]);
        let arcs = &net.edges[start as usize..end as usize];
        let down = |edge: &Edge<W>| edge.cap > W::ZERO && self.height[edge.head as usize] == below;
        let passed = arcs.iter().take_while(|edge| !down(edge)).count();
        *budget -= passed as u64 + 1;
        if passed < arcs.len() {
            self.current[node as usize] = start + passed as u32;
            return true;
        }
        *budget -= net.degree(node);
        self.count[below as usize + 1] -= 1;
        self.raise(net, node, stats);
        false
    }

    /// Gives a node with excess and no arc down its new height, or none.
    fn lift(&mut self, net: &Residual<W>, node: u32, stats: &mut Stats) {
        let old = self.height[node as usize];
        self.count[old as usize] -= 1;
        if self.count[old as usize] == 0 {
            // A gap: no way down can lead over this height again. Active nodes are not higher,
            // since this one was the highest.
            stats.gaps += 1;
            stats.relabels += 1;
            self.work += net.degree(node) + RELABEL_WORK;
            self.height[node as usize] = net.nodes() as u32;
        } else if let Some(height) = self.raise(net, node, stats) {
            self.activate(node, height);
        }
    }

    /// Gives a node without an arc down the height that its lowest residual arc allows, if any.
    fn raise(&mut self, net: &Residual<W>, node: u32, stats: &mut Stats) -> Option<u32> {
        let top = net.nodes() as u32;
        stats.relabels += 1;
        self.work += net.degree(node) + RELABEL_WORK;
        let mut least = top;
        let mut at = 0;
        for (edge, place) in net.edges[net.row(node)].iter().zip(net.first[node as usize]..) {
            let height = self.height[edge.head as usize];
            if edge.cap > W::ZERO && height < least {
                least = height;
                at = place;
            }
        }
        let height = top.min(least.saturating_add(1));
        let leap = height > self.height[node as usize] + 1;
        self.leaps[node as usize] = self.leaps[node as usize].saturating_add(u8::from(leap));
        self.current[node as usize] = at;
        self.height[node as usize] = height;
        if height == top {
            return None;
        }
        self.count[height as usize] += 1;
        Some(height)
    }
}

enum Pause {
    /// No node is active.
    Empty,
    /// It is time for exact heights.
    Relabel,
    /// The next step is beyond the budget.
    Limit,
}
