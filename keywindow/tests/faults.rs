//! Faults that other projects had and mended, as cases that must come out right here. B1, B2, B13,
//! B26 and B27 are in `lattice.rs`.

#![cfg(feature = "keys")]
#![allow(clippy::unwrap_used)]

mod common;

use std::cell::Cell;

use common::{List, at, lists, pairs};
use keywindow::aggregates::{Count, First, FloatSum, Last, Min, Present, Sum, TopK};
use keywindow::kernel::{Kernel, TwoStacks};
use keywindow::{Aggregate, Change, Emit, Error, KeyWindow, KeyWindows, Outcome, WindowSpec};

const CONTENT: Emit = Emit::ContentChange;

fn sliding(size: i64, slide: i64) -> WindowSpec {
    WindowSpec::sliding(size, slide).unwrap()
}

fn counts(spec: WindowSpec, times: impl IntoIterator<Item = i64>) -> Vec<(i64, Option<u64>)> {
    pairs(Count::<u32>::new(), spec, CONTENT, &at(times))
}

#[test]
fn b4_a_phase_shifts_the_windows_and_loses_nothing() {
    let times = [0, 1, 4, 5, 6, 9, 10, 11, 14, 15];
    for phase in -7..=7 {
        let shifted = counts(sliding(10, 5).with_phase(phase), times.map(|time| time + phase));
        let plain = counts(sliding(10, 5), times);
        assert_eq!(shifted, plain.into_iter().map(|(end, n)| (end + phase, n)).collect::<Vec<_>>());
    }
}

#[test]
fn b7_the_last_record_leaves_at_its_exact_end() {
    let mut window = KeyWindow::new(Count::new(), sliding(10, 2));
    let _ = window.push(3, &(), |_| unreachable!()).unwrap();
    let mut told = Vec::new();
    window.advance_to(13, |change| told.push(change));
    assert_eq!((told, window.next_deadline()), (vec![Change::new(4, Some(1))], Some(14)));
    let mut told = Vec::new();
    window.advance_to(14, |change| told.push(change));
    assert_eq!((told, window.next_deadline()), (vec![Change::new(14, None)], None));
}

#[test]
fn b10_two_records_at_one_time_count_once_each() {
    let told = lists(sliding(10, 1), &at([10, 10]));
    assert_eq!(told, [Change::new(11, Some(vec![1, 2])), Change::new(21, None)]);
}

#[test]
fn b11_a_new_window_inherits_from_the_newest_of_many() {
    let times = (0..50).map(|i| i * 3);
    for change in lists(sliding(100, 1), &at(times)) {
        let right: Vec<u32> = (0..50_u32)
            .filter(|&i| (change.end - 100..change.end).contains(&i64::from(i * 3)))
            .map(|i| i + 1)
            .collect();
        assert_eq!(change.value.unwrap_or_default(), right, "{}", change.end);
    }
}

#[test]
fn b15_a_slide_above_the_size_leaves_gaps() {
    let spec = sliding(5, 10);
    assert_eq!(counts(spec, 1..=10), [(5, Some(4)), (15, Some(1)), (25, None)]);
    let mut window = KeyWindow::new(Count::new(), spec);
    let mut windows = KeyWindows::new(Count::new(), spec);
    for time in 5..10 {
        assert_eq!(window.push(time, &(), |_| unreachable!()), Ok(Outcome::Gap));
        assert_eq!(windows.push(&7_u8, time, &(), |_, _| unreachable!()), Ok(Outcome::Gap));
    }
    assert!(windows.is_empty());
    assert_eq!((windows.stats().gaps, windows.stats().records), (5, 0));
}

#[test]
fn b16_the_last_value_is_told_by_the_clock_alone() {
    let mut window = KeyWindow::new(Last::<u32>::new(), sliding(120, 1));
    let mut told = Vec::new();
    for (time, value) in [(0, 4), (8, 5), (16, 6)] {
        let _ = window.push(time, &value, |change| told.push(change)).unwrap();
    }
    // No more records.
    for clock in 17..=137 {
        window.advance_to(clock, |change| told.push(change));
    }
    let told: Vec<_> =
        told.into_iter().map(|change| (change.end, change.value.flatten())).collect();
    assert_eq!(
        told,
        [(1, Some(4)), (9, Some(5)), (17, Some(6)), (121, Some(6)), (129, Some(6)), (137, None)]
    );
}

#[test]
fn b18_nothing_stays_a_slide_too_long() {
    let spec = sliding(28, 2);
    let told = lists(spec, &at([5]));
    assert_eq!(keywindow::expand(&spec, told.clone(), i64::MAX).count(), 14);
    assert_eq!(told.last(), Some(&Change::new(6 + 28, None)));
}

#[test]
fn b19_nothing_is_told_when_the_last_record_leaves() {
    assert_eq!(
        counts(sliding(3_000, 1), [500, 1_000, 1_500]),
        [
            (501, Some(1)),
            (1_001, Some(2)),
            (1_501, Some(3)),
            (3_501, Some(2)),
            (4_001, Some(1)),
            (4_501, None)
        ]
    );
}

#[test]
fn b21_a_minimum_forgets_what_has_left_and_reading_changes_nothing() {
    let mut window = KeyWindow::new(Present(Min::<u32>::new()), sliding(2, 1));
    let mut told = Vec::new();
    for (time, value) in [(0, Some(3)), (1, None), (2, None)] {
        let _ = window.push(time, &value, |change| told.push(change)).unwrap();
        assert_eq!(window.current(), window.current());
    }
    window.advance_to(9, |change| told.push(change));
    let told: Vec<_> = told.into_iter().map(|change| (change.end, change.value)).collect();
    assert_eq!(
        told,
        [(1, Some(Some(3))), (2, Some(Some(3))), (3, Some(None)), (4, Some(None)), (5, None)]
    );
}

#[test]
fn b22_a_float_sum_of_zeros_is_zero() {
    let values = [2.06, 0.888_889, 0.0, 0.0, 0.0, 0.0];
    let records: Vec<_> = (0..).zip(values).collect();
    let told = pairs(FloatSum, sliding(2, 1), CONTENT, &records);
    let sums: Vec<f64> = told.into_iter().filter_map(|(_, sum)| sum).collect();
    assert_eq!(sums, [2.06, 2.06 + 0.888_889, 0.888_889, 0.0, 0.0, 0.0, 0.0]);
    assert!(sums[3].is_sign_positive());
}

#[test]
fn b23_a_record_that_is_too_late_makes_no_window() {
    let spec = WindowSpec::closed(10).unwrap();
    let mut window = KeyWindow::new(List, spec);
    let mut told = Vec::new();
    for (time, record) in [(1, 1), (20, 2)] {
        let _ = window.push(time, &record, |change| told.push(change)).unwrap();
    }
    for time in [9, 5, 10] {
        let late = window.push(time, &3, |_| unreachable!());
        assert_eq!(late, Err(Error::OutOfOrder { time, now: 20 }));
    }
    window.advance_to(100, |change| told.push(change));
    assert_eq!(told, lists(spec, &[(1, 1), (20, 2)]));
    // In order the third record is in the windows that the fault lost it from: to 21, inclusive.
    let ordered: Vec<_> = lists(spec, &[(1, 1), (10, 3), (20, 2)])
        .into_iter()
        .map(|change| (change.end, change.value.unwrap_or_default()))
        .collect();
    let right: [(i64, &[u32]); 6] =
        [(2, &[1]), (11, &[1, 3]), (13, &[3]), (21, &[3, 2]), (22, &[2]), (32, &[])];
    assert_eq!(ordered, right.map(|(end, list)| (end, list.to_vec())));
}

#[test]
fn b24_what_cannot_be_taken_back_is_right_and_within_the_window() {
    let (spec, records) = (sliding(5, 1), at([0, 3, 5, 9]));
    // At 6 the first record leaves as the third enters; at 9 the second leaves.
    let ends = [1, 4, 6, 9, 10, 11, 15];
    let check = |told: Vec<(i64, Option<Option<u32>>)>, right: [u32; 6]| {
        assert!(told.iter().map(|change| change.0).eq(ends));
        assert!(told.iter().filter_map(|change| change.1.flatten()).eq(right));
    };
    check(pairs(First::new(), spec, CONTENT, &records), [1, 1, 2, 3, 3, 4]);
    check(pairs(Last::new(), spec, CONTENT, &records), [1, 2, 3, 3, 4, 4]);
}

#[test]
fn b25_an_empty_window_ends_nothing() {
    assert_eq!(
        counts(WindowSpec::tumbling(3).unwrap().with_phase(1), [1, 2, 8]),
        [(4, Some(2)), (7, None), (10, Some(1)), (13, None)]
    );
}

#[test]
fn b28_a_change_bears_its_own_key() {
    let mut windows = KeyWindows::new(Count::new(), sliding(10, 1));
    let _ = windows.push(&'A', 1, &(), |_, _| unreachable!()).unwrap();
    let mut told = Vec::new();
    let mut sink = |key: &char, change: Change<u64>| told.push((*key, change.end, change.value));
    let _ = windows.push(&'B', 100, &(), &mut sink).unwrap();
    windows.advance_to(200, &mut sink);
    assert_eq!(told, [('A', 2, Some(1)), ('A', 12, None), ('B', 101, Some(1)), ('B', 111, None)]);
}

#[test]
fn b29_creating_is_an_identity() {
    fn check<A: Aggregate<Out: PartialEq + std::fmt::Debug>>(agg: &A, acc: &A::Acc) {
        let (create, right) = (agg.create(), agg.get(acc));
        assert_eq!(agg.get(&agg.merge(&create, acc)), right);
        assert_eq!(agg.get(&agg.merge(acc, &create)), right);
        assert!(agg.same(&agg.get(&agg.merge(&create, &create)), &agg.get(&create)));
    }
    check(&Sum::<i32>::new(), &5);
    check(&FloatSum, &{
        let mut acc = FloatSum.create();
        FloatSum.add(&mut acc, &1e300);
        FloatSum.add(&mut acc, &1.0);
        acc
    });
    check(&Min::<u32>::new(), &Some(7));
    check(&TopK::<u32>::new(2), &vec![3, 1]);
    check(&List, &vec![1, 2]);
}

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
}

/// A kernel that counts its calls.
#[derive(Clone, Debug)]
struct Called<Q>(Q);

impl<A: Aggregate, T: Copy + Default, Q: Kernel<A, T>> Kernel<A, T> for Called<Q> {
    fn new(agg: &A) -> Self {
        Self(Q::new(agg))
    }
    fn push(&mut self, agg: &A, tag: T, acc: A::Acc) {
        CALLS.set(CALLS.get() + 1);
        self.0.push(agg, tag, acc);
    }
    fn pop(&mut self, agg: &A) -> Option<T> {
        CALLS.set(CALLS.get() + 1);
        self.0.pop(agg)
    }
    fn oldest(&self) -> Option<T> {
        CALLS.set(CALLS.get() + 1);
        self.0.oldest()
    }
    fn query(&self, agg: &A) -> A::Acc {
        CALLS.set(CALLS.get() + 1);
        self.0.query(agg)
    }
    fn len(&self) -> usize {
        CALLS.set(CALLS.get() + 1);
        self.0.len()
    }
    fn next_popped(&self) -> Option<&A::Acc> {
        CALLS.set(CALLS.get() + 1);
        self.0.next_popped()
    }
    fn newest(&self) -> Option<&A::Acc> {
        CALLS.set(CALLS.get() + 1);
        self.0.newest()
    }
    fn heap_bytes(&self) -> usize {
        self.0.heap_bytes()
    }
}

/// A timer that is deleted must be found among all of them. Here none is: a key is visited as its
/// slices enter and leave, however many other keys there are.
#[test]
fn b30_a_slice_costs_the_same_among_many_keys() {
    for keys in [1, 10, 20_000] {
        CALLS.set(0);
        let mut windows = KeyWindows::<_, _, Called<TwoStacks<_, ()>>>::with_kernel(
            Count::new(),
            sliding(900, 1),
        );
        let mut changes = 0;
        let slices = 40_000_u32;
        for i in 0..slices {
            let (key, time) = (i % keys, i64::from(i));
            let _ = windows.push(&key, time, &(), |_, _| changes += 1).unwrap();
        }
        windows.advance_to(i64::MAX, |_, _| changes += 1);
        assert!(windows.is_empty() && changes >= slices);
        // Push and pop, a result at each, lengths before and after them, and what is brought near.
        let calls = CALLS.get();
        assert!(calls <= 10 * u64::from(slices), "{calls} calls for {slices} slices, {keys} keys");
    }
}

/// Times are instants. Where the clocks of a zone are put on, an hour of them is left out, and where
/// they are put back one comes twice; the caller, who knows the zone, makes them instants.
#[test]
fn b31_no_hour_is_lost_or_twice_where_clocks_change() {
    // Hours on the clock and how far they are ahead, of two nights in Berlin.
    let spring = [(0, 1), (1, 1), (3, 2), (4, 2), (5, 2)];
    let autumn = [(0, 2), (1, 2), (2, 2), (2, 1), (3, 1)];
    for night in [spring, autumn] {
        let instants = night.map(|(hour, ahead): (i64, i64)| (hour - ahead) * 60);
        let start = instants[0];
        let right = (1..=5).map(|hour| (start + 60 * hour, Some(1))).chain([(start + 360, None)]);
        assert!(counts(WindowSpec::tumbling(60).unwrap(), instants).into_iter().eq(right));
        // Two hours hold two, at each instant between.
        let two = counts(sliding(120, 60), instants);
        assert!(two[1..5].iter().all(|&(_, count)| count == Some(2)), "{two:?}");
    }
}

#[test]
fn b32_windows_are_half_open() {
    assert_eq!(
        counts(WindowSpec::tumbling(4_000).unwrap(), (0..=8).map(|second| second * 1_000)),
        [(4_000, Some(4)), (8_000, Some(4)), (12_000, Some(1)), (16_000, None)]
    );
}

/// One row from the future makes the honest ones late. They are refused by name and nothing of them
/// is lost in silence; a batch, or a host that looks at its own clock first, is not troubled.
#[test]
fn b33_a_row_from_the_future_is_named_by_those_that_it_makes_late() {
    const DAY: i64 = 86_400_000;
    let mut windows = KeyWindows::new(Count::new(), sliding(1_000, 1));
    let mut told = Vec::new();
    let _ = windows.push(&'x', DAY, &(), |_, _| unreachable!()).unwrap();
    for now in 0..5 {
        let late = windows.push(&'k', now, &(), |_, _| unreachable!());
        assert_eq!(late, Err(Error::OutOfOrder { time: now, now: DAY }));
    }
    let rows = [('k', 5, ()), ('k', DAY, ())];
    let batch = windows.push_batch(&rows, |_, _| unreachable!());
    assert_eq!(batch.refused, [(0, Error::OutOfOrder { time: 5, now: DAY })]);
    windows.advance_to(DAY + 1, |key, change| told.push((*key, change.value)));
    assert_eq!(told, [('x', Some(1)), ('k', Some(1))]);
    assert_eq!((windows.stats().records, windows.stats().keys), (2, 2));

    // In one batch the honest rows come first.
    let mut windows = KeyWindows::new(Count::new(), sliding(1_000, 1));
    let rows = [('x', DAY, ()), ('k', 0, ()), ('k', 1, ())];
    let mut told = Vec::new();
    let batch =
        windows.push_batch(&rows, |key, change| told.push((*key, change.end, change.value)));
    assert_eq!((batch.accepted, batch.refused), (3, vec![]));
    assert_eq!(
        told,
        [('k', 1, Some(1)), ('k', 2, Some(2)), ('k', 1_001, Some(1)), ('k', 1_002, None)]
    );
}

#[test]
fn records_out_of_order_are_refused_by_name_and_change_nothing() {
    let mut window = KeyWindow::new(Count::new(), sliding(10, 1));
    let mut windows = KeyWindows::new(Count::new(), sliding(10, 1));
    let _ = window.push(5, &(), |_| ()).unwrap();
    let _ = windows.push(&'k', 5, &(), |_, _| ()).unwrap();
    let late = Err(Error::OutOfOrder { time: 4, now: 5 });
    assert_eq!(window.push(4, &(), |_| unreachable!()), late);
    assert_eq!(windows.push(&'x', 4, &(), |_, _| unreachable!()), late);
    window.advance_to(6, |change| assert_eq!(change.value, Some(1)));
    windows.advance_to(6, |_, change| assert_eq!(change.value, Some(1)));
    assert_eq!((windows.len(), windows.stats().records), (1, 1));
    // A time that has passed is no step back.
    window.advance_to(0, |_| unreachable!());
    windows.advance_to(i64::MIN, |_, _| unreachable!());
    assert_eq!((window.now(), windows.now()), (6, 6));
}
