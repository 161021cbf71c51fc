//! Random small problems as plain data, and what is true of them by enumeration: code of the
//! tests alone, which shares nothing with the crate.

#![allow(dead_code, unreachable_pub, reason = "each test file uses a part")]
#![allow(missing_debug_implementations, missing_docs, reason = "helpers of tests")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::cast_possible_wrap, clippy::cast_sign_loss, reason = "small numbers")]

use tsaw::{Cluster, Distance, Kind, Node, NodeId, Placement, TaskGraph, TaskGraphBuilder, TaskId};

/// Cases of a property: `PROPTEST_CASES` scales them, in parts of the 10 000 of a cheap one.
pub fn cases(usual: u32) -> proptest::prelude::ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse::<u64>().ok());
    let cases = asked.map_or(u64::from(usual), |asked| asked * u64::from(usual) / 10_000);
    proptest::prelude::ProptestConfig {
        cases: u32::try_from(cases.max(1)).unwrap(),
        failure_persistence: None,
        ..Default::default()
    }
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
}

#[derive(Clone, Debug)]
pub struct CaseTask {
    pub cpu: u64,
    pub mem: u64,
    pub bytes: u64,
    pub source: bool,
    pub component: usize,
}

#[derive(Clone, Debug)]
pub struct Case {
    pub tasks: Vec<CaseTask>,
    pub streams: Vec<(usize, usize, i64)>,
    pub together: Vec<(usize, usize)>,
    pub spreads: Vec<(Vec<usize>, u32)>,
    pub nodes: Vec<Node>,
    pub pins: Vec<(usize, Vec<u32>)>,
    pub distance: Distance,
    pub ppm: u64,
}

/// Which limits a random case may have.
#[derive(Clone, Copy)]
pub struct Kinds {
    pub limits: bool,
    pub distances: bool,
}

impl Case {
    pub fn random(seed: u64, max_tasks: u64, max_nodes: u64, kinds: Kinds) -> Self {
        let r = &mut Random::new(seed);
        let (n, k) = (1 + r.below(max_tasks) as usize, 1 + r.below(max_nodes) as usize);
        let equal_cpu = r.one_in(3);
        let zero_cpu = r.one_in(10);
        let components = 1 + r.below(4) as usize;
        let tasks = (0..n)
            .map(|_| CaseTask {
                cpu: if zero_cpu {
                    0
                } else if equal_cpu {
                    10
                } else {
                    r.below(30)
                },
                mem: r.below(10),
                bytes: r.below(100),
                source: kinds.limits && r.one_in(12),
                component: r.below(components as u64) as usize,
            })
            .collect();
        let equal_rate = r.one_in(3);
        let streams = (0..r.below(3 * n as u64 + 1))
            .map(|_| {
                let rate = if equal_rate { 6 } else { r.below(50) as i64 };
                (r.below(n as u64) as usize, r.below(n as u64) as usize, rate)
            })
            .collect();
        let mut case = Self {
            tasks,
            streams,
            together: Vec::new(),
            spreads: Vec::new(),
            nodes: Vec::new(),
            pins: Vec::new(),
            distance: Distance::Flat,
            ppm: [0, 30_000, 100_000, 250_000, 600_000, 2_000_000][r.below(6) as usize],
        };
        case.add_nodes(r, k, kinds);
        if kinds.limits {
            case.add_limits(r);
        }
        if kinds.distances {
            case.add_distances(r);
        }
        case
    }

    fn add_nodes(&mut self, r: &mut Random, k: usize, kinds: Kinds) {
        let cpu: u64 = self.tasks.iter().map(|task| task.cpu).sum();
        let mem: u64 = self.tasks.iter().map(|task| task.mem).sum();
        let rate: i64 = self.streams.iter().map(|stream| stream.2).sum();
        let equal = r.one_in(2);
        for index in 0..k {
            let scale = if equal { 10 } else { 5 + r.below(15) };
            let mut node = Node::new((cpu * scale / 10).max(1)).in_rack(index as u32 % 2);
            if kinds.limits {
                if r.one_in(3) {
                    node = node.with_memory(mem * (3 + r.below(12)) / (5 * k as u64) + 2);
                }
                if r.one_in(6) {
                    node = node.with_bandwidth(rate.unsigned_abs() * r.below(12) / 10);
                }
                if r.one_in(2) {
                    node = node.with_source();
                }
                if r.one_in(10) && index > 0 {
                    node = node.dead();
                }
            }
            self.nodes.push(node);
        }
    }

    fn add_limits(&mut self, r: &mut Random) {
        let (n, k) = (self.tasks.len() as u64, self.nodes.len() as u64);
        for _ in 0..r.below(3) {
            self.together.push((r.below(n) as usize, r.below(n) as usize));
        }
        if r.one_in(2) {
            let members: Vec<usize> = (0..n as usize).filter(|_| r.one_in(2)).collect();
            self.spreads.push((members, 1 + r.below(3) as u32));
        }
        for _ in 0..r.below(3) {
            let nodes: Vec<u32> = (0..k as u32).filter(|_| !r.one_in(3)).collect();
            if !nodes.is_empty() {
                self.pins.push((r.below(n) as usize, nodes));
            }
        }
    }

    fn add_distances(&mut self, r: &mut Random) {
        let k = self.nodes.len();
        self.distance = match r.below(3) {
            0 => Distance::Flat,
            1 => Distance::Racks { same: 1 + r.below(2) as u32, cross: 2 + r.below(4) as u32 },
            _ => {
                let some: Vec<u32> = (0..k * k).map(|_| 1 + r.below(5) as u32).collect();
                let far = |a: usize, b: usize| match a == b {
                    true => 0,
                    false => some[a.max(b) * k + a.min(b)],
                };
                Distance::Matrix((0..k).map(|a| (0..k).map(|b| far(a, b)).collect()).collect())
            }
        };
    }

    pub fn graph(&self) -> TaskGraph {
        let mut builder = TaskGraphBuilder::new();
        let components: Vec<_> = (0..4)
            .map(|c| {
                builder.component(&format!("c{c}"), if c == 0 { Kind::Spout } else { Kind::Bolt })
            })
            .collect();
        for task in &self.tasks {
            let id = builder.task(components[task.component], task.cpu);
            builder.memory(id, task.mem);
            builder.state_bytes(id, task.bytes);
            if task.source {
                builder.needs_source(id);
            }
        }
        let id = |task: usize| TaskId(task as u32);
        for &(a, b, rate) in &self.streams {
            builder.stream(id(a), id(b), rate);
        }
        for &(a, b) in &self.together {
            builder.colocate(id(a), id(b));
        }
        for (members, most) in &self.spreads {
            let members: Vec<TaskId> = members.iter().map(|&task| id(task)).collect();
            builder.spread(&members, *most);
        }
        builder.build().unwrap()
    }

    pub fn cluster(&self) -> Cluster {
        let mut cluster = Cluster::new(self.nodes.clone())
            .unwrap()
            .with_imbalance(self.ppm as f64 / 1e6)
            .unwrap()
            .with_distance(self.distance.clone())
            .unwrap();
        for (task, nodes) in &self.pins {
            let nodes: Vec<NodeId> = nodes.iter().map(|&node| NodeId(node)).collect();
            cluster = cluster.with_pin(TaskId(*task as u32), &nodes).unwrap();
        }
        cluster
    }

    /// The CPU cap of each node by its definition, in whole numbers.
    pub fn caps(&self) -> Vec<u64> {
        let demand: u128 = self.tasks.iter().map(|task| u128::from(task.cpu)).sum();
        let alive: u128 = self.nodes.iter().filter(|n| n.alive).map(|n| u128::from(n.cpu)).sum();
        let cap = |node: &Node| {
            let share = u128::from(1_000_000 + self.ppm) * demand * u128::from(node.cpu);
            (share / (1_000_000 * alive)).min(u128::from(node.cpu)) as u64
        };
        self.nodes.iter().map(|node| if node.alive { cap(node) } else { 0 }).collect()
    }

    pub fn far(&self, a: usize, b: usize) -> i64 {
        match &self.distance {
            _ if a == b => 0,
            Distance::Racks { same, cross } => {
                i64::from(if self.nodes[a].rack == self.nodes[b].rack { *same } else { *cross })
            }
            Distance::Matrix(rows) => i64::from(rows[a][b]),
            _ => 1,
        }
    }

    pub fn cost(&self, place: &[usize]) -> i64 {
        self.streams.iter().map(|&(a, b, rate)| rate * self.far(place[a], place[b])).sum()
    }

    pub fn cut(&self, place: &[usize]) -> i64 {
        let cut = self.streams.iter().filter(|&&(a, b, _)| place[a] != place[b]);
        cut.map(|&(_, _, rate)| rate).sum()
    }

    /// True if every limit but the CPU cap is kept.
    pub fn keeps_all_but_cpu(&self, place: &[usize]) -> bool {
        let (k, on) = (self.nodes.len(), |task: usize| &self.nodes[place[task]]);
        let each = (0..self.tasks.len())
            .all(|task| on(task).alive && (!self.tasks[task].source || on(task).has_source));
        let together = self.together.iter().all(|&(a, b)| place[a] == place[b]);
        let pinned = self.pins.iter().all(|(task, nodes)| nodes.contains(&(place[*task] as u32)));
        let spread = self.spreads.iter().all(|(members, most)| {
            (0..k).all(|node| {
                members.iter().filter(|&&task| place[task] == node).count() <= *most as usize
            })
        });
        each && together && pinned && spread && (0..k).all(|node| self.node_keeps(place, node))
    }

    fn node_keeps(&self, place: &[usize], node: usize) -> bool {
        let mem: u64 =
            (0..place.len()).filter(|&t| place[t] == node).map(|t| self.tasks[t].mem).sum();
        let crossing =
            |&&(a, b, _): &&(usize, usize, i64)| (place[a] == node) != (place[b] == node);
        let outside: i64 = self.streams.iter().filter(crossing).map(|stream| stream.2).sum();
        self.nodes[node].mem.is_none_or(|limit| mem <= limit)
            && self.nodes[node].bandwidth.is_none_or(|limit| outside.unsigned_abs() <= limit)
    }

    pub fn loads(&self, place: &[usize]) -> Vec<u64> {
        let mut loads = vec![0; self.nodes.len()];
        for (task, &node) in self.tasks.iter().zip(place) {
            loads[node] += task.cpu;
        }
        loads
    }

    pub fn keeps_cpu(&self, place: &[usize], caps: &[u64]) -> bool {
        self.loads(place).iter().zip(caps).all(|(load, cap)| load <= cap)
    }

    /// Calls `each` with every placement there is.
    pub fn enumerate(&self, mut each: impl FnMut(&[usize])) {
        let (n, k) = (self.tasks.len(), self.nodes.len());
        let mut place = vec![0; n];
        loop {
            each(&place);
            let Some(next) = (0..n).find(|&task| place[task] + 1 < k) else { return };
            place[next] += 1;
            place[..next].fill(0);
        }
    }

    /// The least cost under the caps, if there is a placement.
    pub fn optimum(&self, caps: &[u64]) -> Option<i64> {
        let mut best: Option<i64> = None;
        self.enumerate(|place| {
            if self.keeps_cpu(place, caps) && self.keeps_all_but_cpu(place) {
                let cost = self.cost(place);
                best = Some(best.map_or(cost, |best| best.min(cost)));
            }
        });
        best
    }

    pub fn placement(&self, place: &[usize]) -> Placement {
        Placement::new(place.iter().map(|&node| NodeId(node as u32)).collect())
    }
}

pub fn places(placement: &Placement) -> Vec<usize> {
    placement.nodes().iter().map(|node| node.0 as usize).collect()
}
