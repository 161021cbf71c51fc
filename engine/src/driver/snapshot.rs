//! A snapshot of a run that goes on, put together.

use std::time::Duration;

use super::summary::{Figures, figures, is_spout};
use super::totals::Totals;
use crate::component::Watermark;
use crate::core::{Epoch, Plan, Stall};
use crate::report::{TaskStats, percentiles};
use crate::stats::{ComponentStats, Stats};

/// What the coordinator knows of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    pub(super) incarnation: u64,
    pub(super) epochs: Epoch,
    pub(super) watermark: Watermark,
    pub(super) dead: u64,
    pub(super) stalls: Vec<Stall>,
    pub(super) stall: Option<String>,
    pub(super) overrunning: Vec<(String, u32, Duration)>,
}

/// The snapshot of a run whose counters are `totals` at the time `at`. `queues` holds the batches
/// in the queues of each component; none where the run is `finished`.
pub(super) fn stats(
    plan: &Plan,
    totals: &Totals,
    at: Duration,
    told: Told,
    queues: &[usize],
    finished: bool,
) -> Stats {
    let Figures { mut tasks, streams, records, acked, replayed, failed, latency } =
        figures(plan, totals, at);
    if !finished {
        add_missing(plan, &mut tasks);
    }
    let mut components: Vec<ComponentStats> = plan
        .components
        .iter()
        .zip(0..)
        .map(|(component, id)| {
            let hosts = (0..plan.config.workers)
                .filter(|&worker| plan.hosted(id, worker, 0).next().is_some())
                .count();
            ComponentStats {
                name: component.name.clone(),
                tasks: component.tasks,
                queue: queues.get(id as usize).copied().unwrap_or(0),
                queue_limit: if component.spout { 0 } else { hosts * plan.config.queue },
                latency: totals.latencies.get(&id).and_then(percentiles),
                ..ComponentStats::default()
            }
        })
        .collect();
    let (mut pending, mut lost) = (0, 0);
    for task in &tasks {
        add(&mut components[plan.component_of(task.id) as usize], task);
        if is_spout(plan, task.id) {
            pending += task.pending;
            lost += task.lost;
        }
    }
    let Told { incarnation, epochs, watermark, dead, stalls, stall, overrunning } = told;
    Stats {
        at,
        whole: true,
        finished,
        incarnation,
        records,
        acked,
        replayed,
        failed,
        dead,
        pending,
        lost,
        epochs,
        watermark,
        latency,
        components,
        tasks,
        streams,
        workers: totals.workers.clone(),
        stalls,
        stall,
        overrunning,
    }
}

fn add(sum: &mut ComponentStats, task: &TaskStats) {
    sum.records += task.records;
    sum.emitted += task.emitted;
    sum.executed += task.executed;
    sum.acked += task.acked;
    sum.failed += task.failed;
    sum.replayed += task.replayed;
    sum.pending += task.pending;
    sum.lost += task.lost;
    sum.cost += task.cost;
    sum.longest = sum.longest.max(task.longest);
    sum.capacity = sum.capacity.max(task.capacity);
}

/// Tasks of workers that have left no figures yet: each task is there from the start.
fn add_missing(plan: &Plan, tasks: &mut Vec<TaskStats>) {
    for (component, id) in plan.components.iter().zip(0..) {
        for index in 0..component.tasks {
            let task = component.first_task + index;
            let Err(place) = tasks.binary_search_by_key(&task, |stats| stats.id) else { continue };
            let worker = plan.tables.at(0).workers[task as usize];
            debug_assert_eq!(plan.component_of(task), id);
            let name = component.name.clone();
            let none = TaskStats::default();
            tasks.insert(
                place,
                TaskStats { component: name, task: index, id: task, worker, ..none },
            );
        }
    }
}
