//! Snapshot and restore beside a copy of the bytes.

use std::hint::black_box;

use keywindow::aggregates::Sum;
use keywindow::{EventWindows, WindowSpec};

use crate::keyed::Disorder;
use crate::streams::Stream;
use crate::{median, timed};

const LABEL: &str = "sum 1";

pub fn run() {
    println!(
        "\nsnapshot of 120 s / 2 s with 10,000 keys, and of 1,000,000 keys with a slice or two"
    );
    for (keys, rate, records) in [(10_000, 10_000, 1_300_000), (1_000_000, 10_000, 1_200_000)] {
        let spec = WindowSpec::sliding(120_000, 2_000).unwrap();
        let new = || EventWindows::<u32, _>::new(Sum::<i32>::new(), spec);
        let mut windows = new();
        let mut stream = Disorder::new(Stream::even(keys, rate), 1_000);
        for (key, time, x) in stream.take(records) {
            windows.advance_to(time - 50, |_, _| ());
            let _ = windows.push(&key, time, &x, |_, _| ()).unwrap();
        }
        let bytes = windows.snapshot(LABEL);
        let mut nanos = [Vec::new(), Vec::new(), Vec::new()];
        for _ in 0..9 {
            let copy = timed(|| drop(black_box(black_box(&bytes).clone())));
            let mut again = Vec::new();
            let write = timed(|| again = black_box(&windows).snapshot(LABEL));
            assert_eq!(again, bytes);
            let mut restored = None;
            let read = timed(|| restored = new().restore(LABEL, black_box(&bytes)).ok());
            assert_eq!(restored.unwrap().len(), windows.len());
            for (nanos, spent) in nanos.iter_mut().zip([copy, write, read]) {
                nanos.push(spent);
            }
        }
        let stats = windows.stats();
        println!(
            "{} keys, {} slices, {} in trees: {} bytes",
            stats.keys,
            stats.slices,
            stats.trees,
            bytes.len()
        );
        let [copy, write, read] = nanos.map(median);
        for (name, spent) in [("copy", copy), ("snapshot", write), ("restore", read)] {
            println!(
                "{name:>10} {:>9.2} ms {:>8.0} MB/s, {:.3} of the copy's rate",
                spent / 1e6,
                bytes.len() as f64 * 1e3 / spent,
                copy / spent
            );
        }
    }
}
