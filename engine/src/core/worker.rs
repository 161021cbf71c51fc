//! One worker: takes messages in, runs one component a step, sends what came of it.

use std::collections::VecDeque;
use std::sync::Arc;

use super::ackers::Acker;
use super::contract::{In, Sink, Status};
use super::host::{Host, Work, guarded};
use super::lane::Lane;
use super::message::{Change, Empty, Envelope, VerdictOp};
use super::shared::{Now, Shared};
use super::{ComponentId, Epoch, Nanos, Resume, TaskId, WorkerId};
use crate::config::whole;
use crate::report::{RunError, WorkerFigures};
use crate::topology::Topology;

/// Reports wait at most this long.
const REPORT_EVERY: Nanos = 1_000_000;
/// Numbers remembered above the oldest gap of a lane that may lose messages.
const LOSSY_WINDOW: usize = 4096;

/// What one sender's lanes have brought.
#[derive(Debug)]
pub(super) struct Lanes {
    pub(super) data: Lane,
    pub(super) acks: Lane,
    pub(super) inits: Lane,
    pub(super) verdicts: Lane,
}

/// A component here, with its queue.
pub(super) struct Seat {
    pub(super) host: Box<dyn Host>,
    pub(super) queue: VecDeque<Envelope>,
    pub(super) work: Option<Work>,
    pub(super) frontier: Epoch,
    /// Picks since it was last chosen while it could have been.
    pub(super) skipped: u32,
    pub(super) told_closed: Epoch,
    pub(super) told_held: Option<Epoch>,
    pub(super) told_ticket: Option<(Epoch, TaskId)>,
}

/// One worker's part of a running topology.
pub struct Worker {
    pub(super) cx: Shared,
    /// Deepest first.
    pub(super) seats: Vec<Seat>,
    pub(super) seat_of: Vec<Option<usize>>,
    pub(super) acker: Acker,
    pub(super) lanes: Vec<Lanes>,
    pub(super) numbers: Vec<[u64; 3]>,
    pub(super) report_number: u64,
    pub(super) last_report: Nanos,
    pub(super) horizon: Epoch,
    pub(super) end: Epoch,
    /// The first epoch that will not be: above the last one, once that is known.
    pub(super) last: Epoch,
    /// The component at work in this step.
    at: Option<ComponentId>,
    pub(super) opened: bool,
    pub(super) stopped: bool,
    pub(super) waker: std::task::Waker,
    pub(super) verdicts: Vec<VerdictOp>,
    pub(super) outgoing: Vec<Vec<VerdictOp>>,
    pub(super) empty_acks: Vec<Vec<super::AckOp>>,
    pub(super) empty_inits: Vec<Vec<super::InitOp>>,
    pub(super) empty_verdicts: Vec<Vec<VerdictOp>>,
    pub(super) empty_changes: Vec<Vec<Change>>,
    pub(super) next_touch: Nanos,
    pub(super) repeats: u64,
}

impl core::fmt::Debug for Worker {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Worker")
            .field("me", &self.cx.me)
            .field("horizon", &self.horizon)
            .field("end", &self.end)
            .finish_non_exhaustive()
    }
}

impl Worker {
    /// Worker `me` of a topology. `waker` wakes it when a spout's own thread has something.
    #[must_use]
    pub fn new(
        topology: &Topology,
        me: WorkerId,
        incarnation: u64,
        waker: std::task::Waker,
    ) -> Self {
        let plan = topology.plan();
        let mut seats: Vec<Seat> = topology
            .hosts(me)
            .into_iter()
            .map(|host| Seat {
                host,
                queue: VecDeque::with_capacity(plan.config.queue.min(1024)),
                work: None,
                frontier: 0,
                skipped: 0,
                told_closed: 0,
                told_held: None,
                told_ticket: None,
            })
            .collect();
        let rank = |seat: &Seat| plan.components[seat.host.component() as usize].rank;
        seats.sort_by_key(|seat| std::cmp::Reverse(rank(seat)));
        let mut seat_of = vec![None; plan.components.len()];
        for (i, seat) in seats.iter().enumerate() {
            seat_of[seat.host.component() as usize] = Some(i);
        }
        let workers = plan.config.workers as usize;
        Worker {
            cx: Shared::new(me, plan, incarnation),
            seats,
            seat_of,
            acker: Acker::new(plan),
            lanes: (0..workers)
                .map(|_| Lanes {
                    data: Lane::default(),
                    acks: Lane::lossy(LOSSY_WINDOW),
                    inits: Lane::default(),
                    verdicts: Lane::default(),
                })
                .collect(),
            numbers: vec![[0; 3]; workers],
            report_number: 0,
            last_report: 0,
            horizon: 0,
            end: 0,
            last: Epoch::MAX,
            at: None,
            opened: false,
            stopped: false,
            waker,
            verdicts: Vec::new(),
            outgoing: (0..workers).map(|_| Vec::new()).collect(),
            empty_acks: Vec::new(),
            empty_inits: Vec::new(),
            empty_verdicts: Vec::new(),
            empty_changes: Vec::new(),
            next_touch: 0,
            repeats: 0,
        }
    }

    /// Worker `me` of the incarnation that `from` begins, after a crash of the one before.
    #[must_use]
    pub fn resume(
        topology: &Topology,
        me: WorkerId,
        waker: std::task::Waker,
        from: &Arc<Resume>,
    ) -> Self {
        let mut worker = Worker::new(topology, me, from.incarnation, waker);
        worker.acker.forget_below(from.epoch);
        // All before it has ended: timers may fire in it at once, and spouts may wait for what they do.
        worker.end = from.epoch;
        if let Some(before) = from.epoch.checked_sub(1) {
            worker.cx.watermarks.give(before, from.watermark);
        }
        for seat in &mut worker.seats {
            seat.host.begin(from);
            (seat.frontier, seat.told_closed) = (from.epoch, from.epoch);
        }
        worker.cx.resume = Some(Arc::clone(from));
        worker
    }

    /// Takes in what has come, or does some work.
    ///
    /// # Errors
    /// What ends the topology: a task that cannot be opened, a spout that fails, a `close` that
    /// panics.
    pub fn step(&mut self, now: Now, input: In, sink: &mut impl Sink) -> Result<Status, RunError> {
        self.cx.now = now;
        if self.cx.tracked() {
            // First of all: a root that is about to be tracked must not start in the past.
            let plan = Arc::clone(&self.cx.plan);
            self.acker.advance(now.clock, &plan, &mut self.verdicts);
        }
        let mut ran = true;
        match input {
            In::Batch(envelope) => self.take_batch(envelope, sink),
            In::Message(message) => self.take_message(message, sink),
            In::Word(order) if order.incarnation == self.cx.incarnation => {
                self.take_word(order.word, sink)?;
            }
            In::Word(order) => self.hear_of(order.incarnation),
            In::Lost(loss) => self.take_loss(loss, sink),
            In::Empty(empty) => self.take_empty(empty),
            In::Wake => self.seats.iter_mut().for_each(|seat| seat.host.wake()),
            // User code is guarded call by call; what is left is what it does when its items are
            // cloned or dropped.
            In::Run => match guarded(|| self.work(sink)) {
                Ok(done) => ran = done,
                Err(message) => return Err(self.astray(message)),
            },
        }
        for letter in self.cx.dead.drain(..) {
            sink.dead_letter(letter);
        }
        self.at = None;
        if let Some(error) = self.cx.fatal.take() {
            return Err(error);
        }
        let wake_at = if ran { None } else { self.wake_at() };
        let blocked = !self.cx.outbox.is_empty();
        Ok(Status { ran, wake_at, blocked, stopped: self.stopped })
    }

    /// A panic of the items of the component at work, or of the engine itself.
    fn astray(&self, message: String) -> RunError {
        let component = self.at.map(|at| self.cx.plan.components[at as usize].name.clone());
        match component {
            Some(component) => RunError::Items { component, message },
            None => RunError::Worker { worker: self.cx.me, message },
        }
    }

    /// The figures of its tasks so far: while it works, as they are between two steps.
    #[must_use]
    pub fn figures(&mut self) -> WorkerFigures {
        self.acker.measure();
        let mut figures = WorkerFigures {
            edges: self.cx.edges.clone(),
            outbox_peak: self.cx.outbox.peak(),
            acker: self.acker.stats(),
            failed_attempts: self.acker.failed(),
            failures: self.cx.failures.clone(),
            ..WorkerFigures::default()
        };
        for seat in &mut self.seats {
            seat.host.figures(&self.cx, &mut figures);
        }
        figures
    }

    /// Drops the tasks, one by one: a drop that panics takes nothing else along.
    pub fn dismantle(mut self) {
        for seat in &mut self.seats {
            seat.host.dismantle();
        }
        let rest = guarded(|| drop(self));
        drop(rest);
    }

    /// Messages that were dropped as repeats or as of another incarnation.
    #[must_use]
    pub fn repeats(&self) -> u64 {
        self.repeats
    }

    /// One turn of work; whether anything was done.
    fn work(&mut self, sink: &mut impl Sink) -> bool {
        let mut ran = self.cx.outbox.offer(&mut |envelope| sink.offer(envelope));
        ran |= self.keep_time(sink);
        if self.failed() {
            return ran;
        }
        self.seal_lingering();
        ran |= self.run_one(sink);
        if self.failed() {
            return ran;
        }
        ran |= self.cx.outbox.offer(&mut |envelope| sink.offer(envelope));
        // A verdict may be what someone waited for.
        ran |= self.pass_on(sink);
        if !ran {
            ran = self.rest(sink);
        }
        if self.failed() {
            return ran;
        }
        let now = self.cx.now.mono;
        if !ran || now >= self.last_report + REPORT_EVERY {
            self.report(!ran, sink);
        }
        ran
    }

    /// Whether something failed that ends this incarnation: from there on no user code is called, and
    /// nothing is told that a new one would take for done.
    fn failed(&self) -> bool {
        self.cx.fatal.is_some()
    }

    /// What time brings: closes, timers, flushes, retries, time-outs, touches.
    fn keep_time(&mut self, sink: &mut impl Sink) -> bool {
        let mut ran = false;
        // No timer fires after the last epoch, nor before this worker knows whether that was it.
        let timers_below = self.horizon.min(self.end.saturating_add(1)).min(self.last);
        for seat in &mut self.seats {
            self.at = Some(seat.host.component());
            ran |= seat.host.close(seat.frontier, &mut self.cx, sink);
            ran |= seat.host.timers(timers_below, &mut self.cx, sink);
            ran |= seat.host.flush(oldest(seat), false, &mut self.cx, sink);
            ran |= seat.host.retry(&mut self.cx);
            ran |= seat.host.expire(&mut self.cx);
            if self.cx.fatal.is_some() {
                return true;
            }
        }
        if self.cx.tracked() {
            let plan = Arc::clone(&self.cx.plan);
            if self.cx.now.clock >= self.next_touch {
                self.next_touch = self.cx.now.clock + whole(plan.config.timeout) / 4;
                self.touch();
                // At once: the work of this step may take long.
                ran |= self.pass_on(sink);
            }
        }
        ran
    }

    /// Says of every attempt that waits here that it is alive.
    fn touch(&mut self) {
        for seat in &self.seats {
            let component = seat.host.component();
            let work = seat.work.iter().map(|work| &work.envelope);
            for envelope in seat.queue.iter().chain(work) {
                for run in envelope.body.tracks().iter().filter(|run| !run.tainted) {
                    self.cx.touch(run.track, envelope.epoch, component);
                }
            }
        }
        let outbox: Vec<_> = self
            .cx
            .outbox
            .waiting()
            .flat_map(|envelope| {
                let (epoch, to) = (envelope.epoch, envelope.component);
                envelope.body.tracks().iter().map(move |run| (run.track, epoch, to))
            })
            .collect();
        for (track, epoch, to) in outbox {
            self.cx.touch(track, epoch, to);
        }
        for seat in &mut self.seats {
            seat.host.touch(&mut self.cx);
        }
    }

    /// Runs the component whose turn it is.
    fn run_one(&mut self, sink: &mut impl Sink) -> bool {
        let Some(at) = self.pick() else { return false };
        let seat = &mut self.seats[at];
        self.at = Some(seat.host.component());
        if seat.work.is_none() {
            seat.work = seat.queue.pop_front().map(Work::new);
        }
        let Some(mut work) = seat.work.take() else {
            seat.host.emit(&mut self.cx, sink);
            return true;
        };
        if seat.host.run(&mut work, &mut self.cx, sink) {
            let Envelope { from, component, edge, epoch, body, .. } = work.envelope;
            self.cx.changes.in_flight(component, epoch, -1);
            sink.consumed(component);
            if from == self.cx.me {
                self.recycle(edge, body);
            } else {
                sink.recycle(from, Empty::Delivery(edge, body));
            }
        } else {
            seat.work = Some(work);
        }
        true
    }

    /// The deepest runnable component; but one that was passed over for a whole turn goes first.
    fn pick(&mut self) -> Option<usize> {
        let turn = self.cx.plan.config.turn;
        let mut deepest = None;
        let mut starved: Option<usize> = None;
        for (at, seat) in self.seats.iter_mut().enumerate() {
            let has_work = seat.work.is_some() || !seat.queue.is_empty();
            let runnable = (has_work && !seat.host.full(&self.cx))
                || (!has_work && seat.host.may_emit(&self.cx));
            if !runnable {
                seat.skipped = 0;
                continue;
            }
            deepest = deepest.or(Some(at));
            seat.skipped += 1;
            if seat.skipped > turn {
                starved = starved.or(Some(at));
            }
        }
        // Of several starved ones the longest passed over.
        let starved = starved.and_then(|_| {
            (0..self.seats.len()).max_by_key(|&i| (self.seats[i].skipped, std::cmp::Reverse(i)))
        });
        let chosen = starved.or(deepest)?;
        self.seats[chosen].skipped = 0;
        Some(chosen)
    }

    fn seal_lingering(&mut self) {
        let linger = whole(self.cx.plan.config.linger);
        let now = self.cx.now.mono;
        for seat in &mut self.seats {
            if seat.host.open_since().is_some_and(|since| since + linger <= now) {
                seat.host.seal(Some(now - linger), &mut self.cx);
            }
        }
    }

    /// Nothing is runnable: batches leave however small, and what is held back is flushed.
    fn rest(&mut self, sink: &mut impl Sink) -> bool {
        let mut ran = false;
        for seat in &mut self.seats {
            ran |= seat.host.flush(oldest(seat), true, &mut self.cx, sink);
            if self.cx.fatal.is_some() {
                return true;
            }
            seat.host.seal(None, &mut self.cx);
        }
        ran |= self.cx.outbox.offer(&mut |envelope| sink.offer(envelope));
        ran | self.pass_on(sink)
    }

    /// When there is something to do though nothing arrives.
    fn wake_at(&mut self) -> Option<Nanos> {
        let Now { mono, clock } = self.cx.now;
        let mut first: Option<Nanos> = None;
        let mut at = |time: Nanos| first = Some(first.map_or(time, |first| first.min(time)));
        // The clock of time-outs runs no faster than the monotonic one.
        let on_clock = |time: Nanos| mono.saturating_add(time.saturating_sub(clock).max(500_000));
        for seat in &mut self.seats {
            // What is due and cannot run is woken by room, a verdict or a word, not by time.
            seat.host.wake_at().filter(|&time| time > mono).into_iter().for_each(&mut at);
            seat.host.retry_at().map(on_clock).into_iter().for_each(&mut at);
        }
        if self.cx.tracked() && self.acker.is_waiting() {
            at(mono + self.acker.pace());
        }
        let busy = |seat: &mut Seat| {
            seat.work.is_some() || !seat.queue.is_empty() || seat.host.holds_back()
        };
        let waits = !self.cx.outbox.is_empty() || self.seats.iter_mut().any(busy);
        if self.cx.tracked() && waits {
            at(on_clock(self.next_touch));
        }
        first
    }
}

/// The least epoch that a seat still has work of.
fn oldest(seat: &Seat) -> Option<Epoch> {
    let work = seat.work.iter().map(|work| work.envelope.epoch);
    seat.queue.iter().map(|envelope| envelope.epoch).chain(work).min()
}
