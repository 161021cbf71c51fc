//! Faults that other engines had in public, row by row of the table, as the sim can show them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use streamwright::sim::{Cluster, Cost, Faults, Link, Overhead, Sim, SimError};
use streamwright::{
    BuildError, Emitter, Exhausted, Grouping, Guarantee, KeyHasher, Reason, RunError, Topology,
};

use crate::hand::{Pair, Pairs, by_key, cluster, config, each, numbers, sink};
use crate::runner::seeds;
use crate::world::{ms, us};

type Out<'a> = Emitter<'a, Pairs>;

/// Control and acks are lost, repeated and late by up to half a second for ten seconds: soon after,
/// all is done. What goes on follows from numbered state, never from a single message.
#[test]
fn e05_no_lost_word_stalls_for_ever() {
    for seed in seeds(100) {
        let mut builder = Topology::builder();
        let from = numbers(&mut builder, "from", 2, 400, |n| n % 7);
        let seen = sink(&mut builder, ("to", 3), (from, by_key()));
        let mut config = config(3);
        (config.queue, config.attempts, config.window) = (1, 100, 2);
        let chance = 50_000;
        let faults = Faults {
            lose_acks: chance,
            lose_control: chance,
            repeat_acks: chance,
            repeat_control: chance,
            delay: ms(500),
            until: Some(Duration::from_secs(10)),
            ..Faults::default()
        };
        let sim = Sim::new(cluster(3)).seed(seed).faults(faults);
        let outcome = sim.run(builder.build(config).unwrap()).unwrap();
        assert_eq!(outcome.report.acked, 400);
        assert_eq!(seen.counts().len(), 400);
        // One time-out and one longest way for what the last bad moment lost.
        let end = outcome.report.elapsed;
        assert!(end < Duration::from_secs(13), "seed {seed}: stalled until {end:?}");
    }
}

/// Every attempt's ack comes after its time-out: three attempts, one verdict that says so, and the
/// count is one.
#[test]
fn e12_work_slower_than_the_timeout_counts_once() {
    for (guarantee, most) in [(Guarantee::AtLeastOnce, 3), (Guarantee::ExactlyOnce, 1)] {
        let mut builder = Topology::builder();
        let from = numbers(&mut builder, "from", 1, 1, |n| n);
        let seen = sink(&mut builder, ("to", 1), (from, by_key()));
        let mut config = config(2);
        (config.guarantee, config.exhausted, config.ackers) = (guarantee, Exhausted::Skip, 1);
        // The way there and back is longer than the time-out.
        let far = Cluster::uniform(2, 1, Link::new(ms(700), u64::MAX));
        let outcome = Sim::new(far).run(builder.build(config).unwrap()).unwrap();
        let executed = seen.counts()[&(0, 0)];
        assert!((1..=most).contains(&executed), "{guarantee:?}: {executed} executions");
        let report = outcome.report;
        assert_eq!((report.acked, report.dead, report.dead_letters.len()), (0, 1, 1));
        let letter = &report.dead_letters[0];
        assert_eq!(letter.attempts, 3);
        assert!(matches!(*letter.reason, Reason::TimedOut { .. }), "{:?}", letter.reason);
    }
}

/// One item in ten thousand always fails; then as many as may be pending do.
#[test]
fn e16_poison_is_one_dead_letter_each_and_blocks_nobody() {
    for poison in [1, 16] {
        let mut builder = Topology::builder();
        let from = numbers(&mut builder, "from", 1, 10_000, |n| n);
        let seen = crate::hand::Seen::default();
        let to = seen.clone();
        let _ = each(&mut builder, ("to", 2), (from, Grouping::shuffle()), move |cx| {
            let (to, task) = (to.clone(), cx.index());
            move |pair, _: &mut Out<'_>| {
                if (10..10 + poison).contains(&pair.1) {
                    return Err("poison".into());
                }
                to.note(task, pair);
                Ok(())
            }
        });
        let outcome = Sim::new(cluster(2)).run(builder.build(config(2)).unwrap()).unwrap();
        let report = outcome.report;
        assert_eq!((report.acked, report.dead), (10_000 - poison, poison));
        assert_eq!(report.replayed, 2 * poison);
        assert!(report.dead_letters.iter().all(|letter| letter.attempts == 3));
        assert_eq!(seen.all().len() as u64, 10_000 - poison);
        assert!(report.epochs > 0 && report.complete);
        let waited = report.latency.unwrap().max;
        assert!(waited < ms(3000), "a good record waited {waited:?}");
    }
}

/// What a bolt emits for a number, after so many.
type Children = fn(u64, u64) -> Pairs;

/// A bolt that is no function of its tuple: the checking mode names it, and finds no fault with one
/// that is.
#[test]
fn e20_a_bolt_that_is_no_function_of_the_tuple_is_named() {
    // How many it emits, and which keys, depends on what came before; or not.
    let children: [(&str, Children); 3] = [
        ("number", |_, before| (0..before % 3).map(|i| (i, i)).collect()),
        ("keys", |_, before| (0..4).map(|i| (i * 97 + before, i)).collect()),
        ("sound", |n, _| (0..n % 3).map(|i| (i * 97, n)).collect()),
    ];
    for (what, children) in children {
        let mut builder = Topology::builder();
        let from = numbers(&mut builder, "from", 1, 300, |n| n);
        let out = each(&mut builder, ("children", 1), (from, Grouping::shuffle()), move |_| {
            let mut before = 0;
            move |pair: Pair, out: &mut Out<'_>| {
                before += 1;
                children(pair.1, before).into_iter().for_each(|child| out.emit(child));
                Ok(())
            }
        });
        let _ = sink(&mut builder, ("to", 3), (out, by_key()));
        let mut config = config(2);
        (config.guarantee, config.check_ppm) = (Guarantee::ExactlyOnce, 1_000_000);
        match Sim::new(cluster(2)).run(builder.build(config).unwrap()) {
            Ok(outcome) => assert_eq!((what, outcome.report.acked), ("sound", 300)),
            Err(SimError::Run { error: RunError::NonDeterministic { component, .. }, .. }) => {
                assert_eq!(component, "children");
                assert_ne!(what, "sound");
            }
            Err(error) => panic!("{what}: {error}"),
        }
    }
}

/// All keys have one hash: they share a task, and nothing else.
#[test]
fn e26_the_hash_is_not_the_key() {
    let mut builder = Topology::builder();
    let from = numbers(&mut builder, "from", 2, 5_000, |n| n % 1_000);
    let seven = Grouping::fields_with(|_: &Pair, to: &mut KeyHasher| to.word(7));
    let seen = sink(&mut builder, ("to", 4), (from, seven));
    let mut config = config(3);
    config.guarantee = Guarantee::ExactlyOnce;
    config.timeout = ms(50);
    config.attempts = 100;
    let faults = Faults { lose_tuples: 10_000, repeat_batches: 100_000, ..Faults::default() };
    let sim = Sim::new(cluster(3)).seed(1).faults(faults);
    let outcome = sim.run(builder.build(config).unwrap()).unwrap();
    assert!(outcome.report.replayed > 0);
    let tasks: BTreeSet<u32> = seen.all().into_iter().map(|(task, _)| task).collect();
    assert_eq!(tasks.len(), 1);
    let counts = seen.counts();
    assert!(counts.len() == 5_000 && counts.values().all(|&n| n == 1));
}

/// Without failures, the order of a sending task's tuples of one key stands, however late and
/// batched they come. (With replays it does not: exactly once, not in order.)
#[test]
fn e28_order_within_sender_and_key_stands() {
    for seed in seeds(60) {
        let mut builder = Topology::builder();
        let from = numbers(&mut builder, "from", 1, 500, |n| n % 11);
        let on = each(&mut builder, ("on", 4), (from, by_key()), |_| {
            |pair, out: &mut Out<'_>| {
                out.emit(pair);
                Ok(())
            }
        });
        let seen = sink(&mut builder, ("to", 4), (on, by_key()));
        let mut config = config(4);
        (config.queue, config.linger) = (1, us(seed * 37 % 3000));
        config.max_pending = 200;
        let faults = Faults { delay: ms(2), repeat_batches: 100_000, ..Faults::default() };
        let sim = Sim::new(cluster(4)).seed(seed).faults(faults);
        let outcome = sim.run(builder.build(config).unwrap()).unwrap();
        assert_eq!(outcome.report.replayed, 0);
        let mut last: BTreeMap<u64, u64> = BTreeMap::new();
        for (_, (key, n)) in seen.all() {
            let before = last.insert(key, n);
            assert!(before.is_none_or(|before| before < n), "seed {seed}: {n} after {before:?}");
        }
    }
}

/// Seventy thousand tasks run; more than a topology may have are an error that names the component.
#[test]
fn e31_seventy_thousand_tasks_run() {
    let declare = |tasks| {
        let mut builder = Topology::builder();
        let from = numbers(&mut builder, "from", 1, 2_000, |n| n);
        let seen = sink(&mut builder, ("to", tasks), (from, by_key()));
        let mut config = config(2);
        config.epoch = streamwright::EpochEnd::Records(1_000);
        (builder.build(config), seen)
    };
    let (topology, seen) = declare(70_000);
    let outcome = Sim::new(cluster(2)).run(topology.unwrap()).unwrap();
    assert_eq!(outcome.report.acked, 2_000);
    assert!(seen.counts().values().all(|&n| n == 1) && seen.counts().len() == 2_000);
    let tasks: BTreeSet<u32> = seen.all().into_iter().map(|(task, _)| task).collect();
    assert!(tasks.last().is_some_and(|&task| task > 32_767), "{tasks:?}");
    let (refused, _) = declare((1 << 24) + 1);
    let refused = refused.unwrap_err();
    let [BuildError::TooManyTasks { component, .. }] = refused.errors() else {
        panic!("{refused}")
    };
    assert_eq!(component, "to");
}

/// The ledger is exact with acks and without, and a delay of five milliseconds is one of five, not
/// of four or six.
#[test]
fn e32_figures_are_exact() {
    for guarantee in [Guarantee::AtMostOnce, Guarantee::AtLeastOnce, Guarantee::ExactlyOnce] {
        let mut builder = Topology::builder();
        let from = numbers(&mut builder, "from", 1, 200, |n| n);
        let seen = sink(&mut builder, ("to", 1), (from, by_key()));
        let mut config = config(2);
        (config.guarantee, config.ackers, config.batch) = (guarantee, 1, 1);
        config.max_pending = 1;
        // Half of it there, half of it back; nothing else takes time.
        let nothing = Overhead { step: Duration::ZERO, message: Duration::ZERO };
        let sim = Sim::new(Cluster::uniform(2, 1, Link::new(us(2_500), u64::MAX)));
        let sim = sim.overhead(nothing).cost("from", Cost::tuple(Duration::ZERO));
        let sim = sim.cost("to", Cost::tuple(Duration::ZERO));
        let report = sim.run(builder.build(config).unwrap()).unwrap().report;
        let edge = &report.streams[0];
        assert_eq!((edge.counters.transferred, edge.counters.executed), (200, 200));
        assert_eq!((edge.counters.lost, edge.in_flight()), (0, 0));
        assert_eq!(seen.all().len(), 200);
        for task in &report.tasks {
            let counts = (task.records, task.emitted, task.executed, task.failed, task.replayed);
            let expected = if task.component == "from" { (200, 200) } else { (0, 0) };
            assert_eq!(counts, (expected.0, expected.1, 200 - expected.0, 0, 0));
        }
        match report.latency {
            None => assert_eq!((guarantee, report.acked), (Guarantee::AtMostOnce, 0)),
            Some(latency) => {
                assert_eq!(report.acked, 200);
                let (low, high) = (us(4_995), us(5_005));
                assert!(low <= latency.p50 && latency.p50 <= high, "{latency:?}");
            }
        }
    }
}

/// What a run leaves: its trace, its events, and when it ended.
fn traced(names: [&str; 3], tasks: u32) -> (u64, u64, Duration) {
    let mut builder = Topology::builder();
    let from = numbers(&mut builder, names[0], tasks.min(8), 600, |n| n % 31);
    let twice = each(&mut builder, (names[1], tasks), (from, Grouping::shuffle()), |_| {
        |pair, out: &mut Out<'_>| {
            out.emit(pair);
            out.emit(pair);
            Ok(())
        }
    });
    let _ = sink(&mut builder, (names[2], tasks), (twice, by_key()));
    let mut config = config(6);
    (config.guarantee, config.attempts, config.timeout) = (Guarantee::ExactlyOnce, 100, ms(50));
    let faults = Faults {
        lose_tuples: 5_000,
        repeat_batches: 50_000,
        lose_acks: 20_000,
        delay: us(300),
        reorder: true,
        ..Faults::default()
    };
    let sim = Sim::new(cluster(3)).seed(45).faults(faults);
    let outcome = sim.run(builder.build(config).unwrap()).unwrap();
    assert!(outcome.report.replayed > 0);
    (outcome.trace, outcome.events, outcome.report.elapsed)
}

/// Twice in one process, with other names, with one task and with many; and in another process,
/// where every standard map hashes otherwise.
#[test]
fn e45_the_same_seed_is_the_same_run() {
    let name = "fault_table::e45_the_same_seed_is_the_same_run";
    let names = ["a", "b", "c"];
    let all = [1, 64].map(|tasks| traced(names, tasks));
    let printed = format!("traces {all:?}");
    if std::env::var_os("STREAMWRIGHT_TRACES").is_some() {
        println!("{printed}");
        return;
    }
    assert_eq!(all, [1, 64].map(|tasks| traced(names, tasks)));
    assert_eq!(all, [1, 64].map(|tasks| traced(["alpha", "beta", "gamma"], tasks)));
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args([name, "--exact", "--nocapture"])
        .env("STREAMWRIGHT_TRACES", "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&child.stdout);
    assert!(text.contains(&printed), "{printed} here, and there {text}");
}
