//! The ring. Names that start with `b` and a number are defects that other rings have had.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::HashSet;

use acker::{Error, IdGen, Ring, RootId, Stable};
use proptest::prelude::*;

const PLACEMENTS: &str = include_str!("data/placements.tsv");

/// Points 69 of member 12 and 72 of member 33 share a place, and this root's key is on it.
const TIED_ROOT: u64 = 5510669612170553574;

fn root(bits: u64) -> RootId {
    RootId::new(bits).unwrap()
}

fn roots(n: usize) -> impl Iterator<Item = RootId> {
    let mut ids = IdGen::from_seed(42, 0);
    (0..n).map(move |_| root(ids.next_id().get()))
}

fn ring_of(members: impl IntoIterator<Item = u32>, points: u32) -> Ring {
    let mut ring = Ring::new(points);
    for member in members {
        ring.add(member).unwrap();
    }
    ring
}

#[test]
fn placements_are_the_same_on_every_machine() {
    let ring = Ring::with_members(6, 160);
    let lines = PLACEMENTS.lines().filter(|line| !line.starts_with('#'));
    let mut seen = 0;
    for line in lines {
        let fields: Vec<u64> = line.split('\t').map(|field| field.parse().unwrap()).collect();
        let root = root(fields[0]);
        assert_eq!(u64::from(Stable::key(root)), fields[1], "{line}");
        assert_eq!(ring.owner(root).map(u64::from), Some(fields[2]), "{line}");
        seen += 1;
    }
    assert_eq!(seen, 200);
}

#[test]
fn b18_a_tie_goes_to_the_smaller_member_and_both_stay() {
    let tied = root(TIED_ROOT);
    assert_eq!(Stable::key(tied), Stable::point(12, 69));
    assert_eq!(Stable::key(tied), Stable::point(33, 72));
    for order in [[12, 33], [33, 12]] {
        let mut ring = ring_of(order, 160);
        assert_eq!(ring.owner(tied), Some(12));
        ring.remove(12).unwrap();
        assert_eq!(ring.owner(tied), Some(33));
        ring.add(12).unwrap();
        assert_eq!(ring.owner(tied), Some(12));
        ring.remove(33).unwrap();
        assert_eq!(ring.owner(tied), Some(12));
    }
}

#[test]
fn b19_the_order_of_adding_does_not_matter() {
    let built = Ring::with_members(3_000, 16);
    let backwards = ring_of((0..3_000).rev(), 16);
    assert_eq!(built, backwards);
}

#[test]
fn b21_a_member_added_twice_is_refused_and_removed_once() {
    let mut ring = ring_of([7, 8], 160);
    let before = ring.clone();
    assert_eq!(ring.add(7), Err(Error::MemberExists { member: 7 }));
    assert_eq!(ring, before);
    ring.remove(7).unwrap();
    assert!(roots(1_000).all(|root| ring.owner(root) == Some(8)));
    assert_eq!(ring.remove(7), Err(Error::UnknownMember { member: 7 }));
}

#[test]
fn b22_an_empty_ring_has_no_owner() {
    let mut ring = Ring::default();
    assert!(ring.is_empty() && ring.shares().is_empty());
    assert_eq!(ring.owner(root(1)), None);
    assert_eq!(ring.owners(root(1), 3).count(), 0);
    ring.add(0).unwrap();
    ring.remove(0).unwrap();
    assert_eq!(ring.owner(root(1)), None);
    assert_eq!(ring, Ring::new(Ring::DEFAULT_POINTS));
}

#[test]
fn members_without_points_own_nothing() {
    let ring = Ring::with_members(3, 0);
    assert_eq!((ring.len(), ring.is_empty()), (3, false));
    assert_eq!(ring.owner(root(1)), None);
    assert_eq!(ring.owners(root(1), 3).count(), 0);
    assert_eq!(ring.shares(), [(0, 0), (1, 0), (2, 0)]);
}

#[test]
fn one_point_owns_everything() {
    let ring = Ring::with_members(1, 1);
    assert_eq!(ring.shares(), [(0, 1 << 32)]);
    assert!(roots(100).all(|root| ring.owner(root) == Some(0)));
}

#[test]
fn shares_agree_with_where_roots_go() {
    let ring = Ring::with_members(6, 160);
    let n = 300_000;
    let mut counts = [0u32; 6];
    for root in roots(n) {
        counts[ring.owner(root).unwrap() as usize] += 1;
    }
    for (member, share) in ring.shares() {
        let p = share as f64 / 2f64.powi(32);
        let sigma = (n as f64 * p * (1.0 - p)).sqrt();
        let off = f64::from(counts[member as usize]) - n as f64 * p;
        assert!(off.abs() < 5.0 * sigma, "member {member}: {off} off, sigma {sigma}");
    }
}

#[test]
fn b35_every_one_of_1200_members_owns_something_and_shares_vary_as_predicted() {
    for (members, points) in [(6, 160), (100, 160), (1_200, 160), (100, 10)] {
        let ring = Ring::with_members(members, points);
        let mean = 2f64.powi(32) / f64::from(members);
        let spread = ring.shares().into_iter().map(|(_, s)| (s as f64 / mean - 1.0).powi(2));
        let cv = (spread.sum::<f64>() / f64::from(members)).sqrt();
        let law = (f64::from(members - 1) / (f64::from(members) * f64::from(points) + 1.0)).sqrt();
        assert!(ring.shares().iter().all(|&(_, share)| share > 0));
        assert!((0.5..1.6).contains(&(cv / law)), "{members} x {points}: {cv} against {law}");
    }
}

/// Points that stand behind the end of the array must not double it.
#[test]
fn a_point_takes_16_bytes_as_built_and_32_at_most() {
    let each = |ring: &Ring, points: u32| {
        // A member takes 12 bytes, in a list that doubles.
        (ring.heap_bytes() - 24 * ring.len().max(2)) as f64 / f64::from(points)
    };
    for members in 6..300 {
        let built = Ring::with_members(members, 160);
        assert!(each(&built, 160 * members) < 16.5, "{members}");
    }
    let mut ring = Ring::new(160);
    for member in 0..300 {
        ring.add(member).unwrap();
        assert!(each(&ring, 160 * (member + 1)) < 18.0, "{member}");
    }
    for member in 0..200 {
        ring.remove(member).unwrap();
        assert!(each(&ring, 160 * (299 - member)) < 33.0, "{member}");
    }
}

fn members() -> impl Strategy<Value = HashSet<u32>> {
    prop::collection::hash_set(prop_oneof![0..40u32, any::<u32>()], 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: std::env::var("PROPTEST_CASES")
            .ok()
            .and_then(|cases| cases.parse().ok())
            .unwrap_or(2_000),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn adding_moves_roots_to_the_new_member_only_and_removing_undoes_it(
        members in members(),
        points in 1..40u32,
        seed in any::<u64>(),
    ) {
        let (&new, old) = members.iter().collect::<Vec<_>>().split_first().map(|(n, o)| (*n, o.to_vec())).unwrap();
        let before = ring_of(old.into_iter().copied(), points);
        let mut after = before.clone();
        after.add(new).unwrap();
        let mut ids = IdGen::from_seed(seed, 0);
        for _ in 0..100 {
            let root = root(ids.next_id().get());
            prop_assert!(after.owner(root) == before.owner(root) || after.owner(root) == Some(new));
        }
        // Exactly, by arcs: nobody else gains, and what the others lose is what it has.
        for (member, share) in before.shares() {
            let now = after.shares().iter().find(|s| s.0 == member).unwrap().1;
            prop_assert!(now <= share);
        }
        after.remove(new).unwrap();
        prop_assert_eq!(after, before);
    }

    #[test]
    fn shares_sum_to_the_whole_ring(members in members(), points in 1..40u32) {
        let ring = ring_of(members, points);
        let shares = ring.shares();
        prop_assert_eq!(shares.iter().map(|share| share.1).sum::<u64>(), 1 << 32);
        prop_assert!(shares.iter().map(|share| share.0).eq(ring.members().map(|m| m.0)));
        prop_assert!(ring.members().map(|member| member.0).is_sorted());
    }

    #[test]
    fn owners_are_distinct_and_begin_with_the_owner(
        members in members(),
        points in 1..40u32,
        bits in 1..u64::MAX,
        n in 0..15usize,
    ) {
        let ring = ring_of(members.iter().copied(), points);
        let owners: Vec<_> = ring.owners(root(bits), n).collect();
        prop_assert_eq!(owners.len(), n.min(members.len()));
        prop_assert_eq!(owners.iter().collect::<HashSet<_>>().len(), owners.len());
        prop_assert_eq!(owners.first().copied(), ring.owner(root(bits)).filter(|_| n > 0));
        // Each next owner is the one that takes over when those before it leave.
        let mut left = ring;
        for owner in owners {
            prop_assert_eq!(left.owner(root(bits)), Some(owner));
            left.remove(owner).unwrap();
        }
    }

    #[test]
    fn a_search_agrees_with_a_walk(members in members(), points in 1..20u32, bits in 1..u64::MAX) {
        let ring = ring_of(members.iter().copied(), points);
        let key = Stable::key(root(bits));
        let walked = members
            .iter()
            .flat_map(|&member| (0..points).map(move |index| (member, index)))
            .min_by_key(|&(member, index)| {
                (Stable::point(member, index).wrapping_sub(key), member, index)
            });
        prop_assert_eq!(ring.owner(root(bits)), walked.map(|(member, _)| member));
    }
}
