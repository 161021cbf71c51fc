//! Sealed batches that wait for room in a queue: one lane an edge and receiver, so that a slow
//! component stops only those who send to it.

use std::collections::VecDeque;

use super::{EdgeId, Envelope};

/// The outbox of one worker.
#[derive(Debug)]
pub(crate) struct Outbox {
    edges: Vec<Lanes>,
    limit: usize,
    waiting: usize,
    peak: usize,
    numbers: Vec<u64>,
}

/// What waits at one edge, by receiving worker.
#[derive(Debug)]
struct Lanes {
    to: Vec<VecDeque<Envelope>>,
    waiting: usize,
}

/// Among so few workers, lanes have their memory from the start.
const FEW: usize = 16;

impl Outbox {
    pub(crate) fn new(edges: usize, workers: usize, limit: usize) -> Self {
        let room = if workers <= FEW { limit.min(1024) + 2 } else { 0 };
        let lanes = || Lanes {
            to: (0..workers).map(|_| VecDeque::with_capacity(room)).collect(),
            waiting: 0,
        };
        Outbox {
            edges: (0..edges).map(|_| lanes()).collect(),
            limit,
            waiting: 0,
            peak: 0,
            numbers: vec![0; workers],
        }
    }

    /// Takes a batch in; never refuses: whoever emits stops at the next tuple.
    pub(crate) fn push(&mut self, envelope: Envelope) {
        let lanes = &mut self.edges[envelope.edge as usize];
        lanes.to[envelope.to as usize].push_back(envelope);
        lanes.waiting += 1;
        self.waiting += 1;
        self.peak = self.peak.max(self.waiting);
    }

    /// Whether senders of this edge must stop.
    pub(crate) fn full(&self, edge: EdgeId) -> bool {
        self.edges[edge as usize].waiting >= self.limit
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Most batches that ever waited at once.
    pub(crate) fn peak(&self) -> usize {
        self.peak
    }

    pub(crate) fn waiting(&self) -> impl Iterator<Item = &Envelope> {
        self.edges.iter().flat_map(|lanes| lanes.to.iter().flatten())
    }

    /// Offers the waiting batches in order, to each receiver until it refuses one. Returns whether
    /// any left.
    ///
    /// A batch takes its number as it leaves: one that waits long must not look like a repeat to a
    /// receiver that has seen thousands pass it by on other edges.
    pub(crate) fn offer(&mut self, send: &mut dyn FnMut(Envelope) -> Result<(), Envelope>) -> bool {
        let before = self.waiting;
        for lanes in self.edges.iter_mut().filter(|lanes| lanes.waiting > 0) {
            for (lane, number) in lanes.to.iter_mut().zip(&mut self.numbers) {
                while let Some(mut envelope) = lane.pop_front() {
                    envelope.number = *number;
                    if let Err(back) = send(envelope) {
                        lane.push_front(back);
                        break;
                    }
                    *number += 1;
                    lanes.waiting -= 1;
                    self.waiting -= 1;
                }
                if lane.is_empty() && lane.capacity() > 4 * (self.limit + 2) {
                    // One call sent far more than a queue holds: that memory is not kept.
                    *lane = VecDeque::new();
                }
            }
        }
        self.waiting < before
    }
}
