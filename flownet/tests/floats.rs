//! Floats, against an exact oracle.

#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use common::{METHODS, Plan, cases, id, least_cut, net, solved};
use flownet::{Limit, Network, Outcome, Solver, paths, verify};
use proptest::prelude::*;

/// Floats as whole numbers of steps of 2^-40, so that the oracle is exact.
const STEP: f64 = 1.0 / (1_u64 << 40) as f64;

fn whole() -> impl Strategy<Value = u64> {
    // Numbers of very different sizes; below 2^53, so that a float holds each exactly.
    (1_u64..1 << 12, 0_u32..41).prop_map(|(m, e)| m << e)
}

fn arcs() -> impl Strategy<Value = Vec<(usize, usize, u64)>> {
    proptest::collection::vec(
        (0..6_usize, 0..6_usize, prop_oneof![9 => whole(), 1 => Just(0)]),
        0..16,
    )
}

fn floats(arcs: &[(usize, usize, u64)]) -> Network<f64> {
    let arcs: Vec<_> = arcs.iter().map(|&(u, v, c)| (u, v, c as f64 * STEP)).collect();
    net(6, 0, 5, &arcs)
}

/// Any float there is.
fn any_bits() -> impl Strategy<Value = f64> {
    prop_oneof![
        2 => any::<u64>().prop_map(f64::from_bits),
        1 => (any::<u64>(), 0_u64..2047).prop_map(|(bits, e)| f64::from_bits(bits >> 12 | e << 52)),
        1 => prop::sample::select(vec![0.0, -0.0, 1.0, f64::MIN_POSITIVE, 5e-324, f64::MAX,
            f64::INFINITY, f64::NAN, -1.0, 0.1, 0.3]),
    ]
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn the_value_is_the_exact_one_rounded_once(arcs in arcs()) {
        let net = floats(&arcs);
        let exact = least_cut(&Plan::simple(6, &arcs), None).unwrap();
        for method in METHODS {
            let answer = solved(&net, method);
            prop_assert_eq!(answer.value, exact as f64 * STEP);
        }
    }

    #[test]
    fn asking_for_the_maximum_meets_it(arcs in proptest::collection::vec(
        (0..6_usize, 0..6_usize, (1.0..2.0_f64, -70_i32..70).prop_map(|(m, e)| m * 2_f64.powi(e))),
        0..16,
    ), first in 0..4_usize, second in 0..4_usize) {
        let net = net(6, 0, 5, &arcs);
        let maximum = solved(&net, METHODS[first]);
        let again = Solver::new(&net).method(METHODS[second]).rate(maximum.value).solve().unwrap();
        prop_assert_eq!(again.outcome, Outcome::Met);
        prop_assert_eq!(again.value, maximum.value);
        prop_assert_eq!(again.shortfall(), 0.0);
        prop_assert_eq!(verify(&net, &again), Ok(()));
    }

    #[test]
    fn no_bits_make_a_panic(
        arcs in proptest::collection::vec((0..5_usize, 0..5_usize, any_bits()), 0..12),
        node in any_bits(),
        bound in any_bits(),
        gain in prop_oneof![3 => Just(1.0), 1 => any_bits()],
        rate in proptest::option::of(any_bits()),
    ) {
        let mut net: Network<f64> = Network::new();
        net.add_nodes(5).unwrap();
        for (u, v, c) in arcs {
            let added = net.add_arc(id(u), id(v), c);
            prop_assert_eq!(added.is_ok(), c >= 0.0 && c.is_finite());
        }
        // Refusals leave the network as it was.
        let _ = net.set_node_capacity(id(2), node);
        let _ = net.set_gain(id(1), gain);
        if net.add_source(id(0), bound).is_err() {
            net.add_source(id(0), Limit::Unbounded).unwrap();
        }
        net.add_sink(id(4), Limit::Unbounded).unwrap();
        for method in METHODS {
            let mut solver = Solver::new(&net).method(method);
            if let Some(rate) = rate {
                solver = solver.rate(rate);
            }
            if let Ok(answer) = solver.solve() {
                prop_assert_eq!(verify(&net, &answer), Ok(()));
            }
        }
    }

    #[test]
    fn paths_sum_to_the_value_within_the_rounding(arcs in arcs()) {
        let net = floats(&arcs);
        for method in METHODS {
            let answer = solved(&net, method);
            let bundle = paths(&net, &answer);
            prop_assert!(bundle.len() <= net.arc_count() + 2);
            let sum: f64 = bundle.iter().map(|path| path.amount).sum();
            let slack = 16.0 * f64::EPSILON * answer.value;
            prop_assert!((sum - answer.value).abs() <= slack, "{} {}", sum, answer.value);
        }
    }
}

/// A self loop carries nothing, so it must not make amounts finer than the check knows: here the
/// lowest bit of all is in the limit of a loop.
#[test]
fn a_self_loop_at_a_node_with_a_capacity_is_no_limit() {
    let sevenths = [
        (0, 1, 243),
        (1, 1, 350),
        (1, 1, 997),
        (1, 1, 781),
        (1, 1, 904),
        (0, 1, 980),
        (1, 1, 510),
        (0, 1, 333),
        (1, 0, 389),
        (0, 1, 438),
        (1, 1, 160),
        (0, 1, 286),
    ];
    let arcs = sevenths.map(|(u, v, c)| (u, v, f64::from(c) / 7.0));
    let mut net = net(2, 0, 1, &arcs);
    net.set_node_capacity(id(0), 985.0 / 7.0).unwrap();
    net.set_node_capacity(id(1), 391.0 / 7.0).unwrap();
    for method in METHODS {
        for acyclic in [false, true] {
            let answer = Solver::new(&net).method(method).acyclic(acyclic).solve().unwrap();
            assert_eq!(verify(&net, &answer), Ok(()), "{method:?}");
            assert_eq!(answer.value, 391.0 / 7.0);
        }
    }
}

#[test]
fn a_small_bottleneck_behind_a_large_capacity_is_kept() {
    // Relative rounding to the largest capacity would make the 1 a 0.
    for huge in [1e17, 1e200, f64::MAX] {
        let net = net(4, 0, 3, &[(0, 1, huge), (1, 2, 1.0), (2, 3, huge)]);
        for method in METHODS {
            let answer = solved(&net, method);
            assert_eq!(answer.value, 1.0);
            assert_eq!(answer.flows, [1.0; 3]);
        }
    }
}

#[test]
fn tenths_add_up_as_they_are_and_not_as_they_print() {
    // Ten arcs of 0.1, which is a bit more than a tenth: the exact sum, rounded once, is 1.
    let arcs: Vec<_> = (1..11).flat_map(|v| [(0, v, 0.1), (v, 11, 0.1)]).collect();
    let net = net(12, 0, 11, &arcs);
    for method in METHODS {
        assert_eq!(solved(&net, method).value, 1.0);
    }
}

#[test]
fn the_smallest_and_the_largest_floats_work() {
    for c in [5e-324, f64::MIN_POSITIVE, 1e308, f64::MAX] {
        let net = net(3, 0, 2, &[(0, 1, c), (1, 2, c)]);
        for method in METHODS {
            assert_eq!(solved(&net, method).value, c);
        }
    }
    // Beyond 128 bits: what is too small to matter is rounded down, and verified all the same.
    let net = net(4, 0, 3, &[(0, 1, 1e300), (1, 3, 1e300), (0, 2, 1e-300), (2, 3, 1e-300)]);
    for method in METHODS {
        let answer = solved(&net, method);
        assert_eq!(answer.value, 1e300);
        assert_eq!(answer.flows[2], answer.flows[3]);
    }
}

#[test]
fn what_is_too_small_for_the_grid_still_has_room_where_nothing_flows() {
    // No way to the sink, and capacities that no grid of 128 bits holds together.
    let net = net(4, 0, 3, &[(0, 1, 5e-324), (2, 3, 1e-259), (0, 2, 0.0)]);
    for method in METHODS {
        assert_eq!(solved(&net, method).value, 0.0);
    }
}
