//! What goes out in event time.

use alloc::collections::BTreeMap;

use crate::Change;

/// What is said of a window: its result on time, or a correction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Update<O> {
    /// The end of the window, exclusive.
    pub end: i64,
    /// What holds from there on, until the next end of which something is said.
    pub said: Said<O>,
    /// 0 on time, when the watermark reaches the end. A correction has the number of the record that
    /// makes it, counted from 1 among those that correct something; of what is said of one end, that with the
    /// greatest number holds.
    pub revision: u64,
}

/// What is said from the end of a window on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Said<O> {
    /// The result.
    Value(O),
    /// The window holds no record.
    Empty,
    /// What was said of this end does not hold, and nothing changes there: the result from the
    /// window before goes on. Only corrections of changes of value say so, and of heartbeats.
    Withdrawn,
}

impl<O> Update<O> {
    /// What is said of the window that ends at `end`.
    #[must_use]
    pub const fn new(end: i64, said: Said<O>, revision: u64) -> Self {
        Self { end, said, revision }
    }

    pub(crate) fn on_time(end: i64, value: Option<O>) -> Self {
        Self::new(end, value.map_or(Said::Empty, Said::Value), 0)
    }

    /// The change that is told, `None` for one that is withdrawn.
    pub fn change(self) -> Option<Change<O>> {
        match self.said {
            Said::Value(value) => Some(Change::new(self.end, Some(value))),
            Said::Empty => Some(Change::new(self.end, None)),
            Said::Withdrawn => None,
        }
    }

    /// Writes the update into a reader's record of what holds from which end on.
    pub fn apply(self, told: &mut BTreeMap<i64, Option<O>>) {
        match self.said {
            Said::Value(value) => told.insert(self.end, Some(value)),
            Said::Empty => told.insert(self.end, None),
            Said::Withdrawn => told.remove(&self.end),
        };
    }
}
