//! Builds a [`TaskGraph`], and rejects or reports every odd input.

use crate::error::{MAX_CPU_TOTAL, MAX_TOTAL};
use crate::graph::{BuildReport, Component, Spread, Task, TaskGraph};
use crate::{BuildError, ComponentId, Kind, TaskId};

/// Collects components, tasks, streams and groups.
///
/// Nothing is checked before [`build`](Self::build), which names the first culprit.
///
/// ```
/// use tsaw::{Kind, TaskGraphBuilder};
///
/// let mut builder = TaskGraphBuilder::new();
/// let lines = builder.component("lines", Kind::Spout);
/// let words = builder.component("words", Kind::Bolt);
/// let (line, word) = (builder.task(lines, 300), builder.task(words, 500));
/// builder.stream(line, word, 9_000);
/// let graph = builder.build()?;
/// assert_eq!((graph.total_cpu(), graph.total_rate()), (800, 9_000));
/// # Ok::<(), tsaw::BuildError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct TaskGraphBuilder {
    components: Vec<Component>,
    tasks: Vec<Task>,
    streams: Vec<(u32, u32, i64)>,
    colocated: Vec<(TaskId, TaskId)>,
    spreads: Vec<Spread>,
    /// The first call that named a task that does not exist.
    unknown: Option<TaskId>,
}

impl TaskGraphBuilder {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a component. Two may have the same name.
    pub fn component(&mut self, name: &str, kind: Kind) -> ComponentId {
        self.components.push(Component { name: name.to_owned(), kind });
        ComponentId(last_index(self.components.len()))
    }

    /// Adds a task with its measured CPU. It needs no memory, has no state and no source until
    /// told so.
    pub fn task(&mut self, component: ComponentId, cpu: u64) -> TaskId {
        self.tasks.push(Task { component, cpu, mem: 0, state_bytes: 0, needs_source: false });
        TaskId(last_index(self.tasks.len()))
    }

    /// Sets the memory of a task.
    pub fn memory(&mut self, task: TaskId, mem: u64) {
        self.edit(task, |task| task.mem = mem);
    }

    /// Sets the bytes that travel if the task moves.
    pub fn state_bytes(&mut self, task: TaskId, bytes: u64) {
        self.edit(task, |task| task.state_bytes = bytes);
    }

    /// Demands a node with a data source for the task.
    pub fn needs_source(&mut self, task: TaskId) {
        self.edit(task, |task| task.needs_source = true);
    }

    /// Adds a stream of `rate` tuples a second. Streams between the same two tasks are summed,
    /// in both directions.
    pub fn stream(&mut self, from: TaskId, to: TaskId, rate: i64) {
        self.streams.push((from.0, to.0, rate));
    }

    /// Demands one node for both tasks. Groups grow: a with b and b with c puts all on one.
    pub fn colocate(&mut self, a: TaskId, b: TaskId) {
        self.colocated.push((a, b));
    }

    /// Allows at most `max_per_node` tasks of the group on one node.
    pub fn spread(&mut self, group: &[TaskId], max_per_node: u32) {
        self.spreads.push(Spread { tasks: group.to_vec(), max_per_node });
    }

    /// Checks all and makes the graph.
    ///
    /// Streams from a task to itself and streams without a tuple are left out, and counted in
    /// the [`BuildReport`]. O((tasks + streams) · log of the largest number of streams a task).
    ///
    /// # Errors
    ///
    /// [`BuildError`] for an unknown task or component, a negative rate, a sum over
    /// [`MAX_TOTAL`] or [`MAX_CPU_TOTAL`], a spread group of limit zero or with a task twice.
    pub fn build(self) -> Result<TaskGraph, BuildError> {
        let n = self.tasks.len();
        if u32::try_from(n).is_err() {
            return Err(BuildError::TooManyTasks);
        }
        if let Some(task) = self.unknown {
            return Err(BuildError::UnknownTask(task));
        }
        let known = |task: TaskId| {
            if task.index() < n { Ok(()) } else { Err(BuildError::UnknownTask(task)) }
        };
        for task in &self.tasks {
            if task.component.index() >= self.components.len() {
                return Err(BuildError::UnknownComponent(task.component));
            }
        }
        let sum = |part: fn(&Task) -> u64| self.tasks.iter().map(|t| u128::from(part(t))).sum();
        let total_cpu = within(sum(|task| task.cpu), MAX_CPU_TOTAL, BuildError::CpuOverflow)?;
        within(sum(|task| task.mem), MAX_TOTAL, BuildError::MemoryOverflow)?;
        within(sum(|task| task.state_bytes), MAX_TOTAL, BuildError::StateOverflow)?;

        let mut report = BuildReport::default();
        let (kept, total_rate) = check_streams(self.streams, n, &mut report)?;
        let (offsets, targets, rates) = rows(n, &kept, &mut report);
        for &(a, b) in &self.colocated {
            known(a)?;
            known(b)?;
        }
        for spread in &self.spreads {
            if spread.max_per_node == 0 {
                return Err(BuildError::SpreadOfZero);
            }
            let mut members = spread.tasks.clone();
            members.sort_unstable();
            for &task in &members {
                known(task)?;
            }
            if let Some(pair) = members.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(BuildError::SpreadTwice(pair[0]));
            }
        }
        Ok(TaskGraph {
            component_streams: component_streams(&self.tasks, &kept),
            leader: leaders(n, &self.colocated),
            components: self.components,
            tasks: self.tasks,
            offsets,
            targets,
            rates,
            spreads: self.spreads,
            total_rate,
            total_cpu,
            report,
        })
    }

    /// The components, tasks and groups of a graph with other CPU, and none of its streams.
    #[must_use]
    pub fn like(graph: &TaskGraph, cpu: impl Fn(TaskId, u64) -> u64) -> Self {
        let tasks = (0..).zip(&graph.tasks);
        let groups = (0..).zip(&graph.leader);
        let apart = groups.filter(|(task, leader)| *task != **leader);
        Self {
            components: graph.components.clone(),
            tasks: tasks
                .map(|(id, task)| Task { cpu: cpu(TaskId(id), task.cpu), ..*task })
                .collect(),
            streams: Vec::new(),
            colocated: apart.map(|(task, leader)| (TaskId(*leader), TaskId(task))).collect(),
            spreads: graph.spreads.clone(),
            unknown: None,
        }
    }

    fn edit(&mut self, task: TaskId, change: impl FnOnce(&mut Task)) {
        match self.tasks.get_mut(task.index()) {
            Some(task) => change(task),
            None => self.unknown = self.unknown.or(Some(task)),
        }
    }
}

fn last_index(len: usize) -> u32 {
    // More than 2³² − 1 tasks are an error of `build`.
    u32::try_from(len - 1).unwrap_or(u32::MAX)
}

fn within(sum: u128, limit: u64, error: BuildError) -> Result<u64, BuildError> {
    u64::try_from(sum).ok().filter(|&sum| sum <= limit).ok_or(error)
}

type Stream = (u32, u32, i64);

fn check_streams(
    streams: Vec<Stream>,
    n: usize,
    report: &mut BuildReport,
) -> Result<(Vec<Stream>, i64), BuildError> {
    let mut total: u128 = 0;
    let mut kept = streams;
    let mut fault = None;
    kept.retain(|&(from, to, rate)| {
        let unknown = [from, to].into_iter().find(|&task| task as usize >= n);
        if let Some(task) = unknown {
            fault = fault.take().or(Some(BuildError::UnknownTask(TaskId(task))));
        } else if rate < 0 {
            let (from, to) = (TaskId(from), TaskId(to));
            fault = fault.take().or(Some(BuildError::NegativeRate { from, to, rate }));
        } else if from == to {
            report.ignored_self += 1;
        } else if rate == 0 {
            report.ignored_zero += 1;
        } else {
            total += u128::from(rate.unsigned_abs());
            return true;
        }
        false
    });
    match fault {
        Some(error) => Err(error),
        None => Ok((kept, within(total, MAX_TOTAL, BuildError::RateOverflow)?.cast_signed())),
    }
}

/// The pairs of components that streams go between, from sender to receiver.
fn component_streams(tasks: &[Task], streams: &[Stream]) -> Vec<(ComponentId, ComponentId)> {
    let mut pairs = std::collections::BTreeSet::new();
    let mut last = None;
    for &(from, to, _) in streams {
        let pair = (tasks[from as usize].component, tasks[to as usize].component);
        if last != Some(pair) {
            pairs.insert(pair);
            last = Some(pair);
        }
    }
    pairs.into_iter().collect()
}

/// Both directions of every stream by counting sort, each row sorted and merged.
fn rows(
    n: usize,
    streams: &[Stream],
    report: &mut BuildReport,
) -> (Vec<usize>, Vec<u32>, Vec<i64>) {
    let mut ends = vec![0_usize; n + 1];
    for &(a, b, _) in streams {
        ends[a as usize + 1] += 1;
        ends[b as usize + 1] += 1;
    }
    for task in 0..n {
        ends[task + 1] += ends[task];
    }
    let mut next = ends.clone();
    let mut cells = vec![(0_u32, 0_i64); 2 * streams.len()];
    for &(a, b, rate) in streams {
        for (from, to) in [(a, b), (b, a)] {
            cells[next[from as usize]] = (to, rate);
            next[from as usize] += 1;
        }
    }
    let mut offsets = Vec::with_capacity(n + 1);
    let mut targets: Vec<u32> = Vec::with_capacity(cells.len());
    let mut rates: Vec<i64> = Vec::with_capacity(cells.len());
    offsets.push(0);
    for task in 0..n {
        let row = &mut cells[ends[task]..ends[task + 1]];
        row.sort_unstable_by_key(|&(to, _)| to);
        let start = targets.len();
        for &(to, rate) in row.iter() {
            match rates.last_mut() {
                Some(last) if targets.len() > start && targets[targets.len() - 1] == to => {
                    *last += rate;
                }
                _ => {
                    targets.push(to);
                    rates.push(rate);
                }
            }
        }
        offsets.push(targets.len());
    }
    report.merged = (streams.len() - targets.len() / 2) as u64;
    (offsets, targets, rates)
}

/// The smallest task of each colocation group, by union and find.
fn leaders(n: usize, pairs: &[(TaskId, TaskId)]) -> Vec<u32> {
    let mut leader: Vec<u32> = (0..u32::try_from(n).unwrap_or(u32::MAX)).collect();
    let find = |leader: &mut Vec<u32>, task: TaskId| {
        let mut at = task.0;
        while leader[at as usize] != at {
            leader[at as usize] = leader[leader[at as usize] as usize];
            at = leader[at as usize];
        }
        at
    };
    for &(a, b) in pairs {
        let (a, b) = (find(&mut leader, a), find(&mut leader, b));
        leader[a.max(b) as usize] = a.min(b);
    }
    for task in 0..n {
        leader[task] = leader[leader[task] as usize];
    }
    leader
}
