//! The bounds of a certificate once more, written from their definitions.

use std::collections::{BTreeMap, BTreeSet};

use super::{Mismatch, same};
use crate::{Certificate, Cluster, Level, NodeId, TaskGraph, TaskId};

type Nodes = BTreeSet<NodeId>;

pub(super) fn verify(
    graph: &TaskGraph,
    cluster: &Cluster,
    certificate: &Certificate,
) -> Result<(), Mismatch> {
    let groups = Group::all(graph, cluster);
    let alive: Vec<NodeId> = cluster.alive().collect();
    let peak = peak_bound(cluster, &groups, &alive);
    same_level("peak_lower_bound", certificate.peak_lower_bound, peak)?;
    let largest = certificate.caps.iter().copied().max().unwrap_or(0);
    let cut = around_groups(graph, &groups, &certificate.caps).max(all_to_all(
        graph,
        largest,
        alive.len() as u64,
    ));
    same("cut_lower_bound", &certificate.cut_lower_bound, &cut)?;
    let mut nearest = None;
    for (index, &a) in alive.iter().enumerate() {
        match cluster.distance() {
            crate::Distance::Flat => nearest = Some(1),
            _ => {
                let others = alive[index + 1..].iter();
                let least = others.map(|&b| super::distance(cluster, a, b)).min();
                nearest = [nearest, least].into_iter().flatten().min();
            }
        }
    }
    // Without a pair of nodes a rack's cluster counts its larger distance, the cut is 0 anyway.
    let cost = cut * nearest.unwrap_or(1);
    same("cost_lower_bound", &certificate.cost_lower_bound, &cost)
}

pub(super) fn same_level(
    field: &'static str,
    claimed: Level,
    found: (u64, u64),
) -> Result<(), Mismatch> {
    let cross = |a: u64, b: u64| u128::from(a) * u128::from(b);
    let equal = cross(claimed.load, found.1) == cross(found.0, claimed.cpu) && claimed.cpu > 0;
    same(field, &equal, &true)
}

/// Tasks that must be together.
struct Group {
    tasks: Vec<TaskId>,
    cpu: u64,
    /// `None` is every live node.
    allowed: Option<Nodes>,
    pinned: bool,
}

impl Group {
    /// Every group, by its first task.
    fn all(graph: &TaskGraph, cluster: &Cluster) -> BTreeMap<TaskId, Self> {
        let mut groups: BTreeMap<TaskId, Self> = BTreeMap::new();
        let with =
            |keep: &dyn Fn(&NodeId) -> bool| -> Nodes { cluster.alive().filter(keep).collect() };
        let sources = with(&|node| cluster.nodes()[node.0 as usize].has_source);
        for (index, needs) in graph.tasks().iter().enumerate() {
            let task = TaskId(index as u32);
            let group = groups.entry(graph.leader(task).unwrap_or(task)).or_insert(Self {
                tasks: Vec::new(),
                cpu: 0,
                allowed: None,
                pinned: false,
            });
            group.tasks.push(task);
            group.cpu += needs.cpu;
            if needs.needs_source && group.allowed.is_none() {
                group.allowed = Some(sources.clone());
            }
        }
        for (task, nodes) in cluster.pins() {
            let leader = graph.leader(*task).unwrap_or(*task);
            let Some(group) = groups.get_mut(&leader) else { continue };
            let pin: Nodes = nodes.iter().copied().collect();
            group.pinned = true;
            group.allowed = Some(match &group.allowed {
                Some(allowed) => allowed.intersection(&pin).copied().collect(),
                None => with(&|node| pin.contains(node)),
            });
        }
        groups
    }
}

fn peak_bound(cluster: &Cluster, groups: &BTreeMap<TaskId, Group>, alive: &[NodeId]) -> (u64, u64) {
    let cpu = |node: &NodeId| cluster.nodes()[node.0 as usize].cpu;
    let mut bound = (0_u64, 1_u64);
    let mut raise = |load: u64, cpu: u64| {
        if u128::from(load) * u128::from(bound.1) > u128::from(bound.0) * u128::from(cpu) {
            bound = (load, cpu);
        }
    };
    // What may be only within a set of nodes, over that set.
    let all: Nodes = alive.iter().copied().collect();
    let sources: Nodes =
        alive.iter().copied().filter(|node| cluster.nodes()[node.0 as usize].has_source).collect();
    let pinned: BTreeSet<&Nodes> = groups
        .values()
        .filter(|group| group.pinned)
        .filter_map(|group| group.allowed.as_ref())
        .collect();
    let others = pinned.iter().filter(|set| ***set != all && ***set != sources).count();
    let compare = others + 2 <= crate::bounds::MAX_SETS_COMPARED;
    let mut demands: BTreeMap<&Nodes, u64> = BTreeMap::new();
    for group in groups.values() {
        *demands.entry(group.allowed.as_ref().unwrap_or(&all)).or_default() += group.cpu;
    }
    let mut sets: BTreeSet<&Nodes> = pinned;
    sets.insert(&sources);
    sets.insert(&all);
    for set in sets.into_iter().filter(|set| !set.is_empty()) {
        let inside = demands.iter().filter(|(inner, _)| {
            if compare || *set == all { inner.is_subset(set) } else { **inner == set }
        });
        let demand: u64 = inside.map(|(_, cpu)| cpu).sum();
        let (count, sum) = (set.len() as u64, set.iter().map(cpu).sum::<u64>());
        let (least, most) = (set.iter().map(cpu).min(), set.iter().map(cpu).max());
        match most.filter(|_| least == most) {
            Some(each) => raise(demand.div_ceil(count), each),
            None => raise(demand, sum),
        }
    }
    // One group on its largest node.
    for group in groups.values() {
        let best = group.allowed.as_ref().unwrap_or(&all).iter().map(cpu).max().unwrap_or(0);
        raise(group.cpu, best.max(1));
    }
    // Of j · k + 1 groups one node holds j + 1.
    let mut sizes: Vec<u64> =
        groups.values().map(|group| group.cpu).filter(|&cpu| cpu > 0).collect();
    sizes.sort_unstable();
    sizes.reverse();
    let largest = alive.iter().map(cpu).max().unwrap_or(1);
    for (index, _) in sizes.iter().enumerate().skip(1).filter(|(at, _)| at % alive.len() == 0) {
        let together = index / alive.len() + 1;
        raise(sizes[index + 1 - together..=index].iter().sum(), largest);
    }
    bound
}

/// What every group must send out, halved.
fn around_groups(graph: &TaskGraph, groups: &BTreeMap<TaskId, Group>, caps: &[u64]) -> i64 {
    let cpu_of = |task: TaskId| groups.get(&task).map_or(0, |group| group.cpu);
    let largest = caps.iter().copied().max().unwrap_or(0);
    let mut out = 0_i128;
    for (leader, group) in groups {
        let cap = match &group.allowed {
            None => largest,
            Some(nodes) => nodes.iter().map(|node| caps[node.0 as usize]).max().unwrap_or(0),
        };
        let mut room = u128::from(cap.saturating_sub(group.cpu));
        let mut rates: BTreeMap<TaskId, i64> = BTreeMap::new();
        for &task in &group.tasks {
            for (other, rate) in graph.neighbours(task) {
                *rates.entry(graph.leader(other).unwrap_or(other)).or_default() += rate;
            }
        }
        rates.remove(leader);
        let mut items: Vec<(u128, u128)> = rates
            .iter()
            .map(|(&other, rate)| (u128::from(rate.unsigned_abs()), u128::from(cpu_of(other))))
            .collect();
        // By rate over CPU, downwards.
        items.sort_by(|a, b| (b.0 * a.1).cmp(&(a.0 * b.1)));
        let mut left = 0_u128;
        for (rate, cpu) in items {
            let fits = room.min(cpu);
            left += match cpu {
                0 => 0,
                // Of the one that fits in part, what does not fit, rounded up.
                cpu => (rate * (cpu - fits)).div_ceil(cpu),
            };
            room -= fits;
        }
        out += i128::try_from(left).unwrap_or(i128::MAX);
    }
    i64::try_from((out + 1).div_euclid(2)).unwrap_or(i64::MAX)
}

/// What all-to-all stages must send out, each pair of components by its better direction.
fn all_to_all(graph: &TaskGraph, cap: u64, nodes: u64) -> i64 {
    let component = |task: TaskId| graph.tasks()[task.0 as usize].component;
    let mut members: BTreeMap<_, Vec<u64>> = BTreeMap::new();
    for task in graph.tasks() {
        members.entry(task.component).or_default().push(task.cpu);
    }
    // From each component, what each consumer gets of every producer at least.
    let mut stages: BTreeMap<_, Vec<(u128, u128)>> = BTreeMap::new();
    for (index, needs) in graph.tasks().iter().enumerate() {
        let mut from: BTreeMap<_, (usize, i64)> = BTreeMap::new();
        for (other, rate) in graph.neighbours(TaskId(index as u32)) {
            let seen = from.entry(component(other)).or_insert((0, rate));
            *seen = (seen.0 + 1, seen.1.min(rate));
        }
        from.remove(&needs.component);
        for (producer, (count, rate)) in from {
            if members.get(&producer).is_some_and(|all| all.len() == count) {
                let consumer = (u128::from(needs.cpu), u128::from(rate.unsigned_abs()));
                stages.entry((producer, needs.component)).or_default().push(consumer);
            }
        }
    }
    let mut sent: BTreeMap<_, u64> = BTreeMap::new();
    for ((producer, consumer), consumers) in &stages {
        let out = stage(&members[producer], consumers, cap, nodes).unwrap_or(0);
        let both = sent.entry((producer.min(consumer), producer.max(consumer))).or_default();
        *both = out.max(*both);
    }
    i64::try_from(sent.values().sum::<u64>()).unwrap_or(i64::MAX)
}

/// Σ x·y ≤ min{1, (c − α/k) / β, (c − β/k) / α}, taken from the whole traffic of the stage.
fn stage(producers: &[u64], consumers: &[(u128, u128)], cap: u64, nodes: u64) -> Option<u64> {
    let (p, k, c) = (producers.len() as u128, u128::from(nodes), u128::from(cap));
    let alpha = p * u128::from(*producers.iter().min()?);
    let sum: u128 = consumers.iter().map(|&(_, rate)| rate).sum();
    // β = cpu · sum / rate of the consumer for which that is least.
    let &(cpu, rate) = consumers.iter().min_by(|a, b| (a.0 * b.1).cmp(&(b.0 * a.1)))?;
    let total = p * sum;
    let mut inside = total;
    if cpu > 0 {
        let free = (c * k).saturating_sub(alpha);
        inside = inside.min((p.checked_mul(rate)?).checked_mul(free)? / (k * cpu));
    }
    if alpha > 0 {
        let free = (c * k).checked_mul(rate)?.saturating_sub(cpu * sum);
        // Total over α is the sum over the least CPU of a producer.
        let least = alpha / p;
        inside = inside.min(sum.checked_mul(free)? / k.checked_mul(rate)?.checked_mul(least)?);
    }
    u64::try_from(total - inside).ok()
}
