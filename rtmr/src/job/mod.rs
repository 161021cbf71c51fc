//! MapReduce over history: MR(Δ | I), where what came before is an intermediate result that new
//! records are merged into.
//!
//! Theorem 1 is [`Job::feed`]: MR(D ⊎ Δ) = MR(Δ | I_D). Theorem 2 lets keys be worked on apart, so
//! that many jobs share the work by key: [`Job::feed_where`] maps everything and keeps what is its
//! own, RTMR(0); [`Router`] maps once and sends each key to its owner, RTMR(x). The threads and
//! queues are the caller's.

mod fold;
mod outer;
mod queue;
mod route;
mod run;
mod stage;
mod traits;

pub use fold::{Partial, merge};
pub use outer::{Outer, WriteThrough};
pub use queue::{Bounded, Queue};
pub use route::{Blocked, Owners, Router};
pub use run::{Expired, Job, StoreOf};
pub use stage::{StageController, StageSettings, StageSize};
pub use traits::{Mapper, Reducer, State, StateOf, Timed};
