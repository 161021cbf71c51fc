//! E15: a component that cannot be opened, or that fails where there is no root to blame, ends the
//! run with its name, and leaves no thread behind.

use std::time::{Duration, Instant};

use streamwright::{
    Bolt, BoxError, Emitter, Execute, Grouping, Poll, RunError, Spout, SpoutEmitter, TaskContext,
    TopologyBuilder, Watermark, threads,
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

#[test]
fn e15_a_fault_in_a_workers_own_loop_ends_the_run() {
    // The key of a grouping is asked for by the router, outside of any task's call.
    alone("open::e15_a_fault_in_a_workers_own_loop_ends_the_run", || {
        let error = fails(|builder| {
            let stream = numbers(builder, "numbers", 1, 100_000);
            builder
                .bolt("sink", 2, |_| Ok(Each(|_| Ok(()))))
                .input(
                    stream,
                    Grouping::fields(|n: &u64| {
                        assert!(*n < 1000, "no key for {n}");
                        *n
                    }),
                )
                .done();
        });
        assert!(error.to_string().contains("no key for 1000"), "{error}");
    });
}
