//! The neighbourhood of a placement: relocate an item, or let two items change places.

use super::problem::{Problem, Source};
use super::state::{STAY, State};
use crate::rng::SplitMix64;

/// A neighbour: one item to a place, or two items to each other's.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Neighbour {
    /// An item leaves, comes back, or goes to another target.
    Relocate(usize, u32),
    /// One item comes in for another (swap), or two on different targets change (exchange).
    Exchange(usize, usize),
}

/// Draws neighbours; half of them begin with an item that has moved.
#[derive(Clone, Debug)]
pub(crate) struct Neighbours {
    used: Vec<u32>,
    moved: Vec<u32>,
    /// Each item's place in `moved`.
    slot: Vec<u32>,
}

const NONE: u32 = u32::MAX;

#[allow(clippy::cast_possible_truncation, reason = "entries and nodes are counted by u32")]
impl Neighbours {
    pub(crate) fn new(problem: &Problem, place: &[u32]) -> Self {
        let used = problem.sources.iter().flat_map(Source::range);
        let used: Vec<u32> = used.map(|item| item as u32).collect();
        let mut this = Self { used, moved: Vec::new(), slot: vec![NONE; problem.items.len()] };
        for (item, &place) in place.iter().enumerate() {
            if place != STAY {
                this.add(item);
            }
        }
        this
    }

    fn add(&mut self, item: usize) {
        self.slot[item] = self.moved.len() as u32;
        self.moved.push(item as u32);
    }

    fn remove(&mut self, item: usize) {
        let slot = self.slot[item] as usize;
        self.moved.swap_remove(slot);
        if let Some(&other) = self.moved.get(slot) {
            self.slot[other as usize] = slot as u32;
        }
        self.slot[item] = NONE;
    }

    /// A neighbour, if the one drawn is any.
    pub(crate) fn draw(&self, state: &State<'_>, rng: &mut SplitMix64) -> Option<Neighbour> {
        if self.used.is_empty() {
            return None;
        }
        let first = if !self.moved.is_empty() && rng.below(2) == 0 {
            self.moved[rng.index(self.moved.len())]
        } else {
            self.used[rng.index(self.used.len())]
        } as usize;
        if rng.below(3) == 0 {
            let place = rng.below(state.into.len() as u64 + 1) as u32;
            return (place != state.place[first]).then_some(Neighbour::Relocate(first, place));
        }
        let second = self.used[rng.index(self.used.len())] as usize;
        let (a, b) = (state.place[first], state.place[second]);
        (a != b).then_some(Neighbour::Exchange(first, second))
    }

    /// Moves one item, and keeps the list of those that have moved.
    pub(crate) fn place(&mut self, state: &mut State<'_>, item: usize, place: u32) {
        let from = state.place[item];
        state.apply(item, place);
        match (from, place) {
            (STAY, STAY) => {}
            (STAY, _) => self.add(item),
            (_, STAY) => self.remove(item),
            _ => {}
        }
    }

    /// Goes to a neighbour; applied again to what it gives back, it goes back.
    pub(crate) fn go(&mut self, state: &mut State<'_>, to: Neighbour) -> Neighbour {
        match to {
            Neighbour::Relocate(item, place) => {
                let from = state.place[item];
                self.place(state, item, place);
                Neighbour::Relocate(item, from)
            }
            Neighbour::Exchange(first, second) => {
                let (a, b) = (state.place[first], state.place[second]);
                self.place(state, first, b);
                self.place(state, second, a);
                Neighbour::Exchange(first, second)
            }
        }
    }
}
