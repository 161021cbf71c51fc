//! The engine's decisions, sans-IO: no thread, no clock, no file, no socket.
//!
//! [`Worker`] routes, executes, tracks and replays for one thread; [`Coordinator`] ends epochs,
//! follows the frontiers and moves the horizon. A driver carries their messages and tells the
//! time. The rules are those of the repository's `ARCHITECTURE.md`; each has a test named after it.

mod ackers;
mod aside;
mod bolt_host;
mod book;
mod check;
mod combine;
mod contract;
mod coordinator;
mod deal;
mod defer;
mod delivery;
mod epochs;
mod execute;
mod frontier;
mod host;
mod lane;
pub(crate) mod lineage;
mod mail;
mod message;
mod nursery;
mod outbox;
mod place;
mod placer;
mod plan;
pub(crate) mod port;
mod restart;
mod route;
mod seen;
mod shared;
mod spout_host;
mod tickets;
mod worker;

pub(crate) use bolt_host::{BoltHost, RunInput};
pub(crate) use combine::{CombineDef, combining};
pub use contract::{In, Sink, Status};
pub use coordinator::{Coordinator, CoordinatorSink, Hold, Stall};
pub use delivery::{AnyDelivery, Picks};
pub use epochs::EpochCounts;
pub(crate) use execute::run_input;
pub(crate) use host::{Host, Make, guarded, panic_message};
pub use lane::Lane;
pub use message::{
    AckKind, AckOp, Body, Change, Empty, Envelope, FailOp, InitOp, Loss, Message, Order, Place,
    Report, VerdictOp, Word,
};
pub use plan::{ComponentPlan, EdgePlan, Plan, Table, Tables};
pub use restart::{Crash, Resume};
pub(crate) use route::{Edge, EdgeDef};
pub use shared::Now;
pub(crate) use spout_host::SpoutHost;
pub(crate) use tickets::{Failure, Resolved, Tickets};
pub use worker::Worker;

/// A slice of the stream between two of the coordinator's words.
pub type Epoch = u64;
/// Nanoseconds of a monotonic clock since the start.
pub type Nanos = u64;
/// One thread.
pub type WorkerId = u32;
/// A task's number within the topology.
pub type TaskId = u32;
/// A spout's or bolt's number, in the order of declaration.
pub type ComponentId = u32;
/// An edge's number: one stream into one component.
pub type EdgeId = u32;
