//! Adds up the figures of all workers, of one incarnation after the other.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use crate::core::{ComponentId, Epoch, TaskId};
use crate::report::{
    AckerStats, EdgeCounters, Reason, SeenStats, TaskStats, WorkerFigures, WorkerStats,
};

/// What the end of each worker left; `None` where it never came back.
pub(super) type Ends = Vec<Option<(WorkerFigures, WorkerStats)>>;

/// Figures of all workers.
#[derive(Clone, Debug, Default)]
pub(super) struct Totals {
    pub(super) edges: Vec<EdgeCounters>,
    pub(super) tasks: BTreeMap<TaskId, TaskStats>,
    pub(super) workers: Vec<WorkerStats>,
    pub(super) acker: AckerStats,
    pub(super) seen: SeenStats,
    pub(super) failed: u64,
    pub(super) unfinished: Vec<(TaskId, Epoch, u32)>,
    pub(super) failures: Vec<Arc<Reason>>,
    pub(super) latencies: BTreeMap<ComponentId, hdrhistogram::Histogram<u64>>,
    /// Whether every worker of the last incarnation came back.
    pub(super) whole: bool,
}

impl Totals {
    /// Adds an incarnation.
    pub(super) fn add(&mut self, ends: Ends) {
        self.workers.resize(ends.len().max(self.workers.len()), WorkerStats::default());
        self.whole = true;
        let (mut acker, mut seen) = (AckerStats::default(), SeenStats::default());
        for (worker, end) in self.workers.iter_mut().zip(ends) {
            let Some((figures, times)) = end else {
                // It never came back: what it did is not known.
                self.whole = false;
                continue;
            };
            worker.busy += times.busy;
            worker.idle += times.idle;
            worker.blocked += times.blocked;
            worker.outbox_peak = worker.outbox_peak.max(figures.outbox_peak);
            acker.peak_live += figures.acker.peak_live;
            acker.peak_bytes += figures.acker.peak_bytes;
            acker.updates += figures.acker.updates;
            acker.late += figures.acker.late;
            acker.false_ack_bound += figures.acker.false_ack_bound;
            seen.peak += figures.seen.peak;
            seen.repeats += figures.seen.repeats;
            seen.collision_bound += figures.seen.collision_bound;
            self.failed += figures.failed_attempts;
            add_edges(&mut self.edges, &figures.edges);
            let WorkerFigures { tasks, mut unfinished, mut failures, latencies, .. } = figures;
            for task in tasks {
                add_task(&mut self.tasks, task);
            }
            for (task, ..) in &unfinished {
                if let Some(task) = self.tasks.get_mut(task) {
                    task.pending += 1;
                }
            }
            self.unfinished.append(&mut unfinished);
            self.failures.append(&mut failures);
            for (component, one) in latencies {
                match self.latencies.entry(component) {
                    Entry::Occupied(mut all) => {
                        // All have the same bounds, so this cannot fail.
                        let _ = all.get_mut().add(one);
                    }
                    Entry::Vacant(none) => {
                        none.insert(one);
                    }
                }
            }
        }
        // One after the other: peaks do not add up.
        self.acker.peak_live = self.acker.peak_live.max(acker.peak_live);
        self.acker.peak_bytes = self.acker.peak_bytes.max(acker.peak_bytes);
        self.acker.updates += acker.updates;
        self.acker.late += acker.late;
        self.acker.false_ack_bound += acker.false_ack_bound;
        self.seen.peak = self.seen.peak.max(seen.peak);
        self.seen.repeats += seen.repeats;
        self.seen.collision_bound += seen.collision_bound;
    }

    /// What was added last died: what it had under way is lost, and its roots come again. A root is
    /// counted as lost where roots are `tracked`: else nobody waits for it.
    pub(super) fn died(&mut self, tracked: bool) {
        self.unfinished.clear();
        for task in self.tasks.values_mut() {
            task.pending = 0;
            if tracked {
                task.lost = task.records.saturating_sub(task.acked + task.failed);
            }
        }
        for edge in &mut self.edges {
            let EdgeCounters { transferred, executed, lost, repeated, .. } = *edge;
            edge.lost += transferred.saturating_sub(executed + lost + repeated);
        }
    }
}

fn add_edges(sums: &mut Vec<EdgeCounters>, edges: &[EdgeCounters]) {
    sums.resize(edges.len().max(sums.len()), EdgeCounters::default());
    for (sum, edge) in sums.iter_mut().zip(edges) {
        sum.transferred += edge.transferred;
        sum.executed += edge.executed;
        sum.lost += edge.lost;
        sum.repeated += edge.repeated;
        sum.astray += edge.astray;
        sum.combined += edge.combined;
    }
}

/// Each task once, however many instances it had; at the worker of the last one.
fn add_task(sums: &mut BTreeMap<TaskId, TaskStats>, task: TaskStats) {
    let Some(sum) = sums.get_mut(&task.id) else {
        sums.insert(task.id, task);
        return;
    };
    let old = std::mem::replace(sum, task);
    sum.records += old.records;
    sum.emitted += old.emitted;
    sum.executed += old.executed;
    sum.acked += old.acked;
    sum.failed += old.failed;
    sum.replayed += old.replayed;
    sum.lost += old.lost;
    sum.late += old.late;
    sum.cost += old.cost;
    sum.longest = sum.longest.max(old.longest);
}
