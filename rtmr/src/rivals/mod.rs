//! What others do, for comparison: rules that know counts but no load, and searches that know no
//! bound. Each tells the owner of every entry; [`moves`] tells what that moves.
//!
//! Own implementations of the rules as they are documented.

mod annealing;
mod counts;
mod greedy;

pub use annealing::annealing;
pub use counts::{range, slot_weight, sticky};
pub use greedy::{Order, greedy};

use crate::balance::{Cluster, Move};

/// The moves from a cluster's owners to these. O(entries). Entries without a new owner stay.
#[must_use]
pub fn moves(cluster: &Cluster<'_>, owners: &[u32]) -> Vec<Move> {
    let each = (0_u32..).zip(cluster.entries()).zip(owners);
    let moved = each.filter(|((_, entry), owner)| entry.owner != **owner);
    moved.map(|((entry, e), &to)| Move { entry, from: e.owner, to, bytes: e.bytes }).collect()
}
