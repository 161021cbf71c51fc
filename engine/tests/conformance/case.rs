//! What one case is: a topology, what its components do, its settings. Plain data that prints as
//! Rust, so that a shrunk failure can be read and pasted.

use std::time::Duration;

use streamwright::{Config, Epoch, EpochEnd, Grouping, Guarantee, hash_key};

use crate::parts::Item;

pub type Items = Vec<Item>;

/// A whole case.
#[derive(Clone, Debug)]
pub struct Case {
    pub spouts: Vec<SpoutCase>,
    pub bolts: Vec<BoltCase>,
    pub settings: Settings,
}

#[derive(Clone, Debug)]
pub struct SpoutCase {
    pub tasks: u32,
    /// What each task emits, in this order, each record as a root of its own.
    pub records: Vec<Record>,
}

#[derive(Clone, Copy, Debug)]
pub struct Record {
    pub key: u64,
    /// The spout is idle for so many microseconds before it.
    pub gap: u64,
    /// Its event time.
    pub time: i64,
    /// Whether the spout promises, after it, that nothing below its time will come.
    pub mark: bool,
}

#[derive(Clone, Debug)]
pub struct BoltCase {
    pub tasks: u32,
    pub kind: Kind,
    /// By number among spouts and then bolts; always one that stands before this bolt.
    pub inputs: Vec<(usize, How)>,
    pub fails: Option<Fails>,
    pub defers: Option<Defers>,
    /// Panics as it first closes this epoch.
    pub breaks_at: Option<Epoch>,
}

/// What a bolt does. All of them are linear in the items' weights, so that the truth does not
/// depend on order, nor on where epochs end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Without state: emits so many copies of each item, none of keys that `skip` divides.
    Map { copies: u64, skip: Option<u64> },
    /// Counts each item, and hands it on.
    Count,
    /// Counts each item; as an epoch closes, emits its total of each key.
    Window,
    /// One task that counts each item; as an epoch closes, emits its total of all.
    Global,
    /// Counts each item, emits nothing.
    Sink,
}

impl Kind {
    pub fn stateful(self) -> bool {
        !matches!(self, Kind::Map { .. })
    }
}

/// How a bolt takes every tuple out of its batch's ack.
#[derive(Clone, Copy, Debug)]
pub struct Defers {
    /// It gives tickets back so many microseconds later, else as it is flushed.
    pub wait: Option<u64>,
    /// It works on the tuple at once, else as it gives the ticket back.
    pub early: bool,
}

/// Which items a bolt fails on.
#[derive(Clone, Copy, Debug)]
pub struct Fails {
    /// Those whose hash is 0 by this divisor …
    pub one_in: u64,
    /// … the first so many times that the bolt meets them; for ever where this is `None` and the
    /// item comes of a spout's root.
    pub times: Option<u32>,
    pub panic: bool,
}

/// How a stream is spread.
#[derive(Clone, Debug)]
pub enum How {
    Shuffle,
    Fields,
    All,
    Global,
    Direct,
    Local,
    /// One weight a task.
    Weighted(Vec<u64>),
    /// By key, and combined before: of so many items at a time those of one identity.
    Combined(usize),
}

impl How {
    pub fn grouping(&self) -> Grouping<Items> {
        let grouping = match self {
            How::Shuffle => Grouping::shuffle(),
            How::Fields | How::Combined(_) => Grouping::fields(|item: &Item| item.key),
            How::All => Grouping::all(),
            How::Global => Grouping::global(),
            How::Direct => Grouping::direct(|item: &Item, tasks| item.direct(tasks)),
            How::Local => Grouping::local_or_shuffle(),
            How::Weighted(weights) => Grouping::weighted(weights.clone()),
        };
        grouping.checked_by(|item: &Item| {
            hash_key(&(item.root, item.key, (item.path, item.weight, item.time)))
        })
    }
}

#[derive(Clone, Debug)]
pub struct Settings {
    /// The node of each worker.
    pub nodes: Vec<u32>,
    pub ackers: u32,
    /// Changes of `ackers`, by epoch; cut to the workers, as that is.
    pub acker_changes: Vec<(Epoch, u32)>,
    pub queue: usize,
    pub batch: usize,
    pub window: u32,
    pub max_pending: usize,
    pub turn: u32,
    pub slot_bits: u32,
    /// In microseconds.
    pub linger: u64,
    pub epoch: Ends,
    pub seed: u64,
}

/// When epochs end: after so many records, or microseconds.
#[derive(Clone, Copy, Debug)]
pub enum Ends {
    Records(u64),
    Every(u64),
}

impl Settings {
    /// As the engine wants them. Time-outs are far off and retries come soon.
    pub fn config(&self, guarantee: Guarantee) -> Config {
        let mut config = Config::default();
        config.guarantee = guarantee;
        config.workers = u32::try_from(self.nodes.len()).unwrap();
        let ackers = |ackers: u32| ackers.min(config.workers);
        config.ackers = ackers(self.ackers);
        if guarantee != Guarantee::AtMostOnce {
            let changes = self.acker_changes.iter();
            config.acker_changes = changes.map(|&(from, n)| (from, ackers(n))).collect();
        }
        config.queue = self.queue;
        config.batch = self.batch;
        config.window = self.window;
        config.max_pending = self.max_pending;
        config.turn = self.turn;
        config.slot_bits = Some(self.slot_bits);
        config.linger = Duration::from_micros(self.linger);
        config.epoch = match self.epoch {
            Ends::Records(records) => EpochEnd::Records(records),
            Ends::Every(micros) => EpochEnd::Every(Duration::from_micros(micros)),
        };
        config.seed = self.seed;
        config.attempts = 100;
        config.max_backoff = Duration::from_millis(4);
        config
    }

    /// How many ackers are on the ring at an epoch.
    pub fn ackers_at(&self, epoch: Epoch) -> u32 {
        let config = self.config(Guarantee::AtLeastOnce);
        let changes = config.acker_changes.iter().take_while(|(from, _)| *from <= epoch);
        changes.last().map_or(config.ackers, |&(_, ackers)| ackers)
    }

    /// Room for one of everything.
    pub fn narrow(&mut self) {
        (self.queue, self.batch, self.window, self.max_pending) = (1, 1, 1, 1);
    }
}

impl Case {
    /// The bolts with the numbers that the streams know them by.
    pub fn bolts(&self) -> impl Iterator<Item = (usize, &BoltCase)> {
        (self.spouts.len()..).zip(&self.bolts)
    }

    /// The same case where nothing fails.
    pub fn without_failures(mut self) -> Self {
        self.bolts.iter_mut().for_each(|bolt| bolt.fails = None);
        self
    }

    /// The same case where every failure passes: no root dies of it.
    pub fn without_poison(mut self) -> Self {
        for fails in self.bolts.iter_mut().filter_map(|bolt| bolt.fails.as_mut()) {
            fails.times.get_or_insert(1);
        }
        self
    }

    /// The same case where bolts with state return errors and do not panic: under exactly once each
    /// such panic is a crash.
    pub fn without_crashes(mut self) -> Self {
        for bolt in self.bolts.iter_mut().filter(|bolt| bolt.kind.stateful()) {
            bolt.fails.iter_mut().for_each(|fails| fails.panic = false);
        }
        self
    }

    /// The same case where a bolt panics as it first closes an epoch.
    pub fn breaking(mut self, bolt: usize, epoch: Epoch) -> Self {
        let bolts = self.bolts.len();
        self.bolts[bolt % bolts].breaks_at = Some(epoch);
        self
    }

    /// The nearest case that exactly once allows: what has state emits in `close` only, what emits
    /// in `execute` has no key, and does not wait with it. Nothing is combined.
    pub fn exactly_once(mut self) -> Self {
        for bolt in &mut self.bolts {
            for (_, how) in &mut bolt.inputs {
                if matches!(how, How::Combined(_)) {
                    *how = How::Fields;
                }
            }
            if let Some(defers) = &mut bolt.defers {
                defers.early = !bolt.kind.stateful() && bolt.kind != Kind::Count;
            }
            if bolt.kind == Kind::Count {
                bolt.kind = Kind::Sink;
            }
            if !bolt.kind.stateful() {
                for (_, how) in &mut bolt.inputs {
                    if matches!(how, How::Fields) {
                        *how = How::Shuffle;
                    }
                }
            }
        }
        self
    }
}
