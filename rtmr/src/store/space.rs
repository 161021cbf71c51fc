//! Which blocks are in use: filled, dead, free, cleaned.

use std::io::ErrorKind;

use super::blocks::Blocks;
use super::disk::{Disk, FileName};
use super::error::StoreError;
use super::manifest::Part;
use super::segment::{BLOCK, HEAD, VERSION, walk, word};

/// First bytes of a data file.
const NAME: &[u8; 8] = b"RTMRdat\0";
/// Name, version, bytes of a block, blocks of the file, its number, a checksum.
pub(super) const FILE_HEAD: usize = 28;
/// Blocks that cleaning looks at before it picks one.
const SAMPLE: usize = 64;
/// Bytes of a block that are cleaned at a time, so that no write waits long.
const STEP: usize = 1 << 14;
/// Blocks that may be mostly empty before cleaning begins.
const SPARE: u64 = 8;

/// The head of a data file.
pub(super) fn file_head(per_file: u32, number: u32) -> [u8; FILE_HEAD] {
    let mut head = [0; FILE_HEAD];
    head[..8].copy_from_slice(NAME);
    for (at, word) in [VERSION, BLOCK as u32, per_file, number].into_iter().enumerate() {
        head[8 + 4 * at..12 + 4 * at].copy_from_slice(&word.to_le_bytes());
    }
    let sum = crc32c::crc32c(&head[..24]);
    head[24..].copy_from_slice(&sum.to_le_bytes());
    head
}

/// The version that a data file claims, if it begins like one.
pub(super) fn claimed_version(head: &[u8]) -> Option<u32> {
    (head.get(..8)? == NAME).then(|| word(head, 8))
}

impl<D: Disk> Blocks<D> {
    fn block_at(&mut self, block: u32) -> &mut super::blocks::Block {
        let at = block as usize;
        if at >= self.blocks.len() {
            self.blocks.resize(at + 1, super::blocks::Block::default());
        }
        &mut self.blocks[at]
    }

    /// Whether a block can hold this segment beside those that are counted.
    pub(super) fn has_room_for(&mut self, part: Part) -> bool {
        self.block_at(part.block).live as usize + HEAD + usize::from(part.len) <= BLOCK
    }

    /// Counts a segment as alive.
    pub(super) fn revive(&mut self, part: Part) {
        let size = HEAD as u32 + u32::from(part.len);
        let block = self.block_at(part.block);
        let first = block.live == 0;
        block.live += size;
        self.live += u64::from(size);
        self.holding += u64::from(first);
    }

    /// Counts a segment as dead.
    pub(super) fn bury(&mut self, part: Part) {
        let size = HEAD as u32 + u32::from(part.len);
        let open = self.open == Some(part.block);
        let block = self.block_at(part.block);
        block.live -= size;
        let (none, pinned) = (block.live == 0, block.pinned);
        self.live -= u64::from(size);
        self.holding -= u64::from(none);
        if none && !pinned && !open {
            self.release(part.block);
        }
    }

    fn release(&mut self, block: u32) {
        self.cleaning = self.cleaning.filter(|&(cleaned, _)| cleaned != block);
        self.block_at(block).damaged = false;
        self.free.insert(block);
    }

    /// Sees to an open block with room for `size` bytes.
    pub(super) fn room(&mut self, size: usize) -> Result<(), StoreError> {
        if self.open.is_some() && self.buffer.len() + size <= BLOCK {
            return Ok(());
        }
        self.seal()?;
        let block = match self.free.pop_first() {
            Some(block) => block,
            None => self.add_file()?,
        };
        self.buffer.reserve_exact(BLOCK);
        self.open = Some(block);
        Ok(())
    }

    /// Writes what of the open block is not on disk.
    pub(super) fn flush(&mut self) -> Result<(), StoreError> {
        let Some(block) = self.open.filter(|_| self.flushed < self.buffer.len()) else {
            return Ok(());
        };
        let (file, at) = self.place(block);
        let written = self.disk.write(file, at + self.flushed as u64, &self.buffer[self.flushed..]);
        written.map_err(|error| StoreError::io(file, "write", error))?;
        self.unsynced.insert(block / self.per_file);
        self.flushed = self.buffer.len();
        Ok(())
    }

    /// Writes the open block and closes it.
    pub(super) fn seal(&mut self) -> Result<(), StoreError> {
        self.flush()?;
        if let Some(block) = self.open.take() {
            let state = *self.block_at(block);
            if state.live == 0 && !state.pinned {
                self.release(block);
            }
        }
        self.buffer.clear();
        self.flushed = 0;
        Ok(())
    }

    /// Makes the first file that is missing, under its name only when its head is there; all its
    /// blocks are free but the first, which is given back.
    fn add_file(&mut self) -> Result<u32, StoreError> {
        let number = self.files.iter().position(|there| !there).unwrap_or(self.files.len()) as u32;
        let (new, file) = (FileName::NewData, FileName::Data(number));
        let first =
            number.checked_mul(self.per_file).filter(|f| f.checked_add(self.per_file).is_some());
        let first = first.ok_or(StoreError::Full { file })?;
        if !self.began {
            self.begin()?;
        }
        let head = file_head(self.per_file, number);
        self.disk.remove(new).map_err(|error| StoreError::io(new, "remove it", error))?;
        self.disk.write(new, 0, &head).map_err(|error| StoreError::io(new, "write", error))?;
        self.disk.sync(new).map_err(|error| StoreError::io(new, "sync", error))?;
        self.disk.rename(new, file).map_err(|error| StoreError::io(file, "rename", error))?;
        self.disk.sync_names().map_err(|error| StoreError::io(file, "sync the folder", error))?;
        if number as usize == self.files.len() {
            self.files.push(true);
        } else {
            self.files[number as usize] = true;
        }
        self.block_at(first + self.per_file - 1);
        self.free.extend(first + 1..first + self.per_file);
        Ok(first)
    }

    /// Moves what is alive out of the next part of a block, if two thirds of the blocks' space are dead.
    pub(super) fn clean(&mut self, scratch: &mut Vec<u8>) -> Result<(), StoreError> {
        let (victim, from) = match self.cleaning.take() {
            Some(begun) => begun,
            None if self.holding * BLOCK as u64 <= 3 * self.live + SPARE * BLOCK as u64 => {
                return Ok(());
            }
            None => match self.emptiest() {
                Some(victim) => (victim, 0),
                None => return Ok(()),
            },
        };
        let mut moved = self.clean_part(victim, from, STEP, scratch)?;
        if moved == 0 {
            // A segment that is longer, or none.
            moved = self.clean_part(victim, from, BLOCK, scratch)?;
        }
        if self.blocks[victim as usize].live == 0 {
            return Ok(());
        }
        if moved == 0 {
            let (file, at) = self.place(victim);
            self.blocks[victim as usize].damaged = true;
            let why = "a block ends before all that should be in it";
            return Err(StoreError::Corrupt { file, at, why });
        }
        self.cleaning = Some((victim, from + moved));
        Ok(())
    }

    /// Moves what is alive in the whole segments among the next `most` bytes of a block; how many
    /// bytes these are.
    fn clean_part(
        &mut self,
        victim: u32,
        from: usize,
        most: usize,
        scratch: &mut Vec<u8>,
    ) -> Result<usize, StoreError> {
        let (file, at) = self.place(victim);
        let at = at + from as u64;
        scratch.clear();
        scratch.reserve_exact(BLOCK);
        scratch.resize(most.min(BLOCK - from), 0);
        let mut read = self.disk.read(file, at, scratch);
        if read.as_ref().is_err_and(|error| error.kind() == ErrorKind::UnexpectedEof) {
            // The last block of a file may be short: what is not there is zero.
            scratch.fill(0);
            let end = self.disk.len(file).map_err(|error| StoreError::io(file, "read", error))?;
            let there = end.saturating_sub(at).min(scratch.len() as u64) as usize;
            read = self.disk.read(file, at, &mut scratch[..there]);
        }
        read.map_err(|error| StoreError::io(file, "read", error))?;
        let mut end = 0;
        for (offset, segment, payload) in walk(scratch) {
            end = offset + HEAD + payload.len();
            let alive = self
                .extents
                .get(segment.entry as usize)
                .is_some_and(|extent| extent.is_there() && extent.time() == segment.time);
            let (offset, len) = ((from + offset) as u16, payload.len() as u16);
            let here = Part { block: victim, offset, len };
            if !alive || self.part(segment.entry, segment.part) != Some(here) {
                continue;
            }
            self.room(HEAD + payload.len())?;
            if let Some(moved) = self.append(segment, payload) {
                self.redirect(segment.entry, segment.part, moved);
                self.bury(here);
            }
        }
        Ok(end)
    }

    /// The block with least that is alive, of the next few.
    fn emptiest(&mut self) -> Option<u32> {
        let count = self.blocks.len();
        let (open, from) = (self.open, self.hand);
        self.hand = if count == 0 { 0 } else { (from + SAMPLE.min(count)) % count };
        let next = (0..SAMPLE.min(count)).map(|step| (from + step) % count);
        let usable = next.filter(|&at| {
            let block = &self.blocks[at];
            block.live > 0
                && block.live as usize <= BLOCK * 3 / 4
                && !block.damaged
                && open != Some(at as u32)
        });
        usable.min_by_key(|&at| (self.blocks[at].live, at)).map(|at| at as u32)
    }

    fn part(&self, entry: u32, part: u32) -> Option<Part> {
        let Some(at) = part.checked_sub(1) else {
            return self.extents.get(entry as usize).map(|extent| extent.first);
        };
        self.more.get(&entry)?.get(at as usize).copied()
    }

    fn redirect(&mut self, entry: u32, part: u32, to: Part) {
        match part.checked_sub(1) {
            None => self.extents[entry as usize].first = to,
            Some(at) => {
                let slot = self.more.get_mut(&entry).and_then(|more| more.get_mut(at as usize));
                if let Some(slot) = slot {
                    *slot = to;
                }
            }
        }
    }

    /// Keeps the blocks of the newest checkpoint beside those of the one before.
    pub(super) fn pin(&mut self) {
        for block in &mut self.blocks {
            block.pinned |= block.live > 0;
        }
    }

    /// Gives up what only the checkpoint before needed, and files without any use.
    pub(super) fn unpin(&mut self) {
        for at in 0..self.blocks.len() {
            let block = &mut self.blocks[at];
            if block.pinned && block.live == 0 {
                block.pinned = false;
                self.release(at as u32);
            }
        }
        for number in (0..self.files.len() as u32).rev() {
            let own = number * self.per_file..(number + 1) * self.per_file;
            // One file's worth of free blocks is kept.
            if self.free.len() < 2 * self.per_file as usize {
                break;
            }
            let unused = self.free.range(own.clone()).count() == self.per_file as usize;
            if unused
                && self.files[number as usize]
                && self.disk.remove(FileName::Data(number)).is_ok()
            {
                self.files[number as usize] = false;
                own.for_each(|block| {
                    self.free.remove(&block);
                });
                self.unsynced.remove(&number);
            }
        }
    }
}
