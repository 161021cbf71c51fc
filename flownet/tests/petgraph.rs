//! Graphs of petgraph, also those that petgraph's own functions stumble over.

#![allow(missing_docs, clippy::unwrap_used)]
#![cfg(feature = "petgraph_08")]

mod common;

use common::{METHODS, cases};
use flownet::petgraph_08::{AdaptError, Adapter};
use flownet::{Limit, Solver, verify};
use petgraph::Directed;
use petgraph::graph::{DiGraph, EdgeIndex, NodeIndex};
use petgraph::graphmap::DiGraphMap;
use petgraph::matrix_graph::MatrixGraph;
use petgraph::stable_graph::StableDiGraph;
use petgraph::visit::{EdgeRef, IntoEdgeReferences, Reversed};
use proptest::prelude::*;

/// The value by every method, verified.
fn value(graph: &StableDiGraph<(), u64>, source: NodeIndex, sink: NodeIndex) -> u64 {
    let mut adapter = Adapter::new(graph, |edge| Limit::Finite(*edge.weight())).unwrap();
    adapter.add_source(source, Limit::Unbounded).unwrap();
    adapter.add_sink(sink, Limit::Unbounded).unwrap();
    let mut values: Vec<u64> = METHODS
        .iter()
        .map(|&method| {
            let answer = Solver::new(adapter.network()).method(method).solve().unwrap();
            assert_eq!(verify(adapter.network(), &answer), Ok(()));
            answer.value
        })
        .collect();
    values.dedup();
    assert_eq!(values.len(), 1);
    values[0]
}

#[test]
fn row_1_petgraph_972_panic_after_a_removed_node() {
    let mut graph = StableDiGraph::new();
    let nodes = [graph.add_node(()), graph.add_node(()), graph.add_node(())];
    graph.add_edge(nodes[0], nodes[2], 1);
    graph.remove_node(nodes[1]);
    assert_eq!(value(&graph, nodes[0], nodes[2]), 1);
}

#[test]
fn row_2_petgraph_971_panic_after_a_removed_edge() {
    let mut graph = StableDiGraph::new();
    let [s, m, t] = [graph.add_node(()), graph.add_node(()), graph.add_node(())];
    graph.add_edge(s, m, 1);
    let gone = graph.add_edge(s, t, 1);
    graph.add_edge(m, t, 1);
    graph.remove_edge(gone);
    assert_eq!(value(&graph, s, t), 1);
}

#[test]
fn row_4_petgraph_792_wrong_after_a_removed_edge() {
    let mut graph = StableDiGraph::new();
    let [a, b, c, d] = [0; 4].map(|_| graph.add_node(()));
    graph.add_edge(a, c, 1);
    graph.add_edge(a, b, 1);
    let gone = graph.add_edge(b, c, 1);
    graph.add_edge(c, d, 1);
    graph.remove_edge(gone);
    assert_eq!(value(&graph, a, d), 1);
}

#[test]
fn names_lead_there_and_back_and_foreign_ones_nowhere() {
    let mut graph: StableDiGraph<(), u64> = StableDiGraph::new();
    let [a, b, c] = [0; 3].map(|_| graph.add_node(()));
    let gone = graph.add_edge(a, c, 1);
    let first = graph.add_edge(a, b, 2);
    let second = graph.add_edge(a, b, 3);
    let back = graph.add_edge(b, a, 4);
    let own = graph.add_edge(b, b, 5);
    graph.remove_edge(gone);
    graph.remove_node(c);
    let mut adapter = Adapter::new(&graph, |edge| Limit::Finite(*edge.weight())).unwrap();
    for node in [a, b] {
        assert_eq!(adapter.node_name(adapter.node_of(node).unwrap()), Some(node));
    }
    for edge in [first, second, back, own] {
        let arc = adapter.arc_of(edge).unwrap();
        assert_eq!(adapter.edge_name(arc), Some(edge));
        assert_eq!(adapter.network().arc(arc).unwrap().capacity, Limit::Finite(graph[edge]));
    }
    for node in [c, NodeIndex::new(77), NodeIndex::end()] {
        assert_eq!(adapter.node_of(node), None);
        assert_eq!(adapter.add_source(node, 1), Err(AdaptError::NoSuchNode { node }));
        assert_eq!(adapter.add_sink(node, 1), Err(AdaptError::NoSuchNode { node }));
        assert_eq!(adapter.set_gain(node, 2.0), Err(AdaptError::NoSuchNode { node }));
        assert_eq!(adapter.set_node_capacity(node, 1), Err(AdaptError::NoSuchNode { node }));
    }
    assert_eq!(adapter.arc_of(gone), None);
    assert_eq!(adapter.arc_of(EdgeIndex::end()), None);
    assert_eq!(adapter.node_name(flownet::NodeId(2)), None);
    assert_eq!(adapter.edge_name(flownet::ArcId(u32::MAX)), None);
}

#[test]
fn maps_matrices_and_adaptors_work() {
    // Names out of order, and one that is not there.
    let map: DiGraphMap<&str, i64> =
        DiGraphMap::from_edges([("z", "m", 5), ("m", "a", 3), ("a", "z", 9)]);
    let mut adapter = Adapter::new(&map, |edge| Limit::Finite(*edge.weight())).unwrap();
    adapter.add_source("z", Limit::Unbounded).unwrap();
    assert_eq!(adapter.add_sink("q", 1), Err(AdaptError::NoSuchNode { node: "q" }));
    adapter.add_sink("a", Limit::Unbounded).unwrap();
    let answer = adapter.network().solve().unwrap();
    assert_eq!(answer.value, 3);
    assert_eq!(answer.flow(adapter.arc_of(("z", "m")).unwrap()), Some(3));
    assert_eq!(adapter.arc_of(("m", "z")), None);

    let mut adapter = Adapter::new(Reversed(&map), |edge| Limit::Finite(*edge.weight())).unwrap();
    adapter.add_source("a", Limit::Unbounded).unwrap();
    adapter.add_sink("z", Limit::Unbounded).unwrap();
    assert_eq!(adapter.network().solve().unwrap().value, 3);

    let mut matrix: MatrixGraph<(), f64, std::hash::RandomState, Directed> = MatrixGraph::default();
    let [a, b] = [matrix.add_node(()), matrix.add_node(())];
    matrix.add_edge(a, b, 0.5);
    let mut adapter = Adapter::new(&matrix, |edge| Limit::Finite(*edge.weight())).unwrap();
    adapter.add_source(a, Limit::Unbounded).unwrap();
    adapter.add_sink(b, Limit::Unbounded).unwrap();
    assert_eq!(adapter.network().solve().unwrap().value, 0.5);
}

#[test]
fn a_bad_capacity_names_the_edge() {
    let mut graph: DiGraph<(), i64> = DiGraph::new();
    let [a, b] = [graph.add_node(()), graph.add_node(())];
    graph.add_edge(a, b, 1);
    let edge = graph.add_edge(b, a, -3);
    let refused = Adapter::new(&graph, |edge| Limit::Finite(*edge.weight())).unwrap_err();
    assert_eq!(refused, AdaptError::BadCapacity { edge, value: -3 });
}

proptest! {
    #![proptest_config(cases(512))]

    /// Holes anywhere: the value is that of the same graph without them.
    #[test]
    fn holes_do_not_matter(
        edges in proptest::collection::vec((0..8_usize, 0..8_usize, 0_u64..9), 1..30),
        nodes in proptest::collection::vec(1..7_usize, 0..4),
        gone in proptest::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let mut graph: StableDiGraph<(), u64> = StableDiGraph::new();
        let names: Vec<NodeIndex> = (0..8).map(|_| graph.add_node(())).collect();
        let all: Vec<EdgeIndex> =
            edges.iter().map(|&(u, v, c)| graph.add_edge(names[u], names[v], c)).collect();
        for pick in gone {
            graph.remove_edge(all[pick.index(all.len())]);
        }
        for node in nodes {
            graph.remove_node(names[node]);
        }
        let left: Vec<(usize, usize, u64)> = (&graph)
            .edge_references()
            .map(|edge| (edge.source().index(), edge.target().index(), *edge.weight()))
            .collect();
        let plain = common::net(8, 0, 7, &left);
        prop_assert_eq!(value(&graph, names[0], names[7]), plain.solve().unwrap().value);
    }
}
