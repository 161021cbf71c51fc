//! Gains: how many tuples at a node stand for one tuple of the sources.
//!
//! A tuple at node `v` becomes `g_v` tuples on its arcs, so a flow of source tuples is conserved
//! only when every node counts in units of its own: `p_s = 1` at the sources, and
//! `p_v = p_u · g_u` over each arc `(u, v)`. Limits are divided by the units where they stand.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use crate::{ArcId, Capacity, Error, Limit, Network, NodeId, Place};

/// By how much, relatively, two ways to a node may disagree: enough for the rounding of long
/// products, and far below what could be measured.
const TOLERANCE: f64 = 1e-9;

/// The units of every node that lies on a way from a source to a sink.
#[derive(Clone, Debug)]
pub(crate) struct Units {
    /// Tuples that reach a node for each source tuple; 0 where no flow can be.
    pub(crate) nodes: Vec<f64>,
}

/// Arcs by the node at one of their ends, in order of their numbers.
struct Incidence {
    first: Vec<u32>,
    arcs: Vec<u32>,
}

impl Incidence {
    fn new<C: Capacity>(net: &Network<C>, end: impl Fn(&crate::Arc<C>) -> NodeId) -> Self {
        let mut first = vec![0_u32; net.node_count() + 1];
        for arc in net.arcs() {
            first[end(&arc).index() + 1] += 1;
        }
        for v in 0..net.node_count() {
            first[v + 1] += first[v];
        }
        let mut next = first.clone();
        let mut arcs = vec![0; net.arc_count()];
        for (id, arc) in (0..).zip(net.arcs()) {
            let slot = &mut next[end(&arc).index()];
            arcs[*slot as usize] = id;
            *slot += 1;
        }
        Incidence { first, arcs }
    }

    fn at(&self, node: NodeId) -> impl Iterator<Item = ArcId> + '_ {
        let range = self.first[node.index()] as usize..self.first[node.index() + 1] as usize;
        self.arcs[range].iter().map(|&id| ArcId(id))
    }
}

/// Units of the nodes, or `None` if no node has a gain.
///
/// Only where flow can pass: over arcs, nodes and terminals of positive limits that lie on a way
/// from a source to a sink. `p_v` is the product along the way with the fewest arcs that a
/// breadth-first search finds, sources and arcs in order of their numbers.
pub(crate) fn units<C: Capacity>(net: &Network<C>) -> Result<Option<Units>, Error<C>> {
    if net.gains().len() == 0 {
        return Ok(None);
    }
    let leaving = Incidence::new(net, |arc| arc.from);
    let entering = Incidence::new(net, |arc| arc.to);
    // Dense, so that nothing is looked up in a sorted map for each arc.
    let mut gains = vec![1.0; net.node_count()];
    for (node, gain) in net.gains() {
        gains[node.index()] = gain;
    }
    let mut opens = vec![true; net.node_count()];
    for (node, capacity) in net.node_capacities() {
        opens[node.index()] = capacity > C::ZERO;
    }
    let open = |node: NodeId| opens[node.index()];
    let positive = |terminal: &(NodeId, Limit<C>)| terminal.1.is_positive() && open(terminal.0);

    let sinks = net.sinks().filter(positive).map(|(node, _)| node).collect();
    let mut useful = vec![false; net.node_count()];
    search(net, &mut useful, sinks, &entering, |arc| arc.from, open);

    let mut nodes = vec![0.0_f64; net.node_count()];
    let mut queue: VecDeque<NodeId> = VecDeque::new();
    for (node, _) in net.sources().filter(positive) {
        if useful[node.index()] {
            nodes[node.index()] = 1.0;
            queue.push_back(node);
        }
    }
    while let Some(from) = queue.pop_front() {
        let found = nodes[from.index()] * gains[from.index()];
        for (id, arc) in leaving.at(from).filter_map(|id| Some((id, net.arc(id)?))) {
            if !arc.capacity.is_positive() || !useful[arc.to.index()] {
                continue;
            }
            if !found.is_normal() {
                return Err(Error::GainOutOfRange { node: from, units: found });
            }
            let expected = nodes[arc.to.index()];
            if expected == 0.0 {
                nodes[arc.to.index()] = found;
                queue.push_back(arc.to);
            } else if (found - expected).abs() > TOLERANCE * expected {
                return Err(Error::InconsistentGain { node: arc.to, arc: id, expected, found });
            }
        }
    }
    Ok(Some(Units { nodes }))
}

/// Marks what can be reached over positive arcs and open nodes.
fn search<C: Capacity>(
    net: &Network<C>,
    marks: &mut [bool],
    mut stack: Vec<NodeId>,
    incidence: &Incidence,
    other: impl Fn(&crate::Arc<C>) -> NodeId,
    open: impl Fn(NodeId) -> bool,
) {
    for node in &stack {
        marks[node.index()] = true;
    }
    while let Some(node) = stack.pop() {
        for arc in incidence.at(node).filter_map(|id| net.arc(id)) {
            let next = other(&arc);
            if arc.capacity.is_positive() && !marks[next.index()] && open(next) {
                marks[next.index()] = true;
                stack.push(next);
            }
        }
    }
}

/// The limit in source-equivalent units.
pub(crate) fn scaled<C: Capacity>(
    limit: Limit<C>,
    units: f64,
    at: Place,
) -> Result<Limit<C>, Error<C>> {
    match limit {
        // No flow can be here.
        _ if units == 0.0 => Ok(Limit::Finite(C::ZERO)),
        Limit::Finite(value) if units != 1.0 => match value.divide(units) {
            Some(scaled) => Ok(Limit::Finite(scaled)),
            None => Err(Error::LimitOutOfRange { at, value, units }),
        },
        unchanged => Ok(unchanged),
    }
}
