//! The comparators do what their sources say, with the known defects mended.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::cast_possible_wrap, clippy::cast_sign_loss, reason = "small numbers")]

mod common;

use common::{Case, Kinds, cases, places};
use proptest::prelude::*;
use tsaw::baseline::{AnielloParams, aniello_online, lpt, round_robin, rstorm};
use tsaw::{
    Cluster, Kind, Node, ScheduleError, TaskGraphBuilder, TaskId, instances, loads, traffic,
};

#[test]
fn round_robin_goes_by_component_names_and_skips_dead_nodes() {
    let mut builder = TaskGraphBuilder::new();
    let z = builder.component("z", Kind::Spout);
    let a = builder.component("a", Kind::Bolt);
    for component in [z, a, z, a] {
        builder.task(component, 1);
    }
    let graph = builder.build().unwrap();
    let cluster = Cluster::new(vec![Node::new(9), Node::new(9).dead(), Node::new(9)]).unwrap();
    assert_eq!(places(&round_robin(&graph, &cluster).unwrap()), [0, 0, 2, 2]);
}

/// The claim of the paper that the online scheduler cannot work where all rates are equal.
#[test]
fn on_sol8_where_rates_are_equal_the_online_scheduler_gains_nothing() {
    let sol8 = instances::sol8().unwrap();
    let cluster = sol8.cluster(0.10).unwrap();
    let cut = |placement| traffic(&sol8.graph, &cluster, &placement).unwrap().inter;
    let turn = cut(round_robin(&sol8.graph, &cluster).unwrap());
    for alpha in [0.0, 1.0] {
        let params = AnielloParams::default().with_alpha(alpha);
        let online = cut(aniello_online(&sol8.graph, &cluster, params).unwrap());
        assert!(online * 1_000 >= turn * 999, "{online} of {turn}");
    }
}

proptest! {
    #![proptest_config(cases(2_000))]

    #[test]
    fn the_online_scheduler_respects_its_slots(seed in any::<u64>(), alpha in 0..5, per_node in 1_u32..4, workers in 1_u32..12) {
        let case = Case::random(seed, 20, 5, Kinds { limits: false, distances: false });
        let graph = case.graph();
        let cluster = Cluster::uniform(case.nodes.len() as u32, 1 << 20).unwrap();
        let alpha = f64::from(alpha) / 4.0;
        let params = AnielloParams::default().with_alpha(alpha).with_gamma(3.0).with_slots(per_node, workers);
        let Ok(placement) = aniello_online(&graph, &cluster, params) else { return Ok(()) };
        let (n, k) = (case.tasks.len() as u64, case.nodes.len() as u64);
        let slots = (k * u64::from(per_node)).min(u64::from(workers)).min(n);
        let even = n.div_ceil(slots);
        let a_slot = even + (alpha * (n - slots + 1 - even) as f64).ceil() as u64;
        let mut counts = vec![0_u64; case.nodes.len()];
        for node in places(&placement) {
            counts[node] += 1;
        }
        // A node has at most so many slots, and these so many tasks.
        let node_slots = slots.div_ceil(slots.min(k)).min(u64::from(per_node));
        prop_assert!(counts.iter().all(|&count| count <= node_slots * a_slot));
        prop_assert!(counts.iter().filter(|&&count| count > 0).count() as u64 <= slots);
        prop_assert_eq!(counts.iter().sum::<u64>(), n);
    }

    #[test]
    fn r_storm_keeps_cpu_and_memory_or_says_what_did_not_fit(seed in any::<u64>()) {
        let case = Case::random(seed, 12, 4, Kinds { limits: true, distances: false });
        let (graph, cluster) = (case.graph(), case.cluster());
        match rstorm(&graph, &cluster) {
            Ok(placement) => {
                let place = places(&placement);
                let mut mem = vec![0; case.nodes.len()];
                for (task, &node) in case.tasks.iter().zip(&place) {
                    mem[node] += task.mem;
                    prop_assert!(case.nodes[node].alive);
                }
                for (node, (load, mem)) in case.nodes.iter().zip(case.loads(&place).into_iter().zip(mem)) {
                    prop_assert!(load <= node.cpu && node.mem.is_none_or(|limit| mem <= limit));
                }
            }
            Err(error) => prop_assert!(matches!(error, ScheduleError::Unplaced(_))),
        }
    }

    #[test]
    fn lpt_is_within_a_third_of_the_least_largest_load(seed in any::<u64>()) {
        let case = Case::random(seed, 7, 3, Kinds { limits: false, distances: false });
        let graph = case.graph();
        let cluster = Cluster::uniform(case.nodes.len() as u32, 1 << 20).unwrap();
        let placed = loads(&graph, &cluster, &lpt(&graph, &cluster).unwrap()).unwrap();
        let mut least = u64::MAX;
        case.enumerate(|place| least = least.min(case.loads(place).into_iter().max().unwrap()));
        // Graham's bound, 4/3 − 1/(3k).
        let k = case.nodes.len() as u64;
        prop_assert!(placed.iter().max().unwrap() * 3 * k <= least * (4 * k - 1));
    }
}

#[test]
fn r_storm_fills_the_node_it_is_on_and_of_equal_ones_takes_the_first() {
    let mut builder = TaskGraphBuilder::new();
    let (s, b) = (builder.component("s", Kind::Spout), builder.component("b", Kind::Bolt));
    let (spout, bolt, other) = (builder.task(s, 40), builder.task(b, 40), builder.task(b, 40));
    builder.stream(spout, bolt, 5);
    builder.stream(spout, other, 5);
    let graph = builder.build().unwrap();
    let cluster = Cluster::uniform(4, 100).unwrap();
    assert_eq!(places(&rstorm(&graph, &cluster).unwrap()), [0, 0, 1]);
    let small = Cluster::uniform(2, 50).unwrap();
    assert_eq!(rstorm(&graph, &small).unwrap_err(), ScheduleError::Unplaced(TaskId(2)));
}

#[test]
fn odd_parameters_are_refused() {
    let sol8 = instances::sol8().unwrap();
    let cluster = sol8.cluster(0.10).unwrap();
    let usual = AnielloParams::default();
    for odd in [
        usual.with_alpha(f64::NAN),
        usual.with_alpha(1.5),
        usual.with_beta(-0.1),
        usual.with_beta(f64::NAN),
        usual.with_delta(1.1),
        usual.with_gamma(0.9),
        usual.with_gamma(f64::INFINITY),
        usual.with_slots(0, 1),
        usual.with_slots(1, 0),
        usual.with_capacity(0.0),
    ] {
        assert!(matches!(aniello_online(&sol8.graph, &cluster, odd), Err(ScheduleError::Input(_))));
    }
    let dead = Cluster::new(vec![Node::new(1).dead()]).unwrap();
    assert_eq!(round_robin(&sol8.graph, &dead).unwrap_err(), ScheduleError::NoNodes);
}
