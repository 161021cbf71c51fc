//! Dealt tuples never stray from their shares.

#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use common::cases;
use flownet::Dispatcher;
use proptest::prelude::*;

/// Deals, and compares with the shares after every prefix, exactly: `1 − 1/(2d−2)` at most.
fn assert_bound(weights: &[u32], tuples: u64) {
    let mut dispatcher = Dispatcher::new(weights).unwrap();
    let total: i128 = weights.iter().map(|&w| i128::from(w)).sum();
    let d = weights.iter().filter(|&&w| w > 0).count() as i128;
    let mut had = vec![0_i128; weights.len()];
    for n in 1..=i128::from(tuples) {
        had[dispatcher.deal().index()] += 1;
        for (&weight, &had) in weights.iter().zip(&had) {
            // |had − n w / W| ≤ (2d−3) / (2d−2), times W (2d−2).
            let stray = (had * total - n * i128::from(weight)).abs();
            let bound = if d == 1 { 0 } else { (2 * d - 3) * total };
            assert!(stray * (2 * d - 2).max(1) <= bound, "{weights:?} after {n}: {had}");
        }
    }
}

#[test]
fn a_million_tuples_for_each_number_of_arcs() {
    let mut seed = 1_u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as u32
    };
    for d in 2..=64 {
        let mut weights: Vec<u32> = (0..d).map(|_| 1 + random() % 200).collect();
        // A large one makes the others rare.
        weights[0] += if d % 3 == 0 { 3_000 } else { 0 };
        assert_bound(&weights, 1_000_000 / 8);
        let mut long = Dispatcher::new(&weights).unwrap();
        let total: u64 = weights.iter().map(|&w| u64::from(w)).sum();
        let mut had = vec![0_u64; d];
        for n in 1..=1_000_000_u64 {
            let arc = long.deal().index();
            had[arc] += 1;
            let due = n as f64 * f64::from(weights[arc]) / total as f64;
            assert!((had[arc] as f64 - due).abs() <= 1.0 - 1.0 / (2 * d - 2) as f64 + 1e-9);
        }
    }
}

proptest! {
    #![proptest_config(cases(1_000))]

    #[test]
    fn every_prefix_is_within_the_bound(
        weights in proptest::collection::vec(prop_oneof![0_u32..5, 0_u32..300], 1..12),
    ) {
        let Some(dispatcher) = Dispatcher::new(&weights) else {
            prop_assert!(weights.iter().all(|&w| w == 0));
            return Ok(());
        };
        assert_bound(&weights, 2 * dispatcher.period() as u64 + 3);
    }
}

#[test]
fn the_hardest_shares_are_dealt_within_the_bound() {
    // Many equal small ones beside a large one, where greedy rules stray furthest.
    for d in 2..40_u32 {
        for large in [1, 2, d - 1, d, 7 * d] {
            let mut weights = vec![1; d as usize];
            weights[d as usize / 2] = large;
            assert_bound(&weights, 3 * u64::from(d + large));
        }
    }
}

#[test]
fn periods_are_as_short_as_can_be() {
    let dispatcher = Dispatcher::new(&[200, 0, 100]).unwrap();
    assert_eq!(dispatcher.period(), 3);
    let mut one = Dispatcher::new(&[0, 9]).unwrap();
    assert_eq!((one.period(), one.deal().0, one.deal().0), (1, 1, 1));
    // Not a period that fills the memory.
    assert!(Dispatcher::new(&[u32::MAX, 1]).is_none());
    assert!(Dispatcher::new(&[u32::MAX, u32::MAX]).is_some());
    assert!(Dispatcher::new(&[]).is_none() && Dispatcher::new(&[0, 0]).is_none());
}
