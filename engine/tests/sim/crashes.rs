//! Crashes, and nodes that nobody reaches: the topology goes on, in its next life where it must.

use std::sync::{Arc, Mutex};

use streamwright::sim::{Cause, Event, Fault, Faults, Outcome, Sim, SimError};
use streamwright::{
    BoxError, Config, EpochEnd, Grouping, Poll, Seek, Spout, SpoutEmitter, Topology,
};

use crate::common::{Counting, Pass, Seen, chain, cluster, config, figures, ms, us};

/// Emits the numbers of its task below `end`, and can go back.
struct Steady {
    next: u64,
    step: u64,
    end: u64,
    sought: Arc<Mutex<u32>>,
}

impl Spout for Steady {
    type Out = Vec<u64>;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Vec<u64>>) -> Result<Poll, BoxError> {
        if self.next >= self.end {
            return Ok(Poll::End);
        }
        out.emit(self.next);
        self.next += self.step;
        Ok(Poll::More)
    }

    fn position(&self) -> Option<Vec<u8>> {
        Some(self.next.to_le_bytes().to_vec())
    }

    fn seek(&mut self, to: Seek<'_>) -> Result<(), BoxError> {
        if let Seek::To(position) = to {
            self.next = u64::from_le_bytes(position.try_into()?);
        }
        *self.sought.lock().unwrap() += 1;
        Ok(())
    }
}

const END: u64 = 3_000;

fn steady(config: Config) -> (Topology, Seen, Arc<Mutex<u32>>) {
    let (seen, sought) = (Seen::default(), Arc::new(Mutex::new(0)));
    let mut builder = Topology::builder();
    let s = Arc::clone(&sought);
    let from = builder.spout("from", 3, move |task| {
        let (next, step) = (u64::from(task.index()), u64::from(task.tasks()));
        Ok(Steady { next, step, end: END, sought: Arc::clone(&s) })
    });
    let passed = builder.bolt("pass", 3, |_| Ok(Pass)).input(from, Grouping::shuffle()).done();
    let to = Arc::clone(&seen);
    builder
        .bolt("to", 3, move |_| Ok(Counting(Arc::clone(&to))))
        .input(passed, Grouping::whole())
        .done();
    (builder.build(config).unwrap(), seen, sought)
}

fn run(faults: Faults) -> (Outcome, Seen, u32) {
    let mut config = config(6);
    config.restarts = 1000;
    config.epoch = EpochEnd::Records(200);
    let (topology, seen, sought) = steady(config);
    let outcome = Sim::new(cluster(3)).faults(faults).run(topology).unwrap();
    let sought = *sought.lock().unwrap();
    (outcome, seen, sought)
}

fn all_came(seen: &Seen) {
    let seen = seen.lock().unwrap();
    assert!((0..END).all(|n| seen.contains_key(&n)));
}

#[test]
fn after_a_crash_all_comes_again_from_the_last_closed_epoch() {
    let whole = run(Faults::default()).0.report.elapsed;
    let mut resumed = Vec::new();
    for eighth in 1..8 {
        let crash = Event::Crash { node: eighth as usize % 3 };
        let events = vec![Fault::at(whole * eighth / 8, crash)];
        let (outcome, seen, sought) = run(Faults { events, ..Faults::default() });
        all_came(&seen);
        assert!(outcome.report.complete);
        assert_eq!((outcome.report.crashes.len(), sought), (1, 3));
        let crash = &outcome.report.crashes[0];
        assert_eq!(crash.at, whole * eighth / 8 + Faults::default().detection);
        resumed.push(crash.resumed);
    }
    // The later the crash, the less is done again.
    assert!(resumed.is_sorted() && resumed[0] < resumed[6], "{resumed:?}");
}

/// Crashes as fast as they come, in the middle of restarts, with loss and repeats and all.
#[test]
fn many_crashes_under_loss_repeats_and_stale_copies_lose_nothing() {
    for seed in 0..40 {
        let events = (1..=6)
            .map(|i| {
                let at = us(i * (900 + 37 * seed));
                Fault::at(at, Event::Crash { node: (i + seed) as usize % 3 })
            })
            .collect();
        let faults = Faults {
            lose_batches: 20_000,
            lose_tuples: 5_000,
            repeat_batches: 100_000,
            stale_batches: 100_000,
            lose_acks: 20_000,
            repeat_acks: 100_000,
            lose_control: 50_000,
            repeat_control: 100_000,
            delay: us(200),
            reorder: seed % 2 == 0,
            events,
            ..Faults::default()
        };
        let (outcome, seen, _) = run(faults);
        all_came(&seen);
        assert_eq!(outcome.report.crashes.len(), 6);
        assert!(
            outcome.report.complete,
            "{seed} {:?} {:?}",
            outcome.report.elapsed, outcome.report.crashes
        );
        assert!(outcome.peak_queue <= 4, "{}", outcome.peak_queue);
        assert_eq!(outcome.spins, 0);
    }
}

#[test]
fn a_node_that_comes_back_goes_on_with_what_it_had() {
    let lasts = ms(400);
    let events = vec![Fault::at(ms(1), Event::Unreachable { node: 1, lasts })];
    let (outcome, seen, sought) = run(Faults { events, ..Faults::default() });
    all_came(&seen);
    assert!(outcome.report.complete && outcome.report.elapsed > lasts);
    assert!(outcome.report.crashes.is_empty() && sought == 0);
    assert!(outcome.faults.lost_batches > 0 && outcome.report.replayed > 0);
}

/// Its workers begin anew elsewhere, long before it is back; what they still have to say when it
/// is back is dropped.
#[test]
fn a_node_unreachable_for_too_long_is_replaced() {
    let lasts = ms(50);
    let events = vec![Fault::at(ms(1), Event::Unreachable { node: 1, lasts })];
    let unreachable_after = Some(ms(5));
    let faults = Faults { events, unreachable_after, ..Faults::default() };
    let (outcome, seen, sought) = run(faults.clone());
    all_came(&seen);
    assert!(outcome.report.complete && outcome.report.elapsed < lasts);
    assert_eq!((outcome.report.crashes.len(), sought), (1, 3));
    // The same, slow enough that the old ones are back before the end.
    let mut config = config(6);
    config.restarts = 9;
    let (topology, seen, _) = steady(config);
    let slow = streamwright::sim::Cost::tuple(us(100));
    let sim = Sim::new(cluster(3)).faults(faults).cost("to", slow).cost("pass", slow);
    let outcome = sim.run(topology).unwrap();
    all_came(&seen);
    assert!(outcome.report.complete && outcome.report.elapsed > lasts);
    assert_eq!(outcome.report.crashes.len(), 1);
    assert!(outcome.repeats > 0);
}

#[test]
fn without_a_way_back_a_crash_ends_the_run_and_names_node_and_seed() {
    let (topology, _) = chain(["a", "b", "c"], 3, END, config(6));
    let events = vec![Fault::at(ms(1), Event::Crash { node: 2 })];
    let sim = Sim::new(cluster(3)).seed(77).faults(Faults { events, ..Faults::default() });
    let error = sim.run(topology).unwrap_err();
    let crashed = SimError::Crashed { node: 2, cause: Cause::Scenario, at: ms(1), seed: 77 };
    assert_eq!(error, crashed);
    assert!(error.to_string().ends_with("seed 77)"), "{error}");
}

#[test]
fn a_node_over_its_memory_crashes() {
    let mut cluster = cluster(3);
    cluster.nodes[1].memory = 200;
    let (topology, _) = chain(["a", "b", "c"], 3, END, config(6));
    let error = Sim::new(cluster).run(topology).unwrap_err();
    let SimError::Crashed { node: 1, cause: Cause::Memory { bytes, memory: 200 }, .. } = error
    else {
        panic!("{error}");
    };
    assert!(bytes > 200);
}

#[test]
fn a_run_with_crashes_repeats() {
    let events = vec![
        Fault::at(us(1500), Event::Crash { node: 0 }),
        Fault::at(ms(2), Event::Unreachable { node: 2, lasts: ms(30) }),
    ];
    let unreachable_after = Some(ms(3));
    let faults = Faults { events, unreachable_after, delay: us(50), ..Faults::default() };
    assert_eq!(figures(&run(faults.clone()).0), figures(&run(faults).0));
}
