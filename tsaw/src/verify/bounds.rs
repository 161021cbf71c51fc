//! The bounds of a certificate once more, written from their definitions.

use std::collections::{BTreeMap, BTreeSet};

use super::{Mismatch, same};
use crate::{Certificate, Cluster, Distance, Level, NodeId, TaskGraph, TaskId};

type Nodes = BTreeSet<NodeId>;

pub(super) fn verify(
    graph: &TaskGraph,
    cluster: &Cluster,
    certificate: &Certificate,
) -> Result<(), Mismatch> {
    let groups = Groups::of(graph, cluster);
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
    let nearest = nearest(cluster, &alive);
    // Without a pair of nodes a rack's cluster counts its larger distance, the cut is 0 anyway.
    let cost = i128::from(cut) * i128::from(nearest.unwrap_or(1));
    same("cost_lower_bound", &i128::from(certificate.cost_lower_bound), &cost)
}

pub(super) fn same_level(
    field: &'static str,
    claimed: Level,
    found: (u64, u64),
) -> Result<(), Mismatch> {
    let cross = |a: u64, b: u64| u128::from(a) * u128::from(b);
    let equal = cross(claimed.load(), found.1) == cross(found.0, claimed.cpu());
    same(field, &equal, &true)
}

/// The smallest distance between two live nodes; `None` if there are no two.
fn nearest(cluster: &Cluster, alive: &[NodeId]) -> Option<i64> {
    match cluster.distance() {
        Distance::Flat => Some(1),
        Distance::Racks { same, cross } => {
            let racks: BTreeSet<u32> =
                alive.iter().map(|node| cluster.nodes()[node.0 as usize].rack).collect();
            let repeats = racks.len() < alive.len();
            (alive.len() > 1).then_some(i64::from(if repeats { *same } else { *cross }))
        }
        Distance::Matrix(_) => {
            let later = |(index, &a)| {
                let others = alive[index + 1..].iter();
                others.map(|&b| super::distance(cluster, a, b)).min()
            };
            alive.iter().enumerate().filter_map(later).min()
        }
    }
}

/// Tasks that must be together.
struct Group {
    tasks: Vec<TaskId>,
    cpu: u64,
    /// The index of the set of nodes it may be on.
    set: usize,
}

/// The groups, and the different sets of live nodes that they may be on.
struct Groups {
    /// By the first task.
    of: BTreeMap<TaskId, Group>,
    /// The first is every live node.
    sets: Vec<Nodes>,
    /// The index of those with a source.
    sources: usize,
}

impl Groups {
    fn of(graph: &TaskGraph, cluster: &Cluster) -> Self {
        let node = |node: &NodeId| &cluster.nodes()[node.0 as usize];
        let mut of: BTreeMap<TaskId, Group> = BTreeMap::new();
        let mut sourced: BTreeSet<TaskId> = BTreeSet::new();
        for (index, needs) in graph.tasks().iter().enumerate() {
            let task = TaskId(index as u32);
            let leader = graph.leader(task).unwrap_or(task);
            let new = Group { tasks: Vec::new(), cpu: 0, set: 0 };
            let group = of.entry(leader).or_insert(new);
            group.tasks.push(task);
            group.cpu += needs.cpu;
            if needs.needs_source {
                sourced.insert(leader);
            }
        }
        let mut pins: BTreeMap<TaskId, Vec<&Vec<NodeId>>> = BTreeMap::new();
        for (task, nodes) in cluster.pins() {
            pins.entry(graph.leader(*task).unwrap_or(*task)).or_default().push(nodes);
        }
        // Equal sets are kept once: the memory is that of the pins.
        let mut known: BTreeMap<Nodes, usize> = BTreeMap::new();
        let mut index_of = |nodes: Nodes| {
            let next = known.len();
            *known.entry(nodes).or_insert(next)
        };
        index_of(cluster.alive().collect());
        let sources = index_of(cluster.alive().filter(|id| node(id).has_source).collect());
        for (leader, group) in &mut of {
            let needs_source = sourced.contains(leader);
            group.set = if needs_source { sources } else { 0 };
            let Some(pins) = pins.get(leader) else { continue };
            let fits = |id: &NodeId| node(id).alive && (!needs_source || node(id).has_source);
            let mut nodes: Nodes = pins[0].iter().copied().filter(fits).collect();
            for pin in &pins[1..] {
                let pin: Nodes = pin.iter().copied().collect();
                nodes.retain(|id| pin.contains(id));
            }
            group.set = index_of(nodes);
        }
        let mut sets = vec![Nodes::new(); known.len()];
        for (nodes, index) in known {
            sets[index] = nodes;
        }
        Self { of, sets, sources }
    }

    /// The largest value of a node, for each set; 0 for none.
    fn largest(&self, value: impl Fn(&NodeId) -> u64) -> Vec<u64> {
        self.sets.iter().map(|set| set.iter().map(&value).max().unwrap_or(0)).collect()
    }
}

fn peak_bound(cluster: &Cluster, groups: &Groups, alive: &[NodeId]) -> (u64, u64) {
    let cpu = |node: &NodeId| cluster.nodes()[node.0 as usize].cpu;
    let mut bound = (0_u64, 1_u64);
    let mut raise = |load: u64, cpu: u64| {
        if u128::from(load) * u128::from(bound.1) > u128::from(bound.0) * u128::from(cpu) {
            bound = (load, cpu);
        }
    };
    // What may be only within a set of nodes, over that set.
    let others = (1..groups.sets.len()).filter(|&set| set != groups.sources).count();
    let compare = others + 2 <= crate::bounds::MAX_SETS_COMPARED;
    let mut demands = vec![0_u64; groups.sets.len()];
    for group in groups.of.values() {
        demands[group.set] += group.cpu;
    }
    for (index, set) in groups.sets.iter().enumerate().filter(|(_, set)| !set.is_empty()) {
        let inside = groups.sets.iter().zip(&demands);
        let demand: u64 = match (index, compare) {
            (0, _) => demands.iter().sum(),
            (_, false) => demands[index],
            _ => inside.filter(|(inner, _)| inner.is_subset(set)).map(|(_, cpu)| cpu).sum(),
        };
        let (count, sum) = (set.len() as u64, set.iter().map(cpu).sum::<u64>());
        let (least, most) = (set.iter().map(cpu).min(), set.iter().map(cpu).max());
        match most.filter(|_| least == most) {
            Some(each) => raise(demand.div_ceil(count), each),
            None => raise(demand, sum),
        }
    }
    // One group on its largest node.
    let best = groups.largest(cpu);
    for group in groups.of.values() {
        raise(group.cpu, best[group.set].max(1));
    }
    // Of j · k + 1 groups one node holds j + 1.
    let mut sizes: Vec<u64> =
        groups.of.values().map(|group| group.cpu).filter(|&cpu| cpu > 0).collect();
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
fn around_groups(graph: &TaskGraph, groups: &Groups, caps: &[u64]) -> i64 {
    let cpu_of = |task: TaskId| groups.of.get(&task).map_or(0, |group| group.cpu);
    let cap = groups.largest(|node| caps[node.0 as usize]);
    let mut out = 0_i128;
    for (leader, group) in &groups.of {
        let mut room = u128::from(cap[group.set].saturating_sub(group.cpu));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BuildError, Kind, Node, TaskGraphBuilder};

    /// One set for all live nodes, one for those with a source, one for each different pin: what
    /// is kept grows with the pins, and not with tasks times nodes.
    #[test]
    fn equal_sets_of_nodes_are_kept_once() -> Result<(), BuildError> {
        let mut builder = TaskGraphBuilder::new();
        let component = builder.component("c", Kind::Spout);
        for _ in 0..1_000 {
            let task = builder.task(component, 1);
            builder.needs_source(task);
        }
        let graph = builder.build()?;
        let mut nodes = vec![Node::new(9).with_source(); 100];
        nodes.extend(vec![Node::new(9); 100]);
        let mut cluster = Cluster::new(nodes)?;
        let kept = |cluster: &Cluster| -> (usize, usize) {
            let sets = Groups::of(&graph, cluster).sets;
            (sets.len(), sets.iter().map(Nodes::len).sum())
        };
        assert_eq!(kept(&cluster), (2, 300));
        for task in 0..1_000 {
            cluster = cluster.with_pin(TaskId(task), &[NodeId(task % 10), NodeId(150)])?;
        }
        // A pin to one node with a source and one without leaves the first.
        assert_eq!(kept(&cluster), (12, 310));
        Ok(())
    }
}
