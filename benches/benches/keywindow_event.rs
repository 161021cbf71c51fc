//! What event time costs: records out of order beside records in order, the finger B-tree beside a deque,
//! a snapshot beside a copy of its bytes.
//!
//! Contenders take turns, and must tell as many changes as they should; a figure is the median of their
//! turns, in CPU time of the thread.
//!
//! `cargo bench -p benches --bench keywindow_event [-- kernels 120/2 1h/1ms snapshot]`

#![allow(missing_docs, unreachable_pub, clippy::unwrap_used)]

#[path = "keywindow_event/kernels.rs"]
mod kernels;
#[path = "keywindow_event/keyed.rs"]
mod keyed;
#[path = "keywindow_event/snapshots.rs"]
mod snapshots;
#[path = "keywindow/streams.rs"]
#[allow(dead_code)]
mod streams;

use benches::timing::{median, timed};

fn main() {
    let chosen: Vec<String> =
        std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let all: [(&str, fn()); 4] = [
        ("kernels", kernels::run),
        ("120/2", keyed::two_minutes),
        ("1h/1ms", keyed::hour_by_milliseconds),
        ("snapshot", snapshots::run),
    ];
    for (name, run) in all {
        if chosen.is_empty() || chosen.iter().any(|chosen| chosen == name) {
            run();
        }
    }
}
