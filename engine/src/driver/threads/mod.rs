//! The default driver: one thread a worker, bounded queues between them, no send that blocks.

mod coordinate;
mod letters;
mod live;
mod mailbox;
mod meter;
mod office;
mod recover;
mod sync;
mod watch;
mod worker_loop;

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

pub use letters::LetterHandler;
pub use office::Stop;

use crate::core::{Resume, Worker, guarded};
use crate::driver::snapshot::{self, Told};
use crate::report::{Report, RunError, WorkerStats};
use crate::stats::Stats;
use crate::topology::Topology;
use coordinate::Running;
use live::Seen;
use office::{Office, WakeWorker};

/// How things stand in a run.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Status {
    /// Time since the start.
    pub elapsed: Duration,
    /// Records that spouts have emitted.
    pub records: u64,
    /// Epochs closed everywhere.
    pub epochs: u64,
    /// Tasks that have been in one step for longer than the overrun: component, task, how long.
    pub overrunning: Vec<(String, u32, Duration)>,
    /// The last report of a time without progress.
    pub stall: Option<String>,
}

/// Looks at a run; clones look at the same run, from any thread, also once it is over.
#[derive(Clone, Debug)]
pub struct Monitor {
    office: Arc<Office>,
    told: Arc<Mutex<Told>>,
}

impl Monitor {
    /// How the run stands: figures of one moment, not older than a few milliseconds, that add up.
    /// Once the run is over they are those of its report.
    ///
    /// No worker is stopped for it. Each leaves its figures between two of its steps, and at most
    /// every two milliseconds; this waits for them, but no longer than 20 ms. Where a worker is in
    /// a long call, its figures are those of before: [`Stats::whole`] says so.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let office = &self.office;
        let workers = || 0..office.plan.config.workers;
        let wake = || workers().for_each(|worker| office.mailbox(worker).wake());
        match office.live.look(office.watch.mono(), wake) {
            Seen::Over(stats) => *stats,
            Seen::Cut { totals, at, incarnation, whole } => {
                let told = self.told.lock().unwrap_or_else(PoisonError::into_inner).clone();
                let mut queues = vec![0; office.plan.components.len()];
                for worker in workers() {
                    let held = office.mailbox(worker).held();
                    queues.iter_mut().zip(held).for_each(|(sum, one)| *sum += one);
                }
                let told = Told { incarnation, ..told };
                let at = Duration::from_nanos(at);
                let stats = snapshot::stats(&office.plan, &totals, at, told, &queues, false);
                Stats { whole, ..stats }
            }
        }
    }
}

/// Stops a run; clones stop the same run, from any thread.
#[derive(Clone, Debug)]
pub struct StopHandle(Arc<Office>);

impl StopHandle {
    /// Asks the run to end. The stronger of several wishes holds.
    pub fn stop(&self, how: Stop) {
        self.0.desk().stop(how);
    }
}

/// A run on threads. Dropping the handle does not stop the run.
#[derive(Debug)]
#[must_use = "wait for the run, or it goes on unseen"]
pub struct Handle {
    office: Arc<Office>,
    told: Arc<Mutex<Told>>,
    status: Arc<Mutex<Status>>,
    coordinator: JoinHandle<Result<Report, RunError>>,
}

impl Handle {
    /// A handle that stops the run.
    #[must_use]
    pub fn stopper(&self) -> StopHandle {
        StopHandle(Arc::clone(&self.office))
    }

    /// Asks the run to end. The stronger of several wishes holds.
    pub fn stop(&self, how: Stop) {
        self.office.desk().stop(how);
    }

    /// What looks at the run, also once it is over and this handle is gone.
    #[must_use]
    pub fn monitor(&self) -> Monitor {
        Monitor { office: Arc::clone(&self.office), told: Arc::clone(&self.told) }
    }

    /// How the run stands, in full: see [`Monitor::stats`].
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.monitor().stats()
    }

    /// How things stand, in short, a few milliseconds ago.
    #[must_use]
    pub fn status(&self) -> Status {
        self.status.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether the run is over.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.coordinator.is_finished()
    }

    /// Waits for the end.
    ///
    /// # Errors
    /// What ended the run before its time.
    pub fn wait(self) -> Result<Report, RunError> {
        self.coordinator.join().unwrap_or_else(|panic| {
            let message = crate::core::panic_message(panic);
            Err(RunError::Coordinator { message })
        })
    }
}

/// Runs a topology to its end.
///
/// # Errors
/// What ended the run before its time: see [`RunError`].
pub fn run(topology: Topology) -> Result<Report, RunError> {
    start(topology, None)?.wait()
}

/// Starts a topology. Dead letters go to `letters`, or where that is `None` into the report.
///
/// # Errors
/// [`RunError::Thread`] or [`RunError::Coordinator`] where a thread cannot be started.
pub fn start(topology: Topology, letters: Option<LetterHandler>) -> Result<Handle, RunError> {
    let office = Arc::new(Office::new(topology.plan()));
    let status = Arc::new(Mutex::new(Status::default()));
    let told = Arc::new(Mutex::new(Told::default()));
    let topology = Arc::new(topology);
    let mut running = Running::new(&topology, &office, (&status, &told), letters)?;
    if let Err(error) = running.hire(None) {
        running.abandon();
        return Err(error);
    }
    let coordinator = std::thread::Builder::new()
        .name("coordinator".to_owned())
        .spawn(move || running.run())
        .map_err(|e| RunError::Coordinator { message: e.to_string() })?;
    Ok(Handle { office, told, status, coordinator })
}

fn start_worker(
    topology: &Arc<Topology>,
    office: &Arc<Office>,
    me: u32,
    resume: Option<&Arc<Resume>>,
) -> Result<JoinHandle<()>, RunError> {
    let (topology, office) = (Arc::clone(topology), Arc::clone(office));
    let resume = resume.map(Arc::clone);
    let work = move || {
        let waker = std::task::Waker::from(Arc::new(WakeWorker {
            office: Arc::clone(&office),
            worker: me,
        }));
        let mut worker = None;
        // The core answers for user code; this is for a fault of the engine itself.
        let outcome = guarded(|| {
            office.watch.sit_down(me);
            let worker = worker.insert(match resume {
                None => Worker::new(&topology, me, 0, waker),
                Some(resume) => Worker::resume(&topology, me, waker, &resume),
            });
            worker_loop::run(worker, &office, me)
        });
        // The figures first: dropping what the tasks hold may take its time.
        let (figures, error) = match outcome {
            Ok(Ok(figures)) => (Some(figures), None),
            Ok(Err(error)) => (None, Some(error)),
            Err(message) => (None, Some(RunError::Worker { worker: me, message })),
        };
        // A run that goes on counts what was done before the failure, too.
        let figures = figures.or_else(|| {
            let worker = worker.as_mut()?;
            guarded(|| (worker.figures(), WorkerStats::default())).ok()
        });
        if let Some(error) = error {
            office.desk().fail(error);
        }
        office.desk().ended(me, figures);
        if let Some(worker) = worker {
            worker.dismantle();
        }
    };
    std::thread::Builder::new()
        .name(format!("worker-{me}"))
        .spawn(work)
        .map_err(|e| RunError::Thread { worker: me, message: e.to_string() })
}
