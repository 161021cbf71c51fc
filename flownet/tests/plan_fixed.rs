//! Fixed splits where something is missing or is not reached.

#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use common::{id, net};
use flownet::{ArcId, Network, PlanError, Planner, Policy, Split, plan};

/// What is not reached is nobody's business, with fixed splits as with free ones.
#[test]
fn fixed_splits_concern_what_is_reached_alone() {
    let mut net = net(7, 0, 3, &[(0, 1, 100_u64), (0, 2, 100), (1, 3, 100), (2, 3, 100)]);
    // A circle, and a node with two ways on.
    for (u, v) in [(4, 5), (5, 4), (6, 4), (6, 3)] {
        net.add_arc(id(u), id(v), 1).unwrap();
    }
    let halves = Split::Fixed(vec![0.5, 0.5]);
    let dealt = Planner::new(&net).split(id(0), halves.clone()).plan(150).unwrap();
    assert_eq!(
        (dealt.value(), dealt.arc_rate(ArcId(0)), dealt.parts(id(6)).len()),
        (150.0, 75.0, 0)
    );
    // It is once something leads there.
    net.add_arc(id(0), id(6), 100).unwrap();
    let thirds = Split::Fixed(vec![0.25, 0.25, 0.5]);
    let mixed = Planner::new(&net).split(id(0), thirds.clone()).plan(150);
    assert_eq!(mixed, Err(PlanError::MixedSplit { node: id(6) }));
    let circle = Planner::new(&net).split(id(0), thirds).split(id(6), halves).plan(150);
    assert!(matches!(circle, Err(PlanError::CyclicSplit { .. })));
}

#[test]
fn fixed_splits_need_terminals_too() {
    let whole = || Split::Fixed(vec![1.0]);
    let mut net: Network<u64> = Network::new();
    net.add_nodes(2).unwrap();
    net.add_arc(id(0), id(1), 1).unwrap();
    let refused = Planner::new(&net).split(id(0), whole()).plan(1);
    assert_eq!(refused, Err(PlanError::Network(flownet::Error::NoSource)));
    net.add_source(id(0), 1).unwrap();
    let refused = Planner::new(&net).split(id(0), whole()).plan(1);
    assert_eq!(refused, Err(PlanError::Network(flownet::Error::NoSink)));
}

#[test]
fn a_share_is_of_an_arc_that_leaves_the_node() {
    let net = net(4, 0, 3, &[(0, 1, 30_u64), (0, 2, 10), (1, 3, 30), (2, 3, 10)]);
    let dealt = plan(&net, 20, Policy::Balanced).unwrap();
    assert!((dealt.share(id(0), ArcId(0)) - 0.75).abs() < 1e-12);
    for (node, arc) in [(0, 2), (1, 0), (3, 3), (9, 0), (0, 9)] {
        assert_eq!(dealt.share(id(node), ArcId(arc)), 0.0, "{node} {arc}");
    }
}
