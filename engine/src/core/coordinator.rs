//! Ends epochs, follows the frontiers, moves the horizon, says when all is done.

use core::fmt;
use core::time::Duration;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::frontier::Frontiers;
pub use super::frontier::Hold;
use super::message::{Change, Idle, Order, Report, Word};
use super::restart::Memory;
use super::{ComponentId, Epoch, Nanos, Plan, TaskId, WorkerId};
use crate::config::{EpochEnd, whole};
use crate::topology::Topology;

/// What a driver does for the coordinator.
pub trait CoordinatorSink {
    /// Brings a word to a worker.
    fn word(&mut self, to: WorkerId, order: Order);
    /// Brings the memory of a report back; may drop it.
    fn recycle(&mut self, to: WorkerId, changes: Vec<Change>);
}

/// A time without progress, and what held it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stall {
    /// The component.
    pub component: String,
    /// Its task's number, where it is known.
    pub task: Option<u32>,
    /// The epoch that is held.
    pub epoch: Epoch,
    /// What holds it.
    pub hold: Hold,
    /// How long there had been no progress.
    pub after: Duration,
}

impl fmt::Display for Stall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stall { component, epoch, after, .. } = self;
        write!(f, "no progress for {after:?}: epoch {epoch} is held at {component}")?;
        if let Some(task) = self.task {
            write!(f, "[{task}]")?;
        }
        match self.hold {
            Hold::Queue { batches } => write!(f, " by {batches} batches in its queues"),
            Hold::NotClosed { worker } => write!(f, " by worker {worker}, which has not closed it"),
            Hold::NotOpened { worker } => {
                write!(f, " by worker {worker}, which is still opening it")
            }
            Hold::OldestRoot => write!(f, " by a root without a verdict"),
            Hold::Ticket => write!(f, " by a ticket that it has not given back"),
        }
    }
}

/// A spout task's watermark, and the epoch up to which it holds.
type Mark = (Epoch, Result<Option<i64>, Idle>);

/// Records after which an epoch ends whatever its time.
const EPOCH_RECORDS: u64 = 1 << 20;

/// One worker's reports. They are taken in order: a later one may give up (as done, as no longer
/// held) what only an earlier one has announced.
#[derive(Debug, Default)]
struct Reports {
    next: u64,
    early: BTreeMap<u64, Report>,
}

/// The coordinator of one running topology.
#[derive(Debug)]
pub struct Coordinator {
    pub(super) plan: Arc<Plan>,
    pub(super) incarnation: u64,
    /// The first epoch of this incarnation.
    pub(super) base: Epoch,
    pub(super) memory: Memory,
    frontiers: Frontiers,
    lanes: Vec<Reports>,
    confirmed: Vec<bool>,
    horizon: Epoch,
    /// The epoch that spouts are in: all below it were told to end.
    current: Epoch,
    last_end: Nanos,
    /// Whether anything happened since the last epoch ended.
    active: bool,
    records_in_epoch: u64,
    spout_tasks: usize,
    ended: Vec<bool>,
    /// Marks of each task, by the epoch up to which they hold.
    marks: Vec<VecDeque<Mark>>,
    pub(super) watermark: Option<i64>,
    watermarked: Epoch,
    pub(super) told_closed: Epoch,
    last_epoch: Option<Epoch>,
    pub(super) finished: bool,
    last_progress: Nanos,
    /// When a stall was last looked for and none was found.
    looked: Nanos,
    stall_told: bool,
    pub(super) stalls: Vec<Stall>,
    /// Input frontiers that moved: room for [`Coordinator::advance`].
    moved: Vec<(ComponentId, Epoch)>,
}

impl Coordinator {
    /// The coordinator of a topology.
    #[must_use]
    pub fn new(topology: &Topology, incarnation: u64) -> Self {
        let plan = topology.plan();
        Coordinator::begin(plan, incarnation, 0, Memory::new(plan.component_of.len()))
    }

    /// The coordinator of an incarnation that begins at epoch `base`.
    pub(super) fn begin(plan: &Arc<Plan>, incarnation: u64, base: Epoch, memory: Memory) -> Self {
        let tasks = plan.component_of.len();
        let spouts = plan.components.iter().filter(|c| c.spout);
        Coordinator {
            plan: Arc::clone(plan),
            incarnation,
            base,
            memory,
            frontiers: Frontiers::new(plan, base),
            lanes: (0..plan.config.workers).map(|_| Reports::default()).collect(),
            confirmed: vec![false; plan.config.workers as usize],
            horizon: 0,
            current: base,
            last_end: 0,
            active: false,
            records_in_epoch: 0,
            spout_tasks: spouts.map(|c| c.tasks as usize).sum(),
            ended: vec![false; tasks],
            marks: vec![VecDeque::new(); tasks],
            watermark: None,
            watermarked: base,
            told_closed: base,
            last_epoch: None,
            finished: false,
            last_progress: 0,
            looked: 0,
            stall_told: false,
            stalls: Vec::new(),
            moved: Vec::new(),
        }
    }

    /// Asks every worker to open its tasks; no spout may stamp before all have confirmed. Of a
    /// later incarnation too, once its workers are there.
    pub fn start(&mut self, now: Nanos, sink: &mut impl CoordinatorSink) {
        self.last_end = now;
        self.last_progress = now;
        self.to_all(Word::Prepare(self.base), sink);
        if self.memory.draining {
            self.to_all(Word::Drain, sink);
        }
    }

    /// Takes in what a worker reports.
    pub fn report(&mut self, now: Nanos, report: Report, sink: &mut impl CoordinatorSink) {
        if report.incarnation != self.incarnation {
            return;
        }
        let from = report.from as usize;
        let Some(lane) = self.lanes.get_mut(from) else { return };
        if report.number != lane.next {
            if report.number > lane.next {
                lane.early.insert(report.number, report);
            }
            return;
        }
        let mut next = Some(report);
        while let Some(report) = next {
            self.lanes[from].next += 1;
            self.take(now, report, sink);
            let lane = &mut self.lanes[from];
            next = lane.early.remove(&lane.next);
        }
        self.advance(now, sink);
    }

    fn take(&mut self, now: Nanos, report: Report, sink: &mut impl CoordinatorSink) {
        let Report { from, mut changes, .. } = report;
        for change in changes.drain(..) {
            if !matches!(change, Change::Held { .. } | Change::Ticket { .. }) {
                self.last_progress = now;
                self.stall_told = false;
            }
            self.apply(from, change);
        }
        sink.recycle(from, changes);
    }

    fn apply(&mut self, from: WorkerId, change: Change) {
        match change {
            Change::Confirmed(_) => self.confirmed[from as usize] = true,
            Change::InFlight { component, epoch, delta } => {
                self.active |= delta > 0;
                self.frontiers.in_flight(component, epoch, delta);
            }
            Change::Closed { component, epoch } => self.frontiers.closed(component, from, epoch),
            Change::Held { component, oldest } => self.frontiers.held(component, from, oldest),
            Change::Ticket { component, oldest } => self.frontiers.ticket(component, from, oldest),
            Change::Stamps { task, epoch, mark } => {
                self.frontiers.stamps(task, epoch);
                self.marks[task as usize].push_back((epoch, mark));
            }
            Change::Place { task, epoch, place } => self.memory.place(task, epoch, place),
            Change::Records { task, records } => {
                self.active = true;
                self.memory.emitted(task, records);
                self.memory.records += records;
                self.records_in_epoch += records;
            }
            Change::Ended(task) => self.ended[task as usize] = true,
        }
    }

    /// Does what time brings; call it again at the returned time at the latest.
    pub fn tick(&mut self, now: Nanos, sink: &mut impl CoordinatorSink) -> Nanos {
        self.advance(now, sink);
        let stall_after = whole(self.plan.config.stall_after);
        let due = now.saturating_sub(self.last_progress.max(self.looked)) >= stall_after;
        if due && !self.stall_told && !self.finished {
            // Where nothing is under way there is no stall, or none that is known yet.
            self.looked = now;
            if let Some(stall) = self.holding(now) {
                self.stall_told = true;
                self.stalls.push(stall);
            }
        }
        let stall_at = if self.stall_told {
            Nanos::MAX
        } else {
            self.last_progress.max(self.looked).saturating_add(stall_after)
        };
        let epoch_at = match self.plan.config.epoch {
            EpochEnd::Every(time)
                if self.active && self.current < self.horizon && self.last_epoch.is_none() =>
            {
                self.last_end.saturating_add(whole(time))
            }
            _ => Nanos::MAX,
        };
        stall_at.min(epoch_at).max(now + 1)
    }

    /// What holds the least epoch now, if anything is under way, and since when there was no progress.
    #[must_use]
    pub fn holding(&self, now: Nanos) -> Option<Stall> {
        let (component, task, epoch, hold) = self.culprit()?;
        let plan = &self.plan.components[component as usize];
        Some(Stall {
            component: plan.name.clone(),
            task: task.map(|task| task.saturating_sub(plan.first_task)),
            epoch,
            hold,
            after: Duration::from_nanos(now.saturating_sub(self.last_progress)),
        })
    }

    fn culprit(&self) -> Option<(ComponentId, Option<TaskId>, Epoch, Hold)> {
        if let Some(at) = self.confirmed.iter().position(|&confirmed| !confirmed) {
            let worker = WorkerId::try_from(at).unwrap_or(WorkerId::MAX);
            let hosted = |c: &ComponentId| self.plan.hosted(*c, worker, 0).next().is_some();
            let component = (0..).take(self.plan.components.len()).find(hosted)?;
            return Some((component, None, self.base, Hold::NotOpened { worker }));
        }
        self.frontiers.culprit()
    }

    /// Whether the word to stop has been given.
    #[must_use]
    pub fn finished(&self) -> bool {
        self.finished
    }

    /// Whether nothing is under way, as far as reported: no batch, no root, no epoch to end.
    #[must_use]
    pub fn at_rest(&self) -> bool {
        !self.active && self.frontiers.at_rest()
    }

    /// Whether there has been no progress for so long that it was reported.
    #[must_use]
    pub fn stalled(&self) -> bool {
        self.stall_told
    }

    /// Records that spouts have emitted, as reported so far: what a later incarnation emits again
    /// is counted again.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.memory.records
    }

    /// Epochs closed everywhere.
    #[must_use]
    pub fn closed(&self) -> Epoch {
        self.told_closed
    }

    /// The last watermark given out.
    #[must_use]
    pub fn watermark(&self) -> Option<i64> {
        self.watermark
    }

    /// Stall reports since the last call.
    pub fn take_stalls(&mut self) -> Vec<Stall> {
        std::mem::take(&mut self.stalls)
    }

    /// Tells spouts to emit nothing new: what is under way is finished, then all stops. After a
    /// crash what was under way is what spouts emit again: as much as was reported before.
    pub fn drain(&mut self, sink: &mut impl CoordinatorSink) {
        self.memory.draining = true;
        self.to_all(Word::Drain, sink);
    }

    /// Tells every worker to stop where it is.
    pub fn stop(&mut self, sink: &mut impl CoordinatorSink) {
        self.finished = true;
        self.to_all(Word::Stop, sink);
    }

    fn to_all(&self, word: Word, sink: &mut impl CoordinatorSink) {
        for worker in 0..self.plan.config.workers {
            sink.word(worker, Order { incarnation: self.incarnation, word });
        }
    }

    fn advance(&mut self, now: Nanos, sink: &mut impl CoordinatorSink) {
        if self.finished || !self.confirmed.iter().all(|&c| c) {
            return;
        }
        self.give_watermarks(sink);
        let plan = Arc::clone(&self.plan);
        self.moved.clear();
        let moved = &mut self.moved;
        self.frontiers.update(&mut |component, epoch| moved.push((component, epoch)));
        for &(component, epoch) in &self.moved {
            for worker in (0..plan.config.workers).filter(|&w| self.frontiers.hosts(component, w)) {
                let word = Word::Frontier { component, epoch };
                sink.word(worker, Order { incarnation: self.incarnation, word });
            }
        }
        let closed = self.frontiers.closed_below();
        if closed > self.told_closed {
            self.told_closed = closed;
            self.memory.closed(closed);
            self.to_all(Word::ClosedBelow(closed), sink);
        }
        // At most `window` epochs past the last one closed everywhere.
        let horizon = closed + Epoch::from(plan.config.window);
        if horizon > self.horizon {
            self.horizon = horizon;
            self.memory.begun = true;
            self.to_all(Word::Horizon(horizon), sink);
        }
        self.end_epoch(now, sink);
        if let Some(last) = self.last_epoch
            && closed > last
            && self.frontiers.at_rest()
        {
            self.stop(sink);
        }
    }

    /// The watermark of every epoch that all spouts have left: the least of their marks, idle and
    /// ended ones left out; it never falls.
    fn give_watermarks(&mut self, sink: &mut impl CoordinatorSink) {
        let plan = Arc::clone(&self.plan);
        let tasks = plan
            .components
            .iter()
            .filter(|c| c.spout)
            .flat_map(|c| (c.first_task..c.first_task + c.tasks).map(|task| task as usize));
        loop {
            let epoch = self.watermarked;
            let mut least: Option<Option<i64>> = None;
            for task in tasks.clone() {
                let marks = &mut self.marks[task];
                while marks.front().is_some_and(|&(upto, _)| upto <= epoch) {
                    marks.pop_front();
                }
                match marks.front() {
                    None => return,
                    Some((_, Err(Idle))) => {}
                    // `None` sorts first: a spout that sets no mark holds the watermark.
                    Some((_, Ok(mark))) => {
                        least = Some(least.map_or(*mark, |least| least.min(*mark)));
                    }
                }
            }
            self.watermark = self.watermark.max(least.flatten());
            self.watermarked += 1;
            self.memory.gave(epoch, self.watermark);
            self.to_all(Word::Watermark { epoch, mark: self.watermark }, sink);
        }
    }

    fn end_epoch(&mut self, now: Nanos, sink: &mut impl CoordinatorSink) {
        if self.last_epoch.is_some() || self.current >= self.horizon {
            return;
        }
        let all_ended = self.ended.iter().filter(|&&ended| ended).count() == self.spout_tasks;
        let due = match self.plan.config.epoch {
            EpochEnd::Every(time) => {
                self.active && now >= self.last_end.saturating_add(whole(time))
                    || self.records_in_epoch >= EPOCH_RECORDS
            }
            EpochEnd::Records(records) => self.records_in_epoch >= records,
        };
        if all_ended || due {
            if all_ended {
                self.last_epoch = Some(self.current);
            }
            let word = if all_ended { Word::Last } else { Word::End };
            self.to_all(word(self.current), sink);
            self.current += 1;
            self.last_end = now;
            self.active = false;
            self.records_in_epoch = 0;
        }
    }
}
