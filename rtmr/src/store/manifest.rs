//! The manifest: where the entries of a checkpoint are. Index blocks behind a head, written to a
//! new file that takes the old one's name when all of it is durable.
//!
//! | bytes of the head | |
//! |---|---|
//! | 0..8 | `RTMRman` and 0 |
//! | 8..12 | the version of the format |
//! | 12..16, 16..20 | bytes of a block; blocks of a file |
//! | 20..24 | the store has 2 to the power of this entries; 0 before the first checkpoint |
//! | 24..32 | the epoch |
//! | 32..40 | the time of the next entry to be written |
//! | 40..48 | how many entries there are |
//! | 48..56 | bytes of the index |
//! | 60..64 | CRC32C of the head up to here |
//!
//! An index block is a length, a CRC32C of epoch, number and content, and up to 64 KiB − 8 bytes of
//! the index, which is a row of numbers of variable length: for each entry how many are skipped,
//! how long before the next time it was written, its parts (block, offset, length), and its meta.

use super::codec::{put_varint, varint};
use super::disk::{Disk, FileName};
use super::error::StoreError;
use super::segment::{BLOCK, HEAD, TIMES, long, word};
use super::spill::Meta;

/// The version of the format.
pub(crate) const VERSION: u32 = 1;
const NAME: &[u8; 8] = b"RTMRman\0";
const HEADER: usize = 64;
/// Length and checksum before the content of an index block.
const PREFIX: usize = 8;

/// Where a part of an entry is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) block: u32,
    pub(crate) offset: u16,
    pub(crate) len: u16,
}

/// What the head says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) per_file: u32,
    pub(crate) bits: u32,
    pub(crate) epoch: u64,
    pub(crate) next_time: u64,
}

fn sum(epoch: u64, number: u64, content: &[u8]) -> u32 {
    let seed = crc32c::crc32c_append(crc32c::crc32c(&epoch.to_le_bytes()), &number.to_le_bytes());
    crc32c::crc32c_append(seed, content)
}

/// Writes a manifest block by block.
pub(crate) struct Writer<'a, D> {
    disk: &'a mut D,
    /// One index block: its prefix and content.
    block: &'a mut Vec<u8>,
    header: Header,
    blocks: u64,
    at: u64,
    entries: u64,
    before: Option<u32>,
}

impl<'a, D: Disk> Writer<'a, D> {
    pub(crate) fn new(
        disk: &'a mut D,
        block: &'a mut Vec<u8>,
        header: Header,
    ) -> Result<Self, StoreError> {
        let file = FileName::NewManifest;
        disk.remove(file).map_err(|error| StoreError::io(file, "remove it", error))?;
        block.clear();
        block.extend_from_slice(&[0; PREFIX]);
        let at = HEADER as u64;
        Ok(Self { disk, block, header, blocks: 0, at, entries: 0, before: None })
    }

    fn number(&mut self, value: u64) -> Result<(), StoreError> {
        // Ten bytes at most.
        if self.block.len() + 10 > BLOCK {
            self.send()?;
        }
        put_varint(value, self.block);
        Ok(())
    }

    fn send(&mut self) -> Result<(), StoreError> {
        let len = (self.block.len() - PREFIX) as u32;
        let sum = sum(self.header.epoch, self.blocks, &self.block[PREFIX..]);
        self.block[..4].copy_from_slice(&len.to_le_bytes());
        self.block[4..PREFIX].copy_from_slice(&sum.to_le_bytes());
        write(self.disk, self.at, self.block)?;
        self.at += self.block.len() as u64;
        self.blocks += 1;
        self.block.truncate(PREFIX);
        Ok(())
    }

    /// Adds an entry in its parts; they come in ascending order.
    pub(crate) fn entry(
        &mut self,
        entry: u32,
        time: u64,
        first: Part,
        more: &[Part],
        meta: Meta,
    ) -> Result<(), StoreError> {
        let next = self.before.map_or(0, |before| before + 1);
        self.number(u64::from(entry - next))?;
        self.number(self.header.next_time - time)?;
        self.number(more.len() as u64 + 1)?;
        for part in std::iter::once(&first).chain(more) {
            self.number(part.block.into())?;
            self.number(part.offset.into())?;
            self.number(part.len.into())?;
        }
        self.number(meta.bytes)?;
        self.number(meta.keys.into())?;
        self.number(meta.load)?;
        (self.before, self.entries) = (Some(entry), self.entries + 1);
        Ok(())
    }

    /// Makes it durable under the new file's name.
    pub(crate) fn finish(mut self) -> Result<(), StoreError> {
        self.send()?;
        let mut head = Vec::with_capacity(HEADER);
        head.extend_from_slice(NAME);
        for word in [VERSION, BLOCK as u32, self.header.per_file, self.header.bits] {
            head.extend_from_slice(&word.to_le_bytes());
        }
        let index = self.at - HEADER as u64;
        for long in [self.header.epoch, self.header.next_time, self.entries, index] {
            head.extend_from_slice(&long.to_le_bytes());
        }
        head.extend_from_slice(&[0; 4]);
        head.extend_from_slice(&crc32c::crc32c(&head).to_le_bytes());
        write(self.disk, 0, &head)?;
        let file = FileName::NewManifest;
        self.disk.sync(file).map_err(|error| StoreError::io(file, "sync", error))
    }
}

fn write<D: Disk>(disk: &mut D, at: u64, bytes: &[u8]) -> Result<(), StoreError> {
    let file = FileName::NewManifest;
    disk.write(file, at, bytes).map_err(|error| StoreError::io(file, "write", error))
}

/// Reads a manifest and gives each entry, ascending, to `found`: entry, time, parts, meta.
pub(crate) fn parse(
    bytes: &[u8],
    mut found: impl FnMut(u32, u64, &[Part], Meta),
) -> Result<Header, StoreError> {
    let wrong =
        |at: usize, why| StoreError::Corrupt { file: FileName::Manifest, at: at as u64, why };
    let head = bytes.get(..HEADER).ok_or(wrong(0, "shorter than its head"))?;
    if &head[..8] != NAME {
        return Err(wrong(0, "not a manifest"));
    }
    if word(head, 8) != VERSION {
        let (file, found) = (FileName::Manifest, word(head, 8));
        return Err(StoreError::Version { file, found, known: VERSION });
    }
    if crc32c::crc32c(&head[..60]) != word(head, 60) {
        return Err(wrong(0, "the checksum of the head does not match"));
    }
    let header = Header {
        per_file: word(head, 16),
        bits: word(head, 20),
        epoch: long(head, 24),
        next_time: long(head, 32),
    };
    if word(head, 12) != BLOCK as u32
        || !(1..1 << 16).contains(&header.per_file)
        || !(0..=31).contains(&header.bits)
        || header.next_time >= TIMES
        || (header.bits == 0 && long(head, 40) > 0)
    {
        return Err(wrong(0, "sizes that cannot be"));
    }
    if long(head, 48) != (bytes.len() - HEADER) as u64 {
        return Err(wrong(48, "not as long as its index"));
    }
    // The content of all index blocks in a row.
    let mut index = Vec::with_capacity(bytes.len() - HEADER);
    let (mut at, mut number) = (HEADER, 0);
    while at < bytes.len() {
        let len = word(bytes, at) as usize;
        let content = bytes.get(at + PREFIX..).and_then(|rest| rest.get(..len));
        let content = content.ok_or(wrong(at, "an index block is cut off"))?;
        if sum(header.epoch, number, content) != word(bytes, at + 4) {
            return Err(wrong(at, "the checksum of an index block does not match"));
        }
        index.extend_from_slice(content);
        (at, number) = (at + PREFIX + len, number + 1);
    }
    let (mut from, mut parts, mut first) = (&index[..], Vec::new(), 0_u64);
    for _ in 0..long(head, 40) {
        let taken = record(&mut from, header, &mut first, &mut parts);
        let (entry, time, meta) = taken.ok_or(wrong(HEADER, "the index does not hold"))?;
        found(entry, time, &parts, meta);
    }
    if !from.is_empty() {
        return Err(wrong(HEADER, "the index goes on"));
    }
    Ok(header)
}

fn record(
    from: &mut &[u8],
    header: Header,
    first: &mut u64,
    parts: &mut Vec<Part>,
) -> Option<(u32, u64, Meta)> {
    let entry = first.checked_add(varint(from)?)?;
    if entry >= 1 << header.bits {
        return None;
    }
    *first = entry + 1;
    let time = header.next_time.checked_sub(varint(from)?.max(1)).filter(|&time| time > 0)?;
    let count = varint(from)?;
    if count == 0 || count > from.len() as u64 / 3 {
        return None;
    }
    parts.clear();
    for _ in 0..count {
        let block = u32::try_from(varint(from)?).ok()?;
        let offset = u16::try_from(varint(from)?).ok()?;
        let len = u16::try_from(varint(from)?).ok()?;
        if usize::from(offset) + HEAD + usize::from(len) > BLOCK {
            return None;
        }
        parts.push(Part { block, offset, len });
    }
    let meta = Meta {
        bytes: varint(from)?,
        keys: u32::try_from(varint(from)?).ok()?,
        load: varint(from)?,
    };
    Some((entry as u32, time, meta))
}
