//! Spouts held to a schedule: so many records and no more, with the latency of those that waited.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use streamwright::demos::wordcount::{Origin, Tasks, Ways, WordCount};
use streamwright::{BoxError, Pace, Poll, Schedule, Spout, SpoutEmitter, Stop, threads};

use super::common::{builder, config, count, each, eventually, run, start, tasks};

/// All numbers of its task: it never ends.
struct Endless {
    next: u64,
    step: u64,
}

impl Spout for Endless {
    type Out = Vec<u64>;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Vec<u64>>) -> Result<Poll, BoxError> {
        for _ in 0..out.room().min(64) {
            out.emit(self.next);
            self.next += self.step;
        }
        Ok(Poll::More)
    }
}

fn endless(task: &streamwright::TaskContext) -> Endless {
    Endless { next: task.index().into(), step: task.tasks().into() }
}

fn pace(text: &str) -> Pace {
    Pace::new(text.parse().unwrap())
}

#[test]
fn a_schedule_emits_what_is_due_and_ends_the_spout() {
    for tasks in [1, 3] {
        let schedule = "2k/100ms,0/50ms,1k,+1k/50msx2";
        let total = schedule.parse::<Schedule>().unwrap().total().unwrap();
        assert_eq!(total, 200 + 50 + 100 + 150);
        let pace = pace(schedule);
        let mut builder = builder();
        let stream = builder.spout("paced", tasks, move |task| Ok(pace.spout(task, endless(task))));
        let counts = count(&mut builder, "sink", 2, stream);
        let report = run(builder, config());
        assert!(report.complete);
        assert_eq!((report.records, report.acked), (total, total));
        // The pace is that of the whole spout, and its tasks take turns.
        counts.assert_once(0..total);
        assert!(report.elapsed >= Duration::from_millis(300), "{:?}", report.elapsed);
    }
}

#[test]
fn no_record_comes_before_it_is_due() {
    let schedule: Schedule = "500/300ms".parse().unwrap();
    let pace = Pace::new(schedule.clone());
    let mut builder = builder();
    let begun = Arc::new(Mutex::new(None::<Instant>));
    let start = Arc::clone(&begun);
    let stream = builder.spout("paced", 1, move |task| {
        start.lock().unwrap().get_or_insert_with(Instant::now);
        Ok(pace.spout(task, endless(task)))
    });
    let wrong = Arc::new(AtomicU64::new(0));
    let told = Arc::clone(&wrong);
    each(&mut builder, "sink", 1, stream, move |n| {
        // Its start was after the making of the task.
        let time = begun.lock().unwrap().unwrap().elapsed();
        let due = Duration::from_nanos(schedule.time_of(n).unwrap());
        told.fetch_add(u64::from(time < due), SeqCst);
        Ok(())
    });
    let report = run(builder, config());
    assert_eq!((report.acked, wrong.load(SeqCst)), (150, 0));
}

#[test]
fn latency_counts_from_the_time_that_a_record_was_due() {
    let pace = pace("1k/500ms");
    let mut builder = builder();
    let stream = builder.spout("paced", 1, move |task| Ok(pace.spout(task, endless(task))));
    each(&mut builder, "sink", 1, stream, |n| {
        if n == 100 {
            std::thread::sleep(Duration::from_millis(300));
        }
        Ok(())
    });
    let report = run(builder, config());
    assert_eq!(report.acked, 500);
    // A closed loop would see one slow record, or the 16 that may be unfinished. Here 300 were due
    // while it slept, and waited for half of that in the mean.
    let latency = report.latency.unwrap();
    assert!(latency.max >= Duration::from_millis(290), "{latency:?}");
    assert!(latency.p90 >= Duration::from_millis(150), "{latency:?}");
}

#[test]
fn an_endless_run_ends_as_it_is_stopped() {
    for (paced, stop) in [(true, Stop::Drain), (false, Stop::Drain), (true, Stop::Now)] {
        let pace = pace("100,+100/10ms");
        let mut builder = builder();
        let stream = if paced {
            builder.spout("endless", 2, move |task| Ok(pace.spout(task, endless(task))))
        } else {
            builder.spout("endless", 2, |task| Ok(endless(task)))
        };
        let counts = count(&mut builder, "sink", 2, stream);
        let handle = start(builder, config());
        eventually("a thousand came", || counts.total() > 1000);
        assert!(!handle.is_finished());
        handle.stop(stop);
        let report = handle.wait().unwrap();
        assert!(!report.complete);
        assert_eq!(report.drained, stop == Stop::Drain);
        if report.drained {
            assert_eq!(report.acked, report.records);
            counts.assert_once(counts.get().into_keys());
        }
        assert_eq!(report.acked + report.unfinished.len() as u64, report.records);
    }
}

#[test]
fn a_spout_with_a_clock_of_its_own_says_when_a_record_was_due() {
    /// Emits one record that was due long ago, and one of now.
    struct Late(bool);
    impl Spout for Late {
        type Out = Vec<u64>;
        fn next(&mut self, out: &mut SpoutEmitter<'_, Vec<u64>>) -> Result<Poll, BoxError> {
            if out.now() < 100_000_000 {
                return Ok(Poll::Idle(Some(Duration::from_millis(10))));
            }
            if std::mem::replace(&mut self.0, true) {
                return Ok(Poll::End);
            }
            out.emit(1);
            out.emit_due(2, out.now() - 90_000_000);
            // There is no tomorrow: one that is not due yet is as old as it is.
            out.emit_due(3, u64::MAX);
            Ok(Poll::More)
        }
    }
    let mut builder = builder();
    let stream = builder.spout("late", 1, |_| Ok(Late(false)));
    count(&mut builder, "sink", 1, stream);
    let report = run(builder, config());
    let latency = report.latency.unwrap();
    assert!(latency.max >= Duration::from_millis(90), "{latency:?}");
    assert_eq!(report.acked, 3);
}

#[test]
fn wordcount_is_paced_and_its_counts_are_exact() {
    let mut config = config();
    config.seed = 3;
    let counted = |schedule: Option<Schedule>| {
        let demo = Tasks { lines: 2, split: 2, count: 2 };
        let origin = Origin::Generated(400);
        let demo = match schedule {
            None => WordCount::new(&origin, demo, config.clone()),
            Some(schedule) => {
                let ways = Ways { rate: Some(schedule), ..Ways::default() };
                WordCount::with(&origin, demo, config.clone(), ways)
            }
        };
        let (topology, results) = demo.unwrap().split();
        let report = threads::run(topology).unwrap();
        assert!(report.complete);
        (results.counts(), report)
    };
    let (truth, _) = counted(None);
    let (paced, report) = counted(Some("2k".parse().unwrap()));
    assert_eq!(paced, truth);
    assert_eq!(report.acked, 400);
    assert!(report.elapsed >= Duration::from_millis(190), "{:?}", report.elapsed);
    assert_eq!(tasks(&report, "lines").iter().map(|task| task.records).sum::<u64>(), 400);
}
