//! Rule 9: timers and watermarks.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use streamwright::core::Nanos;
use streamwright::{EpochEnd, Grouping, Guarantee, Poll, Timeliness, Topology};

use crate::dice::each_seed;
use crate::net::{MS, Net, Outcome, SEC};
use crate::parts::{Item, Log, Node, Source, settings};
use crate::rule_1::one_verdict_each;

/// Records of the sleeper: time, what it was told, epoch.
type Told = Arc<Mutex<Vec<(i64, Timeliness, u64)>>>;

type Fired = Arc<Mutex<Vec<(Nanos, Nanos)>>>;

/// Spout 0 → bolt 1 with timers → sink 2; `again` after a timer, which emits where `emits`.
fn ticking(
    log: &Log,
    seed: u64,
    records: u64,
    (again, emits): (Option<Nanos>, bool),
    fired: &Fired,
) -> Outcome {
    let mut builder = Topology::builder();
    let l = log.clone();
    let source = builder.spout("source", 1, move |cx| Source::count(&l, 0, cx, records, 1));
    let (l, f) = (log.clone(), fired.clone());
    let ticks = builder
        .bolt("ticker", 1, move |cx| {
            let wished = Arc::new(Mutex::new(None::<Nanos>));
            let (mine, f) = (wished.clone(), f.clone());
            Ok(Node::new(&l, 1, cx, move |_, out| {
                let at = out.now() + 5 * MS;
                out.wake_at(at + MS);
                out.wake_at(at);
                let mut wished = mine.lock().unwrap();
                *wished = Some(wished.map_or(at, |old| old.min(at)));
                Ok(())
            })
            .on_timer(move |now, out| {
                let mut wished = wished.lock().unwrap();
                f.lock().unwrap().push((wished.take().unwrap_or(now), now));
                if emits {
                    out.emit(Item { root: 1 << 60, key: 0, path: 0 });
                }
                if let Some(again) = again {
                    out.wake_at(now + again);
                    *wished = Some(now + again);
                }
            }))
        })
        .input(source, Grouping::shuffle())
        .done();
    let l = log.clone();
    let _ = builder
        .bolt("sink", 1, move |cx| Node::sink(&l, 2, cx))
        .input(ticks, Grouping::shuffle())
        .done();
    let config = settings(1 + (seed % 3) as u32, |c| c.timeout = Duration::from_secs(10));
    let topology = builder.build(config).unwrap();
    let sink = topology.plan().components[2].first_task;
    let mut net = Net::new(&topology, seed, log);
    net.odds().delay = MS;
    net.cost(move |task, tuples| if task == sink { 5 * MS * tuples } else { 2 * MS * tuples });
    net.run()
}

#[test]
fn rule_9_1_timers_fire_at_or_after_their_time_and_are_merged() {
    each_seed(200, |seed| {
        let (log, fired) = (Log::default(), Fired::default());
        let out = ticking(&log, seed, 40, (None, true), &fired);
        assert_eq!(one_verdict_each(&out), (40, 0));
        let fired = fired.lock().unwrap();
        assert!(!fired.is_empty());
        assert!(fired.iter().all(|&(wished, at)| at >= wished), "before its time: {fired:?}");
        // 40 tuples wished 80 times; what fell due together was one call.
        assert!(fired.len() <= 40);
        // What a timer emits is tracked and arrives.
        assert_eq!(log.items(2).len(), fired.len());
        assert!(out.figures.iter().all(|f| f.unfinished.is_empty()));
    });
}

/// A wake that emits nothing makes no root and holds nothing, though it asks for the next at once.
#[test]
fn rule_9_1_a_timer_that_emits_nothing_holds_nothing() {
    each_seed(200, |seed| {
        let (log, fired) = (Log::default(), Fired::default());
        let out = ticking(&log, seed, 10, (Some(MS), false), &fired);
        assert_eq!(one_verdict_each(&out), (10, 0));
        assert!(fired.lock().unwrap().len() > 3);
        assert!(out.figures.iter().all(|f| f.acker.peak_live <= 10));
    });
}

/// A heartbeat that beats faster than its sink takes it in: the end of the spouts is the end.
#[test]
fn rule_9_1_a_timer_that_emits_without_end_does_not_keep_the_run_alive() {
    each_seed(50, |seed| {
        let (log, fired) = (Log::default(), Fired::default());
        let out = ticking(&log, seed, 10, (Some(MS), true), &fired);
        assert_eq!(one_verdict_each(&out), (10, 0));
        assert_eq!(log.items(2).len(), fired.lock().unwrap().len());
    });
}

/// A pending timer neither holds the end of the run nor fires after it.
#[test]
fn rule_9_1_a_timer_far_off_does_not_hold_the_end() {
    let (log, fired) = (Log::default(), Fired::default());
    let mut builder = Topology::builder();
    let l = log.clone();
    let source = builder.spout("source", 1, move |cx| Source::count(&l, 0, cx, 5, 1));
    let (l, f) = (log.clone(), fired.clone());
    let _ = builder
        .bolt("ticker", 1, move |cx| {
            let f = f.clone();
            Ok(Node::new(&l, 1, cx, |_, out| {
                out.wake_at(out.now() + 3_600_000 * MS);
                Ok(())
            })
            .on_timer(move |now, _| f.lock().unwrap().push((0, now))))
        })
        .input(source, Grouping::shuffle())
        .done();
    let topology = builder.build(settings(1, |_| {})).unwrap();
    let out = Net::new(&topology, 1, &log).run();
    assert_eq!(one_verdict_each(&out), (5, 0));
    assert!(out.end < 100 * MS && fired.lock().unwrap().is_empty());
}

/// Task 0 counts up without a pause; task 1 sleeps long, and comes back with old records.
fn marked(log: &Log, seed: u64, late: &Told) -> Outcome {
    let mut builder = Topology::builder();
    let (l, late) = (log.clone(), late.clone());
    let source = builder.spout("source", 2, move |cx| {
        let (late, mut i) = (late.clone(), 0_i64);
        Source::new(&l, 0, cx, move |out, task| {
            i += 1;
            if task == 0 {
                let time = 10 * i;
                assert_eq!(out.stamp(time), Timeliness::InTime);
                out.emit(Item { root: 0, key: time.unsigned_abs(), path: 0 });
                out.watermark(time);
                return if i == 60 {
                    Poll::End
                } else {
                    Poll::Idle(Some(Duration::from_millis(1)))
                };
            }
            // Three records, a sleep until it is woken, three more of the time of before it.
            if i == 4 {
                return Poll::Idle(None);
            }
            let time = 5 + i;
            late.lock().unwrap().push((time, out.stamp(time), out.epoch()));
            out.emit(Item { root: 1, key: time.unsigned_abs(), path: 0 });
            out.watermark(time);
            if i == 7 { Poll::End } else { Poll::More }
        })
    });
    let l = log.clone();
    let _ = builder
        .bolt("sink", 2, move |cx| Node::sink(&l, 1, cx))
        .input(source, Grouping::shuffle())
        .done();
    let config = settings(1 + (seed % 3) as u32, |c| {
        c.epoch = EpochEnd::Every(Duration::from_millis(3));
        c.guarantee =
            if seed.is_multiple_of(2) { Guarantee::AtMostOnce } else { Guarantee::AtLeastOnce };
        // The one who comes back may find no room at once.
        c.queue = 1;
        c.batch = 1;
    });
    let topology = builder.build(config).unwrap();
    let sink = topology.plan().components[1].first_task;
    let mut net = Net::new(&topology, seed, log);
    net.odds().delay = MS;
    net.odds().reorder = seed % 4 < 2;
    // Woken as an epoch ends, now and then: it may find that it cannot emit before the next.
    let at = 15 * MS + crate::dice::Dice::new(seed).below(20 * MS);
    // (And once more, for a sleeper that was not asleep yet.)
    net.wakes = (0..3).flat_map(|worker| [(at, worker), (2 * SEC, worker)]).collect();
    let slow = 1 + (seed % 5) * MS;
    net.cost(move |task, tuples| if task >= sink { slow * tuples } else { 1 });
    net.run()
}

/// Given to every task alike, never falling, and no record is in time that is below a watermark
/// given out for an epoch before its own.
#[test]
fn rule_9_2_watermark_is_a_function_of_the_epoch_and_never_falls() {
    each_seed(1000, |seed| {
        let (log, late) = (Log::default(), Arc::default());
        let out = marked(&log, seed, &late);
        assert_eq!(out.error, None);
        let mut by_epoch = std::collections::BTreeMap::new();
        for close in log.closes(1) {
            let mark = *by_epoch.entry(close.epoch).or_insert(close.mark);
            assert_eq!(mark, close.mark, "two watermarks for epoch {}", close.epoch);
        }
        assert!(by_epoch.values().is_sorted(), "it falls: {by_epoch:?}");
        for &(time, timeliness, epoch) in &*late.lock().unwrap() {
            let before = by_epoch.range(..epoch).next_back().and_then(|(_, &mark)| mark);
            if before.is_some_and(|mark| time < mark) {
                assert_eq!(timeliness, Timeliness::Late, "{time} in {epoch}: {by_epoch:?}");
            }
        }
        let counted: u64 = out.figures.iter().flat_map(|f| &f.tasks).map(|t| t.late).sum();
        let late = late.lock().unwrap().iter().filter(|l| l.1 == Timeliness::Late).count();
        assert_eq!(counted, late as u64);
        // The sleeper was left out of the minimum: the watermark passed its own.
        assert!(by_epoch.values().max().unwrap().unwrap() > 100, "{by_epoch:?}");
    });
}
