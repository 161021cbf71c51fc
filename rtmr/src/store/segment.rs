//! A segment: a part of an entry's bytes in a block, that can be told and checked by itself.
//!
//! | bytes | |
//! |---|---|
//! | 0..4 | CRC32C of what follows, to the end of the segment |
//! | 4..8 | `SEG` and the version of the format |
//! | 8..12 | the entry |
//! | 12..16 | which part of it, from 0 |
//! | 16..24 | the time: a number that grows with each entry written |
//! | 24..28 | the length of what follows the head |
//! | 28..32 | whether it is the last part, 0 or 1 |
//!
//! All numbers are little-endian. A block is a row of segments from its start on; zeros, or
//! anything else that is none, end it.

/// The length of a block, and so the most that a segment takes.
pub(crate) const BLOCK: usize = 1 << 16;
/// The length of the head.
pub(crate) const HEAD: usize = 32;
/// The format of data files, in their heads and in segments.
pub(crate) const VERSION: u32 = 1;

/// No entry is written as late as this: it would take a write each nanosecond for a century.
pub(crate) const TIMES: u64 = 1 << 62;

const MARK: [u8; 4] = [b'S', b'E', b'G', VERSION as u8];

/// The head of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) entry: u32,
    pub(crate) part: u32,
    pub(crate) time: u64,
    pub(crate) len: u32,
    pub(crate) last: bool,
}

pub(crate) fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).map_or(0, u32::from_le_bytes)
}

pub(crate) fn long(bytes: &[u8], at: usize) -> u64 {
    u64::from(word(bytes, at)) | u64::from(word(bytes, at + 4)) << 32
}

impl Segment {
    /// Appends the segment to a block.
    pub(crate) fn append(&self, payload: &[u8], block: &mut Vec<u8>) {
        let start = block.len();
        block.extend_from_slice(&[0; 4]);
        block.extend_from_slice(&MARK);
        block.extend_from_slice(&self.entry.to_le_bytes());
        block.extend_from_slice(&self.part.to_le_bytes());
        block.extend_from_slice(&self.time.to_le_bytes());
        block.extend_from_slice(&self.len.to_le_bytes());
        block.extend_from_slice(&u32::from(self.last).to_le_bytes());
        block.extend_from_slice(payload);
        let sum = crc32c::crc32c(&block[start + 4..]);
        block[start..start + 4].copy_from_slice(&sum.to_le_bytes());
    }

    /// The head at the start of `bytes`, unchecked but for its form; `None` if there is none.
    pub(crate) fn head(bytes: &[u8]) -> Option<Self> {
        if bytes.len() < HEAD || bytes[4..8] != MARK || word(bytes, 28) > 1 {
            return None;
        }
        Some(Self {
            entry: word(bytes, 8),
            part: word(bytes, 12),
            time: long(bytes, 16),
            len: word(bytes, 24),
            last: word(bytes, 28) == 1,
        })
    }

    /// The segment at the start of `bytes` and what it holds, if its checksum is right.
    pub(crate) fn parse(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let head = Self::head(bytes)?;
        let whole = bytes.get(..HEAD + head.len as usize)?;
        (crc32c::crc32c(&whole[4..]) == word(whole, 0)).then_some((head, &whole[HEAD..]))
    }
}

/// The segments of a block and where they begin, up to the first that is none.
pub(crate) fn walk(block: &[u8]) -> impl Iterator<Item = (usize, Segment, &[u8])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let (segment, payload) = Segment::parse(block.get(at..)?)?;
        let start = at;
        at += HEAD + payload.len();
        Some((start, segment, payload))
    })
}
