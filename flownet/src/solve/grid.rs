//! From limits of any type to whole numbers, so that solvers add and compare without rounding.
//!
//! Every capacity is `m · 2^e`. With `2^k` the coarsest step that all of them are multiples of,
//! they are whole numbers of steps, and whole numbers they stay in every residual network: flows
//! are exact, and a solver ends, for floats as for integers. What exceeds a bound of the value is
//! cut down to just above it, which changes no flow and no cut, and then no number is larger than
//! what the source could send. Where even 128 bits cannot hold the range of floats, `2^k` is the
//! finest step that they can, and capacities are rounded down to it.

use alloc::vec::Vec;

use super::expand::{Expanded, Link};
use super::residual::Residual;
use crate::{ArcId, Capacity, Error, Limit, Network, NodeId};

/// The bits that a number may have.
const BITS: i32 = 126;

/// Steps of `2^k`, and the bound that no number exceeds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    pub(crate) k: i32,
    /// One more than the value can be: what is not below is as good as unbounded.
    cap: u128,
    /// What the source could send at most.
    pub(crate) total: u128,
    /// Whether every limit is a whole number of steps, or cut down where it does not matter.
    pub(crate) exact: bool,
}

/// What the limits of a group of links add up to: less than `2^top`.
#[derive(Clone, Copy)]
struct Sum {
    /// Every limit is below `2^largest`; `i32::MIN` if all are zero.
    largest: i32,
    /// Every limit is a multiple of `2^finest`; `i32::MAX` if all are zero.
    finest: i32,
    count: u64,
    unbounded: bool,
}

impl Sum {
    const NOTHING: Sum = Sum { largest: i32::MIN, finest: i32::MAX, count: 0, unbounded: false };

    fn add<C: Capacity>(&mut self, limit: Limit<C>) {
        match limit {
            Limit::Unbounded => self.unbounded = true,
            Limit::Finite(c) => {
                let (m, e) = c.dyadic();
                if m > 0 {
                    self.largest = self.largest.max(e + 64 - m.leading_zeros().cast_signed());
                    self.finest = self.finest.min(e + m.trailing_zeros().cast_signed());
                }
            }
        }
        self.count += 1;
    }

    fn top(&self) -> Option<i32> {
        // Nothing at all is less than any step.
        let largest = self.largest.max(i32::from(i16::MIN));
        (!self.unbounded).then(|| largest + log2(self.count))
    }
}

/// The same in whole steps.
#[derive(Clone, Copy, Default)]
struct Exact {
    wholes: u128,
    unbounded: bool,
}

impl Exact {
    fn add(&mut self, whole: u128, bounded: bool) {
        self.wholes = self.wholes.saturating_add(whole);
        self.unbounded |= !bounded;
    }
}

/// The least `x` with `n ≤ 2^x`.
fn log2(n: u64) -> i32 {
    (64 - n.saturating_sub(1).leading_zeros()).cast_signed()
}

impl Grid {
    pub(crate) fn new<C: Capacity>(user: &Network<C>, net: &Expanded<C>) -> Result<Self, Error<C>> {
        let [mut out, mut into, mut all] = [Sum::NOTHING; 3];
        for &Link { from, to, limit } in &net.links {
            if from != to {
                all.add(limit);
                if from == net.source {
                    out.add(limit);
                }
                if to == net.sink {
                    into.add(limit);
                }
            }
        }
        if out.unbounded
            && into.unbounded
            && let Some(error) = unbounded_path(user, net)
        {
            return Err(error);
        }
        all.unbounded = false;

        let senders = log2(out.count);
        let mut top = [out.top(), into.top(), all.top()].into_iter().flatten().min().unwrap_or(0);
        let mut k = if all.finest == i32::MAX { 0 } else { all.finest };
        if top + senders - k > BITS {
            top = match widest_path(net) {
                // The value is at most the narrowest of the widest way, for each link once.
                Some(widest) => top.min(widest + log2(all.count)),
                // Nothing can flow, and one step is as good as any number of them.
                None => k,
            };
            k = k.max(top + senders - BITS);
        }

        let exact = k <= all.finest;

        // The same bounds once more, exactly.
        let mut grid = Grid { k, cap: 1 << (top - k).clamp(0, BITS), total: 0, exact };
        let (mut sent, mut taken, mut sum) = (Exact::default(), Exact::default(), Exact::default());
        let mut from_source: Vec<u128> = Vec::new();
        for &Link { from, to, limit } in &net.links {
            let whole = grid.whole(limit);
            let bounded = limit != Limit::Unbounded;
            if from != to && from == net.source {
                sent.add(whole, bounded);
                from_source.push(whole);
            }
            if from != to && to == net.sink {
                taken.add(whole, bounded);
            }
            if bounded {
                sum.add(whole, true);
            }
        }
        let bounds = [sum, sent, taken].into_iter().filter(|sum| !sum.unbounded);
        let bound = bounds.map(|sum| sum.wholes).min().unwrap_or(0);
        grid.cap = grid.cap.min(bound.saturating_add(1));
        grid.total = from_source.iter().map(|&whole| whole.min(grid.cap)).sum();
        grid.total = grid.total.max(grid.cap);
        Ok(grid)
    }

    /// The same with room for changes, for a network whose source has one arc: whole numbers are
    /// counted in ones, floats in finer steps, and all numbers that the width holds are used before
    /// a limit is as good as unbounded. What is rounded stays as it is.
    pub(crate) fn roomy<C: Capacity>(mut self) -> Self {
        if !self.exact {
            return self;
        }
        let bits = |x: u128| (128 - x.leading_zeros()).cast_signed();
        // A value that grows beyond the width is counted anew.
        let need = bits(self.total);
        let need = if C::ROUNDED { need } else { need + self.k.max(0) };
        let width = [32, 64].into_iter().find(|&width| need <= width).unwrap_or(BITS);
        // No float is finer than 2^-1074.
        let slack = ((width - need).max(0) / 2).min(self.k + 1074).max(0);
        let finer = if C::ROUNDED { slack } else { self.k.max(0) };
        if need <= width {
            self.k -= finer;
            self.cap = if width == BITS { 1 << BITS } else { (1 << width) - 1 };
            self.total = self.cap;
        }
        self
    }

    /// Whether a limit is a whole number of steps, or as good as unbounded.
    pub(crate) fn holds<C: Capacity>(&self, limit: Limit<C>) -> bool {
        let Limit::Finite(c) = limit else { return true };
        let (m, e) = c.dyadic();
        m == 0 || e + m.trailing_zeros().cast_signed() >= self.k || self.whole(limit) == self.cap
    }

    /// The largest number of steps that a limit becomes.
    pub(crate) fn cap(&self) -> u128 {
        self.cap
    }

    /// A limit as a whole number of steps, rounded down.
    pub(crate) fn whole<C: Capacity>(&self, limit: Limit<C>) -> u128 {
        let Limit::Finite(c) = limit else { return self.cap };
        let (m, e) = c.dyadic();
        let shift = e - self.k;
        if (-63..=0).contains(&shift) {
            // Nearly always: no need for wide shifts.
            return u128::from(m >> shift.unsigned_abs()).min(self.cap);
        }
        if (0..64).contains(&shift) && shift.unsigned_abs() <= m.leading_zeros() {
            return u128::from(m << shift).min(self.cap);
        }
        let m = u128::from(m);
        let whole = if m == 0 {
            0
        } else if shift < 0 {
            m.checked_shr(shift.unsigned_abs()).unwrap_or(0)
        } else if shift.unsigned_abs() > m.leading_zeros() {
            u128::MAX
        } else {
            m << shift
        };
        whole.min(self.cap)
    }
}

/// A way from the source to the sink on which nothing is limited.
fn unbounded_path<C: Capacity>(user: &Network<C>, net: &Expanded<C>) -> Option<Error<C>> {
    let open = |limit| u32::from(limit == Limit::Unbounded);
    let residual = plain(net, open);
    let mut parent = alloc::vec![u32::MAX; net.nodes];
    let mut queue: Vec<u32> = alloc::vec![net.source];
    let mut head = 0;
    while let Some(&node) = queue.get(head) {
        head += 1;
        for place in residual.row(node) {
            let edge = &residual.edges[place];
            let to = edge.head as usize;
            if edge.cap > 0 && edge.head != net.source && parent[to] == u32::MAX {
                parent[to] = place as u32;
                queue.push(edge.head);
            }
        }
    }
    if parent[net.sink as usize] == u32::MAX {
        return None;
    }
    let mut path = Vec::new();
    let mut node = net.sink;
    while node != net.source {
        let edge = &residual.edges[parent[node as usize] as usize];
        path.push(parent[node as usize]);
        node = residual.edges[edge.partner()].head;
    }
    path.reverse();
    Some(describe(user, &residual, &path))
}

/// The arcs of the user's network on a path of the expanded one.
fn describe<C: Capacity>(user: &Network<C>, residual: &Residual<u32>, path: &[u32]) -> Error<C> {
    let numbers = residual.numbers();
    let arcs: Vec<ArcId> = path
        .iter()
        .map(|&place| ArcId(numbers[place as usize]))
        .filter(|arc| arc.index() < user.arc_count())
        .collect();
    let ends = |arc: &ArcId| user.arc(*arc);
    // A way without an arc would need a node that is source and sink, which there is not.
    let source = arcs.first().and_then(ends).map_or(NodeId(0), |arc| arc.from);
    let sink = arcs.last().and_then(ends).map_or(NodeId(0), |arc| arc.to);
    Error::Unbounded { source, arcs, sink }
}

/// Some `x` so that no way from the source to the sink has room for `2^x` on all of its links, and
/// one has room for `2^(x - 1)`; `None` if there is no way at all.
fn widest_path<C: Capacity>(net: &Expanded<C>) -> Option<i32> {
    const SHIFT: i32 = 1100;
    const UNBOUNDED: u32 = 4000;
    let residual = plain(net, |limit| match limit {
        Limit::Unbounded => UNBOUNDED,
        Limit::Finite(c) => {
            let (m, e) = c.dyadic();
            if m == 0 {
                0
            } else {
                (e + 64 - m.leading_zeros().cast_signed() + SHIFT).unsigned_abs()
            }
        }
    });
    let reaches = |least: u32| {
        let mut seen = alloc::vec![false; net.nodes];
        let mut stack = alloc::vec![net.source];
        seen[net.source as usize] = true;
        while let Some(node) = stack.pop() {
            for edge in &residual.edges[residual.row(node)] {
                if edge.cap >= least && !seen[edge.head as usize] {
                    seen[edge.head as usize] = true;
                    stack.push(edge.head);
                }
            }
        }
        seen[net.sink as usize]
    };
    let (mut low, mut high) = (0, UNBOUNDED);
    // Invariant: a way has `low`, none has `high`, since every way has a limit.
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if reaches(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low > 0).then(|| low.cast_signed() - SHIFT)
}

/// The links as a network of numbers that stand for the limits.
fn plain<C: Capacity>(net: &Expanded<C>, number: impl Fn(Limit<C>) -> u32 + Copy) -> Residual<u32> {
    let links = || net.links.iter().map(move |link| (link.from, link.to, number(link.limit)));
    Residual::new(net.nodes, net.source, net.sink, links)
}
