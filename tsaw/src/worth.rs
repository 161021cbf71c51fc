//! Whether a plan is worth the pause that it takes: the gate after the trigger.

use crate::{BuildError, Plan};

/// What a plan is expected to bring and to cost, in tuples.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct NetBenefit {
    /// Tuples times distance that no longer travel between nodes over the horizon.
    pub saved: f64,
    /// Tuples that a node over its CPU would have held back over the horizon, and no longer does.
    pub relieved: f64,
    /// Tuples that wait in the pause.
    pub paused: f64,
    /// `saved + relieved − paused`.
    pub net: f64,
}

impl NetBenefit {
    /// True if the plan moves anything and brings more than it costs.
    #[must_use]
    pub fn is_worth_it(&self) -> bool {
        self.net > 0.0
    }
}

/// Predicts the net benefit of a plan that starts from a standing placement.
///
/// `horizon_s` is for how many seconds the measured weights are trusted to hold, `pause_s` for
/// how many the topology stands still while tasks move. The model is simple, and on purpose the
/// same for both sides: the difference of costs times the horizon; where the fullest node has
/// more load than CPU, the part of all tuples that it holds back, (1 − cpu / load), times the
/// horizon; against all tuples times the pause. A plan without a standing placement or without a
/// move brings and costs nothing.
///
/// # Errors
///
/// A time that is no finite number from 0 on, or so long that a sum of tuples is no finite number.
pub fn worth_it(plan: &Plan, horizon_s: f64, pause_s: f64) -> Result<NetBenefit, BuildError> {
    for (what, time) in [("horizon_s", horizon_s), ("pause_s", pause_s)] {
        if !(time.is_finite() && time >= 0.0) {
            return Err(BuildError::Parameter { what, why: "must be a finite number from 0 on" });
        }
    }
    let certificate = &plan.certificate;
    let nothing = NetBenefit { saved: 0.0, relieved: 0.0, paused: 0.0, net: 0.0 };
    let (Some(cost_before), Some(load_before)) = (certificate.cost_before, certificate.load_before)
    else {
        return Ok(nothing);
    };
    if certificate.moves.is_empty() {
        return Ok(nothing);
    }
    let total = certificate.total as f64;
    let held_back = |peak: crate::Level| (1.0 - 1.0 / peak.as_f64().max(1.0)) * total;
    let saved = (cost_before - certificate.cost_after) as f64 * horizon_s;
    let relieved = (held_back(load_before.peak) - held_back(certificate.load.peak)) * horizon_s;
    let paused = total * pause_s;
    let net = saved + relieved - paused;
    // What is infinite can't be weighed: two infinities give no number.
    let too_long = [("horizon_s", saved + relieved), ("pause_s", paused), ("horizon_s", net)];
    match too_long.into_iter().find(|(_, tuples)| !tuples.is_finite()) {
        Some((what, _)) => Err(BuildError::Parameter { what, why: "is too long for the rates" }),
        None => Ok(NetBenefit { saved, relieved, paused, net }),
    }
}
