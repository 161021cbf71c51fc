//! The simulated network between workers: delays, loss, repeats, bounded queues; and its sinks.

use std::collections::{HashMap, HashSet};

use streamwright::core::{
    AckKind, Body, Change, ComponentId, CoordinatorSink, Empty, Envelope, Loss, Message, Nanos,
    Order, Report, Sink, Stall, TaskId, VerdictOp, WorkerId,
};
use streamwright::{Crash, DeadLetter, RunError, Topology, WorkerFigures};

use crate::dice::Dice;
use crate::parts::Log;

/// What arrives at a worker.
pub enum Post {
    Batch(Envelope),
    Lost(Loss),
    Message(Message),
    Word(Order),
    Empty(Empty),
}

pub struct Mail {
    pub at: Nanos,
    lane: (u32, u8),
    seq: u64,
    pub post: Post,
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
    /// What is on its way in a crash arrives in the incarnation after.
    pub stale_mail: u32,
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
    pub copies: u64,
    /// Idle steps that asked to be woken in the past.
    pub spins: u64,
    pub steps: u64,
    /// Steps up to the word to stop.
    pub done: u64,
    pub repeats: u64,
    pub touches: u64,
    pub messages: u64,
    /// The most tuples, and the most bytes, of a batch that was sent.
    pub largest: (usize, usize),
    pub crashes: Vec<Crash>,
    /// Records reported up to each of them.
    pub told: Vec<u64>,
    /// Figures of the workers of incarnations that died.
    pub past: Vec<Vec<WorkerFigures>>,
    /// Verdicts that went from one worker to another: when, and from whom.
    pub verdicts: Vec<(Nanos, WorkerId, VerdictOp)>,
}

/// What lies between the workers.
pub struct Wire {
    pub dice: Dice,
    pub odds: Odds,
    pub now: Nanos,
    pub busy: Nanos,
    pub log: Log,
    queue: usize,
    /// Queues that have room from some time on only.
    pub held: Vec<(u32, u32, Nanos)>,
    pub cost: Box<dyn Fn(TaskId, u64) -> Nanos>,
    pub inbox: Vec<Vec<Mail>>,
    lane_at: HashMap<(u32, u32, u8), Nanos>,
    seq: u64,
    pub taken: Vec<Vec<usize>>,
    refused: Vec<Vec<Vec<u32>>>,
    pub awake: Vec<bool>,
    pub reports: Vec<Vec<(Nanos, Report)>>,
    numbers: Vec<u64>,
    verdicts: HashSet<u64>,
    pub out: Outcome,
}

impl Wire {
    /// In order, without loss, and fast.
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
            stale_mail: 0,
        };
        let out = Outcome {
            figures: Vec::new(),
            letters: Vec::new(),
            stalls: Vec::new(),
            error: None,
            end: 0,
            epochs: 0,
            records: 0,
            copies: 0,
            spins: 0,
            steps: 0,
            done: 0,
            repeats: 0,
            touches: 0,
            messages: 0,
            largest: (0, 0),
            crashes: Vec::new(),
            told: Vec::new(),
            past: Vec::new(),
            verdicts: Vec::new(),
        };
        Wire {
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
            verdicts: HashSet::new(),
            out,
        }
    }

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

    /// All workers are gone, and with them what was on its way; or some of it comes late.
    pub fn crash(&mut self) {
        let Wire { dice, odds, inbox, reports, .. } = self;
        inbox.iter_mut().for_each(|mails| mails.retain(|_| dice.chance(odds.stale_mail)));
        reports.iter_mut().for_each(|all| all.retain(|_| dice.chance(odds.stale_mail)));
        self.taken.iter_mut().flatten().for_each(|taken| *taken = 0);
        for (to, mails) in self.inbox.iter().enumerate() {
            for mail in mails {
                let component = match &mail.post {
                    Post::Batch(envelope) => envelope.component,
                    Post::Lost(loss) => loss.component,
                    _ => continue,
                };
                self.taken[to][component as usize] += 1;
            }
        }
        self.refused.iter_mut().flatten().for_each(Vec::clear);
        self.numbers.iter_mut().for_each(|number| *number = 0);
        self.awake.iter_mut().for_each(|awake| *awake = true);
    }

    /// The place of the next mail that `worker` takes in.
    pub fn next_mail(&mut self, worker: usize) -> Option<usize> {
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
pub struct Hands<'a>(pub &'a mut Wire, pub WorkerId);

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
        let (tuples, bytes) = (envelope.body.len(), envelope.body.size());
        let largest = &mut wire.out.largest;
        *largest = (largest.0.max(tuples), largest.1.max(bytes));
        let mut copied = false;
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
            copied = stale == 0;
            wire.taken[to][c] += 1;
            wire.out.copies += 1;
            let copy = Envelope { body, incarnation, ..envelope };
            wire.post(copy.to, (*me, 0), 0, Post::Batch(copy));
        }
        if wire.dice.chance(wire.odds.lose_batches) {
            // Known lost some time later, unless a copy of it lives.
            if !copied {
                wire.taken[to][c] += 1;
                wire.post(envelope.to, (*me, 5), 0, Post::Lost(Loss::of(&envelope)));
            }
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
                    wire.out.verdicts.push((wire.now, *me, op.clone()));
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
    fn word(&mut self, to: WorkerId, word: Order) {
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
