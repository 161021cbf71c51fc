//! A placement under improvement, with what moves may cost.

use super::model::Model;
use super::state::{Delta, Links, State};
use super::toll::Toll;
use super::{moves, swaps};
use crate::steps::Steps;

/// How often what has moved is looked at again.
const PASSES: usize = 8;

pub(crate) struct Search<'m, 'g> {
    pub(super) model: &'m Model<'g>,
    pub(crate) state: State,
    pub(super) links: Links,
    pub(super) steps: &'m mut Steps,
    pub(crate) toll: Option<Toll>,
    /// Only what makes the excess smaller is done.
    mending: bool,
}

impl<'m, 'g> Search<'m, 'g> {
    pub(crate) fn new(model: &'m Model<'g>, place: Vec<u32>, steps: &'m mut Steps) -> Self {
        let (state, links) = (State::new(model, place), Links::new(model));
        Self { model, state, links, steps, toll: None, mending: false }
    }

    /// What a move does; `None` if it would pass the budget.
    pub(super) fn weigh(&self, unit: usize, to: usize) -> Option<Delta> {
        self.weigh_with(unit, to, &self.links)
    }

    pub(super) fn weigh_with(&self, unit: usize, to: usize, links: &Links) -> Option<Delta> {
        let mut delta = self.state.weigh(self.model, unit, to, links);
        if let Some(toll) = &self.toll {
            let moves = toll.moves(unit, self.state.place[unit], to as u32)?;
            delta.cost = toll.full_cost(delta.cost) + i128::from(moves) * toll.per_move;
            delta.moves = moves;
        }
        Some(delta)
    }

    /// True if the change is to be made.
    pub(super) fn wants(&self, delta: Delta) -> bool {
        delta < Delta::NONE && (!self.mending || delta.excess < 0)
    }

    /// Mends what is broken before it looks at the cost, so that a budget of moves goes to the
    /// limits first; then as [`descend`](Self::descend).
    pub(crate) fn mend_and_descend(&mut self) {
        self.mend();
        self.descend(false);
    }

    /// Mends what is broken, at the least cost that single moves and swaps come to.
    pub(super) fn mend(&mut self) {
        self.mending = true;
        while self.state.excess(self.model) > 0 && self.steps.left() > 0 {
            if !moves::descend(self, false) && !swaps::descend(self) {
                break;
            }
        }
        self.mending = false;
    }

    /// Moves units back to where most of their tasks stand if that is no worse: steps that ended
    /// amid the descent leave moves that nothing came of. Until none goes back, at most
    /// [`PASSES`] times; O(streams of what has moved) each, without a step.
    pub(crate) fn put_back(&mut self) {
        for _ in 0..PASSES {
            let mut any = false;
            for unit in 0..self.model.units() {
                let Some(home) = self.toll.as_ref().and_then(|toll| toll.home(unit)) else {
                    continue;
                };
                if self.state.place[unit] == home || !self.model.allows(unit, home as usize) {
                    continue;
                }
                self.links.gather(self.model, &self.state.place, unit);
                let delta = self.weigh(unit, home as usize);
                if delta.is_some_and(|delta| delta < Delta::NONE) {
                    self.apply(unit, home as usize);
                    any = true;
                }
            }
            if !any {
                return;
            }
        }
    }

    pub(super) fn apply(&mut self, unit: usize, to: usize) {
        self.book(unit, to);
        self.state.apply(self.model, unit, to, &self.links);
    }

    pub(super) fn apply_with(&mut self, unit: usize, to: usize, links: &Links) {
        self.book(unit, to);
        self.state.apply(self.model, unit, to, links);
    }

    fn book(&mut self, unit: usize, to: usize) {
        if let Some(toll) = &mut self.toll {
            toll.book(unit, self.state.place[unit], to as u32);
        }
    }

    /// Moves and swaps until neither helps or the steps end. `even` also moves what costs the
    /// same and makes loads evener.
    pub(crate) fn descend(&mut self, even: bool) {
        loop {
            moves::descend(self, even);
            if !swaps::descend(self) {
                return;
            }
        }
    }
}
