//! The balancer: sections 4.2 and 4.3 of the paper.

mod anneal;
mod cluster;
mod cover;
mod decompose;
mod draft;
mod effort;
mod exact;
mod leftover;
mod neighbour;
mod options;
mod pack;
mod plan;
mod planner;
mod problem;
mod repair;
mod select;
mod solve;
mod state;
mod verify;
mod widest;

pub use anneal::{Anneal, Costs, Start};
pub use cluster::{Band, Cluster, Entry};
pub use decompose::{Decomposition, Group, GroupRule, GroupState, decompose};
pub use options::{Options, Search};
pub use plan::{Move, Outcome, Plan, Shortage};
pub use planner::plan;
pub use verify::{Mismatch, Report, verify};
