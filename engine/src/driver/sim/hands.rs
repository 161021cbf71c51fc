//! What a worker and the coordinator can do in the simulated world.

use super::letters::Letters;
use super::net::Net;
use super::node::{CostNanos, scaled};
use super::post::{COORDINATOR, Count, Post, Slot};
use super::windows::ONE;
use crate::core::{
    Body, Change, ComponentId, CoordinatorSink, Empty, Envelope, Message, Nanos, Order, Plan,
    Report, Sink, TaskId, WorkerId,
};
use crate::driver::SLICE;
use crate::report::DeadLetter;
use std::sync::Arc;

/// Used-up memory that waits for its owner at most.
const EMPTIES: usize = 256;

/// The step under way, and what it needs of the run.
#[derive(Debug)]
pub(super) struct Desk {
    pub(super) plan: Arc<Plan>,
    pub(super) costs: Vec<CostNanos>,
    /// Used-up memory on its way back, by seat. It takes no time.
    pub(super) empties: Vec<Vec<Empty>>,
    pub(super) letters: Letters,
    /// Longest calls over the limit, by task.
    pub(super) overruns: Vec<(TaskId, Nanos)>,
    pub(super) overrun: Nanos,
    pub(super) me: Slot,
    /// What the step has cost so far.
    pub(super) spent: Nanos,
    /// When the step has had its share.
    pub(super) late_at: Nanos,
    pub(super) slowness: u64,
    /// The cost of a tuple of the task that was entered.
    tuple: Nanos,
    /// Bytes of the batch that is being taken in.
    pub(super) taking: Option<u64>,
    /// Places to free as the step ends: component, bytes.
    pub(super) frees: Vec<(ComponentId, u64)>,
}

impl Desk {
    pub(super) fn new(plan: &Arc<Plan>, costs: Vec<CostNanos>, letters: Letters) -> Self {
        Desk {
            plan: Arc::clone(plan),
            costs,
            empties: (0..plan.config.workers).map(|_| Vec::new()).collect(),
            letters,
            overruns: Vec::new(),
            overrun: crate::config::whole(plan.config.overrun),
            me: 0,
            spent: 0,
            late_at: Nanos::MAX,
            slowness: ONE,
            tuple: 0,
            taking: None,
            frees: Vec::new(),
        }
    }

    /// A step of `me` begins, on a node that slow.
    pub(super) fn begin(&mut self, me: Slot, slowness: u64) {
        self.me = me;
        self.slowness = slowness;
        self.spent = 0;
        self.late_at = Nanos::MAX;
    }

    /// The step takes this much longer, as of speed 1.
    pub(super) fn spend(&mut self, cost: Nanos) -> Nanos {
        let cost = scaled(cost, self.slowness);
        self.spent = self.spent.saturating_add(cost);
        cost
    }

    /// The work of the step begins: it has so long.
    pub(super) fn run(&mut self) {
        self.late_at = self.spent.saturating_add(SLICE);
    }

    fn cost(&self, task: TaskId) -> CostNanos {
        let component = self.plan.component_of(task) as usize;
        self.costs.get(component).copied().unwrap_or_default()
    }

    fn give_back(&mut self, to: Slot, empty: Empty) {
        if let Some(list) = self.empties.get_mut(to as usize)
            && list.len() < EMPTIES
        {
            list.push(empty);
        }
    }
}

/// One worker's hands.
pub(super) struct Hands<'a> {
    pub(super) desk: &'a mut Desk,
    pub(super) net: &'a mut Net,
}

impl Hands<'_> {
    fn leave(&self) -> Nanos {
        self.net.now.saturating_add(self.desk.spent)
    }
}

impl Sink for Hands<'_> {
    fn offer(&mut self, envelope: Envelope) -> Result<(), Envelope> {
        let (from, to) = (self.desk.me, self.net.address(envelope.incarnation, envelope.to));
        // A seat's next life has no places for the one before: that will be dropped. Workers that were
        // given up have theirs among themselves.
        let mut count = Count::Extra;
        if envelope.incarnation == self.net.lives[to as usize] {
            let later = self.net.way(to, from);
            let (at, now) = ((to, envelope.component), self.leave());
            if let Err(known) = self.net.queues.take(at, (from, later), now) {
                if let Some(known) = known {
                    self.net.room(from, known);
                }
                return Err(envelope);
            }
            count = Count::Full;
        }
        let sender = self.desk.plan.edges[envelope.edge as usize].from;
        let leave = self.leave();
        self.net.batch((envelope, count), (from, to), sender, leave);
        Ok(())
    }

    fn send(&mut self, to: WorkerId, message: Message) {
        if let Body::Verdicts(ops) = &message.body {
            for op in ops {
                let outcome = u64::from(op.failed.is_some());
                self.net.trace.words(&[op.track.get(), op.epoch << 1 | outcome]);
            }
        }
        let to = self.net.address(message.incarnation, to);
        let leave = self.leave();
        self.net.message(self.desk.me, to, Post::Message(message), leave);
    }

    fn report(&mut self, report: Report, _: bool) {
        let leave = self.leave();
        self.net.message(self.desk.me, COORDINATOR, Post::Report(report), leave);
    }

    fn recycle(&mut self, to: WorkerId, empty: Empty) {
        let to = self.net.address(self.net.incarnation, to);
        self.desk.give_back(to, empty);
    }

    fn consumed(&mut self, component: ComponentId) {
        // A repeat or a loss goes as it is taken in; what waited is done in order.
        let bytes = match self.desk.taking.take() {
            Some(bytes) => bytes,
            None => self.net.queues.oldest(self.desk.me, component),
        };
        self.desk.frees.push((component, bytes));
    }

    fn dead_letter(&mut self, letter: DeadLetter) {
        let (task, epoch) = (u64::from(letter.task), letter.epoch);
        self.net.trace.words(&[task, epoch, u64::from(letter.attempts)]);
        self.desk.letters.take(letter);
    }

    fn enter(&mut self, task: TaskId) {
        self.desk.tuple = self.desk.cost(task).tuple;
    }

    fn late(&mut self, done: u64) -> bool {
        let under_way = scaled(self.desk.tuple.saturating_mul(done), self.desk.slowness);
        self.desk.spent.saturating_add(under_way) >= self.desk.late_at
    }

    fn lap(&mut self, task: TaskId, tuples: u64) -> Nanos {
        let cost = self.desk.cost(task).lap(tuples);
        let cost = self.desk.spend(cost);
        if cost > self.desk.overrun {
            match self.desk.overruns.iter_mut().find(|(of, _)| *of == task) {
                Some((_, longest)) => *longest = (*longest).max(cost),
                None => self.desk.overruns.push((task, cost)),
            }
        }
        cost
    }
}

/// The coordinator's hands.
pub(super) struct Office<'a> {
    pub(super) desk: &'a mut Desk,
    pub(super) net: &'a mut Net,
}

impl CoordinatorSink for Office<'_> {
    fn word(&mut self, to: WorkerId, order: Order) {
        let to = self.net.address(order.incarnation, to);
        let now = self.net.now;
        self.net.message(COORDINATOR, to, Post::Word(order), now);
    }

    fn recycle(&mut self, to: WorkerId, changes: Vec<Change>) {
        let to = self.net.address(self.net.incarnation, to);
        self.desk.give_back(to, Empty::Changes(changes));
    }
}
