//! A placement that breaks nothing, whatever it costs, and the least level for which there is one.

use super::model::Model;
use super::state::State;
use super::{Search, anneal, exact, growth};
use crate::Level;
use crate::rng::SplitMix64;
use crate::steps::Steps;

/// The most steps that one attempt may take, and a step for each unit and stream besides.
const ATTEMPT: u64 = 150_000;

/// What an attempt came to.
#[derive(Debug)]
pub(super) enum Attempt {
    Found(State),
    /// There is none; this is the one that breaks least.
    Impossible(State),
    /// None was found; this is the one that breaks least.
    Failed(State),
}

/// Looks for a placement that breaks nothing: heaviest first, then moves and swaps, then
/// annealing of what is broken alone, then a complete search.
pub(super) fn attempt(model: &Model<'_>, rng: &mut SplitMix64, steps: &mut Steps) -> Attempt {
    let size = (model.units() + model.targets.len()) as u64;
    steps.lend(ATTEMPT + 8 * size, |steps| {
        let place = growth::heaviest_first(model, steps);
        let mut search = Search::new(model, place, steps);
        search.descend(true);
        let mut best = search.state;
        if best.excess(model) == 0 {
            return Attempt::Found(best);
        }
        // Where units are few this is decided at once.
        match steps.lend(ATTEMPT / 8, |steps| exact::any(model, steps)) {
            exact::Outcome::Found(place) => return Attempt::Found(State::new(model, place)),
            exact::Outcome::Impossible => return Attempt::Impossible(best),
            exact::Outcome::OutOfSteps => {}
        }
        if model.units() * model.nodes() <= anneal::TABLE {
            // So strict that the cost is no matter, and so warm that up to about half of a unit's
            // mean load may be over at first: with a third of that, one in 800 instances with two
            // tight resources is missed.
            let schedule = anneal::Schedule { trials: ATTEMPT / 4, heat: 1e3, strictness: 1e3 };
            for _ in 0..3 {
                let found = anneal::anneal(model, &best, schedule, rng, steps);
                if found.excess(model) < best.excess(model) {
                    best = found;
                }
                if best.excess(model) == 0 {
                    return Attempt::Found(best);
                }
            }
        }
        match exact::any(model, steps) {
            exact::Outcome::Found(place) => Attempt::Found(State::new(model, place)),
            exact::Outcome::Impossible => Attempt::Impossible(best),
            exact::Outcome::OutOfSteps => Attempt::Failed(best),
        }
    })
}

/// Of how much of the level the search leaves open in large instances.
const RESOLUTION: f64 = 0.001;

/// The most attempts at the next lower level.
const LOWERINGS: u32 = 64;

/// The least level that is found, with a placement that keeps it.
///
/// `asked` are the caps that don't suffice, `most` those that may not be passed, and below
/// `lower` there is none. The range is halved down to [`RESOLUTION`]; then the level is lowered
/// by the least amount as long as that succeeds. `None` if not even `most` is kept.
pub(super) fn least_level(
    model: &mut Model<'_>,
    asked: &[i64],
    most: &[i64],
    lower: Level,
    rng: &mut SplitMix64,
    steps: &mut Steps,
) -> Option<(Level, State)> {
    model.cap = most.to_vec();
    let Attempt::Found(mut state) = attempt(model, rng, steps) else { return None };
    let mut level = peak(model, &state);
    let asked_level = asked.iter().zip(&model.node_cpu);
    let asked_level = asked_level.map(|(&cap, &cpu)| level_of(cap, cpu)).max()?;
    let mut low = lower.max(asked_level);
    // The bound itself is worth a try: what meets it is proven least.
    let mut target = if lower > asked_level { lower } else { halfway(low, level) };
    let mut lowerings = 0;
    while level > low && lowerings < LOWERINGS {
        let fine = level.as_f64() - low.as_f64() <= RESOLUTION * level.as_f64();
        lowerings += u32::from(fine);
        for (node, cap) in model.cap.iter_mut().enumerate() {
            let cpu = model.node_cpu[node];
            let raised = if fine { cap_below(level, cpu) } else { cap_at(target, cpu) };
            *cap = asked[node].max(raised).min(most[node]);
        }
        match attempt(model, rng, steps) {
            Attempt::Found(found) if peak(model, &found) < level => {
                level = peak(model, &found);
                state = found;
            }
            Attempt::Impossible(_) | Attempt::Failed(_) | Attempt::Found(_) if fine => break,
            _ => low = low.max(target),
        }
        target = halfway(low, level);
    }
    Some((level, state))
}

fn halfway(low: Level, high: Level) -> Level {
    let scaled = |level: Level| (u128::from(level.load()) << 24) / u128::from(level.cpu());
    let middle = (scaled(low) + scaled(high)) / 2;
    Level::new(u64::try_from(middle).unwrap_or(u64::MAX), 1 << 24)
}

pub(super) fn cap_at(level: Level, cpu: i64) -> i64 {
    level.cap(cpu.unsigned_abs()).min(1 << 60).cast_signed()
}

/// The largest load that is less full than the level.
fn cap_below(level: Level, cpu: i64) -> i64 {
    let full = u128::from(level.load()) * u128::from(cpu.unsigned_abs());
    let cap = full.div_ceil(u128::from(level.cpu())).saturating_sub(1);
    i64::try_from(cap).unwrap_or(i64::MAX)
}

/// The largest load over CPU of a node.
pub(super) fn peak(model: &Model<'_>, state: &State) -> Level {
    let nodes = state.nodes.iter().zip(&model.node_cpu);
    nodes.map(|(used, &cpu)| level_of(used.cpu, cpu)).max().unwrap_or(Level::ZERO)
}

fn level_of(load: i64, cpu: i64) -> Level {
    Level::new(load.unsigned_abs(), cpu.unsigned_abs())
}
