//! The tasks of one spout at one worker: emission within bounds, epochs, watermarks, replay.

use core::fmt;

use super::contract::Sink;
use super::host::{Host, LocalTask, Make, announce, dismantle, guarded, open_tasks, retry_port};
use super::message::{Change, Idle};
use super::port::{AnyPort, Ended, Port, Ports, Run, Span};
use super::shared::Shared;
use super::{AnyDelivery, ComponentId, EdgeId, Epoch, Nanos, Resume, TaskId, VerdictOp};
use crate::batch::Batch;
use crate::component::{Poll, Spout, TaskContext};
use crate::config::whole;
use crate::emitter::{EmitState, SpoutClock, SpoutEmitter};
use crate::report::{RunError, WorkerFigures, chain, latencies, note};

/// Whether a spout task has something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Has {
    /// Call it.
    Some,
    /// Nothing before this time, or a wake.
    NothingUntil(Nanos),
    /// Nothing ever again.
    Ended,
}

#[derive(Debug)]
pub(super) struct Task {
    pub(super) local: LocalTask,
    has: Has,
    pending: usize,
    pending_bytes: usize,
    pub(super) clock: SpoutClock,
    /// The epoch that its next record takes.
    pub(super) epoch: Epoch,
    /// Whether it emitted in that epoch.
    stamped: bool,
    /// Left out of the last watermark: it must not fall behind the one given out meanwhile.
    returning: bool,
    /// Whether it can say where it is.
    pub(super) seekable: bool,
    /// Records emitted, as [`Place::records`](super::Place::records) counts them.
    pub(super) told: u64,
    /// As many of them the incarnations before had emitted: a drain lets the task come so far.
    pub(super) reached: u64,
    draining: bool,
    /// In a drain it still emits what it had taken in before.
    finishing: bool,
}

/// Whether a task may have a further unfinished root. One record is let in below each bound,
/// however large it is: it passes, it never waits for ever.
fn has_room(task: &Task, cx: &Shared) -> bool {
    let config = &cx.plan.config;
    task.pending < config.max_pending && task.pending_bytes < config.max_pending_bytes
}

/// The tasks of one spout at one worker.
pub(crate) struct SpoutHost<S: Spout> {
    component: ComponentId,
    make: Make<S>,
    contexts: Vec<TaskContext>,
    pub(super) spouts: Vec<S>,
    pub(super) tasks: Vec<Task>,
    port: Port<S::Out>,
    state: EmitState,
    horizon: Epoch,
    drained_early: bool,
    turn: usize,
    runs: Vec<Run>,
    owners: Vec<TaskId>,
    latency: Option<hdrhistogram::Histogram<u64>>,
}

impl<S: Spout> fmt::Debug for SpoutHost<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpoutHost").field("tasks", &self.tasks).finish_non_exhaustive()
    }
}

impl<S: Spout> SpoutHost<S> {
    pub(crate) fn new(
        component: ComponentId,
        make: Make<S>,
        mut port: Port<S::Out>,
        contexts: Vec<TaskContext>,
        plan: &super::Plan,
    ) -> Self {
        let tasks: Vec<Task> = contexts
            .iter()
            .map(|c| Task {
                local: LocalTask { id: c.task, index: c.index, ..LocalTask::default() },
                has: Has::Some,
                pending: 0,
                pending_bytes: 0,
                clock: SpoutClock::default(),
                epoch: 0,
                stamped: false,
                returning: false,
                seekable: false,
                told: 0,
                reached: 0,
                draining: false,
                finishing: false,
            })
            .collect();
        if plan.config.tracked() {
            port.book.reserve(plan.config.max_pending.saturating_mul(tasks.len()));
        }
        SpoutHost {
            component,
            make,
            contexts,
            spouts: Vec::new(),
            tasks,
            port,
            state: EmitState { limit: plan.config.record_limit, ..EmitState::default() },
            horizon: 0,
            drained_early: false,
            turn: 0,
            runs: Vec::new(),
            owners: Vec::new(),
            latency: latencies(),
        }
    }

    fn ready(&self, task: &Task, cx: &Shared) -> bool {
        let has = match task.has {
            Has::Some => true,
            Has::NothingUntil(at) => at <= cx.now.mono,
            Has::Ended => false,
        };
        has && task.epoch < self.horizon
            && (!cx.tracked() || has_room(task, cx))
            && (!task.returning || task.epoch == 0 || cx.watermarks.of(task.epoch - 1).is_some())
    }

    /// Makes dead letters of the records over the size limit.
    fn bury_oversize(&mut self, at: usize, cx: &mut Shared) {
        let (epoch, limit) = (self.state.epoch, self.state.limit);
        let local = &mut self.tasks[at].local;
        self.state.oversize = None;
        let large = &self.port.oversize;
        let mut place = 0..;
        let is_large = |at: usize| large.binary_search_by_key(&at, |&(of, _)| of).is_ok();
        self.state.born.retain(|_| !place.next().is_some_and(is_large));
        self.port.sift(&mut |item, size| {
            local.failed += 1;
            cx.changes.records(local.id, 1);
            cx.bury_too_large(local.id, epoch, size, limit, item);
        });
    }

    /// Makes every buffered record a root of its own and sends it on its way.
    fn release(&mut self, at: usize, cx: &mut Shared) {
        let epoch = self.state.epoch;
        let id = self.tasks[at].local.id;
        let len = self.port.items.len();
        self.runs.clear();
        self.owners.clear();
        self.port.finish_tuple(0, false);
        if let (true, Some(keep)) = (cx.tracked(), self.port.keep) {
            let Port { items, book, spans, lineages, .. } = &mut self.port;
            let exactly_once = cx.plan.config.exactly_once();
            let mut bytes = 0;
            for i in 0..len {
                let now = cx.now.mono;
                // Its latency counts from the time that it was due.
                cx.now.mono = self.state.born.get(i).map_or(now, |&due| due.min(now));
                let (run, lineage) = book.open(id, epoch, cx, |kept| {
                    keep(items, i, kept);
                    bytes += kept.size();
                });
                cx.now.mono = now;
                self.runs.push(run);
                if exactly_once {
                    lineages.push(lineage);
                }
                self.owners.push(id);
                let i = u32::try_from(i).unwrap_or(u32::MAX);
                spans.push(Span { run: i, end: i + 1 });
            }
            self.tasks[at].pending += len;
            self.tasks[at].pending_bytes += bytes;
        }
        self.port.route(epoch, &mut self.runs, cx);
        announce(&mut self.runs, &self.owners, epoch, cx);
        let task = &mut self.tasks[at];
        task.local.emitted += self.port.take_emitted();
        task.stamped |= len > 0;
        cx.changes.records(id, len as u64);
    }
}

impl<S: Spout> Host for SpoutHost<S> {
    fn component(&self) -> ComponentId {
        self.component
    }

    fn begin(&mut self, from: &Resume) {
        for task in &mut self.tasks {
            let at = task.local.id as usize;
            let place = from.places.get(at).and_then(Option::as_ref);
            task.epoch = from.epoch;
            task.told = place.map_or(0, |place| place.records);
            task.reached = from.reached.get(at).copied().unwrap_or(0);
        }
    }

    fn open(
        &mut self,
        waker: &std::task::Waker,
        cx: &mut Shared,
        sink: &mut dyn Sink,
    ) -> Result<(), RunError> {
        open_tasks(&self.make, &mut self.contexts, waker, cx, sink, &mut self.spouts)?;
        self.go_on(cx, sink)?;
        if std::mem::take(&mut self.drained_early) {
            self.drain(cx, sink);
        }
        Ok(())
    }

    fn dismantle(&mut self) {
        dismantle(&mut self.spouts);
    }

    fn may_emit(&self, cx: &Shared) -> bool {
        !self.port.full(cx) && self.tasks.iter().any(|task| self.ready(task, cx))
    }

    fn emit(&mut self, cx: &mut Shared, sink: &mut dyn Sink) {
        let count = self.tasks.len();
        let Some(at) =
            (0..count).map(|i| (self.turn + i) % count).find(|&at| self.ready(&self.tasks[at], cx))
        else {
            return;
        };
        self.turn = (at + 1) % count;
        let batch = cx.plan.config.batch;
        let task = &mut self.tasks[at];
        let id = task.local.id;
        let (mut room, mut bytes) = (batch, cx.plan.config.batch_bytes);
        if cx.tracked() {
            room = room.min(cx.plan.config.max_pending - task.pending);
            bytes = bytes.min(cx.plan.config.max_pending_bytes - task.pending_bytes);
        }
        if task.draining && !task.finishing {
            let left = task.reached.saturating_sub(task.told).max(1);
            room = room.min(usize::try_from(left).unwrap_or(usize::MAX));
        }
        if task.returning && task.epoch > 0 {
            let given = cx.watermarks.of(task.epoch - 1).flatten();
            task.clock.floor = task.clock.floor.max(given);
        }
        self.state.now = cx.now.mono;
        self.state.epoch = task.epoch;
        self.state.born.clear();
        sink.enter(id);
        let (spout, port, state) = (&mut self.spouts[at], &mut self.port, &mut self.state);
        let clock = &mut task.clock;
        let outcome = guarded(|| {
            // As many calls as there is room for: `More` without a record must not hold the worker.
            for _ in 0..room {
                let done = port.items.len();
                if done >= room || port.items.size() >= bytes || sink.late(done as u64) {
                    break;
                }
                let next = spout.next(&mut SpoutEmitter { port, state, clock, room, bytes });
                match next {
                    Ok(Poll::More) => {}
                    other => return other,
                }
            }
            Ok(Poll::More)
        });
        let emitted = self.port.items.len() as u64;
        if matches!(outcome, Ok(Ok(_))) {
            // Else nothing of it leaves.
            task.local.records += emitted;
            task.told += emitted;
        }
        task.local.charge(cx.spent(sink.lap(id, emitted)));
        task.local.late += std::mem::take(&mut task.clock.late);
        task.has = match outcome {
            Ok(Ok(Poll::More)) => Has::Some,
            Ok(Ok(Poll::Idle(wait))) => Has::NothingUntil(
                wait.map_or(Nanos::MAX, |wait| cx.now.mono.saturating_add(whole(wait).max(1))),
            ),
            Ok(Ok(Poll::End)) => Has::Ended,
            Ok(Err(error)) => {
                self.fail(at, chain(&*error), cx);
                return;
            }
            Err(panic) => {
                self.fail(at, panic, cx);
                return;
            }
        };
        if task.draining && !task.finishing && task.told >= task.reached {
            task.has = Has::Ended;
        }
        if task.has == Has::Ended {
            cx.changes.list.push(Change::Ended(id));
        }
        if self.state.oversize.is_some() {
            self.bury_oversize(at, cx);
        }
        if !self.port.items.is_empty() {
            self.tasks[at].returning = false;
            self.release(at, cx);
        }
    }

    fn wake(&mut self) {
        for task in &mut self.tasks {
            if matches!(task.has, Has::NothingUntil(_)) {
                task.has = Has::Some;
            }
        }
    }

    fn advance(&mut self, end: Epoch, horizon: Epoch, cx: &mut Shared, sink: &mut dyn Sink) {
        self.horizon = horizon;
        let to = end.min(horizon);
        for at in 0..self.tasks.len() {
            if self.tasks[at].epoch >= to {
                continue;
            }
            self.tell_place(at, to, cx, sink);
            let task = &mut self.tasks[at];
            // Idle for a whole epoch, or ended: left out of the watermark.
            let idle = task.has == Has::Ended
                || (!task.stamped && matches!(task.has, Has::NothingUntil(_)));
            // Until it emits: it may have been woken and have found no room for a whole epoch.
            task.returning |= idle;
            let mark = if idle { Err(Idle) } else { Ok(task.clock.mark) };
            task.epoch = to;
            task.stamped = false;
            cx.changes.list.push(Change::Stamps { task: task.local.id, epoch: to, mark });
        }
    }

    fn drain(&mut self, cx: &mut Shared, sink: &mut dyn Sink) {
        // Told before it was opened: heard once there is someone to hear it.
        self.drained_early = self.spouts.len() < self.tasks.len();
        for at in 0..self.spouts.len() {
            let (task, spout) = (&mut self.tasks[at], &mut self.spouts[at]);
            if task.has == Has::Ended {
                continue;
            }
            sink.enter(task.local.id);
            let outcome = guarded(|| spout.drain());
            task.local.charge(cx.spent(sink.lap(task.local.id, 0)));
            task.draining = task.told < task.reached;
            match outcome {
                Ok(finishing) => task.finishing = finishing,
                Err(message) => {
                    self.fail(at, message, cx);
                    return;
                }
            }
            if task.finishing {
                task.has = Has::Some;
            } else if !task.draining {
                task.has = Has::Ended;
                cx.changes.list.push(Change::Ended(task.local.id));
            }
        }
    }

    fn wake_at(&self) -> Option<Nanos> {
        self.tasks
            .iter()
            .filter_map(|task| match task.has {
                Has::NothingUntil(at) if at < Nanos::MAX => Some(at),
                _ => None,
            })
            .min()
    }

    fn full(&mut self, cx: &Shared) -> bool {
        self.port.full(cx)
    }

    fn seal(&mut self, before: Option<Nanos>, cx: &mut Shared) {
        self.port.seal(before, cx);
    }

    fn open_since(&mut self) -> Option<Nanos> {
        self.port.open_since()
    }

    fn recycle(&mut self, edge: EdgeId, body: Box<dyn AnyDelivery>) {
        self.port.recycle(edge, body);
    }

    fn look_ahead(&mut self, verdicts: &[VerdictOp]) {
        self.port.book.look_ahead(verdicts);
    }

    fn verdict(&mut self, verdict: &VerdictOp, cx: &mut Shared) {
        let Some(ended) = self.port.verdict(verdict, cx) else { return };
        let (id, bytes) = match &ended {
            Ended::Retry => return,
            Ended::Acked { task, bytes, .. } | Ended::Dead { task, bytes } => (*task, *bytes),
        };
        if let Some(task) = self.tasks.iter_mut().find(|task| task.local.id == id) {
            task.pending = task.pending.saturating_sub(1);
            task.pending_bytes = task.pending_bytes.saturating_sub(bytes);
            match ended {
                Ended::Acked { born, .. } => {
                    task.local.acked += 1;
                    note(&mut self.latency, cx.now.mono.saturating_sub(born));
                }
                _ => task.local.failed += 1,
            }
        }
    }

    fn retry(&mut self, cx: &mut Shared) -> bool {
        let tasks = &mut self.tasks;
        retry_port(&mut self.port, &mut self.runs, &mut self.owners, cx, &mut |id| {
            if let Some(task) = tasks.iter_mut().find(|task| task.local.id == id) {
                task.local.replayed += 1;
                task.local.emitted += 1;
            }
        })
    }

    fn retry_at(&mut self) -> Option<Nanos> {
        self.port.retry_at()
    }

    fn held(&mut self) -> Option<(Epoch, TaskId)> {
        self.port.held()
    }

    fn touch(&mut self, cx: &mut Shared) {
        self.port.touch(cx);
    }

    fn holds_back(&mut self) -> bool {
        self.port.holds_back()
    }

    fn figures(&mut self, cx: &Shared, to: &mut WorkerFigures) {
        to.tasks.extend(self.tasks.iter().map(|task| task.local.stats(cx)));
        self.port
            .unfinished(&mut |task, epoch, attempt| to.unfinished.push((task, epoch, attempt)));
        to.latencies.extend(self.latency.clone().map(|mine| (self.component, mine)));
    }
}

impl<S: Spout> SpoutHost<S> {
    pub(super) fn fail(&mut self, at: usize, message: String, cx: &mut Shared) {
        let local = self.tasks[at].local;
        cx.fatal.get_or_insert(RunError::Spout {
            component: cx.name_of(local.id).to_owned(),
            task: local.index,
            message,
        });
    }
}
