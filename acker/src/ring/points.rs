//! The points of the running members in one array with gaps, so that a look-up knows where to begin
//! and a change moves only the few points beside it.
//!
//! A point's *home* is its share of the array: hash · size / 2³². It stands there, or as near
//! behind as those before it leave room. A gap holds a copy of the next point, so that the whole array
//! is in order and a search needs not tell gaps from points: of several equal slots the last is the
//! point. (An ordered hash table, in effect; gaps that repeat their neighbour are those of ALEX: Ding
//! and others, "ALEX: an updatable adaptive learned index", 2020.)

use alloc::vec::Vec;

use super::Point;

/// Steps from home before the search halves what is left: for hashes that are not spread evenly.
const STEPS: usize = 16;

/// Different points, in order.
#[derive(Clone, Default, Debug)]
pub(super) struct Points {
    /// Rising; the last one is a point.
    slots: Vec<Point>,
    /// What homes are a share of.
    size: usize,
    len: usize,
}

impl PartialEq for Points {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().eq(other.iter())
    }
}

impl Eq for Points {}

impl Points {
    pub(super) const fn new() -> Self {
        Points { slots: Vec::new(), size: 0, len: 0 }
    }

    /// Spreads points, which are in order, over twice as many slots. O(P).
    pub(super) fn spread(points: &[Point]) -> Self {
        let size = points.len().saturating_mul(2);
        let mut spread = Points { slots: Vec::with_capacity(size), size, len: points.len() };
        for &point in points {
            let at = spread.home(point.hash).max(spread.slots.len());
            spread.resize(at + 1, point);
        }
        spread
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All points in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Point> {
        self.slots.chunk_by(|a, b| a == b).map(|run| &run[0])
    }

    pub(super) const fn heap_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Point>()
    }

    #[inline]
    fn home(&self, hash: u32) -> usize {
        ((u64::from(hash) * self.size as u64) >> 32) as usize
    }

    /// The first slot from the home of `point` on that is not less. Expected O(1), O(log P) for bad
    /// hashes.
    #[inline]
    fn find(&self, point: Point) -> usize {
        let home = self.home(point.hash).min(self.slots.len());
        let behind = &self.slots[home..];
        match behind.iter().take(STEPS).position(|slot| *slot >= point) {
            Some(steps) => home + steps,
            None => home + behind.partition_point(|slot| *slot < point),
        }
    }

    /// The first point at or after a place, clockwise; `None` if there is none. Expected O(1).
    #[inline]
    pub(super) fn at(&self, hash: u32) -> Option<&Point> {
        let home = self.home(hash);
        let mut at = home;
        while let Some(slot) = self.slots.get(at) {
            if slot.hash >= hash {
                return Some(slot);
            }
            at += 1;
            if at > home + STEPS {
                at += self.slots[at..].partition_point(|slot| slot.hash < hash);
            }
        }
        self.slots.first()
    }

    /// The slots before a place and those after.
    fn split(&self, hash: u32) -> (&[Point], &[Point]) {
        let at = self.find(Point { hash, member: 0 });
        // Gaps before the home are the next point's, too.
        let gaps = self.slots[..at].iter().rev().take_while(|slot| slot.hash >= hash).count();
        self.slots.split_at(at - gaps)
    }

    /// The last point before a place, clockwise. Expected O(1).
    pub(super) fn before(&self, hash: u32) -> Option<&Point> {
        self.split(hash).0.last().or(self.slots.last())
    }

    /// All points once round, clockwise, from the first at or after a place; some of them several
    /// times in a row.
    pub(super) fn clockwise(&self, hash: u32) -> Clockwise<'_> {
        let (before, after) = self.split(hash);
        after.iter().chain(before)
    }

    /// More slots, in the end a few beyond the size; the array must not double for those.
    fn resize(&mut self, slots: usize, point: Point) {
        if slots > self.slots.capacity() {
            self.slots.reserve_exact(slots + STEPS - self.slots.len());
        }
        self.slots.resize(slots, point);
    }

    /// Puts points in that are not there. Expected O(1) each; now and then all are spread anew.
    pub(super) fn insert(&mut self, points: &[Point]) {
        if 3 * (self.len + points.len()) > 2 * self.size {
            let mut all: Vec<_> = self.iter().chain(points).copied().collect();
            all.sort_unstable();
            *self = Self::spread(&all);
            return;
        }
        for &point in points {
            let at = self.find(point);
            let home = self.home(point.hash);
            if at == self.slots.len() {
                // The last one of all, with gaps before it.
                self.resize(at.max(home) + 1, point);
                continue;
            }
            // What stands here moves on by one, up to the next gap.
            let moves = self.slots[at..].windows(2).take_while(|pair| pair[0] != pair[1]).count();
            let gap = at + moves;
            if gap + 1 == self.slots.len() {
                self.resize(gap + 2, self.slots[gap]);
            }
            self.slots.copy_within(at..gap, at + 1);
            self.slots[at] = point;
            // Gaps before it are gaps of this point now.
            let gaps = self.slots[..at].iter_mut().rev().take_while(|slot| **slot > point);
            gaps.for_each(|slot| *slot = point);
        }
        self.len += points.len();
    }

    /// Takes points out that are there. Expected O(1) each; now and then all are spread anew.
    pub(super) fn remove(&mut self, points: &[Point]) {
        // From the last on: what a point leaves goes to the next, which would else be looked over
        // once for each that goes before it.
        for &point in points.iter().rev() {
            let at = self.find(point);
            let first = at - self.slots[..at].iter().rev().take_while(|s| **s == point).count();
            let end = at + self.slots[at..].iter().take_while(|slot| **slot == point).count();
            match self.slots.get(end) {
                Some(&next) => self.slots[first..end].fill(next),
                None => self.slots.truncate(first),
            }
        }
        self.len -= points.len();
        if 4 * self.len < self.size {
            let all: Vec<_> = self.iter().copied().collect();
            *self = Self::spread(&all);
        }
    }
}

/// See [`Points::clockwise`].
pub(super) type Clockwise<'a> =
    core::iter::Chain<core::slice::Iter<'a, Point>, core::slice::Iter<'a, Point>>;

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;
    use alloc::vec::Vec;

    use super::{Point, Points};

    fn check(points: &Points, wanted: &BTreeSet<Point>) {
        let slots = &points.slots;
        assert!(slots.is_sorted());
        assert!(points.iter().eq(wanted), "other points");
        assert_eq!(points.len, wanted.len());
        for (at, pair) in slots.windows(2).enumerate() {
            assert!(pair[0] == pair[1] || points.home(pair[0].hash) <= at, "before its home");
        }
        for point in wanted {
            for hash in [point.hash.saturating_sub(1), point.hash, point.hash.saturating_add(1)] {
                let place = Point { hash, member: 0 };
                let after = wanted.range(place..).next().or(wanted.first());
                assert_eq!(points.at(hash), after, "at {hash}");
                let before = wanted.range(..place).next_back().or(wanted.last());
                assert_eq!(points.before(hash), before, "before {hash}");
                let mut round: Vec<_> = points.clockwise(hash).collect();
                round.dedup();
                assert!(round.into_iter().eq(wanted.range(place..).chain(wanted.range(..place))));
            }
        }
    }

    /// Points come and go in small lots, on rings of few and of many places, bunched and even.
    #[test]
    fn the_slots_are_the_points_in_order() {
        let mut state = 1_u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888);
            ((u128::from(state) * u128::from(below)) >> 64) as u64
        };
        for places in [1, 8, 256, 1 << 16, 1 << 32] {
            for high in [false, true] {
                let (mut points, mut wanted) = (Points::new(), BTreeSet::new());
                for _ in 0..200 {
                    let mut lot = BTreeSet::new();
                    let insert = draw(9) < 5;
                    for _ in 0..draw(8) {
                        let hash = draw(places) as u32;
                        let hash = if high { u32::MAX - hash } else { hash };
                        let point = Point { hash, member: draw(3) as u32 };
                        let there = wanted.range(point..).next().copied();
                        if insert && !wanted.contains(&point) {
                            lot.insert(point);
                        } else if let (false, Some(there)) = (insert, there) {
                            lot.insert(there);
                        }
                    }
                    let list: Vec<_> = lot.iter().copied().collect();
                    if insert {
                        points.insert(&list);
                        wanted.extend(lot);
                    } else {
                        points.remove(&list);
                        wanted.retain(|point| !lot.contains(point));
                    }
                    check(&points, &wanted);
                }
            }
        }
    }
}
