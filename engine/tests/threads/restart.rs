//! E15, E29, without snapshots: what fails where there is no tuple to blame starts all anew, and
//! what was lost by it is named.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use streamwright::demos::wordcount::{Origin, Tasks, WordCount};
use streamwright::{
    Bolt, BoxError, Config, Emitter, Epoch, EpochEnd, Execute, Grouping, Guarantee, Poll, Report,
    RunError, Seek, Spout, SpoutEmitter, Stop, Stream, TaskContext, TopologyBuilder, Watermark,
    threads,
};

use super::common::{builder, config, count, eventually, tasks};

/// The numbers from 0 on, at most 100 of them an epoch; it can go back.
struct Tape {
    next: u64,
    epoch: Epoch,
    emitted: u64,
    end: u64,
    furthest: Arc<AtomicU64>,
}

impl Spout for Tape {
    type Out = Vec<u64>;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Vec<u64>>) -> Result<Poll, BoxError> {
        if self.next >= self.end {
            return Ok(Poll::End);
        }
        if self.epoch != out.epoch() {
            (self.epoch, self.emitted) = (out.epoch(), 0);
        }
        if self.emitted == 100 {
            return Ok(Poll::Idle(Some(Duration::from_micros(200))));
        }
        self.emitted += 1;
        out.emit(self.next);
        self.next += 1;
        self.furthest.fetch_max(self.next, SeqCst);
        Ok(Poll::More)
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

fn tape(builder: &mut TopologyBuilder, end: u64) -> Stream<Vec<u64>> {
    let furthest = Arc::new(AtomicU64::new(0));
    builder.spout("tape", 1, move |_| {
        Ok(Tape { next: 0, epoch: 0, emitted: 0, end, furthest: Arc::clone(&furthest) })
    })
}

/// Hands numbers on, and does something as it closes and as it is dropped.
struct Closing<C, D: FnMut()> {
    close: C,
    drop: D,
}

impl<C, D> Bolt for Closing<C, D>
where
    C: FnMut(Epoch) -> Result<(), BoxError> + Send + 'static,
    D: FnMut() + Send + 'static,
{
    type Out = Vec<u64>;

    fn close(
        &mut self,
        epoch: Epoch,
        _: Watermark,
        _: &mut Emitter<'_, Vec<u64>>,
    ) -> Result<(), BoxError> {
        (self.close)(epoch)
    }
}

impl<C, D> Execute<Vec<u64>> for Closing<C, D>
where
    C: FnMut(Epoch) -> Result<(), BoxError> + Send + 'static,
    D: FnMut() + Send + 'static,
{
    fn execute(&mut self, n: &u64, out: &mut Emitter<'_, Vec<u64>>) -> Result<(), BoxError> {
        out.emit(*n);
        Ok(())
    }
}

impl<C, D: FnMut()> Drop for Closing<C, D> {
    fn drop(&mut self) {
        (self.drop)();
    }
}

/// A bolt of two tasks whose `close` is told the incarnation and its task's number.
fn closing<C>(builder: &mut TopologyBuilder, from: Stream<Vec<u64>>, close: C) -> Stream<Vec<u64>>
where
    C: Fn(Epoch, &TaskContext) -> Result<(), BoxError> + Clone + Send + Sync + 'static,
{
    builder
        .bolt("closing", 2, move |cx| {
            let (close, cx) = (close.clone(), cx.clone());
            Ok(Closing { close: move |epoch| close(epoch, &cx), drop: || () })
        })
        .input(from, Grouping::shuffle())
        .done()
}

fn short_epochs() -> Config {
    let mut config = config();
    config.epoch = EpochEnd::Every(Duration::from_millis(2));
    config
}

/// Every number came, and every figure adds up.
fn assert_all_came(report: &Report, came: &super::common::Counts, end: u64) {
    let came = came.get();
    assert_eq!(came.len() as u64, end);
    assert_eq!(report.records, tasks(report, "tape")[0].records);
    assert!(report.records >= end && report.records == report.acked + again(report));
    assert_eq!(report.tasks.len(), 5, "each task once");
    for stream in &report.streams {
        assert_eq!(stream.in_flight(), 0, "{stream:?}");
    }
    assert!(report.unfinished.is_empty());
}

/// Records whose root died with its incarnation.
fn again(report: &Report) -> u64 {
    let tape = tasks(report, "tape")[0];
    tape.records - tape.acked - tape.failed
}

#[test]
fn e15_a_close_that_panics_once_starts_all_anew_and_names_what_was_lost() {
    for workers in [1, 2, 3] {
        let mut builder = builder();
        let stream = tape(&mut builder, 2000);
        let stream = closing(&mut builder, stream, |epoch, cx| {
            assert!(epoch != 5 || cx.index() != 1 || cx.incarnation() != 0, "as the test wants");
            Ok(())
        });
        let came = count(&mut builder, "sink", 2, stream);
        let mut config = short_epochs();
        (config.workers, config.ackers) = (workers, workers);
        let report = threads::run(builder.build(config).unwrap()).unwrap();
        assert!(report.complete);
        let [crash] = &report.crashes[..] else { panic!("{:?}", report.crashes) };
        assert_eq!(crash.cause, "close of closing[1] failed at epoch 5: as the test wants");
        assert_eq!((crash.incarnation, crash.resumed), (0, crash.lost.end));
        assert!(crash.lost.start == 0 && crash.resumed <= 5);
        assert!(crash.at <= report.elapsed);
        assert_all_came(&report, &came, 2000);
    }
}

#[test]
fn e15_a_close_that_always_fails_ends_the_run_after_so_many_starts() {
    for restarts in [0, 1, 3] {
        let lives = Arc::new(AtomicU64::new(0));
        let mut builder = builder();
        let stream = tape(&mut builder, 2000);
        let seen = Arc::clone(&lives);
        let stream = closing(&mut builder, stream, move |epoch, cx| {
            seen.fetch_max(cx.incarnation(), SeqCst);
            if epoch == 3 && cx.index() == 0 { Err("never".into()) } else { Ok(()) }
        });
        let _ = count(&mut builder, "sink", 2, stream);
        let mut config = short_epochs();
        config.restarts = restarts;
        let error = threads::run(builder.build(config).unwrap()).unwrap_err();
        let mut wanted = "close of closing[0] failed at epoch 3: never".to_owned();
        if restarts > 0 {
            wanted += &format!("; {restarts} new incarnations for that at epoch 3 were in vain");
        }
        assert_eq!(error.to_string(), wanted);
        assert_eq!(lives.load(SeqCst), u64::from(restarts));
    }
}

/// The handle, its wishes and its letters are of the run, not of an incarnation.
#[test]
fn a_drain_after_a_crash_finishes_what_was_under_way_and_ends_the_run() {
    let mut builder = builder();
    let stream = tape(&mut builder, u64::MAX);
    let lives = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&lives);
    let stream = closing(&mut builder, stream, move |epoch, cx| {
        seen.fetch_max(cx.incarnation(), SeqCst);
        assert!(epoch != 2 || cx.incarnation() > 0, "once");
        Ok(())
    });
    let came = count(&mut builder, "sink", 2, stream);
    let handle = threads::start(builder.build(short_epochs()).unwrap(), None).unwrap();
    eventually("a second incarnation", || lives.load(SeqCst) == 1);
    handle.stopper().stop(Stop::Drain);
    let report = handle.wait().unwrap();
    assert_eq!(report.crashes.len(), 1);
    assert!(!report.complete && report.drained && report.unfinished.is_empty());
    let came = came.get();
    assert_eq!(came.keys().next_back().unwrap() + 1, came.len() as u64, "all up to some number");
}

/// While one worker is still at it, the other has failed: a wish for a drain, or for an end.
#[test]
fn wishes_made_while_all_starts_anew_are_obeyed() {
    for (how, again) in [(Stop::Drain, 1), (Stop::Now, 0)] {
        let (failed, lives) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let mut builder = builder();
        let stream = tape(&mut builder, u64::MAX);
        let (f, l) = (Arc::clone(&failed), Arc::clone(&lives));
        let stream = closing(&mut builder, stream, move |epoch, cx| {
            if epoch == 1 && cx.incarnation() == 0 {
                if cx.index() == 0 {
                    f.store(1, SeqCst);
                    return Err("once".into());
                }
                // The other one comes back late.
                std::thread::sleep(Duration::from_millis(300));
            }
            l.fetch_max(cx.incarnation(), SeqCst);
            Ok(())
        });
        let _ = count(&mut builder, "sink", 2, stream);
        let handle = threads::start(builder.build(short_epochs()).unwrap(), None).unwrap();
        eventually("a failure", || failed.load(SeqCst) == 1);
        handle.stopper().stop(how);
        let report = handle.wait().unwrap();
        assert!(!report.complete && report.drained == (how == Stop::Drain));
        assert!(report.crashes.len() <= 1 && lives.load(SeqCst) <= again);
    }
}

/// No two instances of a task live at once, and the old ones are dropped on their threads.
#[test]
fn the_old_tasks_are_dropped_before_the_new_ones_open() {
    let events = Arc::new(Mutex::new(Vec::new()));
    let mut builder = builder();
    let stream = tape(&mut builder, 1000);
    let e = Arc::clone(&events);
    let stream = builder
        .bolt("closing", 4, move |cx| {
            let (index, life) = (cx.index(), cx.incarnation());
            e.lock().unwrap().push((life, "opened"));
            let e = Arc::clone(&e);
            let close = move |epoch| {
                assert!(epoch != 2 || index != 3 || life > 1, "twice");
                Ok(())
            };
            // Slow to go: the new ones must wait.
            let drop = move || {
                std::thread::sleep(Duration::from_millis(20));
                e.lock().unwrap().push((life, "dropped"));
            };
            Ok(Closing { close, drop })
        })
        .input(stream, Grouping::shuffle())
        .done();
    let _ = count(&mut builder, "sink", 1, stream);
    let report = threads::run(builder.build(short_epochs()).unwrap()).unwrap();
    assert_eq!(report.crashes.len(), 2);
    let events = events.lock().unwrap();
    let steps = events.chunks(4);
    let expected = [0, 1, 2].into_iter().flat_map(|life| [(life, "opened"), (life, "dropped")]);
    assert_eq!(events.len(), 24);
    for (step, expected) in steps.zip(expected) {
        assert!(step.iter().all(|&event| event == expected), "{events:?}");
    }
}

#[test]
fn a_worker_that_does_not_come_back_ends_the_run_and_is_named() {
    let mut builder = builder();
    let stream = tape(&mut builder, u64::MAX);
    let stuck = Arc::new(AtomicU64::new(0));
    let s = Arc::clone(&stuck);
    let stream = closing(&mut builder, stream, move |epoch, cx| {
        if epoch == 1 && cx.index() == 0 {
            // Fails only once the other one sleeps: both are due at the same time.
            while s.load(SeqCst) == 0 {
                std::thread::sleep(Duration::from_millis(1));
            }
            return Err("first".into());
        }
        if epoch == 1 {
            s.store(1, SeqCst);
            std::thread::sleep(Duration::from_secs(20));
        }
        Ok(())
    });
    let _ = count(&mut builder, "sink", 2, stream);
    let mut config = short_epochs();
    config.drain = Duration::from_millis(10);
    let error = threads::run(builder.build(config).unwrap()).unwrap_err();
    let RunError::Stuck { who, cause } = &error else { panic!("{error}") };
    assert_eq!(
        (who.as_str(), cause.as_str()),
        ("closing[1]", "close of closing[0] failed at epoch 1: first")
    );
}

#[test]
fn at_most_once_nothing_comes_twice_after_a_crash() {
    let mut builder = builder();
    let stream = tape(&mut builder, 5000);
    let stream = closing(&mut builder, stream, |epoch, cx| {
        assert!(epoch != 4 || cx.incarnation() > 0, "once");
        Ok(())
    });
    let came = count(&mut builder, "sink", 2, stream);
    let mut config = short_epochs();
    config.guarantee = Guarantee::AtMostOnce;
    let report = threads::run(builder.build(config).unwrap()).unwrap();
    assert!(report.complete && report.crashes.len() == 1);
    assert!(came.get().values().all(|&n| n == 1));
    assert_eq!(report.records, 5000);
}

/// E29: failure upon failure, each at an epoch of its own.
#[test]
fn e29_a_crash_in_every_epoch_is_lived_through() {
    let failed = Arc::new(AtomicU64::new(0));
    let f = Arc::clone(&failed);
    let mut builder = builder();
    let stream = tape(&mut builder, 2000);
    let stream = closing(&mut builder, stream, move |epoch, _| {
        let first = f.compare_exchange(epoch, epoch + 1, SeqCst, SeqCst).is_ok();
        if first { Err("once an epoch".into()) } else { Ok(()) }
    });
    let came = count(&mut builder, "sink", 2, stream);
    let report = threads::run(builder.build(short_epochs()).unwrap()).unwrap();
    assert!(report.complete && report.crashes.len() > 5, "{}", report.crashes.len());
    assert_all_came(&report, &came, 2000);
    let ends: Vec<_> = report.crashes.iter().map(|crash| crash.resumed).collect();
    assert!(ends.is_sorted());
}

/// A letter is a letter, whichever incarnation wrote it.
#[test]
fn dead_letters_of_all_incarnations_are_kept() {
    let mut builder = builder();
    let stream = tape(&mut builder, 1000);
    let stream = closing(&mut builder, stream, |epoch, cx| {
        assert!(epoch != 3 || cx.incarnation() > 0, "once");
        Ok(())
    });
    super::common::each(&mut builder, "sink", 2, stream, |n| {
        if n == 7 || n == 900 { Err("a bad one".into()) } else { Ok(()) }
    });
    let report = threads::run(builder.build(short_epochs()).unwrap()).unwrap();
    assert!(report.complete && report.crashes.len() == 1);
    let mut bad: Vec<u64> =
        report.dead_letters.iter().map(|letter| letter.item::<Vec<u64>>().unwrap()[0]).collect();
    bad.dedup();
    assert_eq!(bad, [7, 900]);
    assert_eq!(report.dead, report.dead_letters.len() as u64);
}

/// The demo's generator goes on: every line is made again that had no verdict, and no other.
#[test]
fn the_generator_of_wordcount_can_go_back() {
    use streamwright::demos::wordcount::GeneratorSpout;
    use streamwright::demos::wordcount::generate::Generator;
    let new = |furthest: &Arc<AtomicU64>| {
        GeneratorSpout::new(Generator::new(7, 1, 3, 100), Arc::clone(furthest))
    };
    let furthest = Arc::new(AtomicU64::new(0));
    let first = new(&furthest);
    let position = first.position().unwrap();
    let mut second = new(&furthest);
    second.seek(Seek::To(&22u64.to_le_bytes())).unwrap();
    assert_eq!(second.position().unwrap(), 22u64.to_le_bytes());
    assert_ne!(second.position().unwrap(), position);
    furthest.store(31, SeqCst);
    second.seek(Seek::Onward).unwrap();
    assert_eq!(second.position().unwrap(), 31u64.to_le_bytes());
    assert!(second.seek(Seek::To(b"none")).is_err());
    let mut untouched = new(&Arc::new(AtomicU64::new(0)));
    untouched.seek(Seek::Onward).unwrap();
    assert_eq!(untouched.position().unwrap(), position);
    let demo =
        WordCount::new(&Origin::Generated(10), Tasks { lines: 2, split: 1, count: 1 }, config());
    assert!(threads::run(demo.unwrap().split().0).unwrap().crashes.is_empty());
}
