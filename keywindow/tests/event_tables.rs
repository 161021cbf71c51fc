//! Faults and tables of other projects that need event time; those in order are in `faults.rs` and
//! `tables.rs`.

#![allow(clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use common::List;
use keywindow::aggregates::{Count, First, Max, Sum};
use keywindow::{
    Aggregate, Emit, EventWindow, Late, MultiWindow, Outcome, Said, Update, WindowSpec, expand,
};

/// Windows as `end:digits`, `end:-` for the empty one.
fn text<O: std::fmt::Debug>(told: &[Update<O>], digits: impl Fn(&O) -> String) -> String {
    let each = told.iter().map(|update| match &update.said {
        Said::Value(value) => format!("{}:{}", update.end, digits(value)),
        Said::Empty => format!("{}:-", update.end),
        Said::Withdrawn => format!("{}:x", update.end),
    });
    each.collect::<Vec<_>>().join(" ")
}

fn list(told: &[Update<Vec<u32>>]) -> String {
    text(told, |list| list.iter().map(u32::to_string).collect())
}

fn sums(told: &[Update<Result<i32, keywindow::aggregates::Overflow>>]) -> String {
    text(told, |sum| sum.unwrap().to_string())
}

/// Pushes records at their times, and then lets the watermark come.
fn tell<A: Aggregate<In: Sized>>(
    window: &mut EventWindow<A>,
    records: &[(i64, A::In)],
    watermark: i64,
) -> Vec<Update<A::Out>> {
    let mut told = Vec::new();
    for (time, record) in records {
        let _ = window.push(*time, record, |update| told.push(update)).unwrap();
    }
    window.advance_to(watermark, |update| told.push(update));
    told
}

fn sliding(size: i64, slide: i64) -> WindowSpec {
    WindowSpec::sliding(size, slide).unwrap()
}

/// Windows of records up to 10 apart without grace. Too late is what is in no window that is still to be
/// told; what is in one of them counts there, and makes no other.
#[test]
fn b23_and_b12_a_record_counts_where_its_windows_are_open() {
    let mut window = EventWindow::new(List, WindowSpec::closed(10).unwrap());
    let mut told = tell(&mut window, &[(1, 1)], 20);
    told.extend(tell(&mut window, &[(20, 2)], 20));
    for time in [9, 5] {
        assert_eq!(window.push(time, &3, |_| unreachable!()), Ok(Outcome::Late));
    }
    assert_eq!(window.push(10, &4, |_| unreachable!()), Ok(Outcome::Partial { missed: 10 }));
    told.extend(tell(&mut window, &[], 100));
    assert_eq!(list(&told), "2:1 13:- 21:42 22:2 32:-");
}

/// A record that is partly late is not taken from where it never was, and the first of a window is in it.
#[test]
fn b24_what_cannot_be_taken_back_stays_within_its_windows() {
    let agg = (First::<u32>::new(), Max::<u32>::new());
    let mut window = EventWindow::new(agg, sliding(5, 1));
    let mut told = tell(&mut window, &[(0, 5), (3, 7)], 6);
    assert_eq!(window.push(2, &9, |_| unreachable!()), Ok(Outcome::Partial { missed: 4 }));
    told.extend(tell(&mut window, &[(6, 1)], 50));
    let told = text(&told, |(first, max)| format!("{}/{}", first.unwrap(), max.unwrap()));
    assert_eq!(told, "1:5/5 4:5/7 6:7/7 7:9/9 8:7/7 9:1/1 12:-");
}

/// T3: four keys of Kafka Streams, whose records come in no order.
#[test]
fn t3_records_as_they_came() {
    let rows: [(&[(i64, u32)], &str); 4] = [
        (&[(10, 1), (20, 2), (22, 3), (15, 4)], "11:1 16:14 21:142 22:42 23:423 27:23 32:3 34:-"),
        (
            &[(12, 1), (13, 2), (18, 3), (19, 4), (25, 5), (14, 6)],
            "13:1 14:12 15:126 19:1263 20:12634 24:2634 25:634 26:345 30:45 31:5 37:-",
        ),
        (
            &[(11, 1), (15, 2), (16, 3), (21, 4), (23, 5)],
            "12:1 16:12 17:123 22:1234 23:234 24:2345 27:345 28:45 33:5 35:-",
        ),
        (&[(11, 4), (12, 2), (29, 3), (16, 5)], "12:4 13:42 17:425 23:25 24:5 28:- 30:3 41:-"),
    ];
    for (records, right) in rows {
        let mut window = EventWindow::new(List, WindowSpec::closed(10).unwrap());
        assert_eq!(list(&tell(&mut window, records, 100)), right);
        // Told at once and corrected with each that comes late, a reader has the same in the end.
        let late = Late::Correct { allowed: 50 };
        let mut window =
            EventWindow::new(List, WindowSpec::closed(10).unwrap()).late(late).unwrap();
        let mut read = BTreeMap::new();
        for (time, record) in records {
            let _ = window.push(*time, record, |update| update.apply(&mut read)).unwrap();
            window.advance_to(*time, |update| update.apply(&mut read));
        }
        window.advance_to(100, |update| update.apply(&mut read));
        let read = read
            .into_iter()
            .map(|(end, value)| Update::new(end, value.map_or(Said::Empty, Said::Value), 0));
        assert_eq!(list(&read.collect::<Vec<_>>()), right);
    }
}

/// Scotty, windows of 10 every 5 and of 10, records of 1 out of order, watermarks 22 and 55.
#[test]
fn scotty_out_of_order() {
    let records = [1, 30, 20, 23, 25, 45].map(|time| (time, 1));
    let (slides, tumbles) = (sliding(10, 5), WindowSpec::tumbling(10).unwrap());
    let mut window = EventWindow::new(Sum::<i32>::new(), slides);
    let mut told = tell(&mut window, &records, 22);
    assert_eq!(sums(&told), "5:1 15:-");
    told.extend(tell(&mut window, &[], 55));
    assert_eq!(sums(&told), "5:1 15:- 25:2 30:3 35:2 40:1 45:- 50:1");
    let changes = told.into_iter().filter_map(Update::change);
    let native: Vec<_> =
        expand(&slides, changes, 55).map(|(end, sum)| (end, sum.unwrap())).collect();
    let right = [(5, 1), (10, 1), (25, 2), (30, 3), (35, 2), (40, 1), (50, 1), (55, 1)];
    assert_eq!(native, right);

    let mut window = EventWindow::new(Sum::<i32>::new(), tumbles);
    assert_eq!(sums(&tell(&mut window, &records, 22)), "10:1 20:-");
    assert_eq!(sums(&tell(&mut window, &[], 55)), "30:3 40:1 50:1");
}

/// Scotty: a record behind the watermark by more than the lateness counts in no window.
#[test]
fn scotty_outside_the_allowed_lateness() {
    for late in [Late::Drop, Late::Partial, Late::Correct { allowed: 1_000 }] {
        let mut window = EventWindow::new(Sum::<i32>::new(), sliding(10, 5)).late(late).unwrap();
        let told = tell(&mut window, &[(2_600, 1)], 3_000);
        assert_eq!(sums(&told), "2605:1 2615:-");
        let _ = window.push(3_700, &1, |_| unreachable!()).unwrap();
        assert_eq!(window.push(1_980, &1, |_| unreachable!()), Ok(Outcome::Late));
        // Within it, corrections bring it in: in the windows to 2,000, which is final, and to 2,005.
        let mut told = Vec::new();
        let outcome = window.push(1_997, &1, |update| told.push(update)).unwrap();
        match late {
            Late::Correct { .. } => {
                assert_eq!(outcome, Outcome::Partial { missed: 1 });
                assert_eq!(sums(&told), "2005:1 2010:-");
            }
            _ => assert_eq!(outcome, Outcome::Late),
        }
    }
}

/// Scotty, windows of 10 every 5 and of 20 over the same slices.
#[test]
fn scotty_two_windows() {
    let specs = [sliding(10, 5), WindowSpec::tumbling(20).unwrap()];
    let mut windows = MultiWindow::new(Sum::<i32>::new(), specs);
    for (time, value) in [(1, 1), (19, 2), (29, 3), (39, 4), (49, 5)] {
        assert_eq!(windows.push(time, &value), Ok([Outcome::Accepted; 2].as_slice()));
    }
    let mut told = [vec![], vec![]];
    windows.advance_to(22, |at, update| told[at].push(update));
    assert_eq!([sums(&told[0]), sums(&told[1])], ["5:1 15:- 20:2", "20:3"]);
    windows.advance_to(55, |at, update| told[at].push(update));
    assert_eq!(sums(&told[0]), "5:1 15:- 20:2 30:3 40:4 50:5");
    assert_eq!(sums(&told[1]), "20:3 40:7");
    // Those at 29 and 39 are in the last window of 20 that has ended.
    assert_eq!(windows.slices(), 3);
}

/// With one record a cell the count is the same for ever, and changes of value say nothing. A heartbeat does.
#[test]
fn a_constant_count_beats() {
    let beat = NonZeroU64::new(10).unwrap();
    let silent = EventWindow::new(Count::new(), sliding(5, 1)).emit(Emit::ValueChange);
    let mut told = [0, 0];
    for (told, mut window) in told.iter_mut().zip([silent.clone(), silent.heartbeat(beat)]) {
        let mut last = 0;
        for time in 0..1_000 {
            let _ = window.push(time, &(), |_| unreachable!()).unwrap();
            window.advance_to(time + 1, |update| {
                assert!(matches!(update.said, Said::Value(1..=5)));
                *told += 1;
                last = update.end;
            });
        }
        assert!(*told < 6 || last > 990);
    }
    assert_eq!(told[0], 5);
    assert!((104..=106).contains(&told[1]), "{told:?}");
}

/// The example of the second correction to the research: a record that enters late makes a change of its
/// own where it begins to count.
#[test]
fn an_effective_entry_is_a_change() {
    let mut window = EventWindow::new(List, sliding(10, 1));
    let mut told = tell(&mut window, &[(0, 1)], 5);
    told.extend(tell(&mut window, &[(0, 2)], 100));
    assert_eq!(list(&told), "1:1 6:12 11:-");
}

/// A wheel of ticks that only grow would lose the second: 100 came first.
#[test]
fn an_earlier_record_comes_after_a_later_one() {
    let mut window = EventWindow::new(List, sliding(10, 1));
    let _ = window.push(100, &1, |_| unreachable!()).unwrap();
    assert_eq!(window.next_deadline(), Some(101));
    let _ = window.push(50, &2, |_| unreachable!()).unwrap();
    assert_eq!(window.next_deadline(), Some(51));
    assert_eq!(list(&tell(&mut window, &[], 1_000)), "51:2 61:- 101:1 111:-");
}
