//! Prints the milliseconds of CPU time that `flownet` takes for a DIMACS file, the median of so many
//! runs of one process, and the value. From a list of arcs to the flow of every arc and both cuts.
//! For `peers/flow.py`.

use std::error::Error;
use std::fs::File;
use std::io::BufReader;

use cpu_time::ProcessTime;
use flownet::{Network, Solver, dimacs, verify};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: flow_times FILE [RUNS]")?;
    let runs: usize = std::env::args().nth(2).map_or(Ok(5), |runs| runs.parse())?;
    let file = dimacs::read_max(BufReader::new(File::open(path)?))?;
    let arcs: Vec<_> = file.arcs().collect();
    let mut times = Vec::new();
    let mut found = None;
    for _ in 0..runs.max(1) {
        let begin = ProcessTime::now();
        let mut net = Network::with_arc_capacity(arcs.len());
        net.add_nodes(file.node_count())?;
        for arc in &arcs {
            net.add_arc(arc.from, arc.to, arc.capacity)?;
        }
        for (node, bound) in file.sources() {
            net.add_source(node, bound)?;
        }
        for (node, bound) in file.sinks() {
            net.add_sink(node, bound)?;
        }
        let answer = Solver::new(&net).solve()?;
        times.push(begin.elapsed());
        found = Some(answer);
    }
    times.sort_unstable();
    let (time, answer) = (times[times.len() / 2], found.ok_or("it ran once at least")?);
    verify(&file, &answer)?;
    println!("{} {}", time.as_secs_f64() * 1e3, answer.value);
    Ok(())
}
