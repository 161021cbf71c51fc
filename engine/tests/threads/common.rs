//! Spouts and bolts that the tests put together.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use streamwright::{
    Bolt, BoxError, Config, Emitter, Execute, Grouping, Handle, Poll, Report, Spout, SpoutEmitter,
    Stream, TaskStats, Topology, TopologyBuilder, threads,
};

/// The setting of the fault table: 2 workers, queue 8, batch 4, 16 pending, 1 s, 3 attempts.
pub(crate) fn config() -> Config {
    let mut config = Config::default();
    config.workers = 2;
    config.ackers = 2;
    config.queue = 8;
    config.batch = 4;
    config.max_pending = 16;
    // The machine may be busy: only tests of time-outs set them short.
    config.timeout = Duration::from_secs(30);
    config.attempts = 3;
    config.epoch = streamwright::EpochEnd::Every(Duration::from_millis(20));
    config
}

/// Emits the numbers of its task below `end`, in order: task i of n has i, i + n, …
pub(crate) struct Numbers {
    next: u64,
    step: u64,
    end: u64,
}

impl Spout for Numbers {
    type Out = Vec<u64>;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Vec<u64>>) -> Result<Poll, BoxError> {
        for _ in 0..out.room().min(64) {
            if self.next >= self.end {
                return Ok(Poll::End);
            }
            out.emit(self.next);
            self.next += self.step;
        }
        Ok(Poll::More)
    }
}

/// A spout of the numbers below `end`.
pub(crate) fn numbers(
    builder: &mut TopologyBuilder,
    name: &str,
    tasks: u32,
    end: u64,
) -> Stream<Vec<u64>> {
    builder.spout(name, tasks, move |task| {
        let (next, step) = (u64::from(task.index()), u64::from(task.tasks()));
        Ok(Numbers { next, step, end })
    })
}

/// A spout that has nothing, and never ends.
pub(crate) struct Idle;

impl Spout for Idle {
    type Out = Vec<u64>;

    fn next(&mut self, _: &mut SpoutEmitter<'_, Vec<u64>>) -> Result<Poll, BoxError> {
        Ok(Poll::Idle(None))
    }
}

/// A bolt of one function that emits numbers.
pub(crate) struct Map<F>(pub(crate) F);

impl<F> Bolt for Map<F>
where
    F: FnMut(u64, &mut Emitter<'_, Vec<u64>>) -> Result<(), BoxError> + Send + 'static,
{
    type Out = Vec<u64>;
}

impl<F> Execute<Vec<u64>> for Map<F>
where
    F: FnMut(u64, &mut Emitter<'_, Vec<u64>>) -> Result<(), BoxError> + Send + 'static,
{
    fn execute(&mut self, n: &u64, out: &mut Emitter<'_, Vec<u64>>) -> Result<(), BoxError> {
        self.0(*n, out)
    }
}

/// Declares a bolt of one function.
pub(crate) fn map<F>(
    builder: &mut TopologyBuilder,
    name: &str,
    tasks: u32,
    from: Stream<Vec<u64>>,
    f: F,
) -> Stream<Vec<u64>>
where
    F: FnMut(u64, &mut Emitter<'_, Vec<u64>>) -> Result<(), BoxError> + Clone + Send + Sync,
    F: 'static,
{
    builder.bolt(name, tasks, move |_| Ok(Map(f.clone()))).input(from, Grouping::shuffle()).done()
}

/// A bolt of one function at the end of a stream.
pub(crate) struct Each<F>(pub(crate) F);

impl<F: FnMut(u64) -> Result<(), BoxError> + Send + 'static> Bolt for Each<F> {
    type Out = ();
}

impl<F: FnMut(u64) -> Result<(), BoxError> + Send + 'static> Execute<Vec<u64>> for Each<F> {
    fn execute(&mut self, n: &u64, _: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
        self.0(*n)
    }
}

/// Declares a sink of one function.
pub(crate) fn each<F>(
    builder: &mut TopologyBuilder,
    name: &str,
    tasks: u32,
    from: Stream<Vec<u64>>,
    f: F,
) where
    F: FnMut(u64) -> Result<(), BoxError> + Clone + Send + Sync + 'static,
{
    builder.bolt(name, tasks, move |_| Ok(Each(f.clone()))).input(from, Grouping::shuffle()).done();
}

/// How often each number came.
#[derive(Clone, Default)]
pub(crate) struct Counts(Arc<Mutex<BTreeMap<u64, u64>>>);

impl Counts {
    pub(crate) fn add(&self, n: u64) {
        *self.0.lock().unwrap().entry(n).or_default() += 1;
    }

    pub(crate) fn get(&self) -> BTreeMap<u64, u64> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn total(&self) -> u64 {
        self.0.lock().unwrap().values().sum()
    }

    /// Every number of `expected` came once, and no other.
    pub(crate) fn assert_once(&self, expected: impl Iterator<Item = u64>) {
        let expected: BTreeMap<u64, u64> = expected.map(|n| (n, 1)).collect();
        let got = self.get();
        let wrong = got.iter().find(|&(n, count)| expected.get(n) != Some(count));
        assert_eq!(wrong, None, "number and how often it came");
        assert_eq!(got.len(), expected.len(), "numbers that came");
    }
}

/// A sink that counts.
pub(crate) fn count(
    builder: &mut TopologyBuilder,
    name: &str,
    tasks: u32,
    from: Stream<Vec<u64>>,
) -> Counts {
    let counts = Counts::default();
    let kept = counts.clone();
    each(builder, name, tasks, from, move |n| {
        kept.add(n);
        Ok(())
    });
    counts
}

/// Runs to the end.
pub(crate) fn run(builder: TopologyBuilder, config: Config) -> Report {
    threads::run(builder.build(config).unwrap()).unwrap()
}

pub(crate) fn start(builder: TopologyBuilder, config: Config) -> Handle {
    threads::start(builder.build(config).unwrap(), None).unwrap()
}

pub(crate) fn builder() -> TopologyBuilder {
    Topology::builder()
}

/// The figures of a component's tasks.
pub(crate) fn tasks<'r>(report: &'r Report, name: &str) -> Vec<&'r TaskStats> {
    report.tasks.iter().filter(|task| task.component == name).collect()
}

/// Looks again and again until `done`, for two minutes at most: the machine may be busy.
pub(crate) fn eventually(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(120), "in two minutes never: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Runs `measure` in a process of its own, which runs this one test: figures of the whole process
/// mean something there. `name` is the test's full name.
pub(crate) fn alone(name: &str, measure: impl FnOnce()) {
    const MARK: &str = "STREAMWRIGHT_TEST_ALONE";
    if std::env::var_os(MARK).is_some() {
        measure();
        return;
    }
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args([name, "--exact", "--nocapture", "--test-threads=1"])
        .env(MARK, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("1 passed"), "{name} is not this test's name: {text}");
    print!("{text}");
}

/// Threads of this process, where the system tells.
pub(crate) fn thread_count() -> Option<usize> {
    std::fs::read_dir("/proc/self/task").ok().map(Iterator::count)
}

/// Resident bytes of this process, where the system tells.
pub(crate) fn resident() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
    Some(pages * 4096)
}
