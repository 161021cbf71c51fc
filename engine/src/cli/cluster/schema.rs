//! The shape of a cluster file. Whatever is not here is refused.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Deserializer};

use super::super::duration;

/// A time as the command line takes it: `500ms`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Time(pub(super) Duration);

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        duration::parse(&text).map(Time).map_err(serde::de::Error::custom)
    }
}

/// A whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    /// Of the network's chances, where the command line says none.
    pub(super) seed: Option<u64>,
    /// The node of each worker, by name; round robin where it is not said.
    pub(super) workers: Option<Vec<String>>,
    /// The longest virtual time that the run may take.
    pub(super) until: Option<Time>,
    #[serde(default)]
    pub(super) node: Vec<Node>,
    pub(super) link: Link,
    pub(super) local: Option<Link>,
    #[serde(default)]
    pub(super) links: Vec<Between>,
    #[serde(default)]
    pub(super) cost: BTreeMap<String, Cost>,
    /// Bytes a tuple that a component emits.
    #[serde(default)]
    pub(super) bytes: BTreeMap<String, u64>,
    pub(super) overhead: Option<Overhead>,
    #[serde(default)]
    pub(super) faults: Faults,
    #[serde(default)]
    pub(super) fault: Vec<Fault>,
}

/// A node, or `count` equal ones, whose names end in their number.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) count: Option<u16>,
    #[serde(default = "one")]
    pub(super) cores: u32,
    #[serde(default = "normal")]
    pub(super) speed: f64,
    /// Bytes; no bound where it is not said.
    pub(super) memory: Option<u64>,
}

fn one() -> u32 {
    1
}

fn normal() -> f64 {
    1.0
}

/// A link.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Link {
    pub(super) latency: Time,
    /// Bytes a second; no bound where it is not said.
    pub(super) bandwidth: Option<u64>,
}

/// The link between two nodes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Between {
    pub(super) between: [String; 2],
    pub(super) latency: Time,
    pub(super) bandwidth: Option<u64>,
}

/// What a component's code costs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cost {
    pub(super) tuple: Time,
    pub(super) call: Option<Time>,
}

/// What the engine's own work costs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Overhead {
    pub(super) step: Option<Time>,
    pub(super) message: Option<Time>,
}

/// Chances in a million.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Faults {
    pub(super) lose_tuples: u32,
    pub(super) lose_batches: u32,
    pub(super) repeat_batches: u32,
    pub(super) stale_batches: u32,
    pub(super) lose_acks: u32,
    pub(super) repeat_acks: u32,
    pub(super) lose_control: u32,
    pub(super) repeat_control: u32,
    pub(super) delay: Option<Time>,
    pub(super) reorder: bool,
    pub(super) until: Option<Time>,
    pub(super) detection: Option<Time>,
    pub(super) unreachable_after: Option<Time>,
}

/// What happens at a set time.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fault {
    pub(super) at: Time,
    pub(super) event: Event,
    pub(super) node: String,
    pub(super) lasts: Option<Time>,
    pub(super) factor: Option<f64>,
}

/// Which kind of thing.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Event {
    Crash,
    Unreachable,
    Slow,
}
