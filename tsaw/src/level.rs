//! How full a node is: a load over a capacity, compared exactly.

use std::cmp::Ordering;

use crate::{Cluster, TaskGraph};

/// A load over the CPU of a node, as an exact fraction. Two that are equal as numbers are equal.
#[derive(Clone, Copy, Debug)]
pub struct Level {
    load: u64,
    /// At least 1.
    cpu: u64,
}

impl Level {
    /// Nothing used.
    pub const ZERO: Self = Self { load: 0, cpu: 1 };

    /// So much load over so much CPU; `None` for no CPU.
    #[must_use]
    pub fn of(load: u64, cpu: u64) -> Option<Self> {
        (cpu > 0).then_some(Self { load, cpu })
    }

    /// Numerator, CPU used.
    #[must_use]
    pub fn load(self) -> u64 {
        self.load
    }

    /// Denominator, CPU of the node, at least 1.
    #[must_use]
    pub fn cpu(self) -> u64 {
        self.cpu
    }

    pub(crate) fn new(load: u64, cpu: u64) -> Self {
        Self { load, cpu: cpu.max(1) }
    }

    /// The fraction as a float.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        self.load as f64 / self.cpu as f64
    }

    /// The most that a node with `cpu` may hold to be no fuller than this, at most `u64::MAX`.
    #[must_use]
    pub fn cap(self, cpu: u64) -> u64 {
        let cap = u128::from(self.load) * u128::from(cpu) / u128::from(self.cpu);
        u64::try_from(cap).unwrap_or(u64::MAX)
    }
}

impl PartialEq for Level {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Level {}

impl PartialOrd for Level {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Level {
    fn cmp(&self, other: &Self) -> Ordering {
        let left = u128::from(self.load) * u128::from(other.cpu);
        left.cmp(&(u128::from(other.load) * u128::from(self.cpu)))
    }
}

impl std::fmt::Display for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.load, self.cpu)
    }
}

/// The CPU caps that the cluster asks for: min(cpu_n, (1 + ε) · W · cpu_n / Σ cpu), rounded
/// down, and 0 for a dead node.
#[must_use]
pub fn asked_caps(graph: &TaskGraph, cluster: &Cluster) -> Vec<u64> {
    let alive = || cluster.nodes().iter().filter(|node| node.alive);
    let sum: u128 = alive().map(|node| u128::from(node.cpu)).sum();
    // At most 2^30 · 2^48 · 2^48, which fits.
    let share = u128::from(1_000_000 + cluster.imbalance_ppm()) * u128::from(graph.total_cpu());
    cluster
        .nodes()
        .iter()
        .map(|node| match node.alive {
            true => {
                let cap = share * u128::from(node.cpu) / (1_000_000 * sum.max(1));
                u64::try_from(cap).unwrap_or(u64::MAX).min(node.cpu)
            }
            false => 0,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_has_cpu_and_a_cap_for_any_node() {
        assert_eq!(Level::of(1, 0), None);
        let level = Level::of(3, 2).unwrap_or(Level::ZERO);
        assert_eq!((level.load(), level.cpu(), level.cap(5)), (3, 2, 7));
        assert_eq!(Level::of(6, 4), Some(level));
        assert_eq!(Level::of(u64::MAX, 1).map(|level| level.cap(u64::MAX)), Some(u64::MAX));
    }
}
