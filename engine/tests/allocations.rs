//! WordCount allocates nothing once it is warm: a million words between two looks at a counter of
//! all threads' allocations. `ALLOCATIONS_TRACE=1` with `--nocapture` says where they come from.

#![allow(clippy::unwrap_used, reason = "a test reports a failure by panicking")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::backtrace::Backtrace;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use streamwright::demos::wordcount::generate::Generator;
use streamwright::demos::wordcount::tokenize::words;
use streamwright::demos::wordcount::{Tasks, Totals, count_words, count_words_combined};
use streamwright::{
    BoxError, Config, EpochEnd, Guarantee, Poll, Report, Spout, SpoutEmitter, Text, Topology,
    threads,
};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
/// Whether to note where allocations come from, at all and just now.
static TRACED: AtomicBool = AtomicBool::new(false);
static TRACE: AtomicBool = AtomicBool::new(false);
static TRACES: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

fn note() {
    if INSIDE.get() {
        return;
    }
    ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    if TRACE.load(Ordering::Relaxed) && !INSIDE.replace(true) {
        let trace = Backtrace::force_capture().to_string();
        let places: Vec<&str> =
            trace.lines().filter_map(|line| line.trim().strip_prefix("at ./src/")).collect();
        let mut traces = TRACES.lock().unwrap_or_else(PoisonError::into_inner);
        *traces.entry(places.join("\n    ")).or_default() += 1;
        drop(traces);
        INSIDE.set(false);
    }
}

// SAFETY: every call goes to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note();
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note();
        // SAFETY: as above.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One at a time: the counter is everyone's.
static TURN: Mutex<()> = Mutex::new(());

/// Words before the first window, in each, and after the last. Until the first window a spout
/// sleeps now and then, for as long as a busy machine may keep a thread from its core: all queues
/// fill up to their bounds, and what is pooled is there in numbers.
const WARM: u64 = 6_000_000;
const NAP_EVERY: u64 = 200_000;
const NAP: Duration = Duration::from_millis(20);
const WINDOW: u64 = 1_000_000;
const AFTER: u64 = 200_000;
/// Most windows of a run. It ends with the first one without an allocation.
const WINDOWS: usize = 24;

/// What the spouts of a run share.
struct Shared {
    words: AtomicU64,
    /// Allocations so far, at the start and at the end of every window.
    looks: Mutex<Vec<u64>>,
    end: AtomicU64,
}

impl Shared {
    /// Counts words; looks at the counter where a window begins or ends. Whether that was enough.
    fn count(&self, words: u64) -> bool {
        let before = self.words.fetch_add(words, Ordering::Relaxed);
        let now = before + words;
        if before / NAP_EVERY != now / NAP_EVERY && now < WARM {
            std::thread::sleep(NAP);
        }
        let windows = |words: u64| words.checked_sub(WARM).map(|words| words / WINDOW);
        if windows(before) != windows(now) {
            let mut looks = self.looks.lock().unwrap();
            let allocations = ALLOCATIONS.load(Ordering::Relaxed);
            let none = looks.last() == Some(&allocations);
            looks.push(allocations);
            TRACE.store(TRACED.load(Ordering::Relaxed) && !none, Ordering::Relaxed);
            if none || looks.len() > WINDOWS {
                self.end.fetch_min(now + AFTER, Ordering::Relaxed);
            }
        }
        now >= self.end.load(Ordering::Relaxed)
    }
}

/// Emits the same lines over and over, and looks at the counter.
struct Loop {
    lines: Arc<Vec<(Vec<u8>, u64)>>,
    next: usize,
    shared: Arc<Shared>,
}

impl Spout for Loop {
    type Out = Text;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Text>) -> Result<Poll, BoxError> {
        let mut emitted = 0;
        for _ in 0..out.room().min(64) {
            let (line, words) = &self.lines[self.next];
            self.next = (self.next + 1) % self.lines.len();
            out.emit(&line[..]);
            emitted += words;
        }
        Ok(if self.shared.count(emitted) { Poll::End } else { Poll::More })
    }
}

/// Allocations of all threads while a million words pass, and again.
fn allocations(
    workers: u32,
    guarantee: Guarantee,
    epoch: EpochEnd,
    combine: bool,
) -> (Vec<u64>, Report) {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    TRACED.store(std::env::var_os("ALLOCATIONS_TRACE").is_some(), Ordering::Relaxed);
    let mut generator = Generator::new(1, 0, 1, 2000);
    let mut lines = Vec::new();
    while let Some(line) = generator.next_line() {
        let mut count = 0;
        words(line, &mut Vec::new(), |_| count += 1);
        lines.push((line.to_vec(), count));
    }
    let (lines, totals) = (Arc::new(lines), Totals::default());
    let shared = Arc::new(Shared {
        words: AtomicU64::new(0),
        looks: Mutex::new(Vec::with_capacity(WINDOWS + 2)),
        end: AtomicU64::new(u64::MAX),
    });
    let mut config = Config::default();
    (config.workers, config.ackers) = (workers, workers);
    (config.guarantee, config.epoch) = (guarantee, epoch);
    let mut builder = Topology::builder();
    let seen = Arc::clone(&shared);
    let stream = builder.spout("lines", workers, move |task| {
        let next = task.index() as usize * lines.len() / task.tasks() as usize;
        Ok(Loop { lines: Arc::clone(&lines), next, shared: Arc::clone(&seen) })
    });
    let tasks = Tasks { lines: workers, split: workers, count: workers };
    let count = if combine { count_words_combined } else { count_words };
    count(&mut builder, stream, tasks, &totals);
    let report = threads::run(builder.build(config).unwrap()).unwrap();
    TRACE.store(false, Ordering::Relaxed);
    let looks = shared.looks.lock().unwrap().clone();
    assert!(report.complete && report.dead == 0 && report.replayed == 0);
    // The table has every word that was emitted.
    let counted: u64 = totals.lock().unwrap_or_else(PoisonError::into_inner).values().sum();
    let words = report.streams[1].counters;
    assert_eq!(counted, if combine { words.combined } else { words.executed });
    assert!(counted >= WARM + WINDOW + AFTER);
    let traces = std::mem::take(&mut *TRACES.lock().unwrap_or_else(PoisonError::into_inner));
    for (places, times) in traces {
        println!("{times} allocations at\n    {places}");
    }
    (looks.windows(2).map(|pair| pair[1] - pair[0]).collect(), report)
}

/// A million words without an allocation. Whatever is allocated by the tuple, the batch or the epoch
/// shows in every window, and so does a leak. What a pool grows by, where more is under way at once
/// than ever before (on a busy machine a thread is kept from its core for long), shows in fewer and
/// fewer of them: as many windows are looked at as it takes to find one without.
fn assert_none(workers: u32, guarantee: Guarantee, combine: bool) {
    let by_time = EpochEnd::Every(Duration::from_millis(10));
    for epoch in [EpochEnd::Records(20_000), by_time] {
        let (counts, report) = allocations(workers, guarantee, epoch, combine);
        println!(
            "{workers} workers, {guarantee:?}, {epoch:?}: {counts:?} allocations in {WINDOW} words \
             each, {} epochs in {:?}",
            report.epochs, report.elapsed,
        );
        assert!(report.epochs > 20, "{}", report.epochs);
        assert!(counts.contains(&0), "{workers} workers, {guarantee:?}, {epoch:?}: {counts:?}");
        // Not even once in a batch: a million words are a thousand of them, at three hops.
        assert!(counts.iter().all(|&count| count < 1000), "{counts:?}");
    }
}

#[test]
fn one_worker_with_acks_allocates_nothing() {
    assert_none(1, Guarantee::AtLeastOnce, false);
}

#[test]
fn one_worker_without_acks_allocates_nothing() {
    assert_none(1, Guarantee::AtMostOnce, false);
}

#[test]
fn two_workers_with_acks_allocate_nothing() {
    assert_none(2, Guarantee::AtLeastOnce, false);
}

#[test]
fn two_workers_without_acks_allocate_nothing() {
    assert_none(2, Guarantee::AtMostOnce, false);
}

#[test]
fn combiners_with_acks_allocate_nothing() {
    assert_none(1, Guarantee::AtLeastOnce, true);
}

#[test]
fn combiners_without_acks_allocate_nothing() {
    assert_none(2, Guarantee::AtMostOnce, true);
}
