//! Single tuples dealt by weights, so evenly that no prefix strays by one.
//!
//! The problem is the chairman assignment problem of R. Tijdeman (1980): with shares `w_i / W` of
//! `d` states, after every `n` turns state `i` has had within `1 − 1/(2d−2)` of `n w_i / W`, which
//! is the best that can be had. A state may have its `k`-th turn as soon as its due is
//! `k − 1 + 1/(2d−2)`, must have it before its due is more than `k − 1/(2d−2)`, and of all that may,
//! that which must first is taken.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::ArcId;

/// Deals tuples over arcs, one at a time: O(1) each, without allocation, clock or chance.
///
/// After every prefix each arc has had within `1 − 1/(2d−2)` tuples of its share `w_i / Σ w`, where
/// `d` is the number of arcs with a weight; one alone gets all. The turns of one period are worked out beforehand, and
/// begin anew after `Σ w` tuples, divided by what all weights have in common.
///
/// The weights are what is kept to. If they are rounded from other shares by [`Plan::weights`],
/// arcs stray from those by up to one tuple for each period; more slots make that rarer.
///
/// [`Plan::weights`]: crate::Plan::weights
///
/// ```
/// use flownet::{ArcId, Dispatcher};
///
/// let mut dispatcher = Dispatcher::new(&[2, 1, 1]).unwrap();
/// let dealt: Vec<u32> = (0..8).map(|_| dispatcher.deal().0).collect();
/// assert_eq!(dealt, [0, 1, 2, 0, 0, 1, 2, 0]);
/// ```
#[derive(Clone, Debug)]
pub struct Dispatcher {
    turns: Vec<ArcId>,
    next: usize,
}

impl Dispatcher {
    /// The most turns of a period.
    pub const MAX_PERIOD: usize = 1 << 24;

    /// Deals over arcs 0, 1, 2 … by weight. `None` if all weights are zero, or if the period would
    /// be longer than [`Self::MAX_PERIOD`]. O(Σ w · log d) time, and 4 bytes for each turn.
    #[must_use]
    pub fn new(weights: &[u32]) -> Option<Self> {
        let arcs: Vec<_> = (0..weights.len()).map(|arc| ArcId(arc as u32)).collect();
        Self::with_items(weights, &arcs)
    }

    pub(super) fn with_items(weights: &[u32], arcs: &[ArcId]) -> Option<Self> {
        let common = weights.iter().fold(0, |a, &b| gcd(a, b));
        if common == 0 {
            return None;
        }
        let items = weights.iter().zip(arcs).filter(|&(&weight, _)| weight > 0);
        let (weights, arcs): (Vec<_>, Vec<_>) =
            items.map(|(&weight, &arc)| (u128::from(weight / common), arc)).unzip();
        if weights.iter().sum::<u128>() > Self::MAX_PERIOD as u128 {
            return None;
        }
        let turns = period(&weights).into_iter().map(|state| arcs[state]).collect();
        Some(Dispatcher { turns, next: 0 })
    }

    /// The arc of the next tuple. O(1).
    #[inline]
    pub fn deal(&mut self) -> ArcId {
        let arc = self.turns[self.next];
        self.next += 1;
        if self.next == self.turns.len() {
            self.next = 0;
        }
        arc
    }

    /// After how many tuples the turns begin anew.
    #[must_use]
    pub fn period(&self) -> usize {
        self.turns.len()
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The states in order of their turns.
fn period(weights: &[u128]) -> Vec<usize> {
    let total: u128 = weights.iter().sum();
    let mut turns = Vec::new();
    let Some(slack) = (2 * weights.len() as u128).checked_sub(2).filter(|&slack| slack > 0) else {
        // One state has every turn.
        turns.resize(usize::try_from(total).unwrap_or(1), 0);
        return turns;
    };
    // The due after n turns is n · w / total; both are the first turn at which it is so much.
    let first = |weight: u128, had: u128| ((had * slack + 1) * total).div_ceil(weight * slack);
    let last = |weight: u128, had: u128| (((had + 1) * slack - 1) * total).div_ceil(weight * slack);
    // States that may have a turn, by when they must; and the others, by when they may.
    let mut ready: BinaryHeap<Reverse<(u128, usize)>> = BinaryHeap::new();
    let mut waiting: BinaryHeap<Reverse<(u128, usize)>> = BinaryHeap::new();
    let mut had = alloc::vec![0_u128; weights.len()];
    for (state, &weight) in weights.iter().enumerate() {
        waiting.push(Reverse((first(weight, 0), state)));
    }
    for turn in 1..=total {
        while let Some(&Reverse((when, state))) = waiting.peek()
            && when <= turn
        {
            waiting.pop();
            ready.push(Reverse((last(weights[state], had[state]), state)));
        }
        // There always is one: the dues add up to the turns.
        let Some(Reverse((_, state))) = ready.pop() else { continue };
        turns.push(state);
        had[state] += 1;
        if had[state] < weights[state] {
            waiting.push(Reverse((first(weights[state], had[state]), state)));
        }
    }
    turns
}
