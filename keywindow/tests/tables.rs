//! Tables of expected windows from other projects' tests, by fact.

#![cfg(feature = "keys")]
#![allow(clippy::unwrap_used)]

mod common;

use common::{List, Records, at, lists, pairs};
use keywindow::aggregates::{Count, Max, Min, Sum};
use keywindow::oracle::{changes, native};
use keywindow::{Change, Emit, KeyWindow, KeyWindows, WindowSpec};

/// Windows as `end:digits`, `end:-` for the empty one.
fn told(spec: WindowSpec, records: &Records) -> String {
    let told = lists(spec, records);
    let until = i64::MAX;
    assert_eq!(told, changes(&spec, &List, records, Emit::ContentChange, until));
    text(&told)
}

fn text<'a>(told: impl IntoIterator<Item = &'a Change<Vec<u32>>>) -> String {
    let each = told.into_iter().map(|change| {
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

/// T1: Kafka Streams, two records at one time.
#[test]
fn t1_two_records_at_one_time() {
    assert_eq!(
        told(WindowSpec::closed(10).unwrap(), &at([10, 10, 14, 15, 20, 22, 30])),
        "11:12 15:123 16:1234 21:12345 22:345 23:3456 26:456 27:56 31:567 32:67 34:7 42:-"
    );
}

/// The same of Kafka Streams where it tells of windows that are closed alone: with a grace of 5 and a
/// last record at 30, those that end by 25 in our count.
#[test]
fn t1_and_t2_told_when_final() {
    let final_ends = |times: &[i64]| {
        let mut window = KeyWindow::new(List, WindowSpec::closed(10).unwrap());
        let mut ends = Vec::new();
        let grace = 5;
        let last = times.last().unwrap();
        for (time, number) in at(times.iter().copied().filter(|time| *time <= last - grace)) {
            let _ = window.push(time, &number, |change| ends.push(change.end)).unwrap();
        }
        window.advance_to(last - grace, |change| ends.push(change.end));
        ends
    };
    assert_eq!(final_ends(&[10, 10, 14, 15, 20, 22, 30]), [11, 15, 16, 21, 22, 23]);
    assert_eq!(final_ends(&[10, 14, 15, 22, 26, 30]), [11, 15, 16, 22, 23]);
}

/// T3: four keys of Kafka Streams, whose records come in no order; a batch brings them into order.
#[test]
fn t3_four_keys_in_one_batch() {
    let rows = [
        ('A', 10, 1),
        ('A', 20, 2),
        ('A', 22, 3),
        ('A', 15, 4),
        ('B', 12, 1),
        ('B', 13, 2),
        ('B', 18, 3),
        ('B', 19, 4),
        ('B', 25, 5),
        ('B', 14, 6),
        ('C', 11, 1),
        ('C', 15, 2),
        ('C', 16, 3),
        ('C', 21, 4),
        ('C', 23, 5),
        ('D', 11, 4),
        ('D', 12, 2),
        ('D', 29, 3),
        ('D', 16, 5),
    ];
    let mut windows = KeyWindows::new(List, WindowSpec::closed(10).unwrap());
    let mut all = Vec::new();
    let batch = windows.push_batch(&rows, |key, change| all.push((*key, change)));
    assert_eq!((batch.accepted, batch.refused), (rows.len(), vec![]));
    windows.advance_to(100, |key, change| all.push((*key, change)));
    let of = |key| text(all.iter().filter(|change| change.0 == key).map(|change| &change.1));
    assert_eq!(of('A'), "11:1 16:14 21:142 22:42 23:423 27:23 32:3 34:-");
    assert_eq!(of('B'), "13:1 14:12 15:126 19:1263 20:12634 24:2634 25:634 26:345 30:45 31:5 37:-");
    assert_eq!(of('C'), "12:1 16:12 17:123 22:1234 23:234 24:2345 27:345 28:45 33:5 35:-");
    assert_eq!(of('D'), "12:4 13:42 17:425 23:25 24:5 28:- 30:3 41:-");
}

/// T11: Arroyo, 5 records a second for 20 seconds, windows of 10 seconds every 2: fourteen of them.
#[test]
fn t11_fourteen_windows_and_no_more() {
    let agg = (Count::new(), Min::<i64>::new(), Max::<i64>::new());
    let records: Vec<_> = (0..100).map(|i| (20_000 + 200 * i, i)).collect();
    let spec = WindowSpec::sliding(10_000, 2_000).unwrap();
    let windows = [
        (22, 10, 0, 9),
        (24, 20, 0, 19),
        (26, 30, 0, 29),
        (28, 40, 0, 39),
        (30, 50, 0, 49),
        (32, 50, 10, 59),
        (34, 50, 20, 69),
        (36, 50, 30, 79),
        (38, 50, 40, 89),
        (40, 50, 50, 99),
        (42, 40, 60, 99),
        (44, 30, 70, 99),
        (46, 20, 80, 99),
        (48, 10, 90, 99),
    ]
    .map(|(end, count, min, max)| (end * 1_000, (count, Some(min), Some(max))));
    assert_eq!(native(&spec, &agg, &records, i64::MAX), windows);
    let right: Vec<_> = windows
        .into_iter()
        .map(|(end, value)| (end, Some(value)))
        .chain([(50_000, None)])
        .collect();
    assert_eq!(pairs(agg, spec, Emit::ContentChange, &records), right);
}

/// Quix Streams, records up to 10 apart: the cases of its test that come in order, and those that do
/// not in order.
#[test]
fn quix_left_and_right_windows() {
    let cases: [(&[i64], &str); 9] = [
        // A left window is there already.
        (&[17, 17], "18:12 29:-"),
        // A right window is made for the record before.
        (&[11, 19], "12:1 20:12 23:2 31:-"),
        // What has expired is still needed.
        (&[16, 24, 25], "17:1 25:12 26:123 28:23 36:3 37:-"),
        // The state to inherit is in the earliest window that can have it, or in none.
        (&[11, 21], "12:1 22:12 23:2 33:-"),
        (&[11, 22], "12:1 23:2 34:-"),
        // A window that starts before 0.
        (&[3], "4:1 15:-"),
        // Right windows: updated, become a left one, of no use.
        (&[20, 23, 27], "21:1 24:12 28:123 32:23 35:3 39:-"),
        (&[20, 23, 31, 31], "21:1 24:12 32:234 35:34 43:-"),
        (&[26, 29, 41], "27:1 30:12 38:2 41:- 42:3 53:-"),
    ];
    for (times, right) in cases {
        assert_eq!(told(WindowSpec::closed(10).unwrap(), &at(times.iter().copied())), right);
    }
}

/// Trill: sums and maxima of tumbling and hopping windows, of all records and of each key.
#[test]
fn trill_snapshots() {
    type Case<'a> = (i64, &'a [(char, i64, i64)], &'a [(char, i64, Option<i64>)]);
    let apart = [('A', 11, 1), ('A', 12, 1), ('D', 21, 2), ('D', 25, 2)];
    let mixed = [('A', 11, 1), ('A', 12, 1), ('A', 21, 2), ('D', 25, 2)];
    let idle = [('A', 11, 1), ('A', 12, 1), ('A', 41, 2), ('D', 45, 2)];
    let cases: [Case<'_>; 6] = [
        (10, &apart, &[('A', 20, Some(2)), ('D', 30, Some(4)), ('A', 30, None), ('D', 40, None)]),
        (
            10,
            &mixed,
            &[
                ('A', 20, Some(2)),
                ('A', 30, Some(2)),
                ('D', 30, Some(2)),
                ('A', 40, None),
                ('D', 40, None),
            ],
        ),
        (
            10,
            &idle,
            &[
                ('A', 20, Some(2)),
                ('A', 30, None),
                ('A', 50, Some(2)),
                ('D', 50, Some(2)),
                ('A', 60, None),
                ('D', 60, None),
            ],
        ),
        (20, &apart, &[('A', 20, Some(2)), ('D', 30, Some(4)), ('A', 40, None), ('D', 50, None)]),
        (
            20,
            &mixed,
            &[
                ('A', 20, Some(2)),
                ('A', 30, Some(4)),
                ('D', 30, Some(2)),
                ('A', 40, Some(2)),
                ('A', 50, None),
                ('D', 50, None),
            ],
        ),
        (
            20,
            &idle,
            &[
                ('A', 20, Some(2)),
                ('A', 40, None),
                ('A', 50, Some(2)),
                ('D', 50, Some(2)),
                ('A', 70, None),
                ('D', 70, None),
            ],
        ),
    ];
    for (size, rows, right) in cases {
        let spec = WindowSpec::sliding(size, 10).unwrap();
        let mut windows = KeyWindows::new(Sum::<i64>::new(), spec);
        let mut all = Vec::new();
        let mut sink = |key: &char, change: Change<Result<i64, _>>| {
            all.push((*key, change.end, change.value.map(Result::unwrap)));
        };
        let _ = windows.push_batch(rows, &mut sink);
        windows.advance_to(100, &mut sink);
        assert_eq!(all, right, "size {size}, {rows:?}");
    }

    let records = mixed.map(|(_, time, value)| (time, value));
    let maxima = |size, emit| {
        let spec = WindowSpec::sliding(size, 10).unwrap();
        let told = pairs(Max::<i64>::new(), spec, emit, &records);
        told.into_iter().map(|(end, max)| (end, max.flatten())).collect::<Vec<_>>()
    };
    let spec = |size| WindowSpec::sliding(size, 10).unwrap();
    assert_eq!(native_sums(spec(10), &records), [(20, 2), (30, 4)]);
    assert_eq!(native_sums(spec(20), &records), [(20, 2), (30, 6), (40, 4)]);
    assert_eq!(maxima(10, Emit::ContentChange), [(20, Some(1)), (30, Some(2)), (40, None)]);
    assert_eq!(
        maxima(20, Emit::ContentChange),
        [(20, Some(1)), (30, Some(2)), (40, Some(2)), (50, None)]
    );
    assert_eq!(maxima(20, Emit::ValueChange), [(20, Some(1)), (30, Some(2)), (50, None)]);
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
