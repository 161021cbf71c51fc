//! User code beside `execute`: drops, clones, factories, errors that panic as they are told.

use std::time::Duration;

use streamwright::{
    Bolt, BoxError, CloneBatch, Combiner, Emitter, Execute, Grouping, Guarantee, Poll, Reason,
    RunError, Spout, SpoutEmitter, Stop, TopologyBuilder, Watermark, threads,
};

use super::common::{builder, config, count, each, map, numbers, run, tasks};

/// A sink that does something as it is dropped.
struct Dropped(fn());

impl Drop for Dropped {
    fn drop(&mut self) {
        (self.0)();
    }
}

impl Bolt for Dropped {
    type Out = ();
}

impl Execute<Vec<u64>> for Dropped {
    fn execute(&mut self, _: &u64, _: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
        Ok(())
    }
}

fn dropped(builder: &mut TopologyBuilder, tasks: u32, drop: fn()) {
    let stream = numbers(builder, "numbers", 1, 100);
    builder
        .bolt("sink", tasks, move |_| Ok(Dropped(drop)))
        .input(stream, Grouping::shuffle())
        .done();
}

#[test]
fn tasks_whose_drop_panics_take_nothing_along() {
    let mut builder = builder();
    // Several on each worker: two panics at once would end the process.
    dropped(&mut builder, 8, || panic!("drop of a bolt"));
    let report = run(builder, config());
    assert!(report.complete);
    assert_eq!((report.records, report.acked), (100, 100));
}

#[test]
fn the_figures_of_tasks_that_are_slow_to_drop_are_whole() {
    let mut builder = builder();
    dropped(&mut builder, 1, || std::thread::sleep(Duration::from_millis(1500)));
    let report = run(builder, config());
    assert!(report.complete);
    assert_eq!((report.acked, report.tasks.len()), (100, 2));
}

/// A number whose copy may not be made.
struct Unique(u64);

impl Clone for Unique {
    fn clone(&self) -> Self {
        assert!(self.0 != 50, "no copy of fifty");
        Unique(self.0)
    }
}

struct Wrap;

impl Bolt for Wrap {
    type Out = Vec<Unique>;
}

impl Execute<Vec<u64>> for Wrap {
    fn execute(&mut self, n: &u64, out: &mut Emitter<'_, Vec<Unique>>) -> Result<(), BoxError> {
        out.emit(Unique(*n));
        Ok(())
    }
}

struct Take;

impl Bolt for Take {
    type Out = ();
}

impl<B: CloneBatch> Execute<B> for Take {
    fn execute(&mut self, _: B::Item<'_>, _: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
        Ok(())
    }
}

#[test]
fn a_clone_that_panics_ends_the_run_and_names_the_component() {
    // A buffer becomes a batch, is dealt out, or is placed item by item.
    for tasks in [1, 2, 20] {
        let mut builder = builder();
        let stream = numbers(&mut builder, "numbers", 1, 100);
        let wrapped =
            builder.bolt("wrap", 1, |_| Ok(Wrap)).input(stream, Grouping::shuffle()).done();
        builder.bolt("one", tasks, |_| Ok(Take)).input(wrapped.clone(), Grouping::shuffle()).done();
        builder.bolt("two", tasks, |_| Ok(Take)).input(wrapped, Grouping::shuffle()).done();
        let error = threads::run(builder.build(config()).unwrap()).unwrap_err();
        let (component, message) = ("wrap".to_owned(), "no copy of fifty".to_owned());
        assert_eq!(error, RunError::Items { component, message });
    }
}

#[test]
fn what_fails_where_nothing_is_tracked_is_counted_and_says_why() {
    let mut builder = builder();
    let stream = numbers(&mut builder, "numbers", 1, 100);
    each(&mut builder, "sink", 2, stream, |n| if n < 90 { Ok(()) } else { Err("ninety".into()) });
    let mut config = config();
    config.guarantee = Guarantee::AtMostOnce;
    let report = run(builder, config);
    assert_eq!((report.failed, report.failures.len(), report.dead), (10, 10, 0));
    assert!(report.failures.iter().all(|reason| matches!(&**reason,
        Reason::Failed { component, message, .. } if component == "sink" && message == "ninety")));
    let sinks = tasks(&report, "sink");
    assert_eq!(sinks.iter().map(|task| task.acked).sum::<u64>(), 90);
}

#[test]
fn a_tuple_that_finds_no_task_is_counted_at_its_edge() {
    let mut builder = builder();
    let stream = numbers(&mut builder, "numbers", 1, 100);
    let direct = Grouping::direct(|n: &u64, tasks| if *n < 95 { 0 } else { tasks });
    builder.bolt("sink", 2, |_| Ok(Dropped(|| ()))).input(stream, direct).done();
    let mut config = config();
    config.guarantee = Guarantee::AtMostOnce;
    let report = run(builder, config);
    assert_eq!((report.failed, report.failures.len()), (5, 5));
    let edge = report.streams[0].counters;
    assert_eq!((edge.transferred, edge.executed, edge.astray), (95, 95, 5));
}

/// As its first epoch closes: a small text, one over the limit, a small one.
struct Closing;

impl Bolt for Closing {
    type Out = streamwright::Text;

    fn close(
        &mut self,
        epoch: u64,
        _: Watermark,
        out: &mut Emitter<'_, streamwright::Text>,
    ) -> Result<(), BoxError> {
        if epoch == 0 {
            ["small", "far too large for the limit", "fits"]
                .iter()
                .for_each(|text| out.emit(*text));
        }
        Ok(())
    }
}

impl Execute<Vec<u64>> for Closing {
    fn execute(
        &mut self,
        _: &u64,
        _: &mut Emitter<'_, streamwright::Text>,
    ) -> Result<(), BoxError> {
        Ok(())
    }
}

#[test]
fn a_record_over_the_limit_that_close_emits_is_a_dead_letter_and_the_others_pass() {
    let mut builder = builder();
    let stream = numbers(&mut builder, "numbers", 1, 10);
    let texts =
        builder.bolt("closing", 1, |_| Ok(Closing)).input(stream, Grouping::shuffle()).done();
    builder.bolt("sink", 1, |_| Ok(Take)).input(texts, Grouping::shuffle()).done();
    let mut config = config();
    config.record_limit = 10;
    let mut report = run(builder, config);
    assert!(report.complete);
    assert_eq!((report.dead, report.acked), (1, 10));
    assert_eq!(tasks(&report, "sink")[0].executed, 2);
    let letter = report.dead_letters.remove(0);
    let wanted = Reason::TooLarge { component: "closing".to_owned(), task: 0, size: 27, limit: 10 };
    assert_eq!(*letter.reason, wanted);
    let item = letter.into_item::<streamwright::Text>().unwrap();
    assert_eq!(item.iter().next(), Some(&b"far too large for the limit"[..]));
}

#[test]
fn a_start_longer_than_the_timeout_fails_no_root() {
    for _ in 0..3 {
        let mut builder = builder();
        let stream = builder.spout("numbers", 1, |_| {
            std::thread::sleep(Duration::from_millis(350));
            Ok(super::common::Idle)
        });
        let late = numbers(&mut builder, "more", 1, 20_000);
        each(&mut builder, "idle", 1, stream, |_| Ok(()));
        let mapped = map(&mut builder, "map", 2, late, |n, out| {
            out.emit(n);
            Ok(())
        });
        let counts = count(&mut builder, "sink", 2, mapped);
        let mut config = config();
        config.timeout = Duration::from_millis(300);
        config.overrun = Duration::from_millis(100);
        config.batch = 64;
        config.max_pending = 4096;
        let handle = super::common::start(builder, config);
        let stopper = handle.stopper();
        super::common::eventually("all numbers came", || counts.total() == 20_000);
        stopper.stop(streamwright::Stop::Drain);
        let report = handle.wait().unwrap();
        assert_eq!((report.failed, report.replayed), (0, 0));
    }
}

/// An error that cannot be told.
#[derive(Debug)]
struct Unspeakable;

impl std::fmt::Display for Unspeakable {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic!("unspeakable");
    }
}

impl std::error::Error for Unspeakable {}

#[test]
fn e18_a_handler_whose_error_panics_as_it_is_told_ends_the_run() {
    let mut builder = builder();
    let stream = numbers(&mut builder, "numbers", 1, 100);
    each(&mut builder, "sink", 1, stream, |_| Err("no".into()));
    let mut config = config();
    config.attempts = 1;
    let topology = builder.build(config).unwrap();
    let handler: threads::LetterHandler = Box::new(|_| Err(Unspeakable.into()));
    let error = threads::start(topology, Some(handler)).unwrap().wait().unwrap_err();
    assert_eq!(error, RunError::DeadLetters { message: "unspeakable".to_owned() });
}

#[test]
fn e14_an_error_that_panics_as_it_is_told_fails_its_root_alone() {
    let mut builder = builder();
    let stream = numbers(&mut builder, "numbers", 1, 100);
    each(
        &mut builder,
        "sink",
        1,
        stream,
        |n| if n == 7 { Err(Unspeakable.into()) } else { Ok(()) },
    );
    let report = run(builder, config());
    assert_eq!((report.acked, report.dead), (99, 1));
}

/// An item whose drop panics, be it that of a copy.
#[derive(Clone)]
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("drop of an item");
    }
}

/// Emits three of them as an epoch closes in which it had numbers.
struct Bombs(bool);

impl Bolt for Bombs {
    type Out = Vec<Bomb>;

    fn close(
        &mut self,
        _: u64,
        _: Watermark,
        out: &mut Emitter<'_, Vec<Bomb>>,
    ) -> Result<(), BoxError> {
        if std::mem::take(&mut self.0) {
            (0..3).for_each(|_| out.emit(Bomb));
        }
        Ok(())
    }
}

impl Execute<Vec<u64>> for Bombs {
    fn execute(&mut self, _: &u64, _: &mut Emitter<'_, Vec<Bomb>>) -> Result<(), BoxError> {
        self.0 = true;
        Ok(())
    }
}

struct Refused;

impl Bolt for Refused {
    type Out = ();
}

impl Execute<Vec<Bomb>> for Refused {
    fn execute(&mut self, _: &Bomb, _: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
        Err("refused".into())
    }
}

#[test]
fn items_whose_drop_panics_may_fail_together() {
    let mut builder = builder();
    let stream = numbers(&mut builder, "numbers", 1, 5);
    let stream =
        builder.bolt("bombs", 1, |_| Ok(Bombs(false))).input(stream, Grouping::global()).done();
    builder.bolt("refused", 1, |_| Ok(Refused)).input(stream, Grouping::global()).done();
    // What they share fails, and each then dies alone: two panics at once would end the process.
    let report = run(builder, config());
    assert_eq!((report.acked, report.dead), (5, 3));
    // The letters are the caller's, who must not drop them in a test.
    std::mem::forget(report);
}

/// The partial results of a combiner.
struct Bombed;

impl Bolt for Bombed {
    type Out = ();
}

impl Execute<Vec<(u64, Bomb)>> for Bombed {
    fn execute(&mut self, _: &(u64, Bomb), _: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
        Ok(())
    }
}

#[test]
fn partial_results_whose_drop_panics_may_be_left_behind() {
    for guarantee in [Guarantee::AtMostOnce, Guarantee::AtLeastOnce] {
        let mut builder = builder();
        let stream = builder.spout("some", 1, |_| Ok(Some50(0)));
        let combiner = Combiner::by(|n: &u64| n % 5, |_| Bomb, |_, _| {});
        builder
            .bolt("sink", 1, |_| Ok(Bombed))
            .input_combined(stream, combiner, Grouping::global())
            .done();
        let mut config = config();
        config.guarantee = guarantee;
        config.linger = Duration::from_secs(5);
        let handle = threads::start(builder.build(config).unwrap(), None).unwrap();
        std::thread::sleep(Duration::from_millis(50));
        handle.stop(Stop::Now);
        assert!(!handle.wait().unwrap().complete);
    }
}

/// Fifty numbers, and no end.
struct Some50(u64);

impl Spout for Some50 {
    type Out = Vec<u64>;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Vec<u64>>) -> Result<Poll, BoxError> {
        if self.0 == 50 {
            return Ok(Poll::Idle(None));
        }
        out.emit(self.0);
        self.0 += 1;
        Ok(Poll::More)
    }
}
