//! The coordinator's thread: reports in, words out, the clock, the end, the report.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::Status;
use super::letters::{LetterHandler, Letters};
use super::office::{Office, Papers, Post, Stop};
use crate::config::whole;
use crate::core::{
    Change, Coordinator, CoordinatorSink, Empty, Nanos, Order, Stall, Word, WorkerId,
};
use crate::driver::snapshot::{self, Told};
use crate::driver::summary;
use crate::driver::totals::{Ends, Totals};
use crate::report::{Report, RunError};
use crate::topology::Topology;

/// The longest sleep: the grain of the clock of time-outs.
pub(super) const GRAIN: Duration = Duration::from_millis(5);
/// The longest sleep while nothing is under way: an idle topology costs next to nothing.
const REST: Duration = Duration::from_millis(50);
/// A gap between two looks at the clock longer than this is the machine's standstill, not the
/// topology's; the clock of time-outs does not run by more at once, nor by an eighth of a time-out.
const LEAP: Nanos = 50_000_000;
/// The shortest: reports that are not urgent are gathered for so long.
const GATHER: Duration = Duration::from_micros(500);
/// How long workers may take to stop before they are given up as stuck.
pub(super) const GRACE: Duration = Duration::from_secs(1);

/// The coordinator's hands.
pub(super) struct Hands(Arc<Office>);

impl CoordinatorSink for Hands {
    fn word(&mut self, to: WorkerId, order: Order) {
        self.0.mailbox(to).post(Post::Word(order));
    }

    fn recycle(&mut self, to: WorkerId, changes: Vec<Change>) {
        self.0.mailbox(to).leave(Post::Empty(Empty::Changes(changes)));
    }
}

/// Tells every worker to stop, of whichever incarnation it is: none is later than this.
pub(super) fn stop_all(office: &Office) {
    for worker in 0..office.plan.config.workers {
        let order = Order { incarnation: u64::MAX, word: Word::Stop };
        office.mailbox(worker).post(Post::Word(order));
    }
}

/// However the coordinator ends, no worker is left waiting for its word.
struct StopAll(Arc<Office>);

impl Drop for StopAll {
    fn drop(&mut self) {
        stop_all(&self.0);
        self.0.live.close();
    }
}

/// A run from the coordinator's side.
pub(super) struct Running {
    pub(super) topology: Arc<Topology>,
    pub(super) office: Arc<Office>,
    pub(super) coordinator: Coordinator,
    pub(super) hands: Hands,
    pub(super) threads: Vec<JoinHandle<()>>,
    letters: Letters,
    status: Arc<Mutex<Status>>,
    told: Arc<Mutex<Told>>,
    pub(super) papers: Papers,
    pub(super) totals: Totals,
    pub(super) ends: Ends,
    pub(super) ended: usize,
    stalls: Vec<Stall>,
    overruns: Vec<(u32, Nanos)>,
    dead: u64,
    pub(super) failed: Option<RunError>,
    pub(super) asked: Stop,
    pub(super) drain_by: Option<Nanos>,
    _stop_all: StopAll,
}

impl Running {
    pub(super) fn new(
        topology: &Arc<Topology>,
        office: &Arc<Office>,
        (status, told): (&Arc<Mutex<Status>>, &Arc<Mutex<Told>>),
        letters: Option<LetterHandler>,
    ) -> Result<Self, RunError> {
        let workers = topology.plan().config.workers as usize;
        Ok(Running {
            topology: Arc::clone(topology),
            threads: Vec::new(),
            totals: Totals::default(),
            office: Arc::clone(office),
            coordinator: Coordinator::new(topology, 0),
            hands: Hands(Arc::clone(office)),
            letters: Letters::start(letters, Report::LETTERS, office)?,
            status: Arc::clone(status),
            told: Arc::clone(told),
            papers: Papers::default(),
            ends: (0..workers).map(|_| None).collect(),
            ended: 0,
            stalls: Vec::new(),
            overruns: Vec::new(),
            dead: 0,
            failed: None,
            asked: Stop::Never,
            drain_by: None,
            _stop_all: StopAll(Arc::clone(office)),
        })
    }

    pub(super) fn run(mut self) -> Result<Report, RunError> {
        let overrun = whole(self.office.plan.config.overrun);
        let timeout = whole(self.office.plan.config.timeout);
        let (standstill, leap) = (overrun.min(timeout / 4), LEAP.min(timeout / 8));
        self.coordinator.start(self.office.watch.mono(), &mut self.hands);
        let mut last = self.office.watch.mono();
        let mut next = last;
        while !self.coordinator.finished() {
            let now = self.office.watch.mono();
            let most = if self.coordinator.at_rest() { REST } else { GRAIN };
            let nap = Duration::from_nanos(next.saturating_sub(now)).clamp(GATHER, most);
            self.read(nap);
            let overrunning = self.office.watch.overrunning(overrun);
            // A worker in a step says of no attempt that it is alive: long before that could be
            // taken for a loss, the clock stands.
            let plan = &self.office.plan;
            let patience = |worker| plan.patience(worker, standstill);
            let standing = self.office.watch.stands(patience);
            last = self.office.watch.tick(last, standing, leap);
            self.recover();
            self.heed(last);
            next = self.coordinator.tick(last, &mut self.hands);
            self.publish(last, &overrunning);
        }
        let complete = self.asked == Stop::Never && self.failed.is_none();
        let crashes = self.coordinator.crashes().to_vec();
        let drained = self.asked == Stop::Drain && self.failed.is_none();
        self.office.live.close();
        let elapsed = Duration::from_nanos(self.office.watch.mono());
        // At the end of all work nobody is in user code for long; after a cut they may be.
        let cut = self.asked == Stop::Now || self.failed.is_some();
        let drain = self.office.plan.config.drain;
        let patience = if cut { GRACE } else { drain.max(GRACE) };
        let stuck = self.dismiss(overrun, patience);
        self.totals.add(std::mem::take(&mut self.ends));
        self.publish(last, &[]);
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let plan = &self.office.plan;
        let stats = snapshot::stats(plan, &self.totals, elapsed, told, &[], true);
        self.office.live.finish(stats);
        let letters = self.letters.finish(patience);
        // A fault of the handler may have come with the very last letter.
        self.office.desk().take(Duration::ZERO, &mut self.papers);
        if let Some(error) = self.failed.or(self.papers.failed.take()) {
            return Err(error);
        }
        let rest = summary::Rest {
            complete,
            drained,
            elapsed,
            epochs: self.coordinator.closed(),
            dead: self.dead,
            letters: letters?,
            crashes,
            stalls: self.stalls,
            overruns: self.overruns,
            stuck,
        };
        Ok(summary::report(&self.office.plan, self.totals, rest))
    }

    /// Takes what is on the desk.
    pub(super) fn read(&mut self, nap: Duration) {
        self.office.desk().take(nap, &mut self.papers);
        let now = self.office.watch.mono();
        for report in self.papers.reports.drain(..) {
            self.coordinator.report(now, report, &mut self.hands);
        }
        for letter in self.papers.letters.drain(..) {
            self.dead += 1;
            self.letters.take(letter, &self.office);
        }
        for (task, time) in self.papers.overruns.drain(..) {
            // The longest of each task.
            match self.overruns.iter_mut().find(|(of, _)| *of == task) {
                Some((_, longest)) => *longest = (*longest).max(time),
                None => self.overruns.push((task, time)),
            }
        }
        for (worker, with) in self.papers.ended.drain(..) {
            self.ended += 1;
            self.ends[worker as usize] = with;
        }
        if let Some(error) = self.papers.failed.take() {
            RunError::keep_gravest(&mut self.failed, error);
        }
    }

    /// Does as it is asked: drain, stop, end on failure.
    fn heed(&mut self, now: Nanos) {
        if self.coordinator.finished() {
            return;
        }
        self.hear_wishes(now);
        if self.asked == Stop::Now || self.failed.is_some() {
            self.coordinator.stop(&mut self.hands);
        }
    }

    /// How the run is to end, as far as anyone has said.
    pub(super) fn hear_wishes(&mut self, now: Nanos) {
        let asked = self.papers.stop;
        if asked > self.asked {
            self.asked = asked;
            if asked == Stop::Drain {
                self.drain_by = Some(now.saturating_add(whole(self.office.plan.config.drain)));
                self.coordinator.drain(&mut self.hands);
            }
        }
        if self.drain_by.is_some_and(|by| now >= by) {
            self.asked = Stop::Now;
        }
    }

    pub(super) fn publish(&mut self, now: Nanos, overrunning: &[(u32, u32, Nanos)]) {
        let new_stalls = self.coordinator.take_stalls();
        let mut status = self.status.lock().unwrap_or_else(PoisonError::into_inner);
        status.elapsed = Duration::from_nanos(now);
        status.records = self.coordinator.records();
        status.epochs = self.coordinator.closed();
        status.overrunning.clear();
        for &(_, task, time) in overrunning {
            let (component, task) = summary::name(&self.office.plan, task);
            status.overrunning.push((component, task, Duration::from_nanos(time)));
        }
        if let Some(stall) = new_stalls.last() {
            status.stall = Some(stall.to_string());
        }
        if !self.coordinator.stalled() {
            status.stall = None;
        }
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.incarnation = self.coordinator.crashes().len() as u64;
        told.epochs = status.epochs;
        told.watermark = self.coordinator.watermark();
        told.dead = self.dead;
        told.stalls.extend_from_slice(&new_stalls);
        told.stall.clone_from(&status.stall);
        told.overrunning.clone_from(&status.overrunning);
        drop((status, told));
        self.stalls.extend(new_stalls);
    }

    /// Waits for the workers to stop; those still in user code after that are left behind.
    fn dismiss(&mut self, overrun: Nanos, patience: Duration) -> Vec<(u32, Nanos)> {
        let workers = self.ends.len();
        let by = self.office.watch.mono().saturating_add(whole(patience));
        while self.ended < workers && self.office.watch.mono() < by {
            self.read(GRAIN);
        }
        let mut stuck = Vec::new();
        if self.ended < workers {
            let all = self.office.watch.overrunning(overrun.min(whole(GRACE) / 2));
            stuck.extend(all.into_iter().map(|(_, task, time)| (task, time)));
        }
        for thread in self.threads.drain(..) {
            if self.ended >= workers || thread.is_finished() {
                // A panic of the thread was caught inside of it.
                let _ = thread.join();
            }
        }
        self.read(Duration::ZERO);
        for worker in 0..self.office.plan.config.workers {
            // What was under way as a cut-short run ended goes now, not with the last handle.
            self.office.mailbox(worker).clear();
        }
        stuck
    }
}
