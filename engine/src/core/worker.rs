//! One worker: takes messages in, runs one component a step, sends what came of it.

use std::collections::VecDeque;
use std::sync::Arc;

use super::ackers::Acker;
use super::host::{Host, Work};
use super::lane::Lane;
use super::message::{Body, Change, Empty, Envelope, Message, Report, VerdictOp, Word};
use super::shared::{Now, Shared};
use super::{ComponentId, Epoch, Nanos, TaskId, WorkerId};
use crate::config::whole;
use crate::report::{DeadLetter, RunError, WorkerFigures};
use crate::topology::Topology;

/// What a driver does for a worker.
pub trait Sink {
    /// Puts a batch into the queue of its worker and component, or gives it back where that is
    /// full.
    ///
    /// # Errors
    /// The batch, where there is no room: it is offered again in a later step.
    fn offer(&mut self, envelope: Envelope) -> Result<(), Envelope>;
    /// Sends a message; never refuses.
    fn send(&mut self, to: WorkerId, message: Message);
    /// Tells the coordinator; `urgent` where it should look at once.
    fn report(&mut self, report: Report, urgent: bool);
    /// Brings used-up memory back to where it came from; may drop it.
    fn recycle(&mut self, to: WorkerId, empty: Empty);
    /// A batch of this component's queue is done: its place is free.
    fn consumed(&mut self, component: ComponentId);
    /// Takes a dead letter.
    fn dead_letter(&mut self, letter: DeadLetter);
    /// A task's code is about to run.
    fn enter(&mut self, task: TaskId);
    /// A task's code has run on so many tuples: what did it cost since `enter`?
    fn lap(&mut self, task: TaskId, tuples: u64) -> Nanos;
}

/// What a step takes in.
#[derive(Debug)]
pub enum In {
    /// A batch has arrived.
    Batch(Envelope),
    /// A message of another worker has arrived.
    Message(Message),
    /// The coordinator said something.
    Word(Word),
    /// Memory comes back.
    Empty(Empty),
    /// A spout's waker was woken.
    Wake,
    /// Do some work.
    Run,
}

/// How a step went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Whether anything was done; if not, the worker has nothing to do until `wake_at`, or until
    /// something arrives.
    pub ran: bool,
    /// When to step again at the latest, in monotonic time.
    pub wake_at: Option<Nanos>,
    /// Whether batches wait for room in queues.
    pub blocked: bool,
    /// Whether the coordinator's word to stop was heard.
    pub stopped: bool,
}

/// Reports wait at most this long.
const REPORT_EVERY: Nanos = 1_000_000;
/// Numbers remembered above the oldest gap of a lane that may lose messages.
const LOSSY_WINDOW: usize = 4096;

/// What one sender's lanes have brought.
#[derive(Debug)]
struct Lanes {
    data: Lane,
    acks: Lane,
    inits: Lane,
    verdicts: Lane,
}

/// A component here, with its queue.
struct Seat {
    host: Box<dyn Host>,
    queue: VecDeque<Envelope>,
    work: Option<Work>,
    frontier: Epoch,
    /// Picks since it was last chosen while it could have been.
    skipped: u32,
    told_closed: Epoch,
    told_held: Option<Epoch>,
}

/// One worker's part of a running topology.
pub struct Worker {
    cx: Shared,
    /// Deepest first.
    seats: Vec<Seat>,
    seat_of: Vec<Option<usize>>,
    acker: Acker,
    lanes: Vec<Lanes>,
    numbers: Vec<[u64; 3]>,
    report_number: u64,
    last_report: Nanos,
    horizon: Epoch,
    end: Epoch,
    opened: bool,
    stopped: bool,
    waker: std::task::Waker,
    verdicts: Vec<VerdictOp>,
    outgoing: Vec<Vec<VerdictOp>>,
    empty_acks: Vec<Vec<super::AckOp>>,
    empty_inits: Vec<Vec<super::InitOp>>,
    empty_verdicts: Vec<Vec<VerdictOp>>,
    empty_changes: Vec<Vec<Change>>,
    next_touch: Nanos,
    repeats: u64,
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
                    data: Lane::lossy(LOSSY_WINDOW),
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

    /// Takes in what has come, or does some work.
    ///
    /// # Errors
    /// What ends the topology: a task that cannot be opened, a spout that fails, a `close` that
    /// panics.
    pub fn step(&mut self, now: Now, input: In, sink: &mut impl Sink) -> Result<Status, RunError> {
        self.cx.now = now;
        let mut ran = true;
        match input {
            In::Batch(envelope) => self.take_batch(envelope, sink),
            In::Message(message) => self.take_message(message, sink),
            In::Word(word) => self.take_word(word)?,
            In::Empty(empty) => self.take_empty(empty),
            In::Wake => self.seats.iter_mut().for_each(|seat| seat.host.wake()),
            In::Run => ran = self.work(sink),
        }
        for letter in self.cx.dead.drain(..) {
            sink.dead_letter(letter);
        }
        if let Some(error) = self.cx.fatal.take() {
            return Err(error);
        }
        let wake_at = if ran { None } else { self.wake_at() };
        let blocked = !self.cx.outbox.is_empty();
        Ok(Status { ran, wake_at, blocked, stopped: self.stopped })
    }

    /// The figures of its tasks, as it ends.
    #[must_use]
    pub fn figures(&mut self) -> WorkerFigures {
        self.acker.measure();
        let mut figures = WorkerFigures {
            edges: self.cx.edges.clone(),
            outbox_peak: self.cx.outbox.peak(),
            acker: self.acker.stats(),
            failed_attempts: self.acker.failed(),
            ..WorkerFigures::default()
        };
        for seat in &mut self.seats {
            seat.host.figures(&self.cx, &mut figures);
        }
        figures
    }

    /// Messages that were dropped as repeats or as of another incarnation.
    #[must_use]
    pub fn repeats(&self) -> u64 {
        self.repeats
    }

    fn take_batch(&mut self, envelope: Envelope, sink: &mut impl Sink) {
        let known = self.seat_of.get(envelope.component as usize).copied().flatten();
        let fresh = envelope.incarnation == self.cx.incarnation
            && self
                .lanes
                .get_mut(envelope.from as usize)
                .is_some_and(|lanes| lanes.data.accept(envelope.number));
        match known {
            Some(seat) if fresh => self.seats[seat].queue.push_back(envelope),
            _ => {
                // Every copy that was counted in is counted out.
                self.repeats += 1;
                if envelope.incarnation == self.cx.incarnation {
                    self.cx.changes.in_flight(envelope.component, envelope.epoch, -1);
                }
                sink.consumed(envelope.component);
            }
        }
    }

    fn take_message(&mut self, message: Message, sink: &mut impl Sink) {
        let from = message.from;
        let fresh = message.incarnation == self.cx.incarnation
            && self.lanes.get_mut(from as usize).is_some_and(|lanes| {
                match &message.body {
                    Body::Inits(_) => &mut lanes.inits,
                    Body::Acks(_) | Body::Fail(_) => &mut lanes.acks,
                    Body::Verdicts(_) => &mut lanes.verdicts,
                }
                .accept(message.number)
            });
        if !fresh {
            self.repeats += 1;
            return;
        }
        let plan = Arc::clone(&self.cx.plan);
        match message.body {
            Body::Inits(mut ops) => {
                for op in ops.drain(..) {
                    self.acker.init(&op, &plan, &mut self.verdicts);
                }
                sink.recycle(from, Empty::Inits(ops));
            }
            Body::Acks(mut ops) => {
                for op in ops.drain(..) {
                    self.acker.apply(&op, &plan, &mut self.verdicts);
                }
                sink.recycle(from, Empty::Acks(ops));
            }
            Body::Fail(op) => self.acker.fail(&op, &plan, &mut self.verdicts),
            Body::Verdicts(mut ops) => {
                for op in ops.drain(..) {
                    self.hear(&op);
                }
                sink.recycle(from, Empty::Verdicts(ops));
            }
        }
        self.pass_on(sink);
    }

    fn take_word(&mut self, word: Word) -> Result<(), RunError> {
        match word {
            Word::Prepare(epoch) => {
                if !self.opened {
                    self.opened = true;
                    for seat in &mut self.seats {
                        seat.host.open(&self.waker)?;
                    }
                }
                self.cx.changes.list.push(Change::Confirmed(epoch));
            }
            Word::Horizon(epoch) => {
                self.horizon = self.horizon.max(epoch);
                self.advance();
            }
            Word::End(epoch) => {
                self.end = self.end.max(epoch.saturating_add(1));
                self.advance();
            }
            Word::Frontier { component, epoch } => {
                if let Some(Some(seat)) = self.seat_of.get(component as usize) {
                    let seat = &mut self.seats[*seat];
                    seat.frontier = seat.frontier.max(epoch);
                }
            }
            Word::Watermark { epoch, mark } => self.cx.watermarks.give(epoch, mark),
            Word::ClosedBelow(epoch) => {
                self.acker.forget_below(epoch);
                self.cx.watermarks.forget_below(epoch);
            }
            Word::Drain => {
                for seat in &mut self.seats {
                    seat.host.drain(&mut self.cx);
                }
            }
            Word::Stop => self.stopped = true,
        }
        Ok(())
    }

    fn advance(&mut self) {
        for seat in &mut self.seats {
            seat.host.advance(self.end, self.horizon, &mut self.cx);
        }
    }

    fn take_empty(&mut self, empty: Empty) {
        const KEEP: usize = 64;
        match empty {
            Empty::Delivery(edge, body) => self.recycle(edge, body),
            Empty::Acks(ops) if self.empty_acks.len() < KEEP => self.empty_acks.push(ops),
            Empty::Inits(ops) if self.empty_inits.len() < KEEP => self.empty_inits.push(ops),
            Empty::Verdicts(ops) if self.empty_verdicts.len() < KEEP => {
                self.empty_verdicts.push(ops);
            }
            Empty::Changes(changes) if self.empty_changes.len() < KEEP => {
                self.empty_changes.push(changes);
            }
            _ => {}
        }
    }

    fn recycle(&mut self, edge: super::EdgeId, body: Box<dyn super::AnyDelivery>) {
        let from = self.cx.plan.edges[edge as usize].from;
        if let Some(seat) = self.seat_of[from as usize] {
            self.seats[seat].host.recycle(edge, body);
        }
    }

    /// One turn of work; whether anything was done.
    fn work(&mut self, sink: &mut impl Sink) -> bool {
        let mut ran = self.cx.outbox.offer(&mut |envelope| sink.offer(envelope));
        ran |= self.keep_time(sink);
        ran |= self.run_one(sink);
        self.seal_lingering();
        ran |= self.cx.outbox.offer(&mut |envelope| sink.offer(envelope));
        self.pass_on(sink);
        if !ran {
            ran = self.rest(sink);
        }
        let now = self.cx.now.mono;
        if !ran || now >= self.last_report + REPORT_EVERY {
            self.report(!ran, sink);
        }
        ran
    }

    /// What time brings: closes, timers, flushes, retries, time-outs, touches.
    fn keep_time(&mut self, sink: &mut impl Sink) -> bool {
        let mut ran = false;
        for seat in &mut self.seats {
            ran |= seat.host.close(seat.frontier, &mut self.cx, sink);
            ran |= seat.host.timers(self.horizon, &mut self.cx, sink);
            ran |= seat.host.flush(oldest(seat), false, &mut self.cx, sink);
            ran |= seat.host.retry(&mut self.cx);
        }
        if self.cx.tracked() {
            let plan = Arc::clone(&self.cx.plan);
            self.acker.advance(self.cx.now.clock, &plan, &mut self.verdicts);
            if self.cx.now.clock >= self.next_touch {
                self.next_touch = self.cx.now.clock + whole(plan.config.timeout) / 4;
                self.touch();
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
    }

    /// Runs the component whose turn it is.
    fn run_one(&mut self, sink: &mut impl Sink) -> bool {
        let Some(at) = self.pick() else { return false };
        let seat = &mut self.seats[at];
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
            seat.host.seal(None, &mut self.cx);
        }
        ran |= self.cx.outbox.offer(&mut |envelope| sink.offer(envelope));
        self.pass_on(sink);
        ran
    }

    /// Delivers acks, inits, fails and verdicts: here at once, elsewhere as messages.
    fn pass_on(&mut self, sink: &mut impl Sink) {
        let me = self.cx.me as usize;
        let plan = Arc::clone(&self.cx.plan);
        for to in 0..self.cx.acks.len() {
            if to == me {
                for op in self.cx.inits[me].drain(..) {
                    self.acker.init(&op, &plan, &mut self.verdicts);
                }
                for op in self.cx.acks[me].drain(..) {
                    self.acker.apply(&op, &plan, &mut self.verdicts);
                }
                continue;
            }
            if !self.cx.inits[to].is_empty() {
                let next = self.empty_inits.pop().unwrap_or_default();
                let ops = std::mem::replace(&mut self.cx.inits[to], next);
                self.send(to, 0, Body::Inits(ops), sink);
            }
            if !self.cx.acks[to].is_empty() {
                let next = self.empty_acks.pop().unwrap_or_default();
                let ops = std::mem::replace(&mut self.cx.acks[to], next);
                self.send(to, 1, Body::Acks(ops), sink);
            }
        }
        while let Some(op) = self.cx.fails.pop() {
            let owner = plan.tables.at(op.epoch).owner(op.track) as usize;
            if owner == me {
                self.acker.fail(&op, &plan, &mut self.verdicts);
            } else {
                self.send(owner, 1, Body::Fail(op), sink);
            }
        }
        while let Some(op) = self.verdicts.pop() {
            let table = plan.tables.at(op.epoch);
            let to = table.workers.get(op.task as usize).copied().unwrap_or(0) as usize;
            if to == me {
                self.hear(&op);
            } else {
                self.outgoing[to].push(op);
            }
        }
        for to in 0..self.outgoing.len() {
            if !self.outgoing[to].is_empty() {
                let next = self.empty_verdicts.pop().unwrap_or_default();
                let ops = std::mem::replace(&mut self.outgoing[to], next);
                self.send(to, 2, Body::Verdicts(ops), sink);
            }
        }
        self.acker.measure();
    }

    fn send(&mut self, to: usize, lane: usize, body: Body, sink: &mut impl Sink) {
        let number = self.numbers[to][lane];
        self.numbers[to][lane] += 1;
        let (from, incarnation) = (self.cx.me, self.cx.incarnation);
        let to = u32::try_from(to).unwrap_or(0);
        sink.send(to, Message { from, number, incarnation, body });
    }

    fn hear(&mut self, op: &VerdictOp) {
        let component = self.cx.plan.component_of(op.task);
        if let Some(Some(seat)) = self.seat_of.get(component as usize) {
            self.seats[*seat].host.verdict(op, &mut self.cx);
        }
    }

    /// Tells the coordinator all changes since the last time, whole.
    fn report(&mut self, urgent: bool, sink: &mut impl Sink) {
        self.last_report = self.cx.now.mono;
        for seat in &mut self.seats {
            let component = seat.host.component();
            let closed = seat.host.closed();
            if closed != seat.told_closed && closed != Epoch::MAX {
                seat.told_closed = closed;
                self.cx.changes.list.push(Change::Closed { component, epoch: closed });
            }
            let held = seat.host.held();
            let epoch = held.map(|(epoch, _)| epoch);
            if epoch != seat.told_held {
                seat.told_held = epoch;
                self.cx.changes.list.push(Change::Held { component, oldest: held });
            }
        }
        if self.cx.changes.list.is_empty() {
            return;
        }
        let next = self.empty_changes.pop().unwrap_or_default();
        let changes = std::mem::replace(&mut self.cx.changes.list, next);
        let number = self.report_number;
        self.report_number += 1;
        let (from, incarnation) = (self.cx.me, self.cx.incarnation);
        sink.report(Report { from, number, incarnation, changes }, urgent);
    }

    /// When there is something to do though nothing arrives.
    fn wake_at(&mut self) -> Option<Nanos> {
        let Now { mono, clock } = self.cx.now;
        let mut first: Option<Nanos> = None;
        let mut at = |time: Nanos| first = Some(first.map_or(time, |first| first.min(time)));
        // The clock of time-outs runs no faster than the monotonic one.
        let on_clock = |time: Nanos| mono.saturating_add(time.saturating_sub(clock).max(100_000));
        for seat in &mut self.seats {
            seat.host.wake_at().into_iter().for_each(&mut at);
            seat.host.retry_at().map(on_clock).into_iter().for_each(&mut at);
        }
        if self.cx.tracked() && self.acker.is_waiting() {
            at(mono + self.acker.pace());
        }
        if self.cx.tracked() && self.seats.iter().any(|seat| !seat.queue.is_empty()) {
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
