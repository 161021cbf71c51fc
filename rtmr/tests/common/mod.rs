//! Random clusters as plain data, and what is true of them by other means: code of the tests
//! alone.

#![allow(dead_code, unreachable_pub, reason = "each test file uses a part")]
#![allow(missing_debug_implementations, missing_docs, reason = "helpers of tests")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small numbers")]

pub mod disk;
pub mod model;
pub mod readers;

use rtmr::balance::{Band, Cluster, Entry};

/// Cases of a property: `PROPTEST_CASES` scales them, in parts of the 10 000 of a cheap one.
pub fn cases(usual: u32) -> proptest::prelude::ProptestConfig {
    proptest::prelude::ProptestConfig {
        cases: count(usual),
        failure_persistence: None,
        ..Default::default()
    }
}

/// The same for a plain loop.
pub fn count(usual: u32) -> u32 {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse::<u64>().ok());
    let cases = asked.map_or(u64::from(usual), |asked| asked * u64::from(usual) / 10_000);
    u32::try_from(cases.max(1)).unwrap()
}

pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed ^ 0x5DEE_CE66)
    }

    pub fn next(&mut self) -> u64 {
        // Knuth's MMIX generator, its high bits mixed in.
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 ^ (self.0 >> 29)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 16) % n
    }

    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// Above 0, at most 1.
    pub fn unit(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    pub fn exponential(&mut self, rate: f64) -> f64 {
        -self.unit().ln() / rate
    }

    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }
}

#[derive(Clone, Debug)]
pub struct Case {
    pub capacity: Vec<f64>,
    pub base: Vec<f64>,
    pub entries: Vec<Entry>,
    pub band: Band,
}

impl Case {
    /// A small cluster of whole numbers, with all kinds of oddities.
    pub fn small(seed: u64, max_nodes: u64, max_entries: u64) -> Self {
        let r = &mut Random::new(seed);
        let nodes = 1 + r.below(max_nodes);
        let dead = r.one_in(6);
        let capacity = (0..nodes)
            .map(|_| if dead && r.one_in(4) { 0.0 } else { (1 + r.below(40)) as f64 })
            .collect();
        let based = r.one_in(3);
        let base = (0..nodes).map(|_| if based { r.below(20) as f64 } else { 0.0 }).collect();
        let (large, bytes) = ([3, 12, 40][r.below(3) as usize], [2, 20, 1000][r.below(3) as usize]);
        let one_node = r.one_in(3);
        let entries = (0..r.below(max_entries + 1))
            .map(|_| Entry {
                owner: if one_node { 0 } else { r.below(nodes) as u32 },
                load: r.below(large) as f64,
                bytes: r.below(bytes),
            })
            .collect();
        let part = |r: &mut Random| [0.0, 0.05, 0.1, 0.25, 0.5][r.below(5) as usize];
        let (phi, tau) = (part(r), part(r));
        let band = Band::new(phi, if phi + tau == 0.0 { 0.1 } else { tau }).unwrap();
        Self { capacity, base, entries, band }
    }

    /// Nodes of capacity 1 with lognormal entries, and loads of 0.2 to 2.4 about their capacity.
    pub fn lognormal(seed: u64, nodes: usize, per_node: usize, sigma: f64, spread: f64) -> Self {
        let r = &mut Random::new(seed);
        let mut entries = Vec::new();
        for owner in 0..nodes {
            let total = (1.0 + spread * r.normal()).clamp(0.05, 4.0);
            let raw: Vec<f64> = (0..per_node).map(|_| (sigma * r.normal()).exp()).collect();
            let sum: f64 = raw.iter().sum();
            entries.extend(raw.iter().map(|raw| Entry {
                owner: owner as u32,
                load: raw * total / sum,
                bytes: (50_000.0 * r.normal().exp()).ceil() as u64,
            }));
        }
        Self {
            capacity: vec![1.0; nodes],
            base: vec![0.0; nodes],
            entries,
            band: Band::new(0.1, 0.1).unwrap(),
        }
    }

    pub fn cluster(&self) -> Cluster<'_> {
        Cluster::new(&self.capacity, &self.base, &self.entries).unwrap()
    }

    /// The entries after these moves.
    pub fn moved(&self, moves: &[rtmr::balance::Move]) -> Self {
        let mut after = self.clone();
        for step in moves {
            after.entries[step.entry as usize].owner = step.to;
        }
        after
    }
}
