//! `--rate` and `--lines endless`.

use std::path::PathBuf;
use std::time::Duration;

use rustix::process::Signal;

use crate::support::{counts, run, start, truth_of_generator, wordcount};

#[test]
fn lines_come_at_their_rate_and_the_run_ends_with_the_schedule() {
    let report = run(&mut wordcount("--lines endless --rate 2k/100ms,1k/100ms --top all --json"));
    let report = report.json(0);
    assert_eq!((&report["complete"], &report["lines"]), (&true.into(), &300.into()));
    assert_eq!(counts(&report), truth_of_generator(0, 300));
    assert_eq!(report["config"]["rate"], "2k/100ms,1k/100ms");
    assert!(report["elapsed_us"].as_u64() >= Some(200_000), "{}", report["elapsed_us"]);
    assert!(report["latency_us"]["p50"].is_u64());
    let command = report["command"].as_str().unwrap_or_default();
    assert!(command.contains("--lines endless --rate 2k/100ms,1k/100ms "), "{command}");
    let text = run(&mut wordcount("--lines 20 --rate 1k"));
    assert_eq!(text.code(), 0, "{}", text.err);
    assert!(
        text.text().contains("1k lines/s (latency from when a line was due)"),
        "{}",
        text.text()
    );
}

#[test]
fn an_endless_run_drains_on_a_signal() {
    let child = start(&mut wordcount("--lines endless --rate 1k,+1k/50ms --json"));
    std::thread::sleep(Duration::from_millis(300));
    child.send(Signal::INT);
    let report = child.wait().json(130);
    assert_eq!((&report["complete"], &report["interrupted"]), (&false.into(), &"SIGINT".into()));
    assert_eq!(report["tracking"]["acked"], report["lines"], "drained");
}

#[test]
fn a_simulated_rate_is_exact_and_the_same_again() {
    let simulate = || {
        let cluster = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("clusters/eight.toml");
        let args = "--driver sim --lines endless --rate 300/1s,+100/1sx2 --json --top 0";
        run(wordcount(args).arg("--cluster").arg(cluster))
    };
    let once = simulate();
    let report = once.json(0);
    // 300 + 400 + 500.
    assert_eq!((&report["lines"], &report["tracking"]["acked"]), (&1200.into(), &1200.into()));
    assert!((3_000_000..3_500_000).contains(&report["elapsed_us"].as_u64().unwrap_or(0)));
    assert_eq!(once.out, simulate().out);
}

#[test]
fn a_rate_that_makes_no_sense_is_refused_with_its_place() {
    for (args, said) in [
        ("--rate 40k,+10k", "at byte 8: the step has no time"),
        ("--rate fast", "at byte 0: \"fast\" is no rate"),
        ("--rate 0", "0 records a second for ever"),
        ("--rate -5", "at byte 0: a sign makes it a step, but from what?"),
        ("--rate --json", "'--json' for '--rate <SCHEDULE>'"),
        ("--lines many", "write a number, or endless"),
    ] {
        let ended = run(&mut wordcount(args));
        assert_eq!(ended.code(), 2, "{}", ended.err);
        assert!(ended.err.contains(said) && ended.out.is_empty(), "{args}: {}", ended.err);
    }
}
