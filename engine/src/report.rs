//! What a run leaves behind: figures, dead letters.

use core::any::Any;
use core::fmt;
use core::time::Duration;
use std::sync::Arc;

use crate::batch::Batch;
use crate::config::Config;
use crate::core::{ComponentId, Crash, Epoch, Nanos, Stall, TaskId};
pub use crate::reason::Reason;
pub(crate) use crate::reason::chain;
pub use crate::run_error::RunError;

/// A root that was given up, with the item itself.
pub struct DeadLetter {
    /// The component that emitted it.
    pub component: String,
    /// The number of the task that emitted it, from 0.
    pub task: u32,
    /// Its epoch.
    pub epoch: Epoch,
    /// Attempts made.
    pub attempts: u32,
    /// Why the last one failed.
    pub reason: Arc<Reason>,
    pub(crate) item: Box<dyn Any + Send>,
}

impl DeadLetter {
    /// The item, as a batch that holds it alone, if `B` is its stream's batch type.
    #[must_use]
    pub fn item<B: Batch>(&self) -> Option<&B> {
        self.item.downcast_ref()
    }

    /// Takes the item out, as a batch that holds it alone.
    ///
    /// # Errors
    /// The letter itself, where `B` is not its stream's batch type.
    pub fn into_item<B: Batch>(self) -> Result<B, Self> {
        let DeadLetter { component, task, epoch, attempts, reason, item } = self;
        item.downcast().map(|item| *item).map_err(|item| DeadLetter {
            component,
            task,
            epoch,
            attempts,
            reason,
            item,
        })
    }
}

impl fmt::Debug for DeadLetter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeadLetter")
            .field("component", &self.component)
            .field("task", &self.task)
            .field("epoch", &self.epoch)
            .field("attempts", &self.attempts)
            .field("reason", &self.reason)
            .finish_non_exhaustive()
    }
}

/// Figures of one edge: one stream into one component.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EdgeCounters {
    /// Tuples sent, each copy counted.
    pub transferred: u64,
    /// Tuples executed, failed ones included.
    pub executed: u64,
    /// Tuples lost on the way.
    pub lost: u64,
    /// Exactly once: tuples that had been applied before and were dropped.
    pub repeated: u64,
    /// Tuples that were never sent, since their grouping named no task or panicked, or their combiner
    /// panicked, on them or on one that it had them together with.
    pub astray: u64,
    /// Tuples that a combiner took in, and did not panic over: what was sent in their place counts as transferred.
    pub combined: u64,
}

/// Figures of one task.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskStats {
    /// The component.
    pub component: String,
    /// The task's number within it, from 0.
    pub task: u32,
    /// The task's number within the topology.
    pub id: TaskId,
    /// Its worker.
    pub worker: u32,
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
    /// Attempts begun again: roots of a spout, tuples that a bolt emitted as an epoch closed.
    pub replayed: u64,
    /// Roots that have no verdict: at the end, those that a cut-short run left.
    pub pending: u64,
    /// Roots that a crash left without a verdict, and that were emitted again (spouts).
    pub lost: u64,
    /// Records that came below the watermark (spouts).
    pub late: u64,
    /// CPU time spent, as the driver measured it.
    pub cost: Duration,
    /// The longest single step.
    pub longest: Duration,
    /// Storm's capacity: the share of the run's time that the task was busy.
    pub capacity: f64,
}

/// Figures of one edge, with the names of its ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamStats {
    /// The component that emits.
    pub from: String,
    /// Which of its streams, from 0.
    pub stream: u32,
    /// The component that takes in.
    pub to: String,
    /// The grouping.
    pub grouping: &'static str,
    /// What went over it. `transferred = executed + lost + repeated + in_flight`.
    pub counters: EdgeCounters,
}

impl StreamStats {
    /// Tuples sent that were not executed and are not known lost: zero after a complete run.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        let EdgeCounters { transferred, executed, lost, repeated, .. } = self.counters;
        transferred.saturating_sub(executed + lost + repeated)
    }
}

/// Figures of one worker thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerStats {
    /// Time in which it worked.
    pub busy: Duration,
    /// Time in which it had nothing to do.
    pub idle: Duration,
    /// Time in which all it had was stuck behind full queues.
    pub blocked: Duration,
    /// Most batches that waited in its outbox at once.
    pub outbox_peak: usize,
}

/// Figures of tracking, over all ackers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AckerStats {
    /// Most live records at once, summed over ackers.
    pub peak_live: usize,
    /// Most bytes of their tables at once, summed over ackers.
    pub peak_bytes: usize,
    /// Updates applied.
    pub updates: u64,
    /// Messages that came after their root's verdict or epoch, and were dropped.
    pub late: u64,
    /// Upper bound of the probability that any root was acked too early.
    pub false_ack_bound: f64,
}

/// Exactly once: figures of what bolts that keep state have seen, over all workers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SeenStats {
    /// Most tuples remembered at once, summed over bolts and workers.
    pub peak: usize,
    /// Tuples that were dropped, since they had been applied before.
    pub repeats: u64,
    /// Upper bound of the probability that any tuple was wrongly taken for one seen before: n² / 2^65
    /// for a set of n, summed over the sets of all epochs.
    pub collision_bound: f64,
}

/// Complete latency of acked roots: from a root's first emission to its verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latency {
    /// Median.
    pub p50: Duration,
    /// 90th percentile.
    pub p90: Duration,
    /// 99th percentile.
    pub p99: Duration,
    /// 99.9th percentile.
    pub p999: Duration,
    /// The largest.
    pub max: Duration,
}

/// The outcome of a run.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct Report {
    /// Whether the spouts ended by themselves and all that they emitted was finished.
    pub complete: bool,
    /// Whether it was asked to drain and did, leaving nothing unfinished. What was
    /// under way in a crash is emitted again first, as far as it was reported until then.
    pub drained: bool,
    /// Time from the start to the end.
    pub elapsed: Duration,
    /// Records emitted by spouts.
    pub records: u64,
    /// Roots of spouts acked; 0 without tracking.
    pub acked: u64,
    /// Attempts of spouts' records begun again.
    pub replayed: u64,
    /// Attempts that failed, those of bolts' own roots included; without tracking, tuples that
    /// failed or found no task.
    pub failed: u64,
    /// Dead letters written.
    pub dead: u64,
    /// Why tuples failed where nothing tracks them (at most once): the first reasons.
    pub failures: Vec<Arc<Reason>>,
    /// The first of them (at most [`Report::LETTERS`]), where no handler took them.
    pub dead_letters: Vec<DeadLetter>,
    /// Roots that a cut-short run left without a verdict: component, task, epoch, attempts.
    pub unfinished: Vec<(String, u32, Epoch, u32)>,
    /// Complete latency; `None` where nothing was acked.
    pub latency: Option<Latency>,
    /// Tracking.
    pub acker: AckerStats,
    /// Exactly once: what was seen.
    pub seen: SeenStats,
    /// Figures of every task.
    pub tasks: Vec<TaskStats>,
    /// Figures of every edge.
    pub streams: Vec<StreamStats>,
    /// Figures of every worker.
    pub workers: Vec<WorkerStats>,
    /// Epochs closed everywhere.
    pub epochs: u64,
    /// What failed and was mended by a new start, and the epochs whose state was lost by it. Figures
    /// are sums over all starts: what was emitted again is counted again.
    pub crashes: Vec<Crash>,
    /// Times without progress, and what held it.
    pub stalls: Vec<Stall>,
    /// Steps that overran their time: component, task, how long.
    pub overruns: Vec<(String, u32, Duration)>,
    /// The settings in force.
    pub config: Config,
}

impl Report {
    /// Epochs whose state bolts had gathered, and which was lost in a crash: results that were made
    /// of it may be too small.
    #[must_use]
    pub fn lost_epochs(&self) -> u64 {
        self.crashes.iter().map(Crash::lost_epochs).sum()
    }

    /// Most dead letters kept in a report.
    pub const LETTERS: usize = 1000;
    /// Most reasons of untracked failures kept for each worker.
    pub const FAILURES: usize = 100;
}

/// The figures of one worker as it ends.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct WorkerFigures {
    /// Of each of its tasks.
    pub tasks: Vec<TaskStats>,
    /// Of each edge of the topology, as far as this worker sent or executed.
    pub edges: Vec<EdgeCounters>,
    /// Most batches that waited in its outbox at once.
    pub outbox_peak: usize,
    /// Of its acker.
    pub acker: AckerStats,
    /// Exactly once: of its bolts that keep state.
    pub seen: SeenStats,
    /// Why tuples failed where nothing tracks them: the first reasons.
    pub failures: Vec<Arc<Reason>>,
    /// Attempts that failed, as its acker saw it.
    pub failed_attempts: u64,
    /// Roots without a verdict: task, epoch, attempts.
    pub unfinished: Vec<(TaskId, Epoch, u32)>,
    pub(crate) latencies: Vec<(ComponentId, hdrhistogram::Histogram<u64>)>,
}

impl WorkerFigures {
    /// Complete latency of the roots of its spouts; `None` where none was acked.
    #[must_use]
    pub fn latency(&self) -> Option<Latency> {
        merged(self.latencies.iter().map(|(_, one)| one))
    }
}

/// A histogram of latencies from a microsecond to an hour, that never grows.
pub(crate) fn latencies() -> Option<hdrhistogram::Histogram<u64>> {
    hdrhistogram::Histogram::new_with_bounds(1, 3_600_000_000, 3).ok()
}

/// Notes a latency.
pub(crate) fn note(histogram: &mut Option<hdrhistogram::Histogram<u64>>, nanos: Nanos) {
    if let Some(histogram) = histogram {
        histogram.saturating_record((nanos / 1000).max(1));
    }
}

/// The percentiles of several histograms taken together.
pub(crate) fn merged<'a>(
    all: impl Iterator<Item = &'a hdrhistogram::Histogram<u64>>,
) -> Option<Latency> {
    let mut sum = latencies()?;
    for one in all {
        // All have the same bounds, so this cannot fail.
        let _ = sum.add(one);
    }
    percentiles(&sum)
}

/// The percentiles of a histogram; `None` where it is empty.
pub(crate) fn percentiles(histogram: &hdrhistogram::Histogram<u64>) -> Option<Latency> {
    if histogram.is_empty() {
        return None;
    }
    let at = |q| Duration::from_micros(histogram.value_at_quantile(q));
    Some(Latency {
        p50: at(0.5),
        p90: at(0.9),
        p99: at(0.99),
        p999: at(0.999),
        max: Duration::from_micros(histogram.max()),
    })
}
