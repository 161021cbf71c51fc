//! Local search that climbs out of local optima: moves that cost something are made too, and
//! undone if nothing comes of them (Fiduccia and Mattheyses 1982; k-way and started from single
//! units at the border, as Sanders and Schulz 2011).

use std::collections::BinaryHeap;

use super::model::Model;
use super::reach::Reach;
use super::state::{Rates, State};
use crate::rng::SplitMix64;
use crate::steps::Steps;

/// How a pass goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    /// The most passes over the border.
    pub(super) passes: usize,
    /// Moves of one climb without an improvement.
    pub(super) patience: usize,
}

pub(super) struct Climb<'m, 'g> {
    model: &'m Model<'g>,
    pub(super) state: State,
    reach: Reach,
    heap: BinaryHeap<(i64, u32)>,
    /// The best gain that waits for a unit in the climb of that number.
    waits: Vec<(u32, i64)>,
    climb: u32,
    /// Units that have moved in this pass.
    locked: Vec<bool>,
    bounded: bool,
}

/// Moves of a climb: unit, from.
type Trail = Vec<(u32, u32)>;

impl<'m, 'g> Climb<'m, 'g> {
    pub(super) fn new(model: &'m Model<'g>, state: State) -> Self {
        Self {
            reach: Reach::new(model, &state.place),
            state,
            heap: BinaryHeap::new(),
            waits: vec![(0, 0); model.units()],
            climb: 0,
            locked: vec![false; model.units()],
            bounded: model.bandwidth.iter().any(|&limit| limit < i64::MAX),
            model,
        }
    }

    /// Passes until one of them gains hardly anything. Never makes excess or cost worse.
    pub(super) fn run(&mut self, effort: Effort, rng: &mut SplitMix64, steps: &mut Steps) {
        let all: i64 = self.state.nodes.iter().map(|node| node.outside).sum();
        for _ in 0..effort.passes {
            let gained = self.pass(effort.patience, rng, steps);
            if gained * 1_000 <= i128::from(all) || steps.left() == 0 {
                return;
            }
        }
    }

    /// From every unit at the border in random order; what it saves.
    fn pass(&mut self, patience: usize, rng: &mut SplitMix64, steps: &mut Steps) -> i128 {
        let model = self.model;
        self.locked.fill(false);
        let at_border = |unit: &u32| {
            let near = self.reach.of(model, *unit as usize).0;
            near.iter().any(|&(node, _)| node != self.state.place[*unit as usize])
        };
        let mut border: Vec<u32> = (0..model.units() as u32).filter(at_border).collect();
        for last in (1..border.len()).rev() {
            border.swap(last, rng.index(last + 1));
        }
        let mut gained = 0;
        let mut trail = Trail::new();
        for unit in border {
            if !self.locked[unit as usize] && steps.take(1) {
                gained += self.climb(unit, patience, &mut trail, steps);
            }
        }
        gained
    }

    /// One climb. What is kept, and what was undone, stays locked until the pass ends.
    fn climb(&mut self, start: u32, patience: usize, trail: &mut Trail, steps: &mut Steps) -> i128 {
        let model = self.model;
        self.heap.clear();
        trail.clear();
        self.climb += 1;
        self.offer(start);
        let (mut gain, mut best, mut kept) = (0_i128, 0_i128, 0);
        while let Some((promised, unit)) = self.heap.pop() {
            let at = unit as usize;
            if self.locked[at] || self.waits[at] != (self.climb, promised) {
                continue;
            }
            let Some((now, to)) = self.best_move(at) else { continue };
            if now < promised {
                self.waits[at].1 = now;
                self.heap.push((now, unit));
                continue;
            }
            if !steps.take(1 + model.row_len(at)) {
                break;
            }
            let near = self.reach.of(model, at);
            let delta = self.state.weigh(model, at, to as usize, &near);
            if delta.excess > 0 {
                continue;
            }
            trail.push((unit, self.state.place[at]));
            self.go(at, to);
            self.locked[at] = true;
            gain -= delta.cost;
            if gain > best || (gain == best && delta.excess < 0) {
                (best, kept) = (gain, trail.len());
            } else if trail.len() - kept >= patience {
                break;
            }
            for (other, _) in model.row(at) {
                self.offer(other as u32);
            }
        }
        while trail.len() > kept {
            if let Some((unit, from)) = trail.pop() {
                self.go(unit as usize, from);
            }
        }
        best
    }

    fn go(&mut self, unit: usize, to: u32) {
        let (model, from) = (self.model, self.state.place[unit]);
        let near = self.reach.of(model, unit);
        self.state.apply(model, unit, to as usize, &near);
        self.reach.moved(model, unit, from, to);
    }

    /// Lets a unit wait for its best move, if it waits for none as good.
    fn offer(&mut self, unit: u32) {
        let at = unit as usize;
        if self.locked[at] {
            return;
        }
        if let Some((gain, _)) = self.best_move(at)
            && (self.waits[at].0 != self.climb || self.waits[at].1 < gain)
        {
            self.waits[at] = (self.climb, gain);
            self.heap.push((gain, unit));
        }
    }

    /// The node with room that a unit would gain most by: of equals the emptier one.
    fn best_move(&self, unit: usize) -> Option<(i64, u32)> {
        let model = self.model;
        let (near, from) = (self.reach.of(model, unit), self.state.place[unit]);
        if let [(only, _)] = near.0
            && *only == from
        {
            return None;
        }
        let mut best: Option<(i64, u32)> = None;
        let flat = model.is_flat();
        let here = if flat {
            model.degree[unit] - near.rate(from as usize)
        } else {
            near.cost_at(model, unit, from as usize)
        };
        for &(node, rate) in near.0 {
            if node == from || !self.has_room(unit, node as usize) {
                continue;
            }
            let there = match flat {
                true => model.degree[unit] - rate,
                false => near.cost_at(model, unit, node as usize),
            };
            let gain = here - there;
            let better = best.is_none_or(|(least, at)| {
                gain > least
                    || (gain == least
                        && self.state.nodes[node as usize].cpu < self.state.nodes[at as usize].cpu)
            });
            if better {
                best = Some((gain, node));
            }
        }
        best
    }

    fn has_room(&self, unit: usize, node: usize) -> bool {
        let (model, used) = (self.model, &self.state.nodes[node]);
        used.cpu + model.cpu[unit] <= model.cap[node]
            && used.mem + model.mem[unit] <= model.mem_cap[node]
            && model.allows(unit, node)
            && (model.spreads_of(unit).is_empty() && !self.bounded || {
                let near = self.reach.of(model, unit);
                self.state.weigh(model, unit, node, &near).excess <= 0
            })
    }
}
