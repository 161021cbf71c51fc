//! A worker's step: when it begins, what it takes in, what it costs, when it ends.

use super::calendar::Due;
use super::engine::Engine;
use super::error::SimError;
use super::hands::Hands;
use super::post::{Count, Parcel, Post, Slot};
use super::seat::At;
use crate::core::{In, Nanos, Now, Status, Worker};
use crate::report::RunError;

/// The shortest sleep.
const SOON: Nanos = 1_000;

impl Engine<'_> {
    /// A worker has something to do: it begins a step now, with all that arrives at this time, or
    /// when it is done with the one it is in.
    pub(super) fn call(&mut self, slot: Slot) {
        let now = self.net.now;
        let seat = &mut self.seats[slot as usize];
        match seat.at {
            At::Rest => {
                seat.at = At::Called;
                seat.awake(now);
                self.net.calendar.put(now, Due::Go(slot));
            }
            At::Working => seat.again = true,
            At::Called | At::Queued | At::Stopped => {}
        }
    }

    /// Begins a step where a core is free, else waits for one.
    pub(super) fn take_core(&mut self, slot: Slot) -> Result<(), SimError> {
        let node = &mut self.net.nodes[self.net.node_of[slot as usize] as usize];
        if node.free == 0 {
            self.seats[slot as usize].at = At::Queued;
            node.waiting.push_back(slot);
            return Ok(());
        }
        node.free -= 1;
        self.step(slot)
    }

    fn step(&mut self, slot: Slot) -> Result<(), SimError> {
        let now = self.net.now;
        let clock = self.clock.at(now);
        let node = self.net.node_of[slot as usize] as usize;
        let slowness = self.net.nodes[node].slowness(now);
        self.desk.begin(slot, slowness);
        self.desk.spend(self.step_cost);
        let seat = &mut self.seats[slot as usize];
        seat.at = At::Working;
        seat.again = false;
        let turn = self.take_turn(slot, clock);
        let end = now.saturating_add(self.desk.spent.max(1));
        self.steps += 1;
        let (worker, limit) = (self.seats[slot as usize].worker, self.clock.limit());
        self.clock.step(now, end, self.desk.plan.patience(worker, limit));
        let state = &mut self.net.nodes[node];
        state.busy = state.busy.saturating_add(end - now);
        self.net.trace.words(&[now, 12 << 32 | u64::from(slot), end - now]);
        // What the step freed is free as it ends; until then the next step of this worker waits.
        self.net.calendar.put(end, Due::Done(slot));
        let seat = &mut self.seats[slot as usize];
        std::mem::swap(&mut seat.frees, &mut self.desk.frees);
        let status = match turn {
            Ok(status) => status,
            Err(error) => {
                self.fail(slot, error);
                return Ok(());
            }
        };
        seat.again |= status.ran;
        seat.wake_at = status.wake_at.unwrap_or(Nanos::MAX);
        self.spins += u64::from(!status.ran && seat.wake_at <= now);
        seat.blocked = status.blocked;
        if status.stopped {
            seat.stop = true;
            seat.figures = self.workers[slot as usize].as_mut().map(Worker::figures);
        }
        self.check_memory(node);
        if self.wakers.any() {
            for woken in self.wakers.woken() {
                self.call(woken);
            }
        }
        Ok(())
    }

    /// Lets the worker of a seat take in its mail and work.
    fn take_turn(&mut self, slot: Slot, clock: Nanos) -> Result<Status, RunError> {
        let at = slot as usize;
        if !self.desk.empties[at].is_empty() {
            let mut empties = std::mem::take(&mut self.desk.empties[at]);
            for empty in empties.drain(..) {
                self.feed(slot, clock, In::Empty(empty))?;
            }
            self.desk.empties[at] = empties;
        }
        if self.wakers.take(slot) {
            self.feed(slot, clock, In::Wake)?;
        }
        let mut mail = std::mem::take(&mut self.mail);
        std::mem::swap(&mut mail, &mut self.net.inboxes[at]);
        let mut stopped = false;
        let mut rest = mail.drain(..);
        while let Some(parcel) = rest.next() {
            if self.begins(slot, &parcel.post) {
                self.begin(slot);
                stopped = false;
            }
            match self.take_in(slot, clock, parcel) {
                Ok(stop) => stopped |= stop,
                Err(error) if self.in_force(slot) => {
                    // It goes with the worker.
                    self.net.inboxes[at].extend(rest);
                    return Err(error);
                }
                // One of an old incarnation: the word of the next may be in the rest of the mail.
                Err(_) => self.kill(slot),
            }
        }
        drop(rest);
        self.mail = mail;
        if stopped {
            return Ok(Status { stopped, ..Status::default() });
        }
        self.desk.run();
        self.feed(slot, clock, In::Run)
    }

    /// Lets the worker of a seat take in one thing; whether that stopped it.
    fn take_in(&mut self, slot: Slot, clock: Nanos, parcel: Parcel) -> Result<bool, RunError> {
        let Parcel { bytes, count, post, .. } = parcel;
        self.desk.spend(self.message_cost);
        let batch = matches!(post, Post::Batch(_));
        let life = post.place();
        if let Some((component, incarnation)) = life {
            self.desk.taking = Some(bytes);
            let placed = count == Count::Full && incarnation == self.net.lives[slot as usize];
            if !placed {
                self.net.queues.copy(slot, component);
            }
        }
        let Some(input) = post.input() else { return Ok(false) };
        let status = self.feed(slot, clock, input);
        if let (Some(bytes), true, Some((component, _))) = (self.desk.taking.take(), batch, life) {
            self.net.queues.wait(slot, component, bytes);
        }
        Ok(status?.stopped)
    }

    fn feed(&mut self, slot: Slot, clock: Nanos, input: In) -> Result<Status, RunError> {
        let Some(worker) = &mut self.workers[slot as usize] else { return Ok(Status::default()) };
        let mono = self.net.now.saturating_add(self.desk.spent);
        let hands = &mut Hands { desk: &mut self.desk, net: &mut self.net };
        worker.step(Now { mono, clock }, input, hands)
    }

    /// A step ends: its core and the places it freed are free.
    pub(super) fn done(&mut self, slot: Slot) -> Result<(), SimError> {
        let now = self.net.now;
        let node = self.net.node_of[slot as usize] as usize;
        self.net.nodes[node].free += 1;
        let mut frees = std::mem::take(&mut self.seats[slot as usize].frees);
        for (component, bytes) in frees.drain(..) {
            self.net.nodes[node].done(bytes);
            self.free(slot, component);
        }
        self.seats[slot as usize].frees = frees;
        let mail = !self.net.inboxes[slot as usize].is_empty();
        let reborn = || self.net.inboxes[slot as usize].iter().any(|p| self.begins(slot, &p.post));
        let ended = self.seats[slot as usize].stop && !reborn();
        let seat = &mut self.seats[slot as usize];
        let next = self.net.nodes[node].waiting.pop_front();
        if ended {
            seat.at = At::Stopped;
            seat.rest(now, false);
            if self.in_force(slot) {
                self.stopped += 1;
            }
        } else if seat.again || mail {
            if next.is_none() {
                return self.take_core(slot);
            }
            seat.at = At::Queued;
            self.net.nodes[node].waiting.push_back(slot);
        } else {
            seat.at = At::Rest;
            let blocked = seat.blocked;
            seat.rest(now, blocked);
            self.sleep(slot);
        }
        next.map_or(Ok(()), |next| self.take_core(next))
    }

    /// Has a worker at rest woken when it asked for it.
    pub(super) fn sleep(&mut self, slot: Slot) {
        let seat = &mut self.seats[slot as usize];
        if seat.wake_at < seat.wake_due {
            // A wake that was asked for in the past comes soon, not at once.
            seat.wake_due = seat.wake_at.max(self.net.now.saturating_add(SOON));
            self.net.calendar.put(seat.wake_due, Due::Wake(slot));
        }
    }
}
