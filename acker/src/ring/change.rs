//! How the ring changes, and what moves by it.

use alloc::vec::Vec;

use super::points::Points;
use super::{Active, Member, Point, Ring};
use crate::{Arc, Error, Move, Moves, RingHash};

/// The most points that one member may have.
const MOST_POINTS: u64 = 1 << 24;

impl<H: RingHash> Ring<H> {
    /// Places a member of weight 1: only roots that now belong to it move.
    ///
    /// O(N log N) for N new points, expected; now and then, as the ring grows or shrinks by a
    /// factor, O(P) for all P points.
    ///
    /// # Errors
    ///
    /// [`Error::MemberExists`] if the member is on the ring; the ring is unchanged, then as
    /// after every other error. [`Error::TooManyPoints`] above 2²⁴ of them.
    pub fn add(&mut self, member: u32) -> Result<Moves, Error> {
        self.add_weighted(member, 1)
    }

    /// Places a member with `weight` times the points; with a weight of 0 it owns nothing.
    /// Weights are not relative to a sum, so that no other member's points move. As
    /// [`add`](Self::add).
    ///
    /// # Errors
    ///
    /// As [`add`](Self::add).
    pub fn add_weighted(&mut self, member: u32, weight: u32) -> Result<Moves, Error> {
        let Err(at) = self.position(member) else {
            return Err(Error::MemberExists { member });
        };
        self.check(member, weight)?;
        let new = Member { id: member, weight, active: Active::Running };
        self.members.insert(at, new);
        Ok(self.arrive(new))
    }

    /// Takes a member off: only the roots that it had move. As [`add`](Self::add).
    ///
    /// # Errors
    ///
    /// [`Error::UnknownMember`] if the member is not on the ring.
    pub fn remove(&mut self, member: u32) -> Result<Moves, Error> {
        let at = self.position(member).map_err(|_| Error::UnknownMember { member })?;
        let old = self.members.remove(at);
        Ok(self.leave(old))
    }

    /// Says what a member is doing: one that stops running loses its arcs to those that follow,
    /// and gets the same ones back when it runs again. As [`add`](Self::add).
    ///
    /// # Errors
    ///
    /// [`Error::UnknownMember`] if the member is not on the ring.
    pub fn set_active(&mut self, member: u32, active: Active) -> Result<Moves, Error> {
        let at = self.position(member).map_err(|_| Error::UnknownMember { member })?;
        let before = core::mem::replace(&mut self.members[at].active, active);
        let member = self.members[at];
        Ok(match (before == Active::Running, active == Active::Running) {
            (false, true) => self.arrive(member),
            (true, false) => self.leave(Member { active: before, ..member }),
            _ => {
                self.epoch += 1;
                Moves { epoch: self.epoch, arcs: Vec::new() }
            }
        })
    }

    /// Several changes as one: members to take off, then members to place with their weights;
    /// a member that is in both lists changes its weight. O(P log P) for P points, once.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownMember`], [`Error::MemberExists`] (also for one that a list names
    /// twice) and [`Error::TooManyPoints`]: nothing has changed.
    pub fn change(&mut self, remove: &[u32], add: &[(u32, u32)]) -> Result<Moves, Error> {
        let mut members = self.members.clone();
        for &member in remove {
            let at = members.binary_search_by_key(&member, |m| m.id);
            members.remove(at.map_err(|_| Error::UnknownMember { member })?);
        }
        for &(member, weight) in add {
            self.check(member, weight)?;
            let Err(at) = members.binary_search_by_key(&member, |m| m.id) else {
                return Err(Error::MemberExists { member });
            };
            members.insert(at, Member { id: member, weight, active: Active::Running });
        }
        let before: Vec<_> = self.points.iter().copied().collect();
        self.members = members;
        let after = self.fill();
        self.epoch += 1;
        Ok(Moves { epoch: self.epoch, arcs: differences(&before, &after) })
    }

    fn check(&self, member: u32, weight: u32) -> Result<(), Error> {
        let points = u64::from(self.each) * u64::from(weight);
        if points > MOST_POINTS { Err(Error::TooManyPoints { member, points }) } else { Ok(()) }
    }

    /// The points of a member, in order.
    fn points_of(&self, member: Member) -> Vec<Point> {
        let count = if member.active == Active::Running {
            u64::from(self.each) * u64::from(member.weight)
        } else {
            0
        };
        let point = |index| Point { hash: self.hasher.point(member.id, index), member: member.id };
        let mut points: Vec<_> = (0..count as u32).map(point).collect();
        points.sort_unstable();
        points.dedup();
        points
    }

    /// Makes all points, from the members; returns them in order.
    pub(super) fn fill(&mut self) -> Vec<Point> {
        let mut points: Vec<Point> =
            self.members.iter().flat_map(|&member| self.points_of(member)).collect();
        points.sort_unstable();
        self.points = Points::spread(&points);
        points
    }

    /// Puts in the points of a member that was not there.
    fn arrive(&mut self, member: Member) -> Moves {
        let new = self.points_of(member);
        self.points.insert(&new);
        self.epoch += 1;
        let arcs = self.exchanged(&new, member.id).into_iter();
        Moves {
            epoch: self.epoch,
            arcs: arcs.map(|(arc, other)| moved(arc, other, Some(member.id))).collect(),
        }
    }

    /// Takes out the points of a member.
    fn leave(&mut self, member: Member) -> Moves {
        let old = self.points_of(member);
        let arcs = self.exchanged(&old, member.id).into_iter();
        let arcs = arcs.map(|(arc, other)| moved(arc, Some(member.id), other)).collect();
        self.points.remove(&old);
        self.epoch += 1;
        Moves { epoch: self.epoch, arcs }
    }

    /// The arcs that `member` has by its points, which are in order and on the ring, each with who
    /// would have it otherwise.
    fn exchanged(&self, points: &[Point], member: u32) -> Vec<(Arc, Option<u32>)> {
        let other = |point: &&Point| point.member != member;
        let alone = points.len() == self.points.len();
        let after_all = points.last().filter(|_| !alone);
        let mut heir = after_all
            .and_then(|last| self.points.clockwise(last.hash).find(other))
            .map(|point| point.member);
        let mut arcs = Vec::with_capacity(points.len());
        // From the last to the first, so that where the next point is the member's own, too, its
        // heir is known: a heavy member has long runs of them.
        for point in points.iter().rev() {
            let next = self.points.clockwise(point.hash).find(|next| *next != point);
            heir = next.filter(other).map_or(heir, |next| Some(next.member));
            // Of several at one place the first has the arc; another member may be before it.
            let owner = self.points.at(point.hash).map(|owner| owner.member);
            if let (true, Some(before)) = (owner == Some(member), self.points.before(point.hash)) {
                arcs.push((Arc::after(before.hash, point.hash), heir));
            }
        }
        arcs.reverse();
        arcs
    }
}

const fn moved(arc: Arc, from: Option<u32>, to: Option<u32>) -> Move {
    Move { arc, from, to }
}

/// The arcs that have different owners on two rings. O(points).
fn differences(old: &[Point], new: &[Point]) -> Vec<Move> {
    let places = |points: &[Point]| points.iter().map(|point| point.hash).collect::<Vec<_>>();
    let mut ends = [places(old), places(new)].concat();
    ends.sort_unstable();
    ends.dedup();
    let Some(&last) = ends.last() else { return Vec::new() };
    let (mut in_old, mut in_new, mut before) = (0, 0, last);
    let mut arcs = Vec::new();
    for end in ends {
        let owner = |points: &[Point], at: &mut usize| {
            *at += points[*at..].iter().take_while(|point| point.hash < end).count();
            points.get(*at).or(points.first()).map(|point| point.member)
        };
        let (from, to) = (owner(old, &mut in_old), owner(new, &mut in_new));
        if from != to {
            arcs.push(moved(Arc::after(before, end), from, to));
        }
        before = end;
    }
    arcs
}
