//! Properties in the sim where nodes crash, are given up, or bolts panic: the topology goes on in a
//! new incarnation, without what its bolts had gathered.

use std::collections::BTreeSet;
use std::ops::Range;

use proptest::option;
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestCaseResult};
use streamwright::sim::{Faults, Outcome};
use streamwright::{Epoch, Guarantee};

use crate::book::Book;
use crate::build::build;
use crate::case::Case;
use crate::checks::no_epoch_closes_early;
use crate::graph::{LARGE, case};
use crate::on_sim::hasty;
use crate::runner::prove;
use crate::truth::{Bag, Truth};
use crate::world::{World, crashes, within, world};

/// Cases of which some have a bolt that panics in `close`.
fn broken() -> impl Strategy<Value = Case> {
    (case(LARGE), option::of((0..6_usize, 0..6_u64))).prop_map(|(case, at)| match at {
        Some((bolt, epoch)) => case.breaking(bolt, epoch),
        None => case,
    })
}

pub fn outcome(
    (case, world): (&Case, &World),
    guarantee: Guarantee,
    faults: Faults,
) -> Result<(Book, Outcome), TestCaseError> {
    let book = Book::new(case);
    let mut config = hasty(case, guarantee, 200);
    config.restarts = 1000;
    let sim = world.sim(case, within(faults, world));
    let outcome = sim
        .run(build(case, &book, config))
        .map_err(|error| TestCaseError::fail(error.to_string()))?;
    no_epoch_closes_early(&book)?;
    prop_assert_eq!(book.last(), outcome.report.crashes.len() as u64);
    Ok((book, outcome))
}

/// The epochs of each incarnation that were done, and not again by a later one: those lost with its
/// bolts are named; of the last one all.
fn done(outcome: &Outcome) -> Vec<(u64, Range<Epoch>)> {
    let named = outcome.report.crashes.iter().map(|crash| (crash.incarnation, crash.lost.clone()));
    let first = outcome.report.crashes.last().map_or(0, |crash| crash.resumed);
    named.chain([(outcome.report.crashes.len() as u64, first..Epoch::MAX)]).collect()
}

fn roots(book: &Book, incarnation: u64, epochs: &Range<Epoch>) -> BTreeSet<u64> {
    let roots = book.roots_of(incarnation).into_iter();
    roots.filter(|(_, epoch)| epochs.contains(epoch)).map(|(root, _)| root).collect()
}

/// Every record is of exactly one epoch that is done: of one whose loss is named, or of the last
/// incarnation, whose bolts have it in their state.
pub fn lost_epochs_are_named(case: &Case, book: &Book, outcome: &Outcome) -> TestCaseResult {
    let mut all = BTreeSet::new();
    for (incarnation, epochs) in done(outcome) {
        for root in roots(book, incarnation, &epochs) {
            let often = || (0..=book.last()).map(|i| (i, book.roots_of(i).get(&root).copied()));
            prop_assert!(
                all.insert(root),
                "{} is done twice: {:?} of {:?}",
                root,
                often().collect::<Vec<_>>(),
                outcome.report.crashes
            );
        }
    }
    let count: u64 = case.spouts.iter().map(|s| u64::from(s.tasks) * s.records.len() as u64).sum();
    prop_assert_eq!(all.len() as u64, count, "{:?}", outcome.report.crashes);
    Ok(())
}

/// What each incarnation said of the epochs that it finished compares to the truth of their
/// records, and so does the last one's state.
pub fn every_epoch_that_is_done(
    (case, book, outcome): (&Case, &Book, &Outcome),
    compares: fn(&Bag, &Bag) -> bool,
) -> TestCaseResult {
    for (incarnation, epochs) in done(outcome) {
        let emitted = roots(book, incarnation, &epochs);
        let truth = Truth::of_roots(case, |root| emitted.contains(&root));
        for (node, bolt) in case.bolts().filter(|(_, bolt)| bolt.kind.stateful()) {
            let totals = book.totals_of(node, incarnation, epochs.clone());
            let what = (node, incarnation, &epochs, bolt.kind);
            prop_assert!(compares(&totals, &truth.closed[&node]), "{:?}: {:?}", what, totals);
            if incarnation == book.last() {
                let state = book.state(node);
                prop_assert!(compares(&state, &truth.taken[&node]), "{:?}: {:?}", what, state);
            }
        }
    }
    Ok(())
}

/// At least once: from the resumed position on nothing is forgotten.
#[test]
fn crash_at_least_once_forgets_nothing_from_the_resumed_position_on() {
    prove(300, &(broken(), world(), crashes()), |(case, world, faults)| {
        let case = case.without_poison();
        let (book, outcome) = outcome((&case, &world), Guarantee::AtLeastOnce, faults)?;
        lost_epochs_are_named(&case, &book, &outcome)?;
        every_epoch_that_is_done((&case, &book, &outcome), |got, truth| {
            truth.iter().all(|(id, weight)| got.get(id).is_some_and(|got| got >= weight))
        })
    });
}

/// Exactly once: the totals of each epoch that was finished are the truth of its records. Panics of
/// bolts with state are crashes, too.
#[test]
fn crash_exactly_once_totals_of_epochs_are_the_truth() {
    prove(400, &(broken(), world(), crashes()), |(case, world, faults)| {
        let case = case.without_poison().exactly_once();
        let (book, outcome) = outcome((&case, &world), Guarantee::ExactlyOnce, faults)?;
        lost_epochs_are_named(&case, &book, &outcome)?;
        every_epoch_that_is_done((&case, &book, &outcome), |got, truth| got == truth)
    });
}

/// At most once: the spouts go onward, and nothing comes twice, in all incarnations together; nor on
/// nodes that are given up.
#[test]
fn crash_at_most_once_nothing_comes_twice() {
    prove(300, &(broken(), world(), crashes()), |(case, world, faults)| {
        let (book, outcome) = outcome((&case, &world), Guarantee::AtMostOnce, faults)?;
        let mut all = BTreeSet::new();
        for incarnation in 0..=outcome.report.crashes.len() as u64 {
            for root in book.roots_of(incarnation).into_keys() {
                prop_assert!(all.insert(root), "{} was emitted twice", root);
            }
        }
        let truth = Truth::of_roots(&case, |root| all.contains(&root));
        for (node, _) in case.bolts() {
            for (id, came) in book.state_of_all(node) {
                let once = truth.taken[&node].get(&id).copied().unwrap_or(0);
                prop_assert!(
                    came <= once,
                    "{:?} came {} times to {}, not {}",
                    id,
                    came,
                    node,
                    once
                );
            }
        }
        Ok(())
    });
}

/// A run with crashes is a function of its seeds, too.
#[test]
fn crash_the_same_seed_leaves_the_same_trace() {
    prove(100, &(broken(), world(), crashes()), |(case, world, faults)| {
        let case = case.without_poison().exactly_once();
        let run = || outcome((&case, &world), Guarantee::ExactlyOnce, faults.clone());
        let ((_, one), (_, two)) = (run()?, run()?);
        prop_assert_eq!((one.trace, one.events), (two.trace, two.events));
        prop_assert_eq!(one.report.crashes, two.report.crashes);
        Ok(())
    });
}
