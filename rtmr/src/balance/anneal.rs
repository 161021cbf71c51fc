//! Algorithm 2: annealing that counts its own time.
//!
//! The objective is ν = c_e·l + d/bw: time spent over l neighbours, and time to move d bytes.

use super::neighbour::Neighbours;
use super::state::State;
use crate::rng::SplitMix64;

/// What time a step and a byte take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    /// c_e: seconds that a neighbour takes to look at.
    pub seconds_per_step: f64,
    /// Bytes that are moved in a second.
    pub bytes_per_second: f64,
    /// c_0: seconds that a move takes beside its bytes.
    pub seconds_per_move: f64,
}

impl Default for Costs {
    /// 100 ns a neighbour, 1 Gbit/s, nothing a move.
    fn default() -> Self {
        Self { seconds_per_step: 1e-7, bytes_per_second: 125e6, seconds_per_move: 0.0 }
    }
}

/// Where Algorithm 2 begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Start {
    /// Entries of the fewest bytes a load, improved near the break.
    #[default]
    Ratio,
    /// Entries of the most load.
    LoadFirst,
}

/// Parameters of Algorithm 2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Anneal {
    /// a of L_m = a·log₂ h + b, with h the number of entries.
    pub a: f64,
    /// b of it.
    pub b: f64,
    /// Where it begins.
    pub start: Start,
    /// T₀ in bytes; by default the mean difference of 32 neighbours.
    pub t0: Option<f64>,
    /// The factor of the temperature at each accepted neighbour that is worse.
    pub cooling: f64,
}

impl Default for Anneal {
    /// The paper's a = 2 and b = 0.
    fn default() -> Self {
        Self { a: 2.0, b: 0.0, start: Start::Ratio, t0: None, cooling: 0.5 }
    }
}

/// What a run of Algorithm 2 came to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Annealed {
    pub(crate) steps: u64,
}

/// Runs Algorithm 2 from a feasible `state`, which becomes the best one seen.
///
/// Stops after L_m neighbours in a row without gain, after `limit` in all, or when what may still
/// be gained over `bound` is less than the time of one more neighbour.
pub(crate) fn anneal(
    state: &mut State<'_>,
    bound: f64,
    costs: &Costs,
    anneal: &Anneal,
    limit: u64,
    rng: &mut SplitMix64,
    keep_going: &dyn Fn() -> bool,
) -> Annealed {
    let mut neighbours = Neighbours::new(state.problem, &state.place);
    let entries = state.problem.items.len().max(2) as f64;
    let longest = (anneal.a * libm::log2(entries) + anneal.b).max(1.0);
    let seconds = |bytes: f64| bytes / costs.bytes_per_second;
    let mut temperature = anneal.t0.unwrap_or_else(|| temperature(state, &neighbours, rng));
    let (mut patience, mut in_vain) = (longest, 0.0);
    let (mut best, mut best_place) = (state.cost, state.place.clone());
    state.keep(&mut best_place);
    let mut least_time = seconds(state.cost);
    let mut steps = 0;
    while in_vain < patience && steps < limit {
        if seconds(best - bound) <= costs.seconds_per_step {
            break;
        }
        if steps % 1024 == 0 && !keep_going() {
            break;
        }
        steps += 1;
        in_vain += 1.0;
        let Some(to) = neighbours.draw(state, rng) else { continue };
        let before = state.cost;
        let back = neighbours.go(state, to);
        if !state.feasible() {
            neighbours.go(state, back);
            continue;
        }
        let worse = state.cost - before;
        let time = costs.seconds_per_step * steps as f64 + seconds(state.cost);
        if time <= least_time {
            (least_time, in_vain, patience) = (time, 0.0, longest);
        } else if worse < 0.0 {
            // Fewer bytes, though not in less time: a new start for the counter (4.3).
            in_vain = 0.0;
        } else if worse == 0.0 {
            // Sideways: neither a gain nor a reason to lose patience.
        } else if rng.unit() < libm::exp(-worse / temperature) {
            patience /= 2.0;
            temperature *= anneal.cooling;
        } else {
            neighbours.go(state, back);
        }
        if state.cost < best {
            best = state.cost;
            state.keep(&mut best_place);
        }
    }
    state.place = best_place;
    state.recount();
    Annealed { steps }
}

/// T₀: the mean difference of 32 neighbours, feasible or not.
fn temperature(state: &State<'_>, neighbours: &Neighbours, rng: &mut SplitMix64) -> f64 {
    use super::neighbour::Neighbour;
    let (mut sum, mut count) = (0.0, 0.0);
    for _ in 0..32 {
        let delta = match neighbours.draw(state, rng) {
            Some(Neighbour::Relocate(item, place)) => state.delta(item, place).0,
            Some(Neighbour::Exchange(a, b)) => {
                state.delta(a, state.place[b]).0 + state.delta(b, state.place[a]).0
            }
            None => continue,
        };
        sum += delta.abs();
        count += 1.0;
    }
    // Above 0, so that a worse neighbour is accepted with a probability and not always.
    if count > 0.0 { (sum / count).max(f64::MIN_POSITIVE) } else { f64::MIN_POSITIVE }
}
