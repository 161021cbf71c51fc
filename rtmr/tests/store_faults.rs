//! A fault at every write in turn: an error, a short write, a crash. What the store holds stays
//! what it was told, and what is reopened is a checkpoint, whole.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::Random;
use common::disk::{Fault, MemoryDisk};
use common::model::{Map, Spilled, check, contents, files_of, open, step};
use rtmr::store::{Blocks, FileName, Modulo, Store, StoreError};

const STEPS: u64 = 500;
const EVERY: u64 = 40;

/// What is known of a run: the map now, the last checkpoint that was confirmed, and one of which
/// it is not known whether it is there.
#[derive(Default)]
struct Run {
    map: Map,
    saved: Map,
    unsure: Option<Map>,
    refused: u64,
}

/// The same operations each time, for as long as the disk works.
fn run(disk: &MemoryDisk, store: &mut Spilled) -> Run {
    let (r, mut run) = (&mut Random::new(5), Run::default());
    for turn in 1..=STEPS {
        run.refused += u64::from(step(store, &mut run.map, r, 90, 500).is_err());
        if disk.crashed() {
            break;
        }
        if turn % EVERY == 0 {
            match store.checkpoint(turn) {
                Ok(()) => (run.saved, run.unsure) = (run.map.clone(), None),
                Err(_) => (run.unsure, run.refused) = (Some(run.map.clone()), run.refused + 1),
            }
        }
    }
    run
}

fn budget() -> usize {
    let spill = Blocks::with_files_of(MemoryDisk::default(), files_of(3)).unwrap();
    match Store::<u64, String, _, _>::with(4, 0, spill, Modulo) {
        Err(StoreError::Budget { least, .. }) => least + 9_000,
        other => panic!("{:?}", other.err()),
    }
}

#[test]
fn a_fault_at_every_write_loses_nothing_that_was_promised() {
    let budget = budget();
    let disk = MemoryDisk::default();
    let mut store = open(disk.clone(), budget);
    let whole = run(&disk, &mut store);
    assert_eq!((whole.refused, contents(&mut store)), (0, whole.map));
    let calls = disk.calls();
    assert!(calls > 60, "{calls}");
    for call in 0..calls {
        for fault in [Fault::Error, Fault::Short, Fault::Crash] {
            let disk = MemoryDisk::default();
            let mut store = open(disk.clone(), budget);
            disk.fail(call, fault);
            let run = run(&disk, &mut store);
            check(&store);
            if fault == Fault::Crash {
                assert!(disk.crashed());
                disk.restart(call);
            } else {
                // An error at one call, told or made good: the store has all it was given.
                assert_eq!(contents(&mut store), run.map, "{fault:?} at {call}");
                match store.checkpoint(STEPS + 1) {
                    Ok(()) => {
                        drop(store);
                        disk.restart(call);
                        assert_eq!(contents(&mut open(disk, budget)), run.map);
                        continue;
                    }
                    Err(StoreError::Unsynced { .. }) => {}
                    Err(other) => panic!("{other:?}: {fault:?} at {call}"),
                }
                disk.restart(call);
            }
            drop(store);
            let found = contents(&mut open(disk.clone(), budget));
            let known = found == run.saved || Some(&found) == run.unsure.as_ref();
            assert!(known, "{fault:?} at {call}");
            // And it goes on from there.
            let mut again = open(disk, budget);
            again.insert(1, "again".into()).unwrap();
            again.checkpoint(9999).unwrap();
        }
    }
}

#[test]
fn a_crash_while_reopening_changes_nothing() {
    let budget = budget();
    let disk = MemoryDisk::default();
    let run = run(&disk, &mut open(disk.clone(), budget));
    disk.kill();
    for _ in 0..3 {
        let mut store = open(disk.clone(), budget);
        assert_eq!(contents(&mut store), run.saved);
    }
}

#[test]
fn what_was_spilled_after_the_checkpoint_is_recognised() {
    let (disk, budget) = (MemoryDisk::default(), budget());
    let mut store = open(disk.clone(), budget);
    let (r, mut map) = (&mut Random::new(3), Map::new());
    (0..100).for_each(|_| step(&mut store, &mut map, r, 60, 300).unwrap());
    store.checkpoint(77).unwrap();
    let mut later = map.clone();
    // Enough to fill blocks of their own.
    (0..900).for_each(|_| step(&mut store, &mut later, r, 60, 300).unwrap());
    drop(store);
    let mut spill = Blocks::open(disk).unwrap();
    let found = rtmr::store::Spill::restored(&mut spill).unwrap();
    assert_eq!((found.epoch, found.bits), (77, 4));
    assert!(found.later_blocks > 0);
}

#[test]
fn damaged_bytes_are_told_and_the_rest_is_read() {
    let (disk, budget) = (MemoryDisk::default(), budget());
    let mut store = open(disk.clone(), budget);
    let (r, mut map) = (&mut Random::new(8), Map::new());
    (0..150).for_each(|_| step(&mut store, &mut map, r, 90, 400).unwrap());
    store.checkpoint(1).unwrap();
    drop(store);
    let data = disk.contents(FileName::Data(0));
    // One byte inside some entry's segment.
    for at in (65_536..data.len()).step_by(977) {
        let copy = disk.copy();
        let mut bytes = data.clone();
        bytes[at] ^= 0x10;
        copy.set_contents(FileName::Data(0), bytes);
        let mut store = open(copy, budget);
        let mut lost = 0;
        for entry in 0..16 {
            let mut found = Map::new();
            match store.scan(entry, .., |&key, value| drop(found.insert(key, value.clone()))) {
                Ok(()) => {
                    let held = map.iter().filter(|(key, _)| store.entry_of(key) == entry);
                    assert!(held.eq(found.iter()));
                }
                Err(StoreError::Corrupt { file: FileName::Data(0), .. }) => lost += 1,
                Err(other) => panic!("{other:?}"),
            }
        }
        assert!(lost <= 1);
    }
    let manifest = disk.contents(FileName::Manifest);
    for at in 0..manifest.len() {
        let copy = disk.copy();
        let mut bytes = manifest.clone();
        bytes[at] ^= 1 << (at % 8);
        copy.set_contents(FileName::Manifest, bytes);
        let refused = Blocks::open(copy.clone()).map(drop).unwrap_err();
        let version = (8..12).contains(&at);
        assert_eq!(matches!(refused, StoreError::Version { .. }), version);
        assert!(version || matches!(refused, StoreError::Corrupt { .. }));
        copy.set_contents(FileName::Manifest, manifest[..at].to_vec());
        assert!(matches!(Blocks::open(copy), Err(StoreError::Corrupt { .. })));
    }
}

#[test]
fn a_data_file_of_another_version_is_refused() {
    let (disk, budget) = (MemoryDisk::default(), budget());
    let mut store = open(disk.clone(), budget);
    store.insert(1, "one".into()).unwrap();
    store.checkpoint(1).unwrap();
    let mut bytes = disk.contents(FileName::Data(0));
    bytes[8] = 2;
    disk.set_contents(FileName::Data(0), bytes);
    let refused = Blocks::open(disk).map(drop).unwrap_err();
    let StoreError::Version { file, found, known } = refused else { panic!("{refused:?}") };
    assert_eq!((file, found, known), (FileName::Data(0), 2, 1));
}

#[test]
fn files_of_the_disk_stay_within_thrice_what_is_alive() {
    let disk = MemoryDisk::default();
    let mut store = Store::<u64, String, _, _>::with(
        8,
        400_000,
        Blocks::with_files_of(disk, files_of(4)).unwrap(),
        Modulo,
    )
    .unwrap();
    let r = &mut Random::new(1);
    for turn in 0..60_000_u64 {
        let key = r.below(4000).min(r.below(4000));
        store.insert(key, "z".repeat(400 + r.below(200) as usize)).unwrap();
        if turn % 20_000 == 0 {
            store.checkpoint(turn).unwrap();
        }
    }
    store.checkpoint(0).unwrap();
    let (used, live) = store.spill().space();
    assert!(live > 1_000_000 && used <= 3 * live + (20 << 16), "{used} for {live}");
    check(&store);
}

#[test]
fn a_process_that_is_killed_and_a_system_that_fails_after_it_lose_no_checkpoint() {
    let budget = budget();
    let disk = MemoryDisk::default();
    run(&disk, &mut open(disk.clone(), budget));
    for call in 0..disk.calls() {
        let disk = MemoryDisk::default();
        disk.fail(call, Fault::Crash);
        let run = run(&disk, &mut open(disk.clone(), budget));
        disk.kill();
        // The next process uses again what it takes for free.
        let (mut store, r) = (open(disk.clone(), budget), &mut Random::new(call));
        let mut map = contents(&mut store);
        (0..300).for_each(|_| step(&mut store, &mut map, r, 90, 500).unwrap());
        drop(store);
        disk.restart(call);
        let found = contents(&mut open(disk, budget));
        assert!(found == run.saved || Some(&found) == run.unsure.as_ref(), "at {call}");
    }
}

#[test]
fn an_error_told_of_what_was_done_loses_no_checkpoint() {
    let budget = budget();
    for call in 0.. {
        let (disk, r, mut map) = (MemoryDisk::default(), &mut Random::new(6), Map::new());
        let mut store = open(disk.clone(), budget);
        (0..300).for_each(|_| step(&mut store, &mut map, r, 90, 500).unwrap());
        store.checkpoint(1).unwrap();
        let first = map.clone();
        (0..300).for_each(|_| step(&mut store, &mut map, r, 90, 500).unwrap());
        disk.fail(call, Fault::Late);
        let told = store.checkpoint(2);
        let second = map.clone();
        if told.is_ok() {
            assert!(call > 3);
            break;
        }
        (0..600).for_each(|_| step(&mut store, &mut map, r, 90, 500).unwrap());
        drop(store);
        disk.kill();
        let found = contents(&mut open(disk, budget));
        assert!(found == first || found == second, "at {call}");
    }
}
