//! Fold and join.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use streamwright::sim::Faults;
use streamwright::{Epoch, Grouping, Guarantee, Topology, ops};

use crate::bench::{Setting, cases, gather, items, list, same_or_more, setting};

type Epochs = BTreeMap<u64, Vec<Epoch>>;

proptest! {
    #![proptest_config(cases(256))]

    /// The folds of all epochs together are the fold of all; each epoch has a key once.
    #[test]
    fn the_folds_of_all_epochs_add_up(
        pairs in vec((0..8_u64, 0..100_u64), 0..80),
        setting in setting(),
    ) {
        let mut truth = BTreeMap::<u64, u64>::new();
        pairs.iter().for_each(|(key, n)| *truth.entry(*key).or_default() += n);
        let mut builder = Topology::builder();
        let stream = list(&mut builder, "pairs", pairs);
        let sums = builder
            .bolt("sums", 3, |_| Ok(ops::fold(|| 0, |sum: &mut u64, n: &u64| *sum += n)))
            .input(stream, Grouping::fields(|pair: &(u64, u64)| pair.0))
            .done();
        let got = gather(&mut builder, sums);
        let _ = setting.run(builder);
        let mut sums = BTreeMap::<u64, u64>::new();
        let mut epochs = Epochs::new();
        for (epoch, (key, sum)) in got.lock().unwrap().iter() {
            *sums.entry(*key).or_default() += sum;
            epochs.entry(*key).or_default().push(*epoch);
        }
        if setting.repeats() {
            // At or above the truth.
            prop_assert!(truth.iter().all(|(key, n)| sums[key] >= *n));
            prop_assert!(sums.keys().eq(truth.keys()));
        } else {
            prop_assert_eq!(sums, truth);
            for of_key in epochs.values_mut() {
                of_key.sort_unstable();
                prop_assert!(of_key.windows(2).all(|two| two[0] < two[1]), "twice in an epoch");
            }
        }
    }

    /// With a window as long as the run every pair of equal keys comes, once.
    #[test]
    fn a_join_without_end_is_the_product_of_each_key(
        left in vec((0..6_u64, 0..100_u64), 0..30),
        right in vec((0..6_u64, 0..100_u64), 0..30),
        setting in setting(),
    ) {
        // Numbered, so that each is one of its own.
        let number = |all: Vec<(u64, u64)>| -> Vec<(u64, u64)> {
            (0..).zip(all).map(|(i, (key, _))| (key, i)).collect()
        };
        let (left, right) = (number(left), number(right));
        let mut truth = Vec::new();
        for l in &left {
            right.iter().filter(|r| r.0 == l.0).for_each(|r| truth.push((l.0, *l, *r)));
        }
        let mut builder = Topology::builder();
        let left = list(&mut builder, "left", left);
        let right = list(&mut builder, "right", right);
        let key = |pair: &(u64, u64)| pair.0;
        let pairs = ops::join(&mut builder, "join", 3, u32::MAX, (left, key), (right, key));
        let got = gather(&mut builder, pairs);
        let _ = setting.run(builder);
        same_or_more(items(&got), &truth, setting.repeats());
    }

    /// A window of `w` pairs what is at most `w` epochs apart, and all of that.
    #[test]
    fn a_join_pairs_within_its_window_only(
        left in vec((0..4_u64, 0..100_u64), 0..30),
        right in vec((0..4_u64, 0..100_u64), 0..30),
        window in 0..4_u32,
        mut setting in setting(),
    ) {
        setting.faults = Default::default();
        let number = |all: Vec<(u64, u64)>| -> Vec<(u64, u64)> {
            (0..).zip(all).map(|(i, (key, _))| (key, i)).collect()
        };
        let mut builder = Topology::builder();
        // Each with the epoch in which it was on its way.
        let stamped = |builder: &mut streamwright::TopologyBuilder, name: &str, all| {
            let stream = list(builder, name, all);
            builder
                .bolt(&format!("{name} stamped"), 2, |_| {
                    type Out = Vec<(u64, u64, Epoch)>;
                    Ok(ops::each::<Vec<(u64, u64)>, Out, _>(
                        |pair: &(u64, u64), out: &mut streamwright::Emitter<'_, Out>| {
                            out.emit((pair.0, pair.1, out.epoch()));
                            Ok(())
                        },
                    ))
                })
                .input(stream, Grouping::shuffle())
                .done()
        };
        let left = stamped(&mut builder, "left", number(left));
        let right = stamped(&mut builder, "right", number(right));
        let key = |of: &(u64, u64, Epoch)| of.0;
        let pairs = ops::join(&mut builder, "join", 2, window, (left.clone(), key), (right.clone(), key));
        let got = gather(&mut builder, pairs);
        let (lefts, rights) = (seen(&mut builder, "lefts", left), seen(&mut builder, "rights", right));
        let _ = setting.run(builder);
        let (lefts, rights) = (lefts.lock().unwrap().clone(), rights.lock().unwrap().clone());
        let mut truth = Vec::new();
        for l in &lefts {
            let near = |r: &&(u64, u64, Epoch)| r.0 == l.0 && r.2.abs_diff(l.2) <= u64::from(window);
            rights.iter().filter(near).for_each(|r| truth.push((l.0, *l, *r)));
        }
        // As the later of the two epochs closes.
        prop_assert!(got.lock().unwrap().iter().all(|(at, (_, l, r))| *at == l.2.max(r.2)));
        same_or_more(items(&got), &truth, false);
    }
}

/// Tasks that have no key in most epochs close those while what they hold is of a later one.
#[test]
fn a_join_closes_epochs_of_which_a_task_has_nothing() {
    // One key in nearly all epochs; each of the others once, late.
    let all: Vec<(u64, u64)> = (0..160).map(|i| (if i % 20 == 19 { i } else { 0 }, i)).collect();
    let mut truth: Vec<u64> = all.iter().filter(|(key, _)| *key > 0).map(|one| one.1).collect();
    truth.sort_unstable();
    for seed in 0..10 {
        let mut builder = Topology::builder();
        let left = list(&mut builder, "left", all.clone());
        let right = list(&mut builder, "right", all.clone());
        let key = |pair: &(u64, u64)| pair.0;
        let pairs = ops::join(&mut builder, "join", 4, u32::MAX, (left, key), (right, key));
        let got = gather(&mut builder, pairs);
        let setting = Setting {
            guarantee: Guarantee::AtLeastOnce,
            workers: 2,
            epoch: 1 + seed % 3,
            faults: Faults { reorder: true, ..Faults::default() },
            seed,
        };
        let mut config = setting.config();
        config.timeout = std::time::Duration::from_secs(60);
        let report = setting.run_with(builder, config);
        assert!(report.crashes.is_empty(), "{:?}", report.crashes);
        let mut rare: Vec<u64> =
            items(&got).iter().filter(|pair| pair.0 > 0).map(|(_, left, _)| left.1).collect();
        rare.sort_unstable();
        assert_eq!(rare, truth);
    }
}

type Stamped = std::sync::Arc<std::sync::Mutex<Vec<(u64, u64, Epoch)>>>;

/// What went by.
fn seen(
    builder: &mut streamwright::TopologyBuilder,
    name: &str,
    from: streamwright::Stream<Vec<(u64, u64, Epoch)>>,
) -> Stamped {
    let all = Stamped::default();
    let to = all.clone();
    let _ = builder
        .bolt(name, 1, move |_| {
            let to = to.clone();
            Ok(ops::each::<Vec<(u64, u64, Epoch)>, Vec<u64>, _>(
                move |one: &(u64, u64, Epoch), _: &mut streamwright::Emitter<'_, Vec<u64>>| {
                    to.lock().unwrap().push(*one);
                    Ok(())
                },
            ))
        })
        .input(from, Grouping::global())
        .done();
    all
}
