//! One step of a full window, for the benches of kernels: the oldest goes, a new one comes, and all
//! are asked for.

use std::collections::VecDeque;
use std::hint::black_box;

/// A full window that contenders step through.
pub trait Window {
    /// Evicts, inserts and queries for each of these; adds the results up.
    fn steps(&mut self, values: &[i64]) -> i64;
}

/// The floor, which needs an inverse: a deque and the sum of what is in it.
#[derive(Debug)]
pub struct Floor(VecDeque<i64>, i64);

impl Floor {
    /// A window of `n` ones.
    #[must_use]
    pub fn new(n: i64) -> Self {
        Floor((0..n).map(|_| 1).collect(), n)
    }
}

impl Window for Floor {
    fn steps(&mut self, values: &[i64]) -> i64 {
        let mut all = 0_i64;
        for &x in values {
            self.1 -= self.0.pop_front().unwrap_or_default();
            self.0.push_back(x);
            self.1 += x;
            all = all.wrapping_add(black_box(self.1));
        }
        all
    }
}
