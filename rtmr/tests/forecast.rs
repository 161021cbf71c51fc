//! Forecasts: the note's vectors, and series on which naive code goes wrong.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::cases;
use proptest::prelude::*;
use rtmr::Error;
use rtmr::forecast::{Ewma, Forecast, Grey11, Holt};

fn grey<const N: usize>(values: &[f64]) -> Grey11<N> {
    let mut model = Grey11::new();
    values.iter().for_each(|&value| model.push(value).unwrap());
    model
}

#[test]
fn gm11_meets_the_vector() {
    let model = grey::<5>(&[2.874, 3.278, 3.337, 3.390, 3.679]);
    let (a, b, shift) = model.fit().unwrap();
    assert!((a + 0.037_204).abs() < 5e-7 && (b - 3.065_363).abs() < 5e-7 && shift == 0.0);
    assert!((model.forecast().unwrap() - 3.7507).abs() < 5e-5);
    // The fitted values by the printed form.
    let fitted = |k: f64| (b - a * 2.874) * (-a * k).exp() * (a.exp() - 1.0) / a;
    for (k, want) in [(1.0, 3.232), (2.0, 3.3545), (3.0, 3.4817), (4.0, 3.6137)] {
        assert!((fitted(k) - want).abs() < 5e-4);
    }
}

/// With a = 0 the printed form divides by it: on four fives naive code tells 4.
#[test]
fn gm11_of_a_constant_is_the_constant() {
    assert_eq!(grey::<4>(&[5.0; 4]).forecast(), Some(5.0));
    assert_eq!(grey::<8>(&[0.1; 8]).forecast().map(|x| (x * 1e9).round()), Some(1e8));
}

#[test]
fn gm11_of_a_burst_and_of_zeros_is_finite_and_not_negative() {
    for values in [[1.0, 0.0, 0.0, 0.0], [0.0; 4], [0.0, 0.0, 0.0, 1.0], [1e300, 0.0, 1e300, 1.0]] {
        let next = grey::<4>(&values).forecast().unwrap();
        assert!(next.is_finite() && next >= 0.0, "{next}");
    }
    assert_eq!(grey::<4>(&[1.0, 0.0, 0.0, 0.0]).forecast(), Some(0.0));
}

#[test]
fn gm11_keeps_the_last_window_and_tells_the_mean_before_it_is_of_use() {
    let mut model = Grey11::<4>::new();
    assert_eq!(model.forecast(), None);
    model.push(1.0).unwrap();
    model.push(3.0).unwrap();
    assert_eq!(model.forecast(), Some(2.0));
    assert_eq!(
        grey::<4>(&[9.0, 1.0, 2.0, 3.0, 4.0, 5.0]).forecast(),
        grey::<4>(&[2.0, 3.0, 4.0, 5.0]).forecast()
    );
}

#[test]
fn smoothing_by_hand() {
    let mut ewma = Ewma::new(0.5).unwrap();
    assert_eq!(ewma.forecast(), None);
    for (value, want) in [(4.0, 4.0), (8.0, 6.0), (0.0, 3.0)] {
        ewma.push(value).unwrap();
        assert_eq!(ewma.forecast(), Some(want));
    }
    let mut holt = Holt::new(0.5, 0.5, 2.0).unwrap();
    for (value, want) in [(4.0, 4.0), (8.0, 8.0), (10.0, 12.0)] {
        holt.push(value).unwrap();
        assert_eq!(holt.forecast(), Some(want));
    }
}

#[test]
fn a_falling_trend_ends_at_zero() {
    let mut holt = Holt::new(1.0, 1.0, 10.0).unwrap();
    [9.0, 5.0, 1.0].iter().for_each(|&value| holt.push(value).unwrap());
    assert_eq!(holt.forecast(), Some(0.0));
}

#[test]
fn bad_values_are_refused_and_change_nothing() {
    let mut all: [Box<dyn Forecast>; 3] = [
        Box::new(Ewma::new(0.5).unwrap()),
        Box::new(Holt::new(0.5, 0.5, 1.0).unwrap()),
        Box::new(Grey11::<4>::new()),
    ];
    for model in &mut all {
        model.push(2.0).unwrap();
        for value in [f64::NAN, f64::INFINITY, -1.0] {
            assert!(matches!(model.push(value), Err(Error::Number { .. })));
        }
        assert_eq!(model.forecast(), Some(2.0));
    }
    for bad in [0.0, -0.1, 1.1, f64::NAN] {
        assert!(Ewma::new(bad).is_err());
        assert!(Holt::new(bad, 0.5, 1.0).is_err() && Holt::new(0.5, bad, 1.0).is_err());
    }
    assert!(Holt::new(0.5, 0.5, f64::NAN).is_err());
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn every_forecast_is_finite_and_not_negative(
        values in prop::collection::vec(prop_oneof![Just(0.0), 0.0..1e6, 0.0..f64::MAX], 1..12)
    ) {
        let mut all: [Box<dyn Forecast>; 3] = [
            Box::new(Ewma::new(0.3).unwrap()),
            Box::new(Holt::new(0.3, 0.9, 5.0).unwrap()),
            Box::new(Grey11::<6>::new()),
        ];
        for model in &mut all {
            for &value in &values {
                model.push(value).unwrap();
                let next = model.forecast().unwrap();
                prop_assert!(next.is_finite() && next >= 0.0, "{} after {:?}", next, values);
            }
        }
    }

    #[test]
    fn gm11_follows_exact_growth(first in 0.1..100.0_f64, rate in -0.4..0.4_f64) {
        // A geometric series is what the model is of, but for its first value.
        let values: Vec<f64> = (0..6).map(|k| first * (rate * f64::from(k)).exp()).collect();
        let next = grey::<6>(&values).forecast().unwrap();
        let exact = first * (rate * 6.0).exp();
        prop_assert!((next / exact - 1.0).abs() < 0.1, "{} and {}", next, exact);
    }
}
