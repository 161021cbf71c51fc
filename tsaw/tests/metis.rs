//! METIS files: what is written is read again, and what is wrong is named.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Case, Kinds, Random, cases};
use proptest::prelude::*;
use tsaw::metis::{MetisError, read, read_partition, write, write_partition};
use tsaw::{BuildError, Cluster, NodeId, TaskId};

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn what_is_written_is_read_again(seed in any::<u64>()) {
        let mut case = Case::random(seed, 12, 4, Kinds { limits: false, distances: false });
        let r = &mut Random::new(seed);
        if r.one_in(2) {
            case.tasks.iter_mut().for_each(|task| task.mem = 0);
        }
        if r.one_in(2) {
            case.tasks.iter_mut().for_each(|task| task.bytes = 0);
        }
        let graph = case.graph();
        let text = write(&graph);
        let again = read(&text).unwrap();
        prop_assert_eq!((again.len(), again.total_rate()), (graph.len(), graph.total_rate()));
        for (id, (a, b)) in (0..).zip(graph.tasks().iter().zip(again.tasks())) {
            prop_assert_eq!((a.cpu, a.mem, a.state_bytes), (b.cpu, b.mem, b.state_bytes));
            prop_assert!(graph.neighbours(TaskId(id)).eq(again.neighbours(TaskId(id))));
        }
        prop_assert_eq!(write(&again), text);
        let nodes = case.nodes.len() as u64;
        let place: Vec<usize> = case.tasks.iter().map(|_| r.below(nodes) as usize).collect();
        let placement = case.placement(&place);
        let text = write_partition(&placement);
        prop_assert_eq!(read_partition(&text, &graph, &case.cluster()), Ok(placement));
    }

    /// One byte of a right text is another one: an error or another graph, never a panic.
    #[test]
    fn any_text_is_a_graph_or_an_error(seed in any::<u64>(), byte in any::<u8>(), noise in ".{0,40}") {
        let case = Case::random(seed, 8, 4, Kinds { limits: false, distances: false });
        let mut text = write(&case.graph()).into_bytes();
        let at = Random::new(seed).below(text.len() as u64) as usize;
        text[at] = byte;
        if let Ok(text) = std::str::from_utf8(&text) && let Ok(graph) = read(text) {
            prop_assert!(graph.len() <= text.len());
        }
        let _ = read(&noise);
    }
}

#[test]
fn weights_that_are_not_given_are_one() {
    let graph = read("%\n3 2\n2\n1 3\n2\n").unwrap();
    assert_eq!((graph.total_cpu(), graph.total_rate()), (3, 2));
    let graph = read("3 2 1\n2 7\n1 7 3 8\n2 8\n\n\n").unwrap();
    assert_eq!((graph.total_cpu(), graph.total_rate()), (3, 15));
    let graph = read("2 1 110 2\n9 4 5 2\n8 3 6 1").unwrap();
    let task = graph.tasks()[1];
    assert_eq!((task.state_bytes, task.cpu, task.mem, graph.total_rate()), (8, 3, 6, 1));
    // A vertex without an edge is an empty line.
    assert_eq!(read("3 1\n3\n\n1\n").unwrap().pair_count(), 1);
    assert_eq!(read("0 0\n").unwrap().len(), 0);
}

/// Each format there is, with comments anywhere and lines that end as on Windows.
#[test]
fn formats_comments_and_line_ends_give_one_graph() {
    for (text, sizes, cpu, rates) in [
        ("3 2\n2\n1 3\n2\n", false, false, false),
        ("3 2 0\n2\n1 3\n2\n", false, false, false),
        ("3 2 1\n2 7\n1 7 3 9\n2 9\n", false, false, true),
        ("3 2 10\n4 2\n5 1 3\n6 2\n", false, true, false),
        ("3 2 010 1\n4 2\n5 1 3\n6 2\n", false, true, false),
        ("3 2 11\n4 2 7\n5 1 7 3 9\n6 2 9\n", false, true, true),
        ("3 2 100\n1 2\n2 1 3\n3 2\n", true, false, false),
        ("3 2 101\n1 2 7\n2 1 7 3 9\n3 2 9\n", true, false, true),
        ("3 2 110\n1 4 2\n2 5 1 3\n3 6 2\n", true, true, false),
        ("3 2 111 1\n1 4 2 7\n2 5 1 7 3 9\n3 6 2 9\n", true, true, true),
    ] {
        let noisy = text.replace('\n', " \t\n% 9 9 9\n");
        for text in [text.to_owned(), text.replace('\n', "\r\n"), format!("%\n{noisy}\n%\n")] {
            let graph = read(&text).unwrap();
            for (at, task) in (0..).zip(graph.tasks()) {
                assert_eq!(task.cpu, if cpu { 4 + at } else { 1 }, "{text:?}");
                assert_eq!(task.state_bytes, if sizes { 1 + at } else { 0 }, "{text:?}");
            }
            let streams: Vec<_> = graph.neighbours(TaskId(1)).map(|(_, rate)| rate).collect();
            let want: Vec<i64> = [7, 9].map(|rate| if rates { rate } else { 1 }).to_vec();
            assert_eq!(streams, want, "{text:?}");
        }
    }
}

#[test]
fn each_rule_that_a_text_breaks_is_named_with_its_line() {
    let number = |line, word: &str| MetisError::Number { line, word: word.to_owned() };
    let format = |format: &str| MetisError::Format { line: 1, format: format.to_owned() };
    for (text, error) in [
        ("", MetisError::NoHeader),
        ("% only a comment", MetisError::NoHeader),
        ("3", MetisError::Header { line: 1, got: 1 }),
        ("%\n1 2 3 4 5", MetisError::Header { line: 2, got: 5 }),
        ("1 0 2", format("2")),
        ("1 0 0011", format("0011")),
        ("\n3 2\n", MetisError::Header { line: 1, got: 0 }),
        ("1 0 -1", format("-1")),
        ("1 0 é", format("é")),
        ("1 0 010 99999999999999999999", number(1, "99999999999999999999")),
        ("2 1 1\n2 nan\n1 nan\n", number(2, "nan")),
        ("2 1 1\n2 1e3\n1 1e3\n", number(2, "1e3")),
        (
            "2 1 1\n2 9223372036854775807\n1 9223372036854775807\n",
            MetisError::Build(BuildError::RateOverflow),
        ),
        (
            "9223372036854775807 9223372036854775807\n",
            MetisError::Vertices { want: 9_223_372_036_854_775_807, got: 0 },
        ),
        ("1 0 010 3", MetisError::Weights { line: 1, got: 3 }),
        ("1 0 010 0", MetisError::Weights { line: 1, got: 0 }),
        ("1 0 001 1", MetisError::Weights { line: 1, got: 1 }),
        ("-1 0", number(1, "-1")),
        ("1 0.5", number(1, "0.5")),
        ("1 9223372036854775808", number(1, "9223372036854775808")),
        ("2 1\n2\nx\n", number(3, "x")),
        ("2 1 011\n5 2 4\n\n", MetisError::Missing { line: 3 }),
        ("2 1 1\n2\n1\n", MetisError::Missing { line: 2 }),
        ("2 1\n2\n", MetisError::Vertices { want: 2, got: 1 }),
        ("1000000000000 0\n\n", MetisError::Vertices { want: 1_000_000_000_000, got: 1 }),
        ("1 0\n\n\n1\n", MetisError::Vertices { want: 1, got: 2 }),
        ("2 2\n2\n1\n", MetisError::Edges { want: 2, got: 1 }),
        ("2 1\n3\n1\n", MetisError::Neighbour { line: 2, neighbour: 3 }),
        ("2 1\n0\n1\n", MetisError::Neighbour { line: 2, neighbour: 0 }),
        ("2 1\n1\n1\n", MetisError::SelfEdge { line: 2 }),
        ("2 1 1\n2 0\n1 0\n", MetisError::ZeroWeight { line: 2 }),
        ("3 2\n2\n1 3\n\n", MetisError::OneWay(2, 3)),
        ("3 2\n2\n1\n2\n", MetisError::OneWay(2, 3)),
        ("2 1 1\n2 5\n1 6\n", MetisError::OneWay(1, 2)),
        ("2 2\n2 2\n1 1\n", MetisError::OneWay(1, 2)),
        ("2 0 10\n9223372036854775807\n1\n", MetisError::Build(BuildError::CpuOverflow)),
    ] {
        assert_eq!(read(text), Err(error), "{text:?}");
    }
}

#[test]
fn a_partition_is_of_the_graph_and_of_the_cluster() {
    let graph = read("2 1\n2\n1\n").unwrap();
    let cluster = Cluster::uniform(2, 2).unwrap();
    let read = |text: &str| read_partition(text, &graph, &cluster);
    assert_eq!(read("1\n 0 \n").unwrap().nodes(), [NodeId(1), NodeId(0)]);
    let wrong = BuildError::PlacementLength { got: 1, want: 2 };
    assert_eq!(read("1\n"), Err(MetisError::Build(wrong)));
    for far in ["2", "4294967296"] {
        let wrong = read(&format!("0\n{far}\n"));
        assert!(matches!(wrong, Err(MetisError::Build(BuildError::UnknownNode(_)))), "{wrong:?}");
    }
    let word = "1 0".to_owned();
    assert_eq!(read("1 0\n"), Err(MetisError::Number { line: 1, word }));
}
