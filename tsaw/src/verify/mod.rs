//! Checks a placement and its certificate without trusting either. Shares no code with the
//! solver or with what makes certificates: everything is worked out again from graph and cluster,
//! plainly, and compared exactly.

mod bounds;
mod limits;
mod weights;

use std::collections::BTreeMap;

use crate::{
    BuildError, Certificate, Cluster, Distance, LoadStats, MAX_TOTAL, NodeId, Placement, TaskGraph,
    TaskId,
};

/// What is wrong with a placement or its certificate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Mismatch {
    /// Graph, cluster and placement don't fit together.
    #[error(transparent)]
    Input(#[from] BuildError),
    /// A task is where it may not be.
    #[error("{task} is on {node}: {why}")]
    Task {
        /// The task.
        task: TaskId,
        /// Its node.
        node: NodeId,
        /// The rule that it breaks.
        why: &'static str,
    },
    /// A node holds more than it may.
    #[error("{node} holds {used} of {limit} {what}")]
    Node {
        /// The node.
        node: NodeId,
        /// The resource.
        what: &'static str,
        /// What it holds.
        used: u64,
        /// What it may hold.
        limit: u64,
    },
    /// A field of the certificate is not what graph, cluster and placement give.
    #[error("the certificate's {field} is {claimed}, and should be {found}")]
    Field {
        /// The field.
        field: &'static str,
        /// What the certificate says.
        claimed: String,
        /// What it should say.
        found: String,
    },
}

/// Checks that the placement keeps every limit and that every field of the certificate is true.
///
/// Limits: every task on one live node of the cluster, pins, sources, colocation, spread, memory,
/// bandwidth, and CPU within the certificate's caps, which are the asked ones unless
/// `cap_relaxed` says otherwise. Floats are compared by their bits.
///
/// O((tasks + streams + nodes of pins) · log) time; with a matrix of distances O(nodes²) more.
///
/// # Errors
///
/// The first [`Mismatch`] found; [`BuildError::RateOverflow`] if the rates times the largest
/// distance sum to more than [`MAX_TOTAL`].
pub fn verify(
    graph: &TaskGraph,
    cluster: &Cluster,
    placement: &Placement,
    certificate: &Certificate,
) -> Result<(), Mismatch> {
    placement.check(graph, cluster)?;
    for &(task, _) in cluster.pins() {
        if graph.task(task).is_none() {
            return Err(BuildError::UnknownTask(task).into());
        }
    }
    check_range(graph, cluster)?;
    let measured = Measured::of(graph, cluster, placement);
    verify_load(graph, cluster, &measured, certificate)?;
    limits::verify(graph, cluster, placement, &certificate.caps)?;
    verify_past(graph, cluster, placement, certificate)?;
    same("cut_after", &certificate.cut_after, &measured.cut)?;
    same("cost_after", &certificate.cost_after, &measured.cost)?;
    same("total", &certificate.total, &(measured.cut + measured.within))?;
    bounds::verify(graph, cluster, certificate)
}

/// All rates at the largest distance sum to no more than [`MAX_TOTAL`], so that no sum below can
/// overflow.
fn check_range(graph: &TaskGraph, cluster: &Cluster) -> Result<(), BuildError> {
    let far = match cluster.distance() {
        Distance::Flat => 1,
        Distance::Racks { same, cross } => *same.max(cross),
        Distance::Matrix(rows) => rows.iter().flatten().copied().max().unwrap_or(0),
    };
    let most = u128::from(graph.total_rate().unsigned_abs()) * u128::from(far);
    if most > u128::from(MAX_TOTAL) { Err(BuildError::RateOverflow) } else { Ok(()) }
}

fn same<T: PartialEq + std::fmt::Debug>(
    field: &'static str,
    claimed: &T,
    found: &T,
) -> Result<(), Mismatch> {
    if claimed == found {
        return Ok(());
    }
    let (claimed, found) = (format!("{claimed:?}"), format!("{found:?}"));
    Err(Mismatch::Field { field, claimed, found })
}

/// What a placement measures, summed stream by stream.
struct Measured {
    cut: i64,
    within: i64,
    cost: i64,
    loads: BTreeMap<NodeId, u64>,
    tasks: BTreeMap<NodeId, u64>,
}

impl Measured {
    fn of(graph: &TaskGraph, cluster: &Cluster, placement: &Placement) -> Self {
        let mut measured = Self {
            cut: 0,
            within: 0,
            cost: 0,
            loads: cluster.alive().map(|node| (node, 0)).collect(),
            tasks: cluster.alive().map(|node| (node, 0)).collect(),
        };
        for (index, &at) in placement.nodes().iter().enumerate() {
            let task = TaskId(index as u32);
            if let Some(load) = measured.loads.get_mut(&at) {
                *load += graph.tasks()[index].cpu;
                *measured.tasks.entry(at).or_default() += 1;
            }
            for (other, rate) in graph.neighbours(task) {
                // Each pair is met twice.
                if other < task {
                    continue;
                }
                let there = placement.nodes()[other.0 as usize];
                if there == at {
                    measured.within += rate;
                } else {
                    measured.cut += rate;
                    measured.cost += rate * distance(cluster, at, there);
                }
            }
        }
        measured
    }
}

fn distance(cluster: &Cluster, a: NodeId, b: NodeId) -> i64 {
    let node = |id: NodeId| &cluster.nodes()[id.0 as usize];
    match cluster.distance() {
        Distance::Flat => 1,
        Distance::Racks { same, .. } if node(a).rack == node(b).rack => i64::from(*same),
        Distance::Racks { cross, .. } => i64::from(*cross),
        Distance::Matrix(rows) => i64::from(rows[a.0 as usize][b.0 as usize]),
    }
}

fn verify_load(
    graph: &TaskGraph,
    cluster: &Cluster,
    measured: &Measured,
    certificate: &Certificate,
) -> Result<(), Mismatch> {
    verify_stats("load", Some(&certificate.load), cluster, Some(&measured.loads))?;
    let asked = limits::asked(graph, cluster);
    let within = measured.loads.iter().all(|(node, load)| *load <= asked[node.0 as usize]);
    same("cap_relaxed", &certificate.cap_relaxed, &!within)?;
    let caps = if within { asked } else { limits::raised(cluster, &asked, &measured.loads) };
    same("caps", &certificate.caps, &caps)?;
    let empty = measured.tasks.values().filter(|&&tasks| tasks == 0).count() as u32;
    same("empty_nodes", &certificate.empty_nodes, &empty)?;
    let cpu = |node: &NodeId| u128::from(cluster.nodes()[node.0 as usize].cpu);
    let cluster_cpu: u128 = measured.loads.keys().map(cpu).sum();
    let demand: u128 = graph.tasks().iter().map(|task| u128::from(task.cpu)).sum();
    let starved =
        |(node, load): &(&NodeId, &u64)| u128::from(**load) * cluster_cpu * 2 < demand * cpu(node);
    let starved = measured.loads.iter().filter(starved).count() as u32;
    same("starved_nodes", &certificate.starved_nodes, &starved)
}

/// The standing placement, what it measured, and the moves from it.
fn verify_past(
    graph: &TaskGraph,
    cluster: &Cluster,
    placement: &Placement,
    certificate: &Certificate,
) -> Result<(), Mismatch> {
    let past = certificate.standing.as_ref();
    if let Some(standing) = past {
        standing.check(graph, cluster)?;
    }
    let before = past.map(|standing| Measured::of(graph, cluster, standing));
    same("cut_before", &certificate.cut_before, &before.as_ref().map(|past| past.cut))?;
    same("cost_before", &certificate.cost_before, &before.as_ref().map(|past| past.cost))?;
    let loads = before.as_ref().map(|past| &past.loads);
    verify_stats("load_before", certificate.load_before.as_ref(), cluster, loads)?;
    let (mut moves, mut bytes) = (Vec::new(), 0);
    for (index, &to) in placement.nodes().iter().enumerate() {
        let from = past.map_or(to, |standing| standing.nodes()[index]);
        if from != to {
            moves.push((TaskId(index as u32), from, to));
            bytes += graph.tasks()[index].state_bytes;
        }
    }
    let claimed: Vec<_> =
        certificate.moves.iter().map(|moved| (moved.task, moved.from, moved.to)).collect();
    same("moves", &claimed, &moves)?;
    same("moved_bytes", &certificate.moved_bytes, &bytes)
}

fn verify_stats(
    field: &'static str,
    claimed: Option<&LoadStats>,
    cluster: &Cluster,
    loads: Option<&BTreeMap<NodeId, u64>>,
) -> Result<(), Mismatch> {
    let (Some(claimed), Some(loads)) = (claimed, loads) else {
        return same(field, &claimed.is_some(), &loads.is_some());
    };
    let count = loads.len() as f64;
    let mean = loads.values().map(|&load| load as f64).sum::<f64>() / count;
    let mut squares = 0.0;
    for &load in loads.values() {
        squares += (load as f64 - mean) * (load as f64 - mean);
    }
    let sigma: f64 = (squares / count).sqrt();
    same(field, &claimed.sigma.to_bits(), &sigma.to_bits())?;
    let most = loads.values().max().copied().unwrap_or(0);
    let all: u64 = loads.values().sum();
    let imbalance = if all == 0 { 1.0 } else { most as f64 * count / all as f64 };
    same(field, &claimed.imbalance.to_bits(), &imbalance.to_bits())?;
    same(field, &claimed.largest, &most)?;
    same(field, &claimed.smallest, &loads.values().min().copied().unwrap_or(0))?;
    let (mut top, mut of) = (0_u64, 1_u64);
    for (node, &load) in loads {
        let cpu = cluster.nodes()[node.0 as usize].cpu;
        if u128::from(load) * u128::from(of) > u128::from(top) * u128::from(cpu) {
            (top, of) = (load, cpu);
        }
    }
    bounds::same_level(field, claimed.peak, (top, of))
}
