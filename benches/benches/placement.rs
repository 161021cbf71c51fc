//! The table of placements: every instance under every baseline and preset.
//!
//! Prints Markdown: cut, its part of all traffic, largest over mean load, σ, and CPU time (the
//! median of several runs for small instances). `-- --small` leaves out the layered topologies,
//! `-- --write FOLDER` writes the instances for `peers/placement.py` instead.

use std::error::Error;
use std::io::Write;
use std::path::Path;

use cpu_time::ProcessTime;
use tsaw::baseline::{AnielloParams, aniello_online, lpt, round_robin, rstorm};
use tsaw::{
    Certificate, Cluster, Options, Placement, ScheduleError, Target, TaskGraph, TaskId, certify,
    instances, schedule,
};

struct Case {
    name: String,
    graph: TaskGraph,
    nodes: u32,
    imbalance: f64,
    runs: usize,
}

fn cases(large: bool) -> Result<Vec<Case>, Box<dyn Error>> {
    let mut cases = Vec::new();
    for instance in instances::small()? {
        let (name, graph, nodes) = (instance.name, instance.graph, instance.nodes);
        cases.push(Case { name, graph, nodes, imbalance: 0.10, runs: 11 });
    }
    let layered = [(1_000, 16, 5), (10_000, 16, 3), (100_000, 64, 1), (1_000_000, 64, 1)];
    for (tasks, nodes, runs) in layered.into_iter().filter(|_| large) {
        let graph = instances::layered_dag(tasks, 1)?;
        let name = format!("LayeredDag {tasks}");
        cases.push(Case { name, graph, nodes, imbalance: 0.03, runs });
    }
    Ok(cases)
}

/// Nodes with as much CPU as the cap, so that schedulers that know CPU only see the same limit.
fn cluster(case: &Case) -> Result<Cluster, Box<dyn Error>> {
    let roomy = Cluster::uniform(case.nodes, case.graph.total_cpu().max(1))?;
    let cap = tsaw::asked_caps(&case.graph, &roomy.with_imbalance(case.imbalance)?)[0];
    Ok(Cluster::uniform(case.nodes, cap)?.with_imbalance(case.imbalance)?)
}

type Placed = Result<Placement, ScheduleError>;

/// The placement, and the median of the CPU times in milliseconds.
fn timed(runs: usize, place: impl Fn() -> Placed) -> (Placed, f64) {
    let mut times = Vec::new();
    let mut placed = place_once(&place, &mut times);
    for _ in 1..runs {
        placed = place_once(&place, &mut times);
    }
    times.sort_by(f64::total_cmp);
    (placed, times[times.len() / 2])
}

fn place_once(place: &impl Fn() -> Placed, times: &mut Vec<f64>) -> Placed {
    let start = ProcessTime::now();
    let placed = place();
    times.push(start.elapsed().as_secs_f64() * 1e3);
    placed
}

fn row(case: &Case, cluster: &Cluster, name: &str, placed: &Placed, ms: f64) {
    let measured = placed.clone().and_then(|of| certify(&case.graph, cluster, &of, None));
    match measured {
        Err(error) => println!("| {name} | – | – | – | – | {ms:.3} | {error} |"),
        Ok(of) => println!("| {name} {} |", figures(case, &of, ms)),
    }
}

fn figures(case: &Case, of: &Certificate, ms: f64) -> String {
    let mean = case.graph.total_cpu() as f64 / f64::from(case.nodes);
    let (part, sigma) = (of.cut_after as f64 / of.total as f64, of.load.sigma / mean * 100.0);
    let over = if of.cap_relaxed { "over the cap" } else { "" };
    let imbalance = of.load.imbalance;
    format!("| {} | {part:.3} | {imbalance:.3} | {sigma:.2} % | {ms:.3} | {over}", of.cut_after)
}

fn print_case(case: &Case) -> Result<(), Box<dyn Error>> {
    let (graph, cluster) = (&case.graph, cluster(case)?);
    let percent = case.imbalance * 100.0;
    println!("\n### {}: {} tasks, {} nodes, ε = {percent} %\n", case.name, graph.len(), case.nodes);
    println!("| placement | cut | part of all | largest / mean | σ / mean | CPU ms | |");
    println!("|---|---|---|---|---|---|---|");
    let show = |name: &str, place: &dyn Fn() -> Placed| {
        let (placed, ms) = timed(case.runs, place);
        row(case, &cluster, name, &placed, ms);
    };
    show("round robin (Storm Even)", &|| round_robin(graph, &cluster));
    show("LPT", &|| lpt(graph, &cluster));
    show("R-Storm", &|| rstorm(graph, &cluster));
    for alpha in [0.0, 1.0] {
        let params = AnielloParams::default().with_alpha(alpha);
        let name = format!("online, α = {alpha}, γ = 1.1");
        show(&name, &|| aniello_online(graph, &cluster, params));
    }
    let paper = |seed: u64| {
        schedule(graph, &cluster, &Options::paper().with_seed(seed)).map(|plan| plan.placement)
    };
    show("Paper, seed 0", &|| paper(0));
    if case.runs > 5 {
        let cut = |seed: &u64| {
            let placed = paper(*seed).and_then(|of| certify(graph, &cluster, &of, None));
            placed.map_or(i64::MAX, |of| of.cut_after)
        };
        let best = (0..10).min_by_key(cut).unwrap_or(0);
        show("Paper, least cut of 10 seeds", &|| paper(best));
    }
    let remaining = Options::paper().with_target(Target::RemainingIdeal);
    show("Paper, remaining ideal", &|| schedule(graph, &cluster, &remaining).map(|p| p.placement));
    let balanced = schedule(graph, &cluster, &Options::default());
    show("Balanced", &|| schedule(graph, &cluster, &Options::default()).map(|p| p.placement));
    if let Ok(plan) = balanced {
        let of = &plan.certificate;
        let part = of.cut_lower_bound as f64 / of.total as f64;
        let bound = of.cut_lower_bound;
        println!("| *lower bound within the cap* | {bound} | {part:.3} | | | | |");
        if case.name == "wc8" {
            paper_figures(bound);
        }
    }
    Ok(())
}

/// What the paper printed for its own cluster, beside ours, and whether any placement within the
/// cap comes to it.
fn paper_figures(bound: i64) {
    for (name, cut, sigma) in
        [("default", 92_446, 12.66), ("online", 70_335, 3.47), ("TSAW", 62_026, 3.26)]
    {
        let possible = match cut >= bound {
            true => "printed",
            false => "printed; under the bound: none within the cap comes to it",
        };
        println!("| *the paper's {name}* | {cut} | | | σ {sigma} points | | {possible} |");
    }
}

/// Number of tasks, of arcs, nodes, imbalance in millionths; then offsets, targets, CPU, rates;
/// all as little-endian 64-bit numbers.
fn write(case: &Case, folder: &Path) -> Result<(), Box<dyn Error>> {
    let graph = &case.graph;
    let (mut offsets, mut targets, mut rates) = (vec![0_u64], Vec::new(), Vec::new());
    for task in (0..graph.len() as u32).map(TaskId) {
        for (other, rate) in graph.neighbours(task) {
            targets.push(u64::from(other.0));
            rates.push(rate.unsigned_abs());
        }
        offsets.push(targets.len() as u64);
    }
    let millionths = cluster(case)?.imbalance_ppm();
    let head = [graph.len() as u64, targets.len() as u64, u64::from(case.nodes), millionths];
    let cpu = graph.tasks().iter().map(|task| task.cpu);
    let all = head.into_iter().chain(offsets).chain(targets).chain(cpu).chain(rates);
    let name = case.name.replace(' ', "-");
    let mut file = std::io::BufWriter::new(std::fs::File::create(folder.join(name + ".graph"))?);
    for number in all {
        file.write_all(&number.to_le_bytes())?;
    }
    Ok(file.flush()?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| args.iter().any(|arg| arg == name);
    // `cargo test` runs benches without a harness too: it is enough that they start.
    if has("--test") {
        return Ok(());
    }
    let all = cases(!has("--small"))?;
    if let Some(at) = args.iter().position(|arg| arg == "--write") {
        let folder = args.get(at + 1).ok_or("--write needs a folder")?;
        std::fs::create_dir_all(folder)?;
        return all.iter().try_for_each(|case| write(case, Path::new(folder)));
    }
    all.iter().try_for_each(print_case)
}
