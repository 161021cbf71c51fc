//! E15: a component that cannot be opened, or that fails where there is no root to blame, ends the
//! run with its name, and leaves no thread behind.

use std::time::{Duration, Instant};

use streamwright::{
    Batch, Bolt, BoxError, CloneBatch, Emitter, Execute, Grouping, Places, Poll, Push, RunError,
    Spout, SpoutEmitter, TaskContext, TopologyBuilder, Watermark, threads,
};

use super::common::{Each, Idle, alone, builder, config, count, eventually, numbers, thread_count};

/// The run fails within a second (five, for the machine is busy), and all its threads are gone.
fn fails(declare: impl FnOnce(&mut TopologyBuilder)) -> RunError {
    let before = thread_count();
    let mut builder = builder();
    declare(&mut builder);
    let mut config = config();
    config.workers = 4;
    let topology = builder.build(config).unwrap();
    let start = Instant::now();
    let error = threads::run(topology).unwrap_err();
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}: {error}", start.elapsed());
    // A joined thread may show for a moment more.
    eventually("all threads are gone", || thread_count() == before);
    error
}

fn with_open(
    open: impl Fn(&TaskContext) -> Result<(), BoxError> + Send + Sync + 'static,
) -> RunError {
    fails(|builder| {
        let stream = numbers(builder, "numbers", 2, 1_000_000);
        builder
            .bolt("picky", 8, move |task| {
                open(task)?;
                Ok(Each(|_| Ok(())))
            })
            .input(stream, Grouping::shuffle())
            .done();
    })
}

#[test]
fn e15_a_task_whose_open_errs_ends_the_run_by_name() {
    alone("open::e15_a_task_whose_open_errs_ends_the_run_by_name", || {
        let error =
            with_open(|task| if task.index() == 3 { Err("no such table".into()) } else { Ok(()) });
        let (component, message) = ("picky".to_owned(), "no such table".to_owned());
        assert_eq!(error, RunError::Open { component, task: 3, message });
    });
}

#[test]
fn e15_a_task_whose_open_panics_ends_the_run_by_name() {
    alone("open::e15_a_task_whose_open_panics_ends_the_run_by_name", || {
        let error = with_open(|task| {
            assert_ne!(task.index(), 3, "no such table");
            Ok(())
        });
        let RunError::Open { component, task: 3, message } = error else { panic!("{error}") };
        assert_eq!(component, "picky");
        assert!(message.contains("no such table"), "{message}");
    });
}

#[test]
fn e15_a_spout_whose_open_errs_ends_the_run_by_name() {
    alone("open::e15_a_spout_whose_open_errs_ends_the_run_by_name", || {
        let error = fails(|builder| {
            let stream = builder.spout("picky", 8, |task| {
                if task.index() == 3 { Err("no such file".into()) } else { Ok(Idle) }
            });
            count(builder, "sink", 2, stream);
        });
        let (component, message) = ("picky".to_owned(), "no such file".to_owned());
        assert_eq!(error, RunError::Open { component, task: 3, message });
    });
}

/// Fails in one of its calls.
struct Faulty(&'static str);

impl Faulty {
    fn call(&self, name: &str) -> Result<(), BoxError> {
        match self.0.split_once(' ') {
            Some((call, "errs")) if call == name => Err("out of order".into()),
            Some((call, _)) if call == name => panic!("out of order"),
            _ => Ok(()),
        }
    }
}

impl Bolt for Faulty {
    type Out = ();

    fn flush(&mut self, _: u64, _: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
        self.call("flush")
    }

    fn close(&mut self, _: u64, _: Watermark, _: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
        self.call("close")
    }

    fn timer(&mut self, _: u64, _: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
        self.call("timer")
    }
}

impl Execute<Vec<u64>> for Faulty {
    fn execute(&mut self, _: &u64, out: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
        out.wake_at(out.now());
        Ok(())
    }
}

#[test]
fn e15_a_call_without_a_root_that_fails_ends_the_run_by_name() {
    alone("open::e15_a_call_without_a_root_that_fails_ends_the_run_by_name", || {
        for how in [
            "flush errs",
            "flush panics",
            "close errs",
            "close panics",
            "timer errs",
            "timer panics",
        ] {
            let error = fails(|builder| {
                let stream = numbers(builder, "numbers", 1, 100_000);
                builder
                    .bolt("faulty", 2, move |_| Ok(Faulty(how)))
                    .input(stream, Grouping::shuffle())
                    .done();
            });
            let RunError::Callback { call, component, message, .. } = error else {
                panic!("{how}: {error}")
            };
            assert!(how.starts_with(call));
            assert_eq!((component.as_str(), message.as_str()), ("faulty", "out of order"));
        }
    });
}

/// Fails at its third call.
struct FaultySpout(u32, bool);

impl Spout for FaultySpout {
    type Out = Vec<u64>;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Vec<u64>>) -> Result<Poll, BoxError> {
        self.0 += 1;
        if self.0 == 3 {
            assert!(!self.1, "no more");
            return Err("no more".into());
        }
        out.emit(1_u64);
        Ok(Poll::More)
    }
}

#[test]
fn e15_a_spout_that_fails_ends_the_run_by_name() {
    alone("open::e15_a_spout_that_fails_ends_the_run_by_name", || {
        for panics in [false, true] {
            let error = fails(|builder| {
                let stream = builder.spout("faulty", 1, move |_| Ok(FaultySpout(0, panics)));
                count(builder, "sink", 2, stream);
            });
            let (component, message) = ("faulty".to_owned(), "no more".to_owned());
            assert_eq!(error, RunError::Spout { component, task: 0, message });
        }
    });
}

/// A batch whose own code fails at the number 1000, where no task is to blame.
#[derive(Clone, Default)]
struct Unsound(Vec<u64>);

impl Batch for Unsound {
    type Item<'a> = &'a u64;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn item(&self, i: usize) -> &u64 {
        &self.0[i]
    }

    fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    fn size(&self) -> usize {
        8 * self.0.len()
    }

    fn scatter<P: Places<Self>>(&mut self, to: &mut P) {
        for (i, n) in self.0.drain(..).enumerate() {
            assert_ne!(n, 1000, "no place for this one");
            if let Some(part) = to.place(i) {
                part.0.push(n);
            }
        }
    }
}

impl CloneBatch for Unsound {
    fn copy_to(&self, i: usize, to: &mut Self) {
        to.0.push(self.0[i]);
    }
}

impl Push<u64> for Unsound {
    fn push_item(&mut self, n: u64) {
        self.0.push(n);
    }
}

/// Numbers without an end, in unsound batches.
struct Counter(u64);

impl Spout for Counter {
    type Out = Unsound;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Unsound>) -> Result<Poll, BoxError> {
        self.0 += 1;
        out.emit(self.0);
        Ok(Poll::More)
    }
}

struct Drain;

impl Bolt for Drain {
    type Out = ();
}

impl Execute<Unsound> for Drain {
    fn execute(&mut self, _: &u64, _: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
        Ok(())
    }
}

#[test]
fn e15_a_fault_of_a_batch_in_a_workers_own_loop_ends_the_run() {
    alone("open::e15_a_fault_of_a_batch_in_a_workers_own_loop_ends_the_run", || {
        let error = fails(|builder| {
            let stream = builder.spout("numbers", 1, |_| Ok(Counter(0)));
            builder.bolt("sink", 2, |_| Ok(Drain)).input(stream, Grouping::shuffle()).done();
        });
        let RunError::Items { component, message } = error else { panic!("{error}") };
        assert_eq!(component, "numbers");
        assert!(message.contains("no place for this one"), "{message}");
    });
}
