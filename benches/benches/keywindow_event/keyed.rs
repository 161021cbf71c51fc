//! Many keys, with one record in ten out of order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use keywindow::aggregates::{Overflow, Sum};
use keywindow::{Change, EventWindows, KeyWindows, Said, Update, WindowSpec};

use crate::streams::{Row, Stream};
use crate::{median, timed};

const SECOND: i64 = 1_000;
const HOUR: i64 = 3_600 * SECOND;

/// One record in ten comes later, by up to so many others.
pub struct Disorder {
    stream: Stream,
    random: u64,
    number: u64,
    most: u64,
    held: BinaryHeap<Reverse<(u64, Row)>>,
}

impl Disorder {
    pub fn new(stream: Stream, most: u64) -> Self {
        Self { stream, random: 7, number: 0, most, held: BinaryHeap::new() }
    }

    pub fn take(&mut self, n: usize) -> Vec<Row> {
        let mut rows = Vec::with_capacity(n + n / 8);
        for row in self.stream.take(n) {
            self.number += 1;
            self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let random = self.random >> 33;
            if random.is_multiple_of(10) {
                let behind = 1 + random / 10 % self.most;
                self.held.push(Reverse((self.number + behind, row)));
            } else {
                rows.push(row);
            }
            while self.held.peek().is_some_and(|held| held.0.0 <= self.number) {
                rows.extend(self.held.pop().map(|held| held.0.1));
            }
        }
        rows
    }

    /// Those that have not come.
    fn rest(&mut self) -> Vec<Row> {
        std::mem::take(&mut self.held)
            .into_sorted_vec()
            .into_iter()
            .rev()
            .map(|held| held.0.1)
            .collect()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Told {
    results: u64,
    sum: i64,
}

impl Told {
    fn add(&mut self, value: Option<Result<i32, Overflow>>) {
        self.results += 1;
        self.sum = self.sum.wrapping_add(value.map_or(0, |sum| i64::from(sum.unwrap())));
    }
}

enum Windows {
    Ordered(KeyWindows<u32, Sum<i32>>),
    /// With the watermark so far behind the newest record.
    Event(EventWindows<u32, Sum<i32>>, i64),
}

struct Contender {
    name: &'static str,
    windows: Windows,
    /// Whether it takes the records out of order.
    disorder: bool,
    told: Told,
    newest: i64,
}

impl Contender {
    fn push(&mut self, rows: &[Row]) {
        let told = &mut self.told;
        match &mut self.windows {
            Windows::Ordered(windows) => {
                let mut sink = |_: &u32, change: Change<_>| told.add(change.value);
                for (key, time, x) in rows {
                    let _ = windows.push(key, *time, x, &mut sink).unwrap();
                }
            }
            Windows::Event(windows, lag) => {
                let mut sink = |_: &u32, update: Update<_>| match update.said {
                    Said::Value(value) => told.add(Some(value)),
                    _ => told.add(None),
                };
                for (key, time, x) in rows {
                    if *time > self.newest {
                        self.newest = *time;
                        windows.advance_to(*time - *lag, &mut sink);
                    }
                    let _ = windows.push(key, *time, x, &mut sink).unwrap();
                }
            }
        }
    }

    fn end(&mut self) {
        let told = &mut self.told;
        match &mut self.windows {
            Windows::Ordered(windows) => {
                windows.advance_to(i64::MAX, |_, change| told.add(change.value));
            }
            Windows::Event(windows, _) => windows.advance_to(i64::MAX, |_, update| {
                told.add(if let Said::Value(value) = update.said { Some(value) } else { None });
            }),
        }
    }
}

struct Workload {
    name: &'static str,
    spec: WindowSpec,
    keys: u32,
    rate: u64,
    /// A thousand slides.
    behind: i64,
    fill: usize,
    turn: usize,
    turns: usize,
}

fn run(workload: &Workload) {
    let &Workload { spec, keys, rate, behind, .. } = workload;
    let ordered = || Windows::Ordered(KeyWindows::new(Sum::new(), spec));
    let event = |lag| Windows::Event(EventWindows::new(Sum::new(), spec), lag);
    let contender = |name, windows, disorder| Contender {
        name,
        windows,
        disorder,
        told: Told::default(),
        newest: i64::MIN,
    };
    let mut all = [
        contender("KeyWindows, in order", ordered(), false),
        contender("EventWindows, in order, watermark of the record", event(0), false),
        contender("EventWindows, in order, watermark behind", event(behind), false),
        contender("EventWindows, 10 % out of order, none late", event(behind), true),
        contender("EventWindows, 10 % out of order and late", event(0), true),
    ];
    let mut stream = Stream::even(keys, rate);
    let most = behind.cast_unsigned() * rate / 1_000;
    let mut disorder = Disorder::new(Stream::even(keys, rate), most);
    let mut left = workload.fill;
    while left > 0 {
        let n = left.min(100_000);
        left -= n;
        let (rows, disordered) = (stream.take(n), disorder.take(n));
        for each in &mut all {
            each.push(if each.disorder { &disordered } else { &rows });
        }
    }
    let mut nanos = vec![Vec::new(); all.len()];
    for _ in 0..workload.turns {
        let (rows, disordered) = (stream.take(workload.turn), disorder.take(workload.turn));
        for (each, nanos) in all.iter_mut().zip(&mut nanos) {
            let rows = if each.disorder { &disordered } else { &rows };
            nanos.push(timed(|| each.push(rows)) / rows.len() as f64);
        }
    }
    println!("\n{:<48} ns a record    rate to the first", workload.name);
    let medians: Vec<f64> = nanos.into_iter().map(median).collect();
    let rest = disorder.rest();
    for (each, nanos) in all.iter_mut().zip(&medians) {
        println!("{:<48} {nanos:>11.1} {:>12.2}", each.name, medians[0] / nanos);
        if let Windows::Event(windows, _) = &each.windows {
            let stats = windows.stats();
            println!(
                "{:48} {} keys, {} in trees, {} slices, {:.1} B a slice; {} partial, {} late",
                "",
                stats.keys,
                stats.trees,
                stats.slices,
                stats.heap_bytes as f64 / stats.slices as f64,
                stats.partial,
                stats.late
            );
        }
        if each.disorder {
            each.push(&rest);
        }
        each.end();
    }
    // All but the last, which lost windows, told the same.
    assert!(all[1..4].iter().all(|each| each.told == all[0].told));
    assert!(all[4].told.results > 0);
}

pub fn two_minutes() {
    run(&Workload {
        name: "120 s / 2 s, 10,000 keys, 10,000/s",
        spec: WindowSpec::sliding(120 * SECOND, 2 * SECOND).unwrap(),
        keys: 10_000,
        rate: 10_000,
        // Up to 30 of the 60 slides; a thousand would be further than the window is long.
        behind: 60 * SECOND,
        fill: 2_000_000,
        turn: 100_000,
        turns: 9,
    });
}

pub fn hour_by_milliseconds() {
    run(&Workload {
        name: "1 h / 1 ms, 10,000 keys, 1,000/s",
        spec: WindowSpec::sliding(HOUR, 1).unwrap(),
        keys: 10_000,
        rate: 1_000,
        behind: SECOND,
        fill: 3_700_000,
        turn: 100_000,
        turns: 7,
    });
}
