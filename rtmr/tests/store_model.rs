//! The store does what a `BTreeMap` does, whatever the budget, and through checkpoints,
//! reopenings and hand-overs.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test may panic")]

mod common;

use common::disk::MemoryDisk;
use common::model::{BITS, Map, check, contents, files_of, open, step};
use common::{Random, cases};
use proptest::prelude::*;
use rtmr::store::{Blocks, Mixed, Modulo, NoSpill, Store, StoreError};

proptest! {
    #![proptest_config(cases(512))]

    #[test]
    fn a_store_in_memory_is_a_map(seed: u64, bits in 1_u32..6, keys in 1_u64..2000) {
        let r = &mut Random::new(seed);
        let mut store = Store::<u64, String>::new(bits, usize::MAX).unwrap();
        let mut map = Map::new();
        for _ in 0..1500 {
            step(&mut store, &mut map, r, keys, 20).unwrap();
        }
        check(&store);
        prop_assert_eq!(contents(&mut store), map);
    }

    #[test]
    fn a_store_of_any_budget_is_a_map(
        seed: u64, extra in 4_000_usize..60_000, keys in 20_u64..600, text in 1_u64..40,
    ) {
        let r = &mut Random::new(seed);
        let disk = MemoryDisk::default();
        let budget = least(&disk) + extra;
        let mut store = open(disk.clone(), budget);
        let (mut map, mut saved) = (Map::new(), None);
        for turn in 0..1500_u64 {
            match step(&mut store, &mut map, r, keys, text) {
                // An entry has outgrown the budget, as the error says: it goes elsewhere.
                Err(StoreError::EntryExceedsBudget { entry, bytes, limit }) => {
                    prop_assert!(bytes > limit);
                    let exported = store.export(entry).unwrap();
                    store.clear(entry).unwrap();
                    let mut other = Store::with(BITS, usize::MAX, NoSpill, Modulo).unwrap();
                    if let Some(exported) = exported {
                        other.import(entry, &exported).unwrap();
                    }
                    let held: Map =
                        map.iter().filter(|(key, _)| store.entry_of(key) == entry)
                            .map(|(&key, value)| (key, value.clone())).collect();
                    prop_assert_eq!(contents(&mut other), held);
                    map.retain(|key, _| store.entry_of(key) != entry);
                }
                other => other.unwrap(),
            }
            prop_assert!(store.used() <= budget, "{} of {budget}", store.used());
            if r.one_in(50) {
                check(&store);
            }
            match r.below(100) {
                0 => {
                    store.checkpoint(turn).unwrap();
                    saved = Some((turn, map.clone()));
                }
                1 => {
                    // A process ends: what was not checkpointed is gone.
                    drop(store);
                    store = open(disk.clone(), budget);
                    let epoch = saved.as_ref().map(|(epoch, _)| *epoch);
                    prop_assert_eq!(store.epoch(), epoch);
                    map = saved.clone().map(|(_, map)| map).unwrap_or_default();
                }
                2 => {
                    let entry = r.below(1 << BITS) as u32;
                    let before = store.stats(entry).unwrap();
                    if let Some(bytes) = store.export(entry).unwrap() {
                        let refused = store.import(entry, &bytes);
                        assert!(matches!(refused, Err(StoreError::Occupied { .. })));
                        store.clear(entry).unwrap();
                        store.import(entry, &bytes).unwrap();
                        let after = store.stats(entry).unwrap();
                        prop_assert_eq!((after.keys, after.load), (before.keys, before.load));
                    }
                }
                _ => {}
            }
        }
        let oversized = (0..1 << BITS).any(|entry| {
            matches!(store.scan(entry, .., |_, _| ()), Err(StoreError::EntryExceedsBudget { .. }))
        });
        if !oversized {
            prop_assert_eq!(contents(&mut store), map);
        }
        check(&store);
    }
}

fn least(disk: &MemoryDisk) -> usize {
    let spill = Blocks::with_files_of(disk.clone(), files_of(3)).unwrap();
    match Store::<u64, String, _, _>::with(BITS, 0, spill, Modulo) {
        Err(StoreError::Budget { least, .. }) => least,
        other => panic!("{:?}", other.err()),
    }
}

#[test]
fn entries_larger_than_a_block_come_back_in_one_piece() {
    let disk = MemoryDisk::default();
    let mut store = open(disk.clone(), least(&disk) + 900_000);
    let mut map = Map::new();
    for round in 0..3_u64 {
        for key in 0..64_u64 {
            let value = char::from(b'a' + (key + round) as u8 % 26).to_string();
            let value = value.repeat(20_000 + (key * 997 % 13_000) as usize);
            assert_eq!(store.insert(key, value.clone()).unwrap(), map.insert(key, value));
            assert!(store.used() <= store.budget());
        }
        store.checkpoint(round).unwrap();
    }
    assert!(store.traffic().evictions > 10);
    assert_eq!(contents(&mut store), map);
    assert_eq!(contents(&mut open(disk, 100_000_000)), map);
}

#[test]
fn without_a_spill_the_budget_refuses_what_does_not_fit() {
    let mut store = Store::<u64, [u8; 100]>::new(6, 100_000).unwrap();
    let mut held = 0;
    let refused = loop {
        match store.insert(held, [held as u8; 100]) {
            Ok(_) => held += 1,
            Err(refused) => break refused,
        }
    };
    assert!(matches!(refused, StoreError::OverBudget { need } if need > 0));
    assert!(held > 400 && store.used() <= 100_000, "{held}");
    // What is there can be read, changed and removed; then there is room again.
    assert_eq!(store.insert(7, [1; 100]).unwrap(), Some([7; 100]));
    for key in 0..held / 2 {
        assert!(store.remove(&key).unwrap().is_some());
    }
    assert!(store.insert(held, [0; 100]).is_ok());
    check(&store);
}

#[test]
fn what_cannot_be_is_told() {
    assert!(matches!(Store::<u64, u64>::new(0, 1), Err(StoreError::Bits { bits: 0 })));
    assert!(matches!(Store::<u64, u64>::new(32, 1), Err(StoreError::Bits { bits: 32 })));
    let Err(StoreError::Budget { least, .. }) = Store::<u64, u64>::new(4, 10) else { panic!() };
    let mut store = Store::<u64, u64>::new(4, least).unwrap();
    assert_eq!(store.insert(1, 2).unwrap(), None);
    assert!(matches!(store.stats(16), Err(StoreError::NoEntry { entry: 16, entries: 16 })));
    assert!(matches!(store.set_budget(1), Err(StoreError::Budget { .. })));
    assert!(store.checkpoint(1).is_err());
    let mut bytes = store.export(store.entry_of(&1)).unwrap().unwrap();
    let entry = store.entry_of(&1);
    store.clear(entry).unwrap();
    assert!(store.is_empty());
    for at in 0..bytes.len() {
        bytes[at] ^= 1;
        assert!(matches!(store.import(entry, &bytes), Err(StoreError::Entry { .. })));
        assert!(store.import(entry, &bytes[..at]).is_err());
        bytes[at] ^= 1;
    }
    let other = entry ^ 1;
    assert!(matches!(store.import(other, &bytes), Err(StoreError::Entry { .. })));
    store.import(entry, &bytes).unwrap();
    assert_eq!(store.get(&1).unwrap(), Some(&2));
}

#[test]
fn keys_by_another_place_are_refused() {
    let mut modulo = Store::<u64, u8, _, _>::with(8, usize::MAX, NoSpill, Modulo).unwrap();
    let mut mixed = Store::<u64, u8, _, _>::with(8, usize::MAX, NoSpill, Mixed).unwrap();
    for key in 0..20 {
        modulo.insert(key, 0).unwrap();
    }
    let refused = (0..20).filter(|&entry| {
        let bytes = modulo.export(entry).unwrap().unwrap();
        mixed.import(entry, &bytes).is_err()
    });
    assert!(refused.count() >= 18);
}
