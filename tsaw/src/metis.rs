//! Graphs in the text format of METIS, to compare with general partitioners and to read theirs.
//!
//! A vertex is a task, its weight the CPU, a second weight the memory, its size the state in
//! bytes; an edge is a stream, its weight the tuples a second of both directions. What the format
//! cannot say is not written: components, kinds, sources, colocation and spread. Nothing here does
//! I/O: texts come and go as strings.
//!
//! ```
//! use tsaw::metis;
//!
//! let graph = metis::read("% a path of three\n3 2 011\n5 2 100\n6 1 100 3 40\n7 2 40\n")?;
//! assert_eq!((graph.len(), graph.total_cpu(), graph.total_rate()), (3, 18, 140));
//! assert_eq!(metis::write(&graph), "3 2 011\n5 2 100\n6 1 100 3 40\n7 2 40\n");
//! # Ok::<(), metis::MetisError>(())
//! ```
//!
//! # References
//!
//! G. Karypis: METIS 5.1.0 manual, section 4.1.1 (graph files) and 4.2.1 (partition files).

use std::fmt::Write;
use std::str::FromStr;

use crate::{BuildError, Cluster, Kind, NodeId, Placement, TaskGraph, TaskGraphBuilder, TaskId};

/// Why a text is no graph, or no partition of one. Lines are counted from 1, comments too.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MetisError {
    /// No line but comments.
    #[error("the text has no header line: the numbers of vertices and of edges")]
    NoHeader,
    /// The header has fewer than two or more than four numbers.
    #[error("line {line}: a header has two to four numbers, this one {got}")]
    Header {
        /// The line.
        line: usize,
        /// How many it has.
        got: usize,
    },
    /// The third number of the header is not made of at most three digits 0 and 1.
    #[error("line {line}: the format {format} is no three digits 0 or 1")]
    Format {
        /// The line.
        line: usize,
        /// What stands there.
        format: String,
    },
    /// More weights a vertex than CPU and memory, or a number of weights where there are none.
    #[error("line {line}: a vertex has 1 weight, CPU, or 2, CPU and memory; not {got}")]
    Weights {
        /// The line.
        line: usize,
        /// The header's number.
        got: u64,
    },
    /// A word that is no whole number from 0 to 2⁶³ − 1.
    #[error("line {line}: {word} is no whole number from 0 to 2^63 - 1")]
    Number {
        /// The line.
        line: usize,
        /// The word.
        word: String,
    },
    /// A vertex' line ends where a weight was to come.
    #[error("line {line}: the line ends where a weight was to come")]
    Missing {
        /// The line.
        line: usize,
    },
    /// Another number of vertex lines than the header says.
    #[error("the header says {want} vertices, the text has {got} lines for them")]
    Vertices {
        /// The header's number.
        want: u64,
        /// Lines.
        got: u64,
    },
    /// Another number of edges than the header says.
    #[error("the header says {want} edges, the text has {got}")]
    Edges {
        /// The header's number.
        want: u64,
        /// Edges.
        got: u64,
    },
    /// A neighbour that is no vertex; they are counted from 1.
    #[error("line {line}: neighbour {neighbour} is no vertex from 1 to the header's number")]
    Neighbour {
        /// The line.
        line: usize,
        /// The number.
        neighbour: u64,
    },
    /// A vertex is its own neighbour.
    #[error("line {line}: a vertex is its own neighbour")]
    SelfEdge {
        /// The line.
        line: usize,
    },
    /// An edge weight of zero: leave the edge out.
    #[error("line {line}: an edge weight of zero: leave the edge out")]
    ZeroWeight {
        /// The line.
        line: usize,
    },
    /// An edge that is listed by one of its vertices only, or twice, or with two weights.
    #[error("the edge between vertices {0} and {1} is not listed once by each with one weight")]
    OneWay(u64, u64),
    /// A sum is too large for a graph.
    #[error(transparent)]
    Build(#[from] BuildError),
}

/// What the header says of the lines to come.
struct Header {
    vertices: u64,
    edges: u64,
    sizes: bool,
    weights: usize,
    rates: bool,
}

/// The graph of a text; weights that it does not give are 1. All tasks are of one component.
///
/// O(vertices + edges · log edges) time.
///
/// # Errors
///
/// [`MetisError`] names the line and the rule that it breaks.
pub fn read(text: &str) -> Result<TaskGraph, MetisError> {
    let mut lines = (1..).zip(text.lines()).filter(|(_, text)| !text.starts_with('%'));
    let (line, first) = lines.next().ok_or(MetisError::NoHeader)?;
    let header = Header::read(line, first)?;
    let mut builder = TaskGraphBuilder::new();
    let component = builder.component("graph", Kind::Bolt);
    // The edges as their smaller, and as their larger vertex lists them.
    let mut listed = [Vec::new(), Vec::new()];
    let mut got = 0;
    for (line, text) in lines {
        if got == header.vertices {
            // Some write an empty line at the end.
            if text.trim().is_empty() {
                continue;
            }
            return Err(MetisError::Vertices { want: header.vertices, got: got + 1 });
        }
        let mut words = text.split_ascii_whitespace();
        let mut next = || words.next().map(|word| number(line, word));
        let mut weight = |given: bool, otherwise: u64| match given {
            true => next().unwrap_or(Err(MetisError::Missing { line })),
            false => Ok(otherwise),
        };
        let state = weight(header.sizes, 0)?;
        let cpu = weight(header.weights > 0, 1)?;
        let mem = weight(header.weights > 1, 0)?;
        let task = builder.task(component, cpu);
        builder.state_bytes(task, state);
        builder.memory(task, mem);
        got += 1;
        while let Some(other) = next() {
            let other = other?;
            if other == 0 || other > header.vertices {
                return Err(MetisError::Neighbour { line, neighbour: other });
            }
            if other == got {
                return Err(MetisError::SelfEdge { line });
            }
            let rate = match header.rates {
                true => next().unwrap_or(Err(MetisError::Missing { line }))?,
                false => 1,
            };
            if rate == 0 {
                return Err(MetisError::ZeroWeight { line });
            }
            listed[usize::from(other < got)].push((got.min(other), got.max(other), rate));
        }
    }
    if got != header.vertices {
        return Err(MetisError::Vertices { want: header.vertices, got });
    }
    let [mut below, mut above] = listed;
    below.sort_unstable();
    above.sort_unstable();
    check_twins(&below, &above)?;
    if below.len() as u64 != header.edges {
        return Err(MetisError::Edges { want: header.edges, got: below.len() as u64 });
    }
    for (a, b, rate) in below {
        // Both are at most the number of tasks, which `build` checks.
        builder.stream(TaskId((a - 1) as u32), TaskId((b - 1) as u32), rate.cast_signed());
    }
    Ok(builder.build()?)
}

type Edge = (u64, u64, u64);

/// Each edge is listed once by each of its vertices, with one weight.
fn check_twins(below: &[Edge], above: &[Edge]) -> Result<(), MetisError> {
    let twice = |edges: &[Edge]| {
        let mut pairs = edges.windows(2);
        pairs.find(|pair| (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1)).map(|pair| pair[0])
    };
    let differ = below.iter().zip(above).find(|(a, b)| a != b).map(|(a, b)| *a.min(b));
    let rest = |edges: &[Edge], others: &[Edge]| edges.get(others.len()).copied();
    let odd = twice(below).or(twice(above)).or(differ);
    match odd.or(rest(below, above)).or(rest(above, below)) {
        Some((a, b, _)) => Err(MetisError::OneWay(a, b)),
        None => Ok(()),
    }
}

impl Header {
    fn read(line: usize, text: &str) -> Result<Self, MetisError> {
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        if !(2..=4).contains(&words.len()) {
            return Err(MetisError::Header { line, got: words.len() });
        }
        let format = words.get(2).copied().unwrap_or("0");
        if format.len() > 3 || !format.bytes().all(|digit| matches!(digit, b'0' | b'1')) {
            return Err(MetisError::Format { line, format: format.to_owned() });
        }
        // Leading zeros may be left out.
        let given = |from_right: usize| {
            format.len() > from_right && format.as_bytes()[format.len() - 1 - from_right] == b'1'
        };
        let weights = match (given(1), words.get(3)) {
            (false, None) => 0,
            (true, None) => 1,
            (has, Some(word)) => match (has, number(line, word)?) {
                (true, 1) => 1,
                (true, 2) => 2,
                (false, 0) => 0,
                (_, got) => return Err(MetisError::Weights { line, got }),
            },
        };
        let (vertices, edges) = (number(line, words[0])?, number(line, words[1])?);
        Ok(Self { vertices, edges, sizes: given(2), weights, rates: given(0) })
    }
}

fn number(line: usize, word: &str) -> Result<u64, MetisError> {
    let number = u64::from_str(word).ok().filter(|&number| i64::try_from(number).is_ok());
    number.ok_or_else(|| MetisError::Number { line, word: word.to_owned() })
}

/// The text of a graph, with CPU and rates, and with memory and state if any task has some.
///
/// Read again it has the same tasks and streams, in one component. O(tasks + streams) time.
#[must_use]
pub fn write(graph: &TaskGraph) -> String {
    let sizes = graph.tasks().iter().any(|task| task.state_bytes > 0);
    let memory = graph.tasks().iter().any(|task| task.mem > 0);
    let mut text = format!("{} {} {}11", graph.len(), graph.pair_count(), u8::from(sizes));
    text.push_str(if memory { " 2\n" } else { "\n" });
    let mut put = |words: &mut Vec<u64>| {
        for (at, word) in words.drain(..).enumerate() {
            // Writing to a string does not fail.
            let _ = write!(text, "{}{word}", if at == 0 { "" } else { " " });
        }
        text.push('\n');
    };
    let mut words = Vec::new();
    for (id, task) in (0..).zip(graph.tasks()) {
        words.extend(sizes.then_some(task.state_bytes));
        words.push(task.cpu);
        words.extend(memory.then_some(task.mem));
        for (other, rate) in graph.neighbours(TaskId(id)) {
            words.extend([u64::from(other.0) + 1, rate.unsigned_abs()]);
        }
        put(&mut words);
    }
    text
}

/// The placement of a partition file: a line with the number of its node, from 0, for each task.
///
/// # Errors
///
/// [`MetisError::Number`], or [`MetisError::Build`] for another number of tasks or a node that is
/// not of the cluster.
pub fn read_partition(
    text: &str,
    graph: &TaskGraph,
    cluster: &Cluster,
) -> Result<Placement, MetisError> {
    let words = (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty());
    let node = |(line, word): (usize, &str)| {
        let number = number(line, word.trim())?;
        // A number over u32 is no node of any cluster.
        Ok(NodeId(u32::try_from(number).unwrap_or(u32::MAX)))
    };
    let placement = Placement::new(words.map(node).collect::<Result<_, MetisError>>()?);
    placement.check(graph, cluster)?;
    Ok(placement)
}

/// The partition file of a placement.
#[must_use]
pub fn write_partition(placement: &Placement) -> String {
    placement.nodes().iter().map(|node| format!("{}\n", node.0)).collect()
}
