//! Many records at once.

use alloc::borrow::ToOwned;
use alloc::vec::Vec;
use core::hash::{BuildHasher, Hash};
use core::hint::black_box;

use super::near::AHEAD;
use super::{KeyWindows, NONE};
use crate::kernel::Kernel;
use crate::{Aggregate, Change, Error};

/// What became of the records of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct Batch {
    /// Records that were accepted.
    pub accepted: usize,
    /// Records that no window holds.
    pub gaps: usize,
    /// The rows that were refused, and why, in order of their time.
    pub refused: Vec<(usize, Error)>,
}

impl<K, A, Q, S> KeyWindows<K, A, Q, S>
where
    K: Hash + Eq + Clone,
    A: Aggregate<In: Sized>,
    Q: Kernel<A>,
    S: BuildHasher,
{
    /// Pushes rows of key, time and record in the order of their time; those of one time in the
    /// order of the list. One by one they would do the same, but the keys of several rows are
    /// looked up together, so that their waits for memory lie side by side.
    ///
    /// A row that is refused does not stop those after it.
    pub fn push_batch(
        &mut self,
        rows: &[(K, i64, A::In)],
        mut sink: impl FnMut(&K, Change<A::Out>),
    ) -> Batch {
        let mut batch = Batch::default();
        if rows.is_sorted_by_key(|row| row.1) {
            for (i, rows) in rows.chunks(AHEAD).enumerate() {
                let numbered = rows.iter().enumerate().map(|(j, row)| (i * AHEAD + j, row));
                self.push_chunk(numbered, &mut batch, &mut sink);
            }
            return batch;
        }
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by_key(|&i| rows[i].1);
        for order in order.chunks(AHEAD) {
            self.push_chunk(order.iter().map(|&i| (i, &rows[i])), &mut batch, &mut sink);
        }
        batch
    }

    fn push_chunk<'a>(
        &mut self,
        rows: impl Iterator<Item = (usize, &'a (K, i64, A::In))> + Clone,
        batch: &mut Batch,
        sink: &mut impl FnMut(&K, Change<A::Out>),
    ) where
        K: 'a,
        A::In: 'a,
    {
        // Where few slices wait at a time, each will be let in before it is forgotten here.
        let soon = self.waiting.len() < AHEAD;
        let mut found = [(0, NONE); AHEAD];
        for ((_, (key, ..)), (hash, _)) in rows.clone().zip(&mut found) {
            *hash = self.hasher.hash_one(key);
        }
        let first = found.iter().filter_map(|&(hash, _)| self.index.first(hash));
        black_box(first.fold(0, |seen, place| seen ^ place));
        for (_, (hash, id)) in rows.clone().zip(&mut found) {
            // Most likely the right one: not all bits of the hash are compared.
            *id = self.index.find(*hash, |_| true).unwrap_or(NONE);
        }
        self.bring(
            found.iter().map(|&(_, id)| id),
            |slices| if soon { slices.newest() } else { None },
        );
        for ((row, (key, time, record)), (hash, id)) in rows.zip(found) {
            let (enter, leave) = match self.reach(*time, &mut *sink) {
                Ok(Some(ticks)) => ticks,
                Ok(None) => {
                    batch.gaps += 1;
                    continue;
                }
                Err(error) => {
                    batch.refused.push((row, error));
                    continue;
                }
            };
            // Since it was found the key may have been forgotten, and its place taken.
            let known = if self.is(id, key) { Some(id) } else { self.find(hash, key) };
            match known.map_or_else(|| self.create(hash, key.to_owned()), Ok) {
                Ok(id) => {
                    self.add(id, enter, leave, record);
                    batch.accepted += 1;
                }
                Err(error) => batch.refused.push((row, error)),
            }
        }
    }
}
