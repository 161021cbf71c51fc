//! The network: nodes, arcs and their limits, as the user states them.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;

use crate::{Answer, Capacity, Error, Limit, Place, Solver};

/// A node of a [`Network`]: its number, counted from 0 in order of adding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// An arc of a [`Network`]: its number, counted from 0 in order of adding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArcId(pub u32);

impl NodeId {
    /// The number as an index.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl ArcId {
    /// The number as an index, for instance into [`Answer::flows`].
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {}", self.0)
    }
}

impl fmt::Display for ArcId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "arc {}", self.0)
    }
}

/// One arc as it was added.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arc<C> {
    /// Where it starts.
    pub from: NodeId,
    /// Where it ends.
    pub to: NodeId,
    /// How much may pass.
    pub capacity: Limit<C>,
}

/// An arc in 16 bytes: the highest bit of `from` says that there is no limit.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stored<C> {
    from: u32,
    to: u32,
    capacity: C,
}

const UNBOUNDED: u32 = 1 << 31;

impl<C: Capacity> Stored<C> {
    fn new(arc: Arc<C>) -> Self {
        match arc.capacity {
            Limit::Finite(capacity) => Stored { from: arc.from.0, to: arc.to.0, capacity },
            Limit::Unbounded => {
                Stored { from: arc.from.0 | UNBOUNDED, to: arc.to.0, capacity: C::ZERO }
            }
        }
    }

    fn arc(self) -> Arc<C> {
        let unbounded = self.from & UNBOUNDED != 0;
        Arc {
            from: NodeId(self.from & !UNBOUNDED),
            to: NodeId(self.to),
            capacity: if unbounded { Limit::Unbounded } else { Limit::Finite(self.capacity) },
        }
    }
}

/// A streaming network: who sends to whom, and how much each can bear.
///
/// Parallel arcs, anti-parallel arcs, self loops and arcs of capacity zero are all kept apart under
/// their own [`ArcId`]. A node may have a capacity, which limits what passes through it, and a
/// gain, the tuples it sends for each that it gets. Sources and sinks have bounds.
///
/// Holds 16 bytes an arc, nothing for a plain node, and an entry of a sorted map for each node
/// that has a capacity or a gain, and for each source and sink.
///
/// Two networks are equal if they have as many nodes, the same arcs in the same order, and the same
/// capacities, gains, sources and sinks.
#[derive(Clone, Debug, PartialEq)]
pub struct Network<C> {
    nodes: u32,
    arcs: Vec<Stored<C>>,
    node_capacities: BTreeMap<NodeId, C>,
    gains: BTreeMap<NodeId, f64>,
    sources: BTreeMap<NodeId, Limit<C>>,
    sinks: BTreeMap<NodeId, Limit<C>>,
}

impl<C> Default for Network<C> {
    fn default() -> Self {
        Network {
            nodes: 0,
            arcs: Vec::new(),
            node_capacities: BTreeMap::new(),
            gains: BTreeMap::new(),
            sources: BTreeMap::new(),
            sinks: BTreeMap::new(),
        }
    }
}

impl<C: Capacity> Network<C> {
    /// The most nodes: 2^30.
    pub const MAX_NODES: usize = 1 << 30;
    /// The most arcs. A solver counts a node with a capacity and a terminal with a bound as arcs
    /// too, and says [`Error::TooLarge`] when all of them are more than this.
    pub const MAX_ARCS: usize = (1 << 30) - 1;

    /// A network without nodes.
    #[must_use]
    pub fn new() -> Self {
        Network::default()
    }

    /// Without nodes, and with room for `arcs` arcs if there is as much memory. Only a hint: one
    /// that is too large is ignored.
    #[must_use]
    pub fn with_arc_capacity(arcs: usize) -> Self {
        let mut net = Network::default();
        // A refusal costs nothing but speed.
        let _ = net.arcs.try_reserve_exact(arcs.min(Self::MAX_ARCS));
        net
    }

    /// Adds one node. O(1).
    ///
    /// # Errors
    /// [`Error::TooLarge`] past [`Self::MAX_NODES`].
    pub fn add_node(&mut self) -> Result<NodeId, Error<C>> {
        self.add_nodes(1)
    }

    /// Adds `count` nodes with consecutive numbers and returns the first; if `count` is 0, the one
    /// that comes next. O(1).
    ///
    /// # Errors
    /// [`Error::TooLarge`] past [`Self::MAX_NODES`]; then none is added.
    pub fn add_nodes(&mut self, count: usize) -> Result<NodeId, Error<C>> {
        let first = self.nodes;
        let total = (first as usize).saturating_add(count);
        match u32::try_from(total) {
            Ok(nodes) if total <= Self::MAX_NODES => self.nodes = nodes,
            _ => return Err(Error::TooLarge { what: "nodes", limit: Self::MAX_NODES }),
        }
        Ok(NodeId(first))
    }

    /// Adds an arc. Amortised O(1).
    ///
    /// # Errors
    /// [`Error::NoSuchNode`], [`Error::BadCapacity`] for a negative or non-finite one, and
    /// [`Error::TooLarge`] past [`Self::MAX_ARCS`]; then nothing is added.
    pub fn add_arc(
        &mut self,
        from: NodeId,
        to: NodeId,
        capacity: impl Into<Limit<C>>,
    ) -> Result<ArcId, Error<C>> {
        self.check_node(from)?;
        self.check_node(to)?;
        if self.arcs.len() >= Self::MAX_ARCS {
            return Err(Error::TooLarge { what: "arcs", limit: Self::MAX_ARCS });
        }
        // Below 2^30, so no bit is lost.
        let id = ArcId(self.arcs.len() as u32);
        let capacity = checked(capacity.into(), Place::Arc(id))?;
        self.arcs.push(Stored::new(Arc { from, to, capacity }));
        Ok(id)
    }

    /// Changes the capacity of an arc. O(1).
    ///
    /// # Errors
    /// [`Error::NoSuchArc`], [`Error::BadCapacity`]; then nothing is changed.
    pub fn set_capacity(
        &mut self,
        arc: ArcId,
        capacity: impl Into<Limit<C>>,
    ) -> Result<(), Error<C>> {
        let count = self.arcs.len();
        let slot = self.arcs.get_mut(arc.index()).ok_or(Error::NoSuchArc { arc, arcs: count })?;
        let capacity = checked(capacity.into(), Place::Arc(arc))?;
        *slot = Stored::new(Arc { capacity, ..slot.arc() });
        Ok(())
    }

    /// Limits what passes through a node, in tuples that it gets: from arcs and, at a source, from
    /// outside. What a sink takes has passed through it. [`Limit::Unbounded`] takes the limit
    /// away. O(log V).
    ///
    /// # Errors
    /// [`Error::NoSuchNode`], [`Error::BadCapacity`]; then nothing is changed.
    pub fn set_node_capacity(
        &mut self,
        node: NodeId,
        capacity: impl Into<Limit<C>>,
    ) -> Result<(), Error<C>> {
        self.check_node(node)?;
        match checked(capacity.into(), Place::Node(node))? {
            Limit::Finite(capacity) => self.node_capacities.insert(node, capacity),
            Limit::Unbounded => self.node_capacities.remove(&node),
        };
        Ok(())
    }

    /// Sets the tuples that a node sends, over all its arcs, for each tuple that it gets; 1 if
    /// never set. O(log V).
    ///
    /// # Errors
    /// [`Error::NoSuchNode`], and [`Error::BadGain`] unless it is a positive normal number; then
    /// nothing is changed. A node that sends nothing is a sink, not one of gain 0.
    pub fn set_gain(&mut self, node: NodeId, gain: f64) -> Result<(), Error<C>> {
        self.check_node(node)?;
        if !gain.is_normal() || gain < 0.0 {
            return Err(Error::BadGain { node, gain });
        }
        if gain == 1.0 {
            self.gains.remove(&node);
        } else {
            self.gains.insert(node, gain);
        }
        Ok(())
    }

    /// Makes a node a source of at most `bound` tuples. O(log V).
    ///
    /// # Errors
    /// [`Error::NoSuchNode`], [`Error::BadCapacity`], [`Error::DuplicateTerminal`] if it is one
    /// already, [`Error::SameTerminals`] if it is a sink; then nothing is changed.
    pub fn add_source(&mut self, node: NodeId, bound: impl Into<Limit<C>>) -> Result<(), Error<C>> {
        self.check_node(node)?;
        let bound = checked(bound.into(), Place::Source(node))?;
        if self.sources.contains_key(&node) {
            return Err(Error::DuplicateTerminal { node });
        }
        if self.sinks.contains_key(&node) {
            return Err(Error::SameTerminals { node });
        }
        self.sources.insert(node, bound);
        Ok(())
    }

    /// Makes a node a sink of at most `bound` tuples. O(log V).
    ///
    /// # Errors
    /// As for [`Self::add_source`].
    pub fn add_sink(&mut self, node: NodeId, bound: impl Into<Limit<C>>) -> Result<(), Error<C>> {
        self.check_node(node)?;
        let bound = checked(bound.into(), Place::Sink(node))?;
        if self.sinks.contains_key(&node) {
            return Err(Error::DuplicateTerminal { node });
        }
        if self.sources.contains_key(&node) {
            return Err(Error::SameTerminals { node });
        }
        self.sinks.insert(node, bound);
        Ok(())
    }

    /// Changes the bound of a source. O(log V).
    ///
    /// # Errors
    /// [`Error::NotATerminal`] if the node is no source, [`Error::BadCapacity`]; then nothing is
    /// changed.
    pub fn set_source_bound(
        &mut self,
        node: NodeId,
        bound: impl Into<Limit<C>>,
    ) -> Result<(), Error<C>> {
        let at = Place::Source(node);
        let slot = self.sources.get_mut(&node).ok_or(Error::NotATerminal { at })?;
        *slot = checked(bound.into(), at)?;
        Ok(())
    }

    /// Changes the bound of a sink. O(log V).
    ///
    /// # Errors
    /// [`Error::NotATerminal`] if the node is no sink, [`Error::BadCapacity`]; then nothing is
    /// changed.
    pub fn set_sink_bound(
        &mut self,
        node: NodeId,
        bound: impl Into<Limit<C>>,
    ) -> Result<(), Error<C>> {
        let at = Place::Sink(node);
        let slot = self.sinks.get_mut(&node).ok_or(Error::NotATerminal { at })?;
        *slot = checked(bound.into(), at)?;
        Ok(())
    }

    /// How many nodes there are.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.nodes as usize
    }

    /// How many arcs there are.
    #[must_use]
    pub fn arc_count(&self) -> usize {
        self.arcs.len()
    }

    /// The arc of that number.
    #[must_use]
    pub fn arc(&self, arc: ArcId) -> Option<Arc<C>> {
        self.arcs.get(arc.index()).map(|stored| stored.arc())
    }

    /// All arcs, in order.
    pub fn arcs(&self) -> impl ExactSizeIterator<Item = Arc<C>> + Clone + '_ {
        self.arcs.iter().map(|stored| stored.arc())
    }

    /// What a node can bear; unbounded for one that has no capacity or does not exist.
    #[must_use]
    pub fn node_capacity(&self, node: NodeId) -> Limit<C> {
        self.node_capacities.get(&node).map_or(Limit::Unbounded, |&c| Limit::Finite(c))
    }

    /// The nodes that have a capacity, in order.
    pub fn node_capacities(&self) -> impl ExactSizeIterator<Item = (NodeId, C)> + '_ {
        self.node_capacities.iter().map(|(&node, &c)| (node, c))
    }

    /// The gain of a node; 1 for one that has none or does not exist.
    #[must_use]
    pub fn gain(&self, node: NodeId) -> f64 {
        self.gains.get(&node).copied().unwrap_or(1.0)
    }

    /// The nodes that have a gain other than 1, in order.
    pub fn gains(&self) -> impl ExactSizeIterator<Item = (NodeId, f64)> + '_ {
        self.gains.iter().map(|(&node, &gain)| (node, gain))
    }

    /// The sources and their bounds, in order of the nodes.
    pub fn sources(&self) -> impl ExactSizeIterator<Item = (NodeId, Limit<C>)> + '_ {
        self.sources.iter().map(|(&node, &bound)| (node, bound))
    }

    /// The sinks and their bounds, in order of the nodes.
    pub fn sinks(&self) -> impl ExactSizeIterator<Item = (NodeId, Limit<C>)> + '_ {
        self.sinks.iter().map(|(&node, &bound)| (node, bound))
    }

    /// A maximum flow by [`Method::Auto`](crate::Method::Auto); more choices are with [`Solver`].
    ///
    /// # Errors
    /// As for [`Solver::solve`].
    pub fn solve(&self) -> Result<Answer<C>, Error<C>> {
        Solver::new(self).solve()
    }

    /// A flow of exactly the lesser of `rate` and the maximum, by
    /// [`Method::Auto`](crate::Method::Auto).
    ///
    /// # Errors
    /// As for [`Solver::solve`].
    pub fn solve_to(&self, rate: C) -> Result<Answer<C>, Error<C>> {
        Solver::new(self).rate(rate).solve()
    }

    fn check_node(&self, node: NodeId) -> Result<(), Error<C>> {
        if node.0 < self.nodes {
            Ok(())
        } else {
            Err(Error::NoSuchNode { node, nodes: self.nodes as usize })
        }
    }
}

fn checked<C: Capacity>(capacity: Limit<C>, at: Place) -> Result<Limit<C>, Error<C>> {
    match capacity {
        Limit::Finite(value) if !value.is_valid() => Err(Error::BadCapacity { at, value }),
        valid => Ok(valid),
    }
}
