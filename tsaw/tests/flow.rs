//! Local-or-shuffle streams against rates that are worked out tuple by tuple, and against every
//! placement there is.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::cast_possible_wrap, clippy::cast_sign_loss, reason = "small numbers")]

mod common;

use common::{Random, cases};
use proptest::prelude::*;
use tsaw::{
    BuildError, Cluster, ComponentId, Grouping, Mismatch, NodeId, OnInfeasible, Options, Placement,
    ScheduleError, TaskGraph, TaskGraphBuilder, TaskId, Topology, asked_caps, excess, reschedule,
    schedule, traffic, verify,
};

/// A topology as plain data: components of (tasks, rate, CPU), streams of (from, to, grouping).
#[derive(Clone, Debug)]
struct Plain {
    parts: Vec<(usize, u64, u64)>,
    links: Vec<(usize, usize, Grouping)>,
    nodes: usize,
    ppm: u32,
}

impl Plain {
    fn random(seed: u64) -> Self {
        let r = &mut Random::new(seed);
        let parts: Vec<(usize, u64, u64)> = (0..2 + r.below(2))
            .map(|at| {
                let rate = if at == 0 { 1_000 * (1 + r.below(9)) } else { 0 };
                (1 + r.below(3) as usize, rate, 1_000 * (1 + r.below(20)))
            })
            .collect();
        let links = (1..parts.len())
            .map(|to| {
                let from = r.below(to as u64) as usize;
                let grouping = match r.below(4) {
                    0 => Grouping::Shuffle,
                    1 => Grouping::Fields((0..parts[to].0).map(|_| 1 + r.below(5)).collect()),
                    _ => Grouping::LocalOrShuffle,
                };
                (from, to, grouping)
            })
            .collect();
        Self {
            parts,
            links,
            nodes: 1 + r.below(3) as usize,
            ppm: [100_000, 400_000, 1_000_000][r.below(3) as usize],
        }
    }

    fn topology(&self) -> Topology {
        let mut topology = Topology::new();
        let ids: Vec<ComponentId> = self
            .parts
            .iter()
            .map(|&(tasks, rate, cpu)| match rate {
                0 => topology.bolt("bolt", tasks as u32, cpu),
                rate => topology.spout("spout", tasks as u32, rate, cpu),
            })
            .collect();
        for (from, to, grouping) in &self.links {
            topology.stream(ids[*from], ids[*to], grouping.clone(), 1_000_000);
        }
        topology
    }

    fn cluster(&self) -> Cluster {
        let imbalance = f64::from(self.ppm) / 1e6;
        Cluster::uniform(self.nodes as u32, 1 << 30).unwrap().with_imbalance(imbalance).unwrap()
    }

    fn tasks(&self) -> usize {
        self.parts.iter().map(|part| part.0).sum()
    }

    fn first(&self, part: usize) -> usize {
        self.parts[..part].iter().map(|part| part.0).sum()
    }

    /// What crosses nodes, stage by stage.
    fn cut(&self, place: &[usize]) -> f64 {
        let mut arrives = vec![0.0; self.tasks()];
        for (at, part) in self.parts.iter().enumerate() {
            (0..part.0).for_each(|task| arrives[self.first(at) + task] = part.1 as f64);
        }
        let mut cut = 0.0;
        for part in 0..self.parts.len() {
            for (from, to, grouping) in self.links.iter().filter(|link| link.0 == part) {
                for a in self.first(*from)..self.first(from + 1) {
                    let all: Vec<usize> = (self.first(*to)..self.first(to + 1)).collect();
                    let near: Vec<usize> =
                        all.iter().copied().filter(|&b| place[a] == place[b]).collect();
                    for &b in &all {
                        let part = match grouping {
                            Grouping::LocalOrShuffle if near.contains(&b) => {
                                1.0 / near.len() as f64
                            }
                            Grouping::LocalOrShuffle if !near.is_empty() => 0.0,
                            Grouping::Fields(shares) => {
                                shares[b - all[0]] as f64 / shares.iter().sum::<u64>() as f64
                            }
                            _ => 1.0 / all.len() as f64,
                        };
                        let rate = arrives[a] * part;
                        arrives[b] += rate;
                        cut += if place[a] == place[b] { 0.0 } else { rate };
                    }
                }
            }
        }
        cut
    }

    fn enumerate(&self, mut each: impl FnMut(&[usize])) {
        let (n, k) = (self.tasks(), self.nodes);
        for number in 0..k.pow(n as u32) {
            let place: Vec<usize> = (0..n).map(|at| number / k.pow(at as u32) % k).collect();
            each(&place);
        }
    }
}

fn placement(place: &[usize]) -> Placement {
    Placement::new(place.iter().map(|&node| NodeId(node as u32)).collect())
}

proptest! {
    #![proptest_config(cases(512))]

    #[test]
    fn weights_are_those_that_a_placement_makes(seed in any::<u64>()) {
        let plain = Plain::random(seed);
        let (topology, cluster) = (plain.topology(), plain.cluster());
        let r = &mut Random::new(seed);
        let place: Vec<usize> = (0..plain.tasks()).map(|_| r.below(plain.nodes as u64) as usize).collect();
        let graph = topology.under(Some(&placement(&place))).unwrap();
        let cut = traffic(&graph, &cluster, &placement(&place)).unwrap().inter;
        // Each of at most 18 pairs is rounded by at most a half.
        prop_assert!((cut as f64 - plain.cut(&place)).abs() <= 9.5);
    }

    /// What is solved is a fix-point under the limits, certified, and no placement within the caps
    /// cuts less than the bound.
    #[test]
    fn what_is_solved_stands_under_its_own_weights(seed in any::<u64>()) {
        let plain = Plain::random(seed);
        let (topology, cluster) = (plain.topology(), plain.cluster());
        let bound = topology.cut_lower_bound(&cluster).unwrap();
        let options = Options::default();
        plain.enumerate(|place| {
            let graph = topology.under(Some(&placement(place))).unwrap();
            let caps = asked_caps(&graph, &cluster);
            if excess(&graph, &cluster, &placement(place), &caps).unwrap().is_zero() {
                assert!(bound as f64 <= plain.cut(place) + 1e-6, "{plain:?} {place:?} {bound}");
            }
        });
        if let Ok(solved) = topology.schedule(&cluster, &options) {
            let (plan, graph) = (&solved.plan, &solved.graph);
            prop_assert_eq!(&topology.under(Some(&plan.placement)).unwrap(), graph);
            prop_assert_eq!(solved.verify(&topology, &cluster), Ok(()));
            prop_assert_eq!(verify(graph, &cluster, &plan.placement, &plan.certificate), Ok(()));
            let caps = asked_caps(graph, &cluster);
            prop_assert!(excess(graph, &cluster, &plan.placement, &caps).unwrap().is_zero());
            let again = reschedule(graph, &cluster, &plan.placement, &options).unwrap();
            prop_assert_eq!(again.certificate.moves.is_empty(), solved.fixed);
            // No weight of the graph can be changed unseen, nor can the placement.
            for wrong in changed(graph) {
                let mut other = solved.clone();
                other.graph = wrong;
                prop_assert!(other.verify(&topology, &cluster).is_err());
            }
            let mut other = solved.clone();
            other.plan.certificate.cost_after += 1;
            prop_assert!(other.verify(&topology, &cluster).is_err());
        }
    }

    /// From any standing placement: within the budget, never dearer, each under its own weights,
    /// and the same again.
    #[test]
    fn rescheduling_gains_or_stays(seed in any::<u64>(), most in 0_u64..8, gain in 0_u64..500) {
        let plain = Plain::random(seed);
        let (topology, cluster) = (plain.topology(), plain.cluster());
        let r = &mut Random::new(!seed);
        let place: Vec<usize> = (0..plain.tasks()).map(|_| r.below(plain.nodes as u64) as usize).collect();
        let standing = placement(&place);
        let graph = topology.under(Some(&standing)).unwrap();
        let keeps = excess(&graph, &cluster, &standing, &asked_caps(&graph, &cluster)).unwrap().is_zero();
        let before = traffic(&graph, &cluster, &standing).unwrap().inter;
        let options = Options::default().with_max_moves(most).with_min_gain_per_move(gain);
        let Ok(solved) = topology.reschedule(&standing, &cluster, &options) else {
            prop_assert!(!keeps);
            return Ok(());
        };
        let certificate = &solved.plan.certificate;
        let moves = certificate.moves.len() as u64;
        prop_assert_eq!(solved.verify(&topology, &cluster), Ok(()));
        prop_assert!(moves <= most && certificate.standing.as_ref() == Some(&standing));
        if keeps {
            prop_assert!(certificate.cut_after + (gain * moves) as i64 <= before);
            prop_assert!(moves == 0 || certificate.cut_after < before);
        }
        // Where nothing was held back, a second time moves nothing.
        let free = Options::default();
        if let Ok(solved) = topology.reschedule(&standing, &cluster, &free)
            && solved.fixed
        {
            let again = topology.reschedule(&solved.plan.placement, &cluster, &free).unwrap();
            prop_assert_eq!(again.plan.certificate.moves, vec![]);
        }
    }
}

/// The same graph with one weight more or less.
fn changed(graph: &TaskGraph) -> Vec<TaskGraph> {
    let make = |cpu: u32, stream: Option<(u32, u32, i64)>| {
        let mut builder =
            TaskGraphBuilder::like(graph, |task, of| of + 2 * u64::from(task.0 == cpu));
        for task in (0..graph.len() as u32).map(TaskId) {
            for (other, rate) in graph.neighbours(task).filter(|&(other, _)| other > task) {
                builder.stream(task, other, rate);
            }
        }
        if let Some((a, b, rate)) = stream {
            builder.stream(TaskId(a), TaskId(b), rate);
        }
        builder.build().unwrap()
    };
    let last = graph.len() as u32 - 1;
    vec![make(0, None), make(last, None), make(u32::MAX, Some((0, last, 2)))]
}

/// Heavy fields shares and tight caps: placements that go round, or weights that a placement makes
/// over the caps. What comes back is verified or a typed error.
#[test]
fn what_goes_round_ends_and_is_certified() {
    let (mut moving, mut resting, mut refused) = (0, 0, 0);
    let options = Options::default().with_steps(2_000);
    for seed in 0..24 {
        let r = &mut Random::new(seed);
        let mut topology = Topology::new();
        let mut last = topology.spout("spout", 2 + r.below(3) as u32, 1_000, 5_000 * r.below(9));
        for _ in 0..2 + r.below(2) {
            let tasks = 2 + r.below(4) as u32;
            let next = topology.bolt("bolt", tasks, 1_000 * r.below(40));
            let grouping = match r.below(3) {
                0 => {
                    Grouping::Fields((0..tasks).map(|at| 1 + u64::from(at) * r.below(20)).collect())
                }
                _ => Grouping::LocalOrShuffle,
            };
            topology.stream(last, next, grouping, 1_000_000);
            last = next;
        }
        let ppm = [0.05, 0.2, 0.6][r.below(3) as usize];
        let cluster = Cluster::uniform(2 + r.below(3) as u32, 1 << 30).unwrap();
        let cluster = cluster.with_imbalance(ppm).unwrap();
        match topology.schedule(&cluster, &options) {
            Ok(solved) => {
                assert_eq!(solved.verify(&topology, &cluster), Ok(()), "{seed}");
                assert!(solved.rounds <= 16);
                *(if solved.fixed { &mut resting } else { &mut moving }) += 1;
            }
            Err(_) => refused += 1,
        }
        // With caps that may be raised there is always a plan, and it is certified too.
        if seed % 8 == 0 {
            let raise = options.with_on_infeasible(OnInfeasible::RelaxCpu);
            let solved = topology.schedule(&cluster, &raise).unwrap();
            assert_eq!(solved.verify(&topology, &cluster), Ok(()), "{seed}");
        }
    }
    assert!(moving > 0 && resting > 0 && refused > 0, "{moving} {resting} {refused}");
}

#[test]
fn a_standing_placement_of_others_is_refused() {
    let mut topology = Topology::new();
    topology.spout("spout", 2, 5, 1);
    let cluster = Cluster::uniform(2, 10).unwrap();
    let at = |nodes: &[u32]| Placement::new(nodes.iter().map(|&node| NodeId(node)).collect());
    let refused = |nodes: &[u32]| topology.reschedule(&at(nodes), &cluster, &Options::default());
    let short = BuildError::PlacementLength { got: 1, want: 2 };
    assert_eq!(refused(&[0]), Err(ScheduleError::Input(short)));
    assert_eq!(refused(&[0, 2]), Err(ScheduleError::Input(BuildError::UnknownNode(NodeId(2)))));
    let mut solved = refused(&[0, 1]).unwrap();
    solved.plan.placement = at(&[0]);
    assert!(matches!(solved.verify(&topology, &cluster), Err(Mismatch::Input(_))));
}

/// No component, no task, no stream.
#[test]
fn the_empty_topology_has_an_empty_plan() {
    let cluster = Cluster::uniform(2, 10).unwrap();
    let solved = Topology::new().schedule(&cluster, &Options::default()).unwrap();
    assert!(solved.fixed && solved.graph.is_empty());
    assert_eq!(solved.verify(&Topology::new(), &cluster), Ok(()));
    let mut other = Topology::new();
    other.spout("spout", 1, 1, 1);
    assert!(solved.verify(&other, &cluster).is_err());
}

/// Four stages of local-or-shuffle: as shuffle there is nothing to gain, as they are it is all.
#[test]
fn several_stages_of_local_or_shuffle_stay_within_nodes() {
    for (tasks, nodes) in [(4, 4), (16, 8), (64, 16)] {
        let mut topology = Topology::new();
        let mut last = topology.spout("spout", tasks, 10_000, 10_000);
        for _ in 0..3 {
            let next = topology.bolt("bolt", tasks, 10_000);
            topology.stream(last, next, Grouping::LocalOrShuffle, 1_000_000);
            last = next;
        }
        let cluster = Cluster::uniform(nodes, 1 << 30).unwrap().with_imbalance(0.10).unwrap();
        let solved = topology.schedule(&cluster, &Options::default()).unwrap();
        assert!(solved.fixed);
        assert_eq!(solved.plan.certificate.cut_after, 0);
        assert_eq!(topology.cut_lower_bound(&cluster), Ok(0));
        // With weights as of shuffle the same placement looks worse than it is.
        let shuffled = topology.under(None).unwrap();
        let fixed = schedule(&shuffled, &cluster, &Options::default()).unwrap();
        assert!(fixed.certificate.cut_after * 2 > shuffled.total_rate());
    }
}

#[test]
fn odd_topologies_are_refused() {
    let wrong = |make: &dyn Fn(&mut Topology)| {
        let mut topology = Topology::new();
        let spout = topology.spout("spout", 2, 5, 1);
        topology.bolt("bolt", 2, 1);
        assert_eq!(spout, ComponentId(0));
        make(&mut topology);
        topology.under(None).unwrap_err()
    };
    let stream = |from: u32, to: u32, grouping: Grouping, ratio: u64| {
        wrong(&move |topology| {
            topology.stream(ComponentId(from), ComponentId(to), grouping.clone(), ratio);
        })
    };
    let parameter = |error: BuildError| matches!(error, BuildError::Parameter { .. });
    assert_eq!(stream(0, 7, Grouping::Shuffle, 1), BuildError::UnknownComponent(ComponentId(7)));
    assert!(parameter(stream(1, 1, Grouping::Shuffle, 1)));
    assert!(parameter(stream(1, 0, Grouping::Shuffle, 1)));
    assert!(parameter(stream(0, 1, Grouping::Fields(vec![1]), 1)));
    assert!(parameter(stream(0, 1, Grouping::Fields(vec![0, 0]), 1)));
    let huge = wrong(&|topology| {
        let spout = topology.spout("huge", 1, u64::MAX, 1);
        let bolt = topology.bolt("more", 1, 1);
        topology.stream(spout, bolt, Grouping::Shuffle, u64::MAX);
    });
    assert!(matches!(huge, BuildError::RateOverflow | BuildError::CpuOverflow));
    assert!(parameter(wrong(&|topology| {
        topology.bolt("none", 0, 1);
    })));
    assert!(parameter(wrong(&|topology| {
        topology.bolt("many", u32::MAX, 1);
    })));
    let short = Placement::new(vec![NodeId(0)]);
    let mut one = Topology::new();
    one.spout("spout", 2, 5, 1);
    let error = one.under(Some(&short)).unwrap_err();
    assert_eq!(error, BuildError::PlacementLength { got: 1, want: 2 });
}
