//! Which new set goes to which node: nodes that are alike change names so that most tasks stay.

use std::collections::BTreeMap;

use crate::{Cluster, Distance, NodeId, Placement};

/// Classes up to this size are matched exactly, in O(size³); larger ones greedily.
const EXACT: usize = 256;

/// Overlaps below zero, so that the largest comes first, with the numbers of both nodes in their
/// class: the new one and the old one.
type Pairs = Vec<(i64, usize, usize)>;

/// Renames nodes that are alike in everything that is measured, so that the placement has as many
/// tasks as possible on their node of `standing`. No measure changes.
pub(crate) fn relabel(cluster: &Cluster, placement: &Placement, standing: &Placement) -> Placement {
    let mut overlap: BTreeMap<(NodeId, NodeId), i64> = BTreeMap::new();
    for (&new, &old) in placement.nodes().iter().zip(standing.nodes()) {
        *overlap.entry((new, old)).or_default() += 1;
    }
    let mut name: Vec<NodeId> = (0..cluster.nodes().len() as u32).map(NodeId).collect();
    let classes = classes(cluster);
    // The class of each node and its number in it; none for a dead node.
    let mut member: Vec<Option<(usize, usize)>> = vec![None; name.len()];
    for (index, class) in classes.iter().enumerate() {
        for (number, node) in class.iter().enumerate() {
            member[node.index()] = Some((index, number));
        }
    }
    let mut pairs: Vec<Pairs> = vec![Pairs::new(); classes.len()];
    for ((new, old), count) in overlap {
        if let (Some((class, new)), Some((other, old))) = (member[new.index()], member[old.index()])
            && class == other
        {
            pairs[class].push((-count, new, old));
        }
    }
    for (class, pairs) in classes.iter().zip(pairs) {
        let matching = match class.len() <= EXACT {
            true => {
                let mut table = vec![0; class.len() * class.len()];
                for (less, new, old) in pairs {
                    table[new * class.len() + old] = -less;
                }
                assign(class.len(), |new, old| table[new * class.len() + old])
            }
            false => greedy(class.len(), pairs),
        };
        for (new, old) in matching.into_iter().enumerate() {
            name[class[new].index()] = class[old];
        }
    }
    Placement::new(placement.nodes().iter().map(|node| name[node.index()]).collect())
}

/// Live nodes that are alike: the same limits, source, rack where it matters, and pins. With a
/// matrix of distances no two are.
fn classes(cluster: &Cluster) -> Vec<Vec<NodeId>> {
    let mut pins: Vec<Vec<u32>> = vec![Vec::new(); cluster.nodes().len()];
    for (index, (_, nodes)) in (0..).zip(cluster.pins()) {
        for node in nodes {
            if pins[node.index()].last() != Some(&index) {
                pins[node.index()].push(index);
            }
        }
    }
    let rack = |rack: u32| match cluster.distance() {
        Distance::Racks { .. } => rack,
        _ => 0,
    };
    let mut classes: BTreeMap<_, Vec<NodeId>> = BTreeMap::new();
    for id in cluster.alive() {
        let node = &cluster.nodes()[id.index()];
        let apart = match cluster.distance() {
            Distance::Matrix(_) => id.0,
            _ => 0,
        };
        let limits = (node.cpu, node.mem, node.bandwidth, node.has_source);
        classes.entry((limits, rack(node.rack), &pins[id.index()], apart)).or_default().push(id);
    }
    classes.into_values().collect()
}

/// The largest overlaps first. O((size + pairs) · log), and there is at most one pair a task.
fn greedy(size: usize, mut pairs: Pairs) -> Vec<usize> {
    pairs.sort_unstable();
    let mut matching = vec![usize::MAX; size];
    let mut taken = vec![false; size];
    for (_, new, old) in pairs {
        if matching[new] == usize::MAX && !taken[old] {
            matching[new] = old;
            taken[old] = true;
        }
    }
    // Who has no overlap keeps its name if that is free, else takes the first free one.
    for new in 0..size {
        if matching[new] == usize::MAX && !taken[new] {
            matching[new] = new;
            taken[new] = true;
        }
    }
    let mut free = (0..size).filter(|&old| !taken[old]).collect::<Vec<_>>().into_iter();
    for old in matching.iter_mut().filter(|old| **old == usize::MAX) {
        *old = free.next().unwrap_or(0);
    }
    matching
}

/// The assignment of largest total overlap, by shortest augmenting paths with potentials (the
/// Hungarian method). Returns the old index for each new one.
fn assign(size: usize, overlap: impl Fn(usize, usize) -> i64) -> Vec<usize> {
    // Rows and columns from 1; column 0 holds the row that is being matched.
    let (mut of_row, mut of_column) = (vec![0_i64; size + 1], vec![0_i64; size + 1]);
    let mut row_at = vec![0_usize; size + 1];
    for row in 1..=size {
        row_at[0] = row;
        let mut column = 0;
        let mut least = vec![i64::MAX; size + 1];
        let mut before = vec![0_usize; size + 1];
        let mut done = vec![false; size + 1];
        while row_at[column] != 0 {
            done[column] = true;
            let from = row_at[column];
            let (mut step, mut next) = (i64::MAX, 0);
            for to in (1..=size).filter(|&to| !done[to]) {
                let slack = -overlap(from - 1, to - 1) - of_row[from] - of_column[to];
                if slack < least[to] {
                    least[to] = slack;
                    before[to] = column;
                }
                if least[to] < step {
                    (step, next) = (least[to], to);
                }
            }
            for to in 0..=size {
                if done[to] {
                    of_row[row_at[to]] += step;
                    of_column[to] -= step;
                } else if least[to] < i64::MAX {
                    least[to] -= step;
                }
            }
            column = next;
        }
        while column != 0 {
            row_at[column] = row_at[before[column]];
            column = before[column];
        }
    }
    let mut matching = vec![0; size];
    for column in 1..=size {
        matching[row_at[column] - 1] = column - 1;
    }
    matching
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_assignment_is_the_best_of_all_permutations() {
        let mut rng = crate::rng::SplitMix64::new(1);
        for _ in 0..500 {
            let size = 1 + rng.index(6);
            let table: Vec<i64> = (0..size * size).map(|_| rng.below(9).cast_signed()).collect();
            let value = |matching: &[usize]| -> i64 {
                matching.iter().enumerate().map(|(new, &old)| table[new * size + old]).sum()
            };
            let found = assign(size, |new, old| table[new * size + old]);
            let mut best = 0;
            permutations(&mut (0..size).collect::<Vec<_>>(), 0, &mut |order| {
                best = best.max(value(order));
            });
            assert_eq!(value(&found), best, "{table:?}");
        }
    }

    fn permutations(order: &mut Vec<usize>, from: usize, each: &mut impl FnMut(&[usize])) {
        if from == order.len() {
            each(order);
        }
        for other in from..order.len() {
            order.swap(from, other);
            permutations(order, from + 1, each);
            order.swap(from, other);
        }
    }

    #[test]
    fn the_greedy_matching_is_a_permutation() {
        assert_eq!(greedy(5, vec![(-1, 3, 0)]), [3, 1, 2, 0, 4]);
        assert_eq!(greedy(3, vec![(-1, 0, 1), (-2, 2, 1), (-1, 2, 0)]), [0, 2, 1]);
    }

    /// All moved on by one node: every name goes back. A table of all pairs would take 29 GB.
    #[test]
    fn many_equal_nodes_are_renamed_by_what_is_on_them() -> Result<(), crate::BuildError> {
        let count = 60_000;
        let cluster = Cluster::uniform(count, 1)?;
        let standing = Placement::new((0..count).map(NodeId).collect());
        let moved = Placement::new((0..count).map(|node| NodeId((node + 1) % count)).collect());
        assert_eq!(relabel(&cluster, &moved, &standing), standing);
        Ok(())
    }
}
