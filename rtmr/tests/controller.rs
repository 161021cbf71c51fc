//! The controller: when it plans, when it does not, and that it comes to rest.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Random, cases};
use proptest::prelude::*;
use rtmr::Error;
use rtmr::balance::{Band, Entry, Options, Outcome};
use rtmr::controller::{Controller, Settings, Trigger};

fn settings() -> Settings {
    Settings::new(Band::new(0.1, 0.1).unwrap())
}

/// Four nodes; the load is on the first two.
fn skewed() -> Vec<Entry> {
    (0..400).map(|i| Entry { owner: u32::from(i >= 200), load: 0.1, bytes: 10 }).collect()
}

fn controller(settings: Settings) -> Controller {
    Controller::new(settings, vec![10.0; 4], vec![0.0; 4], skewed()).unwrap()
}

fn observe(controller: &mut Controller, load: f64) {
    for entry in 0..400 {
        controller.observe(entry, load).unwrap();
    }
}

#[test]
fn b16_the_first_periods_plan_nothing_then_load_does() {
    let mut it = controller(Settings { warm_up: 3, ..settings() });
    for _ in 0..3 {
        observe(&mut it, 0.1);
        assert!(it.tick(&Options::default()).unwrap().is_none());
    }
    observe(&mut it, 0.1);
    let plan = it.tick(&Options::default()).unwrap().unwrap();
    assert_eq!(plan.outcome, Outcome::Balanced);
    for step in &plan.moves {
        assert_eq!(it.entries()[step.entry as usize].owner, step.to);
    }
    for _ in 0..20 {
        observe(&mut it, 0.1);
        assert!(it.tick(&Options::default()).unwrap().is_none());
    }
}

#[test]
fn on_demand_plans_when_asked_and_off_never() {
    let mut it = controller(Settings { trigger: Trigger::OnDemand, ..settings() });
    observe(&mut it, 0.1);
    assert!(it.tick(&Options::default()).unwrap().is_none());
    it.request();
    observe(&mut it, 0.1);
    assert!(it.tick(&Options::default()).unwrap().is_some());
    let mut off = controller(Settings { trigger: Trigger::Off, ..settings() });
    off.request();
    observe(&mut off, 0.1);
    assert!(off.tick(&Options::default()).unwrap().is_none());
}

/// What can't be solved is not tried again every period, but when loads have changed.
#[test]
fn what_can_not_be_helped_is_not_tried_again_until_it_changes() {
    let entries = vec![Entry { owner: 0, load: 50.0, bytes: 1 }; 1];
    let settings = Settings { warm_up: 0, ..settings() };
    let mut it = Controller::new(settings, vec![10.0; 2], vec![0.0; 2], entries).unwrap();
    for _ in 0..5 {
        it.observe(0, 50.0).unwrap();
        assert!(it.tick(&Options::default()).unwrap().is_none());
    }
    it.observe(0, 1.0).unwrap();
    assert!(it.tick(&Options::default()).unwrap().is_none());
}

#[test]
fn a_dead_node_is_emptied() {
    let entries: Vec<Entry> =
        (0..300).map(|i| Entry { owner: i % 3, load: 0.1, bytes: 10 }).collect();
    let settings = Settings { warm_up: 0, ..settings() };
    let mut it = Controller::new(settings, vec![20.0; 3], vec![0.0; 3], entries).unwrap();
    for entry in 0..300 {
        it.observe(entry, 0.1).unwrap();
    }
    assert!(it.tick(&Options::default()).unwrap().is_none());
    it.set_capacity(1, 0.0).unwrap();
    for entry in 0..300 {
        it.observe(entry, 0.1).unwrap();
    }
    let plan = it.tick(&Options::default()).unwrap().unwrap();
    assert_eq!(plan.moves.len(), 100);
    assert!(it.entries().iter().all(|entry| entry.owner != 1));
}

#[test]
fn odd_calls_are_refused_and_change_nothing() {
    let mut it = controller(settings());
    assert!(matches!(it.observe(400, 1.0), Err(Error::Count { count: 400, .. })));
    for load in [f64::NAN, -1.0, f64::INFINITY] {
        assert!(matches!(it.observe(0, load), Err(Error::Number { .. })));
    }
    assert!(matches!(it.observe(0, f64::MAX), Err(Error::Overflow { .. })));
    assert!(it.set_bytes(400, 1).is_err());
    assert!(it.set_capacity(4, 1.0).is_err() && it.set_capacity(0, f64::NAN).is_err());
    for bad in [0.0, 1.5, f64::NAN] {
        let with = |settings| Controller::new(settings, vec![10.0; 4], vec![0.0; 4], skewed());
        assert!(with(Settings { release: bad, ..settings() }).is_err());
        assert!(with(Settings { alpha: bad, ..settings() }).is_err());
    }
    it.set_bytes(0, u64::MAX).unwrap();
    it.request();
    assert!(matches!(it.tick(&Options::default()), Err(Error::Overflow { what: "bytes" })));
}

/// Experiment 4 in periods of half a second: nine tenths of the load fall on two of four nodes at
/// once, and within ten seconds no node is over its band and 95 % of what came before is done.
#[test]
fn figure_12_recovers_within_twenty_periods() {
    let capacity = [24.0, 24.0, 24.0, 6.4];
    let total: f64 = 0.8 * capacity.iter().sum::<f64>();
    let per_node = 256_u32;
    let share = |node: usize| total * capacity[node] / capacity.iter().sum::<f64>();
    let entries: Vec<Entry> = (0..4 * per_node)
        .map(|i| {
            let owner = i / per_node;
            let load = share(owner as usize) / f64::from(per_node);
            Entry { owner, load, bytes: 50_000 }
        })
        .collect();
    let band = Band::new(0.05, 0.1).unwrap();
    let settings = Settings { warm_up: 0, band, ..settings() };
    let mut it =
        Controller::new(settings, capacity.to_vec(), vec![0.0; 4], entries.clone()).unwrap();
    let skewed = |i: u32| {
        let on_two = i / per_node < 2;
        let part = if on_two { 0.9 } else { 0.1 };
        part * total / f64::from(2 * per_node)
    };
    let done = |it: &Controller, load: &dyn Fn(u32) -> f64| {
        let mut nodes = [0.0; 4];
        for (i, entry) in (0..).zip(it.entries()) {
            nodes[entry.owner as usize] += load(i);
        }
        nodes.iter().zip(&capacity).map(|(s, p)| s.min(*p)).sum::<f64>()
    };
    let even = |i: u32| entries[i as usize].load;
    let before = done(&it, &even);
    assert!(done(&it, &skewed) < 0.9 * before);
    let mut recovered = None;
    for period in 0..120 {
        let skew = period >= 20;
        for i in 0..4 * per_node {
            it.observe(i, if skew { skewed(i) } else { even(i) }).unwrap();
        }
        it.tick(&Options::default()).unwrap();
        if skew && recovered.is_none() && done(&it, &skewed) >= 0.95 * before {
            recovered = Some(period - 20);
        }
    }
    assert!(recovered.is_some_and(|periods| periods <= 20), "{recovered:?}");
    assert!(done(&it, &skewed) >= 0.95 * before);
}

proptest! {
    #![proptest_config(cases(512))]

    /// On a fixed load the moves end, and no entry comes back to where it was.
    #[test]
    fn a_fixed_load_comes_to_rest_without_ping_pong(seed in any::<u64>(), sigma in 0.2..2.0_f64) {
        let case = common::Case::lognormal(seed, 6, 30, sigma, 0.5);
        let loads: Vec<f64> = case.entries.iter().map(|entry| entry.load).collect();
        let settings = Settings { warm_up: 0, cool_down: 3, ..settings() };
        let mut it =
            Controller::new(settings, case.capacity, case.base, case.entries.clone()).unwrap();
        let mut homes: Vec<Vec<u32>> =
            case.entries.iter().map(|entry| vec![entry.owner]).collect();
        let options = Options { steps: 20_000, ..Options::default() };
        let mut last = 0;
        for period in 0..30 {
            for (entry, &load) in (0..).zip(&loads) {
                it.observe(entry, load).unwrap();
            }
            for step in it.tick(&options).unwrap().iter().flat_map(|plan| &plan.moves) {
                let homes = &mut homes[step.entry as usize];
                prop_assert!(!homes.contains(&step.to), "entry {} is back", step.entry);
                homes.push(step.to);
                last = period;
            }
        }
        prop_assert!(last < 15, "still moving in period {}", last);
    }

    /// On a noisy load no entry moves again within its cool-down.
    #[test]
    fn an_entry_that_moved_stays_for_its_cool_down(seed in any::<u64>()) {
        let case = common::Case::lognormal(seed, 5, 30, 1.0, 0.4);
        let loads: Vec<f64> = case.entries.iter().map(|entry| entry.load).collect();
        let settings = Settings { warm_up: 0, cool_down: 5, alpha: 0.9, ..settings() };
        let mut it =
            Controller::new(settings, case.capacity, case.base, case.entries).unwrap();
        let mut moved = vec![None; loads.len()];
        let options = Options { steps: 10_000, ..Options::default() };
        let r = &mut Random::new(seed);
        for period in 0..30_u32 {
            for (entry, &load) in (0..).zip(&loads) {
                it.observe(entry, load * (0.5 + r.unit())).unwrap();
            }
            for step in it.tick(&options).unwrap().iter().flat_map(|plan| &plan.moves) {
                let last = moved[step.entry as usize].replace(period);
                prop_assert!(last.is_none_or(|last| period - last > 5));
            }
        }
    }
}
