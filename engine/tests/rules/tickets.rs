//! Rule 4.4: tuples that a bolt takes out of their batch's ack.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use streamwright::{
    Config, Emitter, Grouping, Guarantee, Poll, RunError, TaskContext, Ticket, Topology,
};

use crate::dice::{Dice, each_seed};
use crate::net::{MS, Net, SEC};
use crate::parts::{Item, Items, Log, Node, Source, settings};
use crate::rule_1::{ledger, one_verdict_each, replayed};
use crate::rule_6::exactly;

pub type To<'a> = Emitter<'a, Items>;
/// What a bolt holds: item, epoch, ticket.
pub type Kept = Arc<Mutex<Vec<(Item, u64, Ticket)>>>;

/// A bolt that defers every item, and hands each on as a flush of its epoch releases it; with `all`
/// it releases those of later epochs too.
pub fn holder(log: &Log, cx: &TaskContext, all: bool) -> Node {
    let kept = Kept::default();
    let held = Arc::clone(&kept);
    Node::new(log, 1, cx, move |item, out| {
        kept.lock().unwrap().push((*item, out.epoch(), out.defer()));
        Ok(())
    })
    .on_flush(move |epoch, _, out| {
        let mut kept = held.lock().unwrap();
        let (now, later) = kept.drain(..).partition(|(_, of, _)| all || *of <= epoch);
        *kept = later;
        drop(kept);
        let _: Vec<()> = Vec::<(Item, u64, Ticket)>::into_iter(now)
            .map(|(item, of, ticket)| {
                out.release_with(ticket, |out| {
                    assert_eq!(out.epoch(), of);
                    out.emit(item);
                });
            })
            .collect();
    })
}

/// A spout of 2 × `count` records → a bolt → a sink that holds what it takes in for nothing.
pub fn through(
    log: &Log,
    config: Config,
    count: u64,
    bolt: impl Fn(&Log, &TaskContext) -> Node + Send + Sync + 'static,
) -> Topology {
    let mut builder = Topology::builder();
    let l = log.clone();
    let source = builder.spout("source", 2, move |cx| Source::count(&l, 0, cx, count, 1 << 40));
    let l = log.clone();
    let held = builder
        .bolt("holder", 2, move |cx| Ok(bolt(&l, cx)))
        .input(source, Grouping::<Items>::fields(|item| item.root))
        .done();
    let l = log.clone();
    let _ = builder
        .bolt("sink", 2, move |cx| Node::sink(&l, 2, cx))
        .input(held, Grouping::shuffle())
        .done();
    builder.build(config).unwrap()
}

pub fn guarantee(seed: u64) -> Guarantee {
    if seed.is_multiple_of(3) { Guarantee::AtMostOnce } else { Guarantee::AtLeastOnce }
}

#[test]
fn rule_4_4_a_deferred_tuple_goes_on_as_its_ticket_is_released() {
    each_seed(300, |seed| {
        let log = Log::default();
        let config = settings(1 + (seed % 4) as u32, |c| {
            c.guarantee = guarantee(seed);
            c.timeout = Duration::from_secs(5);
        });
        let topology = through(&log, config, 25, move |l, cx| holder(l, cx, seed % 2 == 0));
        let mut net = Net::new(&topology, seed, &log);
        net.odds().reorder = true;
        net.odds().delay = seed % 5 * MS;
        let out = net.run();
        assert_eq!((out.error.clone(), replayed(&out)), (None, 0));
        if guarantee(seed) != Guarantee::AtMostOnce {
            assert_eq!(one_verdict_each(&out), (50, 0));
        }
        ledger(&topology, &out);
        let mut items = log.items(2);
        items.dedup();
        assert_eq!((items.len(), log.seen(2).len()), (50, 50));
        // At the epoch of its tuple, though released in a flush of another.
        let epochs: HashMap<Item, u64> =
            log.seen(1).iter().map(|seen| (seen.item, seen.epoch)).collect();
        assert!(log.seen(2).iter().all(|seen| epochs[&seen.item] == seen.epoch));
    });
}

/// What a release emits hangs from the tuple's root: where it is lost, the root comes again.
#[test]
fn rule_4_4_what_a_release_emits_is_tracked() {
    let mut replays = 0;
    each_seed(300, |seed| {
        let log = Log::default();
        let config = settings(1 + (seed % 4) as u32, |c| {
            c.attempts = 100;
            c.max_backoff = Duration::from_millis(5);
        });
        let topology = through(&log, config, 15, move |l, cx| holder(l, cx, seed % 2 == 0));
        let mut net = Net::new(&topology, seed, &log);
        let mut dice = Dice::new(seed);
        net.odds().lose_tuples = dice.below(100_000) as u32;
        net.odds().lose_batches = dice.below(100_000) as u32;
        net.odds().lose_acks = dice.below(50_000) as u32;
        net.odds().repeat_batches = dice.below(200_000) as u32;
        net.odds().delay = dice.below(3) * MS;
        let out = net.run();
        assert_eq!(one_verdict_each(&out), (30, 0));
        ledger(&topology, &out);
        let mut items = log.items(2);
        items.dedup();
        assert_eq!(items.len(), 30);
        replays += replayed(&out);
    });
    assert!(replays > 300, "{replays}");
}

/// As `holder`, but it releases on a timer, `wait` after the first item that it holds.
pub fn waiter(log: &Log, cx: &TaskContext, wait: u64, key: Option<u64>) -> Node {
    let kept = Kept::default();
    let held = Arc::clone(&kept);
    Node::new(log, 1, cx, move |item, out| {
        if key.is_some_and(|key| item.key != key) {
            out.emit(*item);
            return Ok(());
        }
        let ticket = out.defer();
        out.wake_at(out.now() + wait);
        kept.lock().unwrap().push((*item, out.epoch(), ticket));
        Ok(())
    })
    .on_timer(move |_, out| {
        let kept = std::mem::take(&mut *held.lock().unwrap());
        for (item, _, ticket) in kept {
            out.release_with(ticket, |out| out.emit(item));
        }
    })
}

/// No verdict, and no close, before the ticket is given back; with and without acks, and as the end
/// comes.
#[test]
fn rule_4_4_an_open_ticket_holds_its_epoch() {
    each_seed(200, |seed| {
        let log = Log::default();
        let config = settings(1 + (seed % 3) as u32, |c| {
            c.guarantee = guarantee(seed);
            c.timeout = Duration::from_secs(5);
        });
        let topology = through(&log, config, 12, |l, cx| waiter(l, cx, 70 * MS, Some(11)));
        let mut net = Net::new(&topology, seed, &log);
        net.odds().reorder = seed % 2 == 0;
        let out = net.run();
        assert_eq!((out.error.clone(), replayed(&out)), (None, 0));
        ledger(&topology, &out);
        assert_eq!(log.items(2).len(), 24);
        // Both tasks' records of key 11 were deferred; the epochs closed after that, as `Log` sees.
        let last = log.seen(2).iter().filter(|seen| seen.item.key == 11).map(|seen| seen.at).max();
        let first = log.seen(1).iter().filter(|seen| seen.item.key == 11).map(|seen| seen.at).min();
        assert!(last.unwrap() >= first.unwrap() + 70 * MS);
    });
}

/// Its root fails elsewhere for good, and its epoch closes: then the ticket does nothing.
#[test]
fn trace_ticket_resolved_after_its_root_died() {
    each_seed(200, |seed| {
        let log = Log::default();
        let mut builder = Topology::builder();
        let l = log.clone();
        let source = builder.spout("source", 1, move |cx| Source::count(&l, 0, cx, 30, 1 << 40));
        let l = log.clone();
        let held = builder
            .bolt("holder", 1, move |cx| Ok(waiter(&l, cx, SEC, Some(4))))
            .input(source.clone(), Grouping::shuffle())
            .done();
        let l = log.clone();
        let _ = builder
            .bolt("poison", 1, move |cx| {
                Ok(Node::new(&l, 3, cx, |item, _| match item.key {
                    4 => Err("always".into()),
                    _ => Ok(()),
                }))
            })
            .input(source, Grouping::shuffle())
            .done();
        let l = log.clone();
        let _ = builder
            .bolt("sink", 1, move |cx| Node::sink(&l, 2, cx))
            .input(held, Grouping::shuffle())
            .done();
        let config = settings(1 + (seed % 3) as u32, |c| {
            c.attempts = 2;
            // The last record holds the run open until the ticket is given back.
            c.epoch = streamwright::EpochEnd::Records(3);
        });
        let topology = builder.build(config).unwrap();
        let out = Net::new(&topology, seed, &log).run();
        assert_eq!(one_verdict_each(&out), (29, 1));
        assert_eq!(out.letters[0].1.attempts, 2);
        assert!(out.end < SEC, "the dead root held the run up to {}", out.end);
        assert!(log.seen(2).iter().all(|seen| seen.item.key != 4));
    });
}

/// The same where the run is still going as the void ticket is given back: nothing is emitted at an
/// epoch that is closed, which `Log` would see.
#[test]
fn rule_4_4_tickets_are_void_once_their_epoch_is_closed() {
    each_seed(200, |seed| {
        let log = Log::default();
        let called = Arc::new(Mutex::new(Vec::new()));
        let mut builder = Topology::builder();
        let l = log.clone();
        let source = builder.spout("source", 1, move |cx| {
            let mut i = 0;
            Source::new(&l, 0, cx, move |out, _| {
                if i == 40 {
                    return Poll::End;
                }
                out.emit(Item { root: i, key: i, path: 0 });
                i += 1;
                Poll::Idle(Some(Duration::from_millis(5)))
            })
        });
        let (l, c) = (log.clone(), Arc::clone(&called));
        let held = builder
            .bolt("holder", 1, move |cx| {
                let (kept, called) = (Kept::default(), Arc::clone(&c));
                Ok(Node::new(&l, 1, cx, move |item, out| {
                    if item.key == 4 {
                        kept.lock().unwrap().push((*item, out.epoch(), out.defer()));
                    }
                    if item.key == 35 {
                        for (item, _, ticket) in kept.lock().unwrap().drain(..) {
                            out.release_with(ticket, |out| {
                                called.lock().unwrap().push(item);
                                out.emit(item);
                            });
                        }
                    }
                    Ok(())
                }))
            })
            .input(source.clone(), Grouping::shuffle())
            .done();
        let l = log.clone();
        let _ = builder
            .bolt("poison", 1, move |cx| {
                Ok(Node::new(&l, 3, cx, |item, _| match item.key {
                    4 => Err("always".into()),
                    _ => Ok(()),
                }))
            })
            .input(source, Grouping::shuffle())
            .done();
        let l = log.clone();
        let _ = builder
            .bolt("sink", 1, move |cx| Node::sink(&l, 2, cx))
            .input(held, Grouping::shuffle())
            .done();
        let topology = builder.build(settings(1 + (seed % 3) as u32, |c| c.attempts = 2)).unwrap();
        let out = Net::new(&topology, seed, &log).run();
        assert_eq!(one_verdict_each(&out), (39, 1));
        assert!(called.lock().unwrap().is_empty() && log.seen(2).is_empty());
    });
}

/// Exactly once: the first attempt's ticket is open as the second attempt comes. That one joins it:
/// it is not applied again, and the root is done once the ticket is released, not before.
#[test]
fn trace_ticket_open_in_attempt_1_while_attempt_2_is_seen() {
    each_seed(300, |seed| {
        let log = Log::default();
        let counts = Arc::new(Mutex::new(HashMap::<u64, u64>::new()));
        let mut builder = Topology::builder();
        let l = log.clone();
        let source = builder.spout("source", 1, move |cx| Source::count(&l, 0, cx, 20, 1 << 40));
        let (l, c) = (log.clone(), Arc::clone(&counts));
        let _ = builder
            .bolt("state", 2, move |cx| {
                let (kept, counts) = (Kept::default(), Arc::clone(&c));
                let held = Arc::clone(&kept);
                Ok(Node::new(&l, 1, cx, move |item, out| {
                    let ticket = out.defer();
                    out.wake_at(out.now() + 40 * MS);
                    kept.lock().unwrap().push((*item, out.epoch(), ticket));
                    Ok(())
                })
                .on_timer(move |_, out| {
                    for (item, _, ticket) in held.lock().unwrap().drain(..) {
                        *counts.lock().unwrap().entry(item.key).or_default() += 1;
                        out.release(ticket);
                    }
                }))
            })
            .input(source.clone(), Grouping::<Items>::fields(|item| item.key))
            .done();
        let l = log.clone();
        let _ = builder
            .bolt("fails", 1, move |cx| {
                let mut times = HashMap::<u64, u64>::new();
                Ok(Node::new(&l, 3, cx, move |item, _| {
                    let times = times.entry(item.key).or_default();
                    *times += 1;
                    if *times <= 1 + item.key % 3 { Err("not yet".into()) } else { Ok(()) }
                }))
            })
            .input(source, Grouping::shuffle())
            .done();
        let config = exactly(1 + (seed % 3) as u32, |c| {
            c.seed = seed;
            c.timeout = Duration::from_secs(1);
        });
        let topology = builder.build(config).unwrap();
        let mut net = Net::new(&topology, seed, &log);
        net.odds().delay = seed % 3 * MS;
        let out = net.run();
        assert_eq!(one_verdict_each(&out), (20, 0));
        let failures: u64 = (0..20).map(|key| 1 + key % 3).sum();
        assert_eq!(replayed(&out), failures);
        assert_eq!(log.seen(1).len(), 20, "a repeat was applied");
        assert!(counts.lock().unwrap().values().all(|&n| n == 1));
        assert!(out.end >= 40 * MS, "done before the tickets were released: {}", out.end);
        let repeats: u64 =
            out.figures.iter().flat_map(|f| &f.edges).map(|edge| edge.repeated).sum();
        assert_eq!(repeats, failures);
    });
}

/// Exactly once under loss and duplication, with a sink that commits in flushes, and sometimes fails.
#[test]
fn rule_4_4_tickets_and_exactly_once_count_once() {
    each_seed(300, |seed| {
        let log = Log::default();
        let counts = Arc::new(Mutex::new(HashMap::<u64, u64>::new()));
        let mut builder = Topology::builder();
        let l = log.clone();
        let source = builder.spout("source", 2, move |cx| Source::count(&l, 0, cx, 20, 1 << 40));
        let (l, c) = (log.clone(), Arc::clone(&counts));
        let _ = builder
            .bolt("state", 3, move |cx| {
                let (kept, counts) = (Kept::default(), Arc::clone(&c));
                let held = Arc::clone(&kept);
                let mut flushes = seed;
                Ok(Node::new(&l, 1, cx, move |item, out| {
                    kept.lock().unwrap().push((*item, out.epoch(), out.defer()));
                    Ok(())
                })
                .try_flush(move |epoch, out| {
                    flushes += 1;
                    if flushes % 3 == 0 {
                        held.lock().unwrap().retain(|(_, of, _)| *of > epoch);
                        return Err("the disk is full".into());
                    }
                    for (item, _, ticket) in held.lock().unwrap().drain(..) {
                        if (item.key + flushes) % 5 == 0 {
                            out.fail(ticket, "refused");
                            continue;
                        }
                        *counts.lock().unwrap().entry(item.root).or_default() += 1;
                        out.release(ticket);
                    }
                    Ok(())
                }))
            })
            .input(source.clone(), Grouping::<Items>::fields(|item| item.key))
            .done();
        let config = exactly(1 + (seed % 3) as u32, |c| {
            c.seed = seed;
            // Of the callbacks only that of a flush that held nothing.
            c.restarts = 0;
        });
        let topology = builder.build(config).unwrap();
        let mut net = Net::new(&topology, seed, &log);
        let mut dice = Dice::new(seed);
        net.odds().lose_tuples = dice.below(60_000) as u32;
        net.odds().lose_acks = dice.below(60_000) as u32;
        net.odds().repeat_batches = dice.below(200_000) as u32;
        let out = net.run();
        if let Some(RunError::Callback { call: "flush", message, .. }) = &out.error {
            // A flush that holds nothing has no tuple to blame.
            assert_eq!(message, "the disk is full");
            return;
        }
        assert_eq!(one_verdict_each(&out), (40, 0));
        let counts = counts.lock().unwrap();
        assert_eq!(counts.len(), 40);
        assert!(counts.values().all(|&n| n == 1), "{counts:?}");
    });
}
