//! The schedulers that others use, as comparators: honest, with the defects of the public codes
//! mended. They place on live nodes, and know of pins, sources, bandwidth and groups nothing;
//! [`excess`](crate::excess) says what they break.

mod aniello;
mod pairs;
mod rstorm;

pub use aniello::{AnielloParams, aniello_online};
pub use rstorm::rstorm;

use crate::{Cluster, NodeId, Placement, ScheduleError, TaskGraph, TaskId};

/// Storm's even scheduler: tasks in order of their components' names, then as added, to the live
/// nodes in turn. One worker a node. O(tasks · log tasks).
///
/// # Errors
///
/// No live node.
pub fn round_robin(graph: &TaskGraph, cluster: &Cluster) -> Result<Placement, ScheduleError> {
    let alive = alive(cluster)?;
    let mut nodes = vec![alive[0]; graph.len()];
    for (turn, task) in by_component(graph).into_iter().enumerate() {
        nodes[task.index()] = alive[turn % alive.len()];
    }
    Ok(Placement::new(nodes))
}

/// The heaviest task left to the least filled live node: balance alone, whatever it cuts.
/// O(tasks · log tasks).
///
/// # Errors
///
/// No live node.
pub fn lpt(graph: &TaskGraph, cluster: &Cluster) -> Result<Placement, ScheduleError> {
    let alive = alive(cluster)?;
    let mut heaviest: Vec<usize> = (0..graph.len()).collect();
    heaviest.sort_by_key(|&task| std::cmp::Reverse(graph.tasks[task].cpu));
    let level = |load: u64, node: NodeId| {
        (crate::Level::new(load, cluster.nodes()[node.index()].cpu), node)
    };
    let mut filled: std::collections::BTreeMap<(crate::Level, NodeId), u64> =
        alive.iter().map(|&node| (level(0, node), 0)).collect();
    let mut nodes = vec![alive[0]; graph.len()];
    for task in heaviest {
        if let Some(((_, node), load)) = filled.pop_first() {
            nodes[task] = node;
            let load = load + graph.tasks[task].cpu;
            filled.insert(level(load, node), load);
        }
    }
    Ok(Placement::new(nodes))
}

fn alive(cluster: &Cluster) -> Result<Vec<NodeId>, ScheduleError> {
    let alive: Vec<NodeId> = cluster.alive().collect();
    if alive.is_empty() { Err(ScheduleError::NoNodes) } else { Ok(alive) }
}

/// Tasks in the order of their components' names, then of their ids.
fn by_component(graph: &TaskGraph) -> Vec<TaskId> {
    let mut components: Vec<u32> = (0..graph.components.len() as u32).collect();
    components.sort_by_key(|&id| (&graph.components[id as usize].name, id));
    let mut rank = vec![0; components.len()];
    for (at, id) in (0_u32..).zip(components) {
        rank[id as usize] = at;
    }
    let mut tasks: Vec<TaskId> = (0..graph.len() as u32).map(TaskId).collect();
    tasks.sort_by_key(|task| rank[graph.tasks[task.index()].component.index()]);
    tasks
}
