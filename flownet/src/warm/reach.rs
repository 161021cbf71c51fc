//! The nodes of a residual network that can still be reached from one end: a side of a cut.

use alloc::vec;
use alloc::vec::Vec;

use crate::solve::residual::{Residual, Width};

/// All that can be reached from the source, or all from which the sink can be.
///
/// Once the flow is a maximum, the two sets belong to the network and not to the flow: they are the
/// source side of the minimum cut nearest the source, and the sink side of that nearest the sink.
/// So they are known without a search as long as it is known how an edit moves the cuts.
#[derive(Clone, Debug)]
pub(super) struct Reach {
    forth: bool,
    inside: Vec<bool>,
    pub(super) fresh: bool,
    /// Changes whenever the set may have.
    pub(super) version: u64,
    stack: Vec<u32>,
}

impl Reach {
    pub(super) fn new(nodes: usize, forth: bool) -> Self {
        Reach { forth, inside: vec![false; nodes], fresh: false, version: 0, stack: Vec::new() }
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
        self.grow(net, if self.forth { net.source } else { net.sink })
    }

    /// Adds a node, and all that is reached by way of it.
    pub(super) fn grow<W: Width>(&mut self, net: &Residual<W>, node: u32) -> u64 {
        let mut work = 0;
        self.version += 1;
        self.inside[node as usize] = true;
        self.stack.push(node);
        while let Some(node) = self.stack.pop() {
            work += net.degree(node);
            for edge in &net.edges[net.row(node)] {
                let room = if self.forth { edge.cap } else { edge.back };
                if room > W::ZERO && !self.inside[edge.head as usize] {
                    self.inside[edge.head as usize] = true;
                    self.stack.push(edge.head);
                }
            }
        }
        work
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
                work += self.grow(net, to);
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
