//! Readers that leave.

use std::io::{self, Read};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{Temp, run, start_to, streamwright, wordcount, wordcount_of};

/// The documented code of a reader that has gone.
const BROKEN: i32 = 141;

/// A pipe whose reader has gone.
fn broken() -> io::PipeWriter {
    io::pipe().expect("a pipe").1
}

#[test]
fn e41_a_reader_that_has_gone_is_one_code_and_no_word() {
    for args in [
        "--help",
        "--version",
        "demos",
        "run wordcount --help",
        "run wordcount --lines 10",
        "run wordcount --lines 10 --json",
        "run wordcount --lines 5 --drop 1000000 --attempts 1 --timeout 30ms",
        "run wordcount --lines 1000000000",
    ] {
        let mut command = streamwright(args.split_whitespace());
        let ended = start_to(command.stdout(broken()).stderr(Stdio::piped())).wait();
        assert_eq!((ended.code(), ended.err.as_str()), (BROKEN, ""), "{args}");
        assert!(ended.took < Duration::from_secs(5), "{args}: {:?}", ended.took);
    }
}

#[test]
fn e41_a_reader_that_leaves_mid_run_stops_it_within_a_second() {
    let (reader, writer) = io::pipe().expect("a pipe");
    let mut command = wordcount("--lines 1000000000");
    let mut child = start_to(command.stdout(writer).stderr(Stdio::piped()));
    drop(command);
    thread::sleep(Duration::from_millis(300));
    assert!(child.is_running());
    drop(reader);
    let left = Instant::now();
    let ended = child.wait();
    assert!(left.elapsed() < Duration::from_secs(1), "{:?}", left.elapsed());
    assert_eq!((ended.code(), ended.err.as_str()), (BROKEN, ""));
}

#[test]
fn e41_a_reader_that_leaves_mid_report_is_one_code_and_no_word() {
    // More than a pipe holds.
    let (mut reader, writer) = io::pipe().expect("a pipe");
    let mut command = wordcount("--lines 20000 --json --top all");
    let child = start_to(command.stdout(writer).stderr(Stdio::piped()));
    drop(command);
    let mut first = [0; 2];
    reader.read_exact(&mut first).expect("a first line");
    assert_eq!(&first, b"{\n");
    drop(reader);
    let ended = child.wait();
    assert_eq!((ended.code(), ended.err.as_str()), (BROKEN, ""));
}

#[test]
fn e41_head_takes_its_lines_and_nobody_complains() {
    let script = "\"$0\" run wordcount --lines 20000 --top all | head -1";
    let mut shell = std::process::Command::new("sh");
    let ended = run(shell.args(["-c", script, env!("CARGO_BIN_EXE_streamwright")]));
    assert_eq!((ended.text().as_str(), ended.err.as_str()), ("     count  word\n", ""));
}

#[test]
fn e41_standard_error_may_be_closed_or_unread() {
    let temp = Temp::new();
    let mut command = wordcount_of(&temp.path("missing"), "");
    assert_eq!(start_to(command.stdout(Stdio::null()).stderr(broken())).wait().code(), 3);
    let mut command = wordcount("--workers 0");
    assert_eq!(start_to(command.stdout(Stdio::null()).stderr(broken())).wait().code(), 2);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "exec \"$0\" run wordcount --lines 10 2>&-"]);
    let ended = run(shell.arg(env!("CARGO_BIN_EXE_streamwright")));
    assert_eq!(ended.code(), 0);
    assert!(ended.text().contains("words"));
}
