//! How the ring changes, and what moves by it.

use alloc::vec::Vec;

use super::{Active, Member, Point, Ring};
use crate::{Arc, Error, Move, Moves, RingHash};

/// The most points that one member may have.
const MOST_POINTS: u64 = 1 << 24;

impl<H: RingHash> Ring<H> {
    /// Places a member of weight 1: only roots that now belong to it move.
    ///
    /// O(P + N log P) for P points on the ring and N new ones, the P being a copy.
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
        let before = core::mem::take(&mut self.points);
        self.members = members;
        self.fill();
        self.epoch += 1;
        Ok(Moves { epoch: self.epoch, arcs: differences(&before, &self.points) })
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
        points
    }

    /// All points, from the members.
    pub(super) fn fill(&mut self) {
        let mut points: Vec<Point> =
            self.members.iter().flat_map(|&member| self.points_of(member)).collect();
        points.sort_unstable();
        self.points = points;
        self.cut();
    }

    /// Puts in the points of a member that was not there.
    fn arrive(&mut self, member: Member) -> Moves {
        let new = self.points_of(member);
        let mut end = self.points.len();
        self.points.resize(end + new.len(), Point::default());
        // From the back, a block of old points at a time.
        for (left, &point) in new.iter().enumerate().rev() {
            let at = self.points[..end].partition_point(|old| *old < point);
            self.points.copy_within(at..end, at + left + 1);
            self.points[at + left] = point;
            end = at;
        }
        self.recount(&new, |before, more| before + more);
        self.epoch += 1;
        let arcs = self.exchanged(&new, member.id);
        Moves {
            epoch: self.epoch,
            arcs: arcs.map(|(arc, other)| moved(arc, other, Some(member.id))).collect(),
        }
    }

    /// Takes out the points of a member.
    fn leave(&mut self, member: Member) -> Moves {
        let old = self.points_of(member);
        let arcs = self.exchanged(&old, member.id);
        let arcs = arcs.map(|(arc, other)| moved(arc, Some(member.id), other)).collect();
        let mut kept = 0;
        let mut from = 0;
        for &point in &old {
            let at = from + self.points[from..].partition_point(|other| *other < point);
            self.points.copy_within(from..at, kept);
            kept += at - from;
            from = at + 1;
        }
        self.points.copy_within(from.., kept);
        self.points.truncate(self.points.len() - old.len());
        self.recount(&old, |before, less| before - less);
        self.epoch += 1;
        Moves { epoch: self.epoch, arcs }
    }

    /// The arcs that `member` has by its points, which are on the ring, each with who would
    /// have it otherwise.
    fn exchanged<'a>(
        &'a self,
        points: &'a [Point],
        member: u32,
    ) -> impl Iterator<Item = (Arc, Option<u32>)> + 'a {
        let alone = points.len() == self.points.len();
        points.iter().enumerate().filter_map(move |(nth, point)| {
            // Of several at one place the first has the arc; another member may be before it.
            let first = self.points.partition_point(|other| other.hash < point.hash);
            let repeated = nth > 0 && points[nth - 1].hash == point.hash;
            if repeated || self.points[first].member != member {
                return None;
            }
            let last = self.points.len() - 1;
            let before = self.points[if first == 0 { last } else { first - 1 }];
            let (ahead, behind) = (self.points[first..].iter(), self.points[..first].iter());
            let other = |point: &&Point| point.member != member;
            let heir = if alone { None } else { ahead.chain(behind).find(other) };
            Some((Arc::after(before.hash, point.hash), heir.map(|heir| heir.member)))
        })
    }

    /// Corrects the index for points that have come or gone, or makes a new one if their number
    /// asks for other slices.
    fn recount(&mut self, changed: &[Point], apply: impl Fn(u32, u32) -> u32) {
        if self.before.is_empty() || self.shift != shift_for(self.points.len()) {
            return self.cut();
        }
        let mut from = 0;
        let slices = changed.iter().map(|point| (u64::from(point.hash) >> self.shift) as usize + 1);
        for (slice, count) in slices.chain([self.before.len()]).zip(0..) {
            for before in &mut self.before[from..slice] {
                *before = apply(*before, count);
            }
            from = slice;
        }
    }

    /// Makes the index.
    fn cut(&mut self) {
        self.shift = shift_for(self.points.len());
        self.before.clear();
        if self.points.is_empty() {
            self.before = Vec::new();
            return;
        }
        let slices = 1u64 << (32 - self.shift);
        self.before.reserve_exact(slices as usize);
        let mut at = 0;
        for slice in 0..slices {
            let rest = self.points[at..].iter();
            at += rest.take_while(|point| u64::from(point.hash) < slice << self.shift).count();
            self.before.push(at as u32);
        }
    }
}

/// Slices as many as the points, up to a power of two.
fn shift_for(points: usize) -> u32 {
    32 - points.next_power_of_two().ilog2().min(28)
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
