//! What goes out, and what becomes of a record.

/// The result from one window end on, until the next change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Change<O> {
    /// The end of the first window with this result, exclusive, in the caller's unit of time.
    pub end: i64,
    /// The result, or `None` from where the window holds no record.
    pub value: Option<O>,
}

impl<O> Change<O> {
    /// A change to `value` in the window that ends at `end`.
    #[must_use]
    pub const fn new(end: i64, value: Option<O>) -> Self {
        Self { end, value }
    }
}

/// Which windows are told of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Emit {
    /// Every window that does not hold the same records as the window before it: a record has
    /// entered or left. Between two such windows of which the first is not empty lie at most
    /// ⌈size / slide⌉ slides, so that a reader may forget a key after that time without a word.
    #[default]
    ContentChange,
    /// Every window whose result is not the [`same`](crate::Aggregate::same) as that of the window
    /// before it: the shortest list that tells all results. A count can stay the same for ever, so
    /// silence means nothing here. Costs one more look at the result a window.
    ValueChange,
}

/// What became of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use]
#[non_exhaustive]
pub enum Outcome {
    /// It counts in every window that holds it.
    Accepted,
    /// It counts in the windows that hold it and are not final yet; so many of them were.
    Partial {
        /// Windows that hold the record and do not count it.
        missed: u64,
    },
    /// It counts in no window: all that hold it are final, or one of them is under
    /// [`Late::Drop`](crate::Late::Drop).
    Late,
    /// No window holds it: it fell between two windows, which is possible where the slide is
    /// greater than the size.
    Gap,
}
