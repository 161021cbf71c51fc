//! Coarser models for large instances: clusters of units that exchange much become one unit.
//!
//! All-to-all stages make heavy-edge matching stall, so clusters are found by label propagation
//! with a bound on their size (Meyerhenke, Sanders, Schulz 2014).

use super::model::Model;
use crate::rng::SplitMix64;
use crate::steps::Steps;

/// Rounds of label propagation.
const ROUNDS: usize = 3;

/// A cluster has at most this part of a node's mean load.
const PARTS: i64 = 30;

/// What clusters are held to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound<'a> {
    /// The most CPU of a cluster of several units.
    pub(super) cpu: i64,
    /// The most memory of one.
    pub(super) mem: i64,
    /// Units that differ here stay apart.
    pub(super) within: Option<&'a [u32]>,
    /// A small cluster is liked better than a large one that a unit exchanges as much with.
    pub(super) small: bool,
    pub(super) rounds: usize,
}

impl Bound<'_> {
    /// So small that `parts` clusters fill a node's mean part of each.
    pub(super) fn parts(model: &Model<'_>, parts: i64) -> Self {
        let nodes = i64::try_from(model.nodes()).unwrap_or(i64::MAX);
        let part = |all: &[i64]| all.iter().sum::<i64>() / nodes / parts + 1;
        Self {
            cpu: part(&model.cpu),
            mem: part(&model.mem),
            within: None,
            small: false,
            rounds: ROUNDS,
        }
    }
}

/// Clusters in the making.
struct Clusters<'m, 'g> {
    model: &'m Model<'g>,
    bound: Bound<'m>,
    label: Vec<u32>,
    cpu: Vec<i64>,
    mem: Vec<i64>,
}

impl<'m, 'g> Clusters<'m, 'g> {
    fn new(model: &'m Model<'g>, bound: Bound<'m>) -> Self {
        let label = (0..model.units() as u32).collect();
        Self { model, bound, label, cpu: model.cpu.clone(), mem: model.mem.clone() }
    }

    fn fits(&self, unit: usize, to: usize) -> bool {
        let model = self.model;
        self.cpu[to] + model.cpu[unit] <= self.bound.cpu
            && self.mem[to] + model.mem[unit] <= self.bound.mem
            && model.set[to] == model.set[unit]
            && model.spreads_of(to).is_empty()
            && self.bound.within.is_none_or(|within| within[to] == within[unit])
    }

    /// How much a unit likes a cluster: by the rate to it, or that squared over the CPU of the
    /// others in it, the rating expansion*² of Holtgrewe, Sanders and Schulz (2010). Rates alone
    /// say little where all are equal. Floats here are the same on every machine.
    fn liking(&self, unit: usize, to: usize, rate: i64) -> f64 {
        let rate = rate as f64;
        if !self.bound.small {
            return rate;
        }
        let own = self.label[unit] as usize == to;
        let others = self.cpu[to] - if own { self.model.cpu[unit] } else { 0 };
        rate * rate / (others as f64 + 1.0)
    }

    fn put(&mut self, unit: usize, to: usize) {
        let own = self.label[unit] as usize;
        self.cpu[own] -= self.model.cpu[unit];
        self.mem[own] -= self.model.mem[unit];
        self.cpu[to] += self.model.cpu[unit];
        self.mem[to] += self.model.mem[unit];
        self.label[unit] = to as u32;
    }

    /// Each unit goes to the cluster that it exchanges most with. False if the steps are short.
    fn propagate(&mut self, order: &[u32], steps: &mut Steps) -> bool {
        let model = self.model;
        let mut rate = vec![0_i64; model.units()];
        let mut touched: Vec<u32> = Vec::new();
        for _ in 0..self.bound.rounds {
            for &unit in order {
                let unit = unit as usize;
                if !model.spreads_of(unit).is_empty() {
                    continue;
                }
                if !steps.take(1 + model.row_len(unit)) {
                    return false;
                }
                let own = self.label[unit] as usize;
                for (other, of) in model.row(unit) {
                    let to = self.label[other];
                    if rate[to as usize] == 0 {
                        touched.push(to);
                    }
                    rate[to as usize] += of;
                }
                let mut best = (self.liking(unit, own, rate[own]), own);
                for &to in &touched {
                    let to = to as usize;
                    let liking = self.liking(unit, to, rate[to]);
                    let better = liking > best.0 || (liking == best.0 && to < best.1);
                    if to != own && better && self.fits(unit, to) {
                        best = (liking, to);
                    }
                }
                for &to in &touched {
                    rate[to as usize] = 0;
                }
                touched.clear();
                if best.1 != own {
                    self.put(unit, best.1);
                }
            }
        }
        true
    }

    /// Units that are left alone join others that are, by the cluster that they exchange most
    /// with and found full, or that they exchange nothing: else stars and lone units would stall
    /// the coarsening. Those that exchange as much come together, so that what is worth a place
    /// beside a hub is not tied to what is not.
    fn join_alone(&mut self) {
        let model = self.model;
        let mut members = vec![0_u32; model.units()];
        self.label.iter().for_each(|&label| members[label as usize] += 1);
        let mut alone = Vec::new();
        for unit in 0..model.units() {
            if members[self.label[unit] as usize] == 1 && model.spreads_of(unit).is_empty() {
                let most = model.row(unit).max_by_key(|&(other, rate)| (rate, self.label[other]));
                let most = most.map(|(other, rate)| (self.label[other], rate));
                let (favourite, rate) = most.unwrap_or((u32::MAX, 0));
                alone.push((favourite, std::cmp::Reverse(rate), unit as u32));
            }
        }
        alone.sort_unstable();
        let mut open = None;
        for &(favourite, _, unit) in &alone {
            let unit = unit as usize;
            match open {
                Some((of, to)) if of == favourite && self.fits(unit, to) => self.put(unit, to),
                _ => open = Some((favourite, self.label[unit] as usize)),
            }
        }
    }

    /// Numbers without gaps, by the first unit of each cluster; and how many there are.
    fn numbered(mut self) -> (Vec<u32>, usize) {
        let mut number = vec![u32::MAX; self.label.len()];
        let mut count = 0;
        for label in &mut self.label {
            let number = &mut number[*label as usize];
            if *number == u32::MAX {
                *number = count;
                count += 1;
            }
            *label = *number;
        }
        (self.label, count as usize)
    }
}

/// A model of the clusters, and the cluster of every unit; `None` if there would be hardly fewer,
/// or the steps are short. Units of a cluster may be on the same nodes; those of spread groups
/// stay by themselves.
pub(super) fn coarser(
    model: &Model<'_>,
    rng: &mut SplitMix64,
    steps: &mut Steps,
) -> Option<(Model<'static>, Vec<u32>)> {
    let mut order: Vec<u32> = (0..model.units() as u32).collect();
    for last in (1..order.len()).rev() {
        order.swap(last, rng.index(last + 1));
    }
    let mut clusters = Clusters::new(model, Bound::parts(model, PARTS));
    if !clusters.propagate(&order, steps) {
        return None;
    }
    contracted(model, clusters)
}

/// As [`coarser`] with clusters of that size, in an order that is kinder to caches, and with no
/// unit left alone that need not be.
pub(super) fn clustered(
    model: &Model<'_>,
    bound: Bound<'_>,
    rng: &mut SplitMix64,
    steps: &mut Steps,
) -> Option<(Model<'static>, Vec<u32>)> {
    let mut blocks: Vec<u32> = (0..model.units().div_ceil(BLOCK) as u32).collect();
    for last in (1..blocks.len()).rev() {
        blocks.swap(last, rng.index(last + 1));
    }
    let mut order: Vec<u32> = Vec::with_capacity(model.units());
    for block in blocks {
        let start = block as usize * BLOCK;
        order.extend(start as u32..model.units().min(start + BLOCK) as u32);
        let block = order.len() - (model.units().min(start + BLOCK) - start)..order.len();
        let block = &mut order[block];
        for last in (1..block.len()).rev() {
            block.swap(last, rng.index(last + 1));
        }
    }
    let mut clusters = Clusters::new(model, bound);
    if !clusters.propagate(&order, steps) {
        return None;
    }
    clusters.join_alone();
    contracted(model, clusters)
}

/// Units that are visited together.
const BLOCK: usize = 64;

fn contracted(model: &Model<'_>, clusters: Clusters<'_, '_>) -> Option<(Model<'static>, Vec<u32>)> {
    let (cluster, count) = clusters.numbered();
    let fewer = count * 10 <= model.units() * 9;
    fewer.then(|| (model.contracted(&cluster, count), cluster))
}
