//! The life of a topology: what a crash of a node means for it.

use super::engine::Engine;
use super::error::{Cause, SimError};

/// The number of a topology's first life. Not zero, so that there is one before it for stale
/// batches to come from.
pub(super) const FIRST: u64 = 1;

impl Engine<'_> {
    /// A node has lost its memory.
    pub(super) fn crash(&mut self, node: usize, cause: Cause) -> Result<(), SimError> {
        Err(SimError::Crashed { node, cause, at: self.at(), seed: self.seed })
    }
}
