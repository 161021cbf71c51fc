//! The units of the nodes, found anew from their definition.

use alloc::vec;
use alloc::vec::Vec;

use crate::{Capacity, Limit, Network};

/// Tuples that reach each node for each source tuple, 0 where no flow can be; `Some(None)` if no
/// node has a gain, and `None` if there are none that fit.
///
/// The definition: only arcs, nodes and terminals of positive limits count, and only nodes on a
/// way from a source to a sink. There the units of a node are the product of the gains on the way
/// that a breadth-first search takes, sources and arcs in order; and every arc must agree to a
/// billionth.
#[expect(clippy::option_option, reason = "two different nothings, for one caller")]
pub(super) fn units<C: Capacity>(net: &Network<C>) -> Option<Option<Vec<f64>>> {
    if net.gains().len() == 0 {
        return Some(None);
    }
    let n = net.node_count();
    let nothing = |limit: Limit<C>| matches!(limit, Limit::Finite(c) if c == C::ZERO);
    let mut open = vec![true; n];
    for (node, capacity) in net.node_capacities() {
        open[node.index()] = !nothing(Limit::Finite(capacity));
    }
    let mut gains = vec![1.0; n];
    for (node, gain) in net.gains() {
        gains[node.index()] = gain;
    }
    let mut forth = vec![Vec::new(); n];
    let mut back = vec![Vec::new(); n];
    for arc in net.arcs() {
        let (u, v) = (arc.from.index(), arc.to.index());
        if !nothing(arc.capacity) && open[u] && open[v] {
            forth[u].push(v);
            back[v].push(u);
        }
    }
    let mut useful = vec![false; n];
    let mut todo: Vec<usize> = net
        .sinks()
        .filter(|&(node, bound)| !nothing(bound) && open[node.index()])
        .map(|(node, _)| node.index())
        .collect();
    while let Some(v) = todo.pop() {
        if !useful[v] {
            useful[v] = true;
            todo.extend(&back[v]);
        }
    }
    let mut units = vec![0.0; n];
    let mut wave: Vec<usize> = net
        .sources()
        .filter(|&(node, bound)| !nothing(bound) && useful[node.index()] && open[node.index()])
        .map(|(node, _)| node.index())
        .collect();
    wave.iter().for_each(|&s| units[s] = 1.0);
    while !wave.is_empty() {
        let mut next = Vec::new();
        for (u, gain) in wave.iter().map(|&u| (u, gains[u])) {
            let sends: f64 = units[u] * gain;
            for &v in forth[u].iter().filter(|&&v| useful[v]) {
                if !sends.is_normal() {
                    return None;
                }
                if units[v] == 0.0 {
                    units[v] = sends;
                    next.push(v);
                } else if (sends - units[v]).abs() > 1e-9 * units[v] {
                    return None;
                }
            }
        }
        wave = next;
    }
    Some(Some(units))
}

/// A limit in source-equivalent units; nothing where no flow can be.
pub(super) fn share<C: Capacity>(limit: Limit<C>, units: f64) -> Option<Limit<C>> {
    match limit {
        _ if units == 0.0 => Some(Limit::Finite(C::ZERO)),
        Limit::Finite(c) if units != 1.0 => Some(Limit::Finite(C::share(c, units)?)),
        as_it_is => Some(as_it_is),
    }
}
