//! Algorithm 1: the fast one against one that follows the text step by step, in O(tasks² · nodes).

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::cast_possible_wrap, clippy::cast_sign_loss, reason = "small numbers")]

mod common;

use common::{Case, Kinds, Random, cases, places};
use proptest::prelude::*;
use tsaw::{
    Cluster, Kind, Node, NodeId, NodeOrder, Options, Placement, SeedRule, Stop, Target, TaskGraph,
    TaskGraphBuilder, TaskId, gain, instances, loads, reschedule, schedule, verify,
};

const FREE: Kinds = Kinds { limits: false, distances: false };

/// Steps 1 to 7 with the first task as seed, in the words of the paper.
fn to_the_letter(graph: &TaskGraph, sources: &[bool], stop: Stop, target: Target) -> Vec<usize> {
    let (n, k) = (graph.len(), sources.len());
    let cpu = |t: usize| i128::from(graph.tasks()[t].cpu);
    let total: i128 = (0..n).map(cpu).sum();
    let rate = |a: usize, b: usize| -> i64 {
        let streams = graph.neighbours(TaskId(a as u32));
        streams.filter(|(other, _)| other.0 as usize == b).map(|(_, rate)| rate).sum()
    };
    let spout = |t: usize| graph.kind(TaskId(t as u32)) == Some(Kind::Spout);
    let mut at = vec![k - 1; n];
    for (x, &source) in sources.iter().enumerate().take(k - 1) {
        let left = |at: &[usize]| (0..n).filter(|&t| at[t] == k - 1).collect::<Vec<_>>();
        let mut mine: Vec<usize> = Vec::new();
        // The target as a fraction (aim / parts).
        let (aim, parts) = match target {
            Target::RemainingIdeal => (left(&at).iter().map(|&t| cpu(t)).sum(), (k - x) as i128),
            _ => (total, k as i128),
        };
        loop {
            let load: i128 = mine.iter().map(|&t| cpu(t)).sum();
            if !mine.is_empty() && load * parts >= aim {
                break;
            }
            let last = left(&at);
            let associated = last.iter().filter(|&&t| mine.iter().any(|&m| rate(t, m) > 0));
            let gain = |t: usize| -> i64 {
                let to: i64 = mine.iter().map(|&m| rate(t, m)).sum();
                let from: i64 = last.iter().filter(|&&o| o != t).map(|&o| rate(t, o)).sum();
                to - from
            };
            let off = |t: usize| ((load + cpu(t)) * parts - aim).abs();
            let chosen = associated.copied().min_by_key(|&t| (-gain(t), off(t), t)).or_else(|| {
                let spouts = last.iter().copied().find(|&t| spout(t));
                let bolts = last.iter().copied().find(|&t| !spout(t));
                if source { spouts.or(bolts) } else { bolts.or(spouts) }
            });
            let Some(chosen) = chosen else { break };
            let over = (load + cpu(chosen)) * parts > aim;
            let refused = match stop {
                Stop::Under => over,
                Stop::Nearest => over && off(chosen) > (load * parts - aim).abs(),
                _ => false,
            };
            if refused && !mine.is_empty() {
                break;
            }
            at[chosen] = x;
            mine.push(chosen);
        }
    }
    at
}

fn options(stop: Stop, target: Target) -> Options {
    Options::paper().with_seed_rule(SeedRule::FirstId).with_stop(stop).with_target(target)
}

proptest! {
    #![proptest_config(cases(4_000))]

    #[test]
    fn the_fast_growth_is_the_literal_one(seed in any::<u64>(), stop in 0_usize..3, remaining in any::<bool>()) {
        let case = Case::random(seed, 16, 5, FREE);
        let graph = case.graph();
        let r = &mut Random::new(seed);
        let sources: Vec<bool> = case.nodes.iter().map(|_| r.one_in(2)).collect();
        let node = |&has: &bool| if has { Node::new(1 << 20).with_source() } else { Node::new(1 << 20) };
        let cluster = Cluster::new(sources.iter().map(node).collect()).unwrap();
        let stop = [Stop::Cross, Stop::Under, Stop::Nearest][stop];
        let target = if remaining { Target::RemainingIdeal } else { Target::FixedIdeal };
        let plan = schedule(&graph, &cluster, &options(stop, target)).unwrap();
        prop_assert_eq!(places(&plan.placement), to_the_letter(&graph, &sources, stop, target));
        prop_assert_eq!(verify(&graph, &cluster, &plan.placement, &plan.certificate), Ok(()));
    }

    /// What lets the frontier drop entries that are out of date: whichever tasks go from the last
    /// node to the growing one, the gain of those that are left never falls.
    #[test]
    fn gains_only_rise_while_a_node_grows(seed in any::<u64>()) {
        let case = Case::random(seed, 12, 4, FREE);
        let graph = case.graph();
        let (n, r) = (case.tasks.len(), &mut Random::new(seed));
        // Some tasks are on finished nodes already, nodes 2 and 3; 0 grows, 1 is the last.
        let mut nodes: Vec<NodeId> =
            (0..n).map(|_| NodeId([1, 1, 1, 2, 3][r.below(5) as usize])).collect();
        let gains = |nodes: &[NodeId]| -> Vec<Option<i64>> {
            let placement = Placement::new(nodes.to_vec());
            let of = |task: u32| gain(&graph, &placement, TaskId(task), NodeId(0)).unwrap();
            (0..n).map(|task| (nodes[task] == NodeId(1)).then(|| of(task as u32))).collect()
        };
        let mut before = gains(&nodes);
        loop {
            let left: Vec<usize> = (0..n).filter(|&task| nodes[task] == NodeId(1)).collect();
            if left.is_empty() {
                break;
            }
            nodes[left[r.below(left.len() as u64) as usize]] = NodeId(0);
            let after = gains(&nodes);
            for (before, after) in before.iter().zip(&after).filter(|(_, after)| after.is_some()) {
                prop_assert!(before <= after);
            }
            before = after;
        }
    }

    /// Other numbers for the tasks, and the same placement: rates so varied that nothing ties, as
    /// a tie goes to the first.
    #[test]
    fn permuted_tasks_are_placed_alike(seed in any::<u64>(), stop in 0_usize..3, remaining in any::<bool>()) {
        let mut case = Case::random(seed, 16, 5, FREE);
        let (n, r) = (case.tasks.len(), &mut Random::new(seed));
        // Two tasks with one stream exchange as much as each other.
        if n == 2 {
            return Ok(());
        }
        // All are connected, so that there is no second task without a stream.
        case.streams = (1..n).map(|task| (r.below(task as u64) as usize, task, 0)).collect();
        for _ in 0..n {
            case.streams.push((r.below(n as u64) as usize, r.below(n as u64) as usize, 0));
        }
        case.streams.iter_mut().for_each(|stream| stream.2 = 1 + r.below(1 << 40) as i64);
        let mut name: Vec<usize> = (0..n).collect();
        for last in (1..n).rev() {
            name.swap(last, r.below(last as u64 + 1) as usize);
        }
        let mut permuted = case.clone();
        for (task, &name) in case.tasks.iter().zip(&name) {
            permuted.tasks[name] = task.clone();
        }
        permuted.streams.iter_mut().for_each(|of| (of.0, of.1) = (name[of.0], name[of.1]));
        permuted.streams.reverse();
        let stop = [Stop::Cross, Stop::Under, Stop::Nearest][stop];
        let target = if remaining { Target::RemainingIdeal } else { Target::FixedIdeal };
        let options = options(stop, target).with_seed_rule(SeedRule::MaxStrength);
        let place = |case: &Case| schedule(&case.graph(), &case.cluster(), &options).unwrap();
        let (plan, other) = (place(&case), place(&permuted));
        for (task, &name) in name.iter().enumerate() {
            prop_assert_eq!(plan.placement.nodes()[task], other.placement.nodes()[name]);
        }
        let (a, b) = (plan.certificate, other.certificate);
        prop_assert_eq!((a.cut_after, a.cut_lower_bound, a.caps), (b.cut_after, b.cut_lower_bound, b.caps));
        prop_assert_eq!((a.load, a.peak_lower_bound), (b.load, b.peak_lower_bound));
    }

    /// Each built node passes the ideal by less than one task, so the last one lacks at most that.
    #[test]
    fn loads_are_within_one_task_of_the_ideal(seed in any::<u64>()) {
        let case = Case::random(seed, 30, 6, FREE);
        let graph = case.graph();
        let cluster = Cluster::uniform(case.nodes.len() as u32, 1 << 20).unwrap();
        let plan = schedule(&graph, &cluster, &Options::paper().with_seed(seed)).unwrap();
        let loads = loads(&graph, &cluster, &plan.placement).unwrap();
        let (k, total) = (loads.len() as u64, graph.total_cpu());
        let most = graph.tasks().iter().map(|task| task.cpu).max().unwrap();
        let (last, built) = loads.split_last().unwrap();
        for load in built {
            prop_assert!(load * k < total + most * k || *load == 0 || total == 0);
        }
        prop_assert!(last * k + (k - 1) * most * k >= total);
    }
}

#[test]
fn the_fixed_ideal_starves_the_last_node_of_wc8_and_the_remaining_one_does_not() {
    let wc8 = instances::wc8().unwrap();
    let cluster = wc8.cluster(0.10).unwrap();
    let starved = |target: Target| {
        let plans = (0..20).map(|seed| {
            let options = Options::paper().with_target(target).with_seed(seed);
            schedule(&wc8.graph, &cluster, &options).unwrap()
        });
        plans.filter(|plan| plan.certificate.starved_nodes > 0).count()
    };
    assert!(starved(Target::FixedIdeal) > starved(Target::RemainingIdeal));
}

/// With W > W̄ as the rule instead of ≥, sol8 would take six tasks a node and end with an empty one.
#[test]
fn sums_that_meet_the_ideal_exactly_end_a_node() {
    let sol8 = instances::sol8().unwrap();
    let plan = schedule(&sol8.graph, &sol8.cluster(0.0).unwrap(), &Options::paper()).unwrap();
    assert_eq!((plan.certificate.load.largest, plan.certificate.load.smallest), (150, 150));
}

#[test]
fn orders_and_the_reserved_spout_do_what_they_say() {
    let star = instances::star().unwrap();
    let nodes = vec![Node::new(100), Node::new(900), Node::new(500).with_source()];
    let cluster = Cluster::new(nodes).unwrap();
    let place = |options: Options| {
        let plan = schedule(&star.graph, &cluster, &options).unwrap();
        loads(&star.graph, &cluster, &plan.placement).unwrap()
    };
    // Proportional to CPU, so the order shows in who is built and who gets the rest.
    let by_size = Options::paper().with_target(Target::Proportional);
    let descending = place(by_size.with_order(NodeOrder::CapacityDescending));
    assert!(descending[1] >= 1280 * 9 / 15 && descending[2] >= 1280 * 5 / 15);
    let under = place(by_size.with_stop(Stop::Under));
    assert!(under[0] <= 1280 / 15 && under[1] <= 1280 * 9 / 15);
    // The last node has the source: one spout is kept for it.
    for seed in 0..20 {
        let options = Options::paper().with_seed(seed).with_spout_reserved_on_last();
        let plan = schedule(&star.graph, &cluster, &options).unwrap();
        let spouts = (0..40).map(TaskId).filter(|&t| star.graph.kind(t) == Some(Kind::Spout));
        assert!(spouts.into_iter().any(|t| plan.placement.node(t).unwrap().0 == 2));
    }
    let first = place(Options::paper().with_order(NodeOrder::SourcesFirst));
    assert!(first[2] * 3 >= 1280);
}

#[test]
fn the_best_of_several_seeds_cuts_no_more_than_each() {
    let processing = instances::processing().unwrap();
    let cluster = processing.cluster(0.10).unwrap();
    let cut = |rule: SeedRule, seed: u64| {
        let options = Options::paper().with_seed_rule(rule).with_seed(seed);
        schedule(&processing.graph, &cluster, &options).unwrap().certificate.cut_after
    };
    let least = (0..10).map(|seed| cut(SeedRule::Random, seed)).min().unwrap();
    assert_eq!(cut(SeedRule::BestOf(10), 0), least);
}

/// However many runs are asked for, the steps bound them, also where a run places hardly a task:
/// all on the only node, one heavy task a node, no task at all.
#[test]
fn the_steps_bound_the_number_of_runs() {
    let most = Options::paper().with_seed_rule(SeedRule::BestOf(u32::MAX)).with_steps(100_000);
    let dag = instances::layered_dag(1_000, 1).unwrap();
    let mut builder = TaskGraphBuilder::like(&dag, |task, _| if task.0 == 0 { 1 << 20 } else { 0 });
    builder.stream(TaskId(0), TaskId(1), 1);
    let heavy = builder.build().unwrap();
    let none = TaskGraphBuilder::new().build().unwrap();
    for graph in [&dag, &heavy, &none] {
        for nodes in [1, 2] {
            let cluster = Cluster::uniform(nodes, 1 << 30).unwrap();
            for steps in [most, most.with_steps(1), most.with_steps(0)] {
                let plan = schedule(graph, &cluster, &steps).unwrap();
                assert!(plan.steps <= 100_000 && plan.placement.nodes().len() == graph.len());
            }
        }
    }
}

/// A run cut short leaves all on the last node and cuts little: it is none of the best.
#[test]
fn a_run_that_the_steps_end_in_is_not_the_best_of_several() {
    let processing = instances::processing().unwrap();
    let cluster = processing.cluster(0.10).unwrap();
    let place = |options: Options| schedule(&processing.graph, &cluster, &options).unwrap();
    let first = place(Options::paper().with_seed(3));
    let second = place(Options::paper().with_seed(4));
    let several = Options::paper().with_seed(3).with_seed_rule(SeedRule::BestOf(2));
    let setup = 46 + 2 * 240 + 8;
    for more in (0..second.steps).step_by(7) {
        let plan = place(several.with_steps(first.steps + setup + more));
        assert_eq!(plan.placement, first.placement, "{more}");
    }
    let all = place(several.with_steps(first.steps + setup + second.steps));
    let least = first.certificate.cut_after.min(second.certificate.cut_after);
    assert_eq!(all.certificate.cut_after, least);
}

/// When the steps end the rest stays on the last node, as the algorithm has it from the start.
#[test]
fn the_budget_of_steps_binds_the_growth_too() {
    let graph = instances::layered_dag(10_000, 1).unwrap();
    let cluster = Cluster::uniform(8, graph.total_cpu()).unwrap();
    for steps in [0, 1, 100, 10_000] {
        let plan = schedule(&graph, &cluster, &Options::paper().with_steps(steps)).unwrap();
        assert!(plan.steps <= steps);
        let moved = plan.placement.nodes().iter().filter(|node| node.0 != 7).count() as u64;
        assert!(moved <= steps && plan.certificate.cap_relaxed);
    }
}

/// Algorithm 1 knows no memory: what it puts together does not replace what keeps the limits.
#[test]
fn a_legal_standing_placement_is_kept_if_the_new_one_breaks_a_limit() {
    let mut builder = TaskGraphBuilder::new();
    let component = builder.component("c", Kind::Bolt);
    let tasks: Vec<_> = (0..4).map(|_| builder.task(component, 10)).collect();
    for &task in &tasks {
        builder.memory(task, if task.0 < 2 { 5 } else { 1 });
    }
    builder.stream(tasks[0], tasks[1], 100);
    builder.stream(tasks[2], tasks[3], 100);
    let graph = builder.build().unwrap();
    let standing = Placement::new([0, 1, 0, 1].map(NodeId).to_vec());
    let after = |mem: u64| {
        let cluster = Cluster::new(vec![Node::new(100).with_memory(mem); 2]).unwrap();
        let plan = reschedule(&graph, &cluster, &standing, &Options::paper()).unwrap();
        assert_eq!(verify(&graph, &cluster, &plan.placement, &plan.certificate), Ok(()));
        (plan.certificate.moves.len(), plan.certificate.cut_after)
    };
    assert_eq!(after(9), (0, 200));
    assert_eq!(after(10), (2, 0));
}
