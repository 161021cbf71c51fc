//! SIGINT and SIGTERM in every phase of a run.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::support::{Temp, start, start_to, wordcount, wordcount_of};

const ENDLESS: &str = "--lines 1000000000000";

fn pause(millis: u64) {
    thread::sleep(Duration::from_millis(millis));
}

#[test]
fn e23_the_first_signal_drains_and_reports_what_was_done() {
    for (signal, name, code) in [(Signal::INT, "SIGINT", 130), (Signal::TERM, "SIGTERM", 143)] {
        let child = start(&mut wordcount(&format!("{ENDLESS} --json")));
        pause(400);
        child.send(signal);
        let sent = Instant::now();
        let ended = child.wait();
        assert!(sent.elapsed() < Duration::from_secs(5), "{:?}", sent.elapsed());
        let report = ended.json(code);
        assert_eq!(report["complete"], false);
        assert_eq!(report["interrupted"], name);
        assert!(report["words"].as_u64() > Some(0));
        assert_eq!(report["tracking"]["acked"], report["lines"], "drained");
        assert_eq!(report["tracking"]["unfinished"], 0, "drained");
        assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
        assert!(ended.err.starts_with(&format!("{name}: finishing")), "{}", ended.err);
    }
}

#[test]
fn e23_a_second_signal_stops_at_once_and_says_so() {
    // Everything is lost on its way and repeated for ever: no drain can end.
    let args = "--drop 1000000 --attempts 1000000 --timeout 20ms --linger 1ms --json";
    let mut child = start(&mut wordcount(args));
    pause(300);
    child.send(Signal::INT);
    pause(500);
    assert!(child.is_running(), "it is still finishing what is under way");
    child.send(Signal::INT);
    let sent = Instant::now();
    let ended = child.wait();
    assert!(sent.elapsed() < Duration::from_secs(4), "{:?}", sent.elapsed());
    let report = ended.json(130);
    assert_eq!(report["complete"], false);
    assert!(report["tracking"]["unfinished"].as_u64() > Some(0));
    let said: Vec<&str> = ended.err.lines().collect();
    assert!(said[0].starts_with("SIGINT: finishing"), "{}", ended.err);
    assert!(said[1].starts_with("SIGINT again: stopping at once"), "{}", ended.err);
}

#[test]
fn e23_a_signal_during_start_does_not_hang() {
    for millis in [0, 1, 2, 4, 8, 16] {
        let child = start(&mut wordcount(ENDLESS));
        pause(millis);
        child.send(Signal::INT);
        let ended = child.wait();
        assert!(ended.took < Duration::from_secs(5), "{:?}", ended.took);
        // Before it listens, the signal kills it, as it would any program.
        let killed = ended.status.signal() == Some(Signal::INT.as_raw());
        assert!(killed || ended.status.code() == Some(130), "{:?}", ended.status);
    }
}

#[test]
fn e23_a_signal_during_the_report_does_not_hang() {
    // The report is more than a pipe holds, and nobody reads it.
    let (reader, writer) = io::pipe().expect("a pipe");
    let mut command = wordcount("--lines 20000 --json --top all");
    let mut child = start_to(command.stdout(writer).stderr(Stdio::piped()));
    pause(2_000);
    assert!(child.is_running(), "it waits for its reader");
    child.send(Signal::INT);
    let sent = Instant::now();
    let ended = child.wait();
    assert!(sent.elapsed() < Duration::from_secs(4), "{:?}", sent.elapsed());
    assert_eq!(ended.code(), 130);
    drop(reader);
}

#[test]
fn e23_an_input_without_a_writer_does_not_hold_up_the_end() {
    let temp = Temp::new();
    let child = start(&mut wordcount_of(&temp.fifo("fifo"), "--json"));
    pause(200);
    child.send(Signal::TERM);
    let report = child.wait().json(143);
    assert_eq!((&report["complete"], &report["lines"]), (&false.into(), &0.into()));
}

#[test]
fn e23_lines_that_came_before_the_signal_are_counted() {
    use std::io::Write;
    let (reader, mut writer) = io::pipe().expect("a pipe");
    let mut command = wordcount("--input - --json");
    let child = start(command.stdin(reader));
    drop(command);
    writer.write_all(b"one two\nthree\n").expect("a reader");
    pause(300);
    child.send(Signal::INT);
    let report = child.wait().json(130);
    assert_eq!((&report["lines"], &report["words"]), (&2.into(), &3.into()));
    drop(writer);
}

#[test]
fn e44_ctrl_c_half_way_leaves_a_valid_partial_result() {
    let temp = Temp::new();
    let path = temp.file("text", "some words of a line\n".repeat(1 << 20));
    let child = start(&mut wordcount_of(&path, "--json --workers 1"));
    pause(250);
    child.send(Signal::INT);
    let ended = child.wait();
    // A machine fast enough may have come to the end.
    if ended.status.code() != Some(0) {
        let report = ended.json(130);
        assert_eq!(report["complete"], false);
        let lines = report["lines"].as_u64().expect("lines");
        assert!(lines < 1 << 20);
        assert_eq!(report["words"].as_u64(), Some(5 * lines));
    }
}
