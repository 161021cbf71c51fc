//! `streamwright run wordcount`.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use streamwright::demos::wordcount::input::{InputError, Source};
use streamwright::demos::wordcount::{Origin, SetupError, Tasks, Ways, WordCount};
use streamwright::threads::{self, Handle, Stop};
use streamwright::{Config, Guarantee, Report, RunError, Topology};

use super::args::{Driver, Promise, Wordcount};
use super::cluster::Scenario;
use super::color::Paint;
use super::console::Console;
use super::exit::Exit;
use super::gather::{self, Told};
use super::signals::{Stopper, Watchman};
use super::simulated::{self, Simulated};
use super::summary::Summary;
use super::{json, output, text, warnings};

/// How often the main thread looks whether the run is over.
const LOOK: Duration = Duration::from_millis(2);
/// Looks between two at what takes a system call or a lock.
const LOOKS: u32 = 25;

/// Runs WordCount and reports on it.
pub(super) fn wordcount(options: &Wordcount) -> Exit {
    let console = Console::new();
    run(options, &console).unwrap_or_else(|(message, exit)| {
        console.finish();
        console.say(&format!("error: {message}"));
        exit
    })
}

fn run(options: &Wordcount, console: &Console) -> Result<Exit, (String, Exit)> {
    let watchman = Watchman::start(console)
        .map_err(|error| (format!("cannot listen for signals: {error}"), Exit::Failed))?;
    let scenario = scenario(options)?;
    let (config, tasks) = settings(options, scenario.as_ref());
    let ways = Ways { combine: options.combine, rate: options.rate.clone() };
    let demo = WordCount::with(&origin(options), tasks, config.clone(), ways).map_err(refused)?;
    let (topology, results) = demo.split();
    let ended = match &scenario {
        None => on_threads(topology, options, &watchman, console)?,
        Some(scenario) => simulated(topology, scenario, options, &watchman)?,
    };
    let Some(Ended { outcome, sim }) = ended else {
        console.finish();
        return Ok(Exit::BrokenPipe);
    };
    console.finish();
    let interrupted = watchman.reporting();
    let told = Told { options, config: &config, tasks };
    let (outcome, failure) = match outcome {
        Ok(report) => (Ok(report), Exit::Failed),
        Err((message, exit)) => (Err(message), exit),
    };
    let mut summary = gather::summary(told, &outcome, &results, interrupted);
    summary.sim = sim;
    let exit = match &outcome {
        Err(message) => {
            console.say(&format!("error: {message}"));
            failure
        }
        Ok(report) => match interrupted {
            Some(signal) if !report.complete => Exit::Interrupted(signal),
            _ if report.complete && report.dead == 0 && report.lost_epochs() == 0 => Exit::Done,
            _ => Exit::Failed,
        },
    };
    let printed = print(&summary, options, outcome.is_ok(), exit);
    if printed != Exit::BrokenPipe {
        warnings::tell(&summary, console);
    }
    Ok(printed)
}

/// How a run ended.
struct Ended {
    outcome: Result<Report, (String, Exit)>,
    sim: Option<Simulated>,
}

/// Runs on threads; `None` where nobody reads standard output any more.
fn on_threads(
    topology: Topology,
    options: &Wordcount,
    watchman: &Watchman,
    console: &Console,
) -> Result<Option<Ended>, (String, Exit)> {
    let handle = threads::start(topology, None).map_err(|e| (e.to_string(), Exit::Failed))?;
    watchman.running(Stopper::Threads(handle.stopper()));
    if !watch(&handle, console) {
        return Ok(None);
    }
    let outcome = handle.wait().map_err(|error| failed(&error, options));
    Ok(Some(Ended { outcome, sim: None }))
}

/// Runs in virtual time; `None` where nobody reads standard output any more.
fn simulated(
    topology: Topology,
    scenario: &Scenario,
    options: &Wordcount,
    watchman: &Watchman,
) -> Result<Option<Ended>, (String, Exit)> {
    let stop = Arc::new(AtomicBool::new(false));
    let sim = scenario.sim(options.seed)?.stop_when(Arc::clone(&stop));
    let thread = thread::Builder::new()
        .name("sim".to_owned())
        .spawn(move || sim.run(topology))
        .map_err(|error| (format!("no thread for the simulation: {error}"), Exit::Failed))?;
    let stopper = Stopper::Sim(stop);
    watchman.running(stopper.clone());
    let mut looks = 0;
    while !thread.is_finished() {
        if looks == 0 && output::reader_has_gone() {
            stopper.stop(Stop::Now);
            return Ok(None);
        }
        looks = (looks + 1) % LOOKS;
        thread::sleep(LOOK);
    }
    let outcome = match thread.join() {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(error)) => {
            if let Some(refusal) = scenario.blame(&error) {
                return Err(refusal);
            }
            return Ok(Some(Ended { outcome: Err((error.to_string(), Exit::Failed)), sim: None }));
        }
        // What it was has been printed as it happened.
        Err(_) => return Err(("the simulation panicked".to_owned(), Exit::Failed)),
    };
    let cluster = options.cluster.as_deref().unwrap_or(Path::new(""));
    let sim = Some(simulated::tell(cluster, &outcome));
    Ok(Some(Ended { outcome: Ok(outcome.report), sim }))
}

/// The cluster to simulate, if one is to be.
fn scenario(options: &Wordcount) -> Result<Option<Scenario>, (String, Exit)> {
    let refuse = |message: &str| Err((message.to_owned(), Exit::Usage));
    match (options.driver, &options.cluster) {
        (Driver::Threads, None) => Ok(None),
        (Driver::Threads, Some(_)) => refuse("--cluster is for --driver sim"),
        (Driver::Sim, _) if options.input.is_some() => {
            refuse("--driver sim counts made-up lines: an input is read outside of virtual time")
        }
        // The arguments ask for one.
        (Driver::Sim, None) => refuse("--driver sim asks for --cluster FILE"),
        (Driver::Sim, Some(cluster)) => Scenario::read(cluster).map(Some),
    }
}

/// Prints the report. Of a run that failed, only JSON tells what little there is: half a text
/// might pass for a whole one.
fn print(summary: &Summary, options: &Wordcount, whole: bool, exit: Exit) -> Exit {
    if options.json {
        match json::render(summary) {
            Ok(bytes) => output::print(&bytes, exit),
            Err(_) => Exit::Failed,
        }
    } else if whole {
        output::print(&text::render(summary, Paint(options.color.allowed())), exit)
    } else {
        exit
    }
}

/// Waits for the run to end, with progress. Stops it and gives `false` if nobody reads standard
/// output any more.
fn watch(handle: &Handle, console: &Console) -> bool {
    let mut looks = 0;
    while !handle.is_finished() {
        if looks == 0 {
            if output::reader_has_gone() {
                handle.stopper().stop(Stop::Now);
                return false;
            }
            if console.has_progress() {
                console.progress(&handle.status());
            }
        }
        looks = (looks + 1) % LOOKS;
        thread::sleep(LOOK);
    }
    true
}

/// The settings in force: what was said, and the defaults of this demo.
fn settings(options: &Wordcount, scenario: Option<&Scenario>) -> (Config, Tasks) {
    let here = || {
        let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
        if cores > 1 { 2 } else { 1 }
    };
    let workers = options.workers.unwrap_or_else(|| scenario.map_or_else(here, Scenario::workers));
    let mut config = Config::default();
    config.workers = workers;
    config.ackers = options.ackers.unwrap_or(workers);
    config.guarantee = match options.guarantee {
        Promise::AtLeastOnce => Guarantee::AtLeastOnce,
        Promise::AtMostOnce => Guarantee::AtMostOnce,
        Promise::ExactlyOnce => Guarantee::ExactlyOnce,
    };
    config.timeout = options.timeout;
    config.linger = options.linger;
    config.max_pending = options.max_pending as usize;
    config.attempts = options.attempts;
    config.drop_ppm = options.drop;
    config.seed = options.seed.unwrap_or(0);
    (config, options.tasks.unwrap_or_default().or(workers))
}

fn origin(options: &Wordcount) -> Origin {
    match &options.input {
        None => Origin::Generated(options.lines),
        Some(path) if path == Path::new("-") => Origin::Input(Source::Stdin),
        Some(path) => Origin::Input(Source::File(path.clone())),
    }
}

/// What to say of a run that could not be set up.
fn refused(error: SetupError) -> (String, Exit) {
    let exit = match &error {
        SetupError::Input(InputError::Thread { .. }) => Exit::Failed,
        SetupError::Input(_) => Exit::Input,
        _ => Exit::Usage,
    };
    (error.to_string(), exit)
}

/// What to say of a run that failed. The spout of an input fails by that input: one that was
/// opened only as the run began, or broke off.
fn failed(error: &RunError, options: &Wordcount) -> (String, Exit) {
    match error {
        RunError::Spout { component, message, .. }
            if component == "lines" && options.input.is_some() =>
        {
            (message.clone(), Exit::Input)
        }
        error => (error.to_string(), Exit::Failed),
    }
}
