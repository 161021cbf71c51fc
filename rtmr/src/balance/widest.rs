//! Which target has the most room, as rooms change: a heap with one entry a target.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Targets by room, the first among equals.
#[derive(Clone, Debug)]
pub(crate) struct Widest(BinaryHeap<(u64, Reverse<u32>)>);

impl Widest {
    pub(crate) fn new(rooms: impl Iterator<Item = f64>) -> Self {
        Self(rooms.zip(0_u32..).map(|(room, target)| (key(room), Reverse(target))).collect())
    }

    /// The target with the most room, and how much that is.
    pub(crate) fn peek(&self) -> Option<(u32, f64)> {
        self.0.peek().map(|&(key, Reverse(target))| (target, room(key)))
    }

    /// Takes `load` from the room of the target with the most.
    pub(crate) fn take(&mut self, load: f64) {
        if let Some(mut top) = self.0.peek_mut() {
            top.0 = key(room(top.0) - load);
        }
    }
}

/// Numbers in the order of the floats.
fn key(room: f64) -> u64 {
    let bits = room.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

fn room(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}
