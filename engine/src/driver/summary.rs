//! Puts the figures of all workers together.

use std::time::Duration;

use crate::core::{Epoch, Nanos, Plan, Stall, TaskId};
use crate::report::{
    AckerStats, DeadLetter, EdgeCounters, Report, SeenStats, StreamStats, WorkerFigures,
    WorkerStats, percentiles,
};

/// What the end of each worker left; `None` where it never came back.
pub(super) type Ends = Vec<Option<(WorkerFigures, WorkerStats)>>;

/// What the coordinator knows of a run at its end.
pub(super) struct Rest {
    pub(super) complete: bool,
    pub(super) drained: bool,
    pub(super) elapsed: Duration,
    pub(super) epochs: Epoch,
    pub(super) dead: u64,
    pub(super) letters: Vec<DeadLetter>,
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
pub(super) fn report(plan: &Plan, ends: Ends, rest: Rest) -> Report {
    let mut edges = vec![EdgeCounters::default(); plan.edges.len()];
    let mut tasks = Vec::new();
    let mut workers = Vec::new();
    let mut acker = AckerStats::default();
    let mut seen = SeenStats::default();
    let mut failed = 0;
    let mut unfinished = Vec::new();
    let mut failures = Vec::new();
    let mut complete = rest.complete;
    let mut latency: Option<hdrhistogram::Histogram<u64>> = None;
    for end in ends {
        let Some((mut figures, times)) = end else {
            // It never came back: what it did is not known.
            complete = false;
            workers.push(WorkerStats::default());
            continue;
        };
        workers.push(times);
        tasks.append(&mut figures.tasks);
        for (sum, edge) in edges.iter_mut().zip(&figures.edges) {
            sum.transferred += edge.transferred;
            sum.executed += edge.executed;
            sum.lost += edge.lost;
            sum.repeated += edge.repeated;
            sum.astray += edge.astray;
        }
        acker.peak_live += figures.acker.peak_live;
        acker.peak_bytes += figures.acker.peak_bytes;
        acker.updates += figures.acker.updates;
        acker.late += figures.acker.late;
        acker.false_ack_bound += figures.acker.false_ack_bound;
        seen.peak += figures.seen.peak;
        seen.repeats += figures.seen.repeats;
        seen.collision_bound += figures.seen.collision_bound;
        failed += figures.failed_attempts;
        unfinished.append(&mut figures.unfinished);
        failures.append(&mut figures.failures);
        match (&mut latency, figures.latency) {
            (Some(all), Some(one)) => {
                // All have the same bounds, so this cannot fail.
                let _ = all.add(one);
            }
            (none @ None, Some(one)) => *none = Some(one),
            (_, None) => {}
        }
    }
    tasks.sort_by_key(|task| task.id);
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
    let unfinished: Vec<_> = unfinished
        .into_iter()
        .map(|(task, epoch, attempts)| {
            let (component, task) = name(plan, task);
            (component, task, epoch, attempts)
        })
        .collect();
    Report {
        complete,
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
        latency: latency.as_ref().and_then(percentiles),
        acker,
        seen,
        streams: streams.collect(),
        tasks,
        workers,
        epochs: rest.epochs,
        stalls: rest.stalls,
        overruns: overruns.collect(),
        config: plan.config.clone(),
    }
}
