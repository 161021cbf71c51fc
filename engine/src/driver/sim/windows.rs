//! When a node is unreachable, or slow: known from the scenario before the run.

use super::faults::{Event, Faults};
use crate::config::whole;
use crate::core::Nanos;

/// A fixed-point number: 2^32 is one.
pub(super) const ONE: u64 = 1 << 32;

/// What the scenario has in store for one node.
#[derive(Clone, Debug, Default)]
pub(super) struct Windows {
    /// Unreachable from and to (exclusive), sorted, apart from each other.
    down: Vec<(Nanos, Nanos)>,
    /// Slow from and to, and how much slower, in fixed point; in the order of the scenario.
    slow: Vec<(Nanos, Nanos, u64)>,
}

/// A positive number in fixed point; the scenario's bounds keep it from 0 and from overflow.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
pub(super) fn fixed(number: f64) -> u64 {
    // Multiplication by a power of two is exact, and truncation is the same everywhere.
    (number * ONE as f64) as u64
}

impl Windows {
    pub(super) fn of(node: usize, faults: &Faults) -> Self {
        let mut windows = Windows::default();
        for fault in faults.events.iter().filter(|fault| fault.event.node() == node) {
            let from = whole(fault.at);
            match fault.event {
                Event::Unreachable { lasts, .. } => {
                    windows.down.push((from, from.saturating_add(whole(lasts))));
                }
                Event::Slow { factor, lasts, .. } => {
                    let to = from.saturating_add(whole(lasts));
                    windows.slow.push((from, to, fixed(factor)));
                }
                Event::Crash { .. } => {}
            }
        }
        windows.down.sort_unstable();
        windows.down.dedup_by(|next, last| {
            let touch = next.0 <= last.1;
            if touch {
                last.1 = last.1.max(next.1);
            }
            touch
        });
        windows
    }

    /// When a node that is unreachable at `at` is back; `None` where it is reachable.
    pub(super) fn down_until(&self, at: Nanos) -> Option<Nanos> {
        let next = self.down.partition_point(|&(from, _)| from <= at);
        let (_, to) = *self.down.get(next.checked_sub(1)?)?;
        (at < to).then_some(to)
    }

    /// How much slower it is at `at`, in fixed point.
    pub(super) fn slowness(&self, at: Nanos) -> u64 {
        let there = self.slow.iter().filter(|&&(from, to, _)| from <= at && at < to);
        there.map(|&(_, _, factor)| factor).max().unwrap_or(ONE)
    }

    /// Unreachable times, from and to.
    pub(super) fn down(&self) -> &[(Nanos, Nanos)] {
        &self.down
    }
}
