//! WordCount on lines in memory: the engine beside a plain loop with the same tokenizer.
//!
//! Every run counts from nothing, and the engine's time includes building the topology, starting
//! and joining its threads. All counts are checked once before anything is timed.

#![allow(missing_docs, clippy::unwrap_used)]

use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hashbrown::HashMap;
use streamwright::demos::wordcount::tokenize::words;
use streamwright::demos::wordcount::{Tasks, Totals, count_words};
use streamwright::{Config, Guarantee, Text, Topology, threads};

use benches::{MemorySpout, generated};

const LINES: u64 = 100_000;

type Counts = HashMap<Box<[u8]>, u64>;

/// The loop that one would write without an engine.
fn plain(text: &Text) -> Counts {
    let mut counts = Counts::new();
    let mut scratch = Vec::new();
    for line in text.iter() {
        words(line, &mut scratch, |word| match counts.get_mut(word) {
            Some(count) => *count += 1,
            None => {
                counts.insert(word.into(), 1);
            }
        });
    }
    counts
}

/// The engine, with as many tasks of each component as workers.
fn engine(text: &Arc<Text>, workers: u32, guarantee: Guarantee) -> Totals {
    let mut config = Config::default();
    config.workers = workers;
    config.ackers = workers;
    config.guarantee = guarantee;
    let tasks = Tasks { lines: workers, split: workers, count: workers };
    let totals = Totals::default();
    let mut builder = Topology::builder();
    let text = Arc::clone(text);
    let lines = builder.spout("lines", workers, move |task| {
        Ok(MemorySpout::new(Arc::clone(&text), task.index(), task.tasks()))
    });
    count_words(&mut builder, lines, tasks, &totals);
    let report = threads::run(builder.build(config).unwrap()).unwrap();
    assert!(report.complete);
    totals
}

fn wordcount(c: &mut Criterion) {
    let text = Arc::new(generated(LINES));
    let truth = plain(&text);
    let mut group = c.benchmark_group("wordcount");
    group.sample_size(20);
    group.throughput(Throughput::Elements(truth.values().sum()));
    group.bench_function("plain loop", |b| b.iter(|| plain(&text)));
    let guarantees =
        [("at most once", Guarantee::AtMostOnce), ("at least once", Guarantee::AtLeastOnce)];
    for (name, guarantee) in guarantees {
        for workers in [1, 2] {
            assert_eq!(*engine(&text, workers, guarantee).lock().unwrap(), truth);
            group.bench_function(format!("engine, {name}, {workers} workers"), |b| {
                b.iter(|| engine(&text, workers, guarantee));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, wordcount);
criterion_main!(benches);
