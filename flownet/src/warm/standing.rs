//! A maximum flow, and how it is mended when one limit changes.
//!
//! Let `(u, v)` be the arc whose limit changes, and let the *near* set be what residual arcs lead
//! to from the source, and the *far* set what they lead from to the sink.
//!
//! **Raised.** If the arc had room, no minimum cut holds it, and nothing changes. Else the value
//! grows only if `u` is near and `v` far, both as they stand now; and then every augmenting path
//! goes through the arc. If not, a set may grow by what lies behind the arc, and no more.
//!
//! **Lowered.** If room is left, nothing changes. Else what no longer fits is led around the arc,
//! from `u` to `v`; what cannot be is taken from the value, back from `u` to the source and from
//! the sink to `v`. Then the flow is a maximum again: no way led around the arc, so that the cut
//! that shows it is one through the arc.
//!
//! **The cuts.** A cut through the arc gets as much smaller as the limit, and no other cut does. So
//! if the arc crosses a cut that is the nearest, it still is, and if `u` is not near, the near cut
//! stays as it is, unless the value fell; for `v` and the far cut alike. Where a way from `u` to `v`
//! is left, no minimum cut holds the arc, and both stay.
//!
//! Where the value falls, every new minimum cut goes through the arc. Let `S` be the near set before,
//! without `v` and not crossed by the arc, and `T` that after: as cut capacities are submodular,
//! `S ∩ T` was a minimum cut before, and so `S` lies in `T`. So `S` need only grow, and what leads out
//! of it are arcs over which flow was sent just now. Only where both ends were near is the near set
//! found anew; for the far set alike.
//!
//! **By an end.** A node that has flow has a way back to the source, against it, and from the source
//! there is one to each near node, which levels tell: so no search is needed to lead flow around to
//! a near node, nor from a far node by the sink, as long as these ways have room.

use super::reach::Reach;
use super::search::{Found, Search};
use crate::solve::residual::{Residual, Width};

/// The work was more than allowed: what there is must be thrown away.
#[derive(Clone, Copy, Debug)]
pub(super) struct GaveUp;

/// What an edit took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effort {
    /// It is known to change neither flow nor value, at once.
    Nothing,
    /// The flow was led another way, or raised, or lowered, or a side of a cut grew.
    Repair,
}

/// How many arcs may be looked at to save finding a whole side of a cut anew.
const GLANCE: u64 = 512;

/// How many ways by an end are tried before a search.
const TRIES: u32 = 8;

/// What a repair may look at in any case.
const LEAST: u64 = 256;

/// A maximum flow of the residual network.
#[derive(Clone, Debug)]
pub(super) struct Standing<W> {
    pub(super) net: Residual<W>,
    pub(super) value: u128,
    pub(super) near: Reach,
    pub(super) far: Reach,
    search: Search,
    /// How many arcs a repair may look at.
    allowance: u64,
    /// How many it has looked at.
    pub(super) work: u64,
}

impl<W: Width> Standing<W> {
    /// From a maximum flow that took `steps` to find.
    pub(super) fn new(net: Residual<W>, steps: u64) -> Self {
        let nodes = net.nodes();
        let mut standing = Standing {
            value: net.value(),
            near: Reach::new(nodes, true),
            far: Reach::new(nodes, false),
            search: Search::new(nodes),
            net,
            // Small enough that a repair and a solution after it are not much dearer than the
            // solution alone; an arc looked at in passing costs more than one looked at in order.
            allowance: (steps / 2).max(LEAST),
            work: 0,
        };
        standing.refresh();
        standing
    }

    /// Finds the sets that have moved, so that the next edits know them.
    fn refresh(&mut self) {
        self.work += self.near.refresh(&self.net);
        self.work += self.far.refresh(&self.net);
    }

    /// The flow on a link, in steps of the grid.
    pub(super) fn flow(&self, link: usize) -> u128 {
        self.net.flow(link).widen()
    }

    /// Whether a flow needs more than `bits` bits, and has some that are lower than those of all
    /// limits below `cap`: so after limits have become coarser than they were.
    pub(super) fn is_finer_than_limits(&self, bits: u32, cap: u128) -> bool {
        let ahead = || self.net.edges.iter().filter(|edge| !edge.is_backward());
        let limits = ahead().map(|edge| edge.cap.widen() + edge.back.widen());
        let finest = limits.filter(|&limit| limit < cap && limit > 0).map(u128::trailing_zeros);
        let finest = finest.min().unwrap_or(0);
        let flows = ahead().map(|edge| edge.back.widen()).filter(|&flow| flow > 0);
        flows.into_iter().any(|flow| {
            let lowest = flow.trailing_zeros();
            lowest < finest && 128 - flow.leading_zeros() - lowest > bits
        })
    }

    /// Changes the limit of a link, in steps of the grid. An amount that stands for "unbounded"
    /// must be more than the value.
    pub(super) fn set(&mut self, link: usize, limit: W) -> Result<Effort, GaveUp> {
        self.work = 0;
        let effort = self.change(link, limit)?;
        self.refresh();
        Ok(effort)
    }

    fn change(&mut self, link: usize, limit: W) -> Result<Effort, GaveUp> {
        let Some(arc) = self.net.place(link) else { return Ok(Effort::Nothing) };
        let (room, flow) = (self.net.edges[arc].cap, self.net.edges[arc].back);
        if limit >= flow {
            let mut left = limit;
            left -= flow;
            self.net.set_room(arc, left);
            return match (room > W::ZERO, left > W::ZERO) {
                (false, true) => self.raise(arc),
                (true, false) => Ok(self.fill(arc)),
                // Room before and after, or neither: no minimum cut changes.
                _ => Ok(Effort::Nothing),
            };
        }
        let mut surplus = flow;
        surplus -= limit;
        self.net.set_room(arc, W::ZERO);
        self.lower(arc, surplus)
    }

    /// An arc that had no room has some now.
    fn raise(&mut self, arc: usize) -> Result<Effort, GaveUp> {
        let (from, to) = (self.net.tail(arc as u32), self.net.edges[arc].head);
        // No node is in both sets.
        let known = self.near.fresh && (!self.near.has(from) || self.near.has(to))
            || self.far.fresh && (!self.far.has(to) || self.far.has(from));
        if !known {
            self.work += self.near.refresh(&self.net);
            if self.near.has(from) {
                self.work += self.far.refresh(&self.net);
                if self.far.has(to) {
                    return self.augment(arc, from, to);
                }
            }
        }
        // The value stays. At most one of the two holds: else the arc would raise it.
        let mut effort = Effort::Nothing;
        if self.near.fresh && self.near.has(from) && !self.near.has(to) {
            self.work += self.near.grow_from(&self.net, from, to);
            effort = Effort::Repair;
        }
        if self.far.fresh && self.far.has(to) && !self.far.has(from) {
            self.work += self.far.grow_from(&self.net, to, from);
            effort = Effort::Repair;
        }
        Ok(effort)
    }

    /// Raises the flow along paths through an arc until it is full or there is none.
    fn augment(&mut self, arc: usize, from: u32, to: u32) -> Result<Effort, GaveUp> {
        self.near.forget();
        self.far.forget();
        let mut ahead = Path::default();
        let mut behind = Path::default();
        loop {
            let most = self.net.edges[arc].cap;
            let (source, sink) = (self.net.source, self.net.sink);
            if most == W::ZERO
                || !ahead.ensure(self, source, from)?
                || !behind.ensure(self, to, sink)?
            {
                return Ok(Effort::Repair);
            }
            let amount = behind.room(&self.net, ahead.room(&self.net, most));
            ahead.send(&mut self.net, amount);
            self.net.send(arc, amount);
            behind.send(&mut self.net, amount);
            self.value += amount.widen();
            // One that is kept is walked again each time.
            self.work += (ahead.arcs.len() + behind.arcs.len()) as u64;
        }
    }

    /// An arc has no room any more, and its flow fits.
    fn fill(&mut self, arc: usize) -> Effort {
        let (from, to) = (self.net.tail(arc as u32), self.net.edges[arc].head);
        let near = !(self.near.fresh && self.near.has(from) && self.near.has(to));
        let far = !(self.far.fresh && self.far.has(from) && self.far.has(to));
        if near && far {
            // The arc had room, so it led into no cut: both ends lie on one side of each that is
            // known, and not on the side that could shrink.
            return Effort::Nothing;
        }
        self.glance(from, to);
        Effort::Repair
    }

    /// Keeps the cuts if there is a way around an arc that is full, and forgets those that may have
    /// moved if that is not seen soon. The value has not changed.
    fn glance(&mut self, from: u32, to: u32) {
        let near = self.near.fresh && self.near.has(from);
        let far = self.far.fresh && self.far.has(to);
        if !near && !far {
            return;
        }
        let mut allowance = GLANCE;
        let found = self.search.find(&self.net, from, to, &mut allowance);
        self.work += GLANCE - allowance;
        if found != Found::Path {
            if near {
                self.near.forget();
            }
            if far {
                self.far.forget();
            }
        }
    }

    /// An arc carries `surplus` more than it may.
    fn lower(&mut self, arc: usize, surplus: W) -> Result<Effort, GaveUp> {
        let (from, to) = (self.net.tail(arc as u32), self.net.edges[arc].head);
        self.net.lose(arc, surplus);
        let in_near = self.near.fresh && self.near.has(from) && !self.near.has(to);
        let in_far = self.far.fresh && self.far.has(to) && !self.far.has(from);
        let mut left = surplus;
        self.search.touched.clear();
        // A minimum cut through the arc leaves no way around it.
        if !in_near && !in_far {
            self.by_an_end(from, to, &mut left);
            if left > W::ZERO {
                self.lead(from, to, &mut left)?;
            }
        }
        if left == W::ZERO {
            // The last way around may have room left.
            if self.search.room(&self.net, surplus) == W::ZERO {
                self.glance(from, to);
            }
            return Ok(Effort::Repair);
        }
        self.value -= left.widen();
        let near_grows = self.near.fresh && !self.near.has(to);
        let far_grows = self.far.fresh && !self.far.has(from);
        let (source, sink) = (self.net.source, self.net.sink);
        for (from, to) in [(from, source), (sink, to)] {
            // What came from the source can go back, and what went to the sink can come back.
            if from != to {
                let mut left = left;
                self.lead(from, to, &mut left)?;
                debug_assert_eq!(left, W::ZERO);
            }
        }
        if !near_grows {
            self.near.forget();
        } else if !in_near {
            self.work += self.near.grow_over(&self.net, &self.search.touched);
        }
        if !far_grows {
            self.far.forget();
        } else if !in_far {
            self.work += self.far.grow_over(&self.net, &self.search.touched);
        }
        Ok(Effort::Repair)
    }

    /// Sends some of `left` back to the source and on from there, or to the sink and back from there,
    /// without a search, if a set tells the way.
    fn by_an_end(&mut self, from: u32, to: u32, left: &mut W) {
        let before = self.allowance.saturating_sub(self.work) / 2;
        let mut allowance = before;
        for _ in 0..TRIES {
            let way = &mut self.search.path;
            let found = if self.near.fresh && self.near.has(to) {
                self.near.way(&self.net, to, from, way, &mut allowance)
            } else if self.far.fresh && self.far.has(from) {
                self.far.way(&self.net, from, to, way, &mut allowance)
            } else {
                false
            };
            if !found {
                break;
            }
            self.search.send(&mut self.net, left);
            if *left == W::ZERO {
                break;
            }
        }
        self.work += before - allowance;
    }

    /// Sends as much of `left` as can be from one node to another.
    fn lead(&mut self, from: u32, to: u32, left: &mut W) -> Result<(), GaveUp> {
        let before = self.allowance.saturating_sub(self.work);
        let mut allowance = before;
        let found = self.search.lead(&mut self.net, from, to, left, &mut allowance);
        self.work += before - allowance;
        if found == Found::Limit { Err(GaveUp) } else { Ok(()) }
    }

    fn find(&mut self, from: u32, to: u32) -> Result<bool, GaveUp> {
        let before = self.allowance.saturating_sub(self.work);
        let mut allowance = before;
        let found = self.search.find(&self.net, from, to, &mut allowance);
        self.work += before - allowance;
        match found {
            Found::Path => Ok(true),
            Found::Nothing => Ok(false),
            Found::Limit => Err(GaveUp),
        }
    }
}

/// A way that is kept until one of its arcs is full.
#[derive(Default)]
struct Path {
    arcs: alloc::vec::Vec<u32>,
    valid: bool,
}

impl Path {
    /// Looks for a way unless there is one.
    fn ensure<W: Width>(
        &mut self,
        standing: &mut Standing<W>,
        from: u32,
        to: u32,
    ) -> Result<bool, GaveUp> {
        if !self.valid && from != to {
            if !standing.find(from, to)? {
                return Ok(false);
            }
            core::mem::swap(&mut self.arcs, &mut standing.search.path);
        }
        self.valid = true;
        Ok(true)
    }

    fn room<W: Width>(&self, net: &Residual<W>, most: W) -> W {
        self.arcs.iter().map(|&arc| net.edges[arc as usize].cap).fold(most, Ord::min)
    }

    fn send<W: Width>(&mut self, net: &mut Residual<W>, amount: W) {
        for &arc in &self.arcs {
            net.send(arc as usize, amount);
            self.valid &= net.edges[arc as usize].cap > W::ZERO;
        }
    }
}
