//! Balancers that count entries: ranges (Flink), sticky quotas (Kafka Streams), slots by weight
//! (Redis Cluster).

use crate::balance::Cluster;
use crate::split::largest_remainder;

/// Flink's rule for key groups: entry g of h goes to node ⌊g·n/h⌋. O(entries).
#[must_use]
#[allow(clippy::cast_possible_truncation, reason = "below the number of nodes")]
pub fn range(cluster: &Cluster<'_>) -> Vec<u32> {
    let (nodes, entries) = (cluster.capacity().len() as u64, cluster.entries().len() as u64);
    (0..entries).map(|group| (group * nodes / entries) as u32).collect()
}

/// Kafka Streams' sticky rule: an entry stays with its owner while that has less than its quota
/// of ⌊h/n⌋ or one more, the others go to the node with the fewest. O(entries · log nodes).
#[must_use]
#[allow(clippy::cast_possible_truncation, reason = "nodes are counted by u32")]
pub fn sticky(cluster: &Cluster<'_>) -> Vec<u32> {
    let (nodes, entries) = (cluster.capacity().len(), cluster.entries());
    let (quota, mut extra) = (entries.len() / nodes, entries.len() % nodes);
    let mut counts = vec![0_usize; nodes];
    let mut owners = Vec::with_capacity(entries.len());
    let mut homeless = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let owner = entry.owner as usize;
        let stays = counts[owner] < quota || (counts[owner] == quota && extra > 0);
        if stays {
            extra -= usize::from(counts[owner] == quota);
            counts[owner] += 1;
        } else {
            homeless.push(at);
        }
        owners.push(entry.owner);
    }
    let mut heap: std::collections::BinaryHeap<_> =
        counts.iter().enumerate().map(|(node, &count)| std::cmp::Reverse((count, node))).collect();
    for at in homeless {
        if let Some(std::cmp::Reverse((count, node))) = heap.pop() {
            owners[at] = node as u32;
            heap.push(std::cmp::Reverse((count + 1, node)));
        }
    }
    owners
}

/// Redis Cluster's rebalance: each node is to have slots in proportion to its weight, here its
/// capacity; if some node is off by more than `threshold` (2 % by default there), the nodes with
/// most too many give their first slots to those with most too few. O(entries + nodes · log nodes).
#[must_use]
#[allow(clippy::cast_possible_truncation, reason = "nodes are counted by u32")]
pub fn slot_weight(cluster: &Cluster<'_>, threshold: f64) -> Vec<u32> {
    let entries = cluster.entries();
    let expected = largest_remainder(cluster.capacity(), entries.len());
    let mut slots: Vec<Vec<u32>> = vec![Vec::new(); expected.len()];
    for (at, entry) in (0_u32..).zip(entries) {
        slots[entry.owner as usize].push(at);
    }
    let mut owners: Vec<u32> = entries.iter().map(|entry| entry.owner).collect();
    let off = |(slots, &want): (&Vec<u32>, &usize)| {
        slots.len().abs_diff(want) as f64 > threshold * want.max(1) as f64
    };
    if !slots.iter().zip(&expected).any(off) {
        return owners;
    }
    let surplus = |node: usize| slots[node].len().saturating_sub(expected[node]);
    let lack = |node: usize| expected[node].saturating_sub(slots[node].len());
    let mut givers: Vec<usize> = (0..slots.len()).filter(|&node| surplus(node) > 0).collect();
    givers.sort_by_key(|&node| (std::cmp::Reverse(surplus(node)), node));
    let mut takers: Vec<(usize, usize)> =
        (0..slots.len()).map(|node| (lack(node), node)).filter(|(lack, _)| *lack > 0).collect();
    takers.sort_by_key(|&(lack, node)| (std::cmp::Reverse(lack), node));
    let mut given = givers.iter().flat_map(|&node| &slots[node][..surplus(node)]);
    for (lack, node) in takers {
        for &slot in given.by_ref().take(lack) {
            owners[slot as usize] = node as u32;
        }
    }
    owners
}
