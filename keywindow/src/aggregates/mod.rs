//! Ready-made aggregates.
//!
//! | aggregate | partial result | exact | besides |
//! |---|---|---|---|
//! | [`Count`] | 8 bytes | yes | `Invertible` |
//! | [`Sum`] of whole numbers | 8 or 16 bytes, twice the width of the records | yes, and checked | `Invertible` |
//! | [`FloatSum`] | 16 bytes | within a stated bound | |
//! | [`Min`], [`Max`], [`Last`] | an `Option` | yes | `Selective` |
//! | [`First`] | an `Option` | yes | |
//! | [`Moments`]: mean and variance | 24 bytes | within a stated bound | |
//! | [`Mean`] | 24 bytes | within a stated bound | |
//! | [`TopK`] | k records | yes | |
//! | `(A, B)` to `(A, B, C, D)` | those of the parts | as the parts | `Invertible` as the parts |
//! | [`Of`] | that of its part | as the part | from a field of the record |
//! | [`Present`] | that of its part | as the part | skips `None` |
//!
//! Floats in [`Min`], [`Max`] and [`TopK`] need an order, and in [`First`] and [`Last`] a NaN that is
//! equal to itself, or it is news each time: [`Total`] has both.

mod adapt;
mod count;
mod extremes;
mod float;
mod moments;
mod sum;
mod top_k;
mod tuples;

pub use adapt::{Of, Present, of};
pub use count::Count;
pub use extremes::{First, Last, Max, Min, Total};
pub use float::{Compensated, FloatSum};
pub use moments::{Mean, Moments, MomentsOf};
pub use sum::{Overflow, Sum, Whole, Wide};
pub use top_k::TopK;
