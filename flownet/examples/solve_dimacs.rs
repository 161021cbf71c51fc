//! Solves a DIMACS file of a maximum flow problem and prints its value, cut and time.
//!
//! ```sh
//! cargo run --release -p flownet --example solve_dimacs -- FILE [auto|ek|dinic|pr]
//! ```
//!
//! Without a file it solves a small network of its own; `-` is the standard input.

use std::error::Error;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::time::Instant;

use flownet::{Method, Solver, bottlenecks, dimacs, verify};

const SMALL: &str = "p max 4 5\nn 1 s\nn 4 t\na 1 2 4\na 1 3 2\na 2 3 3\na 2 4 1\na 3 4 6\n";

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let input: Box<dyn Read> = match arguments.next().as_deref() {
        None => Box::new(SMALL.as_bytes()),
        Some("-") => Box::new(io::stdin()),
        Some(path) => Box::new(File::open(path).map_err(|error| format!("{path}: {error}"))?),
    };
    let method = match arguments.next().as_deref() {
        None | Some("auto") => Method::Auto,
        Some("ek") => Method::EdmondsKarp,
        Some("dinic") => Method::Dinic,
        Some("pr") => Method::PushRelabel,
        Some(other) => return Err(format!("unknown method {other:?}").into()),
    };
    let begin = Instant::now();
    let net = dimacs::read_max(BufReader::new(input))?;
    let read = begin.elapsed();

    let begin = Instant::now();
    let answer = Solver::new(&net).method(method).solve()?;
    let solved = begin.elapsed();
    verify(&net, &answer)?;

    let cut = answer.source_cut.as_ref().ok_or("not stopped, so there is a cut")?;
    println!("value       {}", answer.value);
    println!("cut         {} arcs", cut.arcs(&net).count());
    for arc in cut.arcs(&net).take(10) {
        let ends = net.arc(arc).ok_or("the cut is of this network")?;
        println!("  arc {} of node {} to node {}", arc.0 + 1, ends.from.0 + 1, ends.to.0 + 1);
    }
    println!("bottlenecks {}", bottlenecks(&net, &answer).len());
    println!("method      {:?}", answer.method);
    println!("read        {:.3} ms", read.as_secs_f64() * 1e3);
    println!("solve       {:.3} ms, with building", solved.as_secs_f64() * 1e3);
    Ok(())
}
