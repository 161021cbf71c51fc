//! Compensated sums of floats.

use crate::Aggregate;

/// The sum of floats, with what rounding lost beside it.
///
/// With u = 2⁻⁵³, n records and no overflow on the way, the result differs from the true sum S by
/// at most u·|S| + 4n²u²·Σ|x| (1 + 2nu), for nu ≤ 1/8: as if it were summed in twice the precision
/// and rounded once. Nothing of records that have left stays behind, as each result is merged from
/// parts that are still there. Different kernels may differ within twice the bound.
///
/// Infinities and NaN count while they are in the window: as in plain addition, an infinity gives
/// that infinity, and two of opposite sign, or a NaN, give NaN. Two results are the same if they
/// are equal or both NaN.
#[derive(Clone, Copy, Debug, Default)]
pub struct FloatSum;

/// A float and what rounding lost of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compensated {
    sum: f64,
    lost: f64,
}

impl Compensated {
    pub(super) fn plus(self, other: Self) -> Self {
        let sum = self.sum + other.sum;
        // Knuth's two-sum: what `sum` lost, exactly, whichever of the two is greater.
        let part = sum - self.sum;
        let lost = (self.sum - (sum - part)) + (other.sum - part);
        // Where the sum is infinite or no number there is nothing to make up for.
        let lost = if sum.is_finite() { self.lost + other.lost + lost } else { 0.0 };
        Self { sum, lost }
    }

    pub(super) fn of(x: f64) -> Self {
        Self { sum: x, lost: 0.0 }
    }

    #[cfg(feature = "snapshot")]
    pub(crate) const fn into_parts(self) -> (f64, f64) {
        (self.sum, self.lost)
    }

    #[cfg(feature = "snapshot")]
    pub(crate) const fn from_parts((sum, lost): (f64, f64)) -> Self {
        Self { sum, lost }
    }

    /// The sum.
    #[must_use]
    pub fn get(self) -> f64 {
        self.sum + self.lost
    }
}

/// Equal, or both NaN.
pub(super) fn same(a: f64, b: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan())
}

impl Aggregate for FloatSum {
    type In = f64;
    type Acc = Compensated;
    type Out = f64;

    const COMMUTATIVE: bool = true;

    fn create(&self) -> Compensated {
        Compensated::default()
    }
    #[inline]
    fn add(&self, acc: &mut Compensated, record: &f64) {
        *acc = acc.plus(Compensated::of(*record));
    }
    #[inline]
    fn merge(&self, older: &Compensated, newer: &Compensated) -> Compensated {
        older.plus(*newer)
    }
    fn get(&self, acc: &Compensated) -> f64 {
        acc.get()
    }
    fn same(&self, a: &f64, b: &f64) -> bool {
        same(*a, *b)
    }
}
