//! Young attempts: most are done within a few steps, and never need the tracker's table.
//!
//! An attempt that is announced lies here first, in the order of announcement. What is told of it
//! comes in about the same order, so the next one is most often the one after the last: a compare
//! instead of a probe. Whoever grows old, or stands in the way, moves on to the tracker; an attempt
//! is never in both, and what is told before the announcement goes to the tracker at once.
//!
//! An attempt's check value is the XOR of ids told so far. A sum of zero with the announcement in it
//! is the end, as in the tracker (paper section 3.3).

use acker::{Delta, RootId};

use super::message::InitOp;
use super::{Epoch, TaskId};

/// An announced attempt; a vacant place where there is none.
#[derive(Clone, Copy, Debug)]
struct Young {
    track: Option<RootId>,
    sum: u64,
    epoch: Epoch,
    task: TaskId,
}

const VACANT: Young = Young { track: None, sum: 0, epoch: 0, task: 0 };

/// Attempts held at most.
const ROOM: usize = 1 << 12;
/// Places by the low bits of the id: four times as many, so that few fall together.
const PLACES: usize = 1 << 14;

/// The young attempts of one acker.
#[derive(Debug, Default)]
pub(super) struct Nursery {
    ring: Vec<Young>,
    /// Where in the ring an attempt lies, by the low bits of its id.
    places: Vec<u16>,
    /// Announced so far; the next one lies at `born % ROOM`.
    born: u64,
    /// All that were born before have left.
    oldest: u64,
    /// All born before were here at the last [`age`](Self::age).
    aged: u64,
    /// Where the last one was found.
    last: usize,
    live: usize,
    /// Messages taken in.
    told: u64,
}

fn place(track: RootId) -> usize {
    // Cut to the number of places, which fits.
    #[allow(clippy::cast_possible_truncation)]
    let low = track.get() as usize;
    low % PLACES
}

fn at(number: u64) -> usize {
    #[allow(clippy::cast_possible_truncation)]
    let low = number as usize;
    low % ROOM
}

impl Nursery {
    /// Takes in an attempt, unless it is here already; `leave` is given whoever has to make room.
    pub(super) fn take(&mut self, op: &InitOp, leave: &mut impl FnMut(InitOp)) {
        if self.ring.is_empty() {
            self.ring.resize(ROOM, VACANT);
            self.places.resize(PLACES, 0);
        }
        let place = place(op.track);
        let other = usize::from(self.places[place]);
        if let Some(track) = self.ring[other].track {
            if track == op.track {
                return;
            }
            if self::place(track) == place {
                // It could not be found any more.
                self.evict(other, leave);
            }
        }
        self.told += 1;
        let here = at(self.born);
        self.evict(here, leave);
        self.places[place] = u16::try_from(here).unwrap_or(0);
        let (epoch, task) = (op.epoch, op.task);
        self.ring[here] = Young { track: Some(op.track), sum: op.produced.bits(), epoch, task };
        self.born += 1;
        self.live += 1;
    }

    /// Where an attempt lies, if it is here.
    #[inline]
    fn find(&self, track: RootId) -> Option<usize> {
        let next = (self.last + 1) % ROOM;
        if self.ring.get(next).is_some_and(|young| young.track == Some(track)) {
            return Some(next);
        }
        let here = usize::from(*self.places.get(place(track))?);
        (self.ring[here].track == Some(track)).then_some(here)
    }

    /// Adds to the sum of an attempt: `None` where it is not here; whether that was the end, and for
    /// which task.
    #[inline]
    pub(super) fn tell(&mut self, track: RootId, sum: u64) -> Option<Option<TaskId>> {
        let here = self.find(track)?;
        self.last = here;
        self.told += 1;
        let young = &mut self.ring[here];
        young.sum ^= sum;
        if young.sum != 0 {
            return Some(None);
        }
        young.track = None;
        self.live -= 1;
        Some(Some(young.task))
    }

    fn evict(&mut self, here: usize, leave: &mut impl FnMut(InitOp)) {
        let Young { track, sum, epoch, task } = std::mem::replace(&mut self.ring[here], VACANT);
        if let Some(track) = track {
            self.live -= 1;
            leave(InitOp { track, epoch, task, produced: Delta::from_bits(sum) });
        }
    }

    /// Lets go of one attempt, if it is here.
    pub(super) fn part_with(&mut self, track: RootId, leave: &mut impl FnMut(InitOp)) {
        if let Some(here) = self.find(track) {
            self.evict(here, leave);
        }
    }

    /// Lets go of all that were here at the call before: called every so often, nobody stays for
    /// longer than twice that.
    pub(super) fn age(&mut self, leave: &mut impl FnMut(InitOp)) {
        self.oldest = self.oldest.max(self.born.saturating_sub(ROOM as u64));
        while self.oldest < self.aged {
            self.evict(at(self.oldest), leave);
            self.oldest += 1;
        }
        self.aged = self.born;
    }

    /// Forgets attempts of epochs below `epoch`.
    pub(super) fn forget_below(&mut self, epoch: Epoch) {
        if self.live == 0 {
            return;
        }
        for young in &mut self.ring {
            if young.track.is_some() && young.epoch < epoch {
                *young = VACANT;
                self.live -= 1;
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.live
    }

    /// Messages taken in: each may make a sum zero by chance.
    pub(super) fn told(&self) -> u64 {
        self.told
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.ring.capacity() * size_of::<Young>() + self.places.capacity() * size_of::<u16>()
    }
}
