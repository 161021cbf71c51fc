//! Puts the figures of all workers together.

use std::time::Duration;

use super::totals::Totals;
use crate::core::{Crash, Epoch, Nanos, Plan, Stall, TaskId};
use crate::report::{DeadLetter, EdgeCounters, Latency, Report, StreamStats, TaskStats, merged};

/// What the coordinator knows of a run at its end.
pub(super) struct Rest {
    pub(super) complete: bool,
    pub(super) drained: bool,
    pub(super) elapsed: Duration,
    pub(super) epochs: Epoch,
    pub(super) dead: u64,
    pub(super) letters: Vec<DeadLetter>,
    pub(super) crashes: Vec<Crash>,
    pub(super) stalls: Vec<Stall>,
    pub(super) overruns: Vec<(TaskId, Nanos)>,
    pub(super) stuck: Vec<(TaskId, Nanos)>,
}

/// A task's component and its number there.
pub(super) fn name(plan: &Plan, task: TaskId) -> (String, u32) {
    let component = &plan.components[plan.component_of(task) as usize];
    (component.name.clone(), task.saturating_sub(component.first_task))
}

/// Figures that a report and a snapshot of a run that goes on have in common.
pub(super) struct Figures {
    pub(super) tasks: Vec<TaskStats>,
    pub(super) streams: Vec<StreamStats>,
    pub(super) records: u64,
    pub(super) acked: u64,
    pub(super) replayed: u64,
    pub(super) failed: u64,
    pub(super) latency: Option<Latency>,
}

/// Whether a task is a spout's.
pub(super) fn is_spout(plan: &Plan, task: TaskId) -> bool {
    plan.components[plan.component_of(task) as usize].spout
}

/// The figures of a run up to `elapsed`.
pub(super) fn figures(plan: &Plan, totals: &Totals, elapsed: Duration) -> Figures {
    let mut edges = totals.edges.clone();
    edges.resize(plan.edges.len(), EdgeCounters::default());
    let mut tasks: Vec<_> = totals.tasks.values().cloned().collect();
    for task in &mut tasks {
        let share = task.cost.as_secs_f64() / elapsed.as_secs_f64();
        task.capacity = if share.is_finite() { share } else { 0.0 };
    }
    let spouts = |task: &&TaskStats| is_spout(plan, task.id);
    let records = tasks.iter().map(|task| task.records).sum();
    let replayed = tasks.iter().filter(spouts).map(|task| task.replayed).sum();
    let acked = tasks.iter().filter(spouts).map(|task| task.acked).sum();
    let failed = if plan.config.tracked() {
        totals.failed
    } else {
        tasks.iter().map(|task| task.failed).sum::<u64>()
            + edges.iter().map(|edge| edge.astray).sum::<u64>()
    };
    let streams = plan.edges.iter().zip(edges).map(|(edge, counters)| StreamStats {
        from: plan.components[edge.from as usize].name.clone(),
        stream: edge.stream,
        to: plan.components[edge.to as usize].name.clone(),
        grouping: edge.grouping,
        counters,
    });
    let streams = streams.collect();
    let latency = merged(totals.latencies.values());
    Figures { tasks, streams, records, acked, replayed, failed, latency }
}

/// The report of a run.
pub(super) fn report(plan: &Plan, totals: Totals, rest: Rest) -> Report {
    let Figures { tasks, streams, records, acked, replayed, failed, latency } =
        figures(plan, &totals, rest.elapsed);
    let Totals { acker, seen, failures, workers, .. } = totals;
    let overruns = rest.overruns.iter().chain(&rest.stuck).map(|&(task, time)| {
        let (component, task) = name(plan, task);
        (component, task, Duration::from_nanos(time))
    });
    let unfinished: Vec<_> = totals
        .unfinished
        .into_iter()
        .map(|(task, epoch, attempts)| {
            let (component, task) = name(plan, task);
            (component, task, epoch, attempts)
        })
        .collect();
    Report {
        complete: rest.complete && totals.whole,
        drained: rest.drained && unfinished.is_empty(),
        elapsed: rest.elapsed,
        records,
        acked,
        replayed,
        failed,
        dead: rest.dead,
        failures,
        dead_letters: rest.letters,
        unfinished,
        latency,
        acker,
        seen,
        streams,
        tasks,
        workers,
        epochs: rest.epochs,
        crashes: rest.crashes,
        stalls: rest.stalls,
        overruns: overruns.collect(),
        config: plan.given(),
    }
}
