//! The bounded queues: one a worker and component, batches on their way to it counted.

use std::collections::VecDeque;

use crate::core::{ComponentId, WorkerId};

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
    refused: Vec<WorkerId>,
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

    fn at(&self, worker: WorkerId, component: ComponentId) -> usize {
        worker as usize * self.components + component as usize
    }

    /// Takes a place for a batch of `from`, or notes whom to wake.
    pub(super) fn take(
        &mut self,
        worker: WorkerId,
        component: ComponentId,
        from: WorkerId,
    ) -> bool {
        let at = self.at(worker, component);
        let queue = &mut self.queues[at];
        if queue.taken >= self.capacity {
            let word = &mut self.noted[at * self.words + from as usize / 64];
            let bit = 1 << (from % 64);
            if *word & bit == 0 {
                *word |= bit;
                queue.refused.push(from);
            }
            return false;
        }
        queue.taken += 1;
        true
    }

    /// A copy is taken in: it or its original goes at once, so this is no place of the queue.
    pub(super) fn copy(&mut self, worker: WorkerId, component: ComponentId) {
        let at = self.at(worker, component);
        self.queues[at].taken += 1;
    }

    /// A batch waits in the queue.
    pub(super) fn wait(&mut self, worker: WorkerId, component: ComponentId, bytes: u64) {
        let at = self.at(worker, component);
        self.queues[at].bytes.push_back(bytes);
        self.peak = self.peak.max(self.queues[at].bytes.len());
    }

    /// The bytes of the batch that waited longest and is done now.
    pub(super) fn oldest(&mut self, worker: WorkerId, component: ComponentId) -> u64 {
        let at = self.at(worker, component);
        self.queues[at].bytes.pop_front().unwrap_or(0)
    }

    /// A place is free: appends to `wake` whom to wake.
    pub(super) fn free(
        &mut self,
        worker: WorkerId,
        component: ComponentId,
        wake: &mut Vec<WorkerId>,
    ) {
        let at = self.at(worker, component);
        let queue = &mut self.queues[at];
        queue.taken = queue.taken.saturating_sub(1);
        if queue.refused.is_empty() {
            return;
        }
        wake.append(&mut queue.refused);
        self.noted[at * self.words..(at + 1) * self.words].fill(0);
    }

    /// Places taken, all queues together.
    pub(super) fn taken(&self) -> u64 {
        self.queues.iter().map(|queue| u64::from(queue.taken)).sum()
    }
}
