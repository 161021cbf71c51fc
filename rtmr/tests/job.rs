//! Theorems 1 and 2, the laws of merging, and what expires.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::BTreeMap;

use common::disk::MemoryDisk;
use common::model::files_of;
use common::{Random, cases};
use proptest::prelude::*;
use rtmr::job::{
    Blocked, Bounded, Job, Mapper, Owners, Partial, Reducer, Router, State, StateOf, merge,
};
use rtmr::store::{Blocks, Mixed, NoSpill, Place, Spill, Store, StoreError};

/// A record: a time and some (key, value).
type Record = (u64, Vec<(u64, i64)>);

struct Pairs;

impl Mapper for Pairs {
    type In = Record;
    type Key = u64;
    type Value = i64;

    fn map(&self, record: &Record, emit: &mut impl FnMut(u64, u64, i64)) {
        record.1.iter().for_each(|&(key, value)| emit(key, record.0, value));
    }
}

/// Monoid: how many, their sum and the largest.
struct Sums;

impl Reducer for Sums {
    type Key = u64;
    type Value = i64;
    type Acc = (u64, i64, Option<i64>);
    type Out = (u64, i64, Option<i64>);

    fn zero(&self) -> Self::Acc {
        (0, 0, None)
    }

    fn add(&self, acc: &mut Self::Acc, &value: &i64) {
        *acc = (acc.0 + 1, acc.1 + value, acc.2.max(Some(value)));
    }

    fn merge(&self, acc: &mut Self::Acc, other: Self::Acc) {
        *acc = (acc.0 + other.0, acc.1 + other.1, acc.2.max(other.2));
    }

    fn result(&self, _: &u64, state: &StateOf<Self>) -> Option<Self::Out> {
        Some(state.acc)
    }
}

/// Holistic: the median, which no accumulator gives; and a sum beside it that can be subtracted.
struct Median;

impl Reducer for Median {
    type Key = u64;
    type Value = i64;
    type Acc = i64;
    type Out = (i64, i64, usize);
    const LISTS: bool = true;

    fn zero(&self) -> i64 {
        0
    }

    fn add(&self, acc: &mut i64, value: &i64) {
        *acc += value;
    }

    fn merge(&self, acc: &mut i64, other: i64) {
        *acc += other;
    }

    fn subtract(&self, acc: &mut i64, value: &i64) -> bool {
        // Sometimes it cannot be done: then it is made anew.
        if value % 3 == 0 {
            return false;
        }
        *acc -= value;
        true
    }

    fn result(&self, _: &u64, state: &StateOf<Self>) -> Option<Self::Out> {
        let mut values: Vec<i64> = state.list.iter().map(|timed| timed.value).collect();
        values.sort_unstable();
        Some((*values.get(values.len() / 2)?, state.acc, values.len()))
    }
}

fn records(r: &mut Random, most: u64) -> Vec<Record> {
    (0..r.below(most))
        .map(|_| {
            let pairs = (0..r.below(4)).map(|_| (r.below(12), r.below(100).cast_signed() - 50));
            let pairs = pairs.collect();
            (r.below(50), pairs)
        })
        .collect()
}

fn shuffled<T>(mut list: Vec<T>, r: &mut Random) -> Vec<T> {
    for at in (1..list.len()).rev() {
        list.swap(at, r.below(at as u64 + 1) as usize);
    }
    list
}

fn job<R>(reducer: R) -> Job<Pairs, R>
where
    R: Reducer<Key = u64, Value = i64>,
{
    Job::new(Pairs, reducer, Store::new(3, usize::MAX).unwrap())
}

/// MR(D), as its definition has it: all values of a key at once.
fn directly<R>(reducer: &R, records: &[Record], from: u64) -> BTreeMap<u64, R::Out>
where
    R: Reducer<Key = u64, Value = i64>,
{
    let mut lists = BTreeMap::<u64, StateOf<R>>::new();
    for (time, pairs) in records.iter().filter(|record| record.0 >= from) {
        for &(key, value) in pairs {
            let zero = || State { acc: reducer.zero(), latest: 0, list: Vec::new() };
            let state = lists.entry(key).or_insert_with(zero);
            reducer.add(&mut state.acc, &value);
            state.list.push(rtmr::job::Timed { time: *time, value });
        }
    }
    let result = |(key, state): (u64, StateOf<R>)| Some((key, reducer.result(&key, &state)?));
    lists.into_iter().filter_map(result).collect()
}

fn results<R, S, P>(job: &mut Job<Pairs, R, S, P>) -> BTreeMap<u64, R::Out>
where
    R: Reducer<Key = u64, Value = i64>,
    S: Spill,
    P: Place<u64>,
{
    let mut found = BTreeMap::new();
    job.results(|&key, out| assert!(found.insert(key, out).is_none())).unwrap();
    found
}

fn theorem_1<R>(make: impl Fn() -> R, seed: u64)
where
    R: Reducer<Key = u64, Value = i64>,
    R::Out: PartialEq + std::fmt::Debug,
{
    let r = &mut Random::new(seed);
    let all = records(r, 80);
    let expected = directly(&make(), &all, 0);
    // D ⊎ Δ1 ⊎ … in any order and in any parts, fed, preloaded, or merged as I_Δ.
    let mut job = job(make());
    let mut rest = &shuffled(all, r)[..];
    while !rest.is_empty() {
        let (delta, after) = rest.split_at(1 + r.below(rest.len() as u64) as usize);
        match r.below(3) {
            0 => job.feed(delta, |_, _| ()).unwrap(),
            1 => job.preload(delta).unwrap(),
            _ => {
                let mut partial = Partial::of(&Pairs, &make(), delta, |_| true);
                assert!(job.absorb(partial.take(), |_, _| ()).is_ok());
            }
        }
        rest = after;
    }
    assert_eq!(results(&mut job), expected);
    for (key, out) in &expected {
        assert_eq!(job.result(key).unwrap().as_ref(), Some(out));
    }
}

fn theorem_2<R>(make: impl Fn() -> R, seed: u64)
where
    R: Reducer<Key = u64, Value = i64>,
    R::Out: PartialEq + std::fmt::Debug,
{
    let r = &mut Random::new(seed);
    let (history, delta) = (records(r, 60), records(r, 60));
    let whole = {
        let mut job = job(make());
        job.preload(&history).unwrap();
        job.feed(&delta, |_, _| ()).unwrap();
        results(&mut job)
    };
    let nodes = 1 + r.below(4) as u32;
    let owner = (0..8).map(|_| r.below(nodes.into()) as u32).collect();
    let owners = Owners::new(Mixed, nodes, owner).unwrap();
    let mut union = BTreeMap::new();
    for node in 0..nodes {
        // RTMR(0): history and records are mapped by all, and filtered.
        let mut own = job(make());
        own.feed_where(&history, |key| owners.owns(node, key), |_, _| ()).unwrap();
        own.feed_where(&delta, |key| owners.owns(node, key), |_, _| ()).unwrap();
        let found = results(&mut own);
        // MR(σ_K(M(Δ)) | I) = MR(σ_K(M(Δ)) | σ_K(I)) on the keys of K.
        let mut all = job(make());
        all.preload(&history).unwrap();
        all.feed_where(&delta, |key| owners.owns(node, key), |_, _| ()).unwrap();
        let mut others = results(&mut all);
        others.retain(|key, _| owners.owns(node, key));
        assert_eq!(found, others);
        for (key, out) in found {
            assert!(union.insert(key, out).is_none());
        }
    }
    assert_eq!(union, whole);
}

/// RTMR(x): x routers, full queues and all, give what one job gives.
///
/// How often a queue was full.
fn routed<R>(make: impl Fn() -> R, seed: u64) -> u64
where
    R: Reducer<Key = u64, Value = i64>,
    R::Out: PartialEq + std::fmt::Debug,
{
    let r = &mut Random::new(seed);
    let all = records(r, 120);
    let (nodes, maps) = (1 + r.below(4) as u32, 1 + r.below(3) as usize);
    let owner = (0..8).map(|_| r.below(nodes.into()) as u32).collect();
    let owners = Owners::new(Mixed, nodes, owner).unwrap();
    let batch = 1 + r.below(5) as usize;
    let mut routers: Vec<_> =
        (0..maps).map(|_| Router::new(Pairs, make(), owners.clone(), batch).unwrap()).collect();
    let mut queues: Vec<_> = (0..nodes).map(|_| Bounded::new(1 + r.below(2) as usize)).collect();
    let mut reducers: Vec<_> = (0..nodes).map(|_| job(make())).collect();
    let mut refused = 0_u64;
    let mut drain = |queue: &mut Bounded<_>, node: u32| {
        if let Some(batch) = queue.take() {
            assert!(reducers[node as usize].absorb(batch, |_, _| ()).is_ok());
        }
    };
    for (at, record) in all.iter().enumerate() {
        while let Err(Blocked { node }) = routers[at % maps].push(record, &mut queues) {
            refused += 1;
            drain(&mut queues[node as usize], node);
        }
    }
    for router in &mut routers {
        while let Err(Blocked { node }) = router.flush(&mut queues) {
            refused += 1;
            drain(&mut queues[node as usize], node);
        }
    }
    for node in 0..nodes {
        while !queues[node as usize].is_empty() {
            drain(&mut queues[node as usize], node);
        }
    }
    let mut union = BTreeMap::new();
    for (node, job) in (0..).zip(&mut reducers) {
        for (key, out) in results(job) {
            assert!(owners.owns(node, &key) && union.insert(key, out).is_none());
        }
    }
    assert_eq!(union, directly(&make(), &all, 0));
    refused
}

#[test]
fn queues_are_full_now_and_then() {
    let refused = (0..100).filter(|&seed| routed(|| Sums, seed) > 0).count();
    assert!(refused > 30, "{refused}");
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn theorem_1_mr_of_a_union_is_mr_of_the_new_given_the_old(seed: u64) {
        theorem_1(|| Sums, seed);
        theorem_1(|| Median, seed);
    }

    #[test]
    fn theorem_2_keys_are_worked_on_apart(seed: u64) {
        theorem_2(|| Sums, seed);
        theorem_2(|| Median, seed);
    }

    #[test]
    fn rtmr_x_gives_what_one_node_gives_and_loses_nothing_at_full_queues(seed: u64) {
        routed(|| Sums, seed);
        routed(|| Median, seed);
    }

    #[test]
    fn merging_is_associative_and_commutative_with_a_neutral_element(seed: u64) {
        let r = &mut Random::new(seed);
        let mut state = |many| {
            let mut partial = Partial::default();
            for _ in 0..many {
                partial.add(&Median, 0, r.below(20), r.below(9).cast_signed());
            }
            let empty = State { acc: 0, latest: 0, list: Vec::new() };
            partial.take().pop().map_or(empty, |(_, state)| state)
        };
        let (a, b, c, none) = (state(7), state(5), state(3), state(0));
        let both = |a: &StateOf<Median>, b: &StateOf<Median>| {
            let mut merged = a.clone();
            merge(&Median, &mut merged, b.clone());
            merged
        };
        // Values of one time are a multiset: their order is that of their coming.
        let same = |mut a: StateOf<Median>| { a.list.sort(); a };
        prop_assert_eq!(same(both(&both(&a, &b), &c)), same(both(&a, &both(&b, &c))));
        prop_assert_eq!(same(both(&a, &b)), same(both(&b, &a)));
        prop_assert_eq!(&both(&a, &none), &a);
        prop_assert_eq!(&both(&none, &a), &a);
        prop_assert!(both(&a, &b).list.is_sorted_by_key(|timed| timed.time));
    }

    #[test]
    fn what_expired_is_as_if_it_had_never_been(seed: u64) {
        let r = &mut Random::new(seed);
        let all = records(r, 100);
        let from = r.below(60);
        let mut job = job(Median);
        let (before, after) = all.split_at(r.below(all.len() as u64 + 1) as usize);
        job.feed(before, |_, _| ()).unwrap();
        let values = |records: &[Record]| {
            records.iter().filter(|record| record.0 < from).map(|record| record.1.len()).sum::<usize>()
        };
        if r.one_in(2) {
            let expired = job.evict_before(from).unwrap();
            prop_assert_eq!(expired.values, values(before) as u64);
        } else {
            // Only the horizon moves: it is as if all had been visited.
            job.advance(from);
        }
        job.feed(after, |_, _| ()).unwrap();
        prop_assert_eq!(job.late(), values(after) as u64);
        let expected = directly(&Median, &all, from);
        for key in 0..12 {
            prop_assert_eq!(job.result(&key).unwrap(), expected.get(&key).copied());
        }
        prop_assert_eq!(results(&mut job), expected);
    }
}

#[test]
fn keys_without_lists_go_when_their_latest_value_does() {
    let mut job = job(Sums);
    let at = |time, key| (time, vec![(key, 1)]);
    job.feed(&[at(1, 7), at(9, 7), at(2, 8)], |_, _| ()).unwrap();
    let expired = job.evict_before(5).unwrap();
    assert_eq!((expired.keys, expired.values), (1, 0));
    assert_eq!(job.result(&7).unwrap(), Some((2, 2, Some(1))));
    assert_eq!(job.result(&8).unwrap(), None);
}

#[test]
fn history_beyond_memory_is_fed_preloaded_and_checkpointed() {
    let disk = MemoryDisk::default();
    let open = |disk: MemoryDisk| {
        let spill = Blocks::with_files_of(disk, files_of(4)).unwrap();
        let store = Store::with(6, 400_000, spill, Mixed).unwrap();
        Job::new(Pairs, Median, store)
    };
    let r = &mut Random::new(4);
    let all: Vec<Record> = (0..40_000)
        .map(|time| (time / 10, vec![(r.below(3000), r.below(1000).cast_signed())]))
        .collect();
    let mut job = open(disk.clone());
    job.preload(&all[..20_000]).unwrap();
    // Each entry is read back once a call at most, and here none was there.
    assert_eq!(job.store().traffic().loads, 0);
    assert!(job.store().traffic().evictions > 0);
    job.store().checkpoint(20_000).unwrap();
    job.feed(&all[20_000..30_000], |_, _| ()).unwrap();
    // Killed; what was fed since is fed again.
    drop(job);
    let mut job = open(disk);
    assert_eq!(job.store().epoch(), Some(20_000));
    job.feed(&all[20_000..], |_, _| ()).unwrap();
    job.evict_before(1000).unwrap();
    assert_eq!(results(&mut job), directly(&Median, &all, 1000));
    assert!(job.store().used() <= 400_000);
    assert_eq!(job.store().verify(), Ok(()));
}

#[test]
fn a_sweep_passes_over_an_entry_that_is_too_large() {
    let disk = MemoryDisk::default();
    let open = |budget| {
        let spill = Blocks::with_files_of(disk.clone(), files_of(4)).unwrap();
        Job::new(Pairs, Median, Store::with(4, budget, spill, Mixed).unwrap())
    };
    let mut all: Vec<Record> = (0..20_000).map(|time| (time, vec![(1, 1)])).collect();
    all.extend((0..200).map(|key| (key, vec![(key + 2, 1)])));
    let mut job = open(2_000_000);
    job.feed(&all, |_, _| ()).unwrap();
    job.store().checkpoint(1).unwrap();
    drop(job);
    let mut job = open(300_000);
    let large = job.store().entry_of(&1);
    let beside = (0..100).filter(|key| job.store().entry_of(&(key + 2)) != large).count() as u64;
    for gone in [beside, 0] {
        let (expired, refused) = job.evict_before(100).unwrap_err();
        assert_eq!((expired.keys, expired.values), (gone, gone));
        let told =
            matches!(refused, StoreError::EntryExceedsBudget { entry, .. } if entry == large);
        assert!(told, "{refused:?}");
    }
    assert!(job.results(|_, _| ()).is_err());
    job.store().set_budget(2_000_000).unwrap();
    let expired = job.evict_before(100).unwrap();
    assert_eq!(expired.values, 200 - beside);
    assert_eq!(results(&mut job), directly(&Median, &all, 100));
}

#[test]
fn an_entry_goes_to_another_node_with_its_history() {
    let r = &mut Random::new(6);
    let (history, delta) = (records(r, 200), records(r, 200));
    let (mut from, mut to) = (job(Median), job(Median));
    from.feed(&history, |_, _| ()).unwrap();
    for entry in 0..4 {
        if let Some(bytes) = from.store().export(entry).unwrap() {
            to.store().import(entry, &bytes).unwrap();
            from.store().clear(entry).unwrap();
        }
    }
    let moved = |key: &u64| Place::<u64>::place(&Mixed, key, 3) < 4;
    from.feed_where(&delta, |key| !moved(key), |_, _| ()).unwrap();
    to.feed_where(&delta, moved, |_, _| ()).unwrap();
    let mut both = results(&mut from);
    both.extend(results(&mut to));
    let all: Vec<Record> = history.into_iter().chain(delta).collect();
    assert_eq!(both, directly(&Median, &all, 0));
}

#[test]
fn a_store_that_refuses_gives_back_what_was_not_merged() {
    let mut job = Job::new(Pairs, Median, Store::with(2, 5_000, NoSpill, Mixed).unwrap());
    let all: Vec<Record> = (0..400).map(|key| (0, vec![(key, 1)])).collect();
    let (fed, _) = job.feed(&all, |_, _| ()).unwrap_err();
    assert_eq!(job.store().len(), fed as u64);
    let mut partial = Partial::of(&Pairs, &Median, &all[fed..], |_| true);
    let (rest, _) = job.absorb(partial.take(), |_, _| ()).unwrap_err();
    assert_eq!(job.store().len() + rest.len() as u64, 400);
}

#[test]
fn owners_are_checked() {
    assert!(Owners::new(Mixed, 2, vec![0, 1, 0]).is_err());
    assert!(Owners::new(Mixed, 2, vec![0, 2]).is_err());
    let mut owners = Owners::new(Mixed, 2, vec![0, 0]).unwrap();
    assert!(owners.give(0, 2).is_err() && owners.give(2, 0).is_err());
    owners.give(1, 1).unwrap();
    assert_eq!(owners.by_entry(), [0, 1]);
    assert!(Router::new(Pairs, Sums, owners.clone(), 0).is_err());
    let mut router = Router::new(Pairs, Sums, owners, 1).unwrap();
    // A node without a queue is never forgotten.
    let mut queues: [Bounded<_>; 1] = [Bounded::new(9)];
    for key in 0..40 {
        let _ = router.push(&(0, vec![(key, 1)]), &mut queues);
    }
    assert_eq!(router.flush(&mut queues), Err(Blocked { node: 1 }));
}
