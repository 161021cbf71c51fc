//! What the core and a driver ask of each other.

use super::message::{Empty, Envelope, Loss, Message, Order, Report};
use super::{ComponentId, Nanos, TaskId, WorkerId};
use crate::report::DeadLetter;

/// What a driver does for a worker.
pub trait Sink {
    /// Puts a batch into the queue of its worker and component, or gives it back where that is
    /// full. A network may repeat a batch: all but one of its copies are dropped.
    ///
    /// # Errors
    /// The batch, where there is no room: it is offered again in a later step.
    fn offer(&mut self, envelope: Envelope) -> Result<(), Envelope>;
    /// Sends a message; never refuses.
    fn send(&mut self, to: WorkerId, message: Message);
    /// Tells the coordinator; `urgent` where it should look at once.
    fn report(&mut self, report: Report, urgent: bool);
    /// Brings used-up memory back to where it came from; may drop it.
    fn recycle(&mut self, to: WorkerId, empty: Empty);
    /// A batch of this component's queue is done, was a repeat, or is known lost: its place is free.
    fn consumed(&mut self, component: ComponentId);
    /// Takes a dead letter.
    fn dead_letter(&mut self, letter: DeadLetter);
    /// A task's code is about to run.
    fn enter(&mut self, task: TaskId);
    /// Whether the step has had its share of time: then it stops at the next tuple, and others have
    /// their turn. `done` tuples or records have been worked on since `enter`.
    fn late(&mut self, done: u64) -> bool {
        let _ = done;
        false
    }
    /// A task's code has run on so many tuples: what did it cost since `enter`?
    fn lap(&mut self, task: TaskId, tuples: u64) -> Nanos;
}

/// What a step takes in.
#[derive(Debug)]
pub enum In {
    /// A batch has arrived.
    Batch(Envelope),
    /// A message of another worker has arrived.
    Message(Message),
    /// The coordinator said something.
    Word(Order),
    /// A batch for this worker is known lost, its last copy included: it is counted out.
    Lost(Loss),
    /// Memory comes back.
    Empty(Empty),
    /// A spout's waker was woken.
    Wake,
    /// Do some work.
    Run,
}

/// How a step went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Whether anything was done; if not, the worker has nothing to do until `wake_at`, or until
    /// something arrives.
    pub ran: bool,
    /// When to step again at the latest, in monotonic time.
    pub wake_at: Option<Nanos>,
    /// Whether batches wait for room in queues.
    pub blocked: bool,
    /// Whether the coordinator's word to stop was heard.
    pub stopped: bool,
}
