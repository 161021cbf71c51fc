//! What is fixed before a run: components, edges, and the tables that say where tasks are.

use std::sync::Arc;

use acker::Ring;

use super::{ComponentId, EdgeId, Epoch, Nanos, TaskId, WorkerId};
use crate::config::{Config, MAX_SLOT_BITS, whole};

/// One component.
#[derive(Clone, Debug)]
pub struct ComponentPlan {
    /// Its name, for people.
    pub name: String,
    /// Whether it is a spout.
    pub spout: bool,
    /// Whether it keeps state that exactly once is to keep exact: keyed, or declared so.
    pub stateful: bool,
    /// Whether each of its tasks has a worker of its own, for calls that block.
    pub dedicated: bool,
    /// Its tasks.
    pub tasks: u32,
    /// The number of its task 0 within the topology.
    pub first_task: TaskId,
    /// Its place in a topological order: sources first.
    pub rank: u32,
    /// Edges into it.
    pub inputs: Vec<EdgeId>,
    /// Edges out of it.
    pub outputs: Vec<EdgeId>,
}

/// One stream into one component.
#[derive(Clone, Debug)]
pub struct EdgePlan {
    /// The component whose stream it is.
    pub from: ComponentId,
    /// Which of its streams.
    pub stream: u32,
    /// The component that takes it in.
    pub to: ComponentId,
    /// Which of that component's inputs it is.
    pub input: u32,
    /// The grouping's name.
    pub grouping: &'static str,
}

/// Where everything is, from some epoch on.
#[derive(Clone, Debug)]
pub struct Table {
    /// Tables of one version have every task at the same place: they differ in the ring alone.
    pub version: usize,
    /// The worker of each task.
    pub workers: Arc<[WorkerId]>,
    /// Each task's number among the tasks of its component on its worker.
    pub local: Arc<[u32]>,
    /// The ring of ackers; member `i` lives on worker `i`.
    pub ring: Ring,
    /// Ackers on the ring.
    pub ackers: u32,
}

impl Table {
    /// The worker that tracks a root.
    #[must_use]
    pub fn owner(&self, track: acker::RootId) -> WorkerId {
        // A ring of one is that of member 0: the highest come last and go first.
        if self.ackers <= 1 { 0 } else { self.ring.owner(track).unwrap_or(0) }
    }

    /// The same with so many ackers, of which the highest come last and go first: no root moves
    /// between two that stay.
    fn with_ackers(&self, ackers: u32) -> Self {
        let mut next = Table { ackers, ..self.clone() };
        // It cannot fail: member i is on the ring if and only if i is below `ackers`. If it did, then
        // the ring made anew would be the same one.
        if resize(&mut next.ring, self.ackers, ackers).is_err() {
            next.ring = Ring::with_members(ackers, Ring::DEFAULT_POINTS);
        }
        next
    }
}

/// Lets members come and go until they are those below `to`.
fn resize(ring: &mut Ring, from: u32, to: u32) -> Result<(), acker::Error> {
    for member in from..to {
        ring.add(member)?;
    }
    for member in (to..from).rev() {
        ring.remove(member)?;
    }
    Ok(())
}

/// Tables by epoch: a pure function of it.
#[derive(Clone, Debug)]
pub struct Tables {
    from: Vec<(Epoch, Table)>,
}

impl Tables {
    /// One table for all epochs.
    #[must_use]
    pub fn fixed(table: Table) -> Self {
        Tables { from: vec![(0, table)] }
    }

    /// The same tables, and after the last of them from each of these epochs on one of so many ackers.
    #[must_use]
    fn with_ackers(mut self, changes: &[(Epoch, u32)]) -> Self {
        for &(epoch, ackers) in changes {
            let Some((_, last)) = self.from.last() else { break };
            let next = last.with_ackers(ackers);
            self.from.push((epoch, next));
        }
        self
    }

    /// The table in force at `epoch`. O(1) where there is one, else O(log n) for n of them.
    #[must_use]
    pub fn at(&self, epoch: Epoch) -> &Table {
        if self.from.len() == 1 {
            return &self.from[0].1;
        }
        let after = self.from.partition_point(|(from, _)| *from <= epoch);
        &self.from[after.saturating_sub(1)].1
    }
}

/// A whole topology, ready to run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Components, in the order of declaration.
    pub components: Vec<ComponentPlan>,
    /// Edges, in the order of declaration.
    pub edges: Vec<EdgePlan>,
    /// Component of each task.
    pub component_of: Vec<ComponentId>,
    /// Where tasks and ackers are.
    pub tables: Tables,
    /// The node of each worker.
    pub nodes: Vec<u32>,
    /// Workers that tasks share, and all ackers are on: as many as were configured. Those beyond
    /// have one task each, of a dedicated component.
    pub shared: u32,
    /// The settings in force; its `workers` are all there are.
    pub config: Config,
}

impl Plan {
    /// The component of a task; the first one where there is no such task.
    #[must_use]
    pub fn component_of(&self, task: TaskId) -> ComponentId {
        self.component_of.get(task as usize).copied().unwrap_or(0)
    }

    /// Slot bits of a component's keyed inputs: as configured, or enough for a spread within a
    /// few percent over its tasks.
    #[must_use]
    pub fn slot_bits(&self, component: ComponentId) -> u32 {
        self.config.slot_bits.unwrap_or_else(|| {
            let tasks = self.components[component as usize].tasks.max(1);
            (tasks.next_power_of_two().ilog2() + 7).clamp(12, MAX_SLOT_BITS)
        })
    }

    /// The tasks of `component` on `worker` at `epoch`.
    pub fn hosted(
        &self,
        component: ComponentId,
        worker: WorkerId,
        epoch: Epoch,
    ) -> impl Iterator<Item = TaskId> + '_ {
        let plan = &self.components[component as usize];
        let table = self.tables.at(epoch);
        (plan.first_task..plan.first_task + plan.tasks)
            .filter(move |&task| table.workers[task as usize] == worker)
    }

    /// The settings as they were given: dedicated workers are not counted.
    #[must_use]
    pub fn given(&self) -> Config {
        Config { workers: self.shared, ..self.config.clone() }
    }

    /// How long a worker may be in one step before the clock of time-outs stands, of one that may
    /// be so for `limit` if others depend on it. A dedicated worker has no acker, and says of what
    /// waits for it that it is alive at most this late: between two steps, a quarter of a time-out
    /// after it was said before.
    #[must_use]
    pub(crate) fn patience(&self, worker: WorkerId, limit: Nanos) -> Nanos {
        if worker < self.shared { limit } else { whole(self.config.timeout) / 2 }
    }

    /// Round robin over the shared workers, component by component in the order of their names: the same
    /// whatever the order of declaration. After those, a worker for each dedicated task.
    /// Ackers are on the shared workers, as many as the settings have at each epoch.
    #[must_use]
    pub(crate) fn spread(components: &[ComponentPlan], config: &Config) -> Tables {
        let tasks: u32 = components.iter().map(|c| c.tasks).sum();
        let mut workers = vec![0; tasks as usize];
        let mut local = vec![0; tasks as usize];
        let mut by_name: Vec<&ComponentPlan> = components.iter().collect();
        by_name.sort_by(|a, b| a.name.cmp(&b.name));
        let (mut next, mut own) = (0, config.workers);
        for component in by_name {
            if component.dedicated {
                for task in component.first_task..component.first_task + component.tasks {
                    workers[task as usize] = own;
                    own += 1;
                }
                continue;
            }
            let mut here = vec![0; config.workers as usize];
            for task in component.first_task..component.first_task + component.tasks {
                workers[task as usize] = next;
                local[task as usize] = here[next as usize];
                here[next as usize] += 1;
                next = (next + 1) % config.workers;
            }
        }
        let ackers = if config.tracked() { config.ackers } else { 0 };
        let ring = Ring::with_members(ackers, Ring::DEFAULT_POINTS);
        let (workers, local) = (workers.into(), local.into());
        let first = Table { version: 0, workers, local, ring, ackers };
        Tables::fixed(first).with_ackers(&config.acker_changes)
    }
}
