//! What a maximum flow costs: `flownet` beside petgraph and pathfinding.
//!
//! ```sh
//! cargo bench -p benches --features peers --bench flow
//! ```
//!
//! All times are CPU times of the process, since the machine may be busy. A name behind `--` picks
//! the networks whose name has it: `cargo bench ... -- layered-1500/`.
//!
//! In the clock, for each alike: from a list of arcs to the flow of every arc, the graph of the
//! library's own included. `flownet` also finds both extreme cuts, and pathfinding one; petgraph
//! finds none. Peers run where they end within half a minute: petgraph's `dinics` does not on the
//! largest layered network and the grid, nor its `ford_fulkerson` and pathfinding's `edmonds_karp`
//! on all but the smallest. That all values are equal is checked before anything is timed.

#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Duration;

use benches::networks::{self, Instance};
use cpu_time::ProcessTime;
use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use flownet::{Answer, Method, Solver};
use pathfinding::directed::edmonds_karp::{EKFlows, SparseCapacity, edmonds_karp};
use petgraph::algo::maximum_flow::{dinics, ford_fulkerson};
use petgraph::graph::{DiGraph, NodeIndex};

/// Measures the CPU time of the process.
struct CpuTime;

impl Measurement for CpuTime {
    type Intermediate = ProcessTime;
    type Value = Duration;

    fn start(&self) -> ProcessTime {
        ProcessTime::now()
    }

    fn end(&self, begin: ProcessTime) -> Duration {
        begin.elapsed()
    }

    fn add(&self, one: &Duration, other: &Duration) -> Duration {
        *one + *other
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        WallTime.to_f64(value)
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}

fn ours(net: &Instance, method: Method) -> Answer<u64> {
    Solver::new(&net.network()).method(method).solve().unwrap()
}

fn of_petgraph(net: &Instance) -> DiGraph<(), u64> {
    let mut graph = DiGraph::with_capacity(net.nodes as usize, net.arcs.len());
    for _ in 0..net.nodes {
        graph.add_node(());
    }
    let node = |index: u32| NodeIndex::new(index as usize);
    for &(from, to, capacity) in &net.arcs {
        graph.add_edge(node(from), node(to), capacity);
    }
    graph
}

fn ends(net: &Instance) -> (NodeIndex, NodeIndex) {
    (NodeIndex::new(net.source as usize), NodeIndex::new(net.sink as usize))
}

fn by_dinics(net: &Instance) -> (u64, Vec<u64>) {
    let (source, sink) = ends(net);
    dinics(&of_petgraph(net), source, sink)
}

fn by_ford_fulkerson(net: &Instance) -> (u64, Vec<u64>) {
    let (source, sink) = ends(net);
    ford_fulkerson(&of_petgraph(net), source, sink)
}

/// Parallel arcs would overwrite each other there, so they are added up first.
fn by_pathfinding(net: &Instance) -> EKFlows<u32, i64> {
    let nodes: Vec<u32> = (0..net.nodes).collect();
    let mut arcs: BTreeMap<(u32, u32), i64> = BTreeMap::new();
    for &(from, to, capacity) in &net.arcs {
        *arcs.entry((from, to)).or_default() += i64::try_from(capacity).unwrap();
    }
    edmonds_karp::<_, _, _, SparseCapacity<_>>(&nodes, &net.source, &net.sink, arcs)
}

fn flows(c: &mut Criterion<CpuTime>) {
    for net in networks::all() {
        let value = ours(&net, Method::Auto).value;
        let mut group = c.benchmark_group(net.name);
        group.sample_size(10).warm_up_time(Duration::from_millis(200));
        group.measurement_time(Duration::from_secs(2));
        let id = |name| BenchmarkId::from_parameter(name);
        group.bench_with_input(id("flownet auto"), &net, |b, net| {
            b.iter(|| ours(black_box(net), Method::Auto));
        });
        if net.name == "layered-1500" {
            assert_eq!(ours(&net, Method::EdmondsKarp).value, value);
            assert_eq!(by_ford_fulkerson(&net).0, value);
            assert_eq!(by_pathfinding(&net).1, i64::try_from(value).unwrap());
            group.bench_with_input(id("flownet edmonds-karp"), &net, |b, net| {
                b.iter(|| ours(black_box(net), Method::EdmondsKarp));
            });
            group.bench_with_input(id("petgraph ford_fulkerson"), &net, |b, net| {
                b.iter(|| by_ford_fulkerson(black_box(net)));
            });
            group.bench_with_input(id("pathfinding edmonds_karp"), &net, |b, net| {
                b.iter(|| by_pathfinding(black_box(net)));
            });
        }
        if !["layered-150000", "grid"].contains(&net.name) {
            group.bench_with_input(id("petgraph dinics"), &net, |b, net| {
                b.iter(|| assert_eq!(by_dinics(black_box(net)).0, value));
            });
        }
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(CpuTime);
    targets = flows
}
criterion_main!(benches);
