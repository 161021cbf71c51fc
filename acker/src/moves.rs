//! What moves as the ring changes, arc by arc.

use alloc::vec::Vec;

/// Some places in a row on the ring, at least one and at most all 2³².
///
/// Start and length, not start and end: those could not tell the whole ring from nothing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Arc {
    /// The first place.
    pub start: u32,
    /// The number of places, in 1..=2³².
    pub length: u64,
}

impl Arc {
    /// The places after `before` up to and with `last`; the whole ring if they are equal. O(1).
    #[must_use]
    pub const fn after(before: u32, last: u32) -> Self {
        let length = last.wrapping_sub(before) as u64;
        Self { start: before.wrapping_add(1), length: if length == 0 { 1 << 32 } else { length } }
    }

    /// Whether a place lies on the arc. O(1).
    #[must_use]
    pub const fn contains(self, place: u32) -> bool {
        (place.wrapping_sub(self.start) as u64) < self.length
    }
}

/// An arc whose owner has changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Move {
    /// The places that move.
    pub arc: Arc,
    /// Who owned them; `None` if nobody did.
    pub from: Option<u32>,
    /// Who owns them now; `None` if nobody does.
    pub to: Option<u32>,
}

/// Exactly the places whose owner has changed, with both owners.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Moves {
    /// The number of changes that the ring has seen, this one included.
    pub epoch: u64,
    /// The moved arcs, disjoint, by their last place.
    pub arcs: Vec<Move>,
}

impl Moves {
    /// The number of places that move, up to 2³². O(arcs).
    #[must_use]
    pub fn places(&self) -> u64 {
        self.arcs.iter().fold(0, |places, moved| places.saturating_add(moved.arc.length))
    }

    /// The move of a place, if it moves. O(log arcs).
    #[must_use]
    pub fn at(&self, place: u32) -> Option<&Move> {
        let last =
            |moved: &Move| moved.arc.start.wrapping_add(moved.arc.length as u32).wrapping_sub(1);
        let at = self.arcs.partition_point(|moved| last(moved) < place);
        // Past the last of them only an arc that goes round through zero is left: the first.
        self.arcs.get(at).or(self.arcs.first()).filter(|moved| moved.arc.contains(place))
    }
}
