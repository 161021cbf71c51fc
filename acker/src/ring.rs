//! The consistent-hash ring that assigns roots to ackers.

use alloc::vec::Vec;

use crate::mixing::{E, PI, scramble};
use crate::{Error, RootId};

/// The hasher of the ring: fixed constants, so that every machine agrees on every place.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Stable;

impl Stable {
    /// The place of a root on the ring. O(1).
    #[must_use]
    pub const fn key(root: RootId) -> u32 {
        (scramble(root.get() ^ PI) >> 32) as u32
    }

    /// The place of one virtual point of a member. O(1).
    #[must_use]
    pub const fn point(member: u32, index: u32) -> u32 {
        (scramble(((member as u64) << 32 | index as u64) ^ E) >> 32) as u32
    }
}

/// One virtual point. The derived order is the order on the ring: ties of the hash go to
/// the smaller member, then to the smaller index, however the ring was built.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Point {
    hash: u32,
    member: u32,
    index: u32,
}

/// A ring of 2³² places on which each member has several virtual points (paper section
/// 3.2, where a point is called a replica).
///
/// A root belongs to the member of the first point at or after its place, clockwise.
/// Adding a member moves only roots that come to it, removing one only roots that it had:
/// no root moves between two members that stay. A member's share has a coefficient of
/// variation of about 1/√points.
///
/// ```
/// use acker::{Ring, RootId};
///
/// let mut ring = Ring::with_members(3, 160);
/// let root = RootId::new(42).ok_or("zero is no root")?;
/// let before = ring.owner(root);
/// ring.add(3)?;
/// assert!(ring.owner(root) == before || ring.owner(root) == Some(3));
/// ring.remove(3)?;
/// assert_eq!(ring.owner(root), before);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ring {
    each: u32,
    /// In order.
    members: Vec<u32>,
    /// In order.
    points: Vec<Point>,
}

impl Default for Ring {
    /// A ring without members, with [`Ring::DEFAULT_POINTS`] for each to come.
    fn default() -> Self {
        Self::new(Self::DEFAULT_POINTS)
    }
}

impl Ring {
    /// Points for each member, unless told otherwise: a share varies by about 8 %.
    pub const DEFAULT_POINTS: u32 = 160;

    /// A ring without members, on which each will have `points` virtual points. With 0
    /// points a member owns nothing. O(1).
    #[must_use]
    pub const fn new(points: u32) -> Self {
        Self { each: points, members: Vec::new(), points: Vec::new() }
    }

    /// A ring of the members `0..n`, with `points` virtual points each.
    ///
    /// The same ring as by adding them one by one, in O(P log P) for P = n · points;
    /// 12 bytes for each point.
    #[must_use]
    pub fn with_members(n: u32, points: u32) -> Self {
        let mut ring = Self::new(points);
        ring.members.extend(0..n);
        ring.points.extend((0..n).flat_map(|member| points_of(member, points)));
        ring.points.sort_unstable();
        ring
    }

    /// Places a member: only roots that now belong to it move.
    ///
    /// O(P + N log N) for P points on the ring and N new ones.
    ///
    /// # Errors
    ///
    /// [`Error::MemberExists`] if the member is on the ring; the ring is unchanged.
    pub fn add(&mut self, member: u32) -> Result<(), Error> {
        let Err(at) = self.members.binary_search(&member) else {
            return Err(Error::MemberExists { member });
        };
        self.members.insert(at, member);
        self.points.extend(points_of(member, self.each));
        // The stable sort merges the sorted old part with the new one.
        self.points.sort();
        Ok(())
    }

    /// Takes a member off: only the roots that it had move. O(P) for P points.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownMember`] if the member is not on the ring.
    pub fn remove(&mut self, member: u32) -> Result<(), Error> {
        let Ok(at) = self.members.binary_search(&member) else {
            return Err(Error::UnknownMember { member });
        };
        self.members.remove(at);
        self.points.retain(|point| point.member != member);
        Ok(())
    }

    /// The member that a root belongs to; `None` if there is no point. O(log P).
    #[must_use]
    pub fn owner(&self, root: RootId) -> Option<u32> {
        self.at(Stable::key(root))
    }

    /// The first `n` different members clockwise from the root, its owner first; fewer if
    /// the ring has fewer. O(log P) to start; each step looks on for the next new member.
    #[must_use]
    pub fn owners(&self, root: RootId, n: usize) -> Owners<'_> {
        let from = self.seek(Stable::key(root));
        let (before, after) = self.points.split_at(from);
        let left = if self.points.is_empty() { 0 } else { n.min(self.members.len()) };
        Owners { clockwise: after.iter().chain(before), seen: Vec::with_capacity(left), left }
    }

    /// For each member, in order, the number of places it owns, exactly.
    ///
    /// They sum to 2³², or to 0 without points. O(P log members).
    #[must_use]
    pub fn shares(&self) -> Vec<(u32, u64)> {
        let mut shares: Vec<_> = self.members.iter().map(|&member| (member, 0)).collect();
        let Some(last) = self.points.last() else { return shares };
        // The arc of a point is (previous, point]; the first one's goes round through 0,
        // and is the full circle, not the empty arc, when there is one point.
        let mut start = i64::from(last.hash) - (1 << 32);
        for point in &self.points {
            let end = i64::from(point.hash);
            if let Ok(at) = self.members.binary_search(&point.member) {
                shares[at].1 += start.abs_diff(end);
            }
            start = end;
        }
        shares
    }

    /// The members, in order. O(1).
    #[must_use]
    pub fn members(&self) -> &[u32] {
        &self.members
    }

    /// The number of members. O(1).
    #[must_use]
    pub const fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is no member. O(1).
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    fn at(&self, key: u32) -> Option<u32> {
        self.points.get(self.seek(key)).map(|point| point.member)
    }

    /// The index of the first point at or after `key`, clockwise.
    fn seek(&self, key: u32) -> usize {
        let at = self.points.partition_point(|point| point.hash < key);
        if at == self.points.len() { 0 } else { at }
    }
}

fn points_of(member: u32, points: u32) -> impl Iterator<Item = Point> {
    (0..points).map(move |index| Point { hash: Stable::point(member, index), member, index })
}

/// Different members, clockwise; made by [`Ring::owners`].
#[derive(Clone, Debug)]
pub struct Owners<'a> {
    clockwise: core::iter::Chain<core::slice::Iter<'a, Point>, core::slice::Iter<'a, Point>>,
    seen: Vec<u32>,
    left: usize,
}

impl Iterator for Owners<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        self.left = self.left.checked_sub(1)?;
        let seen = &self.seen;
        let point = self.clockwise.find(|point| !seen.contains(&point.member))?;
        self.seen.push(point.member);
        Some(point.member)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: u32 = 0;
    const B: u32 = 1;
    const C: u32 = 2;

    fn ring(points: &[(u32, u32)]) -> Ring {
        let mut ring = Ring::new(0);
        for (index, &(hash, member)) in (0..).zip(points) {
            if !ring.members.contains(&member) {
                ring.add(member).unwrap();
            }
            ring.points.push(Point { hash, member, index });
        }
        ring.points.sort_unstable();
        ring
    }

    /// The paper's figure 2, with places that respect its order around the circle.
    #[test]
    fn figure_2_assigns_the_roots_as_drawn() {
        let (root_2, root_3, root_5, root_4, root_6) = (20, 40, 60, 80, 100);
        let two = ring(&[(10, A), (30, B), (70, A), (110, B)]);
        let owner = |ring: &Ring, key| ring.at(key).unwrap();
        assert_eq!(owner(&two, root_2), B);
        assert_eq!([root_3, root_5].map(|key| owner(&two, key)), [A, A]);
        assert_eq!([root_4, root_6].map(|key| owner(&two, key)), [B, B]);

        let mut without_b = two.clone();
        without_b.remove(B).unwrap();
        assert_eq!([root_2, root_4, root_6].map(|key| owner(&without_b, key)), [A, A, A]);

        let with_c = ring(&[(10, A), (30, B), (50, C), (70, A), (90, C), (110, B)]);
        assert_eq!([root_3, root_4].map(|key| owner(&with_c, key)), [C, C]);
        assert_eq!([root_2, root_5, root_6].map(|key| owner(&with_c, key)), [B, A, B]);
    }

    #[test]
    fn b18_points_that_all_tie_leave_the_smallest_member_and_index() {
        let mut tied = ring(&[(7, C), (7, B), (7, A), (7, B)]);
        assert_eq!([0, 7, 8, u32::MAX].map(|key| tied.at(key)), [Some(A); 4]);
        assert_eq!(tied.shares(), [(A, 1 << 32), (B, 0), (C, 0)]);
        tied.remove(A).unwrap();
        assert_eq!(tied.at(7), Some(B));
        assert_eq!(tied.shares(), [(B, 1 << 32), (C, 0)]);
    }

    #[test]
    fn a_key_on_a_point_belongs_to_it_and_the_last_arc_wraps() {
        let two = ring(&[(10, A), (u32::MAX, B)]);
        let owners = [0, 10, 11, u32::MAX].map(|key| two.at(key).unwrap());
        assert_eq!(owners, [A, A, B, B]);
        assert_eq!(two.shares(), [(A, 11), (B, (1 << 32) - 11)]);
    }

    #[test]
    fn one_point_owns_the_full_circle() {
        assert_eq!(ring(&[(123, A)]).shares(), [(A, 1 << 32)]);
    }
}
