//! Properties in the sim where ackers come and go at almost every epoch. (Elsewhere they do so now
//! and then: changes of the ring are among the settings of all cases.)

use std::cell::Cell;
use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use streamwright::Guarantee;
use streamwright::sim::Faults;

use crate::book::Book;
use crate::case::{Case, Ends};
use crate::checks::*;
use crate::graph::{LARGE, acker_changes, case};
use crate::on_crashes::{self, every_epoch_that_is_done, lost_epochs_are_named};
use crate::on_sim::{PATIENT, hasty, outcome, untroubled};
use crate::runner::{prove, seeds};
use crate::truth::Truth;
use crate::world::{crashes, faults, repeats, world};

/// Cases of at least two workers, of short epochs, whose ring changes at every epoch or so.
fn restless() -> impl Strategy<Value = Case> {
    (case(LARGE), acker_changes(2, 40)).prop_map(|(mut case, changes)| {
        if case.settings.nodes.len() == 1 {
            case.settings.nodes.push(1);
        }
        if let Ends::Records(records) = &mut case.settings.epoch {
            *records = (*records).min(4);
        }
        case.settings.acker_changes = changes;
        case
    })
}

/// Counts the cases in which roots were tracked by rings of several sizes.
#[derive(Debug, Default)]
struct Crossed(Cell<u64>);

impl Crossed {
    fn count(&self, case: &Case, book: &Book) {
        let epochs = (0..=book.last()).flat_map(|i| book.roots_of(i).into_values());
        let rings: BTreeSet<u32> = epochs.map(|epoch| case.settings.ackers_at(epoch)).collect();
        self.0.set(self.0.get() + u64::from(rings.len() > 1));
    }

    /// Half of the cases at the least, unless one alone was asked for.
    fn often(&self, count: u64) {
        let cases = seeds(count).count() as u64;
        assert!(cases == 1 || self.0.get() * 2 > cases, "{self:?} of {cases}");
    }
}

/// No verdict is lost: one that was would cost a time-out, and a replay.
#[test]
fn ackers_come_and_go_and_nothing_is_replayed() {
    prove(150, &(restless(), world(), repeats()), |(case, world, faults)| {
        let case = case.without_failures();
        untroubled((&case, &world), Guarantee::AtLeastOnce, Faults::default())?;
        untroubled((&case, &world), Guarantee::AtLeastOnce, faults.clone())?;
        let case = case.exactly_once().without_crashes();
        untroubled((&case, &world), Guarantee::ExactlyOnce, faults)
    });
}

#[test]
fn ackers_come_and_go_under_faults_at_least_once() {
    let crossed = Crossed::default();
    let cases = (restless(), world(), faults(), prop_oneof![Just(3_u32), Just(100)]);
    prove(200, &cases, |(case, world, faults, attempts)| {
        let config = hasty(&case, Guarantee::AtLeastOnce, attempts);
        let (book, outcome) = outcome((&case, &world), config, faults, None)?;
        crossed.count(&case, &book);
        every_root_has_one_verdict(&case, &book, &outcome.report)?;
        nothing_is_forgotten(&case, &book, &outcome.report)?;
        excess_is_of_replayed_roots(&case, &book, &outcome.report)
    });
    crossed.often(200);
}

#[test]
fn ackers_come_and_go_under_faults_exactly_once() {
    let crossed = Crossed::default();
    prove(200, &(restless(), world(), faults()), |(case, world, faults)| {
        let case = case.without_poison().exactly_once().without_crashes();
        let config = hasty(&case, Guarantee::ExactlyOnce, PATIENT);
        let (book, outcome) = outcome((&case, &world), config, faults, None)?;
        crossed.count(&case, &book);
        every_root_has_one_verdict(&case, &book, &outcome.report)?;
        what_has_state_is_the_truth(&case, &book, &Truth::of(&case))?;
        prop_assert_eq!(outcome.report.dead, 0);
        nothing_is_forgotten(&case, &book, &outcome.report)
    });
    crossed.often(200);
}

/// A new incarnation goes on at some epoch, with the ring of that epoch.
#[test]
fn ackers_come_and_go_through_crashes() {
    let crossed = Crossed::default();
    prove(150, &(restless(), world(), crashes()), |(case, world, faults)| {
        let done = |case: &Case, guarantee| -> TestCaseResult {
            let of = (case, &world);
            let (book, outcome) = on_crashes::outcome(of, guarantee, faults.clone())?;
            crossed.count(case, &book);
            lost_epochs_are_named(case, &book, &outcome)?;
            every_epoch_that_is_done(
                (case, &book, &outcome),
                match guarantee {
                    Guarantee::ExactlyOnce => |got, truth| got == truth,
                    _ => |got, truth| {
                        truth
                            .iter()
                            .all(|(id, weight)| got.get(id).is_some_and(|got| got >= weight))
                    },
                },
            )
        };
        let case = case.without_poison();
        done(&case, Guarantee::AtLeastOnce)?;
        done(&case.exactly_once(), Guarantee::ExactlyOnce)
    });
    crossed.often(150);
}
