//! Windows that are first in, first out, and merge only: the kernels under every key, usable alone.
//!
//! | kernel | merges a push, pop, query | partial results | needs |
//! |---|---|---|---|
//! | [`TwoStacks`] | 1, 1 amortised and n − 2 at worst, 1 | n + 1 | |
//! | [`Daba`] | 3, 2, 1, all at worst | n + 2 | |
//! | [`Few`] | those of recalculation up to N elements, then those of another kernel | | |
//! | [`Finger`] | O(1) each, amortised; elsewhere than at the ends O(log d) | 1.1 n to 1.4 n | |
//! | [`Recalculate`] | 0, 0, n | n | |
//! | [`SubtractOnEvict`] | 1, 1 inverse, 0 | n + 1 | [`Invertible`](crate::Invertible) |
//! | [`Monotone`] | comparisons: 2 amortised and n at worst, 0, 0 | those that may still be a result | [`Selective`](crate::Selective) |
//!
//! n elements are held. Their storage is a ring that grows and shrinks by moving its elements, in
//! amortised constant time a push or pop, without a merge.
//!
//! ```
//! use keywindow::aggregates::Max;
//! use keywindow::kernel::{Kernel, TwoStacks};
//!
//! let max = Max::<i64>::new();
//! let mut fifo = TwoStacks::<_, ()>::new(&max);
//! for x in [3, 9, 4] {
//!     fifo.push(&max, (), Some(x));
//! }
//! assert_eq!(fifo.query(&max), Some(9));
//! fifo.pop(&max);
//! fifo.pop(&max);
//! assert_eq!(fifo.query(&max), Some(4));
//! ```

mod daba;
mod few;
mod finger;
mod masked;
mod monotone;
mod recalculate;
pub(crate) mod ring;
mod subtract;
mod two_stacks;

pub use daba::Daba;
pub use few::Few;
pub use finger::Finger;
pub use monotone::Monotone;
pub use recalculate::Recalculate;
pub use subtract::SubtractOnEvict;
pub use two_stacks::TwoStacks;

use crate::Aggregate;

/// A queue of partial results that knows the merge of all that it holds, oldest first.
///
/// Each element bears a tag: the [`Tick`](crate::Tick) at which it leaves in
/// [`KeyWindow`](crate::KeyWindow), `()` for none in `KeyWindows`. The aggregate comes with each call, so that a million queues need not hold a million of them; it
/// must be the same, or an equal one, in all calls.
pub trait Kernel<A: Aggregate, T: Copy + Default = ()> {
    /// An empty queue.
    fn new(agg: &A) -> Self;
    /// Adds the newest element.
    fn push(&mut self, agg: &A, tag: T, acc: A::Acc);
    /// Removes the oldest element and returns its tag; `None` where there is none.
    fn pop(&mut self, agg: &A) -> Option<T>;
    /// The tag of the oldest element.
    fn oldest(&self) -> Option<T>;
    /// The merge of all elements, `create()` for none.
    fn query(&self, agg: &A) -> A::Acc;
    /// How many elements there are.
    fn len(&self) -> usize;
    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// What the next `pop` will read on the heap, so that a caller with many queues can read it for
    /// all of them beforehand; `None` for nothing.
    fn next_popped(&self) -> Option<&A::Acc> {
        None
    }
    /// What lies beside the place on the heap of the next `push`; `None` for nothing.
    fn newest(&self) -> Option<&A::Acc> {
        None
    }
    /// Bytes on the heap, without those that the partial results may have there.
    fn heap_bytes(&self) -> usize;
}
