//! Rule 3: progress. What holds an epoch, when it is flushed and closed, what a close emits.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use streamwright::core::Hold;
use streamwright::{Config, EpochEnd, Grouping, Guarantee, Topology};

use crate::dice::each_seed;
use crate::net::{MS, Net, SEC};
use crate::parts::{Item, Items, Log, Node, Source, settings};
use crate::rule_1::{line, one_verdict_each, replayed};

/// Spout 0 → bolt 1 (by key) that counts by epoch and emits totals as it closes → sink 2.
fn totals(log: &Log, config: Config, count: u64) -> Topology {
    let mut builder = Topology::builder();
    let l = log.clone();
    let source = builder.spout("source", 2, move |cx| Source::count(&l, 0, cx, count, 7));
    let l = log.clone();
    let counts = builder
        .bolt("count", 2, move |cx| {
            let by_key = Arc::new(Mutex::new(std::collections::BTreeMap::<(u64, u64), u64>::new()));
            let mine = by_key.clone();
            Ok(Node::new(&l, 1, cx, move |item, out| {
                *mine.lock().unwrap().entry((out.epoch(), item.key)).or_default() += 1;
                Ok(())
            })
            .on_close(move |epoch, _, out| {
                let mut all = by_key.lock().unwrap();
                let later = all.split_off(&(epoch + 1, 0));
                for ((e, key), count) in std::mem::replace(&mut *all, later) {
                    assert_eq!(e, epoch, "left over from an epoch before");
                    out.emit(Item { root: e, key, path: count });
                }
            }))
        })
        .input(source.clone(), Grouping::<Items>::fields(|item| item.key))
        .done();
    let l = log.clone();
    let _ = builder
        .bolt("sink", 2, move |cx| Node::sink(&l, 2, cx))
        .input(counts.clone(), Grouping::<Items>::fields(|item| item.key))
        .done();
    builder.build(config).unwrap()
}

fn total(items: &[Item]) -> u64 {
    items.iter().map(|item| item.path).sum()
}

/// Nothing is lost, so the totals of every epoch come once, and their sum is the truth.
#[test]
fn rule_3_2_frontier_is_not_passed_by_close_emissions() {
    each_seed(1000, |seed| {
        let log = Log::default();
        let config = settings(1 + (seed % 4) as u32, |c| {
            c.window = 1 + (seed % 3) as u32;
            c.queue = 1;
        });
        let topology = totals(&log, config, 25);
        let mut net = Net::new(&topology, seed, &log);
        net.odds().delay = 4 * MS;
        net.odds().reorder = true;
        let out = net.run();
        assert_eq!(one_verdict_each(&out), (50, 0));
        assert_eq!(replayed(&out), 0);
        // A total is of its root's epoch: `Log` fails where one comes after the close of it.
        for seen in log.seen(2) {
            assert_eq!(seen.epoch, seen.item.root);
        }
        assert_eq!(total(&log.items(2)), 50);
    });
}

/// `Log::close` fails where an epoch is left out, repeated, or closed without a flush before.
#[test]
fn rule_3_3_epochs_close_one_by_one() {
    each_seed(300, |seed| {
        let log = Log::default();
        let topology = line(&log, settings(2, |c| c.window = 4), 30);
        let mut net = Net::new(&topology, seed, &log);
        net.odds().delay = 3 * MS;
        net.odds().reorder = true;
        let out = net.run();
        for (node, tasks) in [(1, 3), (2, 2)] {
            assert_eq!(log.closes(node).len() as u64, tasks * out.epochs);
        }
    });
}

/// A bolt that holds all back until `flush`, at no queue place: every item leaves, whatever comes
/// between two flushes.
#[test]
fn rule_3_4_flush_runs_again_after_every_batch_and_before_close() {
    each_seed(500, |seed| {
        let log = Log::default();
        let mut builder = Topology::builder();
        let l = log.clone();
        let source = builder.spout("source", 2, move |cx| Source::count(&l, 0, cx, 25, 7));
        let l = log.clone();
        let held = builder
            .bolt("hold", 3, move |cx| {
                let held = Arc::new(Mutex::new(Vec::new()));
                let mine = held.clone();
                Ok(Node::new(&l, 1, cx, move |item, out| {
                    mine.lock().unwrap().push((out.epoch(), *item));
                    Ok(())
                })
                .on_flush(move |epoch, _, out| {
                    let mut held = held.lock().unwrap();
                    held.iter().filter(|h| h.0 <= epoch).for_each(|h| out.emit(h.1));
                    held.retain(|h| h.0 > epoch);
                }))
            })
            .input(source, Grouping::shuffle())
            .done();
        let l = log.clone();
        let _ = builder
            .bolt("sink", 2, move |cx| Node::sink(&l, 2, cx))
            .input(held, Grouping::shuffle())
            .done();
        let guarantee = if seed % 2 == 0 { Guarantee::AtMostOnce } else { Guarantee::AtLeastOnce };
        // An epoch that lasts for ever, but for the end: the flush may not wait for its close.
        let endless = seed % 3 == 0;
        let config = settings(1 + (seed % 3) as u32, |c| {
            c.guarantee = guarantee;
            if endless {
                c.epoch = EpochEnd::Every(Duration::from_secs(3600));
            }
        });
        let topology = builder.build(config).unwrap();
        let mut net = Net::new(&topology, seed, &log);
        net.odds().delay = 2 * MS;
        let out = net.run();
        assert_eq!(out.error, None);
        assert_eq!(log.items(2).len(), 50);
        assert!(log.flushes(1).len() as u64 > 3 * out.epochs, "flushed as it closed only");
    });
}

#[test]
fn rule_3_5_close_roots_are_tracked_split_and_hold() {
    let mut replays = 0;
    each_seed(1000, |seed| {
        let log = Log::default();
        let config = settings(1 + (seed % 4) as u32, |c| {
            c.attempts = 100;
            c.window = 1 + (seed % 3) as u32;
        });
        let topology = totals(&log, config, 25);
        let mut net = Net::new(&topology, seed, &log);
        net.odds().delay = 2 * MS;
        net.odds().reorder = seed % 2 == 0;
        net.odds().lose_tuples = 100_000;
        net.odds().lose_batches = 50_000;
        net.odds().lose_acks = 50_000;
        let out = net.run();
        let (acked, dead) = one_verdict_each(&out);
        assert_eq!((acked, dead), (50, 0));
        replays += replayed(&out);
        // At least once: each (epoch, key) total has arrived at the sink, in its epoch, and holds
        // at least one of what came; the totals by key cover the truth.
        for seen in log.seen(2) {
            assert_eq!(seen.epoch, seen.item.root);
        }
        let mut arrived = log.items(2);
        arrived.dedup();
        let executed = log.items(1).len() as u64;
        assert_eq!(total(&arrived), executed, "a total was lost, or split into two");
        assert!(executed >= 50);
    });
    assert!(replays > 0);
}

/// The last total of each close fails: only that one is repeated in vain and buried, its
/// companions are done, and the epoch is held until all have a verdict.
#[test]
fn rule_3_5_a_poisonous_total_takes_no_companion_along() {
    each_seed(300, |seed| {
        let log = Log::default();
        let mut builder = Topology::builder();
        let l = log.clone();
        let source = builder.spout("source", 1, move |cx| Source::count(&l, 0, cx, 1, 1));
        let l = log.clone();
        let totals = builder
            .bolt("total", 1, move |cx| {
                Ok(Node::new(&l, 1, cx, |_, _| Ok(())).on_close(|epoch, _, out| {
                    if epoch == 0 {
                        (0..10).for_each(|key| out.emit(Item { root: 0, key, path: 0 }));
                    }
                }))
            })
            .input(source, Grouping::shuffle())
            .done();
        let l = log.clone();
        let _ =
            builder
                .bolt("sink", 2, move |cx| {
                    Ok(Node::new(&l, 2, cx, |item, _| {
                        if item.key == 9 { Err("poison".into()) } else { Ok(()) }
                    }))
                })
                .input(totals, Grouping::shuffle())
                .done();
        let config = settings(1 + (seed % 3) as u32, |c| c.attempts = 4);
        let topology = builder.build(config).unwrap();
        let mut net = Net::new(&topology, seed, &log);
        net.odds().delay = MS;
        let out = net.run();
        let letters: Vec<_> = out.letters.iter().map(|(_, letter)| letter).collect();
        assert_eq!(letters.len(), 1);
        assert_eq!((letters[0].component.as_str(), letters[0].attempts), ("total", 4));
        assert_eq!(letters[0].item::<Items>().unwrap()[0].key, 9);
        assert_eq!(letters[0].epoch, 0);
        // Ten together, then each alone; the poison has all its four attempts by itself.
        let seen = log.seen(2);
        assert_eq!(seen.iter().filter(|s| s.item.key == 9).count(), 5);
        assert!((0..9).all(|key| seen.iter().filter(|s| s.item.key == key).count() <= 2));
    });
}

/// Everything of a root is lost, for ever: the report names component, task, epoch and cause.
#[test]
fn rule_3_6_stall_is_reported_with_component_task_epoch_and_cause() {
    let log = Log::default();
    let config = settings(2, |c| {
        c.timeout = Duration::from_secs(30);
        c.attempts = 1;
        c.stall_after = Duration::from_secs(10);
    });
    let topology = line(&log, config, 1);
    let mut net = Net::new(&topology, 4, &log);
    net.odds().lose_tuples = 1_000_000;
    let out = net.run();
    let stall = &out.stalls[0];
    assert_eq!((stall.component.as_str(), stall.epoch), ("source", 0));
    assert!(stall.task.is_some_and(|task| task < 2));
    assert_eq!(stall.hold, Hold::OldestRoot);
    assert!(stall.after >= Duration::from_secs(10) && stall.after < Duration::from_secs(11));
    let text = stall.to_string();
    assert!(text.contains("source[") && text.contains("epoch 0"), "{text}");
    // Told once, not at every tick, and the roots are buried by their time-out.
    assert_eq!(out.stalls.len(), 1);
    assert_eq!(one_verdict_each(&out), (0, 2));
}

#[test]
fn rule_3_6_a_step_that_takes_long_is_named_by_its_queue() {
    let log = Log::default();
    let config = settings(2, |c| {
        c.timeout = Duration::from_secs(300);
        c.stall_after = Duration::from_secs(10);
    });
    let topology = line(&log, config, 1);
    let sink = topology.plan().components[2].first_task;
    let mut net = Net::new(&topology, 4, &log);
    net.cost(move |task, tuples| if task >= sink { 15 * SEC * tuples } else { 1 });
    let out = net.run();
    assert_eq!(out.stalls[0].component, "sink");
    assert!(matches!(out.stalls[0].hold, Hold::Queue { batches: 1.. }));
}
