//! Distinct counts and quantiles of the last hour, at every second, by sketches of other crates.
//!
//! A sketch can be merged and not be taken apart, so it needs windows without an inverse.

use std::error::Error;

use cardinality_estimator::CardinalityEstimator;
use keywindow::{Aggregate, KeyWindow, WindowSpec};
use sketches_ddsketch::{Config, DDSketch};

/// One request: who, and how many milliseconds it took.
struct Request {
    user: u64,
    took: f64,
}

/// About how many users there are.
struct Distinct;

impl Aggregate for Distinct {
    type In = Request;
    type Acc = CardinalityEstimator<u64>;
    type Out = usize;

    fn create(&self) -> Self::Acc {
        CardinalityEstimator::new()
    }
    fn add(&self, acc: &mut Self::Acc, request: &Request) {
        acc.insert(&request.user);
    }
    fn merge(&self, older: &Self::Acc, newer: &Self::Acc) -> Self::Acc {
        let mut both = older.clone();
        both.merge(newer);
        both
    }
    fn get(&self, acc: &Self::Acc) -> usize {
        acc.estimate()
    }
    fn same(&self, a: &usize, b: &usize) -> bool {
        a == b
    }
}

/// The time that 99 of 100 requests stay below, within 1 %.
struct Percentile;

impl Aggregate for Percentile {
    type In = Request;
    type Acc = DDSketch;
    type Out = Option<f64>;

    fn create(&self) -> DDSketch {
        DDSketch::new(Config::defaults())
    }
    fn add(&self, acc: &mut DDSketch, request: &Request) {
        acc.add(request.took);
    }
    fn merge(&self, older: &DDSketch, newer: &DDSketch) -> DDSketch {
        let mut both = older.clone();
        // Sketches of one configuration always merge.
        let merged = both.merge(newer);
        debug_assert!(merged.is_ok());
        both
    }
    fn get(&self, acc: &DDSketch) -> Option<f64> {
        acc.quantile(0.99).ok().flatten()
    }
    fn same(&self, a: &Option<f64>, b: &Option<f64>) -> bool {
        a == b
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let spec = WindowSpec::sliding(3_600, 1)?;
    let mut window = KeyWindow::new((Distinct, Percentile), spec);
    let mut last = None;
    // 5,000 users in turn for two hours, one request a second; every hundredth takes long.
    for second in 0..7_200_u32 {
        let user = u64::from(second) * 7 % 5_000;
        let took = if second % 100 == 0 { 900.0 } else { 20.0 + f64::from(second % 10) };
        let _ = window.push(i64::from(second), &Request { user, took }, |change| {
            last = change.value;
        })?;
    }
    window.advance_to(7_200, |change| last = change.value);
    let (users, slow) = last.ok_or("the window is not empty")?;
    println!("{users} of 3600 users, 99 % below {:.1} ms", slow.ok_or("there are requests")?);
    assert!(users.abs_diff(3_600) < 180, "within 5 %");
    assert!(slow.is_some_and(|slow| (29.0 * 0.98..900.0 * 1.02).contains(&slow)));
    Ok(())
}
