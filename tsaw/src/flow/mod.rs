//! Topologies whose rates depend on the placement: local-or-shuffle grouping.
//!
//! Storm sends the tuples of such a stream to the receiving tasks of the sender's own worker, if
//! there are any, and to all otherwise. So rates and CPU follow from the placement, the best
//! placement follows from them, and what is looked for is a fix-point: a placement that stands
//! under the weights that it makes.

mod bound;
mod fixpoint;
mod weights;

pub use fixpoint::Solved;
use weights::Local;

use crate::{BuildError, ComponentId, Kind, Placement, TaskGraph};

/// How a stream's tuples are dealt to the tasks that receive them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Grouping {
    /// As many to each.
    Shuffle,
    /// As many to each on the sender's node, or to each of all if none is there.
    LocalOrShuffle,
    /// To each its share, whatever the sender: one number from 0 on for each receiving task.
    Fields(Vec<u64>),
}

#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) tasks: usize,
    /// Tuples a second that each task brings in.
    pub(crate) source: u64,
    /// CPU for a million tuples a second.
    pub(crate) cpu: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) grouping: Grouping,
    /// Tuples for a million that the sender receives or brings in.
    pub(crate) ratio: u64,
}

/// Components with what they do to tuples, from which rates and CPU of all tasks follow.
///
/// A stream goes from a component to a later one, so there are no cycles. But for rounding, the
/// sums of rates and of CPU are the same for every placement.
///
/// ```
/// use tsaw::{Cluster, Grouping, Options, Topology};
///
/// let mut topology = Topology::new();
/// let read = topology.spout("read", 4, 10_000, 1_000);
/// let parse = topology.bolt("parse", 4, 2_000);
/// let enrich = topology.bolt("enrich", 4, 2_000);
/// topology.stream(read, parse, Grouping::LocalOrShuffle, 1_000_000);
/// topology.stream(parse, enrich, Grouping::LocalOrShuffle, 1_000_000);
///
/// let cluster = Cluster::uniform(4, 100)?;
/// let solved = topology.schedule(&cluster, &Options::default())?;
/// assert!(solved.fixed);
/// assert_eq!(solved.plan.certificate.cut_after, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Topology {
    pub(crate) parts: Vec<Part>,
    pub(crate) links: Vec<Link>,
}

/// More tasks, or pairs of tasks that exchange tuples, take more memory than is at hand.
const MAX_TASKS: usize = 1 << 24;
const MAX_PAIRS: usize = 1 << 28;

impl Topology {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Tasks that each bring in `rate` tuples a second and use `cpu` for a million of them.
    pub fn spout(&mut self, name: &str, tasks: u32, rate: u64, cpu: u64) -> ComponentId {
        self.add(name, Kind::Spout, tasks, rate, cpu)
    }

    /// Tasks that use `cpu` for a million tuples a second that they receive.
    pub fn bolt(&mut self, name: &str, tasks: u32, cpu: u64) -> ComponentId {
        self.add(name, Kind::Bolt, tasks, 0, cpu)
    }

    fn add(&mut self, name: &str, kind: Kind, tasks: u32, source: u64, cpu: u64) -> ComponentId {
        let tasks = tasks as usize;
        self.parts.push(Part { name: name.to_owned(), kind, tasks, source, cpu });
        ComponentId((self.parts.len() - 1) as u32)
    }

    /// A stream of `ratio` tuples for each million that a task of `from` receives or brings in.
    pub fn stream(&mut self, from: ComponentId, to: ComponentId, grouping: Grouping, ratio: u64) {
        self.links.push(Link { from: from.index(), to: to.index(), grouping, ratio });
    }

    /// The tasks with the rates and CPU that a placement makes; with `None` as if no task had
    /// another on its node, so that local-or-shuffle is shuffle.
    ///
    /// O(tasks of the senders · tasks of the receivers) of all streams.
    ///
    /// # Errors
    ///
    /// An unknown component; a stream to an earlier one; shares that are not one for each task or
    /// all zero; sums that are too large; a placement of other tasks.
    pub fn under(&self, placement: Option<&Placement>) -> Result<TaskGraph, BuildError> {
        match placement {
            Some(placement) => self.weighed(Local::Placed(placement)),
            None => self.weighed(Local::Nobody),
        }
    }

    /// The first task of every component, and the number of all tasks.
    pub(crate) fn check(&self) -> Result<Vec<usize>, BuildError> {
        let wrong = |what, why| Err(BuildError::Parameter { what, why });
        let mut first = vec![0];
        for part in &self.parts {
            if part.tasks == 0 {
                return wrong("tasks", "must be at least one in each component");
            }
            first.push(first[first.len() - 1] + part.tasks);
        }
        if first[self.parts.len()] > MAX_TASKS {
            return wrong("tasks", "must be at most 2^24 in all");
        }
        let mut pairs = 0_usize;
        for link in &self.links {
            if let Some(unknown) = [link.from, link.to].iter().find(|&&at| at >= self.parts.len()) {
                return Err(BuildError::UnknownComponent(ComponentId(*unknown as u32)));
            }
            if link.from >= link.to {
                return wrong("stream", "must go to a component that was added later");
            }
            let (senders, receivers) = (self.parts[link.from].tasks, self.parts[link.to].tasks);
            pairs = senders.saturating_mul(receivers).saturating_add(pairs);
            if pairs > MAX_PAIRS {
                return wrong("stream", "must not bring the pairs of tasks over 2^28");
            }
            if let Grouping::Fields(shares) = &link.grouping {
                if shares.len() != self.parts[link.to].tasks {
                    return wrong("shares", "must be one for each receiving task");
                }
                if shares.iter().all(|&share| share == 0) {
                    return wrong("shares", "must not all be zero");
                }
            }
        }
        Ok(first)
    }
}
