//! Rules that count entries, where one node joins fifteen that are unevenly loaded: bytes moved,
//! and the largest utilisation over the mean that they leave.

use rtmr::balance::{Band, Entry, Options};
use rtmr::instances::Instance;
use rtmr::measures::utilisation;
use rtmr::rivals::{moves, range, slot_weight, sticky};

use crate::{Outcome, planned};

/// Fifteen nodes, loaded from 0.85 to 1.15 of their capacity, and one without entries.
pub(crate) fn joined(per_node: usize, sigma: f64, seed: u64) -> Outcome<Instance> {
    let loads: Vec<f64> =
        (0..15).map(|node| 0.85 + 0.3 * f64::from(node * 7 % 15) / 14.0).collect();
    let band = Band::new(0.0, 0.4)?;
    let mut instance = Instance::with_loads(&loads, per_node, sigma, band, seed)?;
    instance.capacity.push(1.0);
    instance.base.push(0.0);
    Ok(instance)
}

fn after(instance: &Instance, owners: &[u32]) -> Outcome<(u64, f64)> {
    let cluster = instance.cluster()?;
    let steps = moves(&cluster, owners);
    let mut entries: Vec<Entry> = instance.entries.clone();
    steps.iter().for_each(|step| entries[step.entry as usize].owner = step.to);
    let moved = Instance { entries, ..instance.clone() };
    let largest = utilisation(&instance.capacity, moved.cluster()?.loads());
    Ok((steps.iter().map(|step| step.bytes).sum(), largest))
}

pub(crate) fn print() -> Outcome {
    println!("\n### A node joins fifteen: megabytes moved, largest utilisation over the mean\n");
    println!("| entries a node | σ | rtmr | | range | | sticky | | slots by weight | |");
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for (power, sigma) in
        [(6, 0.5), (8, 1.0), (10, 1.0), (12, 0.5), (12, 1.0), (12, 2.0), (16, 1.0)]
    {
        let instance = joined(1 << power, sigma, 1)?;
        let (plan, _) = planned(&instance, &Options::default(), 1)?;
        let mut owners: Vec<u32> = instance.entries.iter().map(|entry| entry.owner).collect();
        plan.moves.iter().for_each(|step| owners[step.entry as usize] = step.to);
        let cluster = instance.cluster()?;
        let all = [owners, range(&cluster), sticky(&cluster), slot_weight(&cluster, 0.02)];
        print!("| 2^{power} | {sigma} |");
        for owners in all {
            let (bytes, largest) = after(&instance, &owners)?;
            print!(" {:.2} | {largest:.4} |", bytes as f64 / 1e6);
        }
        println!();
    }
    Ok(())
}
