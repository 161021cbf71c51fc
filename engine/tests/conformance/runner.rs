//! Runs a property over many cases, each from a seed of its own.

use std::ops::Range;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestCaseResult, TestError, TestRunner};

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Seeds 0 up to `count` times `STREAMWRIGHT_CASES`; with `STREAMWRIGHT_SEED` that one alone.
pub fn seeds(count: u64) -> Range<u64> {
    match number("STREAMWRIGHT_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..count * number("STREAMWRIGHT_CASES").unwrap_or(1),
    }
}

/// Proves `property` over so many [`seeds`]. A failure is shrunk, and printed with its seed; nothing
/// is written anywhere.
pub fn prove<S: Strategy>(count: u64, cases: &S, property: impl Fn(S::Value) -> TestCaseResult) {
    for seed in seeds(count) {
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
