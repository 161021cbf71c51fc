//! The spouts of WordCount: lines of a file, and lines made up by the seeded generator.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::generate::Generator;
use super::input::{InputStats, Lines, Polled};
use crate::{BoxError, Poll, Seek, Spout, SpoutEmitter, Text};

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

/// Emits the lines of the generator that fall to this task. After a crash it goes on; a
/// [`LineSpout`] does not, since not every input can be read again.
#[derive(Debug)]
pub struct GeneratorSpout {
    generator: Generator,
    furthest: Furthest,
}

/// The position behind all lines that any instance of a task has emitted.
pub type Furthest = Arc<AtomicU64>;

impl GeneratorSpout {
    /// A spout of a generator's lines. `furthest` is that of its task, 0 at first.
    #[must_use]
    pub fn new(generator: Generator, furthest: Furthest) -> Self {
        GeneratorSpout { generator, furthest }
    }

    fn emit(&mut self, out: &mut SpoutEmitter<'_, Text>) -> Poll {
        for _ in 0..out.room().min(A_CALL) {
            match self.generator.next_line() {
                Some(line) => out.emit(line),
                None => return Poll::End,
            }
        }
        Poll::More
    }
}

impl Spout for GeneratorSpout {
    type Out = Text;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Text>) -> Result<Poll, BoxError> {
        let poll = self.emit(out);
        self.furthest.fetch_max(self.generator.position(), Ordering::Relaxed);
        Ok(poll)
    }

    fn position(&self) -> Option<Vec<u8>> {
        Some(self.generator.position().to_le_bytes().to_vec())
    }

    fn seek(&mut self, to: Seek<'_>) -> Result<(), BoxError> {
        let start = self.generator.position();
        self.generator.seek(match to {
            Seek::To(position) => u64::from_le_bytes(position.try_into()?),
            Seek::Onward => self.furthest.load(Ordering::Relaxed).max(start),
        });
        Ok(())
    }
}
