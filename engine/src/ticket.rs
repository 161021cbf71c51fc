//! Tickets: a tuple whose ack waits for a later call.

use core::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::core::port::Ports;
use crate::core::{Failure, Resolved, TaskId};
use crate::emitter::{Emitter, Outputs};

/// A tuple that was taken out of its batch's ack by [`Emitter::defer`](crate::Emitter::defer).
///
/// Its root is done only once the ticket is given back to the same task, by
/// [`release`](crate::Emitter::release), [`release_with`](crate::Emitter::release_with) or
/// [`fail`](crate::Emitter::fail), in any later call. A ticket is plain data and does nothing as it is
/// dropped: one that is never given back fails its root, with
/// [`Reason::TicketExpired`](crate::Reason::TicketExpired), so long after the first flush that left it
/// open as [`Config::ticket_limit`](crate::Config::ticket_limit) says.
///
/// It may wait for `flush` or for something outside. It must not wait for `close`, which waits for it,
/// nor for another tuple: a partner belongs in state.
#[derive(Debug)]
#[must_use = "a ticket that is not given back fails its root when it expires"]
pub struct Ticket {
    pub(crate) task: TaskId,
    pub(crate) incarnation: u64,
    pub(crate) slot: u32,
    pub(crate) serial: u64,
}

impl<O: Outputs> Emitter<'_, O> {
    /// Takes the tuple at hand out of its batch's ack: its root is not done before the ticket is given
    /// back. In `execute` only, and once a call; what the call emits hangs from the tuple as ever. If
    /// the call fails, the ticket is void.
    ///
    /// Under exactly once a repeat of the tuple waits for the ticket too and is not executed, and state
    /// counts it as applied once it is released.
    ///
    /// ```
    /// use streamwright::{Bolt, BoxError, Emitter, Epoch, Execute, Ticket};
    ///
    /// /// Writes many numbers at a time; a number is acked once it is written.
    /// struct Batching(Vec<(u64, Ticket)>);
    /// impl Bolt for Batching {
    ///     type Out = ();
    ///     fn flush(&mut self, _: Epoch, out: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
    ///         let written: u64 = self.0.iter().map(|(n, _)| n).sum(); // an error fails them all
    ///         let _ = written;
    ///         self.0.drain(..).for_each(|(_, ticket)| out.release(ticket));
    ///         Ok(())
    ///     }
    /// }
    /// impl Execute<Vec<u64>> for Batching {
    ///     fn execute(&mut self, n: &u64, out: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
    ///         let ticket = out.defer();
    ///         self.0.push((*n, ticket));
    ///         Ok(())
    ///     }
    /// }
    /// ```
    ///
    /// A ticket cannot be given back twice:
    ///
    /// ```compile_fail,E0382
    /// # use streamwright::{Emitter, Ticket};
    /// fn twice(ticket: Ticket, out: &mut Emitter<'_, ()>) {
    ///     out.release(ticket);
    ///     out.release(ticket);
    /// }
    /// ```
    pub fn defer(&mut self) -> Ticket {
        self.state.odd = true;
        let state = &mut *self.state;
        state.tickets.open(state.tuple, state.task, state.epoch)
    }

    /// Acks a deferred tuple, once the call at hand has succeeded: if that fails, so does the tuple. A
    /// void ticket, one that has expired, failed or whose epoch is closed, changes nothing.
    ///
    /// A ticket of another task is a fault of the call at hand, as `Err` is.
    pub fn release(&mut self, ticket: Ticket) {
        self.give_back(ticket, None);
    }

    /// As [`release`](Self::release); what `emit` emits hangs from the deferred tuple, at its epoch.
    /// `emit` is not called for a void ticket. It cannot release in turn. Not under exactly once, where
    /// only `execute` emits and, in bolts with state, `close`.
    pub fn release_with(&mut self, ticket: Ticket, emit: impl FnOnce(&mut Self)) {
        if self.state.tickets.is_own(&ticket) {
            // The tuple at hand after all.
            self.give_back(ticket, None);
            emit(self);
            return;
        }
        self.state.odd = true;
        let state = &mut *self.state;
        if state.tickets.aside {
            state.misuse("release_with was called within release_with");
            return;
        }
        let Some(held) = state.tickets.take(ticket, state.task) else { return };
        let (at, oversize) = (state.epoch, state.oversize.take());
        (state.epoch, state.tickets.aside) = (held.epoch(), true);
        self.ports.each(&mut |_, port| port.aside());
        // Where it panics the ticket is given back all the same: it fails, as the call at hand does.
        let outcome = catch_unwind(AssertUnwindSafe(|| emit(self)));
        let state = &mut *self.state;
        let emitted = self.ports.counts() > 0;
        let run = emitted.then_some(state.tickets.emitted);
        let mut failed = state.oversize.take().map(Failure::TooLarge);
        if outcome.is_err() {
            failed = Some(Failure::Said("its release panicked".to_owned()));
        }
        if failed.is_some() {
            self.ports.rollback();
        } else if let Some(run) = run {
            self.ports.finish_tuple(run, true);
            state.tickets.emitted += 1;
        }
        self.ports.each(&mut |_, port| port.aside());
        (state.epoch, state.oversize, state.tickets.aside) = (at, oversize, false);
        let run = if failed.is_some() { None } else { run };
        state.tickets.resolved.push(Resolved { held, failed, run });
        if let Err(panic) = outcome {
            resume_unwind(panic);
        }
    }

    /// Fails a deferred tuple: its root, with this reason. A void ticket changes nothing.
    pub fn fail(&mut self, ticket: Ticket, reason: impl fmt::Display) {
        self.give_back(ticket, Some(reason.to_string()));
    }

    fn give_back(&mut self, ticket: Ticket, failed: Option<String>) {
        self.state.odd = true;
        let state = &mut *self.state;
        if state.tickets.is_own(&ticket) {
            // As if it had never been deferred.
            state.tickets.undo();
            if let Some(reason) = failed {
                state.misuse(&reason);
            }
            return;
        }
        if let Some(held) = state.tickets.take(ticket, state.task) {
            let failed = failed.map(Failure::Said);
            state.tickets.resolved.push(Resolved { held, failed, run: None });
        }
    }
}
