//! What `rtmr`'s store costs: beside maps in memory, beside embedded stores where history is four
//! times the budget, under cloned plates, and as an entry is handed over.
//!
//! `cargo bench -p benches --bench store [--features stores] [-- memory beyond plates handover]`
//!
//! `MEMORY_BITS="18 19"` sets the sizes of directories in memory, `BITS=17` that beyond it, and
//! `ROUNDS=3` how often each store beyond memory is run.

#![allow(missing_docs, unreachable_pub, clippy::unwrap_used)]
#![allow(clippy::cast_sign_loss, reason = "ranks and places are 0 at least")]

#[cfg(feature = "stores")]
#[path = "store/beyond.rs"]
mod beyond;
#[path = "store/handover.rs"]
mod handover;
#[path = "store/memory.rs"]
mod memory;
#[path = "store/plates.rs"]
mod plates;
#[cfg_attr(not(feature = "stores"), allow(dead_code, reason = "for `beyond`"))]
#[path = "store/zipf.rs"]
mod zipf;

use benches::timing::{median, timed};

/// A folder for one contender, empty.
fn folder(name: &str) -> std::path::PathBuf {
    let path = std::env::temp_dir().join(format!("rtmr-bench-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    path
}

fn main() {
    let chosen: Vec<String> =
        std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let wanted = |name| chosen.is_empty() || chosen.iter().any(|chosen| chosen == name);
    if wanted("memory") {
        memory::run();
    }
    #[cfg(feature = "stores")]
    if wanted("beyond") {
        beyond::run();
    }
    if wanted("plates") {
        plates::run();
    }
    if wanted("handover") {
        handover::run();
    }
}
