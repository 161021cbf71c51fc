//! Named instances, built exactly as described, for tests, examples and benches.
//!
//! `wc8` is a `WordCount` on eight nodes whose word shares are those of a real text and whose
//! CPU and line rate are tuned so that round robin comes near the paper's printed figures; `sol8`
//! has equal rates throughout; `linear`, `diamond`, `star` and `processing` are the topologies of
//! R-Storm's evaluation; `layered_dag` is random and of any size.

use crate::rng::SplitMix64;
use crate::{BuildError, Cluster, ComponentId, Kind, TaskGraph, TaskGraphBuilder, TaskId};

/// A graph with the number of nodes that it is meant for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Instance {
    /// Its name.
    pub name: String,
    /// The topology.
    pub graph: TaskGraph,
    /// The number of equal nodes.
    pub nodes: u32,
}

impl Instance {
    /// Equal nodes, each with room for all tasks, so that only the imbalance sets the cap.
    ///
    /// # Errors
    ///
    /// An imbalance that is no number from 0 to 1000.
    pub fn cluster(&self, imbalance: f64) -> Result<Cluster, BuildError> {
        Cluster::uniform(self.nodes, self.graph.total_cpu().max(1))?.with_imbalance(imbalance)
    }
}

/// The six small ones: wc8, sol8, linear, diamond, star, processing.
///
/// # Errors
///
/// None: the inputs are fixed.
pub fn small() -> Result<Vec<Instance>, BuildError> {
    [wc8, sol8, linear, diamond, star, processing].iter().map(|make| make()).collect()
}

/// A number of pairs of tasks, which is small.
fn count(pairs: usize) -> i64 {
    i64::try_from(pairs).unwrap_or(i64::MAX)
}

/// Collects components with equal tasks, and all-to-all streams between them.
#[derive(Default)]
struct Topology {
    builder: TaskGraphBuilder,
    tasks: Vec<Vec<TaskId>>,
}

impl Topology {
    fn component(&mut self, name: &str, kind: Kind, cpu: &[u64]) -> usize {
        let component: ComponentId = self.builder.component(name, kind);
        let tasks = cpu.iter().map(|&cpu| self.builder.task(component, cpu)).collect();
        self.tasks.push(tasks);
        self.tasks.len() - 1
    }

    fn spouts(&mut self, name: &str, count: usize, cpu: u64) -> usize {
        self.component(name, Kind::Spout, &vec![cpu; count])
    }

    fn bolts(&mut self, name: &str, count: usize, cpu: u64) -> usize {
        self.component(name, Kind::Bolt, &vec![cpu; count])
    }

    /// `rate` tuples a second by shuffle grouping: to each pair its part, rounded, a half to even.
    fn shuffle(&mut self, from: usize, to: usize, rate: i64) {
        let pairs = count(self.tasks[from].len() * self.tasks[to].len());
        let (whole, left) = (rate / pairs, rate % pairs);
        let up = 2 * left > pairs || (2 * left == pairs && whole % 2 == 1);
        let part = whole + i64::from(up);
        for &a in &self.tasks[from] {
            for &b in &self.tasks[to] {
                self.builder.stream(a, b, part);
            }
        }
    }

    fn finish(self, name: &str, nodes: u32) -> Result<Instance, BuildError> {
        Ok(Instance { name: name.to_owned(), graph: self.builder.build()?, nodes })
    }
}

/// `WordCount` on 8 nodes: 16 count, 16 split and 8 spout tasks, CPU in 0.01 % of a node.
///
/// # Errors
///
/// None: the inputs are fixed.
pub fn wc8() -> Result<Instance, BuildError> {
    const COUNT: [u64; 16] = [
        4684, 2049, 1989, 1492, 2118, 1760, 4248, 1687, 2419, 1705, 2840, 2149, 2159, 1562, 1966,
        2574,
    ];
    const WORDS: [i64; 16] =
        [742, 325, 315, 236, 336, 279, 673, 267, 383, 270, 450, 341, 342, 247, 312, 408];
    let mut topology = Topology::default();
    let count = topology.component("count", Kind::Bolt, &COUNT);
    let split = topology.bolts("split", 16, 275);
    let spout = topology.spouts("spout", 8, 275);
    topology.shuffle(spout, split, 85 * 8 * 16);
    for &from in &topology.tasks[split] {
        for (&to, &words) in topology.tasks[count].iter().zip(&WORDS) {
            topology.builder.stream(from, to, words);
        }
    }
    topology.finish("wc8", 8)
}

/// SOL at level 3 on 8 nodes: 8 spouts and two stages of 16 bolts, all rates equal.
///
/// # Errors
///
/// None: the inputs are fixed.
pub fn sol8() -> Result<Instance, BuildError> {
    let mut topology = Topology::default();
    let spout = topology.spouts("spout", 8, 30);
    let first = topology.bolts("stage1", 16, 30);
    let second = topology.bolts("stage2", 16, 30);
    topology.shuffle(spout, first, 80_000);
    topology.shuffle(first, second, 80_000);
    topology.finish("sol8", 8)
}

/// R-Storm's linear topology on 12 nodes.
///
/// # Errors
///
/// None: the inputs are fixed.
pub fn linear() -> Result<Instance, BuildError> {
    let mut topology = Topology::default();
    let mut last = topology.spouts("spout", 10, 30);
    for name in ["bolt1", "bolt2", "bolt3"] {
        let next = topology.bolts(name, 16, 10);
        topology.shuffle(last, next, 60_000);
        last = next;
    }
    topology.finish("linear", 12)
}

/// R-Storm's diamond topology on 12 nodes.
///
/// # Errors
///
/// None: the inputs are fixed.
pub fn diamond() -> Result<Instance, BuildError> {
    let mut topology = Topology::default();
    let spout = topology.spouts("spout", 6, 50);
    let middle = ["bolt1", "bolt2", "bolt3", "bolt4"].map(|name| topology.bolts(name, 3, 20));
    let output = topology.bolts("output", 6, 20);
    for bolt in middle {
        topology.shuffle(spout, bolt, 60_000);
        topology.shuffle(bolt, output, 60_000);
    }
    topology.finish("diamond", 12)
}

/// R-Storm's star topology on 12 nodes.
///
/// # Errors
///
/// None: the inputs are fixed.
pub fn star() -> Result<Instance, BuildError> {
    let mut topology = Topology::default();
    let spouts = ["spout1", "spout2"].map(|name| topology.spouts(name, 8, 50));
    let centre = topology.bolts("centre", 12, 20);
    let outputs = ["output1", "output2"].map(|name| topology.bolts(name, 6, 20));
    for spout in spouts {
        topology.shuffle(spout, centre, 60_000);
    }
    for output in outputs {
        topology.shuffle(centre, output, 120_000);
    }
    topology.finish("star", 12)
}

/// R-Storm's processing topology on 8 nodes.
///
/// # Errors
///
/// None: the inputs are fixed.
pub fn processing() -> Result<Instance, BuildError> {
    let mut topology = Topology::default();
    add_processing(&mut topology, "", 1, 1);
    topology.finish("processing", 8)
}

/// `tenants` copies of `processing` without streams between them, on 8 nodes each; the rates of
/// copy i are those of the first times (i mod 4 + 1) / 2.
///
/// # Errors
///
/// `tenants` is 0 or over 8 000.
pub fn processing_tenants(tenants: u32) -> Result<Instance, BuildError> {
    if !(1..=8_000).contains(&tenants) {
        return Err(BuildError::Parameter { what: "tenants", why: "must be from 1 to 8000" });
    }
    let mut topology = Topology::default();
    for tenant in 0..tenants {
        add_processing(&mut topology, &format!("{tenant:05}-"), i64::from(tenant % 4) + 1, 2);
    }
    topology.finish(&format!("processing x {tenants}"), 8 * tenants)
}

fn add_processing(topology: &mut Topology, prefix: &str, times: i64, over: i64) {
    let named = |name: &str| format!("{prefix}{name}");
    let (full, half) = (40_000 * times / over, 20_000 * times / over);
    let spout = topology.spouts(&named("spout"), 4, 30);
    let mut bolt = |name: &str, cpu: u64| topology.bolts(&named(name), 6, cpu);
    let transform = bolt("transform", 30);
    let filter = bolt("filter", 30);
    let (join1, out1) = (bolt("join1", 10), bolt("out1", 10));
    let (join2, normalize, out2) = (bolt("join2", 15), bolt("normalize", 10), bolt("out2", 10));
    topology.shuffle(spout, transform, full);
    topology.shuffle(transform, filter, full);
    for (from, to) in
        [(filter, join1), (join1, out1), (transform, join2), (join2, normalize), (normalize, out2)]
    {
        topology.shuffle(from, to, if from == filter || from == join1 { half } else { full });
    }
}

/// A random layered topology of `tasks` tasks; its seed 1 has known check sums.
///
/// # Errors
///
/// `tasks` is 0 or over 10 million.
pub fn layered_dag(tasks: u32, seed: u64) -> Result<TaskGraph, BuildError> {
    if !(1..=10_000_000).contains(&tasks) {
        return Err(BuildError::Parameter { what: "tasks", why: "must be from 1 to 10 000 000" });
    }
    let mut rng = SplitMix64::new(seed);
    let mut sizes = Vec::new();
    let mut left = u64::from(tasks);
    while left > 0 {
        let size = (1_u64 << rng.below(6)).min(left);
        sizes.push(size);
        left -= size;
    }
    let mut builder = TaskGraphBuilder::new();
    let mut members: Vec<Vec<TaskId>> = Vec::with_capacity(sizes.len());
    for (index, &size) in sizes.iter().enumerate() {
        let kind = if index == 0 { Kind::Spout } else { Kind::Bolt };
        let component = builder.component(&format!("c{index:07}"), kind);
        let base = 5 + rng.below(96);
        let mut task = || builder.task(component, 1 + base * (50 + rng.below(101)) / 100);
        members.push((0..size).map(|_| task()).collect());
        if index == 0 {
            continue;
        }
        for _ in 0..1 + rng.below(2) {
            let back = rng.below(index.min(16) as u64) as usize;
            let from = index - 1 - back;
            let rate = (100 + rng.below(9_901)).cast_signed();
            let forward = rng.below(4) == 0;
            let (senders, receivers) = (&members[from], &members[index]);
            if forward && senders.len() == receivers.len() {
                let part = (rate / count(receivers.len())).max(1);
                for (&a, &b) in senders.iter().zip(receivers) {
                    builder.stream(a, b, part);
                }
            } else {
                let pairs = count(senders.len() * receivers.len());
                for &a in senders {
                    for &b in receivers {
                        builder.stream(a, b, (rate / pairs).max(1));
                    }
                }
            }
        }
    }
    builder.build()
}
