#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod answer;
mod bottlenecks;
mod capacity;
#[cfg(feature = "std")]
pub mod dimacs;
mod error;
mod network;
mod paths;
#[cfg(feature = "petgraph_08")]
pub mod petgraph_08;
mod solve;
mod units;
mod verify;
mod warm;

pub use answer::{Answer, Cut, Outcome, Side, Stats};
pub use bottlenecks::{Bottleneck, bottlenecks};
pub use capacity::{Capacity, Limit};
pub use error::{Error, Place};
pub use network::{Arc, ArcId, Network, NodeId};
pub use paths::{FlowPath, paths};
pub use solve::{Method, Progress, Run, Solver, Status};
pub use verify::{Violation, verify};
pub use warm::{Change, Effort, Warm};
