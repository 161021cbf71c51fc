//! This engine with its own batch type for text, and with counts made before words travel.

use std::sync::{Arc, Mutex};

use hashbrown::HashMap;
use streamwright::{
    Bolt, BoxError, Combiner, Emitter, Execute, Grouping, Guarantee, Stream, Text, Topology,
    TopologyBuilder, threads,
};

use crate::ours::{Expand, Numbers, config};
use crate::work::{Counts, Lines, Work};

/// Words into an arena, not each into a `String`.
struct Split(Arc<Lines>);

impl Bolt for Split {
    type Out = Text;
}

impl Execute<Vec<u32>> for Split {
    fn execute(&mut self, line: &u32, out: &mut Emitter<'_, Text>) -> Result<(), BoxError> {
        self.0.each(*line, |word| out.emit(word));
        Ok(())
    }
}

/// Adds what it counted to the result as it is dropped.
struct Sum {
    counts: HashMap<Box<[u8]>, u64>,
    total: Arc<Mutex<Counts<String>>>,
}

impl Sum {
    fn add(&mut self, word: &[u8], n: u64) {
        if let Some(count) = self.counts.get_mut(word) {
            *count += n;
        } else {
            self.counts.insert(word.into(), n);
        }
    }
}

impl Bolt for Sum {
    type Out = ();
}

impl Execute<Text> for Sum {
    fn execute(&mut self, word: &[u8], _: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
        self.add(word, 1);
        Ok(())
    }
}

impl Execute<streamwright::Tagged<u64>> for Sum {
    fn execute(
        &mut self,
        (word, n): (&[u8], u64),
        _: &mut Emitter<'_, ()>,
    ) -> Result<(), BoxError> {
        self.add(word, n);
        Ok(())
    }
}

impl Execute<Vec<(String, u64)>> for Sum {
    fn execute(
        &mut self,
        (word, n): &(String, u64),
        _: &mut Emitter<'_, ()>,
    ) -> Result<(), BoxError> {
        self.add(word.as_bytes(), *n);
        Ok(())
    }
}

impl Drop for Sum {
    fn drop(&mut self) {
        let mut total = self.total.lock().unwrap();
        for (word, count) in self.counts.drain() {
            *total.entry(String::from_utf8_lossy(&word).into_owned()).or_insert(0) += count;
        }
    }
}

type Total = Arc<Mutex<Counts<String>>>;

fn run(
    lines: &Arc<Lines>,
    workers: u32,
    guarantee: Guarantee,
    add: impl FnOnce(&mut TopologyBuilder, Stream<Vec<u32>>, &Total),
) -> Counts<String> {
    let total = Total::default();
    let mut builder = Topology::builder();
    let end = lines.records();
    let numbers = builder.spout("records", workers, move |task| {
        Ok(Numbers { next: task.index(), step: task.tasks(), end })
    });
    add(&mut builder, numbers, &total);
    let report = threads::run(builder.build(config(workers, guarantee)).unwrap()).unwrap();
    assert!(report.complete);
    std::mem::take(&mut *total.lock().unwrap())
}

/// Words as `Text`; with `combine`, counted before they travel.
pub(crate) fn text(
    lines: &Arc<Lines>,
    workers: u32,
    guarantee: Guarantee,
    combine: bool,
) -> Counts<String> {
    run(lines, workers, guarantee, |builder, numbers, total| {
        let made = Arc::clone(lines);
        let words = builder
            .bolt("split", workers, move |_| Ok(Split(Arc::clone(&made))))
            .input(numbers, Grouping::local_or_shuffle())
            .done();
        let total = Arc::clone(total);
        let sum = builder.bolt("count", workers, move |_| {
            Ok(Sum { counts: HashMap::new(), total: Arc::clone(&total) })
        });
        if combine {
            let by_word = Grouping::fields_with(|(word, _): (&[u8], u64), key| key.bytes(word));
            sum.input_combined(words, Combiner::text(1_u64, |n| *n += 1), by_word).done();
        } else {
            sum.input(words, Grouping::whole()).done();
        }
    })
}

/// Words as `String`s, counted before they travel.
pub(crate) fn strings(lines: &Arc<Lines>, workers: u32, guarantee: Guarantee) -> Counts<String> {
    run(lines, workers, guarantee, |builder, numbers, total| {
        let made = Arc::clone(lines);
        let words = builder
            .bolt("split", workers, move |_| Ok(Expand(Arc::clone(&made))))
            .input(numbers, Grouping::local_or_shuffle())
            .done();
        let total = Arc::clone(total);
        let count = Combiner::keyed(|word: &String| word.as_str(), |_| 1_u64, |n, _| *n += 1);
        let by_word = Grouping::fields_with(|(word, _): &(String, u64), key| {
            key.bytes(word.as_bytes());
        });
        builder
            .bolt("count", workers, move |_| {
                Ok(Sum { counts: HashMap::new(), total: Arc::clone(&total) })
            })
            .input_combined(words, count, by_word)
            .done();
    })
}
