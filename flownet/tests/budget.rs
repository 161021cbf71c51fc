//! Step budgets, stopping and going on.

#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use common::{METHODS, cases, net, plan};
use flownet::{Method, Network, Outcome, Solver, Status, verify};
use proptest::prelude::*;

proptest! {
    #![proptest_config(cases(512))]

    #[test]
    fn small_steps_come_to_the_same_end_and_every_stop_is_valid(
        plan in plan(7, 20),
        method in 0..4_usize,
        steps in 1_u64..40,
    ) {
        let net = plan.network();
        let solver = Solver::new(&net).method(METHODS[method]);
        let Ok(whole) = solver.clone().solve() else { return Ok(()) };
        let mut run = solver.start().unwrap();
        let (mut granted, mut last) = (0, 0);
        while run.step(steps) == Status::Paused {
            granted += steps;
            prop_assert!(run.progress().stats.steps <= granted);
            prop_assert!(!run.progress().done);
            prop_assert!(granted < 1_000_000);
            let stopped = run.clone().finish().unwrap();
            prop_assert_eq!(run.progress().value, Some(stopped.value));
            prop_assert!(stopped.value >= last);
            last = stopped.value;
            prop_assert_eq!(stopped.outcome, Outcome::Stopped);
            prop_assert_eq!(verify(&net, &stopped), Ok(()));
            prop_assert!(stopped.value <= whole.value);
        }
        prop_assert!(run.progress().done);
        prop_assert_eq!(run.progress().value, Some(whole.value));
        prop_assert_eq!(run.finish().unwrap(), whole);
    }

    /// Theorem 1: a flow is a maximum exactly if no augmenting path is left.
    #[test]
    fn maximum_exactly_without_an_augmenting_path(
        plan in plan(7, 20),
        method in 0..3_usize,
        steps in 0_u64..300,
    ) {
        let mut plan = plan;
        plan.capacities.clear();
        plan.sources = vec![(0, flownet::Limit::Unbounded)];
        plan.sinks = vec![(plan.nodes - 1, flownet::Limit::Unbounded)];
        let net = plan.network();
        let Ok(best) = net.solve() else { return Ok(()) };
        let flow = Solver::new(&net).method(METHODS[method]).solve_within(steps).unwrap();
        prop_assert_eq!(verify(&net, &flow), Ok(()));
        prop_assert_eq!(flow.value == best.value, !augmenting_path(&net, &flow.flows));
    }
}

proptest! {
    #![proptest_config(cases(4096))]

    /// On networks that are large enough for exact heights to be found again and again.
    #[test]
    fn small_steps_come_to_the_same_end_on_larger_networks(
        plan in plan(30, 90),
        method in 0..3_usize,
        steps in 1_u64..120,
    ) {
        let net = plan.network();
        let solver = Solver::new(&net).method(METHODS[method]);
        let Ok(whole) = solver.clone().solve() else { return Ok(()) };
        let mut run = solver.start().unwrap();
        let mut granted = steps;
        while run.step(steps) == Status::Paused {
            prop_assert!(run.progress().stats.steps <= granted);
            granted += steps;
        }
        prop_assert_eq!(run.finish().unwrap(), whole);
    }
}

/// By searching the residual network as section 2 of the paper defines it.
fn augmenting_path(net: &Network<u64>, flows: &[u64]) -> bool {
    let mut reached = vec![false; net.node_count()];
    reached[0] = true;
    loop {
        let before = reached.iter().filter(|&&mark| mark).count();
        for (arc, &flow) in net.arcs().zip(flows) {
            let (u, v) = (arc.from.index(), arc.to.index());
            let room = !matches!(arc.capacity, flownet::Limit::Finite(c) if c == flow);
            if reached[u] && room {
                reached[v] = true;
            }
            if reached[v] && flow > 0 {
                reached[u] = true;
            }
        }
        if reached.iter().filter(|&&mark| mark).count() == before {
            return reached[net.node_count() - 1];
        }
    }
}

/// A source with ten thousand arcs, and a hub in the middle.
fn hub() -> Network<u64> {
    let n = 10_000;
    let mut arcs = Vec::new();
    for v in 0..n {
        arcs.push((0, 3 + v, 2));
        arcs.push((3 + v, 1, 2));
    }
    arcs.push((1, 2, 5_000));
    net(n + 3, 0, 2, &arcs)
}

#[test]
fn a_hub_does_not_overrun_the_budget() {
    let net = hub();
    for method in METHODS {
        let mut run = Solver::new(&net).method(method).start().unwrap();
        let mut granted = 0;
        loop {
            granted += 100;
            let status = run.step(100);
            assert!(run.progress().stats.steps <= granted, "{method:?}");
            if status == Status::Done {
                break;
            }
        }
        let answer = run.finish().unwrap();
        assert_eq!((answer.value, answer.outcome), (5_000, Outcome::Maximum));
        assert_eq!(verify(&net, &answer), Ok(()));
        // A single call keeps to its budget as well, even where one look at the hub is more.
        for steps in [0, 1, 100, 9_999, 20_000, 50_000] {
            let answer = Solver::new(&net).method(method).solve_within(steps).unwrap();
            assert!(answer.stats.steps <= steps, "{method:?} {steps}");
            assert_eq!(verify(&net, &answer), Ok(()));
        }
    }
}

#[test]
fn keep_going_is_asked_and_obeyed() {
    let net = hub();
    for method in [Method::EdmondsKarp, Method::Dinic, Method::PushRelabel] {
        let mut asked = 0;
        let answer = Solver::new(&net).method(method).solve_while(0, |_| {
            asked += 1;
            asked <= 50
        });
        let answer = answer.unwrap();
        assert_eq!((answer.outcome, asked), (Outcome::Stopped, 51));
        assert_eq!(verify(&net, &answer), Ok(()));

        let mut last = 0;
        let answer = Solver::new(&net).method(method).solve_while(1_000, |progress| {
            assert!(progress.stats.steps >= last && !progress.done);
            last = progress.stats.steps;
            true
        });
        assert_eq!(answer.unwrap().outcome, Outcome::Maximum);

        // Never begun is a flow of nothing.
        let answer = Solver::new(&net).method(method).solve_while(1_000, |_| false).unwrap();
        assert_eq!((answer.value, answer.outcome), (0, Outcome::Stopped));
        assert_eq!(verify(&net, &answer), Ok(()));
    }
}

#[test]
fn a_stopped_answer_to_a_rate_is_not_above_it() {
    let net = hub();
    for method in METHODS {
        for steps in (0..300_000).step_by(7_001) {
            let answer = Solver::new(&net).method(method).rate(1_234).solve_within(steps).unwrap();
            assert!(answer.value <= 1_234);
            assert_eq!(answer.outcome == Outcome::Met, answer.source_cut.is_some());
            assert_eq!(verify(&net, &answer), Ok(()));
        }
    }
}
