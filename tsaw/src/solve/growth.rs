//! The first placement: the paper's growth to what is left over the nodes that are left, with
//! the nearest stop, under the limits; then what is left goes where it breaks least.

use std::collections::BTreeSet;

use super::model::{Model, NOWHERE};
use crate::frontier::{Frontier, Gap};
use crate::rng::SplitMix64;
use crate::steps::Steps;

/// Grows every node in turn and leaves no unit over. `chance` makes the first units of the nodes
/// random; without it they are the strongest.
pub(super) fn grow(
    model: &Model<'_>,
    chance: Option<&mut SplitMix64>,
    steps: &mut Steps,
) -> Vec<u32> {
    let mut growth = Growth::new(model, chance, None);
    let mut parts: i128 = model.cap.iter().map(|&cap| i128::from(cap)).sum();
    let mut left: i128 = model.cpu.iter().map(|&cpu| i128::from(cpu)).sum();
    for node in 0..model.nodes() {
        // The node's part of the load that is not on an earlier node, times the parts.
        let target = left * i128::from(model.cap[node]);
        if !growth.fill(node, target, parts.max(1), steps) {
            break;
        }
        parts -= i128::from(model.cap[node]);
        left -= i128::from(growth.cpu[node]);
    }
    growth.rest(true, steps)
}

/// Heaviest first, each unit to the least filled node that it is allowed on and fits, if any.
pub(super) fn heaviest_first(model: &Model<'_>, steps: &mut Steps) -> Vec<u32> {
    Growth::new(model, None, None).rest(false, steps)
}

/// Places the units that are nowhere yet, and leaves the others where they are.
pub(crate) fn complete(model: &Model<'_>, given: &[u32], steps: &mut Steps) -> Vec<u32> {
    Growth::new(model, None, Some(given)).rest(true, steps)
}

struct View {
    unplaced: i64,
    growing: i64,
    round: u32,
}

struct Growth<'m, 'g> {
    model: &'m Model<'g>,
    place: Vec<u32>,
    views: Vec<View>,
    cpu: Vec<i64>,
    mem: Vec<i64>,
    spread: std::collections::BTreeMap<(u32, u32), u32>,
    /// Units in the order in which they may begin a node.
    seeds: Vec<u32>,
    next: usize,
    frontier: Frontier,
    /// Units that are there from the start, by node.
    fixed: Vec<(u32, u32)>,
}

impl<'m, 'g> Growth<'m, 'g> {
    fn new(model: &'m Model<'g>, chance: Option<&mut SplitMix64>, given: Option<&[u32]>) -> Self {
        let units = model.units();
        let mut seeds: Vec<u32> = (0..units as u32).collect();
        match chance {
            Some(rng) => {
                for last in (1..units).rev() {
                    seeds.swap(last, rng.index(last + 1));
                }
            }
            None => seeds.sort_by_key(|&unit| std::cmp::Reverse(model.degree[unit as usize])),
        }
        let view = |&degree: &i64| View { unplaced: degree, growing: 0, round: 0 };
        let mut growth = Self {
            views: model.degree.iter().map(view).collect(),
            place: vec![NOWHERE; units],
            cpu: vec![0; model.nodes()],
            mem: vec![0; model.nodes()],
            spread: std::collections::BTreeMap::new(),
            seeds,
            next: 0,
            frontier: Frontier::default(),
            fixed: Vec::new(),
            model,
        };
        // A unit that has no choice is there from the start.
        for unit in 0..units {
            let node = match (given.map(|given| given[unit]), model.allowed(unit)) {
                (Some(node), _) if node != NOWHERE => node,
                (_, [only]) => *only,
                _ => continue,
            };
            growth.put(unit, node as usize, 0);
            growth.fixed.push((node, unit as u32));
        }
        growth.fixed.sort_unstable();
        growth
    }

    /// False if the steps have ended.
    fn fill(&mut self, node: usize, target: i128, parts: i128, steps: &mut Steps) -> bool {
        let round = node as u32 + 1;
        self.frontier.clear();
        let start = self.fixed.partition_point(|&(at, _)| (at as usize) < node);
        let end = self.fixed.partition_point(|&(at, _)| at as usize <= node);
        for index in start..end {
            self.push_around(self.fixed[index].1 as usize, round);
        }
        loop {
            let missing = target - i128::from(self.cpu[node]) * parts;
            if missing <= 0 {
                return true;
            }
            let gap = Gap { missing, parts };
            let (views, place, cpu) = (&self.views, &self.place, &self.model.cpu);
            let live = |unit: u32| {
                let view = &views[unit as usize];
                let there = place[unit as usize] == NOWHERE && view.round == round;
                there.then(|| view.growing - view.unplaced)
            };
            let size = |unit: u32| cpu[unit as usize].unsigned_abs();
            let unit = match self.frontier.pop(gap, live, size) {
                Some(unit) => unit as usize,
                None => match self.seed(node, steps) {
                    Some(unit) => unit,
                    None => return steps.left() > 0,
                },
            };
            if !steps.take(1 + self.model.row_len(unit)) {
                return false;
            }
            let cpu = self.model.cpu[unit];
            let over = i128::from(cpu) * parts > missing;
            if over && gap.distance(cpu.unsigned_abs()) > missing.unsigned_abs() {
                return true;
            }
            if self.fits(unit, node) {
                self.put(unit, node, round);
            }
        }
    }

    fn seed(&mut self, node: usize, steps: &mut Steps) -> Option<usize> {
        while self.place[*self.seeds.get(self.next)? as usize] != NOWHERE {
            self.next += 1;
        }
        for index in self.next..self.seeds.len() {
            let unit = self.seeds[index] as usize;
            if !steps.take(1) {
                return None;
            }
            if self.place[unit] == NOWHERE && self.fits(unit, node) {
                return Some(unit);
            }
        }
        None
    }

    fn fits(&self, unit: usize, node: usize) -> bool {
        let model = self.model;
        let room = |&(group, count): &(u32, u32)| {
            let there = self.spread.get(&(group, node as u32)).copied().unwrap_or(0);
            there + count <= model.spread_limit[group as usize]
        };
        model.allows(unit, node)
            && self.cpu[node] + model.cpu[unit] <= model.cap[node]
            && self.mem[node] + model.mem[unit] <= model.mem_cap[node]
            && model.spreads_of(unit).iter().all(room)
    }

    fn put(&mut self, unit: usize, node: usize, round: u32) {
        self.place[unit] = node as u32;
        self.cpu[node] += self.model.cpu[unit];
        self.mem[node] += self.model.mem[unit];
        for &(group, count) in self.model.spreads_of(unit) {
            *self.spread.entry((group, node as u32)).or_default() += count;
        }
        for (other, rate) in self.model.row(unit) {
            self.views[other].unplaced -= rate;
        }
        if round > 0 {
            self.push_around(unit, round);
        }
    }

    fn push_around(&mut self, unit: usize, round: u32) {
        for (other, rate) in self.model.row(unit) {
            if self.place[other] != NOWHERE {
                continue;
            }
            let view = &mut self.views[other];
            if view.round != round {
                view.round = round;
                view.growing = 0;
            }
            view.growing += rate;
            let gain = view.growing - view.unplaced;
            self.frontier.push(gain, other as u32, self.model.cpu[other].unsigned_abs());
        }
    }

    /// Places what is left, heaviest first: on the node it fits on that it exchanges most with if
    /// `near`, or the least filled one it fits on, or the least filled one it is allowed on.
    fn rest(mut self, near: bool, steps: &mut Steps) -> Vec<u32> {
        let model = self.model;
        let mut left: Vec<usize> =
            (0..model.units()).filter(|&unit| self.place[unit] == NOWHERE).collect();
        left.sort_by_key(|&unit| std::cmp::Reverse((model.cpu[unit], model.mem[unit])));
        let mut filled: BTreeSet<Fill> =
            (0..model.nodes()).map(|node| Fill::of(model, &self.cpu, node)).collect();
        for unit in left {
            let node = self.best_for(unit, near, &filled, steps);
            filled.remove(&Fill::of(model, &self.cpu, node));
            self.put(unit, node, 0);
            filled.insert(Fill::of(model, &self.cpu, node));
        }
        self.place
    }

    fn best_for(
        &self,
        unit: usize,
        near: bool,
        filled: &BTreeSet<Fill>,
        steps: &mut Steps,
    ) -> usize {
        let model = self.model;
        if near && steps.take(model.row_len(unit)) {
            let near = model.row(unit).map(|(other, rate)| (self.place[other], rate));
            let mut near: Vec<(u32, i64)> = near.filter(|&(node, _)| node != NOWHERE).collect();
            near.sort_unstable();
            let sums = near.chunk_by(|a, b| a.0 == b.0);
            let sums = sums.map(|of| (of.iter().map(|&(_, rate)| rate).sum::<i64>(), of[0].0));
            let fitting = sums.filter(|&(_, node)| self.fits(unit, node as usize));
            if let Some((_, node)) = fitting.max_by_key(|&(rate, node)| (rate, !node)) {
                return node as usize;
            }
        }
        // The steps bound the search for a node that fits; the least filled ones come first.
        for fill in filled {
            if self.fits(unit, fill.node) {
                return fill.node;
            }
            if !steps.take(1) {
                break;
            }
        }
        let allowed = model.allowed(unit).iter().map(|&node| node as usize);
        let first = allowed.clone().take(64);
        let least = first.map(|node| Fill::of(model, &self.cpu, node)).min();
        match (model.set[unit], filled.first()) {
            (0, Some(fill)) => fill.node,
            _ => least.map_or(0, |fill| fill.node),
        }
    }
}

/// A node ordered by how full it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fill {
    load: i64,
    cpu: i64,
    node: usize,
}

impl Fill {
    fn of(model: &Model<'_>, loads: &[i64], node: usize) -> Self {
        Self { load: loads[node], cpu: model.node_cpu[node], node }
    }
}

impl PartialOrd for Fill {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Fill {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let left = i128::from(self.load) * i128::from(other.cpu);
        let right = i128::from(other.load) * i128::from(self.cpu);
        // Of nodes as full the larger one, then the first.
        left.cmp(&right).then(other.cpu.cmp(&self.cpu)).then(self.node.cmp(&other.node))
    }
}
