//! Long, wide and large: no recursion, no overflow, no abort.

#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use common::{METHODS, id, solved};
use flownet::{Error, Limit, Network, NodeId, Solver, paths, verify};

#[test]
fn a_chain_of_a_million_nodes() {
    let n = 1_000_000;
    let arcs: Vec<_> = (0..n - 1).map(|v| (v, v + 1, 1 + (v as u64 * 7) % 100)).collect();
    let net = common::net(n, 0, n - 1, &arcs);
    for method in METHODS {
        let answer = Solver::new(&net).method(method).acyclic(true).solve().unwrap();
        assert_eq!(verify(&net, &answer), Ok(()));
        assert_eq!(answer.value, 1);
        let bundle = paths(&net, &answer);
        assert_eq!((bundle.len(), bundle[0].arcs.len()), (1, n - 1));
    }
}

/// A ring with flow on the way to a dead end: what comes back passes every node.
#[test]
fn excess_returns_over_a_long_way() {
    let n = 200_000;
    let mut arcs: Vec<_> = (0..n - 2).map(|v| (v, v + 1, 5_u64)).collect();
    arcs.push((n - 2, n - 1, 2));
    let net = common::net(n, 0, n - 1, &arcs);
    for method in METHODS {
        let answer = solved(&net, method);
        assert_eq!(answer.value, 2);
        assert!(answer.flows.iter().all(|&flow| flow == 2));
    }
}

#[test]
fn hints_and_counts_beyond_reason_are_no_abort() {
    let net: Network<u64> = Network::with_arc_capacity(usize::MAX);
    assert_eq!(net.arc_count(), 0);
    let mut net: Network<u64> = Network::new();
    let most = Network::<u64>::MAX_NODES;
    let too_many = Error::TooLarge { what: "nodes", limit: most };
    assert_eq!(net.add_nodes(usize::MAX), Err(too_many.clone()));
    assert_eq!(net.add_nodes(most + 1), Err(too_many.clone()));
    assert_eq!(net.add_nodes(most), Ok(NodeId(0)));
    assert_eq!(net.add_node(), Err(too_many));
    assert_eq!(net.node_count(), most);
    let node = NodeId(u32::MAX);
    assert_eq!(net.add_arc(id(0), node, 1), Err(Error::NoSuchNode { node, nodes: most }));
    // The last one is as good as any.
    net.set_gain(id(most - 1), 2.0).unwrap();
    net.set_node_capacity(id(most - 1), 2).unwrap();
    net.add_sink(id(most - 1), 3).unwrap();
}

#[test]
fn empty_and_tiny_networks() {
    let mut net: Network<u64> = Network::new();
    assert_eq!(net.solve(), Err(Error::NoSource));
    let a = net.add_nodes(2).unwrap();
    net.add_source(a, Limit::Unbounded).unwrap();
    assert_eq!(net.solve(), Err(Error::NoSink));
    assert_eq!(net.add_source(a, 3), Err(Error::DuplicateTerminal { node: a }));
    net.add_sink(id(1), Limit::Unbounded).unwrap();
    for method in METHODS {
        let answer = solved(&net, method);
        assert_eq!((answer.value, answer.flows.len()), (0, 0));
    }
    // Arcs out of the sink and into the source are of no use.
    net.add_arc(id(1), a, 9).unwrap();
    net.add_arc(a, a, 9).unwrap();
    for method in METHODS {
        assert_eq!(solved(&net, method).value, 0);
    }
}

/// Sums of capacities beyond 64 bits, where the value is not.
#[test]
fn sums_beyond_the_type_are_no_overflow() {
    let max = u64::MAX;
    let mut arcs: Vec<(usize, usize, u64)> = (1..40).map(|v| (0, v, max)).collect();
    arcs.extend((1..40).map(|v| (v, 40, max)));
    arcs.push((40, 41, max));
    let net = common::net(42, 0, 41, &arcs);
    for method in METHODS {
        assert_eq!(solved(&net, method).value, max);
    }
    let arcs: Vec<_> = arcs.iter().map(|&(u, v, _)| (u, v, i64::MAX)).collect();
    let net = common::net(42, 0, 41, &arcs);
    for method in METHODS {
        assert_eq!(solved(&net, method).value, i64::MAX);
    }
}
