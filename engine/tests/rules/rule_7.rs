//! Rule 7: queues, turns, partial batches, large records.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use streamwright::{
    BoxError, EpochEnd, Grouping, Guarantee, Poll, Push, Reason, Spout, SpoutEmitter, Text,
    Topology, TopologyBuilder,
};

use crate::dice::each_seed;
use crate::net::{MS, Net, SEC};
use crate::parts::{Item, Items, Log, Node, Source, settings};
use crate::rule_1::one_verdict_each;

fn stream(builder: &mut TopologyBuilder, log: &Log, names: [&str; 2], nodes: [u32; 2], count: u64) {
    let l = log.clone();
    let source =
        builder.spout(names[0], 1, move |cx| Source::count(&l, nodes[0], cx, count, 1 << 40));
    let l = log.clone();
    let _ = builder
        .bolt(names[1], 1, move |cx| Node::sink(&l, nodes[1], cx))
        .input(source, Grouping::shuffle())
        .done();
}

/// E6 (a): one slow consumer on a worker; an unrelated stream over the same two workers goes on.
#[test]
fn rule_7_1_one_slow_consumer_does_not_stop_others() {
    each_seed(20, |seed| {
        let log = Log::default();
        let mut builder = Topology::builder();
        // By names: sources on worker 0, sinks on worker 1.
        stream(&mut builder, &log, ["a", "b"], [0, 1], 100);
        stream(&mut builder, &log, ["c", "d"], [2, 3], 2000);
        let config = settings(2, |c| {
            c.guarantee = Guarantee::AtMostOnce;
            c.queue = 1;
            c.epoch = EpochEnd::Every(Duration::from_secs(100));
        });
        let topology = builder.build(config).unwrap();
        let slow = topology.plan().components.iter().position(|c| c.name == "b").unwrap();
        let mut net = Net::new(&topology, seed, &log);
        net.odds().delay = 10_000;
        net.hold_places(1, slow as u32, SEC);
        let out = net.run();
        assert_eq!(out.error, None);
        let fast = log.seen(3);
        assert_eq!((fast.len(), log.seen(1).len()), (2000, 100));
        assert!(fast.iter().all(|s| s.at < 900 * MS), "held up by another's full queue");
    });
}

/// E4: a quarter of a million tuples out of one execute (then out of `close`, of `flush` and of a timer) into a
/// queue of one batch: nothing is lost, the outbox is overfilled by that one call alone.
#[test]
fn rule_7_1_one_call_may_overfill_and_only_it() {
    for (from, burst) in
        [("execute", 250_000), ("close", 20_000), ("flush", 20_000), ("timer", 20_000)]
    {
        let log = Log::default();
        let mut builder = Topology::builder();
        let l = log.clone();
        let source = builder.spout("a", 1, move |cx| Source::count(&l, 0, cx, 8, 1));
        let l = log.clone();
        let got = Arc::new(Mutex::new(0_u64));
        let out = builder
            .bolt("b", 4, move |cx| {
                let emit = move |out: &mut streamwright::Emitter<'_, Items>| {
                    (0..burst).for_each(|key| out.emit(Item { root: 0, key, path: 0 }));
                };
                let mut calls = 0;
                let mut flushed = false;
                Ok(Node::new(&l, 1, cx, move |_, out| {
                    calls += 1;
                    if from == "execute" && calls == 1 {
                        emit(out);
                    }
                    if from == "timer" && calls == 1 {
                        out.wake_at(out.now());
                    }
                    Ok(())
                })
                .on_close(move |epoch, _, out| {
                    if from == "close" && epoch == 0 {
                        emit(out);
                    }
                })
                .on_flush(move |_, _, out| {
                    if from == "flush" && !std::mem::replace(&mut flushed, true) {
                        emit(out);
                    }
                })
                .on_timer(move |_, out| emit(out)))
            })
            .input(source, Grouping::shuffle())
            .done();
        let l = log.clone();
        let g = got.clone();
        let _ = builder
            .bolt("c", 1, move |cx| {
                let g = g.clone();
                Ok(Node::new(&l, 2, cx, move |_, _| {
                    *g.lock().unwrap() += 1;
                    Ok(())
                }))
            })
            .input(out, Grouping::shuffle())
            .done();
        let config = settings(1, |c| {
            c.guarantee = Guarantee::AtMostOnce;
            c.queue = 1;
            c.batch = 100;
            c.epoch = EpochEnd::Every(Duration::from_secs(100));
        });
        let topology = builder.build(config).unwrap();
        let out = Net::new(&topology, 1, &log).run();
        assert_eq!(out.error, None);
        // The run ends before the later timers come: those of the first task, then.
        let calls = if from == "timer" { 1..5 } else { 4..5 };
        assert!(calls.contains(&(*got.lock().unwrap() / burst)), "{from}");
        assert_eq!(*got.lock().unwrap() % burst, 0, "{from}: something was lost");
        // One call's output, one batch that was being filled, and what the limit allows.
        let peak = out.figures[0].outbox_peak as u64;
        assert!(peak >= burst / 100 - 1, "{from}: the peak is not shown: {peak}");
        assert!(peak <= burst / 100 + 3, "{from}: {peak} batches: more than one call's");
    }
}

/// E6 (b): the worker's sink never runs dry, for three others feed it; its spout still has turns,
/// and verdicts and control come through.
#[test]
fn rule_7_2_turns_prevent_starvation() {
    each_seed(10, |seed| {
        let log = Log::default();
        let mut builder = Topology::builder();
        let l = log.clone();
        // By names: "a" has one task a worker; "b" and "c" are on worker 0, "d" is on worker 1.
        let many = builder.spout("a", 4, move |cx| Source::count(&l, 0, cx, 1000, 1));
        let l = log.clone();
        let few = builder.spout("c", 1, move |cx| Source::count(&l, 1, cx, 40, 1));
        let l = log.clone();
        let _ = builder
            .bolt("b", 1, move |cx| Node::sink(&l, 2, cx))
            .input(many, Grouping::shuffle())
            .done();
        let l = log.clone();
        let _ = builder
            .bolt("d", 1, move |cx| Node::sink(&l, 3, cx))
            .input(few, Grouping::shuffle())
            .done();
        let config = settings(4, |c| {
            c.epoch = EpochEnd::Every(Duration::from_millis(50));
            c.timeout = Duration::from_secs(100);
            c.max_pending = 1000;
        });
        let topology = builder.build(config).unwrap();
        let plan = topology.plan();
        let sink = plan.components.iter().find(|c| c.name == "b").unwrap().first_task;
        let spout = plan.components.iter().find(|c| c.name == "c").unwrap().first_task;
        let table = plan.tables.at(0);
        let home = table.workers[sink as usize];
        assert_eq!(table.workers[spout as usize], home + 1, "the test assumes a placement");
        let mut net = Net::new(&topology, seed, &log);
        net.odds().delay = 10_000;
        net.cost(move |task, tuples| if task == sink { MS / 10 * tuples } else { 100 * tuples });
        let out = net.run();
        assert_eq!(one_verdict_each(&out), (4040, 0));
        let stamps = log.stamps();
        let mine = (0..4).find(|&t| table.workers[t as usize] == home).unwrap();
        let at: Vec<u64> = stamps.iter().filter(|s| (s.0, s.1) == (0, mine)).map(|s| s.3).collect();
        assert_eq!(at.len(), 1000);
        // While the sink is busy (400 ms at least) its neighbour moves steadily: a turn comes after
        // 8 steps of 3 tuples of 0.1 ms each, unless the outbox is full of what waits for the sink.
        let longest = at.windows(2).map(|w| w[1] - w[0]).max();
        assert!(out.end >= 400 * MS && longest < Some(50 * MS), "{longest:?}");
    });
}

/// The sink's queue is never empty from start to end, on the only worker: without turns the spout
/// beside it would not be heard before the end.
#[test]
fn rule_7_2_a_spout_beside_a_saturated_sink_moves() {
    let log = Log::default();
    let mut builder = Topology::builder();
    let l = log.clone();
    let source = builder.spout("a", 1, move |cx| Source::count(&l, 0, cx, 1, 1));
    let l = log.clone();
    let out = builder
        .bolt("b", 1, move |cx| {
            Ok(Node::new(&l, 1, cx, |item, out| {
                (0..1000).for_each(|key| out.emit(Item { key, ..*item }));
                Ok(())
            }))
        })
        .input(source, Grouping::shuffle())
        .done();
    let l = log.clone();
    let _ = builder
        .bolt("d", 1, move |cx| Node::sink(&l, 2, cx))
        .input(out, Grouping::shuffle())
        .done();
    stream(&mut builder, &log, ["e", "f"], [3, 4], 20);
    let config = settings(1, |c| {
        c.batch = 1;
        c.queue = 8;
        c.turn = 8;
        c.max_pending = 1;
        c.timeout = Duration::from_secs(100);
        c.epoch = EpochEnd::Every(Duration::from_secs(100));
    });
    let topology = builder.build(config).unwrap();
    let sink = topology.plan().components[2].first_task;
    let mut net = Net::new(&topology, 1, &log);
    net.cost(move |task, tuples| if task == sink { MS * tuples } else { 1 });
    let out = net.run();
    assert_eq!(one_verdict_each(&out), (21, 0));
    // A record a verdict: at most two turns a record, nine steps of the sink a turn.
    let last = log.seen(4).iter().map(|s| s.at).max().unwrap();
    assert!(last < 20 * 2 * 9 * MS + 40 * MS, "the other stream waited until {last}");
}

/// E10: one record a minute, batches of 1024, a linger of an hour: each leaves at once, since its
/// worker has nothing else to do; what a close and a timer emit too.
#[test]
fn rule_7_3_partial_batches_leave_when_idle_or_on_linger() {
    let log = Log::default();
    let mut builder = Topology::builder();
    let l = log.clone();
    let source = builder.spout("a", 1, move |cx| {
        let mut i = 0;
        Source::new(&l, 0, cx, move |out, _| {
            out.emit(Item { root: out.now(), key: 0, path: 0 });
            i += 1;
            if i == 5 { Poll::End } else { Poll::Idle(Some(Duration::from_secs(60))) }
        })
    });
    let l = log.clone();
    let out = builder
        .bolt("b", 1, move |cx| {
            Ok(Node::new(&l, 1, cx, |item, out| {
                out.emit(*item);
                out.wake_at(out.now() + SEC);
                Ok(())
            })
            .on_timer(|now, out| out.emit(Item { root: now, key: 1, path: 0 }))
            .on_close(|_, _, out| out.emit(Item { root: out.now(), key: 2, path: 0 })))
        })
        .input(source, Grouping::shuffle())
        .done();
    let l = log.clone();
    let _ = builder
        .bolt("c", 1, move |cx| Node::sink(&l, 2, cx))
        .input(out, Grouping::shuffle())
        .done();
    let config = settings(2, |c| {
        c.batch = 1024;
        c.linger = Duration::from_secs(3600);
        c.timeout = Duration::from_secs(7200);
        c.epoch = EpochEnd::Records(1);
        c.stall_after = Duration::from_secs(100_000);
    });
    let topology = builder.build(config).unwrap();
    let mut net = Net::new(&topology, 1, &log);
    net.odds().delay = 1000;
    let out = net.run();
    assert_eq!(out.error, None);
    let seen = log.seen(2);
    for kind in 0..3 {
        let mine: Vec<u64> =
            seen.iter().filter(|s| s.item.key == kind).map(|s| s.at - s.item.root).collect();
        assert!(mine.len() >= 4, "{kind}: {mine:?}");
        assert!(mine.iter().all(|&late| late < MS), "{kind}: {mine:?}");
    }
    assert_eq!(out.spins, 0);
}

/// With a linger of 1 ms a lone tuple leaves a worker that is never idle: its other spout has a
/// record at every step, and no batch is full before a thousand of them.
#[test]
fn rule_7_3_a_lingering_batch_leaves_a_busy_worker() {
    let log = Log::default();
    let mut builder = Topology::builder();
    stream(&mut builder, &log, ["a", "b"], [0, 1], 1);
    let l = log.clone();
    let source = builder.spout("c", 1, move |cx| {
        let mut i = 0;
        Source::new(&l, 2, cx, move |out, _| {
            out.emit(Item::default());
            i += 1;
            if i == 3000 { Poll::End } else { Poll::Idle(Some(Duration::from_nanos(1))) }
        })
    });
    let l = log.clone();
    let _ = builder
        .bolt("d", 1, move |cx| Node::sink(&l, 3, cx))
        .input(source, Grouping::shuffle())
        .done();
    let config = settings(1, |c| {
        c.guarantee = Guarantee::AtMostOnce;
        c.batch = 1024;
        c.epoch = EpochEnd::Every(Duration::from_secs(100));
    });
    let topology = builder.build(config).unwrap();
    let mut net = Net::new(&topology, 1, &log);
    net.cost(|_, tuples| 20_000 * tuples);
    let out = net.run();
    assert_eq!((out.error, log.items(3).len()), (None, 3000));
    assert!(log.seen(1)[0].at < 10 * MS && out.end > 60 * MS);
}

/// A worker that has nothing to do sleeps: it never asks to be woken at a time that has passed.
#[test]
fn rule_7_3_an_idle_worker_does_not_spin() {
    let log = Log::default();
    let mut builder = Topology::builder();
    let l = log.clone();
    let source = builder.spout("a", 1, move |cx| {
        let mut i = 0;
        Source::new(&l, 0, cx, move |out, _| {
            out.emit(Item::default());
            i += 1;
            if i == 5 { Poll::End } else { Poll::Idle(Some(Duration::from_millis(1))) }
        })
    });
    let l = log.clone();
    let _ = builder
        .bolt("b", 1, move |cx| Node::sink(&l, 1, cx))
        .input(source, Grouping::shuffle())
        .done();
    // One record at a time, each 100 ms on its way: the spout's nap is long over by then.
    let config = settings(2, |c| {
        c.max_pending = 1;
        c.timeout = Duration::from_secs(100);
    });
    let topology = builder.build(config).unwrap();
    let mut net = Net::new(&topology, 1, &log);
    net.cost(|task, tuples| if task == 1 { 100 * MS * tuples } else { 1 });
    let out = net.run();
    assert_eq!(one_verdict_each(&out), (5, 0));
    assert_eq!(out.spins, 0, "{} steps", out.steps);
}

/// A spout that says `More` and emits nothing for long must not keep its worker from its mail.
#[test]
fn rule_7_2_a_spout_that_emits_nothing_does_not_hold_its_worker() {
    let log = Log::default();
    let mut builder = Topology::builder();
    let l = log.clone();
    let busy = builder.spout("a", 1, move |cx| {
        let mut calls = 0_u64;
        Source::new(&l, 0, cx, move |_, _| {
            calls += 1;
            assert!(calls < 1_000_000, "the word to drain was never heard");
            Poll::More
        })
    });
    let l = log.clone();
    let _ = builder
        .bolt("b", 1, move |cx| Node::sink(&l, 1, cx))
        .input(busy, Grouping::shuffle())
        .done();
    let topology = builder.build(settings(1, |_| {})).unwrap();
    let mut net = Net::new(&topology, 1, &log);
    net.drain_at = Some(20 * MS);
    let out = net.run();
    assert_eq!(out.error, None);
    assert!(out.end < 100 * MS);
}

/// Words of given sizes.
struct Words(Vec<usize>);

impl Spout for Words {
    type Out = Text;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Text>) -> Result<Poll, BoxError> {
        let Some(size) = self.0.pop() else { return Ok(Poll::End) };
        out.emit(&vec![b'x'; size][..]);
        Ok(Poll::More)
    }
}

/// Passes words on, each `factor` times as long.
struct Longer(usize, Arc<Mutex<Vec<usize>>>);

impl streamwright::Bolt for Longer {
    type Out = Text;
}

impl streamwright::Execute<Text> for Longer {
    fn execute(
        &mut self,
        item: &[u8],
        out: &mut streamwright::Emitter<'_, Text>,
    ) -> Result<(), BoxError> {
        self.1.lock().unwrap().push(item.len());
        out.emit(&item.repeat(self.0)[..]);
        Ok(())
    }
}

/// E9: limit − 1, limit, limit + 1, 10 × limit, alone and between small ones.
#[test]
fn rule_7_4_large_records_pass_alone_or_are_dead_letters() {
    const LIMIT: usize = 100;
    for (factor, guarantee) in
        [(1, Guarantee::AtLeastOnce), (10, Guarantee::AtLeastOnce), (1, Guarantee::AtMostOnce)]
    {
        let log = Log::default();
        let (at_b, at_c) = (Arc::default(), Arc::default());
        let mut builder = Topology::builder();
        let sizes = [1, LIMIT - 1, LIMIT, 2, LIMIT + 1, 3, 10 * LIMIT, 10 * LIMIT, 4];
        // Ten times smaller where the bolt makes them ten times larger: it is to blame then.
        let sizes: Vec<usize> = sizes.iter().map(|s| s / factor).collect();
        let source = builder.spout("a", 1, move |_| Ok(Words(sizes.clone())));
        let b: Arc<Mutex<Vec<usize>>> = Arc::clone(&at_b);
        let out = builder
            .bolt("b", 1, move |_| Ok(Longer(factor, Arc::clone(&b))))
            .input(source, Grouping::shuffle())
            .done();
        let c: Arc<Mutex<Vec<usize>>> = Arc::clone(&at_c);
        let _ = builder
            .bolt("c", 1, move |_| Ok(Longer(0, Arc::clone(&c))))
            .input(out, Grouping::shuffle())
            .done();
        let config = settings(2, |c| {
            c.record_limit = LIMIT;
            c.guarantee = guarantee;
        });
        let out = Net::new(&builder.build(config).unwrap(), 1, &log).run();
        assert_eq!(out.error, None);
        let mut passed = at_c.lock().unwrap().clone();
        passed.sort_unstable();
        let large: Vec<usize> = passed.iter().copied().filter(|&s| s > 10).collect();
        assert!(large.iter().all(|&size| size <= LIMIT));
        assert_eq!(passed.len() + out.letters.len(), 9);
        if factor == 1 {
            assert_eq!(large, [LIMIT - 1, LIMIT]);
            let (b, records) = (at_b.lock().unwrap().len(), out.records);
            assert_eq!((b, records), (6, 9), "the bolt sees what passed; all were records");
        }
        let (blame, wanted) = if factor == 1 { ("a", 3) } else { ("b", 2) };
        assert_eq!(out.letters.len(), wanted);
        for (_, letter) in &out.letters {
            assert_eq!((letter.component.as_str(), letter.attempts), ("a", 1));
            let Reason::TooLarge { component, size, limit, .. } = &*letter.reason else {
                panic!("{}", letter.reason);
            };
            assert_eq!((component.as_str(), *limit), (blame, LIMIT));
            assert!(*size > LIMIT);
            assert_eq!(letter.item::<Text>().unwrap().iter().count(), 1);
        }
    }
    let mut text = Text::default();
    text.push_item("kept");
}

/// The verdict that gives a spout room may come of time alone, in a step in which nothing else runs:
/// a time-out after the last attempt. The worker goes on at once, and does not sleep over it.
#[test]
fn rule_7_2_room_that_comes_of_a_time_out_is_used_at_once() {
    each_seed(20, |seed| {
        let log = Log::default();
        let mut builder = Topology::builder();
        stream(&mut builder, &log, ["s", "z"], [0, 1], 5);
        let config = settings(1, |c| {
            (c.max_pending, c.attempts, c.queue) = (1, 1, 8);
            c.epoch = EpochEnd::Every(Duration::from_secs(1000));
        });
        let mut net = Net::new(&builder.build(config).unwrap(), seed, &log);
        net.odds().lose_tuples = 1_000_000;
        // No mail comes soon that would wake it.
        net.odds().delay = 10 * SEC;
        let out = net.run();
        assert_eq!(one_verdict_each(&out), (0, 5));
        // Four time-outs of 100 ms, each late by a seventh and a sixteenth at most.
        let at: Vec<u64> = log.stamps().iter().map(|stamp| stamp.3).collect();
        assert!(at[4] - at[0] < 4 * 125 * MS, "slept over it: {at:?}");
    });
}
