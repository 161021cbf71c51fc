//! What a tick does to the keys of which a slice enters or leaves.

use core::hash::{BuildHasher, Hash};
use core::{iter, mem};

use super::departures::Departures;
use super::near::AHEAD;
use super::room::give_back;
use super::{KeyWindows, NONE, ONE_LEAVES, TWO_LEAVE, Waiting};
use crate::kernel::Kernel;
use crate::lattice::NEVER;
use crate::tick::turn;
use crate::{Aggregate, Change, Tick};

impl<K: Hash + Eq, A: Aggregate, Q: Kernel<A>, S: BuildHasher> KeyWindows<K, A, Q, S> {
    /// All changes of ticks before `passed`; [`NEVER`] is before none.
    #[inline]
    pub(super) fn fire_until(&mut self, passed: Tick, mut sink: impl FnMut(&K, Change<A::Out>)) {
        while self.next() < passed {
            self.fire(self.next(), &mut sink);
        }
    }

    /// All changes of one tick. Where the slide is short there are many ticks, each with a slice that
    /// leaves or enters, so that what lists cost would count.
    #[inline]
    fn fire(&mut self, tick: Tick, sink: &mut impl FnMut(&K, Change<A::Out>)) {
        let end = self.clock.spec.end(tick);
        let leaving = (self.departures.next() == tick).then(|| self.departures.pop());
        let enters = self.enter == tick;
        if self.departures.next() == tick || (enters && self.waiting.len() > 1) {
            self.fire_list(tick, leaving, sink);
            return;
        }
        let keys = self.keys.len();
        let mut leaving = leaving.inspect(|_| self.near = self.near.saturating_sub(1));
        if enters {
            self.enter = NEVER;
            if let Some(Waiting { id, acc, .. }) = self.waiting.pop() {
                let leaves = leaving.take_if(|leaving| *leaving == id).is_some();
                self.visit(id, end, u32::from(leaves), acc, sink);
            }
        }
        if let Some(id) = leaving {
            self.visit(id, end, 1, None, sink);
        }
        if self.near == 0 {
            self.bring_leaving();
        }
        if self.keys.len() < keys {
            self.tidy();
        }
    }

    /// All changes of one tick with lists: the first of what leaves has been taken already.
    #[inline(never)]
    fn fire_list(
        &mut self,
        tick: Tick,
        leaving: Option<u32>,
        sink: &mut impl FnMut(&K, Change<A::Out>),
    ) {
        let end = self.clock.spec.end(tick);
        let mut due = mem::take(&mut self.due);
        due.extend(leaving);
        self.departures.take(tick, &mut due);
        self.near = self.near.saturating_sub(due.len());
        self.mark(&due);
        if self.enter == tick {
            self.enter_waiting(end, sink);
        }
        for due in due.chunks(AHEAD) {
            if due.len() > 1 {
                self.bring(due.iter().copied(), Q::next_popped);
            }
            for &id in due {
                let leaving = match self.keys.get(id).map(|key| key.mark) {
                    Some(ONE_LEAVES) => 1,
                    Some(TWO_LEAVE) => 2,
                    // It has been told, as a record entered or another of its slices left.
                    _ => continue,
                };
                self.visit(id, end, leaving, None, sink);
            }
        }
        due.clear();
        self.due = due;
        if self.near == 0 {
            self.bring_leaving();
        }
        self.tidy();
    }

    /// Lets nothing be left of keys that were, whether or not others live on.
    fn tidy(&mut self) {
        let keys = self.keys.len();
        give_back(&mut self.due, keys);
        give_back(&mut self.waiting, keys);
        if keys == 0 {
            self.departures = Departures::new();
        }
    }

    /// Marks the keys of slices that leave. Where the slide does not divide the size, two slices of
    /// a key that entered apart may leave together.
    fn mark(&mut self, due: &[u32]) {
        for &id in due {
            let Some(key) = self.keys.get_mut(id) else { continue };
            key.mark = match key.mark {
                NONE => ONE_LEAVES,
                ONE_LEAVES => TWO_LEAVE,
                waiting => {
                    if let Some(newest) = self.waiting.get_mut(waiting as usize) {
                        newest.leaving += 1;
                    }
                    waiting
                }
            };
        }
    }

    /// Lets what waits in.
    fn enter_waiting(&mut self, end: i64, sink: &mut impl FnMut(&K, Change<A::Out>)) {
        self.enter = NEVER;
        let mut waiting = mem::take(&mut self.waiting);
        for i in 0..waiting.len() {
            if i % AHEAD == 0 && waiting.len() > 1 {
                let soon = || waiting.iter().skip(i).take(AHEAD);
                self.bring(soon().map(|soon| soon.id), Q::newest);
                let losing = soon().filter(|soon| soon.leaving > 0);
                self.bring(losing.map(|soon| soon.id), Q::next_popped);
            }
            let Waiting { id, next, leaving, ref mut acc, .. } = waiting[i];
            let Some(first) = acc.take() else { continue };
            match waiting.get_mut(next as usize) {
                None => self.visit(id, end, leaving, Some(first), sink),
                Some(second) => {
                    let leaving = second.leaving;
                    let both = iter::once(first).chain(second.acc.take());
                    self.visit(id, end, leaving, both, sink);
                }
            }
        }
        waiting.clear();
        self.waiting = waiting;
    }

    /// What one tick does to one key.
    #[inline(always)]
    fn visit(
        &mut self,
        id: u32,
        end: i64,
        leaving: u32,
        entering: impl IntoIterator<Item = A::Acc>,
        sink: &mut impl FnMut(&K, Change<A::Out>),
    ) {
        let Some(key) = self.keys.get_mut(id) else { return };
        key.mark = NONE;
        let mut entered = 0;
        let told = turn(&self.agg, self.emit, &mut key.slices, |agg, slices| {
            for _ in 0..leaving {
                slices.pop(agg);
            }
            for acc in entering {
                slices.push(agg, (), acc);
                entered += 1;
            }
        });
        let empty = key.slices.is_empty();
        self.stats.slices = self.stats.slices + entered - leaving as usize;
        if let Some(value) = told {
            self.stats.changes += 1;
            sink(&key.key, Change { end, value });
        }
        if empty {
            self.forget(id);
        }
    }
}
