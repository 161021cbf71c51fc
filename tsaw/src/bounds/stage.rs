//! What an all-to-all stage must send between nodes.
//!
//! Where each of p producers sends s_j to consumer j, traffic is of rank one. With x_n and y_n
//! the shares of producers and of consumers' traffic on node n, its load is at least
//! α·x_n + β·y_n, where α = p · min cpu of a producer and β = min cpu_j / (s_j / Σ s). Under the
//! cap c on k nodes, y_n ≤ (c − α·x_n) / β and Σ x_n² ≥ 1/k, so that the share within nodes is
//! Σ x_n·y_n ≤ min{1, (c − α/k) / β}, and by symmetry ≤ (c − β/k) / α. Other components only add
//! load. Where the rates to j differ, s_j is the smallest: less traffic is never more cut.

use std::collections::BTreeMap;

use crate::TaskGraph;

/// What is known of the stage from one component to another.
#[derive(Clone, Copy, Debug, Default)]
struct Stage {
    /// Σ s_j.
    sum: u64,
    /// The cpu_j / s_j that is smallest.
    cheapest: Option<(u64, u64)>,
}

/// The sum over all pairs of components, each with the better of both directions. A pair whose
/// numbers don't fit in 128 bits counts nothing. O(streams · log components) time and memory in
/// the pairs of components that exchange tuples.
pub(super) fn bound(graph: &TaskGraph, cap: u64, nodes: usize) -> i64 {
    let components = graph.components.len();
    let (mut size, mut least_cpu) = (vec![0_u64; components], vec![u64::MAX; components]);
    for task in &graph.tasks {
        let component = task.component.index();
        size[component] += 1;
        least_cpu[component] = least_cpu[component].min(task.cpu);
    }
    let mut best: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for (&(from, to), stage) in &stages(graph, &size) {
        let (p, a) = (size[from as usize], least_cpu[from as usize]);
        let out = sent_out(p, a, stage, cap, nodes as u64).unwrap_or(0);
        let entry = best.entry((from.min(to), from.max(to))).or_default();
        *entry = out.max(*entry);
    }
    best.values().sum::<u64>().min(i64::MAX.unsigned_abs()).cast_signed()
}

/// For each ordered pair of components, what consumers get from all producers alike.
fn stages(graph: &TaskGraph, size: &[u64]) -> BTreeMap<(u32, u32), Stage> {
    let mut stages: BTreeMap<(u32, u32), Stage> = BTreeMap::new();
    let mut senders: Vec<(u32, i64)> = Vec::new();
    for (id, task) in graph.tasks.iter().enumerate() {
        senders.clear();
        let row = graph.row(id);
        senders.extend(row.map(|(other, rate)| (graph.tasks[other as usize].component.0, rate)));
        senders.retain(|&(component, _)| component != task.component.0);
        senders.sort_unstable();
        for of_one in senders.chunk_by(|a, b| a.0 == b.0) {
            let (component, least) = of_one[0];
            if of_one.len() as u64 != size[component as usize] {
                continue;
            }
            let rate = least.unsigned_abs();
            let stage = stages.entry((component, task.component.0)).or_default();
            stage.sum += rate;
            let cheaper = |(cpu, of): (u64, u64)| {
                u128::from(task.cpu) * u128::from(of) < u128::from(cpu) * u128::from(rate)
            };
            if stage.cheapest.is_none_or(cheaper) {
                stage.cheapest = Some((task.cpu, rate));
            }
        }
    }
    stages
}

/// Traffic of the stage less the most that can stay within nodes; `None` on overflow.
fn sent_out(p: u64, a: u64, stage: &Stage, cap: u64, nodes: u64) -> Option<u64> {
    let (cpu, rate) = stage.cheapest?;
    let [p, a, cap, k, sum] = [p, a, cap, nodes, stage.sum].map(u128::from);
    let (cpu, rate) = (u128::from(cpu), u128::from(rate));
    let total = p * sum;
    let all_cap = cap * k;
    let mut kept = total;
    if cpu > 0 {
        // T · (c − α/k) / β with T = p·Σs, α = p·a, β = cpu·Σs/s.
        let room = all_cap.saturating_sub(p * a);
        kept = kept.min(p.checked_mul(rate)?.checked_mul(room)? / (k * cpu));
    }
    if a > 0 {
        // T · (c − β/k) / α.
        let room = all_cap.checked_mul(rate)?.saturating_sub(cpu * sum);
        kept = kept.min(sum.checked_mul(room)? / k.checked_mul(rate)?.checked_mul(a)?);
    }
    u64::try_from(total - kept).ok()
}
