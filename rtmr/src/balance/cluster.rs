//! The load as it stands: nodes, entries, and the band that a node's load is to be in.

use crate::error::{Error, non_negative};

/// An entry of the directory: what moves from node to node as one. Entries go by their index.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// The node that it is on.
    pub owner: u32,
    /// Δ: load that it brings, in the unit of the nodes' capacities. An entry of less than
    /// [`Entry::LEAST_LOAD`] stays where it is.
    pub load: f64,
    /// d: bytes to move if it moves.
    pub bytes: u64,
}

impl Entry {
    /// Less load than this counts for its node, but the entry does not move: bytes over load,
    /// which it would be judged by, overflow.
    pub const LEAST_LOAD: f64 = 1e-280;
}

/// Nodes and their entries, checked; loads are summed once.
#[derive(Clone, Debug)]
pub struct Cluster<'a> {
    capacity: &'a [f64],
    base: &'a [f64],
    entries: &'a [Entry],
    loads: Vec<f64>,
    counts: Vec<u32>,
}

impl<'a> Cluster<'a> {
    /// Nodes of `capacity` p_j with a `base` load each that can't move, and `entries`.
    ///
    /// O(nodes + entries) time, O(nodes) memory.
    ///
    /// # Errors
    /// No nodes, lists of different lengths, a load or capacity that is no finite number from 0,
    /// an owner that is not there, more than 2³² − 1 entries or nodes, sums that overflow.
    pub fn new(capacity: &'a [f64], base: &'a [f64], entries: &'a [Entry]) -> Result<Self, Error> {
        let nodes = capacity.len();
        if nodes == 0 {
            return Err(Error::Count { what: "nodes", count: 0, rule: "at least 1 is needed" });
        }
        if base.len() != nodes {
            let rule = "one a node is needed";
            return Err(Error::Count { what: "base loads", count: base.len(), rule });
        }
        for (what, count) in [("nodes", nodes), ("entries", entries.len())] {
            if u32::try_from(count).is_err() {
                return Err(Error::Count { what, count, rule: "at most 2^32 - 1 are possible" });
            }
        }
        for (what, values) in [("capacity", capacity), ("base load", base)] {
            check_all(what, values)?;
        }
        let (loads, counts) = sum_loads(base, entries)?;
        Ok(Self { capacity, base, entries, loads, counts })
    }

    /// p_j of each node.
    #[must_use]
    pub fn capacity(&self) -> &'a [f64] {
        self.capacity
    }

    /// Load of each node that can't move.
    #[must_use]
    pub fn base(&self) -> &'a [f64] {
        self.base
    }

    /// The entries.
    #[must_use]
    pub fn entries(&self) -> &'a [Entry] {
        self.entries
    }

    /// s_j of each node: its base and its entries.
    #[must_use]
    pub fn loads(&self) -> &[f64] {
        &self.loads
    }

    /// Entries of each node.
    pub(crate) fn counts(&self) -> &[u32] {
        &self.counts
    }
}

fn check_all(what: &'static str, values: &[f64]) -> Result<(), Error> {
    let bad = |value: &f64| !(value.is_finite() && *value >= 0.0);
    if let Some(index) = values.iter().position(bad) {
        let rule = "must be finite and not below 0";
        return Err(Error::Item { what, index, value: values[index], rule });
    }
    // Bands are sums and products of these: leave them room.
    if values.iter().sum::<f64>() > f64::MAX / 1e6 {
        return Err(Error::Overflow { what });
    }
    Ok(())
}

/// Loads and counts of the nodes. Sums a block of entries at a time, so that rounding grows with
/// the number of blocks and not of entries.
fn sum_loads(base: &[f64], entries: &[Entry]) -> Result<(Vec<f64>, Vec<u32>), Error> {
    let nodes = base.len();
    let (mut loads, mut counts) = (base.to_vec(), vec![0_u32; nodes]);
    let mut block = vec![0.0; nodes];
    let mut bytes = 0_u128;
    let size = nodes.max(4096);
    for (at, entries) in entries.chunks(size).enumerate() {
        for (i, entry) in entries.iter().enumerate() {
            let owner = entry.owner as usize;
            if owner >= nodes {
                return Err(Error::UnknownNode { entry: at * size + i, owner: entry.owner, nodes });
            }
            if !(entry.load >= 0.0 && entry.load < f64::INFINITY) {
                let (what, rule) = ("load of entry", "must be finite and not below 0");
                let index = at * size + i;
                return Err(Error::Item { what, index, value: entry.load, rule });
            }
            block[owner] += entry.load;
            counts[owner] += 1;
            bytes += u128::from(entry.bytes);
        }
        for (load, block) in loads.iter_mut().zip(&mut block) {
            *load += *block;
            *block = 0.0;
        }
    }
    if bytes > u128::from(u64::MAX) {
        return Err(Error::Overflow { what: "bytes" });
    }
    if loads.iter().sum::<f64>() > f64::MAX / 1e6 || loads.iter().any(|load| load.is_nan()) {
        return Err(Error::Overflow { what: "loads" });
    }
    Ok((loads, counts))
}

/// The band of a node with capacity p: from (1 − τ)p to (1 + φ)p, both included.
///
/// Sums of floats depend on their order, so the band is open by a little, in parts of the larger
/// of the node's load and (1 + φ)p: [`Band::TOLERANCE`] for [`verify`](crate::balance::verify),
/// half of it for what counts as overloaded or idle, a tenth of it for plans.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    phi: f64,
    tau: f64,
}

impl Band {
    /// How far outside of its band a load is still taken for within, in parts.
    pub const TOLERANCE: f64 = 1e-9;

    /// # Errors
    /// φ not from 0 to 1000; τ not from 0 and below 1; both 0, as no sum ever meets a point.
    pub fn new(phi: f64, tau: f64) -> Result<Self, Error> {
        non_negative("phi", phi)?;
        non_negative("tau", tau)?;
        if phi > 1000.0 {
            return Err(Error::Number { what: "phi", value: phi, rule: "must be at most 1000" });
        }
        if tau >= 1.0 {
            return Err(Error::Number { what: "tau", value: tau, rule: "must be below 1" });
        }
        if phi + tau < 1e-6 {
            let (what, value) = ("phi + tau", phi + tau);
            return Err(Error::Number { what, value, rule: "must be at least 1e-6" });
        }
        Ok(Self { phi, tau })
    }

    /// φ: how far over its capacity a node may be, in parts.
    #[must_use]
    pub fn phi(&self) -> f64 {
        self.phi
    }

    /// τ: how far under its capacity a node may be, in parts.
    #[must_use]
    pub fn tau(&self) -> f64 {
        self.tau
    }

    /// (1 + φ)p.
    #[must_use]
    pub fn high(&self, capacity: f64) -> f64 {
        (1.0 + self.phi) * capacity
    }

    /// (1 − τ)p.
    #[must_use]
    pub fn low(&self, capacity: f64) -> f64 {
        (1.0 - self.tau) * capacity
    }

    /// The slack of a node in the unit of loads, for its load as it was before any move.
    pub(crate) fn slack(&self, capacity: f64, load: f64, part: f64) -> f64 {
        part * self.high(capacity).max(load)
    }

    /// Definition 5: s > (1 + φ)p.
    #[must_use]
    pub fn is_over(&self, capacity: f64, load: f64) -> bool {
        load > self.high(capacity) + self.slack(capacity, load, 0.5 * Self::TOLERANCE)
    }

    /// Definition 5: s < (1 − τ)p.
    #[must_use]
    pub fn is_idle(&self, capacity: f64, load: f64) -> bool {
        load < self.low(capacity) - self.slack(capacity, load, 0.5 * Self::TOLERANCE)
    }
}
