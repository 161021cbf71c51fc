//! Threshold annealing of small instances, with what each unit exchanges with each node at hand.
//!
//! A change is taken if it makes things worse by less than a random part of a falling threshold.
//! What breaks a limit costs a penalty, so that the search may pass through such placements; the
//! best one that breaks none is kept. Only sums, products and quotients of floats are used, which
//! are the same on every machine.

use super::model::Model;
use super::state::{State, Use};
use crate::rng::SplitMix64;
use crate::steps::Steps;

/// Up to so many entries of units times nodes the table of links is kept.
pub(super) const TABLE: usize = 1 << 16;

/// How one annealing goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    pub(super) trials: u64,
    /// The first threshold, in units of the mean rate around a unit over the nodes.
    pub(super) heat: f64,
    /// What excess costs: 1 weighs a unit's mean load as its mean traffic.
    pub(super) strictness: f64,
}

struct Annealing<'m, 'g> {
    model: &'m Model<'g>,
    state: State,
    /// Rates from each unit to each node.
    links: Vec<i64>,
    cost: i64,
    excess: i64,
    penalty: f64,
}

/// Anneals from a placement and returns the best one met, by excess, then cost.
pub(super) fn anneal(
    model: &Model<'_>,
    start: &State,
    schedule: Schedule,
    rng: &mut SplitMix64,
    steps: &mut Steps,
) -> State {
    let mut run = Annealing::new(model, start.clone());
    let mut best = (run.excess, run.cost, run.state.place.clone());
    let units = model.units();
    let mean = model.degree.iter().map(|&degree| degree as f64).sum::<f64>() / units as f64;
    let scale = mean * schedule.heat / (model.nodes() as f64).sqrt();
    // A whole resource over its limit is 2⁴⁰; a unit's mean part of it costs its mean traffic.
    let part = (1_u64 << 40) as f64 / units as f64;
    let strictest = (mean + 1.0) / part;
    run.penalty = strictest * schedule.strictness;
    let mut threshold = scale;
    for trial in 0..schedule.trials {
        if trial % 128 == 0 {
            let left = (schedule.trials - trial) as f64 / schedule.trials as f64;
            threshold = scale * left * left;
        }
        if !steps.take(1) {
            break;
        }
        let draw = (rng.next() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64);
        let changed = match rng.next() & 1 {
            0 => run.try_move(rng, threshold * draw),
            _ => run.try_swap(rng, threshold * draw),
        };
        if changed && (run.excess, run.cost) < (best.0, best.1) {
            (best.0, best.1) = (run.excess, run.cost);
            best.2.copy_from_slice(&run.state.place);
        }
    }
    State::new(model, best.2)
}

impl<'m, 'g> Annealing<'m, 'g> {
    fn new(model: &'m Model<'g>, state: State) -> Self {
        let mut links = vec![0; model.units() * model.nodes()];
        for unit in 0..model.units() {
            for (other, rate) in model.row(unit) {
                links[unit * model.nodes() + state.place[other] as usize] += rate;
            }
        }
        let (cost, excess) = (state.cost(model), state.excess(model));
        Self { model, links, cost, excess, penalty: 1.0, state }
    }

    fn try_move(&mut self, rng: &mut SplitMix64, threshold: f64) -> bool {
        let model = self.model;
        let unit = rng.index(model.units());
        let allowed = model.allowed(unit);
        let to = allowed[rng.index(allowed.len())] as usize;
        let from = self.state.place[unit] as usize;
        if from == to {
            return false;
        }
        let cost = self.cost_change(unit, from, to);
        let (mut a, mut b) = (self.state.nodes[from], self.state.nodes[to]);
        self.transfer(unit, (from, &mut a), (to, &mut b), 0);
        let spread = self.state.spread_change(model, unit, from, to);
        let excess = self.state.replaced(model, (from, &a), (to, &b)) + spread;
        if !self.accepts(cost, excess, threshold) {
            return false;
        }
        self.commit(unit, from, to);
        (self.state.nodes[from], self.state.nodes[to]) = (a, b);
        (self.cost, self.excess) = (self.cost + cost, self.excess + excess);
        true
    }

    fn try_swap(&mut self, rng: &mut SplitMix64, threshold: f64) -> bool {
        let model = self.model;
        let (u, v) = (rng.index(model.units()), rng.index(model.units()));
        let (p, q) = (self.state.place[u] as usize, self.state.place[v] as usize);
        if p == q || !model.allows(u, q) || !model.allows(v, p) {
            return false;
        }
        let between = model.rate_between(u, v);
        let cost = self.cost_change(u, p, q)
            + self.cost_change(v, q, p)
            + 2 * between * model.distance(p, q);
        let (mut a, mut b) = (self.state.nodes[p], self.state.nodes[q]);
        self.transfer(u, (p, &mut a), (q, &mut b), 0);
        self.transfer(v, (q, &mut b), (p, &mut a), between);
        let mut spread = self.state.spread_change(model, u, p, q);
        self.state.spread_apply(model, u, p, q);
        spread += self.state.spread_change(model, v, q, p);
        let excess = self.state.replaced(model, (p, &a), (q, &b)) + spread;
        if !self.accepts(cost, excess, threshold) {
            self.state.spread_apply(model, u, q, p);
            return false;
        }
        self.state.spread_apply(model, u, q, p);
        self.commit(u, p, q);
        self.commit(v, q, p);
        (self.state.nodes[p], self.state.nodes[q]) = (a, b);
        (self.cost, self.excess) = (self.cost + cost, self.excess + excess);
        true
    }

    fn accepts(&self, cost: i64, excess: i64, threshold: f64) -> bool {
        cost as f64 + self.penalty * excess as f64 <= threshold
    }

    /// By how much the cost rises if the unit moves. O(1) at flat distance, else in the streams of
    /// the unit or in the nodes, whichever are fewer.
    fn cost_change(&self, unit: usize, from: usize, to: usize) -> i64 {
        let model = self.model;
        let row = &self.links[unit * model.nodes()..][..model.nodes()];
        if model.is_flat() {
            return row[from] - row[to];
        }
        let step =
            |node: usize, rate: i64| rate * (model.distance(to, node) - model.distance(from, node));
        if model.row_len(unit) < row.len() {
            let streams = model.row(unit);
            return streams.map(|(other, rate)| step(self.state.place[other] as usize, rate)).sum();
        }
        row.iter().enumerate().map(|(node, &rate)| step(node, rate)).sum()
    }

    /// Books a unit from one node to another; `moved` of its rate is to a unit that has just gone
    /// the other way.
    fn transfer(&self, unit: usize, from: (usize, &mut Use), to: (usize, &mut Use), moved: i64) {
        let model = self.model;
        let row = &self.links[unit * model.nodes()..][..model.nodes()];
        from.1.cpu -= model.cpu[unit];
        to.1.cpu += model.cpu[unit];
        from.1.mem -= model.mem[unit];
        to.1.mem += model.mem[unit];
        from.1.outside += 2 * (row[from.0] + moved) - model.degree[unit];
        to.1.outside += model.degree[unit] - 2 * (row[to.0] - moved);
        from.1.tasks -= model.size[unit];
        to.1.tasks += model.size[unit];
    }

    fn commit(&mut self, unit: usize, from: usize, to: usize) {
        let nodes = self.model.nodes();
        self.state.spread_apply(self.model, unit, from, to);
        self.state.place[unit] = to as u32;
        for (other, rate) in self.model.row(unit) {
            self.links[other * nodes + from] -= rate;
            self.links[other * nodes + to] += rate;
        }
    }
}
