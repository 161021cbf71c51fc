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

#[cfg(test)]
mod tests {
    use super::Check;

    /// A replay is held against what the tuple gave, also once later epochs have begun.
    #[test]
    fn what_differs_is_seen_in_any_order_of_epochs() {
        let mut check = Check::default();
        for epoch in [3, 5, 4] {
            assert!(check.agrees(epoch, 7, 0, 100 + epoch));
        }
        for epoch in [4, 3, 5] {
            assert!(check.agrees(epoch, 7, 0, 100 + epoch));
            assert!(!check.agrees(epoch, 7, 0, 99));
            assert!(check.agrees(epoch, 7, 1, 99), "another place");
        }
    }

    /// Only what is closed everywhere is forgotten, and all of it.
    #[test]
    fn closed_epochs_are_forgotten() {
        let mut check = Check::default();
        for epoch in 1..=4 {
            assert!(check.agrees(epoch, 7, 0, 1));
        }
        check.forget_below(3);
        assert_eq!(check.pages.iter().map(|(epoch, _)| *epoch).collect::<Vec<_>>(), [3, 4]);
        assert!(!check.agrees(3, 7, 0, 2));
    }
}
