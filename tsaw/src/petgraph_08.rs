//! Task graphs from and to petgraph 0.8.

use petgraph::graph::{EdgeIndex, Graph, IndexType, NodeIndex, UnGraph};
use petgraph::visit::EdgeRef;
use petgraph::{EdgeType, graph};

use crate::{BuildError, TaskGraph, TaskGraphBuilder, TaskId};

/// Makes a task graph of a petgraph, directed or not.
///
/// `task` adds one task to the builder for each node, in order of the nodes; `rate` gives the
/// tuples a second of each edge. Groups can be added in `task` too, for tasks that are there.
///
/// # Errors
///
/// As [`TaskGraphBuilder::build`].
///
/// ```
/// use tsaw::{Kind, from_petgraph};
///
/// let graph = petgraph::graph::DiGraph::<u64, i64, u32>::from_edges([(0, 1, 5), (1, 2, 7)]);
/// let mut component = None;
/// let tasks = from_petgraph(
///     &graph,
///     |builder, _, _| {
///         let bolts = *component.get_or_insert_with(|| builder.component("bolts", Kind::Bolt));
///         builder.task(bolts, 1)
///     },
///     |_, &rate| rate,
/// )?;
/// assert_eq!((tasks.len(), tasks.total_rate()), (3, 12));
/// # Ok::<(), tsaw::BuildError>(())
/// ```
pub fn from_petgraph<N, E, Ty: EdgeType, Ix: IndexType>(
    graph: &Graph<N, E, Ty, Ix>,
    mut task: impl FnMut(&mut TaskGraphBuilder, NodeIndex<Ix>, &N) -> TaskId,
    mut rate: impl FnMut(EdgeIndex<Ix>, &E) -> i64,
) -> Result<TaskGraph, BuildError> {
    let mut builder = TaskGraphBuilder::new();
    let mut tasks = Vec::with_capacity(graph.node_count());
    for node in graph.node_indices() {
        tasks.push(task(&mut builder, node, &graph[node]));
    }
    for edge in graph.edge_references() {
        let (from, to) = (tasks[edge.source().index()], tasks[edge.target().index()]);
        builder.stream(from, to, rate(edge.id(), edge.weight()));
    }
    builder.build()
}

/// The tasks as nodes, in order, and the merged streams as undirected edges with their rates.
///
/// ```
/// let graph = tsaw::to_petgraph(&tsaw::instances::star()?.graph);
/// assert_eq!((graph.node_count(), graph.edge_count()), (40, 336));
/// # Ok::<(), tsaw::BuildError>(())
/// ```
#[must_use]
pub fn to_petgraph(graph: &TaskGraph) -> UnGraph<TaskId, i64> {
    let mut result = UnGraph::with_capacity(graph.len(), graph.pair_count());
    let nodes: Vec<graph::NodeIndex> =
        (0..graph.len() as u32).map(|task| result.add_node(TaskId(task))).collect();
    for (task, &node) in nodes.iter().enumerate() {
        for (other, rate) in graph.row(task).filter(|&(other, _)| (other as usize) < task) {
            result.add_edge(nodes[other as usize], node, rate);
        }
    }
    result
}
