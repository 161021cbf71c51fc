//! What workers and the coordinator say to each other.

use core::fmt;
use std::sync::Arc;

use super::delivery::AnyDelivery;
use super::{ComponentId, EdgeId, Epoch, TaskId, WorkerId};
use crate::report::Reason;

/// One batch on its way to one worker. A data lane may lose or repeat it.
pub struct Envelope {
    /// The sending worker.
    pub from: WorkerId,
    /// The worker it is for.
    pub to: WorkerId,
    /// The component it is for.
    pub component: ComponentId,
    /// The edge it travels by.
    pub edge: EdgeId,
    /// The epoch of every tuple in it.
    pub epoch: Epoch,
    /// Its number on the data lane from `from` to `to`.
    pub number: u64,
    /// The incarnation of the topology that sent it.
    pub incarnation: u64,
    /// The tuples.
    pub body: Box<dyn AnyDelivery>,
}

impl fmt::Debug for Envelope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Envelope")
            .field("from", &self.from)
            .field("to", &self.to)
            .field("edge", &self.edge)
            .field("epoch", &self.epoch)
            .field("number", &self.number)
            .field("tuples", &self.body.len())
            .finish_non_exhaustive()
    }
}

/// What is told of a batch that was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The worker that sent it.
    pub from: WorkerId,
    /// Its number on the data lane.
    pub number: u64,
    /// The incarnation of the topology that sent it.
    pub incarnation: u64,
    /// The component that it was for.
    pub component: ComponentId,
    /// The edge that it travelled by.
    pub edge: EdgeId,
    /// Its epoch.
    pub epoch: Epoch,
    /// Tuples in it.
    pub tuples: u64,
}

impl Loss {
    /// The loss of a batch.
    #[must_use]
    pub fn of(envelope: &Envelope) -> Self {
        Loss {
            from: envelope.from,
            number: envelope.number,
            incarnation: envelope.incarnation,
            component: envelope.component,
            edge: envelope.edge,
            epoch: envelope.epoch,
            tuples: envelope.body.len() as u64,
        }
    }
}

/// A message between workers beside the data.
#[derive(Debug)]
pub struct Message {
    /// The sending worker.
    pub from: WorkerId,
    /// Its number on the lane of its kind from `from` to the receiver.
    pub number: u64,
    /// The incarnation of the topology that sent it.
    pub incarnation: u64,
    /// What is said.
    pub body: Body,
}

/// What a [`Message`] says. Acks and fails may be lost; inits and verdicts may not.
#[derive(Debug)]
pub enum Body {
    /// Roots now tracked.
    Inits(Vec<InitOp>),
    /// Updates and signs of life of tracked roots.
    Acks(Vec<AckOp>),
    /// A root failed.
    Fail(FailOp),
    /// Roots ended.
    Verdicts(Vec<VerdictOp>),
}

/// A root's attempt is to be tracked.
#[derive(Clone, Copy, Debug)]
pub struct InitOp {
    /// The attempt: `mix(root, attempt)`.
    pub track: acker::RootId,
    /// The epoch of the root.
    pub epoch: Epoch,
    /// The task to tell the verdict.
    pub task: TaskId,
    /// The ids that its emission produced.
    pub produced: acker::Delta,
}

/// A sign of a tracked attempt.
#[derive(Clone, Copy, Debug)]
pub struct AckOp {
    /// The attempt.
    pub track: acker::RootId,
    /// The epoch of the root.
    pub epoch: Epoch,
    /// What is said of it.
    pub kind: AckKind,
}

/// What an [`AckOp`] says.
#[derive(Clone, Copy, Debug)]
pub enum AckKind {
    /// What finished tuples consumed and produced.
    Update(acker::Update),
    /// It waits at this component.
    Touch(ComponentId),
}

/// An attempt failed.
#[derive(Clone, Debug)]
pub struct FailOp {
    /// The attempt.
    pub track: acker::RootId,
    /// The epoch of the root.
    pub epoch: Epoch,
    /// Why.
    pub reason: Arc<Reason>,
}

/// An attempt's end.
#[derive(Clone, Debug)]
pub struct VerdictOp {
    /// The attempt.
    pub track: acker::RootId,
    /// The epoch of the root.
    pub epoch: Epoch,
    /// The task that asked for it.
    pub task: TaskId,
    /// `None` where all of its tree was acked.
    pub failed: Option<Arc<Reason>>,
}

/// What a worker tells the coordinator, whole and in order.
#[derive(Debug)]
pub struct Report {
    /// The worker.
    pub from: WorkerId,
    /// Its number on the lane from `from` to the coordinator.
    pub number: u64,
    /// The incarnation of the topology that sent it.
    pub incarnation: u64,
    /// The changes since the last report, applied together.
    pub changes: Vec<Change>,
}

/// Where a spout task is: right after all that it has emitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// As [`Spout::position`](crate::Spout::position) has it.
    pub position: Box<[u8]>,
    /// Its watermark there.
    pub mark: Option<i64>,
    /// Records that it had emitted, those of the incarnations before up to where they were taken up
    /// included.
    pub records: u64,
}

/// A change of progress at one worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The worker has all that is due at this epoch.
    Confirmed(Epoch),
    /// Batches of an epoch on their way to a component: more, or fewer.
    InFlight {
        /// The component that they are for.
        component: ComponentId,
        /// Their epoch.
        epoch: Epoch,
        /// How many more.
        delta: i64,
    },
    /// The worker has closed every epoch below this one at a component.
    Closed {
        /// The component.
        component: ComponentId,
        /// The least epoch not closed.
        epoch: Epoch,
    },
    /// The least epoch of which the component holds a root without a verdict, and which task's.
    Held {
        /// The component.
        component: ComponentId,
        /// The epoch and a task that holds it; `None` where nothing is held.
        oldest: Option<(Epoch, TaskId)>,
    },
    /// The least epoch of which the component has a ticket that a flush has left open, and whose.
    Ticket {
        /// The component.
        component: ComponentId,
        /// The epoch and a task with such a ticket; `None` where there is none.
        oldest: Option<(Epoch, TaskId)>,
    },
    /// A spout task stamps from this epoch on.
    Stamps {
        /// The task.
        task: TaskId,
        /// The least epoch that it may stamp.
        epoch: Epoch,
        /// Its watermark as it left the epoch before; `Err` where it counts as idle.
        mark: Result<Option<i64>, Idle>,
    },
    /// Where a spout task that can go back was as it came to an epoch. Told before its `Stamps`.
    Place {
        /// The task.
        task: TaskId,
        /// The epoch: what it stamped below is before this place, all else after it.
        epoch: Epoch,
        /// The place; `None` where the spout could not say.
        place: Option<Place>,
    },
    /// A spout task has emitted more records.
    Records {
        /// The task.
        task: TaskId,
        /// How many more.
        records: u64,
    },
    /// A spout task will emit no new record.
    Ended(TaskId),
}

/// A spout task that had nothing for a whole epoch, or has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idle;

/// What the coordinator tells a worker. Of words of one kind the greatest wins, so they may arrive
/// in any order and more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// Open your tasks and confirm that you have the tables of this epoch.
    Prepare(Epoch),
    /// Spouts may stamp epochs below this one.
    Horizon(Epoch),
    /// Spouts leave this epoch and those before.
    End(Epoch),
    /// As `End`, and there will be no further epoch: timers above it stay silent.
    Last(Epoch),
    /// No tuple below this epoch can reach the component any more.
    Frontier {
        /// The component.
        component: ComponentId,
        /// The least epoch of which tuples may still come.
        epoch: Epoch,
    },
    /// The watermark of an epoch that all spouts have left.
    Watermark {
        /// The epoch.
        epoch: Epoch,
        /// Its watermark.
        mark: Option<i64>,
    },
    /// Every worker has closed all epochs below this one at every component.
    ClosedBelow(Epoch),
    /// Spouts stop emitting; what is under way is finished.
    Drain,
    /// All is done, or nothing more is wanted: stop.
    Stop,
}

/// A word, of one incarnation of the topology to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// The incarnation of the topology that is meant.
    pub incarnation: u64,
    /// What is said.
    pub word: Word,
}

/// Used-up memory on its way back to where it came from. A driver may drop it.
pub enum Empty {
    /// A delivery of one edge.
    Delivery(EdgeId, Box<dyn AnyDelivery>),
    /// A list of acks.
    Acks(Vec<AckOp>),
    /// A list of inits.
    Inits(Vec<InitOp>),
    /// A list of verdicts.
    Verdicts(Vec<VerdictOp>),
    /// A list of changes.
    Changes(Vec<Change>),
}

impl fmt::Debug for Empty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Empty::Delivery(..) => "Delivery",
            Empty::Acks(_) => "Acks",
            Empty::Inits(_) => "Inits",
            Empty::Verdicts(_) => "Verdicts",
            Empty::Changes(_) => "Changes",
        })
    }
}
