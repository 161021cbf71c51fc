//! What travels in a simulated cluster.

use crate::core::{Body, ComponentId, Envelope, In, Loss, Message, Nanos, Order, Report};
use crate::report::RunError;

/// The number of a seat: the place of one worker, on one node. A worker that is moved by a crash has
/// a new one, while the old one may live on where nobody reaches it.
pub(super) type Slot = u32;

/// The coordinator, where a seat is named.
pub(super) const COORDINATOR: Slot = Slot::MAX;

/// One thing on its way.
#[derive(Debug)]
pub(super) struct Parcel {
    pub(super) from: Slot,
    pub(super) to: Slot,
    /// When it leaves: in the middle of the step that sends it, or as it is sent again.
    pub(super) leave: Nanos,
    /// Bytes on the wire, and in memory where it is a batch.
    pub(super) bytes: u64,
    /// Of a batch: how the engine counts it.
    pub(super) count: Count,
    pub(super) post: Post,
}

/// How a batch counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    /// It holds a place of its queue since it was sent: of the life that its seat had then.
    Full,
    /// A copy that the network made, or a batch for a seat that has gone on to its next life: it takes
    /// a place only as it is taken in, where it or its like goes at once.
    Extra,
}

/// What it is.
#[derive(Debug)]
pub(super) enum Post {
    Batch(Envelope),
    Message(Message),
    Word(Order),
    /// A batch to this end that was lost, and is known to be.
    Lost(Loss),
    Report(Report),
    /// A worker of this incarnation has failed: after all that it reported.
    Failed(u64, RunError),
}

/// Lanes between two ends: of one lane nothing overtakes, unless the scenario says so.
pub(super) const LANES: usize = 5;

impl Post {
    /// The number of its lane, below [`LANES`].
    pub(super) fn lane(&self) -> usize {
        match self {
            Post::Batch(_) | Post::Lost(_) => 0,
            Post::Message(message) => match message.body {
                Body::Inits(_) => 1,
                Body::Acks(_) | Body::Fail(_) => 2,
                Body::Verdicts(_) => 3,
            },
            Post::Word(_) | Post::Report(_) | Post::Failed(..) => 4,
        }
    }

    /// Of a batch, or of one that was lost: the component whose queue has a place for it, and the
    /// incarnation that sent it.
    pub(super) fn place(&self) -> Option<(ComponentId, u64)> {
        match self {
            Post::Batch(envelope) => Some((envelope.component, envelope.incarnation)),
            Post::Lost(loss) => Some((loss.component, loss.incarnation)),
            _ => None,
        }
    }

    /// Whether the network may lose it.
    pub(super) fn lossy(&self) -> bool {
        match self {
            Post::Lost(_) => false,
            _ => matches!(self.lane(), 0 | 2),
        }
    }

    /// Another one like it; a batch is copied elsewhere, since that may be impossible.
    pub(super) fn again(&self) -> Option<Post> {
        match self {
            Post::Message(message) => {
                let body = match &message.body {
                    Body::Inits(ops) => Body::Inits(ops.clone()),
                    Body::Acks(ops) => Body::Acks(ops.clone()),
                    Body::Fail(op) => Body::Fail(op.clone()),
                    Body::Verdicts(ops) => Body::Verdicts(ops.clone()),
                };
                Some(Post::Message(Message { body, ..*message }))
            }
            Post::Word(order) => Some(Post::Word(*order)),
            Post::Report(report) => {
                let changes = report.changes.clone();
                Some(Post::Report(Report { changes, ..*report }))
            }
            Post::Failed(incarnation, error) => Some(Post::Failed(*incarnation, error.clone())),
            Post::Batch(_) | Post::Lost(_) => None,
        }
    }

    /// As a step takes it in; what goes to the coordinator is none.
    pub(super) fn input(self) -> Option<In> {
        match self {
            Post::Batch(envelope) => Some(In::Batch(envelope)),
            Post::Message(message) => Some(In::Message(message)),
            Post::Word(order) => Some(In::Word(order)),
            Post::Lost(loss) => Some(In::Lost(loss)),
            Post::Report(_) | Post::Failed(..) => None,
        }
    }

    /// Bytes on the wire of what is no batch: a header, and so much an operation.
    pub(super) fn control_bytes(&self) -> u64 {
        let ops = |len: usize, size: u64| HEADER.saturating_add(size.saturating_mul(len as u64));
        match self {
            Post::Message(message) => match &message.body {
                Body::Inits(list) => ops(list.len(), 28),
                Body::Acks(list) => ops(list.len(), 24),
                Body::Verdicts(list) => ops(list.len(), 21),
                Body::Fail(_) => ops(1, 64),
            },
            Post::Report(report) => ops(report.changes.len(), 24),
            _ => HEADER,
        }
    }
}

/// Bytes that go with every batch and message beside what is in it.
pub(super) const HEADER: u64 = 48;
