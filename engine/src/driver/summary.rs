//! Puts the figures of all workers together.

use std::time::Duration;

use super::totals::Totals;
use crate::core::{Crash, Epoch, Nanos, Plan, Stall, TaskId};
use crate::report::{DeadLetter, EdgeCounters, Report, StreamStats, percentiles};

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

/// The report of a run.
pub(super) fn report(plan: &Plan, totals: Totals, rest: Rest) -> Report {
    let Totals { mut edges, acker, seen, mut failed, failures, workers, .. } = totals;
    edges.resize(plan.edges.len(), EdgeCounters::default());
    let mut tasks: Vec<_> = totals.tasks.into_values().collect();
    for task in &mut tasks {
        let share = task.cost.as_secs_f64() / rest.elapsed.as_secs_f64();
        task.capacity = if share.is_finite() { share } else { 0.0 };
    }
    let spouts = |task: &&crate::report::TaskStats| {
        plan.components[plan.component_of(task.id) as usize].spout
    };
    let records = tasks.iter().map(|task| task.records).sum();
    let replayed = tasks.iter().filter(spouts).map(|task| task.replayed).sum();
    let acked = tasks.iter().filter(spouts).map(|task| task.acked).sum();
    if !plan.config.tracked() {
        failed = tasks.iter().map(|task| task.failed).sum::<u64>()
            + edges.iter().map(|edge| edge.astray).sum::<u64>();
    }
    let streams = plan.edges.iter().zip(edges).map(|(edge, counters)| StreamStats {
        from: plan.components[edge.from as usize].name.clone(),
        stream: edge.stream,
        to: plan.components[edge.to as usize].name.clone(),
        grouping: edge.grouping,
        counters,
    });
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
        latency: totals.latency.as_ref().and_then(percentiles),
        acker,
        seen,
        streams: streams.collect(),
        tasks,
        workers,
        epochs: rest.epochs,
        crashes: rest.crashes,
        stalls: rest.stalls,
        overruns: overruns.collect(),
        config: plan.config.clone(),
    }
}
