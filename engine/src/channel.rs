//! A bounded channel into a topology: a program pushes records, a spout brings them in.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use crate::component::{BoxError, Poll, Spout, TaskContext};
use crate::emitter::SpoutEmitter;

/// Records that a call emits at most, so that the engine's bounds are looked at now and then.
const A_CALL: usize = 64;

/// A channel that holds at most `capacity` records that no spout has emitted yet.
///
/// Give [`Source::spout`] to [`TopologyBuilder::spout`](crate::TopologyBuilder::spout), with as many
/// tasks as you like: they share the records, each goes to one of them. Clone the [`Sender`] for
/// every thread that pushes.
///
/// Back pressure reaches the sender: tasks take records only as far as
/// [`max_pending`](crate::Config::max_pending) and their queues have room, then the channel fills,
/// then `send` waits. Where roots are tracked, every record that was accepted is acked or a dead
/// letter, one of the two: a drain refuses further records and finishes those accepted. Only where a
/// run is cut short (by [`Stop::Now`](crate::Stop::Now), an error, or the deadline of a drain) some
/// are left: emitted ones in [`Report::unfinished`](crate::Report::unfinished), the others in
/// [`Sender::take_rest`].
///
/// What was emitted cannot be emitted again by another instance, so a crash ends the run.
///
/// # Errors
/// [`ZeroCapacity`] where `capacity` is 0: nothing would ever be accepted.
///
/// # Examples
/// ```
/// # use std::sync::{Arc, Mutex};
/// # use streamwright::{Bolt, BoxError, Config, Emitter, Execute, Grouping, Topology, channel, threads};
/// # struct Sum(Arc<Mutex<u64>>);
/// # impl Bolt for Sum { type Out = (); }
/// # impl Execute<Vec<u64>> for Sum {
/// #     fn execute(&mut self, n: &u64, _: &mut Emitter<'_, ()>) -> Result<(), BoxError> {
/// #         *self.0.lock().map_err(|e| e.to_string())? += n;
/// #         Ok(())
/// #     }
/// # }
/// # let sum = Arc::new(Mutex::new(0));
/// # let total = Arc::clone(&sum);
/// let (sender, source) = channel(100)?;
/// let mut builder = Topology::builder();
/// let numbers = builder.spout("numbers", 2, source.spout());
/// builder
///     .bolt("sum", 1, move |_| Ok(Sum(Arc::clone(&sum))))
///     .input(numbers, Grouping::shuffle())
///     .done();
/// let run = threads::start(builder.build(Config::default())?, None)?;
/// for n in 1..=1000 {
///     sender.send(n)?; // waits while 100 are on their way in
/// }
/// drop(sender); // the end of the stream
/// assert_eq!(run.wait()?.acked, 1000);
/// # assert_eq!(*total.lock().unwrap(), 500_500);
/// # Ok::<(), BoxError>(())
/// ```
pub fn channel<T>(capacity: usize) -> Result<(Sender<T>, Source<T>), ZeroCapacity> {
    if capacity == 0 {
        return Err(ZeroCapacity);
    }
    let shared = Arc::new(Shared {
        state: Mutex::new(State {
            queue: VecDeque::new(),
            capacity,
            senders: 1,
            waiting: 0,
            closed: false,
            over: false,
            ends: 0,
            idle: Vec::new(),
        }),
        room: Condvar::new(),
    });
    let source = Source(End::of(&shared));
    Ok((Sender(shared), source))
}

/// A channel that would hold nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the capacity of a channel is 0: it must be at least 1")]
pub struct ZeroCapacity;

/// Why a record was not accepted; it comes back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SendError<T> {
    /// A sender has closed the channel.
    Closed(T),
    /// The run drains or is over, or never began.
    Over(T),
}

/// Why a record was not accepted at once; it comes back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TrySendError<T> {
    /// There is no room now.
    Full(T),
    /// A sender has closed the channel.
    Closed(T),
    /// The run drains or is over, or never began.
    Over(T),
}

impl<T> SendError<T> {
    /// The record.
    pub fn into_inner(self) -> T {
        let (SendError::Closed(record) | SendError::Over(record)) = self;
        record
    }
}

impl<T> TrySendError<T> {
    /// The record.
    pub fn into_inner(self) -> T {
        match self {
            TrySendError::Full(record)
            | TrySendError::Closed(record)
            | TrySendError::Over(record) => record,
        }
    }
}

const FULL: &str = "the channel is full";
const CLOSED: &str = "the channel was closed by a sender";
const OVER: &str = "the run takes in no more records: it drains, is over, or never began";

impl<T> fmt::Display for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SendError::Closed(_) => CLOSED,
            SendError::Over(_) => OVER,
        })
    }
}

impl<T> fmt::Display for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TrySendError::Full(_) => FULL,
            TrySendError::Closed(_) => CLOSED,
            TrySendError::Over(_) => OVER,
        })
    }
}

impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SendError::Closed(_) => "Closed(..)",
            SendError::Over(_) => "Over(..)",
        })
    }
}

impl<T> fmt::Debug for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TrySendError::Full(_) => "Full(..)",
            TrySendError::Closed(_) => "Closed(..)",
            TrySendError::Over(_) => "Over(..)",
        })
    }
}

impl<T> std::error::Error for SendError<T> {}
impl<T> std::error::Error for TrySendError<T> {}

struct State<T> {
    queue: VecDeque<T>,
    capacity: usize,
    senders: usize,
    /// Senders that wait for room.
    waiting: usize,
    /// The senders' end: nothing more comes.
    closed: bool,
    /// The spouts' end: nothing more is taken in.
    over: bool,
    /// Spouts, and what makes them.
    ends: usize,
    /// Wakers of the workers that have an idle task.
    idle: Vec<Waker>,
}

struct Shared<T> {
    state: Mutex<State<T>>,
    room: Condvar,
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, then wakes every idle task.
    fn and_wake<R>(&self, change: impl FnOnce(&mut State<T>) -> R) -> R {
        let mut state = self.lock();
        let result = change(&mut state);
        let idle = std::mem::take(&mut state.idle);
        drop(state);
        idle.into_iter().for_each(Waker::wake);
        result
    }

    fn end(&self) {
        self.lock().over = true;
        self.room.notify_all();
    }
}

/// Pushes records into a topology. Clones push into the same channel; as the last one is dropped,
/// the spout emits what was accepted, and ends.
pub struct Sender<T>(Arc<Shared<T>>);

impl<T> Sender<T> {
    /// Gives a record, as soon as there is room for it. It is accepted where this is `Ok`.
    ///
    /// # Errors
    /// The record, where the channel is closed or the run takes in no more.
    pub fn send(&self, record: T) -> Result<(), SendError<T>> {
        let mut state = self.0.lock();
        loop {
            if state.closed {
                return Err(SendError::Closed(record));
            }
            if state.over {
                return Err(SendError::Over(record));
            }
            if state.queue.len() < state.capacity {
                break;
            }
            state.waiting += 1;
            state = self.0.room.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
        Self::put(state, record);
        Ok(())
    }

    /// Gives a record, if there is room for it now.
    ///
    /// # Errors
    /// The record, where the channel is full or closed, or the run takes in no more.
    pub fn try_send(&self, record: T) -> Result<(), TrySendError<T>> {
        let state = self.0.lock();
        if state.closed {
            return Err(TrySendError::Closed(record));
        }
        if state.over {
            return Err(TrySendError::Over(record));
        }
        if state.queue.len() >= state.capacity {
            return Err(TrySendError::Full(record));
        }
        Self::put(state, record);
        Ok(())
    }

    fn put(mut state: MutexGuard<'_, State<T>>, record: T) {
        state.queue.push_back(record);
        let idle = std::mem::take(&mut state.idle);
        drop(state);
        idle.into_iter().for_each(Waker::wake);
    }

    /// Ends the stream for all senders: the spout emits what was accepted, and ends.
    pub fn close(&self) {
        self.0.and_wake(|state| state.closed = true);
        self.0.room.notify_all();
    }

    /// Records accepted that no spout has emitted yet.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.lock().queue.len()
    }

    /// Whether all that was accepted has been emitted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes back the records that were accepted and never emitted, once the run is over (or as it
    /// never began); none before, since they may still be.
    #[must_use]
    pub fn take_rest(&self) -> Vec<T> {
        let mut state = self.0.lock();
        if state.ends == 0 { state.queue.drain(..).collect() } else { Vec::new() }
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.0.lock().senders += 1;
        Sender(Arc::clone(&self.0))
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.0.and_wake(|state| {
            state.senders -= 1;
            state.closed |= state.senders == 0;
        });
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.0.lock();
        f.debug_struct("Sender")
            .field("len", &state.queue.len())
            .field("capacity", &state.capacity)
            .finish_non_exhaustive()
    }
}

/// A receiving end. As it is dropped, no sender is left waiting.
struct End<T>(Arc<Shared<T>>);

impl<T> End<T> {
    fn of(shared: &Arc<Shared<T>>) -> Self {
        shared.lock().ends += 1;
        End(Arc::clone(shared))
    }
}

impl<T> Drop for End<T> {
    fn drop(&mut self) {
        self.0.lock().ends -= 1;
        self.0.end();
    }
}

/// The end of a channel that a topology takes.
pub struct Source<T>(End<T>);

impl<T: Send + 'static> Source<T> {
    /// What makes the spout of each task.
    pub fn spout(
        self,
    ) -> impl Fn(&TaskContext) -> Result<ChannelSpout<T>, BoxError> + Send + Sync + 'static {
        move |task| {
            let shared = End::of(&self.0.0);
            Ok(ChannelSpout { shared, waker: task.waker().clone(), taken: Vec::new() })
        }
    }
}

impl<T> fmt::Debug for Source<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Source").finish_non_exhaustive()
    }
}

/// Emits the records of a [`channel`]. Instances share them. As a run ends all of them go, so the
/// first one that goes ends the channel.
pub struct ChannelSpout<T> {
    shared: End<T>,
    waker: Waker,
    /// Room for the records of one call.
    taken: Vec<T>,
}

impl<T> fmt::Debug for ChannelSpout<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChannelSpout").finish_non_exhaustive()
    }
}

impl<T: Send + 'static> Spout for ChannelSpout<T> {
    type Out = Vec<T>;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Vec<T>>) -> Result<Poll, BoxError> {
        let room = out.room().min(A_CALL);
        let mut state = self.shared.0.lock();
        if state.queue.is_empty() {
            if state.closed || state.over {
                return Ok(Poll::End);
            }
            if !state.idle.iter().any(|waker| waker.will_wake(&self.waker)) {
                state.idle.push(self.waker.clone());
            }
            return Ok(Poll::Idle(None));
        }
        let take = room.min(state.queue.len());
        self.taken.extend(state.queue.drain(..take));
        let wake = state.waiting.min(take);
        drop(state);
        (0..wake).for_each(|_| self.shared.0.room.notify_one());
        self.taken.drain(..).for_each(|record| out.emit(record));
        Ok(Poll::More)
    }

    fn drain(&mut self) -> bool {
        self.shared.0.end();
        !self.shared.0.lock().queue.is_empty()
    }
}
