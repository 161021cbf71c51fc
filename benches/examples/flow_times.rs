//! Prints the milliseconds of CPU time that `flownet` takes for a DIMACS file, the median of so many
//! runs of one process, and the value. From a list of arcs to the flow of every arc and both cuts.
//! With the word `dinics` it times petgraph's instead, which finds the flow alone.
//! For `peers/flow.py`.

use std::error::Error;
use std::fs::File;
use std::io::BufReader;

use cpu_time::ProcessTime;
use flownet::{Limit, Network, Solver, dimacs, verify};
use petgraph::algo::maximum_flow::dinics;
use petgraph::graph::{DiGraph, NodeIndex};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: flow_times FILE [RUNS [dinics]]")?;
    let runs: usize = std::env::args().nth(2).map_or(Ok(5), |runs| runs.parse())?;
    let file = dimacs::read_max(BufReader::new(File::open(path)?))?;
    let arcs: Vec<_> = file.arcs().collect();
    if std::env::args().nth(3).is_some_and(|word| word == "dinics") {
        return by_dinics(&file, runs);
    }
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

fn by_dinics(file: &Network<u64>, runs: usize) -> Result<(), Box<dyn Error>> {
    let arcs: Vec<_> = file.arcs().collect();
    let (source, sink) = file.sources().zip(file.sinks()).next().ok_or("no terminals")?;
    let mut times = Vec::new();
    let mut value = 0;
    for _ in 0..runs.max(1) {
        let begin = ProcessTime::now();
        let mut graph = DiGraph::with_capacity(file.node_count(), arcs.len());
        for _ in 0..file.node_count() {
            graph.add_node(());
        }
        for arc in &arcs {
            let Limit::Finite(capacity) = arc.capacity else {
                return Err("an arc has none".into());
            };
            graph.add_edge(node(arc.from), node(arc.to), capacity);
        }
        value = dinics(&graph, node(source.0), node(sink.0)).0;
        times.push(begin.elapsed());
    }
    times.sort_unstable();
    println!("{} {value}", times[times.len() / 2].as_secs_f64() * 1e3);
    Ok(())
}

fn node(id: flownet::NodeId) -> NodeIndex {
    NodeIndex::new(id.index())
}
