//! The clock of time-outs: it stands while some worker is in one step for too long.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::core::Nanos;

/// The clock of one run. A worker in a step says of no attempt that it is alive; from `limit` into
/// the step until its end that is the engine's standstill, not a loss.
#[derive(Debug)]
pub(super) struct Clock {
    limit: Nanos,
    /// Up to when the time is accounted for.
    upto: Nanos,
    stood: Nanos,
    /// The end of the standstills taken in so far.
    standing_until: Nanos,
    /// Standstills that begin later: known from the moment their step begins.
    ahead: BinaryHeap<Reverse<(Nanos, Nanos)>>,
}

impl Clock {
    pub(super) fn new(limit: Nanos) -> Self {
        Clock { limit, upto: 0, stood: 0, standing_until: 0, ahead: BinaryHeap::new() }
    }

    /// How long a step may take that others wait for.
    pub(super) fn limit(&self) -> Nanos {
        self.limit
    }

    /// A step goes from `start` to `end`, of a worker that may take so long.
    pub(super) fn step(&mut self, start: Nanos, end: Nanos, limit: Nanos) {
        let from = start.saturating_add(limit);
        if end > from {
            self.ahead.push(Reverse((from, end)));
        }
    }

    /// What it shows at `now`, which never falls from call to call.
    pub(super) fn at(&mut self, now: Nanos) -> Nanos {
        while self.upto < now {
            if self.standing_until > self.upto {
                let to = self.standing_until.min(now);
                self.stood += to - self.upto;
                self.upto = to;
                continue;
            }
            match self.ahead.peek() {
                Some(&Reverse((from, end))) if from < now => {
                    self.ahead.pop();
                    self.upto = self.upto.max(from);
                    self.standing_until = self.standing_until.max(end);
                }
                _ => self.upto = now,
            }
        }
        self.upto - self.stood
    }
}

#[cfg(test)]
mod tests {
    use super::Clock;

    #[test]
    fn overlapping_standstills_count_once() {
        let mut clock = Clock::new(10);
        clock.step(0, 50, 10); // stands 10..50
        clock.step(5, 30, 10); // 15..30, within
        clock.step(30, 70, 10); // 40..70, overlaps
        clock.step(90, 95, 10); // short
        assert_eq!(clock.at(10), 10);
        assert_eq!(clock.at(20), 10);
        assert_eq!(clock.at(70), 10);
        assert_eq!(clock.at(100), 40);
    }

    #[test]
    fn the_whole_union_is_left_out_however_it_is_asked() {
        let steps = [(0, 50), (5, 30), (30, 70), (90, 95), (100, 140), (101, 130), (140, 155)];
        let stood = |now: u64| {
            (0..now).filter(|&t| steps.iter().any(|&(s, e)| s + 10 <= t && t < e)).count() as u64
        };
        for pace in [1, 3, 7, 40] {
            let mut clock = Clock::new(10);
            let mut known = 0;
            for now in (0..200).step_by(pace) {
                while known < steps.len() && steps[known].0 <= now {
                    clock.step(steps[known].0, steps[known].1, 10);
                    known += 1;
                }
                assert_eq!(clock.at(now), now - stood(now), "at {now} by {pace}");
            }
        }
    }
}
