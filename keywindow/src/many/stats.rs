//! What the windows hold and have done.

/// What [`KeyWindows`](crate::KeyWindows) hold now, and what they have done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Live keys.
    pub keys: usize,
    /// Slices in the windows or waiting to enter them, of all keys.
    pub slices: usize,
    /// Bytes on the heap, without those that keys and partial results may have there, and without
    /// what the allocator adds.
    pub heap_bytes: usize,
    /// Records that were accepted.
    pub records: u64,
    /// Records that no window holds.
    pub gaps: u64,
    /// Changes that were told.
    pub changes: u64,
}
