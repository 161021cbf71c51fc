//! What `verify` must refuse.

#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use common::{METHODS, cases, id, net, plan, solved};
use flownet::{
    Answer, Error, Limit, Method, Network, Outcome, Place, Side, Solver, Violation, verify,
};
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

/// A chain whose capacities fall by one unit in the last place to the middle, and rise back to 1,
/// with `twins` parallel arcs at each step; and an answer that claims 1.
fn forged(steps: usize, twins: usize) -> (Network<f64>, Answer<f64>, f64) {
    let ulp = f64::EPSILON / 2.0;
    let capacity = |i: usize| 1.0 - i.min(steps - 1 - i) as f64 * ulp;
    let arcs: Vec<_> = (0..steps)
        .flat_map(|i| std::iter::repeat_n((i, i + 1, capacity(i) / twins as f64), twins))
        .collect();
    let net = net(steps + 1, 0, steps, &arcs);
    let mut answer = solved(&net, METHODS[3]);
    let true_value = answer.value;
    answer.value = 1.0;
    answer.flows = arcs.iter().map(|&(_, _, c)| c).collect();
    (answer.sent[0].1, answer.taken[0].1) = (1.0, 1.0);
    for cut in [&mut answer.source_cut, &mut answer.sink_cut] {
        let cut = cut.as_mut().unwrap();
        cut.sides.fill(Side::Sink);
        cut.sides[0] = Side::Source;
        cut.capacity = 1.0;
    }
    (net, answer, true_value)
}

#[test]
fn one_bit_a_node_does_not_add_up_to_a_forgery() {
    for steps in [5, 6, 101, 10_001] {
        // With twins the halves of 1 might have been rounded, but nothing after them.
        for (twins, node) in [(1, 1), (2, 2)] {
            let (mut net, mut answer, true_value) = forged(steps, twins);
            assert!(true_value < 1.0);
            assert_eq!(verify(&net, &answer), Err(Violation::Unbalanced { node: id(node) }));
            // A tiny limit anywhere, and all amounts might have been rounded. Then a chain is still
            // seen, and the sums of several arcs are not: this far the proof holds.
            net.add_arc(id(steps), id(0), 1e-30).unwrap();
            answer.flows.push(0.0);
            if twins == 1 {
                assert_eq!(verify(&net, &answer), Err(Violation::Unbalanced { node: id(1) }));
            } else {
                assert_eq!(verify(&net, &answer), Ok(()));
                let rounded: f64 = answer.flows.iter().sum();
                assert!(1.0 - true_value <= 2.0 * rounded * (f64::EPSILON / 2.0));
            }
        }
    }
}

#[test]
fn what_need_not_be_rounded_is_checked_exactly() {
    // Whole numbers in floats: one more of 2^52 is 2^-52 of it, and seen.
    let large = (1_u64 << 52) as f64;
    let net = net(4, 0, 3, &[(0, 1, large), (0, 1, 3.0), (1, 2, large), (1, 2, 3.0), (2, 3, 9e15)]);
    let answer = solved(&net, METHODS[3]);
    assert_eq!(answer.value, large + 3.0);
    let mut other = answer.clone();
    other.flows[1] = 2.0;
    assert_eq!(verify(&net, &other), Err(Violation::Unbalanced { node: id(0) }));
    other = answer.clone();
    other.value = large + 2.0;
    assert_eq!(verify(&net, &other), Err(Violation::WrongValue));
}

#[test]
fn nothing_may_come_back_over_a_cut() {
    // Two ways of 1 and one of 1e-17 back from the second to the first: lost in the sums.
    let arcs = [(0, 1, 1.0), (1, 4, 1.0), (0, 2, 1.0), (2, 4, 1.0), (2, 1, 1e-17), (1, 0, 1e-17)];
    let net = net(5, 0, 4, &arcs);
    let mut answer = solved(&net, METHODS[3]);
    assert_eq!(answer.value, 2.0);
    assert_eq!(verify(&net, &answer), Ok(()));
    let cut = answer.source_cut.as_mut().unwrap();
    cut.sides = vec![Side::Source, Side::Sink, Side::Sink, Side::Sink, Side::Sink];
    assert_eq!(verify(&net, &answer), Ok(()));
    answer.flows[5] = 1e-17;
    assert_eq!(verify(&net, &answer), Err(Violation::WrongCut { field: "source_cut" }));
}

#[test]
fn a_rate_and_a_shortfall_are_amounts_and_auto_is_no_method() {
    let net = net(3, 0, 2, &[(0, 1, 2.0), (1, 2, 1.0)]);
    let answer = net.solve_to(4.0).unwrap();
    assert_eq!(verify(&net, &answer), Ok(()));
    for bad in [f64::INFINITY, f64::NAN, -1.0] {
        let mut other = answer.clone();
        other.rate = Some(bad);
        other.outcome = Outcome::Shortfall { by: bad };
        assert_eq!(verify(&net, &other), Err(Violation::BadAmount { field: "rate" }));
        other.rate = answer.rate;
        assert_eq!(verify(&net, &other), Err(Violation::BadAmount { field: "outcome" }));
    }
    let mut other = answer;
    other.method = Method::Auto;
    assert_eq!(verify(&net, &other), Err(Violation::WrongMethod));
    assert!(Violation::WrongMethod.to_string().contains("Auto"));
}

#[test]
fn a_network_without_terminals_has_no_answer() {
    let (_, answer) = example();
    let net: Network<u64> = Network::new();
    assert_eq!(verify(&net, &answer), Err(Violation::BadNetwork));
}
