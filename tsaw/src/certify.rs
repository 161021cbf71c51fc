//! Works out the certificate of a placement.

use crate::allowed::Allowed;
use crate::plan::{Certificate, LoadStats, Move};
use crate::{
    BuildError, Cluster, Level, NodeId, Placement, ScheduleError, TaskGraph, asked_caps, bounds,
    loads, sigma, traffic,
};

/// The certificate of any placement, a baseline's for one; `standing` is where it starts from.
///
/// It says nothing of memory, bandwidth, pins and groups: see [`excess`](crate::excess).
/// O((tasks + streams) · log) time; with a matrix of distances O(nodes²) more.
///
/// # Errors
///
/// A placement that does not fit graph and cluster, or what [`schedule`](crate::schedule) says of
/// a graph and a cluster that don't fit.
pub fn certify(
    graph: &TaskGraph,
    cluster: &Cluster,
    placement: &Placement,
    standing: Option<&Placement>,
) -> Result<Certificate, ScheduleError> {
    check_costs(graph, cluster)?;
    let allowed = Allowed::new(graph, cluster)?;
    let load = load_stats(graph, cluster, placement)?;
    let (caps, cap_relaxed) = kept_caps(graph, cluster, placement)?;
    let cut_lower_bound = bounds::cut_lower_bound(graph, &allowed, &caps);
    let moves = moves(placement, standing);
    let bytes = |moved: &Move| graph.tasks[moved.task.index()].state_bytes;
    let measure = |placement: Option<&Placement>| match placement {
        None => Ok((None, None, None)),
        Some(placement) => Ok::<_, BuildError>((
            Some(traffic(graph, cluster, placement)?.inter),
            Some(cost(graph, cluster, placement)?),
            Some(load_stats(graph, cluster, placement)?),
        )),
    };
    let (cut_before, cost_before, load_before) = measure(standing)?;
    let (empty_nodes, starved_nodes) = idle_nodes(graph, cluster, placement)?;
    Ok(Certificate {
        standing: standing.cloned(),
        cut_before,
        cut_after: traffic(graph, cluster, placement)?.inter,
        cost_before,
        cost_after: cost(graph, cluster, placement)?,
        total: graph.total_rate(),
        cut_lower_bound,
        cost_lower_bound: cut_lower_bound * bounds::least_distance(cluster),
        load_before,
        load,
        peak_lower_bound: bounds::peak_lower_bound(graph, cluster, &allowed),
        caps,
        cap_relaxed,
        empty_nodes,
        starved_nodes,
        moved_bytes: moves.iter().map(bytes).sum(),
        moves,
    })
}

/// Rates times distances must not overflow.
pub(crate) fn check_costs(graph: &TaskGraph, cluster: &Cluster) -> Result<(), BuildError> {
    let largest = match cluster.distance() {
        crate::Distance::Flat => 1,
        crate::Distance::Racks { cross, .. } => *cross,
        crate::Distance::Matrix(rows) => rows.iter().flatten().copied().max().unwrap_or(1),
    };
    let cost = i128::from(graph.total_rate()) * i128::from(largest);
    if cost > i128::from(crate::MAX_TOTAL) { Err(BuildError::RateOverflow) } else { Ok(()) }
}

/// Tuples a second times distance.
pub(crate) fn cost(
    graph: &TaskGraph,
    cluster: &Cluster,
    placement: &Placement,
) -> Result<i64, BuildError> {
    placement.check(graph, cluster)?;
    let nodes = placement.nodes();
    let mut cost = 0;
    for task in 0..graph.len() {
        for (other, rate) in graph.row(task).filter(|&(other, _)| (other as usize) < task) {
            let between = cluster.distance_between(nodes[task], nodes[other as usize]);
            cost += rate * i64::from(between.unwrap_or(0));
        }
    }
    Ok(cost)
}

fn load_stats(
    graph: &TaskGraph,
    cluster: &Cluster,
    placement: &Placement,
) -> Result<LoadStats, BuildError> {
    let all = loads(graph, cluster, placement)?;
    let alive: Vec<NodeId> = cluster.alive().collect();
    let loads: Vec<u64> = alive.iter().map(|node| all[node.index()]).collect();
    let level = |node: &NodeId| Level::new(all[node.index()], cluster.nodes()[node.index()].cpu);
    let largest = loads.iter().copied().max().unwrap_or(0);
    let sum: u64 = loads.iter().sum();
    Ok(LoadStats {
        largest,
        smallest: loads.iter().copied().min().unwrap_or(0),
        sigma: sigma(&loads),
        imbalance: match sum {
            0 => 1.0,
            sum => largest as f64 * loads.len() as f64 / sum as f64,
        },
        peak: alive.iter().map(level).max().unwrap_or(Level::ZERO),
    })
}

/// The asked caps; if a load is over its own, all raised to the level of the fullest node.
pub(crate) fn kept_caps(
    graph: &TaskGraph,
    cluster: &Cluster,
    placement: &Placement,
) -> Result<(Vec<u64>, bool), BuildError> {
    let asked = asked_caps(graph, cluster);
    let peak = load_stats(graph, cluster, placement)?.peak;
    let loads = loads(graph, cluster, placement)?;
    let alive = |node: usize| cluster.nodes()[node].alive;
    if (0..asked.len()).all(|node| !alive(node) || loads[node] <= asked[node]) {
        return Ok((asked, false));
    }
    let raised = asked.iter().zip(cluster.nodes()).map(|(&asked, node)| match node.alive {
        true => asked.max(peak.cap(node.cpu)),
        false => 0,
    });
    Ok((raised.collect(), true))
}

/// Live nodes without a task, and with less than half of their share.
fn idle_nodes(
    graph: &TaskGraph,
    cluster: &Cluster,
    placement: &Placement,
) -> Result<(u32, u32), BuildError> {
    let loads = loads(graph, cluster, placement)?;
    let mut used = vec![false; loads.len()];
    for node in placement.nodes() {
        used[node.index()] = true;
    }
    let sum: u128 = cluster.alive().map(|node| u128::from(cluster.nodes()[node.index()].cpu)).sum();
    let starved = |node: NodeId| {
        let share = u128::from(graph.total_cpu()) * u128::from(cluster.nodes()[node.index()].cpu);
        2 * u128::from(loads[node.index()]) * sum < share
    };
    let empty = cluster.alive().filter(|node| !used[node.index()]).count() as u32;
    Ok((empty, cluster.alive().filter(|&node| starved(node)).count() as u32))
}

fn moves(placement: &Placement, standing: Option<&Placement>) -> Vec<Move> {
    let Some(standing) = standing else { return Vec::new() };
    let pairs = (0..).zip(standing.nodes().iter().zip(placement.nodes()));
    pairs
        .filter(|(_, (from, to))| from != to)
        .map(|(task, (&from, &to))| Move { task: crate::TaskId(task), from, to })
        .collect()
}
