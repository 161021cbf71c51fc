//! Spouts and bolts of closures, for scenarios made by hand.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use streamwright::sim::{Cluster, Link};
use streamwright::{
    Bolt, BoxError, Config, Emitter, EpochEnd, Execute, Grouping, Poll, Spout, SpoutEmitter,
    Stream, TaskContext, TopologyBuilder,
};

use crate::world::{ms, us};

/// A key and a number.
pub type Pair = (u64, u64);
pub type Pairs = Vec<Pair>;

/// Emits the numbers of its task below `end`, in order: task i of n has i, i + n, …
struct Numbers {
    key: fn(u64) -> u64,
    next: u64,
    step: u64,
    end: u64,
}

impl Spout for Numbers {
    type Out = Pairs;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Pairs>) -> Result<Poll, BoxError> {
        if self.next >= self.end {
            return Ok(Poll::End);
        }
        out.emit(((self.key)(self.next), self.next));
        self.next += self.step;
        Ok(Poll::More)
    }
}

/// A spout of the numbers below `end`, each with its key.
pub fn numbers(
    builder: &mut TopologyBuilder,
    name: &str,
    tasks: u32,
    end: u64,
    key: fn(u64) -> u64,
) -> Stream<Pairs> {
    builder.spout(name, tasks, move |cx| {
        let (next, step) = (u64::from(cx.index()), u64::from(cx.tasks()));
        Ok(Numbers { key, next, step, end })
    })
}

/// A bolt of one function.
pub struct Each<F>(F);

impl<F> Bolt for Each<F>
where
    F: FnMut(Pair, &mut Emitter<'_, Pairs>) -> Result<(), BoxError> + Send + 'static,
{
    type Out = Pairs;
}

impl<F> Execute<Pairs> for Each<F>
where
    F: FnMut(Pair, &mut Emitter<'_, Pairs>) -> Result<(), BoxError> + Send + 'static,
{
    fn execute(&mut self, pair: &Pair, out: &mut Emitter<'_, Pairs>) -> Result<(), BoxError> {
        (self.0)(*pair, out)
    }
}

/// Declares a bolt whose tasks each run the function that `make` makes.
pub fn each<F>(
    builder: &mut TopologyBuilder,
    (name, tasks): (&str, u32),
    (from, grouping): (Stream<Pairs>, Grouping<Pairs>),
    make: impl Fn(&TaskContext) -> F + Send + Sync + 'static,
) -> Stream<Pairs>
where
    F: FnMut(Pair, &mut Emitter<'_, Pairs>) -> Result<(), BoxError> + Send + 'static,
{
    builder.bolt(name, tasks, move |cx| Ok(Each(make(cx)))).input(from, grouping).done()
}

pub fn by_key() -> Grouping<Pairs> {
    Grouping::fields(|pair: &Pair| pair.0)
}

/// How often each pair came to each task, and in which order to all.
#[derive(Clone, Debug, Default)]
pub struct Seen(Arc<Mutex<Vec<(u32, Pair)>>>);

impl Seen {
    pub fn note(&self, task: u32, pair: Pair) {
        self.0.lock().unwrap().push((task, pair));
    }

    /// Task and pair, in order.
    pub fn all(&self) -> Vec<(u32, Pair)> {
        self.0.lock().unwrap().clone()
    }

    pub fn counts(&self) -> BTreeMap<Pair, u64> {
        let mut counts = BTreeMap::new();
        self.all().into_iter().for_each(|(_, pair)| *counts.entry(pair).or_default() += 1);
        counts
    }
}

/// Declares a sink that notes what comes.
pub fn sink(
    builder: &mut TopologyBuilder,
    (name, tasks): (&str, u32),
    from: (Stream<Pairs>, Grouping<Pairs>),
) -> Seen {
    let seen = Seen::default();
    let to = seen.clone();
    let _ = each(builder, (name, tasks), from, move |cx| {
        let (to, task) = (to.clone(), cx.index());
        move |pair, _: &mut Emitter<'_, Pairs>| {
            to.note(task, pair);
            Ok(())
        }
    });
    seen
}

/// The setting of the fault table: queue 8, batch 4, 16 pending, 1 s, 3 attempts.
pub fn config(workers: u32) -> Config {
    let mut config = Config::default();
    config.workers = workers;
    config.ackers = workers;
    config.queue = 8;
    config.batch = 4;
    config.max_pending = 16;
    config.timeout = ms(1000);
    config.attempts = 3;
    config.epoch = EpochEnd::Every(ms(20));
    config
}

/// Nodes of one core, 100 µs apart.
pub fn cluster(nodes: usize) -> Cluster {
    Cluster::uniform(nodes, 1, Link::new(us(100), u64::MAX))
}
