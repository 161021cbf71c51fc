//! Rules 4.4 and 4.5: tickets that fail, expire, or are misused.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use streamwright::core::Hold;
use streamwright::{BoxError, Grouping, Guarantee, Reason, RunError, Ticket, Topology};

use crate::dice::each_seed;
use crate::net::{MS, Net, Outcome, SEC};
use crate::parts::{Item, Items, Log, Node, Source, settings};
use crate::rule_1::{ledger, one_verdict_each, replayed};
use crate::rule_6::exactly;
use crate::tickets::{Kept, To, guarantee, holder, through, waiter};

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

/// A panic in what a release calls fails the ticket with the call, at once: nothing of either is
/// emitted, and the tuples after it are of their own epoch.
#[test]
fn rule_4_4_a_panic_within_a_release_fails_its_ticket() {
    let (mut panics, total) = (0, 60);
    each_seed(100, |seed| {
        let log = Log::default();
        let bad = Arc::new(Mutex::new(0));
        let config = settings(1 + (seed % 3) as u32, |c| {
            c.guarantee = guarantee(seed);
            c.attempts = 1;
            c.timeout = Duration::from_secs(60);
            c.ticket_limit = Duration::from_secs(60);
            c.epoch = streamwright::EpochEnd::Records(4);
        });
        let b = Arc::clone(&bad);
        let topology = through(&log, config, total / 2, move |l, cx| {
            let kept = Kept::default();
            let (held, bad) = (Arc::clone(&kept), Arc::clone(&b));
            let mut calls = seed;
            Node::new(l, 1, cx, move |item, out| {
                calls += 1;
                if calls % 3 != 0 {
                    kept.lock().unwrap().push((*item, out.epoch(), out.defer()));
                    return Ok(());
                }
                out.emit(*item);
                let one = kept.lock().unwrap().pop();
                if let Some((item, _, ticket)) = one {
                    out.release_with(ticket, |out| {
                        out.emit(item);
                        if calls % 2 == 0 {
                            *bad.lock().unwrap() += 1;
                            panic!("boom");
                        }
                    });
                }
                Ok(())
            })
            .on_flush(move |epoch, _, out| {
                let mut kept = held.lock().unwrap();
                let (now, later) = kept.drain(..).partition(|(_, of, _)| *of <= epoch);
                *kept = later;
                for (item, _, ticket) in Vec::<(Item, u64, Ticket)>::into_iter(now) {
                    out.release_with(ticket, |out| out.emit(item));
                }
            })
        });
        let out = Net::new(&topology, seed, &log).run();
        assert_eq!(out.error, None);
        ledger(&topology, &out);
        let bad = *bad.lock().unwrap();
        panics += bad;
        // The tuple of each ticket, and that of the call.
        let good = total - 2 * bad;
        let mut items = log.items(2);
        items.dedup();
        assert_eq!((items.len() as u64, log.seen(2).len() as u64), (good, good));
        let epochs: HashMap<Item, u64> =
            log.seen(1).iter().map(|seen| (seen.item, seen.epoch)).collect();
        assert!(log.seen(2).iter().all(|seen| epochs[&seen.item] == seen.epoch));
        let told: u64 = out.figures.iter().flat_map(|f| &f.tasks).map(|task| task.failed).sum();
        assert!(out.end < 10 * SEC, "it waited for the time-out: {}", out.end);
        if guarantee(seed) == Guarantee::AtMostOnce {
            assert_eq!(told, 2 * bad);
            return;
        }
        assert_eq!((one_verdict_each(&out), replayed(&out)), ((good, 2 * bad), 0));
        assert!(out.letters.iter().all(|(_, l)| l.reason.to_string().contains("boom")));
    });
    assert!(panics > 100, "{panics}");
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

/// Exactly once: a bolt without state emits as it takes a tuple in, and is not done with it. What it
/// emitted fails further on: the second attempt is not taken for a repeat of the first, though that
/// one's ticket is open.
#[test]
fn rule_4_4_a_bolt_without_state_emits_again_while_its_ticket_is_open() {
    each_seed(100, |seed| {
        let log = Log::default();
        let mut builder = Topology::builder();
        let l = log.clone();
        let source = builder.spout("source", 2, move |cx| Source::count(&l, 0, cx, 20, 1 << 40));
        let l = log.clone();
        let passed = builder
            .bolt("pass", 2, move |cx| {
                let kept = Kept::default();
                let held = Arc::clone(&kept);
                Ok(Node::new(&l, 1, cx, move |item, out| {
                    out.emit(*item);
                    kept.lock().unwrap().push((*item, out.epoch(), out.defer()));
                    out.wake_at(out.now() + 40 * MS);
                    Ok(())
                })
                .on_timer(move |_, out| {
                    held.lock().unwrap().drain(..).for_each(|(.., ticket)| out.release(ticket));
                }))
            })
            .input(source, Grouping::shuffle())
            .done();
        let l = log.clone();
        let counted = Arc::new(Mutex::new(HashMap::<u64, u64>::new()));
        let c = Arc::clone(&counted);
        let _ = builder
            .bolt("state", 2, move |cx| {
                let (counted, mut met) = (Arc::clone(&c), HashMap::<u64, u64>::new());
                Ok(Node::new(&l, 2, cx, move |item, _| {
                    let met = met.entry(item.root).or_default();
                    *met += 1;
                    if *met <= item.root % 3 {
                        return Err("not yet".into());
                    }
                    *counted.lock().unwrap().entry(item.root).or_default() += 1;
                    Ok(())
                }))
            })
            .input(passed, Grouping::<Items>::fields(|item| item.key))
            .done();
        let config = exactly(1 + (seed % 3) as u32, |c| c.seed = seed);
        let topology = builder.build(config).unwrap();
        let out = Net::new(&topology, seed, &log).run();
        assert_eq!(one_verdict_each(&out), (40, 0));
        let counted = counted.lock().unwrap();
        assert!(counted.len() == 40 && counted.values().all(|&n| n == 1), "{counted:?}");
    });
}
