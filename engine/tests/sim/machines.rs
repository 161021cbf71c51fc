//! Links, cores, speeds, the clock: hand-computed.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use streamwright::sim::{
    Cluster, Cost, Event, Fault, Faults, Link, Node, Outcome, Overhead, Sim, Traffic,
};
use streamwright::{
    Bolt, BoxError, Config, Emitter, Execute, Grouping, Guarantee, Nanos, Poll, Spout,
    SpoutEmitter, Topology,
};

use crate::common::{Counting, Seen, chain, config, exactly_once, ms, ns, numbers, us};

const FREE: Overhead = Overhead { step: Duration::ZERO, message: Duration::ZERO };
const NOTHING: Cost = Cost { tuple: Duration::ZERO, call: Duration::ZERO };

/// When each record left, or came.
type Times = Arc<Mutex<Vec<Nanos>>>;

struct Stamping(Times, u64);

impl Spout for Stamping {
    type Out = Vec<u64>;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Vec<u64>>) -> Result<Poll, BoxError> {
        if self.1 == 0 {
            return Ok(Poll::End);
        }
        self.1 -= 1;
        self.0.lock().unwrap().push(out.now());
        out.emit(self.1);
        Ok(Poll::More)
    }
}

struct Noting(Times);

impl Bolt for Noting {
    type Out = ();
}

impl Execute<Vec<u64>> for Noting {
    fn execute(&mut self, _: &u64, out: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
        self.0.lock().unwrap().push(out.now());
        Ok(())
    }
}

/// One spout at worker 0, one sink at worker 1, batches of one.
fn pair(records: u64, change: impl FnOnce(&mut Config)) -> (Topology, Times, Times) {
    let (sent, came) = (Times::default(), Times::default());
    let mut builder = Topology::builder();
    let times = Arc::clone(&sent);
    let from = builder.spout("a", 1, move |_| Ok(Stamping(Arc::clone(&times), records)));
    let times = Arc::clone(&came);
    let sink = builder.bolt("b", 1, move |_| Ok(Noting(Arc::clone(&times))));
    sink.input(from, Grouping::shuffle()).done();
    let mut config = config(2);
    config.guarantee = Guarantee::AtMostOnce;
    config.batch = 1;
    config.queue = 100;
    change(&mut config);
    (builder.build(config).unwrap(), sent, came)
}

/// On two nodes, a megabyte a second and 5 ms apart, where code costs nothing.
fn two_nodes() -> Sim {
    Sim::new(Cluster::uniform(2, 1, Link::new(ms(5), 1_000_000)))
        .overhead(FREE)
        .cost("a", NOTHING)
        .cost("b", NOTHING)
        .bytes("a", 952)
}

#[test]
fn a_batch_takes_bytes_by_bandwidth_and_the_latency_to_the_nanosecond() {
    let (topology, sent, came) = pair(3, |_| {});
    let outcome = two_nodes().run(topology).unwrap();
    let (sent, came) = (sent.lock().unwrap(), came.lock().unwrap());
    // 952 bytes and a header of 48, at a byte a microsecond: one after the other on the wire.
    let wire = 1_000_000;
    assert_eq!(came[0], sent[0] + wire + 5_000_000);
    assert_eq!((came[1], came[2]), (came[0] + wire, came[0] + 2 * wire));
    let links: Vec<_> = outcome.links.iter().map(|link| (link.from, link.to, link.busy)).collect();
    assert_eq!(links, [(0, 1, 3 * ns(wire))]);
    let Traffic { batches, tuples, messages, bytes, .. } = outcome.between_nodes();
    assert_eq!((batches, tuples, messages, bytes), (3, 3, 0, 3_000));
}

#[test]
fn an_exception_counts_both_ways_and_a_node_itself_is_instant() {
    let mut cluster = Cluster::uniform(3, 2, Link::new(ms(5), u64::MAX));
    cluster.links = vec![(2, 0, Link::new(ms(30), u64::MAX))];
    for (on, way) in [(vec![0, 1], 5), (vec![0, 2], 30), (vec![2, 0], 30), (vec![1, 1], 0)] {
        let (topology, sent, came) = pair(1, |_| {});
        let sim = Sim::new(cluster.clone()).overhead(FREE).cost("a", NOTHING).cost("b", NOTHING);
        let outcome = sim.workers_on(on.clone()).run(topology).unwrap();
        // A worker that has just looked for work takes a nanosecond for it.
        let time = came.lock().unwrap()[0] - sent.lock().unwrap()[0];
        assert!((way * 1_000_000..=way * 1_000_000 + 1).contains(&time), "{on:?}: {time}");
        assert_eq!(outcome.between_nodes().batches, u64::from(on[0] != on[1]));
    }
}

/// The costs of spout and sink delay what comes after them.
#[test]
fn what_code_costs_delays_its_output() {
    let (topology, sent, came) = pair(2, |_| {});
    let sim = Sim::new(Cluster::uniform(2, 1, Link::new(ms(1), u64::MAX))).overhead(FREE);
    let cost = Cost { tuple: us(300), call: us(50) };
    let outcome = sim.cost("a", cost).cost("b", Cost::tuple(ms(2))).run(topology).unwrap();
    let (sent, came) = (sent.lock().unwrap(), came.lock().unwrap());
    assert_eq!((came[0], sent[1]), (sent[0] + 1_350_000, sent[0] + 350_000));
    assert_eq!(came[1], came[0] + 2_000_000);
    let task = |name| outcome.report.tasks.iter().find(|t| t.component == name).unwrap();
    assert_eq!((task("b").cost, task("b").longest), (ms(4), ms(2)));
    assert_eq!(task("b").executed, 2);
}

/// Four workers with four milliseconds of work each: on one core one after the other.
fn work(node: Node) -> Outcome {
    let seen = Seen::default();
    let mut builder = Topology::builder();
    let from = numbers(&mut builder, "a", 1, 80);
    let to = Arc::clone(&seen);
    builder
        .bolt("b", 4, move |_| Ok(Counting(Arc::clone(&to))))
        .input(from, Grouping::shuffle())
        .done();
    let topology = builder.build(config(4)).unwrap();
    let cluster = Cluster { nodes: vec![node], ..Cluster::uniform(0, 0, Link::INSTANT) };
    let sim = Sim::new(cluster).overhead(FREE).cost("a", NOTHING).cost("b", Cost::tuple(ms(1)));
    let outcome = sim.run(topology).unwrap();
    exactly_once(&seen, 80);
    outcome
}

#[test]
fn cores_are_shared_by_the_workers_of_a_node() {
    for cores in [1, 2, 4, 8] {
        let outcome = work(Node { cores, ..Node::default() });
        let node = &outcome.nodes[0];
        let least = ms(80) / cores.min(4);
        assert!(node.busy >= ms(80) && node.busy < ms(81), "{:?}", node.busy);
        assert!(outcome.report.elapsed >= least, "{:?}", outcome.report.elapsed);
        // The last batches are not even: at most two of eight are left to one core.
        assert!(outcome.report.elapsed < least + ms(17), "{:?}", outcome.report.elapsed);
        assert!(node.utilisation > 0.0 && node.utilisation <= 1.0);
        assert!(outcome.report.tasks.iter().all(|task| task.capacity <= 1.0));
    }
}

#[test]
fn speed_and_slowness_scale_the_cost() {
    for (speed, cost) in [(1.0, ms(80)), (2.0, ms(40)), (0.5, ms(160)), (4.0, ms(20))] {
        let outcome = work(Node { speed, cores: 4, ..Node::default() });
        let sum: Duration = outcome.report.tasks.iter().map(|task| task.cost).sum();
        assert_eq!(sum, cost, "at speed {speed}");
    }
    let (topology, _, came) = pair(5, |_| {});
    let slow = Event::Slow { node: 1, factor: 3.0, lasts: ms(1_000) };
    let faults = Faults { events: vec![Fault::at(ms(0), slow)], ..Faults::default() };
    let outcome = two_nodes().faults(faults).cost("b", Cost::tuple(ms(2))).run(topology).unwrap();
    assert_eq!(outcome.report.tasks[1].longest, ms(6));
    // A step that finds nothing to do takes its nanosecond.
    let came = came.lock().unwrap();
    assert!(came.windows(2).all(|pair| (pair[1] - pair[0]) / 10 == 600_000), "{came:?}");
}

/// A step far longer than the time-out fails no root; a way as long does.
#[test]
fn the_clock_stands_in_a_long_step_and_runs_while_messages_travel() {
    let run = |link, cost| {
        let (topology, _, came) = pair(4, |c| {
            c.guarantee = Guarantee::AtLeastOnce;
            c.timeout = ms(100);
        });
        let sim = Sim::new(Cluster::uniform(2, 1, link)).cost("b", Cost::tuple(cost));
        let outcome = sim.run(topology).unwrap();
        (outcome, came.lock().unwrap().len())
    };
    let (outcome, came) = run(Link::INSTANT, ms(700));
    assert_eq!((outcome.report.replayed, outcome.report.acked, came), (0, 4, 4));
    assert_eq!(outcome.report.overruns, [("b".to_owned(), 0, ms(700))]);
    let (outcome, came) = run(Link::new(ms(130), u64::MAX), us(1));
    assert!(outcome.report.replayed > 0 && came > 4);
    assert!(outcome.report.complete);
}

#[test]
fn queues_keep_their_bound_and_their_senders_wait() {
    for queue in [1, 2, 5] {
        let mut config = config(6);
        config.queue = queue;
        let (topology, seen) = chain(["a", "b", "c"], 6, 2_000, config);
        let sim = Sim::new(crate::common::cluster(2)).cost("c", Cost::tuple(us(40)));
        let outcome = sim.run(topology).unwrap();
        exactly_once(&seen, 2_000);
        assert!(outcome.peak_queue >= 1 && outcome.peak_queue <= queue, "{}", outcome.peak_queue);
        assert!(outcome.report.workers.iter().any(|worker| worker.blocked > ms(0)));
        assert!(outcome.nodes.iter().all(|node| node.peak_bytes > 0));
    }
}

#[test]
fn seventy_thousand_tasks_run() {
    let seen = Seen::default();
    let mut builder = Topology::builder();
    let from = numbers(&mut builder, "a", 1, 70_000);
    let to = Arc::clone(&seen);
    builder
        .bolt("b", 70_000, move |_| Ok(Counting(Arc::clone(&to))))
        .input(from, Grouping::shuffle())
        .done();
    let mut config = config(8);
    config.batch = 1024;
    config.max_pending = 8192;
    let outcome = Sim::new(crate::common::cluster(4)).run(builder.build(config).unwrap()).unwrap();
    exactly_once(&seen, 70_000);
    let used = outcome.report.tasks.iter().filter(|task| task.executed == 1).count();
    assert_eq!(used, 70_000);
}
