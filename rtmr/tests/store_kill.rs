//! A child process is killed while it writes, fifty times: what it left is the last checkpoint.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use common::Random;
use common::model::{Map, Spilled, contents, files_of, step};
use rtmr::store::{Blocks, Folder, Modulo, Store};

const FOLDER: &str = "RTMR_TEST_FOLDER";
const ROUNDS: u64 = 50;
/// Operations from one checkpoint to the next.
const EVERY: u64 = 60;

fn opened(folder: &str) -> Spilled<Folder> {
    let spill = Blocks::with_files_of(Folder::buffered(folder).unwrap(), files_of(4)).unwrap();
    Store::with(4, 120_000, spill, Modulo).unwrap()
}

/// The operations of one epoch: always the same, on the store, or on a map alone.
fn epoch(store: &mut Store<u64, String, impl rtmr::store::Spill, Modulo>, map: &mut Map, at: u64) {
    let r = &mut Random::new(at);
    (0..EVERY).for_each(|_| step(store, map, r, 300, 300).unwrap());
}

/// The child: goes on from the last checkpoint until it is killed.
#[test]
fn child() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let mut store = opened(&folder);
    let mut map = contents(&mut store);
    for at in store.epoch().map_or(0, |epoch| epoch + 1).. {
        epoch(&mut store, &mut map, at);
        store.checkpoint(at).unwrap();
        println!("\nepoch {at}");
    }
}

#[test]
fn fifty_kills_leave_the_last_checkpoint_each_time() {
    let folder = std::env::temp_dir().join(format!("rtmr-kill-{}", std::process::id()));
    let name = folder.to_str().unwrap().to_string();
    let (mut model, mut map, mut next) = (None, Map::new(), 0);
    let r = &mut Random::new(99);
    for round in 0..ROUNDS {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child", "--nocapture"])
            .env(FOLDER, &name)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut told = None;
        let mut wait_for = 1 + r.below(4);
        while wait_for > 0 {
            let line = lines.next().expect("the child ended by itself").unwrap();
            if let Some(epoch) = line.strip_prefix("epoch ") {
                told = Some(epoch.parse::<u64>().unwrap());
                wait_for -= 1;
            }
        }
        // Somewhere in the next epoch, or the one after.
        (0..r.below(60_000)).for_each(|_| std::hint::spin_loop());
        child.kill().unwrap();
        child.wait().unwrap();
        let mut store = opened(&name);
        let found = store.epoch().unwrap();
        assert!(found >= told.unwrap(), "round {round}: {found} after {told:?}");
        // The model does the epochs that the child has done since.
        let model = model.get_or_insert_with(|| {
            Store::with(4, usize::MAX, rtmr::store::NoSpill, Modulo).unwrap()
        });
        while next <= found {
            epoch(model, &mut map, next);
            next += 1;
        }
        assert_eq!(contents(&mut store), map, "round {round}, epoch {found}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}
