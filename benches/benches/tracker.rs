//! What an ack costs: `acker::Tracker` beside plain hash maps that hold the same record.
//!
//! Each root lives through one init and four acks, spread evenly over the time in which `pending`
//! other roots begin, so that every call meets a record that has not been touched for long. The
//! maps do less: no time-outs, no messages before the init, no counts.

#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::hash_map::{Entry, HashMap as StdMap, RandomState};
use std::hash::BuildHasher;
use std::hint::black_box;

use acker::{Applied, Delta, EdgeId, RootId, Timeout, Tracker, TrackerConfig, mix};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

/// Roots an iteration; five calls each.
const ROOTS: usize = 1_000;

/// What a tracker must do.
trait Track {
    fn init(&mut self, root: RootId, task: u32, produced: EdgeId);
    /// Whether the root's tree is complete.
    fn ack(&mut self, root: RootId, consumed: EdgeId, produced: Delta) -> bool;
}

impl Track for Tracker {
    fn init(&mut self, root: RootId, task: u32, produced: EdgeId) {
        let applied = Tracker::init(self, root, task, Delta::of(&[produced])).unwrap();
        assert_eq!(applied, Applied::Pending);
    }

    fn ack(&mut self, root: RootId, consumed: EdgeId, produced: Delta) -> bool {
        let applied = Tracker::ack(self, root, Delta::of(&[consumed]), produced);
        matches!(applied, Applied::Verdict(_))
    }
}

/// The 12 bytes that a tracker keeps beside the root's id.
#[derive(Clone, Copy)]
#[repr(C, packed(4))]
struct Record {
    check: u64,
    _task: u32,
}

impl<S: BuildHasher> Track for StdMap<RootId, Record, S> {
    fn init(&mut self, root: RootId, task: u32, produced: EdgeId) {
        match self.entry(root) {
            Entry::Vacant(slot) => slot.insert(Record { check: produced.get(), _task: task }),
            Entry::Occupied(_) => unreachable!("every root begins once"),
        };
    }

    fn ack(&mut self, root: RootId, consumed: EdgeId, produced: Delta) -> bool {
        let record = self.get_mut(&root).unwrap();
        record.check ^= consumed.get() ^ produced.bits();
        let done = record.check == 0;
        if done {
            self.remove(&root);
        }
        done
    }
}

/// A map whose hash function is the fast one of hashbrown.
#[derive(Default)]
struct Brown(hashbrown::HashMap<RootId, Record>);

impl Track for Brown {
    fn init(&mut self, root: RootId, task: u32, produced: EdgeId) {
        let record = Record { check: produced.get(), _task: task };
        assert!(self.0.insert(root, record).is_none(), "every root begins once");
    }

    fn ack(&mut self, root: RootId, consumed: EdgeId, produced: Delta) -> bool {
        let hashbrown::hash_map::Entry::Occupied(mut slot) = self.0.entry(root) else {
            unreachable!("no message comes before its init");
        };
        let record = slot.get_mut();
        record.check ^= consumed.get() ^ produced.bits();
        let done = record.check == 0;
        if done {
            slot.remove();
        }
        done
    }
}

/// The `k`-th edge of a root: cheap, so that the table is what is measured.
fn edge(root: RootId, k: u32) -> EdgeId {
    EdgeId::new(root.get().rotate_left(7 + 13 * k)).unwrap()
}

/// Roots that come, are acked and go, `pending` of them at a time.
struct Churn<T> {
    tracker: T,
    /// Used in turn; twice as many as are ever pending.
    roots: Vec<RootId>,
    pending: usize,
    now: usize,
}

impl<T: Track> Churn<T> {
    /// Filled up, and turned over twice.
    fn new(tracker: T, pending: usize) -> Self {
        let roots = (0..2 * pending as u64).map(|i| mix(i, 0)).collect();
        let mut churn = Churn { tracker, roots, pending, now: 0 };
        while churn.now < 3 * pending {
            churn.step();
        }
        churn
    }

    /// One init, and an ack of each of four roots of four ages; the oldest is done.
    fn step(&mut self) -> bool {
        let len = self.roots.len();
        let root = self.roots[self.now % len];
        self.tracker.init(root, 1, edge(root, 0));
        let mut done = false;
        for k in 0..4 {
            let Some(at) = self.now.checked_sub((k as usize + 1) * self.pending / 4) else { break };
            let root = self.roots[at % len];
            let next = if k < 3 { Delta::of(&[edge(root, k + 1)]) } else { Delta::EMPTY };
            done = self.tracker.ack(root, edge(root, k), next);
        }
        self.now += 1;
        done
    }
}

fn measure<T: Track>(c: &mut Criterion, name: &str, pending: usize, tracker: T) {
    let mut group = c.benchmark_group("tracker");
    group.throughput(Throughput::Elements(5 * ROOTS as u64));
    let mut churn = Churn::new(tracker, pending);
    group.bench_function(BenchmarkId::new(name, pending), |b| {
        b.iter(|| {
            for _ in 0..ROOTS {
                assert!(black_box(churn.step()));
            }
        });
    });
    group.finish();
}

fn tracker(c: &mut Criterion) {
    for pending in [1_000, 100_000] {
        let config = TrackerConfig { timeout: Timeout::After(30_000), generations: 8, seed: 42 };
        measure(c, "acker", pending, Tracker::new(config).unwrap());
        measure(c, "hashbrown", pending, Brown::default());
        measure(c, "std", pending, StdMap::<_, _, RandomState>::default());
    }
}

criterion_group!(benches, tracker);
criterion_main!(benches);
