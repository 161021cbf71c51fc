//! The problem as the search sees it: colocation groups are units, and the live nodes are
//! ordered by what they are, so that their ids play no part.

use std::borrow::Cow;

use super::derive::contract;
use crate::allowed::Allowed;
use crate::{Cluster, Distance, NodeId, Placement, TaskGraph};

/// Distances between nodes of the model.
#[derive(Clone, Debug)]
pub(crate) enum Costs {
    Flat,
    Racks {
        same: i64,
        cross: i64,
        rack: Vec<u32>,
        racks: usize,
    },
    /// Row by row.
    Matrix(Vec<i64>),
}

/// Units, their rates in compressed rows, and nodes with their limits.
#[derive(Debug)]
pub(crate) struct Model<'a> {
    pub(crate) offsets: Cow<'a, [usize]>,
    pub(crate) targets: Cow<'a, [u32]>,
    /// Divided by their greatest common divisor, so that a change of unit changes nothing.
    pub(crate) rates: Cow<'a, [i64]>,
    pub(crate) degree: Vec<i64>,
    pub(crate) cpu: Vec<i64>,
    pub(crate) mem: Vec<i64>,
    /// Tasks of a unit.
    pub(crate) size: Vec<u32>,
    pub(crate) set: Vec<u32>,
    /// Nodes of each set in order; set 0 is all nodes.
    pub(crate) sets: Vec<Vec<u32>>,
    /// Spread groups of a unit, and how many members it has in each.
    pub(crate) spreads: Vec<Vec<(u32, u32)>>,
    pub(crate) spread_limit: Vec<u32>,
    pub(crate) node_cpu: Vec<i64>,
    pub(crate) cap: Vec<i64>,
    pub(crate) mem_cap: Vec<i64>,
    pub(crate) bandwidth: Vec<i64>,
    pub(crate) costs: Costs,
    /// What one of each resource weighs in the excess: CPU, memory, bandwidth, spread.
    pub(crate) weights: [i64; 4],
    /// The common divisor of the rates.
    pub(crate) unit_rate: i64,
    pub(super) unit_of: Vec<u32>,
    pub(super) node_of: Vec<NodeId>,
    pub(super) number_of: Vec<u32>,
}

/// No node.
pub(crate) const NOWHERE: u32 = u32::MAX;

impl<'a> Model<'a> {
    pub(crate) fn new(graph: &'a TaskGraph, cluster: &Cluster, allowed: &Allowed) -> Self {
        let node_of = super::order::canonical(cluster, &allowed.sets[0]);
        let mut number_of = vec![NOWHERE; cluster.nodes().len()];
        for (number, id) in (0..).zip(&node_of) {
            number_of[id.index()] = number;
        }
        let (unit_of, units) = units(graph);
        let (offsets, targets, rates) = rows(graph, &unit_of, units);
        let unit_rate = rates.iter().fold(0, |a, &b| gcd(a, b)).max(1);
        let rates = match unit_rate {
            1 => rates,
            divisor => Cow::Owned(rates.iter().map(|rate| rate / divisor).collect()),
        };
        let mut model = Self {
            degree: offsets.windows(2).map(|row| rates[row[0]..row[1]].iter().sum()).collect(),
            cpu: vec![0; units],
            mem: vec![0; units],
            size: vec![0; units],
            set: vec![0; units],
            sets: Vec::with_capacity(allowed.sets.len()),
            spreads: Vec::new(),
            spread_limit: graph.spreads.iter().map(|spread| spread.max_per_node).collect(),
            node_cpu: Vec::new(),
            cap: vec![0; node_of.len()],
            mem_cap: Vec::new(),
            bandwidth: Vec::new(),
            costs: costs(cluster, &node_of),
            weights: [1; 4],
            offsets,
            targets,
            rates,
            unit_rate,
            unit_of,
            node_of,
            number_of,
        };
        model.fill_units(graph, allowed);
        model.fill_nodes(cluster);
        model.weigh();
        model
    }

    fn fill_units(&mut self, graph: &TaskGraph, allowed: &Allowed) {
        for (task, &unit) in graph.tasks.iter().zip(&self.unit_of) {
            self.cpu[unit as usize] += task.cpu.cast_signed();
            self.mem[unit as usize] += task.mem.cast_signed();
            self.size[unit as usize] += 1;
        }
        for (&set, &unit) in allowed.set.iter().zip(&self.unit_of) {
            self.set[unit as usize] = set;
        }
        for set in &allowed.sets {
            let mut numbers: Vec<u32> =
                set.iter().map(|node| self.number_of[node.index()]).collect();
            numbers.sort_unstable();
            self.sets.push(numbers);
        }
        if !graph.spreads.is_empty() {
            self.spreads = vec![Vec::new(); self.cpu.len()];
        }
        for (group, spread) in (0..).zip(&graph.spreads) {
            for task in &spread.tasks {
                let of = &mut self.spreads[self.unit_of[task.index()] as usize];
                match of.last_mut() {
                    Some((last, count)) if *last == group => *count += 1,
                    _ => of.push((group, 1)),
                }
            }
        }
    }

    fn fill_nodes(&mut self, cluster: &Cluster) {
        let limit = |limit: Option<u64>| {
            limit.map_or(i64::MAX, |limit| limit.min(i64::MAX.unsigned_abs()).cast_signed())
        };
        for id in &self.node_of {
            let node = &cluster.nodes()[id.index()];
            self.node_cpu.push(node.cpu.cast_signed());
            self.mem_cap.push(limit(node.mem));
            // A whole number of the unit of rates is over the limit only if it is over this.
            self.bandwidth.push(match node.bandwidth {
                None => i64::MAX,
                bandwidth => limit(bandwidth) / self.unit_rate,
            });
        }
    }

    /// Makes the excess of a whole resource about 2⁴⁰, and of the least amount of it at least 1.
    fn weigh(&mut self) {
        let weight = |total: i64| (1 << 40) / total.clamp(1, 1 << 40);
        let members = self.spreads.iter().flatten().map(|&(_, count)| i64::from(count)).sum();
        self.weights = [
            weight(self.cpu.iter().sum()),
            weight(self.mem.iter().sum()),
            weight(self.degree.iter().sum()),
            weight(members),
        ];
    }

    /// Sets the CPU caps from those of the cluster's nodes.
    pub(crate) fn set_caps(&mut self, caps: &[u64]) {
        self.cap = self.caps_of(caps);
    }

    /// Caps of the cluster's nodes as those of the model's.
    pub(crate) fn caps_of(&self, caps: &[u64]) -> Vec<i64> {
        self.node_of.iter().map(|id| caps[id.index()].min(1 << 60).cast_signed()).collect()
    }

    /// Caps of the model's nodes as those of the cluster's; 0 for dead ones.
    pub(crate) fn caps_to(&self, caps: &[i64], cluster: &Cluster) -> Vec<u64> {
        let mut all = vec![0; cluster.nodes().len()];
        for (id, cap) in self.node_of.iter().zip(caps) {
            all[id.index()] = cap.unsigned_abs();
        }
        all
    }

    pub(crate) fn units(&self) -> usize {
        self.cpu.len()
    }

    pub(crate) fn nodes(&self) -> usize {
        self.node_cpu.len()
    }

    pub(crate) fn row(&self, unit: usize) -> impl ExactSizeIterator<Item = (usize, i64)> + '_ {
        let range = self.offsets[unit]..self.offsets[unit + 1];
        let targets = self.targets[range.clone()].iter().map(|&other| other as usize);
        targets.zip(self.rates[range].iter().copied())
    }

    pub(crate) fn row_len(&self, unit: usize) -> usize {
        self.offsets[unit + 1] - self.offsets[unit]
    }

    pub(crate) fn is_flat(&self) -> bool {
        matches!(self.costs, Costs::Flat)
    }

    pub(crate) fn rate_between(&self, a: usize, b: usize) -> i64 {
        let (start, end) = (self.offsets[a], self.offsets[a + 1]);
        match self.targets[start..end].binary_search(&(b as u32)) {
            Ok(index) => self.rates[start + index],
            Err(_) => 0,
        }
    }

    /// The nodes that a unit may be on, in order.
    pub(crate) fn allowed(&self, unit: usize) -> &[u32] {
        &self.sets[self.set[unit] as usize]
    }

    pub(crate) fn allows(&self, unit: usize, node: usize) -> bool {
        match self.set[unit] {
            0 => true,
            set => self.sets[set as usize].binary_search(&(node as u32)).is_ok(),
        }
    }

    pub(crate) fn distance(&self, a: usize, b: usize) -> i64 {
        match &self.costs {
            _ if a == b => 0,
            Costs::Flat => 1,
            Costs::Racks { same, cross, rack, .. } => {
                if rack[a] == rack[b] {
                    *same
                } else {
                    *cross
                }
            }
            Costs::Matrix(all) => all[a * self.nodes() + b],
        }
    }

    pub(crate) fn spreads_of(&self, unit: usize) -> &[(u32, u32)] {
        self.spreads.get(unit).map_or(&[], Vec::as_slice)
    }

    /// The placement of the tasks that a node for every unit stands for.
    pub(crate) fn placement(&self, place: &[u32]) -> Placement {
        let node = |&unit: &u32| self.node_of[place[unit as usize] as usize];
        Placement::new(self.unit_of.iter().map(node).collect())
    }

    pub(crate) fn unit_of(&self) -> &[u32] {
        &self.unit_of
    }

    /// The model's number of a node, [`NOWHERE`] for a dead one.
    pub(crate) fn number(&self, node: NodeId) -> u32 {
        self.number_of[node.index()]
    }
}

fn gcd(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The unit of every task, numbered by leader, and how many there are.
fn units(graph: &TaskGraph) -> (Vec<u32>, usize) {
    let mut unit_of = vec![0; graph.len()];
    let mut count = 0;
    for (task, &leader) in graph.leader.iter().enumerate() {
        // The leader is the smallest task, so its unit is known.
        unit_of[task] = match leader as usize == task {
            true => {
                count += 1;
                count - 1
            }
            false => unit_of[leader as usize],
        };
    }
    (unit_of, count as usize)
}

type Rows<'a> = (Cow<'a, [usize]>, Cow<'a, [u32]>, Cow<'a, [i64]>);

fn rows<'a>(graph: &'a TaskGraph, unit_of: &[u32], units: usize) -> Rows<'a> {
    if units == graph.len() {
        return (
            Cow::Borrowed(&graph.offsets),
            Cow::Borrowed(&graph.targets),
            Cow::Borrowed(&graph.rates),
        );
    }
    let row = |task: usize| graph.row(task).map(|(other, rate)| (other as usize, rate));
    let (offsets, targets, rates) = contract(unit_of, units, row);
    (Cow::Owned(offsets), Cow::Owned(targets), Cow::Owned(rates))
}

fn costs(cluster: &Cluster, node_of: &[NodeId]) -> Costs {
    match cluster.distance() {
        Distance::Flat => Costs::Flat,
        Distance::Racks { same, cross } => {
            let of = |id: &NodeId| cluster.nodes()[id.index()].rack;
            let mut names: Vec<u32> = node_of.iter().map(of).collect();
            names.sort_unstable();
            names.dedup();
            let rack = node_of.iter().map(|id| names.partition_point(|name| *name < of(id)) as u32);
            let (same, cross) = (i64::from(*same), i64::from(*cross));
            Costs::Racks { same, cross, rack: rack.collect(), racks: names.len() }
        }
        Distance::Matrix(rows) => {
            let row = |a: &NodeId| {
                let a = a.index();
                node_of.iter().map(move |b| i64::from(rows[a][b.index()]))
            };
            Costs::Matrix(node_of.iter().flat_map(row).collect())
        }
    }
}
