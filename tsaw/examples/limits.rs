//! One placement under all limits at once: memory, bandwidth, pins, a source, spread replicas,
//! tasks that belong together, racks and a dead node.
//!
//! ```sh
//! cargo run -p tsaw-storm --example limits
//! ```

use tsaw::{
    Cluster, Distance, Kind, Node, NodeId, Options, TaskGraphBuilder, TaskId, schedule, verify,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut builder = TaskGraphBuilder::new();
    let reader = builder.component("reader", Kind::Spout);
    let parse = builder.component("parse", Kind::Bolt);
    let store = builder.component("store", Kind::Bolt);
    let readers: Vec<TaskId> = (0..2).map(|_| builder.task(reader, 20)).collect();
    let parsers: Vec<TaskId> = (0..6).map(|_| builder.task(parse, 30)).collect();
    let stores: Vec<TaskId> = (0..3).map(|_| builder.task(store, 10)).collect();
    for &from in &readers {
        builder.needs_source(from);
        parsers.iter().for_each(|&to| builder.stream(from, to, 3_000));
    }
    for &to in &stores {
        builder.memory(to, 4_000);
        parsers.iter().for_each(|&from| builder.stream(from, to, 500));
    }
    builder.spread(&stores, 1);
    builder.colocate(readers[0], parsers[0]);
    let graph = builder.build()?;

    let node = Node::new(100).with_memory(6_000).with_bandwidth(25_000);
    let cluster = Cluster::new(vec![
        node.with_source(),
        node,
        node.dead(),
        node.in_rack(1).with_source(),
        node.in_rack(1),
    ])?
    .with_distance(Distance::Racks { same: 1, cross: 4 })?
    .with_imbalance(0.4)?
    .with_pin(stores[2], &[NodeId(3), NodeId(4)])?;

    let plan = schedule(&graph, &cluster, &Options::default())?;
    verify(&graph, &cluster, &plan.placement, &plan.certificate)?;
    for node in cluster.alive() {
        let on = (0..).map(TaskId).zip(plan.placement.nodes()).filter(|(_, at)| **at == node);
        let tasks: Vec<u32> = on.map(|(task, _)| task.0).collect();
        println!("{node}: tasks {tasks:?}");
    }
    let of = &plan.certificate;
    println!("cost {}, at least {}; peak {}", of.cost_after, of.cost_lower_bound, of.load.peak);
    Ok(())
}
