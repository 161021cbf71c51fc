//! RTMR(0) and RTMR(x): what a record waits for in each, equations (1) and (2).

use super::erlang::{c_of_b, next_b};
use crate::error::{Error, Stage, non_negative, positive};

/// Rates of the pipeline, all in records a unit of time, and the extra time a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// λ_m: records that arrive at the Map stage in all.
    pub lambda_m: f64,
    /// λ_r: records that arrive at the Reduce stage in all.
    pub lambda_r: f64,
    /// μ_m: records that one node's Map does.
    pub mu_m: f64,
    /// μ_r: records that one node's Reduce does.
    pub mu_r: f64,
    /// μ_n: records that a node's network carries.
    pub mu_n: f64,
    /// ε: time that each of a node's n + x − 1 connections adds to a record.
    pub eps: f64,
}

/// What the latency of a topology is the latency of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Reading {
    /// What one record sees. It need not fall with the number of Map nodes.
    #[default]
    PerTuple,
    /// The paper's: connections in parallel count as their average, so their time is divided by
    /// x, and all of RTMR(0) by n. Falls with every Map node.
    Paper,
}

/// How the Reduce nodes take records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ReduceQueue {
    /// Each node has the keys of its partition, and a queue of its own: n times M/M/1.
    #[default]
    Partitioned,
    /// The paper's M/M/n: any node takes any record. Too small by far where keys are partitioned.
    Shared,
}

/// Where Map runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Topology {
    /// RTMR(0): every record goes to every node, which maps all and reduces its own keys.
    Broadcast,
    /// RTMR(x): x nodes map, and send each result to the node of its key.
    Maps(u32),
}

/// Mean time in each part, in the unit of the rates.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Latency {
    /// In the Map stage.
    pub map: f64,
    /// In the Reduce stage.
    pub reduce: f64,
    /// On the connection between them.
    pub net: f64,
    /// ε for each connection of a node.
    pub extra: f64,
}

impl Latency {
    /// The sum of the parts: L(x).
    #[must_use]
    pub fn total(&self) -> f64 {
        self.map + self.reduce + self.net + self.extra
    }
}

/// The queueing model of n equal nodes.
///
/// Map and Reduce have CPUs of their own here, as in the paper; where they share them, measure
/// μ_m and μ_r under the other's load.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    nodes: u32,
    rates: Rates,
    reading: Reading,
    queue: ReduceQueue,
    hottest: f64,
}

impl Model {
    /// A model of `nodes` nodes, by record and with partitioned Reduce.
    ///
    /// # Errors
    /// No nodes; an arrival rate or ε that is no number from 0; a service rate that is none
    /// above 0.
    pub fn new(nodes: u32, rates: Rates) -> Result<Self, Error> {
        if nodes == 0 {
            return Err(Error::Count { what: "nodes", count: 0, rule: "at least 1 is needed" });
        }
        non_negative("lambda_m", rates.lambda_m)?;
        non_negative("lambda_r", rates.lambda_r)?;
        non_negative("eps", rates.eps)?;
        positive("mu_m", rates.mu_m)?;
        positive("mu_r", rates.mu_r)?;
        positive("mu_n", rates.mu_n)?;
        let hottest = 1.0 / f64::from(nodes);
        Ok(Self {
            nodes,
            rates,
            reading: Reading::default(),
            queue: ReduceQueue::default(),
            hottest,
        })
    }

    /// The same with another reading of the latency.
    #[must_use]
    pub fn with_reading(mut self, reading: Reading) -> Self {
        self.reading = reading;
        self
    }

    /// The same with another queue of the Reduce stage.
    #[must_use]
    pub fn with_reduce(mut self, queue: ReduceQueue) -> Self {
        self.queue = queue;
        self
    }

    /// The same where the hottest partition gets this share of λ_r: the latency is that of its
    /// records. No effect on a shared Reduce stage.
    ///
    /// # Errors
    /// A share that is no number from 1/n to 1.
    pub fn with_hottest_share(mut self, share: f64) -> Result<Self, Error> {
        let even = 1.0 / f64::from(self.nodes);
        if !(share >= even && share <= 1.0) {
            let (what, rule) = ("the hottest share", "must be from 1/n to 1");
            return Err(Error::Number { what, value: share, rule });
        }
        self.hottest = share;
        Ok(self)
    }

    /// The mean latency of a topology. O(x + n) time.
    ///
    /// # Errors
    /// [`Error::Unstable`] with the first stage that gets more than it can do, in the order Map,
    /// connections, Reduce; `Maps(x)` with x no number from 1 to n.
    pub fn latency(&self, topology: Topology) -> Result<Latency, Error> {
        match topology {
            Topology::Broadcast => self.broadcast(),
            Topology::Maps(x) if x == 0 || x > self.nodes => {
                let (what, rule) = ("Map nodes", "from 1 to all nodes");
                Err(Error::Count { what, count: x as usize, rule })
            }
            Topology::Maps(x) => {
                let offered = self.rates.lambda_m / self.rates.mu_m;
                let b = (1..=x).fold(1.0, |b, k| next_b(b, k, offered));
                self.maps(x, b, self.reduce()?)
            }
        }
    }

    /// The topology of the least latency, the one with fewer Map nodes among equals. O(n) time.
    ///
    /// # Errors
    /// The instability of all Map nodes together where no topology is stable.
    pub fn best(&self) -> Result<(Topology, Latency), Error> {
        let mut best = self.broadcast().ok().map(|latency| (Topology::Broadcast, latency));
        let reduce = self.reduce()?;
        let offered = self.rates.lambda_m / self.rates.mu_m;
        let (mut b, mut last) = (1.0, None);
        for x in 1..=self.nodes {
            b = next_b(b, x, offered);
            match self.maps(x, b, reduce) {
                Ok(latency) => {
                    if best.is_none_or(|(_, least)| latency.total() < least.total()) {
                        best = Some((Topology::Maps(x), latency));
                    }
                }
                Err(error) => last = Some(error),
            }
        }
        match (best, last) {
            (Some(best), _) => Ok(best),
            (None, Some(error)) => Err(error),
            // Not to be reached: there is a node, so one of the two is there.
            (None, None) => self.broadcast().map(|latency| (Topology::Broadcast, latency)),
        }
    }

    /// An upper bound for the time until the last of all n Reduce nodes is done, where a record
    /// goes to all of them: H_n times the mean of one, with H_n the n-th harmonic number.
    ///
    /// # Errors
    /// [`Error::Unstable`] as [`Model::latency`].
    pub fn fork_join_bound(&self) -> Result<f64, Error> {
        let harmonic: f64 = (1..=self.nodes).map(|k| 1.0 / f64::from(k)).sum();
        let load = self.rates.lambda_r * self.hottest;
        Ok(harmonic * single(Stage::Reduce, load, self.rates.mu_r)?)
    }

    /// L(x), given Erlang's B of x servers and the Reduce stage's part.
    fn maps(&self, x: u32, b: f64, reduce: f64) -> Result<Latency, Error> {
        let (n, maps, rates) = (f64::from(self.nodes), f64::from(x), &self.rates);
        let offered = rates.lambda_m / rates.mu_m;
        stable(Stage::Map, rates.lambda_m, maps * rates.mu_m)?;
        let wait = c_of_b(b, x, offered) / (maps * rates.mu_m - rates.lambda_m);
        let connections = n + maps - 1.0;
        let share = match self.queue {
            ReduceQueue::Partitioned => self.hottest,
            ReduceQueue::Shared => 1.0 / n,
        };
        // A node's network is shared by its connections: λ_c = λ_r/(xn), μ_c = μ_n/(n + x − 1).
        let net = single(Stage::Net, rates.lambda_r * share / maps, rates.mu_n / connections)?;
        let extra = rates.eps * connections;
        let parallel = match self.reading {
            Reading::PerTuple => 1.0,
            Reading::Paper => maps,
        };
        let map = wait + 1.0 / rates.mu_m;
        Ok(Latency { map, reduce, net: net / parallel, extra: extra / parallel })
    }

    /// L(0).
    fn broadcast(&self) -> Result<Latency, Error> {
        let rates = &self.rates;
        let map = single(Stage::Map, rates.lambda_m, rates.mu_m)?;
        let share = match self.queue {
            ReduceQueue::Partitioned => self.hottest,
            ReduceQueue::Shared => 1.0 / f64::from(self.nodes),
        };
        let reduce = single(Stage::Reduce, rates.lambda_r * share, rates.mu_r)?;
        let parallel = match self.reading {
            Reading::PerTuple => 1.0,
            Reading::Paper => f64::from(self.nodes),
        };
        Ok(Latency { map: map / parallel, reduce: reduce / parallel, net: 0.0, extra: 0.0 })
    }

    fn reduce(&self) -> Result<f64, Error> {
        let rates = &self.rates;
        match self.queue {
            ReduceQueue::Partitioned => {
                single(Stage::Reduce, rates.lambda_r * self.hottest, rates.mu_r)
            }
            ReduceQueue::Shared => {
                let n = f64::from(self.nodes);
                stable(Stage::Reduce, rates.lambda_r, n * rates.mu_r)?;
                let offered = rates.lambda_r / rates.mu_r;
                let b = (1..=self.nodes).fold(1.0, |b, k| next_b(b, k, offered));
                let wait = c_of_b(b, self.nodes, offered) / (n * rates.mu_r - rates.lambda_r);
                Ok(wait + 1.0 / rates.mu_r)
            }
        }
    }
}

fn stable(stage: Stage, arrivals: f64, service: f64) -> Result<(), Error> {
    // Not `arrivals >= service`: a product that overflows must not pass for stable.
    if service.is_finite() && arrivals < service {
        return Ok(());
    }
    Err(Error::Unstable { stage, arrivals, service })
}

/// Mean time in an M/M/1 queue.
fn single(stage: Stage, arrivals: f64, service: f64) -> Result<f64, Error> {
    stable(stage, arrivals, service)?;
    Ok(1.0 / (service - arrivals))
}
