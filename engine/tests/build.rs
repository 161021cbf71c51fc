//! What `build` accepts, refuses and draws.

#![allow(clippy::unwrap_used, reason = "a test reports a failure by panicking")]

#[path = "build/errors.rs"]
mod errors;
#[path = "build/settings.rs"]
mod settings;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use streamwright::{
    Bolt, BoxError, Config, Emitter, Execute, Grouping, Poll, Spout, SpoutEmitter, Stream,
    Topology, TopologyBuilder, threads,
};

/// A spout of nothing.
struct Nothing;

impl Spout for Nothing {
    type Out = Vec<u64>;

    fn next(&mut self, _: &mut SpoutEmitter<'_, Vec<u64>>) -> Result<Poll, BoxError> {
        Ok(Poll::End)
    }
}

/// A bolt that passes on.
struct Pass;

impl Bolt for Pass {
    type Out = Vec<u64>;
}

impl Execute<Vec<u64>> for Pass {
    fn execute(&mut self, n: &u64, out: &mut Emitter<'_, Vec<u64>>) -> Result<(), BoxError> {
        out.emit(*n);
        Ok(())
    }
}

fn spout(builder: &mut TopologyBuilder, name: &str, tasks: u32) -> Stream<Vec<u64>> {
    builder.spout(name, tasks, |_| Ok(Nothing))
}

type Input = (Stream<Vec<u64>>, Grouping<Vec<u64>>);

fn pass(
    builder: &mut TopologyBuilder,
    name: &str,
    tasks: u32,
    inputs: Vec<Input>,
) -> Stream<Vec<u64>> {
    let bolt = builder.bolt(name, tasks, |_| Ok(Pass));
    inputs.into_iter().fold(bolt, |bolt, (stream, by)| bolt.input(stream, by)).done()
}

/// Spouts a and b, c of both, d of c and a, and a lone pair x, y.
fn diamond() -> Topology {
    let mut builder = Topology::builder();
    let a = spout(&mut builder, "a", 2);
    let b = spout(&mut builder, "b", 1);
    let c =
        pass(&mut builder, "c", 3, vec![(a.clone(), Grouping::shuffle()), (b, Grouping::whole())]);
    let _ = pass(&mut builder, "d", 1, vec![(c, Grouping::global()), (a, Grouping::all())]);
    let x = spout(&mut builder, "x", 1);
    let _ = pass(&mut builder, "y \"quoted\"", 2, vec![(x, Grouping::weighted([1, 2]))]);
    builder.build(Config::default()).unwrap()
}

#[test]
fn the_drawing_is_this_one() {
    let expected = r#"digraph {
    0 [ label = "a ×2" ]
    1 [ label = "b ×1" ]
    2 [ label = "c ×3" ]
    3 [ label = "d ×1" ]
    4 [ label = "x ×1" ]
    5 [ label = "y \"quoted\" ×2" ]
    0 -> 2 [ label = "shuffle" ]
    1 -> 2 [ label = "fields" ]
    2 -> 3 [ label = "global" ]
    0 -> 3 [ label = "all" ]
    4 -> 5 [ label = "weighted" ]
}
"#;
    assert_eq!(diamond().dot(), expected);
}

#[test]
fn reachable_are_all_downstream_and_no_others_in_order() {
    let topology = diamond();
    assert_eq!(topology.reachable("a"), ["c", "d"]);
    assert_eq!(topology.reachable("b"), ["c", "d"]);
    assert_eq!(topology.reachable("c"), ["d"]);
    assert_eq!(topology.reachable("d"), [""; 0]);
    assert_eq!(topology.reachable("x"), ["y \"quoted\""]);
    assert_eq!(topology.reachable("nobody"), [""; 0]);
}

#[test]
fn components_come_after_all_that_feed_them() {
    let topology = diamond();
    let plan = topology.plan();
    for edge in &plan.edges {
        let rank = |component: u32| plan.components[component as usize].rank;
        assert!(rank(edge.from) < rank(edge.to), "{edge:?}");
    }
}

/// The worker of each task, by the component's name and the task's number there.
fn workers(topology: &Topology) -> BTreeMap<(String, u32), u32> {
    let plan = topology.plan();
    let table = plan.tables.at(0);
    let mut places = BTreeMap::new();
    for component in &plan.components {
        for task in 0..component.tasks {
            let worker = table.workers[(component.first_task + task) as usize];
            places.insert((component.name.clone(), task), worker);
        }
    }
    places
}

type Seeds = Arc<Mutex<BTreeMap<(String, u32), u64>>>;

/// Four spouts and a bolt of each, the spouts declared in the order of `order`, the bolts in the
/// opposite one.
fn declared_in(order: [usize; 4], seeds: &Seeds) -> Topology {
    let mut builder = Topology::builder();
    let mut streams: Vec<_> = order
        .iter()
        .map(|&i| {
            let seeds = Arc::clone(seeds);
            let name = format!("spout {i}");
            let stream = builder.spout(&name, 1 + i as u32, move |task| {
                let key = (task.component().to_owned(), task.index());
                seeds.lock().unwrap().insert(key, task.seed());
                Ok(Nothing)
            });
            (i, stream)
        })
        .collect();
    streams.reverse();
    for (i, stream) in streams {
        let by = vec![(stream, Grouping::whole())];
        let _ = pass(&mut builder, &format!("bolt {i}"), 7 - i as u32, by);
    }
    let mut config = Config::default();
    config.workers = 3;
    config.seed = 42;
    builder.build(config).unwrap()
}

#[test]
fn assignment_and_seeds_do_not_depend_on_the_order_of_declaration() {
    let mut first = None;
    for a in 0..4 {
        for b in (0..4).filter(|&b| b != a) {
            for c in (0..4).filter(|&c| c != a && c != b) {
                let order = [a, b, c, 6 - a - b - c];
                let seeds = Seeds::default();
                let topology = declared_in(order, &seeds);
                let places = workers(&topology);
                let _ = threads::run(topology).unwrap();
                let seeds = seeds.lock().unwrap().clone();
                assert_eq!(seeds.len(), 10);
                let now = (places, seeds);
                assert_eq!(first.get_or_insert_with(|| now.clone()), &now, "{order:?}");
            }
        }
    }
    let (places, seeds) = first.unwrap();
    assert_eq!(places.len(), 32);
    let distinct: std::collections::BTreeSet<_> = seeds.values().collect();
    assert_eq!(distinct.len(), seeds.len());
}

#[test]
fn tasks_go_round_the_workers_evenly() {
    let places = workers(&declared_in([0, 1, 2, 3], &Seeds::default()));
    let on = |worker| places.values().filter(|&&of| of == worker).count();
    assert_eq!([on(0), on(1), on(2)], [11, 11, 10]);
}

#[test]
fn seventy_thousand_tasks_are_accepted() {
    let mut builder = Topology::builder();
    let stream = spout(&mut builder, "one", 1);
    let _ = pass(&mut builder, "many", 70_000, vec![(stream, Grouping::whole())]);
    let topology = builder.build(Config::default()).unwrap();
    let plan = topology.plan();
    assert_eq!(plan.component_of.len(), 70_001);
    // Each of them owns some slots.
    assert!(70_000 <= 1 << plan.slot_bits(1));
}
