//! What an ack costs: `acker::Tracker` beside plain hash maps that hold the same record.
//!
//! Each root lives through one init and four acks; each message is for a root drawn at random
//! among those pending, as many as there always are. All contenders get the same messages from
//! the same list, keep the same 20 bytes a root with the generation of its init, and push the
//! same verdicts. The maps do less: no failures, no counts, no expiry by the clock. Contenders
//! take turns; a figure is the median of their turns, in CPU time of the thread.
//!
//! `cargo bench -p benches --bench tracker [-- 100000]`; with `--features peers` Storm's map in
//! Java runs as well.

#![allow(missing_docs, unreachable_pub, clippy::unwrap_used)]

#[path = "tracker/contenders.rs"]
mod contenders;
#[path = "tracker/workload.rs"]
mod workload;

use std::hint::black_box;

use benches::timing::median;
use cpu_time::ThreadTime;

use contenders::{Brown, Contender, Foldhash, OneByOne, Siphash, batched};
use workload::Workload;

/// Messages a turn.
const TURN: usize = 200_000;
const TURNS: usize = 21;

struct Measured {
    name: &'static str,
    contender: Box<dyn Contender>,
    nanos: Vec<f64>,
}

fn measure(pending: usize) {
    let new = |name, contender| Measured { name, contender, nanos: Vec::new() };
    let mut all = [
        new("acker, batched", batched()),
        new("acker, one by one", Box::<OneByOne>::default()),
        new("hashbrown HashMap", Box::<Foldhash>::default()),
        new("hashbrown HashTable", Box::<Brown>::default()),
        new("std", Box::<Siphash>::default()),
    ];
    let mut workload = Workload::new(pending, 42);
    let (mut ops, mut turn, mut verdicts) = (workload.fill(), 0, Vec::new());
    // The first turns fill the tables and turn every root over some times.
    let warm = (10 * pending).div_ceil(TURN) + 2;
    loop {
        let mut ends = None;
        for measured in &mut all {
            verdicts.clear();
            let start = ThreadTime::now();
            measured.contender.apply(black_box(&ops), &mut verdicts);
            let nanos = start.elapsed().as_nanos() as f64 / ops.len() as f64;
            assert_eq!(verdicts.len(), *ends.get_or_insert(verdicts.len()), "{}", measured.name);
            if turn >= warm {
                measured.nanos.push(nanos);
            }
        }
        turn += 1;
        if turn == warm + TURNS {
            break;
        }
        ops = workload.messages(TURN);
    }
    println!("\n{pending} pending          ns a message   times acker   heap bytes a root");
    let base = median(all[0].nanos.clone());
    for measured in &all {
        let each = median(measured.nanos.clone());
        let bytes = measured.contender.heap_bytes() as f64 / pending as f64;
        println!("{:<22} {each:>14.1} {:>13.2} {bytes:>19.1}", measured.name, each / base);
    }
    // Expiry: the rest is acked by one contender and timed out by another.
    let acks = workload.drain();
    verdicts.clear();
    let start = ThreadTime::now();
    all[0].contender.apply(&acks, &mut verdicts);
    let acked = start.elapsed().as_nanos() as f64 / verdicts.len() as f64;
    assert_eq!(verdicts.len(), pending);
    verdicts.clear();
    let start = ThreadTime::now();
    all[1].contender.expire(&mut verdicts);
    let expired = start.elapsed().as_nanos() as f64 / verdicts.len() as f64;
    assert_eq!(verdicts.len(), pending);
    if let Some((nanos, bytes)) = storm(pending) {
        let ratio = nanos / base;
        println!("{:<22} {nanos:>14.1} {ratio:>13.2} {bytes:>19.1}", "Storm's map, Java");
    }
    println!("acking all that is left: {acked:.1} ns a root; expiring it: {expired:.1} ns a root");
}

/// What Storm's map takes, in Java: nanoseconds a message and bytes a root.
fn storm(pending: usize) -> Option<(f64, f64)> {
    if !cfg!(feature = "peers") {
        return None;
    }
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/StormMap.java");
    let java = std::process::Command::new("java")
        .args(["-Xmx6g", source, &pending.to_string()])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&java.stdout);
    let figures: Vec<f64> = text.split_whitespace().map(|figure| figure.parse().unwrap()).collect();
    assert_eq!(figures.len(), 3, "{}", String::from_utf8_lossy(&java.stderr));
    Some((figures[1], figures[2]))
}

fn main() {
    let chosen: Vec<usize> = std::env::args().filter_map(|arg| arg.parse().ok()).collect();
    let sizes = if chosen.is_empty() { vec![1_000, 10_000, 100_000, 900_000] } else { chosen };
    sizes.into_iter().for_each(measure);
}
