//! From a cluster to a plan: groups, their solutions, what failed once more, and the outcome.

use std::sync::atomic::{AtomicBool, Ordering};

use super::cluster::{Band, Cluster};
use super::decompose::{Decomposition, Group, GroupRule, GroupState, decompose};
use super::draft::Draft;
use super::options::{Options, Search};
use super::plan::Plan;
use super::problem::{Problem, largest_room, problems, relievable};
use super::solve::{Means, Solved, solve};
use crate::error::Error;

/// Plans moves that bring every node into its band with few bytes.
///
/// O(n log n + h) on average for n nodes and h entries where covers by ratio fit, as they do with
/// many entries; searches take at most [`Options::steps`] on top. Memory for the entries of
/// overloaded nodes. Every constraint of the program (4) to (8) holds for the moves, but for what
/// `left_over` and `left_idle` name.
///
/// # Errors
/// Costs or a capacity of new nodes that are no numbers above 0 (a step and a move may cost 0).
pub fn plan(cluster: &Cluster<'_>, band: Band, options: &Options<'_>) -> Result<Plan, Error> {
    crate::error::non_negative("seconds_per_step", options.costs.seconds_per_step)?;
    crate::error::non_negative("seconds_per_move", options.costs.seconds_per_move)?;
    crate::error::positive("bytes_per_second", options.costs.bytes_per_second)?;
    if let Some(capacity) = options.new_node {
        crate::error::positive("new_node", capacity)?;
    }
    if let Search::Anneal(anneal) = options.search {
        crate::error::non_negative("a of L_m", anneal.a)?;
        crate::error::non_negative("b of L_m", anneal.b)?;
        crate::error::non_negative("cooling", anneal.cooling)?;
        anneal.t0.map_or(Ok(0.0), |t0| crate::error::positive("t0", t0))?;
    }
    let cut = AtomicBool::new(false);
    let keep_going = || {
        let go = options.keep_going.is_none_or(|ask| ask());
        if !go {
            cut.store(true, Ordering::Relaxed);
        }
        go
    };
    let mut decomposition = decompose(cluster, band, options.groups);
    let steps = options.steps / (decomposition.groups.len().max(1) as u64);
    let means = Means {
        search: options.search,
        costs: options.costs,
        steps,
        seed: options.seed,
        keep_going: &keep_going,
    };
    let mut made = solve_all(cluster, band, &decomposition.groups, &means);
    if matches!(options.groups, GroupRule::Mended | GroupRule::Relaxed | GroupRule::Whole) {
        retry(cluster, band, &mut decomposition, &mut made, &means, options.steps);
        if options.search == Search::Auto || options.search == Search::Exact {
            unite(cluster, band, &mut decomposition, &mut made, &means, options.steps);
        }
    }
    let mut draft = Draft::new(cluster);
    for (problem, solved) in &made {
        draft.add(problem, &solved.moves);
    }
    draft.serve(cluster, band, &decomposition.left_over);
    draft.sweep(cluster, band);
    let whole = !cut.load(Ordering::Relaxed);
    Ok(draft.finish(cluster, band, options, decomposition, &made, whole))
}

type Made = Vec<(Problem, Solved)>;

fn solve_all(cluster: &Cluster<'_>, band: Band, groups: &[Group], means: &Means<'_>) -> Made {
    let problems = problems(cluster, band, groups);
    let one = |(at, mut problem): (u64, Problem)| {
        let seed = means.seed ^ at.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let solved = solve(&mut problem, &Means { seed, ..*means });
        (problem, solved)
    };
    #[cfg(feature = "rayon")]
    {
        use rayon::prelude::*;
        let numbered: Vec<_> = (0_u64..).zip(problems).collect();
        numbered.into_par_iter().map(one).collect()
    }
    #[cfg(not(feature = "rayon"))]
    (0_u64..).zip(problems).map(one).collect()
}

/// How often groups that failed are merged with others, in all.
const MERGES: usize = 24;

/// Gives groups that failed the idle nodes that are in no group, then merges them with others.
fn retry(
    cluster: &Cluster<'_>,
    band: Band,
    decomposition: &mut Decomposition,
    made: &mut Made,
    means: &Means<'_>,
    all_steps: u64,
) {
    if made.iter().all(|(_, solved)| solved.feasible) {
        return;
    }
    // A node that not even all idle nodes can help is no reason to merge.
    let relievable = relievable(cluster, band, largest_room(cluster, band));
    let groups = &mut decomposition.groups;
    for _ in 0..MERGES {
        let worth = |group: &Group| group.over.iter().all(|&node| relievable[node as usize]);
        let mut both = made.iter().zip(groups.iter());
        let failed = both.position(|((_, solved), group)| !solved.feasible && worth(group));
        let Some(at) = failed.filter(|_| (means.keep_going)()) else { return };
        let mut group = groups[at].clone();
        let mut partner = None;
        if decomposition.left_idle.is_empty() {
            let others = (0..groups.len()).filter(|&other| other != at);
            let slack = |at: usize| groups[at].d2 - groups[at].d3;
            partner = others.max_by(|&a, &b| slack(a).total_cmp(&slack(b)).then(b.cmp(&a)));
            let Some(other) = partner else { return };
            join(&mut group, &groups[other]);
        } else {
            group.idle.extend(&decomposition.left_idle);
            group.spared.append(&mut decomposition.left_idle);
            group.state = GroupState::LeftIdle;
        }
        let left = Means { steps: all_steps.saturating_sub(spent(made)), ..*means };
        let mut retried = solve_all(cluster, band, std::slice::from_ref(&group), &left);
        retried[0].1.steps += made[at].1.steps;
        groups[at] = group;
        made.splice(at..=at, retried);
        if let Some(other) = partner {
            groups.remove(other);
            let gone = made.remove(other).1.steps;
            made[at - usize::from(other < at)].1.steps += gone;
        }
    }
}

/// The most entries for which all groups are tried as one.
const UNITED: usize = 4096;
/// Bytes over those of the best covers, in parts, for which it is tried.
const WORTH: f64 = 0.005;

/// Solves all groups as one where that may save bytes: where entries are few, the best covers may
/// fit the idle nodes of other groups and not those of their own.
fn unite(
    cluster: &Cluster<'_>,
    band: Band,
    decomposition: &mut Decomposition,
    made: &mut Made,
    means: &Means<'_>,
    all_steps: u64,
) {
    let items: usize = made.iter().map(|(problem, _)| problem.items.len()).sum();
    let bytes = |(problem, solved): &(Problem, Solved)| {
        let each = solved.moves.iter();
        each.map(|&(item, _)| problem.items[item as usize].cost()).sum::<f64>()
    };
    let may_gain = made.iter().any(|both| {
        let (problem, solved) = both;
        let narrowed = problem.sources.iter().any(|source| source.narrowed);
        !solved.feasible || narrowed || bytes(both) > solved.hope * (1.0 + WORTH)
    });
    if made.len() < 2 || items > UNITED || !may_gain {
        return;
    }
    let mut group = decomposition.groups[0].clone();
    decomposition.groups[1..].iter().for_each(|other| join(&mut group, other));
    let before = spent(made);
    let left = Means { steps: all_steps.saturating_sub(before), ..*means };
    let mut united = solve_all(cluster, band, std::slice::from_ref(&group), &left);
    let feasible = made.iter().all(|(_, solved)| solved.feasible);
    let all: f64 = made.iter().map(bytes).sum();
    let better = united.iter().all(|both| both.1.feasible && (!feasible || bytes(both) < all));
    if better {
        united[0].1.steps += before;
        *made = united;
        decomposition.groups = vec![group];
    } else {
        made[0].1.steps += spent(&united);
    }
}

/// Steps that were taken for these.
fn spent(made: &Made) -> u64 {
    made.iter().map(|(_, solved)| solved.steps).sum()
}

fn join(group: &mut Group, other: &Group) {
    group.over.extend(&other.over);
    group.idle.extend(&other.idle);
    group.spared.extend(&other.spared);
    group.d1 += other.d1;
    group.d2 += other.d2;
    group.d3 += other.d3;
    group.d4 += other.d4;
    group.state = if !group.spared.is_empty() {
        GroupState::LeftIdle
    } else if group.d3 >= group.d1 {
        GroupState::Closed
    } else {
        GroupState::Raised
    };
}
