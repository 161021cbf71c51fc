//! What may be found in a folder, and what becomes of it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::cell::Cell;
use std::io;
use std::rc::Rc;

use common::Random;
use common::disk::MemoryDisk;
use common::model::{Map, contents, files_of, open, step};
use rtmr::store::{
    Blocks, Disk, FileName, Folder, Meta, Mixed, Restored, Spill, Store, StoreError,
};

const BUDGET: usize = 80_000;

/// A store with a checkpoint, and what is in it.
fn saved() -> (MemoryDisk, Map) {
    let (disk, mut map) = (MemoryDisk::default(), Map::new());
    let mut store = open(disk.clone(), BUDGET);
    let r = &mut Random::new(4);
    (0..400).for_each(|_| step(&mut store, &mut map, r, 90, 500).unwrap());
    store.checkpoint(3).unwrap();
    (disk, map)
}

/// A disk that is full once so many bytes were written to it, and may not wait for the device.
struct Weak {
    disk: MemoryDisk,
    syncs: bool,
    room: Rc<Cell<usize>>,
}

impl Disk for Weak {
    fn list(&mut self) -> io::Result<Vec<FileName>> {
        self.disk.list()
    }
    fn len(&mut self, file: FileName) -> io::Result<u64> {
        self.disk.len(file)
    }
    fn read(&mut self, file: FileName, at: u64, into: &mut [u8]) -> io::Result<()> {
        self.disk.read(file, at, into)
    }
    fn write(&mut self, file: FileName, at: u64, bytes: &[u8]) -> io::Result<()> {
        let fits = bytes.len().min(self.room.get());
        self.room.set(self.room.get() - fits);
        self.disk.write(file, at, &bytes[..fits])?;
        if fits < bytes.len() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }
    fn sync(&mut self, file: FileName) -> io::Result<()> {
        if self.syncs { self.disk.sync(file) } else { Ok(()) }
    }
    fn rename(&mut self, from: FileName, to: FileName) -> io::Result<()> {
        self.disk.rename(from, to)
    }
    fn remove(&mut self, file: FileName) -> io::Result<()> {
        self.disk.remove(file)
    }
    fn sync_names(&mut self) -> io::Result<()> {
        if self.syncs { self.disk.sync_names() } else { Ok(()) }
    }
}

#[test]
fn what_was_buffered_is_durable_after_the_first_durable_checkpoint() {
    for seed in 0..20 {
        let (disk, mut map, r) = (MemoryDisk::default(), Map::new(), &mut Random::new(seed));
        let room = Rc::new(Cell::new(usize::MAX));
        let lazy = Weak { disk: disk.clone(), syncs: false, room };
        let mut store = open(lazy, 9_000_000);
        (0..3_000).for_each(|_| step(&mut store, &mut map, r, 1_500, 4_000).unwrap());
        store.checkpoint(1).unwrap();
        assert!(disk.contents(FileName::Data(1)).len() > 1 << 16, "several files");
        drop(store);
        let mut store = open(disk.clone(), 9_000_000);
        store.insert(1, "one".into()).unwrap();
        map.insert(1, "one".into());
        store.checkpoint(2).unwrap();
        drop(store);
        disk.restart(seed);
        assert_eq!(contents(&mut open(disk, 9_000_000)), map, "{seed}");
    }
}

#[test]
fn a_lost_manifest_is_told_and_the_data_are_left_alone() {
    let (mut disk, map) = saved();
    let (manifest, data) = (disk.contents(FileName::Manifest), disk.contents(FileName::Data(0)));
    disk.remove(FileName::Manifest).unwrap();
    let refused = Blocks::open(disk.clone()).map(drop).unwrap_err();
    assert!(matches!(refused, StoreError::Corrupt { file: FileName::Data(0), .. }));
    assert_eq!(disk.contents(FileName::Data(0)), data);
    disk.write(FileName::Manifest, 0, &manifest).unwrap();
    assert_eq!(contents(&mut open(disk, BUDGET)), map);
}

#[test]
fn without_a_checkpoint_a_store_begins_anew() {
    let (disk, mut map) = (MemoryDisk::default(), Map::new());
    for seed in 0..3 {
        let mut store = open(disk.clone(), BUDGET);
        assert_eq!((store.epoch(), store.len()), (None, 0));
        let r = &mut Random::new(seed);
        map.clear();
        (0..900).for_each(|_| step(&mut store, &mut map, r, 90, 500).unwrap());
        assert_eq!(contents(&mut store), map);
        assert!(store.traffic().evictions > 0);
    }
    let mut store = open(disk.clone(), BUDGET);
    store.insert(1, "one".into()).unwrap();
    store.checkpoint(0).unwrap();
    assert_eq!(contents(&mut open(disk, BUDGET)), Map::from([(1, "one".into())]));
}

#[test]
fn files_that_are_not_ours_are_neither_counted_nor_used() {
    let (mut disk, map) = saved();
    let before = open(disk.clone(), BUDGET).spill().space();
    disk.write(FileName::Data(100_000), 0, b"a stranger").unwrap();
    disk.write(FileName::NewManifest, 0, b"half").unwrap();
    disk.write(FileName::NewData, 0, b"half").unwrap();
    let mut store = open(disk.clone(), BUDGET);
    assert_eq!(store.spill().space(), before);
    store.checkpoint(4).unwrap();
    assert_eq!(contents(&mut store), map);
    assert_eq!(disk.contents(FileName::Data(100_000)), b"a stranger");
}

#[test]
fn an_older_manifest_gives_an_entry_as_it_was_or_none() {
    let (disk, map) = saved();
    let old = disk.contents(FileName::Manifest);
    let (r, mut now, mut store) = (&mut Random::new(1), map.clone(), open(disk.clone(), BUDGET));
    for epoch in 4..9 {
        (0..200).for_each(|_| step(&mut store, &mut now, r, 90, 500).unwrap());
        store.checkpoint(epoch).unwrap();
    }
    drop(store);
    disk.set_contents(FileName::Manifest, old);
    let mut store = match Blocks::with_files_of(disk, files_of(3)) {
        Ok(spill) => {
            Store::<u64, String, _, _>::with(4, BUDGET, spill, rtmr::store::Modulo).unwrap()
        }
        Err(refused) => return assert!(matches!(refused, StoreError::Corrupt { .. })),
    };
    for entry in 0..16 {
        let mut found = Map::new();
        match store.scan(entry, .., |&key, value| drop(found.insert(key, value.clone()))) {
            Ok(()) => {
                let held = map.iter().filter(|(key, _)| store.entry_of(key) == entry);
                assert!(held.eq(found.iter()));
            }
            Err(refused) => assert!(matches!(refused, StoreError::Corrupt { .. })),
        }
    }
}

#[test]
fn epochs_are_the_callers_whatever_their_order() {
    let disk = MemoryDisk::default();
    for (turn, epoch) in [5, 5, u64::MAX, 0, u64::MAX, 3].into_iter().enumerate() {
        let mut store = open(disk.clone(), BUDGET);
        store.insert(turn as u64, turn.to_string()).unwrap();
        store.checkpoint(epoch).unwrap();
        drop(store);
        let mut store = open(disk.clone(), BUDGET);
        assert_eq!((store.epoch(), store.len()), (Some(epoch), turn as u64 + 1));
        assert_eq!(store.get(&(turn as u64)).unwrap(), Some(&turn.to_string()));
    }
}

#[test]
fn times_that_cannot_be_are_refused() {
    let (mut disk, map) = saved();
    let file = FileName::Manifest;
    let mut bytes = vec![0; disk.len(file).unwrap() as usize];
    disk.read(file, 0, &mut bytes).unwrap();
    let written = bytes[32..40].to_vec();
    for time in [u64::MAX, u64::MAX / 2, 1 << 62, 1, 0] {
        bytes[32..40].copy_from_slice(&u64::to_le_bytes(time));
        let sum = crc32c::crc32c(&bytes[..60]);
        bytes[60..64].copy_from_slice(&sum.to_le_bytes());
        disk.write(file, 0, &bytes).unwrap();
        let refused = Blocks::open(disk.clone()).map(drop).unwrap_err();
        assert!(matches!(refused, StoreError::Corrupt { file: FileName::Manifest, .. }), "{time}");
    }
    bytes[32..40].copy_from_slice(&written);
    let sum = crc32c::crc32c(&bytes[..60]);
    bytes[60..64].copy_from_slice(&sum.to_le_bytes());
    disk.write(file, 0, &bytes).unwrap();
    assert_eq!(contents(&mut open(disk, BUDGET)), map);
}

/// A spill that claims to hold an entry.
struct Claims(Meta);

impl Spill for Claims {
    fn restored(&mut self) -> Option<Restored> {
        Some(Restored { epoch: 1, bits: 2, entries: vec![(3, self.0)], later_blocks: 0 })
    }
    fn write(&mut self, _: u32, _: &[u8]) -> Result<(), StoreError> {
        Ok(())
    }
    fn read(&mut self, _: u32, _: &mut Vec<u8>) -> Result<bool, StoreError> {
        Ok(false)
    }
    fn remove(&mut self, _: u32) {}
    fn commit(&mut self, _: u64, _: u32, _: &dyn Fn(u32) -> Meta) -> Result<(), StoreError> {
        Ok(())
    }
    fn footprint(&self, _: u32) -> usize {
        0
    }
}

#[test]
fn sizes_that_cannot_be_are_refused_and_none_overflows() {
    for bytes in [0, 1, 1 << 20, 1 << 40, u64::MAX >> 17, u64::MAX / 2, u64::MAX] {
        for load in [0, (1 << 62) - 1, 1 << 62, u64::MAX] {
            let claims = Claims(Meta { bytes, keys: u32::MAX, load });
            match Store::<u64, u64, _, _>::with(2, usize::MAX, claims, Mixed) {
                Err(StoreError::Entry { entry: 3, .. }) => {
                    assert!(bytes > u64::MAX >> 17 || load >= 1 << 62);
                }
                Err(other) => panic!("{other}"),
                Ok(mut store) => {
                    let key = (0..).find(|key| store.entry_of(key) == 3).unwrap();
                    for _ in 0..2 {
                        assert!(matches!(store.get(&key), Err(StoreError::Entry { entry: 3, .. })));
                        assert!(store.insert(key, 1).is_err());
                    }
                    store.clear(3).unwrap();
                    assert_eq!(store.insert(key, 1).unwrap(), None);
                    assert_eq!(store.verify(), Ok(()));
                }
            }
        }
    }
}

#[test]
fn a_folder_is_made_with_those_above_it() {
    let above = std::env::temp_dir().join(format!("rtmr-folder-{}", std::process::id()));
    let path = above.join("a/b");
    for turn in 0..2 {
        let spill = Blocks::open(Folder::new(&path).unwrap()).unwrap();
        let mut store = Store::<u64, u64, _, _>::with(4, 1 << 20, spill, Mixed).unwrap();
        assert_eq!(store.len(), turn);
        let refused = Folder::buffered(&path).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::ResourceBusy);
        store.insert(turn, turn).unwrap();
        store.checkpoint(turn).unwrap();
    }
    std::fs::write(above.join("file"), b"").unwrap();
    assert!(Folder::new(above.join("file/under")).is_err());
    std::fs::remove_dir_all(above).unwrap();
}

#[test]
fn a_disk_that_stays_full_loses_nothing() {
    let mut refused = 0;
    for room in (0..400_000).step_by(9_973) {
        let (disk, left) = (MemoryDisk::default(), Rc::new(Cell::new(room)));
        let tight = Weak { disk: disk.clone(), syncs: true, room: left.clone() };
        let mut store = open(tight, BUDGET);
        let (r, mut map, mut saved) = (&mut Random::new(2), Map::new(), Map::new());
        for turn in 0..1_200 {
            match step(&mut store, &mut map, r, 90, 500) {
                Err(StoreError::Full { .. }) => refused += 1,
                other => other.unwrap(),
            }
            if turn % 100 == 99 && store.checkpoint(turn).is_ok() {
                saved.clone_from(&map);
            }
        }
        assert_eq!(store.verify(), Ok(()));
        assert_eq!(contents(&mut open(disk.copy(), BUDGET)), saved, "{room}");
        // Somebody makes room.
        left.set(usize::MAX);
        assert_eq!(contents(&mut store), map);
        store.checkpoint(9_999).unwrap();
        assert_eq!(contents(&mut open(disk, BUDGET)), map, "{room}");
    }
    assert!(refused > 1_000, "{refused}");
}
