//! Which keys are due at which tick.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::Tick;
use crate::lattice::NEVER;

/// Keys by tick. An entry is stale if its key is scheduled for another tick; it does no harm.
#[derive(Clone, Debug)]
pub(super) struct Queue(BinaryHeap<Reverse<(Tick, u32)>>);

impl Queue {
    #[inline]
    pub(super) fn push(&mut self, tick: Tick, id: u32) {
        self.0.push(Reverse((tick, id)));
    }

    #[inline]
    fn next(&self) -> Tick {
        self.0.peek().map_or(NEVER, |first| first.0.0)
    }

    fn take(&mut self, tick: Tick, due: &mut Vec<u32>) {
        while self.next() == tick
            && let Some(Reverse((_, id))) = self.0.pop()
        {
            due.push(id);
        }
        if self.0.len() < self.0.capacity() / 8 {
            self.0.shrink_to(2 * self.0.len());
        }
    }

    fn drop_stale(&mut self, holds: impl Fn(u32, Tick) -> bool) {
        while self.0.peek().is_some_and(|&Reverse((tick, id))| !holds(id, tick)) {
            self.0.pop();
        }
    }
}

/// What enters, which is soon, apart from what leaves, so that a key that is told as something enters
/// keeps its place among those that something leaves.
#[derive(Clone, Debug)]
pub(super) struct Schedule {
    pub(super) entering: Queue,
    pub(super) leaving: Queue,
    pub(super) forgetting: Queue,
}

impl Schedule {
    pub(super) const fn new() -> Self {
        Self {
            entering: Queue(BinaryHeap::new()),
            leaving: Queue(BinaryHeap::new()),
            forgetting: Queue(BinaryHeap::new()),
        }
    }

    #[inline]
    pub(super) fn next_told(&self) -> Tick {
        self.entering.next().min(self.leaving.next())
    }

    #[inline]
    pub(super) fn next(&self) -> Tick {
        self.next_told().min(self.forgetting.next())
    }

    pub(super) fn take(&mut self, tick: Tick, due: &mut Vec<u32>) {
        self.entering.take(tick, due);
        self.leaving.take(tick, due);
        self.forgetting.take(tick, due);
    }

    /// Drops stale entries, so that the first ones are true.
    pub(super) fn drop_stale(
        &mut self,
        entering: impl Fn(u32, Tick) -> bool,
        leaving: impl Fn(u32, Tick) -> bool,
    ) {
        self.entering.drop_stale(entering);
        self.leaving.drop_stale(leaving);
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let all = [&self.entering, &self.leaving, &self.forgetting];
        all.map(|queue| queue.0.capacity()).iter().sum::<usize>() * size_of::<(Tick, u32)>()
    }
}
