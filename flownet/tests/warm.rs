//! A warm flow is what a cold solver finds, after any edits.

#![allow(missing_docs, clippy::cast_sign_loss, clippy::unwrap_used)]

mod common;

use common::{METHODS, cases, id, limit, net, plan};
use flownet::{
    ArcId, Capacity, Effort, Error, Limit, Network, Outcome, Solver, Warm, bottlenecks, verify,
};
use proptest::prelude::*;

/// A change of one limit; numbers are taken modulo what there is.
#[derive(Clone, Debug)]
enum Edit {
    Arc(usize, Limit<u64>),
    Node(usize, Limit<u64>),
    Source(usize, Limit<u64>),
    Sink(usize, Limit<u64>),
    Rate(u64),
    Maximum,
    /// Scales what the arc has now, in percent.
    Scale(usize, u64),
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        8 => (any::<usize>(), limit()).prop_map(|(at, c)| Edit::Arc(at, c)),
        4 => (any::<usize>(), 0..250_u64).prop_map(|(at, p)| Edit::Scale(at, p)),
        3 => (any::<usize>(), limit()).prop_map(|(at, c)| Edit::Node(at, c)),
        1 => (any::<usize>(), limit()).prop_map(|(at, c)| Edit::Source(at, c)),
        1 => (any::<usize>(), limit()).prop_map(|(at, c)| Edit::Sink(at, c)),
        2 => (0_u64..40).prop_map(Edit::Rate),
        1 => Just(Edit::Maximum),
    ]
}

fn apply<C: Capacity>(
    warm: &mut Warm<C>,
    edit: &Edit,
    number: impl Fn(u64) -> C,
) -> Result<Effort, Error<C>> {
    let limit = |limit: Limit<u64>| match limit {
        Limit::Finite(c) => Limit::Finite(number(c)),
        Limit::Unbounded => Limit::Unbounded,
    };
    let (nodes, arcs) = (warm.network().node_count(), warm.network().arc_count());
    let arc = |at: usize| ArcId(u32::try_from(at % arcs.max(1)).unwrap());
    let change = match *edit {
        Edit::Arc(..) | Edit::Scale(..) if arcs == 0 => return Ok(Effort::Nothing),
        Edit::Arc(at, c) => warm.set_capacity(arc(at), limit(c)),
        Edit::Scale(at, percent) => {
            let now = match warm.network().arc(arc(at)).unwrap().capacity {
                Limit::Finite(c) => c.to_string().parse::<f64>().unwrap_or(1.0),
                Limit::Unbounded => 10.0,
            };
            let scaled = (now.min(1e15) * percent as f64 / 100.0) as u64;
            warm.set_capacity(arc(at), number(scaled))
        }
        Edit::Node(at, c) => warm.set_node_capacity(id(at % nodes), limit(c)),
        Edit::Source(at, c) => {
            let (node, _) =
                warm.network().sources().nth(at % warm.network().sources().len()).unwrap();
            warm.set_source_bound(node, limit(c))
        }
        Edit::Sink(at, c) => {
            let (node, _) = warm.network().sinks().nth(at % warm.network().sinks().len()).unwrap();
            warm.set_sink_bound(node, limit(c))
        }
        Edit::Rate(rate) => warm.solve_to(number(rate)),
        Edit::Maximum => warm.solve(),
    };
    change.map(|change| {
        assert_eq!(change.after, warm.value());
        change.effort
    })
}

/// Value, outcome, both cuts, evidence: all as a cold solver has it.
fn assert_as_cold<C: Capacity>(warm: &mut Warm<C>, method: flownet::Method) {
    let mut solver = Solver::new(warm.network()).method(method);
    if let Some(rate) = warm.rate() {
        solver = solver.rate(rate);
    }
    let cold = solver.solve().unwrap();
    let answer = warm.answer();
    assert_eq!(verify(warm.network(), &answer), Ok(()));
    assert_eq!((answer.value, answer.outcome), (cold.value, cold.outcome));
    assert_eq!((answer.value, answer.outcome), (warm.value(), warm.outcome()));
    assert_eq!(answer.source_cut, cold.source_cut);
    assert_eq!(answer.sink_cut, cold.sink_cut);
    assert_eq!(Some(warm.source_cut()), cold.source_cut.as_ref());
    assert_eq!(Some(warm.sink_cut()), cold.sink_cut.as_ref());
    assert_eq!(bottlenecks(warm.network(), &answer), bottlenecks(warm.network(), &cold));
    for arc in (0..warm.network().arc_count()).map(|arc| ArcId(u32::try_from(arc).unwrap())) {
        assert_eq!(warm.flow(arc), answer.flow(arc));
    }
}

/// The network, as it would be without the flow, after the edits that were not refused.
fn run<C: Capacity>(
    net: Network<C>,
    edits: &[Edit],
    check: usize,
    number: impl Fn(u64) -> C + Copy,
) {
    let mut counts = [0; 3];
    // What repairs hand over to.
    let method = METHODS[edits.len() % METHODS.len()];
    let Ok(mut warm) = Warm::with_method(net, method) else { return };
    for (index, edit) in edits.iter().enumerate() {
        let before = (warm.network().clone(), warm.rate(), warm.value());
        match apply(&mut warm, edit, number) {
            Ok(effort) => counts[effort as usize] += 1,
            Err(Error::Unbounded { .. } | Error::Overflow { .. }) => {
                let after = (warm.network().clone(), warm.rate(), warm.value());
                assert_eq!(after, before);
            }
            Err(error) => panic!("{edit:?}: {error}"),
        }
        // Not after each edit: so some are made with cuts that are not known.
        if index % check == 0 {
            assert_as_cold(&mut warm, METHODS[index % METHODS.len()]);
        }
    }
    assert_as_cold(&mut warm, METHODS[edits.len() % METHODS.len()]);
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn any_edits_end_as_a_cold_solution(
        plan in plan(7, 16),
        edits in proptest::collection::vec(edit(), 1..14),
        check in 1..4_usize,
    ) {
        run(plan.network(), &edits, check, |c| c);
    }

    #[test]
    fn floats_too(
        plan in plan(6, 12),
        edits in proptest::collection::vec(edit(), 1..8),
        check in 1..4_usize,
        step in prop::sample::select(vec![1.0, 0.1, 1e-9, 3.7e5]),
    ) {
        let number = |c: u64| c as f64 * step;
        let limit = |limit: Limit<u64>| match limit {
            Limit::Finite(c) => Limit::Finite(number(c)),
            Limit::Unbounded => Limit::Unbounded,
        };
        let floats = common::Plan {
            nodes: plan.nodes,
            arcs: plan.arcs.iter().map(|&(u, v, c)| (u, v, limit(c))).collect(),
            capacities: plan.capacities.iter().map(|&(v, c)| (v, number(c))).collect(),
            sources: plan.sources.iter().map(|&(v, c)| (v, limit(c))).collect(),
            sinks: plan.sinks.iter().map(|&(v, c)| (v, limit(c))).collect(),
        };
        run(floats.network(), &edits, check, number);
    }
}

proptest! {
    #![proptest_config(cases(512))]

    /// Larger ones, where repairs are longer and are cut short.
    #[test]
    fn networks_of_layers(
        caps in proptest::collection::vec(1_u64..40, 260),
        nodes in proptest::collection::vec((0..40_usize, 1_u64..120), 0..10),
        edits in proptest::collection::vec(edit(), 1..30),
        check in 1..6_usize,
    ) {
        let mut arcs = Vec::new();
        let mut caps = caps.into_iter();
        arcs.extend((1..9).map(|v| (0, v, 1_000)));
        for layer in 0..4 {
            for u in 0..8 {
                for k in [0, 1, 3, 5] {
                    let (from, to) = (1 + 8 * layer + u, 9 + 8 * layer + (u + k) % 8);
                    arcs.push((from, to, caps.next().unwrap()));
                }
            }
        }
        arcs.extend((33..41).map(|v| (v, 41, caps.next().unwrap() * 4)));
        let mut net = net(42, 0, 41, &arcs);
        for (v, c) in nodes {
            net.set_node_capacity(id(v + 1), c).unwrap();
        }
        run(net, &edits, check, |c| c);
    }

    #[test]
    fn gains_too(
        caps in proptest::collection::vec(0_u64..400, 9),
        gains in proptest::collection::vec(prop::sample::select(vec![0.5, 1.0, 3.0, 8.0]), 3),
        edits in proptest::collection::vec(edit(), 1..12),
        check in 1..3_usize,
    ) {
        // Stages, so that every way has the same gains.
        let ends = [(0, 1), (0, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 5), (4, 5), (3, 4)];
        let arcs: Vec<_> = ends.iter().zip(&caps).take(8).map(|(&(u, v), &c)| (u, v, c)).collect();
        let mut net = net(6, 0, 5, &arcs);
        for (stage, &gain) in [vec![0], vec![1, 2], vec![3, 4]].iter().zip(&gains) {
            for &node in stage {
                net.set_gain(id(node), gain).unwrap();
            }
        }
        run(net, &edits, check, |c| c);
    }
}

/// Sets that are not kept up to date would call the second raise one that changes nothing.
#[test]
fn a_raise_is_judged_by_the_sets_as_they_stand() {
    let net = net(3, 0, 2, &[(0, 1, 1_u64), (1, 2, 1)]);
    let mut warm = Warm::new(net).unwrap();
    let first = warm.set_capacity(ArcId(0), 2).unwrap();
    assert_eq!((first.before, first.after), (1, 1));
    let second = warm.set_capacity(ArcId(1), 2).unwrap();
    assert_eq!((second.before, second.after), (1, 2));
    assert_as_cold(&mut warm, METHODS[0]);
}

/// s - a - t is the cut; b lies beside it.
fn with_a_bypass() -> Warm<u64> {
    let arcs = [(0, 1, 10), (1, 3, 4), (0, 2, 10), (2, 3, 10), (3, 4, 8), (4, 5, 20)];
    Warm::new(net(6, 0, 5, &arcs)).unwrap()
}

#[test]
fn what_cannot_change_the_value_takes_no_work() {
    let mut warm = with_a_bypass();
    assert_eq!(warm.value(), 8);
    warm.source_cut();
    warm.sink_cut();
    // Room is left on each of them, before and after; the first has slack on both sides of the cut.
    for (arc, capacity) in [(5, 30), (5, 9), (5, 50), (0, 11), (2, 11), (3, 12)] {
        let change = warm.set_capacity(ArcId(arc), capacity).unwrap();
        assert_eq!((change.effort, change.work, change.after), (Effort::Nothing, 0, 8));
    }
    assert_as_cold(&mut warm, METHODS[1]);
}

#[test]
fn a_rate_is_followed_up_and_down() {
    let mut warm = with_a_bypass();
    for rate in [0, 3, 8, 7, 2, 9, 1, 100, 5] {
        let change = warm.solve_to(rate).unwrap();
        assert_eq!(change.after, rate.min(8));
        assert_eq!(warm.outcome() == Outcome::Met, rate <= 8);
        assert_as_cold(&mut warm, METHODS[2]);
    }
    // A capacity below the rate, and back.
    let _ = warm.set_capacity(ArcId(4), 3).unwrap();
    assert_eq!(warm.outcome(), Outcome::Shortfall { by: 2 });
    let _ = warm.set_capacity(ArcId(4), 8).unwrap();
    assert_eq!(warm.outcome(), Outcome::Met);
    assert_eq!(warm.solve().unwrap().after, 8);
}

#[test]
fn a_refused_edit_changes_nothing() {
    let mut warm = with_a_bypass();
    let before = warm.clone().answer();
    let _ = warm.set_capacity(ArcId(1), Limit::Unbounded).unwrap();
    let _ = warm.set_capacity(ArcId(0), Limit::Unbounded).unwrap();
    let _ = warm.set_capacity(ArcId(5), Limit::Unbounded).unwrap();
    let unbounded = warm.set_capacity(ArcId(4), Limit::Unbounded);
    assert!(matches!(unbounded, Err(Error::Unbounded { .. })), "{unbounded:?}");
    assert_eq!((warm.value(), warm.answer().flows[4]), (8, 8));
    assert_as_cold(&mut warm, METHODS[0]);
    assert_eq!(warm.set_capacity(ArcId(9), 1), Err(Error::NoSuchArc { arc: ArcId(9), arcs: 6 }));
    assert_eq!(warm.set_node_capacity(id(7), 1), Err(Error::NoSuchNode { node: id(7), nodes: 6 }));
    let at = flownet::Place::Source(id(1));
    assert_eq!(warm.set_source_bound(id(1), 1), Err(Error::NotATerminal { at }));
    let at = flownet::Place::Sink(id(1));
    assert_eq!(warm.set_sink_bound(id(1), 1), Err(Error::NotATerminal { at }));
    assert_eq!(warm.value(), before.value);
    // With a rate there is no way without limit.
    let _ = warm.solve_to(1_000).unwrap();
    assert_eq!(warm.set_capacity(ArcId(4), Limit::Unbounded).unwrap().after, 1_000);
    assert!(matches!(warm.solve(), Err(Error::Unbounded { .. })));
    assert_eq!((warm.value(), warm.rate()), (1_000, Some(1_000)));
}

#[test]
fn bad_numbers_are_refused() {
    let mut warm = Warm::new(net(2, 0, 1, &[(0, 1, 1.5)])).unwrap();
    for bad in [f64::NAN, -1.0, f64::INFINITY] {
        assert!(matches!(warm.set_capacity(ArcId(0), bad), Err(Error::BadCapacity { .. })));
        assert!(matches!(warm.set_node_capacity(id(0), bad), Err(Error::BadCapacity { .. })));
        assert!(matches!(warm.solve_to(bad), Err(Error::BadCapacity { .. })));
        assert!(matches!(warm.set_source_bound(id(0), bad), Err(Error::BadCapacity { .. })));
        assert_eq!((warm.value(), warm.rate()), (1.5, None));
    }
    // Far finer, and far larger, than what there was.
    for fit in [1e-300, 0.1, 1e300, 5e-324, f64::MAX, 0.0, 7.0] {
        assert_eq!(warm.set_capacity(ArcId(0), fit).unwrap().after, fit);
        assert_as_cold(&mut warm, METHODS[0]);
    }
}

/// Where no flow can be, a limit of zero stands for any; but none is none there too.
#[test]
fn a_limit_taken_away_where_no_flow_can_be_is_none() {
    // The source reaches no sink, so its tuples are not counted.
    let mut net = net(3, 0, 2, &[(0, 1, 0_u64), (1, 2, 5)]);
    net.set_gain(id(1), 2.0).unwrap();
    net.set_node_capacity(id(0), 7).unwrap();
    let mut warm = Warm::new(net).unwrap();
    assert_as_cold(&mut warm, METHODS[0]);
    let _ = warm.set_node_capacity(id(0), Limit::Unbounded).unwrap();
    assert_as_cold(&mut warm, METHODS[0]);
}
