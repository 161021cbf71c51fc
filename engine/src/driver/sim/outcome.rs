//! What a simulated run leaves behind.

use std::time::Duration;

use crate::report::Report;

/// The outcome of a simulated run.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct Outcome {
    /// The report, as of a run on threads; its times are virtual.
    pub report: Report,
    /// A hash over what happened, in order: equal for equal runs. It covers every batch and message
    /// (when, from where to where, how large, under tracking of which roots), steps, verdicts, dead
    /// letters and crashes; what is in the items it does not see.
    pub trace: u64,
    /// Events of the run.
    pub events: u64,
    /// The seed that repeats it.
    pub seed: u64,
    /// Figures of every node.
    pub nodes: Vec<NodeStats>,
    /// Figures of every pair of nodes that sent each other anything, in order; within a node, too.
    pub links: Vec<LinkStats>,
    /// Figures of what went wrong.
    pub faults: FaultStats,
    /// Most batches that waited in one queue at once: at most [`Config::queue`](crate::Config::queue).
    pub peak_queue: usize,
    /// Messages that workers dropped as repeats or as of another incarnation.
    pub repeats: u64,
    /// Steps of workers.
    pub steps: u64,
    /// Steps without work that asked to be woken in the past: a fault of the engine.
    pub spins: u64,
}

impl Outcome {
    /// What went between different nodes, all links together.
    #[must_use]
    pub fn between_nodes(&self) -> Traffic {
        let mut sum = Traffic::default();
        for link in self.links.iter().filter(|link| link.from != link.to) {
            let Traffic { batches, tuples, messages, bytes } = link.traffic;
            sum.batches = sum.batches.saturating_add(batches);
            sum.tuples = sum.tuples.saturating_add(tuples);
            sum.messages = sum.messages.saturating_add(messages);
            sum.bytes = sum.bytes.saturating_add(bytes);
        }
        sum
    }
}

/// Figures of one node.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct NodeStats {
    /// Its name.
    pub name: String,
    /// Time that its cores worked, all together.
    pub busy: Duration,
    /// That time as a share of all its cores over the whole run.
    pub utilisation: f64,
    /// Most bytes of batches there at once: in queues, and on their way out.
    pub peak_bytes: u64,
}

/// What went from one node to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LinkStats {
    /// The sending node.
    pub from: usize,
    /// The receiving node.
    pub to: usize,
    /// What was sent; what was lost and what came twice is counted as it was sent.
    pub traffic: Traffic,
    /// Time that the link was putting bytes on its wire.
    pub busy: Duration,
}

/// What was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Traffic {
    /// Batches.
    pub batches: u64,
    /// Tuples in them.
    pub tuples: u64,
    /// Messages of other kinds.
    pub messages: u64,
    /// Bytes of both.
    pub bytes: u64,
}

/// What went wrong, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FaultStats {
    /// Single tuples lost.
    pub lost_tuples: u64,
    /// Batches lost, copies included.
    pub lost_batches: u64,
    /// Tuples in those.
    pub lost_in_batches: u64,
    /// Batches that came twice.
    pub repeated_batches: u64,
    /// Batches that came as of an earlier life.
    pub stale_batches: u64,
    /// Messages lost for good.
    pub lost_messages: u64,
    /// Messages that were lost and sent again.
    pub resent_messages: u64,
    /// Messages that came twice.
    pub repeated_messages: u64,
}
