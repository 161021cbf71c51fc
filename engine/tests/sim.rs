//! The simulator: virtual time, links, cores, faults, and the same run from the same seed.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test reports a failure by panicking"
)]

#[path = "sim/common.rs"]
mod common;
#[path = "sim/crashes.rs"]
mod crashes;
#[path = "sim/determinism.rs"]
mod determinism;
#[path = "sim/lanes.rs"]
mod lanes;
#[path = "sim/lease.rs"]
mod lease;
#[path = "sim/machines.rs"]
mod machines;
#[path = "sim/paced.rs"]
mod paced;
#[path = "sim/refused.rs"]
mod refused;
#[path = "sim/seeds.rs"]
mod seeds;
