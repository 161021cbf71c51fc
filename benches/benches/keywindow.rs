//! What a sliding window costs: `keywindow` beside native windows, the paper's method and others.
//!
//! Contenders take turns on the same records, with full windows, and must tell as many changes as
//! they should; a figure is the median of their turns, in CPU time of the thread.
//!
//! `cargo bench -p benches --bench keywindow [-- kernels 120/2 1h/1s 1h/1ms 1day/1ms sparse]`

#![allow(missing_docs, unreachable_pub, clippy::unwrap_used)]

#[path = "keywindow/contenders.rs"]
mod contenders;
#[path = "keywindow/kernels.rs"]
mod kernels;
#[path = "keywindow/keyed.rs"]
mod keyed;
#[path = "keywindow/rivals.rs"]
mod rivals;
#[path = "keywindow/streams.rs"]
mod streams;

use benches::timing::{median, timed};

fn main() {
    let chosen: Vec<String> =
        std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let all: [(&str, fn()); 6] = [
        ("kernels", kernels::run),
        ("120/2", keyed::two_minutes),
        ("1h/1s", keyed::hour_by_seconds),
        ("1h/1ms", keyed::hour_by_milliseconds),
        ("1day/1ms", keyed::day),
        ("sparse", keyed::sparse),
    ];
    for (name, run) in all {
        if chosen.is_empty() || chosen.iter().any(|chosen| chosen == name) {
            run();
        }
    }
}
