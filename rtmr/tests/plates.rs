//! Cloned plates against every pair of sightings.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::disk::MemoryDisk;
use common::model::files_of;
use common::{Random, cases};
use proptest::prelude::*;
use rtmr::job::{Job, Partial};
use rtmr::plates::{ByPlate, CloneSearch, Roads, Sighting, Suspect, Traffic};
use rtmr::store::{Blocks, Modulo, NoSpill, Store};

/// Every two sightings of a plate, by the definition.
fn all_pairs(roads: Roads, seen: &[Sighting]) -> Vec<Suspect> {
    let mut found = Vec::new();
    for (at, a) in seen.iter().enumerate() {
        for b in &seen[..at] {
            let apart = a.time.abs_diff(b.time);
            if a.plate == b.plate && a.site != b.site && apart < roads.least_time(a.site, b.site) {
                let mut two = [(a.time, a.site), (b.time, b.site)];
                two.sort_unstable();
                let [first, second] = two.map(|(time, site)| (site, time));
                found.push(Suspect { plate: a.plate, first, second });
            }
        }
    }
    found.sort_unstable();
    found
}

fn roads() -> Roads {
    Roads::new(12, 900.0, 30.0).unwrap()
}

fn sightings(seed: u64, many: usize) -> (Vec<Sighting>, u64) {
    let mut traffic = Traffic::new(roads(), 150, 20, 20, seed).unwrap();
    let mut seen: Vec<_> = traffic.by_ref().take(many).collect();
    // Some come late.
    let r = &mut Random::new(seed);
    for at in 1..seen.len() {
        seen.swap(at, at - r.below(at.min(9) as u64 + 1) as usize);
    }
    (seen, traffic.injected())
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn suspects_are_those_of_all_pairs(seed: u64, batch in 1_usize..200) {
        let (seen, injected) = sightings(seed, 1200);
        let expected = all_pairs(roads(), &seen);
        prop_assert!(injected > 20 && expected.len() as u64 >= injected);
        let spill = Blocks::with_files_of(MemoryDisk::default(), files_of(4)).unwrap();
        let small = Store::with(8, 120_000, spill, Modulo).unwrap();
        let mut spilled = Job::new(ByPlate, CloneSearch(roads()), small);
        let large = Store::with(20, usize::MAX, NoSpill, Modulo);
        // 2^20 entries once a few cases: the paper's directory.
        let mut memory = (seed % 16 == 0).then(|| Job::new(ByPlate, CloneSearch(roads()), large.unwrap()));
        let mut found = [Vec::new(), Vec::new()];
        for batch in seen.chunks(batch) {
            spilled.feed(batch, |_, suspect| found[0].push(suspect)).unwrap();
            if let Some(memory) = &mut memory {
                let mut partial = Partial::of(&ByPlate, &CloneSearch(roads()), batch, |_| true);
                let done = memory.absorb(partial.take(), |_, suspect| found[1].push(suspect));
                prop_assert!(done.is_ok());
            }
        }
        found.iter_mut().for_each(|found| found.sort_unstable());
        prop_assert_eq!(&found[0], &expected);
        prop_assert!(memory.is_none() || found[1] == expected);
    }

    /// The window: what is older than it proves nothing any more, and is gone.
    #[test]
    fn a_window_longer_than_every_way_changes_nothing(seed: u64) {
        let mut traffic = Traffic::new(roads(), 60, 1, 20, seed).unwrap();
        let seen: Vec<_> = traffic.by_ref().take(2500).collect();
        let expected = all_pairs(roads(), &seen);
        let mut job = Job::new(ByPlate, CloneSearch(roads()), Store::new(6, usize::MAX).unwrap());
        let (mut found, mut expired) = (Vec::new(), 0);
        for batch in seen.chunks(100) {
            job.feed(batch, |_, suspect| found.push(suspect)).unwrap();
            // Sightings may be ahead of the clock; the earliest of what comes next counts.
            let last = batch.iter().map(|seen| seen.time).min().unwrap();
            expired += job.evict_before(last.saturating_sub(2 * roads().longest())).unwrap().values;
        }
        found.sort_unstable();
        prop_assert_eq!(found, expected);
        prop_assert_eq!(job.late(), 0);
        prop_assert!(expired > 0);
    }
}

#[test]
fn plates_are_those_of_the_paper() {
    for (paper, most) in [(false, 100_000_000), (true, 101 << 20)] {
        let traffic = Traffic::new(roads(), 3_000_000, 20_000, 1000, 1).unwrap();
        let traffic = if paper { traffic.paper() } else { traffic };
        let highest = traffic.take(200_000).map(|seen| seen.plate).max().unwrap();
        assert!(highest < most && highest > most * 9 / 10, "{highest}");
    }
}

#[test]
fn roads_are_checked() {
    assert!(Roads::new(0, 1.0, 1.0).is_err() && Roads::new(70_000, 1.0, 1.0).is_err());
    assert!(Roads::new(3, f64::NAN, 1.0).is_err() && Roads::new(3, 1.0, 0.0).is_err());
    let roads = roads();
    assert_eq!((roads.sites(), roads.least_time(0, 1), roads.least_time(0, 13)), (144, 30, 43));
    assert_eq!(roads.longest(), roads.least_time(0, 143));
    assert!(roads.impossible((0, 100), (1, 129)) && !roads.impossible((0, 100), (1, 130)));
    assert!(!roads.impossible((5, 100), (5, 100)));
    assert!(Traffic::new(roads, 0, 1, 1, 1).is_err() && Traffic::new(roads, 1, 0, 1, 1).is_err());
}
