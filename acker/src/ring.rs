//! The consistent-hash ring that assigns roots to ackers.

mod change;
mod points;

use alloc::vec::Vec;

use self::points::{Clockwise, Points};
use crate::{RingHash, RootId, Stable};

/// One virtual point. The derived order is the order on the ring: ties of the hash go to the
/// smaller member, however the ring was built. (Of several points of one member at one place there is one.)
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
struct Point {
    hash: u32,
    member: u32,
}

/// A member, on the ring or waiting beside it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Member {
    id: u32,
    weight: u32,
    active: Active,
}

/// What a member is doing (paper section 3.2). Only one that runs owns anything; the others
/// keep their places, and get the same arcs back when they run again.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Active {
    /// Not started yet (0 in the paper).
    Waiting,
    /// Running (1 in the paper).
    #[default]
    Running,
    /// Crashed (2 in the paper).
    Crashed,
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
/// let moves = ring.add(3)?;
/// assert!(ring.owner(root) == before || ring.owner(root) == Some(3));
/// assert!(moves.arcs.iter().all(|moved| moved.to == Some(3)));
/// ring.remove(3)?;
/// assert_eq!(ring.owner(root), before);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Ring<H = Stable> {
    hasher: H,
    /// Points for each unit of weight.
    each: u32,
    /// In order.
    members: Vec<Member>,
    /// Of the running members.
    points: Points,
    epoch: u64,
}

/// Two rings are equal if they place alike, whatever their history.
impl<H: PartialEq> PartialEq for Ring<H> {
    fn eq(&self, other: &Self) -> bool {
        (&self.hasher, self.each, &self.members, &self.points)
            == (&other.hasher, other.each, &other.members, &other.points)
    }
}

impl<H: Eq> Eq for Ring<H> {}

impl Default for Ring {
    /// A ring without members, with [`Ring::DEFAULT_POINTS`] for each to come.
    fn default() -> Self {
        Self::new(Self::DEFAULT_POINTS)
    }
}

impl Ring {
    /// Points for each member, unless told otherwise: a share varies by about 8 %.
    pub const DEFAULT_POINTS: u32 = 160;

    /// A ring without members, on which each will have `points` virtual points for each unit
    /// of its weight. With 0 points a member owns nothing. O(1).
    #[must_use]
    pub const fn new(points: u32) -> Self {
        Self::with_hasher(points, Stable)
    }

    /// A ring of the members `0..n`, with `points` virtual points each.
    ///
    /// The same ring as by adding them one by one, in O(P log P) for P = n · points; 16
    /// bytes for each point, however many they are: the bound of [`add`](Ring::add) does not hold
    /// here.
    #[must_use]
    pub fn with_members(n: u32, points: u32) -> Self {
        let mut ring = Self::new(points);
        ring.members.extend((0..n).map(|id| Member { id, weight: 1, active: Active::Running }));
        ring.fill();
        ring
    }
}

impl<H: RingHash> Ring<H> {
    /// As [`Ring::new`], with another hash function. O(1).
    #[must_use]
    pub const fn with_hasher(points: u32, hasher: H) -> Self {
        Self { hasher, each: points, members: Vec::new(), points: Points::new(), epoch: 0 }
    }

    /// The member that a root belongs to; `None` if there is no point. Expected O(1).
    #[inline]
    #[must_use]
    pub fn owner(&self, root: RootId) -> Option<u32> {
        self.at(self.hasher.key(root))
    }

    /// The member that a place belongs to; `None` if there is no point. Expected O(1).
    #[inline]
    #[must_use]
    pub fn at(&self, place: u32) -> Option<u32> {
        self.points.at(place).map(|point| point.member)
    }

    /// The place of a root. O(1) with the default hash function.
    #[inline]
    #[must_use]
    pub fn key(&self, root: RootId) -> u32 {
        self.hasher.key(root)
    }

    /// The first `n` different running members clockwise from the root, its owner first; fewer
    /// if there are fewer. Expected O(1) to start; each step looks on for the next new member.
    #[must_use]
    pub fn owners(&self, root: RootId, n: usize) -> Owners<'_> {
        let clockwise = self.points.clockwise(self.hasher.key(root));
        let left = if self.points.is_empty() { 0 } else { n.min(self.members.len()) };
        Owners { clockwise, seen: Vec::with_capacity(left), left }
    }

    /// For each member, in order, the number of places it owns, exactly.
    ///
    /// They sum to 2³², or to 0 without points. O(P log members).
    #[must_use]
    pub fn shares(&self) -> Vec<(u32, u64)> {
        let mut shares: Vec<_> = self.members.iter().map(|member| (member.id, 0)).collect();
        let Some(last) = self.points.before(0) else { return shares };
        // The arc of a point is (previous, point]; the first one's goes round through 0,
        // and is the full circle, not the empty arc, when there is one point.
        let mut start = i64::from(last.hash) - (1 << 32);
        for point in self.points.iter() {
            let end = i64::from(point.hash);
            if let Ok(at) = self.position(point.member) {
                shares[at].1 += start.abs_diff(end);
            }
            start = end;
        }
        shares
    }

    /// How far the shares are from those that the weights ask for: the square of their
    /// coefficient of variation over the running members of some weight, and what theory predicts of it for
    /// equal weights, (A − 1)/(A·N + 1) for A members of N points. Choose more points where
    /// it is too large. O(P log members).
    #[must_use]
    pub fn imbalance(&self) -> Imbalance {
        let owns = |member: &&Member| member.active == Active::Running && member.weight > 0;
        let weights: u64 = self.members.iter().filter(owns).map(|m| u64::from(m.weight)).sum();
        let count = self.members.iter().filter(owns).count() as f64;
        if weights == 0 || self.points.is_empty() {
            return Imbalance { peak: 0.0, squared_variation: 0.0, predicted: 0.0 };
        }
        let mut peak = 0.0f64;
        let mut sum = 0.0;
        for (member, (_, share)) in self.members.iter().zip(self.shares()) {
            if owns(&member) {
                let due = f64::from(member.weight) / weights as f64;
                let ratio = share as f64 / 4_294_967_296.0 / due;
                peak = peak.max(ratio);
                sum += (ratio - 1.0) * (ratio - 1.0);
            }
        }
        let predicted = (count - 1.0) / (self.points.len() as f64 + 1.0);
        Imbalance { peak, squared_variation: sum / count, predicted }
    }

    /// The members with their weights and what they do, in order. O(1).
    pub fn members(&self) -> impl ExactSizeIterator<Item = (u32, u32, Active)> + '_ {
        self.members.iter().map(|member| (member.id, member.weight, member.active))
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

    /// The number of changes so far. O(1).
    #[must_use]
    pub const fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The bytes on the heap. O(1).
    #[must_use]
    pub const fn heap_bytes(&self) -> usize {
        self.members.capacity() * size_of::<Member>() + self.points.heap_bytes()
    }

    /// Where a member is in the list, or would be.
    fn position(&self, id: u32) -> Result<usize, usize> {
        self.members.binary_search_by_key(&id, |member| member.id)
    }
}

/// How even the shares of a ring are; see [`Ring::imbalance`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Imbalance {
    /// The greatest share over what its weight asks for.
    pub peak: f64,
    /// The squared coefficient of variation of the shares over what their weights ask for.
    pub squared_variation: f64,
    /// What theory predicts of it.
    pub predicted: f64,
}

/// Different members, clockwise; made by [`Ring::owners`].
#[derive(Clone, Debug)]
pub struct Owners<'a> {
    clockwise: Clockwise<'a>,
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
