//! A node at run time: its cores, its speed, its memory.

use std::collections::VecDeque;
use std::time::Duration;

use super::cluster::Node;
use super::faults::Faults;
use super::outcome::NodeStats;
use super::post::{Count, Slot};
use super::windows::{ONE, Windows, fixed};
use crate::config::whole;
use crate::core::Nanos;

/// One node.
#[derive(Debug)]
pub(super) struct NodeState {
    name: String,
    cores: u32,
    pub(super) free: u32,
    /// Workers that wait for a core, first come first served.
    pub(super) waiting: VecDeque<Slot>,
    /// Workers of the incarnation in force that have their seats here.
    pub(super) workers: u32,
    /// How slow it is, in fixed point.
    base: u64,
    pub(super) windows: Windows,
    pub(super) busy: Nanos,
    memory: u64,
    bytes: u64,
    peak: u64,
    /// Bytes held as it went over its memory.
    pub(super) over: Option<u64>,
}

impl NodeState {
    pub(super) fn new(at: usize, node: &Node, faults: &Faults) -> Self {
        NodeState {
            name: node.name.clone(),
            cores: node.cores,
            free: node.cores,
            waiting: VecDeque::new(),
            workers: 0,
            base: fixed(1.0 / node.speed),
            windows: Windows::of(at, faults),
            busy: 0,
            memory: node.memory,
            bytes: 0,
            peak: 0,
            over: None,
        }
    }

    /// How slow it is at `at`, in fixed point.
    pub(super) fn slowness(&self, at: Nanos) -> u64 {
        scaled(self.base, self.windows.slowness(at))
    }

    /// Bytes of a batch are here from now on.
    pub(super) fn hold(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.peak = self.peak.max(self.bytes);
        if self.bytes > self.memory && self.over.is_none() {
            self.over = Some(self.bytes);
        }
    }

    /// Bytes of a batch have left; copies that the network makes were never here.
    pub(super) fn release(&mut self, bytes: u64, count: Count) {
        if count == Count::Full {
            self.bytes = self.bytes.saturating_sub(bytes);
        }
    }

    /// Bytes of a batch that was taken in here are done.
    pub(super) fn done(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_sub(bytes);
    }

    pub(super) fn memory(&self) -> u64 {
        self.memory
    }

    pub(super) fn stats(&self, elapsed: Nanos) -> NodeStats {
        #[allow(clippy::cast_precision_loss)]
        let share = self.busy as f64 / (elapsed.max(1) as f64 * f64::from(self.cores));
        NodeStats {
            name: self.name.clone(),
            busy: Duration::from_nanos(self.busy),
            utilisation: share,
            peak_bytes: self.peak,
        }
    }
}

/// A time or factor times a fixed-point factor.
pub(super) fn scaled(of: u64, by: u64) -> u64 {
    if by == ONE {
        return of;
    }
    u64::try_from((u128::from(of) * u128::from(by)) >> 32).unwrap_or(u64::MAX)
}

/// Costs of a run, in nanoseconds on a node of speed 1.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CostNanos {
    pub(super) tuple: Nanos,
    pub(super) call: Nanos,
}

impl CostNanos {
    pub(super) fn of(cost: super::cluster::Cost) -> Self {
        CostNanos { tuple: whole(cost.tuple), call: whole(cost.call) }
    }

    /// Of a call that worked on so many tuples.
    pub(super) fn lap(self, tuples: u64) -> Nanos {
        self.tuple.saturating_mul(tuples).saturating_add(self.call)
    }
}
