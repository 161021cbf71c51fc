//! Slices that have not entered a window.

use alloc::collections::{BTreeMap, VecDeque};

use crate::Aggregate;

/// Above this many, a list is no place to insert into.
const MANY: usize = 256;

/// Slices by time: a short list, which most keys have, or a map, from which on an insertion costs a
/// logarithm whatever the order.
#[derive(Clone, Debug)]
pub(crate) enum Pending<Acc> {
    Few(VecDeque<(i64, Acc)>),
    Many(BTreeMap<i64, Acc>),
}

impl<Acc> Pending<Acc> {
    pub(crate) const fn new() -> Self {
        Self::Few(VecDeque::new())
    }

    /// Slices in the order of their time, none twice.
    #[cfg(feature = "snapshot")]
    pub(crate) fn of(slices: VecDeque<(i64, Acc)>) -> Self {
        match slices.len() > MANY {
            true => Self::Many(slices.into_iter().collect()),
            false => Self::Few(slices),
        }
    }

    /// Adds a record to the slice of this time.
    #[inline]
    pub(crate) fn add<A: Aggregate<Acc = Acc>>(&mut self, agg: &A, time: i64, record: &A::In) {
        match self {
            Self::Few(list) => {
                let from_end = list.iter().rev().take_while(|slot| slot.0 > time).count();
                let at = list.len() - from_end;
                if let Some((_, acc)) = list.get_mut(at.wrapping_sub(1)).filter(|s| s.0 == time) {
                    return agg.add(acc, record);
                }
                let mut acc = agg.create();
                agg.add(&mut acc, record);
                list.insert(at, (time, acc));
                if list.len() > MANY {
                    *self = Self::Many(core::mem::take(list).into_iter().collect());
                }
            }
            Self::Many(map) => {
                agg.add(map.entry(time).or_insert_with(|| agg.create()), record);
            }
        }
    }

    /// The time of the oldest.
    #[inline]
    pub(crate) fn first(&self) -> Option<i64> {
        match self {
            Self::Few(list) => list.front().map(|slot| slot.0),
            Self::Many(map) => map.first_key_value().map(|slot| *slot.0),
        }
    }

    /// Takes the oldest if it is before `time`.
    #[inline]
    pub(crate) fn take_before(&mut self, time: i64) -> Option<(i64, Acc)> {
        if self.first().is_none_or(|first| first >= time) {
            return None;
        }
        match self {
            Self::Few(list) => list.pop_front(),
            Self::Many(map) => {
                let first = map.pop_first();
                if map.len() <= MANY / 4 {
                    *self = Self::Few(core::mem::take(map).into_iter().collect());
                }
                first
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Few(list) => list.len(),
            Self::Many(map) => map.len(),
        }
    }

    /// Bytes on the heap, those of a map about.
    #[cfg(feature = "keys")]
    pub(crate) fn heap_bytes(&self) -> usize {
        let entries = match self {
            Self::Few(list) => list.capacity(),
            Self::Many(map) => map.len() * 3 / 2,
        };
        entries * size_of::<(i64, Acc)>()
    }
}
