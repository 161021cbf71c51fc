//! A sink that hands records to the program around the topology.

use core::fmt;
use core::marker::PhantomData;
use std::collections::VecDeque;
use std::sync::mpsc::{SyncSender, TrySendError};

use crate::{Batch, Bolt, BoxError, Emitter, Epoch, Execute, Nanos, Ticket};

/// How often a full channel is tried again, in nanoseconds.
const AGAIN: Nanos = 1_000_000;

/// Sends what `make` makes of each record into a bounded channel of the standard library. Never blocks
/// the worker: while the channel is full, records wait with a ticket each, and are tried again every
/// millisecond and as the engine flushes.
///
/// At least once: a record's root is acked once the channel has taken it; after a root failed elsewhere,
/// and after a crash, it may come again. Exactly once is the same: what has left the engine is not
/// called back. Once the receiver is gone, every record fails, with that reason.
///
/// A receiver that takes nothing for longer than [`Config::ticket_limit`](crate::Config::ticket_limit)
/// makes the waiting roots fail. How many wait is bounded by
/// [`max_pending`](crate::Config::max_pending), and without acks by the open epochs.
///
/// Records of one task arrive in the order in which it took them in.
///
/// The example of [`map`](super::map) shows it.
pub struct ChannelSink<B, T, F> {
    to: SyncSender<T>,
    make: F,
    waiting: VecDeque<(T, Ticket)>,
    items: PhantomData<fn(&B)>,
}

impl<B, T, F> fmt::Debug for ChannelSink<B, T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChannelSink").field("waiting", &self.waiting.len()).finish_non_exhaustive()
    }
}

const GONE: &str = "the receiver of the channel is gone";

impl<B, T, F> ChannelSink<B, T, F>
where
    B: Batch,
    T: Send + 'static,
    F: for<'a> FnMut(B::Item<'a>) -> T + Send + 'static,
{
    /// Sends into `to`: give each task a clone.
    pub fn new(to: SyncSender<T>, make: F) -> Self {
        ChannelSink { to, make, waiting: VecDeque::new(), items: PhantomData }
    }

    /// Sends what waits, as far as there is room.
    fn send(&mut self, out: &mut Emitter<'_, ()>) {
        while let Some((item, ticket)) = self.waiting.pop_front() {
            match self.to.try_send(item) {
                Ok(()) => out.release(ticket),
                Err(TrySendError::Full(item)) => {
                    self.waiting.push_front((item, ticket));
                    out.wake_at(out.now().saturating_add(AGAIN));
                    return;
                }
                Err(TrySendError::Disconnected(_)) => out.fail(ticket, GONE),
            }
        }
    }
}

impl<B, T, F> Bolt for ChannelSink<B, T, F>
where
    B: Batch,
    T: Send + 'static,
    F: for<'a> FnMut(B::Item<'a>) -> T + Send + 'static,
{
    type Out = ();

    fn flush(&mut self, _: Epoch, out: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
        self.send(out);
        Ok(())
    }

    fn timer(&mut self, _: Nanos, out: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
        self.send(out);
        Ok(())
    }
}

impl<B, T, F> Execute<B> for ChannelSink<B, T, F>
where
    B: Batch,
    T: Send + 'static,
    F: for<'a> FnMut(B::Item<'a>) -> T + Send + 'static,
{
    fn execute(&mut self, item: B::Item<'_>, out: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
        let mut item = (self.make)(item);
        if self.waiting.is_empty() {
            match self.to.try_send(item) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Disconnected(_)) => return Err(GONE.into()),
                Err(TrySendError::Full(back)) => item = back,
            }
        }
        let ticket = out.defer();
        self.waiting.push_back((item, ticket));
        out.wake_at(out.now().saturating_add(AGAIN));
        Ok(())
    }
}
