//! The finger B-tree anywhere but at its ends; `kernels.rs` has it first in, first out.

#![allow(clippy::cast_sign_loss, clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;

use common::{Counted, List, cases};
use keywindow::Aggregate;
use keywindow::aggregates::{Count, Max, Sum};
use keywindow::kernel::{Finger, Kernel};
use proptest::prelude::*;

/// A map from time to records in order of arrival.
type Model = BTreeMap<i64, Vec<u32>>;

fn list(model: &Model, from: i64, until: i64) -> Vec<u32> {
    model
        .iter()
        .filter(|slot| (from..until).contains(slot.0))
        .flat_map(|slot| slot.1.clone())
        .collect()
}

#[derive(Clone, Debug)]
enum Op {
    Add(i64),
    Extend(Vec<i64>),
    Evict(i64),
    Pop(usize),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let time = || prop_oneof![0..40_i64, 0..2_000_i64];
    let op = prop_oneof![
        8 => time().prop_map(Op::Add),
        2 => proptest::collection::btree_set(time(), 0..80)
            .prop_map(|times| Op::Extend(times.into_iter().collect())),
        1 => time().prop_map(Op::Evict),
        1 => (0..60_usize).prop_map(Op::Pop),
    ];
    proptest::collection::vec(op, 0..40)
}

proptest! {
    #![proptest_config(cases(4_000))]

    #[test]
    fn a_finger_tree_is_a_map_that_knows_its_merges(ops in ops(), (from, until) in (0..2_000_i64, 0..2_000_i64)) {
        let (mut tree, mut model) = (Finger::<_, i64>::new(&List), Model::new());
        for (number, op) in (0_u32..).zip(ops) {
            match op {
                Op::Add(time) => {
                    tree.add(&List, time, &number);
                    model.entry(time).or_default().push(number);
                }
                Op::Extend(times) => {
                    let new: Vec<_> = times.into_iter().filter(|time| !model.contains_key(time)).collect();
                    tree.extend(&List, new.iter().map(|&time| (time, vec![number])));
                    model.extend(new.into_iter().map(|time| (time, vec![number])));
                }
                Op::Evict(time) => {
                    let rest = model.split_off(&time);
                    prop_assert_eq!(tree.evict_before(&List, time), model.len());
                    model = rest;
                }
                Op::Pop(times) => {
                    for _ in 0..times {
                        prop_assert_eq!(tree.pop(&List), model.pop_first().map(|slot| slot.0));
                    }
                }
            }
            prop_assert_eq!(tree.query(&List), list(&model, i64::MIN, i64::MAX));
            prop_assert_eq!(tree.range(&List, from, until).unwrap_or_default(), list(&model, from, until));
            prop_assert_eq!(tree.first_from(from), model.range(from..).next().map(|slot| *slot.0));
        }
        prop_assert!(tree.iter().map(|slot| (&slot.0, &slot.1)).eq(&model));
        prop_assert_eq!((Kernel::<List, _>::oldest(&tree), tree.newest_time()),
            (model.keys().next().copied(), model.keys().next_back().copied()));
    }
}

/// Times that are up to 2,761 steps behind, as other libraries' tests have them, and points of time at
/// which several records come.
#[test]
fn t14_out_of_order_with_ranges() {
    let (mut tree, mut model) = (Finger::<_, i64>::new(&List), Model::new());
    let mut random = 9_u64;
    let mut next = |below: i64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (random >> 33).cast_signed() % below
    };
    for i in 0..12_345 {
        let time = i + next(11 * 251);
        tree.add(&List, time, &(i as u32));
        model.entry(time).or_default().push(i as u32);
        while model.len() > 300 {
            assert_eq!(tree.pop(&List), model.pop_first().map(|slot| slot.0));
        }
        if i % 10 == 0 {
            assert_eq!(tree.query(&List), list(&model, i64::MIN, i64::MAX));
            let from = i + next(3_000);
            let until = from + next(50);
            assert_eq!(
                tree.range(&List, from, until).unwrap_or_default(),
                list(&model, from, until)
            );
        }
    }
}

/// In bulk, between what is there and behind it.
#[test]
fn t14_bulk_times() {
    let bulks: [&[i64]; 3] = [
        &[1, 500, 1_000, 1_500],
        &[5, 507, 509, 511, 515, 516, 517, 518, 1_700, 1_701, 1_702, 1_703],
        &[6, 7, 8, 9, 1_705, 1_706, 1_707, 1_708, 1_709, 1_710, 1_711],
    ];
    let (mut tree, mut model) = (Finger::<_, i64>::new(&List), Model::new());
    for bulk in bulks {
        tree.extend(&List, bulk.iter().map(|&time| (time, vec![time as u32])));
        model.extend(bulk.iter().map(|&time| (time, vec![time as u32])));
        assert_eq!(tree.query(&List), list(&model, 0, 2_000));
        assert_eq!(tree.range(&List, 507, 1_701).unwrap(), list(&model, 507, 1_701));
    }
    assert_eq!(tree.evict_before(&List, 1_700), 16);
    assert_eq!(tree.query(&List), list(&model, 1_700, 2_000));
}

fn counted() -> Counted<Count<u32>> {
    Counted { agg: Count::new(), ..Counted::default() }
}

/// Merges of an insertion, by how far it is from the newer end.
#[test]
fn an_insertion_costs_the_logarithm_of_its_distance() {
    let agg = counted();
    let mut tree = Finger::of(&agg, (0..200_000).map(|i| (i * 10, 1)).collect());
    let mut costs = Vec::new();
    let mut now = 2_000_000;
    for distance in [0, 10, 100, 1_000, 10_000, 90_000] {
        agg.merges.set(0);
        for step in 0..1_000 {
            now += 10;
            tree.push(&agg, now, 1);
            tree.insert(&agg, now - 10 * distance - step % 9 - 1, 1);
            tree.pop(&agg);
            tree.pop(&agg);
        }
        costs.push(agg.merges.get() / 1_000);
    }
    // Two evictions and an insertion at the end are part of each.
    assert!(costs[0] <= 45, "{costs:?}");
    assert!(costs.windows(2).all(|pair| pair[1] <= pair[0] + 22), "{costs:?}");
    agg.merges.set(0);
    assert_eq!(tree.query(&agg), 200_000);
    assert!(agg.merges.get() <= 2);
}

#[test]
fn a_bulk_eviction_costs_the_logarithm_of_the_length() {
    let agg = counted();
    for (n, m) in
        [(1_000_i64, 500_i64), (100_000, 50_000), (100_000, 99_990), (100_000, 3), (500, 500)]
    {
        let mut tree = Finger::of(&agg, (0..n).map(|i| (i, 1)).collect());
        agg.merges.set(0);
        assert_eq!(tree.evict_before(&agg, m), m as usize);
        assert!(agg.merges.get() <= 130, "{} merges of {m} in {n}", agg.merges.get());
        assert_eq!(tree.query(&agg), (n - m).cast_unsigned());
    }
}

#[test]
fn a_maximum_comes_from_anywhere() {
    let max = Max::<i64>::new();
    let mut tree = Finger::<_, i64>::new(&max);
    for i in 0..1_000 {
        tree.insert(&max, (i * 617) % 1_000, Some(i));
        assert_eq!(tree.query(&max), Some(i));
    }
    let sum = Sum::<i32>::new();
    let mut tree = Finger::<_, i64>::new(&sum);
    for i in 0..1_000 {
        tree.insert(&sum, (i * 617) % 1_000, i);
    }
    assert_eq!(sum.get(&tree.query(&sum)), Ok(499_500));
}
