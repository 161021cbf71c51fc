//! Rule 4: roots, attempts, acks, replay, dead letters, touches.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use streamwright::{Config, Grouping, Poll, Reason, Topology};

use crate::dice::each_seed;
use crate::net::{MS, Net, Outcome, SEC};
use crate::parts::{Item, Items, Log, Node, Source, settings};
use crate::rule_1::{line, one_verdict_each, replayed};

/// Spout "a" (worker 0) of `count` records → bolt "b" (worker 1 of 2), which does `work`.
fn pair(
    log: &Log,
    config: Config,
    count: u64,
    work: impl Fn(&Log, &Item, &mut streamwright::Emitter<'_, Items>) -> Result<(), String>
    + Clone
    + Send
    + Sync
    + 'static,
) -> Topology {
    let mut builder = Topology::builder();
    let l = log.clone();
    let source = builder.spout("a", 1, move |cx| Source::count(&l, 0, cx, count, 1 << 40));
    let l = log.clone();
    let out = builder
        .bolt("b", 1, move |cx| {
            let (work, log) = (work.clone(), l.clone());
            Ok(Node::new(&l, 1, cx, move |item, out| Ok(work(&log, item, out)?)))
        })
        .input(source.clone(), Grouping::shuffle())
        .done();
    let l = log.clone();
    let _ = builder
        .bolt("c", 1, move |cx| Node::sink(&l, 2, cx))
        .input(out.clone(), Grouping::shuffle())
        .done();
    builder.build(config).unwrap()
}

fn attempts_of(log: &Log, node: u32, key: u64) -> Vec<u64> {
    log.seen(node).iter().filter(|s| s.item.key == key).map(|s| s.at).collect()
}

/// E12. Work slower than the time-out: the replay starts while the first attempt is on its way.
fn slow_item(seed: u64, log: &Log) -> Outcome {
    let config = settings(2, |c| {
        c.timeout = Duration::from_secs(1);
        c.attempts = 3;
        c.ackers = 1;
    });
    let topology = pair(log, config, 20, |log, item, _| {
        if item.key == 4 {
            log.spend(1500 * MS);
        }
        Ok(())
    });
    Net::new(&topology, seed, log).run()
}

#[test]
fn rule_4_1_attempts_never_touch() {
    each_seed(100, |seed| {
        let log = Log::default();
        let out = slow_item(seed, &log);
        let (acked, dead) = one_verdict_each(&out);
        assert_eq!(acked + dead, 20);
        // An ack of attempt 1 that comes while attempt 2 is under way ends neither early nor twice.
        let runs = attempts_of(&log, 1, 4).len();
        assert!((1..=3).contains(&runs), "{runs} executions");
        assert!(out.figures.iter().map(|f| f.acker.late).sum::<u64>() > 0 || runs == 1);
    });
}

#[test]
fn e12_slower_than_the_timeout_is_a_dead_letter_that_says_so() {
    each_seed(50, |seed| {
        let log = Log::default();
        let out = slow_item(seed, &log);
        for (_, letter) in &out.letters {
            assert_eq!(letter.attempts, 3);
            let text = letter.reason.to_string();
            assert!(matches!(*letter.reason, Reason::TimedOut { .. }), "{text}");
            assert!(text.contains("1s"), "{text}");
        }
        let slow = out.letters.iter().filter(|l| l.1.item::<Items>().unwrap()[0].key == 4);
        assert_eq!(slow.count(), 1);
    });
}

#[test]
fn rule_4_1_dead_letter_carries_item_reason_attempts() {
    each_seed(200, |seed| {
        let log = Log::default();
        let config = settings(1 + (seed % 2) as u32, |c| c.attempts = 3);
        let topology = pair(&log, config, 30, |_, item, _| match item.key {
            7 => Err("bad luck".to_owned()),
            8 => panic!("boom {}", item.key),
            _ => Ok(()),
        });
        let mut net = Net::new(&topology, seed, &log);
        net.odds().delay = MS;
        let out = net.run();
        assert_eq!(one_verdict_each(&out), (28, 2));
        assert_eq!(out.letters.len(), 2);
        for (_, letter) in &out.letters {
            assert_eq!((letter.component.as_str(), letter.task, letter.attempts), ("a", 0, 3));
            let item = letter.item::<Items>().unwrap();
            assert_eq!(item.len(), 1);
            let epoch = log.seen(1).iter().find(|s| s.item == item[0]).unwrap().epoch;
            assert_eq!(letter.epoch, epoch);
            let component = "b".to_owned();
            let wanted = match item[0].key {
                7 => Reason::Failed { component, task: 0, message: "bad luck".into() },
                _ => Reason::Panicked { component, task: 0, message: "boom 8".into() },
            };
            assert_eq!(*letter.reason, wanted);
        }
        for key in 0..30 {
            let times = if key == 7 || key == 8 { 3 } else { 1 };
            assert_eq!(attempts_of(&log, 1, key).len(), times);
        }
    });
}

#[test]
fn rule_4_1_retries_are_spaced_by_a_backoff_that_doubles_up_to_a_limit() {
    let log = Log::default();
    let config = settings(2, |c| {
        c.attempts = 6;
        c.backoff = Duration::from_millis(10);
        c.max_backoff = Duration::from_millis(40);
        c.timeout = Duration::from_secs(10);
    });
    let topology = pair(&log, config, 1, |_, _, _| Err("always".to_owned()));
    let mut net = Net::new(&topology, 9, &log);
    net.odds().delay = 0;
    let out = net.run();
    assert_eq!(one_verdict_each(&out), (0, 1));
    let at = attempts_of(&log, 1, 0);
    let waits: Vec<u64> = at.windows(2).map(|w| w[1] - w[0]).collect();
    for (wait, wanted) in waits.iter().zip([10, 20, 40, 40, 40]) {
        assert!((wanted * MS..(wanted + 2) * MS).contains(wait), "{waits:?}");
    }
    assert_eq!(waits.len(), 5);
}

/// The sum of a batch's consumed and produced ids goes in one update a root: no acker ever sees
/// the one without the other, so no root is done while a tuple of it is alive.
#[test]
fn rule_4_2_one_update_consumed_and_produced() {
    each_seed(500, |seed| {
        let log = Log::default();
        let config = settings(3, |c| c.timeout = Duration::from_secs(20));
        let topology = line(&log, config, 20);
        let mut net = Net::new(&topology, seed, &log);
        net.odds().reorder = true;
        net.odds().delay = 5 * MS;
        let out = net.run();
        assert_eq!(one_verdict_each(&out), (40, 0));
        assert_eq!(replayed(&out), 0);
        // One update a root and batch: at most an init, and one for each batch that it is part of.
        let updates: u64 = out.figures.iter().map(|f| f.acker.updates).sum();
        assert!(updates <= 40 + 40 + 80, "{updates} updates");
    });
}

/// One of four copies is lost: the root is not done by the others, and comes again.
#[test]
fn rule_4_2_all_grouping_copies_have_their_own_ids() {
    each_seed(300, |seed| {
        let log = Log::default();
        let mut builder = Topology::builder();
        let l = log.clone();
        let source = builder.spout("source", 1, move |cx| Source::count(&l, 0, cx, 20, 1 << 40));
        let l = log.clone();
        let _ = builder
            .bolt("sink", 4, move |cx| Node::sink(&l, 1, cx))
            .input(source, Grouping::all())
            .done();
        let workers = 1 + (seed % 4) as u32;
        let topology = builder.build(settings(workers, |c| c.attempts = 100)).unwrap();
        let mut net = Net::new(&topology, seed, &log);
        net.odds().lose_tuples = 100_000;
        let out = net.run();
        assert_eq!(one_verdict_each(&out), (20, 0));
        let seen = log.seen(1);
        for key in 0..20 {
            for task in 0..4 {
                assert!(seen.iter().any(|s| s.item.key == key && s.task == task));
            }
        }
    });
}

/// E14 as well: emit three, then fail. None of the three is seen, batch mates are done once.
#[test]
fn rule_4_3_error_and_panic_roll_back_and_fail_at_once() {
    each_seed(300, |seed| {
        let log = Log::default();
        let tried = Arc::new(Mutex::new(std::collections::HashSet::new()));
        let config = settings(1 + (seed % 2) as u32, |c| {
            c.batch = 1 + (seed % 8) as usize;
            c.timeout = Duration::from_secs(20);
        });
        let topology = pair(&log, config, 30, move |_, item, out| {
            out.emit(*item);
            if item.key % 3 > 0 && tried.lock().unwrap().insert(item.key) {
                out.emit(Item { path: 666, ..*item });
                out.emit(Item { path: 666, ..*item });
                match item.key % 3 {
                    1 => return Err("once".to_owned()),
                    _ => std::panic::panic_any(item.key),
                }
            }
            Ok(())
        });
        let out = Net::new(&topology, seed, &log).run();
        assert_eq!(one_verdict_each(&out), (30, 0));
        let at_c = log.items(2);
        assert_eq!(at_c.len(), 30, "each once, and nothing of the failed calls");
        assert!(at_c.iter().all(|item| item.path == 0));
        assert_eq!(log.items(1).len(), 50);
        assert_eq!(replayed(&out), 20);
        // At once: long before any time-out; the attempts keep their epoch.
        assert!(out.end < 2 * SEC);
        let seen = log.seen(1);
        for s in &seen {
            assert!(seen.iter().all(|t| t.item != s.item || t.epoch == s.epoch));
        }
    });
}

/// The items queue for many time-outs before a slow bolt: none is replayed.
#[test]
fn rule_4_5_touch_keeps_waiting_attempts_alive() {
    each_seed(30, |seed| {
        let log = Log::default();
        let config = settings(2, |c| {
            c.ackers = 1 + (seed % 2) as u32;
            c.max_pending = 100;
            // Steps of up to 40 ms: between two looks at its mail a worker may pass half the
            // time-out, and no more.
            c.batch = 1 + (seed % 2) as usize;
            c.queue = 1 + (seed % 30) as usize;
        });
        let topology = pair(&log, config, 60, |log, _, _| {
            log.spend(20 * MS);
            Ok(())
        });
        let mut net = Net::new(&topology, seed, &log);
        net.odds().delay = MS;
        net.prompt = true;
        let out = net.run();
        assert_eq!(one_verdict_each(&out), (60, 0));
        assert_eq!(replayed(&out), 0);
        assert!(out.end > 1200 * MS);
    });
}

/// A sender whose batches wait in its outbox, with nothing in any queue of its own, still says
/// that they are alive: its worker may not sleep through the time-out.
#[test]
fn rule_4_5_a_blocked_outbox_keeps_its_attempts_alive() {
    each_seed(30, |seed| {
        let log = Log::default();
        let config = settings(2, |c| {
            c.ackers = 1;
            c.batch = 1;
            c.queue = 1;
            c.max_pending = 8;
        });
        // By their names the bolt is on worker 0, as the acker is, and the spout on worker 1.
        let mut builder = Topology::builder();
        let l = log.clone();
        let source = builder.spout("b", 1, move |cx| Source::count(&l, 0, cx, 12, 1));
        let l = log.clone();
        let _ = builder
            .bolt("a", 1, move |cx| Node::sink(&l, 1, cx))
            .input(source, Grouping::shuffle())
            .done();
        let topology = builder.build(config).unwrap();
        let mut net = Net::new(&topology, seed, &log);
        net.hold_places(0, 1, SEC);
        let out = net.run();
        assert_eq!(one_verdict_each(&out), (12, 0));
        assert_eq!(replayed(&out), 0, "timed out in the outbox of a worker that slept");
    });
}

/// A record now and then, ten time-outs apart: the acker sleeps in between, and when it wakes for
/// the next root that root has its whole time, counted from now.
#[test]
fn rule_4_5_a_root_that_is_tracked_after_a_long_sleep_has_its_whole_time() {
    each_seed(100, |seed| {
        let log = Log::default();
        let config = settings(1 + (seed % 3) as u32, |c| c.ackers = c.workers);
        let mut builder = Topology::builder();
        let l = log.clone();
        let source = builder.spout("source", 1, move |cx| {
            let (mut sent, mut next) = (0, 0);
            Source::new(&l, 0, cx, move |out, _| {
                if sent == 6 {
                    return Poll::End;
                }
                if out.now() >= next {
                    out.emit(Item { root: sent, key: sent, path: 0 });
                    sent += 1;
                    next = out.now() + SEC;
                }
                Poll::Idle(Some(Duration::from_nanos(next - out.now())))
            })
        });
        let l = log.clone();
        let _ = builder
            .bolt("sink", 3, move |cx| Node::sink(&l, 1, cx))
            .input(source, Grouping::shuffle())
            .done();
        let topology = builder.build(config).unwrap();
        let mut net = Net::new(&topology, seed, &log);
        net.odds().delay = 5 * MS;
        let out = net.run();
        assert_eq!(one_verdict_each(&out), (6, 0));
        assert_eq!(replayed(&out), 0, "timed out from the last time the acker was awake");
    });
}

/// Updates, touches and fails of attempts that have ended, even of epochs that are closed, change
/// nothing and leave nothing.
#[test]
fn rule_4_7_late_messages_are_counted_and_dropped() {
    let mut late = 0;
    each_seed(150, |seed| {
        let log = Log::default();
        let config = settings(3, |c| {
            c.timeout = Duration::from_millis(20);
            c.attempts = 50;
            c.window = 1 + (seed % 3) as u32;
        });
        let topology = line(&log, config, 20);
        let mut net = Net::new(&topology, seed, &log);
        net.odds().reorder = true;
        // Ways longer than the time-out: most verdicts are time-outs, most acks come late.
        net.odds().delay = 25 * MS;
        let out = net.run();
        let (acked, dead) = one_verdict_each(&out);
        assert_eq!((acked + dead, dead), (40, out.letters.len() as u64));
        late += out.figures.iter().map(|f| f.acker.late).sum::<u64>();
    });
    assert!(late > 0);
}
