//! The bounded queues: one a worker and component, batches on their way to it counted.

use std::collections::VecDeque;

use super::post::Slot;
use crate::core::{ComponentId, Nanos};

/// All queues of a run.
#[derive(Debug)]
pub(super) struct Queues {
    components: usize,
    words: usize,
    capacity: u32,
    queues: Vec<Queue>,
    /// Whether a sender was refused by a queue and not woken since: a bit each.
    noted: Vec<u64>,
    /// Most batches that waited in one queue at once.
    pub(super) peak: usize,
}

#[derive(Debug, Default)]
struct Queue {
    taken: u32,
    /// Since when the places are free that are free again, oldest first.
    freed: VecDeque<Nanos>,
    refused: Vec<Slot>,
    /// Bytes of the batches taken in, in order.
    bytes: VecDeque<u64>,
}

impl Queues {
    pub(super) fn new(workers: u32, components: usize, capacity: usize) -> Self {
        let workers = workers as usize;
        let words = workers.div_ceil(64);
        Queues {
            components,
            words,
            capacity: u32::try_from(capacity).unwrap_or(u32::MAX),
            queues: (0..workers * components).map(|_| Queue::default()).collect(),
            noted: vec![0; workers * components * words],
            peak: 0,
        }
    }

    fn at(&self, slot: Slot, component: ComponentId) -> usize {
        slot as usize * self.components + component as usize
    }

    /// Takes a place at `now` for a batch of `from`, who hears so much later of a place that it is
    /// free.
    ///
    /// # Errors
    /// When `from` will hear of a place that is free already; `None` where none is, and `from` is
    /// noted as one to wake.
    pub(super) fn take(
        &mut self,
        (slot, component): (Slot, ComponentId),
        (from, later): (Slot, Nanos),
        now: Nanos,
    ) -> Result<(), Option<Nanos>> {
        let at = self.at(slot, component);
        let queue = &mut self.queues[at];
        let free = self.capacity.saturating_sub(queue.taken) as usize;
        if free == 0 {
            let word = &mut self.noted[at * self.words + from as usize / 64];
            let bit = 1 << (from % 64);
            if *word & bit == 0 {
                *word |= bit;
                queue.refused.push(from);
            }
            return Err(None);
        }
        // The newest that it knows of: those that are farther away know the older ones. The others
        // were free from the start.
        let known = queue.freed.partition_point(|&since| since.saturating_add(later) <= now);
        if known > 0 {
            queue.freed.remove(known - 1);
        } else if free == queue.freed.len() {
            return Err(queue.freed.front().map(|&since| since.saturating_add(later)));
        }
        queue.taken += 1;
        Ok(())
    }

    /// A copy is taken in: it or its original goes at once, so this is no place of the queue.
    pub(super) fn copy(&mut self, slot: Slot, component: ComponentId) {
        let at = self.at(slot, component);
        let queue = &mut self.queues[at];
        queue.taken += 1;
        if queue.freed.len() > self.capacity.saturating_sub(queue.taken) as usize {
            queue.freed.pop_back();
        }
    }

    /// A batch waits in the queue.
    pub(super) fn wait(&mut self, slot: Slot, component: ComponentId, bytes: u64) {
        let at = self.at(slot, component);
        self.queues[at].bytes.push_back(bytes);
        self.peak = self.peak.max(self.queues[at].bytes.len());
    }

    /// The bytes of the batch that waited longest and is done now.
    pub(super) fn oldest(&mut self, slot: Slot, component: ComponentId) -> u64 {
        let at = self.at(slot, component);
        self.queues[at].bytes.pop_front().unwrap_or(0)
    }

    /// A place is free from `now` on: appends to `wake` whom to wake.
    pub(super) fn free(
        &mut self,
        (slot, component): (Slot, ComponentId),
        now: Nanos,
        wake: &mut Vec<Slot>,
    ) {
        let at = self.at(slot, component);
        let queue = &mut self.queues[at];
        queue.taken = queue.taken.saturating_sub(1);
        if queue.taken < self.capacity {
            queue.freed.push_back(now);
        }
        if queue.refused.is_empty() {
            return;
        }
        wake.append(&mut queue.refused);
        self.noted[at * self.words..(at + 1) * self.words].fill(0);
    }

    /// There are so many seats now.
    pub(super) fn grow(&mut self, slots: usize) {
        self.queues.resize_with(slots * self.components, Queue::default);
        self.words = slots.div_ceil(64);
        self.noted.clear();
        self.noted.resize(self.queues.len() * self.words, 0);
        for (at, queue) in self.queues.iter().enumerate() {
            for &from in &queue.refused {
                self.noted[at * self.words + from as usize / 64] |= 1 << (from % 64);
            }
        }
    }

    /// A worker is gone, and with it what waited there and its places: how many bytes?
    pub(super) fn clear(&mut self, slot: Slot) -> u64 {
        let from = slot as usize * self.components;
        let mut bytes = 0_u64;
        for (at, queue) in (from..).zip(&mut self.queues[from..from + self.components]) {
            bytes = queue.bytes.drain(..).fold(bytes, u64::saturating_add);
            queue.taken = 0;
            queue.freed.clear();
            queue.refused.clear();
            self.noted[at * self.words..(at + 1) * self.words].fill(0);
        }
        bytes
    }

    /// Places taken in one queue, and the batches that wait there.
    pub(super) fn of(&self, slot: Slot, component: ComponentId) -> (u64, u64) {
        let queue = &self.queues[self.at(slot, component)];
        (u64::from(queue.taken), queue.bytes.len() as u64)
    }

    /// Places taken in the queues of these seats.
    pub(super) fn taken(&self, slots: &[Slot]) -> u64 {
        let of = |&slot: &Slot| {
            let from = slot as usize * self.components;
            &self.queues[from..from + self.components]
        };
        slots.iter().flat_map(of).map(|queue| u64::from(queue.taken)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A queue of two places; seat 1 is near, seat 2 hears ten later.
    #[test]
    fn a_free_place_is_known_as_word_of_it_arrives() {
        let mut queues = Queues::new(3, 1, 2);
        let (near, far, to) = ((1, 0), (2, 10), (0, 0));
        // Places that were never taken are known to all.
        assert_eq!(queues.take(to, far, 5), Ok(()));
        assert_eq!(queues.take(to, near, 5), Ok(()));
        assert_eq!((queues.take(to, far, 6), queues.take(to, far, 6)), (Err(None), Err(None)));
        let mut wake = Vec::new();
        queues.free(to, 20, &mut wake);
        assert_eq!(wake, [2]);
        assert_eq!(queues.take(to, far, 29), Err(Some(30)));
        queues.free(to, 25, &mut wake);
        // The near one leaves the older place to the far one.
        assert_eq!(queues.take(to, near, 25), Ok(()));
        assert_eq!(queues.take(to, far, 30), Ok(()));
        assert_eq!(queues.of(0, 0), (2, 0));
    }

    #[test]
    fn copies_take_places_over_the_bound_and_give_them_back() {
        let mut queues = Queues::new(2, 1, 1);
        let (from, to, mut wake) = ((1, 0), (0, 0), Vec::new());
        assert_eq!(queues.take(to, from, 0), Ok(()));
        queues.copy(0, 0);
        queues.free(to, 1, &mut wake);
        assert_eq!(queues.take(to, from, 1), Err(None));
        queues.free(to, 2, &mut wake);
        assert_eq!((queues.take(to, from, 2), wake.as_slice()), (Ok(()), &[1][..]));
        queues.free(to, 3, &mut wake);
        queues.copy(0, 0);
        assert_eq!(queues.take(to, from, 3), Err(None));
    }
}
