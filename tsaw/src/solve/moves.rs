//! Moves of single units, the paper's gain of equation (10) under all limits.

use super::Search;
use super::state::Delta;
use super::waiting::Waiting;

/// Moves units, each to the node that is best for it, until none is better elsewhere or the
/// steps end. Better is less excess, then less cost, then, if `even` is set, evener loads.
///
/// Each move makes (excess, cost, loads sorted downwards) smaller, so this ends.
pub(super) fn descend(search: &mut Search<'_, '_>, even: bool) -> bool {
    let model = search.model;
    let mut waiting = Waiting::all(model.units());
    let (mut any, mut from) = (false, 0);
    while let Some(unit) = waiting.take(from) {
        from = unit + 1;
        let Some(to) = best_move(search, unit, even) else {
            if search.steps.left() == 0 {
                return any;
            }
            continue;
        };
        search.apply(unit, to);
        any = true;
        waiting.insert(unit);
        for (other, _) in model.row(unit) {
            waiting.insert(other);
        }
    }
    any
}

/// The best node for a unit if that is better than where it is. Leaves the unit's links.
fn best_move(search: &mut Search<'_, '_>, unit: usize, even: bool) -> Option<usize> {
    let model = search.model;
    if !search.steps.take(1 + model.row_len(unit)) {
        search.steps.take(search.steps.left() as usize);
        return None;
    }
    search.links.gather(model, &search.state.place, unit);
    let from = search.state.place[unit] as usize;
    // A node that it exchanges nothing with is of use if its own is overfull, or to be evener.
    let all = model.nodes() <= 64 || search.state.broken(model, from) > 0;
    let nodes = if all { model.allowed(unit) } else { &search.links.nodes };
    let mut best: Option<(Delta, usize)> = None;
    for &to in nodes {
        let to = to as usize;
        if to == from || (!all && !model.allows(unit, to)) {
            continue;
        }
        if !search.steps.take(1) {
            break;
        }
        let Some(delta) = search.weigh(unit, to) else { continue };
        let emptier = |other: usize| even && search.state.is_emptier(model, unit, to, other);
        if best.is_none_or(|(least, at)| delta < least || (delta == least && emptier(at))) {
            best = Some((delta, to));
        }
    }
    let (delta, to) = best?;
    let evener = || even && delta == Delta::NONE && search.state.is_evener(model, unit, to);
    (search.wants(delta) || evener()).then_some(to)
}
