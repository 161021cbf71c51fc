//! How much of the history each node holds: section 4.1, equation (3).

use std::ops::Range;

use crate::error::Error;

/// A node that holds a part of the history, in memory as far as it goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeSpec {
    /// M: memory, in the unit of the history.
    pub mem: f64,
    /// μ: records a unit of time, with all of the history in memory.
    pub mu: f64,
    /// α: part of the memory that history may take, above 0 and at most 1.
    pub alpha: f64,
    /// ξ: speed on disk over speed in memory, above 0 and at most 1.
    pub xi: f64,
}

/// What the nodes are to have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SplitRule {
    /// Load over speed: records arrive in proportion to the history, P_j = c·v_j(P_j).
    #[default]
    EqualUtilisation,
    /// The paper's: v_j(P_j) = v by its own formula, which lets a node with memory to spare be
    /// faster than in memory. Such nodes are listed in [`Split::outside`]. Nodes whose speed does
    /// not fall with history (ξ = 1, or no memory) get none.
    EqualSpeed,
}

/// The mean of the speeds in memory and on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mean {
    /// v = ημ + (1 − η)ξμ, the paper's.
    #[default]
    Arithmetic,
    /// 1/v = η/μ + (1 − η)/(ξμ): the rate of a mix of records.
    Harmonic,
}

/// A node's speed with `history` on it: v(P) of equation (3), with the part in memory
/// η = min(1, αM/P), so that it is never above μ.
#[must_use]
pub fn speed(node: &NodeSpec, history: f64, mean: Mean) -> f64 {
    let room = node.alpha * node.mem;
    let hit = if history <= room { 1.0 } else { room / history };
    match mean {
        Mean::Arithmetic => node.mu * (hit + (1.0 - hit) * node.xi),
        Mean::Harmonic => node.mu / (hit + (1.0 - hit) / node.xi),
    }
}

/// A split of the history.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[must_use]
pub struct Split {
    /// P_j: history of each node; their sum is the total.
    pub shares: Vec<f64>,
    /// The c of equal utilisation, or the v of equal speed.
    pub level: f64,
    /// Each node's speed with its share.
    pub speeds: Vec<f64>,
    /// Nodes with less than they can hold in memory under [`SplitRule::EqualSpeed`]: the formula
    /// takes them for faster than they are, and their true speed is in `speeds`.
    pub outside: Vec<usize>,
}

impl Split {
    /// `count` entries of the directory in ranges, one a node, by largest remainder: their
    /// lengths sum to `count`, and none is further than one entry from its share.
    #[must_use]
    pub fn entries(&self, count: usize) -> Vec<Range<usize>> {
        let mut start = 0;
        let sizes = largest_remainder(&self.shares, count);
        let range = |size| {
            start += size;
            start - size..start
        };
        sizes.into_iter().map(range).collect()
    }
}

/// Splits `total` over the nodes. O(nodes) time a step of at most some 1100 bisections.
///
/// # Errors
/// No nodes, a number that breaks its rule, or nodes that cannot hold the total under the rule:
/// all without speed, or [`SplitRule::EqualSpeed`] where no node's speed falls with history.
///
/// ```
/// use rtmr::split::{Mean, NodeSpec, SplitRule, split};
///
/// let node = |mem, mu| NodeSpec { mem, mu, alpha: 1.0, xi: 0.1 };
/// let nodes = [node(32.0, 24.0), node(32.0, 24.0), node(8.0, 6.4)];
/// let split = split(&nodes, 60.0, SplitRule::EqualUtilisation, Mean::Arithmetic)?;
/// assert!((split.shares[0] / split.shares[2] - 24.0 / 6.4).abs() < 1e-9);
/// assert_eq!(split.entries(1 << 16).iter().map(|range| range.len()).sum::<usize>(), 1 << 16);
/// # Ok::<(), rtmr::Error>(())
/// ```
pub fn split(nodes: &[NodeSpec], total: f64, rule: SplitRule, mean: Mean) -> Result<Split, Error> {
    check(nodes, total)?;
    // A node whose speed does not fall with history has no part in equal speed.
    let falls = nodes.iter().filter(|node| node.mem > 0.0 && node.mu > 0.0 && node.xi < 1.0);
    let base = falls.map(|node| node.xi * node.mu).fold(0.0, f64::max);
    // Each node's share for a level above the least one; the sum rises or falls with it.
    let share = |node: &NodeSpec, x: f64| match rule {
        SplitRule::EqualUtilisation => equal_utilisation(node, x, mean),
        SplitRule::EqualSpeed => equal_speed(node, base, x, mean),
    };
    let sum = |x: f64| nodes.iter().map(|node| share(node, x)).sum::<f64>();
    let rising = rule == SplitRule::EqualUtilisation;
    if total > 0.0 && !nodes.iter().any(|node| share(node, 1.0) > 0.0) {
        return Err(Error::NoSplit {
            rule: match rule {
                SplitRule::EqualUtilisation => "no node has any speed",
                SplitRule::EqualSpeed => "no node's speed falls with its history",
            },
        });
    }
    let met = |x: f64| (sum(x) >= total) == rising;
    let level = if total > 0.0 { bisect(met) } else { 0.0 };
    if total > 0.0 && !(met(level) && sum(level).is_finite()) {
        return Err(Error::Overflow { what: "the shares" });
    }
    let mut shares = vec![0.0; nodes.len()];
    if total > 0.0 {
        shares = nodes.iter().map(|node| share(node, level)).collect();
    }
    // Bisection ends within a few units in the last place: bring the sum to the total.
    let scale = shares.iter().sum::<f64>();
    if total > 0.0 && scale == 0.0 {
        return Err(Error::NoSplit { rule: "the shares are too small for floats" });
    }
    if scale > 0.0 {
        shares.iter_mut().for_each(|share| *share = (*share / scale) * total);
    }
    let speeds = nodes.iter().zip(&shares).map(|(node, &share)| speed(node, share, mean));
    let outside = |&j: &usize| !rising && shares[j] < nodes[j].alpha * nodes[j].mem;
    Ok(Split {
        level: if rising { level } else { base + level },
        speeds: speeds.collect(),
        outside: (0..nodes.len()).filter(outside).collect(),
        shares,
    })
}

fn check(nodes: &[NodeSpec], total: f64) -> Result<(), Error> {
    crate::error::non_negative("the total", total)?;
    if nodes.is_empty() {
        return Err(Error::Count { what: "nodes", count: 0, rule: "at least 1 is needed" });
    }
    for (index, node) in nodes.iter().enumerate() {
        let part = |value: f64| value > 0.0 && value <= 1.0;
        let amount = |value: f64| value.is_finite() && value >= 0.0;
        let (from_0, to_1) = ("must be finite and not below 0", "must be above 0 and at most 1");
        for (what, value, good, rule) in [
            ("mem", node.mem, amount(node.mem), from_0),
            ("mu", node.mu, amount(node.mu), from_0),
            ("alpha", node.alpha, part(node.alpha), to_1),
            ("xi", node.xi, part(node.xi), to_1),
        ] {
            if !good {
                return Err(Error::Item { what, index, value, rule });
            }
        }
    }
    Ok(())
}

/// P = c·v(P) solved for P.
fn equal_utilisation(node: &NodeSpec, c: f64, mean: Mean) -> f64 {
    let (room, all) = (node.alpha * node.mem, c * node.mu);
    if all <= room || all.is_infinite() {
        return all;
    }
    let on_disk = all * node.xi;
    match mean {
        Mean::Arithmetic => {
            // The root of (cμξ)² + 4cμ(1 − ξ)αM, where neither square nor product overflows.
            let spare = 2.0 * (all * (1.0 - node.xi)).sqrt() * room.sqrt();
            (on_disk + libm::hypot(on_disk, spare)) / 2.0
        }
        Mean::Harmonic => on_disk + room * (1.0 - node.xi),
    }
}

/// v(P) = `base` + `above` solved for P, without the clamp of η; `base` is the largest ξμ.
fn equal_speed(node: &NodeSpec, base: f64, above: f64, mean: Mean) -> f64 {
    let room = node.alpha * node.mem * (1.0 - node.xi);
    let over_disk = (base - node.xi * node.mu) + above;
    let speed = match mean {
        Mean::Arithmetic => node.mu,
        Mean::Harmonic => base + above,
    };
    if room == 0.0 || node.mu == 0.0 { 0.0 } else { room * speed / over_disk }
}

/// The least x above 0 for which `holds`, which is false and then true.
fn bisect(holds: impl Fn(f64) -> bool) -> f64 {
    // Bits of positive floats are ordered as the floats are: halve the bits, not the numbers, as
    // the level may be of any magnitude.
    let (mut low, mut high) = (0_u64, f64::MAX.to_bits());
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(f64::from_bits(middle)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    f64::from_bits(high)
}

/// `count` items over nodes of these weights: the whole parts, and one more for those with the
/// largest remainders, the first among equals. A weight of 0 gets nothing unless all are 0; then
/// the first nodes get one more than the last. Weights must be finite and not negative.
#[must_use]
pub(crate) fn largest_remainder(weights: &[f64], count: usize) -> Vec<usize> {
    let largest = weights.iter().copied().fold(0.0, f64::max);
    let relative = |weight: f64| if largest > 0.0 { weight / largest } else { 1.0 };
    let sum: f64 = weights.iter().map(|&weight| relative(weight)).sum();
    let quota = |weight: f64| relative(weight) / sum * count as f64;
    #[allow(clippy::cast_sign_loss, reason = "quotas are not negative")]
    let mut sizes: Vec<usize> = weights.iter().map(|&w| quota(w).floor() as usize).collect();
    let mut order: Vec<usize> =
        (0..weights.len()).filter(|&j| weights[j] > 0.0 || largest == 0.0).collect();
    order.sort_by(|&a, &b| {
        let remainder = |j: usize| quota(weights[j]) - quota(weights[j]).floor();
        remainder(b).total_cmp(&remainder(a)).then(a.cmp(&b))
    });
    // Near the largest count there is the whole parts may sum to more than it.
    let mut given: u128 = sizes.iter().map(|&size| size as u128).sum();
    let count = count as u128;
    // Rounding of the quotas may leave the whole parts an item or so above the count.
    for &j in order.iter().rev().cycle().take_while(|_| !order.is_empty()) {
        if given <= count {
            break;
        }
        if sizes[j] > 0 {
            sizes[j] -= 1;
            given -= 1;
        }
    }
    for &j in order.iter().cycle() {
        if given >= count {
            break;
        }
        sizes[j] += 1;
        given += 1;
    }
    sizes
}
