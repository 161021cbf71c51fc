//! What a change of one capacity costs: a warm flow beside a cold solution and pathfinding's
//! `set_capacity` and `augment`; and what dealing a tuple costs beside a random pick.
//!
//! ```sh
//! cargo bench -p benches --features peers --bench warm
//! ```
//!
//! Without `peers`, pathfinding is left out. Edits are uniform over the arcs that carry flow when
//! they are made; the new capacity is uniform between half and one and a half of the first one.
//! After each the cut nearest the sources is read. All times are CPU times of the thread. A cold
//! solution is `Network::solve` on the edited network, with both cuts and every flow. That values
//! agree is checked beside the clock.

#![allow(missing_docs, clippy::unwrap_used)]

use std::hint::black_box;
use std::time::Duration;

use benches::networks::{Instance, Random, layered};
use cpu_time::ThreadTime;
use flownet::{ArcId, Dispatcher, Effort, NodeId, Warm};

fn main() {
    for net in [layered("layered-1500", 1_500, 7_500), layered("layered-15000", 15_000, 75_000)] {
        edits(&net, if net.nodes < 10_000 { 20_000 } else { 4_000 });
        #[cfg(feature = "peers")]
        if net.nodes < 10_000 {
            peer::edits(&net, 300);
        }
    }
    dealing();
}

/// An arc that carries flow, and its new capacity.
fn edit(random: &mut Random, net: &Instance, flow: impl Fn(usize) -> bool) -> (usize, u64) {
    let count = net.arcs.len() as u64;
    loop {
        let arc = (random.next() % count) as usize;
        if flow(arc) {
            let capacity = net.arcs[arc].2;
            return (arc, capacity / 2 + random.next() % (capacity + 1));
        }
    }
}

/// Sorted times in microseconds.
struct Times(Vec<f64>);

impl Times {
    fn new(mut times: Vec<Duration>) -> Self {
        times.sort();
        Times(times.into_iter().map(|time| time.as_secs_f64() * 1e6).collect())
    }

    fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }

    /// The time that so many in a hundred do not exceed.
    fn at(&self, percent: usize) -> f64 {
        self.0[(self.0.len() - 1) * percent / 100]
    }
}

fn edits(net: &Instance, count: usize) {
    let mut warm = Warm::new(net.network()).unwrap();
    let mut random = Random(7);
    let (mut all, mut on, mut off, mut nothing) = (vec![], vec![], vec![], vec![]);
    let (mut same, mut moved) = (vec![], vec![]);
    let (mut cold, mut solved, mut repaired) = (vec![], 0, 0);
    for index in 0..count {
        let (arc, capacity) = edit(&mut random, net, |arc| warm.flow(ArcId(arc as u32)) > Some(0));
        let ends = warm.network().arc(ArcId(arc as u32)).unwrap();
        let crosses = |cut: &flownet::Cut<u64>| {
            let side = |node: NodeId| cut.sides[node.index()] == flownet::Side::Source;
            side(ends.from) && !side(ends.to)
        };
        let crosses = crosses(warm.source_cut()) || crosses(warm.sink_cut());
        let begin = ThreadTime::now();
        let change = warm.set_capacity(ArcId(arc as u32), capacity).unwrap();
        black_box(warm.source_cut());
        let time = begin.elapsed();
        all.push(time);
        if crosses { &mut on } else { &mut off }.push(time);
        if change.effort == Effort::Nothing {
            nothing.push(time);
        } else if change.before == change.after {
            same.push(time);
        } else {
            moved.push(time);
        }
        solved += usize::from(change.effort == Effort::Solved);
        repaired += usize::from(change.effort == Effort::Repaired);
        if index % (count / 40) == 0 {
            let begin = ThreadTime::now();
            let answer = warm.network().solve().unwrap();
            cold.push(begin.elapsed());
            assert_eq!(answer.value, warm.value());
            assert_eq!(answer.source_cut.as_ref(), Some(warm.source_cut()));
        }
    }
    let cold = Times::new(cold);
    println!("\n{}: {count} edits, {repaired} mended, {solved} solved anew", net.name);
    println!("cold: median {:.1} us, mean {:.1} us", cold.at(50), cold.mean());
    for (name, times) in [
        ("all", all),
        ("on a cut", on),
        ("off both cuts", off),
        ("known to change nothing", nothing),
        ("mended or solved, value as before", same),
        ("value changed", moved),
    ] {
        let times = Times::new(times);
        println!(
            "{name}: {} edits, mean {:.2} us (cold / {:.1}), median {:.2} (cold / {:.0}), \
             p99 {:.1} ({:.2} x cold), most {:.1}",
            times.0.len(),
            times.mean(),
            cold.at(50) / times.mean(),
            times.at(50),
            cold.at(50) / times.at(50),
            times.at(99),
            times.at(99) / cold.at(50),
            times.at(100),
        );
    }
}

/// A random pick in proportion to weights: Walker's alias method, as Vose builds it.
struct Alias {
    /// For each column the part of it that is its own, in 2^32nds, and who has the rest.
    columns: Vec<(u32, u32)>,
}

impl Alias {
    fn new(weights: &[u32]) -> Self {
        let total: u64 = weights.iter().map(|&w| u64::from(w)).sum();
        let d = weights.len() as u64;
        // Scaled so that a column holds `total`.
        let mut rest: Vec<u64> = weights.iter().map(|&w| u64::from(w) * d).collect();
        let mut columns = vec![(u32::MAX, 0); weights.len()];
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..weights.len()).partition(|&i| rest[i] < total);
        while let (Some(s), Some(l)) = (small.pop(), large.pop()) {
            columns[s] =
                ((u128::from(rest[s]) << 32).div_euclid(u128::from(total)) as u32, l as u32);
            rest[l] -= total - rest[s];
            if rest[l] < total { small.push(l) } else { large.push(l) }
        }
        for i in small.into_iter().chain(large) {
            columns[i] = (u32::MAX, i as u32);
        }
        Alias { columns }
    }

    #[inline]
    fn pick(&self, random: &mut Random) -> u32 {
        let x = random.next();
        let column = (((x >> 32) * self.columns.len() as u64) >> 32) as usize;
        let (own, other) = self.columns[column];
        if x as u32 <= own { column as u32 } else { other }
    }
}

fn dealing() {
    const TUPLES: u32 = 20_000_000;
    println!("\nns a tuple: dealt, picked by an alias table, ratio");
    for d in [2, 4, 8, 16, 32, 64] {
        let mut random = Random(d);
        let mut weights: Vec<u32> = (0..d).map(|_| 1 + (random.next() % 100) as u32).collect();
        // Largest remainders to 4096 slots, as a plan would have it.
        let parts: Vec<u128> = weights.iter().map(|&w| u128::from(w)).collect();
        weights = flownet::largest_remainder(&parts, 4_096);
        let mut dispatcher = Dispatcher::new(&weights).unwrap();
        let alias = Alias::new(&weights);
        let time = |run: &mut dyn FnMut() -> u64| {
            let mut times: Vec<f64> = (0..7)
                .map(|_| {
                    let begin = ThreadTime::now();
                    black_box(run());
                    begin.elapsed().as_secs_f64() * 1e9 / f64::from(TUPLES)
                })
                .collect();
            times.sort_by(f64::total_cmp);
            times[3]
        };
        let dealt = time(&mut || (0..TUPLES).map(|_| u64::from(dispatcher.deal().0)).sum());
        let picked = time(&mut || (0..TUPLES).map(|_| u64::from(alias.pick(&mut random))).sum());
        println!("{d} arcs: {dealt:.2}, {picked:.2}, {:.2}", dealt / picked);
    }
}

/// pathfinding's warm path, which is the only one of a Rust crate.
#[cfg(feature = "peers")]
mod peer {
    use super::*;
    use pathfinding::directed::edmonds_karp::{EdmondsKarp, SparseCapacity};

    pub(super) fn edits(net: &Instance, count: usize) {
        let index = |node: u32| node as usize;
        let size = index(net.nodes);
        let mut peer: SparseCapacity<i64> =
            EdmondsKarp::new(size, index(net.source), index(net.sink));
        // No arc of these networks is parallel to another.
        for &(from, to, capacity) in &net.arcs {
            peer.set_capacity(index(from), index(to), capacity.cast_signed());
        }
        peer.augment();
        let mut warm = Warm::new(net.network()).unwrap();
        let mut random = Random(7);
        let (mut theirs, mut ours, mut bare) = (vec![], vec![], vec![]);
        for turn in 0..count {
            let (arc, capacity) =
                edit(&mut random, net, |arc| warm.flow(ArcId(arc as u32)) > Some(0));
            let (from, to, _) = net.arcs[arc];
            let begin = ThreadTime::now();
            let _ = warm.set_capacity(ArcId(arc as u32), capacity).unwrap();
            black_box(warm.source_cut());
            ours.push(begin.elapsed());
            // Every other time with flows and cut, and else the value alone.
            let details = turn % 2 == 0;
            let mut copy = None;
            if !details {
                let mut quiet = peer.clone();
                quiet.omit_details();
                copy = Some(quiet);
            }
            let at = copy.as_mut().unwrap_or(&mut peer);
            let begin = ThreadTime::now();
            at.set_capacity(index(from), index(to), capacity.cast_signed());
            let (_, value, _) = black_box(at.augment());
            if details { &mut theirs } else { &mut bare }.push(begin.elapsed());
            assert_eq!(value, warm.value().cast_signed());
            if !details {
                peer.set_capacity(index(from), index(to), capacity.cast_signed());
                peer.augment();
            }
        }
        let [theirs, ours, bare] = [theirs, ours, bare].map(Times::new);
        println!(
            "pathfinding, {count} edits: mean {:.1} us with flows and cut, {:.1} without; ours {:.2} \
             with the cut: {:.0} and {:.0} x",
            theirs.mean(),
            bare.mean(),
            ours.mean(),
            theirs.mean() / ours.mean(),
            bare.mean() / ours.mean(),
        );
    }
}
