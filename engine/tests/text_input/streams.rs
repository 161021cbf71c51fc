//! Inputs without a length: they give what there is, end when they end, and block nobody.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use streamwright::demos::wordcount::input::{InputError, Limits, Lines, Polled, Source, open};

use super::{Scratch, Unpark, drain, drain_parts, small};

/// Longer than anything here takes, shorter than patience.
const PATIENCE: Duration = Duration::from_secs(20);

fn fifo(scratch: &Scratch) -> PathBuf {
    let path = scratch.0.join("fifo");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
}

fn writer(path: &Path) -> File {
    File::options().write(true).open(path).unwrap()
}

fn start(path: &Path, limits: Limits) -> Lines {
    open(&Source::File(path.into()), 1, limits).unwrap().pop().unwrap()
}

/// Waits for the next line.
fn next(lines: &mut Lines) -> Vec<u8> {
    lines.set_waker(Waker::from(Arc::new(Unpark(thread::current()))));
    let mut found = Vec::new();
    let before = Instant::now();
    loop {
        match lines.poll(1, |line| found = line.to_vec()).unwrap() {
            Polled::Lines(_) => return found,
            Polled::Idle => thread::park_timeout(PATIENCE),
            Polled::End => panic!("the input ended"),
        }
        assert!(before.elapsed() < PATIENCE, "no line came");
    }
}

/// Writes on until the reader has closed its end.
fn assert_reader_ends(mut writer: File) {
    let before = Instant::now();
    loop {
        match writer.write_all(b"is anybody there\n") {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return,
            written => written.unwrap(),
        }
        assert!(before.elapsed() < PATIENCE, "the reader went on reading");
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn e36_what_has_no_length_is_read_to_its_end() {
    let source = Source::File("/proc/self/status".into());
    let parts = drain_parts(&source, 3, Limits::default());
    assert!(parts[0].len() > 20 && parts[1].is_empty() && parts[2].is_empty());
    assert!(parts[0].iter().any(|line| line.starts_with(b"voluntary_ctxt_switches")));
    let null = Source::File("/dev/null".into());
    assert!(drain_parts(&null, 2, Limits::default()).concat().is_empty());
}

#[test]
#[cfg(target_os = "linux")]
fn e44_an_error_while_reading_comes_once() {
    // A file that opens, and whose first page cannot be read.
    let source = Source::File("/proc/self/mem".into());
    let mut lines = open(&source, 1, Limits::default()).unwrap().pop().unwrap();
    let error = drain(&mut lines).unwrap_err();
    assert!(matches!(error, InputError::Read { .. }), "{error}");
    assert!(error.to_string().contains("/proc/self/mem"));
    assert_eq!(lines.poll(1, |_| {}).unwrap(), Polled::End);
}

#[test]
fn e40_a_fifo_gives_each_line_as_it_comes() {
    let scratch = Scratch::new();
    let path = fifo(&scratch);
    // Nobody has opened the other end yet, and still nothing waits for it.
    let mut lines = start(&path, small(10));
    assert_eq!(lines.poll(1, |_| {}).unwrap(), Polled::Idle);
    let mut writer = writer(&path);
    for line in ["one", "", "two\r", "a line over the limit", "0123456789a", "0123456789abc"] {
        // Each line is taken before the next is written.
        writeln!(writer, "{line}").unwrap();
        let mut whole = Vec::new();
        while whole.len() < line.trim_end().len() || whole.is_empty() != line.is_empty() {
            whole.extend(next(&mut lines));
        }
        if line.is_empty() {
            assert_eq!(next(&mut lines), b"");
        }
        assert_eq!(whole, line.trim_end().as_bytes());
        assert_eq!(lines.poll(1, |_| {}).unwrap(), Polled::Idle);
    }
    write!(writer, "in two ").unwrap();
    assert_eq!(lines.poll(1, |_| {}).unwrap(), Polled::Idle);
    write!(writer, "parts").unwrap();
    drop(writer);
    assert_eq!(drain(&mut lines).unwrap().concat(), b"in two parts");
}

#[test]
fn e40_dropping_lines_does_not_wait_for_a_silent_fifo() {
    let scratch = Scratch::new();
    let path = fifo(&scratch);
    let before = Instant::now();
    let unopened = start(&path, Limits::default());
    drop(unopened);
    let silent = start(&path, Limits::default());
    let mut writer = writer(&path);
    writer.write_all(b"half a li").unwrap();
    drop(silent);
    assert!(before.elapsed() < Duration::from_secs(5));
    assert_reader_ends(writer);
}

#[test]
fn e40_dropping_lines_ends_a_reader_whose_buffers_are_full() {
    let scratch = Scratch::new();
    let path = fifo(&scratch);
    let lines = start(&path, small(99));
    let mut writer = writer(&path);
    writer.write_all(&b"a line\n".repeat(1_000)).unwrap();
    drop(lines);
    assert_reader_ends(writer);
}

#[test]
fn e35_the_mark_of_a_stream_may_come_in_pieces() {
    let scratch = Scratch::new();
    let path = fifo(&scratch);
    for (text, expected) in [
        (&b"\xEF\xBB\xBFone\n"[..], Ok("one")),
        (b"\xEF\xBB\xBF", Ok("")),
        (b"\0", Ok("\0")),
        (b"\xFF\xFEa\0", Err("UTF-16LE")),
        (b"\xFF\xFE\0\0a\0\0\0", Err("UTF-32LE")),
    ] {
        let mut lines = start(&path, Limits::default());
        let mut writer = writer(&path);
        for byte in text {
            // The reader may leave in the middle of a text that it refuses.
            let _ = writer.write_all(&[*byte]);
            thread::sleep(Duration::from_millis(2));
        }
        drop(writer);
        match (drain(&mut lines), expected) {
            (Ok(lines), Ok(expected)) => assert_eq!(lines.concat(), expected.as_bytes()),
            (Err(InputError::Encoding { found, .. }), Err(name)) => assert_eq!(found, name),
            (got, expected) => panic!("{got:?} instead of {expected:?}"),
        }
        assert_eq!(lines.poll(1, |_| {}).unwrap(), Polled::End);
    }
}

struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn a_waker_is_woken_by_news_alone() {
    let scratch = Scratch::new();
    let path = fifo(&scratch);
    let wakes = Arc::new(Count(AtomicUsize::new(0)));
    let until = |n| {
        let before = Instant::now();
        while wakes.0.load(Ordering::SeqCst) < n && before.elapsed() < PATIENCE {
            thread::yield_now();
        }
        assert_eq!(wakes.0.load(Ordering::SeqCst), n);
    };
    let mut lines = start(&path, Limits::default());
    assert_eq!(lines.poll(1, |_| {}).unwrap(), Polled::Idle);
    lines.set_waker(Waker::from(Arc::clone(&wakes)));
    until(0);
    let mut writer = writer(&path);
    writer.write_all(b"one\n").unwrap();
    until(1);
    assert_eq!(next_of(&mut lines), Polled::Lines(1));
    assert_eq!(next_of(&mut lines), Polled::Idle);
    until(1);
    drop(writer);
    until(2);
    assert_eq!(next_of(&mut lines), Polled::End);
    // Set too late, it is woken at once.
    let mut late = start(Path::new("/dev/null"), Limits::default());
    while late.poll(1, |_| {}).unwrap() == Polled::Idle {
        late.set_waker(Waker::from(Arc::clone(&wakes)));
        until(3);
    }
}

fn next_of(lines: &mut Lines) -> Polled {
    lines.poll(9, |_| {}).unwrap()
}

/// Not a test by itself: the process that the tests below give a standard input.
#[test]
#[ignore = "started by the tests of standard input"]
fn child_reads_standard_input() {
    let mut parts = open(&Source::Stdin, 2, Limits::default()).unwrap();
    for lines in &mut parts {
        match drain(lines) {
            Ok(lines) => println!("<{}>", String::from_utf8(lines.join(&b'|')).unwrap()),
            Err(error) => println!("<{error}>"),
        }
    }
}

fn with_standard_input(shell: &str, stdin: Stdio) -> String {
    let output = Command::new("sh")
        .args(["-c", &format!("exec \"$0\" \"$@\" {shell}")])
        .arg(std::env::current_exe().unwrap())
        .args(["streams::child_reads_standard_input", "--exact", "--ignored", "--nocapture"])
        .stdin(stdin)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn e40_standard_input_is_read_to_its_end() {
    let scratch = Scratch::new();
    let path = scratch.0.join("text");
    fs::write(&path, "\u{FEFF}one\r\ntwo\nthree").unwrap();
    let said = with_standard_input("", File::open(path).unwrap().into());
    assert!(said.contains("<one|two|three>") && said.contains("<>"), "{said}");
}

#[test]
fn e40_a_closed_standard_input_is_empty() {
    let said = with_standard_input("<&-", Stdio::null());
    assert!(said.contains("<>"), "{said}");
}

#[test]
#[cfg(target_os = "linux")]
fn e44_a_directory_as_standard_input_is_an_error() {
    let said = with_standard_input("< /", Stdio::null());
    assert!(said.contains("<cannot read standard input"), "{said}");
}
