//! All that the threads of one run share: mailboxes, the coordinator's desk, the time.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::live::Live;
use super::mailbox::Mailbox;
use super::watch::Watch;
use crate::core::{Empty, Envelope, Message, Nanos, Order, Plan, Report, TaskId, WorkerId};
use crate::report::{DeadLetter, RunError, WorkerFigures, WorkerStats};

/// What comes into a worker's mailbox.
#[derive(Debug)]
pub(crate) enum Post {
    Batch(Envelope),
    Message(Message),
    Word(Order),
    Empty(Empty),
    Wake,
}

/// How a run is to end.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// By itself.
    #[default]
    Never,
    /// Spouts emit nothing new; what is under way is finished, within the drain deadline.
    Drain,
    /// At once, wherever it is.
    Now,
}

/// What lies on the coordinator's desk.
#[derive(Debug, Default)]
pub(crate) struct Papers {
    pub(crate) reports: Vec<Report>,
    pub(crate) letters: Vec<DeadLetter>,
    pub(crate) overruns: Vec<(TaskId, Nanos)>,
    pub(crate) failed: Option<RunError>,
    pub(crate) stop: Stop,
    pub(crate) ended: Vec<(WorkerId, Option<(WorkerFigures, WorkerStats)>)>,
    urgent: bool,
}

/// The coordinator's desk: everyone puts things on it, the coordinator takes them off.
#[derive(Debug, Default)]
pub(crate) struct Desk {
    papers: Mutex<Papers>,
    urgent: Condvar,
}

impl Desk {
    fn lock(&self) -> MutexGuard<'_, Papers> {
        self.papers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn urgently(&self, change: impl FnOnce(&mut Papers)) {
        let mut papers = self.lock();
        change(&mut papers);
        papers.urgent = true;
        drop(papers);
        self.urgent.notify_one();
    }

    pub(crate) fn report(&self, report: Report, urgent: bool) {
        if urgent {
            self.urgently(|papers| papers.reports.push(report));
        } else {
            self.lock().reports.push(report);
        }
    }

    pub(crate) fn letter(&self, letter: DeadLetter) {
        self.lock().letters.push(letter);
    }

    pub(crate) fn overran(&self, task: TaskId, time: Nanos) {
        self.lock().overruns.push((task, time));
    }

    pub(crate) fn fail(&self, error: RunError) {
        self.urgently(|papers| RunError::keep_gravest(&mut papers.failed, error));
    }

    pub(crate) fn ended(&self, worker: WorkerId, with: Option<(WorkerFigures, WorkerStats)>) {
        self.urgently(|papers| papers.ended.push((worker, with)));
    }

    pub(crate) fn stop(&self, stop: Stop) {
        self.urgently(|papers| papers.stop = papers.stop.max(stop));
    }

    /// Waits for something urgent, at most `timeout`; then swaps the papers with `mine`. How the
    /// run is to end stays on the desk.
    pub(crate) fn take(&self, timeout: Duration, mine: &mut Papers) {
        let mut papers = self.lock();
        if !papers.urgent {
            papers = self
                .urgent
                .wait_timeout(papers, timeout)
                .map_or_else(|poison| poison.into_inner().0, |(papers, _)| papers);
        }
        mine.stop = papers.stop;
        mine.urgent = false;
        std::mem::swap(&mut *papers, mine);
        papers.stop = mine.stop;
    }
}

/// All that the threads of one run share.
#[derive(Debug)]
pub(crate) struct Office {
    pub(crate) plan: Arc<Plan>,
    pub(crate) watch: Watch,
    pub(crate) live: Live,
    mailboxes: Vec<Mailbox<Post>>,
    desk: Desk,
}

impl Office {
    pub(crate) fn new(plan: &Arc<Plan>) -> Self {
        let config = &plan.config;
        Office {
            plan: Arc::clone(plan),
            watch: Watch::new(config.workers),
            live: Live::new(config.workers),
            mailboxes: (0..config.workers)
                .map(|_| Mailbox::new(plan.components.len(), config.queue))
                .collect(),
            desk: Desk::default(),
        }
    }

    pub(crate) fn mailbox(&self, worker: WorkerId) -> &Mailbox<Post> {
        &self.mailboxes[worker as usize]
    }

    pub(crate) fn desk(&self) -> &Desk {
        &self.desk
    }
}

/// Wakes one worker for its spouts.
#[derive(Debug)]
pub(crate) struct WakeWorker {
    pub(crate) office: Arc<Office>,
    pub(crate) worker: WorkerId,
}

impl std::task::Wake for WakeWorker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.office.mailbox(self.worker).post(Post::Wake);
    }
}
