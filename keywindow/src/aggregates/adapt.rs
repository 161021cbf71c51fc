//! Aggregates of a field, and of what is there.

use core::marker::PhantomData;

use crate::{Aggregate, Invertible, Selective};

/// An aggregate of one field of the record, made by [`of`].
pub struct Of<R: ?Sized, F, A> {
    field: F,
    agg: A,
    records: PhantomData<fn(&R)>,
}

impl<R: ?Sized, F, A: core::fmt::Debug> core::fmt::Debug for Of<R, F, A> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Of").field("agg", &self.agg).finish_non_exhaustive()
    }
}

impl<R: ?Sized, F: Clone, A: Clone> Clone for Of<R, F, A> {
    fn clone(&self) -> Self {
        Self { field: self.field.clone(), agg: self.agg.clone(), records: PhantomData }
    }
}

/// The aggregate of what `field` makes of a record, so that tuples can have each part of its own
/// field.
///
/// ```
/// use keywindow::aggregates::{Count, Max, Sum, of};
/// use keywindow::{KeyWindow, WindowSpec};
///
/// struct Order {
///     items: i64,
///     cents: u32,
/// }
/// let agg = (
///     Count::new(),
///     of(|order: &Order| order.items, Sum::new()),
///     of(|order: &Order| order.cents, Max::new()),
/// );
/// let mut window = KeyWindow::new(agg, WindowSpec::sliding(100, 5)?);
/// let _ = window.push(3, &Order { items: 2, cents: 900 }, |_| ())?;
/// let _ = window.push(4, &Order { items: 1, cents: 70 }, |_| ())?;
/// window.advance_to(5, |change| assert_eq!(change.value, Some((2, Ok(3), Some(900)))));
/// # Ok::<(), keywindow::Error>(())
/// ```
pub fn of<R: ?Sized, F: Fn(&R) -> A::In, A: Aggregate<In: Sized>>(field: F, agg: A) -> Of<R, F, A> {
    Of { field, agg, records: PhantomData }
}

impl<R: ?Sized, F: Fn(&R) -> A::In, A: Aggregate<In: Sized>> Aggregate for Of<R, F, A> {
    type In = R;
    type Acc = A::Acc;
    type Out = A::Out;

    const COMMUTATIVE: bool = A::COMMUTATIVE;

    fn create(&self) -> A::Acc {
        self.agg.create()
    }
    fn add(&self, acc: &mut A::Acc, record: &R) {
        self.agg.add(acc, &(self.field)(record));
    }
    fn merge(&self, older: &A::Acc, newer: &A::Acc) -> A::Acc {
        self.agg.merge(older, newer)
    }
    fn get(&self, acc: &A::Acc) -> A::Out {
        self.agg.get(acc)
    }
    fn same(&self, a: &A::Out, b: &A::Out) -> bool {
        self.agg.same(a, b)
    }
}

impl<R: ?Sized, F: Fn(&R) -> A::In, A: Invertible<In: Sized>> Invertible for Of<R, F, A> {
    fn unmerge(&self, whole: &mut A::Acc, oldest: &A::Acc) {
        self.agg.unmerge(whole, oldest);
    }
}

impl<R: ?Sized, F: Fn(&R) -> A::In, A: Selective<In: Sized>> Selective for Of<R, F, A> {
    fn supersedes(&self, newer: &A::Acc, older: &A::Acc) -> bool {
        self.agg.supersedes(newer, older)
    }
}

/// An aggregate of the records that are `Some`. Those that are `None` make the window non-empty and
/// count for nothing else, as the nulls of SQL.
#[derive(Clone, Copy, Debug, Default)]
pub struct Present<A>(pub A);

impl<A: Aggregate<In: Sized>> Aggregate for Present<A> {
    type In = Option<A::In>;
    type Acc = A::Acc;
    type Out = A::Out;

    const COMMUTATIVE: bool = A::COMMUTATIVE;

    fn create(&self) -> A::Acc {
        self.0.create()
    }
    fn add(&self, acc: &mut A::Acc, record: &Option<A::In>) {
        if let Some(record) = record {
            self.0.add(acc, record);
        }
    }
    fn merge(&self, older: &A::Acc, newer: &A::Acc) -> A::Acc {
        self.0.merge(older, newer)
    }
    fn get(&self, acc: &A::Acc) -> A::Out {
        self.0.get(acc)
    }
    fn same(&self, a: &A::Out, b: &A::Out) -> bool {
        self.0.same(a, b)
    }
}

impl<A: Invertible<In: Sized>> Invertible for Present<A> {
    fn unmerge(&self, whole: &mut A::Acc, oldest: &A::Acc) {
        self.0.unmerge(whole, oldest);
    }
}

impl<A: Selective<In: Sized>> Selective for Present<A> {
    fn supersedes(&self, newer: &A::Acc, older: &A::Acc) -> bool {
        self.0.supersedes(newer, older)
    }
}
