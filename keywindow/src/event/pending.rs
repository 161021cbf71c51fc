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

    /// Gives back what an empty list has.
    pub(crate) fn give_back(&mut self) {
        if let Self::Few(list) = self
            && list.is_empty()
        {
            list.shrink_to_fit();
        }
    }
}
