//! The arguments, their limits and their help.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, Subcommand, ValueEnum};
use streamwright::demos::wordcount::{ENDLESS, Tasks};
use streamwright::{MAX_WORKERS, Schedule};

use super::color::Color;
use super::{duration, exit};

/// Help that comes first: what to type.
const EXAMPLES: &str = "\
Examples:
  streamwright run wordcount
      count made-up lines; needs nothing, ends in seconds
  streamwright run wordcount --input book.txt --workers 4
      count the words of a text on four threads
  gzip -dc log.gz | streamwright run wordcount --input - --top 20
      count standard input
  streamwright run wordcount --drop 1000 --seed 7
      lose a tuple in a thousand on its way, and see every line replayed until it is acked
  streamwright run wordcount --lines endless --rate 40k,+10k/60s
      40,000 lines a second, 10,000 more after each minute, until Ctrl-C
  streamwright run wordcount --driver sim --cluster cluster.toml
      what a cluster would do, in virtual time: the same run from the same seed
  streamwright run wordcount --json --top all > run.json
      every figure, every word, for a program to read";

/// A Storm-like stream processor: every tuple tracked to its end.
#[derive(Debug, Parser)]
#[command(name = "streamwright", version, before_help = EXAMPLES, after_help = after_help())]
pub(super) struct Args {
    /// What to do.
    #[command(subcommand)]
    pub(super) command: Command,
}

/// What can be done.
#[allow(clippy::large_enum_variant, reason = "there is one of them")]
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run a demo and report on it.
    #[command(before_help = EXAMPLES, after_help = after_help())]
    Run {
        /// Which one.
        #[command(subcommand)]
        demo: Demo,
    },
    /// List the demos, one line each.
    Demos,
}

/// The demos.
#[derive(Debug, Subcommand)]
pub(super) enum Demo {
    /// Count the words of a text, or of made-up lines.
    #[command(before_help = EXAMPLES, after_help = after_help())]
    Wordcount(Wordcount),
}

/// Settings of `run wordcount`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Wordcount {
    /// Text to count: a file, a FIFO, or - for standard input [default: made-up lines].
    #[arg(long, value_name = "FILE|-")]
    pub(super) input: Option<PathBuf>,

    /// What runs it: threads of this machine, or a simulated cluster.
    #[arg(long, value_name = "WHAT", value_enum, default_value_t)]
    pub(super) driver: Driver,

    /// The cluster to simulate: nodes, links, costs and faults, in TOML.
    #[arg(long, value_name = "FILE", required_if_eq("driver", "sim"))]
    pub(super) cluster: Option<PathBuf>,

    /// How many lines to make up, with the word law of an English novel; endless until a signal.
    #[arg(long, value_name = "N|endless", default_value = "500000", value_parser = parse_lines, conflicts_with = "input")]
    pub(super) lines: u64,

    /// Lines a second, whatever becomes of them, as 40k, or 40k,+10k/60s for 10,000 more each minute,
    /// or 40k/5m,20k; latency counts from when a line was due [default: as fast as may be].
    // A sign is for the schedule to judge, not another option.
    #[arg(long, value_name = "SCHEDULE", allow_hyphen_values = true)]
    pub(super) rate: Option<Schedule>,

    /// Worker threads [default: 2, or 1 on one core; simulated, one a core of the cluster].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_WORKERS)))]
    pub(super) workers: Option<u32>,

    /// Tasks of the components, as lines=1,split=2,count=2, or one number for all
    /// [default: as many as workers].
    #[arg(long, value_name = "TASKS", value_parser = parse_tasks)]
    pub(super) tasks: Option<TaskNumbers>,

    /// Let each worker count its words before they travel; not with exactly-once.
    #[arg(long)]
    pub(super) combine: bool,

    /// Ackers that track lines, at most one a worker [default: as many as workers].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) ackers: Option<u32>,

    /// Tuples in a million to lose on their way, to try out replay.
    #[arg(long, value_name = "PPM", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    pub(super) drop: u32,

    /// How long a line may show no sign of life before it is replayed, as 500ms, 2s, 1m.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = duration::parse)]
    pub(super) timeout: Duration,

    /// How long a batch that is not full may wait.
    #[arg(long, value_name = "TIME", default_value = "5ms", value_parser = duration::parse)]
    pub(super) linger: Duration,

    /// Unfinished lines that a task may have.
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) max_pending: u32,

    /// Attempts before a line is a dead letter.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) attempts: u32,

    /// What is promised of a line.
    #[arg(long, value_name = "WHAT", value_enum, default_value_t)]
    pub(super) guarantee: Promise,

    /// Seed of the made-up lines and of all that is drawn by lot [default: 0; of a simulated
    /// network's chances, that of the cluster file].
    #[arg(long, value_name = "SEED")]
    pub(super) seed: Option<u64>,

    /// Words to list, the most frequent first: a number, or all.
    #[arg(long, value_name = "N|all", default_value = "10", value_parser = parse_top)]
    pub(super) top: Top,

    /// Print one JSON object, schema streamwright.run/1, instead of text.
    #[arg(long)]
    pub(super) json: bool,

    /// Whether the text may have colour.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    pub(super) color: Color,
}

/// What runs it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Driver {
    /// One thread a worker.
    #[default]
    Threads,
    /// In virtual time.
    Sim,
}

/// What is promised of a line.
#[allow(clippy::enum_variant_names, reason = "the names of the field")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Promise {
    /// Every line is acked, or a dead letter after its last attempt; replays may count twice.
    #[default]
    AtLeastOnce,
    /// Nothing is tracked or repeated; what is lost is lost.
    AtMostOnce,
    /// As at-least-once, and every line counts once; a line out of attempts ends the run.
    ExactlyOnce,
}

/// How many words to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Top(pub(super) usize);

fn parse_lines(text: &str) -> Result<u64, String> {
    match text {
        "endless" => Ok(ENDLESS),
        number => number.parse().map_err(|_| "write a number, or endless".to_owned()),
    }
}

fn parse_top(text: &str) -> Result<Top, String> {
    match text {
        "all" => Ok(Top(usize::MAX)),
        number => number.parse().map(Top).map_err(|_| "write a number, or all".to_owned()),
    }
}

/// Tasks as far as they were said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TaskNumbers {
    lines: Option<u32>,
    split: Option<u32>,
    count: Option<u32>,
}

impl TaskNumbers {
    /// What was said, and `workers` where nothing was.
    pub(super) fn or(self, workers: u32) -> Tasks {
        let or = |said: Option<u32>| said.unwrap_or(workers);
        Tasks { lines: or(self.lines), split: or(self.split), count: or(self.count) }
    }
}

fn parse_tasks(text: &str) -> Result<TaskNumbers, String> {
    let number = |text: &str| match text.parse() {
        Ok(0) => Err("a component needs at least one task".to_owned()),
        Ok(n) => Ok(Some(n)),
        Err(_) => Err(format!("{text:?} is no number of tasks")),
    };
    let mut tasks = TaskNumbers::default();
    if !text.contains('=') {
        let all = number(text)?;
        return Ok(TaskNumbers { lines: all, split: all, count: all });
    }
    for part in text.split(',') {
        let (component, tasks_of_it) =
            part.split_once('=').ok_or_else(|| format!("{part:?} is not component=tasks"))?;
        let place = match component {
            "lines" => &mut tasks.lines,
            "split" => &mut tasks.split,
            "count" => &mut tasks.count,
            other => return Err(format!("no component {other:?}: there are lines, split, count")),
        };
        if place.is_some() {
            return Err(format!("{component} is given twice"));
        }
        *place = number(tasks_of_it)?;
    }
    Ok(tasks)
}

fn after_help() -> String {
    format!(
        "\
Output:
  The report goes to standard output, everything else to standard error. A figure that is not
  defined is - in text and null in JSON. Colour and the progress line need a terminal that is not
  dumb; --color beats a NO_COLOR that is not empty, which beats the terminal.

Signals:
  The first SIGINT or SIGTERM lets what is under way finish and reports on it; a second one stops
  at once.

{}",
        exit::TABLE
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_one_number_or_some_by_name() {
        let tasks = |text| parse_tasks(text).map(|tasks| tasks.or(9));
        assert_eq!(tasks("3"), Ok(Tasks { lines: 3, split: 3, count: 3 }));
        assert_eq!(tasks("count=2,lines=1"), Ok(Tasks { lines: 1, split: 9, count: 2 }));
        for wrong in
            ["", "0", "x", "lines=0", "lines", "table=2", "lines=1,lines=2", "lines=1,", "-1"]
        {
            assert!(tasks(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_arguments_are_well_formed() {
        use clap::CommandFactory;
        Args::command().debug_assert();
    }
}
