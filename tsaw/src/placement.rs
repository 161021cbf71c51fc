//! A node for every task, and the measures of it: equations (3) to (10).

use crate::{BuildError, Cluster, NodeId, TaskGraph, TaskId};

/// A node for every task (definition 2 of the paper: f).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Placement {
    nodes: Vec<NodeId>,
}

impl Placement {
    /// Takes the node of each task, in order of the tasks. The measures check it against a graph
    /// and a cluster.
    #[must_use]
    pub fn new(nodes: Vec<NodeId>) -> Self {
        Self { nodes }
    }

    /// The node of a task, `None` if the placement has no such task.
    #[must_use]
    pub fn node(&self, task: TaskId) -> Option<NodeId> {
        self.nodes.get(task.index()).copied()
    }

    /// The node of every task, in order.
    #[must_use]
    pub fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    /// The tasks that are elsewhere in `other`; where only one has the task counts too.
    #[must_use]
    pub fn differences(&self, other: &Self) -> usize {
        let (short, long) =
            (self.nodes.len().min(other.nodes.len()), self.nodes.len().max(other.nodes.len()));
        let both = self.nodes.iter().zip(&other.nodes).filter(|(a, b)| a != b).count();
        both + long - short
    }

    /// Checks that every task of the graph has a node of the cluster.
    ///
    /// # Errors
    ///
    /// [`BuildError::PlacementLength`] or [`BuildError::UnknownNode`].
    pub fn check(&self, graph: &TaskGraph, cluster: &Cluster) -> Result<(), BuildError> {
        if self.nodes.len() != graph.len() {
            return Err(BuildError::PlacementLength { got: self.nodes.len(), want: graph.len() });
        }
        match self.nodes.iter().find(|node| node.index() >= cluster.nodes().len()) {
            Some(&node) => Err(BuildError::UnknownNode(node)),
            None => Ok(()),
        }
    }
}

/// CPU of each node, equation (3).
///
/// # Errors
///
/// A placement that does not fit graph and cluster.
pub fn loads(
    graph: &TaskGraph,
    cluster: &Cluster,
    placement: &Placement,
) -> Result<Vec<u64>, BuildError> {
    placement.check(graph, cluster)?;
    let mut loads = vec![0; cluster.nodes().len()];
    for (task, node) in graph.tasks().iter().zip(placement.nodes()) {
        loads[node.index()] += task.cpu;
    }
    Ok(loads)
}

/// Standard deviation of loads over the population, equation (6): 0 for none.
#[must_use]
pub fn sigma(loads: &[u64]) -> f64 {
    if loads.is_empty() {
        return 0.0;
    }
    let count = loads.len() as f64;
    let mean = loads.iter().map(|&load| load as f64).sum::<f64>() / count;
    let squares: f64 = loads.iter().map(|&load| (load as f64 - mean) * (load as f64 - mean)).sum();
    (squares / count).sqrt()
}

/// Tuples a second between nodes and within them, equations (7) and (8). By theorem 1 they sum
/// to [`TaskGraph::total_rate`]; both are summed here by themselves, so that this can be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Traffic {
    /// Between nodes: the cut.
    pub inter: i64,
    /// Within nodes.
    pub intra: i64,
}

/// Measures the traffic of a placement. O(tasks + streams).
///
/// # Errors
///
/// A placement that does not fit graph and cluster.
pub fn traffic(
    graph: &TaskGraph,
    cluster: &Cluster,
    placement: &Placement,
) -> Result<Traffic, BuildError> {
    placement.check(graph, cluster)?;
    let mut traffic = Traffic { inter: 0, intra: 0 };
    for (task, node) in placement.nodes().iter().enumerate() {
        for (other, rate) in graph.row(task).filter(|&(other, _)| (other as usize) < task) {
            if placement.nodes()[other as usize] == *node {
                traffic.intra += rate;
            } else {
                traffic.inter += rate;
            }
        }
    }
    Ok(traffic)
}

/// G of equation (10): by how much the traffic between nodes falls if `task` moves to `to`.
///
/// # Errors
///
/// A task that does not exist, or a placement of another length. `to` is not checked, as the
/// cluster is not known here: on a node that holds no task the gain is what leaves the task's own.
pub fn gain(
    graph: &TaskGraph,
    placement: &Placement,
    task: TaskId,
    to: NodeId,
) -> Result<i64, BuildError> {
    let from = node_of(graph, placement, task)?;
    if from == to {
        return Ok(0);
    }
    Ok(graph
        .neighbours(task)
        .map(|(other, rate)| match placement.nodes()[other.index()] {
            node if node == to => rate,
            node if node == from => -rate,
            _ => 0,
        })
        .sum())
}

/// By how much the traffic between nodes falls if two tasks change places.
///
/// # Errors
///
/// As [`gain`].
pub fn swap_gain(
    graph: &TaskGraph,
    placement: &Placement,
    a: TaskId,
    b: TaskId,
) -> Result<i64, BuildError> {
    let (at_a, at_b) = (node_of(graph, placement, a)?, node_of(graph, placement, b)?);
    if at_a == at_b {
        return Ok(0);
    }
    let between: i64 =
        graph.neighbours(a).filter(|&(other, _)| other == b).map(|(_, rate)| rate).sum();
    // Each gain counts the stream between the two as won, and it is cut before and after.
    Ok(gain(graph, placement, a, at_b)? + gain(graph, placement, b, at_a)? - 2 * between)
}

fn node_of(graph: &TaskGraph, placement: &Placement, task: TaskId) -> Result<NodeId, BuildError> {
    let (got, want) = (placement.nodes().len(), graph.len());
    if got != want {
        return Err(BuildError::PlacementLength { got, want });
    }
    placement.node(task).ok_or(BuildError::UnknownTask(task))
}
