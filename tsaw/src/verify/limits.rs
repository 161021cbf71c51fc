//! The hard limits, one after the other, each with its culprit.

use std::collections::BTreeMap;

use super::Mismatch;
use crate::{Cluster, NodeId, Placement, TaskGraph, TaskId};

pub(super) fn verify(
    graph: &TaskGraph,
    cluster: &Cluster,
    placement: &Placement,
    caps: &[u64],
) -> Result<(), Mismatch> {
    let at = |task: TaskId| placement.nodes()[task.0 as usize];
    let wrong = |task: TaskId, why: &'static str| Mismatch::Task { task, node: at(task), why };
    for (index, needs) in graph.tasks().iter().enumerate() {
        let task = TaskId(index as u32);
        let node = &cluster.nodes()[at(task).0 as usize];
        if !node.alive {
            return Err(wrong(task, "that node is dead"));
        }
        if needs.needs_source && !node.has_source {
            return Err(wrong(task, "no data source is there"));
        }
        if graph.leader(task).is_none_or(|leader| at(leader) != at(task)) {
            return Err(wrong(task, "its colocation group is elsewhere"));
        }
    }
    for (task, allowed) in cluster.pins() {
        if !allowed.iter().any(|node| *node == at(*task)) {
            return Err(wrong(*task, "it is pinned elsewhere"));
        }
    }
    for spread in graph.spreads() {
        let mut members: BTreeMap<NodeId, u32> = BTreeMap::new();
        for &task in &spread.tasks {
            let count = members.entry(at(task)).or_insert(0);
            *count += 1;
            if *count > spread.max_per_node {
                return Err(wrong(task, "too many of its spread group are there"));
            }
        }
    }
    verify_nodes(graph, cluster, placement, caps)
}

fn verify_nodes(
    graph: &TaskGraph,
    cluster: &Cluster,
    placement: &Placement,
    caps: &[u64],
) -> Result<(), Mismatch> {
    let mut held: BTreeMap<NodeId, (u64, u64, u64)> = BTreeMap::new();
    for (index, &at) in placement.nodes().iter().enumerate() {
        let task = &graph.tasks()[index];
        let abroad = |other: TaskId| placement.nodes()[other.0 as usize] != at;
        let streams = graph.neighbours(TaskId(index as u32));
        let outside: u64 =
            streams.filter(|(other, _)| abroad(*other)).map(|(_, rate)| rate.unsigned_abs()).sum();
        let node = held.entry(at).or_default();
        *node = (node.0 + task.cpu, node.1 + task.mem, node.2 + outside);
    }
    for (&node, &(cpu, mem, outside)) in &held {
        let of = &cluster.nodes()[node.0 as usize];
        let cap = caps.get(node.0 as usize).copied().unwrap_or(0);
        for (what, used, limit) in
            [("CPU", cpu, Some(cap)), ("memory", mem, of.mem), ("bandwidth", outside, of.bandwidth)]
        {
            if let Some(limit) = limit.filter(|&limit| used > limit) {
                return Err(Mismatch::Node { node, what, used, limit });
            }
        }
    }
    Ok(())
}

/// min(cpu_n, (1 + ε) · W · cpu_n / Σ cpu), rounded down; 0 for a dead node.
pub(super) fn asked(graph: &TaskGraph, cluster: &Cluster) -> Vec<u64> {
    let demand: u128 = graph.tasks().iter().map(|task| u128::from(task.cpu)).sum();
    let mut sum = 0_u128;
    for node in cluster.nodes().iter().filter(|node| node.alive) {
        sum += u128::from(node.cpu);
    }
    let mut caps = Vec::new();
    for node in cluster.nodes() {
        let cpu = u128::from(if node.alive { node.cpu } else { 0 });
        let share = demand * cpu * u128::from(1_000_000 + cluster.imbalance_ppm());
        let cap = (share / (sum.max(1) * 1_000_000)).min(cpu);
        caps.push(u64::try_from(cap).unwrap_or(u64::MAX));
    }
    caps
}

/// The asked caps, or what the fullest node's level comes to where that is more.
pub(super) fn raised(cluster: &Cluster, asked: &[u64], loads: &BTreeMap<NodeId, u64>) -> Vec<u64> {
    let cpu = |node: &NodeId| u128::from(cluster.nodes()[node.0 as usize].cpu);
    let (mut top, mut of) = (0, 1);
    for (node, &load) in loads {
        if u128::from(load) * of > top * cpu(node) {
            (top, of) = (u128::from(load), cpu(node));
        }
    }
    let mut caps = asked.to_vec();
    for node in loads.keys() {
        let level = u64::try_from(top * cpu(node) / of).unwrap_or(u64::MAX);
        caps[node.0 as usize] = caps[node.0 as usize].max(level);
    }
    caps
}
