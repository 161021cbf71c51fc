//! Raised caps: to the least level there is, and no further.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::cast_possible_wrap, clippy::cast_sign_loss, reason = "small numbers")]

mod common;

use common::{Case, Kinds, cases, places};
use proptest::prelude::*;
use tsaw::{
    Cluster, Kind, Level, Node, NodeId, OnInfeasible, Options, Placement, ScheduleError,
    TaskGraphBuilder, instances, reschedule, schedule, verify,
};

/// The least peak of all placements that keep everything else; as load and CPU.
fn least_peak(case: &Case, within_cpu: bool) -> Option<(u64, u64)> {
    let mut best: Option<(u64, u64)> = None;
    case.enumerate(|place| {
        if !case.keeps_all_but_cpu(place) {
            return;
        }
        let loads = case.loads(place);
        let of = |node: usize| (loads[node], case.nodes[node].cpu);
        let alive = (0..loads.len()).filter(|&node| case.nodes[node].alive);
        let peak = alive.map(of).max_by(|a, b| (a.0 * b.1).cmp(&(b.0 * a.1))).unwrap();
        if within_cpu && peak.0 > peak.1 {
            return;
        }
        if best.is_none_or(|best| peak.0 * best.1 < best.0 * peak.1) {
            best = Some(peak);
        }
    });
    best
}

fn equal(level: Level, of: (u64, u64)) -> bool {
    level.load() * of.1 == of.0 * level.cpu()
}

proptest! {
    #![proptest_config(cases(1_000))]

    #[test]
    fn caps_are_raised_to_the_least_level_and_no_further(seed in any::<u64>(), to_cpu in any::<bool>()) {
        let mut case = Case::random(seed, 6, 3, Kinds { limits: true, distances: true });
        case.ppm = [0, 10_000][(seed % 2) as usize];
        let (graph, cluster) = (case.graph(), case.cluster());
        let way = if to_cpu { OnInfeasible::RelaxBalance } else { OnInfeasible::RelaxCpu };
        let options = Options::default().with_on_infeasible(way);
        let strict = case.optimum(&case.caps()).is_some();
        match (schedule(&graph, &cluster, &options), least_peak(&case, to_cpu)) {
            (Ok(plan), Some(least)) => {
                prop_assert!(case.keeps_all_but_cpu(&places(&plan.placement)));
                prop_assert_eq!(plan.certificate.cap_relaxed, !strict);
                if !strict {
                    prop_assert!(equal(plan.certificate.load.peak, least), "{:?} {:?}", plan.certificate.load, least);
                    let caps = &plan.certificate.caps;
                    prop_assert!(case.keeps_cpu(&places(&plan.placement), caps));
                }
                prop_assert_eq!(verify(&graph, &cluster, &plan.placement, &plan.certificate), Ok(()));
                // Again from there nothing moves, and again from nothing the same comes out.
                let again = reschedule(&graph, &cluster, &plan.placement, &options).unwrap();
                prop_assert!(again.certificate.cost_after <= plan.certificate.cost_after);
                prop_assert_eq!(again.certificate.cap_relaxed, !strict);
                let third = reschedule(&graph, &cluster, &again.placement, &options).unwrap();
                prop_assert_eq!(third.certificate.moves.len(), 0);
            }
            (Err(_), None) => {}
            (Ok(_), None) => prop_assert!(false, "a plan where there is none"),
            (Err(error), Some(_)) => prop_assert!(false, "{error} though there is a placement"),
        }
    }

    #[test]
    fn the_bound_for_the_peak_is_never_over_the_least_peak(seed in any::<u64>()) {
        let case = Case::random(seed, 6, 3, Kinds { limits: true, distances: false });
        let (graph, cluster) = (case.graph(), case.cluster());
        if let Some(least) = least_peak(&case, false) {
            let mut any = None;
            case.enumerate(|place| {
                if any.is_none() && case.keeps_all_but_cpu(place) {
                    any = Some(case.placement(place));
                }
            });
            let bound = tsaw::certify(&graph, &cluster, &any.unwrap(), None).unwrap().peak_lower_bound;
            prop_assert!(bound.load() * least.1 <= least.0 * bound.cpu());
        }
    }
}

#[test]
fn three_named_instances_that_three_percent_refuses_are_raised_to_the_known_least() {
    // The least makespans: 60, 110 and 105 are met by the bounds or by complete search.
    for (instance, least) in [
        (instances::diamond().unwrap(), 60),
        (instances::star().unwrap(), 110),
        (instances::processing().unwrap(), 105),
    ] {
        let cluster = instance.cluster(0.03).unwrap();
        let strict = schedule(&instance.graph, &cluster, &Options::default());
        let options = Options::default().with_on_infeasible(OnInfeasible::RelaxBalance);
        let plan = schedule(&instance.graph, &cluster, &options).unwrap();
        assert_eq!(strict.is_err(), plan.certificate.cap_relaxed, "{}", instance.name);
        assert_eq!(plan.certificate.load.largest, least, "{}", instance.name);
    }
}

#[test]
fn balance_is_given_up_before_the_cpu_of_a_node_and_that_only_if_asked() {
    let sol8 = instances::sol8().unwrap();
    let cluster = Cluster::uniform(8, 140).unwrap();
    let place = |way: OnInfeasible| {
        schedule(&sol8.graph, &cluster, &Options::default().with_on_infeasible(way))
    };
    let refused = |plan| matches!(plan, Err(ScheduleError::Infeasible { .. }));
    assert!(refused(place(OnInfeasible::Error)) && refused(place(OnInfeasible::RelaxBalance)));
    let plan = place(OnInfeasible::RelaxCpu).unwrap();
    assert_eq!((plan.certificate.load.largest, plan.certificate.cap_relaxed), (150, true));
    assert_eq!(plan.certificate.caps, [150; 8]);
}

#[test]
fn another_resource_that_binds_does_not_refuse_a_raised_cap() {
    // Memory makes all but one node small: the large one has to take more CPU than its share.
    let sol8 = instances::sol8().unwrap();
    let mut builder = tsaw::TaskGraphBuilder::like(&sol8.graph, |_, cpu| cpu);
    for task in 0..40 {
        builder.memory(tsaw::TaskId(task), 1);
    }
    let graph = builder.build().unwrap();
    let mut nodes = vec![Node::new(1_200).with_memory(3); 7];
    nodes.push(Node::new(1_200));
    let cluster = Cluster::new(nodes).unwrap();
    let options = Options::default().with_on_infeasible(OnInfeasible::RelaxBalance);
    let plan = schedule(&graph, &cluster, &options).unwrap();
    assert_eq!(plan.certificate.load.largest, 30 * (40 - 21));
    assert!(plan.certificate.cap_relaxed);
    assert!(schedule(&graph, &cluster, &Options::default()).is_err());
}

fn standing(nodes: &[u32]) -> Placement {
    Placement::new(nodes.iter().map(|&node| NodeId(node)).collect())
}

/// One of two that may not be together moves: the raised cap holds the rest.
#[test]
fn a_budget_under_a_raised_cap_is_proven_too_small_only_by_the_raised_cap() {
    let mut builder = TaskGraphBuilder::new();
    let component = builder.component("c", Kind::Bolt);
    let tasks: Vec<_> = (0..4).map(|_| builder.task(component, 5)).collect();
    builder.spread(&tasks[..2], 1);
    let graph = builder.build().unwrap();
    let cluster = Cluster::uniform(2, 100).unwrap().with_imbalance(0.0).unwrap();
    for way in [OnInfeasible::RelaxBalance, OnInfeasible::RelaxCpu] {
        let options = Options::default().with_on_infeasible(way);
        let with = |moves| {
            let options = options.with_max_moves(moves);
            reschedule(&graph, &cluster, &standing(&[0; 4]), &options)
        };
        assert_eq!(with(0), Err(ScheduleError::BudgetTooSmall { moves: 1, bytes: 0 }));
        assert_eq!(with(1).unwrap().certificate.moves.len(), 1);
        assert_eq!(with(2).unwrap().certificate.moves.len(), 2);
    }
}

/// The least level takes two moves; a budget of one leaves what stands, which breaks nothing.
#[test]
fn a_standing_placement_under_the_raised_caps_is_kept_where_the_budget_ends_before_the_least() {
    let mut builder = TaskGraphBuilder::new();
    let component = builder.component("c", Kind::Bolt);
    let tasks = [builder.task(component, 1), builder.task(component, 0)];
    builder.spread(&tasks, 1);
    let graph = builder.build().unwrap();
    let cluster = Cluster::new(vec![Node::new(3), Node::new(8)]).unwrap();
    for way in [OnInfeasible::RelaxBalance, OnInfeasible::RelaxCpu] {
        for (moves, moved) in [(0, 0), (1, 0), (2, 2)] {
            let options = Options::default().with_on_infeasible(way).with_max_moves(moves);
            let plan = reschedule(&graph, &cluster, &standing(&[0, 1]), &options).unwrap();
            assert_eq!(plan.certificate.moves.len(), moved, "{way:?} {moves}");
            assert_eq!(verify(&graph, &cluster, &plan.placement, &plan.certificate), Ok(()));
        }
    }
}
