//! The tracker, message by message. Names that start with `b` and a number are defects
//! that other trackers have had.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use acker::{
    Applied, Delta, EdgeId, Error, IdGen, Op, Outcome, Refused, RootId, Timeout, Tracker,
    TrackerConfig, Update, Verdict, mix,
};

const NONE: Delta = Delta::EMPTY;

fn root(bits: u64) -> RootId {
    RootId::new(bits).unwrap()
}

fn edge(bits: u64) -> EdgeId {
    EdgeId::new(bits).unwrap()
}

fn ids<const N: usize>(bits: [u64; N]) -> Delta {
    Delta::of(&bits.map(edge))
}

fn tracker(timeout: Timeout) -> Tracker {
    Tracker::new(TrackerConfig { timeout, generations: 3, seed: 1 }).unwrap()
}

fn verdict(root: RootId, task: u32, outcome: Outcome) -> Verdict {
    Verdict { root, task, outcome }
}

fn done(root: RootId, task: u32) -> Applied {
    Applied::Verdict(verdict(root, task, Outcome::Done))
}

fn failed(root: RootId, task: u32) -> Applied {
    Applied::Verdict(verdict(root, task, Outcome::Failed))
}

fn advance(tracker: &mut Tracker, now: u64) -> Vec<Verdict> {
    let mut out = Vec::new();
    tracker.advance(now, &mut out);
    out
}

/// Section 3.3 and figure 3: root 01001, five-bit ids, two processors and a join.
#[test]
fn papers_example_is_done_after_its_fourth_update() {
    let mut t = tracker(Timeout::Never);
    let r = root(0b01001);
    assert_eq!(t.init(r, 4, ids([0b01010, 0b01011])), Ok(Applied::Pending));
    assert_eq!(t.ack(r, ids([0b01010]), ids([0b01100])), Applied::Pending);
    assert_eq!(t.ack(r, ids([0b01011]), ids([0b01101])), Applied::Pending);
    assert_eq!(t.ack(r, ids([0b01100, 0b01101]), NONE), done(r, 4));
    assert!(t.is_empty());
}

#[test]
fn papers_example_may_ack_its_join_in_two_parts() {
    let mut t = tracker(Timeout::Never);
    let r = root(0b01001);
    assert_eq!(t.init(r, 4, ids([0b01010, 0b01011])), Ok(Applied::Pending));
    assert_eq!(t.ack(r, ids([0b01010]), ids([0b01100])), Applied::Pending);
    assert_eq!(t.ack(r, ids([0b01011]), ids([0b01101])), Applied::Pending);
    assert_eq!(t.ack(r, ids([0b01100]), NONE), Applied::Pending);
    assert_eq!(t.ack(r, ids([0b01101]), NONE), done(r, 4));
}

/// The four ids of the example sum to zero: with such ids the order does matter.
#[test]
fn papers_ids_are_done_too_early_in_another_order() {
    let mut t = tracker(Timeout::Never);
    let r = root(0b01001);
    assert_eq!(t.init(r, 4, ids([0b01010, 0b01011])), Ok(Applied::Pending));
    assert_eq!(t.ack(r, ids([0b01100, 0b01101]), NONE), done(r, 4));
}

#[test]
fn papers_example_with_generated_ids_is_done_in_every_order() {
    let mut gen_ids = IdGen::from_seed(3, 0);
    let [a, b, c, d] = [(); 4].map(|()| gen_ids.next_id());
    let acks = [
        (Delta::of(&[a]), Delta::of(&[c])),
        (Delta::of(&[b]), Delta::of(&[d])),
        (Delta::of(&[c, d]), NONE),
    ];
    let r = root(0b01001);
    for order in 0..4usize.pow(4) {
        let order = [order % 4, order / 4 % 4, order / 16 % 4, order / 64];
        if (0..4).any(|step| !order.contains(&step)) {
            continue;
        }
        let mut t = tracker(Timeout::Never);
        for (nth, step) in order.into_iter().enumerate() {
            let applied = match acks.get(step) {
                Some(&(consumed, produced)) => t.ack(r, consumed, produced),
                None => t.init(r, 4, Delta::of(&[a, b])).unwrap(),
            };
            assert_eq!(applied == done(r, 4), nth == 3, "{order:?}");
        }
    }
}

#[test]
fn papers_check_of_zero_before_the_init_is_no_verdict() {
    let mut t = tracker(Timeout::Never);
    let r = root(0b01001);
    assert_eq!(t.ack(r, ids([0b01010]), ids([0b01100])), Applied::Orphan);
    assert_eq!(t.ack(r, ids([0b01011]), ids([0b01101])), Applied::Orphan);
    // 01010 ^ 01100 ^ 01011 ^ 01101 = 0
    assert_eq!((t.len(), t.orphans()), (0, 1));
    assert_eq!(t.init(r, 4, ids([0b01010, 0b01011])), Ok(Applied::Pending));
    assert_eq!(t.ack(r, ids([0b01100, 0b01101]), NONE), done(r, 4));
}

/// The closure lemma needs consumed and produced ids in one message.
#[test]
fn split_updates_reach_zero_early() {
    let mut t = tracker(Timeout::Never);
    let (r, a, b) = (root(1), edge(1), edge(2));
    assert_eq!(t.init(r, 0, Delta::of(&[a])), Ok(Applied::Pending));
    // A processor that first acks `a` and then announces `b`: done, while `b` is open.
    assert_eq!(t.update(r, Update::new(Delta::of(&[a]), NONE)), done(r, 0));
    assert_eq!(t.update(r, Update::new(NONE, Delta::of(&[b]))), Applied::Orphan);
}

/// Every delivered copy needs an id of its own.
#[test]
fn copies_that_share_an_id_reach_zero_early() {
    let mut t = tracker(Timeout::Never);
    let (r, a, copy) = (root(1), edge(1), edge(2));
    assert_eq!(t.init(r, 0, Delta::of(&[a])), Ok(Applied::Pending));
    // Both copies of a tuple are announced under one id, and cancel.
    assert_eq!(t.ack(r, Delta::of(&[a]), Delta::of(&[copy, copy])), done(r, 0));
}

#[test]
fn a_root_without_children_is_done_at_once() {
    let mut t = tracker(Timeout::Never);
    assert_eq!(t.init(root(1), 9, NONE), Ok(done(root(1), 9)));
    assert!(t.is_empty());
    assert_eq!(t.stats().done, 1);
}

#[test]
fn a_failure_beats_zero_and_waits_for_the_init() {
    let mut t = tracker(Timeout::Never);
    let r = root(1);
    assert_eq!(t.ack(r, ids([1]), NONE), Applied::Orphan);
    assert_eq!(t.fail(r), Applied::Orphan);
    assert_eq!(t.ack(r, ids([2]), NONE), Applied::Orphan);
    assert_eq!(t.init(r, 5, ids([1, 2])), Ok(failed(r, 5)));
    assert_eq!((t.len(), t.orphans()), (0, 0));
    assert_eq!(t.stats().failed, 1);
}

#[test]
fn a_failure_of_an_armed_root_is_immediate() {
    let mut t = tracker(Timeout::Never);
    let r = root(1);
    assert_eq!(t.init(r, 5, ids([1])), Ok(Applied::Pending));
    assert_eq!(t.fail(r), failed(r, 5));
    assert_eq!(t.ack(r, ids([1]), NONE), Applied::Orphan);
}

#[test]
fn merged_updates_equal_their_acks() {
    let (first, second) = (Update::new(ids([1]), ids([4, 8])), Update::new(ids([4, 2]), ids([16])));
    let merged = Update::from_bits(first.merge(second).bits());
    let mut t = tracker(Timeout::Never);
    let r = root(1);
    assert_eq!(t.init(r, 0, ids([1, 2])), Ok(Applied::Pending));
    assert_eq!(t.update(r, merged), Applied::Pending);
    assert_eq!(t.ack(r, ids([8, 16]), NONE), done(r, 0));
}

/// Roots that come, go and come again within the messages that are looked up together, and a
/// table that grows meanwhile: verdicts and refusals are those of single calls, in their order.
#[test]
fn a_batch_equals_its_messages_one_by_one() {
    let mut random = IdGen::from_seed(3, 0);
    let mut below = |n: u64| random.next_id().get() % n;
    let (mut ended, mut twice) = (0, 0);
    for roots in [1, 2, 5, 30, 300, 5_000] {
        let [mut batched, mut single] = [0; 2].map(|_| tracker(Timeout::Never));
        for _ in 0..200 {
            let (mut ops, mut verdicts, mut refused) = (vec![], vec![], vec![]);
            let (mut got, mut errors) = (vec![], vec![]);
            for at in 0..1 + below(200) as usize {
                let (root, open) = (root(1 + below(roots)), ids([1 + below(2)]));
                let (op, applied) = match below(12) {
                    0..6 => (Op::init(root, 4, open), single.init(root, 4, open)),
                    6..11 => (Op::ack(root, open, NONE), Ok(single.ack(root, open, NONE))),
                    _ => (Op::fail(root), Ok(single.fail(root))),
                };
                ops.push(op);
                match applied {
                    Ok(Applied::Verdict(verdict)) => verdicts.push(verdict),
                    Err(error) => refused.push(Refused { at, error }),
                    Ok(_) => {}
                }
            }
            batched.apply(&ops, &mut got, &mut errors);
            ended += got.len();
            twice += errors.len();
            assert_eq!((got, errors), (verdicts, refused));
            assert_eq!(batched.records(), single.records());
            assert_eq!(batched.stats(), single.stats());
        }
    }
    assert!(ended > 10_000 && twice > 10_000, "{ended} {twice}");
}

#[test]
fn a_task_that_does_not_fit_is_refused() {
    let mut t = tracker(Timeout::Never);
    let largest = Tracker::MAX_TASK;
    let refused = Error::TaskTooLarge { task: largest + 1, largest };
    assert_eq!(t.init(root(1), largest + 1, ids([1])), Err(refused));
    assert_eq!(
        t.init(root(1), u32::MAX, NONE),
        Err(Error::TaskTooLarge { task: u32::MAX, largest })
    );
    assert_eq!((t.len(), t.stats().inits), (0, 0));
    assert_eq!(t.init(root(1), largest, ids([1])), Ok(Applied::Pending));
    assert_eq!(t.fail(root(1)), failed(root(1), largest));
}

#[test]
fn wrong_configurations_are_refused() {
    let new = |timeout, generations| {
        Tracker::new(TrackerConfig { timeout, generations, seed: 0 }).map(|_| ())
    };
    for generations in [0, 1, 2, 9, 255] {
        assert_eq!(new(Timeout::Never, generations), Err(Error::BadGenerations { generations }));
    }
    assert_eq!(new(Timeout::After(0), 3), Err(Error::BadTimeout));
    assert_eq!(new(Timeout::OrphansAfter(0), 3), Err(Error::BadTimeout));
    for generations in 3..=8 {
        assert_eq!(new(Timeout::After(u64::MAX), generations), Ok(()));
    }
}

#[test]
fn clear_forgets_without_verdicts_and_keeps_memory_and_counts() {
    let mut t = tracker(Timeout::After(10));
    for r in 1..=100 {
        assert_eq!(t.init(root(r), 0, ids([1])), Ok(Applied::Pending));
        assert_eq!(t.fail(root(r + 1000)), Applied::Orphan);
    }
    let bytes = t.heap_bytes();
    t.clear();
    assert_eq!((t.len(), t.orphans(), t.heap_bytes()), (0, 0, bytes));
    assert_eq!(t.stats().inits, 100);
    assert_eq!(advance(&mut t, 1000), []);
    assert_eq!(t.init(root(1), 0, ids([1])), Ok(Applied::Pending));
}

#[test]
fn the_bound_of_false_zeros_counts_updates() {
    let mut t = tracker(Timeout::Never);
    assert_eq!(t.stats().false_zero_bound().to_bits(), 0);
    assert_eq!(t.init(root(1), 0, ids([1, 2])), Ok(Applied::Pending));
    assert_eq!(t.ack(root(1), ids([1]), NONE), Applied::Pending);
    assert_eq!(t.stats().updates, 2);
    assert!((t.stats().false_zero_bound() - 2f64.powi(-63)).abs() < 1e-30);
}

#[test]
fn attempts_of_one_root_do_not_meet() {
    let mut t = tracker(Timeout::Never);
    let (first, second) = (mix(7, 0), mix(7, 1));
    assert_eq!(t.init(first, 0, ids([1, 2])), Ok(Applied::Pending));
    assert_eq!(t.fail(first), failed(first, 0));
    assert_eq!(t.init(second, 0, ids([4])), Ok(Applied::Pending));
    // A late ack of the first attempt does not enter the sum of the second.
    assert_eq!(t.ack(first, ids([1]), NONE), Applied::Orphan);
    assert_eq!(t.ack(second, ids([4]), NONE), done(second, 0));
}

#[test]
fn b1_a_lost_tree_times_out_once_and_its_record_goes() {
    let mut t = tracker(Timeout::After(10));
    assert_eq!(t.init(root(1), 3, ids([1])), Ok(Applied::Pending));
    let bytes = t.heap_bytes();
    let verdicts: Vec<_> = (1..=30).flat_map(|now| advance(&mut t, now)).collect();
    assert_eq!(verdicts, [verdict(root(1), 3, Outcome::TimedOut)]);
    assert_eq!((t.len(), t.orphans(), t.heap_bytes()), (0, 0, bytes));
}

#[test]
fn b2_touching_an_unknown_root_does_nothing() {
    let mut t = tracker(Timeout::After(10));
    assert!(!t.touch(root(1)));
    assert_eq!(t.orphans(), 0);
    // Nor does it keep an orphan alive.
    assert_eq!(t.fail(root(2)), Applied::Orphan);
    for now in 1..=20 {
        assert!(!t.touch(root(2)));
        assert_eq!(advance(&mut t, now), []);
    }
    assert_eq!((t.orphans(), t.stats().orphans_expired), (0, 1));
    assert_eq!(t.init(root(1), 0, ids([1])), Ok(Applied::Pending));
    assert!(t.touch(root(1)));
    assert_eq!(t.ack(root(1), ids([1]), NONE), done(root(1), 0));
    assert!(!t.touch(root(1)));
}

#[test]
fn b4_late_messages_leave_an_orphan_for_one_time_out() {
    let mut t = tracker(Timeout::After(10));
    let r = root(1);
    assert_eq!(t.init(r, 0, ids([1])), Ok(Applied::Pending));
    assert_eq!(t.ack(r, ids([1]), NONE), done(r, 0));
    assert_eq!(t.fail(r), Applied::Orphan);
    assert_eq!(t.ack(r, ids([2]), NONE), Applied::Orphan);
    assert_eq!((t.len(), t.orphans()), (0, 1));
    assert_eq!(advance(&mut t, 15), []);
    assert_eq!((t.orphans(), t.stats().orphans_expired), (0, 1));
    assert_eq!((t.stats().done, t.stats().failed, t.stats().timed_out), (1, 0, 0));
}

#[test]
fn b5_without_a_root_time_out_orphans_still_expire_if_so_configured() {
    let mut t = tracker(Timeout::OrphansAfter(10));
    assert_eq!(t.init(root(1), 0, ids([1])), Ok(Applied::Pending));
    assert_eq!(t.ack(root(2), ids([1]), NONE), Applied::Orphan);
    assert_eq!(advance(&mut t, 9), []);
    assert_eq!(t.orphans(), 1);
    assert_eq!(advance(&mut t, 14), []);
    assert_eq!((t.len(), t.orphans()), (1, 0));
    assert_eq!(advance(&mut t, u64::MAX), []);
    assert!(t.touch(root(1)));
    assert_eq!(t.ack(root(1), ids([1]), NONE), done(root(1), 0));

    let mut never = tracker(Timeout::Never);
    assert_eq!(never.ack(root(2), ids([1]), NONE), Applied::Orphan);
    assert_eq!(advance(&mut never, u64::MAX), []);
    assert_eq!(never.orphans(), 1);
    never.clear();
    assert_eq!(never.orphans(), 0);
}

#[test]
fn b7_a_second_root_with_the_same_id_is_refused() {
    let mut t = tracker(Timeout::After(10));
    let r = root(1);
    assert_eq!(t.init(r, 1, ids([1])), Ok(Applied::Pending));
    assert_eq!(t.init(r, 2, ids([2])), Err(Error::DuplicateRoot { root: r }));
    // The very same init again would have cancelled itself.
    assert_eq!(t.init(r, 1, ids([1])), Err(Error::DuplicateRoot { root: r }));
    assert_eq!((t.len(), t.stats().inits, t.stats().duplicate_inits), (1, 1, 2));
    assert_eq!(t.ack(r, ids([1]), NONE), done(r, 1));
}

#[test]
fn b10_a_clashing_id_never_aborts() {
    let mut t = tracker(Timeout::After(10));
    let r = root(1);
    assert_eq!(t.init(r, 0, ids([1])), Ok(Applied::Pending));
    // The emission of a child under its parent's id: zero on an emission.
    assert_eq!(t.ack(r, NONE, ids([1])), done(r, 0));
    assert_eq!(t.ack(r, ids([1]), NONE), Applied::Orphan);
}

#[test]
fn b11_one_record_a_root_over_all_generations() {
    let mut t = tracker(Timeout::After(10));
    let r = root(1);
    assert_eq!(t.init(r, 1, ids([1])), Ok(Applied::Pending));
    assert_eq!(advance(&mut t, 7), []);
    assert_eq!(t.init(r, 2, ids([2])), Err(Error::DuplicateRoot { root: r }));
    assert_eq!(t.fail(r), failed(r, 1));
    // Nothing older answers in its place.
    assert_eq!(t.ack(r, ids([1]), NONE), Applied::Orphan);
    assert_eq!(t.len(), 0);
}

#[test]
fn b13_the_first_time_out_is_as_prompt_as_the_later_ones() {
    let mut t = tracker(Timeout::After(10));
    for start in [0, 100, 1000] {
        advance(&mut t, start);
        assert_eq!(t.init(root(1), 0, ids([1])), Ok(Applied::Pending));
        let ends = (start + 1..).find(|&now| !advance(&mut t, now).is_empty()).unwrap();
        // g = 3, T = 10: generations of 5 ticks, so 10 to 14 ticks.
        assert_eq!(ends - start, 14);
    }
}

#[test]
fn b14_an_ack_too_many_is_an_orphan() {
    let mut t = tracker(Timeout::Never);
    let r = root(1);
    assert_eq!(t.init(r, 0, ids([1])), Ok(Applied::Pending));
    assert_eq!(t.ack(r, ids([1]), NONE), done(r, 0));
    assert_eq!(t.ack(r, ids([1]), NONE), Applied::Orphan);
    assert_eq!(t.ack(r, NONE, ids([2])), Applied::Orphan);
    assert_eq!(t.stats().done, 1);
}

#[test]
fn an_update_that_says_nothing_leaves_no_orphan() {
    let mut t = tracker(Timeout::Never);
    assert_eq!(t.update(root(1), Update::default()), Applied::Orphan);
    assert_eq!(t.orphans(), 0);
}

#[test]
fn every_error_says_what_to_do() {
    for (error, text) in [
        (
            Error::DuplicateRoot { root: root(10) },
            "root 000000000000000a is still pending: drop the repeat, or mix in an attempt",
        ),
        (
            Error::TaskTooLarge { task: 134_217_728, largest: Tracker::MAX_TASK },
            "task 134217728 is above the largest legal task 134217727",
        ),
        (Error::BadGenerations { generations: 9 }, "9 generations asked for: choose 3 to 8"),
        (Error::BadTimeout, "a time-out must be at least one tick"),
        (Error::MemberExists { member: 1 }, "member 1 is on the ring already"),
        (Error::UnknownMember { member: 1 }, "member 1 is not on the ring"),
    ] {
        assert_eq!(error.to_string(), text);
    }
}
