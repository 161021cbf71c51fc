//! The nodes of a residual network that can still be reached from one end: a side of a cut.

use alloc::vec;
use alloc::vec::Vec;

use crate::solve::residual::{Residual, Width};

/// How many nodes may be looked at to find a way by the source.
const ROWS: u32 = 64;

/// All that can be reached from the source, or all from which the sink can be.
///
/// Once the flow is a maximum, the two sets belong to the network and not to the flow: they are the
/// source side of the minimum cut nearest the source, and the sink side of that nearest the sink.
/// So they are known without a search as long as it is known how an edit moves the cuts.
#[derive(Clone, Debug)]
pub(super) struct Reach {
    forth: bool,
    inside: Vec<bool>,
    /// For each node inside, about how far it is from the end.
    level: Vec<u32>,
    pub(super) fresh: bool,
    /// Changes whenever the set may have.
    pub(super) version: u64,
    queue: Vec<u32>,
}

impl Reach {
    pub(super) fn new(nodes: usize, forth: bool) -> Self {
        Reach {
            forth,
            inside: vec![false; nodes],
            level: vec![0; nodes],
            fresh: false,
            version: 0,
            queue: Vec::new(),
        }
    }

    /// Whether a node is in the set. The set must be fresh.
    #[inline]
    pub(super) fn has(&self, node: u32) -> bool {
        debug_assert!(self.fresh);
        self.inside[node as usize]
    }

    pub(super) fn forget(&mut self) {
        self.fresh = false;
    }

    /// Finds the set anew, unless it is fresh. Returns how many arcs were looked at.
    pub(super) fn refresh<W: Width>(&mut self, net: &Residual<W>) -> u64 {
        if self.fresh {
            return 0;
        }
        self.inside.fill(false);
        self.fresh = true;
        self.grow(net, if self.forth { net.source } else { net.sink }, 0)
    }

    /// Adds a node that `from`, which is inside, reaches, and all that is reached by way of it.
    pub(super) fn grow_from<W: Width>(&mut self, net: &Residual<W>, from: u32, node: u32) -> u64 {
        self.grow(net, node, self.level[from as usize] + 1)
    }

    fn grow<W: Width>(&mut self, net: &Residual<W>, node: u32, level: u32) -> u64 {
        let (mut work, mut next) = (0, 0);
        self.version += 1;
        self.inside[node as usize] = true;
        self.level[node as usize] = level;
        self.queue.clear();
        self.queue.push(node);
        while let Some(&node) = self.queue.get(next) {
            next += 1;
            work += net.degree(node);
            let level = self.level[node as usize] + 1;
            for edge in &net.edges[net.row(node)] {
                let room = if self.forth { edge.cap } else { edge.back };
                if room > W::ZERO && !self.inside[edge.head as usize] {
                    self.inside[edge.head as usize] = true;
                    self.level[edge.head as usize] = level;
                    self.queue.push(edge.head);
                }
            }
        }
        work
    }

    /// A way from a node that flow passes back to the source, and on to a node of the near set;
    /// `false` if none is found soon. Adds what it looks at to `work`.
    pub(super) fn way<W: Width>(
        &mut self,
        net: &Residual<W>,
        from: u32,
        to: u32,
        way: &mut Vec<u32>,
        work: &mut u64,
    ) -> bool {
        debug_assert!(self.forth && self.has(to));
        way.clear();
        let mut at = to;
        let mut rows = 0;
        while at != net.source {
            rows += 1;
            if rows > ROWS {
                return false;
            }
            *work += net.degree(at);
            let level = self.level[at as usize];
            // The widest arc from a lower level, and the lowest level that there is one from.
            let (mut widest, mut via, mut least) = (W::ZERO, 0, u32::MAX);
            for edge in &net.edges[net.row(at)] {
                let head = edge.head as usize;
                if edge.back > W::ZERO && self.inside[head] {
                    least = least.min(self.level[head]);
                    if self.level[head] < level && edge.back > widest {
                        (widest, via) = (edge.back, edge.partner() as u32);
                    }
                }
            }
            if widest > W::ZERO {
                way.push(via);
                at = net.tail(via);
            } else if least < u32::MAX - 1 {
                // Levels go down all along a way, so that it passes no node twice.
                self.level[at as usize] = least + 1;
                way.clear();
                at = to;
            } else {
                return false;
            }
        }
        // Back against the flow, until that way is met.
        let onward = way.len();
        at = from;
        loop {
            let met = if at == to { Some(0) } else { way[..onward].iter().position(|&arc| net.tail(arc) == at).map(|index| index + 1) };
            if let Some(met) = met {
                way.drain(met..onward);
                way[..met].reverse();
                way.rotate_left(met);
                return true;
            }
            rows += 1;
            *work += net.degree(at);
            let row = net.row(at);
            let most = row.clone().filter(|&arc| net.edges[arc].is_backward()).max_by_key(|&arc| net.edges[arc].cap);
            let Some(arc) = most.filter(|&arc| net.edges[arc].cap > W::ZERO) else { return false };
            at = net.edges[arc].head;
            let again = at == from || way[onward..].iter().any(|&arc| net.edges[arc as usize].head == at);
            if rows > ROWS || again {
                return false;
            }
            way.push(arc as u32);
        }
    }

    /// Adds all that is reached by way of arcs whose flow was changed, all others that lead out of
    /// the set being full.
    pub(super) fn grow_over<W: Width>(&mut self, net: &Residual<W>, changed: &[u32]) -> u64 {
        let mut work = 0;
        for &arc in changed {
            let arc = net.edges[arc as usize].partner();
            let (tail, head) = (net.tail(arc as u32), net.edges[arc].head);
            let (from, to) = if self.forth { (tail, head) } else { (head, tail) };
            // What was sent over it can come back.
            if self.inside[from as usize] && !self.inside[to as usize] {
                work += self.grow_from(net, from, to);
            }
        }
        work
    }

    /// The set, found anew unless it is fresh.
    pub(super) fn refreshed<W: Width>(&mut self, net: &Residual<W>) -> &Self {
        self.refresh(net);
        self
    }

    /// Whether a node is on the source side of the cut.
    pub(super) fn is_source_side(&self, node: u32) -> bool {
        self.inside[node as usize] == self.forth
    }

    /// The nodes on the source side of the cut.
    pub(super) fn source_side(&self) -> Vec<bool> {
        self.inside.iter().map(|&inside| inside == self.forth).collect()
    }
}
