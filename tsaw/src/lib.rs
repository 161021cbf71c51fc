#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod allowed;
pub mod baseline;
mod bounds;
mod builder;
mod certify;
mod cluster;
mod error;
mod flow;
mod forced;
mod frontier;
mod graph;
mod ids;
pub mod instances;
mod level;
mod limits;
pub mod metis;
mod monitor;
mod options;
mod paper;
#[cfg(feature = "petgraph_08")]
mod petgraph_08;
mod placement;
mod plan;
mod relabel;
mod reschedule;
mod rng;
mod schedule;
mod solve;
mod steps;
mod trigger;
mod verify;
mod worth;

pub use builder::TaskGraphBuilder;
pub use certify::certify;
pub use cluster::{Cluster, Distance, Node};
pub use error::{BuildError, Excess, MAX_CPU_TOTAL, MAX_NODES, MAX_TOTAL, Resource, ScheduleError};
pub use flow::{Grouping, Solved, Topology};
pub use graph::{BuildReport, Component, Spread, Task, TaskGraph};
pub use ids::{ComponentId, Kind, NodeId, TaskId};
pub use level::{Level, asked_caps};
pub use limits::excess;
pub use monitor::{Monitor, MonitorError};
pub use options::{
    Budget, NodeOrder, OnInfeasible, Options, PaperOptions, Preset, SeedRule, Stop, Target,
};
#[cfg(feature = "petgraph_08")]
pub use petgraph_08::{from_petgraph, to_petgraph};
pub use placement::{Placement, Traffic, gain, loads, sigma, swap_gain, traffic};
pub use plan::{Certificate, LoadStats, Move, Plan};
pub use reschedule::reschedule;
pub use schedule::schedule;
pub use trigger::{Decision, Trigger, TriggerError};
pub use verify::{Mismatch, verify};
pub use worth::{NetBenefit, worth_it};
