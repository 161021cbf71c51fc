//! Runs a property over many cases, each from a seed of its own.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestCaseResult, TestError, TestRunner};

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
        match TestRunner::new(config).run(cases, &property) {
            Ok(()) => {}
            Err(TestError::Fail(reason, case)) => panic!(
                "{reason}\nshrunk case: {case:?}\nseed {seed}: STREAMWRIGHT_SEED={seed} repeats it"
            ),
            Err(TestError::Abort(reason)) => panic!("seed {seed} is no case: {reason}"),
        }
    }
}
