//! How far each component has come: input and output frontiers, computed in topological order.

use std::sync::Arc;

use super::epochs::EpochCounts;
use super::{ComponentId, Epoch, Plan, TaskId, WorkerId};

/// What is known of the progress of all components.
#[derive(Debug)]
pub(crate) struct Frontiers {
    plan: Arc<Plan>,
    order: Vec<ComponentId>,
    in_flight: Vec<EpochCounts>,
    /// Least epoch not closed, by component and worker; `Epoch::MAX` where it has no task.
    closed: Vec<Vec<Epoch>>,
    held: Vec<Vec<Option<(Epoch, TaskId)>>>,
    /// The oldest ticket that a flush has left open.
    tickets: Vec<Vec<Option<(Epoch, TaskId)>>>,
    /// Least epoch that each spout task may still stamp.
    stamps: Vec<Epoch>,
    input: Vec<Epoch>,
    output: Vec<Epoch>,
}

impl Frontiers {
    /// Where all epochs below `base` are closed and nothing is under way.
    pub(crate) fn new(plan: &Arc<Plan>, base: Epoch) -> Self {
        let components = plan.components.len();
        let workers = plan.config.workers as usize;
        let mut order: Vec<ComponentId> =
            (0..u32::try_from(components).unwrap_or(u32::MAX)).collect();
        order.sort_by_key(|&c| plan.components[c as usize].rank);
        let mut closed = vec![vec![Epoch::MAX; workers]; components];
        for (task, &worker) in plan.tables.at(0).workers.iter().enumerate() {
            let component = plan.component_of[task] as usize;
            if !plan.components[component].spout {
                closed[component][worker as usize] = base;
            }
        }
        Frontiers {
            plan: Arc::clone(plan),
            order,
            in_flight: vec![EpochCounts::default(); components],
            closed,
            held: vec![vec![None; workers]; components],
            tickets: vec![vec![None; workers]; components],
            stamps: vec![base; plan.component_of.len()],
            input: vec![base; components],
            output: vec![base; components],
        }
    }

    pub(crate) fn in_flight(&mut self, component: ComponentId, epoch: Epoch, delta: i64) {
        self.in_flight[component as usize].add(epoch, delta);
    }

    pub(crate) fn closed(&mut self, component: ComponentId, worker: WorkerId, epoch: Epoch) {
        let closed = &mut self.closed[component as usize][worker as usize];
        if *closed != Epoch::MAX {
            *closed = (*closed).max(epoch);
        }
    }

    pub(crate) fn held(
        &mut self,
        component: ComponentId,
        worker: WorkerId,
        oldest: Option<(Epoch, TaskId)>,
    ) {
        self.held[component as usize][worker as usize] = oldest;
    }

    pub(crate) fn ticket(
        &mut self,
        component: ComponentId,
        worker: WorkerId,
        oldest: Option<(Epoch, TaskId)>,
    ) {
        self.tickets[component as usize][worker as usize] = oldest;
    }

    pub(crate) fn stamps(&mut self, task: TaskId, epoch: Epoch) {
        let stamps = &mut self.stamps[task as usize];
        *stamps = (*stamps).max(epoch);
    }

    /// Computes all frontiers anew; tells each input frontier that moved.
    pub(crate) fn update(&mut self, moved: &mut dyn FnMut(ComponentId, Epoch)) {
        for &component in &self.order {
            let c = component as usize;
            let plan = &self.plan.components[c];
            let input = if plan.spout {
                let tasks = plan.first_task as usize..(plan.first_task + plan.tasks) as usize;
                self.stamps[tasks].iter().copied().min().unwrap_or(0)
            } else {
                // What may still be sent to it, and what is on its way.
                let sent = plan
                    .inputs
                    .iter()
                    .map(|&edge| self.output[self.plan.edges[edge as usize].from as usize]);
                sent.chain(self.in_flight[c].min()).min().unwrap_or(0)
            };
            let held = self.held[c].iter().flatten().map(|&(epoch, _)| epoch);
            let closed = self.closed[c].iter().copied();
            let output = held.chain(closed).fold(input, Epoch::min);
            // Frontiers never fall: a lower figure is a report that is overtaken by another.
            if input > self.input[c] {
                self.input[c] = input;
                if !plan.spout {
                    moved(component, input);
                }
            }
            if output > self.output[c] {
                self.output[c] = output;
            }
        }
    }

    /// Whether a worker has tasks of a bolt.
    pub(crate) fn hosts(&self, component: ComponentId, worker: WorkerId) -> bool {
        self.closed[component as usize][worker as usize] != Epoch::MAX
    }

    /// Every epoch below this one is closed by every worker at every component.
    pub(crate) fn closed_below(&self) -> Epoch {
        self.output.iter().copied().min().unwrap_or(0)
    }

    /// Whether nothing is on its way and nothing is held.
    pub(crate) fn at_rest(&self) -> bool {
        self.in_flight.iter().all(EpochCounts::is_empty)
            && self.held.iter().flatten().all(Option::is_none)
    }

    /// What holds the least epoch, if anything is under way: a ticket of that epoch, else the
    /// deepest component with batches in flight, else a bolt that has not closed, else the oldest
    /// root.
    pub(crate) fn culprit(&self) -> Option<(ComponentId, Option<TaskId>, Epoch, Hold)> {
        let found = self.held_by()?;
        // A ticket counts as its batch, or holds a root's verdict up: it is what others wait for.
        let tickets = self.order.iter().rev().flat_map(|&c| {
            self.tickets[c as usize].iter().flatten().map(move |&(epoch, task)| (epoch, task, c))
        });
        match tickets.min_by_key(|&(epoch, ..)| epoch) {
            Some((epoch, task, c)) if epoch <= found.2 => {
                Some((c, Some(task), epoch, Hold::Ticket))
            }
            _ => Some(found),
        }
    }

    fn held_by(&self) -> Option<(ComponentId, Option<TaskId>, Epoch, Hold)> {
        for &component in self.order.iter().rev() {
            let counts = &self.in_flight[component as usize];
            if let Some(epoch) = counts.min() {
                return Some((component, None, epoch, Hold::Queue { batches: counts.total() }));
            }
        }
        for &component in &self.order {
            let c = component as usize;
            for (worker, &closed) in self.closed[c].iter().enumerate() {
                if closed < self.input[c] {
                    let worker = u32::try_from(worker).unwrap_or(0);
                    return Some((component, None, closed, Hold::NotClosed { worker }));
                }
            }
        }
        self.order
            .iter()
            .flat_map(|&c| self.held[c as usize].iter().flatten().map(move |&(e, t)| (e, t, c)))
            .min()
            .map(|(epoch, task, c)| (c, Some(task), epoch, Hold::OldestRoot))
    }
}

/// What holds up progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hold {
    /// Batches on their way to the component or in its queues.
    Queue {
        /// How many.
        batches: i64,
    },
    /// A worker that could close an epoch of the component and has not.
    NotClosed {
        /// The worker.
        worker: WorkerId,
    },
    /// A worker that has not opened all its tasks yet.
    NotOpened {
        /// The worker.
        worker: WorkerId,
    },
    /// A root that has no verdict: something of it was lost, or waits for its next attempt.
    OldestRoot,
    /// A ticket that a task has kept over a flush: see [`Ticket`](crate::Ticket).
    Ticket,
}
