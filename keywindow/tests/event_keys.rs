//! Many keys in event time: each as if it were alone, in one order.

#![cfg(feature = "keys")]
#![allow(clippy::unwrap_used)]

mod common;
#[path = "common/late.rs"]
mod late;

use std::collections::BTreeMap;
use std::hash::{BuildHasherDefault, DefaultHasher, RandomState};

use common::{List, cases, specs};
use keywindow::aggregates::Count;
use keywindow::{Emit, Error, EventWindow, EventWindows, Late, Outcome, Update, WindowSpec};
use late::Setting;
use proptest::prelude::*;

type Row = (u8, i64, u32);

#[derive(Clone, Debug)]
enum Step {
    Rows(Vec<Row>),
    Watermark(i64),
}

fn settings() -> impl Strategy<Value = Setting> {
    let policies = prop_oneof![
        1 => Just(Late::Drop),
        2 => Just(Late::Partial),
        2 => (0..60_i64).prop_map(|allowed| Late::Correct { allowed }),
    ];
    late::settings(specs(), policies)
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let row = (0..5_u8, -25..12_i64, 0..4_u32);
    let step = (0..12_i64, proptest::collection::vec(row, 0..8));
    proptest::collection::vec(step, 0..14).prop_map(|steps| {
        let mut now = -30;
        let mut all = Vec::new();
        for (leap, rows) in steps {
            now += leap;
            let rows = rows.into_iter().map(|(key, apart, value)| (key, now + apart, value));
            all.extend([Step::Rows(rows.collect()), Step::Watermark(now)]);
        }
        all.push(Step::Watermark(3_000));
        all
    })
}

type Windows<S> = EventWindows<u8, List, S>;
type Told = Vec<(u8, Update<Vec<u32>>)>;

fn set<S: std::hash::BuildHasher>(windows: Windows<S>, setting: Setting) -> Windows<S> {
    let windows = windows.emit(setting.emit).late(setting.late).unwrap();
    match setting.beat {
        Some(every) => windows.heartbeat(every),
        None => windows,
    }
}

proptest! {
    #![proptest_config(cases(2_000))]

    #[test]
    fn each_key_is_told_as_if_alone(setting in settings(), steps in steps()) {
        let mut windows = set(EventWindows::with_hasher(List, setting.spec, RandomState::new()), setting);
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        let mut other = set(EventWindows::with_hasher(List, setting.spec, hasher), setting);
        // Each key's own window; revisions are counted among all keys.
        let mut alone = BTreeMap::<u8, EventWindow<List>>::new();
        let (mut updates, mut corrections) = (0, 0);
        for step in &steps {
            let (mut told, mut told_other): (Told, Told) = (vec![], vec![]);
            let mut right: Told = vec![];
            match step {
                Step::Rows(rows) => {
                    for &(key, time, record) in rows {
                        let outcome = windows.push(&key, time, &record, |key, update| told.push((*key, update)));
                        let window = alone.entry(key).or_insert_with(|| {
                            let mut window = setting.window(List);
                            window.advance_to(windows.watermark(), |_| ());
                            window
                        });
                        prop_assert_eq!(outcome, window.push(time, &record, |update| right.push((key, update))));
                    }
                    let batch = other.push_batch(rows, |key, update| told_other.push((*key, update)));
                    prop_assert_eq!(batch.refused.len(), 0);
                    let all = batch.accepted + batch.partial + batch.late.len() + batch.gaps;
                    prop_assert_eq!(all, rows.len());
                    let revisions = |told: &Told| told.iter().all(|told| told.1.revision > 0);
                    prop_assert!(revisions(&told) && told.is_sorted_by_key(|told| told.1.revision));
                    corrections += told.len() as u64;
                    // By the same records.
                    let told: Vec<_> = told.iter().map(|(key, update)| (key, update.end, &update.said)).collect();
                    let right: Vec<_> = right.iter().map(|(key, update)| (key, update.end, &update.said)).collect();
                    prop_assert_eq!(told, right);
                }
                Step::Watermark(time) => {
                    let due = windows.next_deadline();
                    windows.advance_to(*time, |key, update| told.push((*key, update)));
                    // By leaps and at once.
                    for part in [*time - 5, *time - 1, *time] {
                        other.advance_to(part, |key, update| told_other.push((*key, update)));
                    }
                    for (key, window) in &mut alone {
                        window.advance_to(*time, |update| right.push((*key, update)));
                    }
                    prop_assert!(told.is_sorted_by_key(|told| told.1.end));
let on_time = told.first().is_none_or(|first| match setting.emit {
                        Emit::ValueChange => Some(first.1.end) >= due,
                        _ => Some(first.1.end) == due,
                    });
                    prop_assert!(on_time);
                    updates += told.len() as u64;
                    let by_key = |told: &Told| {
                        let mut told = told.clone();
                        told.sort_by_key(|told| (told.1.end, told.0));
                        told
                    };
                    prop_assert_eq!(by_key(&told), by_key(&right));
                    prop_assert_eq!(&told, &told_other);
                }
            }
            for (key, window) in &alone {
                prop_assert_eq!(windows.get(key), window.current());
            }
            let next = alone.values().filter_map(EventWindow::next_deadline).min();
            prop_assert_eq!(windows.next_deadline(), next);
            prop_assert_eq!(windows.next_deadline(), other.next_deadline());
        }
        prop_assert!(windows.is_empty());
        let stats = windows.stats();
        prop_assert_eq!((stats.updates, stats.corrections, stats.slices), (updates, corrections, 0));
    }
}

/// Keys are in trees while late records of theirs are about, and then in order again.
#[test]
fn keys_are_promoted_while_they_need_it() {
    let spec = WindowSpec::sliding(100, 1).unwrap();
    let mut windows = EventWindows::new(Count::new(), spec);
    let push = |windows: &mut EventWindows<u8, Count<()>>, key, time| {
        let _ = windows.push(&key, time, &(), |_, _| ()).unwrap();
    };
    for time in 0..100 {
        (0..4).for_each(|key| push(&mut windows, key, time));
        windows.advance_to(time, |_, _| ());
    }
    assert_eq!(windows.stats().trees, 0);
    push(&mut windows, 2, 50);
    assert_eq!((windows.stats().trees, windows.stats().partial), (1, 1));
    for time in 100..199 {
        (0..4).for_each(|key| push(&mut windows, key, time));
        windows.advance_to(time, |_, _| ());
        assert_eq!(windows.stats().trees, 1);
    }
    for time in 199..210 {
        (0..4).for_each(|key| push(&mut windows, key, time));
        windows.advance_to(time, |_, _| ());
    }
    assert_eq!(windows.stats().trees, 0);
    // In order but late: no tree.
    push(&mut windows, 7, 150);
    push(&mut windows, 7, 151);
    assert_eq!(windows.stats().trees, 0);
    windows.advance_to(1_000, |_, _| ());
    assert!(windows.is_empty());
    assert!(windows.stats().heap_bytes < 4_000, "{:?}", windows.stats());
}

#[test]
fn b33_a_row_from_the_future_is_refused() {
    const DAY: i64 = 86_400_000;
    let spec = WindowSpec::sliding(1_000, 1).unwrap();
    let mut windows = EventWindows::new(Count::new(), spec).max_ahead(60_000).unwrap();
    // The host takes the greatest time that was accepted as its watermark.
    let mut newest = 0;
    windows.advance_to(0, |_, _| ());
    let mut told = Vec::new();
    for (key, time) in [('k', 0), ('x', DAY), ('k', 1), ('k', 2)] {
        match windows.push(&key, time, &(), |_, _| unreachable!()) {
            Ok(outcome) => {
                assert_eq!(outcome, Outcome::Accepted);
                newest = newest.max(time);
            }
            Err(error) => {
                assert_eq!(error, Error::TooFarAhead { time: DAY, limit: 60_000 + newest });
            }
        }
        windows.advance_to(newest, |key, update| told.push((*key, update.end)));
    }
    windows.advance_to(4, |key, update| told.push((*key, update.end)));
    assert_eq!(told, [('k', 1), ('k', 2), ('k', 3)]);
    // At the limit is not beyond it, and before the first watermark there is none.
    let _ = windows.push(&'k', 60_004, &(), |_, _| ()).unwrap();
    let mut fresh = EventWindows::<char, _>::new(Count::<()>::new(), spec).max_ahead(0).unwrap();
    let _ = fresh.push(&'k', DAY, &(), |_, _| ()).unwrap();
}
