//! Capacities kept current while the job runs: the paper's future work.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::{DetectError, Sample};
use crate::{Change, Error, Limit, Place, Warm};

/// How capacities follow what is seen.
#[derive(Clone, Debug, PartialEq)]
pub struct TrackConfig {
    /// The largest mean latency of a node.
    pub theta: f64,
    /// The largest mean latency of a transfer; infinite if it does not matter.
    pub link_theta: f64,
    /// By how much a capacity is changed at once, relatively; between 0 and 1.
    pub step: f64,
    /// A capacity is changed if so many …
    pub votes: u32,
    /// … of the last so many samples ask for it, at most 64.
    pub of: u32,
}

impl TrackConfig {
    /// Steps of 2 %, two of the last three samples, transfers as they are.
    #[must_use]
    pub fn new(theta: f64) -> Self {
        TrackConfig { theta, link_theta: f64::INFINITY, step: 0.02, votes: 2, of: 3 }
    }
}

/// What was changed, and what that did to the flow.
type Changes = Vec<(Place, Change<f64>)>;

/// Keeps capacities current from live samples, and the flow a maximum.
///
/// A latency beyond its bound at no more than a step above the capacity asks for less: the least rate
/// at which it was seen, or the capacity, and a step below. Beyond its bound at still more it tells
/// nothing: so what is overloaded is not taken for slow. A latency within its bound at the capacity, or less than a step below
/// it, asks for more: the largest such rate, and a step above. What is used less than that tells
/// nothing about what it could bear. So a capacity that is used stays within a few steps of the
/// rate at which the latency passes its bound, wherever that goes.
#[derive(Clone, Debug)]
pub struct Tracker {
    warm: Warm<f64>,
    config: TrackConfig,
    history: BTreeMap<Place, History>,
}

/// The last samples of a place, the latest in the lowest bit.
#[derive(Clone, Debug)]
struct History {
    beyond: u64,
    near: u64,
    /// The least rate that was beyond, and the largest that was near, since the last change.
    least: f64,
    largest: f64,
}

const NEW: History = History { beyond: 0, near: 0, least: f64::INFINITY, largest: 0.0 };

impl Tracker {
    /// Begins with a flow, whose capacities are as they were detected.
    ///
    /// # Errors
    /// [`DetectError::BadConfig`] for a number out of range.
    pub fn new(warm: Warm<f64>, config: TrackConfig) -> Result<Self, DetectError<Error<f64>>> {
        let checks = [
            ("theta", config.theta > 0.0),
            ("link_theta", config.link_theta > 0.0),
            ("step", config.step > 0.0 && config.step < 1.0),
            ("of", (1..=64).contains(&config.of)),
            ("votes", config.votes > 0 && config.votes <= config.of),
        ];
        match checks.into_iter().find(|&(_, right)| !right) {
            Some((field, _)) => Err(DetectError::BadConfig { field }),
            None => Ok(Tracker { warm, config, history: BTreeMap::new() }),
        }
    }

    /// The flow as it stands.
    #[must_use]
    pub fn warm(&self) -> &Warm<f64> {
        &self.warm
    }

    /// The same, to read its cuts, and to change its rate.
    pub fn warm_mut(&mut self) -> &mut Warm<f64> {
        &mut self.warm
    }

    /// Takes in what was seen, and changes the capacities that it says something about. Returns
    /// these, with what each change did to the flow. O(log V) a sample without a change.
    ///
    /// # Errors
    /// [`DetectError::BadSample`]; samples before it have been taken in. [`DetectError::Plan`] where
    /// the network has no answer with the new capacity.
    pub fn observe(&mut self, samples: &[Sample]) -> Result<Changes, DetectError<Error<f64>>> {
        let mut changes = Vec::new();
        for &sample in samples {
            if let Some(change) = self.take(sample)? {
                changes.push((sample.at, change));
            }
        }
        Ok(changes)
    }

    fn take(&mut self, sample: Sample) -> Result<Option<Change<f64>>, DetectError<Error<f64>>> {
        let Sample { at, rate, latency } = sample;
        let net = self.warm.network();
        let (limit, theta) = match at {
            Place::Arc(arc) => (net.arc(arc).map(|arc| arc.capacity), self.config.link_theta),
            Place::Node(node) if node.index() < net.node_count() => {
                (Some(net.node_capacity(node)), self.config.theta)
            }
            _ => (None, 0.0),
        };
        let sound = rate >= 0.0 && rate.is_finite() && latency >= 0.0;
        let Some(limit) = limit.filter(|_| sound) else {
            return Err(DetectError::BadSample { sample });
        };
        let capacity = match limit {
            Limit::Finite(capacity) => capacity,
            Limit::Unbounded => f64::INFINITY,
        };
        let TrackConfig { step, votes, of, .. } = self.config;
        let history = self.history.entry(at).or_insert(NEW);
        let beyond = latency > theta && rate > 0.0 && rate <= capacity * (1.0 + step);
        let near = latency <= theta && rate >= capacity * (1.0 - step) && rate > 0.0;
        history.beyond = history.beyond << 1 | u64::from(beyond);
        history.near = history.near << 1 | u64::from(near);
        if beyond {
            history.least = history.least.min(rate);
        }
        if near {
            history.largest = history.largest.max(rate);
        }
        let asks = |bits: u64| (bits << (64 - of)).count_ones() >= votes;
        let wanted = if asks(history.beyond) {
            history.least.min(capacity) * (1.0 - step)
        } else if asks(history.near) {
            history.largest.max(capacity) * (1.0 + step)
        } else {
            return Ok(None);
        };
        *history = NEW;
        let change = match at {
            Place::Arc(arc) => self.warm.set_capacity(arc, wanted)?,
            Place::Node(node) => self.warm.set_node_capacity(node, wanted)?,
            _ => return Ok(None),
        };
        Ok(Some(change))
    }
}
