//! E2, E3, E7: never a silent wait; the engine's own standstill is nobody's fault.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use streamwright::core::Hold;
use streamwright::{Bolt, BoxError, Emitter, EpochEnd, Execute, Grouping, Reason};

use super::common::{builder, config, count, each, eventually, map, numbers, run, start, tasks};

const MS: Duration = Duration::from_millis(1);

/// Holds a bolt up for `time`, and until the test has seen what it waits for: the machine may keep
/// the test from its core for longer than any fixed time.
#[derive(Clone, Default)]
struct Gate(Arc<AtomicBool>);

impl Gate {
    fn hold(&self, time: Duration) {
        let start = Instant::now();
        while start.elapsed() < time
            || (!self.0.load(Ordering::Relaxed) && start.elapsed() < Duration::from_secs(30))
        {
            sleep(10 * MS);
        }
    }

    fn open(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn e2_a_root_that_waits_for_its_timeout_is_named_in_a_stall_report() {
    let mut builder = builder();
    let stream = numbers(&mut builder, "numbers", 2, 3);
    count(&mut builder, "sink", 2, stream);
    let mut config = config();
    config.drop_ppm = 1_000_000;
    config.timeout = 4000 * MS;
    config.stall_after = 200 * MS;
    config.attempts = 1;
    let handle = start(builder, config);
    eventually("the stall stands in the status", || handle.status().stall.is_some());
    let text = handle.status().stall.unwrap();
    assert!(text.contains("numbers[0]") && text.contains("epoch 0"), "{text}");
    let report = handle.wait().unwrap();
    let stall = &report.stalls[0];
    assert_eq!((stall.component.as_str(), stall.task, stall.epoch), ("numbers", Some(0), 0));
    assert_eq!(stall.hold, Hold::OldestRoot);
    assert!(stall.after >= 200 * MS && stall.after < 3500 * MS, "{:?}", stall.after);
    assert_eq!((report.acked, report.dead), (0, 3));
    for letter in &report.dead_letters {
        assert!(matches!(*letter.reason, Reason::TimedOut { .. }), "{letter:?}");
    }
}

#[test]
fn e2_a_bolt_that_holds_all_up_is_named_in_a_stall_report() {
    let gate = Gate::default();
    let mut builder = builder();
    let stream = numbers(&mut builder, "a numbers", 1, 40);
    let held = gate.clone();
    each(&mut builder, "b slow", 1, stream, move |n| {
        if n == 20 {
            held.hold(600 * MS);
        }
        Ok(())
    });
    let mut config = config();
    config.stall_after = 300 * MS;
    let handle = start(builder, config);
    eventually("the stall stands in the status", || handle.status().stall.is_some());
    gate.open();
    let report = handle.wait().unwrap();
    let stall = &report.stalls[0];
    assert_eq!(stall.component, "b slow", "{stall}");
    assert!(matches!(stall.hold, Hold::Queue { batches } if batches > 0), "{stall}");
    assert_eq!(report.acked, 40);
}

#[test]
fn e2_a_bolt_that_holds_all_up_from_the_first_tuple_is_named_too() {
    // The one worker has had no time to tell of anything before it got stuck: the coordinator may
    // know of nothing that is under way, but the watch knows who is in user code.
    let gate = Gate::default();
    let mut builder = builder();
    let stream = numbers(&mut builder, "a numbers", 1, 3);
    let held = gate.clone();
    each(&mut builder, "b slow", 1, stream, move |n| {
        if n == 0 {
            held.hold(600 * MS);
        }
        Ok(())
    });
    let mut config = config();
    (config.workers, config.ackers) = (1, 1);
    config.overrun = 300 * MS;
    let handle = start(builder, config);
    eventually("the bolt stands in the status", || {
        handle.status().overrunning.iter().any(|(name, task, _)| name == "b slow" && *task == 0)
    });
    gate.open();
    let report = handle.wait().unwrap();
    assert_eq!(report.acked, 3);
    assert!(report.overruns.iter().any(|(name, _, time)| name == "b slow" && *time >= 600 * MS));
}

#[test]
fn e2_an_epoch_of_more_records_than_may_be_pending_still_ends() {
    let mut builder = builder();
    let stream = numbers(&mut builder, "numbers", 1, 2500);
    let counts = count(&mut builder, "sink", 1, stream);
    let mut config = config();
    config.epoch = EpochEnd::Records(1000);
    let report = run(builder, config);
    counts.assert_once(0..2500);
    assert!(report.complete && report.stalls.is_empty());
    assert_eq!(report.acked, 2500);
}

/// Works 5 ms a tuple, and wants to be woken every millisecond.
struct Restless {
    wakes: Arc<AtomicU64>,
}

const MILLISECOND: u64 = 1_000_000;

impl Bolt for Restless {
    type Out = Vec<u64>;

    fn timer(&mut self, now: u64, out: &mut Emitter<'_, Vec<u64>>) -> Result<(), BoxError> {
        self.wakes.fetch_add(1, Ordering::Relaxed);
        out.wake_at(now + MILLISECOND);
        Ok(())
    }
}

impl Execute<Vec<u64>> for Restless {
    fn execute(&mut self, n: &u64, out: &mut Emitter<'_, Vec<u64>>) -> Result<(), BoxError> {
        let now = out.now();
        (1..6).for_each(|i| out.wake_at(now + i * MILLISECOND));
        sleep(5 * MS);
        out.emit(*n);
        Ok(())
    }
}

#[test]
fn e3_one_place_one_pending_root_and_a_wake_each_millisecond() {
    let wakes = Arc::<AtomicU64>::default();
    let mut builder = builder();
    let stream = numbers(&mut builder, "numbers", 1, 60);
    let woken = Arc::clone(&wakes);
    let stream = builder
        .bolt("restless", 1, move |_| Ok(Restless { wakes: Arc::clone(&woken) }))
        .input(stream, Grouping::shuffle())
        .done();
    each(&mut builder, "sink", 1, stream, |_| {
        sleep(MS);
        Ok(())
    });
    let mut config = config();
    (config.queue, config.max_pending, config.ackers) = (1, 1, 1);
    let start = Instant::now();
    let report = run(builder, config);
    let elapsed = start.elapsed();
    assert_eq!((report.acked, report.replayed, report.dead), (60, 0, 0));
    // No wake made a root, and nothing is left in the tables.
    assert_eq!(report.acker.peak_live, 1);
    assert!(report.unfinished.is_empty());
    // Wishes that were missed meanwhile were merged: never more than one a millisecond.
    let wakes = wakes.load(Ordering::Relaxed);
    assert!(wakes >= 1 && u128::from(wakes) <= elapsed.as_millis() + 1, "{wakes} in {elapsed:?}");
}

#[test]
fn e7_a_step_that_is_cut_short_for_time_leaves_nothing_for_others_to_take() {
    // Slow tuples in large batches, and a flush or a close at every chance: what a tuple emitted
    // must leave in its own root's name, not as the flush's, nor at the epoch of the close.
    let mut builder = builder();
    let stream = numbers(&mut builder, "numbers", 2, 400);
    let stream = map(&mut builder, "slow", 2, stream, |n, out| {
        sleep(2 * MS);
        out.emit(n);
        Ok(())
    });
    let counts = count(&mut builder, "sink", 2, stream);
    let mut config = config();
    (config.batch, config.max_pending, config.ackers) = (64, 64, 1);
    (config.linger, config.epoch) = (MS / 10, EpochEnd::Records(50));
    let report = run(builder, config);
    counts.assert_once(0..400);
    assert_eq!((report.acked, report.replayed, report.dead), (400, 0, 0));
    // One live record a pending root, of two spout tasks: nobody else opened any.
    assert!(report.acker.peak_live <= 128, "{}", report.acker.peak_live);
    assert_eq!(report.acker.late, 0);
}

#[test]
fn e7_a_bolt_that_sleeps_beside_the_acker_fails_no_root() {
    let mut builder = builder();
    // Workers go round by name: the sleeper on 0 with the acker, the spout on 1, the sink on 0.
    let stream = numbers(&mut builder, "b numbers", 1, 400);
    let gate = Gate::default();
    let held = gate.clone();
    let stream = map(&mut builder, "a sleepy", 1, stream, move |n, out| {
        if n == 100 {
            held.hold(2000 * MS);
        }
        out.emit(n);
        Ok(())
    });
    let counts = count(&mut builder, "c sink", 1, stream);
    let mut config = config();
    config.ackers = 1;
    config.timeout = 500 * MS;
    config.overrun = 100 * MS;
    let handle = start(builder, config);
    eventually("the sleeper stands in the status", || {
        handle.status().overrunning.iter().any(|(component, task, time)| {
            component == "a sleepy" && *task == 0 && *time >= 300 * MS
        })
    });
    gate.open();
    let report = handle.wait().unwrap();
    counts.assert_once(0..400);
    assert_eq!((report.acked, report.replayed, report.failed), (400, 0, 0));
    let (component, task, time) = &report.overruns[0];
    assert_eq!((component.as_str(), *task), ("a sleepy", 0));
    assert!(*time >= 2000 * MS, "{time:?}");
    assert_eq!(tasks(&report, "a sleepy").len(), 1);
}

#[test]
fn e7_a_spout_that_sleeps_does_not_hold_the_other_workers_roots() {
    // The sleeper is a spout on the acker's worker; the work of the other worker waits for its
    // acker, and no root is failed for that.
    let mut builder = builder();
    let sleepy = builder.spout("a sleepy", 1, |_| Ok(Sleepy(false)));
    let stream = numbers(&mut builder, "b numbers", 1, 400);
    let counts = count(&mut builder, "d sink", 1, stream);
    count(&mut builder, "c other", 1, sleepy);
    let mut config = config();
    config.ackers = 1;
    config.timeout = 500 * MS;
    config.overrun = 100 * MS;
    let report = run(builder, config);
    counts.assert_once(0..400);
    assert_eq!((report.acked, report.replayed, report.failed), (401, 0, 0));
    assert_eq!(report.overruns[0].0, "a sleepy");
}

/// A spout that blocks for two seconds, against the rule.
struct Sleepy(bool);

impl streamwright::Spout for Sleepy {
    type Out = Vec<u64>;

    fn next(
        &mut self,
        out: &mut streamwright::SpoutEmitter<'_, Vec<u64>>,
    ) -> Result<streamwright::Poll, BoxError> {
        if self.0 {
            return Ok(streamwright::Poll::End);
        }
        sleep(2000 * MS);
        self.0 = true;
        out.emit(0);
        Ok(streamwright::Poll::More)
    }
}
