//! Where user code puts what it emits: one buffer a stream, emptied by the router between tuples.

use core::fmt;

use crate::batch::{Batch, Push};
use crate::core::port::{Port, Ports};
use crate::core::{Epoch, Nanos, TaskId, Tickets};

/// The output streams of a bolt: `()`, one batch type, or a pair or triple of them.
pub trait Outputs: Send + 'static {
    /// Their handles at build time.
    type Streams;
    #[doc(hidden)]
    type Ports: Ports;
    #[doc(hidden)]
    fn streams(make: &mut crate::topology::StreamMaker) -> Self::Streams;
    #[doc(hidden)]
    fn ports() -> Self::Ports;
}

/// Outputs whose items can be copied, so that what `close` emits can be repeated until it arrives.
pub trait CloneOutputs: Outputs {
    #[doc(hidden)]
    fn keep(ports: &mut Self::Ports);
}

/// An output with a stream at position `N`.
pub trait HasStream<const N: usize>: Outputs {
    /// The batch type of stream `N`.
    type Batch: Batch;
    #[doc(hidden)]
    fn port(ports: &mut Self::Ports) -> &mut Port<Self::Batch>;
}

/// What the core tells an emitter, and is told by it.
#[derive(Debug, Default)]
pub(crate) struct EmitState {
    pub(crate) now: Nanos,
    pub(crate) epoch: Epoch,
    pub(crate) input: u32,
    pub(crate) limit: usize,
    pub(crate) wake_at: Option<Nanos>,
    /// Whether the call under way did more than emit: what is below changed.
    pub(crate) odd: bool,
    /// The size of the first record over the limit since the last look.
    pub(crate) oversize: Option<usize>,
    /// The task whose call is under way, and whether that is an `execute`.
    pub(crate) task: TaskId,
    pub(crate) tuple: bool,
    pub(crate) tickets: Tickets,
    /// When each buffered record of a spout was due; those beyond are of the time they leave at.
    pub(crate) born: Vec<Nanos>,
}

impl EmitState {
    /// Lets the call under way fail, whatever it returns.
    pub(crate) fn misuse(&mut self, why: &str) {
        self.odd = true;
        self.tickets.misuse.get_or_insert_with(|| why.to_owned());
    }
}

/// Takes what a bolt emits. What is emitted for a tuple hangs from that tuple's root.
pub struct Emitter<'a, O: Outputs> {
    pub(crate) ports: &'a mut O::Ports,
    pub(crate) state: &'a mut EmitState,
}

impl<O: Outputs> fmt::Debug for Emitter<'_, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Emitter").field("state", &self.state).finish_non_exhaustive()
    }
}

impl<O: Outputs> Emitter<'_, O> {
    /// Emits on stream `N` of several.
    #[inline]
    pub fn emit_on<const N: usize, T>(&mut self, item: T)
    where
        O: HasStream<N>,
        <O as HasStream<N>>::Batch: Push<T>,
    {
        push_bounded(O::port(self.ports), self.state, item);
    }

    /// The engine's time: nanoseconds of a monotonic clock since the start.
    #[must_use]
    pub fn now(&self) -> Nanos {
        self.state.now
    }

    /// The epoch that an emission takes.
    #[must_use]
    pub fn epoch(&self) -> Epoch {
        self.state.epoch
    }

    /// Which input the tuple came by, in the order of the `input` calls, from 0.
    #[must_use]
    pub fn input(&self) -> u32 {
        self.state.input
    }

    /// Asks for [`Bolt::timer`](crate::Bolt::timer) at `at` or as soon after as may be. A task has
    /// one such wish: the earliest; wishes that fall due together are served by one call.
    pub fn wake_at(&mut self, at: Nanos) {
        self.state.wake_at = Some(self.state.wake_at.map_or(at, |old| old.min(at)));
    }
}

impl<O: Batch> Emitter<'_, O> {
    /// Emits on the bolt's one stream.
    #[inline]
    pub fn emit<T>(&mut self, item: T)
    where
        O: Push<T>,
    {
        push_bounded(self.ports, self.state, item);
    }
}

#[inline]
fn push_bounded<B: Push<T>, T>(port: &mut Port<B>, state: &mut EmitState, item: T) {
    let before = port.items.size();
    port.items.push_item(item);
    let size = port.items.size() - before;
    if size > state.limit {
        port.oversize.push((port.items.len() - 1, size));
        state.oversize.get_or_insert(size);
        state.odd = true;
    }
}

/// Whether a record came in time, as its spout's watermark has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timeliness {
    /// Not below the watermark.
    InTime,
    /// Below the last watermark that windows were told: they may be closed already.
    Late,
}

/// Takes what a spout emits: each item is a root of its own.
pub struct SpoutEmitter<'a, B: Batch> {
    pub(crate) port: &'a mut Port<B>,
    pub(crate) state: &'a mut EmitState,
    pub(crate) clock: &'a mut SpoutClock,
    pub(crate) room: usize,
    pub(crate) bytes: usize,
}

/// The event time of one spout task.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SpoutClock {
    /// Its watermark as it stands now.
    pub(crate) mark: Option<i64>,
    /// What it may not go below without being late: its last given mark, and after a time of
    /// idleness the last one given out by anyone.
    pub(crate) floor: Option<i64>,
    pub(crate) late: u64,
}

impl<B: Batch> fmt::Debug for SpoutEmitter<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpoutEmitter").field("room", &self.room()).finish_non_exhaustive()
    }
}

impl<B: Batch> SpoutEmitter<'_, B> {
    /// Emits one record.
    #[inline]
    pub fn emit<T>(&mut self, item: T)
    where
        B: Push<T>,
    {
        push_bounded(self.port, self.state, item);
    }

    /// Emits one record that was due at `at`, by the clock of [`now`](SpoutEmitter::now): its latency
    /// counts from there, so that a time in which it could not be emitted is seen. Not after now.
    pub fn emit_due<T>(&mut self, item: T, at: Nanos)
    where
        B: Push<T>,
    {
        let place = self.count();
        self.emit(item);
        if self.count() > place {
            self.born(place, at.min(self.state.now));
        }
    }

    /// Records buffered.
    pub(crate) fn count(&self) -> usize {
        self.port.items.len()
    }

    /// Says when the buffered record at `place` was due, after those before it.
    pub(crate) fn born(&mut self, place: usize, at: Nanos) {
        let now = self.state.now;
        self.state.born.resize(place, now);
        self.state.born.push(at);
    }

    /// An emitter with room for so many records at the most.
    pub(crate) fn at_most(&mut self, records: u64) -> SpoutEmitter<'_, B> {
        let most = usize::try_from(records).unwrap_or(usize::MAX);
        SpoutEmitter {
            room: self.room.min(self.port.items.len().saturating_add(most)),
            port: &mut *self.port,
            state: &mut *self.state,
            clock: &mut *self.clock,
            bytes: self.bytes,
        }
    }

    /// Says that a record of event time `time` is about to be emitted, and learns whether it is
    /// late: below the task's own watermark or, after idleness, below the last one given out. It
    /// is the spout's choice what to do with a late record: mark it, drop it, send it.
    pub fn stamp(&mut self, time: i64) -> Timeliness {
        let floor = self.clock.floor.max(self.clock.mark);
        if floor.is_some_and(|floor| time < floor) {
            self.clock.late += 1;
            Timeliness::Late
        } else {
            Timeliness::InTime
        }
    }

    /// Promises that no record below `time` will be emitted in time any more. A lower value than
    /// before changes nothing.
    pub fn watermark(&mut self, time: i64) {
        self.clock.mark = self.clock.mark.max(Some(time));
    }

    /// Records that may be emitted in this call without overfilling a bound. More is taken, but
    /// stands against the bound.
    #[must_use]
    pub fn room(&self) -> usize {
        if self.room_bytes() == 0 { 0 } else { self.room.saturating_sub(self.port.items.len()) }
    }

    /// Payload bytes that may be emitted in this call without overfilling a bound; the last
    /// record may be larger than what is left.
    #[must_use]
    pub fn room_bytes(&self) -> usize {
        self.bytes.saturating_sub(self.port.items.size())
    }

    /// The engine's time: nanoseconds of a monotonic clock since the start.
    #[must_use]
    pub fn now(&self) -> Nanos {
        self.state.now
    }

    /// The epoch that an emission takes.
    #[must_use]
    pub fn epoch(&self) -> Epoch {
        self.state.epoch
    }
}

impl Outputs for () {
    type Streams = ();
    type Ports = ();
    fn streams(_: &mut crate::topology::StreamMaker) {}
    fn ports() {}
}

impl CloneOutputs for () {
    fn keep((): &mut ()) {}
}

impl<B: Batch> Outputs for B {
    type Streams = crate::topology::Stream<B>;
    type Ports = Port<B>;
    fn streams(make: &mut crate::topology::StreamMaker) -> Self::Streams {
        make.stream()
    }
    fn ports() -> Port<B> {
        Port::default()
    }
}

impl<B: crate::batch::CloneBatch> CloneOutputs for B {
    fn keep(port: &mut Port<B>) {
        port.keep = Some(B::copy_to);
    }
}

impl<B: Batch> HasStream<0> for B {
    type Batch = B;
    fn port(ports: &mut Port<B>) -> &mut Port<B> {
        ports
    }
}

macro_rules! outputs {
    ($($name:ident $n:tt),+) => {
        impl<$($name: Batch),+> Outputs for ($($name,)+) {
            type Streams = ($(crate::topology::Stream<$name>,)+);
            type Ports = ($(Port<$name>,)+);
            fn streams(make: &mut crate::topology::StreamMaker) -> Self::Streams {
                ($(make.stream::<$name>(),)+)
            }
            fn ports() -> Self::Ports {
                ($(Port::<$name>::default(),)+)
            }
        }
        impl<$($name: crate::batch::CloneBatch),+> CloneOutputs for ($($name,)+) {
            fn keep(ports: &mut Self::Ports) {
                $(ports.$n.keep = Some($name::copy_to);)+
            }
        }
    };
}
outputs!(A 0, B 1);
outputs!(A 0, B 1, C 2);

macro_rules! has_stream {
    ($n:tt $which:ident of $($name:ident),+) => {
        impl<$($name: Batch),+> HasStream<$n> for ($($name,)+) {
            type Batch = $which;
            fn port(ports: &mut Self::Ports) -> &mut Port<$which> {
                &mut ports.$n
            }
        }
    };
}
has_stream!(0 A of A, B);
has_stream!(1 B of A, B);
has_stream!(0 A of A, B, C);
has_stream!(1 B of A, B, C);
has_stream!(2 C of A, B, C);
