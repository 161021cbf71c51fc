//! Figures of a run that goes on: they add up at any time, and in the end they are the report's.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use streamwright::{Bolt, Emitter, Epoch, Execute, Grouping};
use streamwright::{
    BoxError, EpochEnd, Guarantee, Handle, Monitor, Poll, Report, Seek, Spout, SpoutEmitter, Stats,
    Stop, Stream, TopologyBuilder, Watermark,
};

use super::common::{builder, config, count, each, eventually, map, numbers, start};

/// Holds whoever passes, until it is opened.
#[derive(Clone, Default)]
struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    fn pass(&self) {
        let mut open = self.0.0.lock().unwrap();
        while !*open {
            open = self.0.1.wait(open).unwrap();
        }
    }

    fn open(&self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }
}

/// What holds of every snapshot.
fn assert_adds_up(stats: &Stats, tracked: bool) {
    for stream in stats.streams.iter().filter(|_| stats.whole) {
        let c = stream.counters;
        assert!(c.transferred >= c.executed + c.lost + c.repeated, "{stream:?}");
        let executed: u64 =
            stats.tasks.iter().filter(|t| t.component == stream.to).map(|t| t.executed).sum();
        let fed = stats.streams.iter().filter(|s| s.to == stream.to);
        assert_eq!(executed, fed.map(|s| s.counters.executed).sum::<u64>(), "{stream:?}");
    }
    let spouts = stats.tasks.iter().filter(|task| task.records > 0);
    for task in spouts.filter(|_| tracked) {
        let sum = task.acked + task.failed + task.lost + task.pending;
        assert_eq!(task.records, sum, "{task:?}");
    }
    if tracked {
        let with_verdict = stats.records - stats.pending - stats.lost;
        assert!(stats.acked <= with_verdict, "{stats:?}");
    }
    for component in &stats.components {
        let of = |f: fn(&streamwright::TaskStats) -> u64| -> u64 {
            stats.tasks.iter().filter(|t| t.component == component.name).map(f).sum()
        };
        let sums = [of(|t| t.records), of(|t| t.emitted), of(|t| t.executed), of(|t| t.acked)];
        let told = [component.records, component.emitted, component.executed, component.acked];
        assert_eq!(sums, told, "{component:?}");
        let sums = [of(|t| t.failed), of(|t| t.replayed), of(|t| t.pending), of(|t| t.lost)];
        let told = [component.failed, component.replayed, component.pending, component.lost];
        assert_eq!(sums, told, "{component:?}");
        // One call may overfill a queue by nothing: it is the outbox that it overfills.
        assert!(component.queue <= component.queue_limit, "{component:?}");
    }
}

/// No counter falls.
fn assert_grows(before: &Stats, after: &Stats) {
    assert!(before.at <= after.at);
    assert!(before.incarnation <= after.incarnation);
    let all =
        |stats: &Stats| [stats.records, stats.acked, stats.replayed, stats.failed, stats.lost];
    let grows = |before: &[u64], after: &[u64]| before.iter().zip(after).all(|(b, a)| b <= a);
    assert!(grows(&all(before), &all(after)), "{before:?}\n{after:?}");
    assert_eq!(before.tasks.len(), after.tasks.len());
    for (before, after) in before.tasks.iter().zip(&after.tasks) {
        assert_eq!(before.id, after.id);
        let all =
            |t: &streamwright::TaskStats| [t.records, t.emitted, t.executed, t.acked, t.failed];
        assert!(grows(&all(before), &all(after)), "{before:?}\n{after:?}");
    }
}

/// What the last snapshot says is what the report says.
fn assert_is_the_report(stats: &Stats, report: &Report) {
    assert!(stats.finished && stats.whole);
    assert_eq!(stats.tasks, report.tasks);
    assert_eq!(stats.streams, report.streams);
    assert_eq!(stats.workers, report.workers);
    assert_eq!(stats.stalls, report.stalls);
    assert_eq!((stats.at, stats.latency), (report.elapsed, report.latency));
    let figures = |records, acked, replayed, failed, dead, epochs| {
        [records, acked, replayed, failed, dead, epochs]
    };
    assert_eq!(
        figures(stats.records, stats.acked, stats.replayed, stats.failed, stats.dead, stats.epochs),
        figures(
            report.records,
            report.acked,
            report.replayed,
            report.failed,
            report.dead,
            report.epochs
        )
    );
    assert_eq!(stats.incarnation, report.crashes.len() as u64);
    let unfinished = report.unfinished.len() as u64;
    assert_eq!(stats.tasks.iter().map(|task| task.pending).sum::<u64>(), unfinished);
}

/// Looks at a run from another thread until it is over; how many looks found something new.
fn watch(monitor: Monitor, tracked: bool) -> std::thread::JoinHandle<u64> {
    std::thread::spawn(move || {
        let mut last = monitor.stats();
        let mut news = 0;
        while !last.finished {
            assert_adds_up(&last, tracked);
            let next = monitor.stats();
            assert_grows(&last, &next);
            news += u64::from(next.whole && next.records > last.records && !next.finished);
            last = next;
        }
        assert_adds_up(&last, tracked);
        news
    })
}

/// Watches a run to its end, and compares its last figures with the report.
fn watched(handle: Handle, tracked: bool) -> (Report, u64) {
    let monitor = handle.monitor();
    let watcher = watch(handle.monitor(), tracked);
    let report = handle.wait().unwrap();
    let news = watcher.join().unwrap();
    assert_is_the_report(&monitor.stats(), &report);
    (report, news)
}

#[test]
fn a_handle_and_a_monitor_go_to_other_threads() {
    fn shared<T: Send + Sync + 'static>() {}
    shared::<Handle>();
    shared::<Monitor>();
}

#[test]
fn figures_add_up_at_any_time() {
    for guarantee in [Guarantee::AtLeastOnce, Guarantee::AtMostOnce, Guarantee::ExactlyOnce] {
        let mut builder = builder();
        let stream = numbers(&mut builder, "numbers", 2, 60_000);
        let stream = map(&mut builder, "pass", 3, stream, |n, out| {
            out.emit(n);
            out.emit(n);
            Ok(())
        });
        let counts = count(&mut builder, "sink", 2, stream);
        let mut config = config();
        config.guarantee = guarantee;
        let tracked = config.tracked();
        let (report, news) = watched(start(builder, config), tracked);
        assert!(report.complete);
        assert_eq!(counts.total(), 120_000);
        // It was seen while it ran, not only as it was over.
        assert!(news > 0, "{guarantee:?}: {:?}", report.elapsed);
    }
}

#[test]
fn figures_add_up_with_failures_and_dead_letters() {
    let mut builder = builder();
    let stream = numbers(&mut builder, "numbers", 2, 5000);
    let first = Arc::new(Mutex::new(std::collections::BTreeSet::new()));
    let stream = map(&mut builder, "fussy", 2, stream, move |n, out| {
        let fails = n % 500 == 7 || (n % 100 == 3 && first.lock().unwrap().insert(n));
        out.emit(n);
        if fails { Err("fussy".into()) } else { Ok(()) }
    });
    let counts = count(&mut builder, "sink", 2, stream);
    let (report, _) = watched(start(builder, config()), true);
    assert_eq!((report.acked, report.dead), (4990, 10));
    assert_eq!(report.replayed, 50 + 2 * 10);
    counts.assert_once((0..5000).filter(|n| n % 500 != 7));
}

/// The numbers up to `end`, ten at a time; it can go back.
struct Tape {
    next: u64,
    end: u64,
    furthest: Arc<AtomicU64>,
}

impl Spout for Tape {
    type Out = Vec<u64>;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Vec<u64>>) -> Result<Poll, BoxError> {
        for _ in 0..out.room().min(10) {
            if self.next < self.end {
                out.emit(self.next);
                self.next += 1;
            }
        }
        self.furthest.fetch_max(self.next, SeqCst);
        let more = self.next < self.end;
        Ok(Poll::Idle(more.then_some(Duration::from_micros(200))))
    }

    fn position(&self) -> Option<Vec<u8>> {
        Some(self.next.to_le_bytes().to_vec())
    }

    fn seek(&mut self, to: Seek<'_>) -> Result<(), BoxError> {
        self.next = match to {
            Seek::To(position) => u64::from_le_bytes(position.try_into()?),
            _ => self.furthest.load(SeqCst),
        };
        Ok(())
    }
}

/// A tape of `end` numbers.
fn tape(builder: &mut TopologyBuilder, end: u64) -> Stream<Vec<u64>> {
    let furthest = Arc::new(AtomicU64::new(0));
    builder.spout("tape", 1, move |_| Ok(Tape { next: 0, end, furthest: Arc::clone(&furthest) }))
}

/// A tape that runs on until something crashes, and then no further than it had come, or to 500.
fn tape_until_a_crash(
    builder: &mut TopologyBuilder,
    furthest: &Arc<AtomicU64>,
) -> Stream<Vec<u64>> {
    let furthest = Arc::clone(furthest);
    builder.spout("tape", 1, move |task| {
        let first = task.incarnation() == 0;
        let end = if first { u64::MAX } else { furthest.load(SeqCst).max(500) };
        Ok(Tape { next: 0, end, furthest: Arc::clone(&furthest) })
    })
}

/// Counts, and falls in the first `close` once it is told to.
struct Falling {
    fall: Arc<AtomicBool>,
}

impl Bolt for Falling {
    type Out = Vec<u64>;

    fn close(
        &mut self,
        _: Epoch,
        _: Watermark,
        _: &mut Emitter<'_, Vec<u64>>,
    ) -> Result<(), BoxError> {
        if self.fall.swap(false, SeqCst) { Err("it falls".into()) } else { Ok(()) }
    }
}

impl Execute<Vec<u64>> for Falling {
    fn execute(&mut self, n: &u64, out: &mut Emitter<'_, Vec<u64>>) -> Result<(), BoxError> {
        out.emit(*n);
        Ok(())
    }
}

#[test]
fn figures_add_up_over_a_crash() {
    for guarantee in [Guarantee::AtLeastOnce, Guarantee::AtMostOnce] {
        let fall = Arc::new(AtomicBool::new(false));
        let furthest = Arc::new(AtomicU64::new(0));
        let mut builder = builder();
        let stream = tape_until_a_crash(&mut builder, &furthest);
        let falls = Arc::clone(&fall);
        let stream = builder
            .bolt("falling", 2, move |_| Ok(Falling { fall: Arc::clone(&falls) }))
            .input(stream, Grouping::shuffle())
            .done();
        let counts = count(&mut builder, "sink", 2, stream);
        let mut config = config();
        config.epoch = EpochEnd::Every(Duration::from_millis(2));
        config.guarantee = guarantee;
        let tracked = config.tracked();
        let handle = start(builder, config);
        let watcher = watch(handle.monitor(), tracked);
        eventually("something came", || counts.total() > 0);
        fall.store(true, SeqCst);
        eventually("a new start", || handle.stats().incarnation == 1);
        // It falls idle, and its figures come to rest there: nothing is left half told.
        eventually("all is done after the crash", || {
            let stats = handle.stats();
            let all = furthest.load(SeqCst);
            let came = if tracked { counts.get().len() as u64 } else { all };
            let rest = stats.streams.iter().all(|stream| stream.in_flight() == 0);
            all >= 500 && came == all && stats.pending == 0 && rest && stats.records >= all
        });
        handle.stop(Stop::Drain);
        let monitor = handle.monitor();
        let report = handle.wait().unwrap();
        watcher.join().unwrap();
        let last = monitor.stats();
        assert_is_the_report(&last, &report);
        assert_eq!((last.incarnation, last.finished, last.pending), (1, true, 0));
        if tracked {
            assert_eq!(last.records, last.acked + last.lost);
            counts.get().into_keys().zip(0..).for_each(|(came, number)| assert_eq!(came, number));
        } else {
            assert_eq!(last.lost, 0);
        }
    }
}

#[test]
fn an_idle_run_shows_its_last_figures_and_costs_no_looks() {
    let mut builder = builder();
    let stream = tape(&mut builder, 500);
    let counts = count(&mut builder, "sink", 2, stream);
    let handle = start(builder, config());
    eventually("all is acked", || handle.stats().acked == 500);
    let stats = handle.stats();
    assert!(!stats.finished);
    assert_adds_up(&stats, true);
    assert_eq!((stats.records, stats.pending, stats.dead), (500, 0, 0));
    let tape = stats.component("tape").unwrap();
    assert_eq!((tape.acked, tape.tasks, tape.queue_limit), (500, 1, 0));
    assert_eq!(tape.latency, stats.latency);
    let latency = stats.latency.unwrap();
    assert!(latency.p50 <= latency.p99 && latency.max <= stats.at, "{latency:?}");
    assert_eq!(stats.component("sink").unwrap().latency, None);
    eventually("its epochs close", || handle.stats().epochs > 0);
    handle.stop(Stop::Drain);
    assert!(handle.wait().unwrap().drained);
    counts.assert_once(0..500);
}

#[test]
fn pending_and_queues_are_shown_and_a_long_call_holds_up_no_look() {
    let mut builder = builder();
    let stream = numbers(&mut builder, "a numbers", 1, 1000);
    let gate = Gate::default();
    let held = gate.clone();
    // On the other worker.
    each(&mut builder, "b held", 1, stream, move |_| {
        held.pass();
        Ok(())
    });
    let mut config = config();
    (config.queue, config.batch, config.max_pending) = (2, 4, 1000);
    config.overrun = Duration::from_millis(5);
    let handle = start(builder, config);
    // The worker in the call leaves no figures, and nobody waits for it for long.
    eventually("the queue is full", || {
        let from = Instant::now();
        let stats = handle.stats();
        assert!(from.elapsed() < Duration::from_secs(10));
        assert_adds_up(&stats, true);
        stats.component("b held").unwrap().queue == 2
    });
    eventually("the other worker is seen to have emitted", || {
        let stats = handle.stats();
        assert_adds_up(&stats, true);
        !stats.whole && stats.records >= 8 && stats.pending == stats.records
    });
    eventually("it is named", || {
        handle
            .stats()
            .overrunning
            .first()
            .is_some_and(|(name, task, _)| (&**name, *task) == ("b held", 0))
    });
    assert_eq!(handle.stats().component("b held").unwrap().queue_limit, 2);
    gate.open();
    let (report, _) = watched(handle, true);
    assert_eq!(report.acked, 1000);
}

#[test]
fn roots_that_wait_for_their_next_attempt_are_pending() {
    let mut builder = builder();
    let stream = numbers(&mut builder, "numbers", 2, 1000);
    each(&mut builder, "fails", 2, stream, |_| Err("always".into()));
    let mut config = config();
    (config.backoff, config.max_backoff) = (Duration::from_secs(60), Duration::from_secs(60));
    let handle = start(builder, config);
    let all = |stats: Stats| stats.pending == 32 && stats.failed == 32;
    eventually("each task has as many as it may", || all(handle.stats()));
    let stats = handle.stats();
    assert_adds_up(&stats, true);
    assert_eq!((stats.records, stats.acked, stats.failed, stats.latency), (32, 0, 32, None));
    assert!(stats.tasks.iter().filter(|task| task.component == "numbers").all(|t| t.pending == 16));
    handle.stop(Stop::Now);
    let monitor = handle.monitor();
    let report = handle.wait().unwrap();
    assert_eq!(report.unfinished.len(), 32);
    assert_is_the_report(&monitor.stats(), &report);
}

#[test]
fn a_run_that_failed_leaves_its_last_figures() {
    struct Fails(u64);
    impl Spout for Fails {
        type Out = Vec<u64>;
        fn next(&mut self, out: &mut SpoutEmitter<'_, Vec<u64>>) -> Result<Poll, BoxError> {
            self.0 += 1;
            if self.0 > 100 {
                return Err("no more".into());
            }
            out.emit(self.0);
            Ok(Poll::More)
        }
    }
    let mut builder = builder();
    let stream = builder.spout("fails", 1, |_| Ok(Fails(0)));
    count(&mut builder, "sink", 1, stream);
    let handle = start(builder, config());
    let monitor = handle.monitor();
    assert!(handle.wait().is_err());
    let stats = monitor.stats();
    assert!(stats.finished);
    assert_adds_up(&stats, true);
    // What was emitted in the failing step, at most a batch of 4, has not left.
    assert!((96..=100).contains(&stats.records), "{stats:?}");
}

#[test]
fn a_watermark_is_shown() {
    struct Marks(u64);
    impl Spout for Marks {
        type Out = Vec<u64>;
        fn next(&mut self, out: &mut SpoutEmitter<'_, Vec<u64>>) -> Result<Poll, BoxError> {
            self.0 += 1;
            out.watermark(777);
            out.emit(self.0);
            Ok(Poll::Idle(Some(Duration::from_millis(1))))
        }
    }
    let mut builder = builder();
    let stream = builder.spout("marks", 1, |_| Ok(Marks(0)));
    count(&mut builder, "sink", 1, stream);
    let handle = start(builder, config());
    assert!(matches!(handle.stats().watermark, None | Some(777)));
    eventually("it is given out", || handle.stats().watermark == Some(777));
    handle.stop(Stop::Drain);
    let monitor = handle.monitor();
    assert!(handle.wait().unwrap().drained);
    assert_eq!(monitor.stats().watermark, Some(777));
}
