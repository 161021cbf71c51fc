//! Tables of expected windows from other projects' tests, by fact.

#![allow(clippy::unwrap_used)]

mod common;

use common::{List, Records, at, lists, pairs};
use keywindow::aggregates::Sum;
use keywindow::oracle::{changes, native};
use keywindow::{Emit, WindowSpec};

/// Windows as `end:digits`, `end:-` for the empty one.
fn told(spec: WindowSpec, records: &Records) -> String {
    let told = lists(spec, records);
    let until = i64::MAX;
    assert_eq!(told, changes(&spec, &List, records, Emit::ContentChange, until));
    let each = told.iter().map(|change| {
        let digits: String = change.value.iter().flatten().map(u32::to_string).collect();
        format!("{}:{}", change.end, if digits.is_empty() { "-" } else { &digits })
    });
    each.collect::<Vec<_>>().join(" ")
}

/// T2: Kafka Streams, windows of records up to 10 apart.
#[test]
fn t2_small_input() {
    assert_eq!(
        told(WindowSpec::closed(10).unwrap(), &at([10, 14, 15, 22, 26, 30])),
        "11:1 15:12 16:123 22:23 23:234 26:34 27:45 31:456 34:56 38:6 42:-"
    );
}

/// T5: the example of Kafka Streams' documentation: five windows hold something.
#[test]
fn t5_records_up_to_five_seconds_apart() {
    assert_eq!(
        told(WindowSpec::closed(5_000).unwrap(), &at([8_000, 9_200, 12_400])),
        "8001:1 9201:12 12401:123 13002:23 14202:3 17402:-"
    );
}

fn sums(emit: Emit, spec: WindowSpec, records: &[(i64, i64)]) -> Vec<(i64, Option<i64>)> {
    let told = pairs(Sum::<i64>::new(), spec, emit, records);
    told.into_iter().map(|(end, sum)| (end, sum.map(Result::unwrap))).collect()
}

fn native_sums(spec: WindowSpec, records: &[(i64, i64)]) -> Vec<(i64, i64)> {
    let windows = native(&spec, &Sum::<i64>::new(), records, i64::MAX);
    windows.into_iter().map(|(end, sum)| (end, sum.unwrap())).collect()
}

/// T9: Scotty, size 10 and slide 3.
#[test]
fn t9_a_slide_that_does_not_divide_the_size() {
    let ones = [1].into_iter().chain(9..=15).chain([19, 22, 23, 24]).map(|time| (time, 1));
    let mut records: Vec<(i64, i64)> = ones.chain([(21, 2), (29, 3), (36, 4)]).collect();
    records.sort_by_key(|record| record.0);
    let spec = WindowSpec::sliding(10, 3).unwrap();
    let windows = [
        (4, 1),
        (7, 1),
        (10, 2),
        (13, 4),
        (16, 7),
        (19, 7),
        (22, 7),
        (25, 7),
        (28, 6),
        (31, 8),
        (34, 4),
        (37, 7),
        (40, 4),
        (43, 4),
        (46, 4),
    ];
    assert_eq!(native_sums(spec, &records), windows);
    let content = [
        (4, Some(1)),
        (10, Some(2)),
        (13, Some(4)),
        (16, Some(7)),
        (22, Some(7)),
        (25, Some(7)),
        (28, Some(6)),
        (31, Some(8)),
        (34, Some(4)),
        (37, Some(7)),
        (40, Some(4)),
        (49, None),
    ];
    assert_eq!(sums(Emit::ContentChange, spec, &records), content);
    let value: Vec<_> = content.into_iter().filter(|&(end, _)| end != 22 && end != 25).collect();
    assert_eq!(sums(Emit::ValueChange, spec, &records), value);
}

#[test]
fn t9_a_slide_of_half_the_size() {
    let records = [(1, 1), (19, 2), (29, 3), (39, 4), (49, 5)];
    let spec = WindowSpec::sliding(10, 5).unwrap();
    let told = [
        (5, Some(1)),
        (15, None),
        (20, Some(2)),
        (30, Some(3)),
        (40, Some(4)),
        (50, Some(5)),
        (60, None),
    ];
    assert_eq!(sums(Emit::ContentChange, spec, &records), told);
    assert_eq!(native_sums(spec, &records).len(), 10);
}

/// RANGE BETWEEN 3 PRECEDING AND 2 PRECEDING: a window of 2, two instants late.
#[test]
fn a_range_that_ends_before_its_row() {
    let times = [0, 1, 2, 3, 4, 5, 9];
    let records: Vec<_> = times.into_iter().zip((0..).map(|i| 10_i64.pow(i))).collect();
    let windows = native_sums(WindowSpec::sliding(2, 1).unwrap(), &records);
    let seen = times.map(|time| windows.iter().find(|&&(end, _)| end == time - 1).map(|w| w.1));
    assert_eq!(seen, [None, None, Some(1), Some(11), Some(110), Some(1_100), None]);
}
