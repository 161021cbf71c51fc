//! What the tracker counts.

/// Counts since the tracker was made.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Stats {
    /// Inits accepted.
    pub inits: u64,
    /// Sums added to check values: inits accepted, acks, and what was absorbed of known roots.
    pub updates: u64,
    /// Roots that were done.
    pub done: u64,
    /// Roots that failed.
    pub failed: u64,
    /// Roots that timed out.
    pub timed_out: u64,
    /// Orphans given up.
    pub orphans_expired: u64,
    /// Inits refused because the root was pending.
    pub duplicate_inits: u64,
}

impl Stats {
    pub(crate) const NONE: Self = Self {
        inits: 0,
        updates: 0,
        done: 0,
        failed: 0,
        timed_out: 0,
        orphans_expired: 0,
        duplicate_inits: 0,
    };

    /// A bound on the probability that any root so far was called done too early.
    ///
    /// With independent, uniform ids the check value of an open tree is zero after one
    /// update with probability 2⁻⁶⁴, so `updates · 2⁻⁶⁴` bounds the whole run. The paper's
    /// 1/2⁶⁴ is for one update. An update whose ids were chosen to collide is outside the
    /// bound, and so is a message that was delivered twice. O(1).
    #[must_use]
    pub fn false_zero_bound(&self) -> f64 {
        self.updates as f64 / 18_446_744_073_709_551_616.0
    }
}
