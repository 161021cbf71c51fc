//! From a cluster to a plan: groups, their solutions, what failed once more, and the outcome.

use std::sync::atomic::{AtomicBool, Ordering};

use super::cluster::{Band, Cluster};
use super::decompose::{Decomposition, Group, GroupRule, GroupState, decompose};
use super::effort::best_effort;
use super::options::{Options, Search};
use super::plan::{Move, Outcome, Plan, Shortage};
use super::problem::{Problem, items_of, largest_room, problems};
use super::select::break_item;
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
    let mut draft = Draft::new(cluster, band);
    for (problem, solved) in &made {
        draft.add(problem, &solved.moves);
    }
    draft.serve(cluster, band, &decomposition.left_over);
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

/// How often a group that failed is merged with another.
const MERGES: usize = 6;
/// Merges in all.
const ALL_MERGES: usize = 24;

/// Gives groups that failed the idle nodes that are in no group, then merges them with others.
fn retry(
    cluster: &Cluster<'_>,
    band: Band,
    decomposition: &mut Decomposition,
    made: &mut Made,
    means: &Means<'_>,
    all_steps: u64,
) {
    let widest = largest_room(cluster, band);
    let mut hopeless: Vec<u32> = Vec::new();
    let mut merges = 0;
    let groups = &mut decomposition.groups;
    loop {
        let failed = made.iter().zip(groups.iter()).position(|((_, solved), group)| {
            !solved.feasible && !group.over.iter().any(|node| hopeless.contains(node))
        });
        let Some(at) = failed else { return };
        // A node that not even all idle nodes can help is no reason to merge.
        let lost = |&&node: &&u32| !can_be_relieved(cluster, band, node, widest);
        if let Some(&node) = groups[at].over.iter().find(lost) {
            hopeless.push(node);
            continue;
        }
        let mut tries = 0;
        while !made[at].1.feasible && tries < MERGES && merges < ALL_MERGES {
            if (means.keep_going)() {
                tries += 1;
                merges += 1;
            } else {
                return;
            }
            let mut group = groups[at].clone();
            let mut partner = None;
            if decomposition.left_idle.is_empty() {
                let others = (0..groups.len()).filter(|&other| other != at);
                let slack = |at: usize| groups[at].d2 - groups[at].d3;
                partner = others.max_by(|&a, &b| slack(a).total_cmp(&slack(b)).then(b.cmp(&a)));
                let Some(other) = partner else { break };
                join(&mut group, &groups[other]);
            } else {
                let spare = &mut decomposition.left_idle;
                group.idle.append(&mut spare.clone());
                group.spared.append(spare);
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
                break;
            }
        }
        if merges >= ALL_MERGES || tries >= MERGES || groups.len() == 1 {
            // Each of its nodes has had its chance.
            match made.iter().zip(groups.iter()).find(|((_, solved), _)| !solved.feasible) {
                Some((_, group)) => hopeless.extend(&group.over),
                None => return,
            }
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
}

/// True if the entries that fit somewhere suffice to bring the node down.
fn can_be_relieved(cluster: &Cluster<'_>, band: Band, node: u32, widest: f64) -> bool {
    let (p, s) = (cluster.capacity()[node as usize], cluster.loads()[node as usize]);
    let (items, _) = items_of(cluster, band, node, widest);
    let need = s - band.high(p) - band.slack(p, s, 0.1 * Band::TOLERANCE);
    items.iter().map(|item| item.load).sum::<f64>() >= need
}

/// Moves in the making, and the loads after them.
struct Draft {
    moves: Vec<Move>,
    bytes: u64,
    loads: Vec<f64>,
}

impl Draft {
    fn new(cluster: &Cluster<'_>, _band: Band) -> Self {
        Self { moves: Vec::new(), bytes: 0, loads: cluster.loads().to_vec() }
    }

    fn add(&mut self, problem: &Problem, moves: &[(u32, u32)]) {
        let mut source = vec![0_u32; if moves.is_empty() { 0 } else { problem.items.len() }];
        if !moves.is_empty() {
            for s in &problem.sources {
                source[s.range()].fill(s.node);
            }
        }
        for &(item, target) in moves {
            let from = source[item as usize];
            let (item, to) = (&problem.items[item as usize], problem.targets[target as usize].node);
            self.loads[from as usize] -= item.load;
            self.loads[to as usize] += item.load;
            self.bytes += item.bytes;
            self.moves.push(Move { entry: item.entry, from, to, bytes: item.bytes });
        }
    }

    /// Does what it can for nodes without a group, by the room that is left.
    fn serve(&mut self, cluster: &Cluster<'_>, band: Band, left_over: &[u32]) {
        if left_over.is_empty() {
            return;
        }
        let nodes = cluster.capacity().iter().zip(cluster.loads());
        let idle: Vec<u32> = (0_u32..)
            .zip(nodes)
            .filter(|&(_, (&p, &s))| band.is_idle(p, s))
            .map(|(node, _)| node)
            .collect();
        let group = Group {
            over: left_over.to_vec(),
            spared: idle.clone(),
            idle,
            d1: 0.0,
            d2: 0.0,
            d3: 0.0,
            d4: 0.0,
            state: GroupState::Incomplete,
        };
        for mut problem in problems(cluster, band, &[group]) {
            for target in &mut problem.targets {
                let node = target.node as usize;
                target.high -= self.loads[node] - cluster.loads()[node];
            }
            let moves = best_effort(&problem);
            self.add(&problem, &moves);
        }
    }

    fn finish(
        mut self,
        cluster: &Cluster<'_>,
        band: Band,
        options: &Options<'_>,
        decomposition: Decomposition,
        made: &[(Problem, Solved)],
        reproducible: bool,
    ) -> Plan {
        self.moves.sort_unstable_by_key(|a| a.entry);
        let (mut left_over, mut left_idle) = (Vec::new(), Vec::new());
        for (node, (&p, &before)) in (0_u32..).zip(cluster.capacity().iter().zip(cluster.loads())) {
            let after = self.loads[node as usize];
            let slack = band.slack(p, before, 0.5 * Band::TOLERANCE);
            if after > band.high(p) + slack {
                left_over.push(node);
            } else if after < band.low(p) - slack {
                left_idle.push(node);
            }
        }
        let lower_bound = lower_bound(cluster, band, made, &left_over);
        let outcome = if left_over.is_empty() {
            if left_idle.is_empty() { Outcome::Balanced } else { Outcome::Partial }
        } else {
            self.outcome(cluster, band, options, &left_over)
        };
        Plan {
            moves: self.moves,
            bytes: self.bytes,
            lower_bound,
            group_bound: made.iter().map(|(_, solved)| solved.bound).sum(),
            outcome,
            left_over,
            left_idle,
            groups: decomposition.groups,
            steps: made.iter().map(|(_, solved)| solved.steps).sum(),
            optimal: decomposition.left_over.is_empty()
                && made.iter().all(|(_, solved)| solved.feasible && solved.proven),
            reproducible,
        }
    }

    /// Why nodes stay overloaded.
    fn outcome(
        &self,
        cluster: &Cluster<'_>,
        band: Band,
        options: &Options<'_>,
        left_over: &[u32],
    ) -> Outcome {
        let (mut needed, mut room) = (0.0, 0.0);
        for (&p, &s) in cluster.capacity().iter().zip(cluster.loads()) {
            if band.is_over(p, s) {
                needed += s - band.high(p);
            } else if band.is_idle(p, s) {
                room += band.high(p) - s;
            }
        }
        let over =
            |&node: &u32| self.loads[node as usize] - band.high(cluster.capacity()[node as usize]);
        let largest = cluster.capacity().iter().copied().fold(0.0, f64::max);
        let capacity = options.new_node.unwrap_or(largest);
        let left: f64 = left_over.iter().map(over).sum();
        #[allow(clippy::cast_sign_loss, reason = "neither is below 0")]
        let nodes = (capacity > 0.0).then(|| (left / band.high(capacity)).ceil() as u64);
        // A node that can't be relieved by any number of idle nodes says more than the sums.
        let fixed = |&node: &u32| {
            cluster.base()[node as usize] > band.high(cluster.capacity()[node as usize])
        };
        let fixed: Vec<u32> = left_over.iter().copied().filter(fixed).collect();
        if !fixed.is_empty() {
            return Outcome::FixedLoad(fixed);
        }
        if needed > room * (1.0 + Band::TOLERANCE) {
            let why = Shortage::Room { needed, room };
            return Outcome::NeedNodes { nodes, why };
        }
        let widest = largest_room(cluster, band);
        let mut hot = Vec::new();
        for &node in left_over.iter().filter(|&&n| !can_be_relieved(cluster, band, n, widest)) {
            hot.extend(items_of(cluster, band, node, widest).1);
        }
        if !hot.is_empty() {
            hot.sort_unstable();
            return Outcome::HotEntry(hot);
        }
        if matches!(options.groups, GroupRule::Paper | GroupRule::Pairwise | GroupRule::Star) {
            let why = Shortage::Grouping;
            return Outcome::NeedNodes { nodes, why };
        }
        Outcome::Unsolved
    }
}

/// Σ F_j(need_j) over the overloaded nodes that are no longer so.
fn lower_bound(
    cluster: &Cluster<'_>,
    band: Band,
    made: &[(Problem, Solved)],
    left_over: &[u32],
) -> f64 {
    let relieved = |node: &u32| left_over.binary_search(node).is_err();
    // Each group has the sum at hand, unless it is of other nodes or of other entries.
    let mut sum = 0.0;
    let mut anew: Vec<u32> = Vec::new();
    let mut grouped = vec![false; cluster.capacity().len()];
    for (problem, solved) in made {
        problem.sources.iter().for_each(|source| grouped[source.node as usize] = true);
        let as_is = |source: &super::problem::Source| !source.narrowed && relieved(&source.node);
        if solved.covers > 0.0 && problem.sources.iter().all(as_is) {
            sum += solved.covers;
        } else {
            anew.extend(problem.sources.iter().map(|source| source.node).filter(relieved));
        }
    }
    let nodes = cluster.capacity().iter().zip(cluster.loads());
    for (node, (&p, &s)) in (0_u32..).zip(nodes) {
        if band.is_over(p, s) && !grouped[node as usize] && relieved(&node) {
            anew.push(node);
        }
    }
    let widest = largest_room(cluster, band);
    for node in anew {
        let (p, s) = (cluster.capacity()[node as usize], cluster.loads()[node as usize]);
        let (mut items, _) = items_of(cluster, band, node, widest);
        let need = s - band.high(p) - band.slack(p, s, 0.1 * Band::TOLERANCE);
        sum += break_item(&mut items, need).fractional(&items, need);
    }
    sum
}
