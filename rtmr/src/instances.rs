//! Loads of the experiments (section 5.2): clusters that are out of balance in a given shape.
//!
//! Entry loads are lognormal(σ), scaled so that each node has the load its shape asks for; bytes
//! are lognormal(1) about 50 kB, which is a hundred records of 500 bytes.

use crate::Error;
use crate::balance::{Band, Cluster, Entry};
use crate::rng::SplitMix64;

/// Who is out of balance with whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// Definition 10: every overloaded node has an idle one of its own, D1 < D3 < D2.
    OneToOne,
    /// Definition 11: every overloaded node needs three idle ones.
    OneToMany,
    /// Definition 12: one node is over by more than three idle ones take, but not as much as
    /// four need, so that nodes that are little over have to help it out.
    ManyToMany,
}

/// A cluster as plain data.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// Capacity of each node.
    pub capacity: Vec<f64>,
    /// Load of each node that can't move.
    pub base: Vec<f64>,
    /// Entries, those of node 0 first.
    pub entries: Vec<Entry>,
    /// The band.
    pub band: Band,
}

impl Instance {
    /// The instance as a cluster. O(nodes + entries).
    ///
    /// # Errors
    /// As [`Cluster::new`]; none for what this module makes.
    pub fn cluster(&self) -> Result<Cluster<'_>, Error> {
        Cluster::new(&self.capacity, &self.base, &self.entries)
    }

    /// A cluster whose nodes have these loads in `per_node` entries each, capacity 1.
    ///
    /// # Errors
    /// A load or σ that is no number from 0 (σ to 10), no entries a node.
    pub fn with_loads(
        loads: &[f64],
        per_node: usize,
        sigma: f64,
        band: Band,
        seed: u64,
    ) -> Result<Self, Error> {
        crate::error::non_negative("sigma", sigma)?;
        if sigma > 10.0 {
            return Err(Error::Number { what: "sigma", value: sigma, rule: "must be at most 10" });
        }
        if per_node == 0 {
            let (what, rule) = ("entries a node", "at least 1 is needed");
            return Err(Error::Count { what, count: 0, rule });
        }
        let mut rng = SplitMix64::new(seed);
        let mut entries = Vec::with_capacity(loads.len() * per_node);
        for (owner, &total) in (0_u32..).zip(loads) {
            crate::error::non_negative("load", total)?;
            let start = entries.len();
            let mut sum = 0.0;
            for _ in 0..per_node {
                let load = libm::exp(sigma * rng.normal());
                let bytes = libm::ceil(50_000.0 * libm::exp(rng.normal()));
                sum += load;
                #[allow(clippy::cast_sign_loss, reason = "above 0")]
                entries.push(Entry { owner, load, bytes: bytes as u64 });
            }
            entries[start..].iter_mut().for_each(|entry| entry.load *= total / sum);
        }
        let (capacity, base) = (vec![1.0; loads.len()], vec![0.0; loads.len()]);
        Ok(Self { capacity, base, entries, band })
    }
}

/// An instance of a shape, `per_node` entries on each of `nodes` nodes.
///
/// Overloaded nodes come first. Nodes that do not fill another unit of the shape (of 2, 4 or 7
/// nodes) are in their band.
///
/// # Errors
/// Fewer nodes than one unit, no entries, σ not from 0 to 10.
pub fn shaped(
    shape: Shape,
    nodes: usize,
    per_node: usize,
    sigma: f64,
    seed: u64,
) -> Result<Instance, Error> {
    let (width, unit): (f64, usize) = match shape {
        Shape::OneToOne => (0.1, 2),
        Shape::OneToMany => (0.1, 4),
        Shape::ManyToMany => (0.05, 7),
    };
    let units = nodes / unit;
    if units == 0 {
        let rule = "at least one unit of the shape is needed: 2, 4 or 7 nodes";
        return Err(Error::Count { what: "nodes", count: nodes, rule });
    }
    let (mut over, mut idle) = (Vec::new(), Vec::new());
    let mut rng = SplitMix64::new(seed ^ 0x5EED);
    for at in 0..units {
        match shape {
            Shape::OneToOne => {
                // Further apart the further down: the ranks of a pair are the same.
                let lacking = 0.4 - 0.3 * (at as f64 + rng.unit()) / units as f64;
                over.push(lacking + 0.1);
                idle.push(lacking);
            }
            Shape::OneToMany => {
                over.push(1.2 + 0.02 * rng.unit());
                idle.extend((0..3).map(|_| 0.3 + 0.02 * rng.unit()));
            }
            Shape::ManyToMany => {
                over.push(2.78 + 0.01 * rng.unit());
                over.extend((0..2).map(|_| 0.28 + 0.01 * rng.unit()));
                idle.extend((0..4).map(|_| 0.8 + 0.005 * rng.unit()));
            }
        }
    }
    let mut loads: Vec<f64> = over.iter().map(|beyond| 1.0 + width + beyond).collect();
    loads.extend(idle.iter().map(|lacking| 1.0 - width - lacking));
    loads.resize(nodes, 1.0);
    Instance::with_loads(&loads, per_node, sigma, Band::new(width, width)?, seed)
}
