//! What the components of one worker share: identity, time, ids, outbox, progress, acks.

use std::any::Any;
use std::sync::Arc;

use acker::{IdGen, RootId, Update};

use super::check::Check;
use super::message::{AckKind, AckOp, Change, FailOp, InitOp};
use super::outbox::Outbox;
use super::port::Run;
use super::{ComponentId, Epoch, Nanos, Plan, TaskId, WorkerId};
use crate::config::{Exhausted, whole};
use crate::report::{DeadLetter, EdgeCounters, Reason, RunError};

/// The time of one step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// Monotonic time: linger, timers, latencies.
    pub mono: Nanos,
    /// The clock of time-outs and retries: it stands while the engine does.
    pub clock: Nanos,
}

/// Changes of progress since the last report.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub(crate) list: Vec<Change>,
}

impl Changes {
    pub(crate) fn in_flight(&mut self, component: ComponentId, epoch: Epoch, by: i64) {
        for change in self.list.iter_mut().rev() {
            if let Change::InFlight { component: c, epoch: e, delta } = change
                && *c == component
                && *e == epoch
            {
                *delta += by;
                return;
            }
        }
        self.list.push(Change::InFlight { component, epoch, delta: by });
    }

    pub(crate) fn records(&mut self, of: TaskId, by: u64) {
        let told = self.list.iter_mut().find_map(|change| match change {
            Change::Records { task, records } if *task == of => Some(records),
            _ => None,
        });
        match told {
            Some(records) => *records += by,
            None => self.list.push(Change::Records { task: of, records: by }),
        }
    }
}

/// Shared state of one worker's components.
#[derive(Debug)]
pub struct Shared {
    pub(crate) me: WorkerId,
    pub(crate) plan: Arc<Plan>,
    pub(crate) now: Now,
    pub(crate) incarnation: u64,
    pub(crate) edge_ids: IdGen,
    pub(crate) root_ids: IdGen,
    pub(crate) outbox: Outbox,
    pub(crate) changes: Changes,
    /// Operations by the worker that tracks the root.
    pub(crate) acks: Vec<Vec<AckOp>>,
    pub(crate) inits: Vec<Vec<InitOp>>,
    pub(crate) fails: Vec<FailOp>,
    pub(crate) edges: Vec<EdgeCounters>,
    pub(crate) dead: Vec<DeadLetter>,
    /// Why tuples failed where nothing tracks them: the first reasons.
    pub(crate) failures: Vec<Arc<Reason>>,
    /// Runs whose grouping named no task: of the batch under way.
    pub(crate) astray: Vec<(u32, Reason)>,
    pub(crate) fatal: Option<RunError>,
    pub(crate) watermarks: Watermarks,
    /// The checking mode.
    pub(crate) check: Option<Check>,
    /// What this worker begins with, in a later incarnation than the first.
    pub(crate) resume: Option<Arc<super::Resume>>,
}

impl Shared {
    pub(crate) fn new(me: WorkerId, plan: &Arc<Plan>, incarnation: u64) -> Self {
        let config = &plan.config;
        let workers = config.workers as usize;
        // Two generators a worker and incarnation, all of one seed and none of one stream.
        let stream = (incarnation << 33) | (u64::from(me) << 1);
        Shared {
            me,
            plan: Arc::clone(plan),
            now: Now::default(),
            incarnation,
            edge_ids: IdGen::from_seed(config.seed, stream),
            root_ids: IdGen::from_seed(config.seed, stream | 1),
            outbox: Outbox::new(plan.edges.len(), workers, config.queue),
            changes: Changes::default(),
            acks: (0..workers).map(|_| Vec::new()).collect(),
            inits: (0..workers).map(|_| Vec::new()).collect(),
            fails: Vec::new(),
            edges: vec![EdgeCounters::default(); plan.edges.len()],
            dead: Vec::new(),
            failures: Vec::new(),
            astray: Vec::new(),
            fatal: None,
            watermarks: Watermarks::default(),
            check: (config.exactly_once() && config.check_ppm > 0).then(Check::default),
            resume: None,
        }
    }

    pub(crate) fn tracked(&self) -> bool {
        self.plan.config.tracked()
    }

    pub(crate) fn init(&mut self, run: &Run, task: TaskId, epoch: Epoch) {
        let (track, produced) = (run.track, run.untold);
        self.inits[run.owner as usize].push(InitOp { track, epoch, task, produced });
    }

    pub(crate) fn ack(&mut self, run: &Run, epoch: Epoch, update: Update) {
        let (track, kind) = (run.track, AckKind::Update(update));
        self.acks[run.owner as usize].push(AckOp { track, epoch, kind });
    }

    /// As `ack`, of a run of which only the attempt was kept.
    pub(crate) fn ack_attempt(&mut self, track: RootId, epoch: Epoch, update: Update) {
        let owner = self.plan.tables.at(epoch).owner(track);
        self.acks[owner as usize].push(AckOp { track, epoch, kind: AckKind::Update(update) });
    }

    pub(crate) fn touch(&mut self, track: RootId, epoch: Epoch, at: ComponentId) {
        let owner = self.plan.tables.at(epoch).owner(track);
        self.acks[owner as usize].push(AckOp { track, epoch, kind: AckKind::Touch(at) });
    }

    pub(crate) fn fail(&mut self, track: RootId, epoch: Epoch, reason: Reason) {
        self.fails.push(FailOp { track, epoch, reason: Arc::new(reason) });
    }

    /// An exactly-once root is out of attempts, and the run is to end for it.
    pub(crate) fn exhausted(&mut self, task: TaskId, epoch: Epoch, attempts: u32, why: &Reason) {
        self.fatal.get_or_insert(RunError::Exhausted {
            component: self.name_of(task).to_owned(),
            task: self.index_of(task),
            epoch,
            attempts,
            reason: why.to_string(),
        });
    }

    /// A replay of a tuple led to something else than it did before.
    pub(crate) fn differs(&mut self, component: ComponentId, epoch: Epoch) {
        let component = self.plan.components[component as usize].name.clone();
        self.fatal.get_or_insert(RunError::NonDeterministic { component, epoch });
    }

    /// Keeps the reason of a failure that no root will tell.
    pub(crate) fn regret(&mut self, reason: Reason) {
        if self.failures.len() < crate::report::Report::FAILURES {
            self.failures.push(Arc::new(reason));
        }
    }

    /// Lets the time of this step pass by what user code took: a verdict that is heard in the step
    /// of the execute that led to it comes after that execute, as latencies show.
    pub(crate) fn spent(&mut self, cost: Nanos) -> Nanos {
        self.now.mono = self.now.mono.saturating_add(cost);
        cost
    }

    /// The wait before the attempt after number `attempt`.
    pub(crate) fn backoff(&self, attempt: u32) -> Nanos {
        let config = &self.plan.config;
        let base = whole(config.backoff);
        base.saturating_mul(1 << (attempt.saturating_sub(1)).min(40)).min(whole(config.max_backoff))
    }

    /// Writes a dead letter.
    pub(crate) fn bury(
        &mut self,
        task: TaskId,
        epoch: Epoch,
        attempts: u32,
        reason: Arc<Reason>,
        item: Box<dyn Any + Send>,
    ) {
        let config = &self.plan.config;
        if config.exactly_once() && config.exhausted == Exhausted::Stop {
            self.exhausted(task, epoch, attempts, &reason);
        }
        let component = self.name_of(task).to_owned();
        let index = self.index_of(task);
        self.dead.push(DeadLetter { component, task: index, epoch, attempts, reason, item });
    }

    /// Writes the dead letter of a record over the size limit.
    pub(crate) fn bury_too_large(
        &mut self,
        task: TaskId,
        epoch: Epoch,
        size: usize,
        limit: usize,
        item: Box<dyn Any + Send>,
    ) {
        let component = self.name_of(task).to_owned();
        let reason = Reason::TooLarge { component, task: self.index_of(task), size, limit };
        self.bury(task, epoch, 1, Arc::new(reason), item);
    }

    pub(crate) fn name_of(&self, task: TaskId) -> &str {
        &self.plan.components[self.plan.component_of(task) as usize].name
    }

    /// A task's number within its component.
    pub(crate) fn index_of(&self, task: TaskId) -> u32 {
        let component = &self.plan.components[self.plan.component_of(task) as usize];
        task.saturating_sub(component.first_task)
    }
}

/// Watermarks by epoch, as the coordinator gave them out.
#[derive(Debug, Default)]
pub(crate) struct Watermarks {
    given: std::collections::VecDeque<(Epoch, Option<i64>)>,
}

impl Watermarks {
    pub(crate) fn give(&mut self, epoch: Epoch, mark: Option<i64>) {
        let at = self.given.partition_point(|&(e, _)| e < epoch);
        if self.given.get(at).is_none_or(|&(e, _)| e != epoch) {
            self.given.insert(at, (epoch, mark));
        }
    }

    pub(crate) fn of(&self, epoch: Epoch) -> Option<Option<i64>> {
        let at = self.given.partition_point(|&(e, _)| e < epoch);
        self.given.get(at).filter(|&&(e, _)| e == epoch).map(|&(_, mark)| mark)
    }

    /// Forgets epochs below `epoch`, which are closed everywhere, but for the last of them.
    pub(crate) fn forget_below(&mut self, epoch: Epoch) {
        while self.given.front().is_some_and(|&(e, _)| e.saturating_add(1) < epoch) {
            self.given.pop_front();
        }
    }
}
