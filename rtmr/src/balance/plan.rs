//! What comes of balancing: moves, what they cost, and what they leave undone.

use super::decompose::Group;

/// An entry goes from a node to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Move {
    /// The entry, by its index.
    pub entry: u32,
    /// Its owner.
    pub from: u32,
    /// Its owner to be.
    pub to: u32,
    /// Its bytes.
    pub bytes: u64,
}

/// Why more nodes are needed.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Shortage {
    /// All idle nodes together have less room than must leave the overloaded ones: a proof.
    Room {
        /// What must leave.
        needed: f64,
        /// What there is room for.
        room: f64,
    },
    /// The rule left nodes without a group, or a group without enough idle nodes, though there is
    /// room in all. [`GroupRule::Mended`](super::GroupRule::Mended) never does.
    Grouping,
}

/// How a plan leaves the cluster.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// Every node is in its band.
    Balanced,
    /// No node is overloaded; those of [`Plan::left_idle`] are idle.
    Partial,
    /// Nodes stay overloaded, and so many new ones would take what is over.
    NeedNodes {
        /// How many, each of the capacity in the options; `None` if that names none and no node
        /// has any.
        nodes: Option<u64>,
        /// Why.
        why: Shortage,
    },
    /// Nodes stay overloaded by entries that no idle node has room for, or that would leave their
    /// node idle: split or replicate them.
    HotEntry(Vec<u32>),
    /// Nodes stay overloaded by load that can't move.
    FixedLoad(Vec<u32>),
    /// Nodes stay overloaded as no combination of entries was found that fits; there is room in
    /// all. More steps may help.
    Unsolved,
}

/// A plan.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[must_use]
pub struct Plan {
    /// The moves, by entry; each entry moves once at most.
    pub moves: Vec<Move>,
    /// Bytes of all moves.
    pub bytes: u64,
    /// Bytes that every plan moves at least that relieves the nodes that this one relieves,
    /// whatever its groups: Σ F_j(need_j), with F_j the fractional cover.
    pub lower_bound: f64,
    /// Bytes at least, given these groups, where idle nodes have to come up to their band. No
    /// bound for plans with other groups, and not checked by [`verify`](super::verify).
    pub group_bound: f64,
    /// How it leaves the cluster.
    pub outcome: Outcome,
    /// Nodes that are still overloaded, by id.
    pub left_over: Vec<u32>,
    /// Nodes that are still idle, by id.
    pub left_idle: Vec<u32>,
    /// The groups that were solved.
    pub groups: Vec<Group>,
    /// l: states, nodes and neighbours that were looked at.
    pub steps: u64,
    /// The search showed that no plan of these groups moves fewer bytes. A claim of the solver:
    /// not checked by [`verify`](super::verify).
    pub optimal: bool,
    /// False if [`Options::keep_going`](super::Options::keep_going) cut it short.
    pub reproducible: bool,
}

impl Plan {
    /// Bytes over the lower bound, less 1: no plan that relieves the same nodes is better by more.
    /// 0 for a plan that moves nothing, infinite if the bound is 0 and bytes are not.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "a ratio")]
    pub fn gap(&self) -> f64 {
        gap(self.bytes, self.lower_bound)
    }
}

#[allow(clippy::cast_precision_loss, reason = "a ratio")]
pub(crate) fn gap(bytes: u64, bound: f64) -> f64 {
    if bytes == 0 { 0.0 } else { (bytes as f64 / bound - 1.0).max(0.0) }
}
