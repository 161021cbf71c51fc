//! Branch and bound for groups of few heavy entries, where no greedy rule finds a way.
//!
//! Entries are decided by falling load: the heavy ones decide what is feasible. The bound is
//! Lagrangian: with λ_j the d/Δ at which the fractional cover of source j ends, every decision
//! against the sign of d − λ_jΔ adds its amount to the bound, in O(1).

use super::problem::{Problem, Source};
use super::state::STAY;

/// How a search ended.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// The place of each item in the best solution.
    pub(crate) place: Option<Vec<u32>>,
    /// Everything was looked at: the solution is optimal, or there is none.
    pub(crate) complete: bool,
    pub(crate) steps: u64,
}

/// The largest group that is worth a try.
pub(crate) const MOST_ITEMS: usize = 2048;
const MOST_TARGETS: usize = 32;

pub(crate) fn worth_a_try(problem: &Problem) -> bool {
    problem.items.len() <= MOST_ITEMS && problem.targets.len() <= MOST_TARGETS
}

/// Searches for a solution of fewer bytes than `best`, for at most `steps` nodes. `ratios` are
/// the λ_j and `bound` is the sum of the fractional covers.
pub(crate) fn search(
    problem: &Problem,
    ratios: &[f64],
    bound: f64,
    best: f64,
    steps: u64,
    keep_going: &dyn Fn() -> bool,
) -> Found {
    let mut tree = Tree::new(problem, ratios, bound, best);
    tree.run(steps, keep_going);
    let place = tree.best_place.map(|sorted| {
        let mut place = vec![STAY; problem.items.len()];
        for (at, item) in sorted.into_iter().zip(&tree.order) {
            place[*item as usize] = at;
        }
        place
    });
    Found { place, complete: tree.complete, steps: tree.steps }
}

struct Tree<'a> {
    problem: &'a Problem,
    /// Items by falling load, their sources, and their reduced costs d − λΔ.
    order: Vec<u32>,
    source: Vec<u32>,
    reduced: Vec<f64>,
    /// Decisions so far, and those still to be tried at each depth, the next one last.
    place: Vec<u32>,
    untried: Vec<Vec<u32>>,
    out: Vec<f64>,
    into: Vec<f64>,
    /// Load of the items that are not decided, by source.
    rest: Vec<f64>,
    cost: f64,
    bound: f64,
    best: f64,
    best_place: Option<Vec<u32>>,
    complete: bool,
    steps: u64,
}

impl<'a> Tree<'a> {
    #[allow(clippy::cast_possible_truncation, reason = "entries and nodes are counted by u32")]
    fn new(problem: &'a Problem, ratios: &[f64], bound: f64, best: f64) -> Self {
        let items = &problem.items;
        // Blank items stand after those of each source.
        let used = problem.sources.iter().flat_map(Source::range);
        let mut order: Vec<u32> = used.map(|item| item as u32).collect();
        order.sort_unstable_by(|&a, &b| {
            let load = |item: u32| items[item as usize].load;
            load(b).total_cmp(&load(a)).then(a.cmp(&b))
        });
        let source: Vec<u32> =
            order.iter().map(|&item| problem.source_of(item as usize) as u32).collect();
        let reduced = order.iter().zip(&source).map(|(&item, &j)| {
            let item = &items[item as usize];
            item.cost() - ratios[j as usize] * item.load
        });
        let rest = problem.sources.iter();
        let rest = rest.map(|s| items[s.range()].iter().map(|item| item.load).sum()).collect();
        Self {
            problem,
            reduced: reduced.collect(),
            place: Vec::with_capacity(order.len()),
            untried: Vec::with_capacity(order.len()),
            out: vec![0.0; problem.sources.len()],
            into: vec![0.0; problem.targets.len()],
            rest,
            cost: 0.0,
            bound,
            best,
            best_place: None,
            complete: false,
            steps: 0,
            order,
            source,
        }
    }

    fn run(&mut self, steps: u64, keep_going: &dyn Fn() -> bool) {
        if !self.open() {
            self.complete = true;
            return;
        }
        loop {
            if self.steps >= steps || (self.steps.is_multiple_of(1024) && !keep_going()) {
                return;
            }
            self.steps += 1;
            let Some(untried) = self.untried.last_mut() else {
                self.complete = true;
                return;
            };
            // The node's earlier decision, if any, has been taken back.
            let Some(place) = untried.pop() else {
                self.untried.pop();
                if self.place.is_empty() {
                    self.complete = true;
                    return;
                }
                self.undo();
                continue;
            };
            self.decide(place);
            if !self.open() {
                self.undo();
            }
        }
    }

    /// True if the node may lead to a better solution; its decisions are lined up then.
    fn open(&mut self) -> bool {
        if self.bound > self.best - 1.0 + 1e-6 {
            return false;
        }
        let (sources, targets) = (&self.problem.sources, &self.problem.targets);
        let (mut needed, mut can_leave) = (0.0, 0.0);
        for (j, source) in sources.iter().enumerate() {
            let (need, slack) = (source.need - self.out[j], source.slack);
            if self.out[j] > source.most + slack || need > self.rest[j] + slack {
                return false;
            }
            if need > slack {
                needed += need;
            }
            can_leave += self.rest[j].min(source.most - self.out[j]) + slack;
        }
        let (mut wanted, mut room) = (0.0, 0.0);
        for (k, target) in targets.iter().enumerate() {
            if self.into[k] > target.high + target.slack {
                return false;
            }
            let want = target.low - self.into[k];
            if want > target.slack {
                wanted += want;
            }
            room += target.high - self.into[k] + target.slack;
        }
        if needed == 0.0 && wanted == 0.0 {
            // Done, and whatever else moved would only add to it.
            if self.cost < self.best {
                self.best = self.cost;
                let mut place = self.place.clone();
                place.resize(self.order.len(), STAY);
                self.best_place = Some(place);
            }
            return false;
        }
        let slack: f64 = sources.iter().map(|source| source.slack).sum();
        if wanted > can_leave || needed > room + slack || self.place.len() == self.order.len() {
            return false;
        }
        let decisions = self.decisions();
        self.untried.push(decisions);
        true
    }

    /// The places for the next item, the most promising last.
    #[allow(clippy::cast_possible_truncation, reason = "nodes are counted by u32")]
    fn decisions(&self) -> Vec<u32> {
        let at = self.place.len();
        let load = self.problem.items[self.order[at] as usize].load;
        let mut places: Vec<u32> = Vec::with_capacity(self.into.len() + 1);
        for (k, target) in self.problem.targets.iter().enumerate() {
            let fits = self.into[k] + load <= target.high + target.slack;
            // Of targets that are alike in all one is enough.
            let alike = |&place: &u32| {
                let other = place as usize - 1;
                let twin = &self.problem.targets[other];
                twin.low - self.into[other] == target.low - self.into[k]
                    && twin.high - self.into[other] == target.high - self.into[k]
            };
            if fits && !places.iter().any(alike) {
                places.push(k as u32 + 1);
            }
        }
        // The one that has the most room up to its low end, then to its high end, last.
        let missing = |place: u32| {
            let k = place as usize - 1;
            let target = &self.problem.targets[k];
            ((target.low - self.into[k]).max(0.0), target.high - self.into[k])
        };
        places.sort_by(|&a, &b| {
            let (a, b) = (missing(a), missing(b));
            a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
        });
        if self.reduced[at] < 0.0 {
            places.insert(0, STAY);
        } else {
            places.push(STAY);
        }
        places
    }

    fn decide(&mut self, place: u32) {
        let at = self.place.len();
        let (item, j) = (&self.problem.items[self.order[at] as usize], self.source[at] as usize);
        self.rest[j] -= item.load;
        if place != STAY {
            self.out[j] += item.load;
            self.into[place as usize - 1] += item.load;
            self.cost += item.cost();
            self.bound += self.reduced[at].max(0.0);
        } else {
            self.bound += (-self.reduced[at]).max(0.0);
        }
        self.place.push(place);
    }

    fn undo(&mut self) {
        let Some(place) = self.place.pop() else { return };
        let at = self.place.len();
        let (item, j) = (&self.problem.items[self.order[at] as usize], self.source[at] as usize);
        self.rest[j] += item.load;
        if place != STAY {
            self.out[j] -= item.load;
            self.into[place as usize - 1] -= item.load;
            self.cost -= item.cost();
            self.bound -= self.reduced[at].max(0.0);
        } else {
            self.bound -= (-self.reduced[at]).max(0.0);
        }
    }
}
