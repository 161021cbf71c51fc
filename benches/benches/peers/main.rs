//! The engine beside what one would use instead, on the same records in one run.
//!
//! First a table: CPU and wall time an item, the median of `RUNS` (default 7) runs that take turns,
//! so that a busy minute meets all sides alike. Then the same by Criterion, by wall time.
//! `WORDS_FILE` names a text for the words; `ONLY` keeps the rows whose name holds one of its parts,
//! which stand between semicolons.
//! Every run's counts are checked.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::cast_possible_truncation)]

mod acked;
mod combined;
mod others;
mod ours;
mod with_timely;
mod work;

use std::sync::Arc;
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;
use criterion::Criterion;
use streamwright::Guarantee::{AtLeastOnce, AtMostOnce, ExactlyOnce};

use work::{Counts, Item, Lines, Tens, Work};

/// One side of one piece of work: its name, and a run of it that checks its own result.
struct Row {
    name: String,
    items: u64,
    run: Box<dyn Fn()>,
}

/// Rows of one kind of work.
struct Table {
    rows: Vec<Row>,
}

impl Table {
    fn add<T: Item>(
        &mut self,
        name: String,
        truth: &Arc<Counts<T>>,
        run: impl Fn() -> Counts<T> + 'static,
    ) {
        let only = std::env::var("ONLY").unwrap_or_default();
        if !only.split(';').any(|part| name.contains(part)) {
            return;
        }
        let truth = Arc::clone(truth);
        let items = truth.values().sum();
        let run = Box::new(move || assert!(run() == *truth, "a side counted something else"));
        self.rows.push(Row { name, items, run });
    }

    /// Work that is the same on all sides: records that lead to items.
    fn add_all<W: Work>(&mut self, kind: &str, work: &Arc<W>)
    where
        W::Item: timely::ExchangeData,
    {
        let truth = Arc::new(work::truth(&**work));
        for workers in [1, 2] {
            let w = || Arc::clone(work);
            let (a, b, c, d, e) = (w(), w(), w(), w(), w());
            let name = |what: &str| format!("{kind}, {workers}: {what}");
            self.add(name("timely"), &truth, move || with_timely::counted(&a, workers));
            self.add(name("ours, acks off"), &truth, move || {
                ours::counted(&b, workers, AtMostOnce)
            });
            self.add(name("timely with acks"), &truth, move || acked::counted(&c, workers));
            self.add(name("ours, acks on"), &truth, move || {
                ours::counted(&d, workers, AtLeastOnce)
            });
            self.add(name("ours, exactly once"), &truth, move || {
                ours::counted(&e, workers, ExactlyOnce)
            });
        }
    }

    fn add_words(&mut self, lines: &Arc<Lines>) {
        let truth = Arc::new(work::truth(&**lines));
        let text = Arc::clone(lines);
        self.add("words, 1: plain loop".into(), &truth, move || work::truth(&*text));
        for workers in [1, 2] {
            let w = || Arc::clone(lines);
            let (a, b, c) = (w(), w(), w());
            let name = |what: &str| format!("words, {workers}: {what}");
            self.add(name("rayon fold"), &truth, move || others::rayon(&a, workers));
            self.add(name("renoir a word"), &truth, move || others::renoir(&b, workers, false));
            self.add(name("renoir pre-aggregated"), &truth, move || {
                others::renoir(&c, workers, true)
            });
        }
        self.add_all("words", lines);
        for workers in [1, 2] {
            for (acks, guarantee) in [("off", AtMostOnce), ("on", AtLeastOnce)] {
                let w = || Arc::clone(lines);
                let (a, b, c) = (w(), w(), w());
                let name = |what: &str| format!("words, {workers}: {what}, acks {acks}");
                self.add(name("ours combined"), &truth, move || {
                    combined::strings(&a, workers, guarantee)
                });
                self.add(name("ours Text"), &truth, move || {
                    combined::text(&b, workers, guarantee, false)
                });
                self.add(name("ours Text combined"), &truth, move || {
                    combined::text(&c, workers, guarantee, true)
                });
            }
        }
    }

    /// Runs all in turn, and prints the medians.
    fn print(&self) {
        let runs = std::env::var("RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(7);
        let mut times: Vec<Vec<(Duration, Duration)>> = vec![Vec::new(); self.rows.len()];
        for _ in 0..runs {
            for (row, times) in self.rows.iter().zip(&mut times) {
                let (cpu, wall) = (ProcessTime::now(), Instant::now());
                (row.run)();
                times.push((cpu.elapsed(), wall.elapsed()));
            }
        }
        println!("{:<34} {:>12} {:>12}", "work, workers: side", "CPU ns/item", "wall ns/item");
        for (row, times) in self.rows.iter().zip(&mut times) {
            #[allow(clippy::cast_precision_loss)]
            let mut median = |of: fn(&(Duration, Duration)) -> Duration| {
                times.sort_by_key(of);
                of(&times[times.len() / 2]).as_nanos() as f64 / row.items as f64
            };
            let (cpu, wall) = (median(|time| time.0), median(|time| time.1));
            println!("{:<34} {cpu:>12.1} {wall:>12.1}", row.name);
        }
    }
}

fn main() {
    let text = match std::env::var("WORDS_FILE") {
        Ok(path) => work::file(&path, 10),
        Err(_) => benches::generated(200_000),
    };
    let keys = Arc::new(work::zipf(4_000_000));
    let mut table = Table { rows: Vec::new() };
    let tens = Arc::new(Tens(keys.to_vec()));
    let truth = Arc::new(work::truth(&*tens));
    for workers in [1, 2] {
        let (a, b) = (Arc::clone(&keys), Arc::clone(&keys));
        table
            .add(format!("u64, {workers}: timely"), &truth, move || with_timely::keys(&a, workers));
        table.add(format!("u64, {workers}: ours, acks off"), &truth, move || {
            ours::keys(&b, workers, AtMostOnce)
        });
    }
    table.add_all("tens", &tens);
    table.add_words(&Arc::new(Lines(Arc::new(text))));
    table.print();

    let mut criterion = Criterion::default().sample_size(10).configure_from_args();
    let mut group = criterion.benchmark_group("peers");
    for row in &table.rows {
        group.throughput(criterion::Throughput::Elements(row.items));
        group.bench_function(&row.name, |b| b.iter(|| (row.run)()));
    }
    group.finish();
    criterion.final_summary();
}
