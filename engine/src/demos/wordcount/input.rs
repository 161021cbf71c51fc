//! Lines of any input, read outside the worker threads in bounded memory.
//!
//! [`open`] cuts a plain file into parts, one for each spout; what is not a plain non-empty file
//! (a FIFO, a file of `/proc`, a terminal, standard input) is read to its end by the first part.
//! Each part has one reader thread, which hands over chunks of whole lines; [`Lines::poll`] takes
//! lines from them and never blocks.
//!
//! What a **line** is:
//!
//! - it ends at LF, at CR LF, or at the end of the input; the line end is not part of it;
//! - a CR elsewhere is a byte of the line, and white space to the tokenizer;
//! - it belongs to the part in which its first byte lies, so every line is read exactly once;
//! - a UTF-8 byte order mark at the very start of the input is dropped; one of UTF-16 or UTF-32 is
//!   refused by name rather than counted as bytes;
//! - longer than [`Limits::line`], it is cut after the last separator that fits; a word longer
//!   than that, at the last character that fits.
//!
//! ```
//! use streamwright::demos::wordcount::input::{InputError, Limits, Polled, Source, open};
//! let mut count = 0;
//! for lines in &mut open(&Source::File("Cargo.toml".into()), 2, Limits::default())? {
//!     loop {
//!         match lines.poll(64, |_line| count += 1)? {
//!             Polled::Lines(_) => {}
//!             Polled::Idle => std::thread::yield_now(), // a spout returns, and is woken
//!             Polled::End => break,
//!         }
//!     }
//! }
//! assert!(count > 5);
//! # Ok::<(), InputError>(())
//! ```
//!
//! Memory: at most [`Limits::chunks`] buffers a part, each of [`Limits::chunk`] bytes or of the
//! longest line, whichever is more.

mod bom;
mod cut;
mod error;
mod feed;
mod lines;
mod part;
mod reader;
mod stream;

use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::Arc;
use std::{fmt, io};

use part::Part;
use reader::Tap;
use stream::Stream;

pub use error::InputError;
pub use lines::{InputStats, Lines, Polled};

/// Where lines come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file, or anything else that has a path.
    File(PathBuf),
    /// Standard input.
    Stdin,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Stdin => f.write_str("standard input"),
        }
    }
}

/// How much memory the reading may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the longest line that stays whole, at least 1. Default 1 MiB.
    pub line: usize,
    /// Bytes of a buffer, at least 64. Default 128 KiB.
    pub chunk: usize,
    /// Buffers a part, at least 2: one is filled while another is drained. Default 4.
    pub chunks: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { line: 1 << 20, chunk: 128 << 10, chunks: 4 }
    }
}

/// Opens `source` and starts reading it in `parts` parts (0 counts as 1).
///
/// # Errors
///
/// What can be known before the run is known here: a missing or unreadable file, a directory, a
/// file in UTF-16 or UTF-32, a thread that cannot be started. Opening a FIFO waits for its writer
/// and is left to the reader thread, whose errors come out of [`Lines::poll`].
pub fn open(source: &Source, parts: usize, limits: Limits) -> Result<Vec<Lines>, InputError> {
    let parts = parts.max(1);
    let mut taps = match source {
        Source::Stdin => vec![Some(Tap::Stream(Stream::stdin()))],
        Source::File(path) => {
            let fail = |cause| InputError::Open { path: path.clone(), cause };
            let kind = fs::metadata(path).map_err(fail)?;
            if kind.is_dir() {
                return Err(InputError::Directory { path: path.clone() });
            }
            if is_fifo(&kind) {
                vec![Some(Tap::Stream(Stream::fifo(path.clone())))]
            } else {
                let file = File::open(path).map_err(fail)?;
                // The path may have changed hands since; the open file cannot.
                let kind = file.metadata().map_err(fail)?;
                if kind.is_file() && kind.len() > 0 {
                    plain(source, file, kind.len(), parts)?
                } else {
                    vec![Some(Tap::Stream(Stream::file(file)))]
                }
            }
        }
    };
    taps.resize_with(parts, || None);
    let start = |(part, tap)| match tap {
        Some(tap) => reader::start(source, part, tap, limits),
        None => Ok(Lines::empty()),
    };
    let lines: io::Result<_> = taps.into_iter().enumerate().map(start).collect();
    lines.map_err(|cause| InputError::Thread { input: source.clone(), cause })
}

/// The parts of a plain file; those without a byte need no reader.
fn plain(
    source: &Source,
    file: File,
    len: u64,
    parts: usize,
) -> Result<Vec<Option<Tap>>, InputError> {
    let mut head = [0; bom::LONGEST];
    let mut known = 0;
    while known < head.len() {
        match part::read_at(&file, &mut head[known..], known as u64) {
            Ok(0) => break,
            Ok(n) => known += n,
            Err(cause) => return Err(InputError::Read { input: source.clone(), at: 0, cause }),
        }
    }
    let base = bom::skip(source, &head[..known])? as u64;
    let file = Arc::new(file);
    Ok(part::cuts(base, len, parts)
        .map(|range| {
            let part = Part::new(Arc::clone(&file), base, len, range.clone());
            (!range.is_empty()).then_some(Tap::Part(part))
        })
        .collect())
}

#[cfg(unix)]
fn is_fifo(kind: &fs::Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&kind.file_type())
}

#[cfg(not(unix))]
fn is_fifo(_: &fs::Metadata) -> bool {
    false
}
