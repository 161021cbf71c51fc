//! E21: what has ended, or never had anything, holds up nobody.

use std::sync::{Arc, Mutex};

use streamwright::{
    Bolt, BoxError, Emitter, EpochEnd, Execute, Grouping, Poll, Spout, SpoutEmitter, Stop,
    Watermark,
};

use super::common::{Counts, Idle, builder, config, count, eventually, numbers, run, start};

/// Every close of each task: epoch and watermark.
type Closes = Arc<Mutex<Vec<Vec<(u64, Watermark)>>>>;

/// A window bolt: counts, and notes each close.
struct Window {
    task: usize,
    closes: Closes,
    counts: Counts,
}

impl Bolt for Window {
    type Out = ();

    fn close(
        &mut self,
        epoch: u64,
        mark: Watermark,
        _: &mut Emitter<'_, ()>,
    ) -> Result<(), BoxError> {
        self.closes.lock().unwrap()[self.task].push((epoch, mark));
        Ok(())
    }
}

impl Execute<Vec<u64>> for Window {
    fn execute(&mut self, n: &u64, _: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
        self.counts.add(*n);
        Ok(())
    }
}

/// Emits numbers whose event time they are.
struct Timed {
    next: u64,
    end: u64,
}

impl Spout for Timed {
    type Out = Vec<u64>;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Vec<u64>>) -> Result<Poll, BoxError> {
        if self.next == self.end {
            return Ok(Poll::End);
        }
        let time = i64::try_from(self.next)?;
        out.watermark(time);
        out.stamp(time);
        out.emit(self.next);
        self.next += 1;
        Ok(Poll::More)
    }
}

#[test]
fn e21_one_full_part_and_three_empty_ones_end_by_themselves() {
    let mut builder = builder();
    let stream = builder.spout("parts", 4, |task| {
        Ok(Timed { next: 0, end: if task.index() == 2 { 5000 } else { 0 } })
    });
    let counts = count(&mut builder, "sink", 2, stream);
    let report = run(builder, config());
    counts.assert_once(0..5000);
    assert!(report.complete && report.stalls.is_empty());
}

#[test]
fn e21_spouts_of_none_ten_and_many_records_close_every_window() {
    let (closes, counts): (Closes, _) =
        (Arc::new(Mutex::new(vec![Vec::new(); 2])), Counts::default());
    let mut builder = builder();
    let none = numbers(&mut builder, "none", 1, 0);
    let ten = builder.spout("ten", 1, |_| Ok(Timed { next: 0, end: 10 }));
    let many = builder.spout("many", 1, |_| Ok(Timed { next: 10, end: 50_000 }));
    let (noted, seen) = (Arc::clone(&closes), counts.clone());
    builder
        .bolt("window", 2, move |task| {
            let task = task.index() as usize;
            Ok(Window { task, closes: Arc::clone(&noted), counts: seen.clone() })
        })
        .input(none, Grouping::shuffle())
        .input(ten, Grouping::shuffle())
        .input(many, Grouping::shuffle())
        .done();
    let mut config = config();
    config.epoch = EpochEnd::Records(1000);
    config.max_pending = 256;
    let report = run(builder, config);
    counts.assert_once(0..50_000);
    assert!(report.complete);
    for closes in &*closes.lock().unwrap() {
        // Each epoch once, in order; with the end of all of them all are closed.
        let epochs: Vec<u64> = closes.iter().map(|&(epoch, _)| epoch).collect();
        assert_eq!(epochs, (0..report.epochs).collect::<Vec<_>>());
        assert!(report.epochs >= 5, "{}", report.epochs);
        // The watermark follows the live one, and never falls.
        assert!(closes.is_sorted_by_key(|&(_, mark)| mark));
        let marks: Vec<i64> = closes.iter().filter_map(|&(_, mark)| mark).collect();
        assert!(marks.iter().any(|&mark| mark > 10), "{marks:?}");
    }
}

#[test]
fn e21_a_spout_that_is_idle_from_the_start_holds_no_window() {
    let (closes, counts): (Closes, _) = (Arc::new(Mutex::new(vec![Vec::new()])), Counts::default());
    let mut builder = builder();
    let idle = builder.spout("idle", 2, |_| Ok(Idle));
    let live = builder.spout("live", 1, |_| Ok(Timed { next: 0, end: 20_000 }));
    let (noted, seen) = (Arc::clone(&closes), counts.clone());
    builder
        .bolt("window", 1, move |_| {
            Ok(Window { task: 0, closes: Arc::clone(&noted), counts: seen.clone() })
        })
        .input(idle, Grouping::shuffle())
        .input(live, Grouping::shuffle())
        .done();
    let mut config = config();
    config.epoch = EpochEnd::Records(1000);
    let handle = start(builder, config);
    // Windows close as the live one advances, though the idle ones never end.
    eventually("windows close", || {
        closes.lock().unwrap()[0].iter().any(|&(_, mark)| mark > Some(5000))
    });
    eventually("the live one is through", || counts.total() == 20_000);
    assert!(!handle.is_finished());
    handle.stopper().stop(Stop::Drain);
    let report = handle.wait().unwrap();
    assert!(report.drained && !report.complete);
    counts.assert_once(0..20_000);
}
