//! What is to happen when: a heap of small entries, and a store for what they bring along.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::post::{Parcel, Slot};
use crate::core::Nanos;

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    /// A parcel reaches the head of its link.
    Depart(u32),
    /// A parcel arrives.
    Arrive(u32),
    /// A worker may begin a step.
    Go(Slot),
    /// A worker ends its step.
    Done(Slot),
    /// A worker asked to be woken at this time.
    Wake(Slot),
    /// A queue that refused a batch of this worker has room.
    Room(Slot),
    /// The coordinator looks at the time.
    Tick,
    /// A fault of the scenario, by its place there.
    Fault(u32),
    /// A node has been unreachable for too long.
    GiveUp(u32),
    /// The coordinator learns of a crash, by its place among those so far.
    Noticed(u32),
    /// The topology is told to drain.
    Drain,
    /// The topology is told to stop.
    Stop,
}

/// When, in which order, and what.
type Entry = Reverse<(Nanos, u64, Due)>;

/// The calendar of one run. Of two things at one time the one put in first comes first.
#[derive(Debug, Default)]
pub(super) struct Calendar {
    heap: BinaryHeap<Entry>,
    seq: u64,
    parcels: Vec<Option<Parcel>>,
    free: Vec<u32>,
}

impl Calendar {
    pub(super) fn put(&mut self, at: Nanos, due: Due) {
        self.seq += 1;
        self.heap.push(Reverse((at, self.seq, due)));
    }

    /// Puts in a parcel; `due` is told its place in the store.
    pub(super) fn parcel(&mut self, at: Nanos, parcel: Parcel, due: fn(u32) -> Due) {
        let place = if let Some(place) = self.free.pop() {
            self.parcels[place as usize] = Some(parcel);
            place
        } else {
            self.parcels.push(Some(parcel));
            u32::try_from(self.parcels.len() - 1).unwrap_or(u32::MAX)
        };
        self.put(at, due(place));
    }

    /// Takes out the parcels of one sender that leave after `now`: they will not come due.
    pub(super) fn recall(&mut self, from: Slot, now: Nanos) -> Vec<Parcel> {
        let later = |parcel: &mut Parcel| parcel.from == from && parcel.leave > now;
        self.parcels.iter_mut().filter_map(|place| place.take_if(later)).collect()
    }

    /// All parcels in the store.
    pub(super) fn parcels(&self) -> impl Iterator<Item = &Parcel> {
        self.parcels.iter().flatten()
    }

    pub(super) fn next(&mut self) -> Option<(Nanos, Due)> {
        self.heap.pop().map(|Reverse((at, _, due))| (at, due))
    }

    /// Takes a parcel out of the store.
    pub(super) fn take(&mut self, place: u32) -> Option<Parcel> {
        let parcel = self.parcels.get_mut(place as usize)?.take();
        self.free.push(place);
        parcel
    }
}
