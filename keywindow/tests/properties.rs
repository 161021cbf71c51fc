//! The laws of the windows, on streams of every density and shape of window.

#![allow(clippy::unwrap_used)]

mod common;

use common::{List, Records, cases, every_kernel, run_on, special_kernels, specs, streams};
use keywindow::aggregates::{Count, Max, Sum};
use keywindow::kernel::{Daba, TwoStacks};
use keywindow::oracle::{changes, native};
use keywindow::{Change, Emit, Fault, KeyWindow, WindowSpec, expand, verify};
use proptest::prelude::*;

const UNTIL: i64 = 2_000;
const BOTH: [Emit; 2] = [Emit::ContentChange, Emit::ValueChange];

fn told(spec: WindowSpec, emit: Emit, records: &Records) -> Vec<Change<Vec<u32>>> {
    run_on::<_, TwoStacks<_>>(List, spec, emit, records, UNTIL)
}

/// What the windows say at each end from `from` on, of the ends that both lattices have.
fn results(spec: &WindowSpec, told: &[Change<Vec<u32>>]) -> Vec<(i64, Vec<u32>)> {
    expand(spec, told.iter().cloned(), UNTIL).collect()
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn every_kernel_and_the_paper_tell_the_native_windows(spec in specs(), records in streams(60)) {
        let windows = native(&spec, &List, &records, UNTIL);
        for emit in BOTH {
            for (name, told) in every_kernel(spec, emit, &records, UNTIL) {
                prop_assert_eq!(verify(&spec, &List, &records, emit, UNTIL, &told), Ok(()), "{}", name);
                prop_assert!(expand(&spec, told, UNTIL).eq(windows.iter().cloned()), "{}", name);
            }
            let (counts, greatest) = special_kernels(spec, emit, &records, UNTIL);
            prop_assert_eq!(&counts, &changes(&spec, &Count::new(), &records, emit, UNTIL));
            prop_assert_eq!(&greatest, &changes(&spec, &Max::new(), &records, emit, UNTIL));
            prop_assert!(expand(&spec, counts, UNTIL).eq(native(&spec, &Count::new(), &records, UNTIL)));
        }
    }

    #[test]
    fn how_often_the_time_is_told_changes_nothing(
        spec in specs(), records in streams(40), times in proptest::collection::vec(0..300_i64, 0..20),
    ) {
        let mut window = KeyWindow::<_, Daba<_>>::with_kernel(List, spec);
        let mut split = Vec::new();
        let mut times = times.into_iter().map(|time| time - 80).collect::<Vec<_>>();
        times.sort_unstable();
        let mut times = times.into_iter().peekable();
        for (time, record) in &records {
            while let Some(to) = times.next_if(|to| to <= time) {
                window.advance_to(to, |change| split.push(change));
            }
            if let Some(deadline) = window.next_deadline() {
                // Told exactly when it is due.
                let mut due = Vec::new();
                if deadline <= *time {
                    window.advance_to(deadline - 1, |_| unreachable!());
                    window.advance_to(deadline, |change| due.push(change));
                    prop_assert_eq!(due.first().map(|change| change.end), Some(deadline));
                    split.append(&mut due);
                }
            }
            let _ = window.push(*time, record, |change| split.push(change));
        }
        for to in times {
            window.advance_to(to, |change| split.push(change));
        }
        window.advance_to(UNTIL, |change| split.push(change));
        prop_assert_eq!(split, told(spec, Emit::ContentChange, &records));
    }

    #[test]
    fn shifting_time_by_slides_shifts_the_changes(
        spec in specs(), records in streams(40), slides in -100..100_i64,
    ) {
        let by = slides * spec.slide();
        let shifted: Records = records.iter().map(|&(time, x)| (time + by, x)).collect();
        let mut plain = told(spec, Emit::ContentChange, &records);
        plain.iter_mut().for_each(|change| change.end += by);
        prop_assert_eq!(run_on::<_, TwoStacks<_>>(List, spec, Emit::ContentChange, &shifted, UNTIL + by), plain);
    }

    #[test]
    fn changes_of_value_are_changes_of_content_without_repeats(spec in specs(), records in streams(60)) {
        let content = run_on::<_, TwoStacks<_>>(Max::<u32>::new(), spec, Emit::ContentChange, &records, UNTIL);
        let value = run_on::<_, TwoStacks<_>>(Max::<u32>::new(), spec, Emit::ValueChange, &records, UNTIL);
        let mut last = None;
        let deduped: Vec<_> = content.into_iter().filter(|change| {
            let news = last.as_ref() != Some(&change.value);
            last = Some(change.value);
            news
        }).collect();
        prop_assert_eq!(value, deduped);
    }

    #[test]
    fn a_coarser_slide_tells_some_of_the_windows(
        (size, fine, times) in (1..=30_i64, 1..=4_i64, 1..=4_i64), records in streams(40),
    ) {
        // Windows start at 0 in both.
        let spec = WindowSpec::sliding(size, fine).unwrap();
        let coarse = WindowSpec::sliding(size, fine * times).unwrap();
        let mut all = results(&spec, &told(spec, Emit::ContentChange, &records));
        all.retain(|(end, _)| (end - size).rem_euclid(fine * times) == 0);
        prop_assert_eq!(results(&coarse, &told(coarse, Emit::ContentChange, &records)), all);
    }

    #[test]
    fn a_reader_hears_of_a_key_within_a_window_or_it_is_empty(spec in specs(), records in streams(60)) {
        let told = told(spec, Emit::ContentChange, &records);
        let slides = (spec.size() + spec.slide() - 1) / spec.slide();
        for pair in told.windows(2) {
            let silence = pair[1].end - pair[0].end;
            prop_assert!(pair[0].value.is_none() || silence <= slides * spec.slide());
        }
        prop_assert!(told.last().is_none_or(|last| last.value.is_none()));
    }

    #[test]
    fn the_checker_finds_what_is_wrong(
        spec in specs(), records in streams(30), at in any::<prop::sample::Index>(), kind in 0..4,
    ) {
        let right = told(spec, Emit::ContentChange, &records);
        prop_assume!(!right.is_empty());
        let (mut wrong, i) = (right.clone(), at.index(right.len()));
        match kind {
            0 => drop(wrong.remove(i)),
            1 => wrong.insert(i, right[i].clone()),
            2 => wrong[i].end += 1,
            _ => wrong[i].value = Some(vec![99]),
        }
        let found = verify(&spec, &List, &records, Emit::ContentChange, UNTIL, &wrong);
        match kind {
            0 => prop_assert_eq!(found, Err(Fault::Missing { end: right[i].end })),
            1 => prop_assert_eq!(found, Err(Fault::Unexpected { end: right[i].end })),
            2 => prop_assert_eq!(found, Err(Fault::Missing { end: right[i].end })),
            _ => prop_assert_eq!(found, Err(Fault::WrongValue { end: right[i].end })),
        }
        prop_assert!(found.unwrap_err().to_string().len() > 10);
    }

    #[test]
    fn a_sum_is_the_sum_of_what_the_window_holds(spec in specs(), records in streams(60)) {
        let told = run_on::<_, Daba<_>>(Sum::<u32>::new(), spec, Emit::ContentChange, &records, UNTIL);
        for change in told {
            let held = records.iter().filter(|(time, _)| (change.end - spec.size()..change.end).contains(time));
            let sum: u32 = held.map(|record| record.1).sum();
            prop_assert_eq!(change.value.map_or(0, Result::unwrap), sum);
        }
    }
}

#[test]
fn the_checker_wants_records_in_order() {
    let spec = WindowSpec::sliding(2, 1).unwrap();
    let records = [(0, 1), (3, 2), (2, 3)];
    let found = verify(&spec, &List, &records, Emit::ContentChange, 9, &[]);
    assert_eq!(found, Err(Fault::Unsorted { record: 2 }));
}
