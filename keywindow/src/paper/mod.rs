//! The paper's method, its rivals, and what each of them costs.
//!
//! | | section | windows it keeps a key | adds a record | tells |
//! |---|---|---|---|---|
//! | [`Native`] | 2 | size / slide and more | size / slide | every window that holds a record |
//! | [`ProcessFunction`] | 3.1 | every record | one a record in the window | after each record |
//! | [`Buckets`] | 3.2 | size / width buckets | 1, and a merge a bucket | after each record, with an error |
//! | [`LeftRight`] | 4 | one a record in the window, at most one a slide | as many | every change of content |
//!
//! They are for comparison. [`KeyWindow`](crate::KeyWindow) tells what [`LeftRight`] does and
//! costs one add a record and four merges a slice.

mod buckets;
mod left_right;
mod native;
mod process_function;

pub use buckets::Buckets;
pub use left_right::{LeftRight, Reading};
pub use native::Native;
pub use process_function::ProcessFunction;

/// What a method has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cost {
    /// Windows, or buckets, that were created.
    pub windows: u64,
    /// Calls of `add`.
    pub adds: u64,
    /// Calls of `merge`; the copy of a state counts as one.
    pub merges: u64,
}
