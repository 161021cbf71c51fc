//! A flow as a bundle of paths.

use alloc::vec;
use alloc::vec::Vec;

use crate::{Answer, ArcId, Capacity, Network, NodeId};

/// A part of a flow that takes one way.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowPath<C> {
    /// The source where it starts.
    pub source: NodeId,
    /// Its arcs, in order.
    pub arcs: Vec<ArcId>,
    /// The sink where it ends.
    pub sink: NodeId,
    /// How much flows, in source-equivalent units; more than zero.
    pub amount: C,
}

/// The flow of an answer as paths from sources to sinks, no node twice on any of them.
///
/// For whole numbers their amounts sum to the value exactly, and on each arc to its flow less what
/// goes round in cycles, which are left out; and there are at most E paths. (Each empties an arc or
/// a terminal, so they are independent circulations through one node that joins all terminals, of
/// which there are at most E − V plus the number of terminals.) Floats were rounded once each, so
/// that of what flows through a node about a part in 2^52 may be left there for each path, and is
/// dropped; and there are at most as many paths as arcs and terminals together.
///
/// An answer to another network may give no path; check the answer with
/// [`verify`](crate::verify) first.
///
/// # Complexity
/// O(V + E) and the length of all paths and cycles, O(V E) at worst.
#[must_use]
pub fn paths<C: Capacity>(net: &Network<C>, answer: &Answer<C>) -> Vec<FlowPath<C>> {
    let fits = answer.flows.len() == net.arc_count()
        && answer.sent.iter().chain(&answer.taken).all(|t| t.0.index() < net.node_count());
    if !fits {
        return Vec::new();
    }
    let mut walk = Walk::new(net, answer);
    let mut paths = Vec::new();
    for &(source, amount) in &answer.sent {
        let mut left = amount;
        while left > C::ZERO {
            let Some(path) = walk.path(source, left) else { break };
            left = left.minus(path.amount);
            paths.push(path);
        }
    }
    paths
}

/// Flow that has not been given to a path yet.
struct Walk<C> {
    first: Vec<u32>,
    /// Arcs by the node that they leave, and where they lead.
    leaving: Vec<(ArcId, NodeId)>,
    /// The first arc of a node that may have flow left.
    current: Vec<u32>,
    flow: Vec<C>,
    /// What each node still takes, if it is a sink.
    taken: Vec<C>,
    on_path: Vec<bool>,
}

impl<C: Capacity> Walk<C> {
    fn new(net: &Network<C>, answer: &Answer<C>) -> Self {
        let mut first = vec![0_u32; net.node_count() + 1];
        for arc in net.arcs() {
            first[arc.from.index() + 1] += 1;
        }
        for v in 0..net.node_count() {
            first[v + 1] += first[v];
        }
        let mut current = first[..net.node_count()].to_vec();
        let mut leaving = vec![(ArcId(0), NodeId(0)); net.arc_count()];
        for (id, arc) in (0..).map(ArcId).zip(net.arcs()) {
            let place = &mut current[arc.from.index()];
            leaving[*place as usize] = (id, arc.to);
            *place += 1;
        }
        current.copy_from_slice(&first[..net.node_count()]);
        let mut taken = vec![C::ZERO; net.node_count()];
        for &(node, amount) in &answer.taken {
            taken[node.index()] = amount;
        }
        let flow = answer.flows.clone();
        Walk { first, leaving, current, flow, taken, on_path: vec![false; net.node_count()] }
    }

    /// An arc that still has flow.
    fn onward(&mut self, node: NodeId) -> Option<(ArcId, NodeId)> {
        let current = &mut self.current[node.index()];
        while *current < self.first[node.index() + 1] {
            let (arc, to) = self.leaving[*current as usize];
            if self.flow[arc.index()] > C::ZERO {
                return Some((arc, to));
            }
            *current += 1;
        }
        None
    }

    /// Follows the flow from a source to a sink that still takes some, and takes it off.
    fn path(&mut self, source: NodeId, most: C) -> Option<FlowPath<C>> {
        let mut way: Vec<(ArcId, NodeId)> = Vec::new();
        let mut node = source;
        self.on_path[source.index()] = true;
        let found = loop {
            if self.taken[node.index()] > C::ZERO {
                break true;
            }
            if let Some((arc, to)) = self.onward(node) {
                way.push((arc, to));
                if self.on_path[to.index()] {
                    node = self.cancel(source, &mut way, to);
                } else {
                    self.on_path[to.index()] = true;
                    node = to;
                }
            } else if let Some((arc, _)) = way.pop() {
                // What rounding left over: it goes no further.
                self.flow[arc.index()] = C::ZERO;
                self.on_path[node.index()] = false;
                node = way.last().map_or(source, |&(_, to)| to);
            } else {
                break false;
            }
        };
        self.on_path[source.index()] = false;
        for (_, to) in &way {
            self.on_path[to.index()] = false;
        }
        if !found {
            return None;
        }
        let mut amount = least(most, self.taken[node.index()]);
        for (arc, _) in &way {
            amount = least(amount, self.flow[arc.index()]);
        }
        for (arc, _) in &way {
            self.flow[arc.index()] = self.flow[arc.index()].minus(amount);
        }
        self.taken[node.index()] = self.taken[node.index()].minus(amount);
        let arcs = way.into_iter().map(|(arc, _)| arc).collect();
        Some(FlowPath { source, arcs, sink: node, amount })
    }

    /// Takes the cycle off that the end of the way closes at `node`.
    fn cancel(&mut self, source: NodeId, way: &mut Vec<(ArcId, NodeId)>, node: NodeId) -> NodeId {
        // The last visit to `node` before the end; none if it is the source.
        let before = &way[..way.len() - 1];
        let begin = before.iter().rposition(|&(_, to)| to == node).map_or(0, |at| at + 1);
        let mut amount = self.flow[way[begin].0.index()];
        for (arc, _) in &way[begin..] {
            amount = least(amount, self.flow[arc.index()]);
        }
        for (arc, to) in way.drain(begin..) {
            self.flow[arc.index()] = self.flow[arc.index()].minus(amount);
            self.on_path[to.index()] = to == node;
        }
        debug_assert!(way.last().map_or(source, |&(_, to)| to) == node);
        node
    }
}

fn least<C: PartialOrd>(a: C, b: C) -> C {
    if b < a { b } else { a }
}
