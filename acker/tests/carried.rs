//! Roots carried from one tracker to another: their sums and their time.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use acker::{
    Applied, Carried, Delta, EdgeId, Error, Outcome, RootId, Timeout, Tracker, TrackerConfig,
    Update, Verdict,
};
use proptest::prelude::*;

const ROOT: RootId = RootId::new(1).unwrap();

fn open() -> Delta {
    Delta::of(&[EdgeId::new(1).unwrap()])
}

fn tracker(timeout: Timeout) -> Tracker {
    Tracker::new(TrackerConfig { timeout, generations: 3, seed: 1 }).unwrap()
}

fn advance(tracker: &mut Tracker, now: u64) -> Vec<Verdict> {
    let mut out = Vec::new();
    tracker.advance(now, &mut out);
    out
}

/// A tracker that never gives up does not know ages, and must not make them up.
#[test]
fn a_root_from_a_tracker_without_time_outs_is_as_young_as_can_be() {
    for now in 0..40 {
        let (mut from, mut to) = (tracker(Timeout::Never), tracker(Timeout::After(5)));
        assert!(advance(&mut from, now).is_empty() && advance(&mut to, now).is_empty());
        assert_eq!(from.init(ROOT, 0, open()), Ok(Applied::Pending));
        let carried = from.extract(|_| true);
        assert_eq!((carried[0].age, carried[0].since_init), (0, 0));
        assert_eq!(to.absorb(&carried, &mut Vec::new()), Ok(()));
        assert_eq!(advance(&mut to, now + 4), []);
        assert_eq!(advance(&mut to, now + 6).len(), 1);
    }
}

#[test]
fn an_age_at_the_end_of_time_is_no_panic() {
    for timeout in [Timeout::After(1), Timeout::Progress { idle: 1, cap: u64::MAX }] {
        let mut t = tracker(timeout);
        assert_eq!(advance(&mut t, u64::MAX), []);
        assert_eq!(t.init(ROOT, 0, open()), Ok(Applied::Pending));
        let carried = t.extract(|_| true);
        assert_eq!((carried[0].age, carried[0].since_init), (0, 0));
        assert_eq!(t.absorb(&carried, &mut Vec::new()), Ok(()));
        assert_eq!(t.len(), 1);
    }
}

/// The sum of a merge is tested against zero once more, and the bound counts it.
#[test]
fn a_merge_counts_in_the_bound_of_false_zeros() {
    let (mut first, mut second) = (tracker(Timeout::Never), tracker(Timeout::Never));
    assert_eq!(first.init(ROOT, 0, open()), Ok(Applied::Pending));
    assert_eq!(second.ack(ROOT, open(), Delta::EMPTY), Applied::Orphan);
    let mut verdicts = Vec::new();
    assert_eq!(first.absorb(&second.extract(|_| true), &mut verdicts), Ok(()));
    assert_eq!(verdicts, [Verdict { root: ROOT, task: 0, outcome: Outcome::Done }]);
    assert_eq!((first.stats().updates, first.stats().done), (2, 1));
}

fn carried() -> impl Strategy<Value = Carried> {
    let extreme = || prop_oneof![0..50u64, any::<u64>(), Just(u64::MAX)];
    let task = prop_oneof![Just(None), (0..1u32 << 25).prop_map(Some), any::<u32>().prop_map(Some)];
    (1..6u64, 0..4u64, task, any::<bool>(), extreme(), extreme()).prop_map(
        |(root, sum, task, failed, age, since_init)| Carried {
            root: RootId::new(root).unwrap(),
            sum: Update::from_bits(sum),
            task,
            failed,
            age,
            since_init,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: std::env::var("PROPTEST_CASES").ok().and_then(|c| c.parse().ok()).unwrap_or(5_000),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Whatever comes from elsewhere: it is refused whole, or each of its inits ends once.
    #[test]
    fn forged_records_are_refused_whole_or_end_once(
        lists in prop::collection::vec(prop::collection::vec(carried(), 0..6), 1..6),
        timeout in prop_oneof![
            Just(Timeout::Never),
            prop_oneof![1..60u64, Just(u64::MAX)].prop_map(Timeout::After),
            (1..60u64, 1..60u64).prop_map(|(idle, cap)| Timeout::Progress { idle, cap }),
        ],
        steps in prop::collection::vec(prop_oneof![0..70u64, any::<u64>()], 6),
    ) {
        let mut tracker = tracker(timeout);
        let (mut now, mut inits, mut verdicts) = (0u64, 0, Vec::new());
        for (list, step) in lists.iter().zip(steps) {
            let before = (tracker.records(), verdicts.len());
            let tasks = list.iter().filter_map(|carried| carried.task);
            let wrong = tasks.clone().find(|&task| task > tracker.max_task());
            let largest = tracker.max_task();
            match tracker.absorb(list, &mut verdicts) {
                Ok(()) => {
                    prop_assert_eq!(wrong, None);
                    inits += tasks.count();
                }
                Err(error) => {
                    let task = wrong.unwrap();
                    prop_assert_eq!(error, Error::TaskTooLarge { task, largest });
                    prop_assert_eq!((tracker.records(), verdicts.len()), before);
                }
            }
            now = now.saturating_add(step);
            verdicts.extend(advance(&mut tracker, now));
            prop_assert_eq!(inits, verdicts.len() + tracker.len());
        }
        let rest = tracker.len() + tracker.orphans();
        prop_assert_eq!(tracker.extract(|_| true).len(), rest);
        prop_assert_eq!((tracker.len(), tracker.orphans()), (0, 0));
    }
}
