//! The bound itself: the paper's section 4.2.

use alloc::vec::Vec;

use super::{DetectConfig, DetectError, Probe, detect};
use crate::Network;

/// A latency bound, and what it was chosen from.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[must_use]
pub struct Theta {
    /// The smallest bound on the plateau; `None` if nothing flows under any.
    pub theta: Option<f64>,
    /// Each bound that was tried, and the largest throughput under it.
    pub tried: Vec<(f64, f64)>,
}

/// Chooses the smallest of some latency bounds whose largest throughput is within `plateau` of the
/// best of all, relatively: as in section 4.2, where the grid is 0.10 to 0.20 ms in steps of 0.01 ms.
///
/// Detects capacities anew for each bound; `config.theta` is not used.
///
/// # Errors
/// As for [`detect`]; [`DetectError::BadConfig`] too for a bound or a plateau out of range.
pub fn choose_theta<P: Probe>(
    net: &Network<f64>,
    probe: &mut P,
    config: &DetectConfig,
    grid: &[f64],
    plateau: f64,
) -> Result<Theta, DetectError<P::Error>> {
    if !(0.0..1.0).contains(&plateau) {
        return Err(DetectError::BadConfig { field: "plateau" });
    }
    let mut tried = Vec::with_capacity(grid.len());
    for &theta in grid {
        let config = DetectConfig { theta, ..config.clone() };
        tried.push((theta, detect(net, probe, &config)?.answer.value));
    }
    let best = tried.iter().map(|&(_, throughput)| throughput).fold(0.0, f64::max);
    let on_plateau = tried.iter().filter(|&&(_, x)| x > 0.0 && x >= (1.0 - plateau) * best);
    let theta = on_plateau.map(|&(theta, _)| theta).min_by(f64::total_cmp);
    Ok(Theta { theta, tried })
}
