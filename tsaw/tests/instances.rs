//! The named instances are built exactly: check sums, and what is known of them.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::cast_possible_wrap, clippy::cast_sign_loss, reason = "small numbers")]

use tsaw::{Cluster, Kind, baseline, instances, loads, sigma, traffic};

fn sums(graph: &tsaw::TaskGraph) -> (usize, usize, u64, i64) {
    (graph.len(), graph.pair_count(), graph.total_cpu(), graph.total_rate())
}

#[test]
fn the_small_ones_have_their_check_sums() {
    let expected = [
        ("wc8", 8, (40, 384, 44_001, 105_696)),
        ("sol8", 8, (40, 384, 1_200, 159_872)),
        ("linear", 12, (58, 672, 780, 179_808)),
        ("diamond", 12, (24, 144, 660, 479_952)),
        ("star", 12, (40, 336, 1_280, 360_048)),
        ("processing", 8, (46, 240, 810, 240_024)),
    ];
    let small = instances::small().unwrap();
    assert_eq!(small.len(), expected.len());
    for (instance, (name, nodes, checks)) in small.iter().zip(expected) {
        assert_eq!((instance.name.as_str(), instance.nodes), (name, nodes));
        assert_eq!(sums(&instance.graph), checks, "{name}");
    }
}

#[test]
fn layered_dags_have_their_check_sums() {
    for (tasks, pairs, cpu, rate) in [
        (1_000, 13_504, 57_143, 547_824),
        (10_000, 135_234, 522_256, 7_471_730),
        (100_000, 1_378_899, 5_348_368, 74_583_162),
    ] {
        let graph = instances::layered_dag(tasks, 1).unwrap();
        assert_eq!(sums(&graph), (tasks as usize, pairs, cpu, rate));
    }
}

#[test]
#[ignore = "a million tasks: three seconds and 700 MB"]
fn the_largest_layered_dag_has_its_check_sums() {
    let graph = instances::layered_dag(1_000_000, 1).unwrap();
    assert_eq!(sums(&graph), (1_000_000, 14_222_819, 52_956_897, 715_315_239));
}

#[test]
fn round_robin_on_wc8_gives_the_known_loads_and_cut() {
    let wc8 = instances::wc8().unwrap();
    let cluster = Cluster::uniform(8, 10_000).unwrap();
    let placement = baseline::round_robin(&wc8.graph, &cluster).unwrap();
    let loads = loads(&wc8.graph, &cluster, &placement).unwrap();
    assert_eq!(loads, [7928, 4579, 5654, 4466, 5102, 4147, 7039, 5086]);
    assert_eq!(traffic(&wc8.graph, &cluster, &placement).unwrap().inter, 92_484);
    assert!((sigma(&loads) - 1243.0).abs() < 0.5);
}

#[test]
fn sizes_that_would_not_fit_are_refused_before_anything_is_built() {
    assert!(instances::layered_dag(u32::MAX, 1).is_err());
    assert!(instances::layered_dag(0, 1).is_err());
    assert!(instances::processing_tenants(0).is_err());
    assert!(instances::processing_tenants(u32::MAX).is_err());
}

#[test]
fn each_has_spouts_and_bolts() {
    for instance in instances::small().unwrap() {
        let kinds: Vec<Kind> = instance.graph.components().iter().map(|of| of.kind).collect();
        assert!(kinds.contains(&Kind::Spout) && kinds.contains(&Kind::Bolt), "{}", instance.name);
    }
}
