//! Event time: records out of order, under a watermark.
//!
//! The *watermark* is the host's word that records before it are not to be waited for. A window is told
//! as the watermark reaches its end, and from then on it is *final*, or is corrected for a time that the
//! host chooses: see [`Late`]. Whatever comes late counts in exactly those windows that are not final.
//!
//! Where the watermark is the time of the last record, this is the order of time, and
//! [`KeyWindow`](crate::KeyWindow) tells the same for less. With a clock of the host as the watermark, and
//! as the time of each record, it is processing time.

mod correct;
#[cfg(feature = "keys")]
mod keys;
mod lateness;
mod line;
mod pending;
mod rules;
mod several;
mod slices;
mod state;
mod update;
mod window;

#[cfg(feature = "keys")]
pub use keys::{EventBatch, EventStats, EventWindows};
pub use lateness::Late;
pub use several::MultiWindow;
pub use update::{Said, Update};
pub use window::EventWindow;

#[cfg(feature = "snapshot")]
pub(crate) use {
    line::Line,
    pending::Pending,
    rules::Rules,
    slices::{Slices, Tree},
    state::{Rare, State},
};
