//! How a run stands while it goes on: figures that add up, of one moment.

use core::time::Duration;

use crate::component::Watermark;
use crate::core::{Epoch, Stall};
use crate::report::{Latency, StreamStats, TaskStats, WorkerStats};

/// A snapshot of a run. Once the run is over it equals the [`Report`](crate::Report).
///
/// Where roots are tracked, every spout task has `records = acked + failed + lost + pending`, also
/// over a crash, and no counter ever falls, but `pending` and `queue`. Where it is `whole`, all
/// counters are of one cut through the run: whatever one worker has counted as come in, another has
/// counted as sent, so every stream has `transferred ≥ executed + lost + repeated`. What the coordinator knows (`epochs`,
/// `watermark`, `dead`, `stalls`) and the lengths of queues are of a few milliseconds before or
/// after.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// Time from the start to the cut.
    pub at: Duration,
    /// Whether every worker has left its figures for this cut. If not, one was in a call for long
    /// (see `overrunning`), or the machine is busy: its figures are of before, and what others got
    /// from it since may be missing at its end.
    pub whole: bool,
    /// Whether the run is over, and these are its last figures.
    pub finished: bool,
    /// How often all has started anew.
    pub incarnation: u64,
    /// Records emitted by spouts; what a new start emitted again is counted again.
    pub records: u64,
    /// Roots of spouts acked; 0 without tracking.
    pub acked: u64,
    /// Attempts of spouts' records begun again.
    pub replayed: u64,
    /// Attempts that failed; without tracking, tuples that failed or found no task.
    pub failed: u64,
    /// Dead letters written.
    pub dead: u64,
    /// Roots of spouts that have no verdict yet.
    pub pending: u64,
    /// Roots of spouts that a crash left without a verdict: they are emitted again.
    pub lost: u64,
    /// Epochs closed everywhere.
    pub epochs: Epoch,
    /// The last watermark given out.
    pub watermark: Watermark,
    /// Complete latency so far; `None` where nothing was acked.
    pub latency: Option<Latency>,
    /// Each component, in the order of declaration.
    pub components: Vec<ComponentStats>,
    /// Each task, by its number; capacity is the busy share of the time up to the cut.
    pub tasks: Vec<TaskStats>,
    /// Each stream into a component.
    pub streams: Vec<StreamStats>,
    /// Each worker.
    pub workers: Vec<WorkerStats>,
    /// Times without progress so far, and what held it.
    pub stalls: Vec<Stall>,
    /// The time without progress that lasts, for people.
    pub stall: Option<String>,
    /// Tasks that have been in one call for longer than the overrun: component, task, how long.
    pub overrunning: Vec<(String, u32, Duration)>,
}

impl Stats {
    /// The component of that name.
    #[must_use]
    pub fn component(&self, name: &str) -> Option<&ComponentStats> {
        self.components.iter().find(|component| component.name == name)
    }
}

/// Figures of one component: sums over its tasks.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ComponentStats {
    /// Its name.
    pub name: String,
    /// Its tasks.
    pub tasks: u32,
    /// Records emitted for the first time (spouts).
    pub records: u64,
    /// Items emitted, replays included.
    pub emitted: u64,
    /// Tuples executed (bolts), failed ones included.
    pub executed: u64,
    /// Tuples executed without failure (bolts); roots acked (spouts).
    pub acked: u64,
    /// Tuples that failed (bolts); roots given up (spouts).
    pub failed: u64,
    /// Attempts begun again.
    pub replayed: u64,
    /// Roots that have no verdict yet.
    pub pending: u64,
    /// Roots of a spout that a crash left without a verdict.
    pub lost: u64,
    /// Batches in its queues, over all workers.
    pub queue: usize,
    /// Batches that its queues hold at most.
    pub queue_limit: usize,
    /// CPU time spent.
    pub cost: Duration,
    /// The longest single step.
    pub longest: Duration,
    /// The capacity of its busiest task.
    pub capacity: f64,
    /// Complete latency of its roots so far (spouts).
    pub latency: Option<Latency>,
}
