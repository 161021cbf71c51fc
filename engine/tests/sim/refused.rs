//! Scenarios that make no sense are refused before they run, by name.

use std::time::Duration;

use streamwright::sim::{Cluster, Cost, Event, Fault, Faults, Link, Overhead, Sim, SimError};

use crate::common::{chain, cluster, config, ms};

fn refused(sim: Sim, says: &str) -> SimError {
    let (topology, seen) = chain(["lines", "split", "count"], 2, 10, config(2));
    let error = sim.run(topology).unwrap_err();
    assert!(error.to_string().contains(says), "{error}");
    assert!(seen.lock().unwrap().is_empty());
    error
}

fn with(change: impl FnOnce(&mut Cluster)) -> Sim {
    let mut cluster = cluster(2);
    change(&mut cluster);
    Sim::new(cluster)
}

fn event(event: Event) -> Sim {
    let events = vec![Fault::at(ms(1), Event::Crash { node: 0 }), Fault::at(ms(1), event)];
    Sim::new(cluster(2)).faults(Faults { events, ..Faults::default() })
}

type Set = fn(&mut Faults, u32);

const FOREVER: Duration = Duration::MAX;

#[test]
fn clusters() {
    assert_eq!(refused(with(|c| c.nodes.clear()), "no node"), SimError::NoNode);
    let many = |c: &mut Cluster| c.nodes = vec![c.nodes[0].clone(); 1_025];
    refused(with(many), "1025 nodes, over the limit of 1024");
    refused(with(|c| c.nodes[1].cores = 0), "node 1 (node1) has no core");
    for speed in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-9, 1e9] {
        refused(with(|c| c.nodes[1].speed = speed), &format!("node 1 (node1) has speed {speed}"));
    }
    let dead = Link::new(ms(1), 0);
    refused(with(|c| c.link = dead), "the link between nodes has bandwidth 0");
    refused(with(|c| c.local = dead), "the link within a node has bandwidth 0");
    refused(with(|c| c.links = vec![(0, 1, dead)]), "the link between nodes 0 and 1 has bandwidth");
    refused(with(|c| c.links = vec![(0, 2, Link::INSTANT)]), "a link is between nodes 0 and 2");
    refused(with(|c| c.links = vec![(1, 1, Link::INSTANT)]), "a link is between nodes 1 and 1");
    refused(with(|c| c.link.latency = FOREVER), "the latency of the link between nodes is");
}

#[test]
fn components_and_workers() {
    let sim = || Sim::new(cluster(2));
    let error = refused(sim().cost("splitt", Cost::default()), "did you mean \"split\"?");
    let SimError::UnknownComponent { field: "cost", component, nearest } = error else {
        panic!("{error}");
    };
    assert_eq!((component.as_str(), nearest.as_deref()), ("splitt", Some("split")));
    refused(sim().bytes("bogus", 1), "bytes is given for the component \"bogus\"");
    refused(sim().cost("split", Cost::tuple(FOREVER)), "the cost of a tuple of split is");
    let overhead = Overhead { step: FOREVER, ..Overhead::default() };
    refused(sim().overhead(overhead), "the overhead of a step is");
    refused(sim().workers_on(vec![0, 2]), "worker 1 is on node 2, and there are 2 nodes");
    refused(sim().workers_on(vec![0]), "nodes are given for 1 workers, and the topology has 2");
}

#[test]
fn faults() {
    let chances: [(&str, Set); 8] = [
        ("lose_tuples", |f, n| f.lose_tuples = n),
        ("lose_batches", |f, n| f.lose_batches = n),
        ("repeat_batches", |f, n| f.repeat_batches = n),
        ("stale_batches", |f, n| f.stale_batches = n),
        ("lose_acks", |f, n| f.lose_acks = n),
        ("repeat_acks", |f, n| f.repeat_acks = n),
        ("lose_control", |f, n| f.lose_control = n),
        ("repeat_control", |f, n| f.repeat_control = n),
    ];
    for (name, set) in chances {
        let mut faults = Faults::default();
        set(&mut faults, 1_000_001);
        let sim = Sim::new(cluster(2)).faults(faults);
        refused(sim, &format!("{name} is 1000001 in a million"));
    }
    let delay = Faults { delay: FOREVER, ..Faults::default() };
    refused(Sim::new(cluster(2)).faults(delay), "delay is");
    refused(event(Event::Crash { node: 2 }), "fault 1 happens to node 2, and there are 2 nodes");
    for factor in [0.0, f64::NAN, -3.0] {
        let slow = Event::Slow { node: 0, factor, lasts: ms(1) };
        refused(event(slow), &format!("fault 1 slows a node by {factor}"));
    }
    refused(event(Event::Unreachable { node: 0, lasts: FOREVER }), "the length of fault 1 is");
}
