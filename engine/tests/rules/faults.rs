//! Rows of the fault table (`research/engine.md`, section 6) in their core form. E4, E6, E9, E10
//! and E14 are tests of rules 7 and 4, E12 is with rule 4.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use streamwright::{EpochEnd, Grouping, Guarantee, KeyHasher, Poll, Timeliness, Topology};

use crate::dice::each_seed;
use crate::net::{MS, Net, SEC};
use crate::parts::{Item, Items, Log, Node, Source, settings};
use crate::rule_1::{ledger, line, one_verdict_each, replayed};

/// Split and rejoin: P is a thousand times slower than Q, the joiner takes both in.
#[test]
fn e01_split_and_rejoin_does_not_block() {
    each_seed(20, |seed| {
        let log = Log::default();
        let mut builder = Topology::builder();
        let l = log.clone();
        let source = builder.spout("s", 1, move |cx| Source::count(&l, 0, cx, 300, 1 << 40));
        let mut ways = Vec::new();
        for node in 1..3 {
            let l = log.clone();
            let way = builder
                .bolt(&format!("w{node}"), 1, move |cx| Node::pass(&l, node, cx, 1))
                .input(source.clone(), Grouping::shuffle())
                .done();
            ways.push(way);
        }
        let (l, most) = (log.clone(), Arc::new(Mutex::new(0)));
        let m = most.clone();
        let mut join = builder.bolt("join", 1, move |cx| {
            let (m, mut halves) = (m.clone(), HashMap::new());
            Ok(Node::new(&l, 3, cx, move |item, _| {
                *halves.entry(item.root).or_insert(0) += 1;
                halves.retain(|_, n| *n < 2);
                let mut most = m.lock().unwrap();
                *most = halves.len().max(*most);
                Ok(())
            }))
        });
        for way in ways {
            join = join.input(way, Grouping::<Items>::fields(|item| item.root));
        }
        let _ = join.done();
        let config = settings(1 + (seed % 3) as u32, |c| {
            c.queue = 1;
            c.timeout = Duration::from_secs(100);
            c.epoch = EpochEnd::Every(Duration::from_millis(20));
        });
        let topology = builder.build(config).unwrap();
        let mut net = Net::new(&topology, seed, &log);
        net.cost(|task, tuples| if task == 1 { MS * tuples } else { 1_000 * tuples });
        let out = net.run();
        assert_eq!(one_verdict_each(&out), (300, 0));
        assert_eq!(log.items(3).len(), 600);
        assert!(*most.lock().unwrap() <= 16, "held more than max_pending");
    });
}

/// Everything at 1, a wish for a wake at every tuple, a report a millisecond.
#[test]
fn e03_acks_and_control_never_wait_for_a_data_queue() {
    let log = Log::default();
    let mut builder = Topology::builder();
    let l = log.clone();
    let source = builder.spout("s", 1, move |cx| Source::count(&l, 0, cx, 40, 1));
    let (l, wakes) = (log.clone(), Arc::new(Mutex::new(0)));
    let w = wakes.clone();
    let _ = builder
        .bolt("b", 1, move |cx| {
            let w = w.clone();
            Ok(Node::new(&l, 1, cx, |_, out| {
                out.wake_at(out.now() + MS);
                Ok(())
            })
            .on_timer(move |now, out| {
                *w.lock().unwrap() += 1;
                out.wake_at(now + MS);
            }))
        })
        .input(source, Grouping::shuffle())
        .done();
    let config = settings(1, |c| {
        (c.queue, c.batch, c.max_pending) = (1, 1, 1);
        c.timeout = Duration::from_secs(1);
    });
    let mut net = Net::new(&builder.build(config).unwrap(), 1, &log);
    net.cost(|task, tuples| if task == 1 { 50 * MS * tuples } else { 1 });
    let out = net.run();
    assert_eq!(one_verdict_each(&out), (40, 0));
    assert!(out.figures[0].acker.peak_live <= 1, "a wake that emits nothing made a root");
    // 50 wakes fell due in each execute, and were one.
    assert!((1..=200).contains(&*wakes.lock().unwrap()));
}

#[test]
fn e08_without_acks_a_slow_sink_bounds_what_is_under_way() {
    let log = Log::default();
    let config = settings(2, |c| {
        c.guarantee = Guarantee::AtMostOnce;
        c.epoch = EpochEnd::Every(Duration::from_millis(1));
    });
    let topology = line(&log, config, 1000);
    let sink = topology.plan().components[2].first_task;
    let mut net = Net::new(&topology, 1, &log);
    net.cost(move |task, tuples| if task >= sink { MS * tuples } else { 100 * tuples });
    let out = net.run();
    assert_eq!(log.items(2).len(), 4000);
    // Queues, outboxes and open batches of two edges, and no more, at any time.
    let ahead = |at: u64, node: u32| log.seen(node).iter().filter(|s| s.at <= at).count();
    for at in (0..out.end).step_by(100 * MS as usize) {
        assert!(ahead(at, 1) * 2 <= ahead(at, 2) + 2 * 2 * 3 * 8);
    }
    assert!(out.figures.iter().all(|f| f.outbox_peak <= 12), "{:?}", out.figures[0].outbox_peak);
}

#[test]
fn e13_late_records_are_acked_and_counted_once() {
    let log = Log::default();
    let mut builder = Topology::builder();
    let l = log.clone();
    let source = builder.spout("s", 1, move |cx| {
        let mut i = 0;
        Source::new(&l, 0, cx, move |out, _| {
            i += 1;
            out.watermark(100);
            let late = out.stamp(if i <= 4 { 50 } else { 100 }) == Timeliness::Late;
            out.emit(Item { root: i, key: u64::from(late), path: 0 });
            if i == 20 { Poll::End } else { Poll::More }
        })
    });
    let l = log.clone();
    let _ = builder
        .bolt("b", 1, move |cx| Node::sink(&l, 1, cx))
        .input(source, Grouping::shuffle())
        .done();
    let config = settings(1, |c| c.max_pending = 4);
    let out = Net::new(&builder.build(config).unwrap(), 1, &log).run();
    assert_eq!((one_verdict_each(&out), replayed(&out)), ((20, 0), 0));
    assert_eq!(log.items(1).iter().filter(|item| item.key == 1).count(), 4);
    assert_eq!(out.figures[0].tasks.iter().map(|t| t.late).sum::<u64>(), 4);
}

/// Poison: one of many; then as many as may be pending at once.
#[test]
fn e16_poison_neither_loops_nor_blocks() {
    for poison in [1, 16] {
        let log = Log::default();
        let mut builder = Topology::builder();
        let l = log.clone();
        let source = builder.spout("s", 1, move |cx| Source::count(&l, 0, cx, 2000, 1 << 40));
        let l = log.clone();
        let _ = builder
            .bolt("b", 2, move |cx| {
                Ok(Node::new(&l, 1, cx, move |item, _| {
                    let bad = (10..10 + poison).contains(&item.key);
                    if bad { Err("poison".into()) } else { Ok(()) }
                }))
            })
            .input(source, Grouping::shuffle())
            .done();
        let config = settings(2, |c| {
            c.attempts = 3;
            c.max_pending = 16;
        });
        let out = Net::new(&builder.build(config).unwrap(), 1, &log).run();
        assert_eq!(one_verdict_each(&out), (2000 - poison, poison));
        assert!(out.letters.iter().all(|(_, l)| l.attempts == 3));
        let seen = log.seen(1);
        let mut by_key: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        seen.iter().for_each(|s| by_key.entry(s.item.key).or_default().push(s.at));
        for at in by_key.values().filter(|at| at.len() > 1) {
            assert_eq!(at.len(), 3);
            // Spaced: 1 ms, then 2 ms.
            assert!(at[1] >= at[0] + MS && at[2] >= at[1] + 2 * MS, "{at:?}");
        }
        assert!(out.end < SEC && out.epochs > 20, "{} {}", out.end, out.epochs);
    }
}

/// Spouts of 0, 10 and 10,000 records into one bolt that works as epochs close.
#[test]
fn e21_short_and_empty_spouts_release_the_frontier() {
    let log = Log::default();
    let mut builder = Topology::builder();
    let mut streams = Vec::new();
    for (node, count) in [(0, 0), (1, 10), (2, 10_000)] {
        let l = log.clone();
        streams.push(builder.spout(&format!("s{node}"), 4, move |cx| {
            // Four tasks, and a file for the first alone.
            Source::count(&l, node, cx, if cx.index() == 0 { count } else { 0 }, 1)
        }));
    }
    let l = log.clone();
    let mut bolt = builder.bolt("b", 2, move |cx| Node::sink(&l, 3, cx));
    for stream in streams {
        bolt = bolt.input(stream, Grouping::shuffle());
    }
    let _ = bolt.done();
    let config = settings(2, |c| c.epoch = EpochEnd::Records(100));
    let out = Net::new(&builder.build(config).unwrap(), 1, &log).run();
    assert_eq!(one_verdict_each(&out), (10_010, 0));
    assert!(out.epochs > 20);
    assert_eq!(log.closes(3).len() as u64, 2 * out.epochs);
}

/// A key whose hash is the same for all: all meet in one task, each with a state of its own.
#[test]
fn e26_the_hash_is_not_the_key() {
    let log = Log::default();
    let mut builder = Topology::builder();
    let l = log.clone();
    let source = builder.spout("s", 2, move |cx| Source::count(&l, 0, cx, 1000, 500));
    let l = log.clone();
    let counts = Arc::new(Mutex::new(HashMap::<u64, u64>::new()));
    let c = counts.clone();
    let _ = builder
        .bolt("b", 3, move |cx| {
            let c = c.clone();
            Ok(Node::new(&l, 1, cx, move |item, _| {
                *c.lock().unwrap().entry(item.key).or_default() += 1;
                Ok(())
            }))
        })
        .input(
            source,
            Grouping::<Items>::fields_with(|_: &Item, hasher: &mut KeyHasher| hasher.word(7)),
        )
        .done();
    let out = Net::new(&builder.build(settings(3, |_| {})).unwrap(), 1, &log).run();
    assert_eq!(one_verdict_each(&out), (2000, 0));
    let seen = log.seen(1);
    assert!(seen.iter().all(|s| s.task == seen[0].task));
    assert_eq!(counts.lock().unwrap().len(), 500);
    assert!(counts.lock().unwrap().values().all(|&n| n == 4));
}

/// Without failures the order within (sending task, key) stands, though queues refuse.
#[test]
fn e28_order_within_sender_and_key_stands() {
    each_seed(200, |seed| {
        let log = Log::default();
        let mut builder = Topology::builder();
        let l = log.clone();
        let source = builder.spout("s", 3, move |cx| Source::count(&l, 0, cx, 60, 5));
        let l = log.clone();
        let passed = builder
            .bolt("p", 4, move |cx| Node::pass(&l, 1, cx, 1))
            .input(source, Grouping::<Items>::fields(|item| item.key))
            .done();
        let l = log.clone();
        let _ = builder
            .bolt("b", 4, move |cx| Node::sink(&l, 2, cx))
            .input(passed, Grouping::<Items>::fields(|item| item.key))
            .done();
        let config = settings(1 + (seed % 4) as u32, |c| {
            c.queue = 1 + (seed % 2) as usize;
            c.timeout = Duration::from_secs(10);
        });
        let topology = builder.build(config).unwrap();
        let mut net = Net::new(&topology, seed, &log);
        net.odds().delay = 2 * MS;
        let out = net.run();
        assert_eq!(one_verdict_each(&out), (180, 0));
        for node in [1, 2] {
            let mut last: HashMap<(u64, u64), u64> = HashMap::new();
            for s in log.seen(node) {
                let (task, seq) = (s.item.root >> 32, s.item.root & 0xffff_ffff);
                let before = last.insert((task, s.item.key), seq);
                assert!(before.is_none_or(|before| before < seq), "{s:?} after {before:?}");
            }
        }
    });
}

#[test]
fn e32_the_ledger_is_exact_with_and_without_acks() {
    each_seed(200, |seed| {
        for guarantee in [Guarantee::AtLeastOnce, Guarantee::AtMostOnce] {
            let log = Log::default();
            let config = settings(3, |c| {
                c.guarantee = guarantee;
                c.attempts = 100;
            });
            let topology = line(&log, config, 20);
            let mut net = Net::new(&topology, seed, &log);
            net.odds().lose_tuples = 50_000;
            let out = net.run();
            ledger(&topology, &out);
            let lost: u64 = out.figures.iter().flat_map(|f| &f.edges).map(|e| e.lost).sum();
            let executed: u64 = out.figures.iter().flat_map(|f| &f.edges).map(|e| e.executed).sum();
            assert_eq!(executed, (log.seen(1).len() + log.seen(2).len()) as u64);
            let by_task: u64 =
                out.figures.iter().flat_map(|f| &f.tasks).map(|task| task.executed).sum();
            assert_eq!(by_task, executed);
            let any = out.figures.iter().any(|f| f.latency().is_some());
            assert_eq!(any, guarantee == Guarantee::AtLeastOnce, "without acks there is none");
            assert!(lost > 0 || replayed(&out) == 0);
        }
    });
}

/// Every record takes 5 ms from its emission to the end of its last execute: on one worker, where
/// the verdict is heard in the step of that execute, as on two.
#[test]
fn e32_the_median_of_a_fixed_delay_is_that_delay() {
    for workers in [1, 2] {
        let log = Log::default();
        let mut builder = Topology::builder();
        let l = log.clone();
        let source = builder.spout("a", 1, move |cx| {
            let mut i = 0;
            Source::new(&l, 0, cx, move |out, _| {
                out.emit(Item::default());
                i += 1;
                if i == 50 { Poll::End } else { Poll::Idle(Some(Duration::from_millis(20))) }
            })
        });
        let l = log.clone();
        let _ = builder
            .bolt("b", 1, move |cx| Node::sink(&l, 1, cx))
            .input(source, Grouping::shuffle())
            .done();
        let topology = builder.build(settings(workers, |c| c.ackers = 1)).unwrap();
        let mut net = Net::new(&topology, 1, &log);
        net.odds().delay = 0;
        net.cost(|task, tuples| if task == 1 { 5 * MS * tuples } else { 0 });
        let out = net.run();
        let latency = out.figures.iter().find_map(streamwright::WorkerFigures::latency).unwrap();
        let (p50, p99) = (latency.p50.as_micros(), latency.p99.as_micros());
        assert!((5000..5050).contains(&p50), "{workers} workers: {latency:?}");
        assert!((5000..5100).contains(&p99), "{workers} workers: {latency:?}");
    }
}

/// Eight tasks on one worker, one of them expensive: the cost is booked on that one.
#[test]
fn e33_cost_stands_where_it_arose() {
    let log = Log::default();
    let mut builder = Topology::builder();
    let l = log.clone();
    let source = builder.spout("s", 1, move |cx| Source::count(&l, 0, cx, 80, 1 << 40));
    let l = log.clone();
    let _ = builder
        .bolt("b", 8, move |cx| Node::sink(&l, 1, cx))
        .input(source, Grouping::direct(|item: &Item, tasks| (item.key % u64::from(tasks)) as u32))
        .done();
    let topology = builder.build(settings(1, |_| {})).unwrap();
    let first = topology.plan().components[1].first_task;
    let mut net = Net::new(&topology, 1, &log);
    net.cost(move |task, n| if task == first + 5 { 2 * MS * n } else { 1000 * n });
    let out = net.run();
    for task in out.figures[0].tasks.iter().filter(|t| t.component == "b") {
        assert_eq!(task.executed, 10);
        let wanted = if task.task == 5 { 20 * MS } else { 10_000 };
        assert_eq!(task.cost.as_nanos(), u128::from(wanted), "task {}", task.task);
        assert!(task.longest <= task.cost && task.longest.as_nanos() * 10 >= u128::from(wanted));
    }
    let spout = out.figures[0].tasks.iter().find(|t| t.component == "s").unwrap();
    assert!(spout.cost < Duration::from_millis(1));
}

/// The clock of time-outs stands while the engine does: ten seconds of standstill replay nothing.
/// Then time goes on in steps of a nanosecond, and all durations hold.
#[test]
fn e34_a_clock_that_stands_or_crawls_fails_no_root() {
    each_seed(20, |seed| {
        let log = Log::default();
        let topology = line(&log, settings(2, |_| {}), 40);
        let mut net = Net::new(&topology, seed, &log);
        let from = MS / 2;
        net.clock = Box::new(move |mono| mono.min(from).max(mono.saturating_sub(10 * SEC)));
        let (sink, l) = (topology.plan().components[2].first_task, log.clone());
        net.cost(move |task, tuples| {
            let first = task >= sink && l.seen(2).len() < 5;
            if first { 10 * SEC } else { 100 * tuples }
        });
        net.step = 1;
        let out = net.run();
        assert_eq!((one_verdict_each(&out).1, out.letters.len()), (0, 0));
        if out.end < 15 * SEC {
            assert_eq!(replayed(&out), 0);
        }
        assert_eq!(out.spins, 0);
    });
}
