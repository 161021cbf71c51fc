//! `Preset::Quality` on large topologies and on meshes: cut and CPU time over five seeds.
//!
//! Prints Markdown, and with `-- --write FOLDER` writes the same graphs as METIS files for
//! `peers/multilevel.py`, each named after its number of parts. `-- --million` adds LayeredDag of
//! a million tasks, with one seed; `-- --only NAME` leaves out graphs whose name doesn't begin so.

use std::error::Error;
use std::path::Path;

use cpu_time::ProcessTime;
use tsaw::{
    BuildError, Cluster, Kind, Options, TaskGraph, TaskGraphBuilder, TaskId, instances, metis,
    schedule, verify,
};

const IMBALANCE: f64 = 0.03;
const SEEDS: u64 = 5;

struct Case {
    name: String,
    graph: TaskGraph,
    nodes: u32,
}

/// Small, fast and good enough for instances: an LCG's high bits.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) * n) >> 31
    }
}

/// Copies of a small topology in a row, components of 16 tasks. `streams` are its streams between
/// components, the last one's go to the first of the next copy.
fn chained(
    tasks: usize,
    components: usize,
    streams: &[(usize, usize)],
) -> Result<TaskGraph, BuildError> {
    let mut random = Random(1);
    let mut builder = TaskGraphBuilder::new();
    let all = tasks.div_ceil(16);
    let mut members: Vec<Vec<TaskId>> = Vec::new();
    for at in 0..all {
        let kind = if at == 0 { Kind::Spout } else { Kind::Bolt };
        let component = builder.component(&format!("c{at:05}"), kind);
        let base = 5 + random.below(96);
        let mut task = || builder.task(component, 1 + base * (50 + random.below(101)) / 100);
        members.push((0..16).map(|_| task()).collect());
    }
    let harmonic: f64 = (1..=16).map(|rank| 1.0 / f64::from(rank)).sum();
    let mut number = 0_u32;
    for copy in (0..all).step_by(components) {
        let inner = streams.iter().map(|&(from, to)| (copy + from, copy + to));
        let next = (copy + components - 1, copy + components);
        for (from, to) in inner.chain([next]).filter(|&(from, to)| from.max(to) < all) {
            let rate = 1_000 + random.below(99_001);
            // Every other stream is by fields: shares of Zipf's law.
            number += 1;
            for &a in &members[from] {
                for (rank, &b) in (1..).zip(&members[to]) {
                    let share = match number % 2 {
                        0 => 1.0 / f64::from(rank) / harmonic,
                        _ => 1.0 / 16.0,
                    };
                    #[allow(clippy::cast_possible_truncation, reason = "at most 10^5")]
                    builder.stream(a, b, ((rate as f64 * share / 16.0) as i64).max(1));
                }
            }
        }
    }
    builder.build()
}

fn mesh(
    points: usize,
    edges: impl Iterator<Item = (usize, usize)>,
) -> Result<TaskGraph, BuildError> {
    let mut builder = TaskGraphBuilder::new();
    let component = builder.component("mesh", Kind::Bolt);
    let tasks: Vec<TaskId> = (0..points).map(|_| builder.task(component, 1)).collect();
    edges.for_each(|(a, b)| builder.stream(tasks[a], tasks[b], 1));
    builder.build()
}

fn grid(side: usize) -> Result<TaskGraph, BuildError> {
    let right = (0..side * side).filter(|at| at % side + 1 < side).map(|at| (at, at + 1));
    let down = (0..side * (side - 1)).map(|at| (at, at + side));
    mesh(side * side, right.chain(down))
}

/// Points on a square that are joined where they are nearer than `1 / cells` of its side.
fn geometric(points: usize, cells: u64) -> Result<TaskGraph, BuildError> {
    let mut random = Random(1);
    let side = 1_u64 << 20;
    let radius = side / cells;
    let at: Vec<(u64, u64)> =
        (0..points).map(|_| (random.below(side), random.below(side))).collect();
    let mut by_cell = std::collections::BTreeMap::<(u64, u64), Vec<usize>>::new();
    for (point, &(x, y)) in at.iter().enumerate() {
        by_cell.entry((x / radius, y / radius)).or_default().push(point);
    }
    let mut edges = Vec::new();
    for (a, &(x, y)) in at.iter().enumerate() {
        let around = |of: u64| (of / radius).saturating_sub(1)..=of / radius + 1;
        for cell in around(x).flat_map(|cx| around(y).map(move |cy| (cx, cy))) {
            let near = |&&b: &&usize| {
                let (dx, dy) = (x.abs_diff(at[b].0), y.abs_diff(at[b].1));
                a < b && dx * dx + dy * dy < radius * radius
            };
            edges.extend(by_cell.get(&cell).into_iter().flatten().filter(near).map(|&b| (a, b)));
        }
    }
    mesh(points, edges.into_iter())
}

const DIAMOND: [(usize, usize); 8] =
    [(0, 1), (0, 2), (0, 3), (0, 4), (1, 5), (2, 5), (3, 5), (4, 5)];
const STAR: [(usize, usize); 4] = [(0, 2), (1, 2), (2, 3), (2, 4)];

fn cases(million: bool) -> Result<Vec<Case>, BuildError> {
    let case =
        |name: &str, nodes: u32, graph: TaskGraph| Case { name: name.to_owned(), graph, nodes };
    let mut cases = Vec::new();
    for (tasks, nodes) in [(1_000, 16), (10_000, 16), (100_000, 64)] {
        let graph = instances::layered_dag(tasks, 1)?;
        cases.push(case(&format!("LayeredDag-{tasks}"), nodes, graph));
    }
    for tasks in [1_000, 10_000] {
        cases.push(case(&format!("linear-{tasks}"), 16, chained(tasks, 1, &[])?));
        cases.push(case(&format!("diamond-{tasks}"), 16, chained(tasks, 6, &DIAMOND)?));
        cases.push(case(&format!("star-{tasks}"), 16, chained(tasks, 5, &STAR)?));
    }
    cases.push(case("grid-120", 16, grid(120)?));
    cases.push(case("geometric-16384", 16, geometric(16_384, 95)?));
    if million {
        cases.push(case("LayeredDag-1000000", 64, instances::layered_dag(1_000_000, 1)?));
    }
    Ok(cases)
}

fn print(case: &Case) -> Result<(), Box<dyn Error>> {
    let graph = &case.graph;
    let cluster = Cluster::uniform(case.nodes, graph.total_cpu())?.with_imbalance(IMBALANCE)?;
    let seeds = if graph.len() > 500_000 { 1 } else { SEEDS };
    let (mut cuts, mut times, mut largest) = (Vec::new(), Vec::new(), 0.0_f64);
    for seed in 0..seeds {
        let start = ProcessTime::now();
        let plan = schedule(graph, &cluster, &Options::quality().with_seed(seed))?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
        verify(graph, &cluster, &plan.placement, &plan.certificate)?;
        assert!(!plan.certificate.cap_relaxed, "the cap is kept");
        cuts.push(plan.certificate.cut_after);
        largest = largest.max(plan.certificate.load.imbalance);
    }
    times.sort_by(f64::total_cmp);
    let mean = cuts.iter().map(|&cut| (cut.max(1) as f64).ln()).sum::<f64>() / cuts.len() as f64;
    let least = cuts.iter().min().copied().unwrap_or(0);
    let (name, mean, median) = (&case.name, mean.exp(), times[times.len() / 2]);
    println!(
        "| {name}.k{} | Quality | {mean:.0} | {least} | {largest:.4} | {median:.1} |",
        case.nodes
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| args.iter().any(|arg| arg == name);
    // `cargo test` runs benches without a harness too: it is enough that they start.
    if has("--test") {
        return Ok(());
    }
    let value = |name: &str| match args.iter().position(|arg| arg == name) {
        Some(at) => args.get(at + 1).map(Some).ok_or(format!("{name} needs a value")),
        None => Ok(None),
    };
    let mut all = cases(has("--million"))?;
    if let Some(only) = value("--only")? {
        all.retain(|case| case.name.starts_with(only.as_str()));
    }
    if let Some(folder) = value("--write")? {
        let folder = Path::new(folder);
        std::fs::create_dir_all(folder)?;
        for case in &all {
            let file = folder.join(format!("{}.k{}.metis", case.name, case.nodes));
            std::fs::write(file, metis::write(&case.graph))?;
        }
        return Ok(());
    }
    println!("| graph and parts | | cut, mean | least | largest / mean | CPU ms |");
    println!("|---|---|---|---|---|---|");
    all.iter().try_for_each(print)
}
