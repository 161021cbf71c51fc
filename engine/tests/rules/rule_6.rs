//! Rule 6: guarantees. At most and at least once stand in `conform`; here is exactly once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use streamwright::{BuildError, Config, Exhausted, Grouping, Guarantee, RunError, Topology};

use crate::dice::{Dice, each_seed};
use crate::net::{MS, Net, Outcome};
use crate::parts::{Item, Items, Log, Node, Source, settings, step};
use crate::rule_1::{one_verdict_each, replayed};

type Counts = Arc<Mutex<HashMap<(u32, u64), u64>>>;

pub fn exactly(workers: u32, change: impl FnOnce(&mut Config)) -> Config {
    settings(workers, |c| {
        c.guarantee = Guarantee::ExactlyOnce;
        c.attempts = 200;
        c.timeout = Duration::from_millis(60);
        c.max_backoff = Duration::from_millis(4);
        change(c);
    })
}

/// A bolt that counts by node and key, and says so as an epoch closes.
fn count(log: &Log, node: u32, cx: &streamwright::TaskContext, counts: &Counts) -> Node {
    let counts = Arc::clone(counts);
    let fresh = Arc::new(Mutex::new(HashMap::<u64, u64>::new()));
    let told = Arc::clone(&fresh);
    Node::new(log, node, cx, move |item, _| {
        *counts.lock().unwrap().entry((node, item.key)).or_default() += 1;
        *fresh.lock().unwrap().entry(item.key).or_default() += 1;
        Ok(())
    })
    .on_close(move |_, _, out| {
        let mut fresh: Vec<_> = told.lock().unwrap().drain().collect();
        fresh.sort_unstable();
        for (key, n) in fresh {
            out.emit(Item { root: n, key, path: 0 });
        }
    })
}

/// Two spouts; a bolt that multiplies, one that takes it by several ways; counts by key at every
/// second stage, and of what those said at the end.
fn web(log: &Log, counts: &Counts, config: Config) -> Topology {
    let mut builder = Topology::builder();
    let l = log.clone();
    let a = builder.spout("a", 2, move |cx| Source::count(&l, 0, cx, 20, 5));
    let l = log.clone();
    let b = builder.spout("b", 1, move |cx| Source::count(&l, 1, cx, 15, 7));
    let l = log.clone();
    let p = builder
        .bolt("p", 3, move |cx| Node::pass(&l, 2, cx, 3))
        .input(a.clone(), Grouping::shuffle())
        .input(b.clone(), Grouping::local_or_shuffle())
        .done();
    let l = log.clone();
    let q = builder
        .bolt("q", 2, move |cx| Node::pass(&l, 3, cx, 2))
        .input(p.clone(), Grouping::weighted([3, 1]))
        .input(a, Grouping::shuffle())
        .done();
    let (l, c) = (log.clone(), Arc::clone(counts));
    let sums = builder
        .bolt("keyed", 3, move |cx| Ok(count(&l, 4, cx, &c)))
        .input(p.clone(), Grouping::<Items>::fields(|item| item.key))
        .input(p.clone(), Grouping::<Items>::fields(|item| item.key))
        .input(q.clone(), Grouping::<Items>::fields(|item| item.key))
        .done();
    let (l, c) = (log.clone(), Arc::clone(counts));
    let _ = builder
        .bolt("loose", 4, move |cx| Ok(count(&l, 5, cx, &c)))
        .input(q.clone(), Grouping::shuffle())
        .input(b, Grouping::all())
        .stateful()
        .done();
    let (l, c) = (log.clone(), Arc::clone(counts));
    let _ = builder
        .bolt("totals", 2, move |cx| {
            let c = Arc::clone(&c);
            Ok(Node::new(&l, 6, cx, move |item, _| {
                *c.lock().unwrap().entry((6, item.key)).or_default() += item.root;
                Ok(())
            }))
        })
        .input(sums.clone(), Grouping::local_or_shuffle())
        .stateful()
        .done();
    builder.build(config).unwrap()
}

/// What `web` counts, by plain arithmetic.
fn truth() -> HashMap<(u32, u64), u64> {
    let mut truth = HashMap::new();
    let mut add = |node, key, n| *truth.entry((node, key)).or_default() += n;
    let a = (0..2).flat_map(|_| (0..20).map(|i| i % 5));
    let b = (0..15).map(|i| i % 7);
    for key in a.clone().chain(b.clone()) {
        // p makes 3 of it, which come twice to `keyed`, and once through q, which doubles.
        for node in [4, 6] {
            add(node, key, 3 + 3 + 3 * 2);
        }
        add(5, key, 3 * 2);
    }
    for key in a {
        // q doubles what comes from a itself.
        for node in [4, 5, 6] {
            add(node, key, 2);
        }
    }
    b.for_each(|key| add(5, key, 4));
    truth
}

fn faulty(net: &mut Net, seed: u64) {
    let mut dice = Dice::new(seed ^ 0xe0);
    let mut odds = |most: u64| if dice.chance(500_000) { dice.below(most) as u32 } else { 0 };
    let o = net.odds();
    o.lose_tuples = odds(40_000);
    o.lose_batches = odds(60_000);
    o.repeat_batches = odds(200_000);
    o.lose_acks = odds(60_000);
    o.repeat_messages = odds(200_000);
    o.delay = u64::from(odds(3_000_000));
    o.reorder = seed.is_multiple_of(2);
}

#[test]
fn rule_6_exactly_once_under_loss_and_duplication_is_the_truth() {
    let (mut replays, mut repeats) = (0, 0);
    let truth = truth();
    each_seed(1000, |seed| {
        let (log, counts) = (Log::default(), Counts::default());
        let config = exactly(1 + (seed % 4) as u32, |c| c.seed = seed);
        let topology = web(&log, &counts, config);
        let mut net = Net::new(&topology, seed, &log);
        faulty(&mut net, seed);
        let out = net.run();
        assert_eq!(one_verdict_each(&out), (55, 0));
        assert_eq!(*counts.lock().unwrap(), truth);
        replays += replayed(&out);
        repeats += out.figures.iter().map(|f| f.seen.repeats).sum::<u64>();
        let bound: f64 = out.figures.iter().map(|f| f.seen.collision_bound).sum();
        assert!(bound > 0.0 && bound < 1e-12, "{bound}");
    });
    assert!(replays > 1000 && repeats > 1000, "{replays} replays, {repeats} repeats");
}

/// Attempts fail now and then in any bolt, before it changes its state, and all is counted once.
#[test]
fn rule_6_an_error_that_leaves_the_state_untouched_counts_once() {
    each_seed(300, |seed| {
        let (log, counts) = (Log::default(), Counts::default());
        let mut builder = Topology::builder();
        let l = log.clone();
        let source = builder.spout("s", 2, move |cx| Source::count(&l, 0, cx, 20, 5));
        let (l, dice) = (log.clone(), Arc::new(Mutex::new(Dice::new(seed))));
        let d = Arc::clone(&dice);
        let passed = builder
            .bolt("p", 2, move |cx| {
                let d = Arc::clone(&d);
                Ok(Node::new(&l, 1, cx, move |item, out| {
                    out.emit(*item);
                    out.emit(Item { path: step(item.path, 1, 1), ..*item });
                    let broken = d.lock().unwrap().chance(100_000);
                    assert!(!broken || item.root % 2 == 0, "torn between two");
                    if broken { Err("torn".into()) } else { Ok(()) }
                }))
            })
            .input(source, Grouping::shuffle())
            .done();
        let (l, c) = (log.clone(), Arc::clone(&counts));
        let _ = builder
            .bolt("k", 3, move |cx| {
                let (d, c) = (Arc::clone(&dice), Arc::clone(&c));
                Ok(Node::new(&l, 2, cx, move |item, _| {
                    if d.lock().unwrap().chance(100_000) {
                        return Err("not now".into());
                    }
                    *c.lock().unwrap().entry((2, item.key)).or_default() += 1;
                    Ok(())
                }))
            })
            .input(passed, Grouping::<Items>::fields(|item| item.key))
            .done();
        let topology = builder.build(exactly(1 + (seed % 3) as u32, |_| {})).unwrap();
        let out = Net::new(&topology, seed, &log).run();
        assert_eq!(one_verdict_each(&out), (40, 0));
        assert!((0..5).all(|key| counts.lock().unwrap()[&(2, key)] == 16));
    });
}

fn poisoned(log: &Log, config: Config) -> Topology {
    let mut builder = Topology::builder();
    let l = log.clone();
    let source = builder.spout("s", 1, move |cx| Source::count(&l, 0, cx, 30, 3));
    let l = log.clone();
    let _ = builder
        .bolt("k", 2, move |cx| {
            Ok(Node::new(&l, 1, cx, |item, _| {
                if item.root & 0xff == 10 { Err("poison".into()) } else { Ok(()) }
            }))
        })
        .input(source, Grouping::<Items>::fields(|item| item.key))
        .done();
    builder.build(config).unwrap()
}

#[test]
fn rule_6_a_root_out_of_attempts_stops_the_topology_or_is_listed() {
    for workers in [1, 3] {
        let log = Log::default();
        let config = exactly(workers, |c| c.attempts = 3);
        let out = Net::new(&poisoned(&log, config), 1, &log).run();
        let Some(RunError::Exhausted { component, task, attempts, reason, .. }) = &out.error else {
            panic!("{:?}", out.error)
        };
        assert_eq!((component.as_str(), *task, *attempts), ("s", 0, 3));
        assert!(reason.contains("poison"), "{reason}");

        let log = Log::default();
        let config = exactly(workers, |c| {
            c.attempts = 3;
            c.exhausted = Exhausted::Skip;
        });
        let out = Net::new(&poisoned(&log, config), 1, &log).run();
        assert_eq!(one_verdict_each(&out), (29, 1));
        let letter = &out.letters[0].1;
        assert_eq!((letter.attempts, letter.item::<Items>().unwrap()[0].root), (3, 10));
    }
}

/// One bolt that emits in `call`, and what becomes of it.
fn emits_in(call: &'static str, keyed: bool) -> Option<RunError> {
    let log = Log::default();
    let mut builder = Topology::builder();
    let l = log.clone();
    let source = builder.spout("s", 1, move |cx| Source::count(&l, 0, cx, 12, 3));
    let l = log.clone();
    let grouping =
        if keyed { Grouping::<Items>::fields(|item| item.key) } else { Grouping::shuffle() };
    let out = builder
        .bolt("b", 2, move |cx| {
            let node = Node::new(&l, 1, cx, move |item, out| {
                if call == "execute" {
                    out.emit(*item);
                }
                if call == "timer" {
                    out.wake_at(out.now() + 1000);
                }
                Ok(())
            });
            Ok(node
                .on_flush(move |_, _, out| {
                    if call == "flush" {
                        out.emit(Item::default());
                    }
                })
                .on_close(move |_, _, out| {
                    if call == "close" {
                        out.emit(Item::default());
                    }
                })
                .on_timer(move |_, out| out.emit(Item::default())))
        })
        .input(source, grouping)
        .done();
    let l = log.clone();
    let _ = builder
        .bolt("z", 1, move |cx| Node::sink(&l, 2, cx))
        .input(out, Grouping::shuffle())
        .done();
    let config = exactly(2, |_| {});
    Net::new(&builder.build(config).unwrap(), 1, &log).run().error
}

#[test]
fn rule_6_bolts_emit_only_where_a_replay_can_repeat_it() {
    for (call, keyed, allowed) in [
        ("execute", false, true),
        ("flush", false, false),
        ("close", false, false),
        ("timer", false, false),
        ("execute", true, false),
        ("flush", true, false),
        ("close", true, true),
        ("timer", true, false),
    ] {
        match emits_in(call, keyed) {
            None => assert!(allowed, "{call}, keyed: {keyed}"),
            Some(RunError::Misplaced { call: at, component, stateful, .. }) => {
                assert!(!allowed, "{call}, keyed: {keyed}");
                assert_eq!((at, component.as_str(), stateful), (call, "b", keyed));
            }
            Some(other) => panic!("{other}"),
        }
    }
}

/// A panic in a bolt that keeps state may have torn it: it is not taken for a failed tuple.
#[test]
fn rule_6_a_panic_in_a_keyed_bolt_is_no_failed_tuple() {
    let log = Log::default();
    let mut builder = Topology::builder();
    let l = log.clone();
    let source = builder.spout("s", 1, move |cx| Source::count(&l, 0, cx, 12, 3));
    let l = log.clone();
    let _ = builder
        .bolt("k", 1, move |cx| {
            Ok(Node::new(&l, 1, cx, |item, _| {
                assert!(item.root & 0xff != 7, "torn");
                Ok(())
            }))
        })
        .input(source, Grouping::<Items>::fields(|item| item.key))
        .done();
    let topology = builder.build(exactly(2, |_| {})).unwrap();
    let out = Net::new(&topology, 1, &log).run();
    let Some(RunError::Callback { call, component, message, .. }) = &out.error else {
        panic!("{:?}", out.error)
    };
    assert_eq!((*call, component.as_str(), message.as_str()), ("execute", "k", "torn"));
}

/// Children of equal number and keys in another order than before: seen where a hash of the items is
/// given, and where none is and the receiver keeps state, the mode refuses to say that it looked.
#[test]
fn rule_6_the_checking_mode_sees_the_order_of_items_or_says_that_it_cannot() {
    let swap = |checked: bool, keyed: bool| {
        let log = Log::default();
        let mut builder = Topology::builder();
        let l = log.clone();
        let source = builder.spout("s", 1, move |cx| Source::count(&l, 0, cx, 10, 1));
        let l = log.clone();
        let middle = builder
            .bolt("middle", 1, move |cx| {
                let mut calls = 0;
                Ok(Node::new(&l, 1, cx, move |item, out| {
                    calls += 1;
                    (0..2).for_each(|i| out.emit(Item { path: (i + calls) % 2, ..*item }));
                    Ok(())
                }))
            })
            .input(source, Grouping::shuffle())
            .done();
        let grouping =
            if keyed { Grouping::<Items>::fields(|item| item.key) } else { Grouping::shuffle() };
        let grouping =
            if checked { grouping.checked_by(|item| item.root << 1 | item.path) } else { grouping };
        let l = log.clone();
        let _ = builder
            .bolt("k", 2, move |cx| Node::sink(&l, 2, cx))
            .input(middle, grouping)
            .stateful()
            .done();
        let topology = builder.build(exactly(2, |c| c.check_ppm = 1_000_000));
        topology.map(|topology| Net::new(&topology, 1, &log).run().error)
    };
    for keyed in [false, true] {
        let error = swap(true, keyed).unwrap();
        assert!(
            matches!(&error, Some(RunError::NonDeterministic { component, .. }) if component == "middle"),
            "{error:?}"
        );
    }
    let errors = swap(false, false).unwrap_err();
    assert_eq!(errors.errors(), [BuildError::Unchecked { component: "k".to_owned() }]);
    // Of a keyed stream the keys are seen, and they are as they were.
    assert_eq!(swap(false, true).unwrap(), None);
}

/// A middle bolt of a chain, as `make` has it, under the checking mode.
fn checked(
    config: Config,
    seed: u64,
    make: impl Fn(&Log, &streamwright::TaskContext) -> Node + Send + Sync + 'static,
) -> Outcome {
    let log = Log::default();
    let mut builder = Topology::builder();
    let l = log.clone();
    let source = builder.spout("s", 2, move |cx| Source::count(&l, 0, cx, 20, 5));
    let l = log.clone();
    let middle = builder
        .bolt("middle", 2, move |cx| Ok(make(&l, cx)))
        .input(source, Grouping::shuffle())
        .done();
    let l = log.clone();
    let _ = builder
        .bolt("k", 2, move |cx| Node::sink(&l, 2, cx))
        .input(middle, Grouping::<Items>::fields(|item| item.key))
        .done();
    let topology = builder.build(config).unwrap();
    let mut net = Net::new(&topology, seed, &log);
    net.odds().delay = MS;
    net.run()
}

#[test]
fn rule_6_the_checking_mode_names_a_bolt_that_is_no_function_of_the_tuple() {
    each_seed(50, |seed| {
        let config = || exactly(1 + (seed % 3) as u32, |c| c.check_ppm = 1_000_000);
        // Sound: every root is tried twice, and counts once.
        let out = checked(config(), seed, |log, cx| Node::pass(log, 1, cx, 2).unwrap());
        assert_eq!(one_verdict_each(&out), (40, 0));
        assert_eq!(replayed(&out), 40);
        assert_eq!(out.figures.iter().map(|f| f.seen.repeats).sum::<u64>(), 80);
        // Another number of children each time.
        let out = checked(config(), seed, |log, cx| {
            let mut calls = 0;
            Node::new(log, 1, cx, move |item, out| {
                calls += 1;
                (0..calls % 3).for_each(|copy| out.emit(Item { path: copy, ..*item }));
                Ok(())
            })
        });
        let wanted = |error: &Option<RunError>| matches!(error, Some(RunError::NonDeterministic { component, .. }) if component == "middle");
        assert!(wanted(&out.error), "{:?}", out.error);
        // The same children in another order, as a hash map would give them.
        let out = checked(config(), seed, |log, cx| {
            let mut calls = 0;
            Node::new(log, 1, cx, move |item, out| {
                calls += 1;
                (0..3).for_each(|i| out.emit(Item { key: (i + calls) % 3, ..*item }));
                Ok(())
            })
        });
        assert!(wanted(&out.error), "{:?}", out.error);
        // Sampled: the same roots whatever the network does.
        let some = |seed| {
            let config = exactly(2, |c| c.check_ppm = 300_000);
            replayed(&checked(config, seed, |log, cx| Node::pass(log, 1, cx, 2).unwrap()))
        };
        assert!(some(seed) > 0 && some(seed) < 40);
    });
}
