//! Topologies whose rates depend on the placement: local-or-shuffle grouping.
//!
//! Storm sends the tuples of such a stream to the receiving tasks of the sender's own worker, if
//! there are any, and to all otherwise. So rates and CPU follow from the placement, the best
//! placement follows from them, and what is looked for is a fix-point: a placement that stands
//! under the weights that it makes.

use crate::error::MAX_TOTAL;
use crate::{
    BuildError, Cluster, ComponentId, Kind, Options, Placement, Plan, ScheduleError, TaskGraph,
    TaskGraphBuilder, TaskId, asked_caps, reschedule, schedule,
};

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
struct Part {
    name: String,
    kind: Kind,
    tasks: usize,
    /// Tuples a second that each task brings in.
    source: u64,
    /// CPU for a million tuples a second.
    cpu: u64,
}

#[derive(Clone, Debug)]
struct Link {
    from: usize,
    to: usize,
    grouping: Grouping,
    /// Tuples for a million that the sender receives or brings in.
    ratio: u64,
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
    parts: Vec<Part>,
    links: Vec<Link>,
}

/// A placement with the weights that it makes itself.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct Solved {
    /// The tasks with the rates and CPU under the placement: [`Topology::under`] it.
    pub graph: TaskGraph,
    /// The plan, certified for `graph`.
    pub plan: Plan,
    /// How often weights and placement were worked out.
    pub rounds: u32,
    /// True if rescheduling `graph` moves nothing: a fix-point. False if rounds ended before.
    pub fixed: bool,
}

/// Which receivers of a local-or-shuffle stream are local to a sender.
#[derive(Clone, Copy)]
enum Local<'a> {
    Nobody,
    /// Those on its node.
    Placed(&'a Placement),
    /// Those in the same of so many parts of their component.
    Paired(usize),
}

/// The most rounds from one start.
const ROUNDS: u32 = 16;

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

    fn weighed(&self, local: Local<'_>) -> Result<TaskGraph, BuildError> {
        let first = self.check()?;
        let all = first[self.parts.len()];
        if let Local::Placed(placement) = local
            && placement.nodes().len() != all
        {
            return Err(BuildError::PlacementLength { got: placement.nodes().len(), want: all });
        }
        let mut input: Vec<f64> = Vec::with_capacity(all);
        for part in &self.parts {
            input.extend(std::iter::repeat_n(part.source as f64, part.tasks));
        }
        let mut streams: Vec<(usize, usize, f64)> = Vec::new();
        // In the order of the senders, so that what a component receives is known when it sends.
        let mut order: Vec<&Link> = self.links.iter().collect();
        order.sort_by_key(|link| link.from);
        for link in order {
            let (from, to) = (first[link.from], first[link.to]);
            let (senders, receivers) = (self.parts[link.from].tasks, self.parts[link.to].tasks);
            for sender in 0..senders {
                let rate = input[from + sender] * (link.ratio as f64 / 1e6);
                let is_local = |receiver: &usize| match local {
                    Local::Nobody => false,
                    Local::Placed(placement) => {
                        placement.nodes()[from + sender] == placement.nodes()[to + receiver]
                    }
                    Local::Paired(parts) => {
                        let parts = parts.min(senders).min(receivers);
                        sender * parts / senders == receiver * parts / receivers
                    }
                };
                let near: Vec<usize> = match link.grouping {
                    Grouping::LocalOrShuffle => (0..receivers).filter(is_local).collect(),
                    _ => Vec::new(),
                };
                let sum: f64 = match &link.grouping {
                    Grouping::Fields(shares) => shares.iter().map(|&share| share as f64).sum(),
                    _ => 1.0,
                };
                for receiver in 0..receivers {
                    let part = match &link.grouping {
                        Grouping::Fields(shares) => shares[receiver] as f64 / sum,
                        _ if near.is_empty() => 1.0 / receivers as f64,
                        _ if near.binary_search(&receiver).is_ok() => 1.0 / near.len() as f64,
                        _ => 0.0,
                    };
                    streams.push((from + sender, to + receiver, rate * part));
                    input[to + receiver] += rate * part;
                }
            }
        }
        self.built(&input, &streams)
    }

    fn built(
        &self,
        input: &[f64],
        streams: &[(usize, usize, f64)],
    ) -> Result<TaskGraph, BuildError> {
        let whole = |value: f64| {
            // A float over the limit is one for the builder too.
            #[allow(clippy::cast_sign_loss, reason = "no rate is below zero")]
            let whole = value.round().min(MAX_TOTAL as f64 * 2.0) as u64;
            whole
        };
        let mut builder = TaskGraphBuilder::new();
        let mut input = input.iter();
        for part in &self.parts {
            let component = builder.component(&part.name, part.kind);
            for &received in input.by_ref().take(part.tasks) {
                builder.task(component, whole(received * (part.cpu as f64 / 1e6)));
            }
        }
        for &(from, to, rate) in streams {
            let rate = whole(rate).cast_signed();
            builder.stream(TaskId(from as u32), TaskId(to as u32), rate);
        }
        builder.build()
    }

    /// The first task of every component, and the number of all tasks.
    fn check(&self) -> Result<Vec<usize>, BuildError> {
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
        let mut pairs = 0;
        for link in &self.links {
            if let Some(unknown) = [link.from, link.to].iter().find(|&&at| at >= self.parts.len()) {
                return Err(BuildError::UnknownComponent(ComponentId(*unknown as u32)));
            }
            if link.from >= link.to {
                return wrong("stream", "must go to a component that was added later");
            }
            pairs += self.parts[link.from].tasks.saturating_mul(self.parts[link.to].tasks);
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

    /// Places the tasks so that the placement stands under the weights that it makes.
    ///
    /// From two starts, one with local-or-shuffle as shuffle and one with senders and receivers in
    /// as many parts as there are nodes, each local to its own, the weights under the placement
    /// and the placement under the weights are worked out in turn until nothing moves; the better
    /// plan is returned, by cost under its own weights. Where moves go on, or what a placement
    /// makes of the CPU is over the caps, it is the best plan that was met and keeps them.
    ///
    /// # Errors
    ///
    /// As [`under`](Self::under) and [`schedule`]; the error of the last start if none ends in a
    /// plan.
    pub fn schedule(&self, cluster: &Cluster, options: &Options) -> Result<Solved, ScheduleError> {
        let paired = Local::Paired(cluster.alive().count());
        let starts = [self.under(None)?, self.weighed(paired)?];
        let solved = starts.iter().map(|start| self.fix(start, cluster, options));
        let cost = |solved: &Solved| (solved.plan.certificate.cost_after, !solved.fixed);
        solved
            .reduce(|a, b| match (a, b) {
                (Ok(a), Ok(b)) => Ok(if cost(&b) < cost(&a) { b } else { a }),
                (Ok(one), Err(_)) | (Err(_), Ok(one)) => Ok(one),
                (Err(_), Err(error)) => Err(error),
            })
            .unwrap_or(Err(ScheduleError::NoNodes))
    }

    /// The best of the plans that come in turn from one start.
    fn fix(
        &self,
        start: &TaskGraph,
        cluster: &Cluster,
        options: &Options,
    ) -> Result<Solved, ScheduleError> {
        let mut placement = schedule(start, cluster, options)?.placement;
        let mut best: Option<Solved> = None;
        for rounds in 1..=ROUNDS {
            let graph = self.under(Some(&placement))?;
            let plan = match (reschedule(&graph, cluster, &placement, options), &best) {
                (Ok(plan), _) => plan,
                // The weights that a placement makes may be more than the caps allow.
                (Err(_), Some(_)) => break,
                (Err(error), None) => return Err(error),
            };
            let fixed = plan.certificate.moves.is_empty();
            let next = plan.placement.clone();
            if fixed {
                let solved = Solved { graph, plan, rounds, fixed };
                let cost = |solved: &Solved| solved.plan.certificate.cost_after;
                return Ok(match best {
                    Some(best) if cost(&best) < cost(&solved) => best,
                    _ => solved,
                });
            }
            // What was reached, under the weights that it makes itself, if it keeps the caps.
            let graph = self.under(Some(&next))?;
            let caps = asked_caps(&graph, cluster);
            if crate::excess(&graph, cluster, &next, &caps)?.is_zero() {
                let certificate = crate::certify(&graph, cluster, &next, None)?;
                let cost = certificate.cost_after;
                let lower = |best: &Solved| best.plan.certificate.cost_after <= cost;
                if !best.as_ref().is_some_and(lower) {
                    let plan = Plan { placement: next.clone(), certificate, steps: plan.steps };
                    best = Some(Solved { graph, plan, rounds, fixed: false });
                }
            }
            placement = next;
        }
        match best {
            Some(best) => Ok(best),
            None => {
                let graph = self.under(Some(&placement))?;
                let caps = asked_caps(&graph, cluster);
                let best_excess = crate::excess(&graph, cluster, &placement, &caps)?;
                let bound = crate::certify(&graph, cluster, &placement, None)?.peak_lower_bound;
                Err(ScheduleError::NotFound { best_excess, bound })
            }
        }
    }

    /// Tuples a second that no placement within the caps can keep from crossing nodes, whatever
    /// it does to local-or-shuffle: all of that counts as local, and each other stream as an
    /// all-to-all stage of its own.
    ///
    /// For a stage of rate R with CPU α and β for all tuples at its senders and receivers, on k
    /// nodes of cap at most c: the part within nodes is Σ xₙyₙ ≤ min{1, (c − α/k)/β, (c − β/k)/α},
    /// as αxₙ + βyₙ ≤ c and Σ xₙ² ≥ 1/k. CPU follows the tuples, so this holds for every
    /// placement. Rates are whole numbers, so one a stream is granted for rounding.
    ///
    /// # Errors
    ///
    /// As [`under`](Self::under).
    pub fn cut_lower_bound(&self, cluster: &Cluster) -> Result<i64, BuildError> {
        let graph = self.under(None)?;
        let first = self.check()?;
        let caps = asked_caps(&graph, cluster);
        // Each task's CPU is rounded by at most a half.
        let cap = caps.iter().copied().max().unwrap_or(0) as f64 + graph.len() as f64;
        let nodes = cluster.alive().count().max(1) as f64;
        let mut input = vec![0.0; self.parts.len()];
        let mut order: Vec<&Link> = self.links.iter().collect();
        order.sort_by_key(|link| link.from);
        for (at, part) in self.parts.iter().enumerate() {
            input[at] = part.source as f64 * part.tasks as f64;
        }
        let mut bound = 0.0;
        for link in &order {
            input[link.to] += input[link.from] * (link.ratio as f64 / 1e6);
        }
        for link in order {
            let rate = input[link.from] * (link.ratio as f64 / 1e6);
            if link.grouping == Grouping::LocalOrShuffle {
                continue;
            }
            let cpu = |at: usize, tuples: f64| tuples * (self.parts[at].cpu as f64 / 1e6);
            let (senders, receivers) = (cpu(link.from, input[link.from]), cpu(link.to, rate));
            let part = |of: f64, other: f64| match other > 0.0 {
                true => (cap - of / nodes) / other,
                false => 1.0,
            };
            let within = part(senders, receivers).min(part(receivers, senders)).clamp(0.0, 1.0);
            let pairs =
                (first[link.from + 1] - first[link.from]) * (first[link.to + 1] - first[link.to]);
            bound += (rate * (1.0 - within) - pairs as f64).max(0.0);
        }
        Ok((bound * (1.0 - 1e-9)) as i64)
    }
}
