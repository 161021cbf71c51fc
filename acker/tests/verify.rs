//! The checker of logs: it passes what the tracker does and rejects what it must not do.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use acker::verify::{Event, Ledger, Violation};
use acker::{
    Applied, Delta, EdgeId, IdGen, Outcome, RootId, Timeout, Tracker, TrackerConfig, Verdict, mix,
};

fn verify(events: &[Event]) -> Result<(), Violation> {
    acker::verify::verify(&Ledger::from(events.to_vec()))
}

/// A run of several trees, interleaved, with failures and time-outs, through a tracker.
fn run(seed: u64) -> Vec<Event> {
    let timeout = Timeout::After(1_000);
    let mut tracker = Tracker::new(TrackerConfig { timeout, generations: 4, seed }).unwrap();
    let mut ids = IdGen::from_seed(seed, 0);
    let mut random = IdGen::from_seed(seed, 1);
    let mut below = |n: u64| random.next_id().get() % n;
    let mut messages = Vec::new();
    for number in 0..12 {
        let root = mix(number, 0);
        let mut open: Vec<EdgeId> = (0..=below(3)).map(|_| ids.next_id()).collect();
        messages.push(Event::Init { root, task: number as u32, produced: open.clone() });
        let mut budget = below(8);
        while let Some(id) = open.pop() {
            let mut consumed = vec![id];
            if below(4) == 0 {
                consumed.extend(open.pop()); // a join
            }
            let children = below(3).min(budget);
            budget -= children;
            let produced: Vec<_> = (0..children).map(|_| ids.next_id()).collect();
            open.extend(&produced);
            match below(25) {
                0 => messages.push(Event::Fail { root }),
                1 => {} // lost
                _ => messages.push(Event::Ack { root, consumed, produced }),
            }
        }
    }
    for i in (1..messages.len()).rev() {
        messages.swap(i, below(i as u64 + 1) as usize);
    }
    let mut ledger = Ledger::new();
    for message in messages {
        let applied = match &message {
            Event::Init { root, task, produced } => {
                tracker.init(*root, *task, Delta::of(produced)).unwrap()
            }
            Event::Ack { root, consumed, produced } => {
                tracker.ack(*root, Delta::of(consumed), Delta::of(produced))
            }
            Event::Fail { root } => tracker.fail(*root),
            _ => unreachable!(),
        };
        ledger.push(message);
        if let Applied::Verdict(verdict) = applied {
            ledger.push(Event::Verdict(verdict));
        }
    }
    let mut out = Vec::new();
    tracker.advance(10_000, &mut out);
    for verdict in out {
        ledger.push(Event::Verdict(verdict));
    }
    assert_eq!(ledger.verify(), Ok(()));
    ledger.events().to_vec()
}

#[test]
fn what_the_tracker_does_is_right() {
    let mut outcomes = [0; 3];
    for event in (0..2_000).flat_map(run) {
        if let Event::Verdict(verdict) = event {
            outcomes[verdict.outcome as usize] += 1;
        }
    }
    assert!(outcomes.iter().all(|&n| n > 100), "{outcomes:?}");
}

#[test]
fn every_mutation_of_a_verdict_is_rejected() {
    for events in (0..300).map(run) {
        for (at, event) in events.iter().enumerate() {
            let Event::Verdict(verdict) = *event else { continue };
            let changed = |verdict| {
                let mut events = events.clone();
                events[at] = Event::Verdict(verdict);
                verify(&events)
            };
            let root = verdict.root;

            let mut without = events.clone();
            without.remove(at);
            assert_eq!(verify(&without), Err(Violation::NoVerdict { root }));

            let mut twice = events.clone();
            twice.push(event.clone());
            assert_eq!(verify(&twice), Err(Violation::VerdictTwice { root }));

            let task = verdict.task + 1;
            assert_eq!(
                changed(Verdict { task, ..verdict }),
                Err(Violation::WrongTask { root, task })
            );

            let done = changed(Verdict { outcome: Outcome::Done, ..verdict });
            let failed = changed(Verdict { outcome: Outcome::Failed, ..verdict });
            match verdict.outcome {
                Outcome::Done => {
                    assert_eq!(failed, Err(Violation::FailedWithoutFail { root }));
                    // One message earlier the tree was open, or had no init.
                    let own = |event: &Event| match event {
                        Event::Init { root: r, .. } | Event::Ack { root: r, .. } => *r == root,
                        _ => false,
                    };
                    let last = events[..at].iter().rposition(own).unwrap();
                    let mut early = events.clone();
                    let event = early.remove(at);
                    early.insert(last, event);
                    assert!(matches!(
                        verify(&early),
                        Err(Violation::DoneTooEarly { .. } | Violation::VerdictBeforeInit { .. })
                    ));
                }
                Outcome::Failed => {
                    assert!(matches!(
                        done,
                        Err(Violation::DoneTooEarly { .. } | Violation::DoneAfterFail { .. })
                    ));
                }
                Outcome::TimedOut => {
                    assert!(matches!(done, Err(Violation::DoneTooEarly { .. })));
                    assert_eq!(failed, Err(Violation::FailedWithoutFail { root }));
                }
            }
        }
    }
}

#[test]
fn every_message_that_is_missing_or_repeated_is_noticed_where_it_matters() {
    for events in (0..300).map(run) {
        let outcome = |wanted: RootId| {
            events.iter().find_map(|event| match event {
                Event::Verdict(v) if v.root == wanted => Some(v.outcome),
                _ => None,
            })
        };
        for (at, event) in events.iter().enumerate() {
            let mut without = events.clone();
            without.remove(at);
            let mut twice = events.clone();
            twice.insert(at, event.clone());
            match event {
                Event::Init { root, .. } => {
                    let root = *root;
                    assert_eq!(verify(&without), Err(Violation::VerdictBeforeInit { root }));
                    assert_eq!(verify(&twice), Err(Violation::InitTwice { root }));
                }
                Event::Ack { root, consumed, .. } => {
                    let (root, id) = (*root, consumed[0]);
                    assert_eq!(verify(&twice), Err(Violation::ConsumedTwice { root, id }));
                    if outcome(root) == Some(Outcome::Done) {
                        let without = verify(&without);
                        assert!(matches!(without, Err(Violation::DoneTooEarly { .. })));
                    }
                }
                _ => {}
            }
        }
    }
}

#[test]
fn a_fail_that_never_was_is_noticed() {
    let root = mix(1, 0);
    let id = EdgeId::new(1).unwrap();
    let ended = |outcome| Event::Verdict(Verdict { root, task: 0, outcome });
    let mut events = vec![
        Event::Init { root, task: 0, produced: vec![id] },
        Event::Fail { root },
        ended(Outcome::Failed),
    ];
    assert_eq!(verify(&events), Ok(()));
    events.remove(1);
    assert_eq!(verify(&events), Err(Violation::FailedWithoutFail { root }));

    let closed = vec![
        Event::Fail { root },
        Event::Ack { root, consumed: vec![id], produced: vec![] },
        Event::Init { root, task: 0, produced: vec![id] },
        ended(Outcome::Done),
    ];
    assert_eq!(verify(&closed), Err(Violation::DoneAfterFail { root }));
}

/// Sums cannot tell this: an id announced twice cancels. Sets can.
#[test]
fn an_id_that_two_copies_share_is_noticed() {
    let root = mix(1, 0);
    let id = EdgeId::new(1).unwrap();
    let events = [Event::Init { root, task: 0, produced: vec![id, id] }];
    assert_eq!(verify(&events), Err(Violation::ProducedTwice { root, id }));
}

#[test]
fn messages_after_a_verdict_and_without_an_init_are_legal() {
    let (root, stray) = (mix(1, 0), mix(2, 0));
    let id = EdgeId::new(1).unwrap();
    let events = [
        Event::Init { root, task: 0, produced: vec![] },
        Event::Verdict(Verdict { root, task: 0, outcome: Outcome::Done }),
        Event::Fail { root },
        Event::Ack { root, consumed: vec![id], produced: vec![] },
        Event::Fail { root: stray },
    ];
    assert_eq!(verify(&events), Ok(()));
}

/// A run under a clock, with touches, through a tracker.
fn timed_run(seed: u64, timeout: Timeout, generations: u8) -> Ledger {
    let mut tracker = Tracker::new(TrackerConfig { timeout, generations, seed }).unwrap();
    let mut ids = IdGen::from_seed(seed, 0);
    let mut random = IdGen::from_seed(seed, 1);
    let mut below = |n: u64| random.next_id().get() % n;
    let mut ledger = Ledger::timed(timeout, generations);
    let mut open: Vec<(RootId, Vec<EdgeId>)> = Vec::new();
    let (mut now, mut out) = (0, Vec::new());
    for step in 0..300u64 {
        let applied = match (below(8), open.len() as u64) {
            (0 | 1, _) | (_, 0) => {
                let (root, produced) = (mix(step, 0), vec![ids.next_id(), ids.next_id()]);
                open.push((root, produced.clone()));
                let applied = tracker.init(root, 1, Delta::of(&produced)).unwrap();
                ledger.push(Event::Init { root, task: 1, produced });
                applied
            }
            (2..=4, n) => {
                let (root, edges) = &mut open[below(n) as usize];
                let Some(id) = edges.pop() else { continue };
                let produced = if below(2) == 0 { vec![ids.next_id()] } else { vec![] };
                edges.extend(&produced);
                let applied = tracker.ack(*root, Delta::of(&[id]), Delta::of(&produced));
                ledger.push(Event::Ack { root: *root, consumed: vec![id], produced });
                applied
            }
            (5, n) => {
                let root = open[below(n) as usize].0;
                tracker.touch(root);
                ledger.push(Event::Touch { root });
                Applied::Pending
            }
            _ => {
                now += below(12);
                tracker.advance(now, &mut out);
                ledger.push(Event::Advance { now });
                for verdict in out.drain(..) {
                    ledger.push(Event::Verdict(verdict));
                }
                Applied::Pending
            }
        };
        if let Applied::Verdict(verdict) = applied {
            ledger.push(Event::Verdict(verdict));
        }
    }
    // The end of time for all but a tracker that never gives up.
    tracker.advance(now + 1_000, &mut out);
    ledger.push(Event::Advance { now: now + 1_000 });
    for verdict in out {
        ledger.push(Event::Verdict(verdict));
    }
    ledger
}

fn timeouts() -> [Timeout; 5] {
    [
        Timeout::After(1),
        Timeout::After(20),
        Timeout::After(77),
        Timeout::Progress { idle: 13, cap: 50 },
        Timeout::Progress { idle: 40, cap: 41 },
    ]
}

#[test]
fn what_the_tracker_does_is_in_time() {
    let mut timed_out = 0;
    for seed in 0..200 {
        for timeout in timeouts() {
            for generations in [3, 5, 8] {
                let ledger = timed_run(seed, timeout, generations);
                assert_eq!(ledger.verify(), Ok(()), "{timeout:?} {generations}");
                let late = |event: &&Event| matches!(event, Event::Verdict(v) if v.outcome == Outcome::TimedOut);
                timed_out += ledger.events().iter().filter(late).count();
            }
        }
    }
    assert!(timed_out > 10_000, "{timed_out}");
}

/// With one verdict of a time-out moved to the end of the run, or to the root's init.
#[test]
fn a_time_out_that_is_early_or_late_is_rejected() {
    let (mut early, mut late) = (0, 0);
    for seed in 0..100 {
        for timeout in [Timeout::After(20), Timeout::Progress { idle: 13, cap: 50 }] {
            let ledger = timed_run(seed, timeout, 8);
            for (event, at) in ledger.events().iter().zip(0..) {
                let Event::Verdict(Verdict { outcome: Outcome::TimedOut, root, .. }) = *event
                else {
                    continue;
                };
                // Told at the very end: then it was pending for too long, unless it was near it.
                let mut moved = ledger.clone();
                let verdict = moved.events_mut().remove(at);
                moved.events_mut().push(verdict);
                match moved.verify() {
                    Err(Violation::TimedOutTooLate { root: r, .. }) if r == root => late += 1,
                    // Its last acks came after its time: now they find it pending.
                    Err(Violation::EndedTooLate { root: r }) if r == root => late += 1,
                    other => assert_eq!(other, Ok(())),
                }
                // Told right after its init: then it was no age at all.
                let mut moved = ledger.clone();
                let verdict = moved.events_mut().remove(at);
                let init = moved
                    .events()
                    .iter()
                    .position(|event| matches!(event, Event::Init { root: r, .. } if *r == root));
                moved.events_mut().insert(init.unwrap() + 1, verdict);
                assert_eq!(moved.verify(), Err(Violation::TimedOutTooEarly { root, age: 0 }));
                early += 1;
            }
        }
    }
    assert!(early > 1_000 && late > early / 2, "{early} {late}");
}

#[test]
fn nothing_may_time_out_where_nothing_does() {
    let root = mix(1, 0);
    let mut ledger = Ledger::timed(Timeout::OrphansAfter(3), 3);
    ledger.push(Event::Init { root, task: 0, produced: vec![EdgeId::new(1).unwrap()] });
    ledger.push(Event::Advance { now: u64::MAX });
    let verdict = Verdict { root, task: 0, outcome: Outcome::TimedOut };
    ledger.push(Event::Verdict(verdict));
    assert_eq!(ledger.verify(), Err(Violation::TimedOutTooEarly { root, age: u64::MAX }));
}
