//! Strategies for what a case runs on in the sim: nodes, links, costs, and what befalls them.

use std::time::Duration;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use streamwright::sim::{Cluster, Cost, Event, Fault, Faults, Link, Node, Sim};

use crate::build::name;
use crate::case::Case;

/// A cluster, what the code costs on it, and the seed of its chances.
#[derive(Clone, Debug)]
pub struct World {
    pub nodes: Vec<NodeCase>,
    /// Latency in microseconds and bytes a second.
    pub link: (u64, u64),
    /// Nanoseconds a tuple of each component, in turn.
    pub costs: Vec<u64>,
    pub seed: u64,
}

#[derive(Clone, Copy, Debug)]
pub struct NodeCase {
    pub cores: u32,
    /// In tenths.
    pub speed: u32,
}

pub fn us(n: u64) -> Duration {
    Duration::from_micros(n)
}

pub fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

prop_compose! {
    pub fn world()(
        nodes in vec((1..=2_u32, 5..=20_u32), 1..=4),
        link in (0..300_u64, prop_oneof![Just(u64::MAX), 100_000..100_000_000_u64]),
        costs in vec(0..100_000_u64, 1..=9),
        seed in any::<u64>().no_shrink(),
    ) -> World {
        let nodes = nodes.into_iter().map(|(cores, speed)| NodeCase { cores, speed }).collect();
        World { nodes, link, costs, seed }
    }
}

impl World {
    /// The simulation of a case in this world. It has an hour of virtual time, and of events what a
    /// run that makes progress never needs.
    pub fn sim(&self, case: &Case, faults: Faults) -> Sim {
        let mut cluster =
            Cluster::uniform(self.nodes.len(), 1, Link::new(us(self.link.0), self.link.1));
        for (node, of) in cluster.nodes.iter_mut().zip(&self.nodes) {
            *node = Node { cores: of.cores, speed: f64::from(of.speed) / 10.0, ..node.clone() };
        }
        let on = case.settings.nodes.iter().map(|&n| n as usize % self.nodes.len()).collect();
        let mut sim = Sim::new(cluster).workers_on(on).seed(self.seed).faults(faults);
        let costs = self.costs.iter().cycle();
        for (node, &cost) in (0..case.spouts.len() + case.bolts.len()).zip(costs) {
            sim = sim.cost(&name(case, node), Cost::tuple(Duration::from_nanos(cost)));
        }
        sim.most_events(3_000_000)
    }
}

/// A chance in a million, up to `most`, that is often none at all.
fn chance(most: u32) -> impl Strategy<Value = u32> {
    option::of(0..most).prop_map(|chance| chance.unwrap_or(0))
}

/// What a node may go through and come back from: nodes are folded to those that there are.
fn event() -> impl Strategy<Value = Event> {
    let time = |most: u64| (0..most).prop_map(us);
    prop_oneof![
        (0..4_usize, time(100_000)).prop_map(|(node, lasts)| Event::Unreachable { node, lasts }),
        (0..4_usize, 1..50_u32, time(100_000)).prop_map(|(node, factor, lasts)| {
            Event::Slow { node, factor: f64::from(factor), lasts }
        }),
    ]
}

prop_compose! {
    /// Repeats, and only those.
    pub fn repeats()(
        (repeat_batches, stale_batches) in (chance(500_000), chance(200_000)),
        (repeat_acks, repeat_control) in (chance(500_000), chance(500_000)),
        (delay, reorder) in ((0..3000_u64).prop_map(us), any::<bool>()),
    ) -> Faults {
        Faults {
            repeat_batches, stale_batches, repeat_acks, repeat_control, delay, reorder,
            ..Faults::default()
        }
    }
}

prop_compose! {
    /// Everything that a topology must live through without a new start.
    pub fn faults()(
        repeats in repeats(),
        (lose_tuples, lose_batches) in (chance(40_000), chance(60_000)),
        (lose_acks, lose_control) in (chance(60_000), chance(100_000)),
        events in vec((0..50_000_u64, event()), 0..=2),
    ) -> Faults {
        let events = events.into_iter().map(|(at, event)| Fault::at(us(at), event)).collect();
        Faults { lose_tuples, lose_batches, lose_acks, lose_control, events, ..repeats }
    }
}

prop_compose! {
    /// As [`faults`], and nodes crash, or are given up where nobody reaches them for too long.
    pub fn crashes()(
        faults in faults(),
        crashes in vec((0..30_000_u64, 0..4_usize), 1..=3),
        limit in option::of((5_000..50_000_u64).prop_map(us)),
    ) -> Faults {
        let crash = |(at, node)| Fault::at(us(at), Event::Crash { node });
        let events = faults.events.iter().copied().chain(crashes.into_iter().map(crash)).collect();
        Faults { events, unreachable_after: limit, ..faults }
    }
}

/// The same events at nodes that there are.
pub fn within(mut faults: Faults, world: &World) -> Faults {
    let nodes = world.nodes.len();
    for fault in &mut faults.events {
        match &mut fault.event {
            Event::Crash { node } | Event::Unreachable { node, .. } | Event::Slow { node, .. } => {
                *node %= nodes;
            }
            _ => {}
        }
    }
    faults
}
