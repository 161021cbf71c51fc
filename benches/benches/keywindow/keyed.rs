//! The windows of many keys.

use keywindow::WindowSpec;

use crate::contenders::{Contender, DabaOfFew, Floor, SubtractOfFew, TwoStacksOfFew, ours};
use crate::rivals::{Dense, Native, Paper, Slices};
use crate::streams::Stream;
use crate::{median, timed};

const SECOND: i64 = 1_000;
const HOUR: i64 = 3_600 * SECOND;

struct Workload {
    name: &'static str,
    stream: Stream,
    /// Records before the first turn: a full window.
    fill: usize,
    /// Records a turn.
    turn: usize,
    turns: usize,
}

type Contenders = Vec<(&'static str, Box<dyn Contender>)>;

/// The first two tell changes of content; those named "native" every window; all must agree.
fn run(mut workload: Workload, mut all: Contenders) {
    if let Ok(only) = std::env::var("ONLY") {
        all.retain(|(name, _)| name.contains(&only));
    }
    let mut left = workload.fill;
    while left > 0 {
        let rows = workload.stream.take(left.min(100_000));
        left -= rows.len();
        all.iter_mut().for_each(|(_, contender)| contender.push(&rows));
    }
    let mut nanos = vec![Vec::new(); all.len()];
    for _ in 0..workload.turns {
        let rows = workload.stream.take(workload.turn);
        for ((_, contender), nanos) in all.iter_mut().zip(&mut nanos) {
            nanos.push(timed(|| contender.push(&rows)) / rows.len() as f64);
        }
    }
    println!("\n{:<34} ns a record  M records/s  times it      results", workload.name);
    let medians: Vec<f64> = nanos.into_iter().map(median).collect();
    for ((name, contender), each) in all.iter().zip(&medians) {
        let results = contender.told().results;
        println!(
            "{name:<34} {each:>11.1} {:>12.3} {:>9.2} {results:>12}",
            1e3 / each,
            each / medians[0]
        );
        if let Some((bytes, keys, slices)) = contender.memory() {
            let slice = (bytes as f64 - 96.0 * keys as f64) / slices as f64;
            let all = bytes as f64 / slices as f64;
            println!(
                "{:34} {keys} keys, {slices} slices: {all:.1} B a slice in all, {slice:.1} B + 96 B a key",
                ""
            );
        }
    }
    for kind in ["ours", "native"] {
        let mut told = all.iter().filter(|(name, _)| name.starts_with(kind)).map(|(_, c)| c.told());
        let first = told.next();
        assert!(told.all(|told| Some(told) == first), "{kind} differ");
    }
    let find = |name: &str| all.iter().find(|(other, _)| *other == name).map(|(_, c)| c.told());
    if let Some(paper) = find("the paper's method") {
        assert_eq!(Some(paper), all.first().map(|(_, ours)| ours.told()));
    }
}

fn spec(size: i64, slide: i64) -> WindowSpec {
    WindowSpec::sliding(size, slide).unwrap()
}

pub fn two_minutes() {
    let spec = spec(120 * SECOND, 2 * SECOND);
    let workload = Workload {
        name: "120 s / 2 s, 10,000 keys, 10,000/s",
        stream: Stream::even(10_000, 10_000),
        fill: 1_300_000,
        turn: 100_000,
        turns: 9,
    };
    run(
        workload,
        vec![
            ("ours, in batches", ours::<TwoStacksOfFew>(spec, Some(1_024))),
            ("ours, one by one", ours::<TwoStacksOfFew>(spec, None)),
            ("ours, DABA", ours::<DabaOfFew>(spec, Some(1_024))),
            ("ours, subtract on evict", ours::<SubtractOfFew>(spec, Some(1_024))),
            ("the paper's method", Box::new(Paper::new(spec))),
            ("native", Box::new(Native::new(spec))),
            ("native, slices merged anew", Box::new(Slices::new(spec))),
            ("native, dense ring", Box::new(Dense::new(spec))),
        ],
    );
}

pub fn hour_by_seconds() {
    let spec = spec(HOUR, SECOND);
    let workload = Workload {
        name: "1 h / 1 s, 100 keys, 10/s",
        stream: Stream::even(100, 10),
        fill: 37_000,
        turn: 2_000,
        turns: 5,
    };
    run(
        workload,
        vec![
            ("ours, in batches", ours::<TwoStacksOfFew>(spec, Some(1_024))),
            ("ours, one by one", ours::<TwoStacksOfFew>(spec, None)),
            ("ours, DABA", ours::<DabaOfFew>(spec, Some(1_024))),
            ("the paper's method", Box::new(Paper::new(spec))),
            ("native", Box::new(Native::new(spec))),
            ("native, slices merged anew", Box::new(Slices::new(spec))),
            ("native, dense ring", Box::new(Dense::new(spec))),
        ],
    );
}

pub fn hour_by_milliseconds() {
    let spec = spec(HOUR, 1);
    let workload = Workload {
        name: "1 h / 1 ms, 10,000 keys, 1,000/s",
        stream: Stream::even(10_000, 1_000),
        fill: 3_700_000,
        turn: 100_000,
        turns: 9,
    };
    run(
        workload,
        vec![
            ("ours, in batches", ours::<TwoStacksOfFew>(spec, Some(1_024))),
            ("ours, one by one", ours::<TwoStacksOfFew>(spec, None)),
            ("ours, DABA", ours::<DabaOfFew>(spec, Some(1_024))),
            ("the paper's method", Box::new(Paper::new(spec))),
        ],
    );
}

pub fn day() {
    let spec = spec(24 * HOUR, 1);
    let workload = Workload {
        name: "1 day / 1 ms, 10^6 keys, Zipf 1.0, 100/s",
        stream: Stream::zipf(1_000_000, 1.0, 100),
        fill: 8_700_000,
        turn: 200_000,
        turns: 11,
    };
    run(
        workload,
        vec![
            ("ours, in batches", ours::<TwoStacksOfFew>(spec, Some(1_024))),
            ("ours, one by one", ours::<TwoStacksOfFew>(spec, None)),
            ("ours, DABA", ours::<DabaOfFew>(spec, Some(1_024))),
            ("floor: running sums", Box::<Floor>::default()),
        ],
    );
}

pub fn sparse() {
    let spec = spec(120 * SECOND, 2 * SECOND);
    let workload = Workload {
        name: "120 s / 2 s, 10^6 keys, Zipf 1.1, 100,000/s",
        stream: Stream::zipf(1_000_000, 1.1, 100_000),
        fill: 12_500_000,
        turn: 500_000,
        turns: 7,
    };
    run(
        workload,
        vec![
            ("ours, in batches", ours::<TwoStacksOfFew>(spec, Some(1_024))),
            ("ours, one by one", ours::<TwoStacksOfFew>(spec, None)),
            ("floor: running sums", Box::<Floor>::default()),
        ],
    );
}
