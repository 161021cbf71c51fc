//! Trigger, gate and monitor.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::cast_possible_wrap, clippy::cast_sign_loss, reason = "small numbers")]

use tsaw::{
    BuildError, Cluster, Decision, Kind, Monitor, MonitorError, Node, NodeId, OnInfeasible,
    Options, Placement, TaskGraphBuilder, TaskId, Trigger, TriggerError, baseline, instances,
    reschedule, schedule, worth_it,
};

const FAR: [f64; 2] = [75.0, 40.0];
const NEAR: [f64; 2] = [50.0, 40.0];

#[test]
fn one_sample_at_epsilon_starts_the_clock_anew() {
    let mut trigger = Trigger::new(20.0, 80).unwrap();
    for now in [0, 40, 79] {
        assert_eq!(trigger.observe(now, &FAR, 1), Ok(Decision::Hold { above_for: now }));
    }
    assert_eq!(trigger.observe(80, &[60.0, 40.0], 1), Ok(Decision::Hold { above_for: 0 }));
    assert_eq!(trigger.observe(85, &FAR, 1), Ok(Decision::Hold { above_for: 0 }));
    assert_eq!(trigger.observe(164, &FAR, 1), Ok(Decision::Hold { above_for: 79 }));
    assert_eq!(trigger.observe(165, &FAR, 1), Ok(Decision::Fire { spread: 35.0, held: 80 }));
}

#[test]
fn a_gap_of_over_two_periods_starts_the_clock_anew() {
    let mut trigger = Trigger::new(20.0, 10).unwrap().with_period(5).unwrap();
    trigger.observe(0, &FAR, 1).unwrap();
    assert_eq!(trigger.observe(11, &FAR, 1), Ok(Decision::Hold { above_for: 0 }));
    assert!(matches!(trigger.observe(21, &FAR, 1), Ok(Decision::Fire { .. })));
}

#[test]
fn the_release_level_keeps_it_from_firing_where_nothing_got_better() {
    let mut trigger = Trigger::new(20.0, 0).unwrap().with_release(12.0).unwrap();
    assert!(matches!(trigger.observe(0, &FAR, 1), Ok(Decision::Fire { .. })));
    assert_eq!(trigger.observe(1, &FAR, 1), Ok(Decision::Unreleased { spread: 35.0 }));
    // Under epsilon, but over the release level.
    trigger.observe(2, &[55.0, 40.0], 1).unwrap();
    assert_eq!(trigger.observe(3, &FAR, 1), Ok(Decision::Unreleased { spread: 35.0 }));
    trigger.observe(4, &NEAR, 1).unwrap();
    assert!(matches!(trigger.observe(5, &FAR, 1), Ok(Decision::Fire { .. })));
    // New members release it too.
    assert!(matches!(trigger.observe(6, &FAR, 2), Ok(Decision::Fire { .. })));
}

#[test]
fn the_time_over_epsilon_in_the_cool_down_does_not_count() {
    let mut trigger = Trigger::new(20.0, 10).unwrap().with_cooldown(100);
    trigger.observe(0, &FAR, 1).unwrap();
    assert!(matches!(trigger.observe(10, &FAR, 1), Ok(Decision::Fire { .. })));
    assert_eq!(trigger.observe(109, &FAR, 1), Ok(Decision::Cooling { until: 110 }));
    assert_eq!(trigger.observe(110, &FAR, 1), Ok(Decision::Hold { above_for: 0 }));
    assert!(matches!(trigger.observe(120, &FAR, 1), Ok(Decision::Fire { .. })));
    let mut late = Trigger::new(0.0, 0).unwrap().with_cooldown(u64::MAX);
    assert!(matches!(late.observe(u64::MAX, &FAR, 1), Ok(Decision::Fire { .. })));
}

#[test]
fn odd_levels_and_samples_are_refused_and_change_nothing() {
    for level in [-1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(Trigger::new(level, 1).unwrap_err(), TriggerError::Levels);
    }
    let trigger = Trigger::new(20.0, 10).unwrap();
    for level in [-1.0, 21.0, f64::NAN] {
        assert_eq!(trigger.clone().with_release(level).unwrap_err(), TriggerError::Levels);
    }
    assert_eq!(trigger.clone().with_period(0).unwrap_err(), TriggerError::Period);
    let mut trigger = trigger;
    trigger.observe(5, &FAR, 1).unwrap();
    // Of two loads from 0 on the spread is finite.
    for odd in [f64::NAN, f64::INFINITY, -1.0] {
        assert_eq!(trigger.observe(6, &[1.0, odd], 9), Err(TriggerError::Load(1)));
    }
    assert_eq!(trigger.observe(4, &FAR, 9), Err(TriggerError::Backwards { now: 4, last: 5 }));
    assert!(matches!(trigger.observe(15, &FAR, 1), Ok(Decision::Fire { .. })));
    assert_eq!(trigger.observe(16, &[], 1), Ok(Decision::Hold { above_for: 0 }));
}

#[test]
fn the_gate_weighs_what_is_saved_against_the_pause() {
    let processing = instances::processing().unwrap();
    let cluster = processing.cluster(0.10).unwrap();
    let standing = baseline::lpt(&processing.graph, &cluster).unwrap();
    let plan = reschedule(&processing.graph, &cluster, &standing, &Options::default()).unwrap();
    let saved = plan.certificate.cost_before.unwrap() - plan.certificate.cost_after;
    assert!(saved > 0);
    let long = worth_it(&plan, 600.0, 5.0).unwrap();
    assert_eq!((long.saved, long.paused), (saved as f64 * 600.0, 240_024.0 * 5.0));
    assert!(long.is_worth_it() && !worth_it(&plan, 1.0, 5.0).unwrap().is_worth_it());
    let fresh = schedule(&processing.graph, &cluster, &Options::default()).unwrap();
    assert_eq!(worth_it(&fresh, 600.0, 0.0).unwrap().net, 0.0);
    // Finite, but the tuples of so long a time are not: infinity less infinity is no answer.
    for odd in [-1.0, f64::NAN, f64::INFINITY, f64::MAX] {
        assert!(matches!(worth_it(&plan, odd, 1.0), Err(BuildError::Parameter { .. })));
        assert!(matches!(worth_it(&plan, 1.0, odd), Err(BuildError::Parameter { .. })));
    }
}

#[test]
fn relief_of_an_overloaded_node_counts_without_any_traffic_saved() {
    let mut builder = TaskGraphBuilder::new();
    let component = builder.component("c", Kind::Bolt);
    for _ in 0..4 {
        builder.task(component, 60);
    }
    builder.stream(TaskId(0), TaskId(1), 100);
    let graph = builder.build().unwrap();
    let cluster = Cluster::new(vec![Node::new(120); 2]).unwrap();
    let standing = Placement::new([0, 0, 0, 1].map(NodeId).to_vec());
    let options = Options::default().with_on_infeasible(OnInfeasible::RelaxBalance);
    let plan = reschedule(&graph, &cluster, &standing, &options).unwrap();
    let benefit = worth_it(&plan, 30.0, 1.0).unwrap();
    // Of 100 tuples a second a third was held back.
    assert!((benefit.relieved - 1_000.0).abs() < 1e-6 && benefit.is_worth_it());
}

const S: u64 = 1_000_000_000;

#[test]
fn weights_are_those_of_the_window() {
    let mut monitor = Monitor::new(10 * S).unwrap();
    let (a, b) = (TaskId(0), TaskId(1));
    // Ten seconds of nothing, then half a core of 3 GHz and 100 tuples a second.
    for second in 0..=30_u64 {
        let busy = second.saturating_sub(10);
        monitor.cpu_time(a, second * S, busy * S / 2, 3_000).unwrap();
        monitor.received(a, b, second * S, busy * 100).unwrap();
        if second == 15 {
            assert_eq!((monitor.cpu(a), monitor.rate(a, b)), (Some(750), Some(50)));
        }
    }
    assert_eq!((monitor.cpu(a), monitor.rate(a, b)), (Some(1_500), Some(100)));
    assert_eq!((monitor.cpu(b), monitor.rate(b, a)), (None, None));
}

#[test]
fn a_clock_that_changes_counts_for_its_own_time() {
    let mut monitor = Monitor::new(100 * S).unwrap();
    monitor.cpu_time(TaskId(0), 0, 0, 1).unwrap();
    monitor.cpu_time(TaskId(0), S, S, 1_000).unwrap();
    monitor.cpu_time(TaskId(0), 2 * S, 2 * S, 3_000).unwrap();
    assert_eq!(monitor.cpu(TaskId(0)), Some(2_000));
}

#[test]
fn counters_that_go_back_begin_anew_and_are_told() {
    assert_eq!(Monitor::new(0).unwrap_err(), MonitorError::EmptyWindow);
    let mut monitor = Monitor::new(10 * S).unwrap();
    let (a, b) = (TaskId(0), TaskId(1));
    monitor.received(a, b, 0, 0).unwrap();
    monitor.received(a, b, S, 500).unwrap();
    let reset = MonitorError::Reset { now: 3, last: 500 };
    assert_eq!(monitor.received(a, b, 2 * S, 3), Err(reset));
    assert_eq!(monitor.rate(a, b), None);
    monitor.received(a, b, 3 * S, 103).unwrap();
    assert_eq!(monitor.rate(a, b), Some(100));
    let late = MonitorError::NotLater { now: 3 * S, last: 3 * S };
    assert_eq!(monitor.received(a, b, 3 * S, 104), Err(late));
    monitor.received(a, b, 4 * S, u64::MAX).unwrap();
    assert_eq!(monitor.rate(a, b), Some(i64::MAX - 1));
}

#[test]
fn a_graph_takes_its_measured_weights_and_keeps_its_groups() {
    let mut builder = TaskGraphBuilder::new();
    let component = builder.component("c", Kind::Bolt);
    let (a, b, c) =
        (builder.task(component, 7), builder.task(component, 8), builder.task(component, 9));
    builder.colocate(b, c);
    builder.spread(&[a, b], 1);
    builder.stream(a, b, 1);
    let graph = builder.build().unwrap();
    let mut monitor = Monitor::new(10 * S).unwrap();
    for second in 0..3 {
        monitor.cpu_time(a, second * S, second * S / 4, 2_000).unwrap();
        monitor.received(a, c, second * S, second * 40).unwrap();
    }
    let weighed = monitor.weigh(&graph).unwrap();
    let cpu: Vec<u64> = weighed.tasks().iter().map(|task| task.cpu).collect();
    assert_eq!((cpu, weighed.total_rate()), (vec![500, 8, 9], 40));
    assert_eq!(weighed.neighbours(a).collect::<Vec<_>>(), [(c, 40)]);
    assert_eq!((weighed.leader(c), weighed.spreads()), (Some(b), graph.spreads()));
    monitor.received(a, TaskId(9), 0, 0).unwrap();
    assert_eq!(monitor.weigh(&graph).unwrap_err(), BuildError::UnknownTask(TaskId(9)));
}
