//! Properties on real threads.

use std::time::{Duration, Instant};

use proptest::test_runner::{TestCaseError, TestCaseResult};
use streamwright::{Config, Guarantee, Report, RunError, Stop, Topology, threads};

use crate::book::Book;
use crate::build::build;
use crate::case::Case;
use crate::checks::*;
use crate::graph::{SMALL, case};
use crate::runner::prove;
use crate::truth::Truth;

/// Longest time that a run may take: a case that hangs is to be shrunk like any other.
const PATIENCE: Duration = Duration::from_secs(20);

fn failed(error: RunError) -> TestCaseError {
    TestCaseError::fail(error.to_string())
}

/// Runs a topology to its end; asks it to drain after this time.
fn run(topology: Topology, drain_after: Option<Duration>) -> Result<Report, TestCaseError> {
    let handle = threads::start(topology, None).map_err(failed)?;
    if let Some(time) = drain_after {
        std::thread::sleep(time);
        handle.stopper().stop(Stop::Drain);
    }
    let start = Instant::now();
    while !handle.is_finished() {
        if start.elapsed() > PATIENCE {
            let status = handle.status();
            handle.stopper().stop(Stop::Now);
            return Err(TestCaseError::fail(format!("no end in {PATIENCE:?}: {status:?}")));
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    handle.wait().map_err(failed)
}

/// Runs a case, and checks what holds of every run.
fn outcome(case: &Case, config: Config) -> Result<(Book, Report), TestCaseError> {
    let book = Book::new(case);
    let report = run(build(case, &book, config), None)?;
    no_epoch_closes_early(&book)?;
    the_ledger_balances(&report)?;
    all_was_emitted(case, &book, &report)?;
    Ok((book, report))
}

fn without_faults(case: Case, guarantee: Guarantee) -> TestCaseResult {
    let case = case.without_failures();
    let (book, report) = outcome(&case, case.settings.config(guarantee))?;
    the_state_is_the_truth(&case, &book, &Truth::of(&case))?;
    nothing_is_replayed(&report)
}

#[test]
fn threads_without_faults_all_arrives_exactly_once() {
    prove(100, &case(SMALL), |case| {
        without_faults(case.clone(), Guarantee::AtMostOnce)?;
        without_faults(case.clone(), Guarantee::AtLeastOnce)?;
        without_faults(case.exactly_once().without_crashes(), Guarantee::ExactlyOnce)
    });
}

#[test]
fn threads_no_deadlock_at_capacity_one() {
    prove(60, &case(SMALL), |mut case| {
        case.settings.narrow();
        without_faults(case, Guarantee::AtLeastOnce)
    });
}

/// Errors and panics, some for ever; tuples that are lost on their way.
#[test]
fn threads_at_least_once_under_failures_and_loss() {
    prove(100, &case(SMALL), |case| {
        let mut config = case.settings.config(Guarantee::AtLeastOnce);
        config.attempts = 15;
        config.drop_ppm = 5_000;
        config.timeout = Duration::from_millis(50);
        let (book, report) = outcome(&case, config)?;
        every_root_has_one_verdict(&case, &book, &report)?;
        nothing_is_forgotten(&case, &book, &report)?;
        excess_is_of_replayed_roots(&case, &book, &report)
    });
}

#[test]
fn threads_at_most_once_under_failures_and_loss() {
    prove(60, &case(SMALL), |case| {
        let mut config = case.settings.config(Guarantee::AtMostOnce);
        config.drop_ppm = 50_000;
        let (book, _) = outcome(&case, config)?;
        nothing_comes_twice(&case, &book)
    });
}

/// What is lost comes again, and counts once.
#[test]
fn threads_exactly_once_under_failures_and_loss_is_the_truth() {
    prove(100, &case(SMALL), |case| {
        let case = case.without_poison().exactly_once().without_crashes();
        let mut config = case.settings.config(Guarantee::ExactlyOnce);
        config.drop_ppm = 5_000;
        config.timeout = Duration::from_millis(50);
        let (book, report) = outcome(&case, config)?;
        every_root_has_one_verdict(&case, &book, &report)?;
        what_has_state_is_the_truth(&case, &book, &Truth::of(&case))
    });
}

/// A drain at any time: what was emitted is finished, and the run ends.
#[test]
fn threads_a_drain_at_any_time_finishes_what_was_begun() {
    let cases = (case(SMALL), 0..3000_u64);
    prove(60, &cases, |(case, at)| {
        let case = case.without_failures();
        let book = Book::new(&case);
        let topology = build(&case, &book, case.settings.config(Guarantee::AtLeastOnce));
        let report = run(topology, Some(Duration::from_micros(at)))?;
        no_epoch_closes_early(&book)?;
        the_ledger_balances(&report)?;
        let emitted = book.roots();
        let truth = Truth::of_roots(&case, |root| emitted.contains(&root));
        the_state_is_the_truth(&case, &book, &truth)?;
        every_root_has_one_verdict(&case, &book, &report)?;
        nothing_is_replayed(&report)
    });
}
