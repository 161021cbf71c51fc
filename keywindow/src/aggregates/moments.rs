//! Mean and variance.

use super::float::{Compensated, same};
use crate::Aggregate;

/// The mean of floats: their [`FloatSum`](super::FloatSum) by their number, rounded twice.
///
/// So it differs from the true mean by at most 2u times itself and the bound of that sum's error by
/// the number of records. Sums beyond the range of floats give an infinite mean.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mean;

impl Aggregate for Mean {
    type In = f64;
    type Acc = (u64, Compensated);
    type Out = f64;

    const COMMUTATIVE: bool = true;

    fn create(&self) -> Self::Acc {
        (0, Compensated::default())
    }
    fn add(&self, (count, sum): &mut Self::Acc, record: &f64) {
        *count = count.wrapping_add(1);
        *sum = sum.plus(Compensated::of(*record));
    }
    fn merge(&self, older: &Self::Acc, newer: &Self::Acc) -> Self::Acc {
        (older.0.wrapping_add(newer.0), older.1.plus(newer.1))
    }
    fn get(&self, &(count, sum): &Self::Acc) -> f64 {
        sum.get() / count as f64
    }
    fn same(&self, a: &f64, b: &f64) -> bool {
        same(*a, *b)
    }
}

/// Number, mean and variance of floats.
///
/// Parts are merged by their means and the squares of the differences from them (Chan, Golub,
/// LeVeque 1979), so that nothing cancels where the mean is large and the variance small: the
/// relative error of the variance grows with n·u·√(1 + mean² / variance) and not with its square.
/// Equal records have variance 0 exactly.
///
/// With an infinity or NaN among the records, or two whose difference or its square is beyond the
/// range of floats, the variance is infinite or NaN, and the mean may be; both come back as those leave.
#[derive(Clone, Copy, Debug, Default)]
pub struct MomentsOf;

/// Number, mean and sum of squared differences from the mean.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    /// The number of records.
    pub count: u64,
    /// Their mean.
    pub mean: f64,
    /// The sum of the squares of their differences from it.
    pub squares: f64,
}

impl Moments {
    /// The variance of these records as the whole population; NaN for none.
    #[must_use]
    pub fn variance(&self) -> f64 {
        self.squares / self.count as f64
    }

    /// The unbiased estimate of the variance of what these records are a sample of; `None` below
    /// two of them.
    #[must_use]
    pub fn sample_variance(&self) -> Option<f64> {
        (self.count > 1).then(|| self.squares / (self.count - 1) as f64)
    }

    fn plus(&self, newer: &Self) -> Self {
        if self.count == 0 {
            return *newer;
        }
        if newer.count == 0 {
            return *self;
        }
        let count = self.count.wrapping_add(newer.count);
        let share = newer.count as f64 / count as f64;
        let apart = newer.mean - self.mean;
        Self {
            count,
            mean: self.mean + apart * share,
            squares: self.squares + newer.squares + apart * apart * share * self.count as f64,
        }
    }
}

impl Aggregate for MomentsOf {
    type In = f64;
    type Acc = Moments;
    type Out = Moments;

    const COMMUTATIVE: bool = true;

    fn create(&self) -> Moments {
        Moments::default()
    }
    fn add(&self, acc: &mut Moments, record: &f64) {
        *acc = acc.plus(&Moments { count: 1, mean: *record, squares: 0.0 });
    }
    fn merge(&self, older: &Moments, newer: &Moments) -> Moments {
        older.plus(newer)
    }
    fn get(&self, acc: &Moments) -> Moments {
        *acc
    }
    fn same(&self, a: &Moments, b: &Moments) -> bool {
        a.count == b.count && same(a.mean, b.mean) && same(a.squares, b.squares)
    }
}
