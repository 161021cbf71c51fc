//! Schedules in virtual time: exact to the nanosecond, and kept over a crash.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use streamwright::sim::{Cost, Event, Fault, Faults, Outcome, Sim};
use streamwright::{
    BoxError, Grouping, Guarantee, Pace, Poll, Schedule, Seek, Spout, SpoutEmitter, Topology,
};

use super::common::{Counting, Seen, cluster, config, ms};

/// All numbers of its task; it can go back.
struct Endless {
    next: u64,
    step: u64,
    /// As far as any instance of its task has come.
    furthest: Arc<AtomicU64>,
}

impl Spout for Endless {
    type Out = Vec<u64>;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Vec<u64>>) -> Result<Poll, BoxError> {
        for _ in 0..out.room() {
            out.emit(self.next);
            self.next += self.step;
        }
        self.furthest.fetch_max(self.next, Ordering::Relaxed);
        Ok(Poll::More)
    }

    fn position(&self) -> Option<Vec<u8>> {
        Some(self.next.to_le_bytes().to_vec())
    }

    fn seek(&mut self, to: Seek<'_>) -> Result<(), BoxError> {
        self.next = match to {
            Seek::To(position) => u64::from_le_bytes(position.try_into()?),
            _ => self.furthest.load(Ordering::Relaxed).max(self.next),
        };
        Ok(())
    }
}

fn paced(schedule: &str, tasks: u32, change: impl FnOnce(Sim) -> Sim) -> (Outcome, Seen) {
    paced_with(Guarantee::AtLeastOnce, schedule, tasks, change)
}

fn paced_with(
    guarantee: Guarantee,
    schedule: &str,
    tasks: u32,
    change: impl FnOnce(Sim) -> Sim,
) -> (Outcome, Seen) {
    let furthest: Vec<_> = (0..tasks).map(|_| Arc::new(AtomicU64::new(0))).collect();
    let pace = Pace::new(schedule.parse().unwrap());
    let seen = Seen::default();
    let to = Arc::clone(&seen);
    let mut builder = Topology::builder();
    let stream = builder.spout("paced", tasks, move |task| {
        let (next, step) = (task.index().into(), task.tasks().into());
        let furthest = Arc::clone(&furthest[task.index() as usize]);
        Ok(pace.spout(task, Endless { next, step, furthest }))
    });
    builder
        .bolt("sink", 2, move |_| Ok(Counting(Arc::clone(&to))))
        .input(stream, Grouping::shuffle())
        .done();
    let mut config = config(2);
    config.guarantee = guarantee;
    let topology = builder.build(config).unwrap();
    let outcome = change(Sim::new(cluster(2))).run(topology).unwrap();
    (outcome, seen)
}

#[test]
fn what_is_due_is_emitted_on_time_and_the_run_ends_with_the_schedule() {
    for tasks in [1, 2, 5] {
        let schedule = "100/1s,+100/1sx3";
        let (outcome, seen) = paced(schedule, tasks, |sim| sim);
        let report = &outcome.report;
        let total = schedule.parse::<Schedule>().unwrap().total().unwrap();
        assert_eq!((total, report.acked), (1000, 1000));
        assert_eq!(seen.lock().unwrap().keys().copied().max(), Some(999));
        // The last is due at 4 s; then an epoch ends.
        assert!((ms(4000)..ms(4200)).contains(&report.elapsed), "{:?}", report.elapsed);
        // Nothing waits for anything: a few link times.
        assert!(report.latency.unwrap().max < ms(20), "{:?}", report.latency);
    }
}

#[test]
fn a_run_is_the_same_again() {
    let run = || paced("300,+7/10ms", 3, |sim| sim.drain_at(ms(900))).0;
    let (a, b) = (run(), run());
    assert_eq!((a.trace, a.report.acked), (b.trace, b.report.acked));
    assert!(a.report.drained && a.report.acked > 300);
}

#[test]
fn an_overload_is_seen_in_every_record_that_waited() {
    // 1 ms a record is due; two sinks of 4 ms each are done with one every 2 ms.
    let (outcome, _) = paced("1k/1s", 1, |sim| sim.cost("sink", Cost::tuple(ms(4))));
    assert_eq!(outcome.report.acked, 1000);
    // Record n is due after n ms and done after 2n: the last waits a second, the median half of it.
    // A closed loop would see the 64 that may be unfinished: an eighth of a second.
    let latency = outcome.report.latency.unwrap();
    assert!((ms(900)..ms(1200)).contains(&latency.max), "{latency:?}");
    assert!((ms(400)..ms(650)).contains(&latency.p50), "{latency:?}");
}

#[test]
fn the_schedule_goes_on_over_a_crash_and_latency_shows_it() {
    let crash = Fault::at(ms(500), Event::Crash { node: 1 });
    let faults = Faults { events: vec![crash], detection: ms(200), ..Faults::default() };
    let (outcome, seen) = paced("1k/1s", 2, |sim| sim.faults(faults));
    let report = outcome.report;
    assert_eq!(report.crashes.len(), 1);
    // None is forgotten, and none comes twice for the schedule: it has a thousand, whatever happens.
    let seen = seen.lock().unwrap();
    assert_eq!(seen.keys().copied().collect::<Vec<u64>>(), (0..1000).collect::<Vec<u64>>());
    assert!((ms(1000)..ms(1100)).contains(&report.elapsed), "{:?}", report.elapsed);
    // Those that were due in the 200 ms are emitted late, and count from when they were due.
    let latency = report.latency.unwrap();
    assert!((ms(200)..ms(300)).contains(&latency.max), "{latency:?}");
    assert!(latency.p90 >= ms(90), "{latency:?}");
}

#[test]
fn at_most_once_a_crash_repeats_nothing_of_a_schedule() {
    let crash = Fault::at(ms(500), Event::Crash { node: 1 });
    let faults = Faults { events: vec![crash], ..Faults::default() };
    let (outcome, seen) = paced_with(Guarantee::AtMostOnce, "1k/1s", 2, |sim| sim.faults(faults));
    assert_eq!(outcome.report.crashes.len(), 1);
    // A record that was due and emitted is not emitted again, nor is its place in the schedule taken
    // by another: so all of them are emitted, and what was on its way is lost.
    assert_eq!(outcome.report.records, 1000);
    assert!(seen.lock().unwrap().values().all(|&times| times == 1));
}

#[test]
fn a_dedicated_bolt_that_is_slow_holds_back_nobody_in_the_simulation_either() {
    let run = |dedicated: bool| {
        let pace = Pace::new("1k/1s".parse().unwrap());
        let seen = Seen::default();
        let to = Arc::clone(&seen);
        let mut builder = Topology::builder();
        let stream = builder.spout("paced", 1, move |task| {
            let furthest = Arc::new(AtomicU64::new(0));
            Ok(pace.spout(task, Endless { next: 0, step: task.tasks().into(), furthest }))
        });
        let slow = builder.spout("few", 1, |_| Ok(Few(0)));
        builder
            .bolt("quick", 1, move |_| Ok(Counting(Arc::clone(&to))))
            .input(stream, Grouping::shuffle())
            .done();
        let bolt = builder
            .bolt("slow", 2, |_| Ok(Counting(Seen::default())))
            .input(slow, Grouping::shuffle());
        if dedicated {
            bolt.dedicated().done();
        } else {
            bolt.done();
        }
        let mut config = config(1);
        config.timeout = ms(1000);
        let topology = builder.build(config).unwrap();
        let sim = Sim::new(streamwright::sim::Cluster::uniform(
            1,
            4,
            streamwright::sim::Link::new(ms(0), 125_000_000),
        ));
        sim.cost("slow", Cost::tuple(ms(40))).run(topology).unwrap().report
    };
    let (shared, dedicated) = (run(false), run(true));
    assert_eq!((shared.acked, dedicated.acked), (1050, 1050));
    assert_eq!((shared.replayed, dedicated.replayed), (0, 0));
    // Fifty of 40 ms in turn, or on two threads.
    assert!(shared.elapsed >= ms(2000), "{:?}", shared.elapsed);
    assert!((ms(1000)..ms(1200)).contains(&dedicated.elapsed), "{:?}", dedicated.elapsed);
    assert_eq!((dedicated.config.workers, dedicated.workers.len()), (1, 3));
    let (shared, dedicated) = (shared.latency.unwrap(), dedicated.latency.unwrap());
    assert!(shared.p50 >= ms(40) && dedicated.p50 < ms(5), "{shared:?} {dedicated:?}");
}

/// Fifty numbers.
struct Few(u64);

impl Spout for Few {
    type Out = Vec<u64>;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Vec<u64>>) -> Result<Poll, BoxError> {
        self.0 += 1;
        out.emit(self.0);
        Ok(if self.0 < 50 { Poll::More } else { Poll::End })
    }
}
