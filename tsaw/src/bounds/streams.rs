//! How much of its traffic one task, with its group, can keep on its node.

use crate::TaskGraph;
use crate::allowed::Allowed;

/// Half of what the groups must send out: a group keeps at most what the fractional knapsack of
/// its neighbours into the room beside it is worth. O(streams · log of streams a task).
pub(super) fn bound(graph: &TaskGraph, allowed: &Allowed, caps: &[u64]) -> i64 {
    let room_of = |set: &Vec<crate::NodeId>| set.iter().map(|node| caps[node.index()]).max();
    let rooms: Vec<u64> = allowed.sets.iter().map(|set| room_of(set).unwrap_or(0)).collect();
    let groups = Groups::new(graph);
    let mut around: Vec<(u64, i64)> = Vec::new();
    let mut out: i128 = 0;
    for leader in 0..graph.len() {
        if graph.leader[leader] as usize != leader {
            continue;
        }
        let room = rooms[allowed.set[leader] as usize].saturating_sub(groups.cpu[leader]);
        around.clear();
        groups.neighbours(graph, leader, &mut around);
        if around.iter().map(|&(cpu, _)| u128::from(cpu)).sum::<u128>() > u128::from(room) {
            let degree: i64 = around.iter().map(|&(_, rate)| rate).sum();
            out += i128::from(degree - kept(&mut around, room));
        }
    }
    i64::try_from((out + 1) / 2).unwrap_or(i64::MAX)
}

/// The value of the fractional knapsack, rounded down.
fn kept(around: &mut [(u64, i64)], room: u64) -> i64 {
    let worth = |rate: i64, cpu: u64| u128::from(rate.unsigned_abs()) * u128::from(cpu);
    around.sort_unstable_by(|a, b| worth(b.1, a.0).cmp(&worth(a.1, b.0)));
    let (mut room, mut kept) = (room, 0);
    for &(cpu, rate) in around.iter() {
        if cpu <= room {
            room -= cpu;
            kept += rate;
        } else {
            let part = worth(rate, room) / u128::from(cpu);
            return kept + i64::try_from(part).unwrap_or(i64::MAX);
        }
    }
    kept
}

/// Colocation groups as one task each.
struct Groups {
    cpu: Vec<u64>,
    /// Members of groups of several, sorted by leader.
    members: Vec<(u32, u32)>,
}

impl Groups {
    fn new(graph: &TaskGraph) -> Self {
        let mut size = vec![0_u32; graph.len()];
        for &leader in &graph.leader {
            size[leader as usize] += 1;
        }
        let pairs = (0..).zip(&graph.leader).map(|(task, &leader)| (leader, task));
        let mut members: Vec<(u32, u32)> =
            pairs.filter(|&(leader, _)| size[leader as usize] > 1).collect();
        members.sort_unstable();
        Self { cpu: super::group_sums(graph, |task| graph.tasks[task].cpu), members }
    }

    /// CPU of each neighbouring group and the rate to it.
    fn neighbours(&self, graph: &TaskGraph, leader: usize, around: &mut Vec<(u64, i64)>) {
        if self.members.is_empty() {
            let row = graph.row(leader);
            around.extend(row.map(|(other, rate)| (graph.tasks[other as usize].cpu, rate)));
            return;
        }
        let start = self.members.partition_point(|&(group, _)| (group as usize) < leader);
        let same = self.members[start..].iter().take_while(|&&(group, _)| group as usize == leader);
        let mut tasks: Vec<u32> = same.map(|&(_, task)| task).collect();
        if tasks.is_empty() {
            tasks.push(leader as u32);
        }
        let rows = tasks.iter().flat_map(|&task| graph.row(task as usize));
        let mut rates: Vec<(u32, i64)> =
            rows.map(|(other, rate)| (graph.leader[other as usize], rate)).collect();
        rates.retain(|&(group, _)| group as usize != leader);
        rates.sort_unstable();
        for same in rates.chunk_by(|a, b| a.0 == b.0) {
            let rate = same.iter().map(|&(_, rate)| rate).sum();
            around.push((self.cpu[same[0].0 as usize], rate));
        }
    }
}
