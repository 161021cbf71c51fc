//! Deferring at a bolt's host: which tickets its calls take and give back, and what becomes of them.

use acker::{Delta, RootId, Update};

use super::bolt_host::BoltHost;
use super::port::{Ports, Run};
use super::shared::Shared;
use super::tickets::{Failure, Held, Resolved};
use super::{ComponentId, Epoch};
use crate::component::Bolt;
use crate::config::whole;
use crate::report::Reason;

impl<Bl: Bolt> BoltHost<Bl> {
    /// After a tuple whose call was more than emission: hangs the ticket that it took from the
    /// tuple's run, and settles those that it gave back. Whether anything was emitted by them.
    pub(super) fn keep_tickets(
        &mut self,
        task: usize,
        run: u32,
        runs: &mut [Run],
        epoch: Epoch,
        cx: &mut Shared,
    ) -> bool {
        self.state.odd = false;
        if let Some(slot) = self.state.tickets.opened.take() {
            let of = runs.get_mut(run as usize);
            let alone = of.as_ref().is_some_and(|run| run.alone);
            let run = of.map(|run| held_by(run, cx));
            if run.is_none() {
                // The tuple counts as its batch in flight.
                cx.changes.in_flight(self.component, epoch, 1);
            }
            let tickets = &mut self.state.tickets;
            if let Some(held) = tickets.slots.get_mut(slot as usize).and_then(Option::as_mut) {
                (held.run, held.alone) = (run, alone);
                tickets.fresh.push((slot, held.serial));
            }
        }
        self.resolve("execute", task, cx)
    }

    /// Exactly once: a replay of a tuple whose ticket is open waits for that.
    pub(super) fn join_ticket(&mut self, slot: u32, run: u32, runs: &mut [Run], cx: &mut Shared) {
        let held = self.state.tickets.slots.get_mut(slot as usize).and_then(Option::as_mut);
        if let (Some(held), Some(run)) = (held, runs.get_mut(run as usize)) {
            held.joined.push(held_by(run, cx));
        }
    }

    /// Settles the tickets that a call has given back. Whether anything was emitted by them.
    pub(super) fn resolve(&mut self, call: &'static str, task: usize, cx: &mut Shared) -> bool {
        if self.state.tickets.resolved.is_empty() {
            return false;
        }
        let emitted = std::mem::take(&mut self.state.tickets.emitted) > 0;
        if emitted && cx.plan.config.exactly_once() {
            self.forget_aside();
            self.misplaced(call, self.tasks[task].id, cx);
            return false;
        }
        let mut resolved = std::mem::take(&mut self.state.tickets.resolved);
        let mut runs: Vec<Run> = Vec::new();
        if emitted {
            let given = resolved.iter().filter(|one| one.run.is_some());
            let epochs: Vec<Epoch> = given.clone().map(|one| one.held.epoch).collect();
            runs.extend(given.filter_map(|Resolved { held, .. }| {
                let owner = |track| cx.plan.tables.at(held.epoch).owner(track);
                held.run.map(|(track, id)| Run {
                    alone: held.alone,
                    ..Run::new(track, owner(track), id)
                })
            }));
            self.ports.each(&mut |_, port| {
                port.aside();
                port.route_by_epoch(&epochs, &mut runs, cx);
                port.aside();
            });
        }
        for Resolved { held, failed, run } in resolved.drain(..) {
            match failed {
                Some(failure) => self.fail_ticket(task, &held, failure, cx),
                None => self.release(&held, run.and_then(|run| runs.get(run as usize)), cx),
            }
        }
        self.state.tickets.resolved = resolved;
        emitted
    }

    /// Acks what a ticket held, and what its release has produced.
    fn release(&mut self, held: &Held, produced: Option<&Run>, cx: &mut Shared) {
        let epoch = held.epoch;
        if let (Some(seen), Some((lineage, input))) = (&mut self.seen, held.lineage) {
            // Only now has it succeeded.
            seen.page(epoch).note(lineage, input);
        }
        let Some((track, id)) = held.run else {
            cx.changes.in_flight(self.component, epoch, -1);
            return;
        };
        if produced.is_none_or(|run| !run.tainted) {
            let sum = produced.map_or(id, |run| run.untold);
            cx.ack_attempt(track, epoch, Update::new(sum, Delta::EMPTY));
        }
        for &(track, id) in &held.joined {
            cx.ack_attempt(track, epoch, Update::new(id, Delta::EMPTY));
        }
    }

    fn fail_ticket(&mut self, task: usize, held: &Held, failure: Failure, cx: &mut Shared) {
        let (component, index) = (cx.name_of(held.task).to_owned(), cx.index_of(held.task));
        let reason = match failure {
            Failure::Said(message) => Reason::Failed { component, task: index, message },
            Failure::TooLarge(size) => {
                Reason::TooLarge { component, task: index, size, limit: self.state.limit }
            }
        };
        self.tasks[task].failed += 1;
        fail_held(self.component, held, &reason, cx);
    }

    /// A call has failed: what it emitted by tickets is dropped, what it took is void, and what it
    /// gave back fails with it. Whether there was any of that.
    pub(super) fn abandon(&mut self, task: usize, message: &str, cx: &mut Shared) -> bool {
        self.state.odd = false;
        self.state.tickets.misuse = None;
        self.state.tickets.undo();
        if self.state.tickets.resolved.is_empty() {
            return false;
        }
        self.forget_aside();
        for Resolved { held, .. } in std::mem::take(&mut self.state.tickets.resolved) {
            self.fail_ticket(task, &held, Failure::Said(message.to_owned()), cx);
        }
        true
    }

    fn forget_aside(&mut self) {
        self.state.tickets.emitted = 0;
        self.ports.each(&mut |_, port| port.forget_aside());
    }

    /// A flush failed: so does all that it held. Whether it held any.
    pub(super) fn fail_flush(
        &mut self,
        task: usize,
        epoch: Epoch,
        message: &str,
        cx: &mut Shared,
    ) -> bool {
        let mut any = self.abandon(task, message, cx);
        let id = self.tasks[task].id;
        let gone = self.state.tickets.drain(|held| held.task == id && held.epoch <= epoch);
        any |= !gone.is_empty();
        for held in &gone {
            self.fail_ticket(task, held, Failure::Said(message.to_owned()), cx);
        }
        any
    }

    /// A flush of a task is over.
    pub(super) fn flushed(&mut self, task: usize, epoch: Epoch, cx: &Shared) {
        if !self.state.tickets.fresh.is_empty() {
            let limit = whole(cx.plan.config.ticket_limit);
            let at = cx.now.clock.saturating_add(limit);
            self.state.tickets.flushed(self.tasks[task].id, epoch, at);
        }
    }

    /// Fails the tickets that were open for too long after a flush.
    pub(super) fn expire_tickets(&mut self, cx: &mut Shared) -> bool {
        let mut any = false;
        while let Some((at, slot, serial)) = self.state.tickets.next_due()
            && at <= cx.now.clock
        {
            let Some(held) = self.state.tickets.remove(slot, serial) else { break };
            let (component, task) = (cx.name_of(held.task).to_owned(), cx.index_of(held.task));
            let limit = cx.plan.config.ticket_limit;
            let reason = Reason::TicketExpired { component, task, limit };
            if let Some(task) = self.tasks.iter_mut().find(|task| task.id == held.task) {
                task.failed += 1;
            }
            fail_held(self.component, &held, &reason, cx);
            any = true;
        }
        any
    }
}

/// Takes part of a run out of its ack: it produces an id that the ticket will consume.
fn held_by(run: &mut Run, cx: &mut Shared) -> (RootId, Delta) {
    let id = Delta::EMPTY.with(cx.edge_ids.next_id());
    run.untold = run.untold.merge(id);
    (run.track, id)
}

fn fail_held(component: ComponentId, held: &Held, reason: &Reason, cx: &mut Shared) {
    if held.run.is_none() {
        cx.changes.in_flight(component, held.epoch, -1);
        cx.regret(reason.clone());
    }
    for &(track, _) in held.run.iter().chain(&held.joined) {
        cx.fail(track, held.epoch, reason.clone());
    }
}
