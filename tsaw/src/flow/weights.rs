//! The rates and the CPU that a placement makes, or that a guess of what is local does.

use super::{Grouping, Link, Topology};
use crate::error::MAX_TOTAL;
use crate::{BuildError, Placement, TaskGraph, TaskGraphBuilder, TaskId};

/// Which receivers of a local-or-shuffle stream are local to a sender.
#[derive(Clone, Copy)]
pub(super) enum Local<'a> {
    Nobody,
    /// Those on its node.
    Placed(&'a Placement),
    /// Those in the same of so many parts of their component.
    Paired(usize),
}

impl Topology {
    pub(super) fn weighed(&self, local: Local<'_>) -> Result<TaskGraph, BuildError> {
        let first = self.check()?;
        let all = first[self.parts.len()];
        if let Local::Placed(placement) = local
            && placement.nodes().len() != all
        {
            return Err(BuildError::PlacementLength { got: placement.nodes().len(), want: all });
        }
        let mut input: Vec<f64> = Vec::with_capacity(all);
        for part in &self.parts {
            input.extend(std::iter::repeat_n(part.source as f64, part.tasks));
        }
        let mut streams: Vec<(usize, usize, f64)> = Vec::new();
        // In the order of the senders, so that what a component receives is known when it sends.
        let mut order: Vec<&Link> = self.links.iter().collect();
        order.sort_by_key(|link| link.from);
        for link in order {
            let (from, to) = (first[link.from], first[link.to]);
            let (senders, receivers) = (self.parts[link.from].tasks, self.parts[link.to].tasks);
            for sender in 0..senders {
                let rate = input[from + sender] * (link.ratio as f64 / 1e6);
                let is_local = |receiver: &usize| match local {
                    Local::Nobody => false,
                    Local::Placed(placement) => {
                        placement.nodes()[from + sender] == placement.nodes()[to + receiver]
                    }
                    Local::Paired(parts) => {
                        let parts = parts.min(senders).min(receivers);
                        sender * parts / senders == receiver * parts / receivers
                    }
                };
                let near: Vec<usize> = match link.grouping {
                    Grouping::LocalOrShuffle => (0..receivers).filter(is_local).collect(),
                    _ => Vec::new(),
                };
                let sum: f64 = match &link.grouping {
                    Grouping::Fields(shares) => shares.iter().map(|&share| share as f64).sum(),
                    _ => 1.0,
                };
                for receiver in 0..receivers {
                    let part = match &link.grouping {
                        Grouping::Fields(shares) => shares[receiver] as f64 / sum,
                        _ if near.is_empty() => 1.0 / receivers as f64,
                        _ if near.binary_search(&receiver).is_ok() => 1.0 / near.len() as f64,
                        _ => 0.0,
                    };
                    streams.push((from + sender, to + receiver, rate * part));
                    input[to + receiver] += rate * part;
                }
            }
        }
        self.built(&input, &streams)
    }

    fn built(
        &self,
        input: &[f64],
        streams: &[(usize, usize, f64)],
    ) -> Result<TaskGraph, BuildError> {
        let whole = |value: f64| {
            // A float over the limit is one for the builder too.
            #[allow(clippy::cast_sign_loss, reason = "no rate is below zero")]
            let whole = value.round().min(MAX_TOTAL as f64 * 2.0) as u64;
            whole
        };
        let mut builder = TaskGraphBuilder::new();
        let mut input = input.iter();
        for part in &self.parts {
            let component = builder.component(&part.name, part.kind);
            for &received in input.by_ref().take(part.tasks) {
                builder.task(component, whole(received * (part.cpu as f64 / 1e6)));
            }
        }
        for &(from, to, rate) in streams {
            let rate = whole(rate).cast_signed();
            builder.stream(TaskId(from as u32), TaskId(to as u32), rate);
        }
        builder.build()
    }
}
