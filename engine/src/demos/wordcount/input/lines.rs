//! The lines of one part, as a spout takes them.

use std::task::Waker;

use memchr::memchr;

use super::InputError;
use super::feed::{Chunk, Next, Taker};

/// The lines of one part of an input. Dropping it ends its reader without waiting for it.
#[derive(Debug)]
pub struct Lines {
    /// `None` for a part without bytes, which has no reader.
    taker: Option<Taker>,
    current: Option<Cursor>,
    /// How the part ended, once that is known and until it has been told.
    end: Option<Result<(), InputError>>,
    /// The last line given out goes on: it was cut.
    mid_line: bool,
    stats: InputStats,
}

/// What [`Lines::poll`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Polled {
    /// So many lines were given out.
    Lines(usize),
    /// There is no line yet; the waker will be woken when there is news.
    Idle,
    /// There are no lines any more.
    End,
}

/// What has been given out so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputStats {
    /// Bytes, line ends included, a byte order mark not.
    pub bytes: u64,
    /// Lines; each piece of a line that was cut counts.
    pub lines: u64,
    /// Lines over the limit, each counted once however many pieces it was cut into.
    pub cut_lines: u64,
    /// The file ended before the length that it had when it was opened. Known at the end.
    pub shrank: bool,
}

/// A chunk and how far it has been drained.
#[derive(Debug)]
struct Cursor {
    chunk: Chunk,
    at: usize,
    cut: usize,
}

impl Lines {
    /// The lines that `taker` brings.
    pub(super) fn new(taker: Taker) -> Self {
        Self { taker: Some(taker), end: None, ..Self::empty() }
    }

    /// A part without lines.
    pub(super) fn empty() -> Self {
        Self {
            taker: None,
            current: None,
            end: Some(Ok(())),
            mid_line: false,
            stats: InputStats::default(),
        }
    }

    /// Calls `f` with at most `max` lines that have arrived, in order, without their line ends.
    ///
    /// Never blocks: gives fewer lines, or [`Polled::Idle`], rather than wait. Allocates nothing.
    ///
    /// # Errors
    ///
    /// What stopped the reading, once, after the lines before it; [`Polled::End`] from then on.
    pub fn poll(&mut self, max: usize, mut f: impl FnMut(&[u8])) -> Result<Polled, InputError> {
        let mut given = 0;
        while given < max {
            if let Some(cursor) = &mut self.current {
                while given < max {
                    let Some(line) = cursor.next(&mut self.stats, &mut self.mid_line) else {
                        break;
                    };
                    f(line);
                    given += 1;
                }
            }
            // Give a drained chunk back at once: the reader may have no other.
            let drained = self.current.take_if(|cursor| cursor.is_drained());
            let Some(taker) = &self.taker else { break };
            if let Some(cursor) = drained {
                taker.give_back(cursor.chunk);
            }
            if given == max || self.end.is_some() {
                break;
            }
            match taker.next() {
                Next::Chunk(chunk) => self.current = Some(Cursor { chunk, at: 0, cut: 0 }),
                Next::Idle if given == 0 => return Ok(Polled::Idle),
                Next::Idle => break,
                Next::End(outcome) => {
                    self.end = Some(outcome.map(|shrank| self.stats.shrank = shrank));
                }
            }
        }
        if given > 0 || max == 0 {
            return Ok(Polled::Lines(given));
        }
        self.end.replace(Ok(())).unwrap_or(Ok(())).map(|()| Polled::End)
    }

    /// Sets the waker that is woken when lines arrive, or the end comes, after [`Polled::Idle`].
    ///
    /// It is woken at once if that has happened already.
    pub fn set_waker(&mut self, waker: Waker) {
        if let Some(taker) = &self.taker {
            taker.set_waker(waker);
        }
    }

    /// What has been given out so far.
    #[must_use]
    pub fn stats(&self) -> InputStats {
        self.stats
    }
}

impl Cursor {
    /// The next line of the chunk, without its line end.
    fn next(&mut self, stats: &mut InputStats, mid_line: &mut bool) -> Option<&[u8]> {
        if self.is_drained() {
            return None;
        }
        let start = self.at;
        let cut = self.chunk.cuts.get(self.cut).copied();
        let limit = cut.unwrap_or(self.chunk.len);
        let bytes = &self.chunk.bytes[start..limit];
        stats.lines += 1;
        let line = if let Some(end) = memchr(b'\n', bytes) {
            self.at = start + end + 1;
            *mid_line = false;
            bytes[..end].strip_suffix(b"\r").unwrap_or(&bytes[..end])
        } else {
            // Without a line end it is a piece that was cut, or the last line of the input.
            self.at = limit;
            self.cut += usize::from(cut.is_some());
            stats.cut_lines += u64::from(cut.is_some() && !*mid_line);
            *mid_line = cut.is_some();
            bytes
        };
        stats.bytes += (self.at - start) as u64;
        Some(line)
    }

    fn is_drained(&self) -> bool {
        self.at == self.chunk.len
    }
}
