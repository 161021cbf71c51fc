//! Lines of files, pipes and devices: every line once, in bounded memory, without blocking.

#![allow(clippy::unwrap_used, reason = "a test reports a failure by panicking")]

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use streamwright::demos::wordcount::input::{
    InputError, InputStats, Limits, Lines, Polled, Source, open,
};
use streamwright::demos::wordcount::tokenize::{count, words};

#[path = "text_input/long_lines.rs"]
mod long_lines;
#[cfg(unix)]
#[path = "text_input/streams.rs"]
mod streams;

/// A directory of its own, gone at the end of the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path =
            std::env::temp_dir().join(format!("streamwright-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, bytes: &[u8]) -> Source {
        let path = self.0.join("input");
        fs::write(&path, bytes).unwrap();
        Source::File(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Takes lines until the end, sleeping only as the waker allows.
fn drain(lines: &mut Lines) -> Result<Vec<Vec<u8>>, InputError> {
    lines.set_waker(Waker::from(Arc::new(Unpark(thread::current()))));
    let mut all = Vec::new();
    loop {
        match lines.poll(7, |line| all.push(line.to_vec()))? {
            Polled::Lines(_) => {}
            Polled::Idle => {
                let before = Instant::now();
                thread::park_timeout(Duration::from_secs(20));
                assert!(before.elapsed() < Duration::from_secs(20), "nobody woke the reader");
            }
            Polled::End => return Ok(all),
        }
    }
}

fn drain_parts(source: &Source, parts: usize, limits: Limits) -> Vec<Vec<Vec<u8>>> {
    let mut parts = open(source, parts, limits).unwrap();
    parts.iter_mut().map(|lines| drain(lines).unwrap()).collect()
}

fn read(source: &Source, limits: Limits) -> (Vec<Vec<u8>>, InputStats) {
    let mut lines = open(source, 1, limits).unwrap().pop().unwrap();
    let all = drain(&mut lines).unwrap();
    (all, lines.stats())
}

fn small(line: usize) -> Limits {
    Limits { line, chunk: 64, chunks: 2 }
}

/// What a text's lines are, the plain way.
fn plain(text: &[u8]) -> Vec<Vec<u8>> {
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    text.split_inclusive(|&byte| byte == b'\n')
        .map(|line| match line {
            [line @ .., b'\r', b'\n'] | [line @ .., b'\n'] | line => line.to_vec(),
        })
        .collect()
}

#[test]
fn e35_line_ends_and_marks() {
    let scratch = Scratch::new();
    let lines = ["one two", "", "three", "vier fünf", "six"].map(|l| l.as_bytes().to_vec());
    let lf = lines.join(&b'\n');
    let crlf = lines.join(&b"\r\n"[..]);
    let bom = [b"\xEF\xBB\xBF", &lf[..]].concat();
    for text in [&lf, &crlf, &bom, &[&lf[..], b"\n"].concat(), &[&crlf[..], b"\r\n"].concat()] {
        for limits in [Limits::default(), small(10)] {
            assert_eq!(read(&scratch.file(text), limits).0, lines);
        }
        assert_eq!(drain_parts(&scratch.file(text), 3, small(99)).concat(), lines);
    }
    let only_marks = |text: &[u8]| read(&scratch.file(text), Limits::default()).0;
    assert_eq!(only_marks(b""), Vec::<Vec<u8>>::new());
    assert_eq!(only_marks(b"\xEF\xBB\xBF"), Vec::<Vec<u8>>::new());
    assert_eq!(only_marks(b"\xEF\xBB\xBF\n"), [b""]);
    assert_eq!(only_marks(b"\xEF\xBB"), [b"\xEF\xBB"]);
    assert_eq!(
        only_marks("a\u{FEFF}\n\u{FEFF}b".as_bytes()),
        ["a\u{FEFF}", "\u{FEFF}b"].map(str::as_bytes)
    );
    assert_eq!(only_marks(b"a\rb\r\r\nc\r"), [&b"a\rb\r"[..], b"c\r"]);
}

#[test]
fn e35_other_encodings_are_refused_by_name() {
    let scratch = Scratch::new();
    for (mark, name) in [
        (&b"\xFF\xFEa\0"[..], "UTF-16LE"),
        (b"\xFF\xFE", "UTF-16LE"),
        (b"\xFE\xFF\0a", "UTF-16BE"),
        (b"\xFF\xFE\0\0a\0\0\0", "UTF-32LE"),
        (b"\0\0\xFE\xFF\0\0\0a", "UTF-32BE"),
    ] {
        let source = scratch.file(mark);
        let error = open(&source, 4, Limits::default()).unwrap_err();
        assert!(matches!(error, InputError::Encoding { found, .. } if found == name));
        assert!(
            error.to_string().contains(name) && error.to_string().contains(&source.to_string())
        );
    }
}

#[test]
fn e36_every_line_once_for_every_cut() {
    // CRLF, characters of 2 to 4 bytes, empty lines, a line longer than most parts.
    let body = "a\r\n\n\nβγ\r\n😀😀\r\nline longer than a part of it\nx\n\r\nend é".as_bytes();
    assert!((55..65).contains(&body.len()), "{}", body.len());
    let scratch = Scratch::new();
    for shift in 0..12 {
        let text = [&b"x".repeat(shift)[..], body].concat();
        let (source, expected) = (scratch.file(&text), plain(&text));
        for parts in (0..10).chain([text.len() - 1, text.len(), text.len() + 1, 3 * text.len()]) {
            assert_eq!(drain_parts(&source, parts, small(99)).concat(), expected, "{parts} parts");
        }
    }
}

#[test]
fn e36_a_line_belongs_to_the_part_it_starts_in() {
    let scratch = Scratch::new();
    let parts = drain_parts(&scratch.file(b"aaaa\nbbb\ncccccccc\n"), 2, Limits::default());
    assert_eq!(parts, [vec![b"aaaa".to_vec(), b"bbb".to_vec()], vec![b"cccccccc".to_vec()]]);
}

#[test]
fn e37_bytes_that_are_not_text_pass_through() {
    let scratch = Scratch::new();
    let text = b"a \xff b\nx\0y z\n\xE2\x80\n\xA0\x85\nAA\xC3\xA0AAA";
    let mut counts = std::collections::BTreeMap::new();
    for line in read(&scratch.file(text), small(64)).0 {
        words(&line, &mut Vec::new(), |word| *counts.entry(word.to_vec()).or_insert(0) += 1);
    }
    assert_eq!(counts, count(text));
    assert_eq!(counts.values().sum::<u64>(), 3 + 2 + 1 + 1 + 1);
}

#[test]
fn e40_a_file_cut_short_while_read_is_reported() {
    let scratch = Scratch::new();
    let source = scratch.file(&b"some line\n".repeat(100_000));
    let mut parts = open(&source, 3, small(99)).unwrap();
    parts[0].poll(1, |_| {}).unwrap();
    File::create(scratch.0.join("input")).unwrap();
    for lines in &mut parts {
        assert!(drain(lines).unwrap().len() < 100);
        assert!(lines.stats().shrank);
    }
}

#[test]
fn e40_a_file_appended_to_while_read_keeps_its_lines() {
    let scratch = Scratch::new();
    let source = scratch.file(&b"some line\n".repeat(10_000));
    let mut parts = open(&source, 3, small(99)).unwrap();
    let path = scratch.0.join("input");
    File::options().append(true).open(path).unwrap().write_all(b"more\n").unwrap();
    let all = parts.iter_mut().flat_map(|lines| drain(lines).unwrap()).collect::<Vec<_>>();
    assert_eq!(all[..10_000], vec![b"some line".to_vec(); 10_000]);
    assert_eq!(all[10_000..], [b"more"]);
    assert!(parts.iter().all(|lines| !lines.stats().shrank));
}

#[test]
fn e40_a_file_replaced_while_read_is_read_as_it_was() {
    let scratch = Scratch::new();
    let source = scratch.file(&b"old\n".repeat(10_000));
    let mut parts = open(&source, 3, small(99)).unwrap();
    fs::write(scratch.0.join("new"), b"new\n".repeat(10_000)).unwrap();
    fs::rename(scratch.0.join("new"), scratch.0.join("input")).unwrap();
    let all = parts.iter_mut().flat_map(|lines| drain(lines).unwrap()).collect::<Vec<_>>();
    assert_eq!(all, vec![b"old".to_vec(); 10_000]);
}

#[test]
fn e44_inputs_that_cannot_be_read_are_told_up_front() {
    let scratch = Scratch::new();
    let refused = |path: &Path| open(&Source::File(path.into()), 2, Limits::default()).unwrap_err();

    let missing = scratch.0.join("missing");
    let error = refused(&missing);
    assert!(matches!(error, InputError::Open { .. }));
    assert!(error.to_string().contains(missing.to_str().unwrap()));
    assert!(std::error::Error::source(&error).is_some());

    let error = refused(&scratch.0);
    assert!(matches!(error, InputError::Directory { .. }));
    assert!(error.to_string().contains(scratch.0.to_str().unwrap()));
}

#[test]
#[cfg(unix)]
fn e44_an_unreadable_file_is_told_up_front() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new();
    let path = scratch.0.join("secret");
    fs::write(&path, "text").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    // The superuser reads everything.
    if File::open(&path).is_err() {
        let error = open(&Source::File(path), 1, Limits::default()).unwrap_err();
        assert!(matches!(error, InputError::Open { .. }));
    }
}

#[test]
fn a_poll_of_nothing_takes_nothing() {
    let scratch = Scratch::new();
    let mut lines = open(&scratch.file(b"a\nb\n"), 2, Limits::default()).unwrap().remove(0);
    assert_eq!(lines.poll(0, |_| unreachable!()).unwrap(), Polled::Lines(0));
    assert_eq!(drain(&mut lines).unwrap(), [b"a"]);
    assert_eq!(lines.poll(0, |_| unreachable!()).unwrap(), Polled::Lines(0));
    assert_eq!(lines.poll(1, |_| unreachable!()).unwrap(), Polled::End);
    assert_eq!(lines.stats(), InputStats { bytes: 2, lines: 1, ..InputStats::default() });
}

/// Text with a liking for line ends, wide characters and broken ones.
fn text() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        proptest::sample::select(vec!["\n", "\r\n", "\r", " ", "é", "😀", "—", "\u{FEFF}", "word"])
            .prop_map(|text| text.as_bytes().to_vec()),
        proptest::sample::select(vec![&b"\xff"[..], b"\xE2\x80", b"\xF0\x9F\x98", b"\0"])
            .prop_map(<[u8]>::to_vec),
        "[a-z ]{0,40}".prop_map(String::into_bytes),
    ];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn parts_and_buffers_change_nothing(text in text(), parts in 1usize..9, chunk in 0usize..200) {
        let scratch = Scratch::new();
        let limits = Limits { chunk, ..Limits::default() };
        prop_assert_eq!(drain_parts(&scratch.file(&text), parts, limits).concat(), plain(&text));
    }
}
