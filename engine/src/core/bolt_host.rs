//! The tasks of one bolt at one worker: execute, flush, close, timers.

use core::fmt;

use super::contract::Sink;
use super::host::{
    Host, LocalTask, Make, Work, announce, dismantle, fail_astray, guarded, open_tasks, retry_port,
};
use super::port::{Ports, Run};
use super::seen::Seen;
use super::shared::Shared;
use super::{AnyDelivery, ComponentId, EdgeId, Epoch, Nanos, Plan, Resume, TaskId, VerdictOp};
use crate::component::{Bolt, BoxError, TaskContext};
use crate::config::whole;
use crate::emitter::{EmitState, Emitter, Outputs};
use crate::report::{RunError, WorkerFigures, chain};

/// Runs one batch of an input; monomorphic in the bolt and the input's batch type.
pub(crate) type RunInput<Bl> = fn(&mut BoltHost<Bl>, &mut Work, &mut Shared, &mut dyn Sink) -> bool;

/// A call of one task's `flush`, `close` or `timer`.
type Callback<'a, Bl> =
    &'a mut dyn FnMut(&mut Bl, &mut Emitter<'_, <Bl as Bolt>::Out>) -> Result<(), BoxError>;

/// The tasks of one bolt at one worker.
pub(crate) struct BoltHost<Bl: Bolt> {
    pub(super) component: ComponentId,
    pub(super) make: Make<Bl>,
    pub(super) inputs: Vec<RunInput<Bl>>,
    pub(super) tasks: Vec<LocalTask>,
    pub(super) contexts: Vec<TaskContext>,
    pub(super) bolts: Vec<Bl>,
    pub(super) wakes: Vec<Option<Nanos>>,
    pub(super) ports: <Bl::Out as Outputs>::Ports,
    pub(super) state: EmitState,
    pub(super) closed: Epoch,
    /// Epochs of which batches were applied since they were last flushed.
    pub(super) dirty: Vec<Epoch>,
    pub(super) dirty_since: Nanos,
    /// Tasks flushed of the first of them, and calls made of the close under way. Each call may
    /// overfill the outbox, but only one: the others wait for room.
    pub(super) flushed: usize,
    pub(super) closing: usize,
    pub(super) runs: Vec<Run>,
    pub(super) owners: Vec<TaskId>,
    /// Exactly once: what was applied, where the bolt keeps state.
    pub(super) seen: Option<Seen>,
}

impl<Bl: Bolt> fmt::Debug for BoltHost<Bl> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoltHost").field("tasks", &self.tasks).finish_non_exhaustive()
    }
}

impl<Bl: Bolt> BoltHost<Bl> {
    pub(crate) fn new(
        component: ComponentId,
        make: Make<Bl>,
        inputs: Vec<RunInput<Bl>>,
        ports: <Bl::Out as Outputs>::Ports,
        contexts: Vec<TaskContext>,
        plan: &Plan,
    ) -> Self {
        let exactly_once = plan.config.exactly_once();
        let stateful = plan.components[component as usize].stateful;
        let tasks = contexts
            .iter()
            .map(|c| LocalTask { id: c.task, index: c.index, ..LocalTask::default() })
            .collect();
        BoltHost {
            component,
            make,
            inputs,
            tasks,
            wakes: vec![None; contexts.len()],
            bolts: Vec::with_capacity(contexts.len()),
            contexts,
            ports,
            state: EmitState { limit: plan.config.record_limit, ..EmitState::default() },
            closed: 0,
            dirty: Vec::new(),
            dirty_since: 0,
            flushed: 0,
            closing: 0,
            runs: Vec::new(),
            owners: Vec::new(),
            seen: (exactly_once && stateful).then(Seen::default),
        }
    }

    /// Routes what is buffered, in the name of `runs`; fails those led astray.
    pub(super) fn route(&mut self, epoch: Epoch, runs: &mut [Run], cx: &mut Shared) {
        self.ports.each(&mut |_, port| port.route(epoch, runs, cx));
        fail_astray(runs, epoch, cx);
    }

    pub(super) fn any_full(&mut self, cx: &Shared) -> bool {
        let mut full = false;
        self.ports.each(&mut |_, port| full |= port.full(cx));
        full
    }

    pub(super) fn emitted(&mut self) -> u64 {
        let mut emitted = 0;
        self.ports.each(&mut |_, port| emitted += port.take_emitted());
        emitted
    }

    /// Calls `flush`, `close` or `timer` of one task. What it emits hangs from a root of its own,
    /// which keeps the tuples and holds the epoch until its verdict.
    fn call(
        &mut self,
        name: &'static str,
        task: usize,
        epoch: Epoch,
        cx: &mut Shared,
        sink: &mut dyn Sink,
        call: Callback<'_, Bl>,
    ) {
        let id = self.tasks[task].id;
        sink.enter(id);
        self.state.now = cx.now.mono;
        self.state.epoch = epoch;
        (self.state.task, self.state.tuple) = (id, false);
        let (bolt, ports, state) = (&mut self.bolts[task], &mut self.ports, &mut self.state);
        let outcome = guarded(|| call(bolt, &mut Emitter { ports, state }));
        self.tasks[task].charge(cx.spent(sink.lap(id, 0)));
        self.keep_wake(task);
        let panicked = outcome.is_err();
        let message = match outcome {
            Ok(Ok(())) => self.state.tickets.misuse.take(),
            Ok(Err(error)) => Some(chain(&*error)),
            Err(panic) => Some(panic),
        };
        if let Some(message) = message {
            self.ports.rollback();
            self.state.oversize = None;
            if name == "flush" && !panicked && self.fail_flush(task, epoch, &message, cx) {
                return;
            }
            cx.fatal.get_or_insert(RunError::Callback {
                call: name,
                component: cx.name_of(id).to_owned(),
                task: cx.index_of(id),
                epoch,
                message,
            });
            return;
        }
        if self.state.oversize.take().is_some() {
            let limit = self.state.limit;
            self.ports.each(&mut |_, port| {
                port.sift(&mut |item, size| cx.bury_too_large(id, epoch, size, limit, item));
            });
        }
        let placed = self.seen.is_some() && name == "close";
        if cx.plan.config.exactly_once() && !placed && self.ports.counts() > 0 {
            self.misplaced(name, id, cx);
            return;
        }
        let tracked = cx.tracked();
        self.ports.finish_tuple(0, tracked);
        let (runs, owners) = (&mut self.runs, &mut self.owners);
        self.ports.each(&mut |_, port| {
            if port.buffered() == 0 {
                return;
            }
            runs.clear();
            owners.clear();
            if tracked {
                let Some(run) = port.adopt(id, epoch, cx) else {
                    cx.fatal.get_or_insert(RunError::NotRepeatable {
                        call: name,
                        component: cx.name_of(id).to_owned(),
                        task: cx.index_of(id),
                    });
                    return;
                };
                runs.push(run);
                owners.push(id);
            }
            port.route(epoch, runs, cx);
            announce(runs, owners, epoch, cx);
        });
        if std::mem::take(&mut self.state.odd) {
            self.resolve(name, task, cx);
        }
        self.tasks[task].emitted += self.emitted();
    }

    /// Exactly once: what was emitted in this call could not be repeated, or would wrongly be.
    pub(super) fn misplaced(&mut self, call: &'static str, task: TaskId, cx: &mut Shared) {
        self.ports.rollback();
        cx.fatal.get_or_insert(RunError::Misplaced {
            call,
            component: cx.name_of(task).to_owned(),
            task: cx.index_of(task),
            stateful: self.seen.is_some(),
        });
    }

    pub(super) fn keep_wake(&mut self, task: usize) {
        if let Some(at) = self.state.wake_at.take() {
            self.wakes[task] = Some(self.wakes[task].map_or(at, |old| old.min(at)));
        }
    }

    fn flush_task(&mut self, task: usize, epoch: Epoch, cx: &mut Shared, sink: &mut dyn Sink) {
        self.call("flush", task, epoch, cx, sink, &mut |bolt, out| bolt.flush(epoch, out));
        self.flushed(task, epoch, cx);
    }

    pub(super) fn applied(&mut self, epoch: Epoch, now: Nanos) {
        if self.dirty.is_empty() {
            self.dirty_since = now;
        }
        self.flushed = 0;
        if let Err(at) = self.dirty.binary_search(&epoch) {
            self.dirty.insert(at, epoch);
        }
    }
}

impl<Bl: Bolt> Host for BoltHost<Bl> {
    fn component(&self) -> ComponentId {
        self.component
    }

    fn begin(&mut self, from: &Resume) {
        self.closed = from.epoch;
    }

    fn open(
        &mut self,
        waker: &std::task::Waker,
        cx: &mut Shared,
        sink: &mut dyn Sink,
    ) -> Result<(), RunError> {
        self.state.tickets.incarnation = cx.incarnation;
        open_tasks(&self.make, &mut self.contexts, waker, cx, sink, &mut self.bolts)
    }

    fn dismantle(&mut self) {
        dismantle(&mut self.bolts);
    }

    fn run(&mut self, work: &mut Work, cx: &mut Shared, sink: &mut dyn Sink) -> bool {
        let input = cx.plan.edges[work.envelope.edge as usize].input;
        match self.inputs.get(input as usize) {
            Some(run) => run(self, work, cx, sink),
            None => true,
        }
    }

    fn wake_at(&self) -> Option<Nanos> {
        self.wakes.iter().flatten().min().copied()
    }

    fn flush(
        &mut self,
        left: Option<Epoch>,
        now: bool,
        cx: &mut Shared,
        sink: &mut dyn Sink,
    ) -> bool {
        let linger = whole(cx.plan.config.linger);
        if self.closing > 0
            || self.dirty.is_empty()
            || !(now || cx.now.mono >= self.dirty_since + linger)
        {
            return false;
        }
        let mut any = false;
        while let Some(&epoch) = self.dirty.first() {
            if left.is_some_and(|left| left <= epoch) {
                break;
            }
            while self.flushed < self.bolts.len() {
                if self.any_full(cx) {
                    return any;
                }
                self.flush_task(self.flushed, epoch, cx, sink);
                if cx.fatal.is_some() {
                    return true;
                }
                self.flushed += 1;
                any = true;
            }
            self.ports.each(&mut |_, port| port.let_go(epoch, cx));
            self.flushed = 0;
            self.dirty.remove(0);
        }
        self.dirty_since = cx.now.mono;
        any
    }

    fn close(&mut self, frontier: Epoch, cx: &mut Shared, sink: &mut dyn Sink) -> bool {
        let mut any = false;
        while self.closed < frontier {
            let epoch = self.closed;
            let Some(mark) = cx.watermarks.of(epoch) else { break };
            let tasks = self.bolts.len();
            while self.closing < 2 * tasks {
                if cx.fatal.is_some() || self.any_full(cx) {
                    return any;
                }
                if self.closing == tasks {
                    self.ports.each(&mut |_, port| port.let_go(epoch, cx));
                }
                match self.closing.checked_sub(tasks) {
                    None => self.flush_task(self.closing, epoch, cx, sink),
                    Some(task) => self.call("close", task, epoch, cx, sink, &mut |bolt, out| {
                        bolt.close(epoch, mark, out)
                    }),
                }
                if cx.fatal.is_some() {
                    // It has not closed, and is not to say so.
                    return true;
                }
                self.closing += 1;
                any = true;
            }
            (self.closing, self.flushed) = (0, 0);
            self.dirty.retain(|&dirty| dirty > epoch);
            self.closed += 1;
            self.state.tickets.void_below(self.closed);
            if let Some(seen) = &mut self.seen {
                seen.forget_below(self.closed);
            }
        }
        any
    }

    fn expire(&mut self, cx: &mut Shared) -> bool {
        self.expire_tickets(cx)
    }

    fn touch(&mut self, cx: &mut Shared) {
        self.state.tickets.touch(self.component, cx);
        self.ports.each(&mut |_, port| port.touch(cx));
    }

    fn holds_back(&mut self) -> bool {
        let mut any = !self.state.tickets.is_empty();
        self.ports.each(&mut |_, port| any |= port.holds_back());
        any
    }

    fn ticket(&self) -> Option<(Epoch, TaskId)> {
        self.state.tickets.oldest()
    }

    fn timers(&mut self, horizon: Epoch, cx: &mut Shared, sink: &mut dyn Sink) -> bool {
        // It emits at the least unclosed epoch, which must be below the horizon.
        let epoch = self.closed;
        let mut any = false;
        for task in 0..self.bolts.len() {
            let due = self.wakes[task].is_some_and(|at| at <= cx.now.mono);
            if due && epoch < horizon && !self.any_full(cx) && cx.fatal.is_none() {
                self.wakes[task] = None;
                let now = cx.now.mono;
                self.call("timer", task, epoch, cx, sink, &mut |bolt, out| bolt.timer(now, out));
                any = true;
            }
        }
        any
    }

    fn closed(&self) -> Option<Epoch> {
        Some(self.closed)
    }

    fn full(&mut self, cx: &Shared) -> bool {
        self.any_full(cx)
    }

    fn seal(&mut self, before: Option<Nanos>, cx: &mut Shared) {
        self.ports.each(&mut |_, port| port.seal(before, cx));
    }

    fn open_since(&mut self) -> Option<Nanos> {
        let mut oldest: Option<Nanos> = None;
        self.ports.each(&mut |_, port| {
            if let Some(since) = port.open_since() {
                oldest = Some(oldest.map_or(since, |o| o.min(since)));
            }
        });
        oldest
    }

    fn recycle(&mut self, edge: EdgeId, body: Box<dyn AnyDelivery>) {
        let mut body = Some(body);
        self.ports.each(&mut |_, port| {
            if port.has(edge)
                && let Some(body) = body.take()
            {
                port.recycle(edge, body);
            }
        });
    }

    fn verdict(&mut self, verdict: &VerdictOp, cx: &mut Shared) {
        let mut heard = false;
        self.ports.each(&mut |_, port| heard = heard || port.verdict(verdict, cx).is_some());
    }

    fn retry(&mut self, cx: &mut Shared) -> bool {
        let mut any = false;
        let (runs, owners, tasks) = (&mut self.runs, &mut self.owners, &mut self.tasks);
        self.ports.each(&mut |_, port| {
            any |= retry_port(port, runs, owners, cx, &mut |id| {
                if let Some(task) = tasks.iter_mut().find(|task| task.id == id) {
                    task.replayed += 1;
                    task.emitted += 1;
                }
            });
        });
        any
    }

    fn retry_at(&mut self) -> Option<Nanos> {
        let mut first = self.state.tickets.expires_at();
        self.ports.each(&mut |_, port| {
            if let Some(at) = port.retry_at() {
                first = Some(first.map_or(at, |f| f.min(at)));
            }
        });
        first
    }

    fn held(&mut self) -> Option<(Epoch, TaskId)> {
        let mut held: Option<(Epoch, TaskId)> = None;
        self.ports.each(&mut |_, port| {
            if let Some(one) = port.held() {
                held = Some(held.map_or(one, |h| h.min(one)));
            }
        });
        held
    }

    fn figures(&mut self, cx: &Shared, to: &mut WorkerFigures) {
        to.tasks.extend(self.tasks.iter().map(|task| task.stats(cx)));
        if let Some(stats) = self.seen.as_ref().map(Seen::stats) {
            to.seen.peak += stats.peak;
            to.seen.repeats += stats.repeats;
            to.seen.collision_bound += stats.collision_bound;
        }
        self.ports.each(&mut |_, port| {
            port.unfinished(&mut |task, epoch, attempt| to.unfinished.push((task, epoch, attempt)));
        });
    }
}
