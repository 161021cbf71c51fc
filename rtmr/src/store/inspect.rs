//! What a block or a manifest says, from its bytes alone: for tools, and to be fuzzed.

use super::disk::FileName;
use super::error::StoreError;
use super::manifest;
use super::segment::{BLOCK, walk};
use super::spill::{Meta, Restored};

/// A part of an entry in a block, whose checksum is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentInfo {
    /// The entry.
    pub entry: u32,
    /// Which part of it, from 0.
    pub part: u32,
    /// Whether it is the last.
    pub last: bool,
    /// When the entry was written: a number that grows with each.
    pub time: u64,
    /// Where the segment begins in the block.
    pub offset: usize,
    /// How many bytes of the entry it holds.
    pub len: usize,
}

/// The segments of a block, from its start up to the first that is none or damaged. O(block).
///
/// # Errors
/// `Corrupt` when it is longer than a block.
pub fn inspect_block(block: &[u8]) -> Result<Vec<SegmentInfo>, StoreError> {
    if block.len() > BLOCK {
        let (file, at) = (FileName::NewData, BLOCK as u64);
        return Err(StoreError::Corrupt { file, at, why: "longer than a block" });
    }
    let info = |(offset, segment, payload): (usize, super::segment::Segment, &[u8])| SegmentInfo {
        entry: segment.entry,
        part: segment.part,
        last: segment.last,
        time: segment.time,
        offset,
        len: payload.len(),
    };
    Ok(walk(block).map(info).collect())
}

/// The checkpoint that a manifest describes. O(manifest).
///
/// # Errors
/// `Corrupt` or `Version`, as when it is opened.
pub fn inspect_manifest(bytes: &[u8]) -> Result<Restored, StoreError> {
    let mut entries: Vec<(u32, Meta)> = Vec::new();
    let header = manifest::parse(bytes, |entry, _, _, meta| entries.push((entry, meta)))?;
    Ok(Restored { epoch: header.epoch, bits: header.bits, entries, later_blocks: 0 })
}
