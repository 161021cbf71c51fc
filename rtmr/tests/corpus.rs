//! The corpus of the fuzz target, each file as it is and with bytes changed.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs;
use std::path::PathBuf;

use common::disk::MemoryDisk;
use common::model::{Map, open, step};
use common::readers::check;
use common::{Random, count};
use rtmr::store::{FileName, Mixed, NoSpill, Store};

fn corpus() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

#[test]
fn readers_take_the_corpus_and_what_is_near_it() {
    let mut files: Vec<_> =
        fs::read_dir(corpus()).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 6, "{}", files.len());
    let r = &mut Random::new(1);
    for file in files {
        let input = fs::read(&file).unwrap();
        check(&input);
        for _ in 0..count(2000) {
            let mut near = input.clone();
            for _ in 0..=r.below(3) {
                let at = r.below(near.len() as u64) as usize;
                match r.below(4) {
                    0 => near[at] ^= 1 << r.below(8),
                    1 => near[at] = [0, 1, 0x7F, 0x80, 0xFF][r.below(5) as usize],
                    2 => near.truncate(at.max(1)),
                    _ => near.insert(at, r.below(256) as u8),
                }
            }
            check(&near);
        }
    }
}

/// Writes the seeds of the corpus anew: `cargo test -p rtmr --test corpus -- --ignored`.
#[test]
#[ignore = "it writes files"]
fn write_seeds() {
    let disk = MemoryDisk::default();
    let (r, mut map) = (&mut Random::new(3), Map::new());
    let mut store = open(disk.clone(), 1 << 20);
    (0..120).for_each(|_| step(&mut store, &mut map, r, 60, 20).unwrap());
    store.insert(1, "z".repeat(70_000)).unwrap();
    store.checkpoint(5).unwrap();
    let data = disk.contents(FileName::Data(0));
    let end = data[65_536..131_072].iter().rposition(|&byte| byte != 0).unwrap() + 1;
    let mut entries =
        Store::<u64, Vec<(u32, String)>, _, _>::with(2, 1 << 20, NoSpill, Mixed).unwrap();
    for key in 0..20 {
        let list = (0..key as u32 % 4).map(|i| (i, "ab".repeat(i as usize))).collect();
        entries.insert(key, list).unwrap();
    }
    let seeds = [
        ("block", 0, data[65_536..65_536 + end.min(3000)].to_vec()),
        ("manifest", 1, disk.contents(FileName::Manifest)),
        ("entry", 2, entries.export(1).unwrap().unwrap()),
    ];
    fs::create_dir_all(corpus()).unwrap();
    for (name, which, bytes) in seeds {
        // 0x80 + which + 1 and so on: the same reader with the checksums made right.
        let sealed = [129, 130, 128][which as usize];
        assert_eq!(sealed % 3, which);
        for (name, first) in [(name.to_string(), which), (format!("{name}-sealed"), sealed)] {
            fs::write(corpus().join(name), [&[first], &bytes[..]].concat()).unwrap();
        }
    }
}
