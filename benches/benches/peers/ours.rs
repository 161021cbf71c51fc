//! This engine: a spout of record numbers, a bolt that expands them, a bolt that counts by fields.

use std::sync::{Arc, Mutex};

use streamwright::{
    Bolt, BoxError, Config, Emitter, Execute, Grouping, Guarantee, Poll, Spout, SpoutEmitter,
    Topology, threads,
};

use crate::work::{Counts, Item, TURN, Work};

/// Emits every `step`-th number.
pub(crate) struct Numbers {
    pub(crate) next: u32,
    pub(crate) step: u32,
    pub(crate) end: u32,
}

impl Spout for Numbers {
    type Out = Vec<u32>;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Vec<u32>>) -> Result<Poll, BoxError> {
        for _ in 0..out.room().min(TURN) {
            if self.next >= self.end {
                return Ok(Poll::End);
            }
            out.emit(self.next);
            self.next += self.step;
        }
        Ok(Poll::More)
    }
}

/// Emits keys from memory.
struct Keys {
    keys: Arc<Vec<u64>>,
    next: usize,
    step: usize,
}

impl Spout for Keys {
    type Out = Vec<u64>;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Vec<u64>>) -> Result<Poll, BoxError> {
        let keys = self.keys.get(self.next..).unwrap_or_default();
        let turn = out.room().min(TURN);
        for &key in keys.iter().step_by(self.step).take(turn) {
            out.emit(key);
        }
        self.next += turn * self.step;
        Ok(if self.next < self.keys.len() { Poll::More } else { Poll::End })
    }
}

/// Emits what a record leads to.
pub(crate) struct Expand<W>(pub(crate) Arc<W>);

impl<W: Work> Bolt for Expand<W> {
    type Out = Vec<W::Item>;
}

impl<W: Work> Execute<Vec<u32>> for Expand<W> {
    fn execute(
        &mut self,
        record: &u32,
        out: &mut Emitter<'_, Vec<W::Item>>,
    ) -> Result<(), BoxError> {
        self.0.expand(*record, |item| out.emit(item));
        Ok(())
    }
}

/// Counts, and adds its table to the result as it is dropped.
struct Count<T: Item> {
    counts: Counts<T>,
    total: Arc<Mutex<Counts<T>>>,
}

impl<T: Item> Bolt for Count<T> {
    type Out = ();
}

impl<T: Item> Execute<Vec<T>> for Count<T> {
    #[inline]
    fn execute(&mut self, item: &T, _: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
        if let Some(count) = self.counts.get_mut(item) {
            *count += 1;
        } else {
            self.counts.insert(item.clone(), 1);
        }
        Ok(())
    }
}

impl<T: Item> Drop for Count<T> {
    fn drop(&mut self) {
        let mut total = self.total.lock().unwrap();
        for (item, count) in self.counts.drain() {
            *total.entry(item).or_insert(0) += count;
        }
    }
}

pub(crate) fn config(workers: u32, guarantee: Guarantee) -> Config {
    let mut config = Config::default();
    config.workers = workers;
    config.ackers = workers;
    config.guarantee = guarantee;
    config
}

/// Counts what the records lead to.
pub(crate) fn counted<W: Work>(
    work: &Arc<W>,
    workers: u32,
    guarantee: Guarantee,
) -> Counts<W::Item> {
    let total = Arc::default();
    let mut builder = Topology::builder();
    let end = work.records();
    let numbers = builder.spout("records", workers, move |task| {
        Ok(Numbers { next: task.index(), step: task.tasks(), end })
    });
    let made = Arc::clone(work);
    let items = builder
        .bolt("expand", workers, move |_| Ok(Expand(Arc::clone(&made))))
        .input(numbers, Grouping::local_or_shuffle())
        .done();
    let sums = Arc::clone(&total);
    builder
        .bolt("count", workers, move |_| {
            Ok(Count { counts: Counts::new(), total: Arc::clone(&sums) })
        })
        .input(items, Grouping::whole())
        .done();
    let report = threads::run(builder.build(config(workers, guarantee)).unwrap()).unwrap();
    assert!(report.complete);
    std::mem::take(&mut *total.lock().unwrap())
}

/// Counts keys that come from the spout as they are.
pub(crate) fn keys(keys: &Arc<Vec<u64>>, workers: u32, guarantee: Guarantee) -> Counts<u64> {
    let total = Arc::default();
    let mut builder = Topology::builder();
    let from = Arc::clone(keys);
    let stream = builder.spout("keys", workers, move |task| {
        let (next, step) = (task.index() as usize, task.tasks() as usize);
        Ok(Keys { keys: Arc::clone(&from), next, step })
    });
    let sums = Arc::clone(&total);
    builder
        .bolt("count", workers, move |_| {
            Ok(Count { counts: Counts::new(), total: Arc::clone(&sums) })
        })
        .input(stream, Grouping::whole())
        .done();
    let report = threads::run(builder.build(config(workers, guarantee)).unwrap()).unwrap();
    assert!(report.complete);
    std::mem::take(&mut *total.lock().unwrap())
}
