//! Rule 2: epochs, the horizon, the window.

use std::time::Duration;

use streamwright::{EpochEnd, Grouping, Guarantee, Poll, Topology};

use crate::dice::each_seed;
use crate::net::{MS, Net};
use crate::parts::{Item, Log, Node, Source, settings};
use crate::rule_1::{line, one_verdict_each, replayed};

#[test]
fn rule_2_1_no_spout_stamps_before_every_worker_confirmed() {
    // The window of an unconfirmed topology is empty: `Log::stamp` compares every record with the
    // epochs closed so far, and the coordinator gives no horizon before all have confirmed.
    each_seed(300, |seed| {
        let log = Log::default();
        let l = log.clone();
        let topology = {
            let mut builder = Topology::builder();
            let opened = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
            let (l, o) = (l.clone(), opened.clone());
            let source = builder.spout("source", 4, move |cx| {
                o.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                let (o, mut left) = (o.clone(), 3);
                Source::new(&l, 0, cx, move |out, task| {
                    let open = o.load(std::sync::atomic::Ordering::Relaxed);
                    assert_eq!(open, 8, "it stamps before all are open");
                    out.emit(Item { root: u64::from(task), key: 0, path: 0 });
                    left -= 1;
                    if left == 0 { Poll::End } else { Poll::More }
                })
            });
            let l = log.clone();
            let _ = builder
                .bolt("sink", 4, move |cx| {
                    opened.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    Node::sink(&l, 1, cx)
                })
                .input(source, Grouping::shuffle())
                .done();
            builder.build(settings(4, |_| {})).unwrap()
        };
        let mut net = Net::new(&topology, seed, &log);
        net.odds().delay = 20 * MS;
        net.odds().reorder = true;
        let out = net.run();
        assert_eq!(out.error, None);
        assert_eq!(log.items(1).len(), 12);
    });
}

/// Ended, empty and idle spouts neither hold the epochs of the others nor the end of the run.
#[test]
fn rule_2_1_ended_and_idle_spouts_move_on() {
    each_seed(500, |seed| {
        let log = Log::default();
        let mut builder = Topology::builder();
        let l = log.clone();
        let long = builder.spout("long", 1, move |cx| Source::count(&l, 0, cx, 60, 3));
        let l = log.clone();
        let empty = builder.spout("empty", 3, move |cx| Source::count(&l, 1, cx, 0, 1));
        let l = log.clone();
        // Idle from the start; woken at last, it ends.
        let idle = builder.spout("idle", 1, move |cx| {
            let mut calls = 0;
            Source::new(&l, 2, cx, move |_, _| {
                calls += 1;
                if calls > 1 { Poll::End } else { Poll::Idle(None) }
            })
        });
        let l = log.clone();
        let _ = builder
            .bolt("sink", 2, move |cx| Node::sink(&l, 3, cx))
            .input(long, Grouping::shuffle())
            .input(empty, Grouping::shuffle())
            .input(idle, Grouping::shuffle())
            .done();
        let topology = builder.build(settings(2, |c| c.window = 1)).unwrap();
        let mut net = Net::new(&topology, seed, &log);
        net.wakes = vec![(400 * MS, 0), (400 * MS, 1)];
        let out = net.run();
        assert_eq!(one_verdict_each(&out), (60, 0));
        // All records came and nearly all epochs closed while one spout was idle.
        let seen = log.seen(3);
        assert_eq!(seen.len(), 60);
        assert!(seen.iter().all(|s| s.at < 400 * MS), "the idle spout held the others");
        assert!(out.epochs >= 2 && out.end < 500 * MS, "{} {}", out.epochs, out.end);
        let closes = log.closes(3);
        assert_eq!(closes.len() as u64, 2 * out.epochs);
    });
}

/// `Log::stamp` fails for a record `W` epochs past the last one closed everywhere.
#[test]
fn rule_2_2_at_most_w_epochs_ahead() {
    for guarantee in [Guarantee::AtLeastOnce, Guarantee::AtMostOnce] {
        each_seed(300, |seed| {
            let log = Log::default();
            let config = settings(1 + (seed % 3) as u32, |c| {
                c.guarantee = guarantee;
                c.window = 1 + (seed % 4) as u32;
                c.epoch = EpochEnd::Records(1 + seed % 3);
                c.max_pending = 1000;
            });
            let topology = line(&log, config, 40);
            let mut net = Net::new(&topology, seed, &log);
            net.odds().delay = 4 * MS;
            net.odds().reorder = true;
            let sink = topology.plan().components[2].first_task;
            net.cost(move |task, tuples| if task >= sink { 50_000 * tuples } else { 10 });
            let out = net.run();
            assert_eq!(out.error, None);
            assert_eq!(log.items(2).len(), 160);
            assert!(out.epochs > 2);
        });
    }
}

#[test]
fn rule_2_2_a_slow_sink_without_acks_holds_spouts_by_epochs_and_queues() {
    let log = Log::default();
    let config = settings(2, |c| {
        c.guarantee = Guarantee::AtMostOnce;
        c.epoch = EpochEnd::Every(Duration::from_millis(5));
        c.window = 2;
    });
    let topology = line(&log, config, 500);
    let sink = topology.plan().components[2].first_task;
    let mut net = Net::new(&topology, 3, &log);
    net.cost(move |task, tuples| if task >= sink { MS * tuples } else { 10 });
    let out = net.run();
    assert_eq!(out.error, None);
    assert_eq!(log.items(2).len(), 2000);
}

/// Ways that take ten time-outs by the monotonic clock, and a tenth of one by the clock of
/// time-outs, which crawls as it does beside code that blocks: no root fails.
#[test]
fn rule_2_3_time_outs_go_by_their_own_clock() {
    each_seed(50, |seed| {
        let log = Log::default();
        let topology = line(&log, settings(1 + (seed % 3) as u32, |_| {}), 20);
        let mut net = Net::new(&topology, seed, &log);
        net.odds().delay = 1000 * MS;
        net.clock = Box::new(|mono| mono / 100);
        let sink = topology.plan().components[2].first_task;
        net.cost(move |task, _| if task >= sink { 100 * MS } else { 10 });
        let out = net.run();
        assert_eq!((one_verdict_each(&out), replayed(&out)), ((40, 0), 0));
    });
}
