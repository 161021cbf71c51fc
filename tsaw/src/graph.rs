//! The weighted topology: tasks with CPU, streams with rates (definition 3 of the paper).

use crate::{ComponentId, Kind, TaskId};

/// A component: what its tasks are instances of.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Component {
    /// Its name; Storm orders tasks by it.
    pub name: String,
    /// Spout or bolt.
    pub kind: Kind,
}

/// What one task needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Task {
    /// What it is an instance of.
    pub component: ComponentId,
    /// CPU it uses, in the unit of [`Node::cpu`](crate::Node::cpu).
    pub cpu: u64,
    /// Memory, in the unit of [`Node::mem`](crate::Node::mem).
    pub mem: u64,
    /// Bytes that travel if it moves.
    pub state_bytes: u64,
    /// True if it must be on a node that has a data source.
    pub needs_source: bool,
}

/// At most so many tasks of a group on one node.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spread {
    /// The group, in the order given.
    pub tasks: Vec<TaskId>,
    /// How many of them a node may hold.
    pub max_per_node: u32,
}

/// What the builder left out or put together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BuildReport {
    /// Streams from a task to itself, left out: they never cross nodes.
    pub ignored_self: u64,
    /// Streams without a tuple, left out.
    pub ignored_zero: u64,
    /// Streams added to another between the same two tasks, in either direction.
    pub merged: u64,
}

/// A topology with its measured weights: symmetric, merged, in compressed rows sorted by task.
///
/// Built by [`TaskGraphBuilder`](crate::TaskGraphBuilder). Takes 12 bytes a stream and direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskGraph {
    pub(crate) components: Vec<Component>,
    pub(crate) tasks: Vec<Task>,
    pub(crate) offsets: Vec<usize>,
    pub(crate) targets: Vec<u32>,
    pub(crate) rates: Vec<i64>,
    /// The smallest task of the colocation group.
    pub(crate) leader: Vec<u32>,
    pub(crate) spreads: Vec<Spread>,
    pub(crate) component_streams: Vec<(ComponentId, ComponentId)>,
    pub(crate) total_rate: i64,
    pub(crate) total_cpu: u64,
    pub(crate) report: BuildReport,
}

impl TaskGraph {
    /// Number of tasks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// True without any task.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Pairs of tasks that exchange tuples.
    #[must_use]
    pub fn pair_count(&self) -> usize {
        self.targets.len() / 2
    }

    /// All tasks in order.
    #[must_use]
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// One task.
    #[must_use]
    pub fn task(&self, task: TaskId) -> Option<&Task> {
        self.tasks.get(task.index())
    }

    /// All components in order.
    #[must_use]
    pub fn components(&self) -> &[Component] {
        &self.components
    }

    /// Whether a task brings data in; `None` for a task that does not exist.
    #[must_use]
    pub fn kind(&self, task: TaskId) -> Option<Kind> {
        self.task(task).map(|task| self.components[task.component.index()].kind)
    }

    /// The tasks that exchange tuples with `task`, in order, with the tuples a second of both
    /// directions together: ω of section 3. Empty for a task that does not exist.
    pub fn neighbours(&self, task: TaskId) -> impl Iterator<Item = (TaskId, i64)> + '_ {
        self.row(task.index()).map(|(other, rate)| (TaskId(other), rate))
    }

    /// Tuples a second of all streams, C of equation (9).
    #[must_use]
    pub fn total_rate(&self) -> i64 {
        self.total_rate
    }

    /// CPU of all tasks, W of equation (4).
    #[must_use]
    pub fn total_cpu(&self) -> u64 {
        self.total_cpu
    }

    /// The smallest task that must be on the same node as `task`: itself if there is no other.
    #[must_use]
    pub fn leader(&self, task: TaskId) -> Option<TaskId> {
        self.leader.get(task.index()).copied().map(TaskId)
    }

    /// The spread groups in order.
    #[must_use]
    pub fn spreads(&self) -> &[Spread] {
        &self.spreads
    }

    /// The pairs of components that exchange tuples, from sender to receiver, in order.
    #[must_use]
    pub fn component_streams(&self) -> &[(ComponentId, ComponentId)] {
        &self.component_streams
    }

    /// What the builder left out or put together.
    #[must_use]
    pub fn report(&self) -> BuildReport {
        self.report
    }

    pub(crate) fn row(&self, task: usize) -> impl ExactSizeIterator<Item = (u32, i64)> + '_ {
        let range = match (self.offsets.get(task), self.offsets.get(task + 1)) {
            (Some(&start), Some(&end)) => start..end,
            _ => 0..0,
        };
        self.targets[range.clone()].iter().copied().zip(self.rates[range].iter().copied())
    }
}
