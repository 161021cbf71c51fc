//! Loss, repeats, delay and reordering: what they may do, and what not.

use streamwright::sim::{Event, Fault, Faults, Sim};
use streamwright::{Guarantee, Report};

use crate::common::{chain, cluster, config, exactly_once, ms, us};

const NAMES: [&str; 3] = ["a", "b", "c"];
const END: u64 = 2_000;

fn lost_on_edges(report: &Report) -> u64 {
    report.streams.iter().map(|stream| stream.counters.lost).sum()
}

fn in_flight(report: &Report) -> u64 {
    report.streams.iter().map(streamwright::StreamStats::in_flight).sum()
}

#[test]
fn what_is_lost_is_replayed_until_all_has_come() {
    for seed in 0..10 {
        let faults = Faults {
            lose_tuples: 10_000,
            lose_batches: 10_000,
            lose_acks: 20_000,
            lose_control: 50_000,
            delay: us(200),
            ..Faults::default()
        };
        let (topology, seen) = chain(NAMES, 6, END, config(6));
        let sim = Sim::new(cluster(3)).seed(seed).faults(faults);
        let outcome = sim.run(topology).unwrap();
        let (report, faults) = (outcome.report, outcome.faults);
        assert!((0..END).all(|n| seen.lock().unwrap().contains_key(&n)));
        assert!(report.complete && report.acked == END && report.replayed > 0);
        assert!(faults.lost_tuples > 0 && faults.lost_batches > 0);
        assert!(faults.lost_messages > 0 && faults.resent_messages > 0);
        // A tuple lost in a batch that is lost as well is one tuple lost.
        let lost = lost_on_edges(&report);
        assert!(lost >= faults.lost_in_batches);
        assert!(lost <= faults.lost_tuples + faults.lost_in_batches);
        assert_eq!(in_flight(&report), 0);
    }
}

#[test]
fn at_most_once_loses_what_the_network_loses_and_no_more() {
    let faults = Faults { lose_tuples: 10_000, lose_batches: 10_000, ..Faults::default() };
    let mut config = config(6);
    config.guarantee = Guarantee::AtMostOnce;
    let (topology, seen) = chain(NAMES, 6, END, config);
    let outcome = Sim::new(cluster(3)).seed(5).faults(faults).run(topology).unwrap();
    let seen = seen.lock().unwrap();
    assert!(seen.values().all(|&times| times == 1));
    let lost = lost_on_edges(&outcome.report);
    assert!(lost > 0);
    assert_eq!(seen.len() as u64, END - lost);
}

#[test]
fn repeats_delay_and_reordering_alone_change_no_count() {
    for reorder in [false, true] {
        for seed in 0..10 {
            let faults = Faults {
                repeat_batches: 300_000,
                repeat_acks: 300_000,
                repeat_control: 300_000,
                delay: ms(2),
                reorder,
                ..Faults::default()
            };
            let (topology, seen) = chain(NAMES, 6, END, config(6));
            let sim = Sim::new(cluster(3)).seed(seed).faults(faults);
            let outcome = sim.run(topology).unwrap();
            exactly_once(&seen, END);
            assert_eq!((outcome.report.replayed, outcome.report.acked), (0, END));
            assert!(outcome.faults.repeated_batches > 0 && outcome.faults.repeated_messages > 0);
            assert!(outcome.repeats >= outcome.faults.repeated_batches);
            assert!(outcome.peak_queue <= 4);
        }
    }
}

#[test]
fn chances_cease_when_they_are_said_to() {
    let run = |until| {
        let faults = Faults { lose_batches: 100_000, until, ..Faults::default() };
        let (topology, _) = chain(NAMES, 6, END, config(6));
        Sim::new(cluster(3)).faults(faults).run(topology).unwrap().faults.lost_batches
    };
    let (none, some, all) = (run(Some(us(0))), run(Some(ms(2))), run(None));
    assert!(none == 0 && 0 < some && some < all, "{none} {some} {all}");
}

/// Loss of a million in a million for a while: nothing gets through, then all does.
#[test]
fn a_network_that_loses_everything_for_a_while_delays_the_run() {
    let faults = Faults { lose_batches: 1_000_000, until: Some(ms(250)), ..Faults::default() };
    let (topology, seen) = chain(NAMES, 6, END, config(6));
    let outcome = Sim::new(cluster(3)).faults(faults).run(topology).unwrap();
    assert_eq!(seen.lock().unwrap().len() as u64, END);
    assert!(outcome.report.elapsed > ms(250));
}

/// Whole batches and acks go missing while a node is away; inits, verdicts and reports wait.
#[test]
fn an_unreachable_node_delays_and_loses_but_ends_well() {
    for node in 0..3 {
        let events = vec![
            Fault::at(us(600), Event::Unreachable { node, lasts: ms(30) }),
            Fault::at(ms(20), Event::Unreachable { node, lasts: ms(30) }),
            Fault::at(ms(60), Event::Unreachable { node: (node + 1) % 3, lasts: ms(5) }),
        ];
        let faults = Faults { events, ..Faults::default() };
        let (topology, seen) = chain(NAMES, 6, END, config(6));
        let outcome = Sim::new(cluster(3)).faults(faults).run(topology).unwrap();
        assert_eq!(seen.lock().unwrap().len() as u64, END);
        assert!(outcome.report.complete && outcome.report.elapsed > ms(50));
        assert!(outcome.faults.lost_messages + outcome.faults.lost_batches > 0);
    }
}

#[test]
fn a_drain_and_a_stop_come_when_they_are_said_to() {
    let (topology, _) = chain(NAMES, 6, 1_000_000, config(6));
    let outcome = Sim::new(cluster(3)).drain_at(ms(20)).run(topology).unwrap();
    let report = outcome.report;
    assert!(report.drained && !report.complete && report.acked == report.records);
    assert!(report.elapsed > ms(20) && report.elapsed < ms(60), "{:?}", report.elapsed);
    let (topology, _) = chain(NAMES, 6, 1_000_000, config(6));
    let outcome = Sim::new(cluster(3)).stop_at(ms(20)).run(topology).unwrap();
    let report = outcome.report;
    assert!(!report.drained && !report.complete && report.elapsed == ms(20));
    assert!(!report.unfinished.is_empty());
}
