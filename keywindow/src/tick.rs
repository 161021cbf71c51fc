//! What one window end does to one key.

use crate::kernel::Kernel;
use crate::{Aggregate, Emit, Tick};

/// The result of the slices held, `None` for none.
pub(crate) fn value<A: Aggregate, Q: Kernel<A, Tick>>(agg: &A, slices: &Q) -> Option<A::Out> {
    (!slices.is_empty()).then(|| agg.get(&slices.query(agg)))
}

/// At `tick`, lets slices that are due leave and then `entering` ones in, oldest first. Returns the
/// new result where it is to be told.
///
/// The result before is computed anew rather than kept, which would cost memory for every key:
/// nothing has changed since it was told, so that it is the same to the last bit.
#[inline]
pub(crate) fn turn<A: Aggregate, Q: Kernel<A, Tick>>(
    agg: &A,
    emit: Emit,
    slices: &mut Q,
    tick: Tick,
    entering: impl IntoIterator<Item = (Tick, A::Acc)>,
) -> Option<Option<A::Out>> {
    let before = match emit {
        Emit::ContentChange => None,
        Emit::ValueChange => Some(value(agg, slices)),
    };
    while slices.oldest() == Some(tick) {
        slices.pop(agg);
    }
    for (leave, acc) in entering {
        slices.push(agg, leave, acc);
    }
    let after = value(agg, slices);
    let same = match (&before, &after) {
        (Some(None), None) => true,
        (Some(Some(before)), Some(after)) => agg.same(before, after),
        _ => false,
    };
    (!same).then_some(after)
}
