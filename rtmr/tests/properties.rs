//! What holds of every plan, by random clusters and against enumeration.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Case, cases};
use proptest::prelude::*;
use rtmr::balance::{
    Anneal, Band, Cluster, Entry, GroupRule, Options, Outcome, Plan, Search, Shortage, Start, plan,
    verify,
};

fn solve(case: &Case, options: &Options<'_>) -> Plan {
    plan(&case.cluster(), case.band, options).unwrap()
}

/// The least bytes of a plan that leaves no node overloaded, raises every idle node or none of
/// `must_rise`, by trying all; a legal plan is one that `verify` takes.
fn enumerate(case: &Case, must_rise: bool) -> Option<u64> {
    let cluster = case.cluster();
    let (p, s) = (&case.capacity, cluster.loads());
    let over: Vec<bool> = (0..p.len()).map(|j| case.band.is_over(p[j], s[j])).collect();
    let idle: Vec<bool> = (0..p.len()).map(|j| case.band.is_idle(p[j], s[j])).collect();
    let movable: Vec<&Entry> =
        case.entries.iter().filter(|e| over[e.owner as usize] && e.load > 0.0).collect();
    let targets: Vec<usize> = (0..p.len()).filter(|&k| idle[k]).collect();
    let choices = targets.len() + 1;
    let mut best: Option<u64> = None;
    for code in 0..choices.pow(u32::try_from(movable.len()).unwrap()) {
        let (mut loads, mut bytes, mut rest) = (s.to_vec(), 0, code);
        let mut got = vec![false; p.len()];
        for entry in &movable {
            let choice = rest % choices;
            rest /= choices;
            if choice > 0 {
                let to = targets[choice - 1];
                loads[entry.owner as usize] -= entry.load;
                loads[to] += entry.load;
                got[to] = true;
                bytes += entry.bytes;
            }
        }
        let legal = (0..p.len()).all(|j| {
            let (low, high) = (case.band.low(p[j]), case.band.high(p[j]));
            let eps = 1e-9 * high.max(s[j]);
            if over[j] {
                loads[j] <= high + eps && loads[j] >= low - eps
            } else if idle[j] {
                (!got[j] || loads[j] <= high + eps) && (!must_rise || loads[j] >= low - eps)
            } else {
                true
            }
        });
        if legal && best.is_none_or(|best| bytes < best) {
            best = Some(bytes);
        }
    }
    best
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn every_plan_verifies(seed in any::<u64>()) {
        let case = Case::small(seed, 6, 40);
        let options = Options { steps: 5_000, ..Options::default() };
        let made = solve(&case, &options);
        let report = verify(&case.cluster(), case.band, &made);
        prop_assert!(report.is_ok(), "{:?} of {:?}", report, made);
        prop_assert!(made.lower_bound <= made.bytes as f64 * (1.0 + 1e-9));
    }

    #[test]
    fn a_balanced_cluster_needs_no_moves_and_a_second_plan_neither(seed in any::<u64>()) {
        let case = Case::small(seed, 5, 30);
        let options = Options { steps: 5_000, ..Options::default() };
        let first = solve(&case, &options);
        let after = case.moved(&first.moves);
        let second = solve(&after, &options);
        if matches!(first.outcome, Outcome::Balanced | Outcome::Partial) {
            prop_assert!(second.moves.is_empty(), "{:?} then {:?}", first, second);
            prop_assert_eq!(second.lower_bound, 0.0);
        }
    }

    #[test]
    fn hot_entries_and_fixed_loads_are_what_they_are_called(seed in any::<u64>()) {
        let case = Case::small(seed, 5, 30);
        let cluster = case.cluster();
        let made = solve(&case, &Options { steps: 5_000, ..Options::default() });
        let high = |node: usize| case.band.high(case.capacity[node]);
        let room = (0..case.capacity.len())
            .filter(|&k| case.band.is_idle(case.capacity[k], cluster.loads()[k]))
            .map(|k| high(k) - cluster.loads()[k])
            .fold(0.0, f64::max);
        match made.outcome {
            Outcome::HotEntry(entries) => {
                prop_assert!(!entries.is_empty());
                for entry in entries {
                    let entry = &case.entries[entry as usize];
                    let owner = entry.owner as usize;
                    let most = cluster.loads()[owner] - case.band.low(case.capacity[owner]);
                    prop_assert!(entry.load > room.min(most));
                    prop_assert!(made.left_over.contains(&entry.owner));
                }
            }
            Outcome::FixedLoad(nodes) => {
                prop_assert!(nodes.iter().all(|&n| case.base[n as usize] > high(n as usize)));
            }
            Outcome::NeedNodes { nodes, why: Shortage::Room { needed, room } } => {
                prop_assert!(nodes.is_none_or(|nodes| nodes > 0) && needed > room);
            }
            Outcome::NeedNodes { .. } => prop_assert!(false, "mended rules have no such reason"),
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(cases(2_000))]

    /// Feasible wherever any assignment is, and optimal where the plan says so.
    #[test]
    fn small_plans_meet_enumeration(seed in any::<u64>()) {
        let case = Case::small(seed, 4, 8);
        let whole = Options { groups: GroupRule::Whole, ..Options::default() };
        let exact = Options { search: Search::Exact, ..whole };
        let (relief, all) = (enumerate(&case, false), enumerate(&case, true));
        for options in [whole, exact] {
            let made = solve(&case, &options);
            let solved = made.left_over.is_empty();
            if solved {
                // No plan that relieves all takes less than the least one, nor is the bound over it.
                prop_assert!(made.bytes >= relief.unwrap());
                prop_assert!(made.lower_bound <= relief.unwrap() as f64 * (1.0 + 1e-9));
            }
            if let Some(all) = all {
                prop_assert!(solved, "{:?} though {} bytes do", made, all);
                if made.optimal {
                    prop_assert!(made.bytes <= all, "{} and {}", made.bytes, all);
                }
            }
        }
    }

}

proptest! {
    #![proptest_config(cases(512))]

    #[test]
    fn each_search_gives_a_plan_that_verifies_and_is_the_same_again(seed in any::<u64>()) {
        let case = Case::lognormal(seed, 6, 20, 1.5, 0.5);
        let load_first = Anneal { start: Start::LoadFirst, a: 20.0, ..Anneal::default() };
        for search in [
            Search::Ratio,
            Search::Exact,
            Search::Auto,
            Search::Anneal(Anneal::default()),
            Search::Anneal(load_first),
        ] {
            let options = Options { search, steps: 10_000, seed, ..Options::default() };
            let made = solve(&case, &options);
            let report = verify(&case.cluster(), case.band, &made);
            prop_assert!(report.is_ok(), "{:?} {:?}", search, report);
            prop_assert!(made.reproducible);
            prop_assert!(made == solve(&case, &options));
        }
    }
}

proptest! {
    #![proptest_config(cases(5_000))]

    /// Numbers of any magnitude beside each other: a plan that verifies, or an error, no panic.
    #[test]
    fn extreme_numbers_are_planned_or_refused(seed in any::<u64>()) {
        let r = &mut common::Random::new(seed);
        let numbers = [0.0, 5e-324, 1e-300, 1e-12, 1.0, 3.0, 1e12, 1e290, 1e301];
        let mut draw = |few: bool| {
            let all = numbers.len() as u64;
            let at = if few { 4 + r.below(2) } else { r.below(all) };
            numbers[usize::try_from(at).unwrap()] * (0.5 + r.unit())
        };
        let few = seed % 3 == 0;
        let nodes = 1 + seed % 5;
        let capacity: Vec<f64> = (0..nodes).map(|_| draw(few)).collect();
        let base: Vec<f64> = (0..nodes).map(|_| if few { 0.0 } else { draw(false) }).collect();
        let loads: Vec<f64> = (0..seed % 23).map(|_| draw(few)).collect();
        let entries: Vec<Entry> = loads
            .into_iter()
            .map(|load| Entry {
                owner: u32::try_from(r.below(nodes)).unwrap(),
                load,
                bytes: [0, 1, 1000, u64::MAX / 64][usize::try_from(r.below(4)).unwrap()],
            })
            .collect();
        let (phi, tau) = [(0.0, 0.999), (1000.0, 0.0), (1e-6, 0.0), (0.1, 0.1)]
            [usize::try_from(r.below(4)).unwrap()];
        let band = Band::new(phi, tau).unwrap();
        let Ok(cluster) = Cluster::new(&capacity, &base, &entries) else { return Ok(()) };
        for search in [Search::Auto, Search::Exact, Search::Ratio, Search::Anneal(Anneal::default())] {
            let options = Options { search, steps: 500, ..Options::default() };
            let made = plan(&cluster, band, &options).unwrap();
            let report = verify(&cluster, band, &made);
            prop_assert!(report.is_ok(), "{:?} {:?} {:?}", search, report, made);
        }
    }
}

/// Orders of entries and scales of loads that change nothing about what can be done.
#[test]
fn loads_of_any_magnitude_are_planned_alike() {
    let case = Case::lognormal(3, 8, 100, 1.0, 0.4);
    let plain = solve(&case, &Options::default());
    assert!(!plain.moves.is_empty());
    for scale in [2_f64.powi(-900), 2_f64.powi(-40), 2_f64.powi(40), 2_f64.powi(900)] {
        let mut scaled = case.clone();
        scaled.capacity.iter_mut().for_each(|p| *p *= scale);
        scaled.entries.iter_mut().for_each(|e| e.load *= scale);
        let made = solve(&scaled, &Options::default());
        assert_eq!(made.moves, plain.moves, "{scale}");
    }
}

#[test]
fn a_plan_cut_short_says_so_and_still_verifies() {
    use std::sync::atomic::{AtomicU32, Ordering};
    let case = Case::lognormal(5, 8, 1500, 1.0, 0.5);
    let asked = AtomicU32::new(0);
    let keep_going = || asked.fetch_add(1, Ordering::Relaxed) < 1;
    let options =
        Options { search: Search::Exact, keep_going: Some(&keep_going), ..Options::default() };
    let made = solve(&case, &options);
    assert!(!made.reproducible, "asked {} times", asked.load(Ordering::Relaxed));
    let _ = verify(&case.cluster(), case.band, &made).unwrap();
}

#[test]
fn bad_clusters_bands_and_options_are_named() {
    use rtmr::Error;
    let entry = Entry { owner: 0, load: 1.0, bytes: 1 };
    let bad = |p: &[f64], base: &[f64], entries: &[Entry]| Cluster::new(p, base, entries).err();
    assert!(matches!(bad(&[], &[], &[]), Some(Error::Count { what: "nodes", .. })));
    assert!(matches!(bad(&[1.0], &[], &[]), Some(Error::Count { what: "base loads", .. })));
    for value in [f64::NAN, f64::INFINITY, -1.0] {
        let odd = bad(&[1.0, value], &[0.0; 2], &[]);
        assert!(matches!(odd, Some(Error::Item { what: "capacity", index: 1, .. })));
        let odd = bad(&[1.0; 2], &[0.0, value], &[]);
        assert!(matches!(odd, Some(Error::Item { what: "base load", index: 1, .. })));
        let odd = bad(&[1.0], &[0.0], &[entry, Entry { load: value, ..entry }]);
        assert!(matches!(odd, Some(Error::Item { what: "load of entry", index: 1, .. })));
    }
    let far = Entry { owner: 3, ..entry };
    let unknown = bad(&[1.0], &[0.0], &[entry, far]);
    assert_eq!(unknown, Some(Error::UnknownNode { entry: 1, owner: 3, nodes: 1 }));
    let huge = Entry { load: f64::MAX, ..entry };
    assert!(matches!(bad(&[1.0], &[0.0], &[huge; 2]), Some(Error::Overflow { what: "loads" })));
    let heavy = Entry { bytes: u64::MAX, ..entry };
    assert!(matches!(bad(&[1.0], &[0.0], &[heavy; 2]), Some(Error::Overflow { what: "bytes" })));
    assert!(matches!(bad(&[f64::MAX], &[0.0], &[]), Some(Error::Overflow { .. })));
    for (phi, tau) in
        [(f64::NAN, 0.1), (0.1, f64::NAN), (-0.1, 0.1), (0.1, 1.0), (0.0, 0.0), (1e9, 0.0)]
    {
        assert!(Band::new(phi, tau).is_err(), "{phi} {tau}");
    }
    let case = Case::lognormal(1, 2, 4, 1.0, 0.5);
    for capacity in [0.0, f64::NAN, -1.0] {
        let options = Options { new_node: Some(capacity), ..Options::default() };
        assert!(plan(&case.cluster(), case.band, &options).is_err());
    }
    for change in [
        |costs: &mut rtmr::balance::Costs| costs.bytes_per_second = 0.0,
        |costs: &mut rtmr::balance::Costs| costs.seconds_per_step = f64::NAN,
        |costs: &mut rtmr::balance::Costs| costs.seconds_per_move = -1.0,
    ] {
        let mut options = Options::default();
        change(&mut options.costs);
        assert!(plan(&case.cluster(), case.band, &options).is_err());
    }
}
