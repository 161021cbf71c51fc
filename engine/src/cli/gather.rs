//! Fills a [`Summary`] from what a run left behind.

use std::path::Path;
use std::time::Duration;

use streamwright::demos::wordcount::{Results, Tasks};
use streamwright::{Batch, Config, DeadLetter, EpochEnd, Report, Tagged, TaskStats, Text};

use super::args::{Driver, Wordcount};
use super::repeat;
use super::signals::Interrupt;
use super::summary::{
    Component, Crash, Input, LETTER_BYTES, Latency, Letter, Overrun, Settings, Stream, Summary,
    Task, TaskCounts, Tracking, Word, Worker,
};

/// What a run was told to do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told<'a> {
    /// The arguments.
    pub(super) options: &'a Wordcount,
    /// The settings in force.
    pub(super) config: &'a Config,
    /// The tasks in force.
    pub(super) tasks: Tasks,
}

/// Tells of a run. Figures are defined as far as the run left any: one that failed leaves no
/// report, only its counts and what was read.
pub(super) fn summary(
    told: Told<'_>,
    outcome: &Result<Report, String>,
    results: &Results,
    interrupted: Option<Interrupt>,
) -> Summary {
    let Told { options, config, tasks } = told;
    let report = outcome.as_ref().ok();
    let complete = report.is_some_and(|report| report.complete);
    let counts = results.counts();
    let words = counts.iter().map(|(_, count)| count).sum();
    let lines = report.map(|report| report.records);
    let elapsed = report.map(|report| report.elapsed);
    let distinct_words = counts.len() as u64;
    Summary {
        schema: "streamwright.run/1",
        version: env!("CARGO_PKG_VERSION"),
        demo: "wordcount",
        driver: match options.driver {
            Driver::Threads => "threads",
            Driver::Sim => "sim",
        },
        complete,
        interrupted: interrupted.filter(|_| !complete).map(Interrupt::name),
        error: outcome.as_ref().err().cloned(),
        command: repeat::command(options, config, tasks),
        seed: config.seed,
        input: input(options.input.as_deref(), results),
        config: settings(options, config, tasks),
        elapsed_us: elapsed.map(micros),
        lines,
        words,
        distinct_words,
        lines_per_s: lines.and_then(|lines| rate(lines, elapsed)),
        words_per_s: rate(words, elapsed),
        epochs: report.map(|report| report.epochs),
        tracking: report.filter(|_| config.tracked()).map(tracking).unwrap_or_default(),
        latency_us: report.and_then(latency),
        components: report.map(components).unwrap_or_default(),
        tasks: list(report, |report| &report.tasks, |task| self::task(task, elapsed)),
        streams: list(
            report,
            |report| &report.streams,
            |stream| Stream {
                from: stream.from.clone(),
                to: stream.to.clone(),
                grouping: stream.grouping,
                combined: stream.counters.combined,
                transferred: stream.counters.transferred,
                executed: stream.counters.executed,
                lost: stream.counters.lost,
                in_flight: stream.in_flight(),
            },
        ),
        workers: list(
            report,
            |report| &report.workers,
            |worker| Worker {
                busy_us: micros(worker.busy),
                idle_us: micros(worker.idle),
                blocked_us: micros(worker.blocked),
                outbox_peak: worker.outbox_peak as u64,
            },
        ),
        crashes: list(
            report,
            |report| &report.crashes,
            |crash| Crash {
                cause: crash.cause.clone(),
                at_us: micros(crash.at),
                incarnation: crash.incarnation,
                resumed: crash.resumed,
                lost_epochs: crash.lost_epochs(),
            },
        ),
        stalls: list(report, |report| &report.stalls, ToString::to_string),
        overruns: list(
            report,
            |report| &report.overruns,
            |(component, task, time)| Overrun {
                component: component.clone(),
                task: *task,
                time_us: micros(*time),
            },
        ),
        sim: None,
        dead_letters: list(report, |report| &report.dead_letters, letter),
        top: counts.into_iter().take(options.top.0).map(word).collect(),
    }
}

fn list<T, U>(
    report: Option<&Report>,
    of: impl FnOnce(&Report) -> &Vec<T>,
    f: impl Fn(&T) -> U,
) -> Vec<U> {
    report.map(|report| of(report).iter().map(f).collect()).unwrap_or_default()
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// So many in a second, where any time has passed.
fn rate(number: u64, elapsed: Option<Duration>) -> Option<f64> {
    let seconds = elapsed?.as_secs_f64();
    finite(number as f64 / seconds)
}

fn finite(figure: f64) -> Option<f64> {
    figure.is_finite().then_some(figure)
}

fn input(path: Option<&Path>, results: &Results) -> Input {
    let Some(path) = path else {
        return Input { kind: "generator", path: None, bytes: None, cut_lines: None, shrank: None };
    };
    let stdin = path == Path::new("-");
    let read = results.read();
    Input {
        kind: if stdin { "stdin" } else { "file" },
        path: (!stdin).then(|| path.to_string_lossy().into_owned()),
        bytes: Some(read.bytes),
        cut_lines: Some(read.cut_lines),
        shrank: Some(read.shrank),
    }
}

fn settings(options: &Wordcount, config: &Config, tasks: Tasks) -> Settings {
    let (epoch_us, epoch_records) = match config.epoch {
        EpochEnd::Every(time) => (Some(micros(time)), None),
        EpochEnd::Records(records) => (None, Some(records)),
        _ => (None, None),
    };
    Settings {
        workers: config.workers,
        ackers: config.tracked().then_some(config.ackers),
        tasks: TaskCounts { lines: tasks.lines, split: tasks.split, count: tasks.count },
        combine: options.combine,
        guarantee: repeat::guarantee(config.guarantee),
        timeout_us: micros(config.timeout),
        linger_us: micros(config.linger),
        max_pending: config.max_pending as u64,
        attempts: config.attempts,
        rate: options.rate.as_ref().map(ToString::to_string),
        drop_ppm: config.drop_ppm,
        epoch_us,
        epoch_records,
        window: config.window,
        queue: config.queue as u64,
        batch: config.batch as u64,
    }
}

fn tracking(report: &Report) -> Tracking {
    Tracking {
        acked: Some(report.acked),
        failed: Some(report.failed),
        replayed: Some(report.replayed),
        dead: Some(report.dead),
        unfinished: Some(report.unfinished.len() as u64),
        peak_live: Some(report.acker.peak_live as u64),
        peak_bytes: Some(report.acker.peak_bytes as u64),
        updates: Some(report.acker.updates),
        late: Some(report.acker.late),
        false_ack_bound: finite(report.acker.false_ack_bound),
    }
}

fn latency(report: &Report) -> Option<Latency> {
    report.latency.map(|latency| Latency {
        p50: micros(latency.p50),
        p90: micros(latency.p90),
        p99: micros(latency.p99),
        p999: micros(latency.p999),
        max: micros(latency.max),
    })
}

fn capacity(task: &TaskStats, elapsed: Option<Duration>) -> Option<f64> {
    elapsed.filter(|elapsed| !elapsed.is_zero()).and_then(|_| finite(task.capacity))
}

fn task(task: &TaskStats, elapsed: Option<Duration>) -> Task {
    Task {
        component: task.component.clone(),
        task: task.task,
        worker: task.worker,
        records: task.records,
        emitted: task.emitted,
        executed: task.executed,
        acked: task.acked,
        failed: task.failed,
        replayed: task.replayed,
        cost_us: micros(task.cost),
        longest_us: micros(task.longest),
        capacity: capacity(task, elapsed),
    }
}

/// Sums of the tasks of each component, which stand one after the other.
fn components(report: &Report) -> Vec<Component> {
    let mut all: Vec<Component> = Vec::new();
    for task in &report.tasks {
        if all.last().is_none_or(|last| last.name != task.component) {
            let fed = report.streams.iter().any(|stream| stream.to == task.component);
            let name = task.component.clone();
            all.push(Component { name, executed: fed.then_some(0), ..Component::default() });
        }
        let Some(sum) = all.last_mut() else { continue };
        sum.tasks += 1;
        sum.emitted += task.emitted;
        sum.executed = sum.executed.map(|executed| executed + task.executed);
        sum.acked += task.acked;
        sum.failed += task.failed;
        sum.replayed += task.replayed;
        sum.cost_us = sum.cost_us.saturating_add(micros(task.cost));
        let busy = capacity(task, Some(report.elapsed));
        sum.capacity = sum.capacity.into_iter().chain(busy).reduce(f64::max);
    }
    all
}

fn letter(letter: &DeadLetter) -> Letter {
    let item = if let Some(line) = letter.item::<Text>() {
        line.iter().next().map(|line| (shorten(line), line.len()))
    } else if let Some(count) = letter.item::<Tagged<u64>>().filter(|count| !count.is_empty()) {
        let (word, total) = count.item(0);
        Some((format!("{} = {total}", shorten(word)), word.len()))
    } else {
        None
    };
    let (item, bytes) = item.map_or((None, None), |(item, bytes)| (Some(item), Some(bytes as u64)));
    Letter {
        component: letter.component.clone(),
        task: letter.task,
        epoch: letter.epoch,
        attempts: letter.attempts,
        reason: letter.reason.to_string(),
        item,
        item_bytes: bytes,
    }
}

/// The beginning of a line, as far as it is UTF-8.
fn shorten(line: &[u8]) -> String {
    let shown = &line[..line.len().min(LETTER_BYTES)];
    let mut text = String::from_utf8_lossy(shown).into_owned();
    if shown.len() < line.len() {
        // A character that the cut went through is not one that the line had wrong.
        text.truncate(text.trim_end_matches('\u{FFFD}').len());
        text.push('…');
    }
    text
}

fn word((raw, count): (Box<[u8]>, u64)) -> Word {
    let (word, bytes) = match std::str::from_utf8(&raw) {
        Ok(word) => (word.to_owned(), None),
        Err(_) => {
            let hex = raw.iter().map(|byte| format!("{byte:02x}")).collect();
            (String::from_utf8_lossy(&raw).into_owned(), Some(hex))
        }
    };
    Word { word, bytes, count, raw }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e43_what_is_not_defined_is_none() {
        assert_eq!(rate(0, None), None);
        assert_eq!(rate(0, Some(Duration::ZERO)), None);
        assert_eq!(rate(5, Some(Duration::ZERO)), None);
        assert_eq!(rate(5, Some(Duration::from_millis(500))), Some(10.0));
        assert_eq!(finite(f64::NAN), None);
        let task_of_no_run = TaskStats { capacity: f64::INFINITY, ..TaskStats::default() };
        assert_eq!(capacity(&task_of_no_run, Some(Duration::from_secs(1))), None);
    }

    #[test]
    fn shortens_between_characters() {
        assert_eq!(shorten("äöü".as_bytes()), "äöü");
        let long = "ä".repeat(LETTER_BYTES);
        assert_eq!(shorten(long.as_bytes()), "ä".repeat(LETTER_BYTES / 2) + "…");
        assert_eq!(shorten(&[b"x", long.as_bytes()].concat()).chars().last(), Some('…'));
        assert_eq!(shorten(b"a\xff"), "a\u{FFFD}");
    }

    #[test]
    fn e37_words_that_are_not_utf_8_are_marked() {
        let marked = word((Box::from(&b"a\xff"[..]), 2));
        assert_eq!((marked.word.as_str(), marked.bytes.as_deref()), ("a\u{FFFD}", Some("61ff")));
        assert_eq!(word((Box::from("à".as_bytes()), 1)).bytes, None);
    }
}
