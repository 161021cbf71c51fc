//! Phase 1: from a placement that breaks its ends to one that keeps them, and then to fewer bytes.
//!
//! Annealing over all placements. The energy is the violation, in parts of what must leave, times
//! a weight, and the bytes in parts of their bound: so it goes through infeasible placements, which
//! Algorithm 2 can't.

use super::neighbour::Neighbours;
use super::state::State;
use crate::rng::SplitMix64;

/// Where a violation of all that must leave stands beside bytes of twice the bound.
const WEIGHT: f64 = 20.0;
const HOT: f64 = 0.3;
const COLD: f64 = 3e-4;

/// Anneals for `limit` steps, or with `first` until a placement is feasible, and leaves `state` at the feasible placement of the fewest bytes, or
/// where it began if it met none: true if it is feasible.
pub(crate) fn repair(
    state: &mut State<'_>,
    bound: f64,
    limit: u64,
    first: bool,
    rng: &mut SplitMix64,
    keep_going: &dyn Fn() -> bool,
) -> (bool, u64) {
    let needs: f64 = state.problem.sources.iter().map(|source| source.need).sum();
    let unit = if bound > 0.0 { bound } else { state.cost.max(1.0) };
    let energy = |state: &State<'_>| WEIGHT * state.violation / needs + state.cost / unit;
    let mut kept = state.place.clone();
    state.keep(&mut kept);
    let mut best = if state.feasible() { state.cost } else { f64::INFINITY };
    let mut neighbours = Neighbours::new(state.problem, &state.place);
    let cooling = libm::pow(COLD / HOT, 1.0 / (limit.max(1) as f64));
    let (mut temperature, mut now, mut steps) = (HOT, energy(state), 0);
    while steps < limit {
        if steps % 4096 == 0 {
            if !keep_going() {
                break;
            }
            // Takes the rounding out of the running sums.
            state.recount();
            now = energy(state);
        }
        steps += 1;
        temperature *= cooling;
        let Some(to) = neighbours.draw(state, rng) else { continue };
        let back = neighbours.go(state, to);
        let next = energy(state);
        if next > now && rng.unit() >= libm::exp((now - next) / temperature) {
            neighbours.go(state, back);
            continue;
        }
        now = next;
        if state.feasible() && state.cost < best {
            best = state.cost;
            state.keep(&mut kept);
            if first || state.cost <= bound * (1.0 + 1e-4) {
                break;
            }
        }
    }
    state.place = kept;
    state.recount();
    (state.feasible(), steps)
}
