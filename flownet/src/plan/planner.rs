//! From a network, a rate and a policy to a plan.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;

use super::{Plan, balanced, fixed};
use crate::capacity::to_f64;
use crate::solve::whole::WholeFlow;
use crate::{ArcId, Capacity, Error, Limit, Method, Network, NodeId, Place};

/// Which of all flows of the wanted rate is dispatched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Policy {
    /// The flow of the solver by [`Method::EdmondsKarp`], stopped at the rate, as in the paper: it
    /// fills the shortest ways first, and leaves others empty.
    AsSolved,
    /// A maximum flow, scaled down to the rate: the largest utilisation of a limit is as small as
    /// can be, namely the rate divided by the maximum. It does not share: a source of 10 may send
    /// all to one of ten workers of 100, if the maximum is 10.
    MinMax,
    /// The largest utilisation is as small as can be, then the next, and so on: what each limit
    /// bears is thereby given. What has no limit then shares what is left to it alike: the largest
    /// flow is as small as can be, and so on. So equal workers get equal shares.
    #[default]
    Balanced,
}

/// How a node shares out what it sends.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Split {
    /// As the plan says.
    #[default]
    Free,
    /// By key, or whatever else is not ours to choose: the share of each arc that leaves the node,
    /// in order of their numbers. They add up to one within 10^-9, and are divided by their sum. The
    /// parts of a plan count them in 2^-53, a positive one as one of these at least.
    Fixed(Vec<f64>),
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PlanError<C> {
    /// The network or the rate was refused.
    Network(Error<C>),
    /// Some nodes have fixed splits and this one, that tuples reach and that has several ways to go
    /// on, has not. A sink that arcs leave has, to keep them or not. Together
    /// they are no flow problem but a linear program. Fix all splits, or none.
    MixedSplit {
        /// The node.
        node: NodeId,
    },
    /// The shares of a fixed split are not one for each arc that leaves the node, or negative, or
    /// do not add up to one; or the node is a sink, which takes what it gets.
    BadSplit {
        /// The node.
        node: NodeId,
        /// The arcs that leave it.
        arcs: usize,
    },
    /// Fixed splits lead around in a circle. Give one of its arcs the share 0.
    CyclicSplit {
        /// A node of the circle, or behind it.
        node: NodeId,
    },
    /// Fixed splits lead to a node that is no sink and that no arc leaves. Make it a sink.
    DeadEnd {
        /// The node.
        node: NodeId,
    },
    /// With fixed splits, several sources share the rate by their bounds, and this one has none.
    OpenSource {
        /// The source.
        node: NodeId,
    },
}

impl<C> From<Error<C>> for PlanError<C> {
    fn from(error: Error<C>) -> Self {
        PlanError::Network(error)
    }
}

impl<C: fmt::Display> fmt::Display for PlanError<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlanError::Network(error) => write!(f, "{error}"),
            PlanError::MixedSplit { node } => {
                write!(f, "the split of {node} is free while others are fixed: fix all or none")
            }
            PlanError::BadSplit { node, arcs } => write!(
                f,
                "the split of {node} must have {arcs} shares of zero or more that add up to one, \
                 and the node must not be a sink"
            ),
            PlanError::CyclicSplit { node } => {
                write!(f, "fixed splits lead in a circle to {node}: cut it by a share of 0")
            }
            PlanError::DeadEnd { node } => {
                write!(f, "fixed splits lead to {node}, where nothing goes on: make it a sink")
            }
            PlanError::OpenSource { node } => {
                write!(f, "give the source at {node} a bound, to share the rate by")
            }
        }
    }
}

impl<C: fmt::Debug + fmt::Display> core::error::Error for PlanError<C> {}

/// A question for a plan.
#[derive(Clone, Debug)]
#[must_use = "a question is answered by `plan`"]
pub struct Planner<'a, C> {
    net: &'a Network<C>,
    policy: Policy,
    splits: BTreeMap<NodeId, Split>,
}

impl<'a, C: Capacity> Planner<'a, C> {
    /// Asks for [`Policy::Balanced`], with all splits free.
    pub fn new(net: &'a Network<C>) -> Self {
        Planner { net, policy: Policy::default(), splits: BTreeMap::new() }
    }

    /// Chooses the policy. It has no say where all splits are fixed.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Says how a node shares out what it sends.
    pub fn split(mut self, node: NodeId, split: Split) -> Self {
        match split {
            Split::Free => self.splits.remove(&node),
            fixed @ Split::Fixed(_) => self.splits.insert(node, fixed),
        };
        self
    }

    /// The plan for a rate, or for what of it the network can carry.
    ///
    /// # Errors
    /// [`PlanError::Network`] with all that [`Solver::solve`](crate::Solver::solve) refuses, and
    /// with [`Error::NoSuchNode`] for the split of one; the others for fixed splits.
    ///
    /// # Complexity
    /// A maximum flow, for `AsSolved` and `MinMax`. `Balanced` takes a few maximum flows for each
    /// cut that it finds, each in the part of the network that is not yet decided; there are at most
    /// V cuts, and on stages that send all to all as many as stages, twice. Fixed splits take
    /// O(V log V + E).
    pub fn plan(&self, rate: C) -> Result<Plan, PlanError<C>> {
        if !rate.is_valid() {
            return Err(Error::BadCapacity { at: Place::Rate, value: rate }.into());
        }
        if let Some((&node, _)) = self.splits.last_key_value() {
            let nodes = self.net.node_count();
            if node.index() >= nodes {
                return Err(Error::NoSuchNode { node, nodes }.into());
            }
            return fixed::plan(self.net, &self.splits, to_f64(rate));
        }
        let net = self.net;
        // `None` if the maximum is without bound: then some ways have no limit.
        let maximum = |method| match WholeFlow::new(net, None, method) {
            Err(Error::Unbounded { .. }) => Ok(None),
            flow => flow.map(Some),
        };
        let rate_of = to_f64(rate);
        let (flow, value) = match self.policy {
            Policy::AsSolved => {
                let flow = WholeFlow::new(net, Some(rate), Method::EdmondsKarp)?;
                let value = flow.value;
                (flow, value)
            }
            Policy::MinMax => match maximum(Method::Auto)? {
                Some(flow) => {
                    let value = flow.value.min(rate_of);
                    (flow, value)
                }
                // What has a limit need not bear anything.
                None => (WholeFlow::new(&unlimited(net)?, Some(rate), Method::Auto)?, rate_of),
            },
            Policy::Balanced => {
                let most = maximum(Method::Auto)?.map_or(f64::INFINITY, |flow| flow.value);
                (balanced::flow(net, most > 0.0)?, most.min(rate_of))
            }
        };
        Ok(self.of(flow, rate_of, value))
    }

    fn of(&self, flow: WholeFlow, rate: f64, value: f64) -> Plan {
        let net = self.net;
        let unit = if flow.total > 0 { value / flow.total as f64 } else { 0.0 };
        let units = |node: NodeId| flow.units.as_ref().map_or(1.0, |units| units[node.index()]);
        let mut node_rates = alloc::vec![0.0; net.node_count()];
        let mut sent = alloc::vec![0_u128; net.node_count()];
        let mut got = sent.clone();
        let mut arc_rates = Vec::with_capacity(flow.arcs.len());
        for (arc, &part) in net.arcs().zip(&flow.arcs) {
            arc_rates.push(part as f64 * unit * units(arc.from) * net.gain(arc.from));
            sent[arc.from.index()] += part;
            got[arc.to.index()] += part;
        }
        for (node, _) in net.sources() {
            // A source gets what it sends beyond what comes over arcs.
            got[node.index()] = got[node.index()].max(sent[node.index()]);
        }
        for (node, (rate, got)) in (0..).map(NodeId).zip(node_rates.iter_mut().zip(got)) {
            *rate = got as f64 * unit * units(node);
        }
        let ends = (0..net.arc_count()).map(|arc| tail(net, arc));
        Plan::new(ends, &flow.arcs, [rate, value], arc_rates, node_rates)
    }
}

/// The node that an arc leaves.
pub(super) fn tail<C: Capacity>(net: &Network<C>, arc: usize) -> NodeId {
    net.arc(ArcId(arc as u32)).map_or(NodeId(0), |arc| arc.from)
}

/// The network without what has a limit.
fn unlimited<C: Capacity>(net: &Network<C>) -> Result<Network<C>, Error<C>> {
    let mut open = net.clone();
    let nothing = Limit::Finite(C::ZERO);
    let limited = |limit: Limit<C>| limit != Limit::Unbounded;
    for (id, arc) in (0..).map(ArcId).zip(net.arcs()) {
        if limited(arc.capacity) {
            open.set_capacity(id, nothing)?;
        }
    }
    for (node, _) in net.node_capacities() {
        open.set_node_capacity(node, nothing)?;
    }
    for (node, _) in net.sources().filter(|&(_, bound)| limited(bound)) {
        open.set_source_bound(node, nothing)?;
    }
    for (node, _) in net.sinks().filter(|&(_, bound)| limited(bound)) {
        open.set_sink_bound(node, nothing)?;
    }
    Ok(open)
}

/// The plan for a rate by a policy, with all splits free; see [`Planner`] for more choices.
///
/// ```
/// use flownet::{Limit, Network, Policy, plan};
///
/// let mut net: Network<u64> = Network::new();
/// let [spout, fast, slow, sink] = [0; 4].map(|_| net.add_node().unwrap());
/// let ways = [fast, slow].map(|task| net.add_arc(spout, task, Limit::Unbounded).unwrap());
/// for task in [fast, slow] {
///     net.add_arc(task, sink, Limit::Unbounded)?;
/// }
/// net.set_node_capacity(fast, 300)?;
/// net.set_node_capacity(slow, 100)?;
/// net.add_source(spout, Limit::Unbounded)?;
/// net.add_sink(sink, Limit::Unbounded)?;
///
/// let plan = plan(&net, 200, Policy::Balanced)?;
/// assert_eq!(plan.weights(spout, 8), [(ways[0], 6), (ways[1], 2)]);
/// # Ok::<(), flownet::PlanError<u64>>(())
/// ```
///
/// # Errors
/// As for [`Planner::plan`].
pub fn plan<C: Capacity>(net: &Network<C>, rate: C, policy: Policy) -> Result<Plan, PlanError<C>> {
    Planner::new(net).policy(policy).plan(rate)
}
