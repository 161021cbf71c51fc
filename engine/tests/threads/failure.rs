//! E14, E15: errors and panics fail their root with the reason, and nothing else.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{error, io};

use streamwright::{Bolt, BoxError, Emitter, Execute, Grouping, Reason, Report, TopologyBuilder};

use super::common::{Counts, Each, builder, config, count, map, numbers, run, tasks};

/// Ten roots on one task, of which `bad` emits three and then fails in its own way.
fn ten_with_one_bad(
    bad: u64,
    fail: impl Fn() -> Result<(), BoxError> + Clone + Send + Sync + 'static,
) -> (Report, Counts) {
    let mut builder = builder();
    let stream = numbers(&mut builder, "numbers", 1, 10);
    let stream = map(&mut builder, "faulty", 1, stream, move |n, out| {
        (0..3).for_each(|i| out.emit(10 * n + i));
        if n == bad { fail() } else { Ok(()) }
    });
    let counts = count(&mut builder, "sink", 2, stream);
    let mut config = config();
    config.batch = 10;
    (run(builder, config), counts)
}

/// The good ones are through once, the bad one is a dead letter, the task has worked on.
fn assert_one_dead((report, counts): &(Report, Counts), bad: u64) {
    let good = (0..10).filter(|&n| n != bad).flat_map(|n| (0..3).map(move |i| 10 * n + i));
    counts.assert_once(good);
    assert!(report.complete);
    assert_eq!((report.records, report.acked, report.dead), (10, 9, 1));
    // At once with its reason: all three attempts fell within far less than the time-out.
    assert_eq!((report.replayed, report.failed), (2, 3));
    let letter = &report.dead_letters[0];
    assert_eq!((letter.component.as_str(), letter.task, letter.attempts), ("numbers", 0, 3));
    assert_eq!(letter.item::<Vec<u64>>().unwrap(), &[bad]);
    let faulty = tasks(report, "faulty");
    assert_eq!((faulty[0].executed, faulty[0].failed, faulty[0].acked), (12, 3, 9));
}

fn message((report, _): &(Report, Counts)) -> String {
    match &*report.dead_letters[0].reason {
        Reason::Failed { component, task, message } => {
            assert_eq!((component.as_str(), *task), ("faulty", 0));
            format!("failed: {message}")
        }
        Reason::Panicked { component, task, message } => {
            assert_eq!((component.as_str(), *task), ("faulty", 0));
            format!("panicked: {message}")
        }
        other => panic!("{other}"),
    }
}

#[test]
fn e14_an_error_after_three_emissions_takes_them_back() {
    for bad in [0, 4, 9] {
        let outcome = ten_with_one_bad(bad, || Err("too sour".into()));
        assert_one_dead(&outcome, bad);
        assert_eq!(message(&outcome), "failed: too sour");
    }
}

#[test]
fn e14_a_panic_after_three_emissions_takes_them_back() {
    for bad in [0, 4, 9] {
        let outcome = ten_with_one_bad(bad, || panic!("far {}", "too sour"));
        assert_one_dead(&outcome, bad);
        assert_eq!(message(&outcome), "panicked: far too sour");
    }
}

struct PanicsInDrop;

impl Drop for PanicsInDrop {
    fn drop(&mut self) {
        panic!("dropped")
    }
}

#[test]
fn e14_a_panic_in_the_drop_of_a_local_value_is_a_panic_of_the_bolt() {
    let outcome = ten_with_one_bad(4, || {
        let _value = PanicsInDrop;
        Ok(())
    });
    assert_one_dead(&outcome, 4);
    assert_eq!(message(&outcome), "panicked: dropped");
}

/// An item that panics when it is dropped before its time.
#[derive(Clone)]
struct Fragile {
    number: u64,
    armed: bool,
}

impl Drop for Fragile {
    fn drop(&mut self) {
        assert!(!self.armed, "a fragile item was dropped");
    }
}

struct Wrap;

impl Bolt for Wrap {
    type Out = Vec<Fragile>;
}

impl Execute<Vec<u64>> for Wrap {
    fn execute(&mut self, n: &u64, out: &mut Emitter<'_, Vec<Fragile>>) -> Result<(), BoxError> {
        let bad = *n == 4;
        (0..3).for_each(|_| out.emit(Fragile { number: *n, armed: bad }));
        if bad { Err("too sour".into()) } else { Ok(()) }
    }
}

struct Unwrap(Counts);

impl Bolt for Unwrap {
    type Out = ();
}

impl Execute<Vec<Fragile>> for Unwrap {
    fn execute(&mut self, item: &Fragile, _: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
        self.0.add(item.number);
        Ok(())
    }
}

fn wrapped(builder: &mut TopologyBuilder, end: u64) -> Counts {
    let counts = Counts::default();
    let stream = numbers(builder, "numbers", 1, end);
    let stream = builder.bolt("faulty", 1, |_| Ok(Wrap)).input(stream, Grouping::global()).done();
    let kept = counts.clone();
    builder
        .bolt("sink", 1, move |_| Ok(Unwrap(kept.clone())))
        .input(stream, Grouping::global())
        .done();
    counts
}

#[test]
fn e14_items_that_panic_as_they_are_taken_back_do_not_stop_the_task() {
    let mut builder = builder();
    let counts = wrapped(&mut builder, 10);
    let report = run(builder, config());
    assert_eq!((report.acked, report.dead), (9, 1));
    let expected = (0..10).filter(|&n| n != 4).map(|n| (n, 3)).collect();
    assert_eq!(counts.get(), expected);
}

#[test]
fn e14_a_task_that_fails_each_second_tuple_still_does_all_others() {
    let failures = Arc::<AtomicU64>::default();
    let mut builder = builder();
    let stream = numbers(&mut builder, "numbers", 2, 2000);
    let fails = Arc::clone(&failures);
    let stream = map(&mut builder, "faulty", 2, stream, move |n, out| {
        out.emit(n);
        match n % 4 {
            1 => {
                fails.fetch_add(1, Ordering::Relaxed);
                Err("odd".into())
            }
            3 => {
                fails.fetch_add(1, Ordering::Relaxed);
                std::panic::panic_any(n);
            }
            _ => Ok(()),
        }
    });
    let counts = count(&mut builder, "sink", 2, stream);
    let mut config = config();
    config.attempts = 2;
    let report = run(builder, config);
    counts.assert_once((0..2000).step_by(2));
    assert_eq!((report.acked, report.dead, report.replayed), (1000, 1000, 1000));
    assert_eq!(failures.load(Ordering::Relaxed), 2000);
}

#[test]
fn e15_a_panic_that_is_no_text_is_a_panic_like_any_other() {
    let outcome = ten_with_one_bad(4, || std::panic::panic_any(vec![1_u8, 2]));
    assert_one_dead(&outcome, 4);
    assert_eq!(message(&outcome), "panicked: a panic without a message");
    let outcome = ten_with_one_bad(4, || std::panic::panic_any(PanicsInDrop));
    assert_one_dead(&outcome, 4);
}

#[test]
fn e15_a_panic_in_the_key_of_a_grouping_fails_its_root() {
    // The router asks for it, outside of any task's call.
    let mut builder = builder();
    let stream = numbers(&mut builder, "numbers", 1, 10);
    let counts = Counts::default();
    let kept = counts.clone();
    let key = |n: &u64| {
        assert_ne!(*n, 4, "no key");
        *n
    };
    builder
        .bolt("sink", 2, move |_| {
            let kept = kept.clone();
            Ok(Each(move |n| {
                kept.add(n);
                Ok(())
            }))
        })
        .input(stream, Grouping::fields(key))
        .done();
    let mut config = config();
    config.batch = 10;
    let report = run(builder, config);
    counts.assert_once((0..10).filter(|&n| n != 4));
    assert_eq!((report.acked, report.dead, report.replayed), (9, 1, 2));
    let Reason::Grouping { component, message } = &*report.dead_letters[0].reason else {
        panic!("{:?}", report.dead_letters)
    };
    assert_eq!(component, "sink");
    assert!(message.contains("no key"), "{message}");
}

#[derive(Debug)]
struct Wrapped(io::Error);

impl fmt::Display for Wrapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the lookup failed")
    }
}

impl error::Error for Wrapped {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        Some(&self.0)
    }
}

#[test]
fn e15_an_error_chain_that_holds_interrupted_fails_the_root_and_no_more() {
    let outcome = ten_with_one_bad(4, || {
        Err(Wrapped(io::Error::new(io::ErrorKind::Interrupted, "a signal came")).into())
    });
    assert_one_dead(&outcome, 4);
    assert_eq!(message(&outcome), "failed: the lookup failed: a signal came");
    let outcome = ten_with_one_bad(4, || Err(io::Error::from(io::ErrorKind::Interrupted).into()));
    assert_one_dead(&outcome, 4);
}
