//! Numbered lanes: every message of a sender carries the next number, a repeat is dropped.

use std::collections::BTreeSet;

/// What one receiver has seen of one lane. Numbers start at 0 and may come in any order.
///
/// On a lane that may lose messages a gap stays open; once `window` later numbers are held, the
/// oldest gap is given up, and a message that comes for it after that counts as a repeat.
#[derive(Clone, Debug)]
pub struct Lane {
    /// All numbers below this have been seen or given up.
    low: u64,
    above: BTreeSet<u64>,
    window: usize,
}

impl Default for Lane {
    fn default() -> Self {
        Lane { low: 0, above: BTreeSet::new(), window: usize::MAX }
    }
}

impl Lane {
    /// A lane that may lose messages.
    #[must_use]
    pub fn lossy(window: usize) -> Self {
        Lane { window: window.max(1), ..Lane::default() }
    }

    /// Whether `number` is new; it is seen from now on. O(1) in order, O(log gap) otherwise.
    pub fn accept(&mut self, number: u64) -> bool {
        if number < self.low {
            return false;
        }
        if number == self.low {
            self.low += 1;
            self.close_up();
            return true;
        }
        let new = self.above.insert(number);
        if self.above.len() > self.window {
            self.low = self.above.first().copied().unwrap_or(self.low);
            self.close_up();
        }
        new
    }

    fn close_up(&mut self) {
        while self.above.first() == Some(&self.low) {
            self.above.pop_first();
            self.low += 1;
        }
    }
}
