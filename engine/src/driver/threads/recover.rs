//! A new incarnation of a run: all workers stop, all is cleared away, and they start anew.

use std::sync::Arc;
use std::time::Duration;

use super::coordinate::{GRACE, GRAIN, Running, stop_all};
use super::office::Stop;
use super::start_worker;
use crate::config::whole;
use crate::core::{Nanos, Resume, guarded};
use crate::driver::summary;
use crate::report::RunError;

impl Running {
    /// Starts a thread for each worker.
    pub(super) fn hire(&mut self, resume: Option<&Arc<Resume>>) -> Result<(), RunError> {
        for me in 0..self.office.plan.config.workers {
            self.threads.push(start_worker(&self.topology, &self.office, me, resume)?);
        }
        Ok(())
    }

    /// Sends the workers home that were started, and waits for them.
    pub(super) fn abandon(mut self) {
        stop_all(&self.office);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }

    /// Something failed: starts a new incarnation, if that may help and nobody wants an end.
    /// Otherwise the run ends with what `failed` says then.
    pub(super) fn recover(&mut self) {
        if self.papers.stop == Stop::Now || self.asked == Stop::Now {
            return;
        }
        let Some(cause) = self.failed.take() else { return };
        let now = self.office.watch.mono();
        let resume = match self.coordinator.restart(now, cause) {
            Ok(resume) => Arc::new(resume),
            Err(cause) => {
                self.failed = Some(cause);
                return;
            }
        };
        // Words of the incarnation to come: what hears them stops.
        stop_all(&self.office);
        let home = self.send_home();
        // What else failed as all fell, and might have passed, is of the past.
        self.failed = self.failed.take().filter(|error| !error.may_pass());
        if !home {
            self.failed = Some(self.stuck(&resume.cause));
        }
        if self.failed.is_some() || self.asked == Stop::Now {
            // `heed` ends the run. Nobody is left to hear it, or nobody who would listen.
            return;
        }
        let ends = std::mem::take(&mut self.ends);
        self.ends.resize_with(ends.len(), || None);
        self.ended = 0;
        self.totals.add(ends);
        self.totals.died(self.office.plan.config.tracked());
        self.office.live.begin(resume.incarnation, &self.totals, self.office.watch.mono());
        match self.hire(Some(&resume)) {
            Ok(()) => {
                let now = self.office.watch.mono();
                self.coordinator.start(now, &mut self.hands);
            }
            Err(error) => {
                // Those that have no thread will not come back.
                self.ended = self.ends.len() - self.threads.len();
                self.failed = Some(error);
            }
        }
    }

    /// Waits until every thread has ended, its tasks dropped, and clears all mail away; `false`
    /// where one does not end, within the time of a drain or, once the run is to stop, a second.
    fn send_home(&mut self) -> bool {
        let start = self.office.watch.mono();
        let drain = whole(self.office.plan.config.drain.max(GRACE));
        while !self.threads.iter().all(std::thread::JoinHandle::is_finished) {
            let now = self.office.watch.mono();
            self.hear_wishes(now);
            let patience: Nanos = if self.asked == Stop::Now { whole(GRACE) } else { drain };
            if now.saturating_sub(start) >= patience {
                return false;
            }
            self.read(GRAIN);
            let overrunning = self.office.watch.overrunning(whole(self.office.plan.config.overrun));
            self.publish(now, &overrunning);
        }
        for thread in self.threads.drain(..) {
            // A panic of the thread was caught inside of it.
            let _ = thread.join();
        }
        self.read(Duration::ZERO);
        for worker in 0..self.office.plan.config.workers {
            // A panic of an item's drop changes nothing.
            let gone = guarded(|| self.office.mailbox(worker).clear());
            drop(gone);
        }
        true
    }

    /// Who did not come back.
    fn stuck(&self, cause: &str) -> RunError {
        let overrunning = self.office.watch.overrunning(whole(GRACE) / 2);
        let who = match overrunning.first() {
            Some(&(_, task, _)) => {
                let (component, task) = summary::name(&self.office.plan, task);
                format!("{component}[{task}]")
            }
            None => {
                let at = self.threads.iter().position(|thread| !thread.is_finished());
                format!("worker {}", at.unwrap_or(0))
            }
        };
        RunError::Stuck { who, cause: cause.to_owned() }
    }
}
