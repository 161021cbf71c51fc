//! A new incarnation after a crash: whether there is to be one, and what it begins with.
//!
//! It goes on at the least epoch that was not closed everywhere. Every epoch below that is done:
//! all its roots have their verdicts, and what bolts emitted as they closed it has arrived. What is
//! of that epoch or above comes again, for the spouts seek back; so trackers, queues and counts
//! start empty. What bolts have gathered in the epochs that are done is lost, and named.

use core::ops::Range;
use core::time::Duration;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::message::Place;
use super::{Coordinator, Epoch, Nanos, TaskId};
use crate::report::RunError;

/// What a worker of a later incarnation begins with. Plain data: a driver may send it anywhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Resume {
    /// The new incarnation.
    pub incarnation: u64,
    /// Its first epoch: all below it are closed everywhere.
    pub epoch: Epoch,
    /// The watermark of the epoch before.
    pub watermark: Option<i64>,
    /// Where each spout task goes on, by task; `None` for bolts, and for all where nothing can have
    /// been emitted yet.
    pub places: Vec<Option<Place>>,
    /// Records that each spout task had emitted, as reported, counted as [`Place::records`]: a drain
    /// lets it come so far again. 0 where it does not go back.
    pub reached: Vec<u64>,
    /// What ended the incarnation before, in words.
    pub cause: String,
}

/// A crash that a run has lived through.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Crash {
    /// What crashed, and why.
    pub cause: String,
    /// When, since the start of the run.
    pub at: Duration,
    /// The incarnation that died, from 0.
    pub incarnation: u64,
    /// The epoch at which the next one went on: all below it were closed everywhere.
    pub resumed: Epoch,
    /// Closed epochs whose state the bolts of that incarnation had gathered, and which was lost with
    /// them. Results that had left the bolts by then are not lost.
    pub lost: Range<Epoch>,
}

impl Crash {
    /// Epochs whose state was lost.
    #[must_use]
    pub fn lost_epochs(&self) -> u64 {
        self.lost.end.saturating_sub(self.lost.start)
    }
}

/// Why a new incarnation was started: kind, component, number of its task or of a worker, call,
/// epoch. Words of a message are not compared: they may hold a time or an address.
type Cause = (u8, String, u32, &'static str, Epoch);

/// What the coordinator knows beyond one incarnation.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// Records of all incarnations.
    pub(super) records: u64,
    /// Whether the topology was asked to drain.
    pub(super) draining: bool,
    /// Whether spouts were ever let to emit.
    pub(super) begun: bool,
    /// Where each spout task was as it came to an epoch: for the epochs that are not yet closed
    /// everywhere. `None` where it could not say.
    places: Vec<VecDeque<(Epoch, Option<Place>)>>,
    /// Records that each spout task has emitted in this incarnation, as [`Place::records`] counts
    /// them, and the most it ever had.
    emitted: Vec<(u64, u64)>,
    /// Watermarks given out, from that of the last epoch closed everywhere on.
    given: VecDeque<(Epoch, Option<i64>)>,
    crashes: Vec<Crash>,
    causes: BTreeMap<Cause, u32>,
}

impl Memory {
    pub(super) fn new(tasks: usize) -> Self {
        let (places, emitted) = (vec![VecDeque::new(); tasks], vec![(0, 0); tasks]);
        Memory { places, emitted, ..Memory::default() }
    }

    /// A spout task came to `epoch`, and that is where it was. The later word for one epoch holds.
    pub(super) fn place(&mut self, task: TaskId, epoch: Epoch, place: Option<Place>) {
        let Some(places) = self.places.get_mut(task as usize) else { return };
        match places.back_mut() {
            Some(last) if last.0 == epoch => last.1 = place,
            _ => places.push_back((epoch, place)),
        }
    }

    /// A spout task has emitted more.
    pub(super) fn emitted(&mut self, task: TaskId, records: u64) {
        if let Some((now, most)) = self.emitted.get_mut(task as usize) {
            *now += records;
            *most = (*most).max(*now);
        }
    }

    pub(super) fn gave(&mut self, epoch: Epoch, mark: Option<i64>) {
        self.given.push_back((epoch, mark));
    }

    /// Every epoch below `closed` is closed everywhere: nobody will go back there.
    pub(super) fn closed(&mut self, closed: Epoch) {
        for places in &mut self.places {
            // The last one stays: untracked spouts tell theirs only once.
            while places.len() > 1 && places.front().is_some_and(|&(epoch, _)| epoch < closed) {
                places.pop_front();
            }
        }
        while self.given.front().is_some_and(|&(epoch, _)| epoch + 1 < closed) {
            self.given.pop_front();
        }
    }

    /// The watermark of the epoch before `epoch`, the first one to be done again.
    fn watermark(&mut self, epoch: Epoch) -> Option<i64> {
        // A watermark belongs to its epoch: those of the epochs that are done again are given anew.
        // To keep the newest would make their records late that were in time.
        while self.given.back().is_some_and(|&(of, _)| of >= epoch) {
            self.given.pop_back();
        }
        self.given.back().and_then(|&(_, mark)| mark)
    }
}

impl Coordinator {
    /// The incarnation that works now, or will once [`Coordinator::start`] is called.
    #[must_use]
    pub fn incarnation(&self) -> u64 {
        self.incarnation
    }

    /// Crashes so far.
    #[must_use]
    pub fn crashes(&self) -> &[Crash] {
        &self.memory.crashes
    }

    /// An incarnation failed: begins the next one. The driver sees to it that nothing of the old one
    /// works on, makes each worker by [`Worker::resume`](super::Worker::resume), and calls
    /// [`Coordinator::start`]. Until then it may call `restart` again, should the new one fail too.
    ///
    /// # Errors
    /// The cause itself, where the run ends with it: it is none that may pass (a bolt's `flush`,
    /// `close` or `timer` that failed, items or a worker that panicked or were lost may; all else
    /// may not), it has started [`restarts`](crate::Config::restarts) incarnations at this epoch
    /// already, the topology was told to stop, or some spout cannot go back.
    pub fn restart(&mut self, now: Nanos, mut cause: RunError) -> Result<Resume, RunError> {
        let epoch = self.told_closed;
        let Some(why) = identity(&cause, epoch) else { return Err(cause) };
        if self.finished || self.plan.config.restarts == 0 {
            return Err(cause);
        }
        let places = match self.places() {
            Ok(places) => places,
            Err(task) => {
                // What fails in user code is told as it is, whether or not the spouts can go back.
                if matches!(cause, RunError::Crashed { .. }) {
                    let component = &self.plan.components[self.plan.component_of(task) as usize];
                    let (name, task) = (&component.name, task - component.first_task);
                    cause.note(&format!(
                        "; no new incarnation, since {name}[{task}] gives no `position` to go back to"
                    ));
                }
                return Err(cause);
            }
        };
        self.memory.causes.retain(|(.., at), _| *at >= epoch);
        let times = self.memory.causes.entry(why).or_default();
        if *times >= self.plan.config.restarts {
            let why = format!("; {times} new incarnations for that at epoch {epoch} were in vain");
            cause.note(&why);
            return Err(cause);
        }
        *times += 1;
        let (cause, old) = (cause.to_string(), self.incarnation);
        let lost = self.base..epoch;
        let at = Duration::from_nanos(now);
        let crash = Crash { cause: cause.clone(), at, incarnation: old, resumed: epoch, lost };
        self.memory.crashes.push(crash);
        let watermark = self.memory.watermark(epoch);
        let tracked = self.plan.config.tracked();
        for ((now, _), place) in self.memory.emitted.iter_mut().zip(&places) {
            *now = place.as_ref().map_or(0, |place| place.records);
        }
        let reached = self.memory.emitted.iter().map(|&(_, most)| if tracked { most } else { 0 });
        let reached = reached.collect();
        // What the old incarnation stamped from here on is stamped anew, and perhaps otherwise.
        for places in &mut self.memory.places {
            places.truncate(1);
            // It may have come there in one leap over epochs that have records of its own now.
            if let Some((at, _)) = places.front_mut() {
                *at = epoch;
            }
        }
        let memory = std::mem::take(&mut self.memory);
        let plan = Arc::clone(&self.plan);
        let stalls = std::mem::take(&mut self.stalls);
        *self = Coordinator::begin(&plan, old + 1, epoch, memory);
        (self.stalls, self.watermark) = (stalls, watermark);
        Ok(Resume { incarnation: self.incarnation, epoch, watermark, places, reached, cause })
    }

    /// Where each spout task goes on; or the first that cannot.
    fn places(&self) -> Result<Vec<Option<Place>>, TaskId> {
        let mut all = vec![None; self.plan.component_of.len()];
        if !self.memory.begun {
            return Ok(all);
        }
        for component in self.plan.components.iter().filter(|c| c.spout) {
            for task in component.first_task..component.first_task + component.tasks {
                // Of the places that it came to no sooner than this epoch the first: all that was
                // stamped below is before it, all else after it.
                let front = self.memory.places[task as usize].front();
                let fits = |at: Epoch| at >= self.told_closed || !self.plan.config.tracked();
                let place = front.filter(|(at, _)| fits(*at)).and_then(|(_, place)| place.clone());
                all[task as usize] = Some(place.ok_or(task)?);
            }
        }
        Ok(all)
    }
}

/// What makes two causes the same one; `None` for a cause that no new incarnation can mend.
fn identity(cause: &RunError, resumed: Epoch) -> Option<Cause> {
    if !cause.may_pass() {
        return None;
    }
    match cause {
        RunError::Callback { call, component, task, epoch, .. } => {
            Some((0, component.clone(), *task, call, *epoch))
        }
        RunError::Items { component, .. } => Some((1, component.clone(), 0, "", resumed)),
        RunError::Worker { worker, .. } => Some((2, String::new(), *worker, "", resumed)),
        RunError::Crashed { worker, .. } => Some((3, String::new(), *worker, "", resumed)),
        _ => None,
    }
}
