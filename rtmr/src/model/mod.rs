//! The queueing model that picks a topology: section 3 of the paper, equations (1) and (2).

mod erlang;
mod topology;

pub use erlang::{erlang_c, mmc_latency};
pub use topology::{Latency, Model, Rates, Reading, ReduceQueue, Topology};
