//! Crashes, and nodes that nobody reaches: the topology goes on, in its next life where it must.

use std::sync::{Arc, Mutex};

use streamwright::sim::{Cause, Cluster, Cost, Event, Fault, Faults, Link, Outcome, Sim, SimError};
use streamwright::{
    Bolt, BoxError, Config, Emitter, Epoch, EpochEnd, Execute, Grouping, Nanos, Poll, Seek, Spout,
    SpoutEmitter, Topology, Watermark,
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
    let slow = Cost::tuple(us(100));
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

/// Notes when tuples come and when it fails: in `close`, once, if it is to.
struct Fragile {
    came: Arc<Mutex<Vec<Nanos>>>,
    fails: Arc<Mutex<Option<Epoch>>>,
}

impl Bolt for Fragile {
    type Out = ();

    fn close(
        &mut self,
        epoch: Epoch,
        _: Watermark,
        out: &mut Emitter<'_, ()>,
    ) -> Result<(), BoxError> {
        if self.fails.lock().unwrap().take_if(|at| *at == epoch).is_none() {
            return Ok(());
        }
        *self.came.lock().unwrap() = vec![out.now()];
        Err("once".into())
    }
}

impl Execute<Vec<u64>> for Fragile {
    fn execute(&mut self, _: &u64, out: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
        self.came.lock().unwrap().push(out.now());
        Ok(())
    }
}

/// One spout on node 0, one fragile bolt on node 1, a millisecond apart.
fn fragile(fails: Option<Epoch>, faults: Faults) -> (Outcome, Vec<Nanos>) {
    let (came, fails) = (Arc::default(), Arc::new(Mutex::new(fails)));
    let mut builder = Topology::builder();
    let from = builder
        .spout("from", 1, |_| Ok(Steady { next: 0, step: 1, end: 40, sought: Arc::default() }));
    let to = Arc::clone(&came);
    builder
        .bolt("to", 1, move |_| Ok(Fragile { came: Arc::clone(&to), fails: Arc::clone(&fails) }))
        .input(from, Grouping::whole())
        .done();
    let mut config = config(2);
    config.restarts = 10;
    (config.batch, config.epoch) = (1, EpochEnd::Records(5));
    let sim = Sim::new(Cluster::uniform(2, 1, Link::new(ms(1), u64::MAX)));
    let sim = sim.faults(faults).cost("from", Cost::tuple(ms(10)));
    let outcome = sim.run(builder.build(config).unwrap()).unwrap();
    let came = came.lock().unwrap().clone();
    (outcome, came)
}

/// A worker that fails tells so, after its reports: what it had closed before is not done again.
#[test]
fn a_failure_travels_behind_the_reports_before_it() {
    let (outcome, came) = fragile(Some(3), Faults::default());
    let [crash] = &outcome.report.crashes[..] else { panic!("{:?}", outcome.report.crashes) };
    assert!(crash.at.as_nanos() >= u128::from(came[0]) + 1_000_000, "{crash:?} {}", came[0]);
    assert_eq!((crash.resumed, crash.lost.clone()), (3, 0..3));
}

/// What a step had yet to send as its node crashed is not sent; until the crash is noticed, the other
/// node hears nothing.
#[test]
fn a_crash_in_a_step_recalls_what_would_leave_later() {
    for detection in [ms(0), ms(400)] {
        let events = vec![Fault::at(ms(25), Event::Crash { node: 0 })];
        let faults = Faults { events, detection, ..Faults::default() };
        let (outcome, came) = fragile(None, faults);
        assert_eq!(outcome.report.crashes.len(), 1);
        assert_eq!(outcome.report.crashes[0].at, ms(25) + detection);
        let between = 27_000_000..u64::try_from((ms(33) + detection).as_nanos()).unwrap();
        assert!(came.iter().all(|at| !between.contains(at)), "{came:?}");
        assert!(came.iter().any(|&at| at < between.start) && came.len() >= 40);
    }
}

/// Node 1 is given up and comes back with nothing to do: as node 2 is given up, it takes its worker.
#[test]
fn a_node_that_came_back_empty_takes_workers_again() {
    let away = |at, node, lasts| Fault::at(at, Event::Unreachable { node, lasts });
    let events = vec![away(ms(1), 1, ms(20)), away(ms(40), 2, ms(900))];
    let faults = Faults { events, unreachable_after: Some(ms(5)), ..Faults::default() };
    let mut config = config(3);
    config.restarts = 10;
    let (topology, seen, _) = steady(config);
    let slow = Cost::tuple(us(200));
    let sim = Sim::new(cluster(3)).workers_on(vec![0, 1, 1]).faults(faults);
    let outcome = sim.cost("to", slow).cost("pass", slow).run(topology).unwrap();
    all_came(&seen);
    assert_eq!(outcome.report.crashes.len(), 2);
    assert!(outcome.nodes[1].busy > ms(100), "{:?}", outcome.nodes);
}

/// Given up while no other node can be reached, its workers go elsewhere as soon as one is back.
#[test]
fn a_node_given_up_while_none_is_reachable_is_given_up_again() {
    let hour = ms(3_600_000);
    for lasts in [4, 20, 300] {
        let gone = |node, lasts| Fault::at(us(300), Event::Unreachable { node, lasts });
        let faults = Faults {
            unreachable_after: Some(ms(5)),
            events: vec![gone(0, 1000 * hour), gone(1, ms(lasts))],
            ..Faults::default()
        };
        let mut config = config(2);
        config.epoch = EpochEnd::Records(200);
        let (topology, seen, _) = steady(config);
        let sim = Sim::new(cluster(2)).faults(faults).until(hour / 10);
        let outcome = sim.run(topology).unwrap_or_else(|error| panic!("{lasts}: {error}"));
        assert!(outcome.report.complete, "{lasts}");
        assert_eq!(outcome.report.crashes.len(), 1, "{lasts}");
        all_came(&seen);
    }
}
