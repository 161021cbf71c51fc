//! A placement of units with what it breaks and costs, and what a change would do to both.

use std::collections::BTreeMap;

use super::model::{Costs, Model};

/// What a change does: less is better, the excess first. `moves` are tasks away from a standing
/// placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Delta {
    pub(crate) excess: i64,
    /// Wide enough for any price of moves.
    pub(crate) cost: i128,
    pub(crate) moves: i64,
}

impl Delta {
    pub(super) const NONE: Self = Self { excess: 0, cost: 0, moves: 0 };
}

/// CPU, memory and outside traffic of a node.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Use {
    pub(crate) cpu: i64,
    pub(crate) mem: i64,
    pub(crate) outside: i64,
    pub(crate) tasks: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) place: Vec<u32>,
    pub(crate) nodes: Vec<Use>,
    /// Members of a spread group on a node, where there are any.
    spread: BTreeMap<(u32, u32), u32>,
}

impl State {
    /// O(units + streams).
    pub(crate) fn new(model: &Model<'_>, place: Vec<u32>) -> Self {
        let mut state =
            Self { nodes: vec![Use::default(); model.nodes()], spread: BTreeMap::new(), place };
        for unit in 0..model.units() {
            let at = state.place[unit];
            let outside: i64 = model
                .row(unit)
                .filter(|&(other, _)| state.place[other] != at)
                .map(|(_, rate)| rate)
                .sum();
            let node = &mut state.nodes[at as usize];
            node.cpu += model.cpu[unit];
            node.mem += model.mem[unit];
            node.outside += outside;
            node.tasks += model.size[unit];
            for &(group, count) in model.spreads_of(unit) {
                *state.spread.entry((group, at)).or_default() += count;
            }
        }
        state
    }

    /// What the placement breaks, in the weights of the model; 0 if nothing.
    pub(crate) fn excess(&self, model: &Model<'_>) -> i64 {
        let nodes: i64 =
            self.nodes.iter().enumerate().map(|(node, used)| broken(model, node, used)).sum();
        let over = |(&(group, _), &count): (&(u32, u32), &u32)| {
            i64::from(count.saturating_sub(model.spread_limit[group as usize]))
        };
        nodes + model.weights[3] * self.spread.iter().map(over).sum::<i64>()
    }

    /// Rates times distances.
    pub(crate) fn cost(&self, model: &Model<'_>) -> i64 {
        let mut cost = 0;
        for unit in 0..model.units() {
            let at = self.place[unit] as usize;
            for (other, rate) in model.row(unit).filter(|&(other, _)| other < unit) {
                cost += rate * model.distance(at, self.place[other] as usize);
            }
        }
        cost
    }

    /// What a node breaks now.
    pub(crate) fn broken(&self, model: &Model<'_>, node: usize) -> i64 {
        broken(model, node, &self.nodes[node])
    }

    /// What moving a unit to `to` does; `links` are its own.
    pub(crate) fn weigh(
        &self,
        model: &Model<'_>,
        unit: usize,
        to: usize,
        links: &impl Rates,
    ) -> Delta {
        let from = self.place[unit] as usize;
        let (after_from, after_to) = self.moved(model, unit, to, links);
        let excess = self.replaced(model, (from, &after_from), (to, &after_to))
            + self.spread_change(model, unit, from, to);
        let cost = links.cost_at(model, unit, to) - links.cost_at(model, unit, from);
        Delta { excess, cost: i128::from(cost), moves: 0 }
    }

    /// What the two nodes hold after a move.
    fn moved(&self, model: &Model<'_>, unit: usize, to: usize, links: &impl Rates) -> (Use, Use) {
        let from = self.place[unit] as usize;
        let (mut a, mut b) = (self.nodes[from], self.nodes[to]);
        a.cpu -= model.cpu[unit];
        b.cpu += model.cpu[unit];
        a.mem -= model.mem[unit];
        b.mem += model.mem[unit];
        // Streams to `from` now leave it, those that left it with the unit no longer do.
        a.outside += 2 * links.rate(from) - model.degree[unit];
        b.outside += model.degree[unit] - 2 * links.rate(to);
        a.tasks -= model.size[unit];
        b.tasks += model.size[unit];
        (a, b)
    }

    /// How the excess of two nodes changes if they hold this instead.
    pub(super) fn replaced(&self, model: &Model<'_>, a: (usize, &Use), b: (usize, &Use)) -> i64 {
        broken(model, a.0, a.1) + broken(model, b.0, b.1)
            - self.broken(model, a.0)
            - self.broken(model, b.0)
    }

    pub(super) fn spread_change(
        &self,
        model: &Model<'_>,
        unit: usize,
        from: usize,
        to: usize,
    ) -> i64 {
        let mut change = 0;
        for &(group, count) in model.spreads_of(unit) {
            let limit = model.spread_limit[group as usize];
            let at = |node: usize| self.spread.get(&(group, node as u32)).copied().unwrap_or(0);
            let over = |count: u32| i64::from(count.saturating_sub(limit));
            change += over(at(from) - count) - over(at(from));
            change += over(at(to) + count) - over(at(to));
        }
        model.weights[3] * change
    }

    /// True if a move that costs the same leaves the fuller of both nodes less full, or, for a
    /// unit without CPU, the one with more tasks with fewer.
    pub(crate) fn is_evener(&self, model: &Model<'_>, unit: usize, to: usize) -> bool {
        let from = self.place[unit] as usize;
        let (a, b) = (&self.nodes[from], &self.nodes[to]);
        if model.cpu[unit] == 0 {
            return b.tasks + model.size[unit] < a.tasks;
        }
        let full = |load: i64, other: usize| i128::from(load) * i128::from(model.node_cpu[other]);
        full(b.cpu + model.cpu[unit], from) < full(a.cpu, to)
    }

    /// True if `a` is less full than `b`, or, for a unit without CPU, has fewer tasks.
    pub(crate) fn is_emptier(&self, model: &Model<'_>, unit: usize, a: usize, b: usize) -> bool {
        let (of_a, of_b) = (&self.nodes[a], &self.nodes[b]);
        if model.cpu[unit] == 0 {
            return of_a.tasks < of_b.tasks;
        }
        let full = |load: i64, other: usize| i128::from(load) * i128::from(model.node_cpu[other]);
        full(of_a.cpu, b) < full(of_b.cpu, a)
    }

    pub(crate) fn apply(&mut self, model: &Model<'_>, unit: usize, to: usize, links: &impl Rates) {
        let from = self.place[unit] as usize;
        if from == to {
            return;
        }
        (self.nodes[from], self.nodes[to]) = self.moved(model, unit, to, links);
        self.spread_apply(model, unit, from, to);
        self.place[unit] = to as u32;
    }

    pub(super) fn spread_apply(&mut self, model: &Model<'_>, unit: usize, from: usize, to: usize) {
        for &(group, count) in model.spreads_of(unit) {
            if let Some(at) = self.spread.get_mut(&(group, from as u32)) {
                *at -= count;
            }
            *self.spread.entry((group, to as u32)).or_default() += count;
        }
    }
}

fn broken(model: &Model<'_>, node: usize, used: &Use) -> i64 {
    let over = |used: i64, cap: i64| (used - cap).max(0);
    let cpu = over(used.cpu, model.cap[node]);
    let mem = over(used.mem, model.mem_cap[node]);
    let outside = over(used.outside, model.bandwidth[node]);
    model.weights[0] * cpu + model.weights[1] * mem + model.weights[2] * outside
}

/// What one unit exchanges with each node.
pub(crate) trait Rates {
    /// With one node.
    fn rate(&self, node: usize) -> i64;

    /// What the unit's streams would cost with the unit on `node`.
    fn cost_at(&self, model: &Model<'_>, unit: usize, node: usize) -> i64;
}

/// What one unit exchanges with each node: gathered in O(streams of the unit), forgotten in O(1).
#[derive(Clone, Debug)]
pub(crate) struct Links {
    rate: Vec<i64>,
    stamp: Vec<u32>,
    now: u32,
    rack: Vec<i64>,
    /// The nodes it exchanges anything with, in the order met.
    pub(crate) nodes: Vec<u32>,
}

impl Links {
    pub(crate) fn new(model: &Model<'_>) -> Self {
        let racks = match model.costs {
            Costs::Racks { racks, .. } => racks,
            _ => 0,
        };
        let nodes = model.nodes();
        Self {
            rate: vec![0; nodes],
            stamp: vec![0; nodes],
            now: 0,
            rack: vec![0; racks],
            nodes: vec![],
        }
    }

    pub(crate) fn gather(&mut self, model: &Model<'_>, place: &[u32], unit: usize) {
        self.nodes.clear();
        self.now = self.now.wrapping_add(1);
        if self.now == 0 {
            self.stamp.fill(0);
            self.now = 1;
        }
        for (other, rate) in model.row(unit) {
            let node = place[other];
            if node == super::model::NOWHERE {
                continue;
            }
            if self.stamp[node as usize] != self.now {
                self.stamp[node as usize] = self.now;
                self.rate[node as usize] = 0;
                self.nodes.push(node);
            }
            self.rate[node as usize] += rate;
        }
        if let Costs::Racks { rack, .. } = &model.costs {
            self.rack.fill(0);
            for &node in &self.nodes {
                self.rack[rack[node as usize] as usize] += self.rate[node as usize];
            }
        }
    }
}

impl Rates for Links {
    fn rate(&self, node: usize) -> i64 {
        if self.stamp[node] == self.now { self.rate[node] } else { 0 }
    }

    fn cost_at(&self, model: &Model<'_>, unit: usize, node: usize) -> i64 {
        match &model.costs {
            Costs::Flat => model.degree[unit] - self.rate(node),
            Costs::Racks { same, cross, rack, .. } => {
                let near = self.rack[rack[node] as usize];
                cross * (model.degree[unit] - near) + same * (near - self.rate(node))
            }
            Costs::Matrix(all) => {
                let row = &all[node * model.nodes()..];
                self.nodes.iter().map(|&at| self.rate[at as usize] * row[at as usize]).sum()
            }
        }
    }
}
