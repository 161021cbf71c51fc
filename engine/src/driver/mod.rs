//! Drivers carry the core's messages and tell it the time.

pub mod sim;
mod summary;
pub mod threads;
mod totals;
