#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod allowed;
mod bounds;
mod builder;
mod certify;
mod cluster;
mod error;
mod frontier;
mod graph;
mod ids;
pub mod instances;
mod level;
mod limits;
mod options;
mod paper;
mod placement;
mod plan;
mod rng;
mod schedule;
mod solve;
mod steps;

pub use builder::TaskGraphBuilder;
pub use certify::certify;
pub use cluster::{Cluster, Distance, Node};
pub use error::{
    BuildError, Excess, MAX_CPU_TOTAL, MAX_NODES, MAX_TOTAL, Resource, ScheduleError,
};
pub use graph::{BuildReport, Component, Spread, Task, TaskGraph};
pub use ids::{ComponentId, Kind, NodeId, TaskId};
pub use level::{Level, asked_caps};
pub use limits::excess;
pub use options::{
    Budget, NodeOrder, OnInfeasible, Options, PaperOptions, Preset, SeedRule, Stop, Target,
};
pub use placement::{Placement, Traffic, gain, loads, sigma, swap_gain, traffic};
pub use plan::{Certificate, LoadStats, Move, Plan};
pub use schedule::schedule;
