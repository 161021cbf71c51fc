//! Swaps of two units on different nodes: the task swap that the paper names as future work,
//! between any two of k nodes.

use super::Search;
use super::state::{Delta, Links, Rates};

/// How many units of each node are tried against each other node.
const BEST: usize = 8;

/// With at most so many units every pair is tried.
const ALL_PAIRS: usize = 256;

/// Swaps pairs as long as that makes excess or cost smaller and steps are left.
///
/// For each ordered pair of nodes the [`BEST`] units by gain are tried: time O(streams + units ·
/// log units) a round besides the trials, memory O(units), whatever the number of nodes.
pub(super) fn descend(search: &mut Search<'_, '_>) -> bool {
    let mut any = false;
    let mut partner = Links::new(search.model);
    while search.steps.left() > 0 {
        let swapped = match search.model.units() <= ALL_PAIRS {
            true => all_pairs(search, &mut partner),
            false => best_pairs(search, &mut partner),
        };
        if !swapped {
            break;
        }
        any = true;
    }
    any
}

fn all_pairs(search: &mut Search<'_, '_>, partner: &mut Links) -> bool {
    let mut swapped = false;
    for a in 0..search.model.units() {
        for b in 0..a {
            if search.steps.left() == 0 {
                return swapped;
            }
            swapped |= try_swap(search, partner, a, b);
        }
    }
    swapped
}

/// Swaps two units if that is better.
fn try_swap(search: &mut Search<'_, '_>, partner: &mut Links, a: usize, b: usize) -> bool {
    let model = search.model;
    let (p, q) = (search.state.place[a] as usize, search.state.place[b] as usize);
    if p == q || !model.allows(a, q) || !model.allows(b, p) {
        return false;
    }
    if !search.steps.take(2 + model.row_len(a) + model.row_len(b)) {
        search.steps.take(search.steps.left() as usize);
        return false;
    }
    search.links.gather(model, &search.state.place, a);
    let Some(first) = search.weigh(a, q) else { return false };
    search.apply(a, q);
    partner.gather(model, &search.state.place, b);
    if let Some(second) = search.weigh_with(b, p, partner) {
        let both = Delta {
            excess: first.excess + second.excess,
            cost: first.cost + second.cost,
            moves: first.moves + second.moves,
        };
        if search.wants(both) {
            search.apply_with(b, p, partner);
            return true;
        }
    }
    search.apply(a, p);
    false
}

/// A unit that would gain by going from one node to another.
type Wish = (u32, u32, i64, u32);

fn best_pairs(search: &mut Search<'_, '_>, partner: &mut Links) -> bool {
    let wishes = wishes(search);
    let mut swapped = false;
    let mut tried = vec![false; search.model.units()];
    for from in wishes.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let (p, q) = (from[0].0, from[0].1);
        let start = wishes.partition_point(|wish| (wish.0, wish.1) < (q, p));
        let back = wishes[start..].iter().take_while(|wish| (wish.0, wish.1) == (q, p));
        if p > q {
            continue;
        }
        let back: Vec<&Wish> = back.take(BEST).collect();
        for a in from.iter().take(BEST) {
            for b in &back {
                let (a, b) = (a.3 as usize, b.3 as usize);
                // Not what has been swapped in this round: its gain is another now.
                if a_is_gone(&tried, a, b) {
                    continue;
                }
                if search.steps.left() == 0 {
                    return swapped;
                }
                if try_swap(search, partner, a, b) {
                    (tried[a], tried[b], swapped) = (true, true, true);
                }
            }
        }
    }
    swapped
}

fn a_is_gone(tried: &[bool], a: usize, b: usize) -> bool {
    tried[a] || tried[b]
}

/// For each unit the two nodes it gains most by, sorted by pair of nodes, the largest gain first.
fn wishes(search: &mut Search<'_, '_>) -> Vec<Wish> {
    let model = search.model;
    let mut wishes: Vec<Wish> = Vec::new();
    for unit in 0..model.units() {
        if !search.steps.take(1 + model.row_len(unit)) {
            break;
        }
        search.links.gather(model, &search.state.place, unit);
        let from = search.state.place[unit] as usize;
        let here = search.links.cost_at(model, unit, from);
        let mut best = [(i64::MIN, 0_u32); 2];
        for &to in &search.links.nodes {
            if to as usize == from || !model.allows(unit, to as usize) {
                continue;
            }
            let gain = here - search.links.cost_at(model, unit, to as usize);
            if gain > best[0].0 {
                best = [(gain, to), best[0]];
            } else if gain > best[1].0 {
                best[1] = (gain, to);
            }
        }
        let found = best.iter().filter(|&&(gain, _)| gain > i64::MIN);
        wishes.extend(found.map(|&(gain, to)| (from as u32, to, -gain, unit as u32)));
    }
    wishes.sort_unstable();
    wishes
}
