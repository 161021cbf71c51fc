//! Models made from a model: clusters of its units, or a part of them on two halves of the nodes.

use std::borrow::Cow;
use std::ops::Range;

use super::model::{Costs, Model, NOWHERE};

impl Model<'_> {
    /// Clusters of units as units. All units of a cluster must have the same set of nodes.
    pub(super) fn contracted(&self, cluster: &[u32], count: usize) -> Model<'static> {
        let (offsets, targets, rates) = contract(cluster, count, |unit| self.row(unit));
        let sum = |part: &[i64]| {
            let mut sums = vec![0; count];
            part.iter().zip(cluster).for_each(|(part, &at)| sums[at as usize] += part);
            sums
        };
        let (mut size, mut set) = (vec![0; count], vec![0; count]);
        let mut spreads = vec![Vec::new(); if self.spreads.is_empty() { 0 } else { count }];
        for (unit, &at) in cluster.iter().enumerate() {
            size[at as usize] += self.size[unit];
            set[at as usize] = self.set[unit];
            if let Some(spreads) = spreads.get_mut(at as usize) {
                spreads.extend_from_slice(&self.spreads[unit]);
            }
        }
        Model {
            degree: offsets.windows(2).map(|row| rates[row[0]..row[1]].iter().sum()).collect(),
            offsets: Cow::Owned(offsets),
            targets: Cow::Owned(targets),
            rates: Cow::Owned(rates),
            cpu: sum(&self.cpu),
            mem: sum(&self.mem),
            size,
            set,
            sets: self.sets.clone(),
            spreads,
            spread_limit: self.spread_limit.clone(),
            node_cpu: self.node_cpu.clone(),
            cap: self.cap.clone(),
            mem_cap: self.mem_cap.clone(),
            bandwidth: self.bandwidth.clone(),
            costs: self.costs.clone(),
            weights: self.weights,
            unit_rate: self.unit_rate,
            unit_of: Vec::new(),
            node_of: Vec::new(),
            number_of: Vec::new(),
        }
    }

    /// Where nodes are halved: between two racks, if there are any, so that what is split first,
    /// where clusters are largest, is what is dear to cross.
    pub(super) fn middle(&self, nodes: &Range<usize>) -> usize {
        let middle = nodes.start + nodes.len() / 2;
        match &self.costs {
            Costs::Racks { rack, .. } => {
                let between = (nodes.start + 1..nodes.end).filter(|&at| rack[at] != rack[at - 1]);
                between.min_by_key(|&at| (at.abs_diff(middle), at)).unwrap_or(middle)
            }
            _ => middle,
        }
    }

    /// Some of the units, on two nodes that stand for the `left` and the `right` nodes.
    ///
    /// A side may hold its part of the load by the caps, and that part of the slack which leaves as
    /// much for each halving that follows. Bandwidth and distances are no matter of halves.
    pub(super) fn halves(
        &self,
        units: &[u32],
        left: Range<usize>,
        right: Range<usize>,
        number: &mut [u32],
    ) -> Model<'static> {
        for (at, &unit) in (0..).zip(units) {
            number[unit as usize] = at;
        }
        let (mut offsets, mut targets, mut rates) = (vec![0], Vec::new(), Vec::new());
        for &unit in units {
            for (other, rate) in self.row(unit as usize) {
                if number[other] != NOWHERE {
                    targets.push(number[other]);
                    rates.push(rate);
                }
            }
            offsets.push(targets.len());
        }
        units.iter().for_each(|&unit| number[unit as usize] = NOWHERE);
        let of = |all: &[i64]| units.iter().map(|&unit| all[unit as usize]).collect::<Vec<_>>();
        let sum = |all: &[i64], side: &Range<usize>| {
            all[side.clone()].iter().fold(0_i64, |sum, &part| sum.saturating_add(part))
        };
        let both = |all: &[i64]| vec![sum(all, &left), sum(all, &right)];
        let cpu = of(&self.cpu);
        let load: i64 = cpu.iter().sum();
        let halvings = i64::from((left.len() + right.len()).next_power_of_two().trailing_zeros());
        let cap = both(&self.cap);
        let all = (i128::from(cap[0]) + i128::from(cap[1])).max(1);
        let tight = |&cap: &i64| {
            let part = i128::from(load) * i128::from(cap) / all;
            let part = i64::try_from(part).unwrap_or(i64::MAX).min(cap);
            part + (cap - part) / halvings.max(1)
        };
        let side = |&unit: &u32| {
            let on = |side: &Range<usize>| {
                let nodes = self.allowed(unit as usize);
                let first = nodes.partition_point(|&node| (node as usize) < side.start);
                nodes.get(first).is_some_and(|&node| (node as usize) < side.end)
            };
            match self.set[unit as usize] {
                0 => 0,
                _ if on(&left) && on(&right) => 0,
                _ if on(&left) => 1,
                _ => 2,
            }
        };
        let widest = left.len().max(right.len()) as u32;
        Model {
            degree: offsets.windows(2).map(|row| rates[row[0]..row[1]].iter().sum()).collect(),
            offsets: Cow::Owned(offsets),
            targets: Cow::Owned(targets),
            rates: Cow::Owned(rates),
            cpu,
            mem: of(&self.mem),
            size: units.iter().map(|&unit| self.size[unit as usize]).collect(),
            set: units.iter().map(side).collect(),
            sets: vec![vec![0, 1], vec![0], vec![1]],
            spreads: match self.spreads.is_empty() {
                true => Vec::new(),
                false => units.iter().map(|&unit| self.spreads[unit as usize].clone()).collect(),
            },
            spread_limit: self.spread_limit.iter().map(|at| at.saturating_mul(widest)).collect(),
            node_cpu: both(&self.node_cpu),
            cap: cap.iter().map(tight).collect(),
            mem_cap: both(&self.mem_cap),
            bandwidth: vec![i64::MAX; 2],
            costs: Costs::Flat,
            weights: self.weights,
            unit_rate: self.unit_rate,
            unit_of: Vec::new(),
            node_of: Vec::new(),
            number_of: Vec::new(),
        }
    }
}

/// The rows of groups of things, from the rows of the things.
pub(super) fn contract<Row: Iterator<Item = (usize, i64)>>(
    group_of: &[u32],
    groups: usize,
    row_of: impl Fn(usize) -> Row,
) -> (Vec<usize>, Vec<u32>, Vec<i64>) {
    let mut ends = vec![0_usize; groups + 1];
    for &group in group_of {
        ends[group as usize + 1] += 1;
    }
    for group in 0..groups {
        ends[group + 1] += ends[group];
    }
    let mut members = vec![0_u32; group_of.len()];
    let mut next = ends.clone();
    for (member, &group) in (0..).zip(group_of) {
        members[next[group as usize]] = member;
        next[group as usize] += 1;
    }
    let (mut offsets, mut targets, mut rates) = (vec![0], Vec::new(), Vec::new());
    let mut sums = vec![0_i64; groups];
    let mut row: Vec<u32> = Vec::new();
    for group in 0..groups {
        row.clear();
        for &member in &members[ends[group]..ends[group + 1]] {
            for (other, rate) in row_of(member as usize) {
                let other = group_of[other];
                if other as usize != group {
                    // No rate is zero.
                    if sums[other as usize] == 0 {
                        row.push(other);
                    }
                    sums[other as usize] += rate;
                }
            }
        }
        row.sort_unstable();
        for &other in &row {
            targets.push(other);
            rates.push(std::mem::take(&mut sums[other as usize]));
        }
        offsets.push(targets.len());
    }
    (offsets, targets, rates)
}
