#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod batch;
mod channel;
mod combine;
mod component;
mod config;
pub mod core;
pub mod demos;
pub mod driver;
mod emitter;
mod grouping;
mod key;
mod nearest;
pub mod ops;
mod paced;
mod reason;
mod report;
mod run_error;
mod schedule;
mod stats;
mod text;
mod ticket;
mod topology;

pub use batch::{Batch, CloneBatch, Places, Push};
pub use channel::{ChannelSpout, SendError, Sender, Source, TrySendError, ZeroCapacity, channel};
pub use combine::{Combine, Combiner};
pub use component::{Bolt, BoxError, Execute, Poll, Seek, Spout, TaskContext, Watermark};
pub use config::{
    Config, EpochEnd, Exhausted, Guarantee, MAX_ACKER_CHANGES, MAX_SLOT_BITS, MAX_WORKERS,
};
pub use core::{Crash, Epoch, Nanos};
pub use driver::sim;
pub use driver::threads::{self, Handle, LetterHandler, Monitor, Status, Stop, StopHandle};
pub use emitter::{CloneOutputs, Emitter, HasStream, Outputs, SpoutEmitter, Timeliness};
pub use grouping::Grouping;
pub use key::{Key, KeyHasher, hash_key, slot_of};
pub use paced::{Pace, Paced};
pub use report::{
    AckerStats, DeadLetter, EdgeCounters, Latency, Reason, Report, RunError, SeenStats,
    StreamStats, TaskStats, WorkerFigures, WorkerStats,
};
pub use schedule::{Schedule, ScheduleError};
pub use stats::{ComponentStats, Stats};
pub use text::{Tagged, Text};
pub use ticket::Ticket;
pub use topology::{BoltBuilder, BuildError, BuildErrors, Stream, Topology, TopologyBuilder};
