//! Topologies and clusters that the tests put together.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use streamwright::sim::{Cluster, Link, Outcome};
use streamwright::{
    Bolt, BoxError, Config, Emitter, EpochEnd, Execute, Grouping, Poll, Spout, SpoutEmitter,
    Stream, Topology, TopologyBuilder,
};

pub(crate) const fn us(n: u64) -> Duration {
    Duration::from_micros(n)
}

pub(crate) const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

pub(crate) const fn ns(n: u64) -> Duration {
    Duration::from_nanos(n)
}

/// Short epochs and time-outs, small queues.
pub(crate) fn config(workers: u32) -> Config {
    let mut config = Config::default();
    config.workers = workers;
    config.ackers = workers;
    config.queue = 4;
    config.batch = 8;
    config.max_pending = 64;
    config.timeout = ms(100);
    config.attempts = 100;
    config.max_backoff = ms(10);
    config.epoch = EpochEnd::Records(50);
    config
}

/// Nodes of two cores, 100 µs and a gigabit apart.
pub(crate) fn cluster(nodes: usize) -> Cluster {
    Cluster::uniform(nodes, 2, Link::new(us(100), 125_000_000))
}

/// Emits the numbers of its task below `end`: task i of n has i, i + n, …
pub(crate) struct Numbers {
    next: u64,
    step: u64,
    end: u64,
}

impl Spout for Numbers {
    type Out = Vec<u64>;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Vec<u64>>) -> Result<Poll, BoxError> {
        if self.next >= self.end {
            return Ok(Poll::End);
        }
        out.emit(self.next);
        self.next += self.step;
        Ok(Poll::More)
    }
}

/// A spout of the numbers below `end`.
pub(crate) fn numbers(
    builder: &mut TopologyBuilder,
    name: &str,
    tasks: u32,
    end: u64,
) -> Stream<Vec<u64>> {
    builder.spout(name, tasks, move |task| {
        let (next, step) = (u64::from(task.index()), u64::from(task.tasks()));
        Ok(Numbers { next, step, end })
    })
}

/// How often each number came to a sink.
pub(crate) type Seen = Arc<Mutex<BTreeMap<u64, u64>>>;

/// A sink that counts what comes.
pub(crate) struct Counting(pub(crate) Seen);

impl Bolt for Counting {
    type Out = ();
}

impl Execute<Vec<u64>> for Counting {
    fn execute(&mut self, n: &u64, _: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
        *self.0.lock().unwrap().entry(*n).or_default() += 1;
        Ok(())
    }
}

/// Emits each number once more.
pub(crate) struct Pass;

impl Bolt for Pass {
    type Out = Vec<u64>;
}

impl Execute<Vec<u64>> for Pass {
    fn execute(&mut self, n: &u64, out: &mut Emitter<'_, Vec<u64>>) -> Result<(), BoxError> {
        out.emit(*n);
        Ok(())
    }
}

/// Numbers through a pass to a sink by key; the names are those given.
pub(crate) fn chain(names: [&str; 3], tasks: u32, end: u64, config: Config) -> (Topology, Seen) {
    let seen = Seen::default();
    let mut builder = Topology::builder();
    let from = numbers(&mut builder, names[0], tasks, end);
    let passed =
        builder.bolt(names[1], tasks, |_| Ok(Pass)).input(from, Grouping::shuffle()).done();
    let to = Arc::clone(&seen);
    builder
        .bolt(names[2], tasks, move |_| Ok(Counting(Arc::clone(&to))))
        .input(passed, Grouping::whole())
        .done();
    (builder.build(config).unwrap(), seen)
}

/// Every number below `end` came exactly once.
pub(crate) fn exactly_once(seen: &Seen, end: u64) {
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len() as u64, end);
    assert!(seen.values().all(|&times| times == 1));
}

/// What may be compared of two runs.
pub(crate) fn figures(outcome: &Outcome) -> (u64, u64, Duration, u64, u64) {
    let report = &outcome.report;
    (outcome.trace, outcome.events, report.elapsed, report.acked, report.replayed)
}
