//! Sums for the checker: exact for whole numbers, in twice the precision for floats.

use core::fmt::Debug;

/// What a checker must be able to do with an amount.
pub trait Exact: Copy {
    /// Where amounts are added up.
    type Sum: Sum<Self>;
    /// Whether amounts of an answer may have been rounded.
    const ROUNDED: bool;

    /// The worth of the lowest bit that is set; infinite for zero, and for whole numbers.
    fn lowest_bit(self) -> f64 {
        f64::INFINITY
    }

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

/// How floats are added up.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// A power of two that all amounts are multiplied by.
    pub scale: f64,
    /// Amounts below this have been rounded by nobody: 2^53 times the lowest bit of all limits.
    ///
    /// An exact flow is a whole number of times that bit, and a float holds each below 2^53.
    pub rounded_from: f64,
}

/// A sum of amounts.
pub trait Sum<T>: Clone + Debug + Default {
    /// Adds an amount.
    fn add(&mut self, amount: T, rule: Rule);
    /// Whether it is not too large to be known.
    fn is_sound(&self) -> bool;
    /// Whether it is the same as another, up to one rounding of each amount.
    fn agrees(&self, other: &Self) -> bool;
    /// Whether it is more than the limit in `other`, by more than one rounding of each amount.
    fn exceeds(&self, other: &Self) -> bool;
    /// Whether limits that add up to this hold exactly the value in `other`, up to two roundings of
    /// the value.
    fn holds(&self, other: &Self) -> bool;
}

/// `2^31` amounts of 64 bits fit easily.
impl<T: TryInto<u128>> Sum<T> for u128 {
    fn add(&mut self, amount: T, _: Rule) {
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

    fn holds(&self, other: &Self) -> bool {
        self == other
    }
}

/// An unevaluated sum of two floats: about 106 bits.
///
/// `high` is the sum rounded to nearest, and `low` the rest. Amounts that were not rounded add up
/// without any error: 2^30 of them have less than 84 bits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Double {
    high: f64,
    low: f64,
    /// The sum of those amounts that may have been rounded.
    rounded: f64,
    /// How many amounts are not zero.
    count: u32,
}

/// What one rounding can move an amount by, relatively, and a millionth of that for the rounding
/// of `rounded` itself.
const ROUNDING: f64 = 0.5 * f64::EPSILON * (1.0 + 1.0 / (1_u64 << 20) as f64);

impl Double {
    fn less(&self, other: &Double) -> f64 {
        (self.high - other.high) + (self.low - other.low)
    }

    fn is_one(&self) -> bool {
        self.count <= 1
    }
}

impl Sum<f64> for Double {
    fn add(&mut self, amount: f64, rule: Rule) {
        if amount == 0.0 {
            return;
        }
        self.count += 1;
        let scaled = amount * rule.scale;
        // Scaling is exact, but where it ends below the normal numbers.
        if amount >= rule.rounded_from || scaled < f64::MIN_POSITIVE && rule.scale != 1.0 {
            self.rounded += scaled.max(f64::MIN_POSITIVE);
        }
        // Knuth's two-sum: `sum + error` is exactly `high + scaled`.
        let sum = self.high + scaled;
        let part = sum - self.high;
        let error = (self.high - (sum - part)) + (scaled - part);
        let low = self.low + error;
        self.high = sum + low;
        self.low = low - (self.high - sum);
    }

    fn is_sound(&self) -> bool {
        self.high.is_finite() && self.low.is_finite()
    }

    fn agrees(&self, other: &Self) -> bool {
        if self.is_one() && other.is_one() {
            // One exact amount, whatever it is, was rounded the same way twice.
            return self.high == other.high;
        }
        self.less(other).abs() <= ROUNDING * (self.rounded + other.rounded)
    }

    fn exceeds(&self, other: &Self) -> bool {
        // Nothing is rounded past a float above it.
        let most = if self.is_one() { 0.0 } else { ROUNDING * self.rounded };
        self.less(other) > most
    }

    fn holds(&self, other: &Self) -> bool {
        self.less(other).abs() <= 2.0 * ROUNDING * other.rounded
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
    const ROUNDED: bool = false;

    fn is_difference(by: Self, more: Self, less: Self) -> bool {
        more.checked_sub(less) == Some(by)
    }

    fn share(limit: Self, units: f64) -> Option<Self> {
        whole_share(limit, units)
    }
}

impl Exact for i64 {
    type Sum = u128;
    const ROUNDED: bool = false;

    fn is_difference(by: Self, more: Self, less: Self) -> bool {
        more.checked_sub(less) == Some(by)
    }

    fn share(limit: Self, units: f64) -> Option<Self> {
        i64::try_from(whole_share(limit.unsigned_abs(), units)?).ok()
    }
}

impl Exact for f64 {
    type Sum = Double;
    const ROUNDED: bool = true;

    fn lowest_bit(self) -> f64 {
        let bits = self.to_bits();
        if self == 0.0 {
            f64::INFINITY
        } else if bits & ((1 << 52) - 1) == 0 {
            // A power of two: the bit is not written.
            self
        } else {
            // Less the same without its lowest bit; the difference is exact.
            self - f64::from_bits(bits & (bits - 1))
        }
    }

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
