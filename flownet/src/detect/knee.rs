//! One plan, driven until a latency passes its bound.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::{DetectConfig, DetectError, Detected, Probe, Sample, Subject};
use crate::{Network, Place, Plan};

/// A detection under way.
pub(super) struct Ramp<'a, P> {
    pub(super) net: &'a Network<f64>,
    pub(super) probe: &'a mut P,
    pub(super) config: &'a DetectConfig,
    pub(super) subjects: BTreeMap<Place, Subject>,
    /// What was sent something and told nothing: it is not measured.
    pub(super) silent: BTreeSet<Place>,
    pub(super) windows: u32,
}

/// What driving a plan came to.
pub(super) enum Ended {
    /// Its whole flow is within all bounds.
    Fits,
    /// A capacity was found.
    Found,
    /// At this rate the throughput did not follow, for no reason that is seen.
    Stalled(f64),
    OutOfWindows,
}

/// What windows at one rate came to.
enum Trial {
    Within,
    /// These were beyond their bounds.
    Beyond(Vec<Place>),
    Stalled,
    OutOfWindows,
}

impl<P: Probe> Ramp<'_, P> {
    pub(super) fn run(&mut self, plan: &Plan) -> Result<Ended, DetectError<P::Error>> {
        let config = self.config;
        let most = plan.value();
        let mut good = self.known_good(plan).min(most);
        let places = loaded(self.net, plan).into_iter().map(|(at, _)| at);
        let new: Vec<Place> = places.filter(|at| !self.subjects.contains_key(at)).collect();
        let mut rate = if good > 0.0 { good * config.growth } else { config.start }.min(most);
        let mut bad: Option<(f64, Vec<Place>)> = None;
        loop {
            let trial = self.trial(rate, plan)?;
            self.silent.extend(new.iter().filter(|at| !self.subjects.contains_key(at)));
            match trial {
                Trial::OutOfWindows => return Ok(Ended::OutOfWindows),
                Trial::Stalled => return Ok(Ended::Stalled(rate)),
                Trial::Within => good = rate,
                Trial::Beyond(culprits) => bad = Some((rate, culprits)),
            }
            rate = match &bad {
                None if rate >= most => return Ok(Ended::Fits),
                None => (rate * config.growth).min(most),
                Some((bad, culprits)) if good > 0.0 => {
                    let middle = good + (bad - good) / 2.0;
                    // There may be no float between, however small the tolerance.
                    let between = good < middle && middle < *bad;
                    if !between || bad - good <= config.tolerance * bad {
                        let culprits = culprits.clone();
                        return self.refine(middle, plan, &culprits);
                    }
                    middle
                }
                Some((bad, culprits)) => {
                    if *bad <= config.min_rate {
                        for at in culprits {
                            if let Some(subject) = self.subjects.get_mut(at) {
                                subject.settle_below();
                            }
                        }
                        return Ok(Ended::Found);
                    }
                    (bad / config.growth).max(config.min_rate)
                }
            };
        }
    }

    /// The largest rate at which all that is not known is sure to be within its bound.
    fn known_good(&self, plan: &Plan) -> f64 {
        let most = plan.value();
        let places = loaded(self.net, plan);
        places.into_iter().fold(most, |rate, (at, load)| match self.subjects.get(&at) {
            Some(subject) if subject.is_known() => rate,
            None if self.silent.contains(&at) => rate,
            // Never sent anything so far: nothing is sure.
            None => 0.0,
            Some(subject) => rate.min(subject.low / load * most),
        })
    }

    /// More windows on both sides of a knee, and what follows from all.
    fn refine(
        &mut self,
        knee: f64,
        plan: &Plan,
        culprits: &[Place],
    ) -> Result<Ended, DetectError<P::Error>> {
        let spread = (2.0 * self.config.tolerance).max(0.05);
        for index in 0..self.config.refine {
            if self.windows >= self.config.max_windows {
                // The knee is enclosed all the same.
                break;
            }
            let rate = knee * if index % 2 == 0 { 1.0 - spread } else { 1.0 + spread };
            for sample in self.window(rate.min(plan.value()), plan)?.0 {
                if let Some(subject) = self.subjects.get_mut(&sample.at) {
                    subject.see(sample.rate, sample.latency);
                }
            }
        }
        for at in culprits {
            if let Some(subject) = self.subjects.get_mut(at) {
                subject.settle();
            }
        }
        Ok(Ended::Found)
    }

    /// Windows at one rate, until enough of them agree.
    fn trial(&mut self, rate: f64, plan: &Plan) -> Result<Trial, DetectError<P::Error>> {
        let DetectConfig { votes, of, stall, max_windows, .. } = *self.config;
        // For each place the windows that were beyond, and the largest rate that it got.
        let mut tallies: BTreeMap<Place, (u32, f64)> = BTreeMap::new();
        let mut held_up = 0;
        for window in 1..=of {
            if self.windows >= max_windows {
                return Ok(Trial::OutOfWindows);
            }
            let (samples, throughput) = self.window(rate, plan)?;
            held_up += u32::from(throughput < (1.0 - stall) * rate);
            for sample in samples {
                let theta = match sample.at {
                    Place::Arc(_) => self.config.link_theta,
                    _ => self.config.theta,
                };
                let new = || Subject::new(theta);
                let subject = self.subjects.entry(sample.at).or_insert_with(new);
                let beyond = subject.see(sample.rate, sample.latency);
                if !subject.is_known() && load(plan, sample.at) > 0.0 && sample.rate > 0.0 {
                    let tally = tallies.entry(sample.at).or_default();
                    tally.0 += u32::from(beyond);
                    tally.1 = tally.1.max(sample.rate);
                }
            }
            let left = of - window;
            let open = |&(beyond, _): &(u32, f64)| beyond < votes && beyond + left >= votes;
            if !tallies.values().any(open) && (held_up >= votes || held_up + left < votes) {
                break;
            }
        }
        let beyond = tallies.iter().filter(|&(_, &(beyond, _))| beyond >= votes);
        let culprits: Vec<Place> = beyond.map(|(&at, _)| at).collect();
        for (at, (beyond, most)) in tallies {
            if beyond < votes
                && let Some(subject) = self.subjects.get_mut(&at)
            {
                subject.low = subject.low.max(most);
            }
        }
        Ok(if !culprits.is_empty() {
            Trial::Beyond(culprits)
        } else if held_up >= votes {
            Trial::Stalled
        } else {
            Trial::Within
        })
    }

    /// One window, checked.
    fn window(
        &mut self,
        rate: f64,
        plan: &Plan,
    ) -> Result<(Vec<Sample>, f64), DetectError<P::Error>> {
        let seen = self.probe.window(rate, plan).map_err(|error| DetectError::Probe {
            error,
            windows: self.windows,
            found: found(&self.subjects),
        })?;
        self.windows += 1;
        let sound = |x: f64| x >= 0.0 && x.is_finite();
        if !sound(seen.throughput) {
            return Err(DetectError::BadThroughput { throughput: seen.throughput });
        }
        let mut told = BTreeSet::new();
        for &sample in &seen.samples {
            let there = match sample.at {
                Place::Node(node) => node.index() < self.net.node_count(),
                Place::Arc(arc) => arc.index() < self.net.arc_count(),
                _ => false,
            };
            // A latency may be infinite: of a queue without end.
            let latency = sample.latency >= 0.0;
            // Two samples of one place would be two votes of one window.
            if !there || !sound(sample.rate) || !latency || !told.insert(sample.at) {
                return Err(DetectError::BadSample { sample });
            }
        }
        Ok((seen.samples, seen.throughput))
    }

    pub(super) fn found(&self) -> Vec<(Place, Detected)> {
        found(&self.subjects)
    }
}

fn found(subjects: &BTreeMap<Place, Subject>) -> Vec<(Place, Detected)> {
    subjects.iter().map(|(&at, subject)| (at, subject.detected())).collect()
}

/// The tuples that a place gets at the plan's whole flow.
fn load(plan: &Plan, at: Place) -> f64 {
    match at {
        Place::Node(node) => plan.node_rate(node),
        Place::Arc(arc) => plan.arc_rate(arc),
        _ => 0.0,
    }
}

/// The places that get anything, and how much.
fn loaded(net: &Network<f64>, plan: &Plan) -> Vec<(Place, f64)> {
    let nodes = (0..net.node_count() as u32).map(|node| Place::Node(crate::NodeId(node)));
    let arcs = (0..net.arc_count() as u32).map(|arc| Place::Arc(crate::ArcId(arc)));
    let places = nodes.chain(arcs).map(|at| (at, load(plan, at)));
    places.filter(|&(_, load)| load > 0.0).collect()
}
