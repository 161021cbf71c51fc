//! Prints the milliseconds of CPU time that `flownet` takes for a DIMACS file, and the value. From
//! a list of arcs to the flow of every arc and both cuts; the second of two runs, so that the memory
//! is there. For `peers/flow.py`.

use std::error::Error;
use std::fs::File;
use std::io::BufReader;

use cpu_time::ProcessTime;
use flownet::{Network, Solver, dimacs, verify};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: flow_times FILE")?;
    let file = dimacs::read_max(BufReader::new(File::open(path)?))?;
    let arcs: Vec<_> = file.arcs().collect();
    let mut result = None;
    for _ in 0..2 {
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
        result = Some((begin.elapsed(), answer));
    }
    let (time, answer) = result.ok_or("it ran twice")?;
    verify(&file, &answer)?;
    println!("{} {}", time.as_secs_f64() * 1e3, answer.value);
    Ok(())
}
