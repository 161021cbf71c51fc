//! The stage controller, results written through, and queues.

#![allow(clippy::unwrap_used, clippy::cast_sign_loss, reason = "a test may panic")]

mod common;

use std::collections::BTreeMap;

use common::cases;
use proptest::prelude::*;
use rtmr::job::{Bounded, Outer, Queue, StageController, StageSettings, WriteThrough};

fn settings() -> StageSettings {
    StageSettings { most_threads: 8, most_batch: 100, batch_seconds: 0.05, ..Default::default() }
}

/// A stage that is fed `arrive` records a period, each of `service` seconds.
struct Plant {
    controller: StageController,
    queue: u64,
}

impl Plant {
    fn new() -> Self {
        Self { controller: StageController::new(settings(), 1.0).unwrap(), queue: 0 }
    }

    fn period(&mut self, arrive: u64, service: f64) {
        let can = (f64::from(self.controller.size().threads) / service) as u64;
        let served = can.min(self.queue + arrive);
        self.queue = self.queue + arrive - served;
        self.controller.observe(self.queue, served, served as f64 * service).unwrap();
    }
}

#[test]
fn the_pool_follows_the_load_up_at_once_and_down_slowly() {
    let mut plant = Plant::new();
    (0..30).for_each(|_| plant.period(39, 0.1));
    // 3.9 seconds of work a second at 80 %: five threads, and nothing waits.
    assert_eq!((plant.controller.size().threads, plant.queue), (5, 0));
    plant.period(5, 0.1);
    (0..6).for_each(|_| plant.period(5, 0.1));
    assert_eq!(plant.controller.size().threads, 5);
    (0..100).for_each(|_| plant.period(5, 0.1));
    assert_eq!(plant.controller.size().threads, 1);
}

#[test]
fn a_backlog_is_worked_off_and_batches_stay_in_time() {
    let mut plant = Plant::new();
    (0..3).for_each(|_| plant.period(60, 0.1));
    assert!(plant.queue > 0);
    (0..20).for_each(|_| plant.period(60, 0.1));
    assert_eq!(plant.queue, 0);
    // A record of 0.1 s is over the time of a batch already.
    assert_eq!(plant.controller.size().batch, 1);
    let mut fast = Plant::new();
    fast.period(1_000_000, 0.001);
    assert_eq!(fast.controller.size().batch, 50);
    let mut faster = Plant::new();
    faster.period(1_000_000, 0.000_01);
    assert_eq!(faster.controller.size().batch, 100);
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn sizes_are_within_bounds_and_enough(seen in prop::collection::vec((0_u64..10_000, 0_u64..10_000, 0.0..50_f64), 1..30)) {
        let mut controller = StageController::new(settings(), 1.0).unwrap();
        for (queue, served, busy) in seen {
            let before = controller.size().threads;
            let size = controller.observe(queue, served, busy).unwrap();
            prop_assert!((1..=8).contains(&size.threads) && (1..=100).contains(&size.batch));
            prop_assert!(size.threads + 1 >= before);
            prop_assert_eq!(size, controller.size());
        }
    }

    /// A load that stays comes to a size that stays, with room to spare and nothing waiting.
    #[test]
    fn a_constant_load_comes_to_rest(arrive in 1_u64..60, service in 0.001..0.1_f64) {
        let mut plant = Plant::new();
        (0..300).for_each(|_| plant.period(arrive, service));
        let size = plant.controller.size();
        let load = arrive as f64 * service;
        prop_assert!(f64::from(size.threads) >= load && plant.queue == 0);
        prop_assert!(f64::from(size.threads) <= load / 0.8 + 1.0);
        (0..50).for_each(|_| plant.period(arrive, service));
        prop_assert_eq!(plant.controller.size(), size);
    }

    #[test]
    fn results_are_written_in_order_whatever_is_refused(refusals in prop::collection::vec(any::<bool>(), 0..60)) {
        let mut out = WriteThrough::default();
        let mut outer = Moody { refusals, taken: Vec::new() };
        for result in 0..40 {
            out.push(result % 7, result);
            let _ = out.flush(&mut outer);
            prop_assert_eq!(outer.taken.len() + out.waiting(), result as usize + 1);
        }
        outer.refusals.clear();
        out.flush(&mut outer).unwrap();
        prop_assert_eq!(outer.taken, (0..40).map(|result| (result % 7, result)).collect::<Vec<_>>());
    }
}

struct Moody {
    refusals: Vec<bool>,
    taken: Vec<(i32, i32)>,
}

impl Outer<i32, i32> for Moody {
    type Error = ();

    fn put(&mut self, &key: &i32, &result: &i32) -> Result<(), ()> {
        if self.refusals.pop() == Some(true) {
            return Err(());
        }
        self.taken.push((key, result));
        Ok(())
    }
}

#[test]
fn a_map_is_an_outer_store() {
    let (mut out, mut map) = (WriteThrough::default(), BTreeMap::new());
    out.push("a", 1);
    out.push("b", 2);
    out.push("a", 3);
    assert_eq!(out.flush(&mut map), Ok(3));
    assert_eq!(map, BTreeMap::from([("a", 3), ("b", 2)]));
}

#[test]
fn settings_are_checked() {
    let with = |change: fn(&mut StageSettings)| {
        let mut settings = settings();
        change(&mut settings);
        StageController::new(settings, 1.0)
    };
    assert!(with(|_| ()).is_ok());
    assert!(with(|s| s.utilisation = 1.0).is_err() && with(|s| s.utilisation = f64::NAN).is_err());
    assert!(with(|s| s.batch_seconds = 0.0).is_err() && with(|s| s.most_threads = 0).is_err());
    assert!(with(|s| s.most_batch = 0).is_err() && with(|s| s.drain = 0).is_err());
    assert!(with(|s| s.patience = 0).is_err());
    assert!(StageController::new(settings(), 0.0).is_err());
    let mut controller = with(|_| ()).unwrap();
    assert!(controller.observe(1, 1, f64::NAN).is_err() && controller.observe(1, 1, -1.0).is_err());
    assert!(controller.observe(u64::MAX, u64::MAX / 2, f64::MAX).is_ok());
    assert!(controller.observe(0, u64::MAX, f64::MAX).is_ok());
}

#[test]
fn full_queues_give_the_item_back() {
    let mut queue = Bounded::new(1);
    assert_eq!(
        (queue.offer(1), queue.offer(2), queue.take(), queue.take()),
        (Ok(()), Err(2), Some(1), None)
    );
    let (mut sender, receiver) = std::sync::mpsc::sync_channel(1);
    assert_eq!((sender.offer(1), sender.offer(2)), (Ok(()), Err(2)));
    drop(receiver);
    assert_eq!(sender.offer(3), Err(3));
}

#[test]
fn the_longest_time_of_service_is_forgotten_like_any_other() {
    let mut stage = StageController::new(settings(), 1.0).unwrap();
    for turn in 0..3_000 {
        let busy = if turn < 3 { f64::MAX } else { 1e-6 };
        assert!(stage.observe(0, 1, busy).unwrap().threads > 0);
    }
    assert_eq!(stage.size().threads, 1);
}
