//! Proofs that no placement keeps the limits.

use super::{cut_lower_bound, group_sums, load};
use crate::allowed::Allowed;
use crate::error::{Resource, ScheduleError};
use crate::{Cluster, NodeId, TaskGraph, TaskId};

/// An error if a bound proves that no placement keeps `caps` and the other limits.
pub(crate) fn refute(
    graph: &TaskGraph,
    cluster: &Cluster,
    allowed: &Allowed,
    caps: &[u64],
) -> Result<(), ScheduleError> {
    let cpu = group_sums(graph, |task| graph.tasks[task].cpu);
    let cap = |node: &NodeId| Some(caps[node.index()]);
    refute_resource(graph, allowed, Resource::Cpu, &cpu, cap)?;
    let mem = group_sums(graph, |task| graph.tasks[task].mem);
    let limit = |node: &NodeId| cluster.nodes()[node.index()].mem;
    refute_resource(graph, allowed, Resource::Memory, &mem, limit)?;
    refute_spread(graph, allowed)?;
    refute_bandwidth(graph, cluster, allowed, caps)
}

/// A resource that is summed over the tasks of a node. `limit` is `None` where there is none.
fn refute_resource(
    graph: &TaskGraph,
    allowed: &Allowed,
    resource: Resource,
    groups: &[u64],
    limit: impl Fn(&NodeId) -> Option<u64>,
) -> Result<(), ScheduleError> {
    // The most that one node of a set offers, and all together; `None` is without limit.
    let most = |set: &Vec<NodeId>| set.iter().map(&limit).try_fold(0, |a, b| Some(b?.max(a)));
    let sum = |set: &Vec<NodeId>| {
        set.iter().map(&limit).try_fold(0_u64, |a, b| Some(b?.saturating_add(a)))
    };
    let best: Vec<Option<u64>> = allowed.sets.iter().map(most).collect();
    for (task, &need) in groups.iter().enumerate() {
        match best[allowed.set[task] as usize] {
            Some(best) if need > best => {
                let task = TaskId(task as u32);
                return Err(ScheduleError::TaskTooLarge { task, resource, need, best });
            }
            _ => {}
        }
    }
    for (set, lower_bound) in allowed.sets.iter().zip(load::demands(graph, allowed, groups)) {
        match sum(set) {
            Some(cap) if lower_bound > cap => {
                return Err(ScheduleError::Infeasible { resource, lower_bound, cap });
            }
            _ => {}
        }
    }
    let lower_bound = load::pigeonhole(groups, allowed.sets[0].len());
    match best[0] {
        Some(cap) if lower_bound > cap => {
            Err(ScheduleError::Infeasible { resource, lower_bound, cap })
        }
        _ => Ok(()),
    }
}

/// More members than the nodes may hold, or too many of them in one colocation group.
fn refute_spread(graph: &TaskGraph, allowed: &Allowed) -> Result<(), ScheduleError> {
    let resource = Resource::Spread;
    for spread in &graph.spreads {
        let limit = u64::from(spread.max_per_node);
        let mut leaders: Vec<u32> =
            spread.tasks.iter().map(|task| graph.leader[task.index()]).collect();
        leaders.sort_unstable();
        for group in leaders.chunk_by(|a, b| a == b) {
            let lower_bound = group.len() as u64;
            if lower_bound > limit {
                return Err(ScheduleError::Infeasible { resource, lower_bound, cap: limit });
            }
        }
        let mut sets: Vec<u32> = leaders.iter().map(|&task| allowed.set[task as usize]).collect();
        sets.sort_unstable();
        sets.dedup();
        // Many groups on many nodes: those of all sets are counted only if no set is enough.
        let enough = |&set: &u32| limit * allowed.sets[set as usize].len() as u64;
        if sets.iter().map(enough).max() >= Some(leaders.len() as u64) {
            continue;
        }
        let mut nodes: Vec<NodeId> =
            sets.iter().flat_map(|&set| allowed.sets[set as usize].iter().copied()).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let (lower_bound, cap) = (leaders.len() as u64, limit * nodes.len() as u64);
        if lower_bound > cap {
            return Err(ScheduleError::Infeasible { resource, lower_bound, cap });
        }
    }
    Ok(())
}

/// Each tuple between nodes leaves one and enters another.
fn refute_bandwidth(
    graph: &TaskGraph,
    cluster: &Cluster,
    allowed: &Allowed,
    caps: &[u64],
) -> Result<(), ScheduleError> {
    let limits = cluster.alive().map(|node| cluster.nodes()[node.index()].bandwidth);
    let Some(cap) = limits.into_iter().try_fold(0_u64, |a, b| Some(b?.saturating_add(a))) else {
        return Ok(());
    };
    let lower_bound = 2 * cut_lower_bound(graph, allowed, caps).unsigned_abs();
    if lower_bound > cap {
        let resource = Resource::Bandwidth;
        return Err(ScheduleError::Infeasible { resource, lower_bound, cap });
    }
    Ok(())
}
