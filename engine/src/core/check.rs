//! The checking mode: whether bolts are functions of the tuple alone, as exactly once asks.
//!
//! Sampled roots are replayed after they are done. What a tuple led to the first time, how many
//! tuples on each stream and which keys they had, is held until its epoch is closed everywhere; a
//! replay that differs names the bolt.

use std::collections::VecDeque;

use hashbrown::HashMap;

use super::{Epoch, lineage};

/// Fingerprints of one worker, by epoch.
#[derive(Debug, Default)]
pub(crate) struct Check {
    pages: VecDeque<(Epoch, HashMap<u64, u64>)>,
}

impl Check {
    /// Notes what the tuple (or the child) of `lineage` gave at `place`; whether that is what it
    /// gave before, if it was there before.
    pub(crate) fn agrees(&mut self, epoch: Epoch, lineage: u64, place: u64, print: u64) -> bool {
        let at = self.pages.partition_point(|(of, _)| *of < epoch);
        if self.pages.get(at).is_none_or(|(of, _)| *of != epoch) {
            self.pages.insert(at, (epoch, HashMap::new()));
        }
        let key = lineage::child(lineage, place, 0);
        *self.pages[at].1.entry(key).or_insert(print) == print
    }

    /// Epochs below `epoch` are closed everywhere.
    pub(crate) fn forget_below(&mut self, epoch: Epoch) {
        while self.pages.front().is_some_and(|(of, _)| *of < epoch) {
            self.pages.pop_front();
        }
    }
}
