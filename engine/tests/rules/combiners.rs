//! Rule 4.6, and what 3.1, 3.4 and 4.5 say of combiners.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use streamwright::{
    Bolt, BoxError, BuildError, Combiner, Config, Emitter, Execute, Grouping, Guarantee, Reason,
    Stream, Tagged, Text, Topology, TopologyBuilder, Watermark,
};

use crate::dice::{Dice, each_seed};
use crate::net::{MS, Net, Outcome, SEC};
use crate::parts::{Item, Items, Log, Node, Seen, Source, settings};
use crate::rule_1::{ledger, one_verdict_each, replayed};
use crate::rule_6::exactly;

/// A key with all roots that came to it.
type Partial = (u64, Vec<u64>);
type Partials = Vec<Partial>;
type Work = Box<dyn FnMut(&Partial) -> Result<(), BoxError> + Send>;
type Got = Arc<Mutex<Vec<Partial>>>;

/// Takes in partial results, and hands them on.
struct Taker {
    log: Log,
    node: u32,
    task: u32,
    work: Work,
}

impl Bolt for Taker {
    type Out = Partials;

    fn flush(&mut self, epoch: u64, _: &mut Emitter<'_, Partials>) -> Result<(), BoxError> {
        self.log.flush(self.node, self.task, epoch);
        Ok(())
    }

    fn close(
        &mut self,
        epoch: u64,
        mark: Watermark,
        _: &mut Emitter<'_, Partials>,
    ) -> Result<(), BoxError> {
        self.log.close(self.node, self.task, epoch, mark);
        Ok(())
    }
}

impl Execute<Partials> for Taker {
    fn execute(
        &mut self,
        partial: &Partial,
        out: &mut Emitter<'_, Partials>,
    ) -> Result<(), BoxError> {
        for &root in &partial.1 {
            let (node, task, epoch, at) = (self.node, self.task, out.epoch(), out.now());
            let item = Item { root, key: partial.0, path: 0 };
            self.log.execute(Seen { node, task, epoch, item, at, life: 0 });
        }
        (self.work)(partial)?;
        out.emit(partial.clone());
        Ok(())
    }
}

/// By key; the roots of each, in the order in which they came.
fn by_key(
    builder: &mut TopologyBuilder,
    log: &Log,
    node: u32,
    from: Stream<Items>,
    keys: usize,
    work: impl Fn(&Partial) -> Result<(), BoxError> + Clone + Send + Sync + 'static,
) -> Stream<Partials> {
    let l = log.clone();
    let combiner = Combiner::keyed(
        |item: &Item| &item.key,
        |item| vec![item.root],
        |roots: &mut Vec<u64>, item| roots.push(item.root),
    );
    builder
        .bolt(&format!("taker {node}"), 2, move |cx| {
            let work = Box::new(work.clone());
            Ok(Taker { log: l.clone(), node, task: cx.index(), work })
        })
        .input_combined(from, combiner.keys(keys), Grouping::fields(|(key, _): &Partial| *key))
        .done()
}

/// Combines what was combined.
fn again(
    builder: &mut TopologyBuilder,
    log: &Log,
    node: u32,
    from: Stream<Partials>,
    work: impl Fn(&Partial) -> Result<(), BoxError> + Clone + Send + Sync + 'static,
) {
    let l = log.clone();
    let combiner = Combiner::by(
        |(key, _): &Partial| key % 2,
        |(_, roots)| roots.clone(),
        |all: &mut Vec<u64>, (_, roots)| all.extend(roots),
    );
    let _ = builder
        .bolt(&format!("taker {node}"), 2, move |cx| {
            let work = Box::new(work.clone());
            Ok(Taker { log: l.clone(), node, task: cx.index(), work })
        })
        .input_combined(from, combiner, Grouping::shuffle())
        .done();
}

/// Two spout tasks → combined by key at node 1 → combined again at node 2.
fn chain(
    log: &Log,
    config: Config,
    count: u64,
    keys: usize,
    last: impl Fn(&Partial) -> Result<(), BoxError> + Clone + Send + Sync + 'static,
) -> Topology {
    let mut builder = Topology::builder();
    let l = log.clone();
    let source = builder.spout("source", 2, move |cx| Source::count(&l, 0, cx, count, 5));
    let partials = by_key(&mut builder, log, 1, source, keys, |_| Ok(()));
    again(&mut builder, log, 2, partials, last);
    builder.build(config).unwrap()
}

/// What was emitted on a stream went into partial results, but for what went astray.
fn all_combined(topology: &Topology, out: &Outcome) -> (u64, u64) {
    ledger(topology, out);
    let plan = topology.plan();
    let (mut combined, mut sent) = (0, 0);
    for (i, edge) in plan.edges.iter().enumerate() {
        let counters = || out.figures.iter().map(|f| f.edges[i]);
        let from = plan.components[edge.from as usize].name.as_str();
        let tasks = out.figures.iter().flat_map(|f| &f.tasks).filter(|t| t.component == from);
        let emitted: u64 = tasks.map(|task| task.emitted).sum();
        let taken: u64 = counters().map(|edge| edge.combined + edge.astray).sum();
        assert_eq!(emitted, taken, "edge {i}");
        combined += taken;
        sent += counters().map(|edge| edge.transferred).sum::<u64>();
    }
    (combined, sent)
}

fn guarantee(seed: u64) -> Guarantee {
    if seed.is_multiple_of(3) { Guarantee::AtMostOnce } else { Guarantee::AtLeastOnce }
}

#[test]
fn rule_4_6_every_tuple_comes_as_part_of_one_partial_result() {
    let (mut combined, mut sent) = (0, 0);
    each_seed(400, |seed| {
        let log = Log::default();
        let config = settings(1 + (seed % 4) as u32, |c| {
            c.guarantee = guarantee(seed);
            c.timeout = Duration::from_secs(5);
            c.batch = 1 + (seed % 7) as usize;
        });
        let topology = chain(&log, config, 30, 1 + (seed % 6) as usize, |_| Ok(()));
        let mut net = Net::new(&topology, seed, &log);
        net.odds().reorder = true;
        net.odds().delay = seed % 5 * MS;
        let out = net.run();
        assert_eq!((out.error.clone(), replayed(&out)), (None, 0));
        if guarantee(seed) != Guarantee::AtMostOnce {
            assert_eq!(one_verdict_each(&out), (60, 0));
        }
        for node in [1, 2] {
            let roots = log.roots(node);
            assert!(roots.len() == 60 && roots.values().all(|&n| n == 1));
        }
        let all = all_combined(&topology, &out);
        (combined, sent) = (combined + all.0, sent + all.1);
    });
    assert!(sent < combined * 4 / 5, "{sent} sent for {combined}");
}

/// E17. One root makes what it is part of fail, each time: it alone is a dead letter, and after the
/// first time nobody is in one partial result with it again, neither at the first stage nor at a
/// later one.
#[test]
fn rule_4_6_a_poisonous_tuple_takes_its_companions_along_once() {
    each_seed(300, |seed| {
        let log = Log::default();
        let got = Got::default();
        let config = settings(1 + (seed % 4) as u32, |c| {
            c.attempts = 4;
            c.timeout = Duration::from_secs(5);
            c.max_pending = 64;
        });
        let g = Arc::clone(&got);
        let topology = chain(&log, config, 40, 100, move |partial| {
            g.lock().unwrap().push(partial.clone());
            if partial.1.contains(&7) { Err("poison".into()) } else { Ok(()) }
        });
        let mut net = Net::new(&topology, seed, &log);
        net.odds().reorder = seed % 2 == 0;
        net.odds().delay = seed % 3 * MS;
        let out = net.run();
        assert_eq!(one_verdict_each(&out), (79, 1));
        let (_, letter) = &out.letters[0];
        assert_eq!((letter.item::<Items>().unwrap()[0].root, letter.attempts), (7, 4));
        assert!(letter.reason.to_string().contains("poison"), "{}", letter.reason);
        let got = got.lock().unwrap();
        let bad: Vec<&Partial> = got.iter().filter(|(_, roots)| roots.contains(&7)).collect();
        assert_eq!(bad.len(), 4);
        assert!(bad[1..].iter().all(|(_, roots)| roots.len() == 1), "{bad:?}");
        // Whoever was in one batch with it has come again, alone, and that was all.
        assert!(log.roots(1).iter().all(|(&root, &n)| n <= if root == 7 { 4 } else { 2 }));
        all_combined(&topology, &out);
    });
}

fn faulty(net: &mut Net, seed: u64) {
    let mut dice = Dice::new(seed ^ 0xc0);
    let o = net.odds();
    o.lose_tuples = dice.below(60_000) as u32;
    o.lose_batches = dice.below(60_000) as u32;
    o.lose_acks = dice.below(60_000) as u32;
    o.repeat_batches = dice.below(200_000) as u32;
    o.repeat_messages = dice.below(200_000) as u32;
    o.delay = dice.below(3 * MS);
    o.reorder = seed.is_multiple_of(2);
}

#[test]
fn rule_4_6_under_loss_and_duplication() {
    let mut replays = 0;
    each_seed(300, |seed| {
        let log = Log::default();
        let config = settings(1 + (seed % 4) as u32, |c| {
            c.guarantee = guarantee(seed);
            c.attempts = 200;
            c.max_backoff = Duration::from_millis(5);
        });
        let topology = chain(&log, config, 20, 1 + (seed % 8) as usize, |_| Ok(()));
        let mut net = Net::new(&topology, seed, &log);
        faulty(&mut net, seed);
        let out = net.run();
        all_combined(&topology, &out);
        if guarantee(seed) == Guarantee::AtMostOnce {
            assert_eq!(out.error, None);
            assert!([1, 2].iter().all(|&node| log.roots(node).values().all(|&n| n == 1)));
            return;
        }
        assert_eq!(one_verdict_each(&out), (40, 0));
        assert!([1, 2].iter().all(|&node| log.roots(node).len() == 40));
        replays += replayed(&out);
    });
    assert!(replays > 300, "{replays}");
}

/// Partial results hold their epoch while they wait: none comes after the close, as `Log` would see,
/// however long the linger and however late a worker has time.
#[test]
fn rule_3_1_partial_results_hold_their_epoch() {
    each_seed(300, |seed| {
        let log = Log::default();
        let config = settings(2 + (seed % 3) as u32, |c| {
            c.guarantee = guarantee(seed);
            c.timeout = Duration::from_secs(60);
            c.linger = Duration::from_millis(40);
            c.epoch = streamwright::EpochEnd::Records(3);
        });
        let topology = chain(&log, config, 25, 1000, |_| Ok(()));
        let mut net = Net::new(&topology, seed, &log);
        // So much work that no worker is idle for long.
        net.cost(|_, tuples| tuples * 100_000);
        net.odds().reorder = true;
        let out = net.run();
        assert_eq!((out.error.clone(), replayed(&out)), (None, 0));
        assert!([1, 2].iter().all(|&node| log.roots(node).len() == 50));
        all_combined(&topology, &out);
    });
}

/// No linger is needed: what is held is let go as the worker rests, and the run ends.
#[test]
fn rule_3_4_partial_results_are_let_go_by_flush() {
    each_seed(100, |seed| {
        let log = Log::default();
        let config = settings(1 + (seed % 3) as u32, |c| {
            c.guarantee = guarantee(seed);
            c.timeout = Duration::from_secs(7200);
            c.linger = Duration::from_secs(3600);
        });
        let topology = chain(&log, config, 25, 1000, |_| Ok(()));
        let mut net = Net::new(&topology, seed, &log);
        net.drain_at = (seed % 2 == 0).then_some(seed * 20_000);
        let out = net.run();
        assert_eq!(out.error, None);
        assert!(out.end < SEC, "{}", out.end);
        assert!([1, 2].iter().all(|&node| log.roots(node).len() as u64 == out.records));
        all_combined(&topology, &out);
    });
}

/// A flush root waits for room for ten times the time-out: its inputs are touched, not replayed.
#[test]
fn trace_flush_root_alive_while_its_inputs_time_out() {
    each_seed(100, |seed| {
        let log = Log::default();
        let topology = chain(&log, settings(1 + (seed % 3) as u32, |_| {}), 20, 3, |_| Ok(()));
        let mut net = Net::new(&topology, seed, &log);
        for worker in 0..3.min(1 + (seed % 3) as u32) {
            net.hold_places(worker, 1 + (seed % 2) as u32, SEC);
        }
        let out = net.run();
        assert_eq!((one_verdict_each(&out), replayed(&out)), ((40, 0), 0));
        assert!(out.end > SEC);
    });
}

/// A root dies elsewhere while its part of a partial result waits: that is let go all the same.
#[test]
fn trace_a_dead_attempts_partial_that_stays() {
    each_seed(100, |seed| {
        let log = Log::default();
        let mut builder = Topology::builder();
        let l = log.clone();
        let source = builder.spout("source", 1, move |cx| Source::count(&l, 0, cx, 30, 3));
        let _ = by_key(&mut builder, &log, 1, source.clone(), 1000, |_| Ok(()));
        let l = log.clone();
        let _ = builder
            .bolt("poison", 1, move |cx| {
                Ok(Node::new(&l, 3, cx, |item, _| match item.root % 4 {
                    1 => Err("always".into()),
                    _ => Ok(()),
                }))
            })
            .input(source, Grouping::shuffle())
            .done();
        let config = settings(1 + (seed % 3) as u32, |c| c.attempts = 2);
        let topology = builder.build(config).unwrap();
        let out = Net::new(&topology, seed, &log).run();
        assert_eq!(one_verdict_each(&out), (22, 8));
        assert_eq!(log.roots(1).len(), 30);
        ledger(&topology, &out);
    });
}

/// A panic in the combiner's own code fails what it may have torn; each alone, only its culprit.
#[test]
fn rule_4_6_a_panic_in_a_combiner_is_that_tuples_fault() {
    each_seed(200, |seed| {
        let log = Log::default();
        let mut builder = Topology::builder();
        let l = log.clone();
        let source = builder.spout("source", 2, move |cx| Source::count(&l, 0, cx, 30, 3));
        let combiner = Combiner::keyed(
            |item: &Item| &item.key,
            |item| {
                assert!(item.root != 7, "boom");
                vec![item.root]
            },
            |roots: &mut Vec<u64>, item| {
                roots.push(item.root);
                assert!(item.root != 7, "boom");
            },
        );
        let l = log.clone();
        let _ = builder
            .bolt("taker", 2, move |cx| {
                Ok(Taker { log: l.clone(), node: 1, task: cx.index(), work: Box::new(|_| Ok(())) })
            })
            .input_combined(source, combiner, Grouping::shuffle())
            .done();
        let config = settings(1 + (seed % 3) as u32, |c| {
            c.guarantee = guarantee(seed);
            c.attempts = 3;
        });
        let topology = builder.build(config).unwrap();
        let mut net = Net::new(&topology, seed, &log);
        net.odds().delay = seed % 3 * MS;
        let out = net.run();
        all_combined(&topology, &out);
        let why = Reason::Combiner { component: "taker".into(), message: "boom".into() };
        let roots = log.roots(1);
        assert!(!roots.contains_key(&7));
        if guarantee(seed) == Guarantee::AtMostOnce {
            let reasons: Vec<_> = out.figures.iter().flat_map(|f| &f.failures).collect();
            assert_eq!((out.error, reasons.len(), &**reasons[0]), (None, 1, &why));
            assert!(roots.values().all(|&n| n == 1));
            // Those that it was together with are gone too, and the figures say how many.
            let astray: u64 = out.figures.iter().flat_map(|f| &f.edges).map(|e| e.astray).sum();
            assert_eq!(astray, 60 - roots.len() as u64);
            return;
        }
        assert_eq!(one_verdict_each(&out), (59, 1));
        assert_eq!((&*out.letters[0].1.reason, out.letters[0].1.attempts), (&why, 3));
        assert_eq!(roots.len(), 59);
    });
}

/// What several come to is too large a record: each alone is not, so nobody dies of it.
#[test]
fn rule_4_6_too_large_together_is_not_too_large_alone() {
    struct Long;
    impl Bolt for Long {
        type Out = Text;
    }
    impl Execute<Tagged<u64>> for Long {
        fn execute(
            &mut self,
            (word, n): (&[u8], u64),
            out: &mut Emitter<'_, Text>,
        ) -> Result<(), BoxError> {
            out.emit(&word.repeat(n as usize)[..]);
            Ok(())
        }
    }
    struct Words;
    impl Bolt for Words {
        type Out = Text;
    }
    impl Execute<Items> for Words {
        fn execute(&mut self, item: &Item, out: &mut Emitter<'_, Text>) -> Result<(), BoxError> {
            out.emit(if item.root.is_multiple_of(2) { "one" } else { "two" });
            Ok(())
        }
    }
    each_seed(50, |seed| {
        let log = Log::default();
        let mut builder = Topology::builder();
        let l = log.clone();
        let source = builder.spout("source", 1, move |cx| Source::count(&l, 0, cx, 40, 3));
        let words =
            builder.bolt("words", 1, |_| Ok(Words)).input(source, Grouping::shuffle()).done();
        let _ = builder
            .bolt("long", 1, |_| Ok(Long))
            .input_combined(words, Combiner::text(1_u64, |n| *n += 1), Grouping::shuffle())
            .done();
        // Items have 24 bytes.
        let config = settings(1 + (seed % 2) as u32, |c| {
            c.record_limit = 24;
            c.max_pending = 64;
            c.batch = 20;
            c.attempts = 2;
        });
        let topology = builder.build(config).unwrap();
        let out = Net::new(&topology, seed, &log).run();
        assert_eq!(one_verdict_each(&out), (40, 0));
        assert!(replayed(&out) > 0, "no partial result was too large");
    });
}

#[test]
fn rule_4_6_no_combiner_under_exactly_once_and_none_without_keys() {
    let log = Log::default();
    let mut builder = Topology::builder();
    let l = log.clone();
    let source = builder.spout("source", 1, move |cx| Source::count(&l, 0, cx, 1, 1));
    let _ = by_key(&mut builder, &log, 1, source, 0, |_| Ok(()));
    let errors = builder.build(exactly(1, |_| {})).unwrap_err();
    let component = "taker 1".to_owned();
    let no_keys = BuildError::NoKeys { component: component.clone() };
    assert_eq!(errors.errors(), [no_keys, BuildError::CombinedExactlyOnce { component }]);
}

/// Partial results are a matter of the order of the input alone, not of chance.
#[test]
fn rule_4_6_partial_results_keep_the_order_in_which_keys_came() {
    let run = || {
        let log = Log::default();
        let got = Got::default();
        let g = Arc::clone(&got);
        let topology = chain(&log, settings(3, |_| {}), 40, 4, move |partial| {
            g.lock().unwrap().push(partial.clone());
            Ok(())
        });
        let out = Net::new(&topology, 5, &log).run();
        assert_eq!(one_verdict_each(&out), (80, 0));
        std::mem::take(&mut *got.lock().unwrap())
    };
    let first = run();
    assert_eq!(run(), first);
    let roots: HashMap<u64, u64> =
        first.iter().map(|(key, roots)| (*key, roots.len() as u64)).collect();
    assert_eq!(roots.len(), 2);
}
