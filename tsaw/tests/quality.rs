//! `Preset::Quality`: the properties of every plan, on topologies large enough to be coarsened.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::cast_possible_wrap, clippy::cast_sign_loss, reason = "small numbers")]

mod common;

use common::{Case, CaseTask, Kinds, Random, cases, places};
use proptest::prelude::*;
use tsaw::{
    Cluster, Distance, Kind, Node, Options, TaskGraph, TaskGraphBuilder, TaskId, certify, excess,
    instances, reschedule, schedule, verify,
};

const ALL: Kinds = Kinds { limits: true, distances: true };

/// A random topology of that many tasks with a placement in it that keeps every limit: nodes of
/// several sizes with memory, pins, sources, groups, racks; CPU is as tight as 8 %.
fn planted(seed: u64, n: usize, k: usize) -> Case {
    let r = &mut Random::new(seed);
    let mut case = Case::random(seed, 1, 1, Kinds { limits: false, distances: false });
    // The hidden placement: neighbours in a layered order are often together.
    let hidden: Vec<usize> = (0..n)
        .map(|task| if r.one_in(4) { r.below(k as u64) as usize } else { task * k / n })
        .collect();
    case.tasks = (0..n)
        .map(|task| CaseTask {
            cpu: 1 + r.below(30),
            mem: r.below(10),
            bytes: r.below(100),
            source: hidden[task].is_multiple_of(3) && r.one_in(20),
            component: task % 4,
        })
        .collect();
    case.streams = (0..4 * n)
        .map(|_| {
            let a = r.below(n as u64) as usize;
            let b = (a + 1 + r.below(40) as usize).min(n - 1);
            (a, b, r.below(100) as i64)
        })
        .collect();
    let sum = |node: usize, of: &dyn Fn(&CaseTask) -> u64| {
        (0..n).filter(|&task| hidden[task] == node).map(|task| of(&case.tasks[task])).sum::<u64>()
    };
    case.nodes = (0..k)
        .map(|node| {
            let cpu = sum(node, &|task| task.cpu).max(1) * 108 / 100 + 30;
            let memory = sum(node, &|task| task.mem) * 108 / 100 + 10;
            let made = Node::new(cpu).with_memory(memory).in_rack(node as u32 % 2);
            if node.is_multiple_of(3) { made.with_source() } else { made }
        })
        .collect();
    case.ppm = 2_000_000;
    case.distance = match seed % 3 {
        0 => Distance::Flat,
        _ => Distance::Racks { same: 1, cross: 4 },
    };
    case.pins = (0..n)
        .step_by(1 + r.below(60) as usize)
        .map(|task| (task, vec![hidden[task] as u32, r.below(k as u64) as u32]))
        .collect();
    let same = |task: usize| hidden[task] == hidden[task + 1];
    case.together =
        (0..n - 1).filter(|&task| same(task) && r.one_in(30)).map(|t| (t, t + 1)).collect();
    case.spreads = (0..3)
        .map(|_| {
            let start = r.below(n as u64 - 20) as usize;
            let most =
                (0..k).map(|node| (start..start + 20).filter(|&t| hidden[t] == node).count()).max();
            ((start..start + 20).collect(), most.unwrap() as u32)
        })
        .collect();
    case
}

fn quality() -> Options {
    Options::quality()
}

#[test]
fn every_limit_is_kept_at_every_size() {
    for (n, k, seeds) in [(300, 5, 12), (1_000, 12, 9), (8_000, 16, 3)] {
        for seed in 0..seeds {
            let case = planted(seed, n, k);
            let (graph, cluster) = (case.graph(), case.cluster());
            let plan = schedule(&graph, &cluster, &quality()).unwrap();
            let place = places(&plan.placement);
            assert!(case.keeps_cpu(&place, &case.caps()), "{n} {seed}");
            let caps = tsaw::asked_caps(&graph, &cluster);
            assert!(excess(&graph, &cluster, &plan.placement, &caps).unwrap().is_zero());
            assert!(n > 1_000 || case.keeps_all_but_cpu(&place));
            assert_eq!(verify(&graph, &cluster, &plan.placement, &plan.certificate), Ok(()));
        }
    }
}

#[test]
fn small_topologies_are_placed_as_by_balanced() {
    for instance in instances::small().unwrap() {
        let cluster = instance.cluster(0.10).unwrap();
        let place = |options: Options| schedule(&instance.graph, &cluster, &options);
        assert_eq!(place(quality()), place(Options::default()));
    }
}

/// By the paper's topology of layers, where structure is to be found.
#[test]
fn it_cuts_less_than_growth_moves_and_swaps() {
    let graph = instances::layered_dag(10_000, 1).unwrap();
    let cluster = Cluster::uniform(16, graph.total_cpu()).unwrap().with_imbalance(0.03).unwrap();
    let cut =
        |options: Options| schedule(&graph, &cluster, &options).unwrap().certificate.cut_after;
    let (balanced, quality) = (cut(Options::default()), cut(quality()));
    assert!(quality * 10 <= balanced * 9, "{quality} {balanced}");
}

/// Tasks in another order: another search, as good a placement.
#[test]
fn permuted_tasks_give_as_good_a_placement() {
    let graph = instances::layered_dag(3_000, 1).unwrap();
    let cluster = Cluster::uniform(8, graph.total_cpu()).unwrap().with_imbalance(0.05).unwrap();
    let mut cuts = Vec::new();
    for seed in 0..4 {
        let r = &mut Random::new(seed);
        let mut order: Vec<u32> = (0..graph.len() as u32).collect();
        for last in (1..order.len()).rev() {
            order.swap(last, r.below(last as u64 + 1) as usize);
        }
        let mut name = vec![TaskId(0); order.len()];
        let mut builder = TaskGraphBuilder::new();
        let component = builder.component("c", Kind::Bolt);
        for &task in &order {
            name[task as usize] = builder.task(component, graph.tasks()[task as usize].cpu);
        }
        for task in (0..graph.len() as u32).map(TaskId) {
            for (other, rate) in graph.neighbours(task).filter(|&(other, _)| other < task) {
                builder.stream(name[task.0 as usize], name[other.0 as usize], rate);
            }
        }
        let permuted = builder.build().unwrap();
        let plan = schedule(&permuted, &cluster, &quality()).unwrap();
        assert_eq!(verify(&permuted, &cluster, &plan.placement, &plan.certificate), Ok(()));
        cuts.push(plan.certificate.cut_after);
    }
    cuts.push(schedule(&graph, &cluster, &quality()).unwrap().certificate.cut_after);
    let (least, most) = (cuts.iter().min().unwrap(), cuts.iter().max().unwrap());
    assert!(most * 2 <= least * 3, "{cuts:?}");
}

/// What a search at flat distance comes to under the distances of `cluster`, and what one does that
/// knows them, over two seeds.
fn blind_and_aware(graph: &TaskGraph, cluster: &Cluster) -> (i64, i64) {
    let flat = cluster.clone().with_distance(Distance::Flat).unwrap();
    let (mut blind, mut aware) = (0, 0);
    for seed in 0..2 {
        let options = quality().with_seed(seed);
        let placed = schedule(graph, &flat, &options).unwrap().placement;
        blind += certify(graph, cluster, &placed, None).unwrap().cost_after;
        let plan = schedule(graph, cluster, &options).unwrap();
        assert_eq!(verify(graph, cluster, &plan.placement, &plan.certificate), Ok(()));
        aware += plan.certificate.cost_after;
    }
    (blind, aware)
}

fn equal_nodes(graph: &TaskGraph, count: u32, racks: u32) -> Cluster {
    let node = |at: u32| Node::new(graph.total_cpu()).in_rack(at % racks);
    Cluster::new((0..count).map(node).collect()).unwrap().with_imbalance(0.05).unwrap()
}

/// Racks count in the search: traffic between them is less than a search at flat distance leaves.
#[test]
fn distances_of_racks_are_refined() {
    let graph = instances::layered_dag(3_000, 1).unwrap();
    let racks = Distance::Racks { same: 1, cross: 5 };
    let cluster = equal_nodes(&graph, 16, 4).with_distance(racks).unwrap();
    let (blind, aware) = blind_and_aware(&graph, &cluster);
    assert!(aware * 5 <= blind * 4, "{aware} {blind}");
}

/// Whatever the distances and the topology, to know them is never worse than not to.
#[test]
fn to_know_the_distances_is_never_worse() {
    let chain = {
        let mut builder = TaskGraphBuilder::new();
        let component = builder.component("c", Kind::Bolt);
        let tasks: Vec<TaskId> = (0..1_000).map(|at| builder.task(component, 1 + at % 7)).collect();
        for at in 1..tasks.len() {
            for back in [1, 2, 7] {
                let from = tasks[at.saturating_sub(back)];
                builder.stream(from, tasks[at], 1 + (at * back % 50) as i64);
            }
        }
        builder.build().unwrap()
    };
    let mesh = {
        let mut builder = TaskGraphBuilder::new();
        let component = builder.component("c", Kind::Bolt);
        let tasks: Vec<TaskId> = (0..30 * 30).map(|_| builder.task(component, 1)).collect();
        for at in 0..tasks.len() {
            for other in [at + 1, at + 30] {
                if other < tasks.len() && (other != at + 1 || other % 30 > 0) {
                    builder.stream(tasks[at], tasks[other], 5);
                }
            }
        }
        builder.build().unwrap()
    };
    let dags = [1_000, 2_000].map(|tasks| instances::layered_dag(tasks, 7).unwrap());
    let r = &mut Random::new(1);
    let some: Vec<u32> = (0..256).map(|_| 1 + r.below(9) as u32).collect();
    let matrix = |far: &dyn Fn(u32, u32) -> u32| {
        let row = |a: u32| (0..16).map(|b| if a == b { 0 } else { far(a, b) }).collect();
        Distance::Matrix((0..16).map(row).collect())
    };
    let distances = [
        ("racks", Distance::Racks { same: 1, cross: 3 }),
        ("line", matrix(&|a, b| a.abs_diff(b))),
        ("ring", matrix(&|a, b| a.abs_diff(b).min(16 - a.abs_diff(b)))),
        ("grid", matrix(&|a, b| (a / 4).abs_diff(b / 4) + (a % 4).abs_diff(b % 4))),
        ("racks in turn", matrix(&|a, b| if a % 4 == b % 4 { 1 } else { 6 })),
        ("tree, bits turned", matrix(&|a, b| 8 >> (a ^ b).trailing_zeros())),
        ("random", matrix(&|a, b| some[(a.min(b) * 16 + a.max(b)) as usize])),
    ];
    let mut worse = Vec::new();
    for (graph, name) in dags.iter().chain([&chain, &mesh]).zip(["dag", "dag", "chain", "mesh"]) {
        for (kind, distance) in &distances {
            let cluster = equal_nodes(graph, 16, 4).with_distance(distance.clone()).unwrap();
            let (blind, aware) = blind_and_aware(graph, &cluster);
            if aware > blind {
                worse.push(format!("{name} of {} tasks, {kind}: {aware} {blind}", graph.len()));
            }
        }
    }
    assert_eq!(worse, Vec::<String>::new());
}

/// Other units of CPU, for tasks and nodes: what is placed in one is a placement in the other, and
/// about as good.
#[test]
fn scaled_cpu_gives_as_good_a_placement() {
    let (mut cuts, mut scaled_cuts) = (0, 0);
    for seed in 0..6 {
        let case = planted(seed, 700, 6);
        let times = [2, 3, 1_000, 65_537, 1 << 24, 999_983][seed as usize];
        let mut scaled = case.clone();
        scaled.tasks.iter_mut().for_each(|task| task.cpu *= times);
        scaled.nodes.iter_mut().for_each(|node| node.cpu *= times);
        let place = |case: &Case| {
            let (graph, cluster) = (case.graph(), case.cluster());
            let plan = schedule(&graph, &cluster, &quality()).unwrap();
            assert_eq!(verify(&graph, &cluster, &plan.placement, &plan.certificate), Ok(()));
            plan
        };
        let (one, other) = (place(&case), place(&scaled));
        for (case, plan) in [(&case, &other), (&scaled, &one)] {
            let place = places(&plan.placement);
            assert!(case.keeps_all_but_cpu(&place) && case.keeps_cpu(&place, &case.caps()));
        }
        cuts += one.certificate.cut_after;
        scaled_cuts += other.certificate.cut_after;
    }
    assert!(cuts * 4 <= scaled_cuts * 5 && scaled_cuts * 4 <= cuts * 5, "{cuts} {scaled_cuts}");
}

/// A hub with a hundred thousand leaves: no pass over it is quadratic, and the steps bound it.
#[test]
fn a_star_of_many_leaves_is_placed_within_the_steps() {
    let mut builder = TaskGraphBuilder::new();
    let component = builder.component("c", Kind::Bolt);
    let hub = builder.task(component, 1);
    for leaf in 0..100_000_i64 {
        let leaf = (builder.task(component, 1), 1 + leaf * 7_919 % 100);
        builder.stream(hub, leaf.0, leaf.1);
    }
    let graph = builder.build().unwrap();
    for nodes in [2_u32, 64] {
        let cluster = Cluster::uniform(nodes, 100_001).unwrap().with_imbalance(0.03).unwrap();
        let plan = schedule(&graph, &cluster, &quality().with_steps(10_000_000)).unwrap();
        assert_eq!(verify(&graph, &cluster, &plan.placement, &plan.certificate), Ok(()));
        // The best is the heaviest leaves beside the hub, up to the cap.
        let mut rates: Vec<i64> = graph.neighbours(hub).map(|(_, rate)| rate).collect();
        rates.sort_unstable();
        let room = plan.certificate.caps[0] as usize - 1;
        let best: i64 = rates[..rates.len() - room.min(rates.len())].iter().sum();
        let cut = plan.certificate.cut_after;
        assert!(cut >= best && cut * 10 <= best * 11, "{nodes} {cut} {best}");
    }
}

/// A digest of the placement, the same whatever the features, threads and machine.
fn digest(seed: u64) -> u64 {
    let case = planted(seed, 2_000, 9);
    let plan = schedule(&case.graph(), &case.cluster(), &quality().with_seed(seed)).unwrap();
    plan.placement.nodes().iter().fold(0xCBF2_9CE4_8422_2325, |hash, node| {
        (hash ^ u64::from(node.0)).wrapping_mul(0x0100_0000_01B3)
    })
}

const GOLDEN: [u64; 3] =
    [13_718_539_146_694_808_329, 7_334_953_780_595_659_756, 4_310_768_134_674_882_858];

#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads() {
    let all = || [0, 1, 2].map(digest);
    for threads in [1, 2, 8] {
        std::thread::scope(|scope| {
            let running: Vec<_> = (0..threads).map(|_| scope.spawn(all)).collect();
            running.into_iter().for_each(|of| assert_eq!(of.join().unwrap(), GOLDEN));
        });
        #[cfg(feature = "rayon")]
        {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert_eq!(pool.install(all), GOLDEN);
        }
    }
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn a_plan_has_a_node_for_every_task_and_a_true_certificate(seed in any::<u64>(), steps in 0_u64..3_000_000) {
        let mut case = Case::random(seed, 600, 7, ALL);
        // At least so many that they are coarsened.
        let (n, r) = (case.tasks.len(), &mut Random::new(seed));
        while case.tasks.len() < 300 {
            case.tasks.push(case.tasks[r.below(n as u64) as usize].clone());
        }
        let (graph, cluster) = (case.graph(), case.cluster());
        if let Ok(plan) = schedule(&graph, &cluster, &quality().with_steps(steps)) {
            let place = places(&plan.placement);
            prop_assert!(plan.steps <= steps);
            prop_assert_eq!(place.len(), case.tasks.len());
            prop_assert!(case.keeps_all_but_cpu(&place) && case.keeps_cpu(&place, &case.caps()));
            prop_assert_eq!(verify(&graph, &cluster, &plan.placement, &plan.certificate), Ok(()));
            prop_assert!(plan.certificate.cost_lower_bound <= plan.certificate.cost_after);
        }
    }

    #[test]
    fn duplicates_directions_and_units_of_rates_change_nothing(seed in any::<u64>(), times in 2_u32..2_000) {
        let mut case = planted(seed, 400, 6);
        let mut same = case.clone();
        for index in 0..case.streams.len() {
            let (a, b, rate) = case.streams[index];
            same.streams[index] = (b, a, i64::from(times) * (rate / 2));
            same.streams.push((a, b, i64::from(times) * (rate - rate / 2)));
            same.streams.push((a, a, 7));
        }
        let place = |case: &Case| {
            schedule(&case.graph(), &case.cluster(), &quality()).map(|plan| plan.placement)
        };
        prop_assert_eq!(place(&case), place(&same));
        // Named otherwise, the nodes of flat distance get loads and cuts that are the same.
        case.distance = Distance::Flat;
        let mut turned = case.clone();
        turned.nodes.rotate_left(1);
        let k = case.nodes.len() as u32;
        for pin in &mut turned.pins {
            pin.1.iter_mut().for_each(|node| *node = (*node + k - 1) % k);
        }
        let measures = |case: &Case| {
            let plan = schedule(&case.graph(), &case.cluster(), &quality()).unwrap();
            (plan.certificate.cut_after, plan.certificate.load.largest, plan.certificate.load.peak)
        };
        prop_assert_eq!(measures(&case), measures(&turned));
    }

    #[test]
    fn rescheduling_stays_within_the_budget_and_then_still(seed in any::<u64>(), most in 0_u64..60) {
        let case = planted(seed, 300, 5);
        let (graph, cluster) = (case.graph(), case.cluster());
        let standing = schedule(&graph, &cluster, &Options::default().with_steps(200_000));
        let Ok(standing) = standing else { return Ok(()) };
        let plan = reschedule(&graph, &cluster, &standing.placement, &quality().with_max_moves(most)).unwrap();
        prop_assert!(plan.certificate.moves.len() as u64 <= most);
        prop_assert!(plan.certificate.cost_after <= standing.certificate.cost_after);
        prop_assert_eq!(verify(&graph, &cluster, &plan.placement, &plan.certificate), Ok(()));
        let free = reschedule(&graph, &cluster, &plan.placement, &quality()).unwrap();
        let again = reschedule(&graph, &cluster, &free.placement, &quality()).unwrap();
        prop_assert_eq!(again.certificate.moves, vec![]);
    }
}
