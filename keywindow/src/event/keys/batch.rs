//! Many records at once.

use core::hash::{BuildHasher, Hash};

use alloc::vec::Vec;

use super::EventWindows;
use crate::{Aggregate, Error, Outcome, Update};

/// What became of the records of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct EventBatch {
    /// Records that count in all windows that hold them.
    pub accepted: usize,
    /// Records that count in some of the windows that hold them.
    pub partial: usize,
    /// The rows that came too late for all windows.
    pub late: Vec<usize>,
    /// Records that no window holds.
    pub gaps: usize,
    /// The rows that were refused, and why.
    pub refused: Vec<(usize, Error)>,
}

impl<K: Hash + Eq + Clone, A: Aggregate<In: Sized>, S: BuildHasher> EventWindows<K, A, S> {
    /// Pushes rows of key, time and record, one after the other. A row that is late or refused does not
    /// stop those after it.
    pub fn push_batch(
        &mut self,
        rows: &[(K, i64, A::In)],
        mut sink: impl FnMut(&K, Update<A::Out>),
    ) -> EventBatch {
        let mut batch = EventBatch::default();
        for (row, (key, time, record)) in rows.iter().enumerate() {
            match self.push(key, *time, record, &mut sink) {
                Ok(Outcome::Accepted) => batch.accepted += 1,
                Ok(Outcome::Partial { .. }) => batch.partial += 1,
                Ok(Outcome::Late) => batch.late.push(row),
                Ok(Outcome::Gap) => batch.gaps += 1,
                Err(error) => batch.refused.push((row, error)),
            }
        }
        batch
    }
}
