//! Rule 8: crashes, and the incarnations after them.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use streamwright::core::{Body, In, Now, Order, Word, Worker};
use streamwright::{
    BoxError, Config, Grouping, Guarantee, Poll, RunError, Seek, Spout, SpoutEmitter, TaskContext,
    Timeliness, Topology,
};

use crate::dice::{Dice, each_seed};
use crate::net::{MS, Net, Outcome};
use crate::parts::{Item, Items, Log, Node, settings};

/// `count` records, each at a time of its own; it can go back.
struct Tape {
    log: Log,
    task: u32,
    at: u64,
    count: u64,
    /// Behind all that any instance of this task has emitted.
    end: Arc<AtomicU64>,
    /// Late records of all instances.
    late: Arc<AtomicU64>,
}

impl Spout for Tape {
    type Out = Items;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Items>) -> Result<Poll, BoxError> {
        if self.at == self.count {
            return Ok(Poll::End);
        }
        let time = i64::try_from(self.at)?;
        self.late.fetch_add(u64::from(out.stamp(time) == Timeliness::Late), Relaxed);
        let root = (u64::from(self.task) << 32) + self.at;
        out.emit(Item { root, key: self.at % 7, path: 0 });
        out.watermark(time + 1);
        self.log.stamp(0, self.task, out.epoch(), out.now());
        self.at += 1;
        self.end.fetch_max(self.at, Relaxed);
        Ok(Poll::More)
    }

    fn position(&self) -> Option<Vec<u8>> {
        Some(self.at.to_le_bytes().to_vec())
    }

    fn seek(&mut self, to: Seek<'_>) -> Result<(), BoxError> {
        self.at = match to {
            Seek::To(position) => u64::from_le_bytes(position.try_into()?),
            _ => self.end.load(Relaxed),
        };
        Ok(())
    }
}

const COUNT: u64 = 15;

/// A tape of two tasks → three tasks that double → two tasks by key. What the doubling bolt does
/// as it closes is said by `close`.
struct Line {
    log: Log,
    topology: Topology,
    late: Arc<AtomicU64>,
}

fn line(
    config: Config,
    close: impl Fn(u64, &TaskContext) -> bool + Clone + Send + Sync + 'static,
) -> Line {
    let log = Log::default();
    let mut builder = Topology::builder();
    let (l, late) = (log.clone(), Arc::new(AtomicU64::new(0)));
    let (ends, lates) = ([Arc::default(), Arc::default()], late.clone());
    let source = builder.spout("source", 2, move |cx| {
        let end = Arc::clone(&ends[cx.index() as usize]);
        let (log, late) = (l.clone(), lates.clone());
        Ok(Tape { log, task: cx.index(), at: 0, count: COUNT, end, late })
    });
    let l = log.clone();
    let twice = builder
        .bolt("twice", 3, move |cx| {
            let (close, cx2) = (close.clone(), cx.clone());
            Ok(Node::pass(&l, 1, cx, 2)?.on_close(move |epoch, _, _| {
                assert!(!close(epoch, &cx2), "as told");
            }))
        })
        .input(source, Grouping::shuffle())
        .done();
    let l = log.clone();
    let _ = builder
        .bolt("sink", 2, move |cx| Node::sink(&l, 2, cx))
        .input(twice, Grouping::<Items>::fields(|item| item.key))
        .done();
    Line { log, topology: builder.build(config).unwrap(), late }
}

fn steady(seed: u64, change: impl FnOnce(&mut Config)) -> Line {
    let config = settings(2, |c| {
        c.seed = seed;
        c.restarts = 1000;
        change(c);
    });
    line(config, |_, _| false)
}

/// What arrived to stay at a node: of each incarnation that died the epochs that it closed
/// everywhere, of the last one all. By root.
fn settled(line: &Line, out: &Outcome, node: u32) -> HashMap<u64, u64> {
    let mut roots = HashMap::new();
    for seen in line.log.seen(node) {
        if out.crashes.get(seen.life).is_none_or(|crash| seen.epoch < crash.resumed) {
            *roots.entry(seen.item.root).or_default() += 1;
        }
    }
    roots
}

/// Each record has come exactly as often as without a crash; every root of the incarnation that
/// ended the run has one verdict.
fn whole(line: &Line, out: &Outcome) {
    assert_eq!(out.error, None);
    for (node, times) in [(1, 1), (2, 2)] {
        let roots = settled(line, out, node);
        assert_eq!(roots.len() as u64, 2 * COUNT, "{:?}", out.crashes);
        assert!(roots.values().all(|&n| n == times), "{roots:?} {:?}", out.crashes);
    }
    let tasks: Vec<_> = out.figures.iter().flat_map(|f| &f.tasks).collect();
    let spouts = || tasks.iter().filter(|t| t.component == "source");
    let records: u64 = spouts().map(|t| t.records).sum();
    assert_eq!(records, spouts().map(|t| t.acked + t.failed).sum::<u64>());
    assert!(out.figures.iter().all(|f| f.unfinished.is_empty()) && out.letters.is_empty());
    let past = out.past.iter().flatten().flat_map(|f| &f.tasks).map(|t| t.records);
    assert!(out.records <= records + past.sum::<u64>(), "what was not reported is not counted");
    assert_eq!(line.late.load(Relaxed), 0, "a record in time was taken for late");
    let mut base = 0;
    for (incarnation, crash) in (7..).zip(&out.crashes) {
        assert_eq!((crash.incarnation, crash.lost.clone()), (incarnation, base..crash.resumed));
        base = crash.resumed;
    }
}

fn steps_of(seed: u64) -> u64 {
    let line = steady(seed, |_| {});
    Net::new(&line.topology, seed, &line.log).run().done
}

#[test]
fn rule_8_3_a_crash_at_every_step_forgets_and_doubles_nothing() {
    each_seed(2, |seed| {
        let mut lost = 0;
        for step in 0..steps_of(seed) {
            for worker in 0..2 {
                let line = steady(seed, |_| {});
                let net = Net::new(&line.topology, seed, &line.log);
                let out = net.run_through(&line.topology, &[(step, worker)]);
                assert_eq!(out.crashes.len(), 1);
                whole(&line, &out);
                lost += out.crashes[0].lost.end;
            }
        }
        assert!(lost > 0, "no crash after an epoch was closed");
    });
}

/// E29: a crash while the one before is recovered from, at every step of that.
#[test]
fn rule_8_3_two_crashes_are_as_one() {
    let mut both = 0;
    each_seed(2, |seed| {
        let steps = steps_of(seed);
        for first in (0..steps).step_by(11) {
            for second in first + 1..first + 60 {
                let line = steady(seed, |_| {});
                let net = Net::new(&line.topology, seed, &line.log);
                let out = net.run_through(&line.topology, &[(first, 0), (second, 1)]);
                assert!(!out.crashes.is_empty());
                both += u64::from(out.crashes.len() == 2);
                whole(&line, &out);
            }
        }
    });
    assert!(both > 1000, "{both}");
}

/// Whatever is on its way in a crash comes after it: batches, acks, inits, verdicts, words,
/// reports. Many crashes, in any order of messages.
#[test]
fn rule_1_2_what_comes_of_an_old_incarnation_is_dropped() {
    let mut dropped = 0;
    each_seed(300, |seed| {
        let line = steady(seed, |_| {});
        let mut net = Net::new(&line.topology, seed, &line.log);
        let odds = net.odds();
        (odds.stale_mail, odds.delay, odds.reorder) = (700_000, 3 * MS, true);
        let mut dice = Dice::new(seed);
        let mut at = 0;
        let crashes: Vec<(u64, u32)> = (0..dice.from(1, 5))
            .map(|_| {
                at += dice.from(1, 90);
                (at, dice.below(2) as u32)
            })
            .collect();
        let out = net.run_through(&line.topology, &crashes);
        whole(&line, &out);
        dropped += out.repeats;
    });
    assert!(dropped > 1000, "{dropped}");
}

#[test]
fn rule_1_2_a_worker_that_hears_of_a_later_incarnation_stops() {
    let line = steady(0, |_| {});
    let news = |incarnation| {
        [
            In::Word(Order { incarnation, word: Word::ClosedBelow(0) }),
            In::Message(streamwright::core::Message {
                from: 1,
                number: 0,
                incarnation,
                body: Body::Acks(Vec::new()),
            }),
        ]
    };
    for (incarnation, stopped) in [(6, false), (7, false), (8, true)] {
        for input in news(incarnation) {
            let waker = std::task::Waker::noop().clone();
            let mut worker = Worker::new(&line.topology, 0, 7, waker);
            let mut wire = crate::wire::Wire::new(&line.topology, 0, &line.log);
            let hands = &mut crate::wire::Hands(&mut wire, 0);
            let status = worker.step(Now::default(), input, hands).unwrap();
            assert_eq!(status.stopped, stopped, "7 hears {incarnation}");
            let status = worker.step(Now::default(), In::Run, hands).unwrap();
            assert_eq!(status.stopped, stopped, "it stays so");
        }
    }
}

/// With losses and repeats beside the crashes: at least once.
#[test]
fn rule_8_3_nothing_undelivered_is_forgotten_under_loss() {
    each_seed(200, |seed| {
        let line = steady(seed, |c| c.attempts = 60);
        let mut net = Net::new(&line.topology, seed, &line.log);
        let odds = net.odds();
        (odds.lose_batches, odds.lose_acks, odds.repeat_batches) = (60_000, 60_000, 100_000);
        (odds.repeat_messages, odds.stale_mail, odds.reorder) = (100_000, 500_000, true);
        let mut dice = Dice::new(seed ^ 5);
        let first = dice.below(200);
        let crashes = [(first, 0), (first + dice.from(1, 200), 1)];
        let out = net.run_through(&line.topology, &crashes);
        assert_eq!(out.error, None);
        for (node, times) in [(1, 1), (2, 2)] {
            let roots = settled(&line, &out, node);
            assert_eq!(roots.len() as u64, 2 * COUNT);
            assert!(roots.values().all(|&n| n >= times));
        }
    });
}

#[test]
fn rule_8_3_at_most_once_does_not_seek_back() {
    each_seed(3, |seed| {
        let mut missing = 0;
        for step in 0..steps_of(seed) {
            let line = steady(seed, |c| c.guarantee = Guarantee::AtMostOnce);
            let net = Net::new(&line.topology, seed, &line.log);
            let out = net.run_through(&line.topology, &[(step, 0), (step + 7, 1)]);
            assert_eq!(out.error, None);
            let roots = line.log.roots(1);
            assert!(roots.values().all(|&n| n == 1), "twice, with a crash at {step}");
            assert!(line.log.roots(2).values().all(|&n| n <= 2));
            missing += 2 * COUNT - roots.len() as u64;
        }
        assert!(missing > 0, "what was under way is lost");
    });
}

#[test]
fn rule_8_3_a_spout_that_cannot_go_back_ends_the_run_with_the_cause() {
    let log = Log::default();
    let topology = crate::rule_1::line(&log, settings(2, |_| {}), 20);
    for (step, ends) in [(0, false), (150, true)] {
        let out = Net::new(&topology, 1, &Log::default()).run_through(&topology, &[(step, 1)]);
        let message = "a crash of the test; no new incarnation, since source[0] gives no `position` to \
                       go back to";
        let cause = RunError::Crashed { worker: 1, message: message.to_owned() };
        // Before anything can have been emitted there is nothing to go back to.
        assert_eq!(out.error, ends.then_some(cause));
        assert_eq!(out.crashes.len(), usize::from(!ends));
    }
}

/// The spout's own error, and what it was to mend, are both named.
#[test]
fn rule_8_3_a_spout_that_fails_to_seek_ends_the_run_and_names_the_crash() {
    struct Fickle;
    impl Spout for Fickle {
        type Out = Items;
        fn next(&mut self, out: &mut SpoutEmitter<'_, Items>) -> Result<Poll, BoxError> {
            out.emit(Item::default());
            Ok(Poll::More)
        }
        fn position(&self) -> Option<Vec<u8>> {
            Some(Vec::new())
        }
    }
    let log = Log::default();
    let mut builder = Topology::builder();
    let source = builder.spout("fickle", 1, |_| Ok(Fickle));
    let l = log.clone();
    let sink = builder.bolt("sink", 1, move |cx| Node::sink(&l, 1, cx));
    let _ = sink.input(source, Grouping::shuffle()).done();
    let topology = builder.build(settings(1, |_| {})).unwrap();
    let out = Net::new(&topology, 1, &log).run_through(&topology, &[(80, 0)]);
    let error = out.error.unwrap().to_string();
    let message = "spout fickle[0] could not go on: this spout cannot go on after a crash \
                   (a new start after: worker 0 was lost: a crash of the test)";
    assert_eq!(error, message);
}

/// Rule 6: the same failure at the same epoch so many times stops the topology; one that passes
/// does not.
#[test]
fn rule_6_the_same_failure_at_the_same_epoch_stops_the_run() {
    each_seed(20, |seed| {
        for (fails, restarts) in [(0, 3), (1, 3), (3, 3), (4, 3), (9, 2), (1, 0)] {
            let config = settings(2, |c| (c.restarts, c.seed) = (restarts, seed));
            let line = line(config, move |epoch, cx| {
                epoch == 2 && cx.index() == 1 && cx.incarnation() < 7 + fails
            });
            let net = Net::new(&line.topology, seed, &line.log);
            let out = net.run_through(&line.topology, &[]);
            if fails <= u64::from(restarts) {
                assert_eq!(out.crashes.len() as u64, fails);
                whole(&line, &out);
            } else {
                assert_eq!(out.crashes.len() as u64, u64::from(restarts));
                let error = out.error.unwrap();
                assert!(matches!(
                    error,
                    RunError::Callback { call: "close", epoch: 2, task: 1, .. }
                ));
            }
            assert!(out.crashes.iter().all(|crash| crash.resumed <= 2));
        }
    });
}

/// Another epoch is another cause: a bolt that fails once an epoch gets through.
#[test]
fn rule_6_failures_at_other_epochs_count_for_themselves() {
    let failed = Arc::new(AtomicU64::new(0));
    let f = failed.clone();
    let config = settings(2, |c| c.restarts = 1);
    let line = line(config, move |epoch, cx| {
        cx.index() == 0 && f.compare_exchange(epoch, epoch + 1, Relaxed, Relaxed).is_ok()
    });
    let out = Net::new(&line.topology, 3, &line.log).run_through(&line.topology, &[]);
    whole(&line, &out);
    assert_eq!(out.crashes.len() as u64, failed.load(Relaxed));
    assert!(out.crashes.len() > 2);
}

#[test]
fn rule_9_2_a_watermark_never_falls_across_a_crash() {
    each_seed(2, |seed| {
        for step in 0..steps_of(seed) {
            let line = steady(seed, |_| {});
            let net = Net::new(&line.topology, seed, &line.log);
            let out = net.run_through(&line.topology, &[(step, 0)]);
            let resumed = out.crashes[0].resumed;
            let mut by_epoch = HashMap::new();
            for close in [1, 2].iter().flat_map(|&node| line.log.closes(node)) {
                // What was closed by some only is closed anew, after whatever comes there now.
                if close.life == 1 || close.epoch < resumed {
                    let mark = *by_epoch.entry(close.epoch).or_insert(close.mark);
                    assert_eq!(mark, close.mark, "one watermark an epoch");
                }
            }
            let mut marks: Vec<_> = by_epoch.into_iter().collect();
            marks.sort_unstable();
            assert!(marks.is_sorted_by_key(|&(_, mark)| mark), "{marks:?} resumed at {resumed}");
            assert_eq!(line.late.load(Relaxed), 0);
        }
    });
}

/// A drain holds for the incarnations after it: what was emitted before the crash, as far as it
/// was told, is emitted again and finished; nothing else is, and the run ends.
#[test]
fn rule_8_3_a_drain_outlives_a_crash() {
    let (mut after, mut cut) = (0, 0);
    each_seed(200, |seed| {
        let line = steady(seed, |_| {});
        let mut net = Net::new(&line.topology, seed, &line.log);
        let drain_at = MS / 10 + (seed % 20) * (MS / 25);
        net.drain_at = Some(drain_at);
        let crash = 30 + seed;
        let out = net.run_through(&line.topology, &[(crash, 0)]);
        assert_eq!(out.error, None);
        assert!(out.figures.iter().all(|f| f.unfinished.is_empty()));
        let roots = settled(&line, &out, 2);
        assert!(roots.values().all(|&n| n == 2));
        cut += u64::from((roots.len() as u64) < 2 * COUNT);
        let Some(crash) = out.crashes.first() else { return };
        assert!(roots.len() as u64 >= out.told[0], "{} of {:?}", roots.len(), out.told);
        if crash.at.as_nanos() > u128::from(drain_at) {
            after += 1;
            assert_eq!(roots.len() as u64, out.told[0], "something new");
        }
    });
    assert!(after > 20 && cut > 20, "{after} {cut}");
}

/// Exactly once, losses and crashes together: each record counts once, in the state of the
/// incarnation that closed its epoch or of the last one.
#[test]
fn rule_8_3_exactly_once_each_record_counts_once_across_crashes() {
    each_seed(200, |seed| {
        let line = steady(seed, |c| {
            (c.guarantee, c.attempts) = (Guarantee::ExactlyOnce, 60);
        });
        let mut net = Net::new(&line.topology, seed, &line.log);
        let odds = net.odds();
        (odds.lose_batches, odds.lose_acks, odds.repeat_batches) = (60_000, 60_000, 100_000);
        (odds.stale_mail, odds.reorder) = (500_000, true);
        let mut dice = Dice::new(seed ^ 9);
        let first = dice.below(200);
        let crashes = [(first, 0), (first + dice.from(1, 200), 1)];
        let out = net.run_through(&line.topology, &crashes);
        assert_eq!(out.error, None);
        let roots = settled(&line, &out, 2);
        assert_eq!(roots.len() as u64, 2 * COUNT);
        assert!(roots.values().all(|&n| n == 2), "{roots:?}");
    });
}

/// The first epoch after a crash ends by its records, and its spouts wait for verdicts that only a
/// timer gives: it has to fire in that epoch.
#[test]
fn trace_timer_in_the_first_epoch_after_a_crash() {
    let mut resumed = 0;
    each_seed(60, |seed| {
        let log = Log::default();
        let mut builder = Topology::builder();
        let (l, ends) = (log.clone(), [Arc::default(), Arc::default()]);
        let source = builder.spout("source", 2, move |cx| {
            let end = Arc::clone(&ends[cx.index() as usize]);
            Ok(Tape {
                log: l.clone(),
                task: cx.index(),
                at: 0,
                count: 30,
                end,
                late: Arc::default(),
            })
        });
        let l = log.clone();
        let _ = builder
            .bolt("waiter", 1, move |cx| Ok(crate::tickets::waiter(&l, cx, 5 * MS, None)))
            .input(source, Grouping::shuffle())
            .done();
        let config = settings(2, |c| {
            c.max_pending = 2;
            c.epoch = streamwright::EpochEnd::Records(10);
        });
        let topology = builder.build(config).unwrap();
        let net = Net::new(&topology, seed, &log);
        let out = net.run_through(&topology, &[(100 + seed * 10, (seed % 2) as u32)]);
        assert_eq!(out.error, None);
        let tasks = out.figures.iter().flat_map(|f| &f.tasks).filter(|t| t.component == "source");
        assert!(tasks.clone().all(|task| task.acked == task.records));
        assert!(out.end < 2_000 * MS, "{}", out.end);
        resumed += u64::from(out.crashes.iter().any(|crash| crash.resumed > 0));
    });
    assert!(resumed > 10, "{resumed} crashes after an epoch was closed");
}
