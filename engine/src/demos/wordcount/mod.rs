//! WordCount: lines → words by shuffle → counts by fields → one table of totals.
//!
//! What a word is stands in [`tokenize`]; the spout, the counters and every check share that rule.

mod bolts;
pub mod generate;
pub mod input;
mod spouts;
pub mod tokenize;

use std::sync::{Arc, Mutex, PoisonError};

pub use bolts::{Count, Split, Table, Totals};
use generate::Generator;
use input::{InputError, InputStats, Limits, Lines, Source};
pub use spouts::{Furthest, GeneratorSpout, LineSpout, Read};

use crate::{
    BoxError, BuildErrors, Combiner, Config, Grouping, Pace, Schedule, Spout, Stream, Tagged,
    TaskContext, Text, Topology, TopologyBuilder,
};

/// Where the lines come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The seeded generator, so many lines; [`ENDLESS`] for a run without end.
    Generated(u64),
    /// A file or the standard input.
    Input(Source),
}

/// So many lines that no run comes to their end: it goes on until it is stopped.
pub const ENDLESS: u64 = u64::MAX;

/// Tasks of each component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tasks {
    /// Of the spout.
    pub lines: u32,
    /// Of the bolt that splits.
    pub split: u32,
    /// Of the bolt that counts.
    pub count: u32,
}

/// How WordCount may differ from the plain one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ways {
    /// By [`count_words_combined`].
    pub combine: bool,
    /// Lines are emitted as they are due; their latency counts from there.
    pub rate: Option<Schedule>,
}

/// WordCount, ready to run, and what it leaves behind.
#[derive(Debug)]
pub struct WordCount {
    /// The topology; run it by any driver.
    pub topology: Topology,
    totals: Totals,
    read: Read,
}

/// Most tasks that read one input.
pub const MAX_PARTS: u32 = 64;

/// The parts of an input, each taken by the task that reads it.
type Parts = Arc<Mutex<Vec<Option<Lines>>>>;

/// Why WordCount could not be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The input cannot be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// More tasks than an input is cut into.
    #[error("{tasks} tasks read the input: at most {MAX_PARTS} can")]
    TooManyParts {
        /// The tasks.
        tasks: u32,
    },
    /// The topology or a setting is wrong.
    #[error(transparent)]
    Build(#[from] BuildErrors),
}

/// The result of a run: words with their counts.
#[derive(Debug)]
pub struct Results {
    totals: Totals,
    read: Read,
}

impl WordCount {
    /// Sets up WordCount over `origin`.
    ///
    /// # Errors
    /// An input that cannot be opened; settings that make no sense.
    pub fn new(origin: &Origin, tasks: Tasks, config: Config) -> Result<Self, SetupError> {
        Self::with(origin, tasks, config, Ways::default())
    }

    /// As [`new`](Self::new), in ways of its own.
    ///
    /// # Errors
    /// As for `new`, and exactly once, which does not combine.
    pub fn with(
        origin: &Origin,
        tasks: Tasks,
        config: Config,
        ways: Ways,
    ) -> Result<Self, SetupError> {
        let pace = ways.rate.map(Pace::new);
        let mut builder = Topology::builder();
        let totals = Totals::default();
        let read = Read::default();
        let parts = Parts::default();
        let lines = match origin {
            Origin::Generated(lines) => {
                let (seed, lines) = (config.seed, *lines);
                let furthest: Vec<Furthest> =
                    (0..tasks.lines).map(|_| Furthest::default()).collect();
                spout(&mut builder, tasks.lines, pace, move |task| {
                    let generator = Generator::new(seed, task.index(), task.tasks(), lines);
                    let furthest = Arc::clone(&furthest[task.index() as usize]);
                    Ok(GeneratorSpout::new(generator, furthest))
                })
            }
            Origin::Input(_) => file_spout(&mut builder, tasks.lines, pace, &parts, &read),
        };
        let count = if ways.combine { count_words_combined } else { count_words };
        count(&mut builder, lines, tasks, &totals);
        let topology = builder.build(config)?;
        // Last, since every part has a thread and buffers of its own.
        if let Origin::Input(source) = origin {
            if tasks.lines > MAX_PARTS {
                return Err(SetupError::TooManyParts { tasks: tasks.lines });
            }
            let opened = input::open(source, tasks.lines as usize, Limits::default())?;
            *parts.lock().unwrap_or_else(PoisonError::into_inner) =
                opened.into_iter().map(Some).collect();
        }
        Ok(WordCount { topology, totals, read })
    }

    /// Parts the topology, to be run, from what it will leave behind.
    #[must_use]
    pub fn split(self) -> (Topology, Results) {
        (self.topology, Results { totals: self.totals, read: self.read })
    }
}

impl Results {
    /// Words with their counts: the most frequent first, equals by their bytes.
    #[must_use]
    pub fn counts(&self) -> Vec<(Box<[u8]>, u64)> {
        let totals = self.totals.lock().unwrap_or_else(PoisonError::into_inner);
        let mut counts: Vec<_> = totals.iter().map(|(word, &n)| (word.clone(), n)).collect();
        counts.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        counts
    }

    /// What was read of a file or the standard input.
    #[must_use]
    pub fn read(&self) -> InputStats {
        *self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The spout `lines`, held to a pace if there is one.
fn spout<S: Spout<Out = Text>>(
    builder: &mut TopologyBuilder,
    tasks: u32,
    pace: Option<Pace>,
    make: impl Fn(&TaskContext) -> Result<S, BoxError> + Send + Sync + 'static,
) -> Stream<Text> {
    match pace {
        None => builder.spout("lines", tasks, make),
        Some(pace) => builder.spout("lines", tasks, move |task| Ok(pace.spout(task, make(task)?))),
    }
}

fn file_spout(
    builder: &mut TopologyBuilder,
    tasks: u32,
    pace: Option<Pace>,
    parts: &Parts,
    read: &Read,
) -> Stream<Text> {
    let parts = Arc::clone(parts);
    let read = Arc::clone(read);
    spout(builder, tasks, pace, move |task| {
        let mut parts = parts.lock().unwrap_or_else(PoisonError::into_inner);
        let part = parts.get_mut(task.index() as usize).and_then(Option::take);
        let mut lines = part.ok_or("the input can be read once only")?;
        lines.set_waker(task.waker().clone());
        Ok(LineSpout::new(lines, Arc::clone(&read)))
    })
}

/// Joins split, count and table to a stream of lines. `totals` holds the result at the end.
pub fn count_words(
    builder: &mut TopologyBuilder,
    lines: Stream<Text>,
    tasks: Tasks,
    totals: &Totals,
) {
    let words = split(builder, lines, tasks);
    let counts = builder
        .bolt("count", tasks.count, |_| Ok(Count::default()))
        .input(words, Grouping::whole())
        .done();
    table(builder, counts, totals);
}

/// As [`count_words`], but each worker counts the words that it splits before they travel. Not under
/// exactly once.
pub fn count_words_combined(
    builder: &mut TopologyBuilder,
    lines: Stream<Text>,
    tasks: Tasks,
    totals: &Totals,
) {
    let words = split(builder, lines, tasks);
    let counts = builder
        .bolt("count", tasks.count, |_| Ok(Count::default()))
        .input_combined(
            words,
            Combiner::text(1_u64, |n| *n += 1),
            Grouping::fields_with(|(word, _), key| key.bytes(word)),
        )
        .done();
    table(builder, counts, totals);
}

fn split(builder: &mut TopologyBuilder, lines: Stream<Text>, tasks: Tasks) -> Stream<Text> {
    builder
        .bolt("split", tasks.split, |_| Ok(Split::default()))
        .input(lines, Grouping::local_or_shuffle())
        .done()
}

fn table(builder: &mut TopologyBuilder, counts: Stream<Tagged<u64>>, totals: &Totals) {
    let totals = Arc::clone(totals);
    builder
        .bolt("table", 1, move |_| Ok(Table::new(Arc::clone(&totals))))
        .input(counts, Grouping::global())
        .done();
}
