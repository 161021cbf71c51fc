//! Drivers carry the core's messages and tell it the time.

pub mod sim;
mod snapshot;
mod summary;
pub mod threads;
mod totals;

/// A step's share of time, real or virtual: then it stops at the next tuple, and others have their
/// turn.
pub(crate) const SLICE: crate::core::Nanos = 5_000_000;
