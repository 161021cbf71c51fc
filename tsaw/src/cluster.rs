//! The nodes, and what is asked of a placement on them.

use crate::error::{MAX_CPU_TOTAL, MAX_NODES};
use crate::{BuildError, NodeId, TaskId};

/// One machine, with one worker process (section 1 of the paper).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Node {
    /// CPU, in any unit that the tasks use too.
    pub cpu: u64,
    /// Memory, or no limit.
    pub mem: Option<u64>,
    /// Inter-node tuples a second that may enter and leave together, or no limit.
    pub bandwidth: Option<u64>,
    /// Its rack, for [`Distance::Racks`].
    pub rack: u32,
    /// Whether a data source is here.
    pub has_source: bool,
    /// Whether it is up. A dead node holds no task.
    pub alive: bool,
}

impl Node {
    /// A live node with so much CPU, no limit of memory and bandwidth, in rack 0, without source.
    #[must_use]
    pub fn new(cpu: u64) -> Self {
        Self { cpu, mem: None, bandwidth: None, rack: 0, has_source: false, alive: true }
    }

    /// With so much memory.
    #[must_use]
    pub fn with_memory(self, mem: u64) -> Self {
        Self { mem: Some(mem), ..self }
    }

    /// With so much bandwidth.
    #[must_use]
    pub fn with_bandwidth(self, bandwidth: u64) -> Self {
        Self { bandwidth: Some(bandwidth), ..self }
    }

    /// In that rack.
    #[must_use]
    pub fn in_rack(self, rack: u32) -> Self {
        Self { rack, ..self }
    }

    /// With a data source.
    #[must_use]
    pub fn with_source(self) -> Self {
        Self { has_source: true, ..self }
    }

    /// Down.
    #[must_use]
    pub fn dead(self) -> Self {
        Self { alive: false, ..self }
    }
}

/// What a tuple between two nodes costs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Distance {
    /// 1 between any two nodes.
    #[default]
    Flat,
    /// `same` within a rack, `cross` between racks.
    Racks {
        /// Within a rack, at least 1.
        same: u32,
        /// Between racks, at least `same`.
        cross: u32,
    },
    /// A symmetric square over the nodes, zero on the diagonal only.
    Matrix(Vec<Vec<u32>>),
}

/// The nodes with their distances, pins and imbalance: all that a placement is held to besides
/// the groups of the [`TaskGraph`](crate::TaskGraph).
///
/// The CPU cap of a live node n is min(cpu_n, (1 + ε) · W · cpu_n / Σ cpu), rounded down, with
/// ε the imbalance, W the CPU of all tasks, and the sum over the live nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    nodes: Vec<Node>,
    distance: Distance,
    pins: Vec<(TaskId, Vec<NodeId>)>,
    imbalance_ppm: u64,
}

impl Cluster {
    /// The imbalance ε of a new cluster.
    pub const DEFAULT_IMBALANCE: f64 = 0.10;

    /// A cluster of these nodes, at flat distance, without pins, with an imbalance of 10 %.
    ///
    /// # Errors
    ///
    /// No node, more than [`MAX_NODES`], a live one without CPU, or CPU over [`MAX_CPU_TOTAL`].
    pub fn new(nodes: Vec<Node>) -> Result<Self, BuildError> {
        if nodes.is_empty() {
            return Err(BuildError::NoNodes);
        }
        if nodes.len() > MAX_NODES {
            return Err(BuildError::TooManyNodes(nodes.len()));
        }
        if let Some(zero) = nodes.iter().position(|node| node.alive && node.cpu == 0) {
            return Err(BuildError::ZeroCpu(NodeId(zero as u32)));
        }
        let cpu: u128 = nodes.iter().map(|node| u128::from(node.cpu)).sum();
        if cpu > u128::from(MAX_CPU_TOTAL) {
            return Err(BuildError::CpuOverflow);
        }
        Ok(Self { nodes, distance: Distance::Flat, pins: Vec::new(), imbalance_ppm: 100_000 })
    }

    /// `count` equal nodes with `cpu` each.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new), before anything is allocated.
    pub fn uniform(count: u32, cpu: u64) -> Result<Self, BuildError> {
        if count as usize > MAX_NODES {
            return Err(BuildError::TooManyNodes(count as usize));
        }
        Self::new(vec![Node::new(cpu); count as usize])
    }

    /// With these distances.
    ///
    /// # Errors
    ///
    /// A matrix that is no symmetric square over the nodes with zeros on the diagonal only, or
    /// racks without 0 < same ≤ cross.
    pub fn with_distance(mut self, distance: Distance) -> Result<Self, BuildError> {
        match &distance {
            Distance::Flat => {}
            Distance::Racks { same, cross } => {
                if *same == 0 || same > cross {
                    return Err(BuildError::RackDistance);
                }
            }
            Distance::Matrix(rows) => check_matrix(rows, self.nodes.len())?,
        }
        self.distance = distance;
        Ok(self)
    }

    /// With the imbalance ε: no node may hold more than 1 + ε times its share of the CPU. Kept
    /// as a whole number of millionths, the nearest one.
    ///
    /// # Errors
    ///
    /// ε is no number from 0 to 1000.
    pub fn with_imbalance(mut self, imbalance: f64) -> Result<Self, BuildError> {
        if !(0.0..=1000.0).contains(&imbalance) {
            return Err(BuildError::Imbalance(imbalance.to_string()));
        }
        let ppm = (imbalance * 1e6).round();
        #[allow(clippy::cast_sign_loss, reason = "checked to be from 0 to 10^9")]
        let ppm = ppm as u64;
        self.imbalance_ppm = ppm;
        Ok(self)
    }

    /// Allows only these nodes for a task; another pin of the task leaves what both allow.
    ///
    /// # Errors
    ///
    /// No node, or one that is not of the cluster. That the task exists is checked when a graph
    /// is placed.
    pub fn with_pin(mut self, task: TaskId, nodes: &[NodeId]) -> Result<Self, BuildError> {
        if nodes.is_empty() {
            return Err(BuildError::EmptyPin(task));
        }
        if let Some(&node) = nodes.iter().find(|node| node.index() >= self.nodes.len()) {
            return Err(BuildError::UnknownNode(node));
        }
        self.pins.push((task, nodes.to_vec()));
        Ok(self)
    }

    /// All nodes in order.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The distances.
    #[must_use]
    pub fn distance(&self) -> &Distance {
        &self.distance
    }

    /// The pins in the order they were added.
    #[must_use]
    pub fn pins(&self) -> &[(TaskId, Vec<NodeId>)] {
        &self.pins
    }

    /// The imbalance ε in millionths.
    #[must_use]
    pub fn imbalance_ppm(&self) -> u64 {
        self.imbalance_ppm
    }

    /// What a tuple from node `a` to node `b` costs; `None` if one of them does not exist.
    #[must_use]
    pub fn distance_between(&self, a: NodeId, b: NodeId) -> Option<u32> {
        let (from, to) = (self.nodes.get(a.index())?, self.nodes.get(b.index())?);
        Some(match &self.distance {
            _ if a == b => 0,
            Distance::Flat => 1,
            Distance::Racks { same, cross } => {
                if from.rack == to.rack {
                    *same
                } else {
                    *cross
                }
            }
            Distance::Matrix(rows) => rows[a.index()][b.index()],
        })
    }

    /// The live nodes in order.
    pub fn alive(&self) -> impl Iterator<Item = NodeId> + '_ {
        (0..).zip(&self.nodes).filter(|(_, node)| node.alive).map(|(id, _)| NodeId(id))
    }
}

fn check_matrix(rows: &[Vec<u32>], nodes: usize) -> Result<(), BuildError> {
    for a in 0..nodes.max(rows.len()) {
        for b in 0..nodes {
            let at = |a: usize, b: usize| rows.get(a).and_then(|row| row.get(b)).copied();
            let there = at(a, b);
            if a >= nodes || there.is_none() || there != at(b, a) || (there == Some(0)) != (a == b)
            {
                return Err(BuildError::Distance(a, b));
            }
        }
        if rows[a].len() > nodes {
            return Err(BuildError::Distance(a, nodes));
        }
    }
    Ok(())
}
