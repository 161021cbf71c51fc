//! The life of a topology: what a crash of a node means for it, and how the next life begins.
//!
//! A worker that fails says so on the lane of its reports; of a node that crashed or was given up the
//! coordinator learns some time later ([`Faults::detection`](super::Faults::detection)). Its first words
//! of the new incarnation reach each worker's seat as every message does; there the old worker goes and
//! the new one comes. What the old ones
//! still send, and what is under way of them, arrives as ever, and is dropped by the core. Workers of
//! a node that is given up as unreachable get seats on other nodes; the old ones live on there until
//! they are reached again, but at most once, where they stop by themselves as they are given up.

use std::sync::Arc;
use std::time::Duration;

use super::calendar::Due;
use super::engine::Engine;
use super::error::{Cause, SimError};
use super::hands::Office;
use super::post::{COORDINATOR, Count, Parcel, Post, Slot};
use super::seat::{At, Seat};
use crate::config::whole;
use crate::core::{Nanos, Order, Word, Worker};
use crate::report::{RunError, WorkerStats};

/// The number of a topology's first life.
pub(super) const FIRST: u64 = 0;

/// A node that crashed or was given up, and when: in which incarnation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Notice {
    node: usize,
    cause: Cause,
    incarnation: u64,
    at: Duration,
}

impl Engine<'_> {
    /// Whether this is where the incarnation in force has its worker, or will have it.
    pub(super) fn current(&self, slot: Slot) -> bool {
        let worker = self.seats[slot as usize].worker;
        self.net.address(self.net.incarnation, worker) == slot
    }

    /// Whether the worker of this seat is one of the incarnation in force.
    pub(super) fn in_force(&self, slot: Slot) -> bool {
        self.current(slot) && self.net.lives[slot as usize] == self.net.incarnation
    }

    fn here(&self, node: usize) -> Vec<Slot> {
        let on = |slot: &Slot| self.net.node_of[*slot as usize] as usize == node;
        (0..).take(self.seats.len()).filter(on).collect()
    }

    /// A node has lost its memory.
    pub(super) fn crash(&mut self, node: usize, cause: Cause) {
        self.net.trace.words(&[self.net.now, 20 << 32, node as u64]);
        let slots = self.here(node);
        if self.any_in_use(&slots) {
            self.notice(node, cause);
        }
        self.strike(&slots);
    }

    /// A node has been unreachable for too long: its workers will go elsewhere. Where nothing may be
    /// done twice, the old ones know that time as well, and stop; elsewhere they are fenced.
    pub(super) fn give_up(&mut self, node: usize) {
        let now = self.net.now;
        let gone = |node: &super::node::NodeState| node.windows.down_until(now);
        let tracked = self.desk.plan.config.tracked();
        if tracked && gone(&self.net.nodes[node]).is_none() {
            // It was back before anyone else was.
            return;
        }
        if self.refuge(now).is_none()
            && let Some(back) = self.net.nodes.iter().filter_map(gone).min()
        {
            // Nobody can take its workers over before the first node is back.
            self.net.calendar.put(back, Due::GiveUp(u32::try_from(node).unwrap_or(0)));
            if !tracked {
                let slots = self.here(node);
                self.strike(&slots);
            }
            return;
        }
        self.net.trace.words(&[self.net.now, 21 << 32, node as u64]);
        let slots = self.here(node);
        if self.any_in_use(&slots) {
            self.notice(node, Cause::Unreachable);
        }
        if !tracked {
            self.strike(&slots);
        }
    }

    /// Whether the incarnation in force has a worker at one of these seats that has not stopped.
    fn any_in_use(&self, slots: &[Slot]) -> bool {
        let in_use =
            |&slot: &Slot| self.current(slot) && self.seats[slot as usize].at != At::Stopped;
        slots.iter().any(in_use)
    }

    /// The coordinator will learn of it.
    fn notice(&mut self, node: usize, cause: Cause) {
        let place = u32::try_from(self.notices.len()).unwrap_or(u32::MAX);
        let at = self.net.now.saturating_add(whole(self.sim.faults.detection));
        self.net.calendar.put(at, Due::Noticed(place));
        let incarnation = self.net.incarnation;
        self.notices.push(Notice { node, cause, incarnation, at: self.at() });
    }

    /// The coordinator learns that a node crashed, or was given up.
    pub(super) fn noticed(&mut self, place: u32) -> Result<(), SimError> {
        let Notice { node, cause, incarnation, at } = self.notices[place as usize];
        if self.coordinator.finished() {
            self.close_down(node);
            return Ok(());
        }
        let now = self.net.now;
        let here = self.here(node);
        let Some(&first) = here.iter().find(|&&slot| self.current(slot)) else { return Ok(()) };
        let away =
            cause == Cause::Unreachable && self.net.nodes[node].windows.down_until(now).is_some();
        if incarnation != self.net.incarnation && !away {
            // The next incarnation has begun in the meantime, there too.
            return Ok(());
        }
        let worker = self.seats[first as usize].worker;
        let error = RunError::Crashed { worker, message: format!("node {node} crashed, {cause}") };
        let seed = self.seed;
        self.restart(error, away.then_some(node)).map_err(|_| SimError::Crashed {
            node,
            cause,
            at,
            seed,
        })
    }

    /// All is done: of workers that are gone, nobody will hear that they stopped.
    fn close_down(&mut self, node: usize) {
        for slot in self.here(node) {
            let at = slot as usize;
            if !self.current(slot) || self.workers[at].is_some() || self.seats[at].at == At::Stopped
            {
                continue;
            }
            self.net.lives[at] = self.net.incarnation;
            let seat = &mut self.seats[at];
            seat.stop = true;
            if seat.at != At::Working {
                seat.at = At::Stopped;
                self.stopped += 1;
                self.net.nodes[node].waiting.retain(|&other| other != slot);
            }
        }
    }

    /// The worker of a seat has failed, and tells the coordinator as its step ends.
    pub(super) fn fail(&mut self, slot: Slot, error: RunError) {
        let incarnation = self.net.lives[slot as usize];
        let leave = self.net.now.saturating_add(self.desk.spent);
        self.kill(slot);
        self.net.message(slot, COORDINATOR, Post::Failed(incarnation, error), leave);
    }

    /// Begins the next incarnation; the workers of the node `lost` get seats elsewhere.
    pub(super) fn restart(&mut self, error: RunError, lost: Option<usize>) -> Result<(), RunError> {
        let now = self.net.now;
        let resume = self.coordinator.restart(now, error)?;
        let incarnation = resume.incarnation;
        self.net.trace.words(&[now, 22 << 32, incarnation, resume.epoch]);
        let mut addresses = self.net.addresses.last().cloned().unwrap_or_default();
        let mut left = Vec::new();
        for slot in &mut addresses {
            if lost == Some(self.net.node_of[*slot as usize] as usize)
                && let Some(node) = self.refuge(now)
            {
                left.push(*slot);
                let old = &mut self.net.nodes[self.net.node_of[*slot as usize] as usize];
                old.workers = old.workers.saturating_sub(1);
                let worker = self.seats[*slot as usize].worker;
                *slot = self.net.new_slot(node);
                self.seats.push(Seat::new(worker, now));
                self.workers.push(None);
                self.desk.empties.push(Vec::new());
            }
        }
        self.net.addresses.push(addresses);
        self.net.incarnation = incarnation;
        self.ends.push((0..self.desk.plan.config.workers).map(|_| None).collect());
        self.stopped = 0;
        self.resume = Some(Arc::new(resume));
        for slot in left {
            // Whenever it is reached: it learns that its time is over.
            let order = Order { incarnation, word: Word::Stop };
            self.net.message(COORDINATOR, slot, Post::Word(order), now);
        }
        self.coordinator.start(now, &mut Office { desk: &mut self.desk, net: &mut self.net });
        self.coordinate();
        Ok(())
    }

    /// The reachable node with the fewest workers of the incarnation in force.
    fn refuge(&self, now: Nanos) -> Option<u32> {
        let reachable = |node: &&super::node::NodeState| node.windows.down_until(now).is_none();
        let nodes = (0..).zip(&self.net.nodes);
        let there = nodes.filter(|(_, node)| reachable(node));
        there.min_by_key(|&(at, node)| (node.workers, at)).map(|(at, _)| at)
    }

    /// Whether this post begins the next life at a seat.
    pub(super) fn begins(&self, slot: Slot, post: &Post) -> bool {
        let Post::Word(order) = post else { return false };
        let incarnation = self.net.incarnation;
        order.incarnation == incarnation
            && self.net.lives[slot as usize] < incarnation
            && self.current(slot)
    }

    /// The old worker of a seat goes, the new one comes.
    pub(super) fn begin(&mut self, slot: Slot) {
        let at = slot as usize;
        self.retire(slot, WorkerStats::default());
        let node = self.net.node_of[at] as usize;
        let waiting = self.net.queues.clear(slot);
        // Of the step under way, too: those places are no longer.
        let frees = self.desk.frees.drain(..).map(|(_, bytes)| bytes);
        self.net.nodes[node].done(frees.fold(waiting, u64::saturating_add));
        self.desk.empties[at].clear();
        if let Some(resume) = &self.resume {
            let seat = &mut self.seats[at];
            self.net.lives[at] = resume.incarnation;
            seat.stop = false;
            let waker = self.wakers.waker(slot);
            self.workers[at] = Some(Worker::resume(self.topology, seat.worker, waker, resume));
        }
    }

    /// The worker of a seat goes; what it has counted stays, with these times.
    pub(super) fn retire(&mut self, slot: Slot, times: WorkerStats) {
        let at = slot as usize;
        let Some(mut old) = self.workers[at].take() else { return };
        let figures = self.seats[at].figures.take().unwrap_or_else(|| old.figures());
        let (life, worker) = (self.net.lives[at], self.seats[at].worker as usize);
        let ends = usize::try_from(life).ok().and_then(|life| self.ends.get_mut(life));
        if let Some(end) = ends.and_then(|ends| ends.get_mut(worker)) {
            *end = Some((figures, times));
        }
        self.repeats += old.repeats();
        old.dismantle();
    }

    /// Workers are gone at this very time, in the middle of their steps: what would have left later in
    /// those does not leave. (What their code did to the outside it did as the step began.)
    fn strike(&mut self, slots: &[Slot]) {
        for &slot in slots {
            self.kill(slot);
        }
        let now = self.net.now;
        for &slot in slots {
            for Parcel { from, to, bytes, count, post, .. } in self.net.calendar.recall(slot, now) {
                self.net.trace.words(&[now, 23 << 32 | u64::from(from), u64::from(to)]);
                if matches!(post, Post::Batch(_)) {
                    let node = self.net.node_of[from as usize] as usize;
                    self.net.nodes[node].release(bytes, count);
                }
                if let Some((component, life)) = post.place()
                    && count == Count::Full
                    && life == self.net.lives[to as usize]
                    && self.workers[to as usize].is_some()
                {
                    self.free(to, component);
                }
            }
        }
    }

    /// The worker of a seat is gone, with all that it had.
    pub(super) fn kill(&mut self, slot: Slot) {
        let at = slot as usize;
        self.retire(slot, WorkerStats::default());
        let batch = |parcel: Parcel| match parcel.post {
            Post::Batch(_) => parcel.bytes,
            _ => 0,
        };
        let seat = &mut self.seats[at];
        let mail = self.net.inboxes[at].drain(..).map(batch).fold(0, u64::saturating_add);
        let freed = seat.frees.drain(..).fold(0, |sum: u64, (_, bytes)| sum.saturating_add(bytes));
        let node = &mut self.net.nodes[self.net.node_of[at] as usize];
        node.done(mail.saturating_add(freed).saturating_add(self.net.queues.clear(slot)));
        seat.again = false;
        seat.stop = false;
        seat.wake_at = Nanos::MAX;
        match seat.at {
            // It comes to rest as its core is free.
            At::Working | At::Stopped | At::Rest => {}
            At::Called => seat.at = At::Rest,
            At::Queued => {
                node.waiting.retain(|&other| other != slot);
                seat.at = At::Rest;
            }
        }
    }
}
