//! Bolts whose tasks have threads of their own: what blocks there blocks nothing else.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use streamwright::{
    Bolt, BoxError, Config, Emitter, Epoch, EpochEnd, Execute, Grouping, Guarantee, Stop, Stream,
    TopologyBuilder, Watermark,
};

use super::common::{Each, builder, config, count, eventually, map, numbers, run, start, tasks};

/// A dedicated sink of one function.
fn dedicated<F>(builder: &mut TopologyBuilder, tasks: u32, from: Stream<Vec<u64>>, f: F)
where
    F: FnMut(u64) -> Result<(), BoxError> + Clone + Send + Sync + 'static,
{
    builder
        .bolt("dedicated", tasks, move |_| Ok(Each(f.clone())))
        .input(from, Grouping::shuffle())
        .dedicated()
        .done();
}

/// One worker, and epochs that nothing waits for.
fn one_worker() -> Config {
    let mut config = config();
    (config.workers, config.ackers) = (1, 1);
    config.epoch = EpochEnd::Records(1_000_000);
    config
}

/// Waits until it is told to go on, or half a minute.
#[derive(Clone, Default)]
struct Signal(Arc<AtomicBool>);

impl Signal {
    fn set(&self) {
        self.0.store(true, SeqCst);
    }

    fn wait(&self) -> bool {
        let start = Instant::now();
        while !self.0.load(SeqCst) && start.elapsed() < Duration::from_secs(30) {
            thread::sleep(Duration::from_millis(1));
        }
        self.0.load(SeqCst)
    }
}

#[test]
fn a_bolt_that_blocks_holds_back_no_other_component() {
    for guarantee in [Guarantee::AtLeastOnce, Guarantee::AtMostOnce] {
        let mut builder = builder();
        let blocked = numbers(&mut builder, "blocked", 1, 10);
        let free = numbers(&mut builder, "free", 1, 5000);
        let (all_came, seen) = (Signal::default(), Arc::new(AtomicU64::new(0)));
        let (wait, waited) = (all_came.clone(), Arc::clone(&seen));
        // The first call returns only as all of the other branch has come: on the one thread of
        // the settings that could never be.
        dedicated(&mut builder, 1, blocked, move |_| {
            waited.fetch_add(u64::from(wait.wait()), SeqCst);
            Ok(())
        });
        let stream = map(&mut builder, "pass", 2, free, |n, out| {
            out.emit(n);
            Ok(())
        });
        let came = Arc::new(AtomicU64::new(0));
        super::common::each(&mut builder, "sink", 1, stream, move |_| {
            if came.fetch_add(1, SeqCst) == 4999 {
                all_came.set();
            }
            Ok(())
        });
        let mut config = one_worker();
        config.guarantee = guarantee;
        let report = run(builder, config);
        assert!(report.complete);
        assert_eq!(seen.load(SeqCst), 10, "{guarantee:?}");
        assert_eq!((report.records, report.replayed, report.dead), (5010, 0, 0));
    }
}

#[test]
fn each_task_has_a_thread_of_its_own_and_the_settings_are_as_they_were_given() {
    let threads = Arc::new(Mutex::new(BTreeSet::new()));
    let others = Arc::new(Mutex::new(Vec::<ThreadId>::new()));
    let mut builder = builder();
    let stream = numbers(&mut builder, "numbers", 2, 1000);
    let told = Arc::clone(&others);
    let stream = map(&mut builder, "pass", 2, stream, move |n, out| {
        told.lock().unwrap().push(thread::current().id());
        out.emit(n);
        Ok(())
    });
    let told = Arc::clone(&threads);
    builder
        .bolt("dedicated", 3, move |task| {
            let (told, index) = (Arc::clone(&told), task.index());
            Ok(Each(move |_| {
                told.lock().unwrap().insert((index, format!("{:?}", thread::current().id())));
                Ok(())
            }))
        })
        .input(stream, Grouping::shuffle())
        .dedicated()
        .done();
    let report = run(builder, config());
    assert!(report.complete);
    let threads = threads.lock().unwrap();
    let own: BTreeSet<&String> = threads.iter().map(|(_, thread)| thread).collect();
    assert_eq!((threads.len(), own.len()), (3, 3), "{threads:?}");
    let shared = others.lock().unwrap();
    assert!(shared.iter().all(|thread| !own.contains(&format!("{thread:?}"))));
    assert_eq!((report.config.workers, report.workers.len()), (2, 5));
    let workers: BTreeSet<u32> =
        tasks(&report, "dedicated").iter().map(|task| task.worker).collect();
    assert_eq!(workers, BTreeSet::from([2, 3, 4]));
    assert!(report.tasks.iter().all(|t| t.component == "dedicated" || t.worker < 2));
}

#[test]
fn long_calls_are_no_time_outs() {
    // Within half a time-out, and over it: then the clock stands.
    for call in [100, 700] {
        let mut builder = builder();
        let stream = numbers(&mut builder, "numbers", 1, 8);
        let calls = Arc::new(AtomicU64::new(0));
        let told = Arc::clone(&calls);
        dedicated(&mut builder, 2, stream, move |_| {
            told.fetch_add(1, SeqCst);
            thread::sleep(Duration::from_millis(call));
            Ok(())
        });
        let mut config = one_worker();
        config.timeout = Duration::from_millis(500);
        let report = run(builder, config);
        assert_eq!((report.acked, report.replayed, calls.load(SeqCst)), (8, 0, 8));
    }
}

#[test]
fn others_are_tried_again_while_calls_follow_each_other() {
    // Three tasks in calls of 100 ms, by turns: some one is always in a call for longer than the
    // 20 ms at which a shared worker would have the clock stand.
    let mut builder = builder();
    let endless = builder.spout("endless", 1, |_| Ok(Endless(0)));
    let done = Signal::default();
    let stop = done.clone();
    dedicated(&mut builder, 3, endless, move |n| {
        if !stop.0.load(SeqCst) {
            thread::sleep(Duration::from_millis(100 + n % 3 * 10));
        }
        Ok(())
    });
    let stream = numbers(&mut builder, "fails once", 1, 50);
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let sink = seen.clone();
    let stream = map(&mut builder, "fussy", 1, stream, move |n, out| {
        out.emit(n);
        if sink.lock().unwrap().insert(n) { Err("at first".into()) } else { Ok(()) }
    });
    let counts = count(&mut builder, "sink", 1, stream);
    let mut config = one_worker();
    config.overrun = Duration::from_millis(20);
    config.backoff = Duration::from_millis(30);
    let handle = start(builder, config);
    // Were the clock to stand, no second attempt would ever begin.
    eventually("all are done by a second attempt", || counts.total() == 50);
    done.set();
    handle.stop(Stop::Drain);
    let report = handle.wait().unwrap();
    assert!(report.drained);
    assert_eq!(report.replayed, 50);
}

/// All numbers, and it can go back.
struct Endless(u64);

impl streamwright::Spout for Endless {
    type Out = Vec<u64>;

    fn next(
        &mut self,
        out: &mut streamwright::SpoutEmitter<'_, Vec<u64>>,
    ) -> Result<streamwright::Poll, BoxError> {
        out.emit(self.0);
        self.0 += 1;
        Ok(streamwright::Poll::Idle(Some(Duration::from_millis(1))))
    }

    fn position(&self) -> Option<Vec<u8>> {
        Some(self.0.to_le_bytes().to_vec())
    }

    fn seek(&mut self, to: streamwright::Seek<'_>) -> Result<(), BoxError> {
        if let streamwright::Seek::To(position) = to {
            self.0 = u64::from_le_bytes(position.try_into()?);
        }
        Ok(())
    }
}

/// Falls in the first `close` after it was told to.
struct Falls(Arc<AtomicBool>);

impl Bolt for Falls {
    type Out = Vec<u64>;

    fn close(
        &mut self,
        _: Epoch,
        _: Watermark,
        _: &mut Emitter<'_, Vec<u64>>,
    ) -> Result<(), BoxError> {
        if self.0.swap(false, SeqCst) { Err("it falls".into()) } else { Ok(()) }
    }
}

impl Execute<Vec<u64>> for Falls {
    fn execute(&mut self, n: &u64, out: &mut Emitter<'_, Vec<u64>>) -> Result<(), BoxError> {
        out.emit(*n);
        Ok(())
    }
}

#[test]
fn after_a_crash_each_task_has_its_thread_again() {
    let fall = Arc::new(AtomicBool::new(false));
    let mut builder = builder();
    let stream = builder.spout("endless", 1, |_| Ok(Endless(0)));
    let falls = Arc::clone(&fall);
    let stream = builder
        .bolt("falls", 2, move |_| Ok(Falls(Arc::clone(&falls))))
        .input(stream, Grouping::shuffle())
        .dedicated()
        .done();
    let counts = count(&mut builder, "sink", 1, stream);
    let handle = start(builder, config());
    eventually("some came", || counts.total() > 10);
    fall.store(true, SeqCst);
    eventually("a new start", || handle.stats().incarnation == 1);
    let before = counts.get().len();
    eventually("it goes on", || counts.get().len() > before + 20);
    handle.stop(Stop::Drain);
    let report = handle.wait().unwrap();
    assert!(report.drained);
    assert_eq!((report.crashes.len(), report.workers.len()), (1, 4));
    // None is missing.
    let came = counts.get();
    assert_eq!(came.len() as u64, came.keys().next_back().unwrap() + 1);
}

#[test]
fn a_drain_waits_for_calls_and_a_stop_does_not() {
    for stop in [Stop::Drain, Stop::Now] {
        let mut builder = builder();
        let stream = numbers(&mut builder, "numbers", 1, 3);
        let (entered, leave) = (Signal::default(), Signal::default());
        let (enter, left) = (entered.clone(), leave.clone());
        dedicated(&mut builder, 1, stream, move |_| {
            enter.set();
            left.wait();
            Ok(())
        });
        let handle = start(builder, one_worker());
        assert!(entered.wait());
        handle.stop(stop);
        if stop == Stop::Drain {
            leave.set();
        }
        let report = handle.wait().unwrap();
        assert_eq!(report.drained, stop == Stop::Drain);
        if stop == Stop::Now {
            // It is left behind, and named.
            assert!(
                report.overruns.iter().any(|(name, task, _)| (&**name, *task) == ("dedicated", 0))
            );
            assert!(!leave.0.load(SeqCst));
            leave.set();
        } else {
            assert_eq!(report.acked, report.records);
        }
    }
}
