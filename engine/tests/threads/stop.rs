//! E22: drain finishes what is under way, stop leaves it by name, and nothing outlives the deadline.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use streamwright::{
    Bolt, BoxError, Config, Emitter, Execute, Grouping, Guarantee, Poll, Spout, SpoutEmitter, Stop,
};

use super::common::{
    Counts, Each, alone, builder, config, count, each, eventually, map, numbers, start,
    thread_count,
};

const MS: Duration = Duration::from_millis(1);

/// Endless numbers, of which a slow sink counts each.
fn slowly(config: Config, pace: Duration) -> (streamwright::Handle, Counts) {
    let mut builder = builder();
    let stream = numbers(&mut builder, "numbers", 2, u64::MAX);
    let stream = map(&mut builder, "pass", 2, stream, |n, out| {
        out.emit(n);
        Ok(())
    });
    let counts = Counts::default();
    let kept = counts.clone();
    each(&mut builder, "sink", 2, stream, move |n| {
        sleep(pace);
        kept.add(n);
        Ok(())
    });
    (start(builder, config), counts)
}

#[test]
fn e22_drain_leaves_nothing_unfinished_and_what_was_acked_is_counted() {
    for guarantee in [Guarantee::AtLeastOnce, Guarantee::AtMostOnce] {
        for pause in [0, 3, 50, 200] {
            let mut config = config();
            config.guarantee = guarantee;
            // Half full batches wait for the idle flush, for linger never comes.
            (config.linger, config.timeout) =
                (Duration::from_secs(3600), Duration::from_secs(7200));
            config.batch = 100;
            let (handle, counts) = slowly(config, Duration::from_micros(50));
            sleep(pause * MS);
            handle.stopper().stop(Stop::Drain);
            let report = handle.wait().unwrap();
            assert!(report.drained && !report.complete && report.unfinished.is_empty());
            assert_eq!(counts.total(), report.records);
            assert!(counts.get().into_values().all(|times| times == 1));
            if guarantee == Guarantee::AtLeastOnce {
                assert_eq!(report.acked, report.records);
            }
            for stream in &report.streams {
                assert_eq!(stream.in_flight(), 0, "{stream:?}");
            }
        }
    }
}

#[test]
fn e22_drain_amid_replays_finishes_them() {
    let mut config = config();
    config.drop_ppm = 100_000;
    config.timeout = 100 * MS;
    config.attempts = 50;
    let (handle, counts) = slowly(config, Duration::from_micros(50));
    sleep(300 * MS);
    handle.stopper().stop(Stop::Drain);
    let report = handle.wait().unwrap();
    assert!(report.drained && report.replayed > 0, "{report:?}");
    assert_eq!((report.acked, report.dead), (report.records, 0));
    assert_eq!(counts.get().len() as u64, report.records);
}

#[test]
fn e22_stop_names_what_it_leaves() {
    // On a busy machine a spout may wait for its turn while all that it sent is through.
    let stopped = (0..20).find_map(|_| {
        let (handle, counts) = slowly(config(), MS);
        eventually("some are through", || counts.total() > 50);
        handle.stopper().stop(Stop::Now);
        let report = handle.wait().unwrap();
        assert!(!report.complete && !report.drained);
        (!report.unfinished.is_empty()).then_some((report, counts))
    });
    let (report, counts) = stopped.unwrap();
    assert_eq!(report.acked + report.unfinished.len() as u64, report.records);
    for (component, task, epoch, attempts) in &report.unfinished {
        assert_eq!((component.as_str(), *attempts), ("numbers", 1));
        assert!(*task < 2 && *epoch >= report.epochs);
    }
    // What was acked has its effect.
    assert!(counts.total() >= report.acked);
}

#[test]
fn e22_a_second_wish_that_is_stronger_holds() {
    let (handle, counts) = slowly(config(), 20 * MS);
    eventually("some are through", || counts.total() > 5);
    handle.stopper().stop(Stop::Drain);
    handle.stopper().stop(Stop::Now);
    handle.stopper().stop(Stop::Drain);
    let report = handle.wait().unwrap();
    assert!(!report.drained && !report.unfinished.is_empty());
}

#[test]
fn e22_a_stop_before_the_start_has_finished_is_heard() {
    for how in [Stop::Drain, Stop::Now] {
        let mut builder = builder();
        let stream = numbers(&mut builder, "numbers", 2, u64::MAX);
        builder
            .bolt("slow to open", 2, |_| {
                sleep(200 * MS);
                Ok(Each(|_| Ok(())))
            })
            .input(stream, Grouping::shuffle())
            .done();
        let handle = start(builder, config());
        handle.stopper().stop(how);
        let begun = Instant::now();
        let report = handle.wait().unwrap();
        assert!(begun.elapsed() < Duration::from_secs(10));
        assert!(!report.complete);
        // Nothing is lost by name: what was emitted is acked, or named.
        assert_eq!(report.acked + report.unfinished.len() as u64, report.records);
    }
}

#[test]
fn e22_a_stuck_bolt_cannot_outlive_the_deadline() {
    let mut builder = builder();
    let stream = numbers(&mut builder, "numbers", 1, u64::MAX);
    each(&mut builder, "stuck", 1, stream, |_| {
        sleep(Duration::from_secs(30));
        Ok(())
    });
    let mut config = config();
    config.drain = 300 * MS;
    config.overrun = 50 * MS;
    let handle = start(builder, config);
    eventually("the bolt is stuck", || !handle.status().overrunning.is_empty());
    let begun = Instant::now();
    handle.stopper().stop(Stop::Drain);
    let report = handle.wait().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
    assert!(!report.complete && !report.drained);
    let stuck = report.overruns.iter().find(|(component, ..)| component == "stuck");
    assert!(stuck.is_some_and(|&(_, task, time)| task == 0 && time >= 300 * MS), "{stuck:?}");
}

#[test]
fn e22_a_run_that_ends_leaves_no_thread_behind() {
    alone("stop::e22_a_run_that_ends_leaves_no_thread_behind", || {
        let before = thread_count();
        for how in [Stop::Never, Stop::Drain, Stop::Now] {
            let mut builder = builder();
            let stream = numbers(&mut builder, "numbers", 2, 10_000);
            count(&mut builder, "sink", 2, stream);
            let handle = start(builder, config());
            handle.stopper().stop(how);
            let _ = handle.wait().unwrap();
            eventually("all threads are gone", || thread_count() == before);
        }
    });
}

/// A spout that another thread feeds and wakes.
struct Fed {
    fed: Arc<AtomicU64>,
    emitted: u64,
}

impl Spout for Fed {
    type Out = Vec<u64>;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Vec<u64>>) -> Result<Poll, BoxError> {
        if self.emitted < self.fed.load(Ordering::SeqCst) {
            out.emit(self.emitted);
            self.emitted += 1;
            return Ok(Poll::More);
        }
        Ok(Poll::Idle(None))
    }
}

#[test]
fn e22_a_spout_that_waits_for_its_own_thread_is_woken_and_drains() {
    let fed = Arc::<AtomicU64>::default();
    let (waker, woken) = std::sync::mpsc::channel();
    let waker = std::sync::Mutex::new(waker);
    let mut builder = builder();
    let feed = Arc::clone(&fed);
    let stream = builder.spout("fed", 1, move |task| {
        waker.lock().unwrap().send(task.waker().clone())?;
        Ok(Fed { fed: Arc::clone(&feed), emitted: 0 })
    });
    let counts = count(&mut builder, "sink", 1, stream);
    let handle = start(builder, config());
    let waker: std::task::Waker = woken.recv().unwrap();
    for n in 1..=20 {
        fed.store(n, Ordering::SeqCst);
        waker.wake_by_ref();
        eventually("the record is through", || counts.total() == n);
    }
    handle.stopper().stop(Stop::Drain);
    let report = handle.wait().unwrap();
    assert!(report.drained);
    assert_eq!(report.acked, 20);
}

/// Held back by a bolt until flush.
struct Batching {
    held: Vec<u64>,
    counts: Counts,
}

impl Bolt for Batching {
    type Out = ();

    fn flush(&mut self, _: u64, _: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
        self.held.drain(..).for_each(|n| self.counts.add(n));
        Ok(())
    }
}

impl Execute<Vec<u64>> for Batching {
    fn execute(&mut self, n: &u64, _: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
        self.held.push(*n);
        Ok(())
    }
}

#[test]
fn e22_what_a_batching_sink_holds_is_flushed_before_the_end() {
    let counts = Counts::default();
    let kept = counts.clone();
    let mut builder = builder();
    let stream = numbers(&mut builder, "numbers", 1, u64::MAX);
    builder
        .bolt("sink", 2, move |_| Ok(Batching { held: Vec::new(), counts: kept.clone() }))
        .input(stream, Grouping::shuffle())
        .done();
    let mut config = config();
    (config.linger, config.timeout) = (Duration::from_secs(3600), Duration::from_secs(7200));
    let handle = start(builder, config);
    eventually("some are through", || handle.status().records > 500);
    handle.stopper().stop(Stop::Drain);
    let report = handle.wait().unwrap();
    assert!(report.drained);
    counts.assert_once(counts.get().into_keys());
    assert_eq!(counts.total(), report.records);
}
