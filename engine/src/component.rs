//! What a user writes: spouts that bring records in, bolts that work on them.

use core::time::Duration;

use crate::batch::Batch;
use crate::core::{Epoch, Nanos, TaskId};
use crate::emitter::{Emitter, Outputs, SpoutEmitter};

/// Any error a component may return; its chain becomes the reason of a failed root.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// What a spout has for the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Poll {
    /// Emitted something, or may at once: call again.
    More,
    /// Nothing now: call again when the task's waker is woken, or after this time if given.
    Idle(Option<Duration>),
    /// Nothing ever again.
    End,
}

/// Where a spout of a later incarnation is to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Seek<'a> {
    /// Right after all that was emitted up to this [`Spout::position`].
    To(&'a [u8]),
    /// At most once: behind all that may have been emitted, so that none of it comes again.
    Onward,
}

/// A source of records. Every record that it emits is a root, tracked to its end.
///
/// `next` must not block: read files and sockets on a thread of your own and wake the task by
/// [`TaskContext::waker`].
///
/// After a crash a topology goes on with new instances of all its components, if every spout can
/// say where it is and go back there: see [`Spout::position`] and [`Spout::seek`]. A spout has no
/// state but what its position covers.
pub trait Spout: Send + 'static {
    /// The batch type of its stream.
    type Out: Batch;

    /// Emits the next records, ideally one to a few dozen a call.
    ///
    /// # Errors
    /// An error ends the topology, with the component, the task and the reason.
    fn next(&mut self, out: &mut SpoutEmitter<'_, Self::Out>) -> Result<Poll, BoxError>;

    /// A drain has begun: nothing new is to be taken in from outside. `true` where it answers for
    /// records that it has taken in already and not emitted: then it is called on until it says
    /// [`Poll::End`], within [`Config::drain`](crate::Config::drain). Else it is not called again.
    fn drain(&mut self) -> bool {
        false
    }

    /// Where it is: what [`seek`](Spout::seek) needs to go on right after all that it has emitted.
    /// `None` where it cannot: then a crash ends the topology. Asked for as it is opened, and as it
    /// leaves an epoch; never where [`restarts`](crate::Config::restarts) is 0.
    fn position(&self) -> Option<Vec<u8>> {
        None
    }

    /// Goes to a place. Called once, before the first `next`, on the instance of an incarnation
    /// after a crash.
    ///
    /// # Errors
    /// An error ends the topology, and names the crash as well.
    fn seek(&mut self, to: Seek<'_>) -> Result<(), BoxError> {
        let _ = to;
        Err("this spout cannot go on after a crash".into())
    }
}

/// A worker on tuples. What it takes in is said by [`Execute`], once for each input type.
///
/// A panic or an `Err` in `execute` fails the tuple's root with that reason and rolls back what
/// the call emitted; the task goes on. In `flush`, `close` and `timer` there is no tuple to blame:
/// all components start anew, without their state, where every spout can go back
/// ([`Spout::position`]); else, and where that does not help, they end the topology.
pub trait Bolt: Send + 'static {
    /// Its output streams: `()`, one batch type, or a pair or triple of batch types.
    type Out: Outputs;

    /// Lets go of all that is held back for epochs up to `epoch`. Runs whenever the task's queue
    /// holds nothing more of them, again after each later batch, and right before `close`.
    ///
    /// # Errors
    /// Starts the topology anew, or ends it: see above.
    fn flush(&mut self, epoch: Epoch, out: &mut Emitter<'_, Self::Out>) -> Result<(), BoxError> {
        let _ = (epoch, out);
        Ok(())
    }

    /// Nothing of `epoch` or before can come any more. Runs once an epoch, in order. What it emits
    /// is tracked, and repeated until it has arrived.
    ///
    /// # Errors
    /// Starts the topology anew, or ends it: see above.
    fn close(
        &mut self,
        epoch: Epoch,
        watermark: Watermark,
        out: &mut Emitter<'_, Self::Out>,
    ) -> Result<(), BoxError> {
        let _ = (epoch, watermark, out);
        Ok(())
    }

    /// A time asked for by [`Emitter::wake_at`] has come.
    ///
    /// # Errors
    /// Starts the topology anew, or ends it: see above.
    fn timer(&mut self, now: Nanos, out: &mut Emitter<'_, Self::Out>) -> Result<(), BoxError> {
        let _ = (now, out);
        Ok(())
    }
}

/// How a [`Bolt`] works on the items of one input type. Implement it for each type that flows in;
/// [`Emitter::input`] tells two inputs of one type apart.
pub trait Execute<B: Batch>: Bolt {
    /// Works on one tuple. Delivery is at least once by default: a replay calls it again.
    ///
    /// # Errors
    /// Fails the tuple's root with this reason; nothing that this call emitted leaves.
    fn execute(
        &mut self,
        item: B::Item<'_>,
        out: &mut Emitter<'_, Self::Out>,
    ) -> Result<(), BoxError>;
}

/// The event time up to which a closed epoch is complete, in the spouts' own unit; `None` where no
/// spout ever set one. It never falls.
pub type Watermark = Option<i64>;

/// Whom a component instance is made for.
#[derive(Clone, Debug)]
pub struct TaskContext {
    pub(crate) component: String,
    pub(crate) task: TaskId,
    pub(crate) index: u32,
    pub(crate) tasks: u32,
    pub(crate) seed: u64,
    pub(crate) incarnation: u64,
    pub(crate) waker: std::task::Waker,
}

impl TaskContext {
    /// The component's name.
    #[must_use]
    pub fn component(&self) -> &str {
        &self.component
    }

    /// This task's number within its component, from 0.
    #[must_use]
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Tasks of the component.
    #[must_use]
    pub fn tasks(&self) -> u32 {
        self.tasks
    }

    /// This task's number within the topology.
    #[must_use]
    pub fn task(&self) -> TaskId {
        self.task
    }

    /// A seed of this task's own, the same in every run with the same configured seed.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Which incarnation of the topology this instance is of: 0 at first, one more after each crash.
    #[must_use]
    pub fn incarnation(&self) -> u64 {
        self.incarnation
    }

    /// Wakes this task's worker, from any thread: an idle spout is polled again.
    #[must_use]
    pub fn waker(&self) -> &std::task::Waker {
        &self.waker
    }
}
