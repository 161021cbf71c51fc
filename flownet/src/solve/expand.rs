//! From the user's network to one with a single source, a single sink, and limits on arcs alone.
//!
//! A node with a capacity is split in two, with an arc of that capacity between. Bounds of
//! terminals become arcs from a source and to a sink of our own, and the rate that was asked for
//! an arc before all others.

use alloc::vec::Vec;

use crate::units::{Units, scaled};
use crate::{Arc, ArcId, Capacity, Error, Limit, Network, NodeId, Place};

/// One limit of the expanded network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link<C> {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) limit: Limit<C>,
}

/// The expanded network. Its links are numbered: first the arcs, then split nodes, sources, sinks
/// and the rate; [`Expanded::source_links`] and so on say where each kind begins.
#[derive(Clone, Debug)]
pub(crate) struct Expanded<C> {
    /// How many arcs, and sources, the network has.
    arcs: usize,
    sources: usize,
    units: Option<Units>,
    /// The nodes that are split, in order. The other half of the k-th is `node_count() + k`.
    split: Vec<(NodeId, C)>,
    /// For each node the one that its arcs leave, if any node is split.
    sender: Vec<u32>,
    pub(crate) nodes: usize,
    pub(crate) source: u32,
    pub(crate) sink: u32,
    /// Where the bounds of the sources begin, if they are links.
    hub: Option<u32>,
    own_sink: bool,
    pub(crate) rate: Option<C>,
    /// Every link, in order of their numbers, in source-equivalent units.
    pub(crate) links: Vec<Link<C>>,
}

impl<C: Capacity> Expanded<C> {
    /// With only those nodes and links beside the network's own that there must be.
    pub(crate) fn new(net: &Network<C>, rate: Option<C>) -> Result<Self, Error<C>> {
        Self::build(net, rate, false)
    }

    /// With links for all bounds and the rate, whether they limit anything or not, so that each can
    /// be changed later.
    pub(crate) fn flexible(net: &Network<C>, rate: Option<C>) -> Result<Self, Error<C>> {
        Self::build(net, rate, true)
    }

    fn build(net: &Network<C>, rate: Option<C>, flexible: bool) -> Result<Self, Error<C>> {
        let first_source = net.sources().next().ok_or(Error::NoSource)?;
        let first_sink = net.sinks().next().ok_or(Error::NoSink)?;
        if let Some(value) = rate.filter(|rate| !rate.is_valid()) {
            return Err(Error::BadCapacity { at: Place::Rate, value });
        }
        let links = net.arc_count()
            + net.node_capacities().len()
            + net.sources().len()
            + net.sinks().len()
            + 1;
        if links > Network::<C>::MAX_ARCS {
            return Err(Error::TooLarge {
                what: "arcs, nodes with capacities, and terminals",
                limit: Network::<C>::MAX_ARCS - 1,
            });
        }
        let units = crate::units::units(net)?;

        // At most 2^30 nodes and 2^30 links: none of these sums leaves 32 bits.
        let split: Vec<_> = net.node_capacities().collect();
        let mut nodes = (net.node_count() + split.len()) as u32;
        let mut sender = Vec::new();
        if !split.is_empty() {
            sender.extend(0..net.node_count() as u32);
            for (&(node, _), half) in split.iter().zip(net.node_count() as u32..) {
                sender[node.index()] = half;
            }
        }
        let mut fresh = || {
            nodes += 1;
            nodes - 1
        };
        let lone = |count: usize, bound| count == 1 && bound == Limit::Unbounded && !flexible;
        let hub = (rate.is_some() || !lone(net.sources().len(), first_source.1)).then(&mut fresh);
        let own_sink = !lone(net.sinks().len(), first_sink.1);
        let sent_from = |node: NodeId| sender.get(node.index()).copied().unwrap_or(node.0);
        let source = match hub {
            Some(_) if flexible || rate.is_some() => fresh(),
            Some(hub) => hub,
            None => first_source.0.0,
        };
        let sink = if own_sink { fresh() } else { sent_from(first_sink.0) };
        let nodes = nodes as usize;
        let links = Vec::with_capacity(links);
        let (arcs, sources) = (net.arc_count(), net.sources().len());
        let mut expanded = Expanded {
            arcs,
            sources,
            units,
            split,
            sender,
            nodes,
            source,
            sink,
            hub,
            own_sink,
            rate,
            links,
        };
        expanded.fill(net)?;
        Ok(expanded)
    }

    /// The number of the link of a node's capacity, if the node is split.
    pub(crate) fn node_link(&self, node: NodeId) -> Option<usize> {
        let place = self.split.binary_search_by_key(&node, |&(node, _)| node).ok()?;
        Some(self.arcs + place)
    }

    /// The number of the rate's link, in a flexible network.
    pub(crate) fn rate_link(&self, net: &Network<C>) -> usize {
        self.sink_links() + if self.own_sink { net.sinks().len() } else { 0 }
    }

    pub(crate) fn units(&self) -> Option<&[f64]> {
        self.units.as_ref().map(|units| units.nodes.as_slice())
    }

    pub(crate) fn has_units(&self) -> bool {
        self.units.is_some()
    }

    /// The number of the first source's link; there are none if [`Self::has_source_links`] says so.
    pub(crate) fn source_links(&self) -> usize {
        self.arcs + self.split.len()
    }

    pub(crate) fn has_source_links(&self) -> bool {
        self.hub.is_some()
    }

    pub(crate) fn has_sink_links(&self) -> bool {
        self.own_sink
    }

    pub(crate) fn sink_links(&self) -> usize {
        self.source_links() + if self.hub.is_some() { self.sources } else { 0 }
    }

    /// The node where the bounds of the sources begin, if they are links.
    pub(crate) fn hub(&self) -> Option<u32> {
        self.hub
    }

    /// The node that sends what `node` gets.
    pub(crate) fn sender(&self, node: NodeId) -> u32 {
        self.sender.get(node.index()).copied().unwrap_or(node.0)
    }

    fn fill(&mut self, net: &Network<C>) -> Result<(), Error<C>> {
        let mut links = core::mem::take(&mut self.links);
        match &self.units {
            None => links.extend(net.arcs().map(|arc| Link {
                from: self.tail(&arc),
                to: arc.to.0,
                limit: arc.capacity,
            })),
            Some(units) => {
                for (id, arc) in (0..).map(ArcId).zip(net.arcs()) {
                    let limit = scaled(arc.capacity, passing(net, units, &arc), Place::Arc(id))?;
                    links.push(Link { from: self.tail(&arc), to: arc.to.0, limit });
                }
            }
        }
        for &(node, capacity) in &self.split {
            let limit = self.at_node(node, Limit::Finite(capacity), Place::Node(node))?;
            links.push(Link { from: node.0, to: self.sender(node), limit });
        }
        if let Some(hub) = self.hub {
            for (node, bound) in net.sources() {
                let limit = self.at_terminal(node, bound, Place::Source(node), net)?;
                links.push(Link { from: hub, to: node.0, limit });
            }
        }
        if self.own_sink {
            for (node, bound) in net.sinks() {
                let limit = self.at_terminal(node, bound, Place::Sink(node), net)?;
                links.push(Link { from: self.sender(node), to: self.sink, limit });
            }
        }
        if let Some(hub) = self.hub.filter(|&hub| hub != self.source) {
            let limit = self.rate.map_or(Limit::Unbounded, Limit::Finite);
            links.push(Link { from: self.source, to: hub, limit });
        }
        self.links = links;
        Ok(())
    }

    /// Where an arc starts. A self loop is one also where its node is split: it carries nothing, and
    /// its limit must not make the grid finer.
    fn tail(&self, arc: &Arc<C>) -> u32 {
        if arc.from == arc.to { arc.to.0 } else { self.sender(arc.from) }
    }

    /// The capacity of an arc in source-equivalent units.
    pub(crate) fn of_arc(
        &self,
        net: &Network<C>,
        id: ArcId,
        arc: &Arc<C>,
    ) -> Result<Limit<C>, Error<C>> {
        match &self.units {
            Some(units) => scaled(arc.capacity, passing(net, units, arc), Place::Arc(id)),
            None => Ok(arc.capacity),
        }
    }

    /// The bound of a terminal in source-equivalent units. A lone one without bound is no limit,
    /// also where no flow can be.
    pub(crate) fn at_terminal(
        &self,
        node: NodeId,
        bound: Limit<C>,
        at: Place,
        net: &Network<C>,
    ) -> Result<Limit<C>, Error<C>> {
        let alone = match at {
            Place::Source(_) => self.sources == 1,
            _ => net.sinks().len() == 1,
        };
        if alone && bound == Limit::Unbounded {
            return Ok(Limit::Unbounded);
        }
        self.at_node(node, bound, at)
    }

    /// A limit at a node in source-equivalent units.
    pub(crate) fn at_node(
        &self,
        node: NodeId,
        limit: Limit<C>,
        at: Place,
    ) -> Result<Limit<C>, Error<C>> {
        match &self.units {
            Some(units) => scaled(limit, units.nodes[node.index()], at),
            None => Ok(limit),
        }
    }
}

/// The tuples on an arc for each source tuple.
fn passing<C: Capacity>(net: &Network<C>, units: &Units, arc: &Arc<C>) -> f64 {
    let (from, to) = (units.nodes[arc.from.index()], units.nodes[arc.to.index()]);
    if to == 0.0 { 0.0 } else { from * net.gain(arc.from) }
}
