//! What every run must show, each by a check of its own, from the protocol's section 10.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use streamwright::Report;

use crate::book::Book;
use crate::build::name;
use crate::case::{Case, Items, Kind};
use crate::parts::{TOTAL, origin};
use crate::truth::{Bag, Truth};

/// No epoch closes while a tuple of it can still arrive; epochs close one by one; watermarks
/// never fall and hold; no spout runs ahead of the window.
pub fn no_epoch_closes_early(book: &Book) -> TestCaseResult {
    prop_assert_eq!(book.wrong(), Vec::<String>::new());
    Ok(())
}

/// The final state is the truth: merged by component, by task where routing is a function of the
/// tuple, and what `close` emitted.
pub fn the_state_is_the_truth(case: &Case, book: &Book, truth: &Truth) -> TestCaseResult {
    for (node, _) in case.bolts() {
        is_the_truth(case, book, truth, node)?;
    }
    Ok(())
}

/// As [`the_state_is_the_truth`], for bolts with state: what has none may repeat.
pub fn what_has_state_is_the_truth(case: &Case, book: &Book, truth: &Truth) -> TestCaseResult {
    for (node, _) in case.bolts().filter(|(_, bolt)| bolt.kind.stateful()) {
        is_the_truth(case, book, truth, node)?;
    }
    Ok(())
}

fn is_the_truth(case: &Case, book: &Book, truth: &Truth, node: usize) -> TestCaseResult {
    let who = name(case, node);
    prop_assert_eq!(&book.state(node), &truth.taken[&node], "the state of {}", who);
    prop_assert_eq!(&book.totals(node), &truth.closed[&node], "what {} emits in close", who);
    let Some(tasks) = truth.by_task.get(&node) else { return Ok(()) };
    let got = book.by_task(node);
    for (task, expected) in (0..).zip(tasks) {
        let got = got.get(&task).cloned().unwrap_or_default();
        prop_assert_eq!(&got, expected, "the state of {}[{}]", who, task);
    }
    Ok(())
}

/// The ledger: on each edge, what was sent was executed, is known lost, or was dropped as applied
/// before; where a tuple goes to one task, as many were sent, or combined, as were emitted.
pub fn the_ledger_balances(report: &Report) -> TestCaseResult {
    for edge in &report.streams {
        let c = edge.counters;
        prop_assert_eq!(c.transferred, c.executed + c.lost + c.repeated, "{:?}", edge);
        prop_assert_eq!(edge.in_flight(), 0);
    }
    let mut executed: BTreeMap<&str, u64> = BTreeMap::new();
    for edge in &report.streams {
        *executed.entry(&edge.to).or_default() += edge.counters.executed;
    }
    for (component, executed) in executed {
        let tasks = report.tasks.iter().filter(|task| task.component == component);
        prop_assert_eq!(tasks.map(|t| t.executed).sum::<u64>(), executed, "{}", component);
    }
    for edge in report.streams.iter().filter(|edge| edge.grouping != "all") {
        let tasks = report.tasks.iter().filter(|task| task.component == edge.from);
        let emitted: u64 = tasks.map(|task| task.emitted).sum();
        let c = edge.counters;
        let taken = if c.combined > 0 { c.combined } else { c.transferred };
        prop_assert!(c.combined == 0 || c.transferred <= c.combined, "{:?}", edge);
        prop_assert_eq!(taken + c.astray, emitted, "{:?}", edge);
    }
    Ok(())
}

/// Every attempt that began went through: nothing was begun again.
pub fn nothing_is_replayed(report: &Report) -> TestCaseResult {
    prop_assert_eq!(report.replayed, 0);
    let replayed: u64 = report.tasks.iter().map(|task| task.replayed).sum();
    prop_assert_eq!(replayed, 0);
    Ok(())
}

/// One verdict a root: each record is acked or dead, once, at the task that emitted it.
pub fn every_root_has_one_verdict(case: &Case, book: &Book, report: &Report) -> TestCaseResult {
    prop_assert_eq!(&report.unfinished, &Vec::new());
    let mut emitted: BTreeMap<(usize, u32), u64> = BTreeMap::new();
    book.roots().into_iter().for_each(|root| *emitted.entry(origin(root)).or_default() += 1);
    for spout in 0..case.spouts.len() {
        for task in report.tasks.iter().filter(|task| task.component == name(case, spout)) {
            let records = emitted.get(&(spout, task.task)).copied().unwrap_or(0);
            prop_assert_eq!(task.records, records, "records of {:?}", task);
            prop_assert_eq!(task.acked + task.failed, records, "verdicts of {:?}", task);
        }
    }
    let dead = dead_roots(report);
    let given_up: u64 = spouts(case, report).map(|task| task.failed).sum();
    prop_assert_eq!(dead.iter().filter(|&&root| root != TOTAL).count() as u64, given_up);
    Ok(())
}

fn spouts<'r>(
    case: &Case,
    report: &'r Report,
) -> impl Iterator<Item = &'r streamwright::TaskStats> {
    let names: BTreeSet<String> = (0..case.spouts.len()).map(|node| name(case, node)).collect();
    report.tasks.iter().filter(move |task| names.contains(&task.component))
}

/// Roots of the dead letters.
pub fn dead_roots(report: &Report) -> BTreeSet<u64> {
    let items = report.dead_letters.iter().filter_map(|letter| letter.item::<Items>());
    items.flatten().map(|item| item.root).collect()
}

/// Nothing that is not dead is forgotten, and nothing is made up.
pub fn nothing_is_forgotten(case: &Case, book: &Book, report: &Report) -> TestCaseResult {
    let (dead, emitted) = (dead_roots(report), book.roots());
    let least = Truth::of_roots(case, |root| emitted.contains(&root) && !dead.contains(&root));
    let most = Truth::of_roots(case, |root| emitted.contains(&root));
    let totals_died = dead.contains(&TOTAL);
    for (node, _) in case.bolts() {
        let state = book.state(node);
        for (id, weight) in &least.taken[&node] {
            let came = state.get(id).copied().unwrap_or(0);
            let may_miss = totals_died && id.0 == TOTAL;
            prop_assert!(
                came >= *weight || may_miss,
                "{:?}: {} < {} at {}",
                id,
                came,
                weight,
                node
            );
        }
        for id in state.keys() {
            prop_assert!(most.taken[&node].contains_key(id), "{:?} at {} is made up", id, node);
        }
    }
    Ok(())
}

/// What came more often than it is true comes of replays: of no more roots than were replayed, and
/// no more often than they were.
pub fn excess_is_of_replayed_roots(case: &Case, book: &Book, report: &Report) -> TestCaseResult {
    let emitted = book.roots();
    let truth = Truth::of_roots(case, |root| emitted.contains(&root));
    let mut replays: BTreeMap<(usize, u32), u64> = BTreeMap::new();
    for spout in 0..case.spouts.len() {
        for task in report.tasks.iter().filter(|task| task.component == name(case, spout)) {
            replays.insert((spout, task.task), task.replayed);
        }
    }
    let any: u64 = report.tasks.iter().map(|task| task.replayed).sum();
    for (node, _) in case.bolts() {
        let true_of_root = weights(&truth.taken[&node]);
        let mut excess: BTreeMap<(usize, u32), (u64, u64, u64)> = BTreeMap::new();
        for (root, came) in weights(&book.state(node)) {
            let once = true_of_root.get(&root).copied().unwrap_or(0);
            if came <= once {
                continue;
            }
            if root == TOTAL {
                prop_assert!(any > 0, "totals came twice to {} without a replay", node);
                continue;
            }
            let (roots, more, most) = excess.entry(origin(root)).or_default();
            *roots += 1;
            *more += came - once;
            *most = once.max(*most);
        }
        for (from, (roots, more, most)) in excess {
            prop_assert!(roots <= replays[&from], "{} roots of {:?} at {}", roots, from, node);
            prop_assert!(more <= replays[&from] * most, "{} of {:?} at {}", more, from, node);
        }
    }
    Ok(())
}

/// Weights by root.
fn weights(bag: &Bag) -> BTreeMap<u64, u64> {
    let mut weights = BTreeMap::new();
    bag.iter().for_each(|((root, ..), weight)| *weights.entry(*root).or_default() += weight);
    weights
}

/// At most once: nothing counts twice, and nothing is made up.
pub fn nothing_comes_twice(case: &Case, book: &Book) -> TestCaseResult {
    not_above_the_truth(case, book, |_| true)
}

/// As [`nothing_comes_twice`], for bolts with state.
pub fn what_has_state_is_not_above_the_truth(case: &Case, book: &Book) -> TestCaseResult {
    not_above_the_truth(case, book, Kind::stateful)
}

fn not_above_the_truth(case: &Case, book: &Book, which: fn(Kind) -> bool) -> TestCaseResult {
    let emitted = book.roots();
    let truth = Truth::of_roots(case, |root| emitted.contains(&root));
    for (node, _) in case.bolts().filter(|(_, bolt)| which(bolt.kind)) {
        for (id, came) in book.state(node) {
            let once = truth.taken[&node].get(&id).copied().unwrap_or(0);
            prop_assert!(came <= once, "{:?} came {} times to {}, not {}", id, came, node, once);
        }
    }
    Ok(())
}

/// Every record of the case was emitted.
pub fn all_was_emitted(case: &Case, book: &Book, report: &Report) -> TestCaseResult {
    let all: u64 = case.spouts.iter().map(|s| u64::from(s.tasks) * s.records.len() as u64).sum();
    prop_assert_eq!((book.roots().len() as u64, report.records), (all, all));
    prop_assert!(report.complete);
    Ok(())
}
