//! Tickets: tuples taken out of their batch's ack, until a later call gives them back.
//!
//! A tuple that is deferred produces an id that nobody receives; its ticket holds that id. Released,
//! the id is consumed together with what the release produces, as if it had travelled. So the batch
//! itself is acked as ever, and a ticket costs the others nothing.

use std::collections::VecDeque;

use acker::{Delta, RootId, Update};
use hashbrown::HashMap;

use super::bolt_host::BoltHost;
use super::host::fail_astray;
use super::lineage;
use super::port::{Ports, Run};
use super::shared::Shared;
use super::{Epoch, Nanos, TaskId};
use crate::component::Bolt;
use crate::config::whole;
use crate::report::Reason;
use crate::ticket::Ticket;

/// An open ticket.
#[derive(Debug)]
pub(crate) struct Held {
    serial: u64,
    task: TaskId,
    epoch: Epoch,
    /// The attempt that it holds, and the id; none where nothing is tracked.
    run: Option<(RootId, Delta)>,
    /// As of the run of its tuple.
    alone: bool,
    /// Exactly once: the tuple's lineage and input, and the attempts that joined it.
    lineage: Option<(u64, u32)>,
    joined: Vec<(RootId, Delta)>,
}

impl Held {
    pub(crate) fn epoch(&self) -> Epoch {
        self.epoch
    }
}

const TWICE: &str = "defer was called twice for one tuple";
const NO_TUPLE: &str = "defer was called where there is no tuple: only execute has one";
const FOREIGN: &str = "a ticket was given to another task than the one that deferred it";

/// Why a ticket fails.
#[derive(Debug)]
pub(crate) enum Failure {
    Said(String),
    TooLarge(usize),
}

/// A ticket that the call under way gave back.
#[derive(Debug)]
pub(crate) struct Resolved {
    pub(crate) held: Held,
    pub(crate) failed: Option<Failure>,
    /// Which of those it is that emitted.
    pub(crate) run: Option<u32>,
}

/// The open tickets of a component at one worker, and what the call under way does with them.
#[derive(Debug, Default)]
pub(crate) struct Tickets {
    slots: Vec<Option<Held>>,
    free: Vec<u32>,
    open: usize,
    serial: u64,
    /// Exactly once: the open tickets by lineage and input.
    named: HashMap<u64, u32>,
    /// Tickets that no flush has left open yet.
    fresh: Vec<(u32, u64)>,
    /// When those expire that a flush has left open; the earliest first.
    due: VecDeque<(Nanos, u32, u64)>,
    pub(crate) incarnation: u64,
    /// The ticket that the call under way has taken.
    pub(crate) opened: Option<u32>,
    pub(crate) resolved: Vec<Resolved>,
    /// How many of those have emitted.
    pub(crate) emitted: u32,
    /// Whether a release is emitting.
    pub(crate) aside: bool,
    /// What is wrong with the call under way, though it may not say so.
    pub(crate) misuse: Option<String>,
}

impl Tickets {
    /// Opens a ticket of the tuple at hand.
    pub(crate) fn open(&mut self, tuple: bool, task: TaskId, epoch: Epoch) -> Ticket {
        let incarnation = self.incarnation;
        if !tuple || self.opened.is_some() {
            let why = if tuple { TWICE } else { NO_TUPLE };
            self.misuse.get_or_insert_with(|| why.to_owned());
            return Ticket { task, incarnation, slot: u32::MAX, serial: u64::MAX };
        }
        let serial = self.serial;
        self.serial += 1;
        let (run, lineage, joined) = (None, None, Vec::new());
        let held = Held { serial, task, epoch, run, alone: false, lineage, joined };
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
        });
        self.slots[slot as usize] = Some(held);
        self.open += 1;
        self.opened = Some(slot);
        Ticket { task, incarnation, slot, serial }
    }

    /// Takes back a ticket; `None` where it is void. One of another task is a misuse.
    #[allow(clippy::needless_pass_by_value, reason = "a ticket is given back once")]
    pub(crate) fn take(&mut self, ticket: Ticket, task: TaskId) -> Option<Held> {
        if ticket.task != task {
            self.misuse.get_or_insert_with(|| FOREIGN.to_owned());
            return None;
        }
        let current = ticket.incarnation == self.incarnation;
        current.then(|| self.remove(ticket.slot, ticket.serial)).flatten()
    }

    /// Whether a ticket is that of the tuple at hand.
    pub(crate) fn is_own(&self, ticket: &Ticket) -> bool {
        self.opened == Some(ticket.slot) && self.is_open(ticket.slot, ticket.serial)
    }

    fn is_open(&self, slot: u32, serial: u64) -> bool {
        let held = self.slots.get(slot as usize).and_then(Option::as_ref);
        held.is_some_and(|held| held.serial == serial)
    }

    fn remove(&mut self, slot: u32, serial: u64) -> Option<Held> {
        if !self.is_open(slot, serial) {
            return None;
        }
        let held = self.slots.get_mut(slot as usize)?.take()?;
        self.free.push(slot);
        self.open -= 1;
        if let Some((of, input)) = held.lineage {
            self.named.remove(&lineage::by_input(of, input));
        }
        Some(held)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.open == 0
    }

    /// Forgets the ticket that a failed call has taken.
    pub(crate) fn undo(&mut self) {
        if let Some(slot) = self.opened.take()
            && let Some(held) = self.slots.get(slot as usize).and_then(Option::as_ref)
        {
            let serial = held.serial;
            self.remove(slot, serial);
        }
    }

    /// Exactly once: names the ticket that the call under way has taken. Whether there is one.
    pub(crate) fn name(&mut self, of: u64, input: u32) -> bool {
        let Some(slot) = self.opened else { return false };
        if let Some(held) = self.slots.get_mut(slot as usize).and_then(Option::as_mut) {
            held.lineage = Some((of, input));
            self.named.insert(lineage::by_input(of, input), slot);
        }
        true
    }

    /// Exactly once: the open ticket of an earlier attempt at the same tuple.
    pub(crate) fn of(&self, lineage: u64, input: u32) -> Option<u32> {
        if self.named.is_empty() {
            return None;
        }
        self.named.get(&lineage::by_input(lineage, input)).copied()
    }

    /// A flush of `task` and `epoch` is over: what it left open expires at `at`.
    fn flushed(&mut self, task: TaskId, epoch: Epoch, at: Nanos) {
        let mut fresh = std::mem::take(&mut self.fresh);
        fresh.retain(|&(slot, serial)| {
            let held = self.slots.get(slot as usize).and_then(Option::as_ref);
            let Some(held) = held.filter(|held| held.serial == serial) else { return false };
            let left = held.task == task && held.epoch <= epoch;
            if left {
                self.due.push_back((at, slot, serial));
            }
            !left
        });
        self.fresh = fresh;
    }

    fn next_due(&mut self) -> Option<(Nanos, u32, u64)> {
        while let Some(&(at, slot, serial)) = self.due.front() {
            if self.is_open(slot, serial) {
                return Some((at, slot, serial));
            }
            self.due.pop_front();
        }
        None
    }

    /// When the next one expires, by the clock of time-outs.
    pub(crate) fn expires_at(&mut self) -> Option<Nanos> {
        self.next_due().map(|(at, ..)| at)
    }

    /// The oldest one that a flush has left open.
    pub(crate) fn oldest(&self) -> Option<(Epoch, TaskId)> {
        let open = self.due.iter().filter(|&&(_, slot, serial)| self.is_open(slot, serial));
        let held = open.filter_map(|&(_, slot, _)| self.slots.get(slot as usize)?.as_ref());
        held.map(|held| (held.epoch, held.task)).min()
    }

    /// Voids those that match: they were of epochs that are closed, or have failed.
    fn drain(&mut self, which: impl Fn(&Held) -> bool) -> Vec<Held> {
        let mut gone = Vec::new();
        if self.open == 0 {
            return gone;
        }
        for slot in 0..self.slots.len() {
            let serial = self.slots[slot].as_ref().filter(|held| which(held)).map(|h| h.serial);
            if let Some(serial) = serial
                && let Ok(slot) = u32::try_from(slot)
            {
                gone.extend(self.remove(slot, serial));
            }
        }
        gone
    }

    /// Epochs below `epoch` are closed here.
    pub(crate) fn void_below(&mut self, epoch: Epoch) {
        self.drain(|held| held.epoch < epoch);
    }

    pub(crate) fn touch(&self, component: super::ComponentId, cx: &mut Shared) {
        for held in self.slots.iter().flatten() {
            for (track, _) in held.run.iter().chain(&held.joined) {
                cx.touch(*track, held.epoch, component);
            }
        }
    }
}

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
                held.run.map(|(track, id)| Run { alone: held.alone, ..Run::new(track, id) })
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
            cx.ack(track, epoch, Update::new(sum, Delta::EMPTY));
        }
        for &(track, id) in &held.joined {
            cx.ack(track, epoch, Update::new(id, Delta::EMPTY));
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
        if std::mem::take(&mut self.state.tickets.aside) {
            // It panicked as it emitted.
            self.ports.each(&mut |_, port| port.aside());
        }
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

fn fail_held(component: super::ComponentId, held: &Held, reason: &Reason, cx: &mut Shared) {
    if held.run.is_none() {
        cx.changes.in_flight(component, held.epoch, -1);
        cx.regret(reason.clone());
    }
    for &(track, _) in held.run.iter().chain(&held.joined) {
        cx.fail(track, held.epoch, reason.clone());
    }
}

pub(super) use aside::Aside;

/// What releases emit lies in a buffer of its own until their call has succeeded.
mod aside {
    use std::collections::BTreeMap;

    use super::{Epoch, Run, Shared, fail_astray};
    use crate::batch::{Batch, Places, cut};
    use crate::core::port::{AnyPort, Port, Span};

    /// A buffer that changes places with a port's own.
    #[derive(Debug, Default)]
    pub(crate) struct Aside<B: Batch> {
        items: B,
        spans: Vec<Span>,
        done: usize,
        oversize: Vec<(usize, usize)>,
    }

    impl<B: Batch> Aside<B> {
        pub(crate) fn swap(port: &mut Port<B>) {
            let mut side = port.side.take().unwrap_or_default();
            std::mem::swap(&mut side.items, &mut port.items);
            std::mem::swap(&mut side.spans, &mut port.spans);
            std::mem::swap(&mut side.done, &mut port.done);
            std::mem::swap(&mut side.oversize, &mut port.oversize);
            port.side = Some(side);
        }

        pub(crate) fn forget(port: &mut Port<B>) {
            if let Some(side) = &mut port.side {
                // It was counted as it was finished, and is not to be sent.
                port.emitted -= side.done as u64;
                cut(&mut side.items, 0);
                side.spans.clear();
                side.oversize.clear();
                side.done = 0;
            }
        }
    }

    /// Parts items by the epochs of the runs that they hang from.
    struct ByEpoch<'a, B> {
        parts: BTreeMap<Epoch, (B, Vec<Span>)>,
        spans: &'a [Span],
        epochs: &'a [Epoch],
        span: usize,
    }

    impl<B: Batch> Places<B> for ByEpoch<'_, B> {
        fn place(&mut self, i: usize) -> Option<&mut B> {
            while self.spans.get(self.span).is_some_and(|span| span.end as usize <= i) {
                self.span += 1;
            }
            let run = self.spans.get(self.span)?.run;
            let epoch = self.epochs.get(run as usize).copied()?;
            let (items, spans) = self.parts.entry(epoch).or_default();
            let end = u32::try_from(items.len() + 1).unwrap_or(u32::MAX);
            match spans.last_mut() {
                Some(span) if span.run == run => span.end = end,
                _ => spans.push(Span { run, end }),
            }
            Some(items)
        }
    }

    /// Sends what is buffered, each item at the epoch of its run: the least one first.
    pub(crate) fn route_by_epoch<B: Batch>(
        port: &mut Port<B>,
        epochs: &[Epoch],
        runs: &mut [Run],
        cx: &mut Shared,
    ) {
        let tracked = cx.tracked();
        if !tracked && epochs.windows(2).all(|two| two[0] == two[1]) {
            port.spans.clear();
        }
        if epochs.windows(2).all(|two| two[0] == two[1]) {
            let Some(&epoch) = epochs.first() else { return };
            port.route(epoch, runs, cx);
            fail_astray(runs, epoch, cx);
            return;
        }
        let spans = std::mem::take(&mut port.spans);
        let mut parts = ByEpoch { parts: BTreeMap::new(), spans: &spans, epochs, span: 0 };
        port.items.scatter(&mut parts);
        for (epoch, (items, spans)) in parts.parts {
            port.items = items;
            port.spans = if tracked { spans } else { Vec::new() };
            port.route(epoch, runs, cx);
            fail_astray(runs, epoch, cx);
        }
    }
}
pub(super) use aside::route_by_epoch;
