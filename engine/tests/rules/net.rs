//! A deterministic driver: one coordinator and its workers in virtual time, from a seed.
//!
//! Which worker steps next, which message arrives next, what is lost, repeated and overtaken is
//! drawn by lot; a run is a function of the topology and the seed.

use std::collections::{HashMap, HashSet};

use streamwright::core::{
    AckKind, Body, Change, ComponentId, Coordinator, CoordinatorSink, Empty, Envelope, In, Message,
    Nanos, Now, Report, Sink, Stall, TaskId, Word, Worker, WorkerId,
};
use streamwright::{DeadLetter, RunError, Topology, WorkerFigures};

use crate::dice::Dice;
use crate::parts::Log;

/// What arrives at a worker.
enum Post {
    Batch(Envelope),
    Message(Message),
    Word(Word),
    Empty(Empty),
}

struct Mail {
    at: Nanos,
    lane: (u32, u8),
    seq: u64,
    post: Post,
}

/// What the network does; chances in a million.
#[derive(Clone, Debug)]
pub struct Odds {
    /// Longest way of a message.
    pub delay: Nanos,
    /// Messages of one lane overtake each other, reports included.
    pub reorder: bool,
    pub lose_tuples: u32,
    pub lose_batches: u32,
    pub repeat_batches: u32,
    pub lose_acks: u32,
    /// Messages, words and reports come twice.
    pub repeat_messages: u32,
    /// Copies come as of the incarnation before, and are not counted.
    pub stale_copies: bool,
    /// Extra way of inits.
    pub late_inits: Nanos,
}

/// How a run went.
pub struct Outcome {
    pub figures: Vec<WorkerFigures>,
    pub letters: Vec<(Nanos, DeadLetter)>,
    pub stalls: Vec<Stall>,
    pub error: Option<RunError>,
    pub end: Nanos,
    pub epochs: u64,
    pub records: u64,
    /// Tuples in lost batches, by edge.
    pub lost: Vec<u64>,
    pub copies: u64,
    /// Idle steps that asked to be woken in the past.
    pub spins: u64,
    pub steps: u64,
    pub repeats: u64,
    pub touches: u64,
    pub messages: u64,
}

/// What lies between the workers.
struct Wire {
    dice: Dice,
    odds: Odds,
    now: Nanos,
    busy: Nanos,
    log: Log,
    queue: usize,
    /// Queues that have room from some time on only.
    held: Vec<(u32, u32, Nanos)>,
    cost: Box<dyn Fn(TaskId, u64) -> Nanos>,
    inbox: Vec<Vec<Mail>>,
    lane_at: HashMap<(u32, u32, u8), Nanos>,
    seq: u64,
    taken: Vec<Vec<usize>>,
    refused: Vec<Vec<Vec<u32>>>,
    awake: Vec<bool>,
    reports: Vec<Vec<(Nanos, Report)>>,
    numbers: Vec<u64>,
    injected: bool,
    verdicts: HashSet<u64>,
    out: Outcome,
}

impl Wire {
    fn post(&mut self, to: WorkerId, lane: (u32, u8), extra: Nanos, post: Post) {
        let mut at = self.now + self.busy + extra + self.dice.below(self.odds.delay + 1);
        if !self.odds.reorder {
            let last = self.lane_at.entry((to, lane.0, lane.1)).or_default();
            at = at.max(*last);
            *last = at;
        }
        self.seq += 1;
        let seq = self.seq;
        self.inbox[to as usize].push(Mail { at, lane, seq, post });
    }

    /// Tells the coordinator of what the network did to a batch of `from`, before all else.
    fn inject(&mut self, from: WorkerId, incarnation: u64, change: Change) {
        let number = self.numbers[from as usize];
        self.numbers[from as usize] += 1;
        let report = Report { from, number, incarnation, changes: vec![change] };
        self.reports[from as usize].push((self.now, report));
        self.injected = true;
    }

    /// The place of the next mail that `worker` takes in.
    fn next_mail(&mut self, worker: usize) -> Option<usize> {
        let now = self.now;
        let arrived: Vec<usize> =
            (0..self.inbox[worker].len()).filter(|&i| self.inbox[worker][i].at <= now).collect();
        let pick = *arrived.get(self.dice.below(arrived.len().max(1) as u64) as usize)?;
        if self.odds.reorder {
            return Some(pick);
        }
        let lane = self.inbox[worker][pick].lane;
        arrived
            .into_iter()
            .filter(|&i| self.inbox[worker][i].lane == lane)
            .min_by_key(|&i| self.inbox[worker][i].seq)
    }
}

/// One worker's hands.
struct Hands<'a>(&'a mut Wire, WorkerId);

impl Sink for Hands<'_> {
    fn offer(&mut self, mut envelope: Envelope) -> Result<(), Envelope> {
        let Hands(wire, me) = self;
        let (to, c) = (envelope.to as usize, envelope.component as usize);
        let held = |&(w, of, until): &(u32, u32, Nanos)| {
            w as usize == to && of as usize == c && wire.now < until
        };
        if wire.taken[to][c] >= wire.queue || wire.held.iter().any(held) {
            wire.refused[to][c].push(*me);
            return Err(envelope);
        }
        let (component, epoch) = (envelope.component, envelope.epoch);
        let change = |delta| Change::InFlight { component, epoch, delta };
        let ppm = wire.odds.lose_tuples;
        if ppm > 0 {
            let dice = &mut wire.dice;
            envelope.body.lose(&mut || (0..100_000).take_while(|_| !dice.chance(ppm)).count());
        }
        if wire.dice.chance(wire.odds.repeat_batches)
            && let Some(body) = envelope.body.repeat()
        {
            let stale = u64::from(wire.odds.stale_copies);
            let incarnation = envelope.incarnation - stale;
            if stale == 0 {
                wire.inject(*me, incarnation, change(1));
            }
            wire.taken[to][c] += 1;
            wire.out.copies += 1;
            let copy = Envelope { body, incarnation, ..envelope };
            wire.post(copy.to, (*me, 0), 0, Post::Batch(copy));
        }
        if wire.dice.chance(wire.odds.lose_batches) {
            wire.out.lost[envelope.edge as usize] += envelope.body.len() as u64;
            wire.inject(*me, envelope.incarnation, change(-1));
            return Ok(());
        }
        wire.taken[to][c] += 1;
        wire.post(envelope.to, (*me, 0), 0, Post::Batch(envelope));
        Ok(())
    }

    fn send(&mut self, to: WorkerId, message: Message) {
        let Hands(wire, me) = self;
        wire.out.messages += 1;
        let (kind, extra) = match &message.body {
            Body::Inits(_) => (1, wire.odds.late_inits),
            Body::Acks(ops) => {
                let touch = |op: &&streamwright::core::AckOp| matches!(op.kind, AckKind::Touch(_));
                wire.out.touches += ops.iter().filter(touch).count() as u64;
                (2, 0)
            }
            Body::Fail(_) => (2, 0),
            Body::Verdicts(ops) => {
                for op in ops {
                    let first = wire.verdicts.insert(op.track.get());
                    assert!(first, "two verdicts for one attempt");
                }
                (3, 0)
            }
        };
        if kind == 2 && wire.dice.chance(wire.odds.lose_acks) {
            return;
        }
        if wire.dice.chance(wire.odds.repeat_messages) {
            let body = match &message.body {
                Body::Inits(ops) => Body::Inits(ops.clone()),
                Body::Acks(ops) => Body::Acks(ops.clone()),
                Body::Fail(op) => Body::Fail(op.clone()),
                Body::Verdicts(ops) => Body::Verdicts(ops.clone()),
            };
            wire.post(to, (*me, kind), extra, Post::Message(Message { body, ..message }));
        }
        wire.post(to, (*me, kind), extra, Post::Message(message));
    }

    fn report(&mut self, mut report: Report, _: bool) {
        let Hands(wire, me) = self;
        let me = *me as usize;
        report.number = wire.numbers[me];
        wire.numbers[me] += 1;
        let mut at = wire.now + wire.busy + wire.dice.below(wire.odds.delay + 1);
        if !wire.odds.reorder {
            at = at.max(wire.reports[me].last().map_or(0, |&(last, _)| last));
        }
        if wire.dice.chance(wire.odds.repeat_messages) {
            let changes = report.changes.clone();
            wire.reports[me].push((at, Report { changes, ..report }));
        }
        wire.reports[me].push((at, report));
    }

    fn recycle(&mut self, to: WorkerId, empty: Empty) {
        if self.0.dice.chance(500_000) {
            self.0.post(to, (self.1, 5), 0, Post::Empty(empty));
        }
    }

    fn consumed(&mut self, component: ComponentId) {
        let Hands(wire, me) = self;
        let (me, c) = (*me as usize, component as usize);
        wire.taken[me][c] = wire.taken[me][c].checked_sub(1).expect("a place was freed twice");
        for sender in std::mem::take(&mut wire.refused[me][c]) {
            wire.awake[sender as usize] = true;
        }
    }

    fn dead_letter(&mut self, letter: DeadLetter) {
        self.0.out.letters.push((self.0.now, letter));
    }

    fn enter(&mut self, _: TaskId) {}

    fn lap(&mut self, task: TaskId, tuples: u64) -> Nanos {
        let cost = (self.0.cost)(task, tuples) + self.0.log.take_spent();
        self.0.busy += cost;
        cost
    }
}

impl CoordinatorSink for Wire {
    fn word(&mut self, to: WorkerId, word: Word) {
        self.busy = 0;
        if self.dice.chance(self.odds.repeat_messages) {
            self.post(to, (u32::MAX, 4), 0, Post::Word(word));
        }
        self.post(to, (u32::MAX, 4), 0, Post::Word(word));
    }

    fn recycle(&mut self, to: WorkerId, changes: Vec<Change>) {
        self.post(to, (u32::MAX, 5), 0, Post::Empty(Empty::Changes(changes)));
    }
}

/// A topology on a simulated network.
pub struct Net {
    workers: Vec<Worker>,
    coordinator: Coordinator,
    wire: Wire,
    busy_until: Vec<Nanos>,
    wake_at: Vec<Nanos>,
    stopped: Vec<bool>,
    tick_at: Nanos,
    /// Least time a step takes.
    pub step: Nanos,
    /// Spout threads that wake a worker.
    pub wakes: Vec<(Nanos, WorkerId)>,
    /// When the topology is told to drain.
    pub drain_at: Option<Nanos>,
    /// The clock of time-outs at a monotonic time.
    pub clock: Box<dyn Fn(Nanos) -> Nanos>,
    /// Workers take in all that has arrived before they work, as threads do.
    pub prompt: bool,
    /// A run longer than this is a failure.
    pub patience: Nanos,
}

pub const MS: Nanos = 1_000_000;
pub const SEC: Nanos = 1_000_000_000;
const INCARNATION: u64 = 7;

impl Net {
    /// In order, without loss, and as fast as light.
    pub fn new(topology: &Topology, seed: u64, log: &Log) -> Self {
        let plan = topology.plan();
        let (n, components) = (plan.config.workers as usize, plan.components.len());
        let odds = Odds {
            delay: 100_000,
            reorder: false,
            lose_tuples: 0,
            lose_batches: 0,
            repeat_batches: 0,
            lose_acks: 0,
            repeat_messages: 0,
            stale_copies: false,
            late_inits: 0,
        };
        let out = Outcome {
            figures: Vec::new(),
            letters: Vec::new(),
            stalls: Vec::new(),
            error: None,
            end: 0,
            epochs: 0,
            records: 0,
            lost: vec![0; plan.edges.len()],
            copies: 0,
            spins: 0,
            steps: 0,
            repeats: 0,
            touches: 0,
            messages: 0,
        };
        log.window(u64::from(plan.config.window));
        let waker = || std::task::Waker::noop().clone();
        Net {
            workers: (0..plan.config.workers)
                .map(|me| Worker::new(topology, me, INCARNATION, waker()))
                .collect(),
            coordinator: Coordinator::new(topology, INCARNATION),
            wire: Wire {
                dice: Dice::new(seed),
                odds,
                now: 0,
                busy: 0,
                log: log.clone(),
                queue: plan.config.queue,
                held: Vec::new(),
                cost: Box::new(|_, tuples| 1_000 * tuples),
                inbox: (0..n).map(|_| Vec::new()).collect(),
                lane_at: HashMap::new(),
                seq: 0,
                taken: vec![vec![0; components]; n],
                refused: vec![vec![Vec::new(); components]; n],
                awake: vec![true; n],
                reports: (0..n).map(|_| Vec::new()).collect(),
                numbers: vec![0; n],
                injected: false,
                verdicts: HashSet::new(),
                out,
            },
            busy_until: vec![0; n],
            wake_at: vec![Nanos::MAX; n],
            stopped: vec![false; n],
            tick_at: 0,
            step: 1_000,
            wakes: Vec::new(),
            drain_at: None,
            clock: Box::new(|mono| mono),
            prompt: false,
            patience: 600 * SEC,
        }
    }

    pub fn odds(&mut self) -> &mut Odds {
        &mut self.wire.odds
    }

    /// What a task's work on so many tuples costs.
    pub fn cost(&mut self, cost: impl Fn(TaskId, u64) -> Nanos + 'static) {
        self.wire.cost = Box::new(cost);
    }

    /// No room in the queue of a worker and component before `until`.
    pub fn hold_places(&mut self, worker: WorkerId, component: ComponentId, until: Nanos) {
        self.wire.held.push((worker, component, until));
        for sender in 0..self.workers.len() as u32 {
            self.wakes.push((until, sender));
        }
    }

    /// Runs to the end.
    pub fn run(mut self) -> Outcome {
        self.coordinator.start(0, &mut self.wire);
        while !self.stopped.iter().all(|&stopped| stopped) {
            self.wire.out.steps += 1;
            assert!(self.wire.out.steps < 20_000_000, "a livelock at {}", self.wire.now);
            let n = self.workers.len();
            let able: Vec<usize> = (0..=n).filter(|&i| self.able(i)).collect();
            if able.is_empty() {
                self.pass_time();
            } else {
                let i = able[self.wire.dice.below(able.len() as u64) as usize];
                if i == n {
                    self.coordinate();
                } else if let Err(error) = self.work(i) {
                    self.wire.out.error = Some(error);
                    break;
                }
            }
        }
        let Net { mut workers, coordinator, wire, .. } = self;
        let mut out = wire.out;
        if out.error.is_none() {
            let left: usize = wire.taken.iter().flatten().sum();
            assert_eq!(left, 0, "batches left in queues at the end");
        }
        out.end = wire.now;
        out.epochs = coordinator.closed();
        out.records = coordinator.records();
        out.repeats = workers.iter().map(Worker::repeats).sum();
        out.figures = workers.iter_mut().map(Worker::figures).collect();
        wire.log.sound();
        out
    }

    fn able(&self, i: usize) -> bool {
        let now = self.wire.now;
        if i == self.workers.len() {
            return self.tick_at <= now
                || self.drain_at.is_some_and(|at| at <= now)
                || self.wire.reports.iter().flatten().any(|&(at, _)| at <= now);
        }
        !self.stopped[i]
            && self.busy_until[i] <= now
            && (self.wire.awake[i]
                || self.wake_at[i] <= now
                || self.wakes.iter().any(|&(at, w)| at <= now && w as usize == i)
                || self.wire.inbox[i].iter().any(|mail| mail.at <= now))
    }

    fn pass_time(&mut self) {
        let now = self.wire.now;
        let mut next = self.drain_at.unwrap_or(Nanos::MAX).min(self.tick_at);
        let reports = self.wire.reports.iter().flatten().map(|&(at, _)| at);
        next = reports.chain(self.wakes.iter().map(|&(at, _)| at)).fold(next, Nanos::min);
        for i in 0..self.workers.len() {
            if self.stopped[i] {
                continue;
            }
            let mail = self.wire.inbox[i].iter().map(|mail| mail.at).min();
            let mut at = self.wake_at[i].min(mail.unwrap_or(Nanos::MAX));
            if self.wire.awake[i] {
                at = 0;
            }
            next = next.min(at.max(self.busy_until[i]));
        }
        assert!(next != Nanos::MAX, "a deadlock at {now}: {:?}", self.workers);
        assert!(next <= self.patience, "no end by {next}: {:?}", self.coordinator);
        assert!(next > now, "time stands still at {now}");
        self.wire.now = next;
    }

    fn coordinate(&mut self) {
        let now = self.wire.now;
        if self.drain_at.is_some_and(|at| at <= now) {
            self.drain_at = None;
            self.coordinator.drain(&mut self.wire);
        }
        for w in 0..self.workers.len() {
            loop {
                let arrived: Vec<usize> = (0..self.wire.reports[w].len())
                    .filter(|&i| self.wire.reports[w][i].0 <= now)
                    .collect();
                if arrived.is_empty() {
                    break;
                }
                let pick = self.wire.dice.below(arrived.len() as u64) as usize;
                let i = arrived[if self.wire.odds.reorder { pick } else { 0 }];
                let (_, report) = self.wire.reports[w].remove(i);
                self.coordinator.report(now, report, &mut self.wire);
            }
        }
        self.tick_at = self.coordinator.tick(now, &mut self.wire);
        assert!(self.tick_at > now);
        self.wire.out.stalls.extend(self.coordinator.take_stalls());
        self.wire.log.closed_everywhere(self.coordinator.closed());
    }

    fn work(&mut self, i: usize) -> Result<(), RunError> {
        let me = u32::try_from(i).unwrap();
        let mono = self.wire.now;
        let now = Now { mono, clock: (self.clock)(mono) };
        self.wire.busy = 0;
        self.wire.awake[i] = false;
        let due = |&(at, w): &(Nanos, u32)| at <= mono && w == me;
        let mut inputs = Vec::new();
        if self.wakes.iter().any(due) {
            self.wakes.retain(|wake| !due(wake));
            inputs.push(In::Wake);
        }
        let all = self.prompt || self.wire.dice.chance(500_000);
        while let Some(at) = self.wire.next_mail(i) {
            inputs.push(match self.wire.inbox[i].swap_remove(at).post {
                Post::Batch(envelope) => In::Batch(envelope),
                Post::Message(message) => In::Message(message),
                Post::Word(word) => In::Word(word),
                Post::Empty(empty) => In::Empty(empty),
            });
            if !all {
                break;
            }
        }
        inputs.push(In::Run);
        for input in inputs {
            let status = self.workers[i].step(now, input, &mut Hands(&mut self.wire, me))?;
            self.stopped[i] |= status.stopped;
            self.wire.awake[i] |= status.ran;
            let at = status.wake_at.unwrap_or(Nanos::MAX);
            self.wire.out.spins += u64::from(!status.ran && at <= mono);
            self.wake_at[i] = at.max(mono + 1);
        }
        self.busy_until[i] = mono + self.step + self.wire.busy;
        if std::mem::take(&mut self.wire.injected) {
            let mut reports = std::mem::take(&mut self.wire.reports[i]);
            reports.sort_by_key(|(_, report)| report.number);
            for (_, report) in reports {
                self.coordinator.report(mono, report, &mut self.wire);
            }
            self.wire.log.closed_everywhere(self.coordinator.closed());
        }
        Ok(())
    }
}
