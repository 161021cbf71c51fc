//! Public defects of trackers and rings, by their numbers in our list, and what is right: those
//! that have no test of their own elsewhere (`b` and a number in the other files).

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use acker::{
    Applied, Delta, EdgeId, IdGen, Op, Outcome, Ring, RingHash, RootId, Stable, Timeout, Tracker,
    TrackerConfig, Verdict,
};

fn root(bits: u64) -> RootId {
    RootId::new(bits).unwrap()
}

fn ids<const N: usize>(bits: [u64; N]) -> Delta {
    Delta::of(&bits.map(|bits| EdgeId::new(bits).unwrap()))
}

fn tracker(timeout: Timeout) -> Tracker {
    Tracker::new(TrackerConfig { timeout, generations: 8, seed: 1 }).unwrap()
}

fn roots(n: usize) -> impl Iterator<Item = RootId> {
    let mut ids = IdGen::from_seed(42, 0);
    (0..n).map(move |_| root(ids.next_id().get()))
}

/// Acks at 4, 8, 12, 16 and the last at 20, with a time-out of 10: what happened, and when.
fn slow_tree(timeout: Timeout) -> (u64, Outcome) {
    let mut t = tracker(timeout);
    let mut out = Vec::new();
    assert_eq!(t.init(root(1), 3, ids([1])), Ok(Applied::Pending));
    for now in 1..=20 {
        t.advance(now, &mut out);
        if let Some(verdict) = out.pop() {
            return (now, verdict.outcome);
        }
        if now % 4 == 0 {
            let step = now / 4;
            let next = if now == 20 { Delta::EMPTY } else { ids([step + 1]) };
            if let Applied::Verdict(verdict) = t.ack(root(1), ids([step]), next) {
                return (now, verdict.outcome);
            }
        }
    }
    unreachable!("20 ticks are enough");
}

#[test]
fn b6_a_live_tree_does_not_time_out_where_progress_counts_up_to_its_cap() {
    let (at, outcome) = slow_tree(Timeout::After(10));
    assert_eq!((outcome, (10..=11).contains(&at)), (Outcome::TimedOut, true));
    let progress = |cap| slow_tree(Timeout::Progress { idle: 10, cap });
    assert_eq!(progress(100), (20, Outcome::Done));
    let (at, outcome) = progress(15);
    assert_eq!((outcome, (15..=16).contains(&at)), (Outcome::TimedOut, true));
    // Without progress it is idle that ends it.
    let (at, outcome) = slow_tree(Timeout::Progress { idle: 3, cap: 100 });
    assert_eq!((at, outcome), (3, Outcome::TimedOut));
}

/// There is no queue inside that could be full: whoever does not fetch verdicts loses nothing.
#[test]
fn b12_a_tracker_never_waits_for_its_verdicts_to_be_taken() {
    let mut t = tracker(Timeout::After(10));
    let (mut verdicts, mut refused) = (Vec::new(), Vec::new());
    for step in 0..100u64 {
        let ops: Vec<_> = (1..=1_000)
            .flat_map(|n| {
                let root = root(step << 32 | n);
                [Op::init(root, 0, ids([1])), Op::ack(root, ids([1]), Delta::EMPTY)]
            })
            .collect();
        t.apply(&ops, &mut verdicts, &mut refused);
    }
    assert_eq!((verdicts.len(), refused.len(), t.len()), (100_000, 0, 0));
}

#[test]
fn b26_an_added_member_moves_nothing_between_the_old_ones() {
    for n in [6, 100] {
        let before = Ring::with_members(n, 160);
        let mut after = before.clone();
        let moves = after.add(n).unwrap();
        let moved = roots(20_000).filter(|&root| {
            let (old, new) = (before.owner(root), after.owner(root));
            assert!(old == new || new == Some(n));
            assert_eq!(moves.at(before.key(root)).is_some(), old != new);
            old != new
        });
        let expected = 20_000.0 / f64::from(n + 1);
        let off = (moved.count() as f64 - moves.places() as f64 / 2f64.powi(32) * 20_000.0).abs();
        assert!(off < 5.0 * expected.sqrt());
    }
}

/// An index of one byte would repeat the points of every member after 256 of them.
#[test]
fn b27_points_past_the_256th_are_places_of_their_own() {
    for members in [3, 300] {
        let mut places: Vec<_> = (0..members)
            .flat_map(|member| (0..1_024).map(move |index| Stable.point(member, index)))
            .collect();
        let all = places.len();
        places.sort_unstable();
        places.dedup();
        // Two of P share a place with a chance of 2^-32: P^2/2^33 of them.
        assert!((all - places.len()) < 30, "{members}");
        assert!(places.first() < Some(&(1 << 25)) && places.last() > Some(&(u32::MAX - (1 << 25))));
    }
}

/// Ten thousand placements as one number, the same on every machine.
#[test]
fn b28_ten_thousand_placements_are_frozen() {
    let ring = Ring::with_members(100, 160);
    let sum = roots(10_000).fold(0u64, |sum, root| {
        let owner = u64::from(ring.owner(root).unwrap());
        (sum ^ u64::from(ring.key(root)) ^ owner << 32).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    });
    assert_eq!(sum, FROZEN);
}

const FROZEN: u64 = 15_523_320_650_325_586_497;

/// What a removed member had is with the others: nothing is lost from the sum.
#[test]
fn b29_loads_add_up_after_a_member_is_gone() {
    let mut ring = Ring::with_members(5, 160);
    let load = |ring: &Ring| {
        let mut load = [0u32; 5];
        roots(100).for_each(|root| load[ring.owner(root).unwrap() as usize] += 1);
        load
    };
    let before = load(&ring);
    ring.remove(2).unwrap();
    let after = load(&ring);
    assert_eq!((before.iter().sum::<u32>(), after.iter().sum::<u32>(), after[2]), (100, 100, 0));
    assert!(before.iter().zip(after).enumerate().all(|(m, (&old, new))| m == 2 || new >= old));
    assert_eq!(ring.shares().iter().map(|share| share.1).sum::<u64>(), 1 << 32);
}

/// Two members of three points each take all of ten keys.
#[test]
fn b30_every_key_has_an_owner_however_few_the_points() {
    let ring = Ring::with_members(2, 3);
    assert_eq!(roots(10).filter(|&root| ring.owner(root).is_some()).count(), 10);
    assert!(roots(10).all(|root| ring.owners(root, 2).count() == 2));
}

#[test]
fn b33_replicas_are_different_members() {
    let ring = Ring::with_members(4, 100);
    for root in roots(2_000) {
        let mut owners: Vec<_> = ring.owners(root, 3).collect();
        assert_eq!(owners[0], ring.owner(root).unwrap());
        owners.sort_unstable();
        owners.dedup();
        assert_eq!(owners.len(), 3);
        assert_eq!(ring.owners(root, 9).count(), 4);
    }
}

/// Section 3.3's ids, every order of arrival: in how many is the root done too early?
fn unsafe_orders(ids: [u64; 4], split: bool) -> (usize, usize) {
    let [a, b, c, d] = ids.map(|bits| EdgeId::new(bits).unwrap());
    let of = |ids: &[EdgeId]| Delta::of(ids);
    let r = root(0b01001);
    let mut ops = vec![
        Op::init(r, 4, of(&[a, b])),
        Op::ack(r, of(&[a]), of(&[c])),
        Op::ack(r, of(&[b]), of(&[d])),
    ];
    if split {
        ops.extend([Op::ack(r, of(&[c]), Delta::EMPTY), Op::ack(r, of(&[d]), Delta::EMPTY)]);
    } else {
        ops.push(Op::ack(r, of(&[c, d]), Delta::EMPTY));
    }
    let (mut early, mut orders) = (0, 0);
    permute(&mut ops, 0, &mut |ops| {
        let mut t = tracker(Timeout::Never);
        let mut verdicts = Vec::new();
        orders += 1;
        t.apply(&ops[..ops.len() - 1], &mut verdicts, &mut Vec::new());
        early += usize::from(!verdicts.is_empty());
        if verdicts.is_empty() {
            t.apply(&ops[ops.len() - 1..], &mut verdicts, &mut Vec::new());
            let done = Verdict { root: r, task: 4, outcome: Outcome::Done };
            assert_eq!(verdicts, [done]);
        }
    });
    (early, orders)
}

fn permute(ops: &mut Vec<Op>, from: usize, each: &mut impl FnMut(&[Op])) {
    if from == ops.len() {
        return each(ops);
    }
    for at in from..ops.len() {
        ops.swap(from, at);
        permute(ops, from + 1, each);
        ops.swap(from, at);
    }
}

#[test]
fn papers_example_is_unsafe_in_4_of_24_orders_and_ours_in_none() {
    let papers = [0b01010, 0b01011, 0b01100, 0b01101];
    assert_eq!(unsafe_orders(papers, false), (4, 24));
    assert_eq!(unsafe_orders(papers, true), (12, 120));
    for seed in 0..200 {
        let mut generator = IdGen::from_seed(seed, 0);
        let ours = [(); 4].map(|()| generator.next_id().get());
        assert_eq!(unsafe_orders(ours, false), (0, 24));
        assert_eq!(unsafe_orders(ours, true), (0, 120));
    }
}
