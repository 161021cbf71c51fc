//! What is on the heap, by an allocator that counts: the budget, and one block.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use common::Random;
use rtmr::store::{Blocks, Folder, Mixed, Store};

thread_local! {
    static NOW: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

struct Counting;

fn count(bytes: isize) {
    // A thread that ends has no counters any more.
    let _ = NOW.try_with(|now| {
        now.set(now.get() + bytes);
        let _ = MOST.try_with(|most| most.set(most.get().max(now.get())));
    });
}

// SAFETY: every call is handed to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: the caller's contract is that of `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-layout.size().cast_signed());
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const BLOCK: usize = 1 << 16;
/// Names of files, a handle, a node of the list of free blocks: whatever the history.
const SMALL: usize = 16 << 10;

/// The most bytes that were on the heap at once, over those before, while values of up to `text`
/// bytes were put, got, removed, scanned and checkpointed; none of the larger values itself.
fn most(budget: usize, keys: u64, text: u64) -> usize {
    let folder = std::env::temp_dir().join(format!("rtmr-memory-{}-{text}", std::process::id()));
    let long = "x".repeat(text as usize);
    let before = NOW.get();
    MOST.set(before);
    let spill = Blocks::open(Folder::buffered(&folder).unwrap()).unwrap();
    let mut store = Store::<u64, String, _, _>::with(8, budget, spill, Mixed).unwrap();
    let r = &mut Random::new(1);
    for turn in 0..30_000_u64 {
        let key = r.below(keys);
        match r.below(8) {
            0..=3 => drop(store.insert(key, long[..r.below(text) as usize].into()).unwrap()),
            4..=5 => {
                assert!(store.get(&key).unwrap().is_none_or(|held| held.len() < text as usize));
            }
            6 => drop(store.remove(&key).unwrap()),
            _ => store.scan(store.entry_of(&key), .., |_, _| ()).unwrap(),
        }
        assert!(store.used() <= budget);
        if turn % 9_000 == 8_999 {
            store.checkpoint(turn).unwrap();
        }
    }
    let spilled = store.spill().space().1;
    assert!(spilled > budget as u64, "{spilled} spilled with a budget of {budget}");
    drop(store);
    std::fs::remove_dir_all(folder).unwrap();
    (MOST.get() - before).cast_unsigned()
}

#[test]
fn the_heap_stays_within_the_budget_and_a_block() {
    for (budget, keys, text) in [(400_000, 20_000, 100), (1_000_000, 3_000, 3_000)] {
        let most = most(budget, keys, text);
        println!("{most} bytes at most with a budget of {budget}");
        // And the budget is made use of: the counter counts.
        assert!(most > budget * 3 / 4, "{most} of {budget}");
        assert!(most <= budget + BLOCK + SMALL, "{most} of {budget}");
    }
}
