//! The multilevel method for large topologies: clusters of clusters until few units are left,
//! these halved again and again by the paper's growth, and what comes of it refined on every
//! finer level (Karypis and Kumar 1998; Meyerhenke, Sanders and Schulz 2014).
//!
//! All limits are those of the model, on every level: a cluster has the sum of its units' CPU and
//! memory, the nodes that they may be on, and their places in spread groups.

use super::climb::{Climb, Effort};
use super::coarse::{self, Bound};
use super::model::{Model, NOWHERE};
use super::state::State;
use super::{Search, exchange, growth, swaps, worth};
use crate::rng::SplitMix64;
use crate::steps::Steps;

/// Units a node on the coarsest level.
const COARSEST: usize = 12;

/// Clusters that would fill a node: none is larger than that part of its mean load.
const PARTS: i64 = 12;

/// From how many seeds the coarsest level is placed.
const SEEDS: u64 = 4;

/// From how many first units each half is grown.
const GROWTHS: usize = 4;

/// How often the best placement is coarsened and refined again, at most.
const CYCLES: usize = 4;

/// Cycles end after one that saves less than this part of the cost.
const LEAST_GAIN: i64 = 100;

/// Up to so many units pairs are swapped as well: where units are large a cap leaves no room for
/// one without the other's going.
const SWAPPED: usize = 20_000;

const EFFORT: Effort = Effort { passes: 3, patience: 60 };

/// The best placement found; it may break limits.
pub(super) fn place(model: &Model<'_>, seed: u64, steps: &mut Steps) -> State {
    let mut rng = SplitMix64::new(seed);
    let mut best = cycle(model, None, &mut rng, steps);
    for _ in 0..CYCLES {
        let next = cycle(model, Some(best.place.clone()), &mut rng, steps);
        let (before, after) = (worth(model, &best), worth(model, &next));
        if after < before {
            best = next;
        }
        // What gains hardly anything gains no more the next time.
        if after.0 == before.0 && before.1 - after.1 <= before.1 / LEAST_GAIN {
            break;
        }
    }
    best
}

/// Down to the coarsest level and up again. A placement to start from keeps what it has on
/// different nodes apart.
fn cycle(
    model: &Model<'_>,
    start: Option<Vec<u32>>,
    rng: &mut SplitMix64,
    steps: &mut Steps,
) -> State {
    let few = COARSEST * model.nodes();
    let mut levels: Vec<(Model<'static>, Vec<u32>)> = Vec::new();
    let mut place = start;
    loop {
        let finest = levels.last().map_or(model, |level| &level.0);
        if finest.units() <= few {
            break;
        }
        let bound = Bound { within: place.as_deref(), small: true, ..Bound::parts(model, PARTS) };
        let Some((coarse, cluster)) = coarse::clustered(finest, bound, rng, steps) else { break };
        place = place.map(|place| {
            let mut of = vec![0; coarse.units()];
            cluster.iter().zip(place).for_each(|(&at, node)| of[at as usize] = node);
            of
        });
        levels.push((coarse, cluster));
    }
    let coarsest = levels.last().map_or(model, |level| &level.0);
    let mut state = match place {
        Some(place) => refined(coarsest, place, rng, steps),
        None => initial(coarsest, rng.next(), steps),
    };
    while let Some((_, cluster)) = levels.pop() {
        let finer = levels.last().map_or(model, |level| &level.0);
        let place = cluster.iter().map(|&at| state.place[at as usize]).collect();
        state = refined(finer, place, rng, steps);
    }
    state
}

/// Mends what is broken, then climbs, then swaps.
fn refined(model: &Model<'_>, place: Vec<u32>, rng: &mut SplitMix64, steps: &mut Steps) -> State {
    let state = climbed(model, place, rng, steps);
    if model.units() > SWAPPED {
        return state;
    }
    let mut search = Search::new(model, state.place, steps);
    swaps::descend(&mut search);
    search.state
}

/// Mends what is broken, then climbs.
fn climbed(model: &Model<'_>, place: Vec<u32>, rng: &mut SplitMix64, steps: &mut Steps) -> State {
    let mut state = State::new(model, place);
    if state.excess(model) > 0 {
        let mut search = Search::new(model, state.place, steps);
        search.mend();
        state = search.state;
    }
    let mut climb = Climb::new(model, state);
    climb.run(EFFORT, rng, steps);
    climb.state
}

/// The best of several seeds, each with its part of the steps, so that it does not matter which
/// thread does which.
fn initial(model: &Model<'_>, seed: u64, steps: &mut Steps) -> State {
    let part = steps.left() / 2 / SEEDS;
    let attempt = |number: u64| {
        let mut rng = SplitMix64::new(seed.wrapping_add(number));
        let mut steps = Steps::new(part);
        let place = halved(model, &mut rng, &mut steps);
        let place = exchange::descend(model, place, &mut steps);
        let state = refined(model, place, &mut rng, &mut steps);
        (worth(model, &state), number, steps.used(), state.place)
    };
    #[cfg(feature = "rayon")]
    let attempts: Vec<_> = {
        use rayon::prelude::*;
        (0..SEEDS).into_par_iter().map(attempt).collect()
    };
    #[cfg(not(feature = "rayon"))]
    let attempts: Vec<_> = (0..SEEDS).map(attempt).collect();
    let used: u64 = attempts.iter().map(|attempt| attempt.2).sum();
    steps.take(used as usize);
    let best = attempts.into_iter().min_by_key(|attempt| (attempt.0, attempt.1));
    State::new(model, best.map_or_else(Vec::new, |attempt| attempt.3))
}

/// All units on all nodes, by halves of halves.
fn halved(model: &Model<'_>, rng: &mut SplitMix64, steps: &mut Steps) -> Vec<u32> {
    let mut place = vec![0; model.units()];
    let mut number = vec![NOWHERE; model.units()];
    let mut parts = vec![((0..model.units() as u32).collect::<Vec<u32>>(), 0..model.nodes())];
    while let Some((units, nodes)) = parts.pop() {
        if nodes.len() == 1 || units.is_empty() {
            units.iter().for_each(|&unit| place[unit as usize] = nodes.start as u32);
            continue;
        }
        let middle = model.middle(&nodes);
        let (left, right) = (nodes.start..middle, middle..nodes.end);
        let half = model.halves(&units, left.clone(), right.clone(), &mut number);
        let sides = grown(&half, rng, steps);
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for (&unit, side) in units.iter().zip(sides) {
            if side == 0 { ours.push(unit) } else { theirs.push(unit) }
        }
        parts.push((ours, left));
        parts.push((theirs, right));
    }
    place
}

/// Two sides, by the paper's growth from several first units.
fn grown(half: &Model<'_>, rng: &mut SplitMix64, steps: &mut Steps) -> Vec<u32> {
    let mut best: Option<((i64, i64), Vec<u32>)> = None;
    for _ in 0..GROWTHS {
        let place = growth::grow(half, Some(rng), steps);
        let state = climbed(half, place, rng, steps);
        let worth = worth(half, &state);
        if best.as_ref().is_none_or(|best| worth < best.0) {
            best = Some((worth, state.place));
        }
    }
    best.map_or_else(Vec::new, |best| best.1)
}
