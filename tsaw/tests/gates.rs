//! How good plans are on the named instances, against a long annealing that is written here by
//! itself, and how still a rescheduling stays as weights drift.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::cast_possible_wrap, clippy::cast_sign_loss, reason = "small numbers")]

mod common;

use common::Random;
use tsaw::{
    Cluster, Options, TaskGraph, TaskGraphBuilder, TaskId, instances, reschedule, schedule, verify,
};

/// The best cut of 100 runs of 200 000 steps of [`annealed`] at seed 1 and ε = 10 %.
const ANNEALED: [(&str, i64); 6] = [
    ("wc8", 91_303),
    ("sol8", 139_880),
    ("linear", 159_018),
    ("diamond", 439_956),
    ("star", 325_876),
    ("processing", 164_457),
];

/// Plain annealing with the Metropolis rule over moves and swaps; load over the cap costs a
/// penalty. Returns the least cut within the cap over all runs.
fn annealed(graph: &TaskGraph, nodes: usize, cap: i64, runs: u64, steps: u64) -> i64 {
    let n = graph.len();
    let cpu: Vec<i64> = graph.tasks().iter().map(|task| task.cpu as i64).collect();
    let rows: Vec<Vec<(usize, i64)>> = (0..n)
        .map(|t| graph.neighbours(TaskId(t as u32)).map(|(o, r)| (o.0 as usize, r)).collect())
        .collect();
    let degree = graph.total_rate() as f64 * 2.0 / n as f64;
    let penalty = degree / (graph.total_cpu() as f64 / n as f64);
    let r = &mut Random::new(1);
    let mut best = i64::MAX;
    for _ in 0..runs {
        let mut at: Vec<usize> = (0..n).map(|_| r.below(nodes as u64) as usize).collect();
        let mut load = vec![0_i64; nodes];
        let mut to = vec![0_i64; n * nodes];
        for t in 0..n {
            load[at[t]] += cpu[t];
            for &(o, rate) in &rows[t] {
                to[o * nodes + at[t]] += rate;
            }
        }
        let cut = |at: &[usize]| -> i64 {
            let cut = |t: usize| rows[t].iter().filter(move |&&(o, _)| at[o] != at[t]);
            (0..n).flat_map(cut).map(|&(_, rate)| rate).sum::<i64>() / 2
        };
        let mut now = cut(&at);
        let over = |load: i64| (load - cap).max(0);
        let shift = |to: &mut [i64], t: usize, p: usize, q: usize| {
            for &(o, rate) in &rows[t] {
                to[o * nodes + p] -= rate;
                to[o * nodes + q] += rate;
            }
        };
        for step in 0..steps {
            let heat = degree * 0.2 * (1.0 - step as f64 / steps as f64).powi(2) + 1e-9;
            let (a, b) = (r.below(n as u64) as usize, r.below(n as u64) as usize);
            let swap = r.one_in(2);
            let (p, q) = (at[a], if swap { at[b] } else { r.below(nodes as u64) as usize });
            if p == q {
                continue;
            }
            let moved = if swap { cpu[a] - cpu[b] } else { cpu[a] };
            let mut change = to[a * nodes + p] - to[a * nodes + q];
            if swap {
                let between = rows[a].iter().find(|of| of.0 == b).map_or(0, |of| of.1);
                change += to[b * nodes + q] - to[b * nodes + p] + 2 * between;
            }
            let excess =
                over(load[p] - moved) + over(load[q] + moved) - over(load[p]) - over(load[q]);
            let worse = change as f64 + penalty * excess as f64;
            let draw = r.below(1 << 30) as f64 / (1_u64 << 30) as f64;
            if worse > 0.0 && draw >= (-worse / heat).exp() {
                continue;
            }
            at[a] = q;
            shift(&mut to, a, p, q);
            if swap {
                at[b] = p;
                shift(&mut to, b, q, p);
            }
            load[p] -= moved;
            load[q] += moved;
            now += change;
            if now < best && load.iter().all(|&load| load <= cap) {
                best = now;
            }
        }
    }
    best
}

#[test]
#[ignore = "120 million steps"]
fn the_long_annealing_gives_the_recorded_cuts() {
    let small = instances::small().unwrap();
    let found = small.iter().map(|instance| {
        let caps = tsaw::asked_caps(&instance.graph, &instance.cluster(0.10).unwrap());
        let best = annealed(&instance.graph, instance.nodes as usize, caps[0] as i64, 100, 200_000);
        (instance.name.as_str(), best)
    });
    assert_eq!(found.collect::<Vec<_>>(), ANNEALED);
}

#[test]
fn plans_are_within_the_cap_and_a_hundredth_of_a_long_annealing() {
    for (instance, (name, recorded)) in instances::small().unwrap().iter().zip(ANNEALED) {
        let cluster = instance.cluster(0.10).unwrap();
        let cap = tsaw::asked_caps(&instance.graph, &cluster)[0];
        // The recorded cut is no easy one: a tenth of the runs does not do better.
        let fewer = annealed(&instance.graph, instance.nodes as usize, cap as i64, 10, 50_000);
        assert!(recorded <= fewer, "{name}: {fewer}");
        for seed in 0..5 {
            let options = Options::default().with_seed(seed);
            let plan = schedule(&instance.graph, &cluster, &options).unwrap();
            assert_eq!(
                verify(&instance.graph, &cluster, &plan.placement, &plan.certificate),
                Ok(())
            );
            assert!(plan.certificate.load.largest <= cap && !plan.certificate.cap_relaxed);
            let cut = plan.certificate.cut_after;
            println!("{name} seed {seed}: {cut}, {:.4} of annealing", cut as f64 / recorded as f64);
            assert!(cut * 100 <= recorded * 101, "{name}: {cut} of {recorded}");
        }
    }
}

/// The same topology with every weight times 0.8 to 1.2.
fn drifted(graph: &TaskGraph, r: &mut Random) -> TaskGraph {
    let mut factor = || 800 + r.below(401);
    let factors: Vec<u64> = (0..graph.len()).map(|_| factor()).collect();
    let mut builder =
        TaskGraphBuilder::like(graph, |task, cpu| cpu * 100 * factors[task.0 as usize]);
    for task in (0..graph.len() as u32).map(TaskId) {
        for (other, rate) in graph.neighbours(task).filter(|(other, _)| *other < task) {
            builder.stream(other, task, rate * factor() as i64 / 1_000);
        }
    }
    builder.build().unwrap()
}

#[test]
fn as_weights_drift_a_tenth_of_the_tasks_moves_and_the_cut_stays_near_a_fresh_one() {
    let tenants = instances::processing_tenants(10).unwrap();
    let cluster = |graph: &TaskGraph| {
        Cluster::uniform(tenants.nodes, graph.total_cpu()).unwrap().with_imbalance(0.10).unwrap()
    };
    let standing =
        schedule(&tenants.graph, &cluster(&tenants.graph), &Options::default()).unwrap().placement;
    let most = tenants.graph.len() as u64 / 10;
    for seed in 0..3 {
        let graph = drifted(&tenants.graph, &mut Random::new(seed));
        let cluster = cluster(&graph);
        let fresh = schedule(&graph, &cluster, &Options::default()).unwrap().certificate;
        let options = Options::default().with_max_moves(most);
        let plan = reschedule(&graph, &cluster, &standing, &options).unwrap();
        assert_eq!(verify(&graph, &cluster, &plan.placement, &plan.certificate), Ok(()));
        let plan = plan.certificate;
        let ratio = plan.cut_after as f64 / fresh.cut_after as f64;
        println!("seed {seed}: {} moves, {ratio:.3} of a fresh cut", plan.moves.len());
        assert!(plan.moves.len() as u64 <= most && ratio <= 1.05);
    }
}
