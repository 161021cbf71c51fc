//! The same plans on every platform, with and without the feature `rayon`, on any number of
//! threads: check sums of the moves.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rtmr::balance::{GroupRule, Options, Plan, Search, plan, verify};
use rtmr::instances::{Shape, shaped};

const SHAPES: [Shape; 3] = [Shape::OneToOne, Shape::OneToMany, Shape::ManyToMany];

/// FNV-1a over entries, ends and bytes.
fn sum(plan: &Plan) -> u64 {
    let numbers = plan
        .moves
        .iter()
        .flat_map(|step| {
            [u64::from(step.entry), u64::from(step.from), u64::from(step.to), step.bytes]
        })
        .chain([plan.bytes, plan.steps, plan.lower_bound.to_bits()]);
    numbers.flat_map(u64::to_le_bytes).fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}

fn all() -> Vec<u64> {
    let mut sums = Vec::new();
    for shape in SHAPES {
        for (per_node, sigma) in [(64, 1.0), (64, 2.0), (256, 2.5), (2048, 1.0)] {
            let instance = shaped(shape, 28, per_node, sigma, 7).unwrap();
            let cluster = instance.cluster().unwrap();
            let options = Options { steps: 200_000, seed: 3, ..Options::default() };
            for options in [
                options,
                Options { search: Search::Anneal(rtmr::balance::Anneal::default()), ..options },
                Options { groups: GroupRule::Pairwise, ..options },
            ] {
                let made = plan(&cluster, instance.band, &options).unwrap();
                let _ = verify(&cluster, instance.band, &made).unwrap();
                sums.push(sum(&made));
            }
        }
    }
    sums
}

#[test]
fn plans_are_the_same_everywhere() {
    let sums = all();
    let one = sums.iter().fold(0_u64, |one, sum| one.rotate_left(5) ^ sum);
    assert_eq!(one, GOLDEN, "{one:#018X}");
}

const GOLDEN: u64 = 0x4926_9760_298E_78DF;

/// Threads of a pool do not change a byte.
#[cfg(feature = "rayon")]
#[test]
fn plans_are_the_same_on_any_number_of_threads() {
    let want = all();
    for threads in [1, 2, 8] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool.install(all), want, "{threads} threads");
    }
}
