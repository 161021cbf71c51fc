//! Greedy balancers that know load: the heaviest entries first, or the smallest first.

use crate::balance::{Band, Cluster};

/// Which entries go first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// Those of the most load: few moves, many bytes.
    LoadFirst,
    /// Those of the fewest bytes.
    BytesFirst,
}

/// Takes entries in this order from every overloaded node until it is not overloaded, each to the
/// idle node with the most room, if there is enough. O(h log h + moves · idle nodes).
#[must_use]
pub fn greedy(cluster: &Cluster<'_>, band: Band, order: Order) -> Vec<u32> {
    let (p, entries) = (cluster.capacity(), cluster.entries());
    let mut owners: Vec<u32> = entries.iter().map(|entry| entry.owner).collect();
    let mut loads = cluster.loads().to_vec();
    #[allow(clippy::cast_possible_truncation, reason = "nodes are counted by u32")]
    let idle: Vec<u32> = (0..p.len())
        .filter(|&node| band.is_idle(p[node], loads[node]))
        .map(|node| node as u32)
        .collect();
    let over: Vec<bool> = p.iter().zip(&loads).map(|(&p, &s)| band.is_over(p, s)).collect();
    #[allow(clippy::cast_possible_truncation, reason = "entries are counted by u32")]
    let mut line: Vec<u32> =
        (0..entries.len() as u32).filter(|&at| over[entries[at as usize].owner as usize]).collect();
    line.sort_unstable_by(|&a, &b| {
        let (x, y) = (&entries[a as usize], &entries[b as usize]);
        let first = match order {
            Order::LoadFirst => y.load.total_cmp(&x.load),
            Order::BytesFirst => x.bytes.cmp(&y.bytes),
        };
        first.then(a.cmp(&b))
    });
    for at in line {
        let entry = &entries[at as usize];
        let owner = entry.owner as usize;
        let left = loads[owner] - entry.load;
        if entry.load == 0.0 || loads[owner] <= band.high(p[owner]) || left < band.low(p[owner]) {
            continue;
        }
        let room = |node: u32| band.high(p[node as usize]) - loads[node as usize];
        let widest =
            idle.iter().copied().max_by(|&a, &b| room(a).total_cmp(&room(b)).then(b.cmp(&a)));
        if let Some(to) = widest.filter(|&node| room(node) >= entry.load) {
            loads[owner] = left;
            loads[to as usize] += entry.load;
            owners[at as usize] = to;
        }
    }
    owners
}
