//! `--driver sim`: runs the demo in virtual time, and tells what only such a run has.

use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use streamwright::sim::{FaultStats, Outcome};

/// What only a simulated run has: a part of the summary.
#[derive(Debug, Serialize)]
pub(super) struct Simulated {
    /// The cluster file, as far as its path is UTF-8.
    pub(super) cluster: String,
    /// The seed of the network's chances.
    pub(super) seed: u64,
    /// A hash over all that happened, in hexadecimal: equal for equal runs.
    pub(super) trace: String,
    /// Events of the run.
    pub(super) events: u64,
    /// Tuples that went between different nodes.
    pub(super) tuples: u64,
    /// Bytes that went between different nodes.
    pub(super) bytes: u64,
    /// Figures of every node.
    pub(super) nodes: Vec<Node>,
    /// Figures of every pair of nodes that sent each other anything.
    pub(super) links: Vec<Link>,
    /// What went wrong, counted.
    pub(super) faults: Faults,
}

/// One node.
#[derive(Debug, Serialize)]
pub(super) struct Node {
    /// Its name.
    pub(super) name: String,
    /// Time that its cores worked, all together.
    pub(super) busy_us: u64,
    /// That as a share of all of them over the whole run.
    pub(super) utilisation: Option<f64>,
    /// Most bytes of batches there at once.
    pub(super) peak_bytes: u64,
}

/// One direction between two nodes, or within one.
#[derive(Debug, Serialize)]
pub(super) struct Link {
    from: String,
    to: String,
    batches: u64,
    tuples: u64,
    messages: u64,
    bytes: u64,
    busy_us: u64,
}

/// What went wrong, counted.
#[derive(Debug, Serialize)]
pub(super) struct Faults {
    lost_tuples: u64,
    lost_batches: u64,
    lost_in_batches: u64,
    repeated_batches: u64,
    stale_batches: u64,
    lost_messages: u64,
    resent_messages: u64,
    repeated_messages: u64,
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Tells of a run on the cluster of that file.
pub(super) fn tell(cluster: &Path, outcome: &Outcome) -> Simulated {
    let name = |node: usize| outcome.nodes.get(node).map_or_else(String::new, |n| n.name.clone());
    let FaultStats { lost_tuples, lost_batches, lost_in_batches, .. } = outcome.faults;
    let FaultStats { repeated_batches, stale_batches, .. } = outcome.faults;
    let FaultStats { lost_messages, resent_messages, repeated_messages, .. } = outcome.faults;
    let between = outcome.between_nodes();
    let node = |node: &streamwright::sim::NodeStats| Node {
        name: node.name.clone(),
        busy_us: micros(node.busy),
        utilisation: node.utilisation.is_finite().then_some(node.utilisation),
        peak_bytes: node.peak_bytes,
    };
    let link = |link: &streamwright::sim::LinkStats| Link {
        from: name(link.from),
        to: name(link.to),
        batches: link.traffic.batches,
        tuples: link.traffic.tuples,
        messages: link.traffic.messages,
        bytes: link.traffic.bytes,
        busy_us: micros(link.busy),
    };
    Simulated {
        cluster: cluster.to_string_lossy().into_owned(),
        seed: outcome.seed,
        trace: format!("{:016x}", outcome.trace),
        events: outcome.events,
        tuples: between.tuples,
        bytes: between.bytes,
        nodes: outcome.nodes.iter().map(node).collect(),
        links: outcome.links.iter().map(link).collect(),
        faults: Faults {
            lost_tuples,
            lost_batches,
            lost_in_batches,
            repeated_batches,
            stale_batches,
            lost_messages,
            resent_messages,
            repeated_messages,
        },
    }
}
