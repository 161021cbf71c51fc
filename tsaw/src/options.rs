//! What a caller may choose.

/// Which algorithm places the tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Preset {
    /// Algorithm 1 of the paper to the letter. It knows no cap, memory, bandwidth, pin or group:
    /// what it does to the cap stands in the certificate, anything else broken is an error.
    Paper,
    /// Growth as in the paper, then moves, swaps and annealing, under all limits.
    #[default]
    Balanced,
    /// The multilevel method, under all limits: for topologies of hundreds of tasks and more,
    /// where it cuts less than `Balanced`. Smaller ones are placed as by `Balanced`.
    Quality,
}

/// When a node is full, where the paper says both "cannot exceed" and "just greater than".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// With the task that brings it to its target or over it.
    #[default]
    Cross,
    /// Before the task that would bring it over.
    Under,
    /// On the side of the target that is nearer; the fuller one if both are as near.
    Nearest,
}

/// What a node is filled to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Target {
    /// W / |N|, as the paper.
    #[default]
    FixedIdeal,
    /// What is left, over the nodes that are left: then the last node does not starve.
    RemainingIdeal,
    /// The node's share of the CPU of all nodes.
    Proportional,
}

/// Which task a node begins with, where the paper says "random".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SeedRule {
    /// A random one, by the seed of the options.
    #[default]
    Random,
    /// The first one.
    FirstId,
    /// The one that exchanges the most tuples, then the first.
    MaxStrength,
    /// The best of so many random runs, by cut, then by the earlier run; of fewer if the steps
    /// end before. 0 counts as 1.
    BestOf(u32),
}

/// In which order nodes are filled; the last one gets what is left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum NodeOrder {
    /// As listed.
    #[default]
    Input,
    /// The largest CPU first.
    CapacityDescending,
    /// Those with a data source first.
    SourcesFirst,
}

/// Where the paper is ambiguous; the default is the note behind each choice in the README.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PaperOptions {
    /// When a node is full.
    pub stop: Stop,
    /// What it is filled to.
    pub target: Target,
    /// Its first task.
    pub seed_rule: SeedRule,
    /// The order of the nodes.
    pub order: NodeOrder,
    /// Keeps one spout for the last node if a source is there.
    pub reserve_spout_on_last: bool,
}

/// What to do if no placement keeps the CPU caps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnInfeasible {
    /// An error.
    #[default]
    Error,
    /// Allow more imbalance, as little as the search can, but never more load than a node has
    /// CPU.
    RelaxBalance,
    /// Allow more load than a node has CPU too.
    RelaxCpu,
}

/// What a rescheduling may cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Budget {
    /// The most tasks that may move; no limit if `None`.
    pub max_moves: Option<u64>,
    /// The most bytes of state that may move; no limit if `None`.
    pub max_bytes: Option<u64>,
    /// What a move must save, in tuples a second times distance; more than nothing in any case.
    /// Compared exactly, as a sum over the tasks that move together.
    pub min_gain_per_move: u64,
}

/// All choices.
///
/// ```
/// use tsaw::{Options, OnInfeasible};
///
/// let options = Options::default().with_seed(7).with_on_infeasible(OnInfeasible::RelaxBalance);
/// assert_eq!(options.seed, 7);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The algorithm.
    pub preset: Preset,
    /// Of all chance.
    pub seed: u64,
    /// The budget of growth, repair, refinement and annealing together: a step is one task
    /// placed, one stream looked at, or one move weighed. When it ends, the best so far is
    /// returned, or [`NotFound`](crate::ScheduleError::NotFound) if it breaks a limit. Setting
    /// up, placing what is left by load alone, and the certificate are not counted; they take
    /// time near-linear in the input. `None` is [`Options::default_steps`].
    pub steps: Option<u64>,
    /// What to do if no placement keeps the CPU caps.
    pub on_infeasible: OnInfeasible,
    /// For [`reschedule`](crate::reschedule).
    pub budget: Budget,
    /// For [`Preset::Paper`].
    pub paper: PaperOptions,
}

impl Options {
    /// The steps that `None` stands for: two million, and 60 for each task and each stream.
    #[must_use]
    pub fn default_steps(graph: &crate::TaskGraph) -> u64 {
        2_000_000 + 60 * (graph.len() + 2 * graph.pair_count()) as u64
    }

    /// Algorithm 1 of the paper.
    #[must_use]
    pub fn paper() -> Self {
        Self { preset: Preset::Paper, ..Self::default() }
    }

    /// The multilevel method.
    #[must_use]
    pub fn quality() -> Self {
        Self { preset: Preset::Quality, ..Self::default() }
    }

    /// With that preset.
    #[must_use]
    pub fn with_preset(self, preset: Preset) -> Self {
        Self { preset, ..self }
    }

    /// With that seed.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// With that many steps.
    #[must_use]
    pub fn with_steps(self, steps: u64) -> Self {
        Self { steps: Some(steps), ..self }
    }

    /// With that way out.
    #[must_use]
    pub fn with_on_infeasible(self, on_infeasible: OnInfeasible) -> Self {
        Self { on_infeasible, ..self }
    }

    /// With at most that many moved tasks.
    #[must_use]
    pub fn with_max_moves(mut self, moves: u64) -> Self {
        self.budget.max_moves = Some(moves);
        self
    }

    /// With at most that many moved bytes.
    #[must_use]
    pub fn with_max_bytes(mut self, bytes: u64) -> Self {
        self.budget.max_bytes = Some(bytes);
        self
    }

    /// With that much to be saved by each move.
    #[must_use]
    pub fn with_min_gain_per_move(mut self, gain: u64) -> Self {
        self.budget.min_gain_per_move = gain;
        self
    }

    /// With that rule for when a node is full, in [`Preset::Paper`].
    #[must_use]
    pub fn with_stop(mut self, stop: Stop) -> Self {
        self.paper.stop = stop;
        self
    }

    /// With that target of a node, in [`Preset::Paper`].
    #[must_use]
    pub fn with_target(mut self, target: Target) -> Self {
        self.paper.target = target;
        self
    }

    /// With that first task of a node, in [`Preset::Paper`].
    #[must_use]
    pub fn with_seed_rule(mut self, rule: SeedRule) -> Self {
        self.paper.seed_rule = rule;
        self
    }

    /// With that order of nodes, in [`Preset::Paper`].
    #[must_use]
    pub fn with_order(mut self, order: NodeOrder) -> Self {
        self.paper.order = order;
        self
    }

    /// With a spout kept for the last node if it has a source, in [`Preset::Paper`].
    #[must_use]
    pub fn with_spout_reserved_on_last(mut self) -> Self {
        self.paper.reserve_spout_on_last = true;
        self
    }
}
