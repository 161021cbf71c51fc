//! Flow networks to bench on, from their published formulae with our own random numbers.

use flownet::{Limit, Network, NodeId};

/// A network with one source and one sink; nodes count from 0.
#[derive(Clone, Debug)]
pub struct Instance {
    /// What it is called in the results.
    pub name: &'static str,
    /// How many nodes it has.
    pub nodes: u32,
    /// Where the flow comes from.
    pub source: u32,
    /// Where it goes.
    pub sink: u32,
    /// From, to, capacity.
    pub arcs: Vec<(u32, u32, u64)>,
}

impl Instance {
    /// The same network for `flownet`.
    ///
    /// # Panics
    /// Where an arc joins nodes that are not there.
    #[must_use]
    #[allow(clippy::unwrap_used, reason = "an instance is made here, whole")]
    pub fn network(&self) -> Network<u64> {
        let mut network = Network::with_arc_capacity(self.arcs.len());
        network.add_nodes(self.nodes as usize).unwrap();
        for &(from, to, capacity) in &self.arcs {
            network.add_arc(NodeId(from), NodeId(to), capacity).unwrap();
        }
        network.add_source(NodeId(self.source), Limit::Unbounded).unwrap();
        network.add_sink(NodeId(self.sink), Limit::Unbounded).unwrap();
        network
    }
}

/// `SplitMix64`: the sequence is fixed for ever by its seed.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next number.
    #[allow(clippy::should_implement_trait)]
    #[inline]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// One of `0..n`.
    fn below(&mut self, n: u32) -> u32 {
        // Less than `n`, so it fits.
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u32
    }

    /// One of `1..=most`.
    fn capacity(&mut self, most: u32) -> u64 {
        u64::from(self.below(most)) + 1
    }

    /// `count` different ones of `0..n`.
    fn distinct(&mut self, n: u32, count: usize) -> Vec<u32> {
        let mut chosen: Vec<u32> = Vec::new();
        while chosen.len() < count {
            let x = self.below(n);
            if !chosen.contains(&x) {
                chosen.push(x);
            }
        }
        chosen
    }
}

/// A streaming job as in the paper: ten stages, each task with four successors in the next stage,
/// then random arcs between stages up to `arcs`.
#[must_use]
pub fn layered(name: &'static str, nodes: u32, arcs: usize) -> Instance {
    const LAYERS: u32 = 10;
    let mut random = Random(1);
    let (source, sink) = (0, nodes - 1);
    let inner = nodes - 2;
    let size = |layer: u32| inner / LAYERS + u32::from(layer < inner % LAYERS);
    let begin = |layer: u32| 1 + (0..layer).map(size).sum::<u32>();
    let mut list = Vec::new();
    list.extend((0..size(0)).map(|i| (source, begin(0) + i, 1_000_000)));
    let mut present = std::collections::BTreeSet::new();
    for layer in 0..LAYERS - 1 {
        for from in begin(layer)..begin(layer) + size(layer) {
            for i in random.distinct(size(layer + 1), 4) {
                let to = begin(layer + 1) + i;
                present.insert((from, to));
                list.push((from, to, random.capacity(10_000)));
            }
        }
    }
    let last = LAYERS - 1;
    let ends: Vec<_> = (0..size(last)).map(|i| (begin(last) + i, sink, 1_000_000)).collect();
    while list.len() + ends.len() < arcs {
        let layer = random.below(LAYERS - 1);
        let from = begin(layer) + random.below(size(layer));
        let to = begin(layer + 1) + random.below(size(layer + 1));
        if present.insert((from, to)) {
            list.push((from, to, random.capacity(10_000)));
        }
    }
    list.extend(ends);
    Instance { name, nodes, source, sink, arcs: list }
}

/// Ten stages of 150 tasks, each sending to all of the next.
#[must_use]
pub fn dense() -> Instance {
    let mut random = Random(1);
    let (layers, size) = (10, 150);
    let sink = layers * size + 1;
    let mut arcs: Vec<_> = (1..=size).map(|to| (0, to, 1_000_000)).collect();
    for layer in 0..layers - 1 {
        for from in 0..size {
            for to in 0..size {
                let (from, to) = (1 + layer * size + from, 1 + (layer + 1) * size + to);
                arcs.push((from, to, random.capacity(100)));
            }
        }
    }
    arcs.extend((1..=size).map(|i| ((layers - 1) * size + i, sink, 1_000_000)));
    Instance { name: "dense", nodes: sink + 1, source: 0, sink, arcs }
}

/// Washington's random level graph: columns of rows, three different successors a node.
#[must_use]
pub fn level(name: &'static str, rows: u32, columns: u32) -> Instance {
    const MOST: u32 = 10_000;
    let mut random = Random(1);
    let sink = rows * columns + 1;
    let mut arcs: Vec<_> = (1..=rows).map(|to| (0, to, 3 * u64::from(MOST))).collect();
    for column in 0..columns - 1 {
        for row in 0..rows {
            for to in random.distinct(rows, 3) {
                let from = 1 + column * rows + row;
                arcs.push((from, 1 + (column + 1) * rows + to, random.capacity(MOST)));
            }
        }
    }
    let last = (columns - 1) * rows;
    arcs.extend((1..=rows).map(|row| (last + row, sink, 3 * u64::from(MOST))));
    Instance { name, nodes: sink + 1, source: 0, sink, arcs }
}

/// Genrmf: `frames` grids of `side` × `side`, each joined to the next by a random permutation.
#[must_use]
pub fn frames(name: &'static str, side: u32, frames: u32) -> Instance {
    const MOST: u32 = 10_000;
    let mut random = Random(1);
    let size = side * side;
    let inner = u64::from(MOST) * u64::from(size);
    let mut arcs = Vec::new();
    for frame in 0..frames {
        let node = |x: u32, y: u32| frame * size + y * side + x;
        for y in 0..side {
            for x in 0..side {
                if x + 1 < side {
                    arcs.push((node(x, y), node(x + 1, y), inner));
                    arcs.push((node(x + 1, y), node(x, y), inner));
                }
                if y + 1 < side {
                    arcs.push((node(x, y), node(x, y + 1), inner));
                    arcs.push((node(x, y + 1), node(x, y), inner));
                }
            }
        }
        if frame + 1 < frames {
            let mut order: Vec<u32> = (0..size).collect();
            for i in (1..size).rev() {
                order.swap(i as usize, random.below(i + 1) as usize);
            }
            for (i, &to) in (0..).zip(&order) {
                let next = (frame + 1) * size + to;
                arcs.push((frame * size + i, next, random.capacity(MOST)));
            }
        }
    }
    let nodes = size * frames;
    Instance { name, nodes, source: 0, sink: nodes - 1, arcs }
}

/// Cherkassky and Goldberg's hard network for Dinic and for push–relabel; its flow is 2n + 3.
#[must_use]
pub fn ak(n: u32) -> Instance {
    let m = u64::from(n);
    let mut arcs = Vec::new();
    for i in 0..n {
        arcs.push((i + 3, i + 4, m - u64::from(i) + 1));
        arcs.push((i + 3, n + 4, 1));
    }
    arcs.push((n + 3, 2 * n + 4, 1));
    arcs.push((n + 3, n + 4, 1));
    for i in n + 3..=2 * n + 2 {
        arcs.push((i + 1, i + 2, m + 1));
    }
    let d = 2 * n + 4;
    for i in d..=2 * n + d {
        arcs.push((i + 1, i + 2, m));
    }
    for i in 0..n {
        arcs.push((i + d + 1, 2 * n + 2 - i + d, 1));
    }
    arcs.push((1, 3, 10_000));
    arcs.push((1, d + 1, 10_000));
    arcs.push((d, 2, 10_000));
    arcs.push((4 * n + 6, 2, 10_000));
    for arc in &mut arcs {
        arc.0 -= 1;
        arc.1 -= 1;
    }
    Instance { name: "ak", nodes: 4 * n + 6, source: 0, sink: 1, arcs }
}

/// A matching of `side` left with `side` right nodes, `degree` different ones for each.
#[must_use]
pub fn bipartite(side: u32, degree: usize) -> Instance {
    let mut random = Random(1);
    let sink = 2 * side + 1;
    let mut arcs: Vec<_> = (1..=side).map(|left| (0, left, 1)).collect();
    for left in 1..=side {
        for right in random.distinct(side, degree) {
            arcs.push((left, side + 1 + right, 1));
        }
    }
    arcs.extend((side + 1..sink).map(|right| (right, sink, 1)));
    Instance { name: "bipartite", nodes: sink + 1, source: 0, sink, arcs }
}

/// A picture to be parted: a source and a sink arc for each pixel and arcs both ways to its four
/// neighbours.
#[must_use]
pub fn grid(side: u32) -> Instance {
    let mut random = Random(1);
    let sink = side * side + 1;
    let mut arcs = Vec::new();
    for y in 0..side {
        for x in 0..side {
            let pixel = 1 + y * side + x;
            arcs.push((0, pixel, random.capacity(500)));
            arcs.push((pixel, sink, random.capacity(500)));
            if x + 1 < side {
                arcs.push((pixel, pixel + 1, 100));
                arcs.push((pixel + 1, pixel, 100));
            }
            if y + 1 < side {
                arcs.push((pixel, pixel + side, 100));
                arcs.push((pixel + side, pixel, 100));
            }
        }
    }
    Instance { name: "grid", nodes: sink + 1, source: 0, sink, arcs }
}

/// All instances of the results, the paper's size first.
#[must_use]
pub fn all() -> Vec<Instance> {
    vec![
        layered("layered-1500", 1_500, 7_500),
        layered("layered-15000", 15_000, 75_000),
        layered("layered-150000", 150_000, 750_000),
        dense(),
        level("rlg-wide", 512, 64),
        level("rlg-long", 64, 512),
        frames("rmf-long", 11, 121),
        frames("rmf-wide", 37, 12),
        ak(2_048),
        bipartite(20_000, 5),
        grid(256),
    ]
}
