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
