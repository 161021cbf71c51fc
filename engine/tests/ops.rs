//! Operators: each against what plain code says, over drawn input, on both drivers and under faults.
//!
//! `STREAMWRIGHT_CASES=100` runs a hundred times as many cases.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unreachable_pub, missing_debug_implementations, reason = "modules of one test crate")]

#[path = "ops/bench.rs"]
mod bench;
#[path = "ops/channel.rs"]
mod channel;
#[path = "ops/each.rs"]
mod each;
#[path = "ops/file.rs"]
mod file;
#[path = "ops/keyed.rs"]
mod keyed;
