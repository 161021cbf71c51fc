//! The same topology, scenario and seed give the same run.

use streamwright::sim::{Faults, Outcome, Sim};

use crate::common::{chain, cluster, config, exactly_once, figures, us};

const NAMES: [&str; 3] = ["a", "b", "c"];

fn faults() -> Faults {
    Faults {
        lose_tuples: 5_000,
        lose_batches: 5_000,
        repeat_batches: 50_000,
        stale_batches: 20_000,
        lose_acks: 20_000,
        repeat_acks: 50_000,
        lose_control: 20_000,
        repeat_control: 50_000,
        delay: us(300),
        reorder: true,
        ..Faults::default()
    }
}

fn run(names: [&str; 3], tasks: u32, seed: u64, faults: Faults) -> Outcome {
    let (topology, _) = chain(names, tasks, 2_000, config(6));
    Sim::new(cluster(3)).seed(seed).faults(faults).run(topology).unwrap()
}

#[test]
fn without_faults_all_arrives_exactly_once() {
    let (topology, seen) = chain(NAMES, 6, 2_000, config(6));
    let outcome = Sim::new(cluster(3)).run(topology).unwrap();
    exactly_once(&seen, 2_000);
    assert!(outcome.report.complete);
    assert_eq!((outcome.report.acked, outcome.report.replayed), (2_000, 0));
    assert_eq!((outcome.repeats, outcome.spins), (0, 0));
    for worker in &outcome.report.workers {
        assert!(worker.busy + worker.idle + worker.blocked >= outcome.report.elapsed);
    }
}

#[test]
fn a_run_repeats_whatever_its_names_and_faults() {
    for tasks in [1, 64] {
        for faults in [Faults::default(), faults()] {
            let once = figures(&run(NAMES, tasks, 7, faults.clone()));
            assert_eq!(once, figures(&run(NAMES, tasks, 7, faults.clone())));
            assert_eq!(once, figures(&run(["alpha", "beta", "gamma"], tasks, 7, faults)));
        }
    }
}

/// The same on every platform, in debug and in release: a change of this number is a change of what
/// the engine or the simulator does, and is to be made knowingly.
#[test]
fn the_trace_of_one_scenario_is_known() {
    let outcome = run(NAMES, 6, 7, faults());
    assert_eq!((outcome.events, outcome.trace), (46_694, 18_182_452_424_849_028_821));
}
