//! Ready-made bolts, over nothing but the public face of this crate.
//!
//! Each is a value to be made by [`TopologyBuilder::bolt`](crate::TopologyBuilder::bolt), or a function
//! that declares a few bolts. What each promises stands with it; in short:
//!
//! | | emits | at least once | exactly once |
//! |---|---|---|---|
//! | [`map`], [`filter`], [`flat_map`], [`key_by`], `try_` forms, [`union`] | in `execute` | repeats with its input | a function of the tuple: fits, as long as the closure is one |
//! | [`fold`], [`join`] | as an epoch closes, by epoch | a replay may count twice | each record counts once |
//! | [`FileSink`] | nothing | every record is in the file, durable, before its root is acked; after a failure perhaps twice | as at least once |
//! | [`ChannelSink`] | nothing | every record was taken by the channel before its root is acked; after a failure perhaps twice | as at least once |
//!
//! At most once nothing is repeated, and what fails is lost and counted.

mod channel;
mod each;
mod file;
mod fold;
mod join;
mod union;

pub use channel::ChannelSink;
pub use each::{
    Always, Answer, Each, Emits, Flattens, Forward, Keeps, Keys, Maps, Maybe, Way, each, filter,
    flat_map, key_by, map, try_filter, try_flat_map, try_map,
};
pub use file::FileSink;
pub use fold::{Fold, fold};
pub use join::{Join, Side, join};
pub use union::union;
