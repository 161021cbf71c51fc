//! What every unit exchanges with each node, kept as units move.

use super::model::{Costs, Model};
use super::state::Rates;

/// A list of nodes and rates a unit, in the rows of its streams: it never has more nodes.
pub(super) struct Reach {
    lists: Vec<(u32, i64)>,
    len: Vec<u32>,
}

/// The list of one unit.
#[derive(Clone, Copy)]
pub(super) struct Near<'a>(pub(super) &'a [(u32, i64)]);

impl Rates for Near<'_> {
    fn rate(&self, node: usize) -> i64 {
        let node = node as u32;
        self.0.iter().find(|&&(at, _)| at == node).map_or(0, |&(_, rate)| rate)
    }

    fn cost_at(&self, model: &Model<'_>, unit: usize, node: usize) -> i64 {
        match &model.costs {
            Costs::Flat => model.degree[unit] - self.rate(node),
            _ => self.0.iter().map(|&(at, rate)| rate * model.distance(at as usize, node)).sum(),
        }
    }
}

impl Reach {
    /// O(streams · nodes that a unit exchanges with).
    pub(super) fn new(model: &Model<'_>, place: &[u32]) -> Self {
        let mut reach =
            Self { lists: vec![(0, 0); model.targets.len()], len: vec![0; model.units()] };
        for unit in 0..model.units() {
            let start = model.offsets[unit];
            for (other, rate) in model.row(unit) {
                let list = &mut reach.lists[start..];
                add(list, &mut reach.len[unit], place[other], rate);
            }
        }
        reach
    }

    pub(super) fn of(&self, model: &Model<'_>, unit: usize) -> Near<'_> {
        let start = model.offsets[unit];
        Near(&self.lists[start..start + self.len[unit] as usize])
    }

    /// Tells the neighbours of a unit that it went from `from` to `to`.
    pub(super) fn moved(&mut self, model: &Model<'_>, unit: usize, from: u32, to: u32) {
        for (other, rate) in model.row(unit) {
            let list = &mut self.lists[model.offsets[other]..];
            let len = &mut self.len[other];
            let there = list[..*len as usize].iter().position(|&(node, _)| node == from);
            if let Some(at) = there {
                list[at].1 -= rate;
                if list[at].1 == 0 {
                    *len -= 1;
                    list.swap(at, *len as usize);
                }
            }
            add(list, len, to, rate);
        }
    }
}

fn add(list: &mut [(u32, i64)], len: &mut u32, node: u32, rate: i64) {
    match list[..*len as usize].iter_mut().find(|(at, _)| *at == node) {
        Some((_, sum)) => *sum += rate,
        None => {
            list[*len as usize] = (node, rate);
            *len += 1;
        }
    }
}
