//! A store beside a `BTreeMap` that is told the same.

#![allow(dead_code, reason = "each test file uses a part")]

use std::collections::BTreeMap;

use rtmr::store::{Blocks, Codec, Disk, Fate, Footprint, Modulo, Place, Spill, Store, StoreError};

use super::Random;
use super::disk::MemoryDisk;

pub type Map = BTreeMap<u64, String>;
pub type Spilled<D = MemoryDisk> = Store<u64, String, Blocks<D>, Modulo>;

pub const BITS: u32 = 4;

pub fn files_of(blocks: u16) -> std::num::NonZeroU16 {
    std::num::NonZeroU16::new(blocks).unwrap()
}

pub fn open<D: Disk>(disk: D, budget: usize) -> Spilled<D> {
    Store::with(BITS, budget, Blocks::with_files_of(disk, files_of(3)).unwrap(), Modulo).unwrap()
}

/// All that a store holds, read by its own means.
pub fn contents<S: Spill, P: Place<u64>>(store: &mut Store<u64, String, S, P>) -> Map {
    let mut found = Map::new();
    store.for_each(|&key, value| assert!(found.insert(key, value.clone()).is_none())).unwrap();
    assert_eq!(store.len(), found.len() as u64);
    found
}

/// One random operation on both. On an error the map is left as it is, as the store must be.
pub fn step<S: Spill, P: Place<u64>>(
    store: &mut Store<u64, String, S, P>,
    map: &mut Map,
    r: &mut Random,
    keys: u64,
    text: u64,
) -> Result<(), StoreError> {
    let key = r.below(keys);
    let value = |r: &mut Random| "x".repeat(r.below(text) as usize) + &key.to_string();
    match r.below(12) {
        0..=3 => {
            let value = value(r);
            let before = store.insert(key, value.clone())?;
            assert_eq!(before, map.insert(key, value));
        }
        4..=5 => {
            let more = value(r);
            let add = |text: &mut String| {
                if text.len() > 3 * more.len() + 100 {
                    text.truncate(5);
                } else {
                    *text += &more;
                }
                text.shrink_to_fit();
            };
            store.update(key, String::new, |_, text| add(text))?;
            add(map.entry(key).or_default());
        }
        6 => {
            assert_eq!(store.remove(&key)?, map.get(&key).cloned());
            map.remove(&key);
        }
        7..=9 => assert_eq!(store.get(&key)?, map.get(&key)),
        10 => {
            let (entry, end) = (store.entry_of(&key), key + r.below(keys));
            let mut found = Vec::new();
            store.scan(entry, key..end, |&key, value| found.push((key, value.clone())))?;
            let inside = map.range(key..end).filter(|(key, _)| store.entry_of(key) == entry);
            let expected: Vec<_> = inside.map(|(&key, value)| (key, value.clone())).collect();
            assert_eq!(found, expected);
        }
        _ => {
            let (entry, odd) = (store.entry_of(&key), r.below(5));
            let fate = |key: u64| match (key / 7 + odd) % 5 {
                0 => Fate::Drop,
                1 => Fate::Changed,
                _ => Fate::Keep,
            };
            store.retain(entry, |&key, value| {
                if fate(key) == Fate::Changed {
                    value.insert(0, 'y');
                }
                fate(key)
            })?;
            map.retain(|&key, value| {
                let here = store.entry_of(&key) == entry;
                if here && fate(key) == Fate::Changed {
                    value.insert(0, 'y');
                }
                !here || fate(key) != Fate::Drop
            });
        }
    }
    Ok(())
}

/// What must hold after every call.
pub fn check<K, V, S, P>(store: &Store<K, V, S, P>)
where
    K: Ord + Clone + Codec + Footprint,
    V: Codec + Footprint,
    S: Spill,
    P: Place<K>,
{
    assert_eq!(store.verify(), Ok(()));
}
