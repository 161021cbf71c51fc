//! Tickets: tuples taken out of their batch's ack, until a later call gives them back.
//!
//! A tuple that is deferred produces an id that nobody receives; its ticket holds that id. Released,
//! the id is consumed together with what the release produces, as if it had travelled. So the batch
//! itself is acked as ever, and a ticket costs the others nothing.

use std::collections::VecDeque;

use acker::{Delta, RootId};
use hashbrown::HashMap;

use super::shared::Shared;
use super::{Epoch, Nanos, TaskId, lineage};
use crate::ticket::Ticket;

/// An open ticket.
#[derive(Debug)]
pub(crate) struct Held {
    pub(super) serial: u64,
    pub(super) task: TaskId,
    pub(super) epoch: Epoch,
    /// The attempt that it holds, and the id; none where nothing is tracked.
    pub(super) run: Option<(RootId, Delta)>,
    /// As of the run of its tuple.
    pub(super) alone: bool,
    /// Exactly once: the tuple's lineage and input, and the attempts that joined it.
    pub(super) lineage: Option<(u64, u32)>,
    pub(super) joined: Vec<(RootId, Delta)>,
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
    pub(super) slots: Vec<Option<Held>>,
    free: Vec<u32>,
    open: usize,
    serial: u64,
    /// Exactly once: the open tickets by lineage and input.
    named: HashMap<u64, u32>,
    /// Tickets that no flush has left open yet.
    pub(super) fresh: Vec<(u32, u64)>,
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

    pub(super) fn remove(&mut self, slot: u32, serial: u64) -> Option<Held> {
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
    pub(super) fn flushed(&mut self, task: TaskId, epoch: Epoch, at: Nanos) {
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

    pub(super) fn next_due(&mut self) -> Option<(Nanos, u32, u64)> {
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
    pub(super) fn drain(&mut self, which: impl Fn(&Held) -> bool) -> Vec<Held> {
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
