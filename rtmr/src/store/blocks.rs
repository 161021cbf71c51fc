//! Entries in blocks of files: a log of whole entries, in blocks that are used again.
//!
//! A block is filled from front to back and never changed after that. An entry that is written
//! again leaves its old place dead; a block without anything alive is free, unless the last
//! checkpoint needs it. So what a checkpoint holds is never overwritten before the next is durable.

use std::collections::{BTreeMap, BTreeSet};

use super::disk::{Disk, FileName};
use super::error::StoreError;
use super::footprint::allocation;
use super::manifest::{Header, Part, Writer};
use super::segment::{BLOCK, HEAD, Segment};
use super::spill::{Meta, Restored, Spill};

/// Where an entry is. Sixteen bytes: there is one for each entry, in memory or not.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Extent {
    /// When it was written, twice, and 1 if it has parts in `more`; 0 if it is nowhere.
    time: u64,
    pub(super) first: Part,
}

impl Extent {
    fn new(time: u64, first: Part, many: bool) -> Self {
        Self { time: time << 1 | u64::from(many), first }
    }

    pub(super) fn is_there(self) -> bool {
        self.time > 0
    }

    /// A time is below [`TIMES`](super::segment::TIMES).
    pub(super) fn time(self) -> u64 {
        self.time >> 1
    }

    /// Whether there is more than the first part.
    fn many(self) -> bool {
        self.time & 1 > 0
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Block {
    /// Bytes of segments that some entry needs.
    pub(super) live: u32,
    /// The last checkpoint needs it.
    pub(super) pinned: bool,
    /// Its segments cannot be told apart: left as it is.
    pub(super) damaged: bool,
}

/// Bytes that are collected before they are written, so that no write takes long.
const CHUNK: usize = 1 << 14;
/// An entry up to this size is not parted, even if the rest of a block stays unused for it.
const WHOLE: usize = 1 << 12;

/// A [`Spill`] in files of blocks of 64 KiB, behind checksums; see the README for the format.
///
/// Kept in memory: 16 bytes an entry, 16 a block, and the block that is being filled.
#[derive(Debug)]
pub struct Blocks<D> {
    pub(super) disk: D,
    /// Blocks of a file, its head not counted.
    pub(super) per_file: u32,
    pub(super) extents: Vec<Extent>,
    pub(super) more: BTreeMap<u32, Box<[Part]>>,
    pub(super) more_bytes: usize,
    pub(super) blocks: Vec<Block>,
    /// Which files there are.
    pub(super) files: Vec<bool>,
    pub(super) free: BTreeSet<u32>,
    /// The block that is being filled, what is in it, and how much of that is on disk.
    pub(super) open: Option<u32>,
    pub(super) buffer: Vec<u8>,
    pub(super) flushed: usize,
    /// The time of the next entry to be written.
    pub(super) next_time: u64,
    /// Bytes that are alive, and blocks that hold some of them.
    pub(super) live: u64,
    pub(super) holding: u64,
    /// Files that were written and not synced since.
    pub(super) unsynced: BTreeSet<u32>,
    pub(super) broken: Option<FileName>,
    /// There is a manifest.
    pub(super) began: bool,
    /// Where cleaning looks for the next block.
    pub(super) hand: usize,
    /// The block that is being cleaned, and from where on.
    pub(super) cleaning: Option<(u32, usize)>,
    pub(super) restored: Option<Restored>,
}

impl<D: Disk> Blocks<D> {
    pub(super) fn place(&self, block: u32) -> (FileName, u64) {
        let (file, within) = (block / self.per_file, block % self.per_file);
        (FileName::Data(file), (u64::from(within) + 1) * BLOCK as u64)
    }

    /// The parts of an entry, in order.
    pub(super) fn parts(&self, entry: u32) -> Vec<Part> {
        let extent = self.extents.get(entry as usize).filter(|extent| extent.is_there());
        let Some(extent) = extent else { return Vec::new() };
        let mut parts = vec![extent.first];
        if extent.many() {
            parts.extend(self.more.get(&entry).into_iter().flatten());
        }
        parts
    }

    fn put(&mut self, entry: u32, bytes: &[u8], parts: &mut Vec<Part>) -> Result<(), StoreError> {
        let mut rest = bytes;
        loop {
            let least = if rest.len() <= WHOLE { rest.len() } else { 1 };
            self.room(HEAD + least)?;
            let (now, later) = rest.split_at(rest.len().min(BLOCK - self.buffer.len() - HEAD));
            let segment = Segment {
                entry,
                part: parts.len() as u32,
                time: self.next_time,
                len: now.len() as u32,
                last: later.is_empty(),
            };
            parts.extend(self.append(segment, now));
            rest = later;
            if rest.is_empty() {
                return Ok(());
            }
        }
    }

    /// Adds a segment to the open block, which has room for it.
    pub(super) fn append(&mut self, segment: Segment, payload: &[u8]) -> Option<Part> {
        let block = self.open?;
        let part = Part { block, offset: self.buffer.len() as u16, len: payload.len() as u16 };
        segment.append(payload, &mut self.buffer);
        self.revive(part);
        Some(part)
    }

    fn forget(&mut self, entry: u32) {
        let Some(extent) = self.extents.get_mut(entry as usize) else { return };
        let old = std::mem::take(extent);
        if old.is_there() {
            self.bury(old.first);
        }
        if old.many()
            && let Some(more) = self.more.remove(&entry)
        {
            self.more_bytes -= allocation(size_of_val(&*more)) + 64;
            more.into_iter().for_each(|part| self.bury(part));
        }
    }

    pub(super) fn remember(&mut self, entry: u32, time: u64, parts: &[Part]) {
        let at = entry as usize;
        if at >= self.extents.len() {
            let entries = (at + 1).next_power_of_two();
            self.extents.reserve_exact(entries - self.extents.len());
            self.extents.resize(entries, Extent::default());
        }
        let Some((&first, more)) = parts.split_first() else { return };
        self.extents[at] = Extent::new(time, first, !more.is_empty());
        if !more.is_empty() {
            self.more_bytes += allocation(size_of_val(more)) + 64;
            self.more.insert(entry, more.into());
        }
    }

    /// Reads one part to the end of `into` and checks that it is the one meant.
    fn read_part(
        &mut self,
        part: Part,
        meant: Segment,
        into: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        let (start, offset) = (into.len(), usize::from(part.offset));
        let size = HEAD + usize::from(part.len);
        let (file, at) = self.place(part.block);
        let at = at + u64::from(part.offset);
        let wrong = |why| StoreError::Corrupt { file, at, why };
        if self.open == Some(part.block) {
            let held = self.buffer.get(offset..offset + size).ok_or(wrong("not written yet"))?;
            into.extend_from_slice(held);
        } else {
            into.resize(start + size, 0);
            match self.disk.read(file, at, &mut into[start..]) {
                Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
                    return Err(wrong("the file ends before"));
                }
                other => other.map_err(|error| StoreError::io(file, "read", error))?,
            }
        }
        let (found, _) =
            Segment::parse(&into[start..]).ok_or(wrong("the checksum does not match"))?;
        if found != meant {
            return Err(wrong("another entry, or another time of it"));
        }
        into.copy_within(start + HEAD.., start);
        into.truncate(start + size - HEAD);
        Ok(())
    }
}

impl<D: Disk> Spill for Blocks<D> {
    fn restored(&mut self) -> Option<Restored> {
        self.restored.take()
    }

    fn write(&mut self, entry: u32, bytes: &[u8]) -> Result<(), StoreError> {
        let mut parts = Vec::with_capacity(1);
        if let Err(error) = self.put(entry, bytes, &mut parts) {
            parts.into_iter().for_each(|part| self.bury(part));
            return Err(error);
        }
        self.forget(entry);
        self.remember(entry, self.next_time, &parts);
        self.next_time += 1;
        if self.buffer.len() - self.flushed >= CHUNK {
            // What cannot be written now is tried again, and told, when the block is full.
            let _ = self.flush();
        }
        Ok(())
    }

    fn read(&mut self, entry: u32, into: &mut Vec<u8>) -> Result<bool, StoreError> {
        into.clear();
        let Some(&extent) = self.extents.get(entry as usize).filter(|extent| extent.is_there())
        else {
            return Ok(false);
        };
        let time = extent.time();
        if !extent.many() {
            let part = extent.first;
            let meant = Segment { entry, part: 0, time, len: part.len.into(), last: true };
            self.read_part(part, meant, into)?;
            return Ok(true);
        }
        let parts = self.parts(entry);
        let total = parts.iter().map(|part| usize::from(part.len)).sum::<usize>();
        into.reserve_exact(total + HEAD);
        let count = parts.len();
        for (at, part) in (0..).zip(parts) {
            let last = at as usize + 1 == count;
            let meant = Segment { entry, part: at, time, len: part.len.into(), last };
            self.read_part(part, meant, into)?;
        }
        Ok(true)
    }

    fn remove(&mut self, entry: u32) {
        self.forget(entry);
    }

    fn tidy(&mut self, scratch: &mut Vec<u8>) -> Result<(), StoreError> {
        self.clean(scratch)
    }

    fn commit(
        &mut self,
        epoch: u64,
        bits: u32,
        meta: &dyn Fn(u32) -> Meta,
    ) -> Result<(), StoreError> {
        if let Some(file) = self.broken {
            return Err(StoreError::Unsynced { file });
        }
        // The next segments begin a block of their own: no write comes near a checkpoint's.
        self.seal()?;
        while let Some(number) = self.unsynced.first().copied() {
            let file = FileName::Data(number);
            self.disk.sync(file).map_err(|error| {
                self.broken = Some(file);
                StoreError::io(file, "sync", error)
            })?;
            self.unsynced.remove(&number);
        }
        self.write_manifest(epoch, bits, meta)?;
        let file = FileName::Manifest;
        // From here on either checkpoint may be found, also if the rename is told to have failed:
        // the blocks of both are kept until it is known which.
        self.pin();
        let renamed = self.disk.rename(FileName::NewManifest, file);
        renamed.map_err(|error| StoreError::io(file, "rename", error))?;
        self.began = true;
        self.disk.sync_names().map_err(|error| StoreError::io(file, "sync the folder", error))?;
        self.unpin();
        Ok(())
    }

    fn footprint(&self, bits: u32) -> usize {
        let extents = allocation((1_usize << bits) * size_of::<Extent>());
        extents + allocation(BLOCK) + 16 * self.blocks.len() + self.more_bytes
    }
}

impl<D: Disk> Blocks<D> {
    /// Makes a manifest that holds no checkpoint, before the first file of data: where there is
    /// data and no manifest, it was lost, and the data are not to be touched.
    pub(super) fn begin(&mut self) -> Result<(), StoreError> {
        let header = Header { per_file: self.per_file, bits: 0, epoch: 0, next_time: 1 };
        let written =
            Writer::new(&mut self.disk, &mut self.buffer, header).and_then(Writer::finish);
        self.buffer.clear();
        written?;
        let file = FileName::Manifest;
        let renamed = self.disk.rename(FileName::NewManifest, file);
        renamed.map_err(|error| StoreError::io(file, "rename", error))?;
        self.disk.sync_names().map_err(|error| StoreError::io(file, "sync the folder", error))?;
        self.began = true;
        Ok(())
    }

    fn write_manifest(
        &mut self,
        epoch: u64,
        bits: u32,
        meta: &dyn Fn(u32) -> Meta,
    ) -> Result<(), StoreError> {
        let header = Header { per_file: self.per_file, bits, epoch, next_time: self.next_time };
        // No block is open: its buffer is free for the index.
        let Self { disk, buffer, extents, more, .. } = self;
        let written = Writer::new(disk, buffer, header).and_then(|mut writer| {
            for (entry, extent) in (0_u32..).zip(&*extents).filter(|(_, at)| at.is_there()) {
                let more = more.get(&entry).filter(|_| extent.many());
                let more = more.map_or(&[][..], |more| &more[..]);
                writer.entry(entry, extent.time(), extent.first, more, meta(entry))?;
            }
            writer.finish()
        });
        self.buffer.clear();
        written
    }
}
