//! DIMACS files in and out.

#![allow(missing_docs, clippy::unwrap_used)]
#![cfg(feature = "std")]

mod common;

use std::io::{self, BufReader, Read};

use common::{cases, id};
use flownet::dimacs::{MAX_LINE, ReadError, WriteError, read_max, write_max, write_solution};
use flownet::{Limit, Network, Place};
use proptest::prelude::*;

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
    assert_eq!(with("n 4 t\n", ""), "line 8: the file ends without an `t`");
    assert_eq!(with("n 1 s\n", ""), "line 8: the file ends without an `s`");
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

    #[test]
    fn no_bytes_make_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_max(bytes.as_slice());
    }

    #[test]
    fn no_words_make_a_panic(words in proptest::collection::vec(
        prop::sample::select(vec!["p", "max", "n", "a", "s", "t", "c", "0", "1", "2", "3", "\n",
            "\r\n", "-1", "18446744073709551615", "18446744073709551616", "1e999"]),
        0..60,
    )) {
        if let Ok(net) = read(&words.join(" ")) {
            // Whatever could be read can be asked.
            let _ = net.solve();
        }
    }
}
