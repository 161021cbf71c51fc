//! How many moves a standing placement needs at least before it breaks nothing.

use crate::allowed::Allowed;
use crate::options::Budget;
use crate::{Cluster, NodeId, Placement, ScheduleError, TaskGraph};

/// [`ScheduleError::BudgetTooSmall`] if the budget is under the least number of moves or bytes.
pub(crate) fn check(
    graph: &TaskGraph,
    cluster: &Cluster,
    allowed: &Allowed,
    standing: &Placement,
    caps: &[u64],
    budget: &Budget,
) -> Result<(), ScheduleError> {
    let (homeless, bytes) = homeless(graph, allowed, standing);
    let cpu = overfull(cluster, standing, |node| Some(caps[node]), |task| graph.tasks[task].cpu);
    let limit = |node: usize| cluster.nodes()[node].mem;
    let mem = overfull(cluster, standing, limit, |task| graph.tasks[task].mem);
    let moves = homeless.max(cpu).max(mem).max(crowded(graph, standing));
    let over = |most: Option<u64>, need: u64| most.is_some_and(|most| need > most);
    if over(budget.max_moves, moves) || over(budget.max_bytes, bytes) {
        return Err(ScheduleError::BudgetTooSmall { moves, bytes });
    }
    Ok(())
}

/// Tasks and bytes that must move as their group can be together only elsewhere.
fn homeless(graph: &TaskGraph, allowed: &Allowed, standing: &Placement) -> (u64, u64) {
    let mut groups: Vec<(u32, NodeId, u64)> = (0..graph.len())
        .map(|task| (graph.leader[task], standing.nodes()[task], graph.tasks[task].state_bytes))
        .collect();
    groups.sort_unstable();
    let (mut moves, mut bytes) = (0, 0);
    for group in groups.chunk_by(|a, b| a.0 == b.0) {
        let set = &allowed.sets[allowed.set[group[0].0 as usize] as usize];
        let at_home = group.chunk_by(|a, b| a.1 == b.1);
        let stay: Vec<(u64, u64)> = at_home
            .filter(|of| set.binary_search(&of[0].1).is_ok())
            .map(|of| (of.len() as u64, of.iter().map(|&(_, _, bytes)| bytes).sum()))
            .collect();
        let all: u64 = group.iter().map(|&(_, _, bytes)| bytes).sum();
        moves += group.len() as u64 - stay.iter().map(|stay| stay.0).max().unwrap_or(0);
        bytes += all - stay.iter().map(|stay| stay.1).max().unwrap_or(0);
    }
    (moves, bytes)
}

/// Tasks that must leave nodes that hold too much, were they the largest.
fn overfull(
    cluster: &Cluster,
    standing: &Placement,
    limit: impl Fn(usize) -> Option<u64>,
    part: impl Fn(usize) -> u64,
) -> u64 {
    let mut on: Vec<Vec<u64>> = vec![Vec::new(); cluster.nodes().len()];
    for (task, node) in standing.nodes().iter().enumerate() {
        on[node.index()].push(part(task));
    }
    let mut moves = 0;
    for (node, parts) in on.iter_mut().enumerate() {
        let Some(limit) = limit(node) else { continue };
        parts.sort_unstable_by(|a, b| b.cmp(a));
        let mut load: u64 = parts.iter().sum();
        for part in parts.iter().take_while(|&&part| part > 0) {
            if load <= limit {
                break;
            }
            load -= part;
            moves += 1;
        }
    }
    moves
}

/// Tasks that must leave nodes with too many of one spread group: the group that needs most.
fn crowded(graph: &TaskGraph, standing: &Placement) -> u64 {
    let needed = |spread: &crate::Spread| {
        let mut nodes: Vec<NodeId> =
            spread.tasks.iter().map(|task| standing.nodes()[task.index()]).collect();
        nodes.sort_unstable();
        let counts = nodes.chunk_by(|a, b| a == b).map(|of| of.len() as u64);
        counts.map(|count| count.saturating_sub(u64::from(spread.max_per_node))).sum::<u64>()
    };
    graph.spreads.iter().map(needed).max().unwrap_or(0)
}
