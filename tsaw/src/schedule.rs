//! Places a topology from nothing.

use crate::allowed::Allowed;
use crate::certify::{certify, check_costs};
use crate::error::Excess;
use crate::options::{OnInfeasible, Options, Preset};
use crate::plan::Plan;
use crate::solve::{self, Model, State};
use crate::steps::Steps;
use crate::{
    Cluster, Placement, ScheduleError, TaskGraph, asked_caps, bounds, excess, paper,
};

/// Places every task of the graph on a node of the cluster.
///
/// # Errors
///
/// [`ScheduleError`]: the inputs don't fit together, a bound proves that no placement keeps the
/// limits, or none was found.
pub fn schedule(
    graph: &TaskGraph,
    cluster: &Cluster,
    options: &Options,
) -> Result<Plan, ScheduleError> {
    let mut steps = Steps::new(options.steps.unwrap_or_else(|| Options::default_steps(graph)));
    let placement = place(graph, cluster, options, &mut steps)?;
    finish(graph, cluster, placement, None, steps.used())
}

pub(crate) fn place(
    graph: &TaskGraph,
    cluster: &Cluster,
    options: &Options,
    steps: &mut Steps,
) -> Result<Placement, ScheduleError> {
    check_costs(graph, cluster)?;
    let allowed = Allowed::new(graph, cluster)?;
    match options.preset {
        Preset::Paper => Ok(paper::place(graph, cluster, &options.paper, options.seed, steps)),
        Preset::Balanced => {
            let caps = asked_caps(graph, cluster);
            bounds::refute(graph, cluster, &allowed, &caps)?;
            let mut model = Model::new(graph, cluster, &allowed);
            model.set_caps(&caps);
            let state = solve::balanced(&model, options.seed, steps);
            Ok(model.placement(&state.place))
        }
    }
}

/// The plan, if nothing but the paper's load is over a limit.
pub(crate) fn finish(
    graph: &TaskGraph,
    cluster: &Cluster,
    placement: Placement,
    standing: Option<&Placement>,
    steps: u64,
) -> Result<Plan, ScheduleError> {
    let certificate = certify(graph, cluster, &placement, standing)?;
    let best_excess = excess(graph, cluster, &placement, &certificate.caps)?;
    if !best_excess.is_zero() {
        let bound = certificate.peak_lower_bound;
        return Err(ScheduleError::NotFound { best_excess, bound });
    }
    Ok(Plan { placement, certificate, steps })
}
