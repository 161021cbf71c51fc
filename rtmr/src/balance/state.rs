//! A placement of a group's items under change: sums, bytes and violation, each in O(1) a move.

use super::problem::Problem;

/// Where an item is: on its node, or on target k as k + 1.
pub(crate) const STAY: u32 = 0;

/// A placement of all items of a group.
#[derive(Clone, Debug)]
pub(crate) struct State<'a> {
    pub(crate) problem: &'a Problem,
    pub(crate) place: Vec<u32>,
    /// Load that leaves each source.
    pub(crate) out: Vec<f64>,
    /// Load that comes to each target.
    pub(crate) into: Vec<f64>,
    pub(crate) cost: f64,
    /// By how much sums are outside of their ends, all together.
    pub(crate) violation: f64,
    /// Sums that are outside of their ends.
    bad: usize,
    /// Items that were moved since the placement was last kept.
    changed: Vec<u32>,
    /// The source of each item.
    pub(crate) source: Vec<u32>,
}

fn outside(sum: f64, low: f64, high: f64, slack: f64) -> f64 {
    let beyond = (low - sum).max(sum - high);
    if beyond > slack { beyond } else { 0.0 }
}

#[allow(clippy::cast_possible_truncation, reason = "nodes are counted by u32")]
impl<'a> State<'a> {
    /// All items on their nodes.
    pub(crate) fn new(problem: &'a Problem) -> Self {
        let mut source = vec![0; problem.items.len()];
        for (j, s) in problem.sources.iter().enumerate() {
            source[s.range()].fill(j as u32);
        }
        let mut state = Self {
            problem,
            place: vec![STAY; problem.items.len()],
            out: vec![0.0; problem.sources.len()],
            into: vec![0.0; problem.targets.len()],
            cost: 0.0,
            violation: 0.0,
            bad: 0,
            changed: Vec::new(),
            source,
        };
        state.recount();
        state
    }

    /// Sums anew, which takes out the rounding of many moves.
    pub(crate) fn recount(&mut self) {
        self.out.fill(0.0);
        self.into.fill(0.0);
        self.cost = 0.0;
        for (at, &place) in self.place.iter().enumerate() {
            if place != STAY {
                let item = &self.problem.items[at];
                self.out[self.source[at] as usize] += item.load;
                self.into[place as usize - 1] += item.load;
                self.cost += item.cost();
            }
        }
        let sources = (0..self.out.len()).map(|j| self.source_violation(j, self.out[j]));
        let targets = (0..self.into.len()).map(|k| self.target_violation(k, self.into[k]));
        let all: Vec<f64> = sources.chain(targets).collect();
        self.violation = all.iter().sum();
        self.bad = all.iter().filter(|&&violation| violation > 0.0).count();
    }

    fn source_violation(&self, j: usize, sum: f64) -> f64 {
        let source = &self.problem.sources[j];
        outside(sum, source.need, source.most, source.slack)
    }

    fn target_violation(&self, k: usize, sum: f64) -> f64 {
        let target = &self.problem.targets[k];
        outside(sum, target.low, target.high, target.slack)
    }

    /// Brings `kept`, as of the last call or of the start, up to this placement: in the number of
    /// moves since then.
    pub(crate) fn keep(&mut self, kept: &mut [u32]) {
        if self.changed.len() > kept.len() {
            kept.copy_from_slice(&self.place);
        } else {
            for &item in &self.changed {
                kept[item as usize] = self.place[item as usize];
            }
        }
        self.changed.clear();
    }

    /// True if every sum is within its ends.
    pub(crate) fn feasible(&self) -> bool {
        self.bad == 0
    }

    /// Bytes and violation that moving `item` to `place` adds.
    pub(crate) fn delta(&self, item: usize, place: u32) -> (f64, f64) {
        let from = self.place[item];
        if from == place {
            return (0.0, 0.0);
        }
        let (load, cost) = (self.problem.items[item].load, self.problem.items[item].cost());
        let (mut bytes, mut violation) = (0.0, 0.0);
        let j = self.source[item] as usize;
        let leaves = f64::from(u8::from(place != STAY)) - f64::from(u8::from(from != STAY));
        if leaves != 0.0 {
            let sum = self.out[j];
            bytes += leaves * cost;
            violation +=
                self.source_violation(j, sum + leaves * load) - self.source_violation(j, sum);
        }
        for (k, sign) in [(from, -1.0), (place, 1.0)] {
            if k != STAY {
                let k = k as usize - 1;
                let sum = self.into[k];
                violation +=
                    self.target_violation(k, sum + sign * load) - self.target_violation(k, sum);
            }
        }
        (bytes, violation)
    }

    /// Moves `item` to `place`.
    pub(crate) fn apply(&mut self, item: usize, place: u32) {
        let (bytes, violation) = self.delta(item, place);
        let load = self.problem.items[item].load;
        let from = self.place[item];
        let j = self.source[item] as usize;
        let leaves = f64::from(u8::from(place != STAY)) - f64::from(u8::from(from != STAY));
        if leaves != 0.0 {
            let sum = self.out[j] + leaves * load;
            let was = self.source_violation(j, self.out[j]) > 0.0;
            let is = self.source_violation(j, sum) > 0.0;
            self.bad = self.bad + usize::from(is) - usize::from(was);
            self.out[j] = sum;
        }
        for (k, sign) in [(from, -1.0), (place, 1.0)] {
            if k != STAY && from != place {
                let k = k as usize - 1;
                let sum = self.into[k] + sign * load;
                let was = self.target_violation(k, self.into[k]) > 0.0;
                let is = self.target_violation(k, sum) > 0.0;
                self.bad = self.bad + usize::from(is) - usize::from(was);
                self.into[k] = sum;
            }
        }
        self.place[item] = place;
        self.changed.push(item as u32);
        self.cost += bytes;
        self.violation = if self.bad == 0 { 0.0 } else { (self.violation + violation).max(0.0) };
    }
}
