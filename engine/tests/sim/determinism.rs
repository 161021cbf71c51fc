//! The same topology, scenario and seed give the same run.

use streamwright::sim::{Cost, Faults, Outcome, Sim};
use streamwright::{BoxError, Grouping, Guarantee, Poll, Spout, SpoutEmitter, Topology};

use crate::common::{Counting, Seen, chain, cluster, config, exactly_once, figures, ms, us};

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
    assert_eq!((outcome.events, outcome.trace), (47_355, 15_138_972_529_660_936_157));
}

struct Listed(Vec<u64>);

impl Spout for Listed {
    type Out = Vec<u64>;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Vec<u64>>) -> Result<Poll, BoxError> {
        let Some(n) = self.0.pop() else { return Ok(Poll::End) };
        out.emit(n);
        Ok(Poll::More)
    }
}

/// The trace of two numbers on their way to two tasks that take long, stopped before any verdict.
fn on_their_way(numbers: [u64; 2], guarantee: Guarantee) -> u64 {
    let mut builder = Topology::builder();
    let from = builder.spout("from", 1, move |_| Ok(Listed(numbers.to_vec())));
    let to = |_: &streamwright::TaskContext| Ok(Counting(Seen::default()));
    builder.bolt("to", 2, to).input(from, Grouping::whole()).done();
    let mut config = config(3);
    config.guarantee = guarantee;
    let sim = Sim::new(cluster(3)).cost("from", Cost::tuple(us(0)));
    let sim = sim.cost("to", Cost::tuple(ms(9_000))).stop_at(ms(50));
    sim.run(builder.build(config).unwrap()).unwrap().trace
}

/// Which of two roots goes where changes no time and no count, and yet the trace; untracked, it does
/// not.
#[test]
fn the_trace_tells_which_roots_a_batch_carries() {
    let differ = |guarantee| {
        let swapped =
            |n: &u64| on_their_way([0, *n], guarantee) != on_their_way([*n, 0], guarantee);
        (1..9).filter(swapped).count()
    };
    assert!(differ(Guarantee::AtLeastOnce) > 0);
    assert_eq!(differ(Guarantee::AtMostOnce), 0);
}
