//! Traces that broke earlier readings of the protocol (its section 10), each by hand: the least
//! topology that shows it, in the sim, over many seeds.

use std::time::Duration;

use proptest::test_runner::TestCaseError;
use streamwright::sim::{Event, Fault, Faults, Outcome};
use streamwright::{Config, Guarantee};

use crate::book::Book;
use crate::case::{BoltCase, Case, Ends, Fails, How, Kind, Record, Settings, SpoutCase};
use crate::checks::*;
use crate::on_crashes;
use crate::on_sim;
use crate::truth::Truth;
use crate::world::{NodeCase, World, ms, us};

fn spout(tasks: u32, records: u64) -> SpoutCase {
    let record = |i| Record { key: i % 5, gap: 0, time: 0, mark: false };
    SpoutCase { tasks, records: (0..records).map(record).collect() }
}

fn bolt(tasks: u32, kind: Kind, inputs: &[(usize, How)]) -> BoltCase {
    BoltCase { tasks, kind, inputs: inputs.to_vec(), fails: None, defers: None, breaks_at: None }
}

const MAP: Kind = Kind::Map { copies: 1, skip: None };
const TWICE: Kind = Kind::Map { copies: 2, skip: None };

fn failing(bolt: BoltCase, one_in: u64, times: u32) -> BoltCase {
    BoltCase { fails: Some(Fails { one_in, times: Some(times), panic: false }), ..bolt }
}

/// Three workers on three nodes, everything small; epochs of five records.
fn topology(spouts: Vec<SpoutCase>, bolts: Vec<BoltCase>) -> Case {
    let settings = Settings {
        nodes: vec![0, 1, 2],
        ackers: 3,
        acker_changes: Vec::new(),
        queue: 2,
        batch: 3,
        window: 2,
        max_pending: 8,
        turn: 8,
        slot_bits: 4,
        linger: 1000,
        epoch: Ends::Records(5),
        seed: 0,
    };
    Case { spouts, bolts, settings }
}

fn nodes(seed: u64) -> World {
    let node = NodeCase { cores: 1, speed: 10 };
    World { nodes: vec![node; 3], link: (100, u64::MAX), costs: vec![1000], seed }
}

/// Seeds of each scenario, times `STREAMWRIGHT_CASES`.
fn each_seed(mut test: impl FnMut(u64) -> Result<(), TestCaseError>) {
    for seed in crate::runner::seeds(100) {
        if let Err(error) = test(seed) {
            panic!("{error}\nSTREAMWRIGHT_SEED={seed} repeats it");
        }
    }
}

type Run = Result<(Book, Outcome), TestCaseError>;

fn run(case: &Case, seed: u64, config: Config, faults: Faults) -> Run {
    on_sim::outcome((case, &nodes(seed)), config, faults, None)
}

fn late(delay: Duration) -> Faults {
    Faults { delay, reorder: true, ..Faults::default() }
}

/// The tracker waits for the init, which is sent until it arrives, however many acks come before.
#[test]
fn trace_init_lost_before_any_ack() {
    let case = topology(vec![spout(2, 15)], vec![bolt(3, Kind::Sink, &[(0, How::Shuffle)])]);
    each_seed(|seed| {
        let faults = Faults { lose_control: 400_000, ..late(ms(2)) };
        let config = case.settings.config(Guarantee::AtLeastOnce);
        let (book, outcome) = run(&case, seed, config, faults)?;
        every_root_has_one_verdict(&case, &book, &outcome.report)?;
        the_state_is_the_truth(&case, &book, &Truth::of(&case))?;
        nothing_is_replayed(&outcome.report)
    });
}

/// Every batch is sent twice, and half of the originals are lost: no epoch passes the copies.
#[test]
fn trace_a_copy_alive_while_the_original_is_counted_lost() {
    let bolts = vec![
        bolt(3, TWICE, &[(0, How::Shuffle)]),
        bolt(2, Kind::Window, &[(1, How::Fields)]),
        bolt(2, Kind::Sink, &[(2, How::Direct)]),
    ];
    let case = topology(vec![spout(2, 15)], bolts);
    each_seed(|seed| {
        let (repeat_batches, lose_batches) = (1_000_000, 500_000);
        let faults = Faults { repeat_batches, lose_batches, ..late(ms(5)) };
        let config = case.settings.config(Guarantee::AtMostOnce);
        let (book, outcome) = run(&case, seed, config, faults)?;
        assert!(outcome.faults.lost_batches > 0);
        the_state_is_the_truth(&case, &book, &Truth::of(&case))
    });
}

/// What `close` emitted is acked late or not at all and comes again: its epoch is held for it.
#[test]
fn trace_close_root_times_out_late_and_its_replay_finds_the_epoch_open() {
    let bolts = vec![
        bolt(2, Kind::Window, &[(0, How::Fields)]),
        bolt(2, MAP, &[(1, How::Shuffle)]),
        bolt(2, Kind::Sink, &[(2, How::Fields)]),
    ];
    let case = topology(vec![spout(2, 15)], bolts);
    let mut replays = 0;
    each_seed(|seed| {
        let mut config = case.settings.config(Guarantee::ExactlyOnce);
        config.timeout = ms(15);
        let faults = Faults { lose_acks: 200_000, ..late(ms(8)) };
        let (book, outcome) = run(&case, seed, config, faults)?;
        let of_close = outcome.report.tasks.iter().filter(|task| task.component == "bolt1");
        replays += of_close.map(|task| task.replayed).sum::<u64>();
        what_has_state_is_the_truth(&case, &book, &Truth::of(&case))
    });
    assert!(replays > 0);
}

/// Totals of five keys hang from one root; one of them fails, and then each is a root of its own:
/// with the same lineages, so those that had arrived count once.
#[test]
fn trace_split_close_roots_keep_their_lineage() {
    let bolts = vec![
        bolt(1, Kind::Window, &[(0, How::Fields)]),
        failing(bolt(3, Kind::Sink, &[(1, How::Fields)]), 2, 2),
        failing(bolt(3, Kind::Sink, &[(1, How::Shuffle)]), 3, 2),
    ];
    let case = topology(vec![spout(1, 40)], bolts);
    each_seed(|seed| {
        let mut config = case.settings.config(Guarantee::ExactlyOnce);
        config.timeout = ms(30);
        let faults = Faults { lose_tuples: 50_000, ..late(ms(1)) };
        let (book, outcome) = run(&case, seed, config, faults)?;
        assert!(outcome.report.seen.repeats > 0);
        what_has_state_is_the_truth(&case, &book, &Truth::of(&case))
    });
}

/// Each tuple fails twice at a keyed bolt, among others that are done: an error leaves the state
/// as it was, and the tuple is not seen.
#[test]
fn trace_error_at_a_bolt_with_state_under_exactly_once() {
    let bolts = vec![
        bolt(2, TWICE, &[(0, How::Shuffle)]),
        failing(bolt(2, Kind::Window, &[(1, How::Fields)]), 1, 2),
    ];
    let case = topology(vec![spout(2, 15)], bolts);
    each_seed(|seed| {
        let mut config = case.settings.config(Guarantee::ExactlyOnce);
        config.timeout = ms(60);
        let faults = Faults { repeat_batches: 300_000, lose_acks: 100_000, ..late(ms(1)) };
        let (book, outcome) = run(&case, seed, config, faults)?;
        assert!(outcome.report.replayed >= 60);
        what_has_state_is_the_truth(&case, &book, &Truth::of(&case))
    });
}

/// One root comes by two components that both emit their first item to the same key, and by one
/// stream twice: four tuples, in every attempt the same four.
#[test]
fn trace_one_root_by_two_components_and_two_inputs_to_the_same_key() {
    let bolts = vec![
        bolt(2, MAP, &[(0, How::Shuffle)]),
        bolt(2, MAP, &[(0, How::Local)]),
        bolt(3, Kind::Sink, &[(1, How::Fields), (2, How::Fields), (1, How::Fields)]),
    ];
    let case = topology(vec![spout(2, 15)], bolts);
    each_seed(|seed| {
        let mut config = case.settings.config(Guarantee::ExactlyOnce);
        config.timeout = ms(30);
        let faults = Faults { lose_tuples: 100_000, lose_acks: 100_000, ..late(ms(1)) };
        let (book, outcome) = run(&case, seed, config, faults)?;
        assert!(outcome.report.replayed > 0);
        what_has_state_is_the_truth(&case, &book, &Truth::of(&case))
    });
}

/// A replay by shuffle goes to the task that the first attempt went to.
#[test]
fn trace_replay_by_shuffle_finds_the_same_task_with_state() {
    let weights = How::Weighted(vec![1, 3, 0, 2]);
    let bolts = vec![
        bolt(3, MAP, &[(0, How::Shuffle)]),
        bolt(4, Kind::Sink, &[(1, How::Shuffle), (0, How::Local), (1, weights)]),
    ];
    let case = topology(vec![spout(2, 15)], bolts);
    each_seed(|seed| {
        let mut config = case.settings.config(Guarantee::ExactlyOnce);
        config.timeout = ms(20);
        let faults = Faults { lose_acks: 300_000, ..late(ms(1)) };
        let (book, outcome) = run(&case, seed, config, faults)?;
        assert!(outcome.report.seen.repeats > 0);
        what_has_state_is_the_truth(&case, &book, &Truth::of(&case))
    });
}

/// Without acks nothing waits for a verdict: what is under way as the end comes arrives all the
/// same, and every epoch is closed over it.
#[test]
fn trace_tuples_at_most_once_as_the_end_comes() {
    let bolts = vec![
        bolt(3, TWICE, &[(0, How::Shuffle)]),
        bolt(2, Kind::Window, &[(1, How::Fields)]),
        bolt(2, Kind::Sink, &[(2, How::Shuffle)]),
    ];
    let case = topology(vec![spout(2, 40)], bolts);
    each_seed(|seed| {
        let config = case.settings.config(Guarantee::AtMostOnce);
        let drain = Some(us(seed * 61 % 4000));
        let world = World { costs: vec![20_000], ..nodes(seed) };
        let (book, _) = on_sim::outcome((&case, &world), config, late(ms(2)), drain)?;
        let emitted = book.roots();
        let truth = Truth::of_roots(&case, |root| emitted.contains(&root));
        the_state_is_the_truth(&case, &book, &truth)
    });
}

/// Acks come twice and late, after the verdict that a failure brought: they open nothing anew.
#[test]
fn trace_late_delta_after_a_verdict() {
    let bolts = vec![
        bolt(3, Kind::Map { copies: 3, skip: None }, &[(0, How::Shuffle)]),
        failing(bolt(3, Kind::Sink, &[(1, How::Shuffle)]), 2, 1),
    ];
    let case = topology(vec![spout(2, 15)], bolts);
    let mut came_late = 0;
    each_seed(|seed| {
        let faults = Faults { repeat_acks: 1_000_000, ..late(ms(6)) };
        let config = case.settings.config(Guarantee::AtLeastOnce);
        let (book, outcome) = run(&case, seed, config, faults)?;
        came_late += outcome.report.acker.late;
        every_root_has_one_verdict(&case, &book, &outcome.report)?;
        nothing_is_forgotten(&case, &book, &outcome.report)
    });
    assert!(came_late > 0);
}

/// A spout that has nothing for a long time holds no epoch up: the other one, which may be two
/// epochs ahead at most, has emitted all its forty records long before.
#[test]
fn trace_idle_spout() {
    let bolts = vec![bolt(2, Kind::Window, &[(0, How::Fields), (1, How::Fields)])];
    let mut case = topology(vec![spout(1, 40), spout(1, 1)], bolts);
    case.spouts[1].records[0].gap = 10_000_000;
    each_seed(|seed| {
        let config = case.settings.config(Guarantee::ExactlyOnce);
        let drain = Some(Duration::from_secs(5));
        let (book, outcome) = on_sim::outcome((&case, &nodes(seed)), config, late(ms(1)), drain)?;
        assert_eq!(outcome.report.records, 40);
        let emitted = book.roots();
        let truth = Truth::of_roots(&case, |root| emitted.contains(&root));
        what_has_state_is_the_truth(&case, &book, &truth)
    });
}

/// Every batch comes once more as of the life before.
#[test]
fn trace_stale_batch_of_an_old_incarnation() {
    let bolts = vec![
        bolt(3, TWICE, &[(0, How::Shuffle)]),
        bolt(2, Kind::Window, &[(1, How::Fields)]),
        bolt(2, Kind::Sink, &[(2, How::Fields)]),
    ];
    let case = topology(vec![spout(2, 40)], bolts);
    each_seed(|seed| {
        let crash = |at, node| Fault::at(us(at), Event::Crash { node });
        let events = vec![crash(1500 + seed * 7, 0), crash(4000 + seed * 31, 1)];
        let faults = Faults { stale_batches: 1_000_000, events, ..late(ms(1)) };
        let world = World { costs: vec![50_000], ..nodes(seed) };
        let guarantee = Guarantee::ExactlyOnce;
        let (book, outcome) = on_crashes::outcome((&case, &world), guarantee, faults)?;
        on_crashes::lost_epochs_are_named(&case, &book, &outcome)?;
        on_crashes::every_epoch_that_is_done((&case, &book, &outcome), |got, truth| got == truth)?;
        assert!(outcome.faults.stale_batches > 0);
        Ok(())
    });
}
