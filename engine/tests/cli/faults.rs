//! Dead letters, the ledger, exit codes.

use std::collections::BTreeSet;
use std::fs::File;

use serde_json::Value;

use crate::support::{Temp, run, start_to, streamwright, wordcount, wordcount_of};

#[test]
fn e18_dead_letters_are_listed_with_their_reason_and_the_exit_code_says_so() {
    let args = "--lines 8 --drop 1000000 --attempts 2 --timeout 40ms --linger 1ms";
    let text = run(&mut wordcount(args));
    assert_eq!(text.code(), 1);
    assert!(text.err.contains("8 dead letters"), "{}", text.err);
    assert!(text.err.contains("and 3 more"), "{}", text.err);
    let listed: Vec<&str> = text.err.lines().filter(|l| l.starts_with("  lines[")).collect();
    assert_eq!(listed.len(), 5);
    for line in listed {
        assert!(line.contains("2 attempts: no sign of life for 40ms"), "{line}");
    }
    assert!(text.text().lines().any(|line| line.starts_with("dead") && line.ends_with(" 8")));

    let report = run(&mut wordcount(&format!("{args} --json"))).json(1);
    assert_eq!(report["complete"], true);
    assert_eq!(report["tracking"]["dead"], 8);
    let letters = report["dead_letters"].as_array().expect("letters");
    assert_eq!(letters.len(), 8);
    for letter in letters {
        assert_eq!(letter["component"], "lines");
        assert_eq!(letter["attempts"], 2);
        assert!(letter["item"].is_string() && letter["epoch"].is_u64() && letter["task"].is_u64());
        assert!(letter["reason"].as_str().is_some_and(|r| r.contains("no sign of life")));
    }
}

/// The counters of every edge and task add up.
#[track_caller]
fn ledger(report: &Value) {
    let number = |value: &Value| value.as_u64().expect("a number");
    let streams = report["streams"].as_array().expect("streams");
    for stream in streams {
        let sum = ["executed", "lost", "in_flight"].map(|field| number(&stream[field]));
        assert_eq!(number(&stream["transferred"]), sum.iter().sum::<u64>(), "{stream}");
        assert_eq!(stream["in_flight"], 0, "{stream}");
    }
    let tasks = report["tasks"].as_array().expect("tasks");
    let places: BTreeSet<_> =
        tasks.iter().map(|task| (task["component"].as_str(), task["task"].as_u64())).collect();
    assert_eq!(places.len(), tasks.len(), "each task is listed once");
    for component in report["components"].as_array().expect("components") {
        let name = &component["name"];
        let sum = |field: &str| -> u64 {
            let mine = tasks.iter().filter(|task| &task["component"] == name);
            mine.map(|task| number(&task[field])).sum()
        };
        let edges = |end: &str, field: &str| -> u64 {
            let mine = streams.iter().filter(|stream| &stream[end] == name);
            mine.map(|stream| number(&stream[field])).sum()
        };
        assert_eq!(number(&component["emitted"]), sum("emitted"));
        if let Some(executed) = component["executed"].as_u64() {
            assert_eq!(executed, sum("executed"));
            assert_eq!(executed, edges("to", "executed"), "{name}");
        }
        assert_eq!(sum("emitted"), edges("from", "transferred"), "{name}");
    }
}

const LOSSY: &str = "--lines 5000 --drop 2000 --timeout 100ms --json";

#[test]
fn e32_counters_add_up_and_acks_off_leave_their_figures_undefined() {
    let tracked = run(&mut wordcount("--lines 5000 --json")).json(0);
    ledger(&tracked);
    assert!(tracked["latency_us"]["p50"].is_u64());

    let lossy = run(&mut wordcount(LOSSY)).json(0);
    ledger(&lossy);

    let untracked = run(&mut wordcount("--lines 5000 --guarantee at-most-once --json")).json(0);
    ledger(&untracked);
    assert_eq!(untracked["latency_us"], Value::Null);
    for (name, figure) in untracked["tracking"].as_object().expect("tracking") {
        assert_eq!(*figure, Value::Null, "{name}");
    }
    let text = run(&mut wordcount("--lines 5 --guarantee at-most-once")).text();
    for label in ["acked", "latency p50", "false-ack bound"] {
        let line = text.lines().find(|line| line.starts_with(label)).expect(label);
        assert_eq!(line.split_whitespace().last(), Some("-"));
    }
}

#[test]
fn e44_an_input_that_cannot_be_read_is_one_line_and_code_3() {
    let temp = Temp::new();
    let missing = temp.path("missing.txt");
    let glob = temp.path("*.txt");
    let folder = temp.path("");
    for (path, cause) in
        [(&missing, "No such file"), (&glob, "No such file"), (&folder, "it is a directory")]
    {
        for args in ["", "--json"] {
            let ended = run(&mut wordcount_of(path, args));
            assert_eq!(ended.code(), 3);
            assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
            let name = path.to_str().expect("a name");
            assert!(ended.err.contains(name) && ended.err.contains(cause), "{}", ended.err);
            assert!(ended.out.is_empty());
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn e44_an_input_that_breaks_off_is_one_line_and_code_3() {
    let ended = run(&mut wordcount("--input /proc/self/mem"));
    assert_eq!(ended.code(), 3);
    assert!(ended.err.starts_with("error: cannot read /proc/self/mem"), "{}", ended.err);
    assert_eq!(ended.err.lines().count(), 1);
    assert!(ended.out.is_empty());

    let report = run(&mut wordcount("--input /proc/self/mem --json")).json(3);
    assert_eq!(report["complete"], false);
    assert!(report["error"].as_str().is_some_and(|error| error.contains("/proc/self/mem")));
}

#[test]
fn e44_arguments_that_make_no_sense_are_code_2() {
    for args in [
        "run",
        "run nothing",
        "run wordcount --workers 0",
        "run wordcount --workers two",
        "run wordcount --workers 1 --ackers 2",
        "run wordcount --drop 1000001",
        "run wordcount --timeout 5",
        "run wordcount --timeout 1ms",
        "run wordcount --timeout 1s --linger 2s",
        "run wordcount --tasks table=2",
        "run wordcount --attempts 0",
        "run wordcount --max-pending 0",
        "run wordcount --guarantee at-most-twice",
        "run wordcount --lines 5 --input x",
        "run wordcount a.txt b.txt",
        "",
    ] {
        let ended = run(&mut streamwright(args.split_whitespace()));
        assert_eq!(ended.code(), 2, "{args}");
        assert!(ended.out.is_empty() && !ended.err.is_empty(), "{args}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn e44_a_report_that_cannot_be_written_is_said_and_code_1() {
    let full = File::options().write(true).open("/dev/full").expect("/dev/full");
    let mut command = wordcount("--lines 5 --json");
    let ended = start_to(command.stdout(full).stderr(std::process::Stdio::piped())).wait();
    assert_eq!(ended.code(), 1);
    assert!(ended.err.starts_with("error: cannot write the report: No space"), "{}", ended.err);
}

#[test]
fn help_begins_with_examples_and_documents_every_code() {
    for args in ["--help", "run wordcount --help"] {
        let help = run(&mut streamwright(args.split_whitespace()));
        assert_eq!(help.code(), 0);
        assert!(help.text().starts_with("Examples:\n  streamwright run wordcount\n"));
        for code in ["  0  ", "  1  ", "  2  ", "  3  ", "130  ", "141  ", "143  "] {
            assert!(
                help.text().lines().any(|line| line.trim_start().starts_with(code.trim_start()))
            );
        }
        assert!(help.err.is_empty());
    }
    let version = run(&mut streamwright(["--version"])).text();
    assert_eq!(version, format!("streamwright {}\n", env!("CARGO_PKG_VERSION")));
    let demos = run(&mut streamwright(["demos"])).text();
    assert!(demos.starts_with("wordcount ") && demos.lines().count() == 1);
}

#[test]
fn the_report_holds_the_command_that_repeats_the_run() {
    let first = run(&mut wordcount("--lines 2000 --seed 99 --workers 1 --tasks count=3 --json"));
    let first = first.json(0);
    let command = first["command"].as_str().expect("a command");
    let args = command.strip_prefix("streamwright ").expect("this program");
    let again = run(&mut streamwright(args.split_whitespace())).json(0);
    for same in ["command", "config", "seed", "top", "words"] {
        assert_eq!(again[same], first[same], "{same}");
    }
    let text = run(&mut wordcount("--lines 3"));
    assert!(text.text().lines().last().is_some_and(|line| line.contains("--seed 0")));
}
