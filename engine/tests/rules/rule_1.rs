//! Rule 1: what a driver may do to messages, and what may not come of it.

use std::collections::HashMap;
use std::time::Duration;

use streamwright::{Config, Grouping, Guarantee, Topology};

use crate::dice::each_seed;
use crate::net::{MS, Net, Outcome};
use crate::parts::{Items, Log, Node, Source, settings};

/// Streams are cloned, for only such batches can be repeated by the network.
/// Spout 0 (2 tasks) → bolt 1 (3 tasks, shuffle, two of each) → sink 2 (2 tasks, by key).
pub fn line(log: &Log, config: Config, count: u64) -> Topology {
    let mut builder = Topology::builder();
    let l = log.clone();
    let source = builder.spout("source", 2, move |cx| Source::count(&l, 0, cx, count, 7));
    let l = log.clone();
    let twice = builder
        .bolt("twice", 3, move |cx| Node::pass(&l, 1, cx, 2))
        .input(source.clone(), Grouping::shuffle())
        .done();
    let l = log.clone();
    let _ = builder
        .bolt("sink", 2, move |cx| Node::sink(&l, 2, cx))
        .input(twice.clone(), Grouping::<Items>::fields(|item| item.key))
        .done();
    builder.build(config).unwrap()
}

/// Every root of the spouts has one verdict, and none is left.
pub fn one_verdict_each(out: &Outcome) -> (u64, u64) {
    assert_eq!(out.error, None);
    let spouts = out.figures.iter().flat_map(|f| &f.tasks).filter(|t| t.records > 0);
    let (mut records, mut acked, mut dead) = (0, 0, 0);
    for task in spouts {
        records += task.records;
        acked += task.acked;
        dead += task.failed;
    }
    assert_eq!(records, acked + dead, "a root without a verdict, or with two");
    assert!(out.figures.iter().all(|f| f.unfinished.is_empty()));
    assert_eq!(out.records, records);
    (acked, dead)
}

pub fn replayed(out: &Outcome) -> u64 {
    out.figures.iter().flat_map(|f| &f.tasks).map(|t| t.replayed).sum()
}

#[test]
fn rule_1_1_messages_words_and_reports_come_in_any_order() {
    each_seed(1000, |seed| {
        let log = Log::default();
        let topology = line(&log, settings(1 + (seed % 3) as u32, |_| {}), 20);
        let mut net = Net::new(&topology, seed, &log);
        *net.odds() = crate::net::Odds { reorder: true, delay: 3 * MS, ..net.odds().clone() };
        let out = net.run();
        assert_eq!(one_verdict_each(&out), (40, 0));
        assert_eq!(replayed(&out), 0);
        assert_eq!(log.items(2).len(), 80);
    });
}

#[test]
fn rule_1_2_repeats_are_dropped_on_every_lane() {
    each_seed(1000, |seed| {
        let log = Log::default();
        let guarantee = if seed % 4 == 0 { Guarantee::AtMostOnce } else { Guarantee::AtLeastOnce };
        let topology = line(&log, settings(1 + (seed % 3) as u32, |c| c.guarantee = guarantee), 20);
        let mut net = Net::new(&topology, seed, &log);
        let odds = net.odds();
        odds.reorder = seed % 2 == 0;
        odds.delay = 2 * MS;
        odds.repeat_batches = 300_000;
        odds.repeat_messages = 300_000;
        let out = net.run();
        assert!(out.copies > 0 && out.repeats >= out.copies);
        if guarantee == Guarantee::AtLeastOnce {
            assert_eq!(one_verdict_each(&out), (40, 0));
        }
        // Each tuple once, and duplicates alone cause no replay.
        assert_eq!(replayed(&out), 0);
        assert_eq!(log.items(1).len(), 40);
        assert_eq!(log.items(2).len(), 80);
    });
}

#[test]
fn rule_1_2_batches_of_another_incarnation_are_dropped() {
    each_seed(300, |seed| {
        let log = Log::default();
        let topology = line(&log, settings(2, |_| {}), 20);
        let mut net = Net::new(&topology, seed, &log);
        net.odds().repeat_batches = 500_000;
        net.odds().stale_copies = true;
        net.odds().delay = 2 * MS;
        let out = net.run();
        assert!(out.copies > 0 && out.repeats > 0);
        assert_eq!(one_verdict_each(&out), (40, 0));
        assert_eq!(log.items(2).len(), 80);
        assert_eq!(replayed(&out), 0);
    });
}

/// A batch that waits long for room in its queue must not be taken for a repeat by then, however
/// many batches went past it to other components of that worker.
#[test]
fn rule_1_2_a_batch_that_waited_in_the_outbox_is_no_repeat() {
    let log = Log::default();
    let config = settings(2, |c| {
        c.guarantee = Guarantee::AtMostOnce;
        c.batch = 1;
        c.queue = 1;
        c.epoch = streamwright::EpochEnd::Every(Duration::from_secs(1000));
    });
    let mut builder = Topology::builder();
    // By their names: sources on worker 0, sinks on worker 1.
    for (node, (source, sink, count)) in
        [("a", "b", 20), ("c", "d", 20_000)].into_iter().enumerate()
    {
        let node = 2 * node as u32;
        let l = log.clone();
        let stream = builder.spout(source, 1, move |cx| Source::count(&l, node, cx, count, 1));
        let l = log.clone();
        let _ = builder
            .bolt(sink, 1, move |cx| Node::sink(&l, node + 1, cx))
            .input(stream, Grouping::shuffle())
            .done();
    }
    let topology = builder.build(config).unwrap();
    let plan = topology.plan().clone();
    let slow = plan.components.iter().find(|c| c.name == "b").unwrap().first_task;
    let mut net = Net::new(&topology, 1, &log);
    net.odds().delay = 0;
    // A slow tuple costs nothing in time (it would hold its whole worker), but its queue is full
    // until the fast ones are through.
    net.cost(move |task, _| if task == slow { 1 } else { 100 });
    net.hold_places(1, slow_component(&plan), 60 * MS);
    let out = net.run();
    assert_eq!(log.items(1).len(), 20, "waited, and were then dropped as repeats");
    assert_eq!(log.items(3).len(), 20_000);
    assert_eq!(out.repeats, 0);
}

fn slow_component(plan: &streamwright::core::Plan) -> u32 {
    plan.components.iter().position(|c| c.name == "b").unwrap() as u32
}

#[test]
fn rule_1_3_a_batch_counts_until_applied_whole() {
    each_seed(1000, |seed| {
        let log = Log::default();
        let topology = line(&log, settings(1 + (seed % 4) as u32, |c| c.window = 1), 20);
        let mut net = Net::new(&topology, seed, &log);
        let odds = net.odds();
        odds.reorder = true;
        odds.delay = 5 * MS;
        // Originals are lost while their copies live: the copy counts (no epoch may pass it).
        odds.repeat_batches = 400_000;
        odds.lose_batches = 200_000;
        let out = net.run();
        let (acked, dead) = one_verdict_each(&out);
        assert_eq!(acked + dead, 40);
        ledger(&topology, &out);
    });
}

/// Every tuple sent over an edge was executed or is known lost.
pub fn ledger(topology: &Topology, out: &Outcome) {
    let mut edges: HashMap<usize, (u64, u64, u64)> = HashMap::new();
    for figures in &out.figures {
        for (i, edge) in figures.edges.iter().enumerate() {
            let sum = edges.entry(i).or_default();
            sum.0 += edge.transferred;
            sum.1 += edge.executed;
            sum.2 += edge.lost;
        }
    }
    for i in 0..topology.plan().edges.len() {
        let (transferred, executed, lost) = edges[&i];
        assert_eq!(transferred, executed + lost, "edge {i}");
    }
}
