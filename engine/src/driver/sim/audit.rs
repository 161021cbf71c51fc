//! Whether the simulator's own books are right: each place of a queue is one batch's.

use std::collections::BTreeMap;

use super::engine::Engine;
use super::error::SimError;
use super::post::{Count, Parcel, Slot};
use super::seat::At;
use crate::core::ComponentId;

impl Engine<'_> {
    /// Compares the places taken in every queue with the batches that wait there, are on their way to
    /// it, or are done as the step under way ends.
    pub(super) fn audit(&self) -> Result<(), SimError> {
        let mut due: BTreeMap<(Slot, ComponentId), u64> = BTreeMap::new();
        let mut count = |parcel: &Parcel| {
            if let Some((component, life)) = parcel.post.place()
                && parcel.count == Count::Full
                && life == self.net.lives[parcel.to as usize]
            {
                *due.entry((parcel.to, component)).or_default() += 1;
            }
        };
        self.net.calendar.parcels().for_each(&mut count);
        self.net.inboxes.iter().flatten().for_each(&mut count);
        for (slot, seat) in (0..).zip(&self.seats) {
            for &(component, _) in &seat.frees {
                *due.entry((slot, component)).or_default() += 1;
            }
        }
        // What arrives where a worker has stopped or is gone is dropped, and its place with it.
        let works = |slot: &Slot| {
            let at = *slot as usize;
            self.workers[at].is_some() && self.seats[at].at != At::Stopped
        };
        for slot in (0..).take(self.seats.len()).filter(works) {
            for (component, of) in (0..).zip(&self.desk.plan.components) {
                let (taken, waiting) = self.net.queues.of(slot, component);
                let batches = waiting + due.get(&(slot, component)).copied().unwrap_or(0);
                if taken != batches {
                    return Err(SimError::Places {
                        worker: self.seats[slot as usize].worker as usize,
                        component: of.name.clone(),
                        taken,
                        batches,
                        at: self.at(),
                        seed: self.seed,
                    });
                }
            }
        }
        Ok(())
    }
}
