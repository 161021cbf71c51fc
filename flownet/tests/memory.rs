//! Memory: measured by a counting allocator, a count for each thread.

#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use common::{METHODS, id};
use flownet::{Limit, Method, Network, Solver, verify};

struct Counting;

thread_local! {
    static BYTES: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
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

const ARCS: usize = 200_000;

/// Few nodes and many arcs.
fn net(capacity: u64) -> Network<u64> {
    let mut net = Network::with_arc_capacity(ARCS);
    net.add_nodes(100).unwrap();
    for i in 0..ARCS {
        net.add_arc(id(i % 99), id(i % 99 + 1), capacity).unwrap();
    }
    net.add_source(id(0), Limit::Unbounded).unwrap();
    net.add_sink(id(99), Limit::Unbounded).unwrap();
    net
}

/// What the README says.
#[test]
fn bytes_an_arc() {
    // About 2 000 arcs leave the source, so that sums are 2^11 times a capacity. Odd numbers: even
    // ones are counted in larger steps.
    let widths = [(3, 60, 84), ((1 << 40) + 1, 76, 100), ((1 << 60) + 1, 124, 148)];
    for (capacity, solver, most) in widths {
        let empty = BYTES.get();
        let net = net(capacity);
        // A node's lists are a few kilobytes: less than a byte an arc.
        assert_eq!(BYTES.get().wrapping_sub(empty) / ARCS, 16);
        for method in METHODS {
            let before = BYTES.get();
            let run = Solver::new(&net).method(method).start().unwrap();
            let used = BYTES.get().wrapping_sub(before);
            assert_eq!(used / ARCS, solver, "{method:?}");
            drop(run);
            assert_eq!(BYTES.get(), before);
            if method == Method::EdmondsKarp {
                continue; // Slow here, and it holds the same.
            }
            // The whole of it, network and answer too.
            PEAK.set(before);
            // The last value is too large for its type: it is stopped before it gets there.
            let steps = if capacity < 1 << 60 { u64::MAX } else { 0 };
            let answer = Solver::new(&net).method(method).solve_within(steps).unwrap();
            assert_eq!(PEAK.get().wrapping_sub(empty) / ARCS, most, "{method:?}");
            assert_eq!(BYTES.get().wrapping_sub(before) / ARCS, 8);
            PEAK.set(BYTES.get());
            let held = BYTES.get();
            verify(&net, &answer).unwrap();
            assert_eq!(PEAK.get().wrapping_sub(held) / ARCS, 0);
        }
    }
}

/// What the README says of gains.
#[test]
fn bytes_an_arc_with_gains() {
    let mut net = net((1 << 40) + 1);
    net.set_gain(id(1), 2.0).unwrap();
    let before = BYTES.get();
    PEAK.set(before);
    let answer = net.solve().unwrap();
    assert_eq!(PEAK.get().wrapping_sub(before) / ARCS, 84);
    let held = BYTES.get();
    PEAK.set(held);
    verify(&net, &answer).unwrap();
    assert_eq!(PEAK.get().wrapping_sub(held) / ARCS, 31);
}
