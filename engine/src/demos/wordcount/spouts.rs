//! The spouts of WordCount: lines of a file, and lines made up by the seeded generator.

use std::sync::{Arc, Mutex, PoisonError};

use super::generate::Generator;
use super::input::{InputStats, Lines, Polled};
use crate::{BoxError, Poll, Spout, SpoutEmitter, Text};

/// Lines that a call emits at most, so that the engine's bounds are looked at now and then.
const A_CALL: usize = 64;
/// Bytes that a call emits, about.
const A_CALL_BYTES: u64 = 16 << 10;

/// What was read, summed over the parts of an input.
pub type Read = Arc<Mutex<InputStats>>;

/// Emits the lines of one part of an input.
#[derive(Debug)]
pub struct LineSpout {
    lines: Lines,
    read: Read,
    told: InputStats,
    /// Bytes of a line, by the last call.
    usual: u64,
}

impl LineSpout {
    /// A spout of `lines` that adds what it has read to `read`.
    #[must_use]
    pub fn new(lines: Lines, read: Read) -> Self {
        LineSpout { lines, read, told: InputStats::default(), usual: A_CALL_BYTES }
    }

    fn tell(&mut self) {
        let stats = self.lines.stats();
        let mut sum = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        sum.bytes += stats.bytes - self.told.bytes;
        sum.lines += stats.lines - self.told.lines;
        sum.cut_lines += stats.cut_lines - self.told.cut_lines;
        sum.shrank |= stats.shrank;
        let (bytes, lines) = (stats.bytes - self.told.bytes, stats.lines - self.told.lines);
        self.usual = bytes.checked_div(lines).unwrap_or(self.usual).max(1);
        self.told = stats;
    }
}

impl Spout for LineSpout {
    type Out = Text;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Text>) -> Result<Poll, BoxError> {
        let fit = usize::try_from(A_CALL_BYTES / self.usual).unwrap_or(A_CALL).max(1);
        let room = out.room().min(A_CALL).min(fit);
        let polled = self.lines.poll(room, |line| out.emit(line));
        self.tell();
        Ok(match polled? {
            Polled::Lines(_) => Poll::More,
            Polled::Idle => Poll::Idle(None),
            Polled::End => Poll::End,
        })
    }
}

/// Emits the lines of the generator that fall to this task.
#[derive(Debug)]
pub struct GeneratorSpout {
    generator: Generator,
}

impl GeneratorSpout {
    /// A spout of a generator's lines.
    #[must_use]
    pub fn new(generator: Generator) -> Self {
        GeneratorSpout { generator }
    }
}

impl Spout for GeneratorSpout {
    type Out = Text;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Text>) -> Result<Poll, BoxError> {
        for _ in 0..out.room().min(A_CALL) {
            match self.generator.next_line() {
                Some(line) => out.emit(line),
                None => return Ok(Poll::End),
            }
        }
        Ok(Poll::More)
    }
}
