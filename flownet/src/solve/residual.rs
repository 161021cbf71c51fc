//! The residual network: compressed rows of paired arcs.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Debug;
use core::ops::{AddAssign, SubAssign};

/// No arc, no node.
pub(crate) const NONE: u32 = u32::MAX;
/// The bit of [`Edge::rev`] that says that the arc is the way back of one of the network.
const BACKWARD: u32 = 1 << 31;

/// The whole numbers that flows are counted in: the narrowest type that holds all that the source
/// could send, since memory traffic is most of the time.
pub(crate) trait Width:
    Copy + Ord + Debug + Default + AddAssign + SubAssign + 'static
{
    const ZERO: Self;
    /// The lowest bits; the caller has seen to it that there are no others.
    fn narrow(wide: u128) -> Self;
    fn widen(self) -> u128;
}

macro_rules! width {
    ($($type:ty),*) => {$(
        impl Width for $type {
            const ZERO: Self = 0;

            #[inline]
            fn narrow(wide: u128) -> Self {
                debug_assert!(wide <= u128::from(Self::MAX));
                wide as Self
            }

            #[inline]
            fn widen(self) -> u128 {
                u128::from(self)
            }
        }
    )*};
}
width!(u32, u64, u128);

/// One residual arc: 16, 24 or 48 bytes.
///
/// It also holds what its partner's `cap` is, so that a search against the arcs need not visit the
/// partners, which lie anywhere in memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Edge<W> {
    /// Where it leads.
    pub(crate) head: u32,
    /// Its partner's place, and [`BACKWARD`].
    rev: u32,
    /// What can still pass.
    pub(crate) cap: W,
    /// What can still pass on the partner.
    pub(crate) back: W,
}

impl<W> Edge<W> {
    #[inline]
    pub(crate) fn partner(&self) -> usize {
        (self.rev & !BACKWARD) as usize
    }

    /// Whether what can pass here is flow that would be taken back.
    #[inline]
    pub(crate) fn is_backward(&self) -> bool {
        self.rev & BACKWARD != 0
    }
}

/// The residual network of a flow. Every arc of the network has a partner of its own that carries
/// its flow back, so parallel and anti-parallel arcs are never mixed up.
#[derive(Clone, Debug)]
pub(crate) struct Residual<W> {
    /// Where each node's arcs begin; one more than nodes.
    pub(crate) first: Vec<u32>,
    pub(crate) edges: Vec<Edge<W>>,
    pub(crate) source: u32,
    pub(crate) sink: u32,
    /// The place of each arc of the network, [`NONE`] if it was left out.
    places: Vec<u32>,
}

impl<W: Width> Residual<W> {
    /// Builds the rows by counting sort: O(V + E). `arcs` must give the same `(from, to,
    /// capacity)` on both passes; self loops and zeros are left out, since they carry nothing.
    pub(crate) fn new<I>(nodes: usize, source: u32, sink: u32, arcs: impl Fn() -> I) -> Self
    where
        I: ExactSizeIterator<Item = (u32, u32, W)>,
    {
        Self::build(nodes, source, sink, arcs, |cap| cap > W::ZERO)
    }

    /// The same with zeros, which may be raised later.
    pub(crate) fn with_zeros<I>(nodes: usize, source: u32, sink: u32, arcs: impl Fn() -> I) -> Self
    where
        I: ExactSizeIterator<Item = (u32, u32, W)>,
    {
        Self::build(nodes, source, sink, arcs, |_| true)
    }

    fn build<I>(
        nodes: usize,
        source: u32,
        sink: u32,
        arcs: impl Fn() -> I,
        room: impl Fn(W) -> bool,
    ) -> Self
    where
        I: ExactSizeIterator<Item = (u32, u32, W)>,
    {
        let kept = |&(from, to, cap): &(u32, u32, W)| from != to && room(cap);
        let mut first = vec![0_u32; nodes + 2];
        for (from, to, _) in arcs().filter(kept) {
            first[from as usize + 2] += 1;
            first[to as usize + 2] += 1;
        }
        for v in 2..nodes + 2 {
            first[v] += first[v - 1];
        }
        // Until a node's arcs are placed, `first[v + 1]` is where its next one goes.
        let mut edges = vec![Edge::default(); first[nodes + 1] as usize];
        let mut places = vec![NONE; arcs().len()];
        for (place, arc) in places.iter_mut().zip(arcs()) {
            if kept(&arc) {
                let (from, to, cap) = arc;
                let there = first[from as usize + 1];
                first[from as usize + 1] += 1;
                let back = first[to as usize + 1];
                first[to as usize + 1] += 1;
                edges[there as usize] = Edge { head: to, rev: back, cap, back: W::ZERO };
                edges[back as usize] =
                    Edge { head: from, rev: there | BACKWARD, cap: W::ZERO, back: cap };
                *place = there;
            }
        }
        first.pop();
        Residual { first, edges, source, sink, places }
    }

    pub(crate) fn nodes(&self) -> usize {
        self.first.len() - 1
    }

    #[inline]
    pub(crate) fn row(&self, node: u32) -> core::ops::Range<usize> {
        self.first[node as usize] as usize..self.first[node as usize + 1] as usize
    }

    /// Whether every arc has room for one step of the grid alone.
    pub(crate) fn is_unit(&self) -> bool {
        self.edges.iter().all(|edge| edge.cap <= W::narrow(1))
    }

    /// Where an arc comes from.
    pub(crate) fn tail(&self, edge: u32) -> u32 {
        self.edges[self.edges[edge as usize].partner()].head
    }

    pub(crate) fn degree(&self, node: u32) -> u64 {
        u64::from(self.first[node as usize + 1] - self.first[node as usize])
    }

    /// Sends `amount` over an arc, which must have room for it.
    #[inline]
    pub(crate) fn send(&mut self, edge: usize, amount: W) {
        let there = &mut self.edges[edge];
        there.cap -= amount;
        there.back += amount;
        let back = there.partner();
        let back = &mut self.edges[back];
        back.cap += amount;
        back.back -= amount;
    }

    /// The flow on the arc that was given as number `index`.
    #[inline]
    pub(crate) fn flow(&self, index: usize) -> W {
        match self.places[index] {
            NONE => W::ZERO,
            place => self.edges[place as usize].back,
        }
    }

    /// The place of the arc that was given as number `index`; none for a self loop.
    #[inline]
    pub(crate) fn place(&self, index: usize) -> Option<usize> {
        let place = self.places[index];
        (place != NONE).then_some(place as usize)
    }

    /// Takes flow from an arc, which makes no room, and leaves its ends out of balance.
    pub(crate) fn lose(&mut self, edge: usize, amount: W) {
        self.edges[edge].back -= amount;
        let partner = self.edges[edge].partner();
        self.edges[partner].cap -= amount;
    }

    /// Changes what can still pass on an arc.
    #[inline]
    pub(crate) fn set_room(&mut self, edge: usize, room: W) {
        self.edges[edge].cap = room;
        let partner = self.edges[edge].partner();
        self.edges[partner].back = room;
    }

    /// For each place the number of the arc that it was given as, [`NONE`] for the way back.
    pub(crate) fn numbers(&self) -> Vec<u32> {
        let mut numbers = vec![NONE; self.edges.len()];
        for (number, &place) in (0..).zip(&self.places) {
            if place != NONE {
                numbers[place as usize] = number;
            }
        }
        numbers
    }

    /// What leaves the source, less what comes back to it.
    pub(crate) fn value(&self) -> u128 {
        let (mut out, mut back) = (0_u128, 0_u128);
        for edge in &self.edges[self.row(self.source)] {
            if edge.is_backward() {
                back += edge.cap.widen();
            } else {
                out += edge.back.widen();
            }
        }
        out - back
    }

    /// The nodes on the source side of the cut nearest the source, and of that nearest the sink, if
    /// the flow is a maximum.
    pub(crate) fn sides(&self) -> [Vec<bool>; 2] {
        let mut far = self.before_sink();
        for mark in &mut far {
            *mark = !*mark;
        }
        [self.after_source(), far]
    }

    /// The nodes that residual arcs lead to from the source.
    pub(crate) fn after_source(&self) -> Vec<bool> {
        self.reach(self.source, |edge| edge.cap > W::ZERO)
    }

    /// The nodes from which residual arcs lead to the sink.
    pub(crate) fn before_sink(&self) -> Vec<bool> {
        self.reach(self.sink, |edge| edge.back > W::ZERO)
    }

    fn reach(&self, start: u32, open: impl Fn(&Edge<W>) -> bool) -> Vec<bool> {
        let mut seen = vec![false; self.nodes()];
        let mut stack = vec![start];
        seen[start as usize] = true;
        while let Some(node) = stack.pop() {
            for edge in &self.edges[self.row(node)] {
                if !seen[edge.head as usize] && open(edge) {
                    seen[edge.head as usize] = true;
                    stack.push(edge.head);
                }
            }
        }
        seen
    }
}

/// Takes `cost` steps from a budget, or none if there are fewer.
#[inline]
pub(crate) fn spend(budget: &mut u64, cost: u64) -> bool {
    if *budget < cost {
        return false;
    }
    *budget -= cost;
    true
}
