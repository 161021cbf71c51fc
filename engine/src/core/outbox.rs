//! Sealed batches that wait for room in a queue: one lane an edge, so that a slow component stops
//! only those who send to it.

use std::collections::VecDeque;

use super::{EdgeId, Envelope, WorkerId};

/// The outbox of one worker.
#[derive(Debug)]
pub(crate) struct Outbox {
    lanes: Vec<VecDeque<Envelope>>,
    limit: usize,
    waiting: usize,
    peak: usize,
    numbers: Vec<u64>,
    refused: Vec<WorkerId>,
}

impl Outbox {
    pub(crate) fn new(edges: usize, workers: usize, limit: usize) -> Self {
        Outbox {
            lanes: (0..edges).map(|_| VecDeque::with_capacity(limit.min(1024) + 2)).collect(),
            limit,
            waiting: 0,
            peak: 0,
            numbers: vec![0; workers],
            refused: Vec::with_capacity(workers),
        }
    }

    /// Takes a batch in; never refuses: whoever emits stops at the next tuple.
    pub(crate) fn push(&mut self, envelope: Envelope) {
        self.lanes[envelope.edge as usize].push_back(envelope);
        self.waiting += 1;
        self.peak = self.peak.max(self.waiting);
    }

    /// Whether senders of this edge must stop.
    pub(crate) fn full(&self, edge: EdgeId) -> bool {
        self.lanes[edge as usize].len() >= self.limit
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Most batches that ever waited at once.
    pub(crate) fn peak(&self) -> usize {
        self.peak
    }

    pub(crate) fn waiting(&self) -> impl Iterator<Item = &Envelope> {
        self.lanes.iter().flatten()
    }

    /// Offers every waiting batch; those refused stay, in order. Returns whether any left.
    ///
    /// A batch takes its number as it leaves: one that waits long must not look like a repeat to a
    /// receiver that has seen thousands pass it by on other edges.
    pub(crate) fn offer(&mut self, send: &mut dyn FnMut(Envelope) -> Result<(), Envelope>) -> bool {
        if self.waiting == 0 {
            return false;
        }
        let before = self.waiting;
        for lane in &mut self.lanes {
            self.refused.clear();
            for _ in 0..lane.len() {
                let Some(mut envelope) = lane.pop_front() else { break };
                let to = envelope.to;
                envelope.number = self.numbers[to as usize];
                if self.refused.contains(&to) {
                    lane.push_back(envelope);
                } else if let Err(back) = send(envelope) {
                    self.refused.push(to);
                    lane.push_back(back);
                } else {
                    self.numbers[to as usize] += 1;
                    self.waiting -= 1;
                }
            }
        }
        self.waiting < before
    }
}
