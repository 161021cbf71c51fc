//! SIGINT and SIGTERM: the first lets what is under way finish, a second stops at once, and
//! neither ever waits for something that may not end.
//!
//! | in | first | second |
//! |---|---|---|
//! | start | drains as soon as the run is there | ends the process |
//! | run | drains | stops at once; the process ends within [`DEADLINE`] |
//! | report | gives it [`DEADLINE`] to be written | ends the process |
//!
//! A third ends the process wherever it is.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use streamwright::{Stop, StopHandle};

use super::console::Console;
use super::exit::Exit;

/// How long the process may live on after a signal that is not to be waited for. The engine
/// gives workers a second to stop before it leaves them behind; the report comes after.
const DEADLINE: Duration = Duration::from_secs(2);

/// What interrupted the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interrupt {
    /// SIGINT, from Ctrl-C.
    Int,
    /// SIGTERM.
    Term,
}

impl Interrupt {
    /// Its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Interrupt::Int => "SIGINT",
            Interrupt::Term => "SIGTERM",
        }
    }
}

/// How to end the run that is there.
#[derive(Clone, Debug)]
pub(super) enum Stopper {
    /// On threads: it can finish what is under way.
    Threads(StopHandle),
    /// In virtual time: it stops where it is.
    Sim(Arc<AtomicBool>),
}

impl Stopper {
    pub(super) fn stop(&self, how: Stop) {
        match self {
            Stopper::Threads(run) => run.stop(how),
            Stopper::Sim(flag) => flag.store(true, Ordering::Relaxed),
        }
    }
}

/// Where the process is.
#[derive(Debug, Default)]
enum Phase {
    #[default]
    Start,
    Run(Stopper),
    Report,
}

#[derive(Debug, Default)]
struct State {
    phase: Phase,
    first: Option<Interrupt>,
    seen: u32,
}

/// Listens for signals and acts on them.
#[derive(Clone, Debug)]
pub(super) struct Watchman {
    state: Arc<Mutex<State>>,
    console: Console,
}

impl Watchman {
    /// Starts listening, on a thread of its own: the main thread may be stuck in a write.
    pub(super) fn start(console: &Console) -> io::Result<Self> {
        let watchman = Watchman { state: Arc::default(), console: console.clone() };
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        let mine = watchman.clone();
        thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for signal in signals.forever() {
                mine.heed(if signal == SIGTERM { Interrupt::Term } else { Interrupt::Int });
            }
        })?;
        Ok(watchman)
    }

    /// The run is there: from now on signals stop it.
    pub(super) fn running(&self, run: Stopper) {
        let mut state = self.lock();
        if state.first.is_some() {
            run.stop(Stop::Drain);
        }
        state.phase = Phase::Run(run);
    }

    /// The run is over: from now on there is only its report to be written. Says what
    /// interrupted it.
    pub(super) fn reporting(&self) -> Option<Interrupt> {
        let mut state = self.lock();
        state.phase = Phase::Report;
        state.first
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn heed(&self, interrupt: Interrupt) {
        let mut state = self.lock();
        state.seen += 1;
        let first = *state.first.get_or_insert(interrupt);
        let name = interrupt.name();
        let line = match (&state.phase, state.seen) {
            (Phase::Run(run), 1) => {
                run.stop(Stop::Drain);
                if matches!(run, Stopper::Sim(_)) {
                    return;
                }
                format!("{name}: finishing what is under way; once more stops at once")
            }
            (Phase::Run(run), 2) => {
                run.stop(Stop::Now);
                end_within(DEADLINE, first);
                format!("{name} again: stopping at once")
            }
            (Phase::Start, 1) => format!("{name}: stopping; once more stops at once"),
            (Phase::Report, 1) => {
                end_within(DEADLINE, first);
                return;
            }
            _ => end(first),
        };
        drop(state);
        self.console.say(&line);
    }
}

fn end(interrupt: Interrupt) -> ! {
    std::process::exit(i32::from(Exit::Interrupted(interrupt).code()))
}

/// Ends the process after `time`, whatever the main thread is at by then.
fn end_within(time: Duration, interrupt: Interrupt) {
    let wait = move || {
        thread::sleep(time);
        end(interrupt)
    };
    if thread::Builder::new().name("deadline".to_owned()).spawn(wait).is_err() {
        end(interrupt);
    }
}
