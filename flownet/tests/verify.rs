//! What `verify` must refuse.

#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use common::{METHODS, cases, id, net, plan, solved};
use flownet::{Answer, Error, Limit, Network, Outcome, Place, Side, Solver, Violation, verify};
use proptest::prelude::*;

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn one_more_or_less_on_an_arc_is_refused(
        plan in plan(6, 14),
        method in 0..4_usize,
        pick in any::<prop::sample::Index>(),
    ) {
        let net = plan.network();
        let Ok(answer) = Solver::new(&net).method(METHODS[method]).solve() else { return Ok(()) };
        prop_assume!(net.arc_count() > 0);
        let arc = pick.index(net.arc_count());
        let (u, v, _) = plan.arcs[arc];
        prop_assume!(u != v);
        let mut more = answer.clone();
        more.flows[arc] += 1;
        prop_assert!(verify(&net, &more).is_err());
        if answer.flows[arc] > 0 {
            let mut less = answer.clone();
            less.flows[arc] -= 1;
            prop_assert!(verify(&net, &less).is_err());
        }
    }

    #[test]
    fn a_cut_of_another_capacity_is_refused(
        plan in plan(6, 14),
        sides in proptest::collection::vec(0..3_u8, 6),
        rate in proptest::option::of(0_u64..10),
    ) {
        let net = plan.network();
        let mut solver = Solver::new(&net);
        if let Some(rate) = rate {
            solver = solver.rate(rate);
        }
        let Ok(answer) = solver.solve() else { return Ok(()) };
        let side = |&x: &u8| [Side::Sink, Side::Source, Side::Within][x as usize];
        let sides: Vec<Side> = sides.iter().take(plan.nodes).map(side).collect();
        let mut other = answer.clone();
        let mut cut = other.source_cut.unwrap();
        cut.sides = sides;
        let capacity = cut_capacity(&net, &answer, &cut);
        other.source_cut = Some(cut);
        // The cut is accepted exactly if it is as small as the flow.
        let right = capacity == Some(u128::from(answer.value));
        prop_assert_eq!(verify(&net, &other).is_ok(), right, "{:?}", capacity);
        // And no cut at all is smaller than the flow.
        prop_assert!(capacity.is_none_or(|c| c >= u128::from(answer.value)));
    }

    #[test]
    fn a_verified_cut_is_at_least_every_flow(
        plan in plan(6, 14),
        method in 0..3_usize,
        steps in 0_u64..200,
    ) {
        let net = plan.network();
        let Ok(best) = net.solve() else { return Ok(()) };
        let stopped = Solver::new(&net).method(METHODS[method]).solve_within(steps).unwrap();
        prop_assert_eq!(verify(&net, &stopped), Ok(()));
        for cut in [best.source_cut.unwrap(), best.sink_cut.unwrap()] {
            prop_assert!(stopped.value <= cut.capacity);
        }
    }
}

/// By the definition, not by the crate: `None` if unbounded.
fn cut_capacity(net: &Network<u64>, answer: &Answer<u64>, cut: &flownet::Cut<u64>) -> Option<u128> {
    let side = |node: flownet::NodeId| cut.sides[node.index()];
    let mut limits: Vec<Limit<u64>> = Vec::new();
    limits.extend(
        net.arcs()
            .filter(|arc| side(arc.from) == Side::Source && side(arc.to) == Side::Sink)
            .map(|arc| arc.capacity),
    );
    for v in (0..net.node_count()).map(id).filter(|&v| side(v) == Side::Within) {
        limits.push(net.node_capacity(v));
    }
    let behind = |&(v, _): &(flownet::NodeId, _)| side(v) == Side::Sink && !cut.rate;
    limits.extend(net.sources().filter(behind).map(|(_, bound)| bound));
    limits.extend(net.sinks().filter(|&(v, _)| side(v) == Side::Source).map(|(_, bound)| bound));
    if cut.rate {
        limits.push(Limit::Finite(answer.rate.unwrap()));
    }
    limits
        .into_iter()
        .map(|limit| match limit {
            Limit::Finite(c) => Some(u128::from(c)),
            Limit::Unbounded => None,
        })
        .sum()
}

fn example() -> (Network<u64>, Answer<u64>) {
    let net = net(4, 0, 3, &[(0, 1, 4), (0, 2, 2), (1, 2, 3), (1, 3, 1), (2, 3, 6)]);
    let answer = solved(&net, METHODS[0]);
    (net, answer)
}

/// Verifies the example after a change.
fn changed(change: impl FnOnce(&mut Answer<u64>)) -> Violation {
    let (net, mut answer) = example();
    change(&mut answer);
    verify(&net, &answer).unwrap_err()
}

#[test]
fn every_field_is_checked() {
    assert_eq!(changed(|a| a.value -= 1), Violation::WrongValue);
    assert_eq!(changed(|a| a.sent[0].1 -= 1), Violation::Unbalanced { node: id(0) });
    assert_eq!(changed(|a| a.taken[0].1 += 1), Violation::Unbalanced { node: id(3) });
    assert_eq!(changed(|a| a.sent[0].0 = id(1)), Violation::Shape { field: "sent" });
    assert_eq!(changed(|a| a.taken.clear()), Violation::Shape { field: "taken" });
    assert_eq!(changed(|a| a.flows.push(0)), Violation::Shape { field: "flows" });
    assert_eq!(changed(|a| a.source_cut = None), Violation::WrongOutcome);
    assert_eq!(changed(|a| a.sink_cut = None), Violation::WrongOutcome);
    assert_eq!(changed(|a| a.outcome = Outcome::Met), Violation::WrongOutcome);
    assert_eq!(changed(|a| a.outcome = Outcome::Stopped), Violation::WrongOutcome);
    assert_eq!(changed(|a| a.rate = Some(6)), Violation::WrongOutcome);
    assert_eq!(changed(|a| a.units = Some(vec![1.0; 4])), Violation::WrongUnits { node: None });
    let bad_cut = Violation::WrongCut { field: "sink_cut" };
    assert_eq!(changed(|a| a.sink_cut.as_mut().unwrap().capacity += 1), bad_cut);
    assert_eq!(changed(|a| a.sink_cut.as_mut().unwrap().rate = true), bad_cut);
    let short = Violation::Shape { field: "source_cut" };
    assert_eq!(changed(|a| a.source_cut.as_mut().unwrap().sides.truncate(3)), short);
    let unbounded = |field| Violation::UnboundedCut { field, at: Place::Source(id(0)) };
    let all_sink = |a: &mut Answer<u64>| a.source_cut.as_mut().unwrap().sides.fill(Side::Sink);
    assert_eq!(changed(all_sink), unbounded("source_cut"));
}

#[test]
fn the_rate_is_known_to_the_check() {
    let (net, _) = example();
    let met = net.solve_to(3).unwrap();
    assert_eq!((met.value, met.outcome, met.rate), (3, Outcome::Met, Some(3)));
    assert!(met.source_cut.as_ref().unwrap().rate);
    assert_eq!(verify(&net, &met), Ok(()));
    let mut other = met.clone();
    other.rate = None;
    assert_eq!(verify(&net, &other), Err(Violation::WrongOutcome));
    other = met.clone();
    other.rate = Some(4);
    assert_eq!(verify(&net, &other), Err(Violation::WrongOutcome));
    // A flow of less than both the rate and the maximum cannot pass for either.
    other = met.clone();
    other.rate = Some(4);
    other.outcome = Outcome::Shortfall { by: 1 };
    assert_eq!(verify(&net, &other), Err(Violation::WrongCut { field: "source_cut" }));
    other = met;
    other.rate = None;
    other.outcome = Outcome::Maximum;
    assert_eq!(verify(&net, &other), Err(Violation::WrongCut { field: "source_cut" }));

    let short = net.solve_to(9).unwrap();
    assert_eq!(short.outcome, Outcome::Shortfall { by: 3 });
    assert!(!short.source_cut.as_ref().unwrap().rate);
    let mut other = short;
    other.outcome = Outcome::Shortfall { by: 2 };
    assert_eq!(verify(&net, &other), Err(Violation::WrongOutcome));
}

#[test]
fn negative_amounts_are_refused() {
    let net = net(3, 0, 2, &[(0, 1, 5_i64), (1, 0, 5), (1, 2, 3)]);
    let mut answer = solved(&net, METHODS[0]);
    // Balanced, and within the limits but for the sign.
    answer.flows[0] -= 4;
    answer.flows[1] -= 4;
    assert_eq!(verify(&net, &answer), Err(Violation::BadAmount { field: "flows" }));
}

#[test]
fn small_violations_beside_large_flows_are_seen() {
    // Two ways apart: one of 1e9, one of 1e-9.
    let net = net(4, 0, 3, &[(0, 1, 1e9), (1, 3, 1e9), (0, 2, 1e-9), (2, 3, 1e-9)]);
    let answer = solved(&net, METHODS[3]);
    assert_eq!(answer.flows, [1e9, 1e9, 1e-9, 1e-9]);
    let mut other = answer.clone();
    other.flows[3] = 0.0;
    assert_eq!(verify(&net, &other), Err(Violation::Unbalanced { node: id(2) }));
    other.flows[3] = 1e-9 * (1.0 + 4.0 * f64::EPSILON);
    let over = Violation::OverLimit { at: Place::Arc(flownet::ArcId(3)) };
    assert_eq!(verify(&net, &other), Err(over));
    other.flows[3] = 1e-9 * (1.0 - 4.0 * f64::EPSILON);
    assert_eq!(verify(&net, &other), Err(Violation::Unbalanced { node: id(2) }));
}

#[test]
fn what_is_not_finite_is_refused() {
    let net = net(3, 0, 2, &[(0, 1, 2.0), (1, 2, 1.0)]);
    let answer = solved(&net, METHODS[3]);
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0] {
        let mut other = answer.clone();
        other.flows.fill(bad);
        assert_eq!(verify(&net, &other), Err(Violation::BadAmount { field: "flows" }));
        other = answer.clone();
        other.value = bad;
        assert_eq!(verify(&net, &other), Err(Violation::BadAmount { field: "value" }));
        other = answer.clone();
        other.sent[0].1 = bad;
        assert_eq!(verify(&net, &other), Err(Violation::BadAmount { field: "sent" }));
        other = answer.clone();
        other.source_cut.as_mut().unwrap().capacity = bad;
        assert_eq!(verify(&net, &other), Err(Violation::WrongCut { field: "source_cut" }));
    }
}

#[test]
fn sums_that_overflow_are_still_checked() {
    let huge = f64::MAX;
    // What passes node 1 is more than the largest float, so the network has no answer; with a rate
    // it has one.
    let arcs = [(0, 1, huge), (0, 1, huge), (1, 2, huge), (1, 2, huge)];
    let net = net(3, 0, 2, &arcs);
    assert!(matches!(net.solve(), Err(Error::Overflow { .. })));
    let mut answer = net.solve_to(huge).unwrap();
    assert_eq!(answer.outcome, Outcome::Met);
    assert_eq!(verify(&net, &answer), Ok(()));
    // All four full: balanced at 1, but not at the source.
    answer.flows.fill(huge);
    assert_eq!(verify(&net, &answer), Err(Violation::Unbalanced { node: id(0) }));
    answer.flows = vec![huge, huge, huge, 0.0];
    assert_eq!(verify(&net, &answer), Err(Violation::Unbalanced { node: id(0) }));
}

#[test]
fn a_network_without_terminals_has_no_answer() {
    let (_, answer) = example();
    let net: Network<u64> = Network::new();
    assert_eq!(verify(&net, &answer), Err(Violation::BadNetwork));
}
