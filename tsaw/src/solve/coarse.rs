//! Coarser models for large instances: clusters of units that exchange much become one unit.
//!
//! All-to-all stages make heavy-edge matching stall, so clusters are found by label propagation
//! with a bound on their size.

use super::model::Model;
use crate::rng::SplitMix64;
use crate::steps::Steps;

/// Rounds of label propagation.
const ROUNDS: usize = 3;

/// A cluster has at most this part of a node's mean load.
const PARTS: i64 = 30;

/// The cluster of every unit and their number; `None` if there would be hardly fewer, or the
/// steps are short. Units of a cluster may be on the same nodes; those of spread groups stay by
/// themselves.
fn clusters(
    model: &Model<'_>,
    rng: &mut SplitMix64,
    steps: &mut Steps,
) -> Option<(Vec<u32>, usize)> {
    let units = model.units();
    let nodes = i64::try_from(model.nodes()).unwrap_or(i64::MAX);
    let total: i64 = model.cpu.iter().sum();
    let (largest, all_mem) = (total / nodes / PARTS + 1, model.mem.iter().sum::<i64>());
    let largest_mem = all_mem / nodes / PARTS + 1;
    let mut label: Vec<u32> = (0..units as u32).collect();
    let (mut cpu, mut mem) = (model.cpu.clone(), model.mem.clone());
    let mut rate = vec![0_i64; units];
    let mut touched: Vec<u32> = Vec::new();
    let mut order: Vec<u32> = (0..units as u32).collect();
    for last in (1..units).rev() {
        order.swap(last, rng.index(last + 1));
    }
    for _ in 0..ROUNDS {
        for &unit in &order {
            let unit = unit as usize;
            if !model.spreads_of(unit).is_empty() {
                continue;
            }
            if !steps.take(1 + model.row_len(unit)) {
                return None;
            }
            let own = label[unit] as usize;
            for (other, of) in model.row(unit) {
                let to = label[other];
                if rate[to as usize] == 0 {
                    touched.push(to);
                }
                rate[to as usize] += of;
            }
            let mut best = (rate[own], own);
            for &to in &touched {
                let to = to as usize;
                let fits = cpu[to] + model.cpu[unit] <= largest
                    && mem[to] + model.mem[unit] <= largest_mem
                    && model.set[to] == model.set[unit]
                    && model.spreads_of(to).is_empty();
                if to != own && fits && (rate[to], best.1) > (best.0, to) {
                    best = (rate[to], to);
                }
            }
            for &to in &touched {
                rate[to as usize] = 0;
            }
            touched.clear();
            if best.1 != own {
                cpu[own] -= model.cpu[unit];
                mem[own] -= model.mem[unit];
                cpu[best.1] += model.cpu[unit];
                mem[best.1] += model.mem[unit];
                label[unit] = best.1 as u32;
            }
        }
    }
    // Numbers without gaps, by the first unit of each cluster.
    let mut number = vec![u32::MAX; units];
    let mut count = 0;
    for label in &mut label {
        let number = &mut number[*label as usize];
        if *number == u32::MAX {
            *number = count;
            count += 1;
        }
        *label = *number;
    }
    let count = count as usize;
    (count * 10 <= units * 9).then_some((label, count))
}

/// A model of the clusters, and the cluster of every unit.
pub(super) fn coarser(
    model: &Model<'_>,
    rng: &mut SplitMix64,
    steps: &mut Steps,
) -> Option<(Model<'static>, Vec<u32>)> {
    let (cluster, count) = clusters(model, rng, steps)?;
    Some((model.contracted(&cluster, count), cluster))
}
