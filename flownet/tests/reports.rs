//! Public reports of faults in other libraries, each with the right answer by every method; the
//! properties cover their kinds.

#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use common::{METHODS, id, net, solved};
use flownet::{ArcId, Error, Limit, Method, Network, Outcome, Side, verify};

/// The value is right by every method, and verified.
fn check(nodes: usize, s: usize, t: usize, arcs: &[(usize, usize, u64)], value: u64) {
    let net = net(nodes, s, t, arcs);
    for method in METHODS {
        assert_eq!(solved(&net, method).value, value, "{method:?}");
    }
}

/// The nodes of the source side of the cut nearest the sinks.
fn source_side(net: &Network<u64>) -> Vec<usize> {
    let cut = solved(net, METHODS[0]).sink_cut.unwrap();
    (0..net.node_count()).filter(|&v| cut.sides[v] == Side::Source).collect()
}

// Rows 1, 2 and 4, petgraph 972, 971 and 792, are in `petgraph.rs`: they are about removed nodes.

#[test]
fn row_3_petgraph_973_hang_when_the_source_is_the_sink() {
    let mut net: Network<u64> = Network::new();
    let node = net.add_node().unwrap();
    net.add_source(node, Limit::Unbounded).unwrap();
    assert_eq!(net.add_sink(node, Limit::Unbounded), Err(Error::SameTerminals { node }));
}

#[test]
fn row_5_networkx_424_flow_not_conserved() {
    let arcs = [(0, 1, 4), (0, 2, 1), (1, 2, 2), (1, 3, 5), (2, 1, 3), (2, 3, 2)];
    check(4, 0, 3, &arcs, 5);
}

#[test]
fn row_6_networkx_1542_levels_too_short() {
    check(4, 0, 3, &[(0, 1, 1), (1, 3, 1), (1, 2, 1), (2, 3, 1)], 1);
}

#[test]
fn row_7_networkx_733_zero_capacity() {
    check(2, 0, 1, &[(0, 1, 0)], 0);
}

/// A random digraph of 100 nodes, each pair joined with probability 0.04, and the flow that leaves
/// the source is the value: no cycle goes through it.
#[test]
fn row_8_networkx_6740_cycles_through_the_source() {
    let mut state = 21_u64;
    let mut random = move |n: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    for _ in 0..50 {
        let mut arcs: Vec<(usize, usize, u64)> = Vec::new();
        for u in 0..100 {
            for v in 0..100 {
                if u != v && random(25) == 0 {
                    arcs.push((u, v, 10 + random(36)));
                }
            }
        }
        let net = net(100, 0, 99, &arcs);
        let mut values = Vec::new();
        for method in METHODS {
            let answer = flownet::Solver::new(&net).method(method).acyclic(true).solve().unwrap();
            assert_eq!(verify(&net, &answer), Ok(()));
            let leaving = net.arcs().zip(&answer.flows).filter(|(arc, _)| arc.from == id(0));
            assert_eq!(leaving.map(|(_, &flow)| flow).sum::<u64>(), answer.value);
            values.push(answer.value);
        }
        values.dedup();
        assert_eq!(values.len(), 1);
    }
}

#[test]
fn row_9_igraph_77_wrong_partition() {
    let arcs = [(0, 1, 3), (1, 2, 1), (2, 3, 2), (0, 5, 10), (5, 4, 1), (4, 3, 3), (3, 0, 2)];
    check(6, 0, 2, &arcs, 1);
    assert_eq!(source_side(&net(6, 0, 2, &arcs)), [0, 1, 3, 4, 5]);
}

/// Undirected graphs have no adapter; a triangle with arcs both ways, asked from a node to itself.
#[test]
fn row_10_igraph_2437_source_is_sink_of_an_undirected_graph() {
    let mut net: Network<f64> = Network::new();
    net.add_nodes(3).unwrap();
    for (u, v) in [(0, 1), (1, 2), (2, 0), (1, 0), (2, 1), (0, 2)] {
        net.add_arc(id(u), id(v), 1.0).unwrap();
    }
    net.add_source(id(1), Limit::Unbounded).unwrap();
    let refused = Err(Error::SameTerminals { node: id(1) });
    assert_eq!(net.add_sink(id(1), Limit::Unbounded), refused);
    assert_eq!(net.solve(), Err(Error::NoSink));
}

/// The capacities of the cut's arcs sum to the value, in an undirected graph of floats.
#[test]
fn row_11_igraph_564_cut_is_not_the_sum_of_its_edges() {
    let edges = [
        (0, 1, 0.1),
        (0, 2, 0.7),
        (1, 2, 0.3),
        (1, 3, 0.2),
        (2, 3, 0.4),
        (2, 4, 0.15),
        (3, 4, 0.35),
    ];
    let both: Vec<(usize, usize, f64)> =
        edges.iter().flat_map(|&(u, v, c)| [(u, v, c), (v, u, c)]).collect();
    let net = net(5, 0, 4, &both);
    for method in METHODS {
        let answer = solved(&net, method);
        assert_eq!(answer.value, 0.5);
        for cut in [answer.source_cut.unwrap(), answer.sink_cut.unwrap()] {
            let capacity = |arc: ArcId| match net.arc(arc).unwrap().capacity {
                Limit::Finite(c) => c,
                Limit::Unbounded => f64::INFINITY,
            };
            assert_eq!(cut.arcs(&net).map(capacity).sum::<f64>(), answer.value);
        }
    }
}

#[test]
fn row_12_scipy_14385_product_of_sizes_overflows() {
    let arcs: Vec<_> = (0..99_999).map(|v| (v, v + 1, 1)).collect();
    check(100_000, 0, 99_999, &arcs, 1);
}

#[test]
fn row_13_scipy_14731_residual_holds_the_flow() {
    let net = net(4, 0, 3, &[(1, 2, 5), (2, 3, 1), (3, 0, 1), (0, 1, 10), (0, 2, 10), (1, 0, 10)]);
    let mut through_one = net.clone();
    through_one.set_capacity(ArcId(4), 0_u64).unwrap();
    for method in METHODS {
        assert_eq!(solved(&net, method).value, 1);
        // The only way left is over 1 -> 2, so its flow is 1 and its residual 4.
        let answer = solved(&through_one, method);
        assert_eq!((answer.value, answer.flow(ArcId(0))), (1, Some(1)));
    }
}

#[test]
fn row_14_pathfinding_9726a6e_negative_residual_after_a_capacity_fell() {
    let arcs =
        [(0, 1, 2), (0, 2, 2), (1, 3, 1), (1, 4, 1), (2, 3, 1), (2, 4, 1), (3, 5, 4), (4, 3, 2)];
    let mut net = net(6, 0, 5, &arcs);
    for method in METHODS {
        net.set_capacity(ArcId(6), 4_u64).unwrap();
        assert_eq!(solved(&net, method).value, 4);
        net.set_capacity(ArcId(6), 2_u64).unwrap();
        let answer = solved(&net, method);
        assert_eq!(answer.value, 2);
        assert!(
            net.arcs().zip(&answer.flows).all(|(arc, &flow)| Limit::Finite(flow) == arc.capacity
                || matches!(arc.capacity, Limit::Finite(c) if flow < c))
        );
    }
}

#[test]
fn row_15_jgrapht_1149_cut_from_forward_arcs_only() {
    let arcs = [(0, 1, 1), (0, 2, 5), (1, 3, 10), (2, 3, 10), (3, 4, 3)];
    check(5, 0, 4, &arcs, 3);
    assert_eq!(source_side(&net(5, 0, 4, &arcs)), [0, 1, 2, 3]);
}

#[test]
fn row_16_lightgraphsflows_27_cut_too_small() {
    let arcs = [
        (0, 1, 2),
        (0, 2, 2),
        (1, 3, 4),
        (1, 4, 4),
        (2, 4, 4),
        (2, 5, 4),
        (3, 6, 1),
        (4, 6, 1),
        (5, 6, 1),
    ];
    check(7, 0, 6, &arcs, 3);
    assert_eq!(source_side(&net(7, 0, 6, &arcs)), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn row_17_lightgraphsflows_28_endless_loop_on_floats() {
    let mut arcs = Vec::new();
    for i in 2..5 {
        arcs.push((0, i, 0.1));
        arcs.extend((5..8).map(|j| (i, j, 1.0)));
    }
    arcs.extend((5..8).map(|j| (j, 1, 0.0)));
    let net = net(8, 0, 1, &arcs);
    for method in METHODS {
        assert_eq!(solved(&net, method).value, 0.0);
    }
}

#[test]
fn row_18_lagraph_395_hang_with_huge_or_unbounded_arcs() {
    for huge in [Limit::Finite(1 << 63), Limit::Finite(u64::MAX), Limit::Unbounded] {
        let mut net: Network<u64> = Network::new();
        net.add_nodes(3).unwrap();
        net.add_arc(id(0), id(1), huge).unwrap();
        net.add_arc(id(1), id(2), 1).unwrap();
        net.add_source(id(0), Limit::Unbounded).unwrap();
        net.add_sink(id(2), Limit::Unbounded).unwrap();
        for method in METHODS {
            assert_eq!(solved(&net, method).value, 1);
        }
    }
}

#[test]
fn row_19_eo_graphs_66_the_total_wraps() {
    let two = |c: u64| [(0, 1, c), (1, 3, c), (0, 2, c), (2, 3, c)];
    check(4, 0, 3, &two(2_000_000_000), 4_000_000_000);
    // Where the type itself is too small, the answer is an error.
    let net = net(4, 0, 3, &two(u64::MAX - 1));
    for method in METHODS {
        let answer = flownet::Solver::new(&net).method(method).solve();
        assert_eq!(answer, Err(Error::Overflow { largest: "18446744073709551615" }));
        // As much as fits is no error.
        let answer = flownet::Solver::new(&net).method(method).rate(u64::MAX).solve().unwrap();
        assert_eq!((answer.value, answer.outcome), (u64::MAX, Outcome::Met));
        assert_eq!(verify(&net, &answer), Ok(()));
    }
}

#[test]
fn row_20_gunrock_890_no_arc_is_not_the_first_arc() {
    check(3, 2, 1, &[(1, 2, 1)], 0);
}

#[test]
fn row_21_quickgraph_183_wrong_value() {
    let arcs = [
        (0, 1, 3),
        (0, 3, 3),
        (1, 2, 4),
        (2, 0, 3),
        (2, 3, 1),
        (2, 4, 2),
        (3, 4, 2),
        (3, 5, 6),
        (4, 1, 1),
        (4, 6, 1),
        (5, 6, 9),
    ];
    check(7, 0, 6, &arcs, 5);
}

#[test]
fn row_22_igraph_1363_arcs_of_zero_dropped_from_cuts() {
    let net = net(3, 0, 1, &[(0, 1, 7_u64), (0, 2, 0), (2, 1, 4)]);
    for method in METHODS {
        let answer = solved(&net, method);
        let cut = answer.source_cut.unwrap();
        assert_eq!(answer.value, 7);
        // Without the arc of zero there would still be a way: 0 -> 2 -> 1.
        assert_eq!(cut.arcs(&net).collect::<Vec<_>>(), [ArcId(0), ArcId(1)]);
    }
}

/// The rule that the README tells: all limits, the rate too, are one power of two.
#[test]
fn auto_takes_dinic_where_all_limits_are_one_power_of_two() {
    let method = |net: &Network<f64>, rate: Option<f64>| match rate {
        Some(rate) => net.solve_to(rate).unwrap().method,
        None => net.solve().unwrap().method,
    };
    let with =
        |capacity: f64| common::net(3, 0, 2, &[(0, 1, capacity), (1, 2, capacity), (0, 2, 0.0)]);
    for capacity in [1.0, 4.0, 0.25, 2_f64.powi(80)] {
        assert_eq!(method(&with(capacity), None), Method::Dinic);
        // With a rate the bound of the source is a limit too, and unbounded.
        assert_eq!(method(&with(capacity), Some(capacity)), Method::PushRelabel);
        let mut net = with(capacity);
        net.set_source_bound(id(0), capacity).unwrap();
        assert_eq!(method(&net, Some(capacity)), Method::Dinic);
        assert_eq!(method(&net, Some(capacity * 2.0)), Method::PushRelabel);
    }
    // Alike, but no power of two.
    assert_eq!(method(&with(3.0), None), Method::PushRelabel);
    let mut net = with(1.0);
    net.set_node_capacity(id(1), 1.0).unwrap();
    assert_eq!(method(&net, None), Method::Dinic);
    net.set_node_capacity(id(1), 2.0).unwrap();
    assert_eq!(method(&net, None), Method::PushRelabel);
    net.set_node_capacity(id(1), Limit::Unbounded).unwrap();
    net.set_source_bound(id(0), 1.0).unwrap();
    assert_eq!(method(&net, None), Method::Dinic);
    net.set_source_bound(id(0), 0.5).unwrap();
    assert_eq!(method(&net, None), Method::PushRelabel);
    net.set_source_bound(id(0), 1.0).unwrap();
    net.add_arc(id(0), id(1), Limit::Unbounded).unwrap();
    assert_eq!(method(&net, None), Method::PushRelabel);
}
