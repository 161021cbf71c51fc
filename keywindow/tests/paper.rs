//! The paper: its figure, its claims, and what its words leave open.

#![allow(clippy::unwrap_used)]

mod common;

use common::{List, at, left_right, lists};
use keywindow::aggregates::{Count, Sum};
use keywindow::oracle::changes;
use keywindow::paper::{Buckets, LeftRight, Native, ProcessFunction, Reading};
use keywindow::{Change, Emit, Error, KeyWindow, WindowSpec};

/// Figures 3 to 5: four data, windows of four cells, one a cell.
const FIGURE: [i64; 4] = [0, 5, 10, 11];

fn sliding(size: i64, slide: i64) -> WindowSpec {
    WindowSpec::sliding(size, slide).unwrap()
}

#[test]
fn the_figure_has_13_native_and_8_key_windows() {
    let (spec, records) = (sliding(4, 1), at(FIGURE));
    let mut native = Native::new(List, spec);
    let mut paper = LeftRight::new(List, spec, Reading::Corrected);
    let (mut of_native, mut of_paper) = (Vec::new(), Vec::new());
    for (time, datum) in &records {
        let _ = native.push(*time, datum, |change| of_native.push(change)).unwrap();
        let _ = paper.push(*time, datum, |change| of_paper.push(change)).unwrap();
    }
    native.advance_to(100, |change| of_native.push(change));
    paper.advance_to(100, |change| of_paper.push(change));
    assert_eq!((of_native.len(), native.cost().windows), (13, 13));
    assert_eq!(
        of_native.iter().map(|change| change.end).collect::<Vec<_>>(),
        [1, 2, 3, 4, 6, 7, 8, 9, 11, 12, 13, 14, 15]
    );
    // In the order of figure 5: first in, first out, second in, second out, third in, fourth in,
    // third out, fourth out.
    let figure = [
        Change::new(1, Some(vec![1])),
        Change::new(5, None),
        Change::new(6, Some(vec![2])),
        Change::new(10, None),
        Change::new(11, Some(vec![3])),
        Change::new(12, Some(vec![3, 4])),
        Change::new(15, Some(vec![4])),
        Change::new(16, None),
    ];
    assert_eq!((of_paper.as_slice(), paper.cost().windows), (figure.as_slice(), 8));
    assert_eq!(lists(spec, &records), figure);
}

#[test]
fn a_window_that_ends_one_and_begins_another_is_one() {
    // The second datum a size after the first: the right window of one is the left one of the other.
    let mut paper = LeftRight::new(List, sliding(4, 1), Reading::Corrected);
    let mut told = Vec::new();
    for (time, datum) in at([0, 4]) {
        let _ = paper.push(time, &datum, |change| told.push(change)).unwrap();
    }
    paper.advance_to(100, |change| told.push(change));
    assert_eq!(paper.cost().windows, 3);
    assert_eq!(
        told,
        [Change::new(1, Some(vec![1])), Change::new(5, Some(vec![2])), Change::new(9, None),]
    );
}

/// Section 4.3: 2n windows against p · n / k; and what it does not count, the adds.
#[test]
fn two_windows_a_record_and_one_add_for_each_that_is_live() {
    let spec = sliding(120, 2);
    // One record in ten seconds, one a second, ten a second.
    for (apart, per, adds_a_record) in [(10, 1, 12), (1, 1, 60), (1, 10, 60)] {
        let (mut native, mut paper) = (
            Native::new(Count::new(), spec),
            LeftRight::new(Count::new(), spec, Reading::Corrected),
        );
        let mut n = 0;
        for time in (0..6_000).step_by(apart) {
            for _ in 0..per {
                let _ = native.push(time, &(), |_| ()).unwrap();
                let _ = paper.push(time, &(), |_| ()).unwrap();
                n += 1;
            }
        }
        assert_eq!(native.cost().adds, 60 * n);
        assert!(paper.cost().windows <= 2 * n);
        let adds = paper.cost().adds as f64 / n as f64;
        let right = f64::from(adds_a_record);
        assert!((right * 0.95..right + 1.5).contains(&adds), "{adds} adds a record");
    }
}

#[test]
fn words_taken_literally_are_wrong() {
    let cases: [(Reading, i64, &[i64]); 4] = [
        (Reading::NewestCreated, 5, &[4, 8, 10]),
        (Reading::BothSides, 3, &[36, 37]),
        (Reading::NoCoincidence, 5, &[14, 19]),
        (Reading::Purged, 3, &[36, 37]),
    ];
    for (reading, size, times) in cases {
        let (spec, records) = (sliding(size, 1), at(times.iter().copied()));
        let right = changes(&spec, &List, &records, Emit::ContentChange, 1_000);
        assert_eq!(left_right(Reading::Corrected, spec, &records, 1_000), right);
        assert_ne!(left_right(reading, spec, &records, 1_000), right, "{reading:?}");
    }
    // What the first of them says: the record at 10 without the one at 8.
    let told = left_right(Reading::NewestCreated, sliding(5, 1), &at([4, 8, 10]), 1_000);
    assert!(told.contains(&Change::new(11, Some(vec![3]))), "{told:?}");
}

#[test]
fn the_rivals_of_section_3_know_the_window_at_each_record() {
    let times = [0, 1, 1, 7, 9, 10, 11, 19, 25, 25, 26, 60];
    let values = |from: i64, time: i64| -> i64 {
        times.iter().filter(|&&t| from <= t && t <= time).map(|t| t + 1).sum()
    };
    let mut raw = ProcessFunction::new(Sum::<i64>::new(), 10).unwrap();
    let mut buckets = Buckets::new(Sum::<i64>::new(), 10, 5).unwrap();
    let mut seen = 0;
    for (i, &time) in times.iter().enumerate() {
        // Of one time only the last result is that of the whole instant.
        let (a, b) = (raw.push(time, time + 1), buckets.push(time, &(time + 1)));
        if times.get(i + 1) == Some(&time) {
            continue;
        }
        assert_eq!(a, Ok(Ok(values(time - 9, time))), "at {time}");
        let from = buckets.counts_from(time);
        // The error: up to width − 1 instants are left out.
        assert!((time - 9..time - 9 + 5).contains(&from));
        assert_eq!(b, Ok(Ok(values(from, time))), "at {time}");
        seen += u32::from(from > time - 9);
    }
    assert!(seen > 0);
    assert_eq!(buckets.cost().adds, 12);
    assert!(raw.cost().adds > 12);
    assert_eq!(raw.push(59, 1), Err(Error::OutOfOrder { time: 59, now: 60 }));
    assert_eq!(buckets.push(59, &1), Err(Error::OutOfOrder { time: 59, now: 60 }));
}

#[test]
fn buckets_of_no_use_are_refused() {
    for width in [0, -5, 3, 11, i64::MIN] {
        let refused = Buckets::new(Count::<()>::new(), 10, width).err();
        assert_eq!(refused, Some(Error::BadWidth { width }));
    }
    assert_eq!(Buckets::new(Count::<()>::new(), 0, 1).err(), Some(Error::BadSize { size: 0 }));
    assert_eq!(
        ProcessFunction::new(Count::<()>::new(), -1).err(),
        Some(Error::BadSize { size: -1 })
    );
    // At the ends of time.
    let mut raw = ProcessFunction::new(Count::new(), i64::MAX).unwrap();
    let mut buckets = Buckets::new(Count::new(), i64::MAX, i64::MAX).unwrap();
    for time in [i64::MIN, -1, 0, i64::MAX] {
        assert!(raw.push(time, ()).is_ok() && buckets.push(time, &()).is_ok());
        let _ = buckets.counts_from(time);
    }
    assert_eq!(
        buckets.push(i64::MIN, &()).err().map(|e| matches!(e, Error::OutOfOrder { .. })),
        Some(true)
    );
}

/// Correction 5: one record a cell keeps the count, so that changes of value fall silent.
#[test]
fn silence_means_nothing_where_values_are_told() {
    let run = |emit| {
        let mut window = KeyWindow::new(Count::new(), sliding(10, 1)).emit(emit);
        let mut last = 0;
        for time in 0..1_000 {
            let _ = window.push(time, &(), |change| last = change.end).unwrap();
        }
        last
    };
    assert_eq!((run(Emit::ContentChange), run(Emit::ValueChange)), (999, 10));
}
