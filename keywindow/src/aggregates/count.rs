//! How many records there are.

use core::marker::PhantomData;

use crate::{Aggregate, Invertible};

/// The number of records, of any type.
#[derive(Clone, Copy, Debug)]
pub struct Count<In: ?Sized>(PhantomData<fn(&In)>);

impl<In: ?Sized> Count<In> {
    /// Counts records.
    #[must_use]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<In: ?Sized> Default for Count<In> {
    fn default() -> Self {
        Self::new()
    }
}

// 2⁶⁴ records cannot come: at one a nanosecond they take 584 years. But a snapshot that was made up may say
// so, and that must be no panic.
impl<In: ?Sized> Aggregate for Count<In> {
    type In = In;
    type Acc = u64;
    type Out = u64;

    const COMMUTATIVE: bool = true;

    fn create(&self) -> u64 {
        0
    }
    fn add(&self, acc: &mut u64, _: &In) {
        *acc = acc.wrapping_add(1);
    }
    fn merge(&self, older: &u64, newer: &u64) -> u64 {
        older.wrapping_add(*newer)
    }
    fn get(&self, acc: &u64) -> u64 {
        *acc
    }
    fn same(&self, a: &u64, b: &u64) -> bool {
        a == b
    }
}

impl<In: ?Sized> Invertible for Count<In> {
    fn unmerge(&self, whole: &mut u64, oldest: &u64) {
        *whole = whole.wrapping_sub(*oldest);
    }
}
