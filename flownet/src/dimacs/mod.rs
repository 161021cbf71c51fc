//! DIMACS files of maximum flow problems, as streams.
//!
//! ```text
//! c a comment
//! p max 4 3        nodes, arcs
//! n 1 s            the source; nodes count from 1
//! n 4 t            the sink
//! a 1 2 5          an arc and its capacity
//! a 2 4 3
//! a 1 1 7          self loops are kept, and carry nothing
//! ```
//!
//! Needs the feature `std`.

mod read;
mod write;

use std::io;
use std::string::String;

pub use self::read::read_max;
pub use self::write::{write_max, write_solution};
use crate::{NodeId, Place};

/// The longest line that is not a comment, in bytes, without the blanks before its first word;
/// those and comments may have any length.
pub const MAX_LINE: usize = 1024;

/// Why a file was refused, with the number of the line, counted from 1.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// The reader failed.
    Io(io::Error),
    /// The line begins with none of `c`, `p`, `n` and `a`.
    UnknownLine {
        /// Where.
        line: u64,
        /// Its first word.
        word: String,
    },
    /// A line that is not a comment is longer than [`MAX_LINE`].
    LineTooLong {
        /// Where.
        line: u64,
    },
    /// A line has too few or too many words.
    WordCount {
        /// Where.
        line: u64,
        /// How it should be.
        expected: &'static str,
    },
    /// The problem is not `max`.
    NotMax {
        /// Where.
        line: u64,
        /// What it says instead.
        word: String,
    },
    /// A word is not a whole number from 0 to `u64::MAX`: negative, with a fraction or an
    /// exponent, too large, or no number.
    BadNumber {
        /// Where.
        line: u64,
        /// What stands there.
        word: String,
    },
    /// A terminal is neither `s` nor `t`.
    BadTerminal {
        /// Where.
        line: u64,
        /// What stands there.
        word: String,
    },
    /// A node's number is 0 or above the count of the `p` line.
    NoSuchNode {
        /// Where.
        line: u64,
        /// The number.
        node: u64,
        /// How many nodes there are.
        nodes: u64,
    },
    /// More nodes or arcs than a network can have.
    TooLarge {
        /// Where.
        line: u64,
        /// How many.
        count: u64,
    },
    /// An `n` or `a` line comes before the `p` line, or the file ends without one.
    NoProblem {
        /// Where.
        line: u64,
    },
    /// A second `p` line.
    SecondProblem {
        /// Where.
        line: u64,
        /// Where the first is.
        first: u64,
    },
    /// A second source, or a second sink.
    SecondTerminal {
        /// Where.
        line: u64,
        /// `s` or `t`.
        kind: char,
        /// Where the first is.
        first: u64,
    },
    /// The sink is the source.
    SameTerminals {
        /// Where.
        line: u64,
        /// The node.
        node: u64,
    },
    /// An arc line more than the `p` line says.
    TooManyArcs {
        /// Where the first too many is.
        line: u64,
        /// How many there should be.
        arcs: u64,
    },
    /// The file ends with fewer arcs than the `p` line says.
    TooFewArcs {
        /// The last line.
        line: u64,
        /// How many there are.
        found: u64,
        /// How many there should be.
        arcs: u64,
    },
    /// The file ends without a source (`s`) or sink (`t`).
    NoTerminal {
        /// The last line.
        line: u64,
        /// `s` or `t`.
        kind: char,
    },
}

impl ReadError {
    /// The line, unless the reader itself failed.
    #[must_use]
    pub fn line(&self) -> Option<u64> {
        match *self {
            ReadError::Io(_) => None,
            ReadError::UnknownLine { line, .. }
            | ReadError::LineTooLong { line }
            | ReadError::WordCount { line, .. }
            | ReadError::NotMax { line, .. }
            | ReadError::BadNumber { line, .. }
            | ReadError::BadTerminal { line, .. }
            | ReadError::NoSuchNode { line, .. }
            | ReadError::TooLarge { line, .. }
            | ReadError::NoProblem { line }
            | ReadError::SecondProblem { line, .. }
            | ReadError::SecondTerminal { line, .. }
            | ReadError::SameTerminals { line, .. }
            | ReadError::TooManyArcs { line, .. }
            | ReadError::TooFewArcs { line, .. }
            | ReadError::NoTerminal { line, .. } => Some(line),
        }
    }
}

impl core::fmt::Display for ReadError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        if let Some(line) = self.line() {
            write!(f, "line {line}: ")?;
        }
        match self {
            ReadError::Io(error) => write!(f, "cannot read: {error}"),
            ReadError::UnknownLine { word, .. } => {
                write!(f, "begins with {word:?}, which is none of c, p, n and a")
            }
            ReadError::LineTooLong { .. } => write!(f, "longer than {MAX_LINE} bytes"),
            ReadError::WordCount { expected, .. } => write!(f, "should be `{expected}`"),
            ReadError::NotMax { word, .. } => write!(f, "problem {word:?}, not `max`"),
            ReadError::BadNumber { word, .. } => {
                write!(f, "{word:?} is not a whole number from 0 to {}", u64::MAX)
            }
            ReadError::BadTerminal { word, .. } => write!(f, "terminal {word:?}, not s or t"),
            ReadError::NoSuchNode { node, nodes, .. } => {
                write!(f, "node {node} is not in 1..={nodes}")
            }
            ReadError::TooLarge { count, .. } => write!(f, "{count} nodes or arcs are too many"),
            ReadError::NoProblem { .. } => write!(f, "no `p` line so far"),
            ReadError::SecondProblem { first, .. } => {
                write!(f, "a second `p` line, after line {first}")
            }
            ReadError::SecondTerminal { kind, first, .. } => {
                write!(f, "a second `{kind}`, after line {first}")
            }
            ReadError::SameTerminals { node, .. } => {
                write!(f, "node {node} is both source and sink")
            }
            ReadError::TooManyArcs { arcs, .. } => write!(f, "more than {arcs} arcs"),
            ReadError::TooFewArcs { found, arcs, .. } => {
                write!(f, "the file ends after {found} of {arcs} arcs")
            }
            ReadError::NoTerminal { kind, .. } => write!(f, "the file ends with no `{kind}`"),
        }
    }
}

impl core::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            ReadError::Io(error) => Some(error),
            _ => None,
        }
    }
}

/// Why a network or answer could not be written.
#[derive(Debug)]
#[non_exhaustive]
pub enum WriteError {
    /// The writer failed.
    Io(io::Error),
    /// A DIMACS file has exactly one source and one sink, both without bound.
    Terminals,
    /// A DIMACS file has no word for this: an arc without capacity, or a node with one.
    Limit {
        /// Whose it is.
        at: Place,
    },
    /// A DIMACS file has no gains.
    Gain {
        /// Whose it is.
        node: NodeId,
    },
    /// The answer is to another network.
    WrongAnswer,
}

impl core::fmt::Display for WriteError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            WriteError::Io(error) => write!(f, "cannot write: {error}"),
            WriteError::Terminals => {
                write!(f, "a DIMACS file has one source and one sink, without bounds")
            }
            WriteError::Limit { at } => write!(f, "a DIMACS file cannot say the limit of {at}"),
            WriteError::Gain { node } => write!(f, "a DIMACS file cannot say the gain of {node}"),
            WriteError::WrongAnswer => write!(f, "the answer is to another network"),
        }
    }
}

impl core::error::Error for WriteError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            WriteError::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        WriteError::Io(error)
    }
}
