//! Every graph of up to four nodes with capacities 0, 1 and 2, but for the names of the inner nodes.
//!
//! With four nodes there are two inner ones. To swap their names changes neither the value nor what
//! is a flow or a cut, so of two graphs that differ in this alone the one is as good as the other.

#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use common::{id, least_cut};
use flownet::{ArcId, Limit, Method, Network, Solver, verify};

/// Sets the capacities to the digits of every number to base three in turn. Returns how many graphs
/// there are, and how many of them were solved.
fn every_graph(nodes: usize) -> (usize, usize) {
    let pairs: Vec<(usize, usize)> =
        (0..nodes).flat_map(|u| (0..nodes).map(move |v| (u, v))).filter(|(u, v)| u != v).collect();
    let mut arcs: Vec<(usize, usize, u64)> = pairs.iter().map(|&(u, v)| (u, v, 0)).collect();
    let mut net: Network<u64> = Network::new();
    net.add_nodes(nodes).unwrap();
    for &(u, v, c) in &arcs {
        net.add_arc(id(u), id(v), c).unwrap();
    }
    net.add_source(id(0), Limit::Unbounded).unwrap();
    net.add_sink(id(nodes - 1), Limit::Unbounded).unwrap();
    // Where each arc comes to lie if the names of the inner nodes are swapped.
    let swap = |node: usize| if node == 0 || node == nodes - 1 { node } else { nodes - 1 - node };
    let twin: Vec<usize> = pairs
        .iter()
        .map(|&(u, v)| pairs.iter().position(|&pair| pair == (swap(u), swap(v))).unwrap())
        .collect();
    let (mut graphs, mut solved) = (0, 0);
    loop {
        graphs += 1;
        let here = arcs.iter().map(|arc| arc.2);
        if here.le(twin.iter().map(|&index| arcs[index].2)) {
            solved += 1;
            check(&net, nodes, &arcs);
        }
        let Some(digit) = arcs.iter().position(|arc| arc.2 < 2) else { return (graphs, solved) };
        for (index, arc) in arcs.iter_mut().enumerate().take(digit + 1) {
            arc.2 = if index < digit { 0 } else { arc.2 + 1 };
            net.set_capacity(ArcId(u32::try_from(index).unwrap()), arc.2).unwrap();
        }
    }
}

fn check(net: &Network<u64>, nodes: usize, arcs: &[(usize, usize, u64)]) {
    let expected = least_two_sided_cut(nodes, arcs);
    for method in [Method::EdmondsKarp, Method::Dinic, Method::PushRelabel] {
        let answer = Solver::new(net).method(method).solve().unwrap();
        assert_eq!(answer.value, expected, "{method:?} {arcs:?}");
        assert_eq!(verify(net, &answer), Ok(()), "{method:?} {arcs:?}");
    }
}

/// Over all sets of nodes with the first and without the last.
fn least_two_sided_cut(nodes: usize, arcs: &[(usize, usize, u64)]) -> u64 {
    let inside = |set: usize, node: usize| node == 0 || set >> node & 1 == 1;
    (0..1 << (nodes - 1))
        .filter(|set| set & 1 == 0)
        .map(|set| {
            let crossing = arcs.iter().filter(|arc| inside(set, arc.0) && !inside(set, arc.1));
            crossing.map(|arc| arc.2).sum()
        })
        .min()
        .unwrap()
}

#[test]
fn every_graph_of_two_nodes() {
    assert_eq!(every_graph(2), (9, 9));
}

#[test]
fn every_graph_of_three_nodes() {
    assert_eq!(every_graph(3), (729, 729));
}

#[test]
fn every_graph_of_four_nodes() {
    // Of the twelve arcs five pairs are swapped and two stay: 3^7 graphs are their own twins.
    assert_eq!(every_graph(4), (531_441, (531_441 + 2_187) / 2));
}

/// The two oracles of these tests agree.
#[test]
fn the_oracles_agree() {
    let arcs = [(0, 1, 2), (0, 2, 1), (1, 2, 2), (2, 1, 1), (1, 3, 1), (2, 3, 2)];
    let plan = common::Plan::simple(4, &arcs);
    assert_eq!(least_cut(&plan, None), Some(u128::from(least_two_sided_cut(4, &arcs))));
}
