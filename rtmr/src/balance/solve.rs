//! One group: covers, packing, and the searches where those do not do.

use super::anneal::{Anneal, Costs, Start, anneal};
use super::cover::{Cover, cover};
use super::effort;
use super::exact;
use super::options::Search;
use super::pack::{Assignment, pack};
use super::problem::{Item, Problem, Source, by_ratio};
use super::repair::repair;
use super::select::break_item;
use super::state::{STAY, State};
use super::widest::Widest;
use crate::rng::SplitMix64;

/// What a search may use.
#[derive(Clone, Copy)]
pub(crate) struct Means<'a> {
    pub(crate) search: Search,
    pub(crate) costs: Costs,
    pub(crate) steps: u64,
    pub(crate) seed: u64,
    pub(crate) keep_going: &'a (dyn Fn() -> bool + Sync),
}

/// The solution of one group.
#[derive(Clone, Debug)]
pub(crate) struct Solved {
    /// Items and the target of each.
    pub(crate) moves: Assignment,
    /// Every constraint of the group holds.
    pub(crate) feasible: bool,
    /// No solution of this group takes fewer bytes; or, if not feasible, there is none.
    pub(crate) proven: bool,
    /// Bytes that every solution of this group takes at least.
    pub(crate) bound: f64,
    /// Σ F_j(need_j), whatever the idle nodes need.
    pub(crate) covers: f64,
    /// Bytes of the best covers, if they could be packed and had room: another group may have it.
    pub(crate) hope: f64,
    pub(crate) steps: u64,
}

/// Solves one group.
pub(crate) fn solve(problem: &mut Problem, means: &Means<'_>) -> Solved {
    let mut steps = 0;
    let mut covers = Vec::with_capacity(problem.sources.len());
    let highs = problem.highs();
    let needs: f64 = problem.sources.iter().map(|source| source.need - source.slack).sum();
    if needs > highs + problem.targets.iter().map(|target| target.slack).sum::<f64>() {
        return unreachable(problem, steps);
    }
    for j in 0..problem.sources.len() {
        let source = problem.sources[j];
        let most = source.most.min(highs);
        let cover = cover(&mut problem.items[source.range()], source.need, most, source.slack);
        // One node can't be relieved, so the group can't be solved: do what can be done.
        let Some(cover) = cover else { return unreachable(problem, steps) };
        steps += cover.steps;
        covers.push(cover);
    }
    let floor: f64 = covers.iter().map(|cover| cover.bound).sum();
    let load: f64 = covers.iter().map(|cover| cover.load).sum();
    let cost: f64 = covers.iter().map(|cover| cover.cost).sum();
    let hope: f64 = covers.iter().map(|cover| cover.free).sum();
    let lows = problem.lows();
    let slack: f64 = problem.targets.iter().map(|target| target.slack).sum();
    let (taken, raised) = if load < lows - slack {
        (raise(problem, &covers, lows - load), true)
    } else {
        (taken(problem, &covers), false)
    };
    let bound = if raised { raised_bound(problem, lows - slack).max(floor) } else { floor };
    // Where each cover is proven, no solution of the group takes fewer bytes than all of them.
    let proven = covers.iter().all(|cover| cover.optimal);
    let least = if proven { cost } else { 0.0 };
    let optimal = !raised && proven;
    let best = !raised && !covers.iter().any(|cover| cover.tight);
    let ratios: Vec<f64> = covers.iter().map(|cover| cover.ratio).collect();
    let within = covers.iter().zip(&problem.sources).all(|(c, s)| c.load <= s.most + s.slack);
    drop(covers);
    let fast = within.then(|| pack(problem, taken.clone())).flatten();
    let thorough = within && fast.is_none() && means.search != Search::Ratio;
    let fast = fast.or_else(|| thorough.then(|| pack_thoroughly(problem, &taken, means)).flatten());
    let fast =
        fast.filter(|_| !matches!(means.search, Search::Anneal(a) if a.start == Start::LoadFirst));
    let cost = |moves: &Assignment| {
        moves.iter().map(|&(item, _)| problem.items[item as usize].cost()).sum::<f64>()
    };
    if let Some(moves) = fast {
        let good = cost(&moves) <= bound * (1.0 + GOOD_ENOUGH);
        let enough = match means.search {
            Search::Ratio => true,
            // Covers that are the best there are, or nearly, and that were packed as they are.
            Search::Auto => optimal || good || best,
            Search::Exact => optimal,
            Search::Anneal(_) => false,
        };
        if enough {
            return Solved {
                moves,
                feasible: true,
                proven: optimal,
                bound,
                covers: floor,
                hope,
                steps,
            };
        }
        let mut place = vec![STAY; problem.items.len()];
        for (item, to) in moves {
            place[item as usize] = to + 1;
        }
        return search(
            problem,
            means,
            &ratios,
            (floor, bound.max(least)),
            Some(place),
            &taken,
            steps,
        );
    }
    if means.search == Search::Ratio {
        let moves = effort::best_effort(problem);
        return Solved { moves, feasible: false, proven: false, bound, covers: floor, hope, steps };
    }
    let bounds = (floor, bound.max(least));
    Solved { hope, ..search(problem, means, &ratios, bounds, None, &taken, steps) }
}

/// Packs the items by branch and bound where they are few: all of them, so that nothing is left
/// to decide but where.
fn pack_thoroughly(problem: &Problem, taken: &[u32], means: &Means<'_>) -> Option<Assignment> {
    if taken.len() > FEW || !exact::worth_a_try(problem) {
        return None;
    }
    let mut part =
        Problem { sources: Vec::new(), targets: problem.targets.clone(), items: Vec::new() };
    let mut order = taken.to_vec();
    order.sort_unstable();
    for source in &problem.sources {
        let start = part.items.len();
        let mine = order.iter().map(|&at| at as usize).filter(|at| source.range().contains(at));
        part.items.extend(mine.map(|at| Item { bytes: 0, ratio: 0.0, ..problem.items[at] }));
        let need: f64 = part.items[start..].iter().map(|item| item.load).sum();
        let len = part.items.len() - start;
        part.sources.push(Source { need, most: need, start, len, ..*source });
    }
    let ratios = vec![0.0; part.sources.len()];
    let keep_going: &dyn Fn() -> bool = &|| (means.keep_going)();
    let place = exact::search(&part, &ratios, 0.0, f64::INFINITY, PACKING, keep_going).place?;
    // An item of next to no load may stay.
    let moved = order.into_iter().zip(place).filter(|(_, place)| *place != STAY);
    Some(moved.map(|(item, place)| (item, place - 1)).collect())
}

/// Items that are packed by branch and bound, and its nodes.
const FEW: usize = 256;
const PACKING: u64 = 10_000;

/// A solution this near to the bound, in parts of it, is not searched on.
const GOOD_ENOUGH: f64 = 2e-4;

/// Searches on from a feasible `start`, or for one.
fn search(
    problem: &Problem,
    means: &Means<'_>,
    ratios: &[f64],
    (floor, bound): (f64, f64),
    start: Option<Vec<u32>>,
    taken: &[u32],
    mut steps: u64,
) -> Solved {
    let keep_going: &dyn Fn() -> bool = &|| (means.keep_going)();
    let mut rng = SplitMix64::new(means.seed);
    let mut state = State::new(problem);
    let mut feasible = start.is_some();
    if let Some(place) = start {
        state.place = place;
        state.recount();
    }
    let mut proven = false;
    // No more steps than the bytes that may still be saved are worth in time: Algorithm 2's
    // objective, for all of the search. Where there is no solution yet, any is worth them.
    let worth = |state: &State<'_>, feasible: bool| {
        let saved = (state.cost - bound) / means.costs.bytes_per_second;
        if feasible { steps_for(saved, means.costs.seconds_per_step).max(LEAST) } else { u64::MAX }
    };
    let tree = match means.search {
        Search::Exact => means.steps,
        Search::Auto => (means.steps / 8).min(worth(&state, feasible) / 2),
        Search::Anneal(_) | Search::Ratio => 0,
    };
    if tree > 0 && exact::worth_a_try(problem) {
        let best = if feasible { state.cost } else { f64::INFINITY };
        let found = exact::search(problem, ratios, floor, best, tree, keep_going);
        steps += found.steps;
        proven = found.complete;
        if let Some(place) = found.place {
            state.place = place;
            state.recount();
            feasible = state.feasible();
        }
    }
    let near = |state: &State<'_>| state.cost <= bound * (1.0 + GOOD_ENOUGH);
    if !proven && means.search != Search::Exact && !(feasible && near(&state)) {
        if !feasible {
            greedy_start(&mut state, taken, means.search);
        }
        let limit = means.steps.saturating_sub(steps);
        let work = match means.search {
            Search::Auto => {
                let most = AUTO_STEPS + 32 * problem.items.len() as u64;
                limit.min(most).min(worth(&state, feasible) / 2)
            }
            _ => limit,
        };
        let first = means.search != Search::Auto;
        if !first || !state.feasible() {
            let (found, used) = repair(&mut state, bound, work, first, &mut rng, keep_going);
            steps += used;
            feasible = found;
        } else {
            feasible = true;
        }
        if feasible && !near(&state) {
            let config = match means.search {
                Search::Anneal(config) => config,
                _ => Anneal::default(),
            };
            let limit = means.steps.saturating_sub(steps);
            let run = anneal(&mut state, bound, &means.costs, &config, limit, &mut rng, keep_going);
            steps += run.steps;
        }
    }
    let moves = if feasible { assignment(&state) } else { effort::best_effort(problem) };
    Solved { moves, feasible, proven, bound, covers: floor, hope: 0.0, steps }
}

/// How many steps take so many seconds.
#[allow(clippy::cast_sign_loss, reason = "neither is below 0")]
fn steps_for(seconds: f64, each: f64) -> u64 {
    if each > 0.0 { (seconds / each) as u64 } else { u64::MAX }
}

/// Steps that are always worth their time, a millisecond or so.
const LEAST: u64 = 20_000;

/// Steps of the repair in [`Search::Auto`], beside some for every item.
const AUTO_STEPS: u64 = 100_000;

/// Where a search without a feasible start begins.
fn greedy_start(state: &mut State<'_>, taken: &[u32], search: Search) {
    let problem = state.problem;
    let load_first = matches!(search, Search::Anneal(a) if a.start == Start::LoadFirst);
    let mut order: Vec<u32> = if load_first {
        let used = problem.sources.iter().flat_map(Source::range);
        #[allow(clippy::cast_possible_truncation, reason = "entries are counted by u32")]
        used.map(|item| item as u32).collect()
    } else {
        taken.to_vec()
    };
    let load = |item: u32| problem.items[item as usize].load;
    order.sort_unstable_by(|&a, &b| load(b).total_cmp(&load(a)).then(a.cmp(&b)));
    state.place.fill(STAY);
    state.recount();
    let mut rooms = Widest::new(problem.targets.iter().map(|target| target.high));
    for item in order {
        let j = state.source[item as usize] as usize;
        let source = &problem.sources[j];
        let done = state.out[j] >= source.need - source.slack;
        let over = state.out[j] + load(item) > source.most + source.slack;
        if load_first && (done || over) {
            continue;
        }
        if let Some((to, _)) = rooms.peek().filter(|&(_, room)| !load_first || load(item) <= room) {
            rooms.take(load(item));
            state.apply(item as usize, to + 1);
        }
    }
}

fn assignment(state: &State<'_>) -> Assignment {
    let moved = state.place.iter().enumerate().filter(|(_, place)| **place != STAY);
    #[allow(clippy::cast_possible_truncation, reason = "entries are counted by u32")]
    moved.map(|(item, place)| (item as u32, place - 1)).collect()
}

/// The covers' items as items of the problem.
#[allow(clippy::cast_possible_truncation, reason = "entries are counted by u32")]
fn taken(problem: &Problem, covers: &[Cover]) -> Vec<u32> {
    let each = problem.sources.iter().zip(covers);
    each.flat_map(|(s, cover)| cover.taken.iter().map(|item| item + s.start as u32)).collect()
}

/// More items by ratio, until the targets' low ends are met by `missing` more load.
fn raise(problem: &Problem, covers: &[Cover], missing: f64) -> Vec<u32> {
    let mut taken = taken(problem, covers);
    let mut is_taken = vec![false; problem.items.len()];
    taken.iter().for_each(|&item| is_taken[item as usize] = true);
    let mut more: Vec<(usize, u32)> = Vec::new();
    for (j, source) in problem.sources.iter().enumerate() {
        let left = source.range().filter(|&item| !is_taken[item]);
        #[allow(clippy::cast_possible_truncation, reason = "entries are counted by u32")]
        more.extend(left.map(|item| (j, item as u32)));
    }
    let item = |at: u32| &problem.items[at as usize];
    more.sort_unstable_by(|a, b| by_ratio(item(a.1), item(b.1)));
    let mut out: Vec<f64> = covers.iter().map(|cover| cover.load).collect();
    let mut missing = missing;
    for (j, at) in more {
        if missing <= 0.0 {
            break;
        }
        let load = item(at).load;
        if out[j] + load <= problem.sources[j].most {
            out[j] += load;
            missing -= load;
            taken.push(at);
        }
    }
    taken
}

/// The bound where all targets together need more than must leave: all items as one cover.
fn raised_bound(problem: &Problem, lows: f64) -> f64 {
    let used = problem.sources.iter().flat_map(|source| &problem.items[source.range()]);
    let mut items: Vec<_> = used.copied().collect();
    let at = break_item(&mut items, lows);
    at.fractional(&items, lows)
}

/// A group in which a node can't be relieved, whatever moves.
fn unreachable(problem: &Problem, steps: u64) -> Solved {
    let moves = effort::best_effort(problem);
    Solved { moves, feasible: false, proven: true, bound: 0.0, covers: 0.0, hope: 0.0, steps }
}
