//! Checks that a graph's weights are those that a placement makes of a topology: task by task from
//! the spouts on, without the code that made them.

use std::collections::BTreeMap;

use super::{Mismatch, same, verify};
use crate::{BuildError, Cluster, Grouping, NodeId, Solved, TaskId, Topology};

impl Solved {
    /// Checks without trusting anything that the graph's tasks, CPU and rates are what the
    /// placement makes of the topology, and then the plan as [`verify`](crate::verify) does: the
    /// limits, the caps, the cost.
    ///
    /// A number may be off by a half for each that was rounded, and by a part of 10⁻⁸. What a
    /// [`fixed`](Self::fixed) plan claims besides, that [`reschedule`](crate::reschedule) of its
    /// graph moves nothing, is seen by calling that.
    ///
    /// O(tasks of the senders · tasks of the receivers of all streams · log) time.
    ///
    /// # Errors
    ///
    /// The first [`Mismatch`] found.
    pub fn verify(&self, topology: &Topology, cluster: &Cluster) -> Result<(), Mismatch> {
        let first = topology.check()?;
        let nodes = self.plan.placement.nodes();
        let (got, want) = (nodes.len(), first[topology.parts.len()]);
        if got != want {
            return Err(BuildError::PlacementLength { got, want }.into());
        }
        same("tasks", &self.graph.len(), &want)?;
        let mut arrives: Vec<f64> = Vec::new();
        for (part, range) in topology.parts.iter().zip(first.windows(2)) {
            arrives.resize(range[1], part.source as f64);
        }
        for (at, part) in topology.parts.iter().enumerate() {
            // Streams go to later components: all that comes to this one has arrived.
            for sender in first[at]..first[at + 1] {
                let task = &self.graph.tasks()[sender];
                same("component", &task.component.index(), &at)?;
                same("kind", &self.graph.components()[at].kind, &part.kind)?;
                close("cpu", task.cpu, arrives[sender] * (part.cpu as f64 / 1e6), 1)?;
                let sent = sent(topology, &first, nodes, (at, sender), arrives[sender]);
                self.verify_streams(sender, &sent)?;
                sent.iter().for_each(|(&receiver, &(rate, _))| arrives[receiver] += rate);
            }
        }
        verify(&self.graph, cluster, &self.plan.placement, &self.plan.certificate)
    }

    /// A stream of the graph for each that is sent and no other.
    fn verify_streams(&self, sender: usize, sent: &Sent) -> Result<(), Mismatch> {
        let mut claimed: BTreeMap<usize, u64> = BTreeMap::new();
        for (other, rate) in self.graph.neighbours(TaskId(sender as u32)) {
            // Those from earlier tasks were checked with these.
            if other.index() > sender {
                claimed.insert(other.index(), rate.unsigned_abs());
            }
        }
        for (receiver, &(rate, streams)) in sent {
            close("rate", claimed.remove(receiver).unwrap_or(0), rate, streams)?;
        }
        match claimed.first_key_value() {
            Some((_, rate)) => close("rate", *rate, 0.0, 0),
            None => Ok(()),
        }
    }
}

/// What a task sends to each other: tuples a second, and by how many streams.
type Sent = BTreeMap<usize, (f64, u32)>;

fn sent(
    topology: &Topology,
    first: &[usize],
    nodes: &[NodeId],
    (part, sender): (usize, usize),
    arrives: f64,
) -> Sent {
    let mut sent = Sent::new();
    for link in topology.links.iter().filter(|link| link.from == part) {
        let receivers = first[link.to]..first[link.to + 1];
        let near = receivers.clone().filter(|&receiver| nodes[receiver] == nodes[sender]).count();
        let all: f64 = match &link.grouping {
            Grouping::Fields(shares) => shares.iter().map(|&share| share as f64).sum(),
            _ => 0.0,
        };
        for receiver in receivers.clone() {
            let share = match &link.grouping {
                Grouping::Fields(shares) => shares[receiver - receivers.start] as f64 / all,
                Grouping::LocalOrShuffle if near > 0 => {
                    if nodes[receiver] == nodes[sender] {
                        1.0 / near as f64
                    } else {
                        0.0
                    }
                }
                _ => 1.0 / receivers.len() as f64,
            };
            let of = sent.entry(receiver).or_insert((0.0, 0));
            *of = (of.0 + arrives * (link.ratio as f64 / 1e6) * share, of.1 + 1);
        }
    }
    sent
}

fn close(field: &'static str, claimed: u64, found: f64, roundings: u32) -> Result<(), Mismatch> {
    let slack = 0.5 * f64::from(roundings) + found * 1e-8;
    // Not the other way round: a difference that is no number is no match.
    if (claimed as f64 - found).abs() <= slack {
        return Ok(());
    }
    Err(Mismatch::Field { field, claimed: claimed.to_string(), found: found.to_string() })
}
