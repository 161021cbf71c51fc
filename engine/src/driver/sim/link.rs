//! Links at run time, and the lanes on which nothing overtakes.

use super::cluster::Link;
use super::outcome::Traffic;
use super::post::{COORDINATOR, LANES, Slot};
use crate::config::whole;
use crate::core::Nanos;

/// One direction between two nodes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) latency: Nanos,
    /// Bytes a second; `None` where unbounded.
    pub(super) bandwidth: Option<u64>,
    busy_until: Nanos,
    pub(super) busy: Nanos,
    pub(super) traffic: Traffic,
}

impl Pair {
    pub(super) fn new(link: &Link) -> Self {
        Pair {
            latency: whole(link.latency),
            bandwidth: (link.bandwidth < u64::MAX).then_some(link.bandwidth),
            busy_until: 0,
            busy: 0,
            traffic: Traffic::default(),
        }
    }

    /// Puts so many bytes on the wire at `leave` or later; when is the last of them on it?
    pub(super) fn transfer(&mut self, bytes: u64, leave: Nanos) -> Nanos {
        let Some(bandwidth) = self.bandwidth else { return leave };
        let time = (u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(bandwidth));
        let time = u64::try_from(time).unwrap_or(u64::MAX);
        self.busy = self.busy.saturating_add(time);
        self.busy_until = self.busy_until.max(leave).saturating_add(time);
        self.busy_until
    }
}

/// When each lane last delivered.
#[derive(Debug)]
pub(super) struct Lanes {
    /// Seats, and the coordinator as the last.
    ends: usize,
    /// Empty where nothing overtakes by itself, or all may.
    last: Vec<Nanos>,
}

impl Lanes {
    pub(super) fn new(seats: usize, needed: bool) -> Self {
        let ends = seats + 1;
        Lanes { ends, last: if needed { vec![0; ends * ends * LANES] } else { Vec::new() } }
    }

    /// One seat more.
    pub(super) fn grow(&mut self) {
        let before = self.ends;
        self.ends += 1;
        if self.last.is_empty() {
            return;
        }
        let mut lanes = vec![0; self.ends * self.ends * LANES];
        let end = |at: usize| if at == before - 1 { before } else { at };
        for (at, &last) in self.last.iter().enumerate() {
            let (pair, lane) = (at / LANES, at % LANES);
            let (from, to) = (end(pair / before), end(pair % before));
            lanes[(from * self.ends + to) * LANES + lane] = last;
        }
        self.last = lanes;
    }

    /// When something that would arrive at `at` does, behind all that was sent before it.
    pub(super) fn in_order(&mut self, from: Slot, to: Slot, lane: usize, at: Nanos) -> Nanos {
        if self.last.is_empty() {
            return at;
        }
        let end = |slot| if slot == COORDINATOR { self.ends - 1 } else { slot as usize };
        let lane = (end(from) * self.ends + end(to)) * LANES + lane;
        self.last[lane] = self.last[lane].max(at);
        self.last[lane]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_keep_their_order_as_seats_are_added() {
        let mut lanes = Lanes::new(2, true);
        assert_eq!(lanes.in_order(0, 1, 3, 50), 50);
        assert_eq!(lanes.in_order(COORDINATOR, 1, 4, 70), 70);
        lanes.grow();
        assert_eq!(lanes.in_order(0, 1, 3, 40), 50);
        assert_eq!(lanes.in_order(COORDINATOR, 1, 4, 60), 70);
        assert_eq!((lanes.in_order(0, 2, 3, 1), lanes.in_order(2, COORDINATOR, 4, 2)), (1, 2));
        assert_eq!(Lanes::new(2, false).in_order(0, 1, 0, 7), 7);
    }
}
