//! Bugs seeded in the core, one at a time, each with the test that catches it.
//!
//! The list is checked with every run of the tests. The bugs themselves are seeded, built and
//! caught by `cargo test -p streamwright --test mutants -- --ignored --nocapture`;
//! `STREAMWRIGHT_MUTANT=no-rollback,batch-twice` does so with those alone.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unreachable_pub, missing_debug_implementations, reason = "modules of one test crate")]

#[path = "mutants/list.rs"]
mod list;
#[path = "mutants/progress.rs"]
mod progress;
#[path = "mutants/promises.rs"]
mod promises;
#[path = "mutants/waiting.rs"]
mod waiting;
#[path = "mutants/workspace.rs"]
mod workspace;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use list::{Mutant, all};
use workspace::Workspace;

fn engine(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A test's name without its modules.
fn bare(test: &str) -> &str {
    test.rsplit("::").next().unwrap_or(test)
}

#[test]
fn every_bug_can_be_seeded_and_names_a_test_that_exists() {
    assert!(all().count() >= 20);
    let mut names = BTreeSet::new();
    for mutant in all() {
        let Mutant { name, file, find, replace, test: (target, test), .. } = mutant;
        assert!(names.insert(name), "two are named {name}");
        let text = fs::read_to_string(engine("src/core").join(file)).unwrap();
        assert_eq!(text.matches(find).count(), 1, "{name}: {find:?} in {file}");
        assert_ne!(find, replace, "{name} changes nothing");
        // Module m of target t is in tests/t/m.rs.
        let (module, function) = test.rsplit_once("::").expect("a module and a function");
        let path = engine("tests").join(target).join(module).with_extension("rs");
        let text = fs::read_to_string(&path).unwrap();
        let text: Vec<&str> = text.lines().collect();
        let at = text.iter().position(|line| line.starts_with(&format!("fn {function}(")));
        let is_test = at.is_some_and(|at| text[..at].ends_with(&["#[test]"]));
        assert!(is_test, "{name}: {} has no test {function}", path.display());
    }
}

/// The table of `MUTANTS.md`.
fn table() -> String {
    let mut table = String::from("| bug | rule | caught by |\n|---|---|---|\n");
    for Mutant { name, test: (_, test), breaks, what, .. } in all() {
        writeln!(table, "| `{name}`: {what} | {breaks} | `{}` |", bare(test)).unwrap();
    }
    table
}

#[test]
fn the_table_is_what_the_list_gives() {
    let wanted = table();
    let text = fs::read_to_string(engine("MUTANTS.md")).unwrap();
    let rows: String =
        text.lines().filter(|line| line.starts_with('|')).map(|line| format!("{line}\n")).collect();
    assert!(rows == wanted, "the table of engine/MUTANTS.md should be:\n\n{wanted}");
    // The crate's package does not hold the map of the workspace.
    if let Ok(map) = fs::read_to_string(engine("../ARCHITECTURE.md")) {
        for mutant in all() {
            let rule = format!("| {} |", mutant.breaks);
            let known = map.lines().any(|line| line.starts_with(&rule));
            assert!(known, "{}: ARCHITECTURE.md has no rule {}", mutant.name, mutant.breaks);
        }
    }
}

/// Builds the workspace with a bug in it and runs the test that should catch it.
fn hunt(workspace: &Workspace, mutant: &Mutant) -> Result<(), String> {
    let path = workspace.core(mutant.file);
    let sound = fs::read_to_string(&path).unwrap();
    fs::write(&path, mutant.seed(&sound)).unwrap();
    let (target, test) = mutant.test;
    let caught = workspace.build(target).map_err(|said| format!("does not compile:\n{said}"));
    let caught = caught.and_then(|program| match workspace.run(&program, &[test]) {
        (None, _) => Err(format!("{test} runs for ever")),
        (_, said) if said.contains(&format!("test {test} ... FAILED")) => Ok(()),
        (status, said) => Err(format!("{test} did not fail: {status:?}\n{said}")),
    });
    fs::write(&path, sound).unwrap();
    caught
}

#[test]
#[ignore = "builds the workspace once for every bug: some minutes"]
fn every_bug_is_caught_by_its_test() {
    let wish = std::env::var("STREAMWRIGHT_MUTANT").ok();
    let chosen = || {
        all()
            .filter(|m| wish.as_ref().is_none_or(|wish| wish.split(',').any(|name| name == m.name)))
    };
    assert!(chosen().next().is_some(), "there is no mutant {wish:?}");
    let workspace = Workspace::copy();

    // A test that fails without a bug catches none.
    let mut tests: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for Mutant { test: (target, test), .. } in chosen() {
        tests.entry(target).or_default().insert(test);
    }
    for (target, tests) in tests {
        let tests: Vec<&str> = tests.into_iter().collect();
        let program = workspace.build(target).unwrap();
        let (status, said) = workspace.run(&program, &tests);
        let all_ran = said.contains(&format!("running {} test", tests.len()));
        assert!(all_ran && status.is_some_and(|s| s.success()), "without a bug:\n{said}");
    }

    let mut survivors = Vec::new();
    for mutant in chosen() {
        let start = Instant::now();
        let outcome = hunt(&workspace, mutant);
        let seconds = start.elapsed().as_secs_f64();
        let verdict = if outcome.is_ok() { "caught" } else { "NOT CAUGHT" };
        println!("{verdict} in {seconds:.1} s: {} by {}", mutant.name, bare(mutant.test.1));
        survivors.extend(outcome.err().map(|why| format!("{}: {why}", mutant.name)));
    }
    assert!(survivors.is_empty(), "{} of them:\n{}", survivors.len(), survivors.join("\n"));
}
