//! Runs a property over many cases, each from a seed of its own.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestCaseResult, TestRunner};

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Proves `property` over `count` cases, times `STREAMWRIGHT_CASES`; with `STREAMWRIGHT_SEED` over
/// that one alone. A failure is shrunk, and printed with its seed; nothing is written anywhere.
pub fn prove<S: Strategy>(count: u64, cases: &S, property: impl Fn(S::Value) -> TestCaseResult) {
    let one = number("STREAMWRIGHT_SEED");
    let seeds = match one {
        Some(seed) => seed..seed + 1,
        None => 0..count * number("STREAMWRIGHT_CASES").unwrap_or(1),
    };
    for seed in seeds {
        let config = Config {
            cases: 1,
            failure_persistence: None,
            rng_seed: RngSeed::Fixed(seed),
            max_shrink_iters: 4000,
            ..Config::default()
        };
        if let Err(failure) = TestRunner::new(config).run(cases, &property) {
            panic!("{failure:#}\nseed {seed}: STREAMWRIGHT_SEED={seed} repeats it");
        }
    }
}
