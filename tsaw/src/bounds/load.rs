//! How full the fullest node must be.

use super::{MAX_SETS_COMPARED, group_sums};
use crate::allowed::Allowed;
use crate::{Cluster, Level, NodeId, TaskGraph};

/// No placement on allowed nodes has a lower peak, the largest load over CPU of a node.
///
/// The largest of: the demand on a set of nodes over its CPU; a group over the largest node it
/// may be on; and by the pigeonhole principle, the j + 1 smallest of the j · k + 1 largest groups
/// over the largest of the k nodes. O(tasks · log tasks).
pub(crate) fn peak_lower_bound(graph: &TaskGraph, cluster: &Cluster, allowed: &Allowed) -> Level {
    let groups = group_sums(graph, |task| graph.tasks[task].cpu);
    let cpu = |node: &NodeId| cluster.nodes()[node.index()].cpu;
    let mut bound = Level::ZERO;
    for (set, demand) in allowed.sets.iter().zip(demands(graph, allowed, &groups)) {
        bound = bound.max(filled(demand, set.iter().map(cpu)));
    }
    let best: Vec<u64> =
        allowed.sets.iter().map(|set| set.iter().map(cpu).max().unwrap_or(0)).collect();
    for (task, &group) in groups.iter().enumerate() {
        if group > 0 {
            bound = bound.max(Level::new(group, best[allowed.set[task] as usize]));
        }
    }
    let crowded = pigeonhole(&groups, allowed.sets[0].len());
    bound.max(Level::new(crowded, best[0]))
}

/// What all groups that may only be within a set need, for each set.
pub(super) fn demands(graph: &TaskGraph, allowed: &Allowed, groups: &[u64]) -> Vec<u64> {
    let mut own = vec![0_u64; allowed.sets.len()];
    for task in (0..graph.len()).filter(|&task| graph.leader[task] as usize == task) {
        own[allowed.set[task] as usize] += groups[task];
    }
    let within = |inner: &[NodeId], outer: &[NodeId]| {
        inner.len() <= outer.len() && inner.iter().all(|node| outer.binary_search(node).is_ok())
    };
    let compare = allowed.sets.len() <= MAX_SETS_COMPARED;
    let demand = |(outer, set): (usize, &Vec<NodeId>)| match (outer, compare) {
        (0, _) => own.iter().sum(),
        (_, false) => own[outer],
        (_, true) => {
            let inner = allowed.sets.iter().zip(&own).filter(|(inner, _)| within(inner, set));
            inner.map(|(_, own)| own).sum()
        }
    };
    allowed.sets.iter().enumerate().map(demand).collect()
}

/// The level of nodes that share a demand; of equal nodes one has the mean, rounded up.
fn filled(demand: u64, cpu: impl Iterator<Item = u64> + Clone) -> Level {
    let (count, sum) = (cpu.clone().count() as u64, cpu.clone().sum::<u64>());
    match cpu.clone().max() {
        None => Level::ZERO,
        Some(largest) if cpu.min() == Some(largest) => Level::new(demand.div_ceil(count), largest),
        Some(_) => Level::new(demand, sum),
    }
}

/// Some node holds at least that much: of the j · k + 1 largest it holds j + 1.
pub(super) fn pigeonhole(groups: &[u64], nodes: usize) -> u64 {
    let mut sorted: Vec<u64> = groups.iter().copied().filter(|&group| group > 0).collect();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    let mut sums = vec![0_u64; sorted.len() + 1];
    for (index, group) in sorted.iter().enumerate() {
        sums[index + 1] = sums[index] + group;
    }
    let crowd = |j: usize| sums[j * nodes + 1] - sums[j * nodes - j];
    (1..).take_while(|j| j * nodes < sorted.len()).map(crowd).max().unwrap_or(0)
}
