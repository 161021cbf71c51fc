//! R-Storm's greedy placement by distance to what a node has left.

use std::collections::VecDeque;

use crate::{Cluster, ComponentId, Kind, NodeId, Placement, ScheduleError, TaskGraph, TaskId};

/// R-Storm's greedy scheduler: tasks in rounds over the components in breadth-first order from
/// the spouts, each to the node whose free CPU and memory are nearest to what it needs and which
/// is near the last node. One worker a node, whose CPU and memory are hard limits.
///
/// The distance is √(((cpu − A) / (A + 1))² + ((mem − M) / (M + 1))² + d²) with A and M what is
/// free, and d 0 on the last node, ½ in its rack and 1 elsewhere. Before the first task the last
/// node is the one with the most free in the rack with the most free. A node without a limit of
/// memory counts no memory.
///
/// Where we differ from the public code: it keeps nodes in a map by distance, so that of several
/// at one distance all but one vanish; ours takes the first. It may queue a component twice;
/// ours does not. O(tasks · nodes).
///
/// # Errors
///
/// No live node, or [`ScheduleError::Unplaced`] for the first task that fits nowhere: then the
/// whole topology fails, as there.
pub fn rstorm(graph: &TaskGraph, cluster: &Cluster) -> Result<Placement, ScheduleError> {
    let alive = super::alive(cluster)?;
    let mut free: Vec<(u64, Option<u64>)> =
        cluster.nodes().iter().map(|node| (node.cpu, node.mem)).collect();
    let mut last = first_reference(cluster, &alive);
    let mut nodes = vec![last; graph.len()];
    for task in order(graph) {
        let needs = &graph.tasks[task.index()];
        let mut best: Option<(f64, NodeId)> = None;
        for &id in &alive {
            let (cpu, mem) = free[id.index()];
            if cpu < needs.cpu || mem.is_some_and(|mem| mem < needs.mem) {
                continue;
            }
            let part = |need: u64, left: u64| {
                let part = (need as f64 - left as f64) / (left as f64 + 1.0);
                part * part
            };
            let apart = match cluster.nodes()[last.index()].rack == cluster.nodes()[id.index()].rack
            {
                _ if id == last => 0.0,
                true => 0.25,
                false => 1.0,
            };
            let squared =
                part(needs.cpu, cpu) + mem.map_or(0.0, |mem| part(needs.mem, mem)) + apart;
            if best.is_none_or(|(least, _)| squared < least) {
                best = Some((squared, id));
            }
        }
        let (_, id) = best.ok_or(ScheduleError::Unplaced(task))?;
        let (cpu, mem) = free[id.index()];
        free[id.index()] = (cpu - needs.cpu, mem.map(|mem| mem - needs.mem));
        nodes[task.index()] = id;
        last = id;
    }
    Ok(Placement::new(nodes))
}

/// The node with the most CPU and memory in the rack with the most; the first of several.
fn first_reference(cluster: &Cluster, alive: &[NodeId]) -> NodeId {
    let node = |id: NodeId| &cluster.nodes()[id.index()];
    let has = |id: NodeId| u128::from(node(id).cpu) + u128::from(node(id).mem.unwrap_or(0));
    let mut racks: std::collections::BTreeMap<u32, u128> = std::collections::BTreeMap::new();
    for &id in alive {
        *racks.entry(node(id).rack).or_default() += has(id);
    }
    let most = racks.values().max().copied().unwrap_or(0);
    let rack = racks.iter().find(|(_, sum)| **sum == most).map(|(&rack, _)| rack);
    let inside = alive.iter().copied().filter(|&id| Some(node(id).rack) == rack);
    inside.max_by_key(|&id| (has(id), std::cmp::Reverse(id))).unwrap_or(alive[0])
}

/// Round i takes the i-th task of every component in breadth-first order.
fn order(graph: &TaskGraph) -> Vec<TaskId> {
    let mut members: Vec<Vec<TaskId>> = vec![Vec::new(); graph.components.len()];
    for (id, task) in (0..).zip(&graph.tasks) {
        members[task.component.index()].push(TaskId(id));
    }
    let components = breadth_first(graph);
    let rounds = members.iter().map(Vec::len).max().unwrap_or(0);
    let mut order = Vec::with_capacity(graph.len());
    // Components that are through drop out, so that this is linear in the tasks.
    let mut left = components;
    for round in 0..rounds {
        left.retain(|component| members[component.index()].len() > round);
        order.extend(left.iter().map(|component| members[component.index()][round]));
    }
    order
}

/// From each spout not yet visited over children, then parents; then what no spout reaches.
fn breadth_first(graph: &TaskGraph) -> Vec<ComponentId> {
    let count = graph.components.len();
    let mut near: Vec<Vec<ComponentId>> = vec![Vec::new(); count];
    for &(from, to) in &graph.component_streams {
        near[from.index()].push(to);
    }
    for &(from, to) in &graph.component_streams {
        near[to.index()].push(from);
    }
    let all = || (0..count as u32).map(ComponentId);
    let is_spout = |id: &ComponentId| graph.components[id.index()].kind == Kind::Spout;
    let starts = all().filter(is_spout).chain(all().filter(|id| !is_spout(id)));
    let mut seen = vec![false; count];
    let (mut order, mut queue) = (Vec::with_capacity(count), VecDeque::new());
    for start in starts {
        if std::mem::replace(&mut seen[start.index()], true) {
            continue;
        }
        queue.push_back(start);
        while let Some(component) = queue.pop_front() {
            order.push(component);
            for &next in &near[component.index()] {
                if !std::mem::replace(&mut seen[next.index()], true) {
                    queue.push_back(next);
                }
            }
        }
    }
    order
}
