//! One record that stands for all: the least, the greatest, the first, the last.

use core::cmp::Ordering;
use core::marker::PhantomData;

use crate::{Aggregate, Selective};

/// A float in the total order of IEEE 754: −NaN, −∞, …, −0, 0, …, ∞, NaN.
#[derive(Clone, Copy, Debug)]
pub struct Total(pub f64);

impl Ord for Total {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Total {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Total {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Total {}

/// An aggregate that keeps the newer of two records where `$newer` says so.
macro_rules! one_record {
    ($(#[$doc:meta])* $name:ident, $bound:ident, $commutative:expr, $newer:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name<T>(PhantomData<fn(T)>);

        impl<T> $name<T> {
            /// Looks for that record.
            #[must_use]
            pub const fn new() -> Self {
                Self(PhantomData)
            }
        }

        impl<T> Default for $name<T> {
            fn default() -> Self {
                Self::new()
            }
        }

        impl<T: Clone + $bound> $name<T> {
            #[inline]
            fn newer(older: Option<&T>, newer: Option<&T>) -> bool {
                let prefer: fn(&T, &T) -> bool = $newer;
                match (older, newer) {
                    (Some(older), Some(newer)) => prefer(older, newer),
                    (older, _) => older.is_none(),
                }
            }
        }

        impl<T: Clone + $bound> Aggregate for $name<T> {
            type In = T;
            type Acc = Option<T>;
            type Out = Option<T>;

            const COMMUTATIVE: bool = $commutative;

            fn create(&self) -> Option<T> {
                None
            }
            #[inline]
            fn add(&self, acc: &mut Option<T>, record: &T) {
                if Self::newer(acc.as_ref(), Some(record)) {
                    *acc = Some(record.clone());
                }
            }
            #[inline]
            fn merge(&self, older: &Option<T>, newer: &Option<T>) -> Option<T> {
                let prefer: fn(&T, &T) -> bool = $newer;
                match (older, newer) {
                    (Some(older), Some(newer)) => {
                        Some(if prefer(older, newer) { newer.clone() } else { older.clone() })
                    }
                    (Some(_), None) => older.clone(),
                    (None, _) => newer.clone(),
                }
            }
            fn get(&self, acc: &Option<T>) -> Option<T> {
                acc.clone()
            }
            fn same(&self, a: &Option<T>, b: &Option<T>) -> bool {
                a == b
            }
        }
    };
}

one_record! {
    /// The least record, the newest of several (in event time the last to arrive of several in one slice);
    /// `None` only under [`Present`](super::Present).
    Min, Ord, true, |older, newer| newer <= older
}
one_record! {
    /// The greatest record, the newest of several (in event time the last to arrive of several in one slice);
    /// `None` only under [`Present`](super::Present).
    Max, Ord, true, |older, newer| newer >= older
}
one_record! {
    /// The first record; `None` only under [`Present`](super::Present).
    First, PartialEq, false, |_, _| false
}
one_record! {
    /// The last record; `None` only under [`Present`](super::Present).
    Last, PartialEq, false, |_, _| true
}

macro_rules! selective {
    ($($name:ident: $bound:ident),*) => {$(
        impl<T: Clone + $bound> Selective for $name<T> {
            #[inline]
            fn supersedes(&self, newer: &Option<T>, older: &Option<T>) -> bool {
                Self::newer(older.as_ref(), newer.as_ref())
            }
        }
    )*};
}

selective!(Min: Ord, Max: Ord, Last: PartialEq);
