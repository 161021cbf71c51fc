//! An order of nodes that their ids play no part in, as far as they differ in anything else.

use std::cmp::Reverse;

use crate::{Cluster, Distance, NodeId};

/// What a node is: larger ones come first. Last the pins that name it.
type Key = (Reverse<u64>, Reverse<u64>, Reverse<u64>, bool, Vec<u32>, Vec<u32>);

/// The live nodes by what they are, then by id. Two that are equal in everything but their id
/// can change places without a change of anything that is measured: racks are ordered by what
/// is in them, and with a matrix a node is known by its sorted distances.
pub(super) fn canonical(cluster: &Cluster, alive: &[NodeId]) -> Vec<NodeId> {
    let keys = keys(cluster);
    let racks = rack_ranks(cluster, alive, &keys);
    let mut order = alive.to_vec();
    order.sort_by(|a, b| {
        let key = |id: &NodeId| (racks[id.index()], &keys[id.index()], *id);
        key(a).cmp(&key(b))
    });
    order
}

fn keys(cluster: &Cluster) -> Vec<Key> {
    let mut pins: Vec<Vec<u32>> = vec![Vec::new(); cluster.nodes().len()];
    for (index, (_, nodes)) in (0..).zip(cluster.pins()) {
        for node in nodes {
            if pins[node.index()].last() != Some(&index) {
                pins[node.index()].push(index);
            }
        }
    }
    let distances = |id: usize| match cluster.distance() {
        Distance::Matrix(rows) => {
            let mut row = rows[id].clone();
            row.sort_unstable();
            row
        }
        _ => Vec::new(),
    };
    let limit = |limit: Option<u64>| Reverse(limit.unwrap_or(u64::MAX));
    cluster
        .nodes()
        .iter()
        .zip(pins)
        .enumerate()
        .map(|(id, (node, pins))| {
            let (mem, bandwidth) = (limit(node.mem), limit(node.bandwidth));
            (Reverse(node.cpu), mem, bandwidth, node.has_source, pins, distances(id))
        })
        .collect()
}

/// The rank of each node's rack by what it holds; 0 where racks don't matter.
fn rack_ranks(cluster: &Cluster, alive: &[NodeId], keys: &[Key]) -> Vec<u32> {
    let mut ranks = vec![0; keys.len()];
    if !matches!(cluster.distance(), Distance::Racks { .. }) {
        return ranks;
    }
    let rack = |id: &NodeId| cluster.nodes()[id.index()].rack;
    let mut by_rack = alive.to_vec();
    by_rack.sort_by(|a, b| (rack(a), &keys[a.index()]).cmp(&(rack(b), &keys[b.index()])));
    let mut racks: Vec<&[NodeId]> = by_rack.chunk_by(|a, b| rack(a) == rack(b)).collect();
    let content =
        |members: &[NodeId]| members.iter().map(|id| keys[id.index()].clone()).collect::<Vec<_>>();
    racks.sort_by_cached_key(|members| (content(members), members[0]));
    for (rank, members) in (0..).zip(racks) {
        for id in members {
            ranks[id.index()] = rank;
        }
    }
    ranks
}
