//! A run that fails names the seed that repeats it.

use std::process::Command;
use std::sync::Arc;

use streamwright::sim::{Sim, SimError};
use streamwright::{
    Bolt, BoxError, Emitter, Execute, Grouping, Poll, RunError, Spout, SpoutEmitter, Topology,
};

use crate::common::{chain, cluster, config, ms, numbers};

struct Idle;

impl Spout for Idle {
    type Out = Vec<u64>;

    fn next(&mut self, _: &mut SpoutEmitter<'_, Vec<u64>>) -> Result<Poll, BoxError> {
        Ok(Poll::Idle(None))
    }
}

/// Fails on every number, or as an epoch closes.
struct Bad(bool);

impl Bolt for Bad {
    type Out = ();

    fn close(
        &mut self,
        _: u64,
        _: streamwright::Watermark,
        _: &mut Emitter<'_, ()>,
    ) -> Result<(), BoxError> {
        if self.0 { Err("never".into()) } else { Ok(()) }
    }
}

impl Execute<Vec<u64>> for Bad {
    fn execute(&mut self, _: &u64, _: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
        if self.0 { Ok(()) } else { Err("bad".into()) }
    }
}

fn bad(close: bool) -> Topology {
    let mut builder = Topology::builder();
    let from = numbers(&mut builder, "a", 1, 10);
    builder.bolt("b", 1, move |_| Ok(Bad(close))).input(from, Grouping::shuffle()).done();
    let mut config = config(2);
    config.attempts = 2;
    builder.build(config).unwrap()
}

#[test]
fn a_failed_run_says_when_and_with_which_seed() {
    let error = Sim::new(cluster(2)).seed(31).run(bad(true)).unwrap_err();
    assert!(error.to_string().ends_with("seed 31)"), "{error}");
    let SimError::Run { error: RunError::Callback { call: "close", .. }, seed: 31, .. } = error
    else {
        panic!("{error}");
    };
}

#[test]
fn what_never_ends_is_a_deadlock_or_runs_out_of_patience() {
    let idle = || {
        let mut builder = Topology::builder();
        let from = builder.spout("a", 1, |_| Ok(Idle));
        builder.bolt("b", 1, |_| Ok(Bad(false))).input(from, Grouping::shuffle()).done();
        builder.build(config(2)).unwrap()
    };
    let error = Sim::new(cluster(2)).seed(8).run(idle()).unwrap_err();
    assert!(matches!(error, SimError::Deadlock { .. } | SimError::NoEnd { .. }), "{error}");
    assert!(error.to_string().ends_with("seed 8)"), "{error}");
    let (topology, _) = chain(["a", "b", "c"], 2, 100_000, config(2));
    let error = Sim::new(cluster(2)).seed(9).until(ms(3)).run(topology).unwrap_err();
    let SimError::NoEnd { ref holds, events, seed: 9, .. } = error else { panic!("{error}") };
    assert!(holds.contains("held at") && events > 0, "{error}");
    assert!(error.to_string().contains("no end within 3ms of virtual time"), "{error}");
    assert!(!holds.contains("no progress for 10"), "{error}");
    let (topology, _) = chain(["a", "b", "c"], 2, 100_000, config(2));
    let error = Sim::new(cluster(2)).most_events(1_000).run(topology).unwrap_err();
    assert!(matches!(error, SimError::NoEnd { events: 1_001, .. }), "{error}");
}

#[test]
fn dead_letters_are_kept_or_handled_in_the_midst_of_the_run() {
    let report = Sim::new(cluster(2)).run(bad(false)).unwrap().report;
    assert_eq!((report.dead, report.dead_letters.len(), report.acked), (10, 10, 0));
    assert!(report.complete);
    let seen = Arc::new(std::sync::Mutex::new(0));
    let count = Arc::clone(&seen);
    let sim = Sim::new(cluster(2)).on_letter(move |letter| {
        assert_eq!(letter.item::<Vec<u64>>().map(Vec::len), Some(1));
        *count.lock().unwrap() += 1;
        Ok(())
    });
    let report = sim.run(bad(false)).unwrap().report;
    assert_eq!((report.dead, report.dead_letters.len(), *seen.lock().unwrap()), (10, 0, 10));
    let sim = Sim::new(cluster(2)).seed(4).on_letter(|_| Err("full".into()));
    let error = sim.run(bad(false)).unwrap_err().to_string();
    assert!(error.contains("the dead-letter handler failed: full"), "{error}");
    assert!(error.ends_with("seed 4)"), "{error}");
}

/// Panics as it is dropped.
struct Grenade;

impl Drop for Grenade {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "it was dropped");
    }
}

#[test]
#[ignore = "it panics: the test below runs it"]
fn panicking_run() {
    let grenade = Grenade;
    let handler = move |_| {
        let _ = &grenade;
        Ok(())
    };
    let outcome = Sim::new(cluster(2)).seed(271_828).on_letter(handler).run(bad(false));
    panic!("no panic, but {outcome:?}");
}

#[test]
fn a_panic_that_passes_through_the_run_prints_the_seed() {
    let run = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "seeds::panicking_run", "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(!run.status.success());
    assert!(said.contains("it was dropped"), "{said}");
    assert!(said.contains("the run failed with seed 271828"), "{said}");
}
