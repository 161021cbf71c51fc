//! Where numbers end: exact fits, loads that a sum does not show, bounds that do not hold for all.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Case, Random, cases};
use proptest::prelude::*;
use rtmr::balance::{
    Band, Cluster, Entry, GroupRule, Move, Options, Outcome, Search, plan, verify,
};
use rtmr::instances::{Shape, shaped};

/// Two idle nodes, and an overloaded one that has to lose 1: the bound with (7) over both idle
/// nodes is 76, and a plan that leaves them idle costs 1. So 76 is said of the group alone.
#[test]
fn the_certified_bound_holds_for_plans_that_leave_nodes_idle() {
    let entry = |load, bytes| Entry { owner: 0, load, bytes };
    let entries = [entry(1.0, 1), entry(10.0, 100)];
    let (capacity, base) = ([40.0, 9.0, 24.0], [40.0, 6.25, 10.0]);
    let cluster = Cluster::new(&capacity, &base, &entries).unwrap();
    let band = Band::new(0.25, 0.25).unwrap();
    let whole = Options { groups: GroupRule::Whole, ..Options::default() };
    let made = plan(&cluster, band, &whole).unwrap();
    let _ = verify(&cluster, band, &made).unwrap();
    assert_eq!((made.bytes, made.outcome.clone()), (101, Outcome::Balanced));
    assert!((made.group_bound - 76.0).abs() < 1e-6, "{}", made.group_bound);
    assert!((made.lower_bound - 1.0).abs() < 1e-6, "{}", made.lower_bound);
    let mut least = made;
    least.moves = vec![Move { entry: 0, from: 0, to: 1, bytes: 1 }];
    (least.bytes, least.outcome, least.left_idle) = (1, Outcome::Partial, vec![2]);
    assert!(verify(&cluster, band, &least).unwrap().gap < 1e-6);
    // A plan that says the group's bound is one for all is refused.
    least.lower_bound = 76.0;
    assert!(verify(&cluster, band, &least).is_err());
}

/// The best cover leaves too much, so that the next best has to be proven: without a long search.
#[test]
fn a_cover_that_must_not_be_too_large_is_proven_without_a_search() {
    let instance = shaped(Shape::ManyToMany, 7, 32, 1.0, 1).unwrap();
    let cluster = instance.cluster().unwrap();
    let made = plan(&cluster, instance.band, &Options::default()).unwrap();
    let _ = verify(&cluster, instance.band, &made).unwrap();
    assert!(made.optimal && made.steps < 1000, "{} steps", made.steps);
    let options = Options { search: Search::Exact, groups: GroupRule::Whole, ..Options::default() };
    let longer = plan(&cluster, instance.band, &options).unwrap();
    assert_eq!(made.bytes, longer.bytes);
}

/// The least bytes with a load from `need` to `most`, by trying all.
fn subsets(entries: &[Entry], need: f64, most: f64) -> Option<u64> {
    let all = (0_u32..1 << entries.len()).filter_map(|set| {
        let chosen = (0..entries.len()).filter(|at| set >> at & 1 == 1).map(|at| &entries[at]);
        let (load, bytes) =
            chosen.fold((0.0, 0), |(load, bytes), e| (load + e.load, bytes + e.bytes));
        (load >= need - 1e-9 && load <= most + 1e-9).then_some(bytes)
    });
    all.min()
}

proptest! {
    #![proptest_config(cases(2_000))]

    /// One node to one node within narrow bands: what is called optimal is the least of all sets.
    #[test]
    fn narrow_covers_meet_enumeration(seed in any::<u64>()) {
        let r = &mut Random::new(seed);
        let whole = r.one_in(2);
        let count = 2 + r.below(10);
        let entries: Vec<Entry> = (0..count)
            .map(|_| {
                let load = if whole { (1 + r.below(12)) as f64 } else { 12.0 * r.unit() };
                Entry { owner: 0, load, bytes: r.below(30) }
            })
            .collect();
        let total: f64 = entries.iter().map(|entry| entry.load).sum();
        let part = 0.2 + 0.6 * r.unit();
        let capacity = [part * total, (1.0 - part) * total];
        let width = [0.002, 0.02, 0.1][usize::try_from(r.below(3)).unwrap()];
        let band = Band::new(width, width).unwrap();
        let cluster = Cluster::new(&capacity, &[0.0; 2], &entries).unwrap();
        let need = (total - band.high(capacity[0])).max(band.low(capacity[1]));
        let most = (total - band.low(capacity[0])).min(band.high(capacity[1]));
        let least = subsets(&entries, need, most);
        for search in [Search::Auto, Search::Exact] {
            let options = Options { search, ..Options::default() };
            let made = plan(&cluster, band, &options).unwrap();
            let report = verify(&cluster, band, &made);
            prop_assert!(report.is_ok(), "{:?}", report);
            if made.outcome == Outcome::Balanced {
                prop_assert!(made.bytes >= least.unwrap());
                prop_assert!(!made.optimal || Some(made.bytes) == least, "{:?} {:?}", made, least);
            } else {
                prop_assert!(least.is_none(), "{:?} though {:?} do", made, least);
            }
        }
    }

    /// Loads so small that bytes over load overflow: such entries stay, and the bound holds.
    #[test]
    fn loads_next_to_nothing_are_planned_or_left(seed in any::<u64>()) {
        let mut case = Case::small(seed, 4, 30);
        let r = &mut Random::new(seed);
        let scale = [5e-324, 1e-310, 1e-290, 1e-281, 1e-279][usize::try_from(r.below(5)).unwrap()];
        case.capacity.iter_mut().chain(&mut case.base).for_each(|value| *value *= scale);
        case.entries.iter_mut().for_each(|entry| entry.load *= scale);
        case.entries.iter_mut().for_each(|entry| entry.bytes *= 1 << 40);
        let options = Options { steps: 2_000, ..Options::default() };
        for search in [Search::Auto, Search::Exact, Search::Ratio] {
            let made = plan(&case.cluster(), case.band, &Options { search, ..options }).unwrap();
            let report = verify(&case.cluster(), case.band, &made);
            prop_assert!(report.is_ok(), "{:?} {:?}", report, made);
            let least = |step: &Move| case.entries[step.entry as usize].load >= Entry::LEAST_LOAD;
            prop_assert!(made.moves.iter().all(least));
        }
    }
}

/// The heavy entries are all that the sum of a dead node shows; the light ones leave it too.
#[test]
fn a_dead_node_keeps_nothing_that_has_load() {
    for light in [1e-8, 1e-12, 1e-30, 1e-200] {
        let entries: Vec<Entry> = (0..40)
            .map(|i| Entry { owner: 0, load: if i % 2 == 0 { 1.0 } else { light }, bytes: 1 + i })
            .collect();
        let capacity = [0.0, 12.0, 12.0];
        for search in [Search::Auto, Search::Ratio, Search::Exact] {
            let cluster = Cluster::new(&capacity, &[0.0; 3], &entries).unwrap();
            let band = Band::new(0.1, 0.2).unwrap();
            let options = Options { search, ..Options::default() };
            let made = plan(&cluster, band, &options).unwrap();
            let report = verify(&cluster, band, &made).unwrap();
            assert_eq!(
                (made.outcome.clone(), made.moves.len()),
                (Outcome::Balanced, 40),
                "{light}"
            );
            assert!(report.loads[0] < 1e-14);
            let mut after = entries.clone();
            made.moves.iter().for_each(|step| after[step.entry as usize].owner = step.to);
            let cluster = Cluster::new(&capacity, &[0.0; 3], &after).unwrap();
            assert!(plan(&cluster, band, &options).unwrap().moves.is_empty());
        }
    }
}
