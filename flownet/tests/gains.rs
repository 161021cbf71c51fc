//! Gains: tuples out for each tuple in.

#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use common::{METHODS, cases, id};
use flownet::{
    ArcId, Error, Limit, Network, Outcome, Place, Solver, Violation, bottlenecks, verify,
};
use proptest::prelude::*;

/// A chain of nodes, the first the source and the last the sink.
fn chain<C: flownet::Capacity>(gains: &[f64], capacities: &[C]) -> Network<C> {
    let mut net = Network::new();
    net.add_nodes(gains.len()).unwrap();
    for (v, &gain) in gains.iter().enumerate() {
        net.set_gain(id(v), gain).unwrap();
    }
    for (v, &capacity) in capacities.iter().enumerate() {
        net.add_arc(id(v), id(v + 1), capacity).unwrap();
    }
    net.add_source(id(0), Limit::Unbounded).unwrap();
    net.add_sink(id(gains.len() - 1), Limit::Unbounded).unwrap();
    net
}

#[test]
fn lines_become_words() {
    // A line has eight words, and one word in four is kept.
    let mut net = chain(&[1.0, 8.0, 0.25, 1.0], &[100_u64, 400, 90]);
    net.set_node_capacity(id(2), 360).unwrap();
    for method in METHODS {
        let answer = Solver::new(&net).method(method).solve().unwrap();
        assert_eq!(verify(&net, &answer), Ok(()));
        // Lines: 100; 400 / 8 = 50; the node 360 / 8 = 45; 90 / 2 = 45.
        assert_eq!((answer.value, answer.flows.as_slice()), (45, &[45; 3][..]));
        assert_eq!(answer.units.as_deref(), Some(&[1.0, 1.0, 8.0, 2.0][..]));
        let tuples: Vec<f64> =
            (0..3).map(|arc| answer.tuples_per_unit(&net, ArcId(arc)).unwrap()).collect();
        assert_eq!(tuples, [1.0, 8.0, 2.0]);
    }
}

#[test]
fn whole_limits_are_rounded_down_each_by_itself() {
    // 10 / 3 is 3 lines; 9 words would be three lines exactly.
    for (words, lines) in [(8_u64, 2), (9, 3), (10, 3), (11, 3), (2, 0)] {
        let net = chain(&[3.0, 1.0], &[words]);
        let answer = net.solve().unwrap();
        assert_eq!((answer.value, verify(&net, &answer)), (lines, Ok(())));
    }
    // Two arcs of 5 words each are 1 + 1 lines, and not the 3 that 10 words are.
    let mut net = chain(&[3.0, 1.0], &[5_u64]);
    net.add_arc(id(0), id(1), 5).unwrap();
    let answer = net.solve().unwrap();
    assert_eq!((answer.value, verify(&net, &answer)), (2, Ok(())));
}

#[test]
fn rounding_is_exact_where_floats_are_not() {
    // 0.1 is a bit more than a tenth, and 2^63 + 2^9 has no float.
    let c = (1_u64 << 63) + (1 << 9);
    let net = chain(&[4.0, 1.0], &[c]);
    assert_eq!(net.solve().unwrap().value, c / 4);
    let net = chain(&[0.1, 1.0], &[1_u64]);
    assert_eq!(net.solve().unwrap().value, 9);
    let net = chain(&[0.5, 1.0], &[u64::MAX]);
    let expected = Error::LimitOutOfRange { at: Place::Arc(ArcId(0)), value: u64::MAX, units: 0.5 };
    assert_eq!(net.solve(), Err(expected));
    // Nothing is left of one tuple where a source tuple makes 10^300.
    let net = chain(&[1e300, 1.0], &[1_u64]);
    assert_eq!(net.solve().unwrap().value, 0);
}

#[test]
fn products_beyond_the_normal_numbers_are_refused_by_name() {
    let net = chain(&[1e200, 1e200, 1.0], &[1.0, 1.0]);
    let expected = Error::GainOutOfRange { node: id(1), units: f64::INFINITY };
    assert_eq!(net.solve(), Err(expected));
    let net = chain(&[1e-200, 1e-200, 1.0], &[1.0, 1.0]);
    assert_eq!(net.solve(), Err(Error::GainOutOfRange { node: id(1), units: 0.0 }));
    // Subnormal: too few bits to trust.
    let net = chain(&[1e-200, 1e-115, 1.0], &[1_u64, 1]);
    assert!(matches!(net.solve(), Err(Error::GainOutOfRange { node, .. }) if node == id(1)));
    // Up and down again is fine.
    let net = chain(&[1e200, 1e-200, 1e200, 1e-200, 1.0], &[1e250, 4.0, 1e250, 6.0]);
    let answer = net.solve().unwrap();
    assert_eq!(verify(&net, &answer), Ok(()));
    assert!((answer.value - 4.0).abs() < 1e-12, "{}", answer.value);
    for gain in [0.0, -0.0, -2.0, f64::NAN, f64::INFINITY, 5e-324] {
        let refused = Network::<u64>::clone(&chain(&[1.0, 1.0], &[1])).set_gain(id(0), gain);
        assert!(matches!(refused, Err(Error::BadGain { node, .. }) if node == id(0)));
    }
}

/// s sends to a and b, which send to t; b makes two tuples of each.
fn diamond(to_b: u64, from_b: u64) -> Network<u64> {
    let mut net = Network::new();
    net.add_nodes(4).unwrap();
    net.add_arc(id(0), id(1), 4).unwrap();
    net.add_arc(id(0), id(2), to_b).unwrap();
    net.add_arc(id(1), id(3), 4).unwrap();
    net.add_arc(id(2), id(3), from_b).unwrap();
    net.set_gain(id(2), 2.0).unwrap();
    net.add_source(id(0), Limit::Unbounded).unwrap();
    net.add_sink(id(3), Limit::Unbounded).unwrap();
    net
}

#[test]
fn gains_that_depend_on_the_way_are_refused_by_name() {
    let expected =
        Error::InconsistentGain { node: id(3), arc: ArcId(3), expected: 1.0, found: 2.0 };
    assert_eq!(diamond(4, 4).solve(), Err(expected));
}

#[test]
fn but_not_where_no_flow_can_pass() {
    for (net, value) in [(diamond(0, 4), 4), (diamond(4, 0), 4)] {
        let answer = net.solve().unwrap();
        assert_eq!((answer.value, verify(&net, &answer)), (value, Ok(())));
        // An arc of zero is not there, and so it is no bottleneck.
        let named: Vec<Place> =
            bottlenecks(&net, &answer).into_iter().map(|found| found.at).collect();
        assert!(!named.contains(&Place::Arc(ArcId(1))) && !named.contains(&Place::Arc(ArcId(3))));
    }
    // A node that bears nothing, a dead end, and a node that nothing reaches.
    let mut net = diamond(4, 4);
    net.set_node_capacity(id(2), 0).unwrap();
    let answer = net.solve().unwrap();
    assert_eq!((answer.value, verify(&net, &answer)), (4, Ok(())));
    let mut net = diamond(0, 4);
    let dead = net.add_nodes(2).unwrap();
    net.add_arc(id(1), dead, 9).unwrap();
    net.add_arc(id(2), dead, 9).unwrap();
    net.add_arc(flownet::NodeId(dead.0 + 1), id(1), 9).unwrap();
    net.set_gain(flownet::NodeId(dead.0 + 1), 7.0).unwrap();
    let answer = net.solve().unwrap();
    assert_eq!((answer.value, verify(&net, &answer)), (4, Ok(())));
}

#[test]
fn a_loop_that_makes_tuples_of_its_own_is_refused() {
    let mut net = chain(&[1.0, 2.0, 1.0], &[5_u64, 5]);
    let arc = net.add_arc(id(1), id(1), 3).unwrap();
    let expected = Error::InconsistentGain { node: id(1), arc, expected: 1.0, found: 2.0 };
    assert_eq!(net.solve(), Err(expected));
}

#[test]
fn a_rate_is_in_source_tuples() {
    let net = chain(&[3.0, 1.0], &[30_u64]);
    let answer = net.solve_to(12).unwrap();
    assert_eq!((answer.value, answer.outcome), (10, Outcome::Shortfall { by: 2 }));
    assert_eq!(verify(&net, &answer), Ok(()));
}

#[test]
fn wrong_units_are_refused() {
    let net = chain(&[3.0, 1.0], &[30_u64]);
    let mut answer = net.solve().unwrap();
    answer.units.as_mut().unwrap()[1] = 2.999_999_999;
    assert_eq!(verify(&net, &answer), Err(Violation::WrongUnits { node: Some(id(1)) }));
    answer.units = None;
    assert_eq!(verify(&net, &answer), Err(Violation::WrongUnits { node: None }));
    // More than the rounded limit is too much, though 30.5 words would do.
    let net = chain(&[3.0, 1.0], &[31_u64]);
    let mut answer = net.solve().unwrap();
    answer.flows[0] += 1;
    assert_eq!(verify(&net, &answer), Err(Violation::OverLimit { at: Place::Arc(ArcId(0)) }));
}

proptest! {
    #![proptest_config(cases(2_000))]

    /// Stages with a gain each, so that all ways to a node agree.
    #[test]
    fn every_method_finds_the_same_with_gains(
        gains in proptest::collection::vec((1_u32..1_000, 1_u32..1_000), 4),
        arcs in proptest::collection::vec((0..3_usize, 0..3_usize, 0..3_usize, 0_u64..100_000), 0..24),
        capacities in proptest::collection::vec((0..9_usize, 0_u64..100_000), 0..4),
        rate in proptest::option::of(0_u64..100_000),
    ) {
        let mut whole: Network<u64> = Network::new();
        let mut real: Network<f64> = Network::new();
        whole.add_nodes(11).unwrap();
        real.add_nodes(11).unwrap();
        let node = |stage: usize, task: usize| id(1 + 3 * stage + task);
        let mut list: Vec<_> = (0..3).map(|task| (id(0), node(0, task), u64::from(u32::MAX))).collect();
        for (stage, from, to, c) in arcs {
            let to = if stage == 2 { id(10) } else { node(stage + 1, to) };
            list.push((node(stage, from), to, c));
        }
        for (from, to, c) in list {
            whole.add_arc(from, to, c).unwrap();
            real.add_arc(from, to, c as f64).unwrap();
        }
        for (stage, &(a, b)) in gains.iter().enumerate().take(3) {
            for task in 0..3 {
                whole.set_gain(node(stage, task), f64::from(a) / f64::from(b)).unwrap();
                real.set_gain(node(stage, task), f64::from(a) / f64::from(b)).unwrap();
            }
        }
        for (v, c) in capacities {
            whole.set_node_capacity(id(1 + v), c).unwrap();
            real.set_node_capacity(id(1 + v), c as f64).unwrap();
        }
        whole.add_source(id(0), Limit::Unbounded).unwrap();
        whole.add_sink(id(10), Limit::Unbounded).unwrap();
        real.add_source(id(0), Limit::Unbounded).unwrap();
        real.add_sink(id(10), Limit::Unbounded).unwrap();
        let mut values = Vec::new();
        for method in METHODS {
            let mut solver = Solver::new(&whole).method(method);
            let mut exact = Solver::new(&real).method(method);
            if let Some(rate) = rate {
                solver = solver.rate(rate);
                exact = exact.rate(rate as f64);
            }
            let (answer, exact) = (solver.solve().unwrap(), exact.solve().unwrap());
            prop_assert_eq!(verify(&whole, &answer), Ok(()));
            prop_assert_eq!(verify(&real, &exact), Ok(()));
            // Rounding down loses less than one source tuple for each limit, and never gains.
            let lost = exact.value - answer.value as f64;
            prop_assert!(lost >= -1e-6, "{}", lost);
            prop_assert!(lost <= 40.0, "{}", lost);
            values.push((answer.value, exact.value.to_bits()));
        }
        values.dedup();
        prop_assert_eq!(values.len(), 1);
    }
}
