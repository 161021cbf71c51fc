//! The head of a snapshot, and its checksum.

use alloc::string::String;
use alloc::vec::Vec;

use super::{Codec, Input, RestoreError};
use crate::Emit;
use crate::event::{Late, Rules};

const MAGIC: [u8; 4] = *b"kwev";
const VERSION: u16 = 1;
const CHECKSUM: usize = size_of::<u32>();

/// The rules, without how far the watermark has come.
fn settings(rules: &Rules, out: &mut Vec<u8>) {
    let Rules { spec, emit, beat, late, ahead, watermark: _, horizon: _ } = *rules;
    (spec.size(), spec.slide(), spec.phase()).encode(out);
    let emit: u8 = match emit {
        Emit::ContentChange => 0,
        Emit::ValueChange => 1,
    };
    let late: (u8, i64) = match late {
        Late::Drop => (0, 0),
        Late::Partial => (1, 0),
        Late::Correct { allowed } => (2, allowed),
    };
    (emit, beat.map(core::num::NonZero::get), late, ahead).encode(out);
}

pub(super) fn head(kind: u8, label: &str, rules: &Rules, revision: u64) -> Vec<u8> {
    let mut out = Vec::from(MAGIC);
    (VERSION, kind).encode(&mut out);
    String::from(label).encode(&mut out);
    settings(rules, &mut out);
    (rules.watermark, revision).encode(&mut out);
    out
}

/// Adds the checksum.
pub(super) fn seal(mut out: Vec<u8>) -> Vec<u8> {
    crc32fast::hash(&out).encode(&mut out);
    out
}

/// What is under a right checksum.
pub(super) fn open(bytes: &[u8]) -> Result<Input<'_>, RestoreError> {
    if !bytes.starts_with(&MAGIC) {
        return Err(RestoreError::NoSnapshot);
    }
    let (body, sum) = bytes.split_last_chunk::<CHECKSUM>().ok_or(RestoreError::NoSnapshot)?;
    if crc32fast::hash(body) != u32::from_le_bytes(*sum) {
        return Err(RestoreError::Checksum);
    }
    let mut input = Input::new(body);
    input.take(MAGIC.len())?;
    match u16::decode(&mut input)? {
        VERSION => Ok(input),
        found => Err(RestoreError::Version { found }),
    }
}

/// Reads the head and sets the watermark. Returns the number of the last correction.
pub(super) fn read_head(
    kind: u8,
    label: &str,
    rules: &mut Rules,
    input: &mut Input<'_>,
) -> Result<u64, RestoreError> {
    if u8::decode(input)? != kind {
        return Err(RestoreError::Kind);
    }
    if String::decode(input)? != label {
        return Err(RestoreError::Aggregate);
    }
    let mut wanted = Vec::new();
    settings(rules, &mut wanted);
    // Settings have no length before them, but others have another first difference.
    if input.clone().take(wanted.len()) != Ok(wanted.as_slice()) {
        return Err(RestoreError::Rules);
    }
    input.take(wanted.len())?;
    let (watermark, revision): (i64, u64) = Codec::decode(input)?;
    // So many corrections cannot have been.
    if revision > u64::MAX / 2 {
        return Err(input.corrupt());
    }
    rules.watermark = watermark;
    rules.horizon = rules.horizon_now();
    Ok(revision)
}
