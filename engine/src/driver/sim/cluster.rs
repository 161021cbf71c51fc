//! The machines that a topology is simulated on, and what its code costs there.

use std::time::Duration;

/// Nodes, and the links between them.
///
/// The coordinator is outside of all nodes; its messages take the latency of [`Cluster::link`] and
/// no bandwidth.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// The machines. Workers are threads of them.
    pub nodes: Vec<Node>,
    /// The link between any two nodes, one for each direction.
    pub link: Link,
    /// Exceptions: between the nodes of these two numbers, both ways. The last one counts.
    pub links: Vec<(usize, usize, Link)>,
    /// Between two workers of one node.
    pub local: Link,
}

impl Cluster {
    /// `nodes` machines of so many cores each, at speed 1 and without a bound of memory, joined by
    /// `link`.
    #[must_use]
    pub fn uniform(nodes: usize, cores: u32, link: Link) -> Self {
        let node = |n| Node { name: format!("node{n}"), cores, ..Node::default() };
        Cluster {
            nodes: (0..nodes).map(node).collect(),
            link,
            links: Vec::new(),
            local: Link::INSTANT,
        }
    }
}

/// One machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its name, for people.
    pub name: String,
    /// Its cores, shared by the workers on it: a step waits for one.
    pub cores: u32,
    /// How fast they are: at 1.0 code costs what [`Cost`] says, at 2.0 half of that.
    pub speed: f64,
    /// Bytes of batches that may be there at once; `u64::MAX` for no bound. A node over it crashes.
    pub memory: u64,
}

impl Default for Node {
    /// One core of speed 1, no bound of memory.
    fn default() -> Self {
        Node { name: String::new(), cores: 1, speed: 1.0, memory: u64::MAX }
    }
}

/// One direction of a link: a queue in front of a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// How long a byte travels.
    pub latency: Duration,
    /// Bytes a second that can be put on it; `u64::MAX` for no bound.
    pub bandwidth: u64,
}

impl Link {
    /// No latency, no bound.
    pub const INSTANT: Link = Link { latency: Duration::ZERO, bandwidth: u64::MAX };

    /// A link of this latency, and of so many bytes a second.
    #[must_use]
    pub const fn new(latency: Duration, bandwidth: u64) -> Self {
        Link { latency, bandwidth }
    }
}

/// What a component's code costs on a node of speed 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// For each tuple executed, or record emitted by a spout.
    pub tuple: Duration,
    /// For each call of the component by the engine: a batch, a flush, a close, a timer.
    pub call: Duration,
}

impl Cost {
    /// So much a tuple, and nothing else.
    #[must_use]
    pub const fn tuple(tuple: Duration) -> Self {
        Cost { tuple, call: Duration::ZERO }
    }
}

impl Default for Cost {
    /// A microsecond a tuple: what is in force where nothing is said.
    fn default() -> Self {
        Cost::tuple(Duration::from_micros(1))
    }
}

/// What the engine's own work costs on a node of speed 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overhead {
    /// For each step of a worker.
    pub step: Duration,
    /// For each batch and message that it takes in.
    pub message: Duration,
}

impl Default for Overhead {
    /// A microsecond a step, 200 nanoseconds a message.
    fn default() -> Self {
        Overhead { step: Duration::from_micros(1), message: Duration::from_nanos(200) }
    }
}
