//! Improves a standing placement within a budget of moves.

use crate::allowed::Allowed;
use crate::certify::{check_costs, cost};
use crate::options::{Budget, OnInfeasible, Options, Preset};
use crate::plan::Plan;
use crate::relabel::relabel;
use crate::schedule::{finish, most_caps};
use crate::solve::{self, Model, NOWHERE, Search, State, Toll};
use crate::steps::Steps;
use crate::{
    BuildError, Cluster, Level, Placement, ScheduleError, TaskGraph, asked_caps, bounds, certify,
    excess, forced, paper,
};

/// Places the tasks anew, starting from where they are.
///
/// Moves and swaps improve `standing` under the limits, within [`Budget`]; where the budget
/// allows it, a placement from nothing is tried too, with its nodes renamed so that most tasks
/// stay. A task moves only if that mends a broken limit or saves traffic, and each move saves
/// [`Budget::min_gain_per_move`] on the average of what moves with it. So a standing placement
/// that nothing can be gained on comes back without a move, and what comes back, given again,
/// does not move either unless the budget had held something back.
///
/// With [`Preset::Paper`] the result of Algorithm 1 is taken, with its nodes renamed, if that is
/// within the budget and lowers the cost by enough, or else the peak; and breaks no memory,
/// bandwidth, pin or group, unless what stands does.
///
/// # Errors
///
/// As [`schedule`](crate::schedule); and [`ScheduleError::BudgetTooSmall`] if a bound proves that
/// the budget can't mend what is broken.
///
/// ```
/// use tsaw::{Options, baseline, instances, reschedule};
///
/// let wc8 = instances::wc8()?;
/// let cluster = wc8.cluster(0.10)?;
/// let standing = baseline::round_robin(&wc8.graph, &cluster)?;
/// let plan = reschedule(&wc8.graph, &cluster, &standing, &Options::default().with_max_moves(8))?;
/// assert!(plan.certificate.moves.len() <= 8 && plan.certificate.load.imbalance <= 1.10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn reschedule(
    graph: &TaskGraph,
    cluster: &Cluster,
    standing: &Placement,
    options: &Options,
) -> Result<Plan, ScheduleError> {
    standing.check(graph, cluster)?;
    check_costs(graph, cluster)?;
    let allowed = Allowed::new(graph, cluster)?;
    let mut steps = Steps::new(options.steps.unwrap_or_else(|| Options::default_steps(graph)));
    if options.preset == Preset::Paper {
        let placement = by_the_paper(graph, cluster, standing, options, &mut steps)?;
        return finish(graph, cluster, placement, Some(standing), None, steps.used());
    }
    let asked = asked_caps(graph, cluster);
    let refuted = bounds::refute(graph, cluster, &allowed, &asked);
    if options.on_infeasible == OnInfeasible::Error {
        refuted.clone()?;
    }
    let mut model = Model::new(graph, cluster, &allowed);
    model.set_caps(&asked);
    let most = match options.on_infeasible {
        OnInfeasible::Error => asked.clone(),
        way => most_caps(graph, cluster, way),
    };
    let mut work = Work { graph, cluster, standing, options, steps: &mut steps };
    let (mut place, mut caps) = (Vec::new(), asked.clone());
    let mut kept = false;
    if refuted.is_ok() {
        let fresh = work.fresh(&model);
        let fresh_keeps = fresh.excess(&model) == 0;
        let state = work.settle(&model, fresh);
        kept = state.excess(&model) == 0;
        place = state.place;
        // If the budget alone stands in the way, no cap is to be raised for all.
        if !kept && !fresh_keeps && options.on_infeasible != OnInfeasible::Error {
            place.clear();
        }
    }
    if place.is_empty() && !kept {
        bounds::refute(graph, cluster, &allowed, &most)?;
        let lower = bounds::peak_lower_bound(graph, cluster, &allowed);
        place = work.relaxed(&mut model, &most, lower).place;
        caps = model.caps_to(&model.cap, cluster);
    }
    let mut placement = model.placement(&place);
    if options.on_infeasible != OnInfeasible::Error {
        caps = raised(graph, cluster, &placement, caps, &most)?;
    }
    let fits = |placement: &Placement, caps: &[u64]| {
        let broken = excess(graph, cluster, placement, caps)?;
        Ok::<_, BuildError>(broken.is_zero())
    };
    if !fits(&placement, &caps)? || !within(graph, standing, &placement, &options.budget) {
        if fits(standing, &most)? {
            // The budget does not reach the level that a search from nothing comes to: what
            // stands keeps its own level, and is improved under that.
            caps = raised(graph, cluster, standing, asked, &most)?;
            model.set_caps(&caps);
            let start = work.start(&model, standing);
            placement = model.placement(&work.descend(&model, standing, start).0.place);
        } else {
            // A proof holds for all placements that the options allow.
            forced::check(graph, cluster, &allowed, standing, &most, &options.budget)?;
            // Not proven: what is broken is what stands, or what was made of it in the budget.
            if fits(&placement, &caps)? {
                let best_excess = excess(graph, cluster, standing, &most)?;
                let bound = bounds::peak_lower_bound(graph, cluster, &allowed);
                return Err(ScheduleError::NotFound { best_excess, bound });
            }
        }
    }
    let used = steps.used();
    finish(graph, cluster, placement, Some(standing), Some(&caps), used)
}

fn within(graph: &TaskGraph, standing: &Placement, placement: &Placement, budget: &Budget) -> bool {
    let pairs = standing.nodes().iter().zip(placement.nodes()).zip(graph.tasks());
    let moved = pairs.filter(|((from, to), _)| from != to).map(|(_, task)| task.state_bytes);
    let (moves, bytes) = (moved.clone().count() as u64, moved.sum::<u64>());
    budget.max_moves.is_none_or(|most| moves <= most)
        && budget.max_bytes.is_none_or(|most| bytes <= most)
}

/// The caps, raised to the peak of the placement if only CPU is over them: the budget may not
/// reach what the caps ask for.
fn raised(
    graph: &TaskGraph,
    cluster: &Cluster,
    placement: &Placement,
    caps: Vec<u64>,
    most: &[u64],
) -> Result<Vec<u64>, ScheduleError> {
    if !excess(graph, cluster, placement, most)?.is_zero() {
        return Ok(caps);
    }
    let (to_peak, _) = crate::certify::kept_caps(graph, cluster, placement)?;
    Ok(caps
        .iter()
        .zip(&to_peak)
        .zip(most)
        .map(|((&cap, &peak), &most)| cap.max(peak.min(most)))
        .collect())
}

fn by_the_paper(
    graph: &TaskGraph,
    cluster: &Cluster,
    standing: &Placement,
    options: &Options,
    steps: &mut Steps,
) -> Result<Placement, ScheduleError> {
    let fresh = paper::place(graph, cluster, &options.paper, options.seed, steps);
    let fresh = relabel(cluster, &fresh, standing);
    let before = certify(graph, cluster, standing, None)?;
    let after = certify(graph, cluster, &fresh, Some(standing))?;
    let broken = |placement: &Placement, caps: &[u64]| excess(graph, cluster, placement, caps);
    let unfit = !broken(standing, &before.caps)?.is_zero();
    // Algorithm 1 knows the CPU alone: what breaks another limit is no better than what keeps it.
    let fits = broken(&fresh, &after.caps)?.is_zero();
    let moves = after.moves.len() as u64;
    let min_gain_per_move = options.budget.min_gain_per_move;
    let within = within(graph, standing, &fresh, &options.budget);
    let (old, new) = (cost(graph, cluster, standing)?, cost(graph, cluster, &fresh)?);
    let wanted = i128::from(min_gain_per_move) * i128::from(moves);
    let saves = old > new && i128::from(old - new) >= wanted;
    let evens = after.load.peak < before.load.peak;
    if unfit && !within {
        let allowed = Allowed::new(graph, cluster)?;
        forced::check(graph, cluster, &allowed, standing, &before.caps, &options.budget)?;
    }
    Ok(if within && (unfit || (fits && (saves || evens))) { fresh } else { standing.clone() })
}

struct Work<'a> {
    graph: &'a TaskGraph,
    cluster: &'a Cluster,
    standing: &'a Placement,
    options: &'a Options,
    steps: &'a mut Steps,
}

impl Work<'_> {
    /// A placement from nothing, with a part of the steps.
    fn fresh(&mut self, model: &Model<'_>) -> State {
        let Options { preset, seed, .. } = *self.options;
        let most = self.steps.left() / 2;
        self.steps.lend(most, |steps| solve::placed(model, preset, seed, steps))
    }

    /// Improves the standing placement, and goes over to the fresh one if that is better and
    /// within the budget; from there again, until nothing changes or the budget holds it back.
    fn settle(&mut self, model: &Model<'_>, fresh: State) -> State {
        let (graph, budget) = (self.graph, self.options.budget);
        let mut standing = self.standing.clone();
        let mut result = self.once(model, &standing, &fresh);
        while self.steps.left() > 0 {
            let reached = model.placement(&result.place);
            if reached == standing {
                break;
            }
            let next = self.once(model, &reached, &fresh);
            // The budget counts from where the tasks stand in truth.
            if !within(graph, self.standing, &model.placement(&next.place), &budget) {
                break;
            }
            (standing, result) = (reached, next);
        }
        result
    }

    fn once(&mut self, model: &Model<'_>, standing: &Placement, fresh: &State) -> State {
        let start = self.start(model, standing);
        let (near, near_toll) = self.descend(model, standing, start);
        let renamed = relabel(self.cluster, &model.placement(&fresh.place), standing);
        let renamed = self.start(model, &renamed);
        let (far, far_toll) = self.descend(model, standing, renamed);
        let worth = |state: &State, toll: &Toll| {
            (state.excess(model), toll.full_cost(state.cost(model).into()) + toll.due(), toll.moves)
        };
        let better = worth(&far, &far_toll) < worth(&near, &near_toll);
        if far_toll.within_budget() && (better || !near_toll.within_budget()) { far } else { near }
    }

    /// Each unit where most of its tasks are, if it may be there; the others where they fit.
    fn start(&mut self, model: &Model<'_>, standing: &Placement) -> Vec<u32> {
        let mut votes: Vec<Vec<u32>> = vec![Vec::new(); model.units()];
        for (&unit, &at) in model.unit_of().iter().zip(standing.nodes()) {
            let node = model.number(at);
            if node != NOWHERE && model.allows(unit as usize, node as usize) {
                votes[unit as usize].push(node);
            }
        }
        let most = |votes: &mut Vec<u32>| {
            votes.sort_unstable();
            let nodes = votes.chunk_by(|a, b| a == b);
            nodes.max_by_key(|of| (of.len(), !of[0])).map_or(NOWHERE, |of| of[0])
        };
        let given: Vec<u32> = votes.iter_mut().map(most).collect();
        solve::complete(model, &given, self.steps)
    }

    fn descend(
        &mut self,
        model: &Model<'_>,
        standing: &Placement,
        place: Vec<u32>,
    ) -> (State, Toll) {
        let toll = Toll::new(model, self.graph, standing, &place, &self.options.budget);
        let mut search = Search::new(model, place, self.steps);
        search.toll = Some(toll.clone());
        search.mend_and_descend();
        search.put_back();
        (search.state, search.toll.unwrap_or(toll))
    }

    /// Under the least level that a search from nothing finds; leaves its caps in the model.
    fn relaxed(&mut self, model: &mut Model<'_>, most: &[u64], lower: Level) -> State {
        let most = model.caps_of(most);
        let seed = self.options.seed;
        let half = self.steps.left() / 2;
        let found = self.steps.lend(half, |steps| solve::relaxed(model, &most, lower, seed, steps));
        let fresh = found.unwrap_or_else(|| {
            model.cap.copy_from_slice(&most);
            solve::placed(model, self.options.preset, seed, self.steps)
        });
        self.settle(model, fresh)
    }
}
