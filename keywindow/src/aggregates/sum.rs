//! Checked sums of whole numbers.

use core::fmt;
use core::marker::PhantomData;

use crate::{Aggregate, Invertible};

/// The sum of whole numbers, exact, and checked against the range of their type.
///
/// Partial sums have twice the width. So a sum that is out of range for a while comes back into
/// it, whatever the kernel merges first, and one that is out of range is told as it is. A window
/// of at least 2³² records of 32 bits, all near the limits of their type, could leave the 64 bits
/// of its partial sums; those of 64 bits have 128.
#[derive(Clone, Copy, Debug)]
pub struct Sum<T>(PhantomData<fn(T)>);

impl<T> Sum<T> {
    /// Sums records.
    #[must_use]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T> Default for Sum<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// A sum that its type cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overflow {
    /// The true sum.
    pub sum: i128,
}

impl fmt::Display for Overflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the sum is {}: take a wider type of record", self.sum)
    }
}

impl core::error::Error for Overflow {}

/// A whole number of 128 bits, in two's complement, aligned to 64: in a list beside a tag of 64
/// bits it takes 24 bytes and not 32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wide {
    low: u64,
    high: u64,
}

impl From<i128> for Wide {
    #[inline]
    fn from(value: i128) -> Self {
        let value = value.cast_unsigned();
        Self { low: value as u64, high: (value >> 64) as u64 }
    }
}

impl From<Wide> for i128 {
    #[inline]
    fn from(wide: Wide) -> Self {
        (u128::from(wide.high) << 64 | u128::from(wide.low)).cast_signed()
    }
}

impl From<i64> for Wide {
    #[inline]
    fn from(value: i64) -> Self {
        i128::from(value).into()
    }
}

impl TryFrom<Wide> for i64 {
    type Error = core::num::TryFromIntError;

    #[inline]
    fn try_from(wide: Wide) -> Result<Self, Self::Error> {
        i128::from(wide).try_into()
    }
}

impl TryFrom<Wide> for u64 {
    type Error = core::num::TryFromIntError;

    #[inline]
    fn try_from(wide: Wide) -> Result<Self, Self::Error> {
        i128::from(wide).try_into()
    }
}

impl From<u64> for Wide {
    fn from(value: u64) -> Self {
        Self { low: value, high: 0 }
    }
}

impl core::ops::Add for Wide {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        i128::from(self).wrapping_add(i128::from(other)).into()
    }
}

impl core::ops::Sub for Wide {
    type Output = Self;

    #[inline]
    fn sub(self, other: Self) -> Self {
        i128::from(self).wrapping_sub(i128::from(other)).into()
    }
}

/// A type of whole numbers, with one of twice the width to sum in.
pub trait Whole: Copy + PartialEq + TryFrom<Self::Sum> {
    /// What sums are kept in.
    type Sum: Copy + Default + fmt::Debug + Into<i128>;
    /// The number as a sum.
    fn widen(self) -> Self::Sum;
    /// The sum of both, modulo the width.
    fn plus(a: Self::Sum, b: Self::Sum) -> Self::Sum;
    /// Their difference, modulo the width.
    fn minus(a: Self::Sum, b: Self::Sum) -> Self::Sum;
}

macro_rules! whole {
    ($sum:ty, $plus:expr, $minus:expr; $($t:ty)*) => {$(
        impl Whole for $t {
            type Sum = $sum;
            #[inline]
            fn widen(self) -> $sum {
                self.into()
            }
            #[inline]
            fn plus(a: $sum, b: $sum) -> $sum {
                $plus(a, b)
            }
            #[inline]
            fn minus(a: $sum, b: $sum) -> $sum {
                $minus(a, b)
            }
        }
    )*};
}

whole!(i64, i64::wrapping_add, i64::wrapping_sub; i8 i16 i32 u8 u16 u32);
whole!(Wide, core::ops::Add::add, core::ops::Sub::sub; i64 u64);

impl<T: Whole> Aggregate for Sum<T> {
    type In = T;
    type Acc = T::Sum;
    type Out = Result<T, Overflow>;

    const COMMUTATIVE: bool = true;

    fn create(&self) -> T::Sum {
        T::Sum::default()
    }
    #[inline]
    fn add(&self, acc: &mut T::Sum, record: &T) {
        *acc = T::plus(*acc, record.widen());
    }
    #[inline]
    fn merge(&self, older: &T::Sum, newer: &T::Sum) -> T::Sum {
        T::plus(*older, *newer)
    }
    #[inline]
    fn get(&self, acc: &T::Sum) -> Result<T, Overflow> {
        T::try_from(*acc).map_err(|_| Overflow { sum: (*acc).into() })
    }
    #[inline]
    fn same(&self, a: &Result<T, Overflow>, b: &Result<T, Overflow>) -> bool {
        a == b
    }
}

impl<T: Whole> Invertible for Sum<T> {
    #[inline]
    fn unmerge(&self, whole: &mut T::Sum, oldest: &T::Sum) {
        *whole = T::minus(*whole, *oldest);
    }
}
