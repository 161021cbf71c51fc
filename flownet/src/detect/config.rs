//! What a detection is told.

use crate::Policy;

/// How capacities are looked for. The paper names `theta` alone; the rest is what it leaves open.
#[derive(Clone, Debug, PartialEq)]
pub struct DetectConfig {
    /// The largest mean latency of a node.
    pub theta: f64,
    /// The largest mean latency of a transfer over an arc; infinite if it does not matter.
    pub link_theta: f64,
    /// The first rate, in source tuples a second.
    pub start: f64,
    /// No rate is tried below this.
    pub min_rate: f64,
    /// No rate is tried above this: what the sources can send, or ever will.
    pub max_rate: f64,
    /// By what the rate is multiplied until a latency passes its bound; above 1.
    pub growth: f64,
    /// How exactly a capacity is wanted, relatively; between 0 and 1.
    pub tolerance: f64,
    /// A latency counts as beyond its bound if it is so in this many …
    pub votes: u32,
    /// … of this many windows at one rate. The windows end as soon as the result is known.
    pub of: u32,
    /// Windows more around a capacity, once it is found, to make it more exact where latencies are
    /// noisy.
    pub refine: u32,
    /// By how much the throughput may lag behind the rate before it counts as held up.
    pub stall: f64,
    /// The most windows in all.
    pub max_windows: u32,
    /// How tuples are dealt.
    pub policy: Policy,
}

impl DetectConfig {
    /// For latencies up to `theta` and rates from `start` to `max_rate`: growth 1.5, tolerance 1 %,
    /// two of three votes, no windows more, 10 % of stall, down to a 64th of `start`, 10 000
    /// windows, [`Policy::Balanced`], transfers as they are.
    #[must_use]
    pub fn new(theta: f64, start: f64, max_rate: f64) -> Self {
        DetectConfig {
            theta,
            link_theta: f64::INFINITY,
            start,
            min_rate: start / 64.0,
            max_rate,
            growth: 1.5,
            tolerance: 0.01,
            votes: 2,
            of: 3,
            refine: 0,
            stall: 0.1,
            max_windows: 10_000,
            policy: Policy::Balanced,
        }
    }

    /// The first field that is out of its range.
    pub(super) fn wrong_field(&self) -> Option<&'static str> {
        let positive = |x: f64| x > 0.0 && x.is_finite();
        let checks = [
            ("theta", positive(self.theta)),
            ("link_theta", self.link_theta > 0.0),
            ("start", positive(self.start)),
            ("min_rate", positive(self.min_rate) && self.min_rate <= self.start),
            ("max_rate", positive(self.max_rate)),
            ("growth", self.growth > 1.0 && self.growth.is_finite()),
            ("tolerance", self.tolerance > 0.0 && self.tolerance < 1.0),
            ("votes", self.votes > 0 && self.votes <= self.of),
            ("stall", self.stall > 0.0 && self.stall < 1.0),
        ];
        checks.into_iter().find(|&(_, right)| !right).map(|(field, _)| field)
    }
}
