#![cfg_attr(feature = "keys", doc = include_str!("../README.md"))]
#![cfg_attr(
    not(feature = "keys"),
    doc = "Sliding windows that are computed only when their result changes."
)]
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod aggregate;
pub mod aggregates;
mod change;
mod clock;
mod error;
pub mod event;
pub mod kernel;
mod lattice;
#[cfg(feature = "keys")]
mod many;
pub mod oracle;
pub mod paper;
#[cfg(feature = "snapshot")]
pub mod snapshot;
mod tick;
mod window;

pub use aggregate::{Aggregate, Invertible, Selective};
pub use change::{Change, Emit, Outcome};
pub use error::Error;
#[cfg(feature = "keys")]
pub use event::{EventBatch, EventStats, EventWindows};
pub use event::{EventWindow, Late, MultiWindow, Said, Update};
pub use lattice::{Tick, WindowSpec};
#[cfg(feature = "keys")]
pub use many::{Batch, KeyWindows, Stats};
pub use oracle::{Fault, expand, verify};
#[cfg(feature = "snapshot")]
pub use snapshot::{Codec, Input, RestoreError};
pub use window::KeyWindow;
