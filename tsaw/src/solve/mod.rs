//! The search: growth, moves, swaps and annealing over one model and one budget of steps.

mod anneal;
mod climb;
mod coarse;
mod derive;
mod exact;
mod exchange;
mod feasible;
mod growth;
mod model;
mod moves;
mod multilevel;
mod order;
mod reach;
mod search;
mod state;
mod swaps;
mod toll;
mod waiting;

pub(crate) use growth::complete;
pub(crate) use model::{Model, NOWHERE};
pub(crate) use search::Search;
pub(crate) use state::State;
pub(crate) use toll::Toll;

use crate::rng::SplitMix64;
use crate::steps::Steps;
use crate::{Level, Preset};

/// The most searches for a placement that breaks nothing.
const ATTEMPTS: u32 = 8;

/// Units for each node of the coarsest model.
const COARSEST: usize = 60;

/// From how many first units the coarsest model is grown.
const GROWTHS: usize = 4;

/// Trials of an annealing for each unit.
const TRIALS: u64 = 1_080;

/// With fewer trials than half of this the annealing is run again.
const FEW: u64 = 40_000;

/// What a placement is judged by: excess, then cost.
pub(crate) fn worth(model: &Model<'_>, state: &State) -> (i64, i64) {
    (state.excess(model), state.cost(model))
}

/// With more units than this the multilevel method does better than annealing.
const FEW_UNITS: usize = 256;

/// The best placement found under the caps of the model, from nothing.
pub(crate) fn placed(model: &Model<'_>, preset: Preset, seed: u64, steps: &mut Steps) -> State {
    if preset != Preset::Quality || model.units() <= FEW_UNITS {
        return balanced(model, None, seed, steps);
    }
    let most = steps.left() / 4 * 3;
    let state = steps.lend(most, |steps| multilevel::place(model, seed, steps));
    if state.excess(model) == 0 {
        return state;
    }
    let other = balanced(model, None, seed, steps);
    if worth(model, &other) < worth(model, &state) { other } else { state }
}

/// The best placement found under the caps of the model, from growth or from `start`.
pub(crate) fn balanced(
    model: &Model<'_>,
    start: Option<State>,
    seed: u64,
    steps: &mut Steps,
) -> State {
    let mut rng = SplitMix64::new(seed);
    let given = start.is_some();
    let start = start.unwrap_or_else(|| State::new(model, first(model, &mut rng, steps)));
    let mut best = start;
    // Few units lose nothing by a start that looks at sizes alone, if growth broke a limit.
    if given || !is_small(model) || best.excess(model) == 0 {
        best = improved(model, best, &mut rng, steps);
    }
    if given || best.excess(model) == 0 {
        return best;
    }
    // Sizes are tight: first keep the limits, then look at the cost.
    for _ in 0..ATTEMPTS {
        match feasible::attempt(model, &mut rng, steps) {
            feasible::Attempt::Found(state) => return improved(model, state, &mut rng, steps),
            feasible::Attempt::Impossible(state) => {
                return if worth(model, &state) < worth(model, &best) { state } else { best };
            }
            feasible::Attempt::Failed(state) => {
                if worth(model, &state) < worth(model, &best) {
                    best = state;
                }
            }
        }
    }
    // What is left goes to the complete search.
    match exact::any(model, steps) {
        exact::Outcome::Found(place) => improved(model, State::new(model, place), &mut rng, steps),
        _ => best,
    }
}

/// A first placement: by growth, of clusters where units are many.
///
/// The coarsest model is grown from several first units; then each finer one starts from what the
/// coarser one came to, and is improved by moves.
fn first(model: &Model<'_>, rng: &mut SplitMix64, steps: &mut Steps) -> Vec<u32> {
    let few = (COARSEST * model.nodes()).max(1_000);
    if model.units() <= few || is_small(model) {
        return growth::grow(model, None, steps);
    }
    let Some((coarse, cluster)) = coarse::coarser(model, rng, steps) else {
        return growth::grow(model, None, steps);
    };
    let mut place = first(&coarse, rng, steps);
    if coarse.units() <= few {
        let mut best = improved(&coarse, State::new(&coarse, place), rng, steps);
        for _ in 1..GROWTHS {
            let grown = growth::grow(&coarse, Some(rng), steps);
            let other = improved(&coarse, State::new(&coarse, grown), rng, steps);
            if worth(&coarse, &other) < worth(&coarse, &best) {
                best = other;
            }
        }
        place = best.place;
    } else {
        let mut search = Search::new(&coarse, place, steps);
        search.descend(true);
        place = search.state.place;
    }
    cluster.iter().map(|&at| place[at as usize]).collect()
}

fn is_small(model: &Model<'_>) -> bool {
    model.units() * model.nodes() <= anneal::TABLE
}

/// Annealing for few units, then moves and swaps. Never worse than `start`.
fn improved(model: &Model<'_>, start: State, rng: &mut SplitMix64, steps: &mut Steps) -> State {
    let units = model.units() as u64;
    let mut best = start;
    if units > 1 && is_small(model) {
        let wanted = TRIALS * units;
        let first = best.clone();
        // Few units take few trials; then several runs cost nothing that matters.
        for _ in 0..(FEW / wanted).clamp(1, 4) {
            let trials = wanted.min(steps.left() / 4 * 3);
            let schedule = anneal::Schedule { trials, heat: 0.3, strictness: 1.0 };
            let found = anneal::anneal(model, &first, schedule, rng, steps);
            if worth(model, &found) < worth(model, &best) {
                best = found;
            }
        }
    }
    let mut search = Search::new(model, best.place, steps);
    search.descend(true);
    best = search.state;
    let (excess, cost) = worth(model, &best);
    if excess == 0
        && exact::is_tiny(model)
        && let exact::Outcome::Found(place) = exact::best(model, steps, cost)
    {
        best = State::new(model, place);
    }
    best
}

/// Raises the caps of the model from `asked` as little as the search can, at most to `most`, and
/// places under them. `None` if not even `most` was kept; then the model has these caps.
pub(crate) fn relaxed(
    model: &mut Model<'_>,
    most: &[i64],
    lower: Level,
    seed: u64,
    steps: &mut Steps,
) -> Option<State> {
    let mut rng = SplitMix64::new(seed);
    let asked = model.cap.clone();
    let half = steps.left() / 2;
    let (level, state) = steps
        .lend(half, |steps| feasible::least_level(model, &asked, most, lower, &mut rng, steps))?;
    for (node, cap) in model.cap.iter_mut().enumerate() {
        *cap = asked[node].max(feasible::cap_at(level, model.node_cpu[node])).min(most[node]);
    }
    Some(balanced(model, Some(state), seed, steps))
}
