//! A spill from what is on disk: the last checkpoint, and room where anything else was.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::num::NonZeroU16;

use super::blocks::Blocks;
use super::disk::{Disk, FileName};
use super::error::StoreError;
use super::manifest;
use super::segment::{BLOCK, HEAD, Segment, TIMES, VERSION};
use super::space::{FILE_HEAD, claimed_version, file_head};
use super::spill::Restored;

/// Blocks of a file unless something else is asked for: 16 MiB with its head.
const PER_FILE: NonZeroU16 = NonZeroU16::MIN.saturating_add(254);

impl<D: Disk> Blocks<D> {
    /// Opens what is on `disk`: the last checkpoint, whole, or nothing if there was none. What was
    /// written after it is given up. O(entries + blocks).
    ///
    /// # Errors
    /// `Corrupt` when the manifest is damaged or names what is not there, or when there are data and
    /// no manifest; `Version` when a file is of another version; or what the system says. Nothing
    /// has changed on disk then.
    pub fn open(disk: D) -> Result<Self, StoreError> {
        Self::with_files_of(disk, PER_FILE)
    }

    /// The same with new files of `per_file` blocks; a checkpoint that is there keeps its own
    /// number.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub fn with_files_of(mut disk: D, per_file: NonZeroU16) -> Result<Self, StoreError> {
        let all = FileName::Manifest;
        let mut names =
            disk.list().map_err(|error| StoreError::io(all, "list the folder", error))?;
        names.sort_unstable();
        let numbers: Vec<u32> = names.iter().filter_map(number_of).collect();
        for &number in &numbers {
            check_version(&mut disk, FileName::Data(number))?;
        }
        let mut opened = Self {
            disk,
            per_file: u32::from(per_file.get()),
            extents: Vec::new(),
            more: BTreeMap::new(),
            more_bytes: 0,
            blocks: Vec::new(),
            files: Vec::new(),
            free: BTreeSet::new(),
            open: None,
            buffer: Vec::with_capacity(BLOCK),
            flushed: 0,
            next_time: 1,
            live: 0,
            holding: 0,
            unsynced: BTreeSet::new(),
            broken: None,
            began: names.contains(&FileName::Manifest),
            hand: 0,
            cleaning: None,
            restored: None,
        };
        if opened.began {
            // A process that was killed may have left names that are not durable, and with them an
            // older checkpoint whose blocks are about to be used again.
            let synced = opened.disk.sync_names();
            synced.map_err(|error| StoreError::io(all, "sync the folder", error))?;
            opened.take_over(&numbers)?;
        } else if let Some(&number) = numbers.first() {
            let (file, why) =
                (FileName::Data(number), "no manifest is there: put it back, or remove the data");
            return Err(StoreError::Corrupt { file, at: 0, why });
        }
        Ok(opened)
    }

    /// The disk.
    pub fn disk(&self) -> &D {
        &self.disk
    }

    /// Bytes of files that are in use, and how many of them some entry needs.
    #[must_use]
    pub fn space(&self) -> (u64, u64) {
        let files = self.files.iter().filter(|&&there| there).count() as u64;
        let free = self.free.len() as u64;
        ((files * u64::from(self.per_file + 1) - free) * BLOCK as u64, self.live)
    }

    fn take_over(&mut self, numbers: &[u32]) -> Result<(), StoreError> {
        let bytes = read_all(&mut self.disk, FileName::Manifest)?;
        let (mut entries, mut blocks) = (Vec::new(), BTreeSet::new());
        let header = manifest::parse(&bytes, |entry, time, parts, meta| {
            entries.push((entry, meta));
            blocks.extend(parts.iter().map(|part| part.block));
            self.remember(entry, time, parts);
        })?;
        if header.bits == 0 {
            // No checkpoint was ever made.
            return self.start_over(numbers);
        }
        (self.per_file, self.next_time) = (header.per_file, header.next_time);
        let named: BTreeSet<u32> = blocks.iter().map(|block| block / self.per_file).collect();
        for &number in numbers {
            // What the manifest does not name, and does not begin like it, is no file of ours.
            if number < u32::MAX / self.per_file
                && (named.contains(&number) || self.is_ours(number))
            {
                // Whoever wrote it may not have made it durable.
                self.unsynced.insert(number);
                let at = number as usize;
                self.files.resize(self.files.len().max(at + 1), false);
                self.files[at] = true;
            }
        }
        let file = FileName::Manifest;
        let there = |block: u32| self.files.get((block / self.per_file) as usize) == Some(&true);
        if !blocks.into_iter().all(there) {
            let why = "it names blocks of files that are not there";
            return Err(StoreError::Corrupt { file, at: 0, why });
        }
        for &(entry, _) in &entries {
            for part in self.parts(entry) {
                if !self.has_room_for(part) {
                    let why = "it names more in a block than that holds";
                    return Err(StoreError::Corrupt { file, at: 0, why });
                }
                self.revive(part);
            }
        }
        self.pin();
        let later_blocks = self.free_the_rest()?;
        let (epoch, bits) = (header.epoch, header.bits);
        self.restored = Some(Restored { epoch, bits, entries, later_blocks });
        Ok(())
    }

    fn is_ours(&mut self, number: u32) -> bool {
        let mut head = [0; FILE_HEAD];
        self.disk.read(FileName::Data(number), 0, &mut head).is_ok()
            && head == file_head(self.per_file, number)
    }

    fn start_over(&mut self, numbers: &[u32]) -> Result<(), StoreError> {
        for file in numbers.iter().map(|&number| FileName::Data(number)) {
            let removed = self.disk.remove(file);
            removed.map_err(|error| StoreError::io(file, "remove it", error))?;
        }
        Ok(())
    }

    /// Frees the blocks that no entry needs; how many hold segments of a later time than the
    /// checkpoint's.
    fn free_the_rest(&mut self) -> Result<u64, StoreError> {
        let (checkpoint, mut later) = (self.next_time, 0);
        // A head is not behind a checksum: a time that cannot be is none of ours.
        let is_later = |head: &Segment| (checkpoint..TIMES / 2).contains(&head.time);
        for file in 0..self.files.len() as u32 {
            if !self.files[file as usize] {
                continue;
            }
            let name = FileName::Data(file);
            let end = self.disk.len(name).map_err(|error| StoreError::io(name, "read", error))?;
            for block in file * self.per_file..(file + 1) * self.per_file {
                if self.blocks.get(block as usize).is_some_and(|block| block.live > 0) {
                    continue;
                }
                self.free.insert(block);
                let (_, at) = self.place(block);
                if at + HEAD as u64 > end {
                    continue;
                }
                let mut head = [0; HEAD];
                let read = self.disk.read(name, at, &mut head);
                read.map_err(|error| StoreError::io(name, "read", error))?;
                if let Some(found) = Segment::head(&head).filter(is_later) {
                    later += 1;
                    // Times are never given twice, nor those of the segments behind it.
                    self.next_time = self.next_time.max(found.time + (BLOCK / HEAD) as u64);
                }
            }
            let blocks = (file as usize + 1) * self.per_file as usize;
            self.blocks.resize(self.blocks.len().max(blocks), super::blocks::Block::default());
        }
        Ok(later)
    }
}

fn number_of(name: &FileName) -> Option<u32> {
    if let FileName::Data(number) = name { Some(*number) } else { None }
}

fn check_version<D: Disk>(disk: &mut D, file: FileName) -> Result<(), StoreError> {
    let mut head = [0; 12];
    // A head that cannot be read is no reason to give up what the file holds: every segment is
    // checked by itself.
    if disk.read(file, 0, &mut head).is_ok()
        && let Some(found) = claimed_version(&head)
        && found != VERSION
    {
        return Err(StoreError::Version { file, found, known: VERSION });
    }
    Ok(())
}

fn read_all<D: Disk>(disk: &mut D, file: FileName) -> Result<Vec<u8>, StoreError> {
    let wrong = |error: io::Error| StoreError::io(file, "read", error);
    let len = usize::try_from(disk.len(file).map_err(wrong)?);
    let mut bytes = vec![0; len.map_err(|_| StoreError::Full { file })?];
    disk.read(file, 0, &mut bytes).map_err(wrong)?;
    Ok(bytes)
}
