//! E4, E6, E8: one call that emits a million, a slow neighbour, a slow sink without acks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::sleep;
use std::time::Duration;

use streamwright::{
    Bolt, BoxError, Emitter, Execute, Grouping, Guarantee, Poll, Spout, SpoutEmitter, Stop, Ticket,
    Watermark,
};

use super::common::{
    alone, builder, config, count, each, eventually, map, numbers, resident, run, start, tasks,
};

const MILLION: u64 = 1_000_000;

/// Where the million comes from.
#[derive(Clone, Copy, PartialEq)]
enum From {
    Execute,
    Close,
    Timer,
}

/// Emits a million numbers in one call.
struct Burst {
    from: From,
    armed: bool,
}

impl Burst {
    fn go(&mut self, from: From, out: &mut Emitter<'_, Vec<u64>>) {
        if self.from == from && self.armed {
            self.armed = false;
            (0..MILLION).for_each(|n| out.emit(n));
        }
    }
}

impl Bolt for Burst {
    type Out = Vec<u64>;

    fn close(
        &mut self,
        _: u64,
        _: Watermark,
        out: &mut Emitter<'_, Vec<u64>>,
    ) -> Result<(), BoxError> {
        self.go(From::Close, out);
        Ok(())
    }

    fn timer(&mut self, _: u64, out: &mut Emitter<'_, Vec<u64>>) -> Result<(), BoxError> {
        self.go(From::Timer, out);
        Ok(())
    }
}

impl Execute<Vec<u64>> for Burst {
    fn execute(&mut self, _: &u64, out: &mut Emitter<'_, Vec<u64>>) -> Result<(), BoxError> {
        self.armed = true;
        self.go(From::Execute, out);
        out.wake_at(out.now());
        Ok(())
    }
}

fn a_million_in_one_call(from: From, guarantee: Guarantee) {
    let mut builder = builder();
    // The spout idles on, so that a timer still has an epoch to emit in.
    let stream = builder.spout("one", 1, |_| Ok(OneThenIdle(false)));
    let stream = builder
        .bolt("burst", 1, move |_| Ok(Burst { from, armed: false }))
        .input(stream, Grouping::global())
        .done();
    let total = Arc::<AtomicU64>::default();
    let (sum, seen) = (Arc::clone(&total), Arc::<AtomicU64>::default());
    let executed = Arc::clone(&seen);
    each(&mut builder, "sink", 2, stream, move |n| {
        sum.fetch_add(n, Ordering::Relaxed);
        executed.fetch_add(1, Ordering::Relaxed);
        if n % 65_536 == 0 {
            sleep(Duration::from_millis(1));
        }
        Ok(())
    });
    let mut config = config();
    config.guarantee = guarantee;
    config.batch = 256;
    let handle = start(builder, config);
    eventually("the million is through", || seen.load(Ordering::Relaxed) >= MILLION);
    handle.stopper().stop(Stop::Drain);
    let report = handle.wait().unwrap();
    assert_eq!(seen.load(Ordering::Relaxed), MILLION);
    assert_eq!(total.load(Ordering::Relaxed), MILLION * (MILLION - 1) / 2);
    assert_eq!((report.replayed, report.dead), (0, 0));
    assert!(report.drained);
    // Over the bound by this call's output, and by no more.
    let peak = report.workers.iter().map(|worker| worker.outbox_peak).max().unwrap();
    let full = usize::try_from(MILLION).unwrap() / 256;
    assert!(peak > full / 2 && peak <= full + 2 + 8, "{peak}");
}

struct OneThenIdle(bool);

impl Spout for OneThenIdle {
    type Out = Vec<u64>;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Vec<u64>>) -> Result<Poll, BoxError> {
        if !self.0 {
            self.0 = true;
            out.emit(1_u64);
        }
        Ok(Poll::Idle(None))
    }
}

#[test]
fn e4_one_execute_that_emits_a_million_loses_nothing() {
    a_million_in_one_call(From::Execute, Guarantee::AtLeastOnce);
    a_million_in_one_call(From::Execute, Guarantee::AtMostOnce);
}

#[test]
fn e4_one_close_that_emits_a_million_loses_nothing() {
    a_million_in_one_call(From::Close, Guarantee::AtLeastOnce);
    a_million_in_one_call(From::Close, Guarantee::AtMostOnce);
}

#[test]
fn e4_one_timer_that_emits_a_million_loses_nothing() {
    a_million_in_one_call(From::Timer, Guarantee::AtLeastOnce);
    a_million_in_one_call(From::Timer, Guarantee::AtMostOnce);
}

#[test]
fn e4_upstream_stands_still_while_an_outbox_is_over_its_bound() {
    // A hundred inputs of 10,000 each: were the bolt to go on regardless, all of them would lie in
    // the outbox at once.
    let mut builder = builder();
    let stream = numbers(&mut builder, "numbers", 1, 100);
    let stream = map(&mut builder, "burst", 1, stream, |n, out| {
        (0..10_000).for_each(|i| out.emit(10_000 * n + i));
        Ok(())
    });
    let seen = Arc::<AtomicU64>::default();
    let executed = Arc::clone(&seen);
    each(&mut builder, "sink", 2, stream, move |_| {
        executed.fetch_add(1, Ordering::Relaxed);
        Ok(())
    });
    let mut config = config();
    config.batch = 100;
    let report = run(builder, config);
    assert_eq!(seen.load(Ordering::Relaxed), MILLION);
    assert_eq!(report.acked, 100);
    let peak = report.workers.iter().map(|worker| worker.outbox_peak).max().unwrap();
    assert!(peak <= 100 + 2 + 8, "{peak}");
}

/// Emits for ever, one a call.
struct Endless(u64);

impl Spout for Endless {
    type Out = Vec<u64>;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Vec<u64>>) -> Result<Poll, BoxError> {
        out.emit(self.0);
        self.0 += 1;
        Ok(Poll::More)
    }
}

#[test]
fn e6_a_slow_sink_does_not_stop_another_stream_of_its_worker() {
    // One worker. Each turn of the slow sink is a batch of four times a millisecond; after `turn`
    // of them everyone else has one. That is the fast stream's share, and it gets it.
    let mut builder = builder();
    let slow = builder.spout("slow source", 1, |_| Ok(Endless(0)));
    let fast = builder.spout("fast source", 1, |_| Ok(Endless(0)));
    let (slowly, quickly) = (Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default());
    let n = Arc::clone(&slowly);
    each(&mut builder, "slow sink", 1, slow, move |_| {
        sleep(Duration::from_millis(1));
        n.fetch_add(1, Ordering::Relaxed);
        Ok(())
    });
    let n = Arc::clone(&quickly);
    each(&mut builder, "fast sink", 1, fast, move |_| {
        n.fetch_add(1, Ordering::Relaxed);
        Ok(())
    });
    let mut config = config();
    (config.workers, config.ackers) = (1, 1);
    let turn = u64::from(config.turn);
    let handle = start(builder, config);
    eventually("the slow sink has done 500", || slowly.load(Ordering::Relaxed) >= 500);
    let (slow, fast) = (slowly.load(Ordering::Relaxed), quickly.load(Ordering::Relaxed));
    handle.stopper().stop(Stop::Drain);
    assert!(handle.wait().unwrap().drained);
    // Four components: in turn + 3 steps each has had one, of four tuples at least.
    assert!(10 * fast >= 9 * slow / (turn + 3), "{fast} beside {slow}");
}

#[test]
fn e6_a_slow_sink_elsewhere_does_not_stop_another_stream_of_the_sender() {
    // Workers go round by name: both sources on 0, the slow sink on 1, the fast one on 2.
    let mut builder = builder();
    let slow = builder.spout("a slow source", 1, |_| Ok(Endless(0)));
    let fast = numbers(&mut builder, "d fast source", 1, 20_000);
    let slowly = Arc::<AtomicU64>::default();
    let n = Arc::clone(&slowly);
    each(&mut builder, "b slow sink", 1, slow, move |_| {
        sleep(Duration::from_millis(5));
        n.fetch_add(1, Ordering::Relaxed);
        Ok(())
    });
    let quickly = count(&mut builder, "c fast sink", 1, fast);
    let mut config = config();
    (config.workers, config.ackers) = (3, 3);
    let handle = start(builder, config);
    eventually("the fast stream is through", || quickly.total() == 20_000);
    let slow = slowly.load(Ordering::Relaxed);
    handle.stopper().stop(Stop::Drain);
    let report = handle.wait().unwrap();
    assert!(report.drained);
    quickly.assert_once(0..20_000);
    // Sharing the sender's fate it would have come to as many.
    assert!(slow < 2_000, "{slow}");
    // The report names where it was stuck: the queue of the slow sink was the full one.
    assert_eq!(tasks(&report, "b slow sink")[0].worker, 1);
}

#[test]
fn e8_a_slow_sink_without_acks_keeps_memory_flat() {
    alone("pressure::e8_a_slow_sink_without_acks_keeps_memory_flat", || {
        let mut builder = builder();
        let stop = Arc::<AtomicBool>::default();
        let done = Arc::<AtomicU64>::default();
        let stream = builder.spout("big", 1, |_| Ok(Big(0)));
        let n = Arc::clone(&done);
        builder
            .bolt("sink", 1, move |_| Ok(SlowSink(Arc::clone(&n))))
            .input(stream, Grouping::global())
            .done();
        let mut config = config();
        config.guarantee = Guarantee::AtMostOnce;
        let handle = start(builder, config);
        eventually("the queues are full", || done.load(Ordering::Relaxed) > 200);
        let before = resident();
        let records = handle.status().records;
        eventually("much more has passed", || done.load(Ordering::Relaxed) > 1200);
        let after = resident();
        handle.stopper().stop(Stop::Drain);
        stop.store(true, Ordering::Relaxed);
        let report = handle.wait().unwrap();
        assert!(report.records > records + 500);
        assert_eq!((report.acked, report.latency), (0, None));
        if let (Some(before), Some(after)) = (before, after) {
            // A thousand records of 64 KiB passed meanwhile.
            let grown = after.saturating_sub(before);
            assert!(grown < before / 10 + (4 << 20), "{before} grew by {grown}");
        }
    });
}

/// Emits records of 64 KiB as fast as it may.
struct Big(u64);

impl Spout for Big {
    type Out = Vec<Vec<u8>>;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Vec<Vec<u8>>>) -> Result<Poll, BoxError> {
        self.0 += 1;
        out.emit(vec![1_u8; 1 << 16]);
        Ok(Poll::More)
    }
}

struct SlowSink(Arc<AtomicU64>);

impl Bolt for SlowSink {
    type Out = ();
}

impl Execute<Vec<Vec<u8>>> for SlowSink {
    fn execute(&mut self, _: &Vec<u8>, _: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
        sleep(Duration::from_millis(1));
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

/// Emits a batch's worth for each number, and holds the number until it is flushed.
#[derive(Default)]
struct Holding(Vec<Ticket>);

impl Bolt for Holding {
    type Out = Vec<u64>;

    fn flush(&mut self, _: u64, out: &mut Emitter<'_, Vec<u64>>) -> Result<(), BoxError> {
        self.0.drain(..).for_each(|ticket| out.release(ticket));
        Ok(())
    }
}

impl Execute<Vec<u64>> for Holding {
    fn execute(&mut self, n: &u64, out: &mut Emitter<'_, Vec<u64>>) -> Result<(), BoxError> {
        (0..64).for_each(|i| out.emit(64 * n + i));
        let ticket = out.defer();
        self.0.push(ticket);
        Ok(())
    }
}

#[test]
fn a_bolt_that_defers_every_tuple_stops_for_its_outbox() {
    let mut builder = builder();
    let stream = numbers(&mut builder, "numbers", 1, 2000);
    let stream = builder
        .bolt("holding", 1, |_| Ok(Holding::default()))
        .input(stream, Grouping::shuffle())
        .done();
    let counts = count(&mut builder, "sink", 2, stream);
    let mut config = config();
    (config.batch, config.max_pending) = (64, 2000);
    let report = run(builder, config);
    counts.assert_once(0..64 * 2000);
    assert_eq!((report.acked, report.replayed), (2000, 0));
    // One call fills a batch, and 64 calls come in one: it stops in the midst of them.
    let peak = report.workers.iter().map(|worker| worker.outbox_peak).max().unwrap();
    assert!(peak <= 16, "{peak}");
}

/// One thousand bytes.
struct Once(bool);

impl Spout for Once {
    type Out = Vec<[u8; 1000]>;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Self::Out>) -> Result<Poll, BoxError> {
        if !self.0 {
            self.0 = true;
            out.emit([1; 1000]);
        }
        Ok(Poll::End)
    }
}

struct Taken;

impl Bolt for Taken {
    type Out = ();
}

impl Execute<Vec<[u8; 1000]>> for Taken {
    fn execute(&mut self, _: &[u8; 1000], _: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
        Ok(())
    }
}

#[test]
fn copies_for_all_tasks_of_a_worker_leave_in_batches_of_the_size_set() {
    // How many copies are in a batch, of a batch's size each.
    for (batch_bytes, batches) in [(1000, 32), (4000, 8), (64_000, 1)] {
        let mut builder = builder();
        let stream = builder.spout("once", 1, |_| Ok(Once(false)));
        builder.bolt("sink", 32, |_| Ok(Taken)).input(stream, Grouping::all()).done();
        let mut config = config();
        (config.workers, config.ackers) = (1, 1);
        (config.batch, config.batch_bytes) = (1000, batch_bytes);
        let report = run(builder, config);
        assert_eq!((report.acked, report.streams[0].counters.executed), (1, 32));
        assert_eq!(report.workers[0].outbox_peak, batches);
    }
}
