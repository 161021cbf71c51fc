//! Rule 8.3: a call of `close` that failed was not made, whoever has reported what before.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use streamwright::{
    Bolt, BoxError, Config, Emitter, EpochEnd, Execute, Grouping, Poll, RunError, Seek, Spout,
    SpoutEmitter, Stream, Topology, TopologyBuilder, Watermark, threads,
};

/// A sink that fails as it closes, and nothing behind it: it has not closed, so the next incarnation
/// begins at that epoch, and every record comes to a `close` that succeeds.
#[test]
fn rule_8_3_a_leaf_whose_close_fails_is_closed_again() {
    for fails_at in 0..3 {
        let committed: Arc<Mutex<Vec<u64>>> = Arc::default();
        let failed = Arc::new(AtomicBool::new(false));
        let mut builder = Topology::builder();
        let source = builder.spout("s", 1, |_| Ok(Seekable { next: 0, count: 12_000 }));
        let (c, f) = (Arc::clone(&committed), Arc::clone(&failed));
        builder
            .bolt("leaf", 1, move |_| {
                Ok(Committing { fails_at, held: Vec::new(), failed: f.clone(), to: c.clone() })
            })
            .input(source, Grouping::shuffle())
            .done();
        let mut config = Config::default();
        config.epoch = EpochEnd::Records(1_000);
        let report = threads::run(builder.build(config).unwrap()).unwrap();
        assert!(report.complete && report.crashes.len() == 1, "{:?}", report.crashes);
        let mut committed = committed.lock().unwrap().clone();
        committed.sort_unstable();
        committed.dedup();
        assert_eq!(committed.len(), 12_000, "records of epoch {fails_at} were never committed");
    }
}

/// Counts up; goes back.
struct Seekable {
    next: u64,
    count: u64,
}

impl Spout for Seekable {
    type Out = Vec<u64>;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Vec<u64>>) -> Result<Poll, BoxError> {
        if self.next == self.count {
            return Ok(Poll::End);
        }
        out.emit(self.next);
        self.next += 1;
        Ok(Poll::More)
    }

    fn position(&self) -> Option<Vec<u8>> {
        Some(self.next.to_le_bytes().to_vec())
    }

    fn seek(&mut self, to: Seek<'_>) -> Result<(), BoxError> {
        if let Seek::To(position) = to {
            self.next = u64::from_le_bytes(position.try_into()?);
        }
        Ok(())
    }
}

/// Commits what it holds as the epoch closes; at one epoch it fails at that, once, after a while.
struct Committing {
    fails_at: u64,
    held: Vec<u64>,
    failed: Arc<AtomicBool>,
    to: Arc<Mutex<Vec<u64>>>,
}

impl Bolt for Committing {
    type Out = ();

    fn close(&mut self, e: u64, _: Watermark, _: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
        if e == self.fails_at && !self.failed.swap(true, Ordering::Relaxed) {
            // Longer than the worker waits with its reports.
            std::thread::sleep(Duration::from_millis(5));
            return Err("cannot commit".into());
        }
        self.to.lock().map_err(|e| e.to_string())?.append(&mut self.held);
        Ok(())
    }
}

impl Execute<Vec<u64>> for Committing {
    fn execute(&mut self, n: &u64, _: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
        self.held.push(*n);
        Ok(())
    }
}

/// The handler of dead letters fails while all starts anew for another cause: the run fails for it.
#[test]
fn e18_a_handler_that_fails_beside_a_new_start_fails_the_run() {
    let (failed, committed) = (Arc::new(AtomicBool::new(false)), Arc::default());
    let mut builder = Topology::builder();
    let source = builder.spout("s", 1, |_| Ok(Seekable { next: 0, count: 3_000 }));
    let (poison, f) = (builder_poison(&mut builder, source), Arc::clone(&failed));
    builder
        .bolt("leaf", 1, move |_| {
            let to: Arc<Mutex<Vec<u64>>> = Arc::clone(&committed);
            Ok(Committing { fails_at: 0, held: Vec::new(), failed: Arc::clone(&f), to })
        })
        .input(poison, Grouping::shuffle())
        .done();
    let mut config = Config::default();
    (config.epoch, config.attempts) = (EpochEnd::Records(1_000), 1);
    // It fails once the close has failed, as all are on their way home.
    let handler = move |_| {
        while !failed.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_micros(100));
        }
        std::thread::sleep(Duration::from_millis(6));
        Err("the table is gone".into())
    };
    let run = threads::start(builder.build(config).unwrap(), Some(Box::new(handler))).unwrap();
    match run.wait() {
        Err(RunError::DeadLetters { message }) => assert!(message.contains("the table is gone")),
        other => panic!("{other:?}"),
    }
}

/// Passes all on but for record 7, which fails.
fn builder_poison(builder: &mut TopologyBuilder, source: Stream<Vec<u64>>) -> Stream<Vec<u64>> {
    builder.bolt("poison", 1, |_| Ok(Poison)).input(source, Grouping::shuffle()).done()
}

struct Poison;

impl Bolt for Poison {
    type Out = Vec<u64>;
}

impl Execute<Vec<u64>> for Poison {
    fn execute(&mut self, n: &u64, out: &mut Emitter<'_, Vec<u64>>) -> Result<(), BoxError> {
        if *n == 7 {
            return Err("poison".into());
        }
        out.emit(*n);
        Ok(())
    }
}
