//! The theorems, on random multigraphs against the least of all cuts.

#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use common::{METHODS, cases, least_cut, plan, solved};
use flownet::{Error, Limit, Network, Outcome, Solver, paths, verify};
use proptest::prelude::*;

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn max_flow_equals_min_cut_by_every_method(plan in plan(6, 14)) {
        let net = plan.network();
        let expected = least_cut(&plan, None);
        let mut first = None;
        for method in METHODS {
            let answer = Solver::new(&net).method(method).solve();
            let Some(expected) = expected else {
                let unbounded = matches!(answer, Err(Error::Unbounded { .. }));
                prop_assert!(unbounded, "{:?}: {:?}", method, answer);
                continue;
            };
            let answer = answer.unwrap();
            prop_assert_eq!(u128::from(answer.value), expected);
            prop_assert_eq!(answer.outcome, Outcome::Maximum);
            let loops = net.arcs().zip(&answer.flows).filter(|(arc, _)| arc.from == arc.to);
            prop_assert_eq!(loops.map(|(_, flow)| flow).max().unwrap_or(&0), &0);
            prop_assert_eq!(verify(&net, &answer), Ok(()));
            // The extreme cuts belong to the network and not to the flow.
            let cuts = (answer.source_cut.clone(), answer.sink_cut.clone());
            prop_assert_eq!(first.get_or_insert(cuts.clone()), &cuts);
        }
    }

    #[test]
    fn a_rate_is_met_or_the_shortfall_named(plan in plan(5, 10), rate in 0_u64..12) {
        let net = plan.network();
        let expected = least_cut(&plan, Some(rate)).unwrap();
        for method in METHODS {
            let answer = Solver::new(&net).method(method).rate(rate).solve().unwrap();
            prop_assert_eq!(verify(&net, &answer), Ok(()));
            prop_assert_eq!(u128::from(answer.value), expected);
            prop_assert_eq!(answer.shortfall(), rate - answer.value);
            prop_assert_eq!(answer.outcome == Outcome::Met, answer.value == rate);
            if answer.value < rate {
                prop_assert!(!answer.source_cut.unwrap().rate);
            }
        }
    }

    #[test]
    fn an_acyclic_flow_has_no_cycle_and_at_most_e_paths_sum_to_the_value(plan in plan(7, 20)) {
        let net = plan.network();
        prop_assume!(least_cut_exists(&net));
        for method in METHODS {
            let answer = Solver::new(&net).method(method).acyclic(true).solve().unwrap();
            prop_assert_eq!(verify(&net, &answer), Ok(()));
            prop_assert!(is_acyclic(&net, &answer.flows));
            let bundle = paths(&net, &answer);
            prop_assert!(bundle.len() <= net.arc_count());
            prop_assert_eq!(bundle.iter().map(|path| path.amount).sum::<u64>(), answer.value);
            // Without cycles the paths are the whole flow.
            let mut flows = vec![0; net.arc_count()];
            for path in &bundle {
                prop_assert!(path.amount > 0);
                let mut at = path.source;
                for arc in &path.arcs {
                    let ends = net.arc(*arc).unwrap();
                    prop_assert_eq!(ends.from, at);
                    at = ends.to;
                    flows[arc.index()] += path.amount;
                }
                prop_assert_eq!(at, path.sink);
            }
            prop_assert_eq!(flows, answer.flows);
        }
    }

    #[test]
    fn paths_of_a_flow_with_cycles_still_sum_to_the_value(plan in plan(7, 24)) {
        let net = plan.network();
        prop_assume!(least_cut_exists(&net));
        for method in METHODS {
            let answer = solved(&net, method);
            let bundle = paths(&net, &answer);
            prop_assert!(bundle.len() <= net.arc_count());
            prop_assert_eq!(bundle.iter().map(|path| path.amount).sum::<u64>(), answer.value);
            for path in &bundle {
                let mut nodes: Vec<_> =
                    path.arcs.iter().map(|&arc| net.arc(arc).unwrap().to).collect();
                nodes.push(path.source);
                nodes.sort();
                let visits = nodes.len();
                nodes.dedup();
                prop_assert_eq!(nodes.len(), visits);
            }
        }
    }

    #[test]
    fn equal_questions_have_equal_answers(plan in plan(7, 20)) {
        let net = plan.network();
        prop_assume!(least_cut_exists(&net));
        for method in METHODS {
            prop_assert_eq!(solved(&net, method), solved(&plan.network(), method));
        }
    }
}

fn least_cut_exists(net: &Network<u64>) -> bool {
    !matches!(net.solve(), Err(Error::Unbounded { .. }))
}

/// Whether nodes can be taken away until none is left, each when nothing flows into it.
fn is_acyclic(net: &Network<u64>, flows: &[u64]) -> bool {
    let mut feeders = vec![0; net.node_count()];
    let carrying = || net.arcs().zip(flows).filter(|&(_, &flow)| flow > 0).map(|(arc, _)| arc);
    carrying().for_each(|arc| feeders[arc.to.index()] += 1);
    let mut ready: Vec<usize> = (0..net.node_count()).filter(|&v| feeders[v] == 0).collect();
    let mut taken = 0;
    while let Some(v) = ready.pop() {
        taken += 1;
        for arc in carrying().filter(|arc| arc.from.index() == v) {
            feeders[arc.to.index()] -= 1;
            if feeders[arc.to.index()] == 0 {
                ready.push(arc.to.index());
            }
        }
    }
    taken == net.node_count()
}

#[test]
fn an_unbounded_way_is_named_arc_by_arc() {
    let mut net: Network<u64> = Network::new();
    let s = net.add_nodes(4).unwrap();
    let [a, b, t] = [1, 2, 3].map(flownet::NodeId);
    net.add_arc(s, b, 3).unwrap();
    let first = net.add_arc(s, a, Limit::Unbounded).unwrap();
    net.add_arc(b, t, Limit::Unbounded).unwrap();
    let last = net.add_arc(a, t, Limit::Unbounded).unwrap();
    net.add_source(s, Limit::Unbounded).unwrap();
    net.add_sink(t, Limit::Unbounded).unwrap();
    let expected = Error::Unbounded { source: s, arcs: vec![first, last], sink: t };
    assert_eq!(net.solve(), Err(expected));
    // A rate bounds it.
    let answer = net.solve_to(1_000).unwrap();
    assert_eq!((answer.value, answer.outcome), (1_000, Outcome::Met));
    assert_eq!(verify(&net, &answer), Ok(()));
}
