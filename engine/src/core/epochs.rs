//! How many things of each epoch there are.

use std::collections::VecDeque;

use super::Epoch;

/// Counts by epoch, kept sorted; epochs whose count is zero are not held.
///
/// A count may be below zero for a while, where a consumer's word overtakes the producer's: such
/// an epoch counts as occupied.
#[derive(Clone, Debug, Default)]
pub struct EpochCounts {
    counts: VecDeque<(Epoch, i64)>,
}

impl EpochCounts {
    /// Adds `delta` to the count of `epoch`. O(epochs held), from the newest.
    pub fn add(&mut self, epoch: Epoch, delta: i64) {
        if delta == 0 {
            return;
        }
        let at = self.counts.iter().rposition(|&(e, _)| e <= epoch).map_or(0, |i| i + 1);
        match at.checked_sub(1).and_then(|i| self.counts.get_mut(i)) {
            Some((e, count)) if *e == epoch => {
                *count += delta;
                if *count == 0 {
                    self.counts.remove(at - 1);
                }
            }
            _ => self.counts.insert(at, (epoch, delta)),
        }
    }

    /// The least epoch that is occupied.
    #[must_use]
    pub fn min(&self) -> Option<Epoch> {
        self.counts.front().map(|&(epoch, _)| epoch)
    }

    /// Whether nothing is counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// The count of `epoch`.
    #[must_use]
    pub fn count(&self, epoch: Epoch) -> i64 {
        self.counts.iter().find(|&&(e, _)| e == epoch).map_or(0, |&(_, count)| count)
    }

    /// Whether any epoch up to and including `epoch` is occupied.
    #[must_use]
    pub fn any_up_to(&self, epoch: Epoch) -> bool {
        self.min().is_some_and(|min| min <= epoch)
    }

    /// Everything counted.
    #[must_use]
    pub fn total(&self) -> i64 {
        self.counts.iter().map(|&(_, count)| count).sum()
    }

    /// The occupied epochs in order, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (Epoch, i64)> + '_ {
        self.counts.iter().copied()
    }
}
