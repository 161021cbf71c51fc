//! Definitions 6 to 9: skew, balance, reaction and efficiency.
//!
//! Their formulas are lost from the paper's text; these are proposals that mean what it says.

use crate::balance::{Band, Cluster, Costs, Plan};

/// How a plan does.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[must_use]
pub struct Measures {
    /// θ = |s − p|/p of each node after the plan (definition 6).
    pub skew: Vec<f64>,
    /// B (definition 7): 1 less the load out of band after the plan over that before. 1: every
    /// node is in its band. Below 0: it got worse.
    pub balance: f64,
    /// The same for overloaded nodes alone, as an idle node does no harm.
    pub balance_over: f64,
    /// The largest s/p after the plan over the mean, Σs/Σp.
    pub utilisation: f64,
    /// ν (definition 8): seconds to find the plan by its steps and to move its bytes.
    pub reaction: f64,
    /// E = B/ν (definition 9). It favours doing little, cheaply: look at B and ν themselves.
    pub efficiency: f64,
    /// B·ν_bound/ν, with ν_bound the seconds that the lower bound takes to move: from 0 to 1, or
    /// below 0 where B is.
    pub efficiency_to_bound: f64,
}

/// Measures a plan. O(nodes + moves).
#[allow(clippy::cast_precision_loss, reason = "seconds of bytes and steps")]
pub fn measure(cluster: &Cluster<'_>, band: Band, plan: &Plan, costs: &Costs) -> Measures {
    let mut loads = cluster.loads().to_vec();
    for step in &plan.moves {
        // A plan of another cluster has no meaning; it is `verify` that tells.
        let load = cluster.entries().get(step.entry as usize).map_or(0.0, |entry| entry.load);
        for (node, sign) in [(step.from, -1.0), (step.to, 1.0)] {
            if let Some(sum) = loads.get_mut(node as usize) {
                *sum += sign * load;
            }
        }
    }
    let balance = balance(cluster, band, &loads, true);
    let reaction = reaction(plan, costs);
    let bound = plan.lower_bound / costs.bytes_per_second;
    // What takes no time is infinitely quick, but 0 of it is 0.
    let over = |value: f64, seconds: f64| match (value == 0.0, seconds > 0.0) {
        (true, _) => 0.0,
        (_, true) => value / seconds,
        (_, false) => value * f64::INFINITY,
    };
    let to_bound = if reaction > 0.0 { (bound / reaction).min(1.0) } else { 1.0 };
    Measures {
        skew: skew(cluster.capacity(), &loads),
        balance,
        balance_over: self::balance(cluster, band, &loads, false),
        utilisation: utilisation(cluster.capacity(), &loads),
        reaction,
        efficiency: over(balance, reaction),
        efficiency_to_bound: if to_bound > 0.0 { balance * to_bound } else { 0.0 },
    }
}

/// θ = |s − p|/p of each node: infinite for load on a node without capacity.
#[must_use]
pub fn skew(capacity: &[f64], loads: &[f64]) -> Vec<f64> {
    let theta = |(&p, &s): (&f64, &f64)| if s == p { 0.0 } else { (s - p).abs() / p };
    capacity.iter().zip(loads).map(theta).collect()
}

/// The largest s/p over Σs/Σp: 1 for an even load, infinite for load without capacity.
#[must_use]
pub fn utilisation(capacity: &[f64], loads: &[f64]) -> f64 {
    let each = capacity.iter().zip(loads).filter(|&(_, &s)| s > 0.0);
    let largest = each.map(|(p, s)| s / p).fold(0.0, f64::max);
    let mean = loads.iter().sum::<f64>() / capacity.iter().sum::<f64>();
    if largest == 0.0 { 1.0 } else { largest / mean }
}

/// B for loads after some moves; of overloaded nodes alone unless `idle` too.
#[must_use]
pub fn balance(cluster: &Cluster<'_>, band: Band, after: &[f64], idle: bool) -> f64 {
    let beyond = |p: f64, s: f64, before: f64| {
        let slack = band.slack(p, before, Band::TOLERANCE);
        let out = (s - band.high(p)).max(if idle { band.low(p) - s } else { 0.0 });
        if out > slack { out } else { 0.0 }
    };
    let nodes = || cluster.capacity().iter().zip(cluster.loads());
    let before: f64 = nodes().map(|(&p, &s)| beyond(p, s, s)).sum();
    let after: f64 = nodes().zip(after).map(|((&p, &s), &now)| beyond(p, now, s)).sum();
    match (before > 0.0, after > 0.0) {
        (true, _) => 1.0 - after / before,
        (false, false) => 1.0,
        (false, true) => f64::NEG_INFINITY,
    }
}

/// ν = c_e·l + d/bw + c_0·moves, in seconds.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "seconds of bytes and steps")]
pub fn reaction(plan: &Plan, costs: &Costs) -> f64 {
    costs.seconds_per_step * plan.steps as f64
        + plan.bytes as f64 / costs.bytes_per_second
        + costs.seconds_per_move * plan.moves.len() as f64
}
