//! The one notion of what a placement breaks, for every preset, baseline and certificate.

use std::collections::BTreeMap;

use crate::error::Excess;
use crate::{BuildError, Cluster, NodeId, Placement, TaskGraph, TaskId};

/// By how much a placement breaks the limits of graph and cluster, with `caps` as the CPU caps.
///
/// `caps` has one cap for each node, in order; a node without one has a cap of 0. O(tasks +
/// streams + nodes of pins + members of spread groups · log nodes) time, O(tasks + nodes) space.
///
/// # Errors
///
/// A placement that does not fit graph and cluster, or pins of a task that does not exist.
pub fn excess(
    graph: &TaskGraph,
    cluster: &Cluster,
    placement: &Placement,
    caps: &[u64],
) -> Result<Excess, BuildError> {
    placement.check(graph, cluster)?;
    let mut excess = Excess::default();
    let count = cluster.nodes().len();
    let (mut cpu, mut mem, mut outside) =
        (vec![0_u64; count], vec![0_u64; count], vec![0_u64; count]);
    let mut misplaced = vec![false; graph.len()];
    for (id, (task, &at)) in graph.tasks().iter().zip(placement.nodes()).enumerate() {
        let node = &cluster.nodes()[at.index()];
        cpu[at.index()] += task.cpu;
        mem[at.index()] += task.mem;
        misplaced[id] = !node.alive || (task.needs_source && !node.has_source);
        let leader = graph.leader[id] as usize;
        excess.parted += u64::from(placement.nodes()[leader] != at);
        for (other, rate) in graph.row(id) {
            if placement.nodes()[other as usize] != at {
                outside[at.index()] += rate.unsigned_abs();
            }
        }
    }
    for (task, allowed) in cluster.pins() {
        let at = placement.node(*task).ok_or(BuildError::UnknownTask(*task))?;
        misplaced[task.index()] |= !allowed.contains(&at);
    }
    excess.misplaced = misplaced.iter().map(|&broken| u64::from(broken)).sum();
    for (id, node) in cluster.nodes().iter().enumerate() {
        excess.cpu += cpu[id].saturating_sub(caps.get(id).copied().unwrap_or(0));
        excess.memory += node.mem.map_or(0, |limit| mem[id].saturating_sub(limit));
        excess.bandwidth += node.bandwidth.map_or(0, |limit| outside[id].saturating_sub(limit));
    }
    for spread in graph.spreads() {
        excess.spread += over_limit(&spread.tasks, spread.max_per_node, placement);
    }
    Ok(excess)
}

fn over_limit(tasks: &[TaskId], limit: u32, placement: &Placement) -> u64 {
    let mut counts: BTreeMap<NodeId, u64> = BTreeMap::new();
    for node in tasks.iter().filter_map(|&task| placement.node(task)) {
        *counts.entry(node).or_default() += 1;
    }
    counts.values().map(|&count| count.saturating_sub(u64::from(limit))).sum()
}
