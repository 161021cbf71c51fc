//! Places a topology from nothing.

use crate::allowed::Allowed;
use crate::certify::{certify, check_costs};
use crate::options::{OnInfeasible, Options, Preset};
use crate::plan::Plan;
use crate::solve::{self, Model};
use crate::steps::Steps;
use crate::{Cluster, Placement, ScheduleError, TaskGraph, asked_caps, bounds, excess, paper};

/// Places every task of the graph on a node of the cluster.
///
/// With [`Preset::Balanced`] or [`Preset::Quality`] a plan keeps every limit: the CPU caps (or, if
/// the options allow that, the least raised ones that were found), memory, bandwidth, pins,
/// sources, colocation and spread. [`Preset::Paper`] knows the CPU only, and no cap of it; a plan
/// that happens to break any other limit is an error.
///
/// Time is bounded by [`Options::steps`]; the rest is O((tasks + streams) · log). Space is
/// O(tasks + streams + nodes), and 2¹⁶ numbers more.
///
/// # Errors
///
/// [`ScheduleError`]: the inputs don't fit together, a bound proves that no placement keeps the
/// limits, or none was found.
///
/// ```
/// use tsaw::{Cluster, Options, instances, schedule};
///
/// let star = instances::star()?;
/// let plan = schedule(&star.graph, &star.cluster(0.10)?, &Options::default())?;
/// assert!(plan.certificate.load.imbalance <= 1.10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn schedule(
    graph: &TaskGraph,
    cluster: &Cluster,
    options: &Options,
) -> Result<Plan, ScheduleError> {
    let mut steps = Steps::new(options.steps.unwrap_or_else(|| Options::default_steps(graph)));
    let (placement, caps) = place(graph, cluster, options, &mut steps)?;
    finish(graph, cluster, placement, None, caps.as_deref(), steps.used())
}

/// A placement and the caps that it is to keep; none for the paper's.
pub(crate) fn place(
    graph: &TaskGraph,
    cluster: &Cluster,
    options: &Options,
    steps: &mut Steps,
) -> Result<(Placement, Option<Vec<u64>>), ScheduleError> {
    check_costs(graph, cluster)?;
    let allowed = Allowed::new(graph, cluster)?;
    if options.preset == Preset::Paper {
        return Ok((paper::place(graph, cluster, &options.paper, options.seed, steps), None));
    }
    let caps = asked_caps(graph, cluster);
    let refuted = bounds::refute(graph, cluster, &allowed, &caps);
    if options.on_infeasible == OnInfeasible::Error {
        refuted.clone()?;
    }
    let mut model = Model::new(graph, cluster, &allowed);
    model.set_caps(&caps);
    if refuted.is_ok() {
        // Where the caps may be raised, a part of the steps is kept for that.
        let most = match options.on_infeasible {
            OnInfeasible::Error => steps.left(),
            _ => steps.left() / 2,
        };
        let place = |steps: &mut Steps| solve::placed(&model, options.preset, options.seed, steps);
        let state = steps.lend(most, place);
        if options.on_infeasible == OnInfeasible::Error || state.excess(&model) == 0 {
            return Ok((model.placement(&state.place), Some(caps)));
        }
    }
    let most = most_caps(graph, cluster, options.on_infeasible);
    bounds::refute(graph, cluster, &allowed, &most)?;
    let lower = bounds::peak_lower_bound(graph, cluster, &allowed);
    let most_of = model.caps_of(&most);
    match solve::relaxed(&mut model, &most_of, lower, options.seed, steps) {
        Some(state) => {
            let caps = model.caps_to(&model.cap, cluster);
            Ok((model.placement(&state.place), Some(caps)))
        }
        None => {
            model.set_caps(&most);
            let state = solve::placed(&model, options.preset, options.seed, steps);
            Ok((model.placement(&state.place), Some(most)))
        }
    }
}

/// The caps that relaxing may not pass.
pub(crate) fn most_caps(graph: &TaskGraph, cluster: &Cluster, way: OnInfeasible) -> Vec<u64> {
    let most = |node: &crate::Node| match way {
        _ if !node.alive => 0,
        OnInfeasible::RelaxCpu => graph.total_cpu().max(node.cpu),
        _ => node.cpu,
    };
    cluster.nodes().iter().map(most).collect()
}

/// The plan, if nothing is over a limit: `caps`, or for the paper any that hold its load.
pub(crate) fn finish(
    graph: &TaskGraph,
    cluster: &Cluster,
    placement: Placement,
    standing: Option<&Placement>,
    caps: Option<&[u64]>,
    steps: u64,
) -> Result<Plan, ScheduleError> {
    let certificate = certify(graph, cluster, &placement, standing)?;
    let caps = caps.unwrap_or(&certificate.caps);
    let best_excess = excess(graph, cluster, &placement, caps)?;
    if !best_excess.is_zero() {
        let bound = certificate.peak_lower_bound;
        return Err(ScheduleError::NotFound { best_excess, bound });
    }
    Ok(Plan { placement, certificate, steps })
}
