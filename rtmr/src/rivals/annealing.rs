//! Plain annealing over the whole cluster: no groups, no bound, a fixed number of steps.

use super::greedy::{Order, greedy};
use crate::balance::{Band, Cluster};
use crate::rng::SplitMix64;

/// Anneals for `steps` steps from the greedy plan by load: drops an entry, adds one, moves one to
/// another idle node, or swaps one that moves for one that does not. Bytes are what is to fall;
/// load over a band costs as many bytes as that load does on average. O(entries + steps).
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "costs as floats")]
pub fn annealing(cluster: &Cluster<'_>, band: Band, steps: u64, seed: u64) -> Vec<u32> {
    let mut owners = greedy(cluster, band, Order::LoadFirst);
    let (p, entries) = (cluster.capacity(), cluster.entries());
    let mut loads = cluster.loads().to_vec();
    for (entry, &owner) in entries.iter().zip(&owners).filter(|(e, owner)| e.owner != **owner) {
        loads[entry.owner as usize] -= entry.load;
        loads[owner as usize] += entry.load;
    }
    let over = |node: u32| band.is_over(p[node as usize], cluster.loads()[node as usize]);
    #[allow(clippy::cast_possible_truncation, reason = "entries are counted by u32")]
    let line: Vec<u32> = (0..entries.len() as u32)
        .filter(|&at| over(entries[at as usize].owner) && entries[at as usize].load > 0.0)
        .collect();
    #[allow(clippy::cast_possible_truncation, reason = "nodes are counted by u32")]
    let idle: Vec<u32> = (0..p.len() as u32)
        .filter(|&node| band.is_idle(p[node as usize], cluster.loads()[node as usize]))
        .collect();
    if line.is_empty() || idle.is_empty() {
        return owners;
    }
    let (load, bytes) = line.iter().fold((0.0, 0.0), |(load, bytes), &at| {
        let entry = &entries[at as usize];
        (load + entry.load, bytes + entry.bytes as f64)
    });
    let rate = 3.0 * bytes / load;
    let excess = |node: u32, load: f64| {
        let (high, low) = (band.high(p[node as usize]), band.low(p[node as usize]));
        let below = if over(node) { (low - load).max(0.0) } else { 0.0 };
        (load - high).max(0.0) + below
    };
    let mut rng = SplitMix64::new(seed);
    let mut temperature = bytes / line.len() as f64;
    let cooling = libm::pow(1e-4, 1.0 / steps.max(1) as f64);
    let (mut now, mut best, mut kept) = (0.0, 0.0, owners.clone());
    let mut go = |owners: &mut [u32], at: u32, to: u32| {
        let entry = &entries[at as usize];
        let from = std::mem::replace(&mut owners[at as usize], to);
        if from == to {
            return 0.0;
        }
        let mut delta = 0.0;
        for (node, sign) in [(from, -entry.load), (to, entry.load)] {
            let before = loads[node as usize];
            loads[node as usize] = before + sign;
            delta += rate * (excess(node, before + sign) - excess(node, before));
        }
        let cost = |node: u32| if node == entry.owner { 0.0 } else { entry.bytes as f64 };
        delta + cost(to) - cost(from)
    };
    let mut changed: Vec<u32> = Vec::new();
    for _ in 0..steps {
        temperature *= cooling;
        let a = line[rng.index(line.len())];
        let to =
            if rng.below(2) == 0 { entries[a as usize].owner } else { idle[rng.index(idle.len())] };
        let was = owners[a as usize];
        let mut delta = go(&mut owners, a, to);
        let mut swapped = None;
        if rng.below(2) == 0 {
            let b = line[rng.index(line.len())];
            // The other takes its place, or comes home from it.
            let home = entries[b as usize].owner;
            let place = if was == entries[a as usize].owner { home } else { was };
            if b != a {
                swapped = Some((b, owners[b as usize]));
                delta += go(&mut owners, b, place);
            }
        }
        if delta > 0.0 && rng.unit() >= libm::exp(-delta / temperature) {
            if let Some((b, was)) = swapped {
                go(&mut owners, b, was);
            }
            go(&mut owners, a, was);
            continue;
        }
        now += delta;
        changed.push(a);
        changed.extend(swapped.map(|(b, _)| b));
        if now < best {
            best = now;
            for at in changed.drain(..) {
                kept[at as usize] = owners[at as usize];
            }
        }
    }
    kept
}
