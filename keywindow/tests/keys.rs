//! Many keys: the same as each key alone, in an order that depends on the records alone.

#![cfg(feature = "keys")]
#![allow(clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher};

use common::{List, cases, run_on, specs};
use keywindow::aggregates::{Count, Sum};
use keywindow::kernel::{Daba, Few, Kernel, Recalculate, TwoStacks};
use keywindow::{Change, Emit, Error, KeyWindows, Outcome, WindowSpec, verify};
use proptest::prelude::*;

const UNTIL: i64 = 5_000;

type Row = (u8, i64, u32);
type Told = Vec<(u8, Change<Vec<u32>>)>;

/// A hasher of a few values only, so that keys collide.
#[derive(Clone, Copy, Debug, Default)]
struct Bad(u64);

impl Hasher for Bad {
    fn finish(&self) -> u64 {
        self.0 % 3
    }
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().map(|&byte| u64::from(byte)).sum();
    }
}

impl BuildHasher for Bad {
    type Hasher = Self;
    fn build_hasher(&self) -> Self {
        Self(0)
    }
}

fn rows(most: usize) -> impl Strategy<Value = Vec<Row>> {
    let gap = prop_oneof![4 => Just(0_i64), 4 => 0..3_i64, 1 => 0..60_i64];
    let keys = prop_oneof![3 => 0..3_u8, 2 => 0..20_u8, 1 => any::<u8>()];
    (-60..60_i64, proptest::collection::vec((keys, gap), 0..=most)).prop_map(|(mut time, gaps)| {
        let timed = gaps.into_iter().zip(1..).map(|((key, gap), number)| {
            time += gap;
            (key, time, number)
        });
        timed.collect()
    })
}

fn one_by_one<Q: Kernel<List>, S: BuildHasher>(
    mut windows: KeyWindows<u8, List, Q, S>,
    rows: &[Row],
) -> Told {
    let mut told = Vec::new();
    for (key, time, record) in rows {
        let _ = windows.push(key, *time, record, |key, change| told.push((*key, change))).unwrap();
    }
    windows.advance_to(UNTIL, |key, change| told.push((*key, change)));
    assert!(windows.is_empty() && windows.next_deadline().is_none());
    assert_eq!((windows.stats().keys, windows.stats().slices), (0, 0));
    assert_eq!(windows.stats().changes, told.len() as u64);
    told
}

fn default(spec: WindowSpec, emit: Emit) -> KeyWindows<u8, List> {
    KeyWindows::new(List, spec).emit(emit)
}

proptest! {
    #![proptest_config(cases(5_000))]

    #[test]
    fn each_key_is_a_window_of_its_own(spec in specs(), rows in rows(120)) {
        for emit in [Emit::ContentChange, Emit::ValueChange] {
            let told = one_by_one(default(spec, emit), &rows);
            prop_assert!(told.is_sorted_by_key(|(_, change)| change.end));
            let mut of_key: BTreeMap<u8, Vec<_>> = BTreeMap::new();
            for (key, change) in told {
                of_key.entry(key).or_default().push(change);
            }
            let mut records: BTreeMap<u8, Vec<_>> = BTreeMap::new();
            for &(key, time, record) in &rows {
                records.entry(key).or_default().push((time, record));
            }
            for (key, records) in records {
                let alone = run_on::<_, Recalculate<_>>(List, spec, emit, &records, UNTIL);
                prop_assert_eq!(of_key.remove(&key).unwrap_or_default(), alone);
            }
            prop_assert!(of_key.is_empty());
        }
    }

    #[test]
    fn no_kernel_no_hasher_and_no_batch_changes_the_output(
        spec in specs(), rows in rows(120), batch in 1..200_usize,
    ) {
        let emit = Emit::ContentChange;
        let right = one_by_one(default(spec, emit), &rows);
        prop_assert_eq!(&one_by_one(KeyWindows::<_, _, TwoStacks<_, ()>>::with_kernel(List, spec), &rows), &right);
        prop_assert_eq!(&one_by_one(KeyWindows::<_, _, Few<_, (), Daba<_, ()>>>::with_kernel(List, spec), &rows), &right);
        let bad = KeyWindows::<_, _, Daba<_, ()>, _>::with_kernel_and_hasher(List, spec, Bad(0));
        prop_assert_eq!(&one_by_one(bad, &rows), &right);

        let (mut windows, mut told) = (default(spec, emit), Vec::new());
        for rows in rows.chunks(batch) {
            let outcome = windows.push_batch(rows, |key, change| told.push((*key, change)));
            prop_assert_eq!(outcome.accepted + outcome.gaps, rows.len());
            prop_assert!(outcome.refused.is_empty());
        }
        windows.advance_to(UNTIL, |key, change| told.push((*key, change)));
        prop_assert_eq!(&told, &right);
    }

    #[test]
    fn a_batch_is_its_rows_in_the_order_of_time(
        spec in specs(), rows in rows(150), keys in proptest::collection::vec(any::<u32>(), 150),
    ) {
        // Rows in any order; those of one time keep theirs.
        let mut shuffled: Vec<(u32, Row)> = keys.into_iter().zip(rows).collect();
        shuffled.sort_by_key(|row| row.0);
        let shuffled: Vec<Row> = shuffled.into_iter().map(|row| row.1).collect();
        let mut sorted = shuffled.clone();
        sorted.sort_by_key(|row| row.1);
        let mut windows = default(spec, Emit::ContentChange);
        let mut told = Vec::new();
        let outcome = windows.push_batch(&shuffled, |key, change| told.push((*key, change)));
        prop_assert!(outcome.refused.is_empty());
        windows.advance_to(UNTIL, |key, change| told.push((*key, change)));
        prop_assert_eq!(told, one_by_one(default(spec, Emit::ContentChange), &sorted));
    }

    #[test]
    fn how_often_the_time_is_told_changes_nothing(
        spec in specs(), rows in rows(100), step in 1..9_i64,
    ) {
        let right = one_by_one(default(spec, Emit::ContentChange), &rows);
        let (mut windows, mut told) = (default(spec, Emit::ContentChange), Vec::new());
        let mut clock = -100;
        for (key, time, record) in &rows {
            while clock < *time {
                if let Some(deadline) = windows.next_deadline().filter(|&deadline| deadline <= clock) {
                    let before = told.len();
                    windows.advance_to(deadline - 1, |_, _| unreachable!());
                    windows.advance_to(deadline, |key, change| told.push((*key, change)));
                    prop_assert!(told.len() > before);
                }
                windows.advance_to(clock, |key, change| told.push((*key, change)));
                clock += step;
            }
            let _ = windows.push(key, *time, record, |key, change| told.push((*key, change))).unwrap();
            let held: Vec<u32> = windows.iter().flat_map(|(_, list)| list.unwrap_or_default()).collect();
            prop_assert_eq!(held.len(), windows.iter().map(|(key, _)| windows.get(key).map_or(0, |list| list.len())).sum::<usize>());
        }
        windows.advance_to(UNTIL, |key, change| told.push((*key, change)));
        prop_assert_eq!(told, right);
    }
}

/// A hasher of one value.
#[derive(Clone, Copy, Debug, Default)]
struct Same;

impl Hasher for Same {
    fn finish(&self) -> u64 {
        7
    }
    fn write(&mut self, _: &[u8]) {}
}

impl BuildHasher for Same {
    type Hasher = Self;
    fn build_hasher(&self) -> Self {
        Self
    }
}

/// Numbers of every magnitude, most of them next to where something may overflow.
fn anywhere() -> impl Strategy<Value = i64> {
    let near = |middle: i64| (-5..=5_i64).prop_map(move |off| middle.saturating_add(off));
    let ends = prop_oneof![near(0), near(i64::MIN), near(i64::MAX), near(i64::MAX / 2)];
    prop_oneof![4 => ends, 1 => any::<i64>(), 1 => 0..100_i64]
}

fn far_rows() -> impl Strategy<Value = Vec<Row>> {
    let gap = prop_oneof![6 => Just(0), 6 => 0..3_i64, 1 => 0..1_i64 << 40, 1 => anywhere()];
    let keys = prop_oneof![1 => 0..3_u8, 1 => any::<u8>()];
    (anywhere(), proptest::collection::vec((keys, gap), 0..=140)).prop_map(|(mut time, gaps)| {
        let timed = gaps.into_iter().zip(1..).map(|((key, gap), number)| {
            time = time.saturating_add(gap.saturating_abs());
            (key, time, number)
        });
        timed.collect()
    })
}

proptest! {
    #![proptest_config(cases(2_000))]

    /// Any window and any times, clocks that go back among them: batches of every length and a
    /// hasher of one value do as rows one by one, and each key is what the checker wants.
    #[test]
    fn the_ends_of_time_trouble_no_key(
        size in anywhere(), slide in anywhere(), phase in anywhere(), mut rows in far_rows(),
        back in proptest::collection::vec((0..140_usize, anywhere()), 0..4),
    ) {
        let positive = |number: i64| number.saturating_abs().max(1);
        let spec = WindowSpec::sliding(positive(size), positive(slide)).unwrap().with_phase(phase);
        for (row, time) in back {
            if let Some(row) = rows.get_mut(row) {
                row.1 = time;
            }
        }
        let (mut told, mut refused, mut held) = (Told::new(), Vec::new(), BTreeMap::<u8, Vec<_>>::new());
        let mut windows = default(spec, Emit::ContentChange);
        for (i, (key, time, record)) in rows.iter().enumerate() {
            match windows.push(key, *time, record, |key, change| told.push((*key, change))) {
                Ok(outcome) => {
                    prop_assert_eq!(outcome == Outcome::Gap, spec.enter(*time).is_none());
                    held.entry(*key).or_default().push((*time, *record));
                }
                Err(error) => refused.push((i, error)),
            }
        }
        windows.advance_to(i64::MAX, |key, change| told.push((*key, change)));
        for (key, records) in held {
            let of_key: Vec<_> =
                told.iter().filter(|told| told.0 == key).map(|told| told.1.clone()).collect();
            prop_assert!(verify(&spec, &List, &records, Emit::ContentChange, i64::MAX, &of_key).is_ok());
        }
        let whole = rows.is_sorted_by_key(|row| row.1);
        for length in [1, 63, 64, 65, 1_000].into_iter().filter(|&length| length == 1 || whole) {
            let mut windows =
                KeyWindows::<u8, _, Few<_, (), Daba<_, ()>, 1>, Same>::with_kernel_and_hasher(List, spec, Same);
            let (mut batched, mut turned_away) = (Told::new(), Vec::new());
            for (start, rows) in (0..).step_by(length).zip(rows.chunks(length)) {
                let batch = windows.push_batch(rows, |key, change| batched.push((*key, change)));
                turned_away.extend(batch.refused.into_iter().map(|(row, error)| (start + row, error)));
            }
            windows.advance_to(i64::MAX, |key, change| batched.push((*key, change)));
            prop_assert_eq!((&batched, &turned_away), (&told, &refused), "batches of {}", length);
        }
    }
}

#[test]
fn refused_rows_stop_no_others() {
    let spec = WindowSpec::sliding(5, 10).unwrap();
    let mut windows = KeyWindows::new(Sum::<i64>::new(), spec);
    windows.advance_to(100, |_: &&str, _| unreachable!());
    let rows = [
        ("late", 99, 1),
        ("last", i64::MAX, 2),
        ("in", 101, 3),
        ("gap", 107, 4),
        ("in", 100, 5),
        ("late", i64::MIN, 6),
    ];
    let mut told = Vec::new();
    let batch =
        windows.push_batch(&rows, |key, change| told.push((*key, change.end, change.value)));
    assert_eq!((batch.accepted, batch.gaps), (2, 1));
    assert_eq!(
        batch.refused,
        [
            (5, Error::OutOfOrder { time: i64::MIN, now: 100 }),
            (0, Error::OutOfOrder { time: 99, now: 100 }),
            (1, Error::NeverEnters { time: i64::MAX }),
        ]
    );
    assert_eq!(told, [("in", 105, Some(Ok(8))), ("in", 115, None)]);
    assert!(windows.push_batch(&[], |_, _| unreachable!()).refused.is_empty());
}

#[test]
fn a_key_is_read_and_forgotten() {
    let spec = WindowSpec::sliding(10, 1).unwrap();
    let mut windows = KeyWindows::<String, _>::new(Count::new(), spec);
    assert_eq!(windows.push("a", 3, &(), |_, _| ()), Ok(Outcome::Accepted));
    // It has not entered yet.
    assert_eq!((windows.get("a"), windows.len(), windows.next_deadline()), (None, 1, Some(4)));
    assert_eq!(windows.iter().collect::<Vec<_>>(), [(&"a".to_owned(), None)]);
    windows.advance_to(4, |_, _| ());
    assert_eq!(
        (windows.get("a"), windows.get("b"), windows.next_deadline()),
        (Some(1), None, Some(14))
    );
    windows.advance_to(13, |_, _| unreachable!());
    windows.advance_to(14, |_, _| ());
    assert_eq!((windows.get("a"), windows.len(), windows.next_deadline()), (None, 0, None));
    assert_eq!(windows.now(), 14);
    assert!(format!("{windows:?}").contains("now: 14"));
}

#[test]
fn records_that_never_leave_stay() {
    let spec = WindowSpec::sliding(i64::MAX, 1).unwrap();
    let mut windows = KeyWindows::new(Count::new(), spec);
    let mut told = Vec::new();
    for time in [-1, 0, 1, i64::MAX - 1] {
        let _ = windows
            .push(&7_u64, time, &(), |_, change| told.push((change.end, change.value)))
            .unwrap();
    }
    windows.advance_to(i64::MAX, |_, change| told.push((change.end, change.value)));
    assert_eq!(told, [(0, Some(1)), (1, Some(2)), (2, Some(3)), (i64::MAX, Some(3))]);
    assert_eq!((windows.len(), windows.next_deadline()), (1, None));
}

/// Ticks that are further apart than 32 bits.
#[test]
fn windows_of_years_by_nanoseconds() {
    const YEAR: i64 = 365 * 86_400 * 1_000_000_000;
    let spec = WindowSpec::sliding(YEAR, 1).unwrap();
    let mut windows = KeyWindows::new(Count::new(), spec);
    let mut told = Vec::new();
    let rows: Vec<(u32, i64, ())> =
        (0..300).map(|i| (i % 7, i64::from(i) * (YEAR / 90), ())).collect();
    let batch = windows.push_batch(&rows, |key, change| told.push((*key, change)));
    assert_eq!(batch.accepted, 300);
    windows.advance_to(i64::MAX, |key, change| told.push((*key, change)));
    for key in 0..7 {
        let records: Vec<(i64, ())> =
            rows.iter().filter(|row| row.0 == key).map(|row| (row.1, ())).collect();
        let alone = run_on::<_, Recalculate<_>>(
            Count::new(),
            spec,
            Emit::ContentChange,
            &records,
            i64::MAX,
        );
        assert!(told.iter().filter(|change| change.0 == key).map(|change| change.1).eq(alone));
    }
}
