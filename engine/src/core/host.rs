//! A component at one worker, its types forgotten: what the worker may ask of it.

use core::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::contract::Sink;
use super::port::{AnyPort, Run};
use super::shared::Shared;
use super::{ComponentId, EdgeId, Envelope, Epoch, Nanos, Resume, TaskId, VerdictOp};
use crate::component::{BoxError, TaskContext};
use crate::report::{Reason, RunError, TaskStats, WorkerFigures, chain};

/// A batch under work, and how far the work has come.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) envelope: Envelope,
    pub(crate) cursor: Cursor,
}

/// A place within a delivery: the part, and within it the tuple, its span, the next lost tuple.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cursor {
    pub(crate) part: usize,
    pub(crate) at: usize,
    pub(crate) span: usize,
    pub(crate) lost: usize,
}

impl Work {
    pub(crate) fn new(envelope: Envelope) -> Self {
        Work { envelope, cursor: Cursor::default() }
    }
}

/// One task at this worker: identity and figures.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LocalTask {
    pub(crate) id: TaskId,
    pub(crate) index: u32,
    pub(crate) records: u64,
    pub(crate) emitted: u64,
    pub(crate) executed: u64,
    pub(crate) acked: u64,
    pub(crate) failed: u64,
    pub(crate) replayed: u64,
    pub(crate) late: u64,
    pub(crate) cost: Nanos,
    pub(crate) longest: Nanos,
}

impl LocalTask {
    pub(crate) fn charge(&mut self, cost: Nanos) {
        self.cost += cost;
        self.longest = self.longest.max(cost);
    }

    pub(crate) fn stats(&self, cx: &Shared) -> TaskStats {
        // Bolts: what was executed and did not fail. Spouts count verdicts.
        let acked = self.acked + self.executed.saturating_sub(self.failed);
        TaskStats {
            component: cx.name_of(self.id).to_owned(),
            task: self.index,
            id: self.id,
            worker: cx.me,
            records: self.records,
            emitted: self.emitted,
            executed: self.executed,
            acked,
            failed: self.failed,
            replayed: self.replayed,
            pending: 0,
            lost: 0,
            late: self.late,
            cost: core::time::Duration::from_nanos(self.cost),
            longest: core::time::Duration::from_nanos(self.longest),
            capacity: 0.0,
        }
    }
}

/// A component at one worker.
pub(crate) trait Host: Send {
    fn component(&self) -> ComponentId;
    /// Takes up what the incarnation before has left, before it is opened.
    fn begin(&mut self, from: &Resume);
    /// Makes the instances.
    fn open(
        &mut self,
        waker: &std::task::Waker,
        cx: &mut Shared,
        sink: &mut dyn Sink,
    ) -> Result<(), RunError>;
    /// Drops the instances one by one, come what may.
    fn dismantle(&mut self);
    /// Works on a batch; `true` once it is done, `false` where it stopped for a full outbox.
    fn run(&mut self, work: &mut Work, cx: &mut Shared, sink: &mut dyn Sink) -> bool {
        let _ = (work, cx, sink);
        true
    }
    /// Whether a spout has a task that may emit now.
    fn may_emit(&self, cx: &Shared) -> bool {
        let _ = cx;
        false
    }
    /// Lets a spout task emit.
    fn emit(&mut self, cx: &mut Shared, sink: &mut dyn Sink) {
        let _ = (cx, sink);
    }
    /// Spouts: nobody knows whether idle tasks are still idle.
    fn wake(&mut self) {}
    /// Spouts: the tasks leave epochs below `end`, as far as `horizon` allows.
    fn advance(&mut self, end: Epoch, horizon: Epoch, cx: &mut Shared, sink: &mut dyn Sink) {
        let _ = (end, horizon, cx, sink);
    }
    /// Spouts: no new records.
    fn drain(&mut self, cx: &mut Shared, sink: &mut dyn Sink) {
        let _ = (cx, sink);
    }
    /// When this component wants the worker's attention next, in monotonic time.
    fn wake_at(&self) -> Option<Nanos>;
    /// Bolts: flushes the epochs of which batches were applied, none is left in the queue, and
    /// (unless `now`) linger has passed. `left` is the least epoch in the queue.
    fn flush(
        &mut self,
        left: Option<Epoch>,
        now: bool,
        cx: &mut Shared,
        sink: &mut dyn Sink,
    ) -> bool {
        let _ = (left, now, cx, sink);
        false
    }
    /// Bolts: flushes and closes every epoch below `frontier`, while outboxes have room.
    fn close(&mut self, frontier: Epoch, cx: &mut Shared, sink: &mut dyn Sink) -> bool {
        let _ = (frontier, cx, sink);
        false
    }
    /// Bolts: serves timers that are due.
    fn timers(&mut self, horizon: Epoch, cx: &mut Shared, sink: &mut dyn Sink) -> bool {
        let _ = (horizon, cx, sink);
        false
    }
    /// Bolts: fails the tickets whose time is over; whether there were any.
    fn expire(&mut self, cx: &mut Shared) -> bool {
        let _ = cx;
        false
    }
    /// Says of every attempt that waits here beside the queue that it is alive.
    fn touch(&mut self, cx: &mut Shared) {
        let _ = cx;
    }
    /// Whether some attempt may wait here beside the queue.
    fn holds_back(&mut self) -> bool {
        false
    }
    /// Bolts: the oldest ticket that a flush has left open.
    fn ticket(&self) -> Option<(Epoch, TaskId)> {
        None
    }
    /// Bolts: the least epoch not closed here.
    fn closed(&self) -> Option<Epoch> {
        None
    }
    /// Whether it has something to send and no room to.
    fn full(&mut self, cx: &Shared) -> bool;
    /// Seals open batches: all, or those open since `before`.
    fn seal(&mut self, before: Option<Nanos>, cx: &mut Shared);
    fn open_since(&mut self) -> Option<Nanos>;
    fn recycle(&mut self, edge: EdgeId, body: Box<dyn super::AnyDelivery>);
    /// Looks up the roots that are about to hear their verdicts. Changes nothing: the waits for
    /// memory, which one verdict after the other would have in turn, overlap.
    fn look_ahead(&mut self, _: &[VerdictOp]) {}
    /// Hears a verdict on one of its roots.
    fn verdict(&mut self, verdict: &VerdictOp, cx: &mut Shared);
    /// Starts attempts that are due and for which there is room; whether there were any.
    fn retry(&mut self, cx: &mut Shared) -> bool;
    /// When the next attempt is due, by the clock of time-outs.
    fn retry_at(&mut self) -> Option<Nanos>;
    /// The least epoch of a root without a verdict, and its task.
    fn held(&mut self) -> Option<(Epoch, TaskId)>;
    /// Adds its figures to the worker's.
    fn figures(&mut self, cx: &Shared, to: &mut WorkerFigures);
}

/// Makes the instance of one task.
pub(crate) type Make<C> = Arc<dyn Fn(&TaskContext) -> Result<C, BoxError> + Send + Sync>;

/// Makes the instances of a component's tasks, in order.
pub(crate) fn open_tasks<C>(
    make: &Make<C>,
    contexts: &mut [TaskContext],
    waker: &std::task::Waker,
    cx: &Shared,
    sink: &mut dyn Sink,
    into: &mut Vec<C>,
) -> Result<(), RunError> {
    for context in contexts {
        context.waker = waker.clone();
        context.incarnation = cx.incarnation;
        sink.enter(context.task);
        let made = guarded(|| make(context).map_err(|error| chain(&*error)));
        sink.lap(context.task, 0);
        match made {
            Ok(Ok(one)) => into.push(one),
            Ok(Err(message)) | Err(message) => {
                let (component, task) = (context.component.clone(), context.index);
                let message = match &cx.resume {
                    Some(resume) => format!("{message} (a new start after: {})", resume.cause),
                    None => message,
                };
                return Err(RunError::Open { component, task, message });
            }
        }
    }
    Ok(())
}

/// Drops a component's instances one by one: a drop that panics takes no other along.
pub(crate) fn dismantle<C>(tasks: &mut Vec<C>) {
    while let Some(one) = tasks.pop() {
        let gone = guarded(|| drop(one));
        drop(gone);
    }
}

/// Starts the attempts of one port that are due.
pub(crate) fn retry_port(
    port: &mut dyn AnyPort,
    runs: &mut Vec<Run>,
    tasks: &mut Vec<TaskId>,
    cx: &mut Shared,
    count: &mut dyn FnMut(TaskId),
) -> bool {
    let mut any = false;
    while port.retry_at().is_some_and(|at| at <= cx.now.clock) && !port.full(cx) {
        runs.clear();
        tasks.clear();
        let Some(epoch) = port.retry(runs, tasks, cx) else { break };
        port.route(epoch, runs, cx);
        // One item each: a root of several is split before it is tried again.
        port.take_emitted();
        tasks.iter().for_each(|&task| count(task));
        announce(runs, tasks, epoch, cx);
        any = true;
    }
    any
}

/// Tells the trackers of new attempts, and fails those that grouping led astray.
pub(crate) fn announce(runs: &mut Vec<Run>, tasks: &[TaskId], epoch: Epoch, cx: &mut Shared) {
    for (run, &task) in runs.iter().zip(tasks) {
        cx.init(run, task, epoch);
    }
    fail_astray(runs, epoch, cx);
    runs.clear();
}

/// Fails the runs of which grouping led some tuple astray.
pub(crate) fn fail_astray(runs: &mut [Run], epoch: Epoch, cx: &mut Shared) {
    while let Some((run, reason)) = cx.astray.pop() {
        fail_run(runs, run, reason, epoch, cx);
    }
}

/// Fails a run, once; where nothing is tracked the reason is kept for the report.
pub(crate) fn fail_run(runs: &mut [Run], run: u32, reason: Reason, epoch: Epoch, cx: &mut Shared) {
    match runs.get_mut(run as usize) {
        Some(run) if !run.tainted => {
            run.tainted = true;
            cx.fail(run.track, epoch, reason);
        }
        Some(_) => {}
        None => cx.regret(reason),
    }
}

/// Runs user code; a panic comes back as its message.
pub(crate) fn guarded<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(call)).map_err(panic_message)
}

/// The message of a panic. The payload's own drop may panic too: that is swallowed.
pub(crate) fn panic_message(payload: Box<dyn Any + Send>) -> String {
    let message = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned());
    if message.is_none()
        && let Err(second) = catch_unwind(AssertUnwindSafe(move || drop(payload)))
    {
        std::mem::forget(second);
    }
    message.unwrap_or_else(|| "a panic without a message".to_owned())
}
