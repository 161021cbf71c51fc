//! The online scheduler of Aniello, Baldoni and Querzoni, which the paper compares itself with.

use super::pairs::{Bin, Items, Packing};
use crate::{BuildError, Cluster, NodeId, Placement, ScheduleError, TaskGraph};

/// Parameters of [`aniello_online`], by the names of its authors.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct AnielloParams {
    /// How uneven the numbers of tasks a slot may be: 0 even, 1 not bounded.
    pub alpha: f64,
    /// How many nodes to use: 0 as few as possible, 1 as many.
    pub beta: f64,
    /// How much over the mean load a slot may have, at least 1.
    pub gamma: f64,
    /// How uneven the numbers of slots a node may be: 0 even, 1 not bounded.
    pub delta: f64,
    /// The part of a node's CPU that may be used.
    pub capacity: f64,
    /// Slots of a node, at least 1.
    pub slots_per_node: u32,
    /// Slots of the topology; all there are if `None`.
    pub workers: Option<u32>,
}

impl Default for AnielloParams {
    /// α = 0, β = 1, γ = 1.1, δ = 0, all of the CPU, one slot a node, all slots.
    fn default() -> Self {
        Self {
            alpha: 0.0,
            beta: 1.0,
            gamma: 1.1,
            delta: 0.0,
            capacity: 1.0,
            slots_per_node: 1,
            workers: None,
        }
    }
}

impl AnielloParams {
    /// With that α.
    #[must_use]
    pub fn with_alpha(self, alpha: f64) -> Self {
        Self { alpha, ..self }
    }

    /// With that β.
    #[must_use]
    pub fn with_beta(self, beta: f64) -> Self {
        Self { beta, ..self }
    }

    /// With that δ.
    #[must_use]
    pub fn with_delta(self, delta: f64) -> Self {
        Self { delta, ..self }
    }

    /// With that γ.
    #[must_use]
    pub fn with_gamma(self, gamma: f64) -> Self {
        Self { gamma, ..self }
    }

    /// With that many slots a node, and that many for the topology.
    #[must_use]
    pub fn with_slots(self, slots_per_node: u32, workers: u32) -> Self {
        Self { slots_per_node, workers: Some(workers), ..self }
    }

    /// With that part of a node's CPU.
    #[must_use]
    pub fn with_capacity(self, capacity: f64) -> Self {
        Self { capacity, ..self }
    }
}

/// The online scheduler: pairs of tasks by falling traffic into slots, then pairs of slots into
/// nodes, each pair where it leaves the least traffic between bins.
///
/// A slot takes at most m + ⌈α · (M − m)⌉ tasks, where m = ⌈n / s⌉ and M = n − s + 1 for n tasks
/// and s slots, and a load of at most γ · ⌊W / s⌋; no slot ever holds more tasks than that.
///
/// Where we differ from the public code: there, taking a task from a node sets the load of the
/// node to zero, and leaving γ unset always throws. Tasks without a stream go to the least loaded
/// slot, where the original has Storm's even scheduler place them. What it decides when to adopt
/// a placement is left to the caller. O(streams · (slots + streams a task)).
///
/// # Errors
///
/// A parameter out of its range, no live node, or [`ScheduleError::Unplaced`] for a task that no
/// slot takes, where the original throws and skips the whole rescheduling.
pub fn aniello_online(
    graph: &TaskGraph,
    cluster: &Cluster,
    params: AnielloParams,
) -> Result<Placement, ScheduleError> {
    check(&params)?;
    let alive = super::alive(cluster)?;
    if graph.is_empty() {
        return Ok(Placement::new(Vec::new()));
    }
    let there = alive.len() as u64 * u64::from(params.slots_per_node);
    let tasks = graph.len() as u64;
    let slots = params.workers.map_or(there, |workers| there.min(u64::from(workers))).min(tasks);
    let slot_of = fill_slots(graph, slots, &params)?;
    let node_of = fill_nodes(graph, cluster, &alive, &slot_of, slots, &params)?;
    Ok(Placement::new(slot_of.iter().map(|&slot| node_of[slot]).collect()))
}

fn check(params: &AnielloParams) -> Result<(), BuildError> {
    let error = |what: &'static str, why: &'static str| Err(BuildError::Parameter { what, why });
    for (what, part) in [("alpha", params.alpha), ("beta", params.beta), ("delta", params.delta)] {
        if !(0.0..=1.0).contains(&part) {
            return error(what, "must be from 0 to 1");
        }
    }
    if !(1.0..=1e6).contains(&params.gamma) {
        return error("gamma", "must be from 1 to a million");
    }
    if !(params.capacity > 0.0 && params.capacity <= 1.0) {
        return error("capacity", "must be over 0 and at most 1");
    }
    if params.slots_per_node == 0 || params.workers == Some(0) {
        return error("slots", "must be at least 1");
    }
    Ok(())
}

/// From as even as can be for 0 to all in one for 1.
fn between(items: u64, bins: u64, part: f64) -> u64 {
    let (even, most) = (items.div_ceil(bins), items - bins + 1);
    even + floor((part * (most - even) as f64).ceil())
}

/// A float that is no less than 0 as a whole number.
#[allow(clippy::cast_sign_loss, reason = "never less than 0; a float saturates")]
fn floor(value: f64) -> u64 {
    value as u64
}

fn fill_slots(
    graph: &TaskGraph,
    slots: u64,
    params: &AnielloParams,
) -> Result<Vec<usize>, ScheduleError> {
    let items = Items {
        load: graph.tasks.iter().map(|task| task.cpu).collect(),
        rows: (0..graph.len())
            .map(|task| graph.row(task).map(|(other, rate)| (other as usize, rate)).collect())
            .collect(),
    };
    let bin = Bin {
        count: 0,
        load: 0,
        max_count: between(graph.len() as u64, slots, params.alpha),
        max_load: floor(params.gamma * (graph.total_cpu() / slots) as f64),
    };
    let mut packing = Packing::new(&items, vec![bin; slots as usize]);
    packing.run().map_err(|task| ScheduleError::Unplaced(crate::TaskId(task as u32)))?;
    packing.fill_empty(slots as usize);
    Ok(packing.bin.into_iter().flatten().collect())
}

fn fill_nodes(
    graph: &TaskGraph,
    cluster: &Cluster,
    alive: &[NodeId],
    slot_of: &[usize],
    slots: u64,
    params: &AnielloParams,
) -> Result<Vec<NodeId>, ScheduleError> {
    let mut items = Items { load: vec![0; slots as usize], rows: vec![Vec::new(); slots as usize] };
    let mut rates = std::collections::BTreeMap::new();
    for (task, &slot) in slot_of.iter().enumerate() {
        items.load[slot] += graph.tasks[task].cpu;
        for (other, rate) in graph.row(task) {
            if slot_of[other as usize] != slot {
                *rates.entry((slot, slot_of[other as usize])).or_insert(0) += rate;
            }
        }
    }
    for ((from, to), rate) in rates {
        items.rows[from].push((to, rate));
    }
    let most = slots.min(alive.len() as u64);
    let fewest = slots.div_ceil(u64::from(params.slots_per_node)).min(most);
    let used = fewest + floor((params.beta * (most - fewest) as f64).ceil());
    let max_count = between(slots, used, params.delta).min(u64::from(params.slots_per_node));
    let bins = alive.iter().map(|node| Bin {
        count: 0,
        load: 0,
        max_count,
        max_load: floor(params.capacity * cluster.nodes()[node.index()].cpu as f64),
    });
    let mut packing = Packing::new(&items, bins.collect());
    packing.run().map_err(|slot| {
        let task = slot_of.iter().position(|&of| of == slot).unwrap_or(0);
        ScheduleError::Unplaced(crate::TaskId(task as u32))
    })?;
    packing.fill_empty(used as usize);
    Ok(packing.bin.into_iter().flatten().map(|node| alive[node]).collect())
}
