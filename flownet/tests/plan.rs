//! Plans: optimal by policy, exact in whole numbers, and as fixed where they are.

#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use common::{Plan as Data, cases, id, limit, net};
use flownet::{
    ArcId, Limit, Network, NodeId, PlanError, Planner, Policy, Split, largest_remainder, plan,
    verify,
};
use good_lp::{Expression, Solution, SolverModel, constraint, microlp, variable, variables};
use proptest::prelude::*;

/// Arcs with limits, one source (the first node) and one sink (the last), and node capacities.
fn networks(nodes: usize, arcs: usize) -> impl Strategy<Value = Data<u64>> {
    (3..=nodes).prop_flat_map(move |n| {
        let arc = (
            0..n - 1,
            1..n,
            prop_oneof![5 => (1_u64..9).prop_map(Limit::Finite), 1 => Just(Limit::Unbounded)],
        );
        (
            proptest::collection::vec(arc, 1..=arcs),
            proptest::collection::vec((1..n - 1, 1_u64..9), 0..3),
            proptest::option::of(1_u64..12),
        )
            .prop_map(move |(arcs, capacities, bound)| Data {
                nodes: n,
                arcs: arcs.into_iter().filter(|(u, v, _)| u != v).collect(),
                capacities,
                sources: vec![(0, bound.map_or(Limit::Unbounded, Limit::Finite))],
                sinks: vec![(n - 1, Limit::Unbounded)],
            })
    })
}

/// The flow on each arc as the shares send it: from the sources on, share by share.
fn flows(net: &Network<u64>, plan: &flownet::Plan) -> Vec<f64> {
    (0..net.arc_count()).map(|arc| plan.arc_rate(ArcId(arc as u32))).collect()
}

/// That the shares, followed from the source, give the rates that the plan states.
fn assert_consistent(net: &Network<u64>, plan: &flownet::Plan) {
    let near = |a: f64, b: f64| assert!((a - b).abs() <= 1e-9 * a.max(b).max(1e-9), "{a} {b}");
    let mut out = vec![0.0; net.node_count()];
    let mut into = vec![0.0; net.node_count()];
    for (arc, flow) in net.arcs().zip(flows(net, plan)) {
        out[arc.from.index()] += flow;
        into[arc.to.index()] += flow;
    }
    for node in (0..net.node_count()).map(id) {
        let shares: Vec<_> = plan.shares(node).collect();
        if !shares.is_empty() {
            near(shares.iter().map(|share| share.1).sum(), 1.0);
        }
        for (arc, share) in shares {
            assert_eq!(net.arc(arc).unwrap().from, node);
            near(share * out[node.index()], plan.arc_rate(arc));
            assert!((plan.share(node, arc) - share).abs() < 1e-15);
        }
        let source = net.sources().any(|(source, _)| source == node);
        let sink = net.sinks().any(|(sink, _)| sink == node);
        if !source && !sink {
            near(into[node.index()] * net.gain(node), out[node.index()]);
        }
        if source {
            near(out[node.index()], plan.value() * net.gain(node));
        } else {
            near(into[node.index()], plan.node_rate(node));
        }
    }
}

/// The utilisation of every limit, the largest first.
fn utilisations(data: &Data<u64>, flows: &[f64]) -> Vec<f64> {
    let mut all = Vec::new();
    let mut passing = vec![0.0; data.nodes];
    for (&(u, v, limit), &flow) in data.arcs.iter().zip(flows) {
        if let Limit::Finite(c) = limit {
            all.push(flow / c as f64);
        }
        passing[v] += flow;
        if u == 0 {
            passing[0] += flow;
        }
    }
    let last = |v: usize| data.capacities.iter().rev().find(|&&(w, _)| w == v);
    for (v, passing) in passing.into_iter().enumerate() {
        if let Some(&(_, c)) = last(v) {
            all.push(passing / c as f64);
        }
    }
    if let Limit::Finite(bound) = data.sources[0].1 {
        let back: f64 =
            data.arcs.iter().zip(flows).filter(|((_, v, _), _)| *v == 0).map(|(_, f)| f).sum();
        let out: f64 =
            data.arcs.iter().zip(flows).filter(|((u, _, _), _)| *u == 0).map(|(_, f)| f).sum();
        all.push((out - back) / bound as f64);
    }
    all.sort_by(|a, b| b.total_cmp(a));
    all
}

/// The least `λ` with a flow of the rate within `λ` times all limits, by a linear program.
fn least_utilisation(data: &Data<u64>, rate: f64) -> Option<f64> {
    variables! { problem: 0 <= lambda; }
    let flows = problem.add_vector(variable().min(0), data.arcs.len());
    let mut model = problem.minimise(lambda).using(microlp);
    let mut net = vec![Expression::from(0.0); data.nodes];
    let mut into = net.clone();
    for (&(u, v, limit), &flow) in data.arcs.iter().zip(&flows) {
        net[u] += flow;
        net[v] -= flow;
        into[v] += flow;
        if let Limit::Finite(c) = limit {
            model = model.with(constraint!(flow <= lambda * c as f64));
        }
    }
    for (v, sum) in net.into_iter().enumerate().take(data.nodes - 1).skip(1) {
        model = model.with(constraint!(sum == 0.0));
        if let Some(&(_, c)) = data.capacities.iter().rev().find(|&&(w, _)| w == v) {
            model = model.with(constraint!(into[v].clone() <= lambda * c as f64));
        }
    }
    let out = |v: usize| {
        let arcs = data.arcs.iter().zip(&flows);
        arcs.fold(Expression::from(0.0), |sum, (&(a, b, _), &flow)| {
            sum + if a == v { 1.0 } else { 0.0 } * flow - if b == v { 1.0 } else { 0.0 } * flow
        })
    };
    model = model.with(constraint!(out(0) == rate));
    if let Limit::Finite(bound) = data.sources[0].1 {
        model = model.with(constraint!(rate <= lambda * bound as f64));
    }
    model.solve().ok().map(|solution| solution.value(lambda))
}

proptest! {
    #![proptest_config(cases(512))]

    #[test]
    fn min_max_and_balanced_have_the_least_largest_utilisation(
        data in networks(6, 10),
        percent in 1_u64..=100,
    ) {
        let net = data.network();
        let maximum = match net.solve() {
            Ok(answer) => answer.value,
            Err(_) => 100,
        };
        // In steps of a hundredth, as the rate is a whole number.
        let mut scaled = data.clone();
        let hundred = |c: u64| c * 100;
        for arc in &mut scaled.arcs {
            if let Limit::Finite(c) = &mut arc.2 { *c = hundred(*c); }
        }
        for capacity in &mut scaled.capacities { capacity.1 = hundred(capacity.1); }
        if let Limit::Finite(c) = &mut scaled.sources[0].1 { *c = hundred(*c); }
        let net = scaled.network();
        let rate = maximum * percent;
        prop_assume!(rate > 0);
        let Some(least) = least_utilisation(&scaled, rate as f64) else {
            prop_assert_eq!(net.solve().unwrap().value, 0);
            return Ok(());
        };
        for policy in [Policy::MinMax, Policy::Balanced] {
            let plan = plan(&net, rate, policy).unwrap();
            prop_assert_eq!(plan.value(), rate as f64);
            assert_consistent(&net, &plan);
            let largest = utilisations(&scaled, &flows(&net, &plan)).first().copied().unwrap_or(0.0);
            prop_assert!((largest - least).abs() <= 1e-6, "{:?}: {} {}", policy, largest, least);
        }
        // As solved, it is the paper's flow: within all limits, and of the rate.
        let solved = plan(&net, rate, Policy::AsSolved).unwrap();
        assert_consistent(&net, &solved);
        prop_assert!(utilisations(&scaled, &flows(&net, &solved)).iter().all(|&u| u <= 1.0 + 1e-12));
    }

    /// All flows of whole steps, by trying every amount on every path.
    #[test]
    fn no_flow_of_whole_steps_is_more_balanced(data in networks(5, 7)) {
        const STEPS: u64 = 12;
        let net = data.network();
        prop_assume!(!matches!(net.solve(), Ok(answer) if answer.value == 0));
        let plan = plan(&net, 1, Policy::Balanced).unwrap();
        let ours = flows(&net, &plan).iter().map(|f| f / plan.value()).collect::<Vec<_>>();
        let ours = utilisations(&data, &ours);
        let paths = all_paths(&data);
        prop_assume!(paths.len() <= 5);
        let mut amounts = vec![0; paths.len()];
        let worse = try_all(&mut amounts, 0, STEPS, &mut |amounts| {
            let mut flow = vec![0.0; data.arcs.len()];
            for (path, &amount) in paths.iter().zip(amounts) {
                for &arc in path { flow[arc] += amount as f64 / STEPS as f64; }
            }
            let theirs = utilisations(&data, &flow);
            // Theirs may not be less at the first place where the two differ.
            let first = ours.iter().zip(&theirs).find(|(a, b)| (*a - *b).abs() > 1e-9);
            first.is_none_or(|(ours, theirs)| ours < theirs)
        });
        prop_assert!(worse);
    }
}

fn all_paths(data: &Data<u64>) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    let mut todo = vec![(0, vec![], vec![0])];
    while let Some((at, path, seen)) = todo.pop() {
        if at == data.nodes - 1 {
            found.push(path);
            continue;
        }
        for (arc, &(u, v, _)) in data.arcs.iter().enumerate() {
            if u == at && !seen.contains(&v) {
                let with = |list: &Vec<usize>, x| [list.as_slice(), &[x]].concat();
                todo.push((v, with(&path, arc), with(&seen, v)));
            }
        }
    }
    found
}

/// Whether all ways to give `left` out to the places from `at` on are as wanted.
fn try_all(
    amounts: &mut Vec<u64>,
    at: usize,
    left: u64,
    wanted: &mut impl FnMut(&[u64]) -> bool,
) -> bool {
    if at + 1 == amounts.len() {
        amounts[at] = left;
        return wanted(amounts);
    }
    (0..=left).all(|amount| {
        amounts[at] = amount;
        try_all(amounts, at + 1, left - amount, wanted)
    })
}

/// A source of 10, ten workers of 100: a scaled maximum flow may give all to one.
fn ten_workers(capacity: impl Fn(usize) -> Limit<u64>) -> Network<u64> {
    let mut net = Network::new();
    net.add_nodes(12).unwrap();
    for worker in 1..11 {
        net.add_arc(id(0), id(worker), Limit::Unbounded).unwrap();
        net.add_arc(id(worker), id(11), Limit::Unbounded).unwrap();
        net.set_node_capacity(id(worker), capacity(worker)).unwrap();
    }
    net.add_source(id(0), 10).unwrap();
    net.add_sink(id(11), Limit::Unbounded).unwrap();
    net
}

#[test]
fn equal_workers_get_equal_shares() {
    for capacity in [Limit::Finite(100), Limit::Unbounded] {
        let plan = plan(&ten_workers(|_| capacity), 10, Policy::Balanced).unwrap();
        assert_eq!(plan.shares(id(0)).len(), 10);
        for (_, share) in plan.shares(id(0)) {
            assert!((share - 0.1).abs() < 1e-12, "{share}");
        }
    }
    // Different ones by what they can.
    let plan = plan(&ten_workers(|w| Limit::Finite(w as u64 * 7)), 10, Policy::Balanced).unwrap();
    for (worker, (_, share)) in plan.shares(id(0)).enumerate() {
        assert!((share - (worker + 1) as f64 / 55.0).abs() < 1e-12, "{share}");
    }
}

#[test]
fn stages_that_send_all_to_all_share_alike() {
    let mut arcs = Vec::new();
    arcs.extend((1..6).map(|v| (0, v, Limit::Unbounded)));
    arcs.extend((1..6).flat_map(|u| (6..11).map(move |v| (u, v, Limit::Unbounded))));
    arcs.extend((6..11).map(|v| (v, 11, Limit::Unbounded)));
    let data = Data {
        nodes: 12,
        arcs,
        capacities: (6..11).map(|v| (v, v as u64)).collect(),
        sources: vec![(0, Limit::Unbounded)],
        sinks: vec![(11, Limit::Unbounded)],
    };
    let plan = plan(&data.network(), 40, Policy::Balanced).unwrap();
    for u in 1..6 {
        for ((_, share), v) in plan.shares(id(u)).zip(6..11) {
            assert!((share - f64::from(v) / 40.0).abs() < 1e-12, "{u} {v} {share}");
        }
    }
}

#[test]
fn shares_do_not_depend_on_the_rate() {
    let net = ten_workers(|w| Limit::Finite(w as u64));
    for policy in [Policy::MinMax, Policy::Balanced] {
        let [none, some, all] = [0, 4, 1_000].map(|rate| plan(&net, rate, policy).unwrap());
        for node in (0..12).map(NodeId) {
            assert!(none.parts(node).eq(some.parts(node)) && some.parts(node).eq(all.parts(node)));
        }
        assert_eq!((none.value(), some.value(), all.value()), (0.0, 4.0, 10.0));
        assert_eq!((all.rate(), all.node_rate(id(0))), (1_000.0, 10.0));
    }
}

#[test]
fn nothing_to_dispatch_is_no_error() {
    let net = net(3, 0, 2, &[(0, 1, 5_u64), (1, 2, 0)]);
    for policy in [Policy::AsSolved, Policy::MinMax, Policy::Balanced] {
        let plan = plan(&net, 9, policy).unwrap();
        assert_eq!((plan.value(), plan.parts(id(0)).len()), (0.0, 0));
        assert!(plan.weights(id(0), 8).is_empty() && plan.dispatcher(id(0), 8).is_none());
        assert!(plan.weights(id(77), 8).is_empty());
    }
    assert!(matches!(
        plan(&Network::<u64>::new(), 1, Policy::Balanced),
        Err(PlanError::Network(_))
    ));
    let floats = common::net(2, 0, 1, &[(0, 1, 1.0)]);
    assert!(matches!(plan(&floats, f64::NAN, Policy::Balanced), Err(PlanError::Network(_))));
}

#[test]
fn gains_count_tuples() {
    let mut net = net(3, 0, 2, &[(0, 1, 90_u64), (1, 2, 400)]);
    net.set_gain(id(1), 8.0).unwrap();
    let plan = plan(&net, 10, Policy::Balanced).unwrap();
    assert_eq!((plan.arc_rate(ArcId(0)), plan.arc_rate(ArcId(1))), (10.0, 80.0));
    assert_eq!((plan.node_rate(id(1)), plan.node_rate(id(2))), (10.0, 80.0));
    assert_consistent(&net, &plan);
}

fn keyed() -> Network<u64> {
    // Two splitters, three counters by key, one sink.
    let mut net = Network::new();
    net.add_nodes(7).unwrap();
    for (u, v) in
        [(0, 1), (0, 2), (1, 3), (1, 4), (1, 5), (2, 3), (2, 4), (2, 5), (3, 6), (4, 6), (5, 6)]
    {
        net.add_arc(id(u), id(v), Limit::Unbounded).unwrap();
    }
    net.set_gain(id(1), 8.0).unwrap();
    net.set_gain(id(2), 8.0).unwrap();
    for (v, c) in [(1, 100), (2, 100), (3, 400), (4, 300), (5, 800)] {
        net.set_node_capacity(id(v), c).unwrap();
    }
    net.add_source(id(0), Limit::Unbounded).unwrap();
    net.add_sink(id(6), Limit::Unbounded).unwrap();
    net
}

#[test]
fn fixed_splits_leave_no_choice() {
    let net = keyed();
    let keys = || Split::Fixed(vec![0.5, 0.25, 0.25]);
    let half = || Split::Fixed(vec![0.5, 0.5]);
    let planner = Planner::new(&net).split(id(0), half()).split(id(1), keys()).split(id(2), keys());
    let plan = planner.plan(1_000).unwrap();
    // The first counter gets half of eight words a line.
    assert_eq!((plan.rate(), plan.value()), (1_000.0, 100.0));
    assert_eq!([3, 4, 5].map(|v| plan.node_rate(id(v))), [400.0, 200.0, 200.0]);
    assert_eq!(plan.shares(id(1)).map(|s| s.1).collect::<Vec<_>>(), [0.5, 0.25, 0.25]);
    assert_consistent(&net, &plan);
    // Some fixed, some free: named.
    let mixed = Planner::new(&net).split(id(1), keys()).split(id(2), keys()).plan(1);
    assert_eq!(mixed, Err(PlanError::MixedSplit { node: id(0) }));
    let unsplit = planner.clone().split(id(2), Split::Free).plan(1);
    assert_eq!(unsplit, Err(PlanError::MixedSplit { node: id(2) }));
    for bad in [vec![1.0], vec![0.5, 0.6], vec![1.5, -0.5], vec![f64::NAN, 1.0]] {
        let refused = planner.clone().split(id(0), Split::Fixed(bad)).plan(1);
        assert_eq!(refused, Err(PlanError::BadSplit { node: id(0), arcs: 2 }));
    }
    assert!(matches!(
        planner.clone().split(id(70), half()).plan(1),
        Err(PlanError::Network(flownet::Error::NoSuchNode { .. }))
    ));
}

#[test]
fn fixed_circles_and_dead_ends_are_named() {
    let half = || Split::Fixed(vec![0.5, 0.5]);
    let circle = net(3, 0, 2, &[(0, 1, 5_u64), (1, 0, 5), (1, 2, 5)]);
    let refused = Planner::new(&circle).split(id(1), half()).plan(1);
    assert!(matches!(refused, Err(PlanError::CyclicSplit { .. })));
    let end = net(4, 0, 3, &[(0, 1, 5_u64), (1, 2, 5), (1, 3, 5)]);
    let refused = Planner::new(&end).split(id(1), half()).plan(1);
    assert_eq!(refused, Err(PlanError::DeadEnd { node: id(2) }));
    let open = Planner::new(&end).split(id(1), Split::Fixed(vec![0.0, 1.0])).plan(9).unwrap();
    assert_eq!((open.value(), open.arc_rate(ArcId(2))), (5.0, 5.0));
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn largest_remainders_are_within_one_of_the_share(
        parts in proptest::collection::vec(prop_oneof![0_u128..9, any::<u128>().prop_map(|x| x >> 6)], 1..20),
        slots in prop_oneof![0_u32..100, any::<u32>()],
    ) {
        let weights = largest_remainder(&parts, slots);
        let total: u128 = parts.iter().sum();
        let sum: u64 = weights.iter().map(|&w| u64::from(w)).sum();
        prop_assert_eq!(sum, if total == 0 { 0 } else { u64::from(slots) });
        for (&part, &weight) in parts.iter().zip(&weights) {
            let share = if total == 0 { 0.0 } else { part as f64 / total as f64 * f64::from(slots) };
            prop_assert!((f64::from(weight) - share).abs() < 1.0 + 1e-6);
        }
        // Small enough, the rule itself in exact numbers: who got one more had no smaller remainder.
        if total > 0 && total < 1 << 90 {
            let rest = |part: u128| part * u128::from(slots) % total;
            let more = |&(&part, &weight): &(&u128, &u32)| part * u128::from(slots) / total < u128::from(weight);
            let (up, down): (Vec<_>, Vec<_>) = parts.iter().zip(&weights).partition(more);
            let least = up.iter().map(|p| rest(*p.0)).min();
            let most = down.iter().map(|p| rest(*p.0)).max();
            prop_assert!(least.is_none_or(|least| most.is_none_or(|most| most <= least)));
        }
    }
}

/// Any network at all: no panic, and shares that add up.
#[test]
fn the_limits_that_there_are() {
    let mut runner = proptest::test_runner::TestRunner::new(cases(1_000));
    runner
        .run(&(common::plan(7, 16), limit()), |(data, rate)| {
            let net = data.network();
            let Limit::Finite(rate) = rate else { return Ok(()) };
            for policy in [Policy::AsSolved, Policy::MinMax, Policy::Balanced] {
                let Ok(plan) = plan(&net, rate, policy) else { continue };
                for node in (0..net.node_count()).map(id) {
                    let sum: f64 = plan.shares(node).map(|share| share.1).sum();
                    prop_assert!(plan.shares(node).len() == 0 || (sum - 1.0).abs() < 1e-9);
                }
                let answer = net.solve_to(rate).unwrap();
                verify(&net, &answer).unwrap();
                let near = (plan.value() - answer.value as f64).abs();
                prop_assert!(near <= 1e-9 * plan.value(), "{} {}", plan.value(), answer.value);
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn fixed_splits_with_numbers_at_the_edge() {
    let mut huge = common::net(3, 0, 2, &[(0, 1, 1.0), (1, 2, 1.0), (1, 2, 1.0)]);
    huge.set_gain(id(0), 1e200).unwrap();
    huge.set_gain(id(1), 1e200).unwrap();
    let half = Split::Fixed(vec![0.5, 0.5]);
    let refused = Planner::new(&huge).split(id(1), half.clone()).plan(1.0);
    let error = flownet::Error::GainOutOfRange { node: id(1), units: f64::INFINITY };
    assert_eq!(refused, Err(PlanError::Network(error)));
    // Two sources share the rate by their bounds, however large.
    let mut two: Network<f64> = Network::new();
    two.add_nodes(4).unwrap();
    for (u, v) in [(0, 2), (1, 2), (2, 3), (2, 3)] {
        two.add_arc(id(u), id(v), Limit::Unbounded).unwrap();
    }
    two.add_source(id(0), f64::MAX).unwrap();
    two.add_source(id(1), f64::MAX).unwrap();
    two.add_sink(id(3), Limit::Unbounded).unwrap();
    let plan = Planner::new(&two).split(id(2), half.clone()).plan(8.0).unwrap();
    assert_eq!((0..4).map(|arc| plan.arc_rate(ArcId(arc))).collect::<Vec<_>>(), [4.0; 4]);
    two.set_source_bound(id(1), Limit::Unbounded).unwrap();
    let refused = Planner::new(&two).split(id(2), half).plan(8.0);
    assert_eq!(refused, Err(PlanError::OpenSource { node: id(1) }));
}
