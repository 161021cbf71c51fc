//! Weights and placement, each worked out from the other in turn until neither changes.

use super::{Local, Topology};
use crate::options::OnInfeasible;
use crate::schedule::most_caps;
use crate::{
    Cluster, Level, Options, Placement, Plan, ScheduleError, TaskGraph, asked_caps, certify,
    excess, reschedule, schedule,
};

/// A placement with the weights that it makes itself. [`verify`](Self::verify) checks it.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct Solved {
    /// The tasks with the rates and CPU under the placement: [`Topology::under`] it.
    pub graph: TaskGraph,
    /// The plan, certified for `graph`. What its certificate says of a standing placement is
    /// under the weights of the new one too.
    pub plan: Plan,
    /// How often weights and placement were worked out.
    pub rounds: u32,
    /// True if rescheduling `graph` moves nothing: a fix-point. False if rounds or the budget
    /// ended before, or if a placement on the way was better than where it came to rest.
    pub fixed: bool,
}

/// The most rounds from one start.
const ROUNDS: u32 = 16;

/// What all rounds work with.
struct Work<'a> {
    topology: &'a Topology,
    cluster: &'a Cluster,
    options: &'a Options,
    standing: Option<&'a Placement>,
}

impl Topology {
    /// Places the tasks so that the placement stands under the weights that it makes.
    ///
    /// From two starts, one with local-or-shuffle as shuffle and one with senders and receivers in
    /// as many parts as there are nodes, each local to its own, the weights under the placement
    /// and the placement under the weights are worked out in turn until nothing moves; the better
    /// plan is returned, by cost under its own weights. Where moves go on, or what a placement
    /// makes of the CPU is over the caps, it is the best plan that was met and keeps them.
    ///
    /// Takes the time of at most 34 calls of [`schedule`], each with [`Options::steps`] of its own.
    ///
    /// # Errors
    ///
    /// As [`under`](Self::under) and [`schedule`]; the error of the last start if none ends in a
    /// plan.
    pub fn schedule(&self, cluster: &Cluster, options: &Options) -> Result<Solved, ScheduleError> {
        let paired = Local::Paired(cluster.alive().count());
        let starts = [self.under(None)?, self.weighed(paired)?];
        let work = Work { topology: self, cluster, options, standing: None };
        let solved = starts.iter().map(|start| {
            let placement = schedule(start, cluster, options)?.placement;
            work.settle(placement, None)
        });
        solved
            .reduce(|a, b| match (a, b) {
                (Ok(a), Ok(b)) => Ok(if work.worth(&b) < work.worth(&a) { b } else { a }),
                (Ok(one), Err(_)) | (Err(_), Ok(one)) => Ok(one),
                (Err(_), Err(error)) => Err(error),
            })
            .unwrap_or(Err(ScheduleError::NoNodes))
    }

    /// Places the tasks anew, starting from where they are, in turn with the weights that follow.
    ///
    /// The moves from `standing` are within [`Options::budget`] in all, and save its least gain
    /// each, where the cost of either placement is that under its own weights; unless `standing`
    /// breaks a limit under its own. Nothing moves if nothing is gained.
    ///
    /// Takes the time of at most 16 calls of [`reschedule`].
    ///
    /// # Errors
    ///
    /// As [`under`](Self::under) and [`reschedule`].
    ///
    /// ```
    /// use tsaw::{Cluster, Grouping, NodeId, Options, Placement, Topology};
    ///
    /// let mut topology = Topology::new();
    /// let read = topology.spout("read", 2, 10_000, 1_000);
    /// let parse = topology.bolt("parse", 2, 2_000);
    /// topology.stream(read, parse, Grouping::LocalOrShuffle, 1_000_000);
    ///
    /// let cluster = Cluster::uniform(2, 100)?;
    /// // Both readers on one node, both parsers on the other.
    /// let standing = Placement::new([0, 0, 1, 1].map(NodeId).to_vec());
    /// let options = Options::default().with_max_moves(2);
    /// let solved = topology.reschedule(&standing, &cluster, &options)?;
    /// assert_eq!(solved.plan.certificate.moves.len(), 2);
    /// assert_eq!(solved.plan.certificate.cut_after, 0);
    /// solved.verify(&topology, &cluster)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reschedule(
        &self,
        standing: &Placement,
        cluster: &Cluster,
        options: &Options,
    ) -> Result<Solved, ScheduleError> {
        let graph = self.under(Some(standing))?;
        standing.check(&graph, cluster)?;
        let work = Work { topology: self, cluster, options, standing: Some(standing) };
        let first = work.certified(standing.clone(), 0, false, 0)?;
        work.settle(standing.clone(), first)
    }
}

impl Work<'_> {
    /// The best of `best` and the placements that come in turn from `placement`.
    fn settle(
        &self,
        mut placement: Placement,
        mut best: Option<Solved>,
    ) -> Result<Solved, ScheduleError> {
        let mut seen = Vec::new();
        for rounds in 1..=ROUNDS {
            let graph = self.topology.under(Some(&placement))?;
            let plan = match reschedule(&graph, self.cluster, &placement, &self.left(&placement)) {
                Ok(plan) => plan,
                // The weights that a placement makes may be more than the caps allow.
                Err(_) if best.is_some() => break,
                Err(error) => return Err(error),
            };
            let fixed = plan.certificate.moves.is_empty();
            let next = self.certified(plan.placement.clone(), rounds, fixed, plan.steps)?;
            let better = |next: &Solved| {
                best.as_ref().is_none_or(|best| self.worth(next) < self.worth(best))
            };
            if let Some(next) = next.filter(better) {
                best = Some(next);
            }
            // What was met before would only go round again.
            if fixed || seen.contains(&plan.placement) {
                break;
            }
            seen.push(std::mem::replace(&mut placement, plan.placement));
        }
        match best {
            Some(best) => Ok(best),
            None => {
                let graph = self.topology.under(Some(&placement))?;
                let best_excess = excess(&graph, self.cluster, &placement, &self.most(&graph))?;
                let bound = certify(&graph, self.cluster, &placement, None)?.peak_lower_bound;
                Err(ScheduleError::NotFound { best_excess, bound })
            }
        }
    }

    /// A placement under the weights that it makes itself, if it keeps the limits.
    fn certified(
        &self,
        placement: Placement,
        rounds: u32,
        fixed: bool,
        steps: u64,
    ) -> Result<Option<Solved>, ScheduleError> {
        let graph = self.topology.under(Some(&placement))?;
        if !excess(&graph, self.cluster, &placement, &self.most(&graph))?.is_zero() {
            return Ok(None);
        }
        let certificate = certify(&graph, self.cluster, &placement, self.standing)?;
        let plan = Plan { placement, certificate, steps };
        Ok(Some(Solved { graph, plan, rounds, fixed }))
    }

    /// The most that the options allow a node to hold.
    fn most(&self, graph: &TaskGraph) -> Vec<u64> {
        match self.options.on_infeasible {
            OnInfeasible::Error => asked_caps(graph, self.cluster),
            way => most_caps(graph, self.cluster, way),
        }
    }

    /// The options with what is left of the budget of moves. Tasks of a topology have no state.
    fn left(&self, placement: &Placement) -> Options {
        let moved = self.standing.map_or(0, |standing| standing.differences(placement) as u64);
        let mut options = *self.options;
        options.budget.max_moves = options.budget.max_moves.map(|most| most.saturating_sub(moved));
        options
    }

    /// Less is better: how far the caps were raised, then the cost under its own weights with what
    /// its moves must save, then moves, then whether it stands.
    fn worth(&self, solved: &Solved) -> (Option<Level>, i128, usize, bool) {
        let certificate = &solved.plan.certificate;
        let moves = certificate.moves.len();
        let due = i128::from(self.options.budget.min_gain_per_move) * moves as i128;
        let raised = certificate.cap_relaxed.then_some(certificate.load.peak);
        (raised, i128::from(certificate.cost_after) + due, moves, !solved.fixed)
    }
}
