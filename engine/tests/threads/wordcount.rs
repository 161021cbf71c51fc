//! WordCount on threads: the counts are those of a plain sequential count.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use streamwright::demos::wordcount::generate::Generator;
use streamwright::demos::wordcount::input::Source;
use streamwright::demos::wordcount::tokenize::words;
use streamwright::demos::wordcount::{
    Count, GeneratorSpout, Origin, Split, Table, Tasks, Totals, WordCount,
};
use streamwright::{
    Bolt, BoxError, Config, Emitter, EpochEnd, Execute, Grouping, Report, Text, Topology, threads,
};

use super::common::{config, eventually};

type Counts = BTreeMap<Vec<u8>, u64>;

fn words_of(line: &[u8]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    words(line, &mut Vec::new(), |word| found.push(word.to_vec()));
    found
}

fn truth(seed: u64, lines: u64) -> Counts {
    let mut generator = Generator::new(seed, 0, 1, lines);
    let mut counts = Counts::new();
    while let Some(line) = generator.next_line() {
        for word in words_of(line) {
            *counts.entry(word).or_default() += 1;
        }
    }
    counts
}

fn counted(lines: u64, tasks: Tasks, config: Config) -> (Report, Counts) {
    let word_count = WordCount::new(&Origin::Generated(lines), tasks, config).unwrap();
    let (topology, results) = word_count.split();
    let report = threads::run(topology).unwrap();
    let counts = results.counts().into_iter().map(|(word, count)| (word.to_vec(), count));
    (report, counts.collect())
}

#[test]
fn counts_equal_a_sequential_count_for_every_small_layout() {
    let truth = truth(3, 200);
    for workers in [1, 2, 4] {
        for ackers in [1, workers] {
            for (lines, split, count) in
                [(1, 1, 1), (1, 2, 3), (2, 1, 1), (3, 3, 1), (2, 3, 5), (4, 4, 4), (1, 5, 2)]
            {
                let tasks = Tasks { lines, split, count };
                let mut config = Config::default();
                (config.workers, config.ackers, config.seed) = (workers, ackers, 3);
                config.epoch = EpochEnd::Records(60);
                let (report, counts) = counted(200, tasks, config);
                assert_eq!(counts, truth, "{workers} workers, {ackers} ackers, {tasks:?}");
                assert_eq!((report.records, report.acked, report.replayed), (200, 200, 0));
            }
        }
    }
}

#[test]
fn counts_equal_a_sequential_count_at_every_bound() {
    let truth = truth(4, 500);
    for (queue, batch, max_pending, window) in
        [(1, 1, 1, 1), (1, 1000, 1, 1), (1, 3, 1000, 2), (8, 1, 16, 64), (2, 7, 5, 1)]
    {
        let mut config = Config::default();
        (config.workers, config.ackers, config.seed) = (2, 2, 4);
        (config.queue, config.batch) = (queue, batch);
        (config.max_pending, config.window) = (max_pending, window);
        config.epoch = EpochEnd::Records(50);
        let (report, counts) = counted(500, Tasks { lines: 2, split: 2, count: 2 }, config);
        assert_eq!(counts, truth, "queue {queue}, batch {batch}, pending {max_pending}");
        assert_eq!(report.acked, 500);
    }
}

#[test]
fn counts_of_a_longer_text_are_exact() {
    let truth = truth(5, 100_000);
    for workers in [1, 2, 4] {
        let mut config = Config::default();
        (config.workers, config.ackers, config.seed) = (workers, workers, 5);
        let tasks = Tasks { lines: workers, split: workers, count: workers };
        let (report, counts) = counted(100_000, tasks, config);
        assert_eq!(counts, truth);
        assert_eq!((report.acked, report.dead), (100_000, 0));
    }
}

/// A split that notes how often it has executed each line.
struct Noting {
    split: Split,
    lines: Arc<Mutex<BTreeMap<Vec<u8>, u64>>>,
}

impl Bolt for Noting {
    type Out = Text;
}

impl Execute<Text> for Noting {
    fn execute(&mut self, line: &[u8], out: &mut Emitter<'_, Text>) -> Result<(), BoxError> {
        *self.lines.lock().unwrap().entry(line.to_vec()).or_default() += 1;
        self.split.execute(line, out)
    }
}

/// WordCount with a noting split: report, counts, and executions of each line.
fn noted(seed: u64, lines: u64, config: Config) -> (Report, Counts, BTreeMap<Vec<u8>, u64>) {
    let (totals, executed) = (Totals::default(), Arc::<Mutex<BTreeMap<_, _>>>::default());
    let mut builder = Topology::builder();
    let stream = builder.spout("lines", 2, move |task| {
        let generator = Generator::new(seed, task.index(), task.tasks(), lines);
        Ok(GeneratorSpout::new(generator, Arc::default()))
    });
    let notes = Arc::clone(&executed);
    let stream = builder
        .bolt("split", 2, move |_| {
            Ok(Noting { split: Split::default(), lines: Arc::clone(&notes) })
        })
        .input(stream, Grouping::shuffle())
        .done();
    let stream =
        builder.bolt("count", 3, |_| Ok(Count::default())).input(stream, Grouping::whole()).done();
    let table = Arc::clone(&totals);
    builder
        .bolt("table", 1, move |_| Ok(Table::new(Arc::clone(&table))))
        .input(stream, Grouping::global())
        .done();
    let report = threads::run(builder.build(config).unwrap()).unwrap();
    let counts =
        totals.lock().unwrap().iter().map(|(word, &count)| (word.to_vec(), count)).collect();
    let executed = executed.lock().unwrap().clone();
    (report, counts, executed)
}

#[test]
fn with_losses_all_is_acked_and_no_count_is_below_the_truth() {
    const LINES: u64 = 20_000;
    let truth = truth(6, LINES);
    let mut config = Config::default();
    (config.workers, config.ackers, config.seed) = (2, 2, 6);
    config.drop_ppm = 1000;
    config.timeout = Duration::from_millis(300);
    let (report, counts, executed) = noted(6, LINES, config);
    assert_eq!((report.acked, report.dead), (LINES, 0));
    assert!(report.replayed > 0);
    // Every word came at least as often as it stands in the text, and at most as often as lines
    // that hold it were executed.
    let mut most = Counts::new();
    for (line, times) in &executed {
        for word in words_of(line) {
            *most.entry(word).or_default() += times;
        }
    }
    assert!(counts.keys().eq(truth.keys()));
    for (word, &count) in &counts {
        assert!(truth[word] <= count && count <= most[word], "{:?}", String::from_utf8_lossy(word));
    }
    // Lines were executed again for replays only.
    let again: u64 = executed.values().sum::<u64>();
    assert!(again <= LINES + report.replayed, "{again} with {} replays", report.replayed);
    assert!(counts.values().sum::<u64>() > truth.values().sum::<u64>());
}

#[test]
fn the_final_state_is_the_same_for_every_seed() {
    let truth = truth(9, 3000);
    for seed in 0..20 {
        let mut config = Config::default();
        (config.workers, config.ackers, config.seed) = (2, 2, seed);
        config.epoch = EpochEnd::Records(500);
        let (report, counts, _) = noted(9, 3000, config);
        assert_eq!(counts, truth, "seed {seed}");
        assert_eq!(report.acked, 3000);
    }
}

/// A pipe with a line now and then: its words are in the totals as epochs close, long before the
/// writer leaves.
#[cfg(unix)]
#[test]
fn e40_totals_of_a_pipe_are_there_before_its_writer_leaves() {
    let path = std::env::temp_dir().join(format!("streamwright-pipe-{}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let origin = Origin::Input(Source::File(path.clone()));
    let tasks = Tasks { lines: 1, split: 1, count: 2 };
    let (topology, results) = WordCount::new(&origin, tasks, config()).unwrap().split();
    let handle = threads::start(topology, None).unwrap();
    let mut pipe = std::fs::File::options().write(true).open(&path).unwrap();
    for (line, total) in [("one two\n", 2), ("two\n", 3)] {
        pipe.write_all(line.as_bytes()).unwrap();
        eventually("its words are in the totals", || {
            results.counts().iter().map(|(_, count)| count).sum::<u64>() == total
        });
    }
    drop(pipe);
    assert!(handle.wait().unwrap().complete);
    std::fs::remove_file(&path).unwrap();
}
