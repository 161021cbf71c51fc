//! The three number types of capacities, each as an exact dyadic number.

use core::fmt::{Debug, Display};

use crate::verify::sums::Exact;

/// A capacity in `u64`, `i64` or `f64`; sealed.
///
/// Valid capacities are zero or more, and finite; [`Limit::Unbounded`] stands for "no limit".
/// Every valid capacity is `m · 2^e` with whole `m` and `e`, and that is how the solvers take it:
/// they add and subtract whole numbers only, so that they are exact and end for `f64` as well.
///
/// # Floats
/// An `f64` of an [`Answer`](crate::Answer) is the exact amount, rounded once to nearest. So what
/// amounts add up to may be off by 2^-53 of each that was rounded: of parallel arcs as of the arcs
/// at a node. [`verify`](crate::verify) allows that much and no more; where V nodes lie one after
/// another that the whole value passes in several rounded amounts each, it adds up to V · 2^-52 of
/// the value, and so far the true maximum may lie below a value that passed. None of this is so
/// where each limit is a whole number of times some power of two, and all amounts are below 2^53
/// times that: there sums and the proof are exact, as for whole numbers.
pub trait Capacity: Copy + PartialOrd + Debug + Display + Exact + Dyadic + 'static {
    /// Nothing.
    const ZERO: Self;

    /// Whether it is zero or more, and finite.
    fn is_valid(self) -> bool;
}

/// How a capacity becomes a whole number on a grid of step `2^k`, and comes back.
pub trait Dyadic: Sized {
    /// The largest number, as text.
    const LARGEST: &'static str;
    /// `(m, e)` with `self = m · 2^e`, not reduced; `m` is zero for zero.
    fn dyadic(self) -> (u64, i32);
    /// `whole · 2^k`, rounded to nearest; `None` if that is too large.
    fn from_grid(whole: u128, k: i32) -> Option<Self>;
    /// `self / units`: whole numbers are rounded down, floats to nearest. `None` if the result is
    /// too large, or if a positive float becomes zero.
    fn divide(self, units: f64) -> Option<Self>;
    /// `self - other`, where `other ≤ self`.
    fn minus(self, other: Self) -> Self;
}

/// A capacity, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit<C> {
    /// At most this much.
    Finite(C),
    /// As much as there is.
    Unbounded,
}

impl<C> From<C> for Limit<C> {
    fn from(capacity: C) -> Self {
        Limit::Finite(capacity)
    }
}

impl<C: Capacity> Limit<C> {
    pub(crate) fn is_positive(self) -> bool {
        match self {
            Limit::Finite(c) => c > C::ZERO,
            Limit::Unbounded => true,
        }
    }
}

/// The mantissa and exponent of a positive, finite float: `m · 2^e`, not reduced.
pub(crate) fn parts(x: f64) -> (u64, i32) {
    let bits = x.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    // Eleven bits: the cast cannot lose any.
    let exponent = ((bits >> 52) & 0x7ff) as i32;
    if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) }
}

/// A capacity as a float, rounded to nearest.
pub(crate) fn to_f64<C: Capacity>(capacity: C) -> f64 {
    let (m, e) = capacity.dyadic();
    // No capacity is larger than the largest float.
    f64::from_grid(u128::from(m), e).unwrap_or(f64::MAX)
}

/// `2^k` for `-1074 ≤ k ≤ 1023`.
fn power(k: i32) -> f64 {
    debug_assert!((-1074..=1023).contains(&k));
    let bits = if k >= -1022 { i64::from(k + 1023) << 52 } else { 1 << (k + 1074) };
    f64::from_bits(bits.cast_unsigned())
}

/// `⌊c / units⌋`, by long division of exact numbers.
fn floor_quotient(c: u64, units: f64) -> Option<u64> {
    let (m, e) = parts(units);
    if m == 0 {
        return None;
    }
    if e >= 0 {
        return Some(if e >= 64 { 0 } else { (c >> e) / m });
    }
    let (wide, shift) = (u128::from(c), e.unsigned_abs());
    // Past the leading zeros the quotient is above 2^127 / 2^53.
    if c != 0 && shift > wide.leading_zeros() {
        return None;
    }
    let quotient = wide.checked_shl(shift).unwrap_or(0) / u128::from(m);
    u64::try_from(quotient).ok()
}

impl Capacity for u64 {
    const ZERO: Self = 0;

    fn is_valid(self) -> bool {
        true
    }
}

impl Dyadic for u64 {
    const LARGEST: &'static str = "18446744073709551615";

    fn dyadic(self) -> (u64, i32) {
        (self, 0)
    }

    fn from_grid(whole: u128, k: i32) -> Option<Self> {
        let shift = u32::try_from(k).ok()?;
        if whole == 0 {
            return Some(0);
        }
        let fits = shift <= whole.leading_zeros();
        u64::try_from(if fits { whole << shift } else { u128::MAX }).ok()
    }

    fn divide(self, units: f64) -> Option<Self> {
        floor_quotient(self, units)
    }

    fn minus(self, other: Self) -> Self {
        self - other
    }
}

impl Capacity for i64 {
    const ZERO: Self = 0;

    fn is_valid(self) -> bool {
        self >= 0
    }
}

impl Dyadic for i64 {
    const LARGEST: &'static str = "9223372036854775807";

    fn dyadic(self) -> (u64, i32) {
        (self.unsigned_abs(), 0)
    }

    fn from_grid(whole: u128, k: i32) -> Option<Self> {
        i64::try_from(u64::from_grid(whole, k)?).ok()
    }

    fn divide(self, units: f64) -> Option<Self> {
        i64::try_from(floor_quotient(self.unsigned_abs(), units)?).ok()
    }

    fn minus(self, other: Self) -> Self {
        self - other
    }
}

impl Capacity for f64 {
    const ZERO: Self = 0.0;

    fn is_valid(self) -> bool {
        self >= 0.0 && self.is_finite()
    }
}

impl Dyadic for f64 {
    const LARGEST: &'static str = "1.7976931348623157e308";

    fn dyadic(self) -> (u64, i32) {
        parts(self.abs())
    }

    fn from_grid(whole: u128, k: i32) -> Option<Self> {
        if whole == 0 {
            return Some(0.0);
        }
        // Rounded once: the product below is exact, as no grid is finer than 2^-1074.
        let mut x = whole as f64;
        let mut k = k;
        while k > 1023 {
            x *= power(1023);
            k -= 1023;
        }
        x *= power(k);
        x.is_finite().then_some(x)
    }

    fn divide(self, units: f64) -> Option<Self> {
        let quotient = self / units;
        let lost = quotient == 0.0 && self > 0.0;
        (quotient.is_finite() && !lost).then_some(quotient)
    }

    fn minus(self, other: Self) -> Self {
        self - other
    }
}
