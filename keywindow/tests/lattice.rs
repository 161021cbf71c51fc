//! The lattice of windows against its definition in 128 bits, up to both ends of time.

#![allow(clippy::unwrap_used)]

mod common;

use common::{at, cases, lists};
use keywindow::aggregates::Count;
use keywindow::{Change, Error, KeyWindow, Outcome, WindowSpec};
use proptest::prelude::*;

/// The least end after the time, by definition.
fn after(spec: &WindowSpec, time: i128) -> i128 {
    let end = i128::from(spec.phase()) + i128::from(spec.size());
    let slide = i128::from(spec.slide());
    end + ((time - end).div_euclid(slide) + 1) * slide
}

/// Numbers of every magnitude, and those next to the ends.
fn numbers() -> impl Strategy<Value = i64> {
    let near = |middle: i64| (-5..=5_i64).prop_map(move |off| middle.saturating_add(off));
    prop_oneof![
        near(0),
        near(i64::MIN),
        near(i64::MAX),
        near(i64::MAX / 2),
        near(i64::MIN / 2),
        any::<i64>(),
        (any::<i64>(), 0..63_u32).prop_map(|(number, bits)| number >> bits),
    ]
}

fn positive() -> impl Strategy<Value = i64> {
    numbers().prop_map(|number| number.saturating_abs().max(1))
}

proptest! {
    #![proptest_config(cases(50_000))]

    #[test]
    fn enter_and_leave_are_the_least_ends_after(
        size in positive(), slide in positive(), phase in numbers(), time in numbers(),
    ) {
        let spec = WindowSpec::sliding(size, slide).unwrap().with_phase(phase);
        prop_assert_eq!((spec.size(), spec.slide()), (size, slide));
        prop_assert_eq!(i128::from(spec.phase()), i128::from(phase).rem_euclid(i128::from(slide)));
        let enter = after(&spec, i128::from(time));
        let leave = after(&spec, i128::from(time) + i128::from(size));
        let held = enter != leave && enter <= i128::from(i64::MAX);
        prop_assert_eq!(spec.enter(time), i64::try_from(enter).ok().filter(|_| held));
        prop_assert_eq!(spec.leave(time), i64::try_from(leave).ok().filter(|_| held));
        let ends: Vec<_> = spec.ends(time).take(50).collect();
        for (end, right) in ends.iter().zip((0..).map(|i| enter + i * i128::from(slide))) {
            prop_assert_eq!(i128::from(*end), right);
            let start = right - i128::from(size);
            prop_assert!(start <= i128::from(time) && i128::from(time) < right);
        }
        let windows = ((leave.min(i128::from(i64::MAX) + 1) - enter) + i128::from(slide) - 1)
            .div_euclid(i128::from(slide));
        let number = if held { windows.min(50) } else { 0 };
        prop_assert_eq!(ends.len() as i128, number);
    }

    /// One record anywhere: it counts from its enter to its leave, if both are times.
    #[test]
    fn one_record_is_two_changes(
        size in positive(), slide in positive(), phase in numbers(), time in numbers(),
    ) {
        let spec = WindowSpec::sliding(size, slide).unwrap().with_phase(phase);
        let (enter, leave) = (spec.enter(time), spec.leave(time));
        let mut window = KeyWindow::new(Count::new(), spec);
        let outcome = window.push(time, &(), |_| unreachable!());
        let gap = after(&spec, i128::from(time)) == after(&spec, i128::from(time) + i128::from(size));
        match (enter, gap) {
            (Some(_), _) => prop_assert_eq!(outcome, Ok(Outcome::Accepted)),
            (None, true) if after(&spec, i128::from(time)) <= i128::from(i64::MAX) => {
                prop_assert_eq!(outcome, Ok(Outcome::Gap));
            }
            (None, _) => prop_assert_eq!(outcome, Err(Error::NeverEnters { time })),
        }
        let mut told = Vec::new();
        window.advance_to(i64::MAX, |change| told.push(change));
        let right = enter.map(|end| Change::new(end, Some(1)));
        prop_assert_eq!(told, right.into_iter().chain(leave.map(|end| Change::new(end, None))).collect::<Vec<_>>());
        prop_assert_eq!(window.next_deadline(), None);
    }
}

#[test]
fn negative_times_lie_in_the_windows_before_them() {
    // B1: the remainder of a negative number is not that of a positive one.
    let spec = WindowSpec::tumbling(5).unwrap();
    let starts = [-7, -5, -1, 0, 4].map(|time| spec.enter(time).unwrap() - 5);
    assert_eq!(starts, [-10, -5, -5, 0, 0]);
}

#[test]
fn a_phase_of_any_sign_is_a_phase() {
    // B2: midnight eight hours east.
    const HOUR: i64 = 3_600_000;
    let day = WindowSpec::tumbling(24 * HOUR).unwrap();
    assert_eq!(day.with_phase(-8 * HOUR), day.with_phase(16 * HOUR));
    assert_eq!(day.with_phase(-8 * HOUR).phase(), 16 * HOUR);
    assert_eq!(day.with_phase(i64::MIN).phase(), i64::MIN.rem_euclid(24 * HOUR));
}

#[test]
fn windows_from_far_in_the_past_are_those_of_today() {
    // B13: an alignment at 0, decades before the records.
    let time = 1_709_315_512_577;
    for slide in [700, 800] {
        let spec = WindowSpec::sliding(1_600, slide).unwrap();
        let numbers: Vec<_> = spec.ends(time).map(|end| (end - 1_600) / slide).collect();
        let right: Vec<_> = ((time - 1_600).div_euclid(slide) + 1..=time / slide).collect();
        assert!((2..=3).contains(&right.len()));
        assert_eq!(numbers, right);
    }
}

/// T12: which windows hold a time, by their number from phase 0; times doubled where they are halves.
#[test]
fn t12_assignment() {
    type Case = (i64, i64, i64, &'static [i64]);
    let cases: [Case; 28] = [
        (10, 5, 13, &[1, 2]),
        (10, 5, -3, &[-2, -1]),
        (10, 5, 3, &[-1, 0]),
        (10, 5, 7, &[0, 1]),
        (10, 5, 15, &[2, 3]),
        (10, 5, -5, &[-2, -1]),
        (10, 5, 0, &[-1, 0]),
        (10, 5, 10, &[1, 2]),
        (10, 3, 11, &[1, 2, 3]),
        (20, 6, 23, &[1, 2, 3]),
        (10, 3, -1, &[-3, -2, -1]),
        (20, 6, -3, &[-3, -2, -1]),
        (10, 3, 5, &[-1, 0, 1]),
        (10, 7, 14, &[1, 2]),
        (10, 7, -7, &[-2, -1]),
        (10, 7, 0, &[-1, 0]),
        (10, 7, 17, &[2]),
        (10, 7, -4, &[-1]),
        (10, 7, 10, &[1]),
        (10, 10, 15, &[1]),
        (10, 10, -5, &[-1]),
        (10, 10, 5, &[0]),
        (10, 10, 20, &[2]),
        (10, 10, -10, &[-1]),
        (10, 10, 0, &[0]),
        // FeatHub's (T − p, T], one later; and the same with p + 1 at both ends.
        (10, 1, 0, &[-9, -8, -7, -6, -5, -4, -3, -2, -1, 0]),
        (1, 1, 7, &[7]),
        (2, 1, 7, &[6, 7]),
    ];
    for (size, slide, time, numbers) in cases {
        let spec = WindowSpec::sliding(size, slide).unwrap();
        let found: Vec<_> = spec.ends(time).map(|end| (end - size).div_euclid(slide)).collect();
        assert_eq!(found, numbers, "({size}, {slide}) at {time}");
    }
}

#[test]
fn what_is_no_window_is_refused() {
    // B27: zero and negative slides and sizes, B26: the ends of time.
    for size in [0, -1, i64::MIN] {
        assert_eq!(WindowSpec::sliding(size, 1), Err(Error::BadSize { size }));
        assert_eq!(WindowSpec::sliding(1, size), Err(Error::BadSlide { slide: size }));
        assert_eq!(WindowSpec::tumbling(size), Err(Error::BadSize { size }));
    }
    assert_eq!(WindowSpec::sliding(0, 0), Err(Error::BadSize { size: 0 }));
    for difference in [-1, i64::MIN, i64::MAX] {
        assert_eq!(WindowSpec::closed(difference), Err(Error::BadDifference { difference }));
    }
    assert_eq!(WindowSpec::closed(0), WindowSpec::sliding(1, 1));
    assert_eq!(WindowSpec::closed(i64::MAX - 1), WindowSpec::sliding(i64::MAX, 1));
    for error in [
        Error::BadSize { size: 0 },
        Error::BadSlide { slide: 0 },
        Error::TooManyKeys,
        Error::OutOfOrder { time: 1, now: 2 },
        Error::NeverEnters { time: 3 },
    ] {
        assert!(error.to_string().len() > 10);
    }
}

#[test]
fn the_ends_of_time_overflow_nothing() {
    // B26.
    let spec = WindowSpec::sliding(2, 1).unwrap();
    let told = lists(spec, &at([i64::MAX - 3]));
    assert_eq!(told, [Change::new(i64::MAX - 2, Some(vec![1])), Change::new(i64::MAX, None)]);
    // It leaves after the last time, so never.
    let told = lists(spec, &at([i64::MAX - 2]));
    assert_eq!(told, [Change::new(i64::MAX - 1, Some(vec![1]))]);
    let mut window = KeyWindow::new(Count::new(), spec);
    let outcome = window.push(i64::MAX, &(), |_| unreachable!());
    assert_eq!(outcome, Err(Error::NeverEnters { time: i64::MAX }));
    for size in [1, 2, 10, i64::MAX] {
        let spec = WindowSpec::sliding(size, 1).unwrap();
        let told = lists(spec, &at([i64::MIN, 0, i64::MAX - 3]));
        assert_eq!(told[0], Change::new(i64::MIN + 1, Some(vec![1])));
        assert_eq!(told[1].end, i64::MIN + 1 + size);
        let wide = WindowSpec::sliding(size, i64::MAX).unwrap().with_phase(-1);
        let _ = lists(wide, &at([i64::MIN, -1, 0]));
    }
}
