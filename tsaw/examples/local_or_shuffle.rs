//! Streams by local-or-shuffle grouping: what placing by fixed weights leaves on the network, and
//! what a fix-point of weights and placement does; for `WordCount` the provable ceiling as well.
//!
//! ```sh
//! cargo run -p tsaw-storm --example local_or_shuffle
//! ```

use std::error::Error;

use tsaw::{Cluster, Grouping, Options, Topology, certify, schedule};

/// A pipeline of log lines: parse, clean and enrich where the lines are, then count by key.
fn pipeline() -> Topology {
    let mut topology = Topology::new();
    let read = topology.spout("read", 8, 5_000, 40_000);
    let parse = topology.bolt("parse", 16, 60_000);
    let clean = topology.bolt("clean", 16, 30_000);
    let enrich = topology.bolt("enrich", 8, 50_000);
    let count = topology.bolt("count", 8, 80_000);
    topology.stream(read, parse, Grouping::LocalOrShuffle, 1_000_000);
    topology.stream(parse, clean, Grouping::LocalOrShuffle, 1_000_000);
    topology.stream(clean, enrich, Grouping::LocalOrShuffle, 800_000);
    topology.stream(enrich, count, Grouping::Fields((1..=8).rev().collect()), 500_000);
    topology
}

/// The paper's topology with its lines by local-or-shuffle: rates and CPU as those of `wc8`.
fn word_count() -> Topology {
    const WORDS: [u64; 16] =
        [742, 325, 315, 236, 336, 279, 673, 267, 383, 270, 450, 341, 342, 247, 312, 408];
    let mut topology = Topology::new();
    let spout = topology.spout("spout", 8, 1_360, 202_206);
    let split = topology.bolt("split", 16, 404_412);
    let count = topology.bolt("count", 16, 394_459);
    topology.stream(spout, split, Grouping::LocalOrShuffle, 1_000_000);
    topology.stream(split, count, Grouping::Fields(WORDS.to_vec()), 8_714_706);
    topology
}

fn main() -> Result<(), Box<dyn Error>> {
    for (name, topology) in [("pipeline", pipeline()), ("WordCount", word_count())] {
        let cluster = Cluster::uniform(8, 1_000_000)?.with_imbalance(0.10)?;
        let options = Options::default();
        // Weights as of shuffle, and what the placement by them comes to in truth.
        let fixed = schedule(&topology.under(None)?, &cluster, &options)?.placement;
        let graph = topology.under(Some(&fixed))?;
        let before = certify(&graph, &cluster, &fixed, None)?;
        let solved = topology.schedule(&cluster, &options)?;
        let after = &solved.plan.certificate;
        let bound = topology.cut_lower_bound(&cluster)?;
        println!("{name}: of {} tuples/s", after.total);
        println!("  fixed weights: {} between nodes", before.cut_after);
        println!(
            "  fix-point: {} between nodes, after {} rounds{}",
            after.cut_after,
            solved.rounds,
            if solved.fixed { "" } else { ", not at rest" }
        );
        println!("  no placement within the caps: under {bound}");
    }
    Ok(())
}
