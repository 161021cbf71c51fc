//! The reader thread of a part: bytes in, chunks of whole lines out.

use std::{io, thread};

use memchr::memchr;

use super::cut::{LOOK_AHEAD, cut};
use super::feed::{Chunk, Filler, Outcome, feed};
use super::part::Part;
use super::stream::Stream;
use super::{InputError, Limits, Lines, Source, bom};

/// Where the bytes of a reader come from.
pub(super) enum Tap {
    Part(Part),
    Stream(Stream),
}

impl Tap {
    fn open(&mut self) -> Result<(), InputError> {
        match self {
            Self::Stream(stream) => stream.open(),
            Self::Part(_) => Ok(()),
        }
    }

    fn read(&mut self, input: &Source, buffer: &mut [u8]) -> Result<usize, InputError> {
        match self {
            Self::Stream(stream) => stream.read(input, buffer),
            Self::Part(part) => part.read(buffer).map_err(|cause| InputError::Read {
                input: input.clone(),
                at: part.position(),
                cause,
            }),
        }
    }

    fn shrank(&self) -> bool {
        matches!(self, Self::Part(part) if part.shrank())
    }
}

/// Starts the reader of one part.
///
/// The thread is never joined: a read that blocks, say on a FIFO, can outlast everyone who would
/// wait for it. It ends at its next chunk once the [`Lines`] are dropped.
pub(super) fn start(source: &Source, part: usize, tap: Tap, limits: Limits) -> io::Result<Lines> {
    // A limit that no buffer can reach is as good as none, and sums with it stay in range.
    let limit = limits.line.clamp(1, usize::MAX / 4);
    let size = limits.chunk.max(64);
    const { assert!(bom::LONGEST <= 64, "a stream judges its mark in the buffer") };
    let (filler, taker) = feed(source.clone(), limits.chunks.max(2), size);
    let input = source.clone();
    thread::Builder::new().name(format!("input-{part}")).spawn(move || {
        if let Some(outcome) = pump(tap, &input, limit, &filler) {
            filler.finish(outcome);
        }
    })?;
    Ok(Lines::new(taker))
}

/// Reads until the end, an error, or, giving `None`, until nobody takes the lines.
///
/// Whatever a read returns goes on at once, so a slow writer's line is not kept until the buffer
/// is full. After an error, the line that it broke off is not given out as if it were whole.
fn pump(mut tap: Tap, input: &Source, limit: usize, filler: &Filler) -> Option<Outcome> {
    let mut chunk = filler.spare()?;
    let mut filled = 0;
    if let Err(error) = tap.open() {
        return Some(Err(error));
    }
    loop {
        if filled == chunk.bytes.len() {
            // Full and unsettled: it is the start of one line, not over the limit yet.
            let size = (filled * 2).min(limit + LOOK_AHEAD);
            chunk.bytes.resize(size, 0);
        }
        if filler.is_abandoned() {
            return None;
        }
        let read = match tap.read(input, &mut chunk.bytes[filled..]) {
            Ok(read) => read,
            Err(error) => return Some(Err(error)),
        };
        let fresh = filled..filled + read;
        filled += read;
        let end = read == 0;
        // A long line may come in many small reads: do not go through it again with each.
        if !end && filled <= limit && memchr(b'\n', &chunk.bytes[fresh]).is_none() {
            continue;
        }
        let settled = cut(&chunk.bytes[..filled], limit, end, &mut chunk.cuts);
        if settled > 0 {
            let next = filler.spare()?;
            filled -= settled;
            chunk = hand_over(filler, chunk, settled, filled, next);
        }
        if end {
            return Some(Ok(tap.shrank()));
        }
    }
}

/// Sends what is `settled` of `chunk` and returns `next`, which begins with the `rest` of it.
fn hand_over(
    filler: &Filler,
    mut chunk: Chunk,
    settled: usize,
    rest: usize,
    mut next: Chunk,
) -> Chunk {
    if next.bytes.len() < rest {
        next.bytes.resize(rest, 0);
    }
    next.bytes[..rest].copy_from_slice(&chunk.bytes[settled..settled + rest]);
    chunk.len = settled;
    filler.send(chunk);
    next
}
