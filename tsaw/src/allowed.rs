//! The nodes that a task, with its colocation group, may be on.

use std::collections::BTreeMap;

use crate::{BuildError, Cluster, NodeId, ScheduleError, TaskGraph, TaskId};

/// For every task a set of nodes; equal sets are kept once. The memory is that of the pins.
#[derive(Debug)]
pub(crate) struct Allowed {
    /// The set of each task; that of a group's leader is that of the group.
    pub(crate) set: Vec<u32>,
    /// Live nodes in order. Set 0 is all of them, set 1 those with a source.
    pub(crate) sets: Vec<Vec<NodeId>>,
}

impl Allowed {
    /// # Errors
    ///
    /// No live node, a pin of an unknown task, or a group that may be nowhere.
    pub(crate) fn new(graph: &TaskGraph, cluster: &Cluster) -> Result<Self, ScheduleError> {
        let alive: Vec<NodeId> = cluster.alive().collect();
        if alive.is_empty() {
            return Err(ScheduleError::NoNodes);
        }
        let has_source = |id: &NodeId| cluster.nodes()[id.index()].has_source;
        let with_source: Vec<NodeId> = alive.iter().copied().filter(has_source).collect();
        let mut sourced = vec![false; graph.len()];
        for (id, _) in graph.tasks().iter().enumerate().filter(|(_, task)| task.needs_source) {
            sourced[graph.leader[id] as usize] = true;
        }
        let mut pins: BTreeMap<u32, Vec<&[NodeId]>> = BTreeMap::new();
        for (task, nodes) in cluster.pins() {
            let leader = graph.leader(*task).ok_or(BuildError::UnknownTask(*task))?;
            pins.entry(leader.0).or_default().push(nodes);
        }
        let mut known = BTreeMap::from([(with_source.clone(), 1), (alive.clone(), 0)]);
        let mut sets = vec![alive, with_source];
        let mut set = vec![0; graph.len()];
        for id in (0..graph.len()).filter(|&id| graph.leader[id] as usize == id) {
            set[id] = match pins.get(&(id as u32)) {
                None => u32::from(sourced[id]),
                Some(pins) => {
                    let nodes = common(pins, &sets[usize::from(sourced[id])]);
                    *known.entry(nodes).or_insert_with_key(|nodes| {
                        sets.push(nodes.clone());
                        sets.len() as u32 - 1
                    })
                }
            };
            if sets[set[id] as usize].is_empty() {
                return Err(ScheduleError::PinConflict(TaskId(id as u32)));
            }
        }
        for id in 0..graph.len() {
            set[id] = set[graph.leader[id] as usize];
        }
        Ok(Self { set, sets })
    }
}

/// Nodes that all pins and the base name, in order.
fn common(pins: &[&[NodeId]], base: &[NodeId]) -> Vec<NodeId> {
    let mut nodes: Vec<NodeId> = pins.first().map_or_else(Vec::new, |first| first.to_vec());
    nodes.sort_unstable();
    nodes.dedup();
    nodes.retain(|node| base.binary_search(node).is_ok());
    for pin in pins.iter().skip(1) {
        let mut pin = pin.to_vec();
        pin.sort_unstable();
        nodes.retain(|node| pin.binary_search(node).is_ok());
    }
    nodes
}
