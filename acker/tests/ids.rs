//! The id generator and the track ids.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::HashSet;

use acker::{EdgeId, IdGen, RootId, mix};

/// The rank over GF(2): XOR-independent words have full rank.
fn rank(words: &[u64]) -> usize {
    let mut basis = [0u64; 64];
    let mut rank = 0;
    for &word in words {
        let mut word = word;
        while word != 0 {
            let top = word.ilog2() as usize;
            if basis[top] == 0 {
                basis[top] = word;
                rank += 1;
                break;
            }
            word ^= basis[top];
        }
    }
    rank
}

fn take(ids: &mut IdGen, n: usize) -> Vec<u64> {
    (0..n).map(|_| ids.next_id().get()).collect()
}

#[test]
fn b8_a_million_ids_are_distinct_and_in_no_linear_relation() {
    let words = take(&mut IdGen::from_seed(1, 1), 1 << 20);
    assert_eq!(words.iter().collect::<HashSet<_>>().len(), words.len());
    // Consecutive differences of an LCG are in geometric progression modulo 2^64.
    let geometric = words.windows(4).filter(|w| {
        let [a, b, c] = [w[1].wrapping_sub(w[0]), w[2].wrapping_sub(w[1]), w[3].wrapping_sub(w[2])];
        b.wrapping_mul(b) == a.wrapping_mul(c)
    });
    assert_eq!(geometric.count(), 0);
    // Nor has the lowest bit, or any other, a short period.
    for bit in 0..64 {
        let ones = words.iter().filter(|&&word| word >> bit & 1 == 1).count();
        assert!(ones.abs_diff(1 << 19) < 4_000, "bit {bit}: {ones}");
        let flips = words.windows(2).filter(|w| (w[0] ^ w[1]) >> bit & 1 == 1).count();
        assert!(flips.abs_diff(1 << 19) < 4_000, "bit {bit}: {flips}");
    }
}

/// A generator of 48 bits of state gives itself away: the first half of a word is the top of its
/// state, so that one of 65,536 states behind it yields the second half.
#[test]
fn b8_no_half_of_an_id_follows_from_the_other() {
    const MASK: u64 = (1 << 48) - 1;
    let step = |state: u64| state.wrapping_mul(0x5_DEEC_E66D).wrapping_add(11) & MASK;
    let betrayed = |word: u64| {
        (0..1 << 16).any(|low| step((word >> 32) << 16 | low) >> 16 == word & 0xffff_ffff)
    };
    let mut state = 42;
    let weak: Vec<u64> = (0..50)
        .map(|_| {
            let high = step(state);
            state = step(high);
            (high >> 16) << 32 | state >> 16
        })
        .collect();
    assert!(weak.into_iter().all(betrayed));
    // By chance one in 65,536.
    let ours = take(&mut IdGen::from_seed(1, 1), 200);
    assert!(ours.into_iter().filter(|&word| betrayed(word)).count() <= 1);
}

#[test]
fn ids_that_follow_each_other_are_independent_under_xor() {
    for seed in 0..200 {
        let words = take(&mut IdGen::from_seed(seed, seed % 3), 48);
        // Short of full with a chance of 2^-16 for each seed, were they random.
        assert_eq!(rank(&words), 48, "seed {seed}");
    }
    // The paper's example, for contrast.
    assert_eq!(rank(&[0b01010, 0b01011, 0b01100, 0b01101]), 3);
}

#[test]
fn streams_and_seeds_give_other_ids() {
    let mut seen = HashSet::new();
    for seed in 0..32 {
        for stream in 0..32 {
            for word in take(&mut IdGen::from_seed(seed, stream), 64) {
                assert!(seen.insert(word), "seed {seed} stream {stream}");
            }
        }
    }
    assert!(
        rank(&(0..48).map(|s| IdGen::from_seed(0, s).next_id().get()).collect::<Vec<_>>()) > 46
    );
}

#[test]
fn ids_are_the_same_on_every_machine() {
    let words = take(&mut IdGen::from_seed(0, 0), 4);
    assert_eq!(words, GOLDEN_IDS);
    assert_eq!([mix(0, 0), mix(1, 0), mix(0, 1)].map(RootId::get), GOLDEN_TRACKS);
}

const GOLDEN_IDS: [u64; 4] = [
    11_074_704_233_471_194_476,
    5_832_119_717_855_826_679,
    16_555_286_502_242_235_819,
    4_860_548_199_206_941_959,
];
const GOLDEN_TRACKS: [u64; 3] =
    [17_357_087_061_901_283_636, 13_091_579_439_622_055_533, 5_217_449_020_564_802_522];

#[test]
fn attempts_are_roots_of_their_own() {
    let mut seen = HashSet::new();
    for root in (0..4096).chain(u64::MAX - 4096..=u64::MAX) {
        for attempt in (0..8).chain([u32::MAX]) {
            assert!(seen.insert(mix(root, attempt)));
        }
    }
    let spread: Vec<_> = (0..48).map(|root| mix(root, 3).get()).collect();
    assert!(rank(&spread) > 46);
}

#[test]
fn zero_is_no_id() {
    assert_eq!(RootId::new(0), None);
    assert_eq!(EdgeId::new(0), None);
    assert_eq!(EdgeId::new(255).unwrap().to_string(), "00000000000000ff");
    assert_eq!(size_of::<Option<RootId>>(), 8);
}
