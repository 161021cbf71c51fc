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
    // From far above zero: a thread may free what another one took.
    static BYTES: Cell<usize> = const { Cell::new(1 << 40) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.set(CALLS.get() + 1);
        BYTES.set(BYTES.get().wrapping_add(layout.size()));
        PEAK.set(PEAK.get().max(BYTES.get()));
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

/// Ends the oldest root and begins a new one, `rounds` times.
fn churn(
    t: &mut Tracker,
    live: &mut VecDeque<RootId>,
    mut next: impl FnMut() -> RootId,
    rounds: usize,
) {
    for _ in 0..rounds {
        let root = live.pop_front().unwrap();
        assert!(matches!(t.ack(root, open(), Delta::EMPTY), Applied::Verdict(_)));
        let root = next();
        assert_eq!(t.init(root, 0, open()), Ok(Applied::Pending));
        live.push_back(root);
    }
}

#[test]
fn a_small_tracker_allocates_nothing_however_long_it_churns() {
    for pending in [10, 1_000, 1_700] {
        let (mut t, mut next) = (tracker(), roots());
        let mut live: VecDeque<RootId> = (0..pending).map(|_| next()).collect();
        for &root in &live {
            assert_eq!(t.init(root, 0, open()), Ok(Applied::Pending));
        }
        let mut out = Vec::with_capacity(pending);
        let (calls, bytes) = (CALLS.get(), t.heap_bytes());
        churn(&mut t, &mut live, &mut next, 200 * pending);
        t.advance(2_000, &mut out);
        assert_eq!((out.len(), t.len()), (pending, 0));
        assert_eq!((CALLS.get(), t.heap_bytes()), (calls, bytes));
    }
}

/// A segment of a large tracker grows when chance gives it more than ever: ever more seldom.
#[test]
fn a_large_tracker_stays_within_28_bytes_a_record_however_long_it_churns() {
    for pending in [10_000, 60_000, 100_000, 110_000] {
        let (mut t, mut next) = (tracker(), roots());
        let mut live: VecDeque<RootId> = (0..pending).map(|_| next()).collect();
        for &root in &live {
            assert_eq!(t.init(root, 0, open()), Ok(Applied::Pending));
        }
        churn(&mut t, &mut live, &mut next, 20 * pending);
        let calls = CALLS.get();
        churn(&mut t, &mut live, &mut next, 10 * pending);
        // Ten million messages a call or so, of the five that a root has.
        assert!(CALLS.get() - calls < pending / 100);
        let each = t.heap_bytes() as f64 / pending as f64;
        assert!(each <= 28.0, "{pending}: {each}");
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
fn heap_bytes_are_exact_and_at_most_28_a_record_at_every_size() {
    let (mut t, mut next) = (tracker(), roots());
    let before = BYTES.get();
    assert_eq!(t.heap_bytes(), 0);
    for pending in 1..=1_000_000 {
        assert_eq!(t.init(next(), 0, open()), Ok(Applied::Pending));
        let measured = BYTES.get().wrapping_sub(before);
        let each = measured as f64 / f64::from(pending);
        let limit = if pending < 10_000 { 48.0 } else { 28.0 };
        assert!(each <= limit || pending < 100, "{pending}: {each}");
        if pending % 997 == 0 {
            assert_eq!(t.heap_bytes(), measured);
        }
    }
}

/// The worst moment: what is alive while a segment grows or splits counts as well.
#[test]
fn growing_takes_no_more_than_a_segment_on_top() {
    let (mut t, mut next) = (tracker(), roots());
    let before = BYTES.get();
    for pending in 1..=200_000 {
        PEAK.set(0);
        assert_eq!(t.init(next(), 0, open()), Ok(Applied::Pending));
        let extra = PEAK.get().saturating_sub(BYTES.get());
        assert!(extra < 130_000, "{pending}: {extra}");
    }
    assert!(BYTES.get().wrapping_sub(before) < 28 * 200_000);
}

/// A hand-over looks at all records and takes few.
#[test]
fn picking_out_no_root_allocates_nothing() {
    let (mut t, mut next) = (tracker(), roots());
    for _ in 0..20_000 {
        assert_eq!(t.init(next(), 0, open()), Ok(Applied::Pending));
    }
    let calls = CALLS.get();
    assert!(t.extract(|_| false).is_empty());
    assert_eq!((CALLS.get(), t.len()), (calls, 20_000));
}

#[test]
fn shrinking_gives_the_memory_back() {
    let (mut t, mut next, mut out) = (tracker(), roots(), Vec::new());
    let before = BYTES.get();
    let kept = next();
    for _ in 0..100_000 {
        assert_eq!(t.init(next(), 0, open()), Ok(Applied::Pending));
    }
    t.advance(900, &mut out);
    assert_eq!(t.init(kept, 3, open()), Ok(Applied::Pending));
    t.advance(1_500, &mut out);
    assert_eq!((out.len(), t.len()), (100_000, 1));
    drop(out);
    t.shrink_to_fit();
    assert!(BYTES.get().wrapping_sub(before) < 1_000);
    assert!(matches!(t.ack(kept, open(), Delta::EMPTY), Applied::Verdict(v) if v.task == 3));
    t.shrink_to_fit();
    assert_eq!((BYTES.get(), t.heap_bytes()), (before, 0));
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
