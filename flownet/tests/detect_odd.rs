//! Detections over clusters that are odd, and trackers of what is told oddly.

#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../examples/ramp/cluster.rs"]
mod cluster;

use cluster::stages;
use flownet::{
    DetectConfig, DetectError, Detected, Detection, NodeId, Place, Plan, Probe, Sample,
    TrackConfig, Tracker, Warm, Window, detect,
};

const THETA: f64 = 1e-3;

fn config() -> DetectConfig {
    DetectConfig::new(THETA, 1_000.0, 1e6)
}

fn at(detection: &Detection, node: u32) -> Detected {
    let place = Place::Node(NodeId(node));
    detection.found.iter().find(|(at, _)| *at == place).unwrap().1
}

fn assert_at(detection: &Detection, node: u32, expected: f64, tolerance: f64) {
    let Detected::At(rate) = at(detection, node) else { panic!("{:?}", at(detection, node)) };
    assert!((rate / expected - 1.0).abs() <= tolerance, "{rate} {expected}");
}

/// One node whose latency is a function of its rate.
struct Curve<F>(F);

impl<F: Fn(f64) -> f64> Probe for Curve<F> {
    type Error = &'static str;
    fn window(&mut self, rate: f64, _: &Plan) -> Result<Window, &'static str> {
        let sample = Sample { at: Place::Node(NodeId(1)), rate, latency: (self.0)(rate) };
        Ok(Window { throughput: rate, samples: vec![sample] })
    }
}

fn of_curve(latency: impl Fn(f64) -> f64, config: &DetectConfig) -> Detection {
    detect(&stages(&[vec![1.0]]).net, &mut Curve(latency), config).unwrap()
}

/// Flat, or falling as more tuples share a batch: no lower rate helps.
#[test]
fn a_latency_that_does_not_fall_with_the_rate_is_unreachable() {
    for latency in [|_| 2.0 * THETA, |rate| 2.0 * THETA + 1.0 / rate] {
        let detection = of_curve(latency, &config());
        assert_eq!(at(&detection, 1), Detected::ThetaUnreachable);
        assert!(detection.unproved.is_empty());
    }
    // One rate tells nothing of that, nor do queues without end.
    let detection = of_curve(|_| 2.0 * THETA, &DetectConfig { min_rate: 1_000.0, ..config() });
    assert_eq!(at(&detection, 1), Detected::AtMost(1_000.0));
    let detection = of_curve(|_| f64::INFINITY, &config());
    assert!(matches!(at(&detection, 1), Detected::AtMost(_)));
}

#[test]
fn a_knee_is_found_as_exactly_as_floats_are() {
    let queue = |rate| if rate < 10_000.0 { 1.0 / (10_000.0 - rate) } else { f64::INFINITY };
    for tolerance in [1e-18, 5e-324] {
        let detection = of_curve(queue, &DetectConfig { tolerance, ..config() });
        assert_at(&detection, 1, 9_000.0, 1e-12);
        assert!(detection.windows < 200 && detection.unproved.is_empty());
    }
    // Windows run out only once it is enclosed.
    let detection =
        of_curve(queue, &DetectConfig { refine: u32::MAX, max_windows: 90, ..config() });
    assert_at(&detection, 1, 9_000.0, 0.05);
    assert_eq!(detection.windows, 90);
}

/// What was never carried is not proved by not being measured.
#[test]
fn a_rate_that_was_never_carried_is_unproved() {
    let none = of_curve(|_| 0.0, &DetectConfig { max_windows: 0, ..config() });
    assert_eq!((none.windows, none.unproved), (0, vec![Place::Rate]));
    struct Silent(f64);
    impl Probe for Silent {
        type Error = &'static str;
        fn window(&mut self, rate: f64, _: &Plan) -> Result<Window, &'static str> {
            Ok(Window { throughput: self.0 * rate, samples: Vec::new() })
        }
    }
    let net = stages(&[vec![1.0]]).net;
    let stalled = detect(&net, &mut Silent(0.0), &config()).unwrap();
    assert_eq!((stalled.stalled, stalled.unproved), (Some(1_000.0), vec![Place::Rate]));
    let carried = detect(&net, &mut Silent(1.0), &config()).unwrap();
    assert_eq!((carried.answer.value, carried.unproved), (1e6, vec![]));
}

#[test]
fn a_window_tells_of_each_place_once() {
    struct Twice;
    impl Probe for Twice {
        type Error = &'static str;
        fn window(&mut self, rate: f64, _: &Plan) -> Result<Window, &'static str> {
            let sample = Sample { at: Place::Node(NodeId(1)), rate, latency: 0.0 };
            Ok(Window { throughput: rate, samples: vec![sample; 2] })
        }
    }
    let refused = detect(&stages(&[vec![1.0]]).net, &mut Twice, &config());
    assert!(matches!(refused, Err(DetectError::BadSample { .. })));
}

/// More than the capacity was sent: that it waits says nothing of what the node can bear.
#[test]
fn a_tracker_does_not_take_what_is_overloaded_for_slow() {
    let mut net = stages(&[vec![1.0]]).net;
    net.set_node_capacity(NodeId(1), 9_000.0).unwrap();
    let mut tracker = Tracker::new(Warm::new(net).unwrap(), TrackConfig::new(THETA)).unwrap();
    let sample = |rate| Sample { at: Place::Node(NodeId(1)), rate, latency: 2.0 * THETA };
    for _ in 0..60 {
        assert!(tracker.observe(&[sample(20_000.0)]).unwrap().is_empty());
    }
    // A little more than the capacity is what its own plan may send.
    assert!(tracker.observe(&[]).unwrap().is_empty());
    assert_eq!(tracker.observe(&[sample(9_100.0), sample(9_050.0)]).unwrap().len(), 1);
    assert_eq!(tracker.warm().value(), 9_000.0 * 0.98);
}
