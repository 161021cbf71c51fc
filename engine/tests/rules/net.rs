//! A deterministic driver: one coordinator and its workers in virtual time, from a seed.
//!
//! Which worker steps next, which message arrives next, what is lost, repeated and overtaken is
//! drawn by lot; a run is a function of the topology and the seed.

use streamwright::core::{ComponentId, Coordinator, In, Nanos, Now, TaskId, Worker, WorkerId};
use streamwright::{RunError, Topology};

use crate::parts::Log;
use crate::wire::{Hands, Post, Wire};
pub use crate::wire::{Odds, Outcome};

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
        let n = plan.config.workers as usize;
        log.window(u64::from(plan.config.window));
        let waker = || std::task::Waker::noop().clone();
        Net {
            workers: (0..plan.config.workers)
                .map(|me| Worker::new(topology, me, INCARNATION, waker()))
                .collect(),
            coordinator: Coordinator::new(topology, INCARNATION),
            wire: Wire::new(topology, seed, log),
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

    /// Runs to the end; a failure of a worker ends it.
    pub fn run(self) -> Outcome {
        self.run_on(None, &[])
    }

    /// Runs to the end through crashes: a failure of a worker starts a new incarnation, and so does
    /// the loss of a worker before a step of that number.
    pub fn run_through(self, topology: &Topology, crashes: &[(u64, WorkerId)]) -> Outcome {
        self.run_on(Some(topology), crashes)
    }

    fn run_on(mut self, topology: Option<&Topology>, crashes: &[(u64, WorkerId)]) -> Outcome {
        self.coordinator.start(0, &mut self.wire);
        while !self.stopped.iter().all(|&stopped| stopped) {
            let step = self.wire.out.steps;
            self.wire.out.steps += 1;
            // A worker lost after the end of all work is no crash of the topology.
            let finished = self.coordinator.finished();
            self.wire.out.done += u64::from(!finished);
            let lost = crashes.iter().find(|&&(at, _)| at == step && !finished);
            if let Some(&(_, worker)) = lost {
                let cause = RunError::Crashed { worker, message: "a crash of the test".to_owned() };
                if !self.crash(topology, cause) {
                    break;
                }
            }
            assert!(self.wire.out.steps < 20_000_000, "a livelock at {}", self.wire.now);
            let n = self.workers.len();
            let able: Vec<usize> = (0..=n).filter(|&i| self.able(i)).collect();
            if able.is_empty() {
                self.pass_time();
            } else {
                let i = able[self.wire.dice.below(able.len() as u64) as usize];
                if i == n {
                    self.coordinate();
                } else if let Err(error) = self.work(i)
                    && !self.crash(topology, error)
                {
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
        out.crashes = coordinator.crashes().to_vec();
        out.repeats = workers.iter().map(Worker::repeats).sum();
        out.figures = workers.iter_mut().map(Worker::figures).collect();
        wire.log.sound();
        out
    }

    /// Starts a new incarnation; `false` where the run ends.
    fn crash(&mut self, topology: Option<&Topology>, cause: RunError) -> bool {
        let now = self.wire.now;
        self.wire.out.told.push(self.coordinator.records());
        let resume = topology.ok_or(cause.clone()).and_then(|topology| {
            self.coordinator.restart(now, cause).map(|resume| (topology, resume))
        });
        let (topology, resume) = match resume {
            Ok(resume) => resume,
            Err(error) => {
                self.wire.out.error = Some(error);
                return false;
            }
        };
        let resume = std::sync::Arc::new(resume);
        let waker = || std::task::Waker::noop().clone();
        let workers = 0..topology.plan().config.workers;
        let new = workers.map(|me| Worker::resume(topology, me, waker(), &resume)).collect();
        let mut old = std::mem::replace(&mut self.workers, new);
        self.wire.out.past.push(old.iter_mut().map(Worker::figures).collect());
        old.into_iter().for_each(Worker::dismantle);
        self.wire.crash();
        self.wire.log.crash(resume.epoch);
        self.busy_until.fill(now);
        self.wake_at.fill(Nanos::MAX);
        self.stopped.fill(false);
        self.tick_at = now;
        self.coordinator.start(now, &mut self.wire);
        true
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
        next = reports.fold(next, Nanos::min);
        for i in 0..self.workers.len() {
            if self.stopped[i] {
                continue;
            }
            let mail = self.wire.inbox[i].iter().map(|mail| mail.at).min();
            let woken = self.wakes.iter().filter(|w| w.1 as usize == i).map(|&(at, _)| at);
            let mut at = woken.chain(mail).fold(self.wake_at[i], Nanos::min);
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
                Post::Lost(loss) => In::Lost(loss),
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
        Ok(())
    }
}
