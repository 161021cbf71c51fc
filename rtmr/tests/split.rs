//! The capacity split: the vector of the fourth experiment, and what holds of every split.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Random, cases};
use proptest::prelude::*;
use rtmr::Error;
use rtmr::split::{Mean, NodeSpec, SplitRule, speed, split};

fn node(mem: f64, mu: f64) -> NodeSpec {
    NodeSpec { mem, mu, alpha: 1.0, xi: 0.1 }
}

/// Three nodes of 2 × 6 × 2.0 GHz and 32 GB, one of 2 × 4 × 0.8 GHz and 8 GB; 200 GB.
fn experiment_4() -> [NodeSpec; 4] {
    [node(32.0, 24.0), node(32.0, 24.0), node(32.0, 24.0), node(8.0, 6.4)]
}

#[track_caller]
fn near(got: &[f64], want: &[f64]) {
    assert!(got.iter().zip(want).all(|(g, w)| (g - w).abs() < 0.005), "{got:?}, not {want:?}");
}

#[test]
fn equal_utilisation_of_experiment_4() {
    let nodes = experiment_4();
    let split = split(&nodes, 200.0, SplitRule::EqualUtilisation, Mean::Arithmetic).unwrap();
    near(&split.shares, &[61.37, 61.37, 61.37, 15.90]);
    assert!((split.level - 4.4915).abs() < 5e-5);
    assert!(split.outside.is_empty());
    for (share, speed) in split.shares.iter().zip(&split.speeds) {
        assert!((share / speed / split.level - 1.0).abs() < 1e-12);
    }
}

#[test]
fn equal_speed_of_experiment_4_is_the_papers_and_flagged() {
    let nodes = experiment_4();
    let split = split(&nodes, 200.0, SplitRule::EqualSpeed, Mean::Arithmetic).unwrap();
    near(&split.shares, &[65.42, 65.42, 65.42, 3.74]);
    // Node 4 has memory to spare; its true speed is its speed in memory, and half of the others'.
    assert_eq!(split.outside, [3]);
    near(&split.speeds, &[12.97, 12.97, 12.97, 6.4]);
    let utilisation: Vec<f64> =
        split.shares.iter().zip(&split.speeds).map(|(share, speed)| share / speed).collect();
    let mean = utilisation.iter().sum::<f64>() / 4.0;
    let largest = utilisation.iter().copied().fold(0.0, f64::max);
    assert!((largest / mean - 1.28).abs() < 0.01, "{}", largest / mean);
}

#[test]
fn speed_is_never_above_that_in_memory() {
    let node = NodeSpec { mem: 32.0, mu: 24.0, alpha: 0.5, xi: 0.1 };
    for mean in [Mean::Arithmetic, Mean::Harmonic] {
        assert_eq!(speed(&node, 0.0, mean), 24.0);
        assert_eq!(speed(&node, 16.0, mean), 24.0);
    }
    assert!((speed(&node, 32.0, Mean::Arithmetic) - 24.0 * 0.55).abs() < 1e-12);
    assert!((speed(&node, 32.0, Mean::Harmonic) - 24.0 / (0.5 + 0.5 / 0.1)).abs() < 1e-12);
}

/// On 10 and 1 units of capacity 5.5 goes as 5.0 and 0.5, not as equal parts.
#[test]
fn unequal_nodes_are_filled_in_parts_of_their_own() {
    let nodes = [node(100.0, 10.0), node(100.0, 1.0)];
    let split = split(&nodes, 5.5, SplitRule::EqualUtilisation, Mean::Arithmetic).unwrap();
    assert!((split.shares[0] - 5.0).abs() < 1e-12 && (split.shares[1] - 0.5).abs() < 1e-12);
}

/// A node of no weight gets nothing, the others what is left to within one.
#[test]
fn a_node_without_weight_keeps_no_slot() {
    let nodes = [node(1.0, 0.0), node(1.0, 1.0), node(1.0, 1.0), node(1.0, 1.0)];
    let split = split(&nodes, 1.0, SplitRule::EqualUtilisation, Mean::Arithmetic).unwrap();
    let sizes: Vec<usize> = split.entries(4096).iter().map(ExactSizeIterator::len).collect();
    assert_eq!(sizes[0], 0);
    assert_eq!(sizes.iter().sum::<usize>(), 4096);
    assert!(sizes[1..].iter().max().unwrap() - sizes[1..].iter().min().unwrap() <= 1);
}

#[test]
fn what_can_not_be_split_is_told() {
    let rule = SplitRule::EqualUtilisation;
    let bad = |nodes: &[NodeSpec], total: f64, rule| {
        split(nodes, total, rule, Mean::Arithmetic).unwrap_err()
    };
    assert!(matches!(bad(&[], 1.0, rule), Error::Count { .. }));
    for total in [f64::NAN, -1.0, f64::INFINITY] {
        assert!(matches!(bad(&[node(1.0, 1.0)], total, rule), Error::Number { .. }));
    }
    let broken = [
        NodeSpec { mem: f64::NAN, ..node(1.0, 1.0) },
        NodeSpec { mu: -1.0, ..node(1.0, 1.0) },
        NodeSpec { alpha: 0.0, ..node(1.0, 1.0) },
        NodeSpec { alpha: 1.5, ..node(1.0, 1.0) },
        NodeSpec { xi: 0.0, ..node(1.0, 1.0) },
        NodeSpec { xi: f64::NAN, ..node(1.0, 1.0) },
    ];
    for spec in broken {
        let error = bad(&[node(1.0, 1.0), spec], 1.0, rule);
        assert!(matches!(error, Error::Item { index: 1, .. }), "{error}");
    }
    assert!(matches!(bad(&[node(1.0, 0.0)], 1.0, rule), Error::NoSplit { .. }));
    let flat = NodeSpec { xi: 1.0, ..node(1.0, 1.0) };
    assert!(matches!(bad(&[flat], 1.0, SplitRule::EqualSpeed), Error::NoSplit { .. }));
    // Even an empty history may be split over nodes that can do nothing.
    let nothing = split(&[node(1.0, 0.0)], 0.0, rule, Mean::Arithmetic).unwrap();
    assert_eq!(nothing.shares, [0.0]);
    assert_eq!(nothing.entries(3), vec![0..3; 1]);
    let tiny = bad(&[node(0.0, 1e-300)], 1e300, rule);
    assert!(matches!(tiny, Error::Overflow { .. }), "{tiny}");
    let _ = split(&[node(1e300, 1e200)], 1e250, rule, Mean::Arithmetic).unwrap();
    let _ = split(&[node(1e-300, 1e300)], 1e290, rule, Mean::Arithmetic).unwrap();
}

fn random(seed: u64) -> (Vec<NodeSpec>, f64) {
    let r = &mut Random::new(seed);
    let count = 1 + r.below(9);
    let nodes = (0..count)
        .map(|_| NodeSpec {
            mem: if r.one_in(8) { 0.0 } else { 100.0 * r.unit() },
            mu: if r.one_in(8) { 0.0 } else { 100.0 * r.unit() },
            alpha: r.unit(),
            xi: if r.one_in(6) { 1.0 } else { r.unit() },
        })
        .collect();
    (nodes, 1000.0 * r.unit() * r.unit())
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn shares_sum_to_the_total_and_utilisation_is_equal(seed in any::<u64>()) {
        let (nodes, total) = random(seed);
        for mean in [Mean::Arithmetic, Mean::Harmonic] {
            let split = match split(&nodes, total, SplitRule::EqualUtilisation, mean) {
                Ok(split) => split,
                Err(error) => {
                    let refused = matches!(error, Error::NoSplit { .. });
                    prop_assert!(refused);
                    prop_assert!(nodes.iter().all(|node| node.mu == 0.0));
                    continue;
                }
            };
            prop_assert!((split.shares.iter().sum::<f64>() / total - 1.0).abs() < 1e-12);
            for (share, node) in split.shares.iter().zip(&nodes) {
                let fair = split.level * speed(node, *share, mean);
                prop_assert!((share - fair).abs() <= 1e-9 * total, "{} and {}", share, fair);
            }
        }
    }

    #[test]
    fn equal_speed_is_equal_by_the_papers_formula(seed in any::<u64>()) {
        let (nodes, total) = random(seed);
        let Ok(split) = split(&nodes, total, SplitRule::EqualSpeed, Mean::Arithmetic) else {
            prop_assert!(nodes.iter().all(|n| n.mu * n.mem == 0.0 || n.xi == 1.0));
            return Ok(());
        };
        prop_assert!((split.shares.iter().sum::<f64>() / total - 1.0).abs() < 1e-12);
        for (j, node) in nodes.iter().enumerate().filter(|(j, _)| split.shares[*j] > 0.0) {
            let hit = node.alpha * node.mem / split.shares[j];
            let formula = node.mu * (hit + (1.0 - hit) * node.xi);
            prop_assert!((formula / split.level - 1.0).abs() < 1e-6, "{} {}", formula, split.level);
            prop_assert_eq!(split.outside.contains(&j), hit > 1.0);
        }
    }

    #[test]
    fn more_memory_or_speed_never_means_less(seed in any::<u64>()) {
        let (nodes, total) = random(seed);
        let rule = SplitRule::EqualUtilisation;
        let Ok(before) = split(&nodes, total, rule, Mean::Arithmetic) else { return Ok(()) };
        for j in 0..nodes.len() {
            for (mem, mu) in [(1.5, 1.0), (1.0, 1.5)] {
                let mut better = nodes.clone();
                better[j].mem *= mem;
                better[j].mu *= mu;
                let after = split(&better, total, rule, Mean::Arithmetic).unwrap();
                prop_assert!(after.shares[j] >= before.shares[j] - 1e-9 * total);
            }
        }
    }

    #[test]
    fn entries_are_exact_and_near_their_shares(seed in any::<u64>(), count in 0_usize..5000) {
        let (nodes, total) = random(seed);
        let rule = SplitRule::EqualUtilisation;
        let Ok(split) = split(&nodes, total, rule, Mean::Arithmetic) else { return Ok(()) };
        let ranges = split.entries(count);
        let mut next = 0;
        for (range, share) in ranges.iter().zip(&split.shares) {
            prop_assert_eq!(range.start, next);
            next = range.end;
            let fair = share / total * count as f64;
            prop_assert!((range.len() as f64 - fair).abs() < 1.0 + 1e-6);
            prop_assert!(*share > 0.0 || range.is_empty());
        }
        prop_assert_eq!(next, count);
    }
}

/// Memory so small that the formula gives nothing to anyone: told, and not a split of nothing.
#[test]
fn shares_that_vanish_are_no_split() {
    let tiny = NodeSpec { mem: 2.0, mu: 3.0, alpha: 5e-324, xi: 5e-324 };
    let nodes = [tiny, NodeSpec { mem: 1e-160, mu: 1e-160, xi: 0.5, ..tiny }];
    let made = split(&nodes, 2.0, SplitRule::EqualSpeed, Mean::Harmonic);
    assert!(matches!(made, Err(rtmr::Error::NoSplit { .. })), "{made:?}");
}

/// Where a count is larger than floats count, ranges are still whole and lie end to end.
#[test]
fn any_count_of_entries_is_split_exactly() {
    for nodes in 1..7 {
        let nodes: Vec<NodeSpec> = (0..nodes).map(|i| node(8.0, 1.0 + f64::from(i))).collect();
        let made = split(&nodes, 30.0, SplitRule::EqualUtilisation, Mean::Arithmetic).unwrap();
        for count in [0, 1, 1 << 53, (1 << 53) + 1, usize::MAX / 2 + 1, usize::MAX - 1, usize::MAX]
        {
            let ranges = made.entries(count);
            assert_eq!(ranges.last().unwrap().end, count);
            assert!(ranges.windows(2).all(|two| two[0].end == two[1].start));
        }
    }
}
