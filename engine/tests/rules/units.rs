//! The small parts by themselves: lanes, counts by epoch, groupings.

use std::collections::{BTreeMap, BTreeSet};

use streamwright::core::{EpochCounts, Lane};
use streamwright::{Grouping, Reason, Topology};

use crate::dice::{Dice, each_seed};
use crate::net::{Net, Outcome};
use crate::parts::{Item, Items, Log, Node, Source, settings};
use crate::rule_1::one_verdict_each;

#[test]
fn a_lane_accepts_every_number_once_in_any_order() {
    each_seed(500, |seed| {
        let mut dice = Dice::new(seed);
        let (mut lane, mut seen) = (Lane::default(), BTreeSet::new());
        for _ in 0..200 {
            let number = dice.below(100);
            assert_eq!(lane.accept(number), seen.insert(number));
        }
    });
}

/// A gap is given up once `window` later numbers are held, and no number is ever accepted twice.
#[test]
fn a_lossy_lane_gives_up_the_oldest_gap_only() {
    each_seed(500, |seed| {
        let mut dice = Dice::new(seed);
        let window = dice.from(1, 8) as usize;
        let (mut lane, mut seen) = (Lane::lossy(window), BTreeSet::new());
        for i in 0..300_u64 {
            let number = i.saturating_sub(dice.below(window as u64));
            let new = lane.accept(number);
            assert!(!new || !seen.contains(&number), "{number} twice");
            // Within the window of what was accepted nothing is refused wrongly.
            let later = seen.range(number..).count();
            assert!(new || seen.contains(&number) || later >= window, "{number} refused");
            if new {
                seen.insert(number);
            }
        }
    });
    let mut lane = Lane::lossy(3);
    assert!([1, 2, 3].into_iter().all(|n| lane.accept(n)));
    assert!(lane.accept(0), "three are held: the gap is open");
    let mut lane = Lane::lossy(3);
    assert!([1, 2, 3, 4].into_iter().all(|n| lane.accept(n)));
    assert!(!lane.accept(0), "four are held: the gap was given up");
    assert!(lane.accept(5) && !lane.accept(5));
}

#[test]
fn epoch_counts_are_a_map_without_zeros() {
    each_seed(500, |seed| {
        let mut dice = Dice::new(seed);
        let (mut counts, mut model) = (EpochCounts::default(), BTreeMap::<u64, i64>::new());
        for _ in 0..200 {
            let (epoch, delta) = (dice.below(9), dice.below(7).cast_signed() - 3);
            counts.add(epoch, delta);
            *model.entry(epoch).or_default() += delta;
            model.retain(|_, count| *count != 0);
            assert_eq!(counts.min(), model.keys().next().copied());
            assert_eq!(counts.is_empty(), model.is_empty());
            assert_eq!(counts.total(), model.values().sum::<i64>());
            assert!(counts.iter().eq(model.iter().map(|(&e, &c)| (e, c))));
            let at = dice.below(10);
            assert_eq!(counts.count(at), model.get(&at).copied().unwrap_or(0));
            assert_eq!(counts.any_up_to(at), model.range(..=at).next().is_some());
        }
    });
}

/// One sender, `count` records, into `tasks` tasks: the task of each record, in order.
fn routed(grouping: Grouping<Items>, workers: u32, tasks: u32, count: u64) -> (Vec<u32>, Outcome) {
    let log = Log::default();
    let mut builder = Topology::builder();
    let l = log.clone();
    let source = builder.spout("a", 1, move |cx| Source::count(&l, 0, cx, count, 1 << 40));
    let l = log.clone();
    let _ =
        builder.bolt("b", tasks, move |cx| Node::sink(&l, 1, cx)).input(source, grouping).done();
    let topology = builder.build(settings(workers, |c| c.attempts = 2)).unwrap();
    let out = Net::new(&topology, 1, &log).run();
    let mut seen = log.seen(1);
    seen.sort_by_key(|s| s.item.key);
    (seen.iter().map(|s| s.task).collect(), out)
}

fn counts(tasks: &[u32], of: u32) -> Vec<u64> {
    (0..of).map(|task| tasks.iter().filter(|&&t| t == task).count() as u64).collect()
}

#[test]
fn shuffle_takes_each_task_in_turn() {
    for (tasks, count) in [(1, 5), (3, 100), (4, 100), (7, 7)] {
        let (routed, _) = routed(Grouping::shuffle(), 2, tasks, count);
        for (i, window) in routed.windows(tasks as usize).enumerate() {
            assert_eq!(window.iter().collect::<BTreeSet<_>>().len(), tasks as usize, "at {i}");
        }
    }
}

/// Exact over every whole period, and no prefix is off by as much as two from its share.
#[test]
fn weighted_is_exact_and_evenly_interleaved() {
    let most = 1_u64 << 52;
    for weights in
        [vec![5, 1, 1], vec![0, 3, 0, 1], vec![1], vec![2, 2, 2], vec![9, 1], vec![most, most]]
    {
        let total: u64 = weights.iter().sum();
        let period = if total > 100 { 2 } else { total };
        let (routed, _) =
            routed(Grouping::weighted(weights.clone()), 1, weights.len() as u32, 5 * period);
        let share = |n: u64, w: u64| (n as f64) * (w as f64) / (total as f64);
        for n in 1..=5 * period {
            let so_far = counts(&routed[..n as usize], weights.len() as u32);
            for (&count, &weight) in so_far.iter().zip(&weights) {
                let off = (count as f64 - share(n, weight)).abs();
                assert!(off < 2.0, "{weights:?} after {n}: {so_far:?}");
                assert!(n % period > 0 || off < 1e-6, "{weights:?} after {n}: {so_far:?}");
            }
        }
    }
    // The classic: not five of the first in a row.
    let (routed, _) = routed(Grouping::weighted([5, 1, 1]), 1, 3, 7);
    assert_eq!(routed, [0, 0, 1, 0, 2, 0, 0]);
}

#[test]
fn direct_out_of_range_fails_by_name() {
    let direct =
        Grouping::direct(
            |item: &Item, tasks| {
                if item.key == 5 { tasks } else { (item.key % u64::from(tasks)) as u32 }
            },
        );
    let (routed, out) = routed(direct, 2, 3, 9);
    assert_eq!(routed, [0, 1, 2, 0, 1, 0, 1, 2]);
    assert_eq!(one_verdict_each(&out), (8, 1));
    let (_, letter) = &out.letters[0];
    let wanted = Reason::NoSuchTask { component: "b".into(), task: 3, tasks: 3 };
    assert_eq!((&*letter.reason, letter.attempts), (&wanted, 2));
}

#[test]
fn a_grouping_that_panics_fails_that_tuple_alone_with_the_reason() {
    let fields = Grouping::fields(|item: &Item| {
        assert!(item.key != 5, "five");
        item.key
    });
    let direct = Grouping::direct(|item: &Item, tasks| {
        assert!(item.key != 5, "five");
        (item.key % u64::from(tasks)) as u32
    });
    for grouping in [fields, direct] {
        let (routed, out) = routed(grouping, 2, 3, 9);
        assert_eq!(routed.len(), 8);
        assert_eq!(one_verdict_each(&out), (8, 1));
        let (_, letter) = &out.letters[0];
        let wanted = Reason::Grouping { component: "b".into(), message: "five".into() };
        assert_eq!((&*letter.reason, letter.attempts), (&wanted, 2));
    }
}

#[test]
fn local_or_shuffle_stays_on_the_senders_worker_where_it_can() {
    // "a" is on worker 0, "b" has tasks on workers 1, 2, 3, 0, 1.
    let (tasks, _) = routed(Grouping::local_or_shuffle(), 4, 5, 20);
    assert_eq!(counts(&tasks, 5), [0, 0, 0, 20, 0]);
    // None on worker 0: all of the node in turn.
    let (tasks, _) = routed(Grouping::local_or_shuffle(), 4, 3, 21);
    assert_eq!(counts(&tasks, 3), [7, 7, 7]);
}

#[test]
fn global_is_task_zero_and_all_is_everyone() {
    let (tasks, _) = routed(Grouping::global(), 3, 4, 10);
    assert_eq!(counts(&tasks, 4), [10, 0, 0, 0]);
    let (tasks, _) = routed(Grouping::all(), 3, 4, 10);
    assert_eq!(counts(&tasks, 4), [10, 10, 10, 10]);
}

/// The hash decides by its high bits: all of a slot's bits count, else some task is never chosen.
#[test]
fn fields_gives_every_task_its_share_of_the_keys() {
    let by_key = Grouping::fields(|item: &Item| item.key);
    let (tasks, _) = routed(by_key, 2, 5, 2000);
    assert!(counts(&tasks, 5).iter().all(|&n| (320..480).contains(&n)), "{:?}", counts(&tasks, 5));
}
