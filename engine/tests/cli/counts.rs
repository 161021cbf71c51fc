//! Counts against a plain sequential count, with and without loss.

use std::collections::BTreeMap;
use std::path::Path;

use streamwright::demos::wordcount::tokenize;

use crate::support::{Temp, counts, run, truth_of_generator, wordcount, wordcount_of};

/// Most words of a line of the generator.
const WORDS_OF_LINE: u64 = 18;

#[test]
fn generated_words_equal_a_sequential_count_with_1_2_and_4_workers() {
    let truth = truth_of_generator(3, 20_000);
    for workers in [1, 2, 4] {
        let args = format!("--lines 20000 --seed 3 --workers {workers} --json --top all");
        let report = run(&mut wordcount(&args)).json(0);
        assert_eq!(report["complete"], true);
        assert_eq!(report["tracking"]["acked"], 20_000);
        assert_eq!(counts(&report), truth, "{workers} workers");
    }
}

/// Also where lines are lost on their way and come again: then a word may count twice, and none less
/// than once.
#[test]
fn combined_words_equal_a_sequential_count_with_1_2_and_4_workers() {
    let truth = truth_of_generator(3, 20_000);
    for workers in [1, 2, 4] {
        for guarantee in ["at-least-once", "at-most-once"] {
            let args = format!(
                "--lines 20000 --seed 3 --combine --workers {workers} --guarantee {guarantee} --json \
                 --top all"
            );
            let report = run(&mut wordcount(&args)).json(0);
            assert_eq!(counts(&report), truth, "{workers} workers, {guarantee}");
            assert_eq!(report["config"]["combine"], true);
            assert!(report["command"].as_str().is_some_and(|text| text.contains(" --combine ")));
            let stream = &report["streams"][1];
            let [combined, sent] =
                ["combined", "transferred"].map(|name| stream[name].as_u64().expect("a number"));
            assert!(sent < combined, "{sent} sent for {combined}");
            assert_eq!(combined, truth.values().sum::<u64>());
        }
    }
    let args = "--lines 20000 --seed 3 --combine --drop 2000 --timeout 100ms --json --top all";
    let report = run(&mut wordcount(args)).json(0);
    assert_eq!(report["tracking"]["acked"], 20_000);
    let counted = counts(&report);
    assert!(counted.len() == truth.len() && truth.iter().all(|(word, n)| counted[word] >= *n));
    let refused = run(&mut wordcount("--combine --guarantee exactly-once"));
    assert_eq!(refused.code(), 2);
    assert!(refused.err.contains("no lineage"), "{}", refused.err);
}

#[test]
fn tasks_change_nothing() {
    let truth = truth_of_generator(0, 3_000);
    for tasks in ["1", "3", "lines=3,split=1,count=5", "lines=1,count=2"] {
        let args = format!("--lines 3000 --tasks {tasks} --json --top all");
        assert_eq!(counts(&run(&mut wordcount(&args)).json(0)), truth, "{tasks}");
    }
}

#[track_caller]
fn same_as_sequential(path: &Path) {
    let bytes = std::fs::read(path).expect("a readable text");
    let truth = tokenize::count(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes));
    for workers in [1, 2, 4] {
        let args = format!("--workers {workers} --json --top all");
        let report = run(&mut wordcount_of(path, &args)).json(0);
        assert_eq!(counts(&report), truth, "{workers} workers");
        assert_eq!(report["input"]["cut_lines"], 0);
    }
}

#[test]
fn words_of_a_file_equal_a_sequential_count_with_1_2_and_4_workers() {
    let temp = Temp::new();
    let lines = (0..5_000).map(|i| format!("Ligne {i}: «À BIENTÔT», wine-shop — 言葉、x\r\n"));
    same_as_sequential(&temp.file("text", lines.collect::<String>()));
}

/// Any text, named by `STREAMWRIGHT_TEXT`.
#[test]
fn words_of_a_named_text_equal_a_sequential_count_with_1_2_and_4_workers() {
    match std::env::var_os("STREAMWRIGHT_TEXT") {
        Some(path) => same_as_sequential(Path::new(&path)),
        None => println!("skipped: STREAMWRIGHT_TEXT names no text"),
    }
}

#[test]
fn a_lossy_run_replays_until_every_line_is_acked_and_counts_nothing_below_the_truth() {
    let truth = truth_of_generator(5, 20_000);
    let args = "--lines 20000 --seed 5 --drop 1000 --timeout 150ms --json --top all";
    let report = run(&mut wordcount(args)).json(0);
    let tracking = &report["tracking"];
    assert_eq!(tracking["acked"], 20_000);
    assert_eq!(tracking["dead"], 0);
    let replayed = tracking["replayed"].as_u64().expect("replays");
    assert!(replayed > 0);
    let counted = counts(&report);
    assert_eq!(counted.len(), truth.len());
    for (word, count) in &truth {
        assert!(counted[word] >= *count, "{:?}", String::from_utf8_lossy(word));
    }
    let sum = |counts: &BTreeMap<_, u64>| counts.values().sum::<u64>();
    assert!(sum(&counted) - sum(&truth) <= replayed * WORDS_OF_LINE);
}

#[test]
fn a_lossy_run_without_tracking_counts_nothing_above_the_truth() {
    let truth = truth_of_generator(5, 20_000);
    let args = "--lines 20000 --seed 5 --drop 1000 --guarantee at-most-once --json --top all";
    let report = run(&mut wordcount(args)).json(0);
    let counted = counts(&report);
    assert!(counted.iter().all(|(word, count)| truth.get(word).is_some_and(|all| count <= all)));
    assert!(counted.values().sum::<u64>() < truth.values().sum());
}
