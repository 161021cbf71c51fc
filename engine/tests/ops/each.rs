//! Map, filter, flat map, their `try_` forms, `key_by`, union.

use proptest::collection::vec;
use proptest::prelude::*;
use streamwright::{Grouping, Guarantee, Text, Topology, hash_key, ops, threads};

use crate::bench::{cases, gather, items, list, same_or_more, setting};

proptest! {
    #![proptest_config(cases(256))]

    /// A chain of all of them is the chain of iterators of the same names.
    #[test]
    fn a_chain_of_operators_is_the_chain_of_iterators(
        numbers in vec(0..50_u64, 0..60),
        more in vec(0..50_u64, 0..20),
        setting in setting(),
    ) {
        let truth: Vec<(u64, u64)> = numbers
            .iter()
            .chain(&more)
            .map(|n| n * 3)
            .filter(|n| n.is_multiple_of(2))
            .flat_map(|n| 0..n % 4)
            .map(|n| (n % 3, n))
            .collect();
        let mut builder = Topology::builder();
        let numbers = list(&mut builder, "numbers", numbers);
        let more = list(&mut builder, "more", more);
        let all = ops::union(&mut builder, "union", 2, [numbers, more]);
        let tripled = builder
            .bolt("map", 3, |_| Ok(ops::map(|n: &u64| n * 3)))
            .input(all, Grouping::shuffle())
            .done();
        let even = builder
            .bolt("filter", 2, |_| Ok(ops::filter(|n: &u64| n.is_multiple_of(2))))
            .input(tripled, Grouping::local_or_shuffle())
            .done();
        let below = builder
            .bolt("flat map", 2, |_| Ok(ops::flat_map(|n: &u64| 0..*n % 4)))
            .input(even, Grouping::weighted([1, 2]))
            .done();
        let keyed = builder
            .bolt("key by", 2, |_| Ok(ops::key_by(|n: &u64| n % 3)))
            .input(below, Grouping::shuffle())
            .done();
        let got = gather(&mut builder, keyed);
        let _ = setting.run(builder);
        same_or_more(items(&got), &truth, setting.repeats());
    }

    /// The `try_` forms fail what they refuse by its root, and nothing of it leaves.
    #[test]
    fn what_a_try_form_refuses_is_a_dead_letter(
        numbers in vec(0..50_u64, 0..60),
        mut setting in setting(),
    ) {
        setting.guarantee = Guarantee::AtLeastOnce;
        setting.faults = Default::default();
        let mut builder = Topology::builder();
        let stream = list(&mut builder, "numbers", numbers.clone());
        let refuse = |bad: bool| if bad { Err("refused") } else { Ok(()) };
        let mapped = builder
            .bolt("map", 2, move |_| Ok(ops::try_map(move |n: &u64| {
                refuse(n.is_multiple_of(5))?;
                Ok(*n)
            })))
            .input(stream, Grouping::shuffle())
            .done();
        let kept = builder
            .bolt("filter", 2, move |_| Ok(ops::try_filter(move |n: &u64| {
                refuse(n.is_multiple_of(7))?;
                Ok(n % 2 == 1)
            })))
            .input(mapped, Grouping::shuffle())
            .done();
        let twice = builder
            .bolt("flat map", 2, move |_| Ok(ops::try_flat_map(move |n: &u64| {
                refuse(n.is_multiple_of(9))?;
                Ok([*n, *n])
            })))
            .input(kept, Grouping::shuffle())
            .done();
        let got = gather(&mut builder, twice);
        let mut config = setting.config();
        config.attempts = 2;
        let report = setting.run_with(builder, config);
        let refused = |n: &u64| n.is_multiple_of(5) || n.is_multiple_of(7) || n % 2 == 1 && n.is_multiple_of(9);
        let dead = numbers.iter().filter(|n| refused(n)).count() as u64;
        prop_assert_eq!((report.dead, report.acked), (dead, numbers.len() as u64 - dead));
        for letter in &report.dead_letters {
            prop_assert!(letter.reason.to_string().ends_with("failed: refused"));
        }
        let truth: Vec<u64> = numbers
            .iter()
            .filter(|n| !refused(n) && *n % 2 == 1)
            .flat_map(|&n| [n, n])
            .collect();
        same_or_more(items(&got), &truth, false);
    }
}

/// Text goes through without a `String`; on threads.
#[test]
fn text_is_filtered_and_mapped_on_threads() {
    let mut builder = Topology::builder();
    let numbers = list(&mut builder, "numbers", (0..200_u64).collect());
    let text = builder
        .bolt("text", 2, |_| {
            Ok(ops::each::<Vec<u64>, Text, _>(
                |n: &u64, out: &mut streamwright::Emitter<'_, Text>| {
                    out.emit(n.to_string().as_str());
                    Ok(())
                },
            ))
        })
        .input(numbers, Grouping::shuffle())
        .done();
    let long = builder
        .bolt("long", 2, |_| Ok(ops::filter(|text: &[u8]| text.len() == 3)))
        .input(text, Grouping::shuffle())
        .done();
    let hashes = builder
        .bolt("hashes", 2, |_| Ok(ops::map(|text: &[u8]| hash_key(text))))
        .input(long, Grouping::<Text>::whole())
        .done();
    let got = gather(&mut builder, hashes);
    let mut config = streamwright::Config::default();
    config.workers = 2;
    let report = threads::run(builder.build(config).unwrap()).unwrap();
    assert_eq!((report.acked, report.replayed), (200, 0));
    let truth: Vec<u64> = (100..200_u64).map(|n| hash_key(n.to_string().as_bytes())).collect();
    same_or_more(items(&got), &truth, false);
}
