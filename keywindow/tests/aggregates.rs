//! The aggregates: laws of a monoid, and their stated errors.

#![allow(clippy::unwrap_used)]

mod common;

use std::fmt::Debug;

use common::{List, cases, pairs};
use keywindow::aggregates::{
    Count, First, FloatSum, Last, Max, Mean, Min, Moments, MomentsOf, Overflow, Present, Sum, TopK,
    Total, of,
};
use keywindow::{Aggregate, Emit, WindowSpec};
use proptest::prelude::*;

fn fold<A: Aggregate<In: Sized>>(agg: &A, records: &[A::In]) -> A::Acc {
    let mut acc = agg.create();
    records.iter().for_each(|record| agg.add(&mut acc, record));
    acc
}

/// Cut anywhere and merged in any grouping, the result is that of the whole.
fn is_a_monoid<A: Aggregate<In: Sized, Out: PartialEq + Debug>>(
    agg: &A,
    records: &[A::In],
    (i, j): (usize, usize),
) {
    let (i, j) = (i % (records.len() + 1), j % (records.len() + 1));
    let (i, j) = (i.min(j), i.max(j));
    let [a, b, c] = [&records[..i], &records[i..j], &records[j..]].map(|part| fold(agg, part));
    let whole = agg.get(&fold(agg, records));
    assert_eq!(agg.get(&agg.merge(&agg.merge(&a, &b), &c)), whole);
    assert_eq!(agg.get(&agg.merge(&a, &agg.merge(&b, &c))), whole);
    assert_eq!(agg.get(&agg.merge(&agg.create(), &a)), agg.get(&a));
    assert_eq!(agg.get(&agg.merge(&a, &agg.create())), agg.get(&a));
    assert!(agg.same(&whole, &agg.get(&fold(agg, records))));
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn exact_aggregates_are_monoids(
        records in proptest::collection::vec(any::<i64>(), 0..30), cut in any::<(usize, usize)>(),
    ) {
        is_a_monoid(&Count::new(), &records, cut);
        is_a_monoid(&Sum::<i64>::new(), &records, cut);
        is_a_monoid(&Min::<i64>::new(), &records, cut);
        is_a_monoid(&Max::<i64>::new(), &records, cut);
        is_a_monoid(&First::<i64>::new(), &records, cut);
        is_a_monoid(&Last::<i64>::new(), &records, cut);
        is_a_monoid(&(Count::new(), Sum::<i64>::new(), Max::<i64>::new()), &records, cut);
        for k in [0, 1, 3, 100] {
            is_a_monoid(&TopK::<i64>::new(k), &records, cut);
        }
        let narrow: Vec<i8> = records.iter().map(|&x| x as i8).collect();
        is_a_monoid(&Sum::<i8>::new(), &narrow, cut);
        is_a_monoid(&of(|x: &i64| x.cast_unsigned() as u32, Sum::<u32>::new()), &records, cut);
        let some: Vec<Option<i64>> = records.iter().map(|&x| (x % 3 != 0).then_some(x)).collect();
        is_a_monoid(&Present(Min::<i64>::new()), &some, cut);
        is_a_monoid(&Present(First::<i64>::new()), &some, cut);
        let numbers: Vec<u32> = records.iter().map(|&x| x.cast_unsigned() as u32).collect();
        is_a_monoid(&List, &numbers, cut);
    }

    #[test]
    fn a_sum_is_exact_or_says_what_it_would_be(records in proptest::collection::vec(any::<i64>(), 0..30)) {
        let sum: i128 = records.iter().map(|&x| i128::from(x)).sum();
        let agg = Sum::<i64>::new();
        prop_assert_eq!(agg.get(&fold(&agg, &records)), i64::try_from(sum).map_err(|_| Overflow { sum }));
        let unsigned: Vec<u64> = records.iter().map(|&x| x.cast_unsigned()).collect();
        let sum: i128 = unsigned.iter().map(|&x| i128::from(x)).sum();
        let agg = Sum::<u64>::new();
        prop_assert_eq!(agg.get(&fold(&agg, &unsigned)), u64::try_from(sum).map_err(|_| Overflow { sum }));
        let narrow: Vec<i8> = records.iter().map(|&x| x as i8).collect();
        let sum: i128 = narrow.iter().map(|&x| i128::from(x)).sum();
        let agg = Sum::<i8>::new();
        prop_assert_eq!(agg.get(&fold(&agg, &narrow)), i8::try_from(sum).map_err(|_| Overflow { sum }));
    }

    /// Against sums in 128 bits of numbers that are whole multiples of a power of two.
    #[test]
    fn a_float_sum_is_within_its_bound(
        records in proptest::collection::vec((-(1_i64 << 53)..1 << 53, 0..50_u32), 1..200), cut in any::<usize>(),
    ) {
        let exact: i128 = records.iter().map(|&(x, shift)| i128::from(x) << shift).sum();
        let sizes: i128 = records.iter().map(|&(x, shift)| (i128::from(x) << shift).abs()).sum();
        let floats: Vec<f64> =
            records.iter().map(|&(x, shift)| x as f64 * (1_u64 << shift) as f64).collect();
        let cut = cut % records.len();
        let parts = FloatSum.merge(&fold(&FloatSum, &floats[..cut]), &fold(&FloatSum, &floats[cut..]));
        for acc in [fold(&FloatSum, &floats), parts] {
            let sum = acc.get();
            // Below 2¹¹², so that the float is a whole number of 128 bits.
            let error = (sum as i128 - exact).abs() as f64;
            let (u, n) = (2_f64.powi(-53), records.len() as f64);
            let bound = u * exact.abs() as f64 + 4.0 * n * n * u * u * sizes as f64 * (1.0 + 2.0 * n * u);
            prop_assert!(error <= bound * (1.0 + 1e-9) + 0.5, "{} off by {}, bound {}", exact, error, bound);
        }
    }

    #[test]
    fn moments_are_those_of_whole_numbers(
        records in proptest::collection::vec(-1_000..1_000_i32, 1..100), far in prop_oneof![Just(0_i64), Just(1 << 30)],
        cut in any::<usize>(),
    ) {
        let floats: Vec<f64> = records.iter().map(|&x| (i64::from(x) + far) as f64).collect();
        let cut = cut % floats.len();
        let moments = MomentsOf.merge(&fold(&MomentsOf, &floats[..cut]), &fold(&MomentsOf, &floats[cut..]));
        let n = i64::try_from(records.len()).unwrap();
        let (sum, squares): (i64, i64) = records.iter().fold((0, 0), |(sum, squares), &x| {
            (sum + i64::from(x), squares + i64::from(x) * i64::from(x))
        });
        let mean = far as f64 + sum as f64 / n as f64;
        let variance = (squares * n - sum * sum) as f64 / (n * n) as f64;
        prop_assert!((moments.mean - mean).abs() <= 1e-12 * mean.abs().max(1.0));
        let near = 1e-12 * (variance + 1.0) * if far == 0 { 1.0 } else { 1e9 / (variance + 1.0).sqrt() * 1e-2 + 1.0 };
        prop_assert!((moments.variance() - variance).abs() <= near.max(1e-6 * variance), "{} {}", moments.variance(), variance);
        prop_assert_eq!(moments.sample_variance().is_some(), n > 1);
        if let Some(sample) = moments.sample_variance() {
            prop_assert!((sample * (n - 1) as f64 - moments.squares).abs() <= 1e-9 * moments.squares);
        }
        let whole = Mean.get(&fold(&Mean, &floats));
        prop_assert!((whole - mean).abs() <= 4.0 * f64::EPSILON * mean.abs());
    }
}

#[test]
fn equal_floats_have_no_variance() {
    for x in [0.1, 1e300, -3.7, 1e-300] {
        let moments = fold(&MomentsOf, &[x; 1_000]);
        assert_eq!((moments.count, moments.mean, moments.squares), (1_000, x, 0.0));
    }
    assert!(
        Moments::default().variance().is_nan() && Moments::default().sample_variance().is_none()
    );
}

#[test]
fn infinities_and_nan_count_while_they_are_in_the_window() {
    let inf = f64::INFINITY;
    let records: Vec<_> = (0..)
        .zip([1.0, inf, 2.0, -inf, 3.0, f64::NAN, 4.0, 5.0, f64::MAX, f64::MAX, 6.0, 7.0])
        .collect();
    let spec = WindowSpec::sliding(2, 1).unwrap();
    let told = pairs(FloatSum, spec, Emit::ValueChange, &records);
    let text: Vec<_> = told
        .iter()
        .map(|(end, sum)| {
            format!("{end}:{}", sum.map_or("-".to_owned(), |sum| format!("{sum:.0e}")))
        })
        .collect();
    // Two NaN in a row are no news.
    assert_eq!(
        text.join(" "),
        "1:1e0 2:inf 4:-inf 6:NaN 8:9e0 9:2e308 10:inf 11:2e308 12:1e1 13:7e0 14:-"
    );
    let order = [-f64::NAN, -inf, -1.0, -0.0, 0.0, 1.0, inf, f64::NAN].map(Total);
    assert!(order.is_sorted() && order[3] != order[4] && order[7] == order[7]);
    assert_eq!(
        Max::<Total>::new().get(&fold(&Max::new(), &order)).map(|x| x.0.is_nan()),
        Some(true)
    );
}

/// Whatever is no number, or too large, leaves with its record.
#[test]
fn moments_beyond_floats_are_not_finite_and_come_back() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let spec = WindowSpec::sliding(3, 1).unwrap();
    for strange in [[inf, 1.0], [1.0, inf], [-inf, inf], [nan, 1.0], [1.0, nan], [1e308, -1e308]] {
        let values = [1.0, 2.0].into_iter().chain(strange).chain([7.0, 7.0, 7.0]);
        let records: Vec<_> = (0..).zip(values).collect();
        let told = pairs(MomentsOf, spec, Emit::ContentChange, &records);
        let moments: Vec<_> = told.into_iter().filter_map(|(_, moments)| moments).collect();
        assert_eq!(moments.len(), 9);
        let held = |i: usize| &records[i.saturating_sub(2)..=i.min(6)];
        for (i, moments) in moments.iter().enumerate() {
            let plain = held(i).iter().all(|record| record.1.abs() < 10.0);
            assert_eq!(moments.variance().is_finite(), plain, "{i}: {moments:?} of {:?}", held(i));
            assert!(moments.mean.is_finite() || !plain);
        }
        assert_eq!((moments[6].mean, moments[6].squares), (7.0, 0.0));
    }
}

/// A plain NaN is always news, and one in the total order is not.
#[test]
fn a_last_nan_is_news_once_in_the_total_order() {
    let spec = WindowSpec::sliding(10, 1).unwrap();
    let records = [(0, f64::NAN), (1, f64::NAN), (2, 1.0)];
    let plain = pairs(Last::new(), spec, Emit::ValueChange, &records);
    assert!(plain.iter().map(|told| told.0).eq([1, 2, 3, 13]));
    let ordered = records.map(|(time, x)| (time, Total(x)));
    let told = pairs(Last::new(), spec, Emit::ValueChange, &ordered);
    assert!(told.iter().map(|told| told.0).eq([1, 3, 13]));
}

#[test]
fn the_newest_of_equal_extremes_and_the_oldest_of_equal_tops() {
    #[derive(Clone, Debug)]
    struct Named(u32, char);
    impl PartialEq for Named {
        fn eq(&self, other: &Self) -> bool {
            self.0 == other.0
        }
    }
    impl Eq for Named {}
    impl PartialOrd for Named {
        fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
            Some(self.cmp(other))
        }
    }
    impl Ord for Named {
        fn cmp(&self, other: &Self) -> std::cmp::Ordering {
            self.0.cmp(&other.0)
        }
    }
    let records = [Named(1, 'a'), Named(2, 'b'), Named(1, 'c'), Named(2, 'd')];
    let (left, right) = records.split_at(2);
    let min = Min::new();
    assert_eq!(min.merge(&fold(&min, left), &fold(&min, right)).map(|named| named.1), Some('c'));
    let max = Max::new();
    assert_eq!(max.merge(&fold(&max, left), &fold(&max, right)).map(|named| named.1), Some('d'));
    let top = TopK::new(3);
    let merged = top.merge(&fold(&top, left), &fold(&top, right));
    assert_eq!(merged.iter().map(|named| named.1).collect::<String>(), "bda");
}

#[test]
fn an_overflow_passes_with_the_records_that_make_it() {
    let records = [(0, i64::MAX), (1, 1), (2, -5), (9, 7)];
    let told =
        pairs(Sum::<i64>::new(), WindowSpec::sliding(3, 1).unwrap(), Emit::ContentChange, &records);
    let overflow = Overflow { sum: i128::from(i64::MAX) + 1 };
    assert_eq!(
        told,
        [
            (1, Some(Ok(i64::MAX))),
            (2, Some(Err(overflow))),
            (3, Some(Ok(i64::MAX - 4))),
            (4, Some(Ok(-4))),
            (5, Some(Ok(-5))),
            (6, None),
            (10, Some(Ok(7))),
            (13, None),
        ]
    );
    assert!(overflow.to_string().contains("9223372036854775808"));
}
