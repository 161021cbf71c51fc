//! Properties in the sim: the whole range of cases, and faults.

use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestCaseResult};
use streamwright::sim::{Faults, Outcome, SimError};
use streamwright::{Config, Exhausted, Guarantee, RunError};

use crate::book::Book;
use crate::build::build;
use crate::case::Case;
use crate::checks::*;
use crate::graph::{LARGE, case};
use crate::runner::prove;
use crate::truth::Truth;
use crate::world::{World, faults, ms, repeats, us, within, world};

/// Runs a case, perhaps with a drain, and checks what holds of every run.
pub fn outcome(
    (case, world): (&Case, &World),
    config: Config,
    faults: Faults,
    drain_at: Option<Duration>,
) -> Result<(Book, Outcome), TestCaseError> {
    let book = Book::new(case);
    let topology = build(case, &book, config);
    let mut sim = world.sim(case, within(faults, world));
    if let Some(at) = drain_at {
        sim = sim.drain_at(at);
    }
    let outcome = sim.run(topology).map_err(|error| TestCaseError::fail(error.to_string()))?;
    no_epoch_closes_early(&book)?;
    the_ledger_balances(&outcome.report)?;
    prop_assert_eq!(outcome.spins, 0);
    prop_assert!(outcome.peak_queue <= case.settings.queue);
    if drain_at.is_none() {
        all_was_emitted(case, &book, &outcome.report)?;
    }
    Ok((book, outcome))
}

/// Settings for runs that lose something: short time-outs.
pub fn hasty(case: &Case, guarantee: Guarantee, attempts: u32) -> Config {
    let mut config = case.settings.config(guarantee);
    config.timeout = ms(60);
    config.attempts = attempts;
    config
}

/// Attempts where no root is to be given up: one may lead to a hundred tuples, which all have to come
/// through in one attempt where a tuple in thirty is lost.
pub const PATIENT: u32 = 5_000;

/// All is as it is true, and nothing was begun twice.
pub fn untroubled(
    (case, world): (&Case, &World),
    guarantee: Guarantee,
    faults: Faults,
) -> TestCaseResult {
    let config = case.settings.config(guarantee);
    let (book, outcome) = outcome((case, world), config, faults, None)?;
    the_state_is_the_truth(case, &book, &Truth::of(case))?;
    nothing_is_replayed(&outcome.report)?;
    if guarantee != Guarantee::AtMostOnce {
        every_root_has_one_verdict(case, &book, &outcome.report)?;
    }
    Ok(())
}

#[test]
fn sim_without_faults_all_arrives_exactly_once() {
    prove(400, &(case(LARGE), world()), |(case, world)| {
        let case = case.without_failures();
        untroubled((&case, &world), Guarantee::AtMostOnce, Faults::default())?;
        untroubled((&case, &world), Guarantee::AtLeastOnce, Faults::default())?;
        let case = case.exactly_once().without_crashes();
        untroubled((&case, &world), Guarantee::ExactlyOnce, Faults::default())
    });
}

#[test]
fn sim_no_deadlock_at_capacity_one() {
    prove(300, &(case(LARGE), world()), |(case, world)| {
        let mut case = case.without_failures();
        case.settings.narrow();
        untroubled((&case, &world), Guarantee::AtLeastOnce, Faults::default())?;
        let case = case.exactly_once().without_crashes();
        untroubled((&case, &world), Guarantee::ExactlyOnce, Faults::default())
    });
}

/// What comes twice, late or out of order is not lost: nothing has to be begun again.
#[test]
fn sim_duplicates_alone_cause_no_replay() {
    prove(300, &(case(LARGE), world(), repeats()), |(case, world, faults)| {
        let case = case.without_failures();
        untroubled((&case, &world), Guarantee::AtMostOnce, faults.clone())?;
        untroubled((&case, &world), Guarantee::AtLeastOnce, faults.clone())?;
        let case = case.exactly_once().without_crashes();
        untroubled((&case, &world), Guarantee::ExactlyOnce, faults)
    });
}

#[test]
fn sim_at_most_once_under_faults() {
    prove(1000, &(case(LARGE), world(), faults()), |(case, world, faults)| {
        let config = hasty(&case, Guarantee::AtMostOnce, 1);
        let (book, outcome) = outcome((&case, &world), config, faults, None)?;
        nothing_comes_twice(&case, &book)?;
        nothing_is_replayed(&outcome.report)
    });
}

#[test]
fn sim_at_least_once_under_faults() {
    let cases = (case(LARGE), world(), faults(), prop_oneof![Just(3_u32), Just(100)]);
    prove(1000, &cases, |(case, world, faults, attempts)| {
        let config = hasty(&case, Guarantee::AtLeastOnce, attempts);
        let (book, outcome) = outcome((&case, &world), config, faults, None)?;
        every_root_has_one_verdict(&case, &book, &outcome.report)?;
        nothing_is_forgotten(&case, &book, &outcome.report)?;
        excess_is_of_replayed_roots(&case, &book, &outcome.report)
    });
}

#[test]
fn sim_exactly_once_under_faults_is_the_truth() {
    prove(1000, &(case(LARGE), world(), faults()), |(case, world, faults)| {
        let case = case.without_poison().exactly_once().without_crashes();
        let config = hasty(&case, Guarantee::ExactlyOnce, PATIENT);
        let (book, outcome) = outcome((&case, &world), config, faults, None)?;
        every_root_has_one_verdict(&case, &book, &outcome.report)?;
        what_has_state_is_the_truth(&case, &book, &Truth::of(&case))?;
        prop_assert_eq!(outcome.report.dead, 0);
        nothing_is_forgotten(&case, &book, &outcome.report)
    });
}

/// A root that is given up is listed, and only its own tuples may be missing.
#[test]
fn sim_exactly_once_lists_the_roots_that_it_skips() {
    let cases = (case(LARGE), world(), faults(), 3..10_u32);
    prove(300, &cases, |(case, world, faults, attempts)| {
        let case = case.exactly_once().without_crashes();
        let mut config = hasty(&case, Guarantee::ExactlyOnce, attempts);
        config.exhausted = Exhausted::Skip;
        let (book, outcome) = outcome((&case, &world), config, faults, None)?;
        every_root_has_one_verdict(&case, &book, &outcome.report)?;
        nothing_is_forgotten(&case, &book, &outcome.report)?;
        what_has_state_is_not_above_the_truth(&case, &book)
    });
}

/// A root that is given up ends the run by name, where nothing else is said.
#[test]
fn sim_exactly_once_stops_where_a_root_is_given_up() {
    prove(256, &(case(LARGE), world(), faults()), |(case, world, faults)| {
        let case = case.exactly_once().without_crashes();
        let (book, config) = (Book::new(&case), hasty(&case, Guarantee::ExactlyOnce, 12));
        let sim = world.sim(&case, within(faults, &world));
        match sim.run(build(&case, &book, config)) {
            Ok(outcome) => {
                prop_assert_eq!(outcome.report.dead, 0);
                what_has_state_is_the_truth(&case, &book, &Truth::of(&case))
            }
            Err(SimError::Run { error: RunError::Exhausted { attempts, .. }, .. }) => {
                prop_assert_eq!(attempts, 12);
                no_epoch_closes_early(&book)
            }
            Err(error) => Err(TestCaseError::fail(error.to_string())),
        }
    });
}

/// The checking mode makes one more attempt of every root, and the state is still the truth.
#[test]
fn sim_the_checking_mode_finds_no_fault_with_functions() {
    prove(256, &(case(LARGE), world(), faults()), |(case, world, faults)| {
        let case = case.without_poison().exactly_once().without_crashes();
        let mut config = hasty(&case, Guarantee::ExactlyOnce, PATIENT);
        config.check_ppm = 1_000_000;
        let (book, outcome) = outcome((&case, &world), config, faults, None)?;
        every_root_has_one_verdict(&case, &book, &outcome.report)?;
        what_has_state_is_the_truth(&case, &book, &Truth::of(&case))
    });
}

/// A drain at any time: what was emitted is finished, nothing is emitted after, the run ends.
#[test]
fn sim_a_drain_at_any_time_finishes_what_was_begun() {
    let cases = (case(LARGE), world(), faults(), (0..20_000_u64).prop_map(us));
    prove(300, &cases, |(case, world, faults, at)| {
        let case = case.without_poison().exactly_once().without_crashes();
        let mut config = hasty(&case, Guarantee::ExactlyOnce, PATIENT);
        config.drain = Duration::from_secs(600);
        let (book, outcome) = outcome((&case, &world), config, faults, Some(at))?;
        every_root_has_one_verdict(&case, &book, &outcome.report)?;
        let emitted = book.roots();
        let truth = Truth::of_roots(&case, |root| emitted.contains(&root));
        what_has_state_is_the_truth(&case, &book, &truth)
    });
}

/// A run is a function of its seeds.
#[test]
fn sim_the_same_seed_leaves_the_same_trace() {
    prove(256, &(case(LARGE), world(), faults()), |(case, world, faults)| {
        let case = case.exactly_once().without_crashes();
        let run = |guarantee| {
            let mut config = hasty(&case, guarantee, 5);
            config.exhausted = Exhausted::Skip;
            let (_, outcome) = outcome((&case, &world), config, faults.clone(), None)?;
            Ok::<_, TestCaseError>((outcome.trace, outcome.events, outcome.report.elapsed))
        };
        for guarantee in [Guarantee::AtMostOnce, Guarantee::AtLeastOnce, Guarantee::ExactlyOnce] {
            prop_assert_eq!(run(guarantee)?, run(guarantee)?);
        }
        Ok(())
    });
}
