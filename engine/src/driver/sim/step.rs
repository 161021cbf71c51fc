//! A worker's step: when it begins, what it takes in, what it costs, when it ends.

use super::calendar::Due;
use super::engine::Engine;
use super::error::SimError;
use super::hands::{Desk, Hands};
use super::net::Net;
use super::post::{Count, Parcel, Post};
use super::seat::At;
use crate::core::{In, Nanos, Now, Status, WorkerId};
use crate::report::RunError;

/// The shortest sleep.
const SOON: Nanos = 1_000;

impl Engine<'_> {
    /// A worker has something to do: it begins a step now, with all that arrives at this time, or
    /// when it is done with the one it is in.
    pub(super) fn call(&mut self, worker: WorkerId) {
        let now = self.net.now;
        let seat = &mut self.seats[worker as usize];
        match seat.at {
            At::Rest => {
                seat.at = At::Called;
                seat.awake(now);
                self.net.calendar.put(now, Due::Go(worker));
            }
            At::Working => seat.again = true,
            At::Called | At::Queued | At::Stopped => {}
        }
    }

    /// Begins a step where a core is free, else waits for one.
    pub(super) fn take_core(&mut self, worker: WorkerId) -> Result<(), SimError> {
        let node = &mut self.net.nodes[self.net.node_of[worker as usize] as usize];
        if node.free == 0 {
            self.seats[worker as usize].at = At::Queued;
            node.waiting.push_back(worker);
            return Ok(());
        }
        node.free -= 1;
        self.step(worker)
    }

    fn step(&mut self, worker: WorkerId) -> Result<(), SimError> {
        let now = self.net.now;
        let clock = self.clock.at(now);
        let node = self.net.node_of[worker as usize] as usize;
        let slowness = self.net.nodes[node].slowness(now);
        self.desk.begin(worker, slowness);
        self.desk.spend(self.step_cost);
        let seat = &mut self.seats[worker as usize];
        seat.at = At::Working;
        seat.again = false;
        let status = self.take_turn(worker, clock).map_err(|error| self.failed(error))?;
        let end = now.saturating_add(self.desk.spent.max(1));
        self.steps += 1;
        self.clock.step(now, end);
        let node_state = &mut self.net.nodes[node];
        node_state.busy = node_state.busy.saturating_add(end - now);
        self.net.trace.words(&[now, 12 << 32 | u64::from(worker), end - now]);
        let seat = &mut self.seats[worker as usize];
        seat.again |= status.ran;
        seat.wake_at = status.wake_at.unwrap_or(Nanos::MAX);
        self.spins += u64::from(!status.ran && seat.wake_at <= now);
        seat.blocked = status.blocked;
        std::mem::swap(&mut seat.frees, &mut self.desk.frees);
        if status.stopped {
            seat.at = At::Stopped;
            seat.figures = Some(self.workers[worker as usize].figures());
        }
        // What the step freed is free as it ends; until then the next step of this worker waits.
        self.net.calendar.put(end, Due::Done(worker));
        self.check_memory(node)?;
        if self.wakers.any() {
            for woken in self.wakers.woken() {
                self.call(woken);
            }
        }
        Ok(())
    }

    /// Lets a worker take in its mail and work.
    fn take_turn(&mut self, me: WorkerId, clock: Nanos) -> Result<Status, RunError> {
        let Engine { desk, net, workers, mail, wakers, message_cost, .. } = self;
        let worker = &mut workers[me as usize];
        let mut step = |input, desk: &mut Desk, net: &mut Net| {
            let now = Now { mono: net.now.saturating_add(desk.spent), clock };
            worker.step(now, input, &mut Hands { desk, net })
        };
        if !desk.empties[me as usize].is_empty() {
            let mut empties = std::mem::take(&mut desk.empties[me as usize]);
            for empty in empties.drain(..) {
                step(In::Empty(empty), desk, net)?;
            }
            desk.empties[me as usize] = empties;
        }
        if wakers.take(me) {
            step(In::Wake, desk, net)?;
        }
        let mut stopped = false;
        std::mem::swap(mail, &mut net.inboxes[me as usize]);
        for Parcel { bytes, count, post, .. } in mail.drain(..) {
            desk.spend(*message_cost);
            let batch = match &post {
                Post::Batch(envelope) => Some(envelope.component),
                _ => None,
            };
            if let Some(component) = batch {
                desk.taking = Some(bytes);
                if count != Count::Full {
                    net.queues.copy(me, component);
                }
            }
            if let Some(input) = post.input() {
                stopped |= step(input, desk, net)?.stopped;
            }
            if let (Some(bytes), Some(component)) = (desk.taking.take(), batch) {
                net.queues.wait(me, component, bytes);
            }
        }
        if stopped {
            return Ok(Status { stopped, ..Status::default() });
        }
        desk.run();
        step(In::Run, desk, net)
    }

    /// A step ends: its core and the places it freed are free.
    pub(super) fn done(&mut self, worker: WorkerId) -> Result<(), SimError> {
        let now = self.net.now;
        let node = self.net.node_of[worker as usize] as usize;
        self.net.nodes[node].free += 1;
        let mut frees = std::mem::take(&mut self.seats[worker as usize].frees);
        for (component, bytes) in frees.drain(..) {
            self.net.nodes[node].done(bytes);
            self.free(worker, component);
        }
        let seat = &mut self.seats[worker as usize];
        seat.frees = frees;
        let mail = !self.net.inboxes[worker as usize].is_empty();
        let next = self.net.nodes[node].waiting.pop_front();
        if seat.at == At::Stopped {
            seat.rest(now, false);
            self.stopped += 1;
        } else if seat.again || mail {
            if next.is_none() {
                return self.take_core(worker);
            }
            seat.at = At::Queued;
            self.net.nodes[node].waiting.push_back(worker);
        } else {
            seat.at = At::Rest;
            let blocked = seat.blocked;
            seat.rest(now, blocked);
            self.sleep(worker);
        }
        next.map_or(Ok(()), |next| self.take_core(next))
    }

    /// Has a worker at rest woken when it asked for it.
    pub(super) fn sleep(&mut self, worker: WorkerId) {
        let seat = &mut self.seats[worker as usize];
        if seat.wake_at < seat.wake_due {
            // A wake that was asked for in the past comes soon, not at once.
            seat.wake_due = seat.wake_at.max(self.net.now.saturating_add(SOON));
            self.net.calendar.put(seat.wake_due, Due::Wake(worker));
        }
    }
}
