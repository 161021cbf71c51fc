//! Replays. Names that start with `b` and a number are defects that others have had.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::HashMap;

use acker::{Attempt, Error, Next, Outcome, Replay, ReplayPolicy};
use proptest::prelude::*;

const POLICY: ReplayPolicy =
    ReplayPolicy { attempts: 5, backoff: 10, longest: 35, jitter: 0, seed: 1 };

fn due(replay: &mut Replay, now: u64) -> Vec<Attempt> {
    let mut out = Vec::new();
    replay.due(now, &mut out);
    out
}

#[test]
fn b15_attempts_are_counted_by_spring_and_come_to_an_end() {
    let mut replay = Replay::new(POLICY).unwrap();
    let mut attempt = replay.begin(7).unwrap();
    assert_eq!(replay.begin(7), None);
    let (mut now, mut waits) = (100, Vec::new());
    for number in 2..=5 {
        let Next::Retry { attempt: next, at } = replay.on(attempt.root(), Outcome::Failed, now)
        else {
            unreachable!("attempt {number} is left");
        };
        assert_eq!(next, Attempt { spring: 7, number });
        waits.push(at - now);
        assert_eq!((due(&mut replay, at - 1), replay.next_due()), (vec![], Some(at)));
        assert_eq!(due(&mut replay, at), [next]);
        // A second verdict on the old attempt says nothing.
        assert_eq!(replay.on(attempt.root(), Outcome::Done, at), Next::Unknown);
        (attempt, now) = (next, at);
    }
    assert_eq!(waits, [10, 20, 35, 35]);
    assert_eq!(replay.on(attempt.root(), Outcome::TimedOut, now), Next::DeadLetter { attempt });
    assert!(replay.is_empty() && replay.next_due().is_none());
    assert!(replay.begin(7).is_some());
}

#[test]
fn b16_two_attempts_that_are_due_at_once_are_both_returned() {
    let mut replay = Replay::new(POLICY).unwrap();
    for spring in [9, 4] {
        let first = replay.begin(spring).unwrap();
        assert!(matches!(replay.on(first.root(), Outcome::Failed, 0), Next::Retry { at: 10, .. }));
    }
    let both = [4, 9].map(|spring| Attempt { spring, number: 2 });
    assert_eq!(due(&mut replay, 10), both);
    assert_eq!(due(&mut replay, 10), []);
}

#[test]
fn a_policy_without_attempts_is_refused() {
    let refused = Replay::new(ReplayPolicy { attempts: 0, ..POLICY }).map(|_| ());
    assert_eq!(refused, Err(Error::NoAttempts));
    assert_eq!(Error::NoAttempts.to_string(), "a policy of replay needs at least one attempt");
}

#[test]
fn the_end_of_time_is_no_panic() {
    let policy = ReplayPolicy {
        attempts: u32::MAX,
        backoff: u64::MAX,
        longest: u64::MAX,
        jitter: 1_000,
        seed: 0,
    };
    let mut replay = Replay::new(policy).unwrap();
    let attempt = replay.begin(0).unwrap();
    let next = replay.on(attempt.root(), Outcome::Failed, u64::MAX);
    assert!(matches!(next, Next::Retry { at: u64::MAX, .. }));
    assert_eq!(replay.backoff(Attempt { spring: 3, number: u32::MAX }), u64::MAX);
    assert_eq!(due(&mut replay, u64::MAX).len(), 1);
}

#[test]
fn no_backoff_and_no_jitter_is_too_much() {
    for jitter in [0, 999, 1_000, 1_001, u16::MAX] {
        for longest in [0, 1, u64::MAX / 2, u64::MAX] {
            for spring in 0..200 {
                let policy = ReplayPolicy { backoff: u64::MAX, longest, jitter, ..POLICY };
                let replay = Replay::new(policy).unwrap();
                let wait = replay.backoff(Attempt { spring, number: 2 });
                let most = u128::from(longest) * (1_000 + u128::from(jitter)) / 1_000;
                assert!(wait >= longest && u128::from(wait) <= most, "{jitter} {longest}");
            }
        }
    }
}

/// The spring whose first attempt has the same track id as the second of `spring`: the steps of
/// `mix` undone, as somebody who chooses springs would.
fn collision(spring: u64) -> u64 {
    const CONSTANTS: [u64; 3] =
        [0x243F_6A88_85A3_08D3, 0xB7E1_5162_8AED_2A6B, 0x9E37_79B9_7F4A_7C15];
    let [pi, e, phi] = CONSTANTS;
    // Newton's iteration doubles the right bits of an inverse modulo 2^64.
    let inverse =
        |odd: u64| (0..6).fold(odd, |x, _| x.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(x))));
    let fold = |x: u64, by: u32| x ^ (x >> by);
    let scramble = |x: u64| {
        let x = fold(x, 32).wrapping_mul(phi);
        fold(fold(fold(x, 29).wrapping_mul(e), 31).wrapping_mul(pi), 32)
    };
    let unfold = |x: u64, by: u32| x ^ (x >> by) ^ x.checked_shr(2 * by).unwrap_or(0);
    let undo = |x: u64| {
        let x = unfold(x, 32).wrapping_mul(inverse(pi));
        let x = unfold(x, 31).wrapping_mul(inverse(e));
        unfold(unfold(x, 29).wrapping_mul(inverse(phi)), 32)
    };
    undo(scramble(spring ^ pi) ^ scramble(2 ^ e) ^ scramble(1 ^ e)) ^ pi
}

/// By chance this is one in 2^64; but springs may be chosen.
#[test]
fn attempts_that_share_a_track_id_are_not_lost() {
    let (a, b) = (7, collision(7));
    let [first, second] = [1, 2].map(|number| Attempt { spring: a, number });
    let other = Attempt { spring: b, number: 1 };
    assert_eq!(second.root(), other.root());

    // The other comes while the second attempt is under way.
    let mut replay = Replay::new(POLICY).unwrap();
    assert_eq!(replay.begin(a), Some(first));
    assert!(matches!(replay.on(first.root(), Outcome::Failed, 0), Next::Retry { at: 10, .. }));
    assert_eq!(due(&mut replay, 10), [second]);
    assert_eq!((replay.begin(b), replay.len()), (None, 1));
    assert_eq!(replay.on(second.root(), Outcome::Done, 11), Next::Forget);
    assert_eq!(replay.begin(b), Some(other));

    // The second attempt falls due while the other is under way.
    assert_eq!(replay.begin(a), Some(first));
    assert!(matches!(replay.on(first.root(), Outcome::Failed, 20), Next::Retry { at: 30, .. }));
    assert_eq!((due(&mut replay, 30), replay.next_due()), (vec![], Some(30)));
    assert_eq!(replay.on(other.root(), Outcome::Done, 31), Next::Forget);
    assert_eq!(due(&mut replay, 31), [second]);
    assert_eq!(replay.on(second.root(), Outcome::Done, 32), Next::Forget);
    assert!(replay.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: std::env::var("PROPTEST_CASES").ok().and_then(|c| c.parse().ok()).unwrap_or(10_000),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn waits_lie_between_the_backoff_and_its_jitter_and_are_the_same_again(
        backoff in 0..1_000u64, longest in 0..5_000u64, jitter in 0..1_000u16,
        seed in any::<u64>(), spring in any::<u64>(), number in 2..70u32,
    ) {
        let policy = ReplayPolicy { attempts: 9, backoff, longest, jitter, seed };
        let replay = Replay::new(policy).unwrap();
        let wait = replay.backoff(Attempt { spring, number });
        let least = (u128::from(backoff) << (number - 2)).min(u128::from(longest)) as u64;
        prop_assert!(wait >= least && wait <= least + least * u64::from(jitter) / 1_000);
        prop_assert_eq!(wait, Replay::new(policy).unwrap().backoff(Attempt { spring, number }));
    }

    /// Against a map of springs: every root ends once, in at most as many attempts as allowed.
    #[test]
    fn every_root_ends_in_its_attempts(
        steps in prop::collection::vec((0..6u64, 0..4u8, 0..30u64), 1..100),
        attempts in 1..4u32,
    ) {
        let mut replay = Replay::new(ReplayPolicy { attempts, ..POLICY }).unwrap();
        // Of each spring the attempt, and when it is due if it waits.
        let mut model: HashMap<u64, (u32, Option<u64>)> = HashMap::new();
        let mut now = 0;
        for (spring, what, ticks) in steps {
            match what {
                0 => prop_assert_eq!(replay.begin(spring).is_some(), !model.contains_key(&spring)),
                1 | 2 => {
                    let (number, waits) = model.get(&spring).copied().unwrap_or((1, Some(0)));
                    let outcome = if what == 1 { Outcome::Done } else { Outcome::TimedOut };
                    let next = replay.on(Attempt { spring, number }.root(), outcome, now);
                    if waits.is_some() {
                        prop_assert_eq!(next, Next::Unknown);
                        continue;
                    }
                    match next {
                        Next::Retry { attempt, at } => {
                            prop_assert!(what == 2 && number < attempts);
                            prop_assert_eq!(attempt, Attempt { spring, number: number + 1 });
                            model.insert(spring, (number + 1, Some(at)));
                        }
                        Next::Forget => prop_assert_eq!(what, 1),
                        Next::DeadLetter { attempt } => {
                            prop_assert_eq!((what, attempt.number), (2, attempts));
                        }
                        Next::Unknown => prop_assert!(false),
                    }
                    if !matches!(next, Next::Retry { .. }) {
                        model.remove(&spring);
                    }
                }
                _ => {
                    now += ticks;
                    let due = due(&mut replay, now);
                    let expected =
                        model.values().filter(|m| m.1.is_some_and(|at| at <= now)).count();
                    prop_assert_eq!(due.len(), expected);
                    for attempt in due {
                        let entry = model.get_mut(&attempt.spring).unwrap();
                        prop_assert_eq!(entry.0, attempt.number);
                        entry.1 = None;
                    }
                }
            }
            if what == 0 {
                model.entry(spring).or_insert((1, None));
            }
            prop_assert_eq!(replay.len(), model.len());
            let running = model.values().filter(|m| m.1.is_none()).count();
            prop_assert_eq!(replay.running().count(), running);
        }
    }
}
