//! What one window end does to one key.

use crate::kernel::Kernel;
use crate::{Aggregate, Emit};

/// The result of the slices held, `None` for none.
pub(crate) fn value<A: Aggregate, T: Copy + Default, Q: Kernel<A, T>>(
    agg: &A,
    slices: &Q,
) -> Option<A::Out> {
    (!slices.is_empty()).then(|| agg.get(&slices.query(agg)))
}

/// Lets `change` take out the slices that are due and then put in those that enter, oldest first.
/// Returns the new result where it is to be told.
///
/// The result before is computed anew rather than kept, which would cost memory for every key:
/// nothing has changed since it was told, so that it is the same to the last bit.
#[inline]
pub(crate) fn turn<A: Aggregate, T: Copy + Default, Q: Kernel<A, T>>(
    agg: &A,
    emit: Emit,
    slices: &mut Q,
    change: impl FnOnce(&A, &mut Q),
) -> Option<Option<A::Out>> {
    let before = match emit {
        Emit::ContentChange => None,
        Emit::ValueChange => Some(value(agg, slices)),
    };
    change(agg, slices);
    let after = value(agg, slices);
    let same = match (&before, &after) {
        (Some(None), None) => true,
        (Some(Some(before)), Some(after)) => agg.same(before, after),
        _ => false,
    };
    (!same).then_some(after)
}
