//! Networks from graphs of petgraph 0.8, and answers in their terms.
//!
//! Works on `Graph`, `StableGraph` with holes, `GraphMap`, `MatrixGraph` and the adaptors over
//! them, as long as they are directed. Parallel and anti-parallel edges and self loops each keep
//! their own arc.
//!
//! ```
//! use flownet::{Limit, petgraph_08::Adapter};
//! use petgraph::graph::DiGraph;
//!
//! let mut graph: DiGraph<&str, u64> = DiGraph::new();
//! let [spout, bolt, store] = ["spout", "bolt", "store"].map(|name| graph.add_node(name));
//! let first = graph.add_edge(spout, bolt, 5);
//! graph.add_edge(bolt, store, 3);
//!
//! let mut adapter = Adapter::new(&graph, |edge| Limit::Finite(*edge.weight()))?;
//! adapter.add_source(spout, Limit::Unbounded)?;
//! adapter.add_sink(store, Limit::Unbounded)?;
//! let answer = adapter.network().solve()?;
//! assert_eq!(answer.flow(adapter.arc_of(first).unwrap()), Some(3));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! An undirected graph is refused by the compiler:
//!
//! ```compile_fail,E0271
//! use flownet::{Limit, petgraph_08::Adapter};
//! use petgraph::graph::UnGraph;
//!
//! let graph: UnGraph<(), u64> = UnGraph::default();
//! let adapter = Adapter::new(&graph, |edge| Limit::Finite(*edge.weight()));
//! ```

use alloc::vec::Vec;
use core::fmt;

use petgraph::Directed;
use petgraph::visit::{EdgeRef, GraphProp, IntoEdgeReferences, IntoNodeIdentifiers, NodeIndexable};

use crate::{ArcId, Capacity, Error, Limit, Network, NodeId};

/// Why a graph could not be taken, or a node of it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AdaptError<N, E, C> {
    /// The node is not in the graph as it was when the adapter was made.
    NoSuchNode {
        /// The node.
        node: N,
    },
    /// The capacity of an edge is negative, infinite or not a number.
    BadCapacity {
        /// The edge.
        edge: E,
        /// Its capacity.
        value: C,
    },
    /// The graph is broken: an edge of it ends at a node that it does not list.
    DanglingEdge {
        /// The edge.
        edge: E,
        /// The node.
        node: N,
    },
    /// What the network says.
    Network(Error<C>),
}

impl<N: fmt::Debug, E: fmt::Debug, C: fmt::Display> fmt::Display for AdaptError<N, E, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AdaptError::NoSuchNode { node } => write!(f, "{node:?} is not in the graph"),
            AdaptError::BadCapacity { edge, value } => {
                write!(f, "the capacity {value} of {edge:?} must be zero or more, and finite")
            }
            AdaptError::DanglingEdge { edge, node } => {
                write!(f, "{edge:?} ends at {node:?}, which the graph does not list")
            }
            AdaptError::Network(error) => error.fmt(f),
        }
    }
}

impl<N, E, C> core::error::Error for AdaptError<N, E, C>
where
    N: fmt::Debug,
    E: fmt::Debug,
    C: fmt::Debug + fmt::Display,
{
}

/// A network and the graph's names for its nodes and arcs.
///
/// Nodes are numbered in the order in which the graph lists them, and arcs likewise.
#[derive(Clone, Debug)]
pub struct Adapter<N, E, C> {
    net: Network<C>,
    nodes: Names<N>,
    edges: Names<E>,
}

/// Names by number, and numbers by name.
#[derive(Clone, Debug)]
struct Names<T> {
    listed: Vec<T>,
    /// Numbers in order of the names; empty if the names are listed in order.
    sorted: Vec<u32>,
}

impl<T: Copy + Ord> Names<T> {
    fn new(listed: Vec<T>) -> Self {
        let mut sorted = Vec::new();
        if !listed.is_sorted() {
            // Fewer than 2^32 by now.
            sorted.extend(0..listed.len() as u32);
            sorted.sort_by_key(|&number| listed[number as usize]);
        }
        Names { listed, sorted }
    }

    fn number(&self, name: T) -> Option<u32> {
        if self.sorted.is_empty() {
            self.listed.binary_search(&name).ok().map(|number| number as u32)
        } else {
            let by_name = |&number: &u32| self.listed[number as usize].cmp(&name);
            self.sorted.binary_search_by(by_name).ok().map(|place| self.sorted[place])
        }
    }
}

type Result<T, N, E, C> = core::result::Result<T, AdaptError<N, E, C>>;

impl<N, E, C> Adapter<N, E, C>
where
    N: Copy + Ord,
    E: Copy + Ord,
    C: Capacity,
{
    /// Takes the nodes and edges of a graph; `capacity` gives the limit of each edge.
    ///
    /// # Errors
    /// [`AdaptError::BadCapacity`], [`AdaptError::DanglingEdge`], and [`Error::TooLarge`] for more
    /// than 2^30 nodes or arcs.
    ///
    /// # Complexity
    /// O(V + E), and O(V log V + E log E) if the graph does not list its names in order.
    pub fn new<G, F>(graph: G, mut capacity: F) -> Result<Self, N, E, C>
    where
        G: IntoEdgeReferences<NodeId = N, EdgeId = E>
            + IntoNodeIdentifiers
            + NodeIndexable
            + GraphProp<EdgeType = Directed>,
        F: FnMut(G::EdgeRef) -> Limit<C>,
    {
        let mut net = Network::new();
        // Of petgraph's own index, which may have holes, and only of nodes of this graph.
        let mut numbers: Vec<u32> = Vec::new();
        let mut nodes = Vec::new();
        for node in graph.node_identifiers() {
            let id = net.add_node().map_err(AdaptError::Network)?;
            let index = graph.to_index(node);
            if index >= numbers.len() {
                numbers.resize(index + 1, u32::MAX);
            }
            numbers[index] = id.0;
            nodes.push(node);
        }
        let mut edges = Vec::new();
        for edge in graph.edge_references() {
            let name = edge.id();
            let find = |node: N| {
                let number = numbers.get(graph.to_index(node)).filter(|&&id| id != u32::MAX);
                number.map(|&id| NodeId(id)).ok_or(AdaptError::DanglingEdge { edge: name, node })
            };
            let (from, to) = (find(edge.source())?, find(edge.target())?);
            match net.add_arc(from, to, capacity(edge)) {
                Ok(_) => edges.push(name),
                Err(Error::BadCapacity { value, .. }) => {
                    return Err(AdaptError::BadCapacity { edge: name, value });
                }
                Err(error) => return Err(AdaptError::Network(error)),
            }
        }
        Ok(Adapter { net, nodes: Names::new(nodes), edges: Names::new(edges) })
    }

    /// The network, to be solved.
    #[must_use]
    pub fn network(&self) -> &Network<C> {
        &self.net
    }

    /// The network, to be changed.
    pub fn network_mut(&mut self) -> &mut Network<C> {
        &mut self.net
    }

    /// The network's number for a node; `None` if the graph did not have it. O(log V).
    #[must_use]
    pub fn node_of(&self, node: N) -> Option<NodeId> {
        self.nodes.number(node).map(NodeId)
    }

    /// The network's number for an edge; `None` if the graph did not have it. O(log E).
    #[must_use]
    pub fn arc_of(&self, edge: E) -> Option<ArcId> {
        self.edges.number(edge).map(ArcId)
    }

    /// The graph's name for a node; `None` if it was added to the network later. O(1).
    #[must_use]
    pub fn node_name(&self, node: NodeId) -> Option<N> {
        self.nodes.listed.get(node.index()).copied()
    }

    /// The graph's name for an arc; `None` if it was added to the network later. O(1).
    #[must_use]
    pub fn edge_name(&self, arc: ArcId) -> Option<E> {
        self.edges.listed.get(arc.index()).copied()
    }

    /// [`Network::add_source`] for a node of the graph.
    ///
    /// # Errors
    /// [`AdaptError::NoSuchNode`], or what the network says.
    pub fn add_source(&mut self, node: N, bound: impl Into<Limit<C>>) -> Result<(), N, E, C> {
        let id = self.node_of(node).ok_or(AdaptError::NoSuchNode { node })?;
        self.net.add_source(id, bound).map_err(AdaptError::Network)
    }

    /// [`Network::add_sink`] for a node of the graph.
    ///
    /// # Errors
    /// [`AdaptError::NoSuchNode`], or what the network says.
    pub fn add_sink(&mut self, node: N, bound: impl Into<Limit<C>>) -> Result<(), N, E, C> {
        let id = self.node_of(node).ok_or(AdaptError::NoSuchNode { node })?;
        self.net.add_sink(id, bound).map_err(AdaptError::Network)
    }

    /// [`Network::set_node_capacity`] for a node of the graph.
    ///
    /// # Errors
    /// [`AdaptError::NoSuchNode`], or what the network says.
    pub fn set_node_capacity(
        &mut self,
        node: N,
        capacity: impl Into<Limit<C>>,
    ) -> Result<(), N, E, C> {
        let id = self.node_of(node).ok_or(AdaptError::NoSuchNode { node })?;
        self.net.set_node_capacity(id, capacity).map_err(AdaptError::Network)
    }

    /// [`Network::set_gain`] for a node of the graph.
    ///
    /// # Errors
    /// [`AdaptError::NoSuchNode`], or what the network says.
    pub fn set_gain(&mut self, node: N, gain: f64) -> Result<(), N, E, C> {
        let id = self.node_of(node).ok_or(AdaptError::NoSuchNode { node })?;
        self.net.set_gain(id, gain).map_err(AdaptError::Network)
    }
}
