//! A complete search for a placement that breaks nothing, for where sizes are tight or units few.

use super::model::Model;
use super::state::Use;
use crate::steps::Steps;

/// What the search came to.
#[derive(Debug)]
pub(super) enum Outcome {
    Found(Vec<u32>),
    /// There is none, or none under the ceiling: every branch was cut for a reason.
    Impossible,
    OutOfSteps,
}

struct Depth {
    /// The unit placed at this depth, its node, and the next node to try.
    node: Option<usize>,
    next: usize,
}

struct Tree<'m, 'g> {
    model: &'m Model<'g>,
    order: Vec<usize>,
    place: Vec<u32>,
    nodes: Vec<Use>,
    members: std::collections::BTreeMap<(u32, u32), u32>,
    /// Of the streams between units that are placed.
    cost: i64,
    ceiling: i64,
}

/// True if there are so few placements that the best of them can be had.
pub(super) fn is_tiny(model: &Model<'_>) -> bool {
    let bits = usize::BITS - model.nodes().leading_zeros();
    model.units() * bits as usize <= 24
}

/// The first placement met that breaks nothing.
pub(super) fn any(model: &Model<'_>, steps: &mut Steps) -> Outcome {
    search(model, steps, None)
}

/// The best placement that breaks nothing and costs less than `ceiling`, or the best that was met
/// when the steps ended.
pub(super) fn best(model: &Model<'_>, steps: &mut Steps, ceiling: i64) -> Outcome {
    search(model, steps, Some(ceiling))
}

/// Places units, the largest first, each on every node where it breaks nothing yet; goes back
/// where none is left. Without recursion, so that its depth is no matter.
fn search(model: &Model<'_>, steps: &mut Steps, ceiling: Option<i64>) -> Outcome {
    let mut order: Vec<usize> = (0..model.units()).collect();
    let size = |unit: usize| {
        let cpu = i128::from(model.cpu[unit]) * i128::from(model.weights[0]);
        let free = model.mem_cap.iter().all(|&cap| cap == i64::MAX);
        let mem = i128::from(model.mem[unit]) * i128::from(model.weights[1]);
        cpu.max(if free { 0 } else { mem })
    };
    // Units with few nodes to go to first among those as large as each other.
    order.sort_by_key(|&unit| (model.set[unit] == 0, std::cmp::Reverse(size(unit)), unit));
    let mut tree = Tree {
        place: vec![super::NOWHERE; model.units()],
        nodes: vec![Use::default(); model.nodes()],
        members: std::collections::BTreeMap::new(),
        cost: 0,
        ceiling: ceiling.unwrap_or(i64::MAX),
        order,
        model,
    };
    let mut best: Option<Vec<u32>> = None;
    let mut path: Vec<Depth> = vec![Depth { node: None, next: 0 }];
    while let Some(depth) = path.len().checked_sub(1) {
        if depth == tree.order.len() {
            if ceiling.is_none() {
                return Outcome::Found(tree.place);
            }
            tree.ceiling = tree.cost;
            best = Some(tree.place.clone());
            path.pop();
            continue;
        }
        let unit = tree.order[depth];
        let here = &mut path[depth];
        if let Some(node) = here.node.take() {
            tree.remove(unit, node);
        }
        let allowed = model.allowed(unit);
        let mut found = None;
        while here.next < allowed.len() {
            let index = here.next;
            here.next += 1;
            if !steps.take(1 + model.row_len(unit)) {
                return best.map_or(Outcome::OutOfSteps, Outcome::Found);
            }
            if tree.is_new(unit, allowed, index) && tree.add(unit, allowed[index] as usize) {
                found = Some(allowed[index] as usize);
                break;
            }
        }
        match found {
            Some(_) => {
                here.node = found;
                path.push(Depth { node: None, next: 0 });
            }
            None => {
                path.pop();
            }
        }
    }
    best.map_or(Outcome::Impossible, Outcome::Found)
}

impl Tree<'_, '_> {
    /// False for an empty node like one that was just tried: the two can change places.
    fn is_new(&self, unit: usize, allowed: &[u32], index: usize) -> bool {
        let model = self.model;
        let any_pins = model.sets.len() > 2 || model.set[unit] != 0 || !model.is_flat();
        let (Some(before), false) = (index.checked_sub(1), any_pins) else { return true };
        let (a, b) = (allowed[before] as usize, allowed[index] as usize);
        let has_source = |node: usize| model.sets[1].binary_search(&(node as u32)).is_ok();
        let alike = |a: usize, b: usize| {
            model.cap[a] == model.cap[b]
                && model.mem_cap[a] == model.mem_cap[b]
                && model.bandwidth[a] == model.bandwidth[b]
                && has_source(a) == has_source(b)
        };
        !(self.nodes[a].tasks == 0 && self.nodes[b].tasks == 0 && alike(a, b))
    }

    /// Places a unit, or leaves all as it was if that breaks a limit.
    fn add(&mut self, unit: usize, node: usize) -> bool {
        let model = self.model;
        let room = |&(group, count): &(u32, u32)| {
            let there = self.members.get(&(group, node as u32)).copied().unwrap_or(0);
            there + count <= model.spread_limit[group as usize]
        };
        let used = &self.nodes[node];
        if used.cpu + model.cpu[unit] > model.cap[node]
            || used.mem + model.mem[unit] > model.mem_cap[node]
            || !model.spreads_of(unit).iter().all(room)
        {
            return false;
        }
        self.book(unit, node, 1);
        let kept = |node: usize| self.nodes[node].outside <= model.bandwidth[node];
        let broken = self.cost >= self.ceiling
            || !kept(node)
            || model.row(unit).any(|(other, _)| match self.place[other] {
                super::NOWHERE => false,
                at => !kept(at as usize),
            });
        if broken {
            self.remove(unit, node);
        }
        !broken
    }

    fn remove(&mut self, unit: usize, node: usize) {
        self.book(unit, node, -1);
    }

    fn book(&mut self, unit: usize, node: usize, sign: i64) {
        let model = self.model;
        self.nodes[node].cpu += sign * model.cpu[unit];
        self.nodes[node].mem += sign * model.mem[unit];
        let size = model.size[unit];
        let tasks = &mut self.nodes[node].tasks;
        *tasks = if sign > 0 { *tasks + size } else { *tasks - size };
        self.place[unit] = if sign > 0 { node as u32 } else { super::NOWHERE };
        for &(group, count) in model.spreads_of(unit) {
            let members = self.members.entry((group, node as u32)).or_default();
            *members = if sign > 0 { *members + count } else { *members - count };
        }
        for (other, rate) in model.row(unit) {
            let at = self.place[other];
            if at != super::NOWHERE && at as usize != node {
                self.nodes[node].outside += sign * rate;
                self.nodes[at as usize].outside += sign * rate;
                self.cost += sign * rate * model.distance(node, at as usize);
            }
        }
    }
}
