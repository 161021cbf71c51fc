//! The search: growth, moves, swaps and annealing over one model and one budget of steps.

mod anneal;
mod exact;
mod growth;
mod model;
mod moves;
mod order;
mod state;
mod swaps;

pub(crate) use model::{Model, NOWHERE};
pub(crate) use state::State;

use crate::rng::SplitMix64;
use crate::steps::Steps;
use state::{Delta, Links};

/// A placement under improvement.
pub(crate) struct Search<'m, 'g> {
    pub(crate) model: &'m Model<'g>,
    pub(crate) state: State,
    links: Links,
    pub(crate) steps: &'m mut Steps,
}

impl<'m, 'g> Search<'m, 'g> {
    pub(crate) fn new(model: &'m Model<'g>, place: Vec<u32>, steps: &'m mut Steps) -> Self {
        Self { state: State::new(model, place), links: Links::new(model), model, steps }
    }

    fn weigh(&self, unit: usize, to: usize) -> Delta {
        self.weigh_with(unit, to, &self.links)
    }

    fn weigh_with(&self, unit: usize, to: usize, links: &Links) -> Delta {
        self.state.weigh(self.model, unit, to, links)
    }

    /// Moves and swaps until neither helps.
    pub(crate) fn descend(&mut self, even: bool) {
        loop {
            moves::descend(self, even);
            if !swaps::descend(self) {
                return;
            }
        }
    }
}

/// What a placement is judged by.
pub(crate) fn worth(model: &Model<'_>, state: &State) -> (i64, i64) {
    (state.excess(model), state.cost(model))
}

/// The best placement found under the caps of the model.
pub(crate) fn balanced(model: &Model<'_>, seed: u64, steps: &mut Steps) -> State {
    let mut rng = SplitMix64::new(seed);
    let small = model.units() * model.nodes() <= anneal::TABLE;
    let place = growth::grow(model, None, steps);
    let mut best = refined(model, place, steps);
    if small {
        for _ in 0..2 {
            let place = growth::grow(model, Some(&mut rng), steps);
            keep_better(model, &mut best, refined(model, place, steps));
        }
        best = annealed(model, best, &mut rng, steps);
    }
    if worth(model, &best).0 > 0 {
        let place = growth::heaviest_first(model, steps);
        keep_better(model, &mut best, refined(model, place, steps));
    }
    best
}

fn refined(model: &Model<'_>, place: Vec<u32>, steps: &mut Steps) -> State {
    let mut search = Search::new(model, place, steps);
    search.descend(true);
    search.state
}

fn keep_better(model: &Model<'_>, best: &mut State, other: State) {
    if worth(model, &other) < worth(model, best) {
        *best = other;
    }
}

fn annealed(model: &Model<'_>, start: State, rng: &mut SplitMix64, steps: &mut Steps) -> State {
    let env = |n: &str, d: f64| std::env::var(n).ok().and_then(|v| v.parse().ok()).unwrap_or(d);
    let mut best = start;
    let rounds = env("ROUNDS", 4.0) as u64;
    let trials = env("TRIALS", 200_000.0) as u64 / rounds;
    for _ in 0..rounds {
        let schedule = anneal::Schedule { trials, heat: env("HEAT", 1.0), strictness: env("STRICT", 1.0) };
        let found = anneal::anneal(model, &best, schedule, rng, steps);
        keep_better(model, &mut best, refined(model, found.place, steps));
    }
    best
}
