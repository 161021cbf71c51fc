//! Bounds that hold for every placement: the evidence that a plan is near the best, or that
//! there is none.

mod load;
mod proof;
mod stage;
mod streams;

pub(crate) use load::peak_lower_bound;
pub(crate) use proof::refute;

use crate::allowed::Allowed;
use crate::{Cluster, Distance, TaskGraph};

/// With more distinct sets of allowed nodes than this, a set is not compared with the others.
pub(crate) const MAX_SETS_COMPARED: usize = 64;

/// No placement with loads within `caps` has fewer tuples a second between nodes.
///
/// The better of two bounds: from what can be around one task, and from all-to-all stages.
pub(crate) fn cut_lower_bound(graph: &TaskGraph, allowed: &Allowed, caps: &[u64]) -> i64 {
    let alive = allowed.sets[0].len();
    let largest = allowed.sets[0].iter().map(|node| caps[node.index()]).max().unwrap_or(0);
    streams::bound(graph, allowed, caps).max(stage::bound(graph, largest, alive))
}

/// The smallest distance between two live nodes, 1 if there are no two.
pub(crate) fn least_distance(cluster: &Cluster) -> i64 {
    let alive: Vec<_> = cluster.alive().collect();
    let least = match cluster.distance() {
        Distance::Flat => Some(1),
        Distance::Racks { same, cross } => {
            let mut racks: Vec<u32> =
                alive.iter().map(|id| cluster.nodes()[id.index()].rack).collect();
            racks.sort_unstable();
            let shared = racks.windows(2).any(|pair| pair[0] == pair[1]);
            Some(if shared { *same } else { *cross })
        }
        Distance::Matrix(rows) => alive
            .iter()
            .flat_map(|a| alive.iter().filter(move |b| *b != a).map(move |b| (a, b)))
            .map(|(a, b)| rows[a.index()][b.index()])
            .min(),
    };
    i64::from(least.unwrap_or(1))
}

/// CPU of each colocation group, at its leader; 0 at the other tasks.
pub(crate) fn group_sums(graph: &TaskGraph, part: impl Fn(usize) -> u64) -> Vec<u64> {
    let mut sums = vec![0; graph.len()];
    for task in 0..graph.len() {
        sums[graph.leader[task] as usize] += part(task);
    }
    sums
}
