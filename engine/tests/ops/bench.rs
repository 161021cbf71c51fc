//! What the tests of operators share: a spout of a list, a sink that gathers, faults, runs.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use proptest::prelude::*;
use streamwright::sim::{Cluster, Faults, Link, Sim};
use streamwright::{
    Bolt, BoxError, Config, Emitter, Epoch, EpochEnd, Execute, Grouping, Guarantee, Poll, Report,
    Seek, Spout, SpoutEmitter, Stream, TopologyBuilder,
};

/// Emits its list, one record a call: task i of n has elements i, i + n, …
pub struct List<T> {
    all: Arc<Vec<T>>,
    next: usize,
    step: usize,
}

impl<T: Clone + Send + Sync + 'static> Spout for List<T> {
    type Out = Vec<T>;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Vec<T>>) -> Result<Poll, BoxError> {
        let Some(item) = self.all.get(self.next) else { return Ok(Poll::End) };
        out.emit(item.clone());
        self.next += self.step;
        Ok(Poll::More)
    }

    fn position(&self) -> Option<Vec<u8>> {
        Some(self.next.to_le_bytes().to_vec())
    }

    fn seek(&mut self, to: Seek<'_>) -> Result<(), BoxError> {
        if let Seek::To(position) = to {
            self.next = usize::from_le_bytes(position.try_into()?);
        }
        Ok(())
    }
}

pub fn list<T: Clone + Send + Sync + 'static>(
    builder: &mut TopologyBuilder,
    name: &str,
    all: Vec<T>,
) -> Stream<Vec<T>> {
    let all = Arc::new(all);
    builder.spout(name, 2, move |cx| {
        Ok(List { all: Arc::clone(&all), next: cx.index() as usize, step: cx.tasks() as usize })
    })
}

/// What a sink took in, with the epoch.
pub type Got<T> = Arc<Mutex<Vec<(Epoch, T)>>>;

struct Gather<T>(Got<T>);

impl<T: Send + 'static> Bolt for Gather<T> {
    type Out = ();
}

impl<T: Clone + Send + 'static> Execute<Vec<T>> for Gather<T> {
    fn execute(&mut self, item: &T, out: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
        self.0.lock().unwrap().push((out.epoch(), item.clone()));
        Ok(())
    }
}

/// Declares a sink that keeps state: exactly once it takes each tuple once.
pub fn gather<T: Clone + Send + 'static>(
    builder: &mut TopologyBuilder,
    from: Stream<Vec<T>>,
) -> Got<T> {
    let got = Got::default();
    let to = Arc::clone(&got);
    builder
        .bolt("gather", 1, move |_| Ok(Gather(Arc::clone(&to))))
        .input(from, Grouping::global())
        .stateful()
        .done();
    got
}

pub fn items<T: Clone + Ord>(got: &Got<T>) -> Vec<T> {
    let mut all: Vec<T> = got.lock().unwrap().iter().map(|(_, item)| item.clone()).collect();
    all.sort();
    all
}

/// On which and how many workers, what is promised, and what befalls it.
#[derive(Clone, Debug)]
pub struct Setting {
    pub guarantee: Guarantee,
    pub workers: u32,
    pub epoch: u64,
    pub faults: Faults,
    pub seed: u64,
}

impl Setting {
    /// Whether something may come twice.
    pub fn repeats(&self) -> bool {
        self.guarantee == Guarantee::AtLeastOnce && self.loses()
    }

    pub fn loses(&self) -> bool {
        let f = &self.faults;
        f.lose_tuples + f.lose_batches + f.lose_acks > 0
    }

    pub fn config(&self) -> Config {
        let mut config = Config::default();
        (config.guarantee, config.workers, config.ackers) =
            (self.guarantee, self.workers, self.workers);
        (config.epoch, config.seed) = (EpochEnd::Records(self.epoch), self.seed);
        (config.batch, config.queue, config.max_pending) = (5, 2, 16);
        (config.timeout, config.attempts) = (Duration::from_millis(60), 200);
        config.max_backoff = Duration::from_millis(4);
        config.linger = Duration::from_micros(500);
        config
    }

    /// Runs in virtual time.
    pub fn run(&self, builder: TopologyBuilder) -> Report {
        self.run_with(builder, self.config())
    }

    pub fn run_with(&self, builder: TopologyBuilder, config: Config) -> Report {
        let cluster = Cluster::uniform(
            self.workers as usize,
            1,
            Link::new(Duration::from_micros(80), u64::MAX),
        );
        let sim = Sim::new(cluster).seed(self.seed).faults(self.faults.clone());
        let report = sim.run(builder.build(config).unwrap()).unwrap().report;
        assert!(report.complete && report.unfinished.is_empty());
        report
    }
}

fn faults() -> impl Strategy<Value = Faults> {
    let odds = |most: u32| prop_oneof![Just(0), 0..most];
    let lost = (odds(40_000), odds(40_000), odds(40_000));
    prop_oneof![
        Just(Faults::default()),
        (lost, odds(200_000), any::<bool>()).prop_map(
            |((lose_tuples, lose_batches, lose_acks), repeat_batches, reorder)| Faults {
                lose_tuples,
                lose_batches,
                lose_acks,
                repeat_batches,
                reorder,
                delay: Duration::from_micros(700),
                ..Faults::default()
            }
        )
    ]
}

pub fn setting() -> impl Strategy<Value = Setting> {
    let guarantee = prop_oneof![
        Just(Guarantee::AtMostOnce),
        Just(Guarantee::AtLeastOnce),
        Just(Guarantee::ExactlyOnce),
    ];
    (guarantee, 1..4_u32, 1..12_u64, faults(), any::<u64>()).prop_map(
        |(guarantee, workers, epoch, mut faults, seed)| {
            if guarantee == Guarantee::AtMostOnce {
                // What is lost is lost: that is said elsewhere.
                (faults.lose_tuples, faults.lose_batches) = (0, 0);
            }
            Setting { guarantee, workers, epoch, faults, seed }
        },
    )
}

pub fn cases(count: u32) -> ProptestConfig {
    let times = std::env::var("STREAMWRIGHT_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let cases = count.saturating_mul(times);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// Of two sorted lists: whether the first is the second, or may have more of what is in it.
#[track_caller]
pub fn same_or_more<T: Ord + Clone + std::fmt::Debug>(mut got: Vec<T>, truth: &[T], more: bool) {
    got.sort();
    let mut truth = truth.to_vec();
    truth.sort();
    if more {
        for one in &truth {
            let count = |all: &[T]| all.iter().filter(|other| *other == one).count();
            assert!(count(&got) >= count(&truth), "{one:?} is missing");
        }
        assert!(got.iter().all(|one| truth.binary_search(one).is_ok()), "made up: {got:?}");
    } else {
        assert_eq!(got, truth);
    }
}
