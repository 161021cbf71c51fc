//! Capacities found under a latency bound: the paper's Algorithm 1, repaired.

mod config;
mod knee;
mod subject;
mod theta;
mod tracker;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::fmt;

pub use self::config::DetectConfig;
use self::knee::{Ended, Ramp};
use self::subject::Subject;
pub use self::theta::{Theta, choose_theta};
pub use self::tracker::{TrackConfig, Tracker};
use crate::{Answer, Limit, Network, Place, Plan, PlanError, Planner, Solver};

/// A cluster that can be run for a while. No clock is known here: how long a window is, that the
/// backlog of the one before is drained, and what is left out at its begin, is up to the probe.
pub trait Probe {
    /// Why it failed.
    type Error;

    /// Feeds `rate` source tuples a second, dealt by `plan`, for one window, and tells what was seen.
    ///
    /// # Errors
    /// Whatever keeps it from that; the detection ends with it.
    fn window(&mut self, rate: f64, plan: &Plan) -> Result<Window, Self::Error>;
}

/// What was seen in one window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Window {
    /// The source tuples a second that were carried. Less than the rate where something holds them
    /// up.
    pub throughput: f64,
    /// One of each node, and of each arc whose transfer is measured. What got nothing may be left out.
    pub samples: Vec<Sample>,
}

/// What was seen at one node or arc in one window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// [`Place::Node`] or [`Place::Arc`].
    pub at: Place,
    /// The tuples a second that it got.
    pub rate: f64,
    /// Their mean time there, waiting and served, or the mean time of a transfer; in the unit of
    /// `theta`. Infinite for a queue without end.
    pub latency: f64,
}

/// What is known of a capacity.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Detected {
    /// The latency passes the bound at this rate.
    At(f64),
    /// The latency was within the bound at this rate, and it never got more.
    AtLeast(f64),
    /// The latency was beyond the bound at this rate, it fell with the rate, and it never got less.
    AtMost(f64),
    /// The latency is beyond the bound at any rate: serving one tuple takes longer.
    ThetaUnreachable,
}

/// Capacities, and the flow that they allow.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[must_use]
pub struct Detection {
    /// What is known of each node and arc that was ever measured, in order.
    pub found: Vec<(Place, Detected)>,
    /// The network with these as capacities, but for limits that it had and that are less: `AtLeast`
    /// as the rate that was seen, unless the cut is proved without; `AtMost` and `ThetaUnreachable`
    /// as zero.
    pub network: Network<f64>,
    /// Its flow of the largest rate, and the cut.
    pub answer: Answer<f64>,
    /// The plan of that flow.
    pub plan: Plan,
    /// What lies in the cut nearest the sources without being known exactly. Empty if the cut is
    /// proved: then no dispatch carries more within the bound. [`Place::Rate`] if the largest rate is
    /// all that limits what was measured, and was never carried.
    pub unproved: Vec<Place>,
    /// The rate at which the throughput no longer followed although no latency was beyond its
    /// bound, if so: the sources, or something that is not measured, hold it up.
    pub stalled: Option<f64>,
    /// Windows used.
    pub windows: u32,
}

/// Why there is no detection.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum DetectError<E> {
    /// The probe failed.
    Probe {
        /// Its error.
        error: E,
        /// Windows used before.
        windows: u32,
        /// What was known by then.
        found: Vec<(Place, Detected)>,
    },
    /// The network was refused.
    Plan(PlanError<f64>),
    /// A number of the configuration is out of its range.
    BadConfig {
        /// The field.
        field: &'static str,
    },
    /// A sample is of no node or arc of the network, or its rate is negative or not finite, or its
    /// latency negative or not a number; or a window has two of one place.
    BadSample {
        /// The sample.
        sample: Sample,
    },
    /// The throughput of a window is negative or not finite.
    BadThroughput {
        /// The throughput.
        throughput: f64,
    },
}

impl<E: fmt::Display> fmt::Display for DetectError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DetectError::Probe { error, windows, .. } => {
                write!(f, "the probe failed after {windows} windows: {error}")
            }
            DetectError::Plan(error) => write!(f, "{error}"),
            DetectError::BadConfig { field } => write!(f, "`{field}` is out of its range"),
            DetectError::BadSample { sample } => write!(
                f,
                "a sample of {} with rate {} and latency {} is none",
                sample.at, sample.rate, sample.latency
            ),
            DetectError::BadThroughput { throughput } => {
                write!(f, "{throughput} is no throughput")
            }
        }
    }
}

impl<E: fmt::Debug + fmt::Display> core::error::Error for DetectError<E> {}

impl<E> From<PlanError<f64>> for DetectError<E> {
    fn from(error: PlanError<f64>) -> Self {
        DetectError::Plan(error)
    }
}

impl<E> From<crate::Error<f64>> for DetectError<E> {
    fn from(error: crate::Error<f64>) -> Self {
        DetectError::Plan(error.into())
    }
}

/// Finds the capacity of every node and arc that can hold up the flow, up to the largest rate.
///
/// What is not known yet counts as without limit. A plan for the largest flow is made, and the rate
/// is raised by steps of `growth` until a latency passes its bound (`theta`), and halved in
/// between until that rate is known to `tolerance`: the rate that the culprit itself got is its
/// capacity. With it a new plan is made, which leads more around it, and so on, until a plan's whole
/// flow is within all bounds: then every limit in its cut is known, and no dispatch carries more.
/// Each plan finds one capacity at least, in a number of windows that is logarithmic in the range of
/// rates over the tolerance; what never limits anything costs none.
///
/// Limits of `net` itself are kept to as well. Samples of what the plan lets nothing flow through
/// are not judged.
///
/// # Errors
/// [`DetectError::Probe`] as soon as the probe fails; the others for bad input. Too few windows are
/// no error: what is missing then stands in [`Detection::unproved`].
pub fn detect<P: Probe>(
    net: &Network<f64>,
    probe: &mut P,
    config: &DetectConfig,
) -> Result<Detection, DetectError<P::Error>> {
    if let Some(field) = config.wrong_field() {
        return Err(DetectError::BadConfig { field });
    }
    let (subjects, silent) = (BTreeMap::new(), BTreeSet::new());
    let mut ramp = Ramp { net, probe, config, subjects, silent, windows: 0 };
    let (mut stalled, mut proved) = (None, false);
    let mut hopeful = with_found(net, &ramp.subjects, true)?;
    loop {
        let plan = Planner::new(&hopeful).policy(config.policy).plan(config.max_rate)?;
        if plan.value() <= 0.0 {
            // Nothing can flow, whatever is not known.
            proved = true;
            break;
        }
        match ramp.run(&plan)? {
            Ended::Fits => proved = true,
            Ended::Found => {
                hopeful = with_found(net, &ramp.subjects, true)?;
                continue;
            }
            Ended::Stalled(rate) => stalled = Some(rate),
            Ended::OutOfWindows => {}
        }
        break;
    }
    let network = if proved { hopeful } else { with_found(net, &ramp.subjects, false)? };
    let answer = Solver::new(&network).rate(config.max_rate).solve()?;
    let plan = Planner::new(&network).policy(config.policy).plan(config.max_rate)?;
    let mut unproved = unproved(&network, &answer, &ramp.subjects);
    if !proved && answer.source_cut.as_ref().is_some_and(|cut| cut.rate) {
        unproved.push(Place::Rate);
    }
    let windows = ramp.windows;
    Ok(Detection { found: ramp.found(), network, answer, plan, unproved, stalled, windows })
}

/// The network with what is known as capacities. `hopeful` leaves out what is known from below.
fn with_found(
    net: &Network<f64>,
    subjects: &BTreeMap<Place, Subject>,
    hopeful: bool,
) -> Result<Network<f64>, crate::Error<f64>> {
    let mut net = net.clone();
    for (&at, subject) in subjects {
        let found = match subject.detected() {
            Detected::At(rate) => rate,
            Detected::AtLeast(_) if hopeful => continue,
            Detected::AtLeast(rate) => rate,
            Detected::AtMost(_) | Detected::ThetaUnreachable => 0.0,
        };
        let own = match at {
            Place::Arc(arc) => net.arc(arc).map_or(Limit::Unbounded, |arc| arc.capacity),
            Place::Node(node) => net.node_capacity(node),
            _ => continue,
        };
        let least = match own {
            Limit::Finite(own) => own.min(found),
            Limit::Unbounded => found,
        };
        match at {
            Place::Arc(arc) => net.set_capacity(arc, least)?,
            Place::Node(node) => net.set_node_capacity(node, least)?,
            _ => {}
        }
    }
    Ok(net)
}

/// The places in the cut that are only bounded by what was seen.
fn unproved(
    net: &Network<f64>,
    answer: &Answer<f64>,
    subjects: &BTreeMap<Place, Subject>,
) -> Vec<Place> {
    let Some(cut) = &answer.source_cut else { return Vec::new() };
    let places = cut.nodes().map(Place::Node).chain(cut.arcs(net).map(Place::Arc));
    let vague = |at: &Place| {
        let found = subjects.get(at).map(Subject::detected);
        matches!(found, Some(Detected::AtLeast(_) | Detected::AtMost(_)))
    };
    places.filter(vague).collect()
}
