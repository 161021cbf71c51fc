//! What one overloaded node gives: entries that come to its need with the fewest bytes.
//!
//! A knapsack cover. The fractional one takes entries by d/Δ; the dynamic program goes outward
//! from its break item, as only entries near it are ever taken otherwise (after Pisinger's
//! minknap), and keeps the states that may still beat the best.

use super::problem::Item;
use super::select::{Break, break_item};

/// A cover of one source.
#[derive(Clone, Debug)]
pub(crate) struct Cover {
    /// The items taken, as places in the slice that was given, which is reordered.
    pub(crate) taken: Vec<u32>,
    pub(crate) load: f64,
    pub(crate) cost: f64,
    /// Bytes that every cover takes at least.
    pub(crate) bound: f64,
    /// d/Δ of the break item.
    pub(crate) ratio: f64,
    /// No cover takes fewer bytes.
    pub(crate) optimal: bool,
    /// States looked at.
    pub(crate) steps: u64,
}

/// Items that the dynamic program may decide on: as many as a mask has bits.
const CORE: usize = 64;
/// States kept at once.
const STATES: usize = 1500;

#[derive(Clone, Copy, Debug)]
struct State {
    load: f64,
    cost: f64,
    toggled: u64,
}

/// The least cover of `need` that does not come to more than `most`, `slack` aside; `None` if
/// all items together are too few. It may come to more than `most` where none was found.
pub(crate) fn cover(items: &mut [Item], need: f64, most: f64, slack: f64) -> Option<Cover> {
    let need = need - slack;
    let at = break_item(items, need);
    if at.at == items.len() && at.load < need {
        return None;
    }
    let bound = at.fractional(items, need);
    let ratio = items.get(at.at).map_or(0.0, |item| item.ratio);
    // Without an upper end a state of more load stands in for one of less: exact, if it fits.
    let mut free = Search::new(items, at, need, f64::INFINITY);
    free.run();
    if free.best.is_some_and(|best| best.load <= most + slack) {
        return Some(free.cover(bound, ratio));
    }
    let steps = free.steps;
    let mut search = Search::new(items, at, need, most + slack);
    search.run();
    search.steps += steps;
    search.complete = false;
    Some(search.cover(bound, ratio))
}

struct Search<'a> {
    items: &'a [Item],
    at: Break,
    need: f64,
    most: f64,
    /// Load, cost beside the break's, and mask of the best cover.
    best: Option<State>,
    /// Items in the order of their bits.
    order: Vec<u32>,
    complete: bool,
    steps: u64,
}

impl<'a> Search<'a> {
    fn new(items: &'a [Item], at: Break, need: f64, most: f64) -> Self {
        let order = Vec::with_capacity(CORE);
        Self { items, at, need, most, best: None, order, complete: false, steps: 0 }
    }

    fn run(&mut self) {
        let (mut down, mut up) = (self.at.at, self.at.at);
        let mut states = vec![State { load: self.at.load, cost: 0.0, toggled: 0 }];
        let (mut merged, mut shifted) = (Vec::new(), Vec::new());
        self.prune(&mut states, down, up);
        for turn in 0.. {
            if states.is_empty() {
                // All others were shown to be no better.
                self.complete = true;
                return;
            }
            let (may_go_down, may_go_up) = (down > self.at.sorted.0, up < self.at.sorted.1);
            if self.order.len() == CORE || states.len() > STATES || !(may_go_down || may_go_up) {
                return;
            }
            let bit = 1 << self.order.len();
            let (item, sign) = if may_go_up && (turn % 2 == 0 || !may_go_down) {
                up += 1;
                (up - 1, 1.0)
            } else {
                down -= 1;
                (down, -1.0)
            };
            #[allow(clippy::cast_possible_truncation, reason = "entries are counted by u32")]
            self.order.push(item as u32);
            let item = self.items[item];
            shifted.clear();
            shifted.extend(states.iter().map(|state| State {
                load: state.load + sign * item.load,
                cost: state.cost + sign * item.cost(),
                toggled: state.toggled | bit,
            }));
            merge(&states, &shifted, &mut merged);
            std::mem::swap(&mut states, &mut merged);
            self.steps += states.len() as u64;
            self.prune(&mut states, down, up);
        }
    }

    /// Takes note of covers, and drops states that can't lead to a better one, nor need to.
    fn prune(&mut self, states: &mut Vec<State>, down: usize, up: usize) {
        for state in states.iter() {
            let good = state.load >= self.need && state.load <= self.most;
            if good && self.best.is_none_or(|best| state.cost < best.cost) {
                self.best = Some(*state);
            }
        }
        let best = self.best.map_or(f64::INFINITY, |best| best.cost);
        // Bytes are whole, so a better cover takes one fewer at least.
        let better = best - 1.0 + 1e-6;
        // The largest ratio that may still go, and the least that may still come. Beyond the sorted
        // part, no further than its end.
        let (first, end) = self.at.sorted;
        let ratio = |at: usize| self.items.get(at).map(|item| item.ratio);
        let falling =
            if down > first { ratio(down - 1) } else { (down > 0).then(|| ratio(down)).flatten() };
        let rising = if up < end {
            ratio(up)
        } else {
            (up < self.items.len()).then(|| ratio(up - 1)).flatten()
        };
        // The states come by rising load: one of no less load and no more bytes is as good.
        let mut least = f64::INFINITY;
        let mut kept = states.len();
        for at in (0..states.len()).rev() {
            let state = states[at];
            let bound = if state.load >= self.need {
                falling.map(|ratio| state.cost - (state.load - self.need) * ratio)
            } else {
                rising.map(|ratio| state.cost + (self.need - state.load) * ratio)
            };
            // Over the most a state of more load is no stand-in for one of less.
            let dominated = state.cost >= least;
            if bound.is_some_and(|bound| bound <= better) && !dominated {
                if state.load <= self.most {
                    least = state.cost;
                }
                kept -= 1;
                states[kept] = state;
            }
        }
        states.drain(..kept);
    }

    fn cover(self, bound: f64, ratio: f64) -> Cover {
        let greedy = || {
            // Nothing between need and most was met: the fractional cover, rounded up.
            let item = self.items.get(self.at.at);
            let cost = item.map_or(0.0, Item::cost);
            (self.at.load + item.map_or(0.0, |item| item.load), cost, None)
        };
        let found = self.best.map(|best| (best.load, best.cost, Some(best.toggled)));
        let (load, cost, toggled) = found.unwrap_or_else(greedy);
        let end = if toggled.is_some() { self.at.at } else { self.at.at + 1 };
        #[allow(clippy::cast_possible_truncation, reason = "entries are counted by u32")]
        let mut taken: Vec<u32> = (0..end.min(self.items.len()) as u32).collect();
        if let Some(toggled) = toggled {
            let on = |bit: &usize| toggled >> bit & 1 == 1;
            let out: Vec<u32> = (0..self.order.len()).filter(on).map(|b| self.order[b]).collect();
            #[allow(clippy::cast_possible_truncation, reason = "entries are counted by u32")]
            let at = self.at.at as u32;
            for &item in out.iter().filter(|&&item| item >= at) {
                taken.push(item);
            }
            let low = self.at.sorted.0;
            let gone = |item: &u32| (*item as usize) >= low && *item < at && out.contains(item);
            taken.retain(|item| !gone(item));
        }
        let optimal = self.complete && toggled.is_some();
        let cost = self.at.cost + cost;
        Cover { taken, load, cost, bound, ratio, optimal, steps: self.steps }
    }
}

/// Merges two lists by load.
fn merge(a: &[State], b: &[State], into: &mut Vec<State>) {
    into.clear();
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        if a[i].load <= b[j].load {
            into.push(a[i]);
            i += 1;
        } else {
            into.push(b[j]);
            j += 1;
        }
    }
    into.extend_from_slice(&a[i..]);
    into.extend_from_slice(&b[j..]);
}
