//! PROTOCOL.md section 7 on the real core: queues of one batch, batches of one tuple.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use streamwright::{
    Bolt, BoxError, Config, Emitter, EpochEnd, Execute, Grouping, Guarantee, Poll, Spout,
    SpoutEmitter, Topology, Watermark,
};

use super::check;
use super::workers::run;

const DAY: Duration = Duration::from_secs(86_400);

fn tight(workers: u32, guarantee: Guarantee) -> Config {
    let mut config = Config::default();
    config.workers = workers;
    config.ackers = workers;
    config.guarantee = guarantee;
    config.queue = 1;
    config.batch = 1;
    config.max_pending = 2;
    config.linger = DAY;
    config.timeout = 2 * DAY;
    // Epochs end by what is done, for time stands still.
    config.epoch = EpochEnd::Records(3);
    config
}

/// Emits every `step`-th number below `end`, one a call.
struct Numbers {
    next: u64,
    step: u64,
    end: u64,
    calls: Arc<AtomicU64>,
}

impl Spout for Numbers {
    type Out = Vec<u64>;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Vec<u64>>) -> Result<Poll, BoxError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        if self.next >= self.end {
            return Ok(Poll::End);
        }
        out.emit(self.next);
        self.next += self.step;
        Ok(Poll::More)
    }
}

/// Emits three for one.
struct Split;

impl Bolt for Split {
    type Out = Vec<u64>;
}

impl Execute<Vec<u64>> for Split {
    fn execute(&mut self, n: &u64, out: &mut Emitter<'_, Vec<u64>>) -> Result<(), BoxError> {
        (0..3).for_each(|i| out.emit(3 * n + i));
        Ok(())
    }
}

/// Counts, and emits its counts as an epoch closes.
#[derive(Default)]
struct Count(BTreeMap<u64, u64>);

impl Bolt for Count {
    type Out = Vec<(u64, u64)>;

    fn close(
        &mut self,
        _: u64,
        _: Watermark,
        out: &mut Emitter<'_, Vec<(u64, u64)>>,
    ) -> Result<(), BoxError> {
        while let Some((n, count)) = self.0.pop_first() {
            out.emit((n, count));
        }
        Ok(())
    }
}

impl Execute<Vec<u64>> for Count {
    fn execute(&mut self, n: &u64, _: &mut Emitter<'_, Vec<(u64, u64)>>) -> Result<(), BoxError> {
        *self.0.entry(*n).or_default() += 1;
        Ok(())
    }
}

type Sums = Arc<Mutex<BTreeMap<u64, u64>>>;

struct Table(Sums);

impl Bolt for Table {
    type Out = ();
}

impl Execute<Vec<(u64, u64)>> for Table {
    fn execute(
        &mut self,
        &(n, count): &(u64, u64),
        _: &mut Emitter<'_, ()>,
    ) -> Result<(), BoxError> {
        *self.0.lock().unwrap().entry(n).or_default() += count;
        Ok(())
    }
}

/// A WordCount of numbers: every component on every worker, so that each sends to each.
fn count_numbers(numbers: u64, config: Config) {
    let workers = config.workers;
    let tracked = config.guarantee == Guarantee::AtLeastOnce;
    let sums = Sums::default();
    let mut builder = Topology::builder();
    let lines = builder.spout("numbers", workers, move |task| {
        let (next, step) = (u64::from(task.index()), u64::from(task.tasks()));
        Ok(Numbers { next, step, end: numbers, calls: Arc::default() })
    });
    let words =
        builder.bolt("split", workers, |_| Ok(Split)).input(lines, Grouping::shuffle()).done();
    let counts = builder
        .bolt("count", workers, |_| Ok(Count::default()))
        .input(words, Grouping::whole())
        .done();
    let all = Arc::clone(&sums);
    builder
        .bolt("table", 1, move |_| Ok(Table(Arc::clone(&all))))
        .input(counts, Grouping::global())
        .done();
    let figures = run(builder.build(config).unwrap());
    let expected: BTreeMap<u64, u64> = (0..3 * numbers).map(|n| (n, 1)).collect();
    assert_eq!(*sums.lock().unwrap(), expected);
    let (mut sent, mut executed, mut acked) = (0, 0, 0);
    for worker in &figures {
        sent += worker.edges.iter().map(|edge| edge.transferred).sum::<u64>();
        executed += worker.edges.iter().map(|edge| edge.executed).sum::<u64>();
        let spouts = worker.tasks.iter().filter(|task| task.component == "numbers");
        acked += spouts.map(|task| task.acked).sum::<u64>();
        assert!(worker.unfinished.is_empty());
    }
    assert_eq!((sent, executed), (7 * numbers, 7 * numbers));
    assert_eq!(acked, if tracked { numbers } else { 0 });
}

#[test]
fn rule_7_1_no_send_blocks_at_capacity_1() {
    check(1_500, || count_numbers(4, tight(2, Guarantee::AtLeastOnce)));
}

#[test]
fn rule_7_1_no_send_blocks_at_capacity_1_without_acks() {
    check(1_500, || count_numbers(4, tight(2, Guarantee::AtMostOnce)));
}

#[test]
fn rule_7_1_no_send_blocks_among_three_workers() {
    check(600, || count_numbers(4, tight(3, Guarantee::AtLeastOnce)));
}

#[test]
fn rule_7_1_one_place_and_one_pending_root_are_enough() {
    check(1_000, || {
        let mut config = tight(2, Guarantee::AtLeastOnce);
        config.max_pending = 1;
        config.window = 1;
        config.epoch = EpochEnd::Records(1);
        count_numbers(3, config);
    });
}

/// A sink that notes how many it has done.
struct Sink(Arc<AtomicU64>);

impl Bolt for Sink {
    type Out = ();
}

impl Execute<Vec<u64>> for Sink {
    fn execute(&mut self, _: &u64, _: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

/// Notes how far the sink was at each of its calls.
struct Witness {
    left: u64,
    sink: Arc<AtomicU64>,
    seen: Arc<Mutex<Vec<u64>>>,
}

impl Spout for Witness {
    type Out = Vec<u64>;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Vec<u64>>) -> Result<Poll, BoxError> {
        self.seen.lock().unwrap().push(self.sink.load(Ordering::Relaxed));
        if self.left == 0 {
            return Ok(Poll::End);
        }
        self.left -= 1;
        out.emit(self.left);
        Ok(Poll::More)
    }
}

#[test]
fn rule_7_2_a_spout_beside_a_saturated_sink_has_its_turn() {
    check(1_000, || {
        let mut config = tight(2, Guarantee::AtMostOnce);
        config.turn = 2;
        config.queue = 4;
        config.epoch = EpochEnd::Records(100);
        let turn = u64::from(config.turn);
        let (done, seen) = (Arc::<AtomicU64>::default(), Arc::<Mutex<Vec<u64>>>::default());
        let mut builder = Topology::builder();
        // Workers go round by name: sink 0, source 1, witness 0, its sink 1.
        let source = builder.spout("b source", 1, |_| {
            Ok(Numbers { next: 0, step: 1, end: 30, calls: Arc::default() })
        });
        let (sink, notes) = (Arc::clone(&done), Arc::clone(&seen));
        let witness = builder.spout("c witness", 1, move |_| {
            Ok(Witness { left: 4, sink: Arc::clone(&sink), seen: Arc::clone(&notes) })
        });
        let sink = Arc::clone(&done);
        builder
            .bolt("a sink", 1, move |_| Ok(Sink(Arc::clone(&sink))))
            .input(source, Grouping::global())
            .done();
        builder
            .bolt("d sink", 1, |_| Ok(Sink(Arc::default())))
            .input(witness, Grouping::global())
            .done();
        run(builder.build(config).unwrap());
        // Between two calls of the witness the sink has its `turn` steps, of a tuple each, and no
        // more. (The last call may wait for room in the witness's own outbox.)
        let seen = seen.lock().unwrap();
        assert_eq!(seen.len(), 5);
        for pair in seen[..4].windows(2) {
            assert!(pair[1] - pair[0] <= turn, "{seen:?}");
        }
        assert_eq!(done.load(Ordering::Relaxed), 30);
    });
}

#[test]
fn rule_7_3_a_batch_that_never_fills_leaves_when_idle() {
    // A thousand tuples a batch, a linger of a day, one root at a time: each of the roots needs
    // the idle flush at every hop.
    check(1_000, || {
        let mut config = tight(2, Guarantee::AtLeastOnce);
        config.batch = 1000;
        config.max_pending = 1;
        count_numbers(3, config);
    });
}

#[test]
fn rule_7_3_blocked_counts_as_idle() {
    // Full queues everywhere and batches that are never full: what is open must leave though the
    // component behind it can do nothing.
    check(1_000, || {
        let mut config = tight(2, Guarantee::AtMostOnce);
        config.batch = 2;
        count_numbers(5, config);
    });
}
