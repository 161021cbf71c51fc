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
    /// Bytes of the best one found if it need not stay within the most.
    pub(crate) free: f64,
    /// d/Δ of the break item.
    pub(crate) ratio: f64,
    /// No cover takes fewer bytes.
    pub(crate) optimal: bool,
    /// The best cover is over the most, so that this one is another, which need not be the best.
    pub(crate) tight: bool,
    /// States looked at.
    pub(crate) steps: u64,
}

/// States that the dynamic program may keep at once, and look at in all.
const STATES: usize = 3000;
const ALL_STATES: u64 = 60_000;

/// The load of a set of items, and its cost beside that of the items before the break.
#[derive(Clone, Copy, Debug)]
struct State {
    load: f64,
    cost: f64,
    /// The decision that was made last against the break, as a place in the list of them.
    last: u32,
    /// The decision of this turn is not in the list yet.
    new: bool,
}

/// Bytes over the bound, in parts, for which a cover is not searched on.
const NEAR: f64 = 1e-5;

const NONE: u32 = u32::MAX;

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
    let free_cost = free.best.map_or(f64::INFINITY, |best| at.cost + best.cost);
    if free.best.is_some_and(|best| best.load <= most + slack) {
        return Some(free.cover(bound, ratio));
    }
    // With one it need not be: more load may be too much later on. So a second pass, that begins
    // with the best of the first, keeps every load, if there are not too many of them.
    let mut search = Search::new(items, at, need, most + slack);
    search.steps = free.steps;
    search.run();
    search.complete = false;
    if search.best.is_some() {
        search.keep_all = true;
        search.run();
    }
    let tight = !search.complete;
    let cover = search.cover(bound, ratio);
    Some(Cover { tight, free: free_cost.min(cover.cost), ..cover })
}

struct Search<'a> {
    items: &'a [Item],
    at: Break,
    need: f64,
    most: f64,
    /// A cover of so few bytes is near enough to the bound.
    good: f64,
    best: Option<State>,
    /// Items that are in or out against the break, each with the decision before it.
    decisions: Vec<(u32, u32)>,
    /// The item of this turn.
    item: u32,
    /// A state of more load is no stand-in for one of less.
    keep_all: bool,
    complete: bool,
    steps: u64,
}

impl<'a> Search<'a> {
    fn new(items: &'a [Item], at: Break, need: f64, most: f64) -> Self {
        let (best, decisions) = (None, Vec::new());
        let good = at.fractional(items, need) * (1.0 + NEAR);
        let (item, keep_all, complete, steps) = (NONE, false, false, 0);
        Self { items, at, need, most, good, best, decisions, item, keep_all, complete, steps }
    }

    fn run(&mut self) {
        let (mut down, mut up) = (self.at.at, self.at.at);
        let mut states = vec![State { load: self.at.load, cost: 0.0, last: NONE, new: false }];
        let (mut merged, mut shifted) = (Vec::new(), Vec::new());
        self.prune(&mut states, down, up);
        for turn in 0.. {
            if states.is_empty() {
                // All others were shown to be no better.
                self.complete = true;
                return;
            }
            let (may_go_down, may_go_up) = (down > self.at.sorted.0, up < self.at.sorted.1);
            let near = self.best.is_some_and(|best| self.at.cost + best.cost <= self.good);
            let enough = near || states.len() > STATES || self.steps > ALL_STATES;
            if enough || !(may_go_down || may_go_up) {
                return;
            }
            let (item, sign) = if may_go_up && (turn % 2 == 0 || !may_go_down) {
                up += 1;
                (up - 1, 1.0)
            } else {
                down -= 1;
                (down, -1.0)
            };
            #[allow(clippy::cast_possible_truncation, reason = "entries are counted by u32")]
            let id = item as u32;
            self.item = id;
            let item = self.items[item];
            shifted.clear();
            shifted.extend(states.iter().map(|state| State {
                load: state.load + sign * item.load,
                cost: state.cost + sign * item.cost(),
                last: state.last,
                new: true,
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
                self.best = Some(self.note(*state));
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
        let (mut least, mut load) = (f64::INFINITY, f64::NAN);
        let mut kept = states.len();
        for at in (0..states.len()).rev() {
            let state = states[at];
            let bound = if state.load >= self.need {
                falling.map(|ratio| state.cost - (state.load - self.need) * ratio)
            } else {
                rising.map(|ratio| state.cost + (self.need - state.load) * ratio)
            };
            // Over the most a state of more load is no stand-in for one of less.
            let dominated = state.cost >= least && (!self.keep_all || state.load == load);
            if bound.is_some_and(|bound| bound <= better) && !dominated {
                if self.keep_all || state.load <= self.most {
                    (least, load) = (state.cost, state.load);
                }
                kept -= 1;
                states[kept] = self.note(state);
            }
        }
        states.drain(..kept);
    }

    /// The state with its decision of this turn in the list.
    #[allow(clippy::cast_possible_truncation, reason = "no more than states are looked at")]
    fn note(&mut self, state: State) -> State {
        if !state.new {
            return state;
        }
        self.decisions.push((self.item, state.last));
        State { last: self.decisions.len() as u32 - 1, new: false, ..state }
    }

    fn cover(self, bound: f64, ratio: f64) -> Cover {
        let greedy = || {
            // Nothing between need and most was met: the fractional cover, rounded up.
            let item = self.items.get(self.at.at);
            let cost = item.map_or(0.0, Item::cost);
            (self.at.load + item.map_or(0.0, |item| item.load), cost, None)
        };
        let found = self.best.map(|best| (best.load, best.cost, Some(best.last)));
        let (load, cost, last) = found.unwrap_or_else(greedy);
        let end = if last.is_some() { self.at.at } else { self.at.at + 1 };
        #[allow(clippy::cast_possible_truncation, reason = "entries are counted by u32")]
        let mut taken: Vec<u32> = (0..end.min(self.items.len()) as u32).collect();
        let (mut link, mut out) = (last.unwrap_or(NONE), Vec::new());
        while link != NONE {
            let (item, before) = self.decisions[link as usize];
            if (item as usize) < self.at.at {
                out.push(item);
            } else {
                taken.push(item);
            }
            link = before;
        }
        // Those before the break stand at their own places.
        out.sort_unstable_by(|a, b| b.cmp(a));
        for item in out {
            taken.swap_remove(item as usize);
        }
        let optimal = self.complete && last.is_some();
        let cost = self.at.cost + cost;
        let (tight, steps) = (false, self.steps);
        Cover { taken, load, cost, bound, free: cost, ratio, optimal, tight, steps }
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
