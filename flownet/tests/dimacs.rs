//! DIMACS files in and out.

#![allow(missing_docs, clippy::unwrap_used)]
#![cfg(feature = "std")]

mod common;

use std::cell::Cell;
use std::io::{self, BufReader, Read};

use common::{cases, id};
use flownet::dimacs::{MAX_LINE, ReadError, WriteError, read_max, write_max, write_solution};
use flownet::{Error, Limit, Network, Place, verify};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

const GOOD: &str =
    "c small\np max 4 5\nn 1 s\nn 4 t\na 1 2 4\na 1 3 2\na 2 3 3\na 2 4 1\na 3 4 6\n";

fn read(text: &str) -> Result<Network<u64>, ReadError> {
    read_max(text.as_bytes())
}

/// The error of a file, as text; it tells the line as well.
fn refused(text: &str) -> String {
    let error = read(text).unwrap_err();
    let line = error.line().unwrap();
    let shown = error.to_string();
    assert!(shown.starts_with(&format!("line {line}: ")), "{shown}");
    shown
}

#[test]
fn a_file_is_read_and_solved() {
    let net = read(GOOD).unwrap();
    assert_eq!((net.node_count(), net.arc_count()), (4, 5));
    assert_eq!(net.solve().unwrap().value, 6);
}

#[test]
fn spaces_tabs_line_ends_and_comments_may_be_anyhow() {
    let text = GOOD.replace('\n', "\r\n").replace(' ', "\t  ");
    assert_eq!(read(&text).unwrap().solve().unwrap().value, 6);
    let text = format!("\n\nc\ncomment without a space\n   \n{GOOD}\n\nc the end");
    assert_eq!(read(&text).unwrap().solve().unwrap().value, 6);
    let text = GOOD.trim_end();
    assert_eq!(read(text).unwrap().solve().unwrap().value, 6);
}

#[test]
fn each_fault_is_told_with_its_line() {
    let with = |from: &str, to: &str| {
        assert!(GOOD.contains(from));
        refused(&GOOD.replacen(from, to, 1))
    };
    let number = "is not a whole number from 0 to 18446744073709551615";
    assert_eq!(with("a 2 4 1", "a 2 4 1e999"), format!("line 8: \"1e999\" {number}"));
    assert_eq!(with("a 2 4 1", "a 2 4 -1"), format!("line 8: \"-1\" {number}"));
    assert_eq!(with("a 2 4 1", "a 2 4 +1"), format!("line 8: \"+1\" {number}"));
    assert_eq!(with("a 2 4 1", "a 2 4 1.5"), format!("line 8: \"1.5\" {number}"));
    assert_eq!(with("a 2 4 1", "a 2 4 inf"), format!("line 8: \"inf\" {number}"));
    let large = "18446744073709551616";
    assert_eq!(with("a 2 4 1", &format!("a 2 4 {large}")), format!("line 8: \"{large}\" {number}"));
    assert_eq!(with("a 2 4 1", "a 2 5 1"), "line 8: node 5 is not in 1..=4");
    assert_eq!(with("a 2 4 1", "a 0 4 1"), "line 8: node 0 is not in 1..=4");
    assert_eq!(with("a 2 4 1", "a 2 4"), "line 8: should be `a FROM TO CAPACITY`");
    assert_eq!(with("a 2 4 1", "a 2 4 1 1"), "line 8: should be `a FROM TO CAPACITY`");
    assert_eq!(
        with("a 2 4 1", "e 2 4 1"),
        "line 8: begins with \"e\", which is none of c, p, n and a"
    );
    assert_eq!(with("p max 4 5\n", ""), "line 2: no `p` line so far");
    assert_eq!(with("n 4 t", "p max 4 5"), "line 4: a second `p` line, after line 2");
    assert_eq!(with("p max", "p min"), "line 2: problem \"min\", not `max`");
    assert_eq!(with("p max 4 5", "p max 4"), "line 2: should be `p max NODES ARCS`");
    assert_eq!(with("p max 4 5", "p max 4 4"), "line 9: more than 4 arcs");
    assert_eq!(with("p max 4 5", "p max 4 6"), "line 9: the file ends after 5 of 6 arcs");
    assert_eq!(
        with("p max 4 5", "p max 4000000000 5"),
        "line 2: 4000000000 nodes or arcs are too many"
    );
    assert_eq!(
        with("p max 4 5", "p max 4 4000000000"),
        "line 2: 4000000000 nodes or arcs are too many"
    );
    assert_eq!(with("n 4 t", "n 4 x"), "line 4: terminal \"x\", not s or t");
    assert_eq!(with("n 4 t", "n 4 s"), "line 4: a second `s`, after line 3");
    assert_eq!(with("n 4 t", "n 1 t"), "line 4: node 1 is both source and sink");
    assert_eq!(with("n 4 t", "n 5 t"), "line 4: node 5 is not in 1..=4");
    assert_eq!(with("n 4 t\n", ""), "line 8: the file ends with no `t`");
    assert_eq!(with("n 1 s\n", ""), "line 8: the file ends with no `s`");
    assert_eq!(refused(""), "line 1: no `p` line so far");
    assert_eq!(refused("c nothing\n"), "line 1: no `p` line so far");
}

#[test]
fn lines_that_are_too_long_are_refused_and_comments_are_not() {
    let spaces = " ".repeat(MAX_LINE);
    let text = GOOD.replacen("a 2 4 1", &format!("a 2 4{spaces}1"), 1);
    assert_eq!(refused(&text), format!("line 8: longer than {MAX_LINE} bytes"));
    let comment = format!("c {}\n", "x".repeat(10_000_000));
    // In small parts, so that no part holds a line.
    let text = format!("{comment}{GOOD}{comment}");
    let net = read_max(BufReader::with_capacity(7, text.as_bytes())).unwrap();
    assert_eq!(net.solve().unwrap().value, 6);
    // Blanks before the first word do not count, on no line and in no part.
    for width in [1, 7, 5000] {
        let text = format!("{spaces}{spaces}{comment}\x0c\t{spaces}{GOOD}   {comment}{spaces}\n");
        let net = read_max(BufReader::with_capacity(width, text.as_bytes())).unwrap();
        assert_eq!(net.solve().unwrap().value, 6);
    }
    let text = GOOD.replacen("a 2 4 1", "\x0c a\x0c2 4\r1", 1);
    assert_eq!(read(&text).unwrap().solve().unwrap().value, 6);
    // A line without an end, of bytes that are not text.
    let endless = BufReader::new(io::repeat(0xff).take(1 << 40));
    assert!(matches!(read_max(endless), Err(ReadError::LineTooLong { line: 1 })));
}

#[test]
fn a_claim_reserves_nothing() {
    let text = "p max 1073741824 1000000000\nn 1 s\nn 2 t\n";
    assert_eq!(refused(text), "line 3: the file ends after 0 of 1000000000 arcs");
}

#[test]
fn loops_and_parallel_arcs_are_kept() {
    let net = read("p max 2 4\nn 1 s\nn 2 t\na 1 1 9\na 1 2 3\na 1 2 4\na 2 1 5\n").unwrap();
    let answer = net.solve().unwrap();
    assert_eq!((answer.value, answer.flows), (7, vec![0, 3, 4, 0]));
}

#[test]
fn a_failing_reader_is_told() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("broken"))
        }
    }
    let error = read_max(BufReader::new(Broken)).unwrap_err();
    assert_eq!((error.line(), error.to_string()), (None, "cannot read: broken".into()));
}

#[test]
fn what_a_file_cannot_say_is_not_written() {
    let fresh = || read(GOOD).unwrap();
    let refused = |net: &Network<u64>| {
        let mut bytes = Vec::new();
        let error = write_max(net, &mut bytes).unwrap_err();
        assert!(bytes.is_empty());
        error
    };
    let mut net = fresh();
    net.set_node_capacity(id(1), 3).unwrap();
    assert!(matches!(refused(&net), WriteError::Limit { at: Place::Node(node) } if node == id(1)));
    let mut net = fresh();
    net.set_gain(id(2), 3.0).unwrap();
    assert!(matches!(refused(&net), WriteError::Gain { node } if node == id(2)));
    let mut net = fresh();
    let arc = flownet::ArcId(2);
    net.set_capacity(arc, Limit::Unbounded).unwrap();
    assert!(matches!(refused(&net), WriteError::Limit { at: Place::Arc(at) } if at == arc));
    let mut net = fresh();
    net.add_source(id(1), Limit::Unbounded).unwrap();
    assert!(matches!(refused(&net), WriteError::Terminals));
    let answer = fresh().solve().unwrap();
    let error = write_solution(&Network::new(), &answer, Vec::new()).unwrap_err();
    assert!(matches!(error, WriteError::WrongAnswer));
}

#[test]
fn a_solution_is_written() {
    let net = read("p max 3 3\nn 1 s\nn 3 t\na 1 2 4\na 2 3 3\na 1 3 0\n").unwrap();
    let mut bytes = Vec::new();
    write_solution(&net, &net.solve().unwrap(), &mut bytes).unwrap();
    assert_eq!(String::from_utf8(bytes).unwrap(), "s 3\nf 1 2 3\nf 2 3 3\n");
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn what_is_written_reads_back(
        arcs in proptest::collection::vec((0..9_usize, 0..9_usize, any::<u64>()), 0..30),
    ) {
        let net = common::net(9, 3, 7, &arcs);
        let mut bytes = Vec::new();
        write_max(&net, &mut bytes).unwrap();
        let back = read_max(bytes.as_slice()).unwrap();
        prop_assert_eq!(back.node_count(), 9);
        prop_assert!(back.arcs().eq(net.arcs()));
        prop_assert!(back.sources().eq(net.sources()) && back.sinks().eq(net.sinks()));
    }
}

/// A good file after some changes of words, lines or bytes.
fn mutated(seed: &[(u8, u16, u16)], kinds: u8) -> Vec<u8> {
    const WORDS: [&str; 16] = [
        "p",
        "max",
        "n",
        "a",
        "s",
        "t",
        "c",
        "0",
        "1",
        "2",
        "3",
        "4",
        "-1",
        "1e999",
        "18446744073709551615",
        "18446744073709551616",
    ];
    let mut lines: Vec<Vec<Vec<u8>>> = GOOD
        .lines()
        .map(|line| line.split(' ').map(|word| word.as_bytes().to_vec()).collect())
        .collect();
    for &(kind, place, what) in seed {
        let line = usize::from(place) % lines.len();
        let other = usize::from(what) % lines.len();
        let word = usize::from(what) % lines[line].len().max(1);
        match kind % kinds {
            // Words first: the most likely to leave a good file.
            0 | 1 if word < lines[line].len() => {
                lines[line][word] = WORDS[usize::from(what / 16) % WORDS.len()].into();
            }
            2 => lines.swap(line, other),
            3 => lines.insert(line, vec![b"c".to_vec(), b"more".to_vec()]),
            4 => {
                let copy = lines[other].clone();
                lines.insert(line, copy);
            }
            5 if lines.len() > 1 => drop(lines.remove(line)),
            6 => lines[line].push(b"\t".to_vec()),
            7 if word < lines[line].len() && !lines[line][word].is_empty() => {
                let at = usize::from(what / 16) % lines[line][word].len();
                lines[line][word][at] = what.to_le_bytes()[0];
            }
            _ => {}
        }
    }
    let lines: Vec<Vec<u8>> = lines.iter().map(|words| words.join(&b' ')).collect();
    lines.join(&b'\n')
}

/// Runs over mutated files; returns how many there were, and how many could be read.
fn mutants(kinds: u8) -> (u32, u32) {
    let change = (any::<u8>(), any::<u16>(), any::<u16>());
    let (all, good) = (Cell::new(0), Cell::new(0));
    let changes = proptest::collection::vec(change, 1..6);
    TestRunner::new_with_rng(cases(10_000), TestRng::deterministic_rng(RngAlgorithm::ChaCha))
        .run(&changes, |seed| {
            all.set(all.get() + 1);
            let bytes = mutated(&seed, kinds);
            match read_max(bytes.as_slice()) {
                // Whatever could be read can be asked; only the value may be too large.
                Ok(net) => {
                    good.set(good.get() + 1);
                    match net.solve() {
                        Ok(answer) => prop_assert_eq!(verify(&net, &answer), Ok(())),
                        Err(error) => {
                            let overflow = matches!(error, Error::Overflow { .. });
                            prop_assert!(overflow, "{}", error);
                        }
                    }
                    let mut again = Vec::new();
                    write_max(&net, &mut again).unwrap();
                    prop_assert_eq!(read_max(again.as_slice()).unwrap(), net);
                }
                Err(error) => {
                    let lines = bytes.split(|&byte| byte == b'\n').count() as u64;
                    prop_assert!((1..=lines).contains(&error.line().unwrap()));
                }
            }
            Ok(())
        })
        .unwrap();
    (all.get(), good.get())
}

#[test]
fn no_words_and_lines_make_a_panic() {
    let (all, good) = mutants(7);
    assert!(good > all / 10 && good < all, "{good} of {all}");
}

#[test]
fn no_bytes_make_a_panic() {
    let (all, good) = mutants(8);
    assert!(good > all / 10 && good < all, "{good} of {all}");
}
