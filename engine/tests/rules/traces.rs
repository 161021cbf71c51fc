//! Traces that broke earlier readings of the protocol (its section 10), those of this stage.
//!
//! Others stand elsewhere: a stale batch of an old incarnation (`rule_1_2`), an idle spout
//! (`rule_2_1`), split close roots that miss held (`rule_3_5`), a late delta after a verdict
//! (`rule_4_7`), flush called once or for the newest epoch only (`rule_3_4`, and here).

use std::sync::{Arc, Mutex};
use std::time::Duration;

use streamwright::{Grouping, Guarantee, Topology};

use crate::dice::each_seed;
use crate::net::{MS, Net};
use crate::parts::{Item, Items, Log, Node, Source, settings};
use crate::rule_1::{line, one_verdict_each, replayed};

/// The init comes after every ack of its root, fails included: the tracker waits for it.
#[test]
fn trace_init_after_every_ack() {
    each_seed(300, |seed| {
        let log = Log::default();
        let config = settings(3, |c| c.timeout = Duration::from_millis(300));
        let topology = line(&log, config, 15);
        let mut net = Net::new(&topology, seed, &log);
        net.odds().late_inits = 40 * MS;
        net.odds().reorder = seed % 2 == 0;
        let out = net.run();
        assert_eq!((one_verdict_each(&out), replayed(&out)), ((30, 0), 0));
    });
}

/// Every batch is sent twice, and half of the originals are lost and counted so: the copies count
/// too, so no epoch passes them, and all arrives once.
#[test]
fn trace_a_copy_alive_while_the_original_is_counted_lost() {
    each_seed(500, |seed| {
        let log = Log::default();
        let config = settings(1 + (seed % 3) as u32, |c| {
            c.window = 1;
            c.guarantee =
                if seed % 2 == 0 { Guarantee::AtMostOnce } else { Guarantee::AtLeastOnce };
        });
        let topology = line(&log, config, 15);
        let mut net = Net::new(&topology, seed, &log);
        net.odds().repeat_batches = 1_000_000;
        net.odds().lose_batches = 500_000;
        net.odds().delay = 5 * MS;
        net.odds().reorder = true;
        let out = net.run();
        assert_eq!((log.items(2).len(), replayed(&out)), (60, 0));
    });
}

/// What `close` emitted is acked late or not at all and comes again: its epoch is held for it, so
/// the replay finds it open (`Log` fails otherwise), however far the spouts could go on.
#[test]
fn trace_close_root_times_out_late_and_its_replay_finds_the_epoch_open() {
    each_seed(300, |seed| {
        let log = Log::default();
        let mut builder = Topology::builder();
        let l = log.clone();
        let source = builder.spout("s", 2, move |cx| Source::count(&l, 0, cx, 15, 1));
        let l = log.clone();
        let totals = builder
            .bolt("t", 2, move |cx| {
                Ok(Node::new(&l, 1, cx, |_, _| Ok(())).on_close(|epoch, _, out| {
                    out.emit(Item { root: epoch, key: 0, path: 0 });
                    out.emit(Item { root: epoch, key: 1, path: 0 });
                }))
            })
            .input(source, Grouping::shuffle())
            .done();
        let l = log.clone();
        let passed = builder
            .bolt("p", 2, move |cx| Node::pass(&l, 2, cx, 1))
            .input(totals, Grouping::shuffle())
            .done();
        let l = log.clone();
        let _ = builder
            .bolt("z", 1, move |cx| Node::sink(&l, 3, cx))
            .input(passed, Grouping::shuffle())
            .done();
        let config = settings(3, |c| {
            c.window = 3;
            c.attempts = 100;
            c.timeout = Duration::from_millis(15);
        });
        let topology = builder.build(config).unwrap();
        let mut net = Net::new(&topology, seed, &log);
        net.odds().lose_acks = 200_000;
        net.odds().delay = 8 * MS;
        net.odds().reorder = true;
        let out = net.run();
        assert_eq!(one_verdict_each(&out).0, 30);
        for s in log.seen(3) {
            assert_eq!(s.epoch, s.item.root);
        }
        let mut totals: Vec<(u64, u64)> =
            log.items(3).iter().map(|item| (item.root, item.key)).collect();
        totals.dedup();
        assert_eq!(totals.len() as u64, 2 * out.epochs, "a total is missing");
    });
}

/// One root fans out to two components that emit alike to the same key: two tuples, not one.
#[test]
fn trace_one_root_by_two_ways_to_the_same_key() {
    each_seed(300, |seed| {
        let log = Log::default();
        let mut builder = Topology::builder();
        let l = log.clone();
        let source = builder.spout("s", 1, move |cx| Source::count(&l, 0, cx, 20, 3));
        let ways: Vec<_> = [("p", 1), ("q", 3)]
            .map(|(name, node)| {
                let l = log.clone();
                builder
                    .bolt(name, 2, move |cx| {
                        Ok(Node::new(&l, node, cx, |item, out| {
                            out.emit(*item);
                            Ok(())
                        }))
                    })
                    .input(source.clone(), Grouping::shuffle())
                    .done()
            })
            .into();
        let l = log.clone();
        let mut sink = builder.bolt("z", 2, move |cx| Node::sink(&l, 2, cx));
        for way in ways {
            sink = sink.input(way, Grouping::<Items>::fields(|item| item.key));
        }
        let _ = sink.done();
        let topology = builder.build(settings(1 + (seed % 3) as u32, |_| {})).unwrap();
        let mut net = Net::new(&topology, seed, &log);
        net.odds().repeat_messages = 200_000;
        let out = net.run();
        assert_eq!((one_verdict_each(&out), replayed(&out)), ((20, 0), 0));
        assert!(log.roots(2).values().all(|&times| times == 2));
        assert_eq!(log.roots(2).len(), 20);
    });
}

/// Batches of several epochs in one queue, out of order: each epoch is flushed by itself, and again
/// after its stragglers.
#[test]
fn trace_flush_of_each_epoch_again_after_its_stragglers() {
    each_seed(500, |seed| {
        let log = Log::default();
        let mut builder = Topology::builder();
        let l = log.clone();
        let source = builder.spout("s", 3, move |cx| Source::count(&l, 0, cx, 15, 1));
        let l = log.clone();
        let held = builder
            .bolt("h", 1, move |cx| {
                let held = Arc::new(Mutex::new(Vec::new()));
                let mine = held.clone();
                Ok(Node::new(&l, 1, cx, move |item, out| {
                    mine.lock().unwrap().push((out.epoch(), *item));
                    Ok(())
                })
                // Of this very epoch only: nothing may be left to another one's flush.
                .on_flush(move |epoch, _, out| {
                    held.lock().unwrap().retain(|(of, item)| {
                        assert!(*of >= epoch, "{of} was not flushed before {epoch} was");
                        if *of == epoch {
                            out.emit(*item);
                        }
                        *of > epoch
                    });
                }))
            })
            .input(source, Grouping::shuffle())
            .done();
        let l = log.clone();
        let _ = builder
            .bolt("z", 2, move |cx| Node::sink(&l, 2, cx))
            .input(held, Grouping::shuffle())
            .done();
        let config = settings(1 + (seed % 4) as u32, |c| {
            (c.window, c.queue) = (3, 6);
            c.epoch = streamwright::EpochEnd::Records(4);
        });
        let mut net = Net::new(&builder.build(config).unwrap(), seed, &log);
        net.odds().delay = 6 * MS;
        net.odds().reorder = true;
        let out = net.run();
        assert_eq!(one_verdict_each(&out), (45, 0));
        assert_eq!(log.items(2).len(), 45);
    });
}
