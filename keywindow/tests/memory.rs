//! What is on the heap, by an allocator that counts.

#![cfg(feature = "keys")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use keywindow::aggregates::Sum;
use keywindow::{KeyWindows, WindowSpec};

struct Counting;

thread_local! {
    /// Of this thread alone: the harness allocates, too.
    static HELD: Cell<isize> = const { Cell::new(0) };
}

fn held() -> isize {
    HELD.get()
}

// SAFETY: hands everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.set(HELD.get() + layout.size().cast_signed());
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        HELD.set(HELD.get() - layout.size().cast_signed());
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Keys by a law that makes a few dense and most sparse.
fn key(random: &mut u64) -> u64 {
    *random =
        random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let bits = (*random >> 60) + 2;
    (*random >> 20) & ((1 << bits) - 1)
}

#[test]
fn memory_is_that_of_what_lives() {
    const BYTES: f64 = 36.0;
    for (size, slide, keys_times) in [(120_000, 2_000, 1), (3_600_000, 1, 1), (600_000, 700, 16)] {
        let spec = WindowSpec::sliding(size, slide).unwrap();
        let before = held();
        let mut windows = KeyWindows::<u64, _>::new(Sum::<i32>::new(), spec);
        let (mut random, mut time, mut worst) = (7, 0, 0.0_f64);
        for i in 0..600_000_u64 {
            time += 10;
            let key = key(&mut random) * keys_times + i % keys_times;
            let _ = windows.push(&key, time, &1, |_, _| ()).unwrap();
            if i % 50_000 == 49_999 {
                let held = (held() - before) as f64;
                let stats = windows.stats();
                assert!((held - stats.heap_bytes as f64).abs() < 4_096.0, "{held} {stats:?}");
                let allowed = BYTES * stats.slices as f64 + 96.0 * stats.keys as f64;
                // Chunks and what is kept for reuse do not grow with keys or slices.
                worst = worst.max((held - 32_000.0) / allowed);
            }
        }
        assert!(worst < 1.0, "{worst} of what is allowed");
        // A quiet time, and only what does not depend on the keys is left.
        let keys = windows.len();
        assert!(keys > 2_000, "{keys} keys");
        windows.advance_to(time + 2 * size, |_, _| ());
        assert!(windows.is_empty());
        let left = held() - before;
        assert!(left < 12_000, "{left} bytes left of {keys} keys");
        drop(windows);
        assert_eq!(held(), before);
    }
}

/// What a crowd took is given back though one key lives on.
#[test]
fn memory_is_that_of_what_lives_while_one_key_stays() {
    const CROWD: u64 = 100_000;
    let spec = WindowSpec::sliding(1_000, 1).unwrap();
    let before = held();
    let mut windows = KeyWindows::<u64, _>::new(Sum::<i32>::new(), spec);
    for key in 0..=CROWD {
        let _ = windows.push(&key, 0, &1, |_, _| unreachable!()).unwrap();
    }
    for time in (1..3_000).step_by(100) {
        let _ = windows.push(&CROWD, time, &1, |_, _| ()).unwrap();
    }
    let stats = windows.stats();
    assert_eq!((stats.keys, stats.slices), (1, 11));
    let left = held() - before;
    assert!(left < CROWD.cast_signed() as isize / 2, "{left} bytes beside {stats:?}");
}
