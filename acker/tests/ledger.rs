//! Logs of runs in which messages come before their inits, time passes, and all goes in batches:
//! what the tracker does is never refused, and no verdict of it can be changed or moved.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use acker::verify::{Event, Ledger, Violation};
use acker::{
    Delta, EdgeId, IdGen, Op, Outcome, RootId, Timeout, Tracker, TrackerConfig, Verdict, mix,
};

fn op(event: &Event) -> Op {
    match event {
        Event::Init { root, task, produced } => Op::init(*root, *task, Delta::of(produced)),
        Event::Ack { root, consumed, produced } => {
            Op::ack(*root, Delta::of(consumed), Delta::of(produced))
        }
        Event::Fail { root } => Op::fail(*root),
        Event::Touch { root } => Op::touch(*root),
        Event::Advance { .. } | Event::Verdict(_) => unreachable!("no message"),
    }
}

/// The messages of some trees in any order, with failures and empty acks among them.
fn messages(seed: u64) -> Vec<Event> {
    let mut ids = IdGen::from_seed(seed, 0);
    let mut random = IdGen::from_seed(seed, 1);
    let mut below = |n: u64| random.next_id().get() % n;
    let mut messages = Vec::new();
    for number in 0..20 {
        let (root, task) = (mix(number, 0), number as u32);
        let mut open: Vec<EdgeId> = (0..below(3)).map(|_| ids.next_id()).collect();
        messages.push(Event::Init { root, task, produced: open.clone() });
        let mut budget = below(4);
        while let Some(id) = open.pop() {
            let children = below(3).min(budget);
            budget -= children;
            let produced: Vec<_> = (0..children).map(|_| ids.next_id()).collect();
            open.extend(&produced);
            if below(20) > 0 {
                messages.push(Event::Ack { root, consumed: vec![id], produced });
            }
        }
        match below(8) {
            0 | 1 => messages.push(Event::Fail { root }),
            2 => messages.push(Event::Touch { root }),
            3 => messages.push(Event::Ack { root, consumed: vec![], produced: vec![] }),
            _ => {}
        }
    }
    for i in (1..messages.len()).rev() {
        messages.swap(i, below(i as u64 + 1) as usize);
    }
    messages
}

/// A run of them in batches, with `most` ticks after each at the most.
fn run(seed: u64, timeout: Timeout, generations: u8, most: u64) -> Ledger {
    let mut tracker = Tracker::new(TrackerConfig { timeout, generations, seed }).unwrap();
    let mut random = IdGen::from_seed(seed, 2);
    let mut below = |n: u64| random.next_id().get() % n;
    let mut ledger = Ledger::timed(timeout, generations);
    let (mut now, mut verdicts, mut refused) = (0u64, Vec::new(), Vec::new());
    let messages = messages(seed);
    let mut rest = &messages[..];
    while !rest.is_empty() {
        let (batch, later) = rest.split_at((below(6) as usize + 1).min(rest.len()));
        rest = later;
        tracker.apply(&batch.iter().map(op).collect::<Vec<_>>(), &mut verdicts, &mut refused);
        batch.iter().for_each(|event| ledger.push(event.clone()));
        verdicts.drain(..).for_each(|verdict| ledger.push(Event::Verdict(verdict)));
        now = now.saturating_add(below(most + 1));
        if rest.is_empty() {
            now = now.saturating_add(u64::MAX / 3);
        }
        tracker.advance(now, &mut verdicts);
        ledger.push(Event::Advance { now });
        verdicts.drain(..).for_each(|verdict| ledger.push(Event::Verdict(verdict)));
    }
    assert_eq!((refused.len(), tracker.len()), (0, 0));
    ledger
}

fn timeouts() -> [Timeout; 4] {
    [
        Timeout::After(1),
        Timeout::After(30),
        Timeout::Progress { idle: 13, cap: 40 },
        Timeout::Progress { idle: 90, cap: 20 },
    ]
}

#[test]
fn what_the_tracker_does_in_batches_and_with_early_messages_is_right() {
    for seed in 0..600 {
        for timeout in timeouts() {
            for most in [0, 3, 40] {
                let ledger = run(seed, timeout, 3 + (seed % 6) as u8, most);
                assert_eq!(ledger.verify(), Ok(()), "{timeout:?} {seed} {most}");
                // The same without limits.
                let untimed = Ledger::from(ledger.events().to_vec());
                assert_eq!(untimed.verify(), Ok(()), "{timeout:?} {seed} {most}");
            }
        }
    }
}

/// Of roots of which nothing was forgotten before the init every other outcome is wrong, and so
/// is the same one after time has gone on.
#[test]
fn no_end_can_be_changed_or_put_off() {
    let mut ends = [0; 3];
    for seed in 0..60 {
        // All messages come in one time-out: nothing is forgotten.
        let ledger = run(seed, Timeout::After(1_000_000), 5, 3);
        for (at, event) in ledger.events().iter().enumerate() {
            let Event::Verdict(verdict) = *event else { continue };
            let (root, own) = (verdict.root, verdict.outcome);
            ends[own as usize] += 1;
            for outcome in [Outcome::Done, Outcome::Failed, Outcome::TimedOut] {
                let mut changed = ledger.clone();
                changed.events_mut()[at] = Event::Verdict(Verdict { outcome, ..verdict });
                let got = changed.verify();
                match (own, outcome) {
                    (own, outcome) if own == outcome => assert_eq!(got, Ok(())),
                    (_, Outcome::TimedOut) => {
                        assert_eq!(got, Err(Violation::TimedOutAfterEnd { root }));
                    }
                    (Outcome::Failed, _) => assert!(matches!(
                        got,
                        Err(Violation::DoneAfterFail { .. } | Violation::DoneTooEarly { .. })
                    )),
                    (_, Outcome::Failed) => {
                        assert_eq!(got, Err(Violation::FailedWithoutFail { root }));
                    }
                    _ => assert!(matches!(got, Err(Violation::DoneTooEarly { .. }))),
                }
            }
            if own == Outcome::TimedOut {
                continue;
            }
            // Behind the next line that moves the clock.
            let mut now = 0;
            let moves = ledger.events().iter().enumerate().find(|&(line, event)| match event {
                Event::Advance { now: next } if *next > now => {
                    now = *next;
                    line > at
                }
                _ => false,
            });
            let mut late = ledger.clone();
            late.events_mut().insert(moves.unwrap().0 + 1, event.clone());
            late.events_mut().remove(at);
            assert_eq!(late.verify(), Err(Violation::EndedTooLate { root }));
        }
    }
    assert!(ends.iter().all(|&n| n > 30), "{ends:?}");
}

fn edge(bits: u64) -> EdgeId {
    EdgeId::new(bits).unwrap()
}

/// The failure is forgotten with its orphan, after one time-out: then the root may be done.
#[test]
fn a_failure_counts_for_as_long_as_it_is_kept() {
    let (root, task) = (mix(1, 0), 0);
    // With 3 generations of 5 ticks, 10 to 14 ticks.
    let log = |wait, outcome| {
        let mut ledger = Ledger::timed(Timeout::After(10), 3);
        ledger.push(Event::Fail { root });
        ledger.push(Event::Advance { now: wait });
        ledger.push(Event::Init { root, task, produced: vec![edge(1)] });
        ledger.push(Event::Ack { root, consumed: vec![edge(1)], produced: vec![] });
        ledger.push(Event::Verdict(Verdict { root, task, outcome }));
        ledger.verify()
    };
    for wait in 0..10 {
        assert_eq!(log(wait, Outcome::Failed), Ok(()));
        assert_eq!(log(wait, Outcome::Done), Err(Violation::DoneAfterFail { root }));
    }
    for wait in 10..14 {
        assert_eq!((log(wait, Outcome::Failed), log(wait, Outcome::Done)), (Ok(()), Ok(())));
    }
    for wait in 14..30 {
        assert_eq!(log(wait, Outcome::Failed), Err(Violation::FailedWithoutFail { root }));
        assert_eq!(log(wait, Outcome::Done), Ok(()));
    }
}

/// A batch hands its verdicts out at its end: what came after the end of a tree is no part of it.
#[test]
fn what_comes_after_the_end_in_a_batch_does_not_change_it() {
    let (root, task) = (mix(1, 0), 0);
    for late in
        [Event::Fail { root }, Event::Ack { root, consumed: vec![edge(9)], produced: vec![] }]
    {
        let verdict = |outcome| Event::Verdict(Verdict { root, task, outcome });
        let log = |outcome| {
            Ledger::from(vec![
                Event::Init { root, task, produced: vec![edge(1)] },
                Event::Ack { root, consumed: vec![edge(1)], produced: vec![] },
                late.clone(),
                verdict(outcome),
            ])
        };
        assert_eq!(log(Outcome::Done).verify(), Ok(()));
        assert_eq!(log(Outcome::Failed).verify(), Err(Violation::FailedWithoutFail { root }));
        assert_eq!(log(Outcome::TimedOut).verify(), Err(Violation::TimedOutAfterEnd { root }));
    }
}

/// An age that the clock cannot reach is not outlived at the end of time.
#[test]
fn the_end_of_time_is_not_too_late() {
    for timeout in [Timeout::After(u64::MAX), Timeout::Progress { idle: u64::MAX, cap: u64::MAX }] {
        let mut tracker = Tracker::new(TrackerConfig { timeout, generations: 3, seed: 0 }).unwrap();
        let (root, id) = (mix(1, 0), edge(1));
        let mut ledger = Ledger::timed(timeout, 3);
        assert!(tracker.init(root, 0, Delta::of(&[id])).is_ok());
        ledger.push(Event::Init { root, task: 0, produced: vec![id] });
        let mut out = Vec::new();
        tracker.advance(u64::MAX, &mut out);
        assert!(out.is_empty());
        ledger.push(Event::Advance { now: u64::MAX });
        assert_eq!(ledger.verify(), Err(Violation::NoVerdict { root }));
        let _ = tracker.ack(root, Delta::of(&[id]), Delta::EMPTY);
        ledger.push(Event::Ack { root, consumed: vec![id], produced: vec![] });
        ledger.push(Event::Verdict(Verdict { root, task: 0, outcome: Outcome::Done }));
        assert_eq!(ledger.verify(), Ok(()));
    }
}

#[test]
fn a_violation_says_what_is_wrong() {
    let root = RootId::new(10).unwrap();
    for (violation, text) in [
        (
            Violation::TimedOutAfterEnd { root },
            "root 000000000000000a timed out though its tree had come to an end",
        ),
        (
            Violation::EndedTooLate { root },
            "root 000000000000000a had no verdict when time went on after its end",
        ),
    ] {
        assert_eq!(violation.to_string(), text);
    }
}
