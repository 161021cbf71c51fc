//! The nodes of a residual network that can still be reached from one end: a side of a cut.

use alloc::vec;
use alloc::vec::Vec;

use crate::solve::residual::{Residual, Width, spend};

/// The most arcs of a way to or from an end, and how often it may be tried anew.
const LONGEST: usize = 64;

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
        self.grow(net, node, self.level[from as usize].saturating_add(1))
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
            let level = self.level[node as usize].saturating_add(1);
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

    /// A way between two nodes by the end: from `inner`, which is inside, to the end as the set tells,
    /// and on to `outer`, which has flow, against that. For the near set it is a way to `inner`, for the
    /// far set one from it. `false` if none is found soon.
    /// Each look at an arc takes one from the allowance.
    pub(super) fn way<W: Width>(
        &mut self,
        net: &Residual<W>,
        inner: u32,
        outer: u32,
        way: &mut Vec<u32>,
        allowance: &mut u64,
    ) -> bool {
        way.clear();
        if !self.descend(net, inner, way, allowance) {
            return false;
        }
        let onward = way.len();
        let forth = self.forth;
        let beyond = |arc: u32| if forth { net.tail(arc) } else { net.edges[arc as usize].head };
        let mut at = outer;
        let met = loop {
            if at == inner {
                break 0;
            }
            if let Some(met) = way[..onward].iter().position(|&arc| beyond(arc) == at) {
                break met + 1;
            }
            if !spend(allowance, net.degree(at)) {
                return false;
            }
            // The most that came, or went, on one arc.
            let (mut most, mut via, mut next) = (W::ZERO, 0, at);
            for place in net.row(at) {
                let edge = &net.edges[place];
                let flow = if forth { edge.cap } else { edge.back };
                if edge.is_backward() == forth && flow > most {
                    let arc = if forth { place } else { edge.partner() };
                    (most, via, next) = (flow, arc as u32, edge.head);
                }
            }
            // No node twice.
            let back = &way[onward..];
            let again = next == outer || back.iter().any(|&arc| reached(net, arc, forth) == next);
            if most == W::ZERO || back.len() > LONGEST || again {
                return false;
            }
            way.push(via);
            at = next;
        };
        way.drain(met..onward);
        if forth {
            way[..met].reverse();
            way.rotate_left(met);
        } else {
            way[met..].reverse();
        }
        true
    }

    /// The arcs between a node inside and the end, the widest from each level to a lower one; so no
    /// node is passed twice.
    fn descend<W: Width>(
        &mut self,
        net: &Residual<W>,
        inner: u32,
        way: &mut Vec<u32>,
        allowance: &mut u64,
    ) -> bool {
        let root = if self.forth { net.source } else { net.sink };
        let mut at = inner;
        let mut lifts = 0;
        while at != root {
            if way.len() > LONGEST || lifts > LONGEST || !spend(allowance, net.degree(at)) {
                return false;
            }
            let level = self.level[at as usize];
            let (mut widest, mut via, mut next, mut least) = (W::ZERO, 0, at, u32::MAX);
            for place in net.row(at) {
                let edge = &net.edges[place];
                let head = edge.head as usize;
                let room = if self.forth { edge.back } else { edge.cap };
                if room > W::ZERO && self.inside[head] {
                    least = least.min(self.level[head]);
                    if self.level[head] < level && room > widest {
                        let arc = if self.forth { edge.partner() } else { place };
                        (widest, via, next) = (room, arc as u32, edge.head);
                    }
                }
            }
            if widest > W::ZERO {
                way.push(via);
                at = next;
            } else if least < u32::MAX - 1 {
                // It is further away than it was: once more, by others.
                self.level[at as usize] = least + 1;
                lifts += 1;
                way.clear();
                at = inner;
            } else {
                return false;
            }
        }
        true
    }

    /// Adds all that is reached by way of arcs whose flow was changed, all others that lead out of
    /// the set being full.
    pub(super) fn grow_over<W: Width>(&mut self, net: &Residual<W>, changed: &[u32]) -> u64 {
        let mut work = 0;
        for &arc in changed {
            let arc = net.edges[arc as usize].partner();
            let (tail, head) = (net.tail(arc as u32), net.edges[arc].head);
            let (from, to) = if self.forth { (tail, head) } else { (head, tail) };
            // What was sent over it can come back, unless it did.
            let open = net.edges[arc].cap > W::ZERO;
            if open && self.inside[from as usize] && !self.inside[to as usize] {
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

/// The node that the way against the flow came to over an arc.
fn reached<W: Width>(net: &Residual<W>, arc: u32, forth: bool) -> u32 {
    if forth { net.edges[arc as usize].head } else { net.tail(arc) }
}
