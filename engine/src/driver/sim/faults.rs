//! What goes wrong in a simulated cluster, and when.

use std::time::Duration;

/// What goes wrong. [`Faults::default`] is nothing, and half a millisecond until a crash is noticed.
///
/// Chances are in a million, each drawn for itself from the seed, and hold for what two different
/// workers send each other, on one node or on two; between a worker and itself nothing is lost.
#[derive(Clone, Debug, PartialEq)]
pub struct Faults {
    /// Single tuples are lost on their way.
    pub lose_tuples: u32,
    /// Whole batches are lost.
    pub lose_batches: u32,
    /// Batches arrive twice, where their items can be cloned.
    pub repeat_batches: u32,
    /// After a crash, batches arrive a second time as if the life before had sent them.
    pub stale_batches: u32,
    /// Messages with acks, and single fails, are lost.
    pub lose_acks: u32,
    /// Messages with acks, and single fails, arrive twice.
    pub repeat_acks: u32,
    /// Everything else (inits, verdicts, reports, the coordinator's words) is lost and sent again
    /// until it arrives: it comes later.
    pub lose_control: u32,
    /// Everything else arrives twice.
    pub repeat_control: u32,
    /// Everything takes longer by a time drawn evenly from zero up to this.
    pub delay: Duration,
    /// Whether messages of one sender to one receiver may overtake each other, as `delay` has it.
    pub reorder: bool,
    /// Chances and `delay` cease at this time; `None` for never.
    pub until: Option<Duration>,
    /// How long after a crash of a node, or after a node was given up, the coordinator learns of it; it
    /// may be zero. Until then all others go on, and what is on its way arrives. (A callback that fails
    /// is told by its worker, in order with its reports.)
    pub detection: Duration,
    /// The workers of a node that is unreachable for longer than this are given up and begun anew on
    /// other nodes; `None` for never. The old ones work on unheard until they are reached again. With
    /// [`AtMostOnce`](crate::Guarantee::AtMostOnce), where that would do things twice, they hold a
    /// lease instead: they stop by themselves so long after they were last reachable, before the new
    /// ones begin.
    pub unreachable_after: Option<Duration>,
    /// What happens at set times.
    pub events: Vec<Fault>,
}

impl Default for Faults {
    fn default() -> Self {
        Faults {
            lose_tuples: 0,
            lose_batches: 0,
            repeat_batches: 0,
            stale_batches: 0,
            lose_acks: 0,
            repeat_acks: 0,
            lose_control: 0,
            repeat_control: 0,
            delay: Duration::ZERO,
            reorder: false,
            until: None,
            detection: Duration::from_micros(500),
            unreachable_after: None,
            events: Vec::new(),
        }
    }
}

/// An event at a set time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fault {
    /// When, from the start.
    pub at: Duration,
    /// What.
    pub event: Event,
}

impl Fault {
    /// `event` at this time from the start.
    #[must_use]
    pub const fn at(at: Duration, event: Event) -> Self {
        Fault { at, event }
    }
}

/// What happens to a node, which is named by its place in
/// [`Cluster::nodes`](super::Cluster::nodes).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// It loses its memory and is back at once: the topology begins its next incarnation, if its
    /// spouts can go back ([`Spout::position`](crate::Spout::position)).
    Crash {
        /// The node.
        node: usize,
    },
    /// It keeps its memory and works on, and nobody reaches it: batches, acks and fails to and from
    /// it are lost, everything else waits until it is back.
    Unreachable {
        /// The node.
        node: usize,
        /// For how long.
        lasts: Duration,
    },
    /// Its cores are slower by this factor. Of several at once the greatest counts.
    Slow {
        /// The node.
        node: usize,
        /// Above zero.
        factor: f64,
        /// For how long.
        lasts: Duration,
    },
}

impl Event {
    /// The node that it happens to.
    #[must_use]
    pub fn node(&self) -> usize {
        match *self {
            Event::Crash { node } | Event::Unreachable { node, .. } | Event::Slow { node, .. } => {
                node
            }
        }
    }
}
