//! Texts as they are: encodings, line ends, long lines, files that change, FIFOs.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use crate::support::{Ended, Temp, counts, run, start, start_to, wordcount, wordcount_of};

type Counts = BTreeMap<Vec<u8>, u64>;

fn counted(path: &Path) -> Counts {
    counts(&run(&mut wordcount_of(path, "--json --top all")).json(0))
}

fn words(words: &[(&[u8], u64)]) -> Counts {
    words.iter().map(|&(word, count)| (word.to_vec(), count)).collect()
}

#[test]
fn e35_line_ends_and_byte_order_marks_are_no_part_of_words() {
    let temp = Temp::new();
    let text = "one two\nthree\n\nTwo four\nfive one\n";
    let truth = counted(&temp.file("lf", text));
    assert_eq!(truth.len(), 5);
    for (name, bytes) in [
        ("crlf", text.replace('\n', "\r\n")),
        ("lone-cr", text.replace('\n', "\r")),
        ("bom", format!("\u{FEFF}{text}")),
        ("no-final-newline", text.trim_end().to_owned()),
    ] {
        assert_eq!(counted(&temp.file(name, bytes)), truth, "{name}");
    }
    let inside = counted(&temp.file("inside", "one\n\u{FEFF}two\n"));
    assert_eq!(inside, words(&[(b"one", 1), ("\u{FEFF}two".as_bytes(), 1)]));
    for (name, bytes) in [("bom-only", "\u{FEFF}"), ("empty", "")] {
        let ended = run(&mut wordcount_of(&temp.file(name, bytes), ""));
        assert_eq!((ended.code(), ended.err.as_str()), (0, ""), "{name}");
        assert!(ended.text().lines().any(|line| line.split_whitespace().eq(["words", "0"])));
    }
}

#[test]
fn e35_utf_16_is_refused_by_name_from_file_pipe_and_fifo() {
    let temp = Temp::new();
    let bytes: Vec<u8> = "\u{FEFF}one two".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let path = temp.file("utf16", &bytes);
    let refused = |ended: Ended, name: &str| {
        assert_eq!(ended.code(), 3, "{name}");
        assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
        assert!(ended.err.contains("UTF-16LE") && ended.err.contains(name), "{}", ended.err);
        assert!(ended.out.is_empty());
    };
    refused(run(&mut wordcount_of(&path, "")), "utf16");
    let file = File::open(&path).expect("the file");
    refused(run(wordcount("--input -").stdin(file)), "standard input");
    let fifo = temp.fifo("fifo");
    let child = start(&mut wordcount_of(&fifo, ""));
    let mut writer = File::options().write(true).open(&fifo).expect("the FIFO");
    // The reader may have gone before the last byte.
    let _ = writer.write_all(&bytes);
    drop(writer);
    refused(child.wait(), "fifo");
}

#[test]
fn e37_bytes_that_are_not_text_are_words_all_the_same() {
    let temp = Temp::new();
    let bad = temp.file("bad", b"a \xff b");
    assert_eq!(counted(&bad), words(&[(b"a", 1), (b"\xff", 1), (b"b", 1)]));
    let nul = temp.file("nul", b"x\0y z");
    assert_eq!(counted(&nul), words(&[(b"x\0y", 1), (b"z", 1)]));
    let accents = temp.file("accents", "AAàAAA");
    assert_eq!(counted(&accents), words(&[("aaàaaa".as_bytes(), 1)]));
    let spaces = temp.file("spaces", "a\u{A0}b\u{85}c\u{3000}d");
    assert_eq!(counted(&spaces).len(), 4);

    let report = run(&mut wordcount_of(&bad, "--json --top all")).json(0);
    let top = report["top"].as_array().expect("words");
    let marked = top.iter().find(|word| word["bytes"] == "ff").expect("a marked word");
    assert_eq!(marked["word"], "\u{FFFD}");
    let plain = run(&mut wordcount_of(&bad, "")).out;
    assert!(plain.windows(4).any(|bytes| bytes == b"  \xff\n"), "raw in the plain output");
}

#[test]
fn e37_the_ends_of_chunks_change_nothing() {
    let temp = Temp::new();
    // A character of 3 bytes crosses every boundary of a power of two sooner or later.
    let line = format!("{}\u{3042}{}\n", "x".repeat(61), "\u{3042}".repeat(20));
    let path = temp.file("text", line.repeat(4_000));
    let mut command = wordcount("--input - --json --top all");
    let piped = run(command.stdin(File::open(&path).expect("the file"))).json(0);
    assert_eq!(counts(&piped).len(), 1);
    assert_eq!(counts(&piped), counted(&path));
}

#[test]
fn e39_lines_of_any_length_are_counted_exactly() {
    let temp = Temp::new();
    for len in [65_535, 65_536, 65_537, (1 << 20) - 1, 1 << 20, (1 << 20) + 1] {
        let mut line = b"ab ".repeat(len / 3 + 1);
        line.truncate(len);
        let path = temp.file("line", &line);
        let report = run(&mut wordcount_of(&path, "--json --top all")).json(0);
        let last_is_short = len % 3 == 1;
        let whole = (len / 3 + usize::from(len % 3 == 2)) as u64;
        assert_eq!(counts(&report)[&b"ab"[..]], whole, "{len}");
        assert_eq!(counts(&report).get(&b"a"[..]), last_is_short.then_some(&1), "{len}");
        assert_eq!(report["input"]["cut_lines"], u64::from(len > 1 << 20), "{len}");
    }
    let path = temp.file("empty-lines", "\n".repeat(100_000));
    let report = run(&mut wordcount_of(&path, "--json")).json(0);
    assert_eq!((&report["lines"], &report["words"]), (&100_000.into(), &0.into()));
}

#[test]
fn e39_an_endless_line_takes_bounded_memory_and_one_warning() {
    let temp = Temp::new();
    let path = temp.file("long", b"seven words in a line without end ".repeat(2 << 20));
    let ended = run(&mut wordcount_of(&path, "--json --top all --workers 1"));
    let report = ended.json(0);
    assert_eq!(report["words"], 7 * (2 << 20));
    assert_eq!(report["input"]["cut_lines"], 1);
    assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
    assert!(ended.err.contains("1 line over 1 MiB was cut at a word boundary"), "{}", ended.err);
    assert!(ended.peak_kib < 64 << 10, "{} KiB for a line of 68 MiB", ended.peak_kib);
}

#[test]
fn a_word_of_control_characters_does_not_reach_the_terminal_as_they_are() {
    let temp = Temp::new();
    let path = temp.file("control", b"\x1bc x\0y");
    let plain = run(&mut wordcount_of(&path, "")).out;
    assert!(!plain.contains(&0x1b) && !plain.contains(&0));
    assert!(String::from_utf8_lossy(&plain).contains("  \\x1bc\n"));
}

/// A file whose reading takes a while: few lines may be under way, and they are long.
fn slow(temp: &Temp) -> std::path::PathBuf {
    temp.file("slow", format!("{}\n", "word ".repeat(4_000)).repeat(1_000))
}

const SLOWLY: &str = "--workers 1 --max-pending 1 --linger 3ms --json --top all";

#[test]
fn e40_a_file_cut_to_nothing_while_it_is_read_is_read_to_its_new_end_and_said() {
    let temp = Temp::new();
    let path = slow(&temp);
    let child = start(&mut wordcount_of(&path, SLOWLY));
    child.wait_for_reading(&path);
    File::options().write(true).open(&path).and_then(|file| file.set_len(0)).expect("cut");
    let ended = child.wait();
    let report = ended.json(0);
    assert_eq!(report["input"]["shrank"], true);
    assert!(ended.err.contains("shrank while it was read"), "{}", ended.err);
    assert_eq!(ended.err.lines().count(), 1);
}

#[test]
fn e40_a_file_that_grows_or_is_replaced_while_it_is_read_keeps_its_words() {
    let temp = Temp::new();
    let path = slow(&temp);
    let child = start(&mut wordcount_of(&path, SLOWLY));
    child.wait_for_reading(&path);
    let mut file = File::options().append(true).open(&path).expect("the file");
    file.write_all(b"tail\n").expect("appended");
    std::fs::rename(temp.file("other", "replaced\n"), &path).expect("replaced");
    let report = child.wait().json(0);
    assert_eq!(counts(&report), words(&[(b"tail", 1), (b"word", 1_000 * 4_000)]));
    assert_eq!(report["input"]["shrank"], false);
}

#[test]
fn e40_a_fifo_is_read_line_by_line_until_its_writer_closes() {
    let temp = Temp::new();
    let fifo = temp.fifo("fifo");
    let child = start(&mut wordcount_of(&fifo, "--json --top all"));
    let mut writer = File::options().write(true).open(&fifo).expect("the FIFO");
    for _ in 0..4 {
        writer.write_all(b"a line\n").expect("a reader");
        thread::sleep(Duration::from_millis(150));
    }
    drop(writer);
    let report = child.wait().json(0);
    assert_eq!(counts(&report), words(&[(b"a", 4), (b"line", 4)]));
}

#[test]
fn e40_standard_input_is_read_only_when_asked_for() {
    // An open pipe that nobody writes to.
    let (reader, writer) = io::pipe().expect("a pipe");
    let ended = run(wordcount("").stdin(reader));
    assert_eq!(ended.code(), 0);
    assert!(ended.took < Duration::from_secs(15), "{:?}", ended.took);
    drop(writer);
    // Standard input closed.
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "exec \"$0\" run wordcount --lines 1000 <&-"]);
    let ended = run(shell.arg(env!("CARGO_BIN_EXE_streamwright")));
    assert_eq!((ended.code(), ended.err.as_str()), (0, ""));
    // Closed, and asked for: an empty text.
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "exec \"$0\" run wordcount --json --input - <&-"]);
    let report = run(shell.arg(env!("CARGO_BIN_EXE_streamwright"))).json(0);
    assert_eq!((&report["words"], &report["input"]["kind"]), (&0.into(), &"stdin".into()));
}

#[test]
fn standard_input_equals_the_file() {
    let temp = Temp::new();
    let path = temp.file("text", "a b c\n\na b\na");
    let (reader, mut writer) = io::pipe().expect("a pipe");
    let mut command = wordcount("--input - --json --top all");
    command.stdin(reader).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = start_to(&mut command);
    drop(command);
    writer.write_all(&std::fs::read(&path).expect("the file")).expect("a reader");
    drop(writer);
    assert_eq!(counts(&child.wait().json(0)), counted(&path));
}
