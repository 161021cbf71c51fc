//! What is told of a run: the one structure that both the text and the JSON show.
//!
//! The fields are those of the JSON schema `streamwright.run/1`. Times are whole microseconds
//! (`_us`); `None` is a figure that is not defined, `null` in JSON and `-` in text.

use serde::Serialize;

use super::simulated::Simulated;

/// A run, told.
#[derive(Debug, Serialize)]
pub(super) struct Summary {
    /// Name and version of this structure. A field may be added without a new version.
    pub(super) schema: &'static str,
    /// Version of streamwright.
    pub(super) version: &'static str,
    /// The demo.
    pub(super) demo: &'static str,
    /// `threads` or `sim`.
    pub(super) driver: &'static str,
    /// Whether the input came to its end and all of it was finished.
    pub(super) complete: bool,
    /// The signal that ended it before its time, if one did.
    pub(super) interrupted: Option<&'static str>,
    /// What failed the run, if it failed; then most figures are not defined.
    pub(super) error: Option<String>,
    /// The command that repeats it.
    pub(super) command: String,
    /// Its seed.
    pub(super) seed: u64,
    /// Where the lines came from.
    pub(super) input: Input,
    /// The settings in force.
    pub(super) config: Settings,
    /// From the start to the end; as all times, virtual where the run is simulated.
    pub(super) elapsed_us: Option<u64>,
    /// Lines emitted, each once.
    pub(super) lines: Option<u64>,
    /// Words counted; those of replayed lines may count more than once.
    pub(super) words: u64,
    /// Distinct words.
    pub(super) distinct_words: u64,
    /// Lines a second.
    pub(super) lines_per_s: Option<f64>,
    /// Words a second.
    pub(super) words_per_s: Option<f64>,
    /// Epochs closed everywhere.
    pub(super) epochs: Option<u64>,
    /// What tracking found; all `null` where nothing is tracked.
    pub(super) tracking: Tracking,
    /// From a line's first emission to its verdict.
    pub(super) latency_us: Option<Latency>,
    /// Figures of every component, in the order of the topology.
    pub(super) components: Vec<Component>,
    /// Figures of every task.
    pub(super) tasks: Vec<Task>,
    /// Figures of every edge: `transferred = executed + lost + in_flight`.
    pub(super) streams: Vec<Stream>,
    /// Figures of every worker.
    pub(super) workers: Vec<Worker>,
    /// What failed and was mended by a new start of all tasks.
    pub(super) crashes: Vec<Crash>,
    /// Times without progress.
    pub(super) stalls: Vec<String>,
    /// Steps longer than the overrun.
    pub(super) overruns: Vec<Overrun>,
    /// What only a simulated run has; `null` on threads, and where the run failed.
    pub(super) sim: Option<Simulated>,
    /// The first dead letters.
    pub(super) dead_letters: Vec<Letter>,
    /// The most frequent words, equals by their bytes.
    pub(super) top: Vec<Word>,
}

/// Where the lines came from.
#[derive(Debug, Serialize)]
pub(super) struct Input {
    /// `generator`, `file` or `stdin`.
    pub(super) kind: &'static str,
    /// The file's path, as far as it is UTF-8.
    pub(super) path: Option<String>,
    /// Bytes read.
    pub(super) bytes: Option<u64>,
    /// Lines over 1 MiB, which were cut at a word boundary.
    pub(super) cut_lines: Option<u64>,
    /// Whether the file became shorter while it was read.
    pub(super) shrank: Option<bool>,
}

/// The settings in force.
#[derive(Debug, Serialize)]
pub(super) struct Settings {
    /// Worker threads.
    pub(super) workers: u32,
    /// Ackers; `null` where nothing is tracked.
    pub(super) ackers: Option<u32>,
    /// Tasks of the components.
    pub(super) tasks: TaskCounts,
    /// Whether workers count words before they travel.
    pub(super) combine: bool,
    /// `at-least-once`, `at-most-once` or `exactly-once`.
    pub(super) guarantee: &'static str,
    /// Time without a sign of life before a replay.
    pub(super) timeout_us: u64,
    /// Longest wait of a batch that is not full.
    pub(super) linger_us: u64,
    /// Unfinished lines a task may have.
    pub(super) max_pending: u64,
    /// Attempts before a line is a dead letter.
    pub(super) attempts: u32,
    /// Lines a second as they are due; `null` where they come as fast as may be.
    pub(super) rate: Option<String>,
    /// Tuples in a million lost on their way.
    pub(super) drop_ppm: u32,
    /// Length of an epoch in time, if time ends it.
    pub(super) epoch_us: Option<u64>,
    /// Length of an epoch in records, if those end it.
    pub(super) epoch_records: Option<u64>,
    /// Epochs that a spout may be ahead.
    pub(super) window: u32,
    /// Batches that a queue holds.
    pub(super) queue: u64,
    /// Tuples of a full batch.
    pub(super) batch: u64,
}

/// Tasks of the components.
#[derive(Debug, Serialize)]
pub(super) struct TaskCounts {
    /// Of the spout.
    pub(super) lines: u32,
    /// Of the bolt that splits.
    pub(super) split: u32,
    /// Of the bolt that counts.
    pub(super) count: u32,
}

/// What tracking found.
#[derive(Debug, Default, Serialize)]
pub(super) struct Tracking {
    /// Lines acked.
    pub(super) acked: Option<u64>,
    /// Attempts that failed.
    pub(super) failed: Option<u64>,
    /// Lines' attempts begun again.
    pub(super) replayed: Option<u64>,
    /// Dead letters.
    pub(super) dead: Option<u64>,
    /// Roots that a run cut short left without a verdict.
    pub(super) unfinished: Option<u64>,
    /// Most live records at once, summed over ackers.
    pub(super) peak_live: Option<u64>,
    /// Most bytes of their tables at once, summed over ackers.
    pub(super) peak_bytes: Option<u64>,
    /// Updates that ackers applied.
    pub(super) updates: Option<u64>,
    /// Messages that came too late and were dropped.
    pub(super) late: Option<u64>,
    /// Upper bound of the probability that any line was acked too early.
    pub(super) false_ack_bound: Option<f64>,
}

/// Percentiles of the complete latency, in microseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Latency {
    /// Median.
    pub(super) p50: u64,
    /// 90th percentile.
    pub(super) p90: u64,
    /// 99th percentile.
    pub(super) p99: u64,
    /// 99.9th percentile.
    pub(super) p999: u64,
    /// The largest.
    pub(super) max: u64,
}

/// Figures of a component, over all its tasks.
#[derive(Debug, Default, Serialize)]
pub(super) struct Component {
    /// Its name.
    pub(super) name: String,
    /// Its tasks.
    pub(super) tasks: u32,
    /// Tuples emitted, replays included.
    pub(super) emitted: u64,
    /// Tuples executed; `null` for a spout.
    pub(super) executed: Option<u64>,
    /// Tuples executed without failure (bolts); lines acked (spouts).
    pub(super) acked: u64,
    /// Tuples that failed (bolts); lines given up (spouts).
    pub(super) failed: u64,
    /// Attempts begun again.
    pub(super) replayed: u64,
    /// CPU time.
    pub(super) cost_us: u64,
    /// The share of the run's time that its busiest task was busy.
    pub(super) capacity: Option<f64>,
}

/// Figures of a task.
#[derive(Debug, Serialize)]
pub(super) struct Task {
    /// Its component.
    pub(super) component: String,
    /// Its number there, from 0.
    pub(super) task: u32,
    /// The worker it runs on.
    pub(super) worker: u32,
    /// Lines emitted for the first time (spouts).
    pub(super) records: u64,
    /// Tuples emitted, replays included.
    pub(super) emitted: u64,
    /// Tuples executed, failed ones included (bolts).
    pub(super) executed: u64,
    /// Tuples executed without failure (bolts); lines acked (spouts).
    pub(super) acked: u64,
    /// Tuples that failed (bolts); lines given up (spouts).
    pub(super) failed: u64,
    /// Attempts begun again.
    pub(super) replayed: u64,
    /// CPU time.
    pub(super) cost_us: u64,
    /// The longest single step.
    pub(super) longest_us: u64,
    /// The share of the run's time that it was busy.
    pub(super) capacity: Option<f64>,
}

/// Figures of an edge.
#[derive(Debug, Serialize)]
pub(super) struct Stream {
    /// The component that emits.
    pub(super) from: String,
    /// The component that takes in.
    pub(super) to: String,
    /// How tuples find their task.
    pub(super) grouping: &'static str,
    /// Tuples that a combiner took in.
    pub(super) combined: u64,
    /// Tuples sent.
    pub(super) transferred: u64,
    /// Tuples executed.
    pub(super) executed: u64,
    /// Tuples lost on their way.
    pub(super) lost: u64,
    /// Tuples sent and neither executed nor known lost.
    pub(super) in_flight: u64,
}

/// Figures of a worker.
#[derive(Debug, Serialize)]
pub(super) struct Worker {
    /// Time in which it worked.
    pub(super) busy_us: u64,
    /// Time in which it had nothing to do.
    pub(super) idle_us: u64,
    /// Time in which all it had was stuck behind full queues.
    pub(super) blocked_us: u64,
    /// Most batches that waited in its outbox at once.
    pub(super) outbox_peak: u64,
}

/// A task's step that took longer than it should.
#[derive(Debug, Serialize)]
pub(super) struct Overrun {
    /// The component.
    pub(super) component: String,
    /// The task's number there, from 0.
    pub(super) task: u32,
    /// Its longest such step.
    pub(super) time_us: u64,
}

/// A failure that was mended by a new start of all tasks.
#[derive(Debug, Serialize)]
pub(super) struct Crash {
    /// What failed, and why.
    pub(super) cause: String,
    /// Time since the start of the run.
    pub(super) at_us: u64,
    /// The incarnation that died, from 0.
    pub(super) incarnation: u64,
    /// The epoch at which the next one went on.
    pub(super) resumed: u64,
    /// Closed epochs whose state was lost: those from `resumed - lost_epochs` on, below `resumed`.
    pub(super) lost_epochs: u64,
}

/// A line that was given up.
#[derive(Debug, Serialize)]
pub(super) struct Letter {
    /// The component that emitted it.
    pub(super) component: String,
    /// The task's number there, from 0.
    pub(super) task: u32,
    /// Its epoch.
    pub(super) epoch: u64,
    /// Attempts made.
    pub(super) attempts: u32,
    /// Why the last one failed.
    pub(super) reason: String,
    /// The line, as far as it is UTF-8, shortened to [`LETTER_BYTES`].
    pub(super) item: Option<String>,
    /// Bytes of the whole line.
    pub(super) item_bytes: Option<u64>,
}

/// Bytes of a dead letter's line that are shown.
pub(super) const LETTER_BYTES: usize = 120;

/// A word and its count.
#[derive(Debug, Serialize)]
pub(super) struct Word {
    /// The word, with U+FFFD for what is not UTF-8.
    pub(super) word: String,
    /// Its bytes in hexadecimal, if it is not UTF-8.
    pub(super) bytes: Option<String>,
    /// How often it was counted.
    pub(super) count: u64,
    /// The word as it is, for the text.
    #[serde(skip)]
    pub(super) raw: Box<[u8]>,
}
