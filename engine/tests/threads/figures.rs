//! E32, E33: figures that add up.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use streamwright::demos::wordcount::{Origin, Tasks, WordCount};
use streamwright::{Config, EpochEnd, Guarantee, Report, Stop, threads};

use super::common::{Idle, builder, config, count, each, eventually, numbers, run, start, tasks};

const LINES: u64 = 20_000;

fn word_count(change: impl FnOnce(&mut Config)) -> (Report, u64) {
    let mut config = Config::default();
    (config.workers, config.ackers, config.seed) = (2, 2, 7);
    config.epoch = EpochEnd::Records(3000);
    change(&mut config);
    let tasks = Tasks { lines: 2, split: 3, count: 4 };
    let (topology, results) =
        WordCount::new(&Origin::Generated(LINES), tasks, config).unwrap().split();
    let report = threads::run(topology).unwrap();
    let words = results.counts().iter().map(|(_, count)| count).sum();
    (report, words)
}

fn sum(report: &Report, component: &str, of: impl Fn(&streamwright::TaskStats) -> u64) -> u64 {
    tasks(report, component).into_iter().map(of).sum()
}

/// Sent = executed + lost on every stream, and the streams agree with the tasks at both ends.
fn assert_exact_ledger(report: &Report) {
    assert!(report.complete);
    let names: BTreeSet<_> = report.tasks.iter().map(|task| (&task.component, task.task)).collect();
    assert_eq!((names.len(), report.tasks.len()), (10, 10), "each task once");
    assert_eq!(report.streams.len(), 3);
    for stream in &report.streams {
        let counters = stream.counters;
        assert_eq!(counters.transferred, counters.executed + counters.lost, "{stream:?}");
        assert_eq!(stream.in_flight(), 0);
        assert_eq!(counters.executed, sum(report, &stream.to, |task| task.executed), "{stream:?}");
        assert!(counters.executed > 0);
    }
    let sent = |of: usize| report.streams[of].counters.transferred;
    assert_eq!(report.records, LINES);
    assert_eq!(sum(report, "lines", |task| task.records), LINES);
    assert_eq!(sent(0), LINES + report.replayed);
    // What the tasks of a bolt say they emitted went over its stream, replays on top.
    assert_eq!(sent(1), sum(report, "split", |task| task.emitted));
    assert!(sent(2) >= sum(report, "count", |task| task.emitted));
}

#[test]
fn e32_the_ledger_is_exact_with_acks() {
    let (report, words) = word_count(|_| ());
    assert_exact_ledger(&report);
    assert_eq!((report.acked, report.replayed, report.failed), (LINES, 0, 0));
    assert_eq!(report.streams[1].counters.executed, words);
    assert_eq!(report.streams[2].counters.transferred, sum(&report, "count", |task| task.emitted));
    let latency = report.latency.unwrap();
    assert!(latency.p50 <= latency.p99 && latency.p99 <= latency.max);
    assert!(latency.max <= report.elapsed);
}

#[test]
fn e32_the_ledger_is_exact_without_acks() {
    let (report, words) = word_count(|config| config.guarantee = Guarantee::AtMostOnce);
    assert_exact_ledger(&report);
    // Inputs are counted; what was not measured is not made up.
    assert_eq!((report.acked, report.replayed, report.failed, report.latency), (0, 0, 0, None));
    assert_eq!(report.acker.updates, 0);
    assert_eq!(report.streams[1].counters.executed, words);
}

#[test]
fn e32_the_ledger_is_exact_with_losses() {
    let (report, _) = word_count(|config| {
        config.drop_ppm = 500;
        config.timeout = Duration::from_millis(300);
    });
    assert_exact_ledger(&report);
    assert_eq!((report.acked, report.dead), (LINES, 0));
    assert!(report.replayed > 0);
    let lost: u64 = report.streams.iter().map(|stream| stream.counters.lost).sum();
    assert!(lost > 0);
    let (report, words) = word_count(|config| {
        config.drop_ppm = 500;
        config.guarantee = Guarantee::AtMostOnce;
    });
    assert_exact_ledger(&report);
    assert!(report.streams[1].counters.lost > 0);
    assert!(words <= report.streams[1].counters.executed);
}

#[test]
fn e33_an_idle_spout_is_not_busy() {
    let mut builder = builder();
    let idle = builder.spout("idle", 2, |_| Ok(Idle));
    count(&mut builder, "sink", 2, idle);
    let handle = start(builder, config());
    eventually("it runs", || handle.status().elapsed > Duration::from_millis(500));
    handle.stopper().stop(Stop::Drain);
    let report = handle.wait().unwrap();
    for task in &report.tasks {
        assert!(task.capacity < 0.02, "{task:?}");
    }
}

#[test]
fn e33_busy_idle_and_blocked_make_up_the_time_of_a_worker() {
    let mut builder = builder();
    let stream = numbers(&mut builder, "a numbers", 1, 3000);
    // On the other worker, and slower than the spout: the spout's worker is blocked.
    each(&mut builder, "b slow", 1, stream, |_| {
        std::thread::sleep(Duration::from_micros(200));
        Ok(())
    });
    let mut config = config();
    config.guarantee = Guarantee::AtMostOnce;
    let report = run(builder, config);
    let elapsed = report.elapsed.as_secs_f64();
    for worker in &report.workers {
        let sum = (worker.busy + worker.idle + worker.blocked).as_secs_f64();
        assert!((sum / elapsed - 1.0).abs() < 0.1, "{worker:?} of {elapsed}");
    }
    let blocked = report.workers[0].blocked.as_secs_f64();
    assert!(blocked > 0.3 * elapsed, "{:?} of {elapsed}", report.workers[0]);
}

#[test]
fn e33_capacities_of_a_worker_sum_to_one_at_most() {
    let mut builder = builder();
    let stream = numbers(&mut builder, "numbers", 8, 4000);
    each(&mut builder, "spin", 8, stream, |_| {
        spin(Duration::from_micros(50));
        Ok(())
    });
    let mut config = config();
    (config.workers, config.ackers) = (1, 1);
    let report = run(builder, config);
    let sum: f64 = report.tasks.iter().map(|task| task.capacity).sum();
    assert!(sum <= 1.01, "{sum}");
    assert_eq!(tasks(&report, "spin").len(), 8);
    for task in tasks(&report, "spin") {
        // Booked on the task that did it, none on its neighbour.
        let expected = Duration::from_micros(50) * u32::try_from(task.executed).unwrap();
        assert!(task.cost >= expected.mul_f64(0.9), "{task:?}");
        assert!((0.0..=1.0).contains(&task.capacity));
    }
}

#[test]
fn e33_the_longest_single_stall_is_shown() {
    let mut builder = builder();
    let stream = numbers(&mut builder, "numbers", 1, 200);
    each(&mut builder, "spin", 2, stream, |n| {
        spin(Duration::from_millis(if n == 50 { 150 } else { 0 }));
        Ok(())
    });
    let report = run(builder, config());
    let longest = tasks(&report, "spin").iter().map(|task| task.longest).max().unwrap();
    assert!(longest >= Duration::from_millis(150), "{longest:?}");
    // A stall of 150 ms is one of 150 ms, and one task's only.
    let long = |task: &&&streamwright::TaskStats| task.longest >= Duration::from_millis(100);
    assert_eq!(tasks(&report, "spin").iter().filter(long).count(), 1);
}

/// Uses up this much of the thread's CPU time.
fn spin(time: Duration) {
    let (cpu, wall) = (ThreadTime::now(), Instant::now());
    while cpu.elapsed() < time && wall.elapsed() < Duration::from_secs(20) {
        std::hint::spin_loop();
    }
}
