//! Memory: measured by a counting allocator, a count for each thread.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::VecDeque;

use acker::{Applied, Delta, EdgeId, IdGen, RootId, Timeout, Tracker, TrackerConfig};
use hashbrown::HashTable;

struct Counting;

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
    static BYTES: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.set(CALLS.get() + 1);
        BYTES.set(BYTES.get().wrapping_add(layout.size()));
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        BYTES.set(BYTES.get().wrapping_sub(layout.size()));
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn tracker() -> Tracker {
    let timeout = Timeout::After(1_000);
    Tracker::new(TrackerConfig { timeout, generations: 8, seed: 9 }).unwrap()
}

fn roots() -> impl FnMut() -> RootId {
    let mut ids = IdGen::from_seed(5, 5);
    move || RootId::new(ids.next_id().get()).unwrap()
}

fn open() -> Delta {
    Delta::of(&[EdgeId::new(1).unwrap()])
}

#[test]
fn steady_state_allocates_nothing_however_long_it_churns() {
    for pending in [1_000, 60_000, 100_000, 110_000] {
        let (mut t, mut next) = (tracker(), roots());
        let mut live: VecDeque<RootId> = (0..pending).map(|_| next()).collect();
        for &root in &live {
            assert_eq!(t.init(root, 0, open()), Ok(Applied::Pending));
        }
        let mut out = Vec::with_capacity(pending);
        let (calls, bytes) = (CALLS.get(), t.heap_bytes());
        for _ in 0..20 * pending {
            let root = live.pop_front().unwrap();
            assert!(matches!(t.ack(root, open(), Delta::EMPTY), Applied::Verdict(_)));
            let root = next();
            assert_eq!(t.init(root, 0, open()), Ok(Applied::Pending));
            live.push_back(root);
        }
        t.advance(2_000, &mut out);
        assert_eq!((out.len(), t.len()), (pending, 0));
        assert_eq!((CALLS.get(), t.heap_bytes()), (calls, bytes));
    }
}

/// Why the table is our own: a table with tombstones doubles under the same load.
#[test]
fn a_table_with_tombstones_would_have_doubled() {
    let mut next = roots();
    let mut live: VecDeque<u64> = (0..100_000).map(|_| next().get()).collect();
    let mut table = HashTable::with_capacity(live.len());
    for &root in &live {
        table.insert_unique(root, root, |&root| root);
    }
    let before = table.allocation_size();
    for _ in 0..1_000_000 {
        let root = live.pop_front().unwrap();
        table.find_entry(root, |&found| found == root).unwrap().remove();
        let root = next().get();
        table.insert_unique(root, root, |&root| root);
        live.push_back(root);
    }
    assert!(table.allocation_size() > 2 * before - 1_000);
}

#[test]
fn heap_bytes_are_exact_and_at_most_28_a_record() {
    let (mut t, mut next) = (tracker(), roots());
    let before = BYTES.get();
    assert_eq!(t.heap_bytes(), 0);
    for pending in 1..=1_000_000 {
        assert_eq!(t.init(next(), 0, open()), Ok(Applied::Pending));
        if pending % 997 == 0 {
            assert_eq!(t.heap_bytes(), BYTES.get().wrapping_sub(before));
            let each = t.heap_bytes() as f64 / f64::from(pending);
            assert!((23.0..28.0).contains(&each) || pending < 10_000, "{pending}: {each}");
        }
    }
}

#[test]
fn ids_verdicts_and_idle_advances_allocate_nothing() {
    let (mut t, mut next, mut out) = (tracker(), roots(), Vec::new());
    let calls = CALLS.get();
    for now in 0..10_000 {
        assert!(matches!(t.init(next(), 0, Delta::EMPTY), Ok(Applied::Verdict(_))));
        t.advance(now * 1_000, &mut out);
    }
    assert_eq!(CALLS.get(), calls);
}
