//! The native windows, computed from their definition, and what follows from them.
//!
//! Nothing here shares code with the kernels, the lattice of [`WindowSpec`] or the windows of this
//! crate: ends are computed from size, slide and phase in 128 bits, and each window folds its
//! records anew.

use alloc::vec::Vec;
use core::fmt;

use crate::{Aggregate, Change, Emit, WindowSpec};

/// The windows by their definition.
struct Lattice {
    size: i128,
    slide: i128,
    /// An end.
    end: i128,
}

impl Lattice {
    fn of(spec: &WindowSpec) -> Self {
        let size = i128::from(spec.size());
        Self { size, slide: spec.slide().into(), end: i128::from(spec.phase()) + size }
    }

    /// The least end after the time.
    fn after(&self, time: i128) -> i128 {
        time + self.slide - (time - self.end).rem_euclid(self.slide)
    }

    /// The records in the window with this end. They must be in the order of their time.
    fn window<'a, X>(&self, records: &'a [(i64, X)], end: i128) -> &'a [(i64, X)] {
        let from = records.partition_point(|&(time, _)| i128::from(time) < end - self.size);
        let to = records.partition_point(|&(time, _)| i128::from(time) < end);
        &records[from..to]
    }
}

fn result<A: Aggregate<In: Sized>>(agg: &A, records: &[(i64, A::In)]) -> Option<A::Out> {
    let mut acc = agg.create();
    for (_, record) in records {
        agg.add(&mut acc, record);
    }
    (!records.is_empty()).then(|| agg.get(&acc))
}

/// Every window that holds a record and ends by `until`, with its result: what an engine with native
/// windows sends. `records` must be in the order of their time.
///
/// Takes time in the number of windows and of records in all of them: there are up to n · size /
/// slide windows.
pub fn native<A: Aggregate<In: Sized>>(
    spec: &WindowSpec,
    agg: &A,
    records: &[(i64, A::In)],
    until: i64,
) -> Vec<(i64, A::Out)> {
    let lattice = Lattice::of(spec);
    let mut windows = Vec::new();
    let mut end = i128::from(i64::MIN);
    // From each record to the last end that holds it; then on to the next record.
    for &(time, _) in records {
        end = lattice.after(i128::from(time)).max(end);
        while end - lattice.size <= i128::from(time) && end <= i128::from(until) {
            if let (Some(value), Ok(end)) =
                (result(agg, lattice.window(records, end)), i64::try_from(end))
            {
                windows.push((end, value));
            }
            end += lattice.slide;
        }
    }
    windows
}

/// Every window that ends by `until` and is to be told by `emit`. `records` must be in the order of
/// their time.
///
/// Takes O(n log n) and the number of records in each window with a change of content.
pub fn changes<A: Aggregate<In: Sized>>(
    spec: &WindowSpec,
    agg: &A,
    records: &[(i64, A::In)],
    emit: Emit,
    until: i64,
) -> Vec<Change<A::Out>> {
    let lattice = Lattice::of(spec);
    let times = records.iter().map(|&(time, _)| i128::from(time));
    // Content can only change where a record is in the window for the first time, or no longer.
    let mut ends: Vec<_> = times
        .flat_map(|time| [lattice.after(time), lattice.after(time + lattice.size)])
        .filter(|&end| end <= i128::from(until))
        .collect();
    ends.sort_unstable();
    ends.dedup();
    let mut told = Vec::new();
    for end in ends {
        let before = lattice.window(records, end - lattice.slide);
        let now = lattice.window(records, end);
        // Ranges of one list are equal if they begin and end alike, or are both empty.
        let alike = before.as_ptr_range() == now.as_ptr_range();
        if alike || (before.is_empty() && now.is_empty()) {
            continue;
        }
        let value = result(agg, now);
        if emit == Emit::ValueChange {
            match (&result(agg, before), &value) {
                (None, None) => continue,
                (Some(before), Some(value)) if agg.same(before, value) => continue,
                _ => {}
            }
        }
        if let Ok(end) = i64::try_from(end) {
            told.push(Change { end, value });
        }
    }
    told
}

/// Turns changes, ascending, back into the native windows that end by `until`: each window that is
/// not empty, with its result.
pub fn expand<O: Clone>(
    spec: &WindowSpec,
    changes: impl IntoIterator<Item = Change<O>>,
    until: i64,
) -> impl Iterator<Item = (i64, O)> {
    let slide = spec.slide();
    let mut changes = changes.into_iter().peekable();
    let mut held: Option<(i64, O)> = None;
    core::iter::from_fn(move || {
        loop {
            let next = held.as_ref().map_or(i64::MIN, |&(end, _)| end);
            if let Some(change) = changes.next_if(|change| held.is_none() || change.end <= next) {
                held = change.value.map(|value| (change.end, value));
                continue;
            }
            let (end, value) = held.take().filter(|&(end, _)| end <= until)?;
            held = end.checked_add(slide).map(|next| (next, value.clone()));
            if held.is_none() {
                // The windows end here; what is left of the changes cannot come after.
                changes.by_ref().for_each(drop);
            }
            return Some((end, value));
        }
    })
    .fuse()
}

/// Where a list of changes departs from the native windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The records are not in the order of their time.
    Unsorted {
        /// The first record that is before its predecessor.
        record: usize,
    },
    /// A change is not told.
    Missing {
        /// The end of its window.
        end: i64,
    },
    /// There is no change to tell in this window, or it is told out of order.
    Unexpected {
        /// The end that is told.
        end: i64,
    },
    /// The result that is told is not that of the window.
    WrongValue {
        /// The end of the window.
        end: i64,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Unsorted { record } => {
                write!(f, "record {record} is earlier than the one before it: sort them first")
            }
            Self::Missing { end } => write!(f, "the change in the window to {end} is not told"),
            Self::Unexpected { end } => write!(f, "nothing changes in the window to {end}"),
            Self::WrongValue { end } => write!(f, "the window to {end} has another result"),
        }
    }
}

impl core::error::Error for Fault {}

/// Checks that the changes until `until` are those of the native windows: every one, no other, in
/// order, each with the right result.
///
/// Trusts the records, the aggregate and the definition of a window alone. Takes as long as
/// [`changes`]. Results are compared by [`Aggregate::same`]; those of float sums may differ in the
/// last bits, as they are added in another order: wrap such an aggregate for the check.
///
/// # Errors
///
/// The first [`Fault`].
pub fn verify<A: Aggregate<In: Sized>>(
    spec: &WindowSpec,
    agg: &A,
    records: &[(i64, A::In)],
    emit: Emit,
    until: i64,
    told: &[Change<A::Out>],
) -> Result<(), Fault> {
    if let Some(before) = records.windows(2).position(|pair| pair[0].0 > pair[1].0) {
        return Err(Fault::Unsorted { record: before + 1 });
    }
    let due = changes(spec, agg, records, emit, until);
    let mut told = told.iter();
    for due in due {
        let Some(told) = told.next() else { return Err(Fault::Missing { end: due.end }) };
        if told.end != due.end {
            return Err(match told.end > due.end {
                true => Fault::Missing { end: due.end },
                false => Fault::Unexpected { end: told.end },
            });
        }
        let right = match (&told.value, &due.value) {
            (Some(told), Some(due)) => agg.same(told, due),
            (told, due) => told.is_none() && due.is_none(),
        };
        if !right {
            return Err(Fault::WrongValue { end: due.end });
        }
    }
    match told.next() {
        Some(told) => Err(Fault::Unexpected { end: told.end }),
        None => Ok(()),
    }
}
