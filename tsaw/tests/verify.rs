//! A true certificate is accepted, and any altered one refused.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::cast_possible_wrap, clippy::cast_sign_loss, reason = "small numbers")]

mod common;

use common::{Case, Kinds, Random, cases};
use proptest::prelude::*;
use tsaw::{
    BuildError, Certificate, Cluster, Distance, Kind, Level, Mismatch, Node, NodeId, OnInfeasible,
    Options, Placement, Plan, TaskGraph, TaskGraphBuilder, TaskId, baseline, certify, instances,
    reschedule, schedule, verify,
};

/// Changes one field, each in every way; returns the names of those that were still accepted.
fn accepted_changes(graph: &TaskGraph, cluster: &Cluster, plan: &Plan) -> Vec<String> {
    let mut accepted = Vec::new();
    let mut check = |what: &str, change: &dyn Fn(&mut Certificate)| {
        let mut forged = plan.certificate.clone();
        change(&mut forged);
        // A change that changes nothing is no change.
        if forged != plan.certificate && verify(graph, cluster, &plan.placement, &forged).is_ok() {
            accepted.push(what.to_owned());
        }
    };
    for by in [-1_i64, 1, 1_000, -1_000] {
        check("cut_before", &|c| c.cut_before = c.cut_before.map(|v| v + by));
        check("cut_after", &|c| c.cut_after += by);
        check("cost_before", &|c| c.cost_before = c.cost_before.map(|v| v + by));
        check("cost_after", &|c| c.cost_after += by);
        check("total", &|c| c.total += by);
        check("cut_lower_bound", &|c| c.cut_lower_bound += by);
        check("cost_lower_bound", &|c| c.cost_lower_bound += by);
        let moved = |v: u64| v.saturating_add_signed(by);
        check("moved_bytes", &|c| c.moved_bytes = moved(c.moved_bytes));
        check("empty_nodes", &|c| c.empty_nodes = moved(c.empty_nodes.into()) as u32);
        check("starved_nodes", &|c| c.starved_nodes = moved(c.starved_nodes.into()) as u32);
        let fuller = |v: Level| Level::of(moved(v.load()), v.cpu()).unwrap();
        let wider = |v: Level| Level::of(v.load(), moved(v.cpu())).unwrap_or(v);
        check("peak_lower_bound", &|c| c.peak_lower_bound = fuller(c.peak_lower_bound));
        check("peak_lower_bound", &|c| c.peak_lower_bound = wider(c.peak_lower_bound));
        for node in 0..plan.certificate.caps.len() {
            check("caps", &|c| c.caps[node] = moved(c.caps[node]));
        }
        check("load.largest", &|c| c.load.largest = moved(c.load.largest));
        check("load.smallest", &|c| c.load.smallest = moved(c.load.smallest));
        check("load.peak", &|c| c.load.peak = fuller(c.load.peak));
        check("load.sigma", &|c| c.load.sigma += by as f64);
        check("load.imbalance", &|c| c.load.imbalance += by as f64);
        check("load_before.largest", &|c| {
            c.load_before.iter_mut().for_each(|l| l.largest = moved(l.largest));
        });
        check("load_before.smallest", &|c| {
            c.load_before.iter_mut().for_each(|l| l.smallest = moved(l.smallest));
        });
        check("load_before.peak", &|c| {
            c.load_before.iter_mut().for_each(|l| l.peak = fuller(l.peak));
        });
        check("load_before.sigma", &|c| {
            c.load_before.iter_mut().for_each(|l| l.sigma += by as f64);
        });
    }
    check("cap_relaxed", &|c| c.cap_relaxed = !c.cap_relaxed);
    check("caps shorter", &|c| c.caps.truncate(c.caps.len() - 1));
    check("sigma NaN", &|c| c.load.sigma = f64::NAN);
    check("cut_before none", &|c| c.cut_before = None);
    check("cost_before none", &|c| c.cost_before = None);
    check("load_before none", &|c| c.load_before = None);
    check("load_before other", &|c| c.load_before = Some(c.load));
    check("standing none", &|c| c.standing = None);
    check("standing some", &|c| c.standing = Some(plan.placement.clone()));
    check("no moves", &|c| c.moves.clear());
    check("move gone", &|c| c.moves.truncate(c.moves.len().saturating_sub(1)));
    check("move twice", &|c| c.moves.extend(c.moves.first().copied()));
    for index in 0..plan.certificate.moves.len() {
        check("move.to", &|c| c.moves[index].to.0 ^= 1);
        check("move.from", &|c| c.moves[index].from.0 ^= 1);
        check("move.task", &|c| c.moves[index].task.0 ^= 1);
    }
    check("moves reversed", &|c| c.moves.reverse());
    if let Some(standing) = &plan.certificate.standing {
        for task in 0..standing.nodes().len() {
            let mut nodes = standing.nodes().to_vec();
            nodes[task] = NodeId((nodes[task].0 + 1) % cluster.nodes().len() as u32);
            check("standing", &|c| c.standing = Some(Placement::new(nodes.clone())));
        }
    }
    accepted
}

proptest! {
    #![proptest_config(cases(1_500))]

    #[test]
    fn only_the_true_certificate_is_accepted(seed in any::<u64>(), way in 0..3) {
        let case = Case::random(seed, 8, 4, Kinds { limits: true, distances: true });
        let (graph, cluster) = (case.graph(), case.cluster());
        let options = match way {
            0 => Options::default().with_on_infeasible(OnInfeasible::RelaxCpu),
            1 => Options::default().with_on_infeasible(OnInfeasible::RelaxBalance),
            _ => Options::paper(),
        }.with_steps(30_000);
        let r = &mut Random::new(seed);
        let k = case.nodes.len() as u64;
        let standing = Placement::new(case.tasks.iter().map(|_| NodeId(r.below(k) as u32)).collect());
        for plan in [schedule(&graph, &cluster, &options), reschedule(&graph, &cluster, &standing, &options)] {
            let Ok(plan) = plan else { continue };
            prop_assert_eq!(verify(&graph, &cluster, &plan.placement, &plan.certificate), Ok(()));
            let accepted = accepted_changes(&graph, &cluster, &plan);
            prop_assert!(accepted.is_empty(), "{:?}", accepted);
        }
    }

    /// Whatever the placement, verify says it keeps the limits only if by the plain check it does.
    #[test]
    fn any_placement_that_breaks_a_limit_is_refused(seed in any::<u64>()) {
        let case = Case::random(seed, 6, 3, Kinds { limits: true, distances: true });
        let (graph, cluster) = (case.graph(), case.cluster());
        let r = &mut Random::new(seed ^ 1);
        for _ in 0..8 {
            let place: Vec<usize> =
                case.tasks.iter().map(|_| r.below(case.nodes.len() as u64) as usize).collect();
            let placement = case.placement(&place);
            let Ok(certificate) = tsaw::certify(&graph, &cluster, &placement, None) else { continue };
            let fine = verify(&graph, &cluster, &placement, &certificate).is_ok();
            prop_assert_eq!(fine, case.keeps_all_but_cpu(&place));
            let excess = tsaw::excess(&graph, &cluster, &placement, &certificate.caps).unwrap();
            prop_assert_eq!(excess.is_zero(), case.keeps_all_but_cpu(&place));
            prop_assert_eq!(certificate.cap_relaxed, !case.keeps_cpu(&place, &case.caps())
                && case.nodes.iter().zip(case.loads(&place)).zip(case.caps())
                    .any(|((node, load), cap)| node.alive && load > cap));
        }
    }
}

#[test]
fn the_named_instances_certificates_withstand_every_change() {
    for instance in instances::small().unwrap() {
        let cluster = instance.cluster(0.10).unwrap();
        let standing = baseline::round_robin(&instance.graph, &cluster).unwrap();
        let plan = reschedule(&instance.graph, &cluster, &standing, &Options::default()).unwrap();
        assert_eq!(accepted_changes(&instance.graph, &cluster, &plan), Vec::<String>::new());
    }
}

#[test]
fn a_placement_for_another_graph_is_refused() {
    let star = instances::star().unwrap();
    let cluster = star.cluster(0.10).unwrap();
    let plan = schedule(&star.graph, &cluster, &Options::default()).unwrap();
    let short = Placement::new(plan.placement.nodes()[1..].to_vec());
    let refused = verify(&star.graph, &cluster, &short, &plan.certificate);
    assert!(matches!(refused, Err(Mismatch::Input(_))));
    let other = instances::wc8().unwrap();
    assert!(verify(&other.graph, &cluster, &plan.placement, &plan.certificate).is_err());
}

/// A true certificate, checked against a cluster whose distances are too large for its rates.
#[test]
fn rates_times_distances_that_overflow_are_a_typed_error() {
    let mut builder = TaskGraphBuilder::new();
    let component = builder.component("c", Kind::Bolt);
    let (a, b) = (builder.task(component, 1), builder.task(component, 1));
    builder.stream(a, b, 1 << 60);
    let graph = builder.build().unwrap();
    let near = Cluster::uniform(2, 2).unwrap();
    let placement = Placement::new(vec![NodeId(0), NodeId(1)]);
    let certificate = certify(&graph, &near, &placement, None).unwrap();
    assert_eq!(verify(&graph, &near, &placement, &certificate), Ok(()));
    let refused = Err(Mismatch::Input(BuildError::RateOverflow));
    for far in [2, 4_000_000_000] {
        for distance in [
            Distance::Racks { same: far, cross: far },
            Distance::Matrix(vec![vec![0, far], vec![far, 0]]),
        ] {
            let cluster = near.clone().with_distance(distance).unwrap();
            assert_eq!(verify(&graph, &cluster, &placement, &certificate), refused);
        }
    }
}

/// Inputs on which a set of nodes for every task, all live nodes for every pin, or the distances
/// of all pairs of nodes would be far too much.
#[test]
fn many_nodes_and_many_tasks_are_verified() {
    let chain = |tasks: u32, source: bool| {
        let mut builder = TaskGraphBuilder::new();
        let component = builder.component("c", Kind::Spout);
        for task in 0..tasks {
            let id = builder.task(component, 1);
            if source {
                builder.needs_source(id);
            }
            if task > 0 {
                builder.stream(TaskId(task - 1), TaskId(task), 5);
            }
        }
        builder.build().unwrap()
    };
    let check = |graph: &TaskGraph, cluster: &Cluster| {
        let nodes = cluster.nodes().len() as u32;
        let place = (0..graph.len() as u32).map(|task| NodeId(task % nodes)).collect();
        let placement = Placement::new(place);
        let certificate = certify(graph, cluster, &placement, None).unwrap();
        assert_eq!(verify(graph, cluster, &placement, &certificate), Ok(()));
    };
    let sources = Cluster::new(vec![Node::new(1_000).with_source(); 5_000]).unwrap();
    check(&chain(20_000, true), &sources);
    let racks = Distance::Racks { same: 1, cross: 2 };
    let wide = Cluster::uniform(65_536, 9).unwrap().with_distance(racks).unwrap();
    check(&chain(2, false), &wide);
    let mut pinned = Cluster::uniform(5_000, 1_000).unwrap();
    for task in 0..20_000 {
        pinned = pinned.with_pin(TaskId(task), &[NodeId(task % 5_000)]).unwrap();
    }
    check(&chain(20_000, false), &pinned);
}
