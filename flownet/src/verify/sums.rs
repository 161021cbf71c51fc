//! Sums for the checker: exact for whole numbers, in twice the precision for floats.

use core::fmt::Debug;

/// What a checker must be able to do with an amount.
pub trait Exact: Copy {
    /// Where amounts are added up.
    type Sum: Sum<Self>;

    /// Whether `by` is `more - less`.
    fn is_difference(by: Self, more: Self, less: Self) -> bool;
    /// The largest share of `limit` in those units: whole numbers rounded down, floats to nearest.
    /// `None` if it is out of range.
    fn share(limit: Self, units: f64) -> Option<Self>;
    /// A power of two that keeps sums of about this size from overflowing.
    fn scale(self) -> f64 {
        1.0
    }
}

/// A sum of amounts.
pub trait Sum<T>: Clone + Debug + Default {
    /// Adds an amount, times `scale` for floats.
    fn add(&mut self, amount: T, scale: f64);
    /// Whether it is not too large to be known.
    fn is_sound(&self) -> bool;
    /// Whether it is the same as another, up to what rounding may do.
    fn agrees(&self, other: &Self) -> bool;
    /// Whether it is more than another, by more than rounding may do.
    fn exceeds(&self, other: &Self) -> bool;
}

/// `2^31` amounts of 64 bits fit easily.
impl<T: TryInto<u128>> Sum<T> for u128 {
    fn add(&mut self, amount: T, _: f64) {
        // Negative amounts have been refused by now.
        *self += amount.try_into().unwrap_or(0);
    }

    fn is_sound(&self) -> bool {
        true
    }

    fn agrees(&self, other: &Self) -> bool {
        self == other
    }

    fn exceeds(&self, other: &Self) -> bool {
        self > other
    }
}

/// An unevaluated sum of two floats: about 106 bits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Double {
    high: f64,
    low: f64,
}

/// What one rounding of each amount can move a balance by, and as much again.
const SLACK: f64 = f64::EPSILON;

impl Double {
    fn less(&self, other: &Double) -> f64 {
        (self.high - other.high) + (self.low - other.low)
    }
}

impl Sum<f64> for Double {
    fn add(&mut self, amount: f64, scale: f64) {
        // Knuth's two-sum: `sum + error` is exactly `high + amount`.
        let amount = amount * scale;
        let sum = self.high + amount;
        let part = sum - self.high;
        let error = (self.high - (sum - part)) + (amount - part);
        self.high = sum;
        self.low += error;
    }

    fn is_sound(&self) -> bool {
        self.high.is_finite() && self.low.is_finite()
    }

    fn agrees(&self, other: &Self) -> bool {
        self.less(other).abs() <= SLACK * self.high.max(other.high)
    }

    fn exceeds(&self, other: &Self) -> bool {
        self.less(other) > SLACK * other.high
    }
}

/// `a · b ≤ limit` for `a ≤ 2^64` and `b = m · 2^e`, without rounding.
fn product_fits(a: u128, b: f64, limit: u64) -> bool {
    let bits = b.to_bits();
    let (fraction, exponent) = (bits & 0x000f_ffff_ffff_ffff, (bits >> 52) & 0x7ff);
    let (m, e) = if exponent == 0 {
        (fraction, -1074)
    } else {
        (fraction + 0x0010_0000_0000_0000, exponent.cast_signed() - 1075)
    };
    let product = a * u128::from(m);
    if product == 0 {
        return true;
    }
    if e >= 0 {
        return e < 64 && product <= u128::from(limit >> e);
    }
    // product · 2^e ≤ limit exactly if the product, rounded up to a multiple of 2^-e, is.
    let down = e.unsigned_abs();
    let rounded = if down >= 120 { 1 } else { ((product - 1) >> down) + 1 };
    rounded <= u128::from(limit)
}

/// The largest whole number that [`product_fits`], by halving.
fn whole_share(limit: u64, units: f64) -> Option<u64> {
    // The least that is too large for the type.
    let (mut fits, mut too_much) = (0, 1_u128 << 64);
    if product_fits(too_much, units, limit) {
        return None;
    }
    while too_much - fits > 1 {
        let middle = fits + (too_much - fits) / 2;
        if product_fits(middle, units, limit) {
            fits = middle;
        } else {
            too_much = middle;
        }
    }
    u64::try_from(fits).ok()
}

impl Exact for u64 {
    type Sum = u128;

    fn is_difference(by: Self, more: Self, less: Self) -> bool {
        more.checked_sub(less) == Some(by)
    }

    fn share(limit: Self, units: f64) -> Option<Self> {
        whole_share(limit, units)
    }
}

impl Exact for i64 {
    type Sum = u128;

    fn is_difference(by: Self, more: Self, less: Self) -> bool {
        more.checked_sub(less) == Some(by)
    }

    fn share(limit: Self, units: f64) -> Option<Self> {
        i64::try_from(whole_share(limit.unsigned_abs(), units)?).ok()
    }
}

impl Exact for f64 {
    type Sum = Double;

    fn is_difference(by: Self, more: Self, less: Self) -> bool {
        by == more - less
    }

    fn scale(self) -> f64 {
        if self > 1e300 { 1.0 / (1_u64 << 40) as f64 } else { 1.0 }
    }

    fn share(limit: Self, units: f64) -> Option<Self> {
        let share = limit / units;
        (share.is_finite() && (share > 0.0 || limit == 0.0)).then_some(share)
    }
}
