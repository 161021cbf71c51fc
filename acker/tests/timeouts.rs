//! Time-outs: never before `T`, at most `L − 1` ticks after it, however the clock is told.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use acker::{Applied, Delta, EdgeId, RootId, Timeout, Tracker, TrackerConfig, Verdict};

const OPEN: [EdgeId; 1] = [EdgeId::new(1).unwrap()];

fn root(bits: u64) -> RootId {
    RootId::new(bits).unwrap()
}

fn tracker(timeout: u64, generations: u8) -> Tracker {
    let timeout = Timeout::After(timeout);
    Tracker::new(TrackerConfig { timeout, generations, seed: 5 }).unwrap()
}

fn init(tracker: &mut Tracker, id: u64) {
    assert_eq!(tracker.init(root(id), 0, Delta::of(&OPEN)), Ok(Applied::Pending));
}

fn width(timeout: u64, generations: u8) -> u64 {
    (timeout - 1).div_ceil(u64::from(generations) - 1).max(1)
}

fn every_case(mut case: impl FnMut(u64, u8)) {
    for timeout in 1..50 {
        for generations in 3..=8 {
            case(timeout, generations);
        }
    }
}

#[test]
fn every_age_lies_within_the_bounds_and_both_are_met() {
    every_case(|timeout, generations| {
        let width = width(timeout, generations);
        let mut t = tracker(timeout, generations);
        let (mut youngest, mut oldest, mut ended) = (u64::MAX, 0, 0);
        let mut out = Vec::new();
        let births = 6 * timeout;
        for now in 0..births + 3 * timeout {
            t.advance(now, &mut out);
            for Verdict { root, .. } in out.drain(..) {
                let age = now - (root.get() - 1); // born at its id less one
                youngest = youngest.min(age);
                oldest = oldest.max(age);
                ended += 1;
            }
            if now < births {
                init(&mut t, now + 1);
            }
        }
        assert_eq!(ended, births, "T {timeout} g {generations}");
        assert_eq!(youngest, timeout, "T {timeout} g {generations}");
        assert_eq!(oldest, timeout + width - 1, "T {timeout} g {generations}");
        assert_eq!(t.stats().timed_out, births);
    });
}

#[test]
fn irregular_calls_end_a_root_at_the_first_call_that_reaches_it() {
    every_case(|timeout, generations| {
        let width = width(timeout, generations);
        for seed in 1..=20u64 {
            let mut t = tracker(timeout, generations);
            let (mut now, mut before, mut random) = (0, 0, seed);
            let mut out = Vec::new();
            for id in 1..=60 {
                init(&mut t, (id << 32) | (now + 1));
                random = random.wrapping_mul(0xB7E1_5162_8AED_2A6B).rotate_left(23) ^ id;
                let step = match random % 4 {
                    0 => 1,
                    1 => random / 4 % width + 1,
                    2 => random / 4 % timeout + 1,
                    _ => random / 4 % (4 * timeout) + 1,
                };
                (before, now) = (now, now + step);
                t.advance(now, &mut out);
                for verdict in out.drain(..) {
                    let born = (verdict.root.get() & 0xffff_ffff) - 1;
                    let due = born / width * width + width - 1 + timeout;
                    assert!(before < due && due <= now, "T {timeout} g {generations}");
                }
            }
            t.advance(now + 2 * timeout + 1, &mut out);
            assert!(t.is_empty() && before <= now);
            assert_eq!(t.stats().timed_out, 60);
        }
    });
}

#[test]
fn every_step_size_keeps_the_bounds() {
    every_case(|timeout, generations| {
        let late = width(timeout, generations) - 1;
        for step in 1..=2 * timeout + 1 {
            let mut t = tracker(timeout, generations);
            let mut out = Vec::new();
            init(&mut t, 1);
            let ends = (1..).map(|n| n * step).find(|&now| {
                t.advance(now, &mut out);
                !out.is_empty()
            });
            let ends = ends.unwrap();
            assert!(ends >= timeout && ends - step < timeout + late);
        }
    });
}

#[test]
fn a_touch_restarts_the_time_out() {
    every_case(|timeout, generations| {
        let mut t = tracker(timeout, generations);
        let mut out = Vec::new();
        init(&mut t, 1);
        let mut now = 0;
        for _ in 0..10 {
            now += timeout - 1;
            t.advance(now, &mut out);
            assert!(t.touch(root(1)) && out.is_empty());
        }
        t.advance(now + timeout - 1, &mut out);
        assert!(out.is_empty());
        t.advance(now + timeout + width(timeout, generations) - 1, &mut out);
        assert_eq!(out.len(), 1);
    });
}

#[test]
fn an_early_message_does_not_shorten_the_time_out() {
    let mut t = tracker(10, 3);
    let mut out = Vec::new();
    assert_eq!(t.ack(root(1), Delta::of(&OPEN), Delta::EMPTY), Applied::Orphan);
    t.advance(9, &mut out);
    assert_eq!(t.init(root(1), 0, Delta::EMPTY), Ok(Applied::Pending));
    t.advance(18, &mut out);
    assert!(out.is_empty());
    t.advance(19, &mut out);
    assert_eq!(out.len(), 1);
    assert_eq!(t.stats().orphans_expired, 0);
}

#[test]
fn time_that_runs_backwards_is_ignored() {
    let mut t = tracker(10, 3);
    let mut out = Vec::new();
    t.advance(100, &mut out);
    init(&mut t, 1);
    for now in [99, 0, 100] {
        t.advance(now, &mut out);
    }
    assert!(out.is_empty());
    t.advance(114, &mut out);
    assert_eq!(out.len(), 1);
}

#[test]
fn a_jump_to_the_end_of_time_is_cheap_and_ends_everything() {
    for timeout in [1, 10, u64::MAX / 2, u64::MAX - 1] {
        let mut t = tracker(timeout, 8);
        let mut out = Vec::new();
        init(&mut t, 1);
        t.advance(u64::MAX - 1, &mut out);
        t.advance(u64::MAX, &mut out);
        let late = width(timeout, 8) - 1;
        assert_eq!(out.len(), usize::from(timeout.checked_add(late).is_some()));
        init(&mut t, 2);
        t.advance(u64::MAX, &mut out);
        assert!(t.touch(root(2)));
    }
}

#[test]
fn verdicts_of_one_call_come_in_the_order_of_their_ids_after_what_is_there() {
    let mut t = tracker(10, 3);
    let mut out = Vec::new();
    init(&mut t, 7);
    t.advance(20, &mut out);
    for id in (1..=1000).rev() {
        init(&mut t, id * 0x9E37_79B9);
    }
    t.advance(40, &mut out);
    let ids: Vec<_> = out.iter().map(|verdict| verdict.root.get()).collect();
    assert_eq!(ids[0], 7);
    assert!(ids[1..].is_sorted() && ids.len() == 1001);
}
