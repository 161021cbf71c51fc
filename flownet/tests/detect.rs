//! Capacities found over clusters of which the right answer is known: at service rate `m` an M/M/1
//! queue has the latency `theta` at the rate `m − 1 / theta`.

#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../examples/ramp/cluster.rs"]
mod cluster;

use cluster::{Cluster, Noise, stages};
use flownet::{
    ArcId, DetectConfig, DetectError, Detected, Detection, Limit, Network, NodeId, Place, Plan,
    Policy, Probe, Sample, TrackConfig, Tracker, Warm, Window, choose_theta, detect, plan, verify,
};

const THETA: f64 = 1e-3;

fn config() -> DetectConfig {
    DetectConfig::new(THETA, 1_000.0, 1e6)
}

fn found(cluster: &mut Cluster, config: &DetectConfig) -> Detection {
    let net = cluster.net.clone();
    let detection = detect(&net, cluster, config).unwrap();
    assert_eq!(verify(&detection.network, &detection.answer), Ok(()));
    assert_eq!(detection.windows, cluster.windows);
    detection
}

fn at(detection: &Detection, node: u32) -> Detected {
    let place = Place::Node(NodeId(node));
    detection.found.iter().find(|(at, _)| *at == place).unwrap().1
}

fn assert_at(detection: &Detection, node: u32, expected: f64, tolerance: f64) {
    match at(detection, node) {
        Detected::At(rate) => {
            assert!((rate / expected - 1.0).abs() <= tolerance, "{node}: {rate} {expected}");
        }
        other => panic!("{node}: {other:?}, expected {expected}"),
    }
}

#[test]
fn one_queue_is_found_within_the_tolerance() {
    for (served, theta) in [(10_000.0, 1e-3), (2_000.0, 1e-3), (16_692.0, 0.13e-3), (1e5, 0.1)] {
        for tolerance in [0.1, 0.01, 0.001] {
            for start in [10.0, 1_000.0, 90_000.0] {
                let mut cluster = stages(&[vec![served]]);
                let config = DetectConfig {
                    tolerance,
                    min_rate: 1.0,
                    ..DetectConfig::new(theta, start, 1e6)
                };
                let detection = found(&mut cluster, &config);
                let expected = served - 1.0 / theta;
                assert_at(&detection, 1, expected, tolerance);
                assert!((detection.answer.value / expected - 1.0).abs() <= tolerance);
                assert!(detection.unproved.is_empty());
                // Logarithmic: the range of rates over the tolerance.
                let rounds = 1e6_f64.log(1.5) + (1.0 / tolerance).log2() + 6.0;
                assert!(f64::from(detection.windows) <= 3.0 * rounds, "{}", detection.windows);
            }
        }
    }
}

#[test]
fn every_worker_of_a_stage_is_found_and_the_cut_is_proved() {
    let served: Vec<f64> = (1..=10).map(|worker| 3_000.0 + 500.0 * f64::from(worker)).collect();
    let mut cluster = stages(std::slice::from_ref(&served));
    let detection = found(&mut cluster, &config());
    for (node, served) in (1..).zip(&served) {
        assert_at(&detection, node, served - 1_000.0, 0.01);
    }
    let sum: f64 = served.iter().map(|served| served - 1_000.0).sum();
    assert!((detection.answer.value / sum - 1.0).abs() < 0.01);
    assert!(detection.unproved.is_empty() && detection.stalled.is_none());
    // All are in the cut.
    let cut = detection.answer.source_cut.as_ref().unwrap();
    assert_eq!(cut.nodes().count(), 10);
}

/// The capacity is what the node itself got, and not the rate of the source: 50 of 100.
#[test]
fn skewed_fan_in_is_measured_at_the_node() {
    let mut net = Network::new();
    net.add_nodes(6).unwrap();
    // 60 and 40 of a hundred by two links; the third worker is fed by one of them alone.
    for (u, v, c) in [(0, 1, 60_000.0), (0, 2, 40_000.0), (1, 3, 30_000.0), (2, 3, 20_000.0)] {
        net.add_arc(NodeId(u), NodeId(v), c).unwrap();
    }
    for (u, v) in [(1, 4), (2, 4), (3, 5), (4, 5)] {
        net.add_arc(NodeId(u), NodeId(v), Limit::Unbounded).unwrap();
    }
    net.add_source(NodeId(0), Limit::Unbounded).unwrap();
    net.add_sink(NodeId(5), Limit::Unbounded).unwrap();
    let free = f64::INFINITY;
    let mut cluster = Cluster::new(net, vec![free, free, free, 41_000.0, 31_000.0, free]);
    let detection = found(&mut cluster, &config());
    assert_at(&detection, 3, 40_000.0, 0.01);
    assert_at(&detection, 4, 30_000.0, 0.01);
    assert!((detection.answer.value / 70_000.0 - 1.0).abs() < 0.01);
    assert!(detection.unproved.is_empty());
}

#[test]
fn a_starved_stage_is_at_least_what_it_got() {
    let mut cluster = stages(&[vec![5_000.0], vec![50_000.0], vec![1e6]]);
    let detection = found(&mut cluster, &config());
    assert_at(&detection, 1, 4_000.0, 0.01);
    for node in [2, 3] {
        // The source is held to what the first serves.
        let Detected::AtLeast(rate) = at(&detection, node) else { panic!() };
        assert!((3_900.0..=5_000.0).contains(&rate), "{rate}");
    }
    assert!(detection.unproved.is_empty());
    assert!((detection.answer.value / 4_000.0 - 1.0).abs() < 0.01);
}

#[test]
fn a_bound_below_the_service_time_is_unreachable() {
    // One serves a tuple in 2 ms, the other in 0.1.
    let mut cluster = stages(&[vec![500.0, 10_000.0]]);
    let detection = found(&mut cluster, &config());
    assert_eq!(at(&detection, 1), Detected::ThetaUnreachable);
    assert_at(&detection, 2, 9_000.0, 0.01);
    assert!((detection.answer.value / 9_000.0 - 1.0).abs() < 0.01);
    assert!(detection.unproved.is_empty());
    // Nothing at all flows where all are so.
    let detection = found(&mut stages(&[vec![500.0], vec![9_000.0]]), &config());
    assert_eq!((at(&detection, 1), detection.answer.value), (Detected::ThetaUnreachable, 0.0));
}

#[test]
fn a_start_past_the_knee_is_searched_downward() {
    let mut cluster = stages(&[vec![1_500.0]]);
    let config = DetectConfig { start: 20_000.0, min_rate: 10.0, ..config() };
    assert_at(&found(&mut cluster, &config), 1, 500.0, 0.01);
    // Not far enough down: it is below, and falls.
    let config = DetectConfig { start: 1_400.0, min_rate: 800.0, ..config };
    let detection = found(&mut stages(&[vec![1_500.0]]), &config);
    let Detected::AtMost(rate) = at(&detection, 1) else { panic!("{:?}", at(&detection, 1)) };
    assert!((rate - 800.0).abs() < 1e-6, "{rate}");
    assert_eq!((detection.answer.value, detection.unproved.len()), (0.0, 1));
}

#[test]
fn links_have_capacities_too() {
    let mut cluster = stages(&[vec![50_000.0, 50_000.0]]);
    // Transfers to the second worker queue as well.
    cluster.transfer[1] = 3_000.0;
    let config = DetectConfig { link_theta: 2e-3, ..config() };
    let detection = found(&mut cluster, &config);
    let place = Place::Arc(ArcId(1));
    let (_, link) = detection.found.iter().find(|(at, _)| *at == place).unwrap();
    let Detected::At(rate) = link else { panic!("{link:?}") };
    assert!((rate / 2_500.0 - 1.0).abs() < 0.01, "{rate}");
    assert!((detection.answer.value / 51_500.0 - 1.0).abs() < 0.01);
    assert!(detection.unproved.is_empty());
}

#[test]
fn limits_of_the_network_and_the_rate_are_kept_to() {
    let mut cluster = stages(&[vec![5_000.0, 5_000.0]]);
    cluster.net.set_node_capacity(NodeId(1), 1_000.0).unwrap();
    let detection = found(&mut cluster, &config());
    assert!((detection.answer.value / 5_000.0 - 1.0).abs() < 0.01);
    // All that is asked for fits: no capacity is found, and none is needed.
    let config = DetectConfig { max_rate: 3_000.0, ..config() };
    let detection = found(&mut stages(&[vec![50_000.0]]), &config);
    assert_eq!((detection.answer.value, detection.unproved.len()), (3_000.0, 0));
    assert_eq!(at(&detection, 1), Detected::AtLeast(3_000.0));
}

#[test]
fn a_source_that_cannot_keep_up_is_told() {
    struct Slow(Cluster);
    impl Probe for Slow {
        type Error = &'static str;
        fn window(&mut self, rate: f64, plan: &Plan) -> Result<Window, &'static str> {
            self.0.window(rate.min(2_500.0), plan)
        }
    }
    let cluster = stages(&[vec![50_000.0]]);
    let net = cluster.net.clone();
    let detection = detect(&net, &mut Slow(cluster), &config()).unwrap();
    let stalled = detection.stalled.unwrap();
    assert!((2_500.0..5_000.0).contains(&stalled), "{stalled}");
    assert_eq!(detection.unproved, [Place::Node(NodeId(1))]);
    assert!((detection.answer.value - 2_500.0).abs() < 1e-6);
}

#[test]
fn a_probe_that_fails_is_named_with_what_was_known() {
    struct Failing(Cluster, u32);
    impl Probe for Failing {
        type Error = &'static str;
        fn window(&mut self, rate: f64, plan: &Plan) -> Result<Window, &'static str> {
            self.1 -= 1;
            if self.1 == 0 { Err("the cluster is gone") } else { self.0.window(rate, plan) }
        }
    }
    let cluster = stages(&[vec![5_000.0, 9_000.0]]);
    let net = cluster.net.clone();
    let all = found(&mut cluster.clone(), &config()).windows;
    for left in 1..=all {
        let failed = detect(&net, &mut Failing(cluster.clone(), left), &config());
        let Err(DetectError::Probe { error, windows, found }) = failed else { panic!() };
        assert_eq!((error, windows), ("the cluster is gone", left - 1));
        assert_eq!(found.is_empty(), left == 1);
    }
    assert!(detect(&net, &mut Failing(cluster.clone(), all + 1), &config()).is_ok());
    // Too few windows are no error; what is missing is named.
    let short = DetectConfig { max_windows: all / 3, ..config() };
    let detection = detect(&net, &mut cluster.clone(), &short).unwrap();
    assert!(!detection.unproved.is_empty() && detection.windows == all / 3);
    assert!(detection.answer.value > 0.0 && detection.answer.value < 12_000.0);
}

#[test]
fn bad_input_is_refused() {
    struct Given(Window);
    impl Probe for Given {
        type Error = &'static str;
        fn window(&mut self, _: f64, _: &Plan) -> Result<Window, &'static str> {
            Ok(self.0.clone())
        }
    }
    let net = stages(&[vec![5_000.0]]).net;
    let sample = |at, rate, latency| Sample { at, rate, latency };
    let node = Place::Node(NodeId(1));
    for bad in [
        sample(node, f64::NAN, 1.0),
        sample(node, -1.0, 1.0),
        sample(node, f64::INFINITY, 1.0),
        sample(node, 1.0, f64::NAN),
        sample(node, 1.0, -1.0),
        sample(Place::Node(NodeId(9)), 1.0, 1.0),
        sample(Place::Arc(ArcId(9)), 1.0, 1.0),
        sample(Place::Rate, 1.0, 1.0),
    ] {
        let window = Window { throughput: 1.0, samples: vec![bad] };
        let refused = detect(&net, &mut Given(window), &config());
        assert!(matches!(refused, Err(DetectError::BadSample { .. })), "{bad:?}");
    }
    let window = Window { throughput: f64::NAN, samples: vec![] };
    let refused = detect(&net, &mut Given(window), &config());
    assert!(matches!(refused, Err(DetectError::BadThroughput { .. })));
    let nan = f64::NAN;
    for (field, bad) in [
        ("theta", DetectConfig { theta: nan, ..config() }),
        ("link_theta", DetectConfig { link_theta: 0.0, ..config() }),
        ("start", DetectConfig { start: 0.0, ..config() }),
        ("min_rate", DetectConfig { min_rate: 2_000.0, ..config() }),
        ("max_rate", DetectConfig { max_rate: f64::INFINITY, ..config() }),
        ("growth", DetectConfig { growth: 1.0, ..config() }),
        ("tolerance", DetectConfig { tolerance: 0.0, ..config() }),
        ("votes", DetectConfig { votes: 4, ..config() }),
        ("stall", DetectConfig { stall: 1.0, ..config() }),
    ] {
        let refused = detect(&net, &mut stages(&[vec![1.0]]), &bad);
        assert!(matches!(refused, Err(DetectError::BadConfig { field: f }) if f == field));
    }
    let empty = detect(&Network::new(), &mut stages(&[vec![1.0]]), &config());
    assert!(matches!(empty, Err(DetectError::Plan(_))));
}

/// How many of a thousand seeds end within 5 % of the right answer.
fn within_five_percent(served: f64, noise: Noise, config: &DetectConfig) -> (u32, u32) {
    let expected = served - 1.0 / THETA;
    let (mut good, mut windows) = (0, 0);
    for seed in 0..1_000 {
        let mut cluster = stages(&[vec![served]]);
        cluster.noise = noise;
        cluster.seed = seed;
        let detection = found(&mut cluster, config);
        let near = (detection.answer.value / expected - 1.0).abs() <= 0.05;
        good += u32::from(near && detection.unproved.is_empty());
        windows += detection.windows;
    }
    (good, windows / 1_000)
}

#[test]
fn noise_of_a_fifth_is_seen_through() {
    let noisy = DetectConfig { votes: 3, of: 5, refine: 12, tolerance: 0.02, ..config() };
    // Mean latencies of windows that are off by a fifth.
    let (good, windows) = within_five_percent(10_000.0, Noise::Latency(0.2), &noisy);
    println!("latency: {good} of 1000 within 5 %, {windows} windows");
    assert!(good >= 950, "{good}");
    assert!(windows <= 120, "{windows}");
    // Service times of single tuples that are, a thousand in a window.
    let (good, windows) = within_five_percent(10_000.0, Noise::Service(0.2, 1_000.0), &noisy);
    println!("service: {good} of 1000 within 5 %, {windows} windows");
    assert!(good >= 950, "{good}");
}

#[test]
fn theta_is_the_smallest_on_the_plateau() {
    // Ten workers, and 90 000 tuples a second to be had: from 0.13 ms on they suffice.
    let theta = |hundredths: u32| f64::from(hundredths) * 0.01e-3;
    let served = 9_000.0 + 1.0 / theta(13);
    let mut cluster = stages(&[vec![served; 10]]);
    let grid: Vec<f64> = (10..=20).map(theta).collect();
    let config = DetectConfig { tolerance: 0.001, ..DetectConfig::new(1.0, 1_000.0, 90_000.0) };
    let net = cluster.net.clone();
    let choice = choose_theta(&net, &mut cluster, &config, &grid, 0.005).unwrap();
    assert_eq!(choice.theta, Some(theta(13)));
    assert_eq!(choice.tried.len(), 11);
    for &(theta, throughput) in &choice.tried {
        let expected = (10.0 * (served - 1.0 / theta)).min(90_000.0);
        assert!((throughput / expected - 1.0).abs() < 0.002, "{theta} {throughput} {expected}");
    }
    // Nothing flows under bounds below the service time.
    let choice = choose_theta(&net, &mut cluster, &config, &[1e-9], 0.005).unwrap();
    assert_eq!(choice.theta, None);
    let refused = choose_theta(&net, &mut cluster, &config, &grid, f64::NAN);
    assert!(matches!(refused, Err(DetectError::BadConfig { field: "plateau" })));
}

#[test]
fn policies_find_the_same_cut() {
    for policy in [Policy::AsSolved, Policy::MinMax, Policy::Balanced] {
        let served = [vec![4_000.0, 9_000.0, 6_000.0], vec![7_000.0, 5_500.0, 8_500.0]];
        let detection = found(&mut stages(&served), &DetectConfig { policy, ..config() });
        // 3 + 8 + 5 thousand before 6 + 4.5 + 7.5 thousand.
        assert!((detection.answer.value / 16_000.0 - 1.0).abs() < 0.01, "{policy:?}");
        assert!(detection.unproved.is_empty(), "{policy:?}");
    }
}

/// Machines that become slower, and faster again, are followed.
#[test]
fn a_tracker_follows_capacities_that_drift() {
    let mut cluster = stages(&[vec![10_000.0, 10_000.0]]);
    let detection = found(&mut cluster, &config());
    let mut warm = Warm::new(detection.network).unwrap();
    let _ = warm.solve_to(1e6).unwrap();
    let mut tracker = Tracker::new(warm, TrackConfig::new(THETA)).unwrap();
    let mut changes = 0;
    for target in [10_000.0, 6_000.0, 15_000.0, 3_000.0] {
        for round in 0..400 {
            // It drifts by a hundredth a round.
            let now = cluster.service[1];
            cluster.service[1] = now + (target - now).clamp(-0.01 * now, 0.01 * now);
            let dealt = plan(tracker.warm().network(), 1e6, Policy::Balanced).unwrap();
            let seen = cluster.window(dealt.value(), &dealt).unwrap();
            changes += tracker.observe(&seen.samples).unwrap().len();
            let Limit::Finite(capacity) = tracker.warm().network().node_capacity(NodeId(1)) else {
                panic!()
            };
            let right = cluster.service[1] - 1.0 / THETA;
            if round > 300 {
                assert!((capacity / right - 1.0).abs() < 0.1, "{capacity} {right}");
            }
        }
        let answer = tracker.warm_mut().answer();
        assert_eq!(verify(tracker.warm().network(), &answer), Ok(()));
    }
    assert!(changes > 100);
}

#[test]
fn a_tracker_learns_nothing_from_what_is_hardly_used() {
    let mut net = stages(&[vec![1.0, 1.0]]).net;
    for node in [1, 2] {
        net.set_node_capacity(NodeId(node), 5_000.0).unwrap();
    }
    let mut tracker = Tracker::new(Warm::new(net).unwrap(), TrackConfig::new(THETA)).unwrap();
    let sample = |at, rate, latency| Sample { at, rate, latency };
    let node = Place::Node(NodeId(1));
    for _ in 0..10 {
        assert!(tracker.observe(&[sample(node, 1_000.0, 0.5 * THETA)]).unwrap().is_empty());
    }
    // One spike is none; two of three are.
    assert!(tracker.observe(&[sample(node, 4_000.0, 2.0 * THETA)]).unwrap().is_empty());
    assert!(tracker.observe(&[sample(node, 3_000.0, 0.5 * THETA)]).unwrap().is_empty());
    let changes = tracker.observe(&[sample(node, 4_500.0, 2.0 * THETA)]).unwrap();
    assert_eq!(changes.len(), 1);
    assert_eq!((changes[0].1.before, changes[0].1.after), (10_000.0, 5_000.0 + 4_000.0 * 0.98));
    let refused = tracker.observe(&[sample(Place::Rate, 1.0, 1.0)]);
    assert!(matches!(refused, Err(DetectError::BadSample { .. })));
    let wrong = TrackConfig { of: 65, ..TrackConfig::new(THETA) };
    let net = tracker.warm().clone();
    assert!(matches!(Tracker::new(net, wrong), Err(DetectError::BadConfig { field: "of" })));
}
