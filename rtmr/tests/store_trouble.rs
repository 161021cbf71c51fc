//! Entries that outgrow the budget, and callers that panic: nothing else is lost by them.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};

use common::disk::MemoryDisk;
use common::model::{Map, check, contents, open};
use rtmr::store::{Fate, StoreError};

const BUDGET: usize = 300_000;

#[test]
fn an_entry_that_outgrows_the_budget_stands_in_no_ones_way() {
    let disk = MemoryDisk::default();
    let mut store = open(disk.clone(), BUDGET);
    let mut map = Map::new();
    for key in 0..64_u64 {
        store.insert(key, key.to_string()).unwrap();
        map.insert(key, key.to_string());
    }
    let huge = "h".repeat(400_000);
    store.update(5, String::new, |_, text| text.push_str(&huge)).unwrap();
    map.insert(5, "5".to_string() + &huge);
    check(&store);
    // The entry is told apart; all others are read and written, and it can be handed over.
    for _ in 0..2 {
        let refused = store.get(&5).map(drop).unwrap_err();
        assert!(matches!(refused, StoreError::EntryExceedsBudget { entry: 5, .. }), "{refused:?}");
        for key in (0..64).filter(|key| key % 16 != 5) {
            assert_eq!(store.get(&key).unwrap(), map.get(&key));
            store.insert(key, "new".into()).unwrap();
            map.insert(key, "new".into());
        }
        assert!(store.used() <= BUDGET);
        store.checkpoint(1).unwrap();
        drop(store);
        store = open(disk.clone(), BUDGET);
    }
    assert_eq!(contents(&mut open(disk.clone(), 10 * BUDGET)), map);
    let bytes = store.export(5).unwrap().unwrap();
    store.clear(5).unwrap();
    let refused = store.import(5, &bytes).unwrap_err();
    assert!(matches!(refused, StoreError::EntryExceedsBudget { entry: 5, .. }), "{refused:?}");
    assert_eq!(store.stats(5).unwrap().bytes, 0);
    map.retain(|key, _| key % 16 != 5);
    assert_eq!(contents(&mut store), map);
    check(&store);
}

#[test]
fn what_a_large_entry_took_is_given_back_when_it_goes() {
    let mut store = open(MemoryDisk::default(), BUDGET);
    let empty = store.used();
    store.insert(1, "x".repeat(90_000)).unwrap();
    store.remove(&1).unwrap();
    // As much as ever fits.
    store.insert(2, "y".repeat(120_000)).unwrap();
    store.clear(2).unwrap();
    for key in 0..16 {
        store.insert(key, "z".repeat((BUDGET - empty) / 16 - 3_000)).unwrap();
    }
    assert_eq!(store.traffic().evictions, 0);
    check(&store);
}

#[test]
fn a_change_that_panics_is_counted_and_kept() {
    let disk = MemoryDisk::default();
    let mut store = open(disk.clone(), BUDGET);
    store.insert(3, "three".into()).unwrap();
    store.insert(4, "four".into()).unwrap();
    store.checkpoint(1).unwrap();
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        store.update(3, String::new, |_, text| {
            text.push_str(&"!".repeat(1_000));
            panic!("as it should");
        })
    }));
    assert!(outcome.is_err());
    check(&store);
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        store.update(9, String::new, |_, _| panic!("as it should"))
    }));
    assert!(outcome.is_err());
    check(&store);
    assert_eq!(store.len(), 2);
    store.checkpoint(2).unwrap();
    let kept = Map::from([(3, "three".to_string() + &"!".repeat(1_000)), (4, "four".into())]);
    assert_eq!(contents(&mut open(disk, BUDGET)), kept);
}

#[test]
fn a_retain_that_panics_loses_no_key_it_was_not_told_to_drop() {
    let disk = MemoryDisk::default();
    let mut store = open(disk.clone(), BUDGET);
    let mut map = Map::new();
    for key in (0..200).map(|key| key * 16) {
        store.insert(key, key.to_string()).unwrap();
        map.insert(key, key.to_string());
    }
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        store.retain(0, |&key, _| {
            assert!(key < 1600, "as it should");
            if key % 32 == 0 { Fate::Drop } else { Fate::Keep }
        })
    }));
    assert!(outcome.is_err());
    map.retain(|key, _| *key >= 1600 || key % 32 != 0);
    check(&store);
    store.checkpoint(1).unwrap();
    assert_eq!(contents(&mut store), map);
    assert_eq!(contents(&mut open(disk, BUDGET)), map);
}

#[test]
fn a_get_reads_one_pair_and_after_some_the_whole_entry() {
    let disk = MemoryDisk::default();
    let mut store = open(disk.clone(), BUDGET);
    for key in 0..640_u64 {
        store.insert(key, key.to_string().repeat(20)).unwrap();
    }
    store.checkpoint(1).unwrap();
    drop(store);
    let mut store = open(disk, BUDGET);
    let (empty, whole) = (store.used(), store.stats(5).unwrap().bytes);
    for (turn, key) in (5..).step_by(16).take(8).enumerate() {
        for _ in 0..2 {
            assert_eq!(store.get(&key).unwrap(), Some(&key.to_string().repeat(20)));
            check(&store);
        }
        let stats = store.stats(5).unwrap();
        // Read back as a whole its arrays are no longer than they must be.
        assert!(if turn < 4 { stats.bytes == whole } else { stats.bytes <= whole });
        assert_eq!((stats.resident, stats.keys), (turn >= 4, 40));
        assert!(turn >= 4 || (store.used() > empty && store.used() < empty + whole / 2));
    }
    // What is not there, what is changed, and what is visited, is so in the whole entry.
    assert_eq!(store.get(&6).unwrap(), Some(&"6".repeat(20)));
    assert!(!store.stats(6).unwrap().resident);
    assert_eq!(store.get(&(16 * 1000 + 6)).unwrap(), None);
    assert!(store.stats(6).unwrap().resident);
    assert_eq!(store.get(&7).unwrap(), Some(&"7".repeat(20)));
    assert_eq!(store.insert(7, "new".into()).unwrap(), Some("7".repeat(20)));
    assert_eq!(store.get(&8).unwrap(), Some(&"8".repeat(20)));
    assert_eq!(store.remove(&24).unwrap(), Some("24".repeat(20)));
    assert_eq!(store.get(&9).unwrap(), Some(&"9".repeat(20)));
    store.clear(9).unwrap();
    assert_eq!(store.get(&9).unwrap(), None);
    check(&store);
    // A part goes like an entry does.
    assert_eq!(store.get(&10).unwrap(), Some(&"10".repeat(20)));
    store.set_budget(empty + 40_000).unwrap();
    for key in 0..640 {
        let expected = if key == 7 { "new".to_string() } else { key.to_string().repeat(20) };
        let gone = key % 16 == 9 || key == 24;
        assert_eq!(store.get(&key).unwrap(), (!gone).then_some(&expected));
        check(&store);
    }
    assert!(store.used() <= store.budget());
    assert_eq!(contents(&mut store).len(), 599);
}
