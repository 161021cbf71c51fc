//! Bytes over the bound, and time beside one sort, for every shape, size and spread.

use std::hint::black_box;

use rtmr::balance::Options;
use rtmr::instances::{Instance, shaped};

use crate::{Outcome, SHAPES, SIGMAS, median, planned, timed};

const NODES: usize = 16;

/// One `sort_unstable` of all entries as pairs of load and index, on one thread.
fn sort(instance: &Instance, runs: usize) -> f64 {
    let pairs: Vec<(f64, u32)> =
        instance.entries.iter().map(|entry| entry.load).zip(0_u32..).collect();
    let once = || {
        let mut pairs = pairs.clone();
        let ((), ms) = timed(|| pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0)));
        black_box(&pairs);
        ms
    };
    median((0..runs).map(|_| once()).collect())
}

pub(crate) fn print(largest: u32) -> Outcome {
    println!("\n### {NODES} nodes, three seeds each: bytes over the bound, and time\n");
    println!("| shape | entries a node | σ | solved | worst gap | ms | sorts |");
    println!("|---|---|---|---|---|---|---|");
    for (name, shape, _) in SHAPES {
        for power in (6..=largest).step_by(2) {
            for sigma in SIGMAS {
                let runs = if power > 12 { 5 } else { 11 };
                let (mut solved, mut worst, mut ours, mut sorts) = (0, 0.0_f64, vec![], vec![]);
                for seed in 0..3 {
                    let instance = shaped(shape, NODES, 1 << power, sigma, seed)?;
                    let (plan, ms) = planned(&instance, &Options::default(), runs)?;
                    if plan.left_over.is_empty() {
                        solved += 1;
                        worst = worst.max(plan.gap());
                    }
                    ours.push(ms);
                    sorts.push(sort(&instance, runs));
                }
                let (ms, ratio) = (median(ours.clone()), median(ours) / median(sorts));
                let gap = 100.0 * worst;
                println!(
                    "| {name} | 2^{power} | {sigma} | {solved}/3 | {gap:.4} % | {ms:.3} | {ratio:.2} |"
                );
            }
        }
    }
    Ok(())
}
