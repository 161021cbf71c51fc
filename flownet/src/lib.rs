#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod answer;
mod bottlenecks;
mod capacity;
mod detect;
#[cfg(feature = "std")]
pub mod dimacs;
mod error;
mod network;
mod paths;
#[cfg(feature = "petgraph_08")]
pub mod petgraph_08;
mod plan;
mod solve;
mod units;
mod verify;
mod warm;

pub use answer::{Answer, Cut, Outcome, Side, Stats};
pub use bottlenecks::{Bottleneck, bottlenecks};
pub use capacity::{Capacity, Limit};
pub use detect::{
    DetectConfig, DetectError, Detected, Detection, Probe, Sample, Theta, TrackConfig, Tracker,
    Window, choose_theta, detect,
};
pub use error::{Error, Place};
pub use network::{Arc, ArcId, Network, NodeId};
pub use paths::{FlowPath, paths};
pub use plan::{Dispatcher, Plan, PlanError, Planner, Policy, Split, largest_remainder, plan};
pub use solve::{Method, Progress, Run, Solver, Status};
pub use verify::{Violation, verify};
pub use warm::{Change, Effort, Warm};
