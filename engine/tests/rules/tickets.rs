//! Rules 4.4 and 4.5 for tickets: tuples that a bolt takes out of their batch's ack.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use streamwright::core::Hold;
use streamwright::{
    BoxError, Config, Emitter, Grouping, Guarantee, Poll, Reason, RunError, TaskContext, Ticket,
    Topology,
};

use crate::dice::{Dice, each_seed};
use crate::net::{MS, Net, Outcome, SEC};
use crate::parts::{Item, Items, Log, Node, Source, settings};
use crate::rule_1::{ledger, one_verdict_each, replayed};
use crate::rule_6::exactly;

type To<'a> = Emitter<'a, Items>;
/// What a bolt holds: item, epoch, ticket.
type Kept = Arc<Mutex<Vec<(Item, u64, Ticket)>>>;

/// A bolt that defers every item, and hands each on as a flush of its epoch releases it; with `all`
/// it releases those of later epochs too.
fn holder(log: &Log, cx: &TaskContext, all: bool) -> Node {
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
fn through(
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

fn guarantee(seed: u64) -> Guarantee {
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
fn waiter(log: &Log, cx: &TaskContext, wait: u64, key: Option<u64>) -> Node {
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
        let topology =
            builder.build(settings(1 + (seed % 3) as u32, |c| c.attempts = 2)).unwrap();
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

/// E19. A sink that writes many at a time: where the write fails all of them fail, with that reason,
/// and come again; the last are written as the end comes.
#[test]
fn rule_4_4_an_error_of_flush_fails_what_it_held() {
    each_seed(300, |seed| {
        let log = Log::default();
        let written = Arc::new(Mutex::new(Vec::<Item>::new()));
        let failed = Arc::new(Mutex::new(0));
        let (w, f) = (Arc::clone(&written), Arc::clone(&failed));
        let config = settings(1 + (seed % 3) as u32, |c| c.guarantee = guarantee(seed));
        let topology = through(&log, config, 137, move |l, cx| {
            let kept = Kept::default();
            let (held, written, failed) = (Arc::clone(&kept), Arc::clone(&w), Arc::clone(&f));
            let mut flushes = 0;
            Node::new(l, 1, cx, move |item, out| {
                kept.lock().unwrap().push((*item, out.epoch(), out.defer()));
                Ok(())
            })
            .try_flush(move |epoch, out| {
                let mut kept = held.lock().unwrap();
                if kept.iter().all(|(_, of, _)| *of > epoch) {
                    return Ok(());
                }
                flushes += 1;
                if flushes % 4 == 2 {
                    // Half of them are given back before the failure is known: they fail as well.
                    let half = kept.len() / 2;
                    let gone = kept.iter().filter(|(_, of, _)| *of <= epoch).count();
                    let later = kept[..half].iter().filter(|(_, of, _)| *of > epoch).count();
                    *failed.lock().unwrap() += gone + later;
                    for (item, _, ticket) in kept.drain(..half) {
                        out.release_with(ticket, |out| out.emit(item));
                    }
                    kept.retain(|(_, of, _)| *of > epoch);
                    return Err("the disk is full".into());
                }
                for (item, _, ticket) in kept.drain(..) {
                    written.lock().unwrap().push(item);
                    out.release(ticket);
                }
                Ok(())
            })
        });
        let mut net = Net::new(&topology, seed, &log);
        net.odds().delay = seed % 3 * MS;
        let out = net.run();
        assert_eq!(out.error, None);
        ledger(&topology, &out);
        assert!(log.seen(2).is_empty(), "a failed flush has emitted");
        let failed = *failed.lock().unwrap();
        assert!(failed > 0);
        let told = "holder".to_owned();
        let why = |reason: &Reason| matches!(reason, Reason::Failed { component, message, .. } if *component == told && message == "the disk is full");
        if guarantee(seed) == Guarantee::AtMostOnce {
            assert_eq!(written.lock().unwrap().len() + failed, 274);
            let reasons: Vec<_> = out.figures.iter().flat_map(|f| &f.failures).collect();
            assert!(!reasons.is_empty() && reasons.iter().all(|reason| why(reason)));
            return;
        }
        assert_eq!(replayed(&out), failed as u64);
        let (acked, dead) = one_verdict_each(&out);
        assert_eq!(acked + dead, 274);
        assert!(out.letters.iter().all(|(_, letter)| why(&letter.reason)));
        let mut written = written.lock().unwrap();
        written.sort_unstable();
        written.dedup();
        assert_eq!(written.len() as u64, acked);
    });
}

/// An execute that fails takes back what it released and deferred: that fails with it, and what the
/// release emitted is dropped; a panic in the midst of a release does the same.
#[test]
fn rule_4_4_a_failed_call_takes_its_tickets_along() {
    each_seed(300, |seed| {
        let log = Log::default();
        let config = settings(1 + (seed % 3) as u32, |c| c.attempts = 20);
        let topology = through(&log, config, 30, move |l, cx| {
            let kept = Kept::default();
            let held = Arc::clone(&kept);
            let mut times = HashMap::<u64, u64>::new();
            Node::new(l, 1, cx, move |item, out| {
                let times = times.entry(item.root).or_default();
                *times += 1;
                let mut kept = kept.lock().unwrap();
                let bad = item.key % 5 == 3 && *times == 1;
                let mine = out.defer();
                if bad {
                    // Never emitted: the call fails.
                    let mark = |item: &Item| Item { path: 99, ..*item };
                    out.emit(mark(item));
                    for (item, _, ticket) in kept.drain(..) {
                        out.release_with(ticket, |out| out.emit(mark(&item)));
                    }
                    if item.key % 2 == 0 {
                        return Err("bad luck".into());
                    }
                    drop(kept);
                    out.release_with(mine, |_| panic!("boom"));
                    return Ok(());
                }
                kept.push((*item, out.epoch(), mine));
                Ok(())
            })
            .on_flush(move |_, _, out| {
                for (item, _, ticket) in held.lock().unwrap().drain(..) {
                    out.release_with(ticket, |out| out.emit(item));
                }
            })
        });
        let mut net = Net::new(&topology, seed, &log);
        net.odds().delay = seed % 3 * MS;
        let out = net.run();
        assert_eq!(one_verdict_each(&out), (60, 0));
        ledger(&topology, &out);
        assert!(log.seen(2).iter().all(|seen| seen.item.path == 0));
        let mut items = log.items(2);
        items.dedup();
        assert_eq!((items.len(), log.seen(2).len()), (60, 60));
        assert!(replayed(&out) >= 12);
    });
}

#[test]
fn rule_4_5_an_open_ticket_is_touched() {
    each_seed(50, |seed| {
        let log = Log::default();
        let config = settings(1 + (seed % 3) as u32, |_| {});
        // The time-out is 100 ms.
        let topology = through(&log, config, 10, |l, cx| waiter(l, cx, 2 * SEC, Some(3)));
        let out = Net::new(&topology, seed, &log).run();
        assert_eq!((one_verdict_each(&out), replayed(&out)), ((20, 0), 0));
        assert!(out.end > 2 * SEC);
    });
}

/// A ticket that is dropped fails its root by name, so long after the flush that left it open.
#[test]
fn rule_4_5_a_ticket_left_open_by_a_flush_expires() {
    each_seed(100, |seed| {
        let log = Log::default();
        let config = settings(1 + (seed % 3) as u32, |c| {
            c.guarantee = guarantee(seed);
            c.ticket_limit = Duration::from_millis(700);
            c.attempts = 2;
            c.stall_after = Duration::from_millis(300);
        });
        let topology = through(&log, config, 10, |l, cx| {
            Node::new(l, 1, cx, |item, out| {
                if item.key == 3 {
                    drop(out.defer());
                }
                Ok(())
            })
        });
        let out = Net::new(&topology, seed, &log).run();
        assert_eq!(out.error, None);
        ledger(&topology, &out);
        let why = |reason: &Reason| matches!(reason, Reason::TicketExpired { component, limit, .. } if component == "holder" && *limit == Duration::from_millis(700));
        let stall = out.stalls.first().expect("a stall report");
        assert_eq!((stall.hold, stall.component.as_str()), (Hold::Ticket, "holder"), "{stall}");
        assert!(stall.task.is_some());
        if guarantee(seed) == Guarantee::AtMostOnce {
            let reasons: Vec<_> = out.figures.iter().flat_map(|f| &f.failures).collect();
            assert_eq!(reasons.len(), 2);
            assert!(reasons.iter().all(|reason| why(reason)));
            assert!((700 * MS..800 * MS).contains(&out.end), "{}", out.end);
            return;
        }
        assert_eq!(one_verdict_each(&out), (18, 2));
        assert!(out.letters.iter().all(|(_, letter)| why(&letter.reason)));
        assert!((1400 * MS..1600 * MS).contains(&out.end), "{}", out.end);
    });
}

/// Misuse is an error by name, never silent.
#[test]
fn rule_4_4_misuse_is_named() {
    type Work = fn(&Arc<Mutex<Option<Ticket>>>, &mut To<'_>);
    let run = |work: Work, flush: Work| -> Outcome {
        let log = Log::default();
        let config = settings(1, |c| {
            c.attempts = 1;
            c.restarts = 0;
            c.ticket_limit = Duration::from_millis(50);
        });
        // One for all tasks: a ticket can come to another task than its own.
        let kept = Arc::new(Mutex::new(None));
        let topology = through(&log, config, 2, move |l, cx| {
            let (kept, held) = (Arc::clone(&kept), Arc::clone(&kept));
            let result = |out: &mut To<'_>| -> Result<(), BoxError> {
                let _ = out;
                Ok(())
            };
            Node::new(l, 1, cx, move |_, out| {
                work(&kept, out);
                result(out)
            })
            .on_flush(move |_, _, out| flush(&held, out))
        });
        Net::new(&topology, 1, &log).run()
    };
    let nothing: Work = |_, _| {};
    let reasons = |out: &Outcome| -> Vec<String> {
        out.letters.iter().map(|(_, letter)| letter.reason.to_string()).collect()
    };
    let out = run(
        |_, out| {
            let first = out.defer();
            let second = out.defer();
            out.release(first);
            out.release(second);
        },
        nothing,
    );
    assert_eq!(one_verdict_each(&out), (0, 4));
    assert!(reasons(&out).iter().all(|text| text.contains("twice for one tuple")));
    let out = run(nothing, |_, out| {
        let ticket = out.defer();
        out.release(ticket);
    });
    let text = out.error.unwrap().to_string();
    assert!(text.contains("flush of holder") && text.contains("no tuple"), "{text}");
    let out = run(
        |kept, out| {
            let mut kept = kept.lock().unwrap();
            match kept.take() {
                Some(ticket) => out.release(ticket),
                None => *kept = Some(out.defer()),
            }
        },
        nothing,
    );
    let texts = reasons(&out);
    let foreign = texts.iter().filter(|text| text.contains("another task")).count();
    let expired = texts.iter().filter(|text| text.contains("left a ticket open")).count();
    assert!(texts.len() == foreign + expired, "{texts:?}");
    let out = run(
        |_, out| {
            let ticket = out.defer();
            out.fail(ticket, "not wanted");
        },
        nothing,
    );
    assert!(reasons(&out).iter().all(|text| text.contains("not wanted")) && out.letters.len() == 4);
}

/// Exactly once: what a release emits could not be repeated.
#[test]
fn rule_4_4_no_release_emits_under_exactly_once() {
    let log = Log::default();
    let topology = through(&log, exactly(2, |_| {}), 10, |l, cx| holder(l, cx, true));
    let out = Net::new(&topology, 1, &log).run();
    let Some(RunError::Misplaced { call, component, .. }) = out.error else {
        panic!("{:?}", out.error);
    };
    assert_eq!((call, component.as_str()), ("flush", "holder"));
}
