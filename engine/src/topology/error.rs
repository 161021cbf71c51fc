//! What can be wrong with a topology or its settings. `build` reports all of it at once.

use core::fmt;
use core::time::Duration;

use crate::config::Guarantee;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// There is no spout.
    #[error("the topology has no spout: nothing would ever flow")]
    NoSpout,
    /// Two components have one name.
    #[error("two components are named {name:?}: give one of them another name")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// A component has an empty name.
    #[error("component number {component} has an empty name")]
    EmptyName {
        /// Its place in the order of declaration, from 0.
        component: u32,
    },
    /// A component has no tasks.
    #[error("{component} has 0 tasks: give it at least one")]
    NoTasks {
        /// The component.
        component: String,
    },
    /// The topology has more tasks than can be numbered.
    #[error("{component} brings the topology to {tasks} tasks, over the limit of {limit}")]
    TooManyTasks {
        /// The component at which the limit is passed.
        component: String,
        /// The tasks up to and with it.
        tasks: u64,
        /// The limit.
        limit: u64,
    },
    /// Dedicated bolts bring the topology to more threads than there may be.
    #[error(
        "the tasks of the dedicated bolt {component} bring the topology to {threads} threads, over \
         the limit of {limit}"
    )]
    TooManyThreads {
        /// The bolt at which the limit is passed.
        component: String,
        /// The workers up to and with it.
        threads: u64,
        /// The limit.
        limit: u64,
    },
    /// A bolt has no input.
    #[error("nothing feeds {component}: give it an input")]
    NoInput {
        /// The bolt.
        component: String,
    },
    /// A bolt's declaration was begun and not ended.
    #[error("the declaration of {component} is not ended: call `done` on it")]
    NotDone {
        /// The bolt.
        component: String,
    },
    /// An input is a stream of another topology.
    #[error("an input of {component} is a stream of another topology")]
    ForeignStream {
        /// The bolt.
        component: String,
    },
    /// Weighted grouping with another number of weights than tasks.
    #[error("{component} has {tasks} tasks, but its weighted grouping has {weights} weights")]
    WeightsDoNotFit {
        /// The bolt.
        component: String,
        /// Its tasks.
        tasks: u32,
        /// The weights given.
        weights: usize,
    },
    /// Weighted grouping whose weights are all zero or whose sum is too large.
    #[error(
        "the weights of {component} sum to {sum}: they must sum to at least 1 and at most 2^53"
    )]
    WeightsSum {
        /// The bolt.
        component: String,
        /// Their sum.
        sum: u128,
    },
    /// More tasks than slots: some would get nothing.
    #[error("{component} is keyed and has {tasks} tasks, but only {slots} slots: raise slot_bits")]
    TooFewSlots {
        /// The bolt.
        component: String,
        /// Its tasks.
        tasks: u32,
        /// The slots.
        slots: u64,
    },
    /// A spout whose items cannot be cloned, where replay needs copies.
    #[error(
        "roots of {component} could not be replayed, since its items cannot be cloned: declare it \
         by `spout`, or run at most once"
    )]
    NotRepeatable {
        /// The spout.
        component: String,
    },
    /// The checking mode where it would see too little: tuples that are not keyed come into a bolt
    /// that keeps state, and nothing tells one from another.
    #[error(
        "the checking mode cannot see what comes into {component}, which keeps state: let the \
         groupings of its inputs be `checked_by` a hash of the items"
    )]
    Unchecked {
        /// The bolt.
        component: String,
    },
    /// A combiner under exactly once: what it makes of several tuples has no lineage.
    #[error(
        "an input of {component} is combined, which exactly once cannot do: partial results have \
         no lineage"
    )]
    CombinedExactlyOnce {
        /// The bolt.
        component: String,
    },
    /// A combiner that may hold no key.
    #[error("a combiner into {component} may hold 0 keys: give it at least one")]
    NoKeys {
        /// The bolt.
        component: String,
    },
    /// A setting is zero.
    #[error("{field} is 0: it must be at least 1")]
    Zero {
        /// The setting.
        field: &'static str,
    },
    /// A setting is above its limit.
    #[error("{field} is {value}, over the limit of {limit}")]
    Above {
        /// The setting.
        field: &'static str,
        /// Its value.
        value: u64,
        /// The limit.
        limit: u64,
    },
    /// A change of the ackers of the first epoch.
    #[error(
        "acker_changes has {ackers} ackers from epoch 0 on: say so by `ackers`, and change them from \
         epoch 1 on"
    )]
    AckerChangeAtStart {
        /// The ackers that there were to be.
        ackers: u32,
    },
    /// Changes of ackers that are not in order.
    #[error("acker_changes has epoch {epoch} after epoch {before}: epochs must rise")]
    AckerChangeOrder {
        /// The epoch.
        epoch: u64,
        /// The epoch of the change before it.
        before: u64,
    },
    /// A change to no acker, or to more of them than workers.
    #[error(
        "acker_changes has {ackers} ackers from epoch {epoch} on: there must be at least 1, and at \
         most as many as the {workers} workers"
    )]
    AckerChangeCount {
        /// The epoch of the change.
        epoch: u64,
        /// The ackers that there were to be.
        ackers: u32,
        /// Workers that tasks share.
        workers: u32,
    },
    /// Changes of ackers where there are none.
    #[error(
        "acker_changes changes nothing where no roots are tracked: the guarantee is {guarantee}"
    )]
    UntrackedAckerChanges {
        /// What is promised.
        guarantee: Guarantee,
    },
    /// A setting is a longer time than its limit.
    #[error("{field} is {value:?}, over the limit of {limit:?}")]
    TooLong {
        /// The setting.
        field: &'static str,
        /// Its value.
        value: Duration,
        /// The limit.
        limit: Duration,
    },
    /// A time-out that ends before a lingering batch has left.
    #[error("the time-out of {timeout:?} is not longer than the linger of {linger:?}")]
    TimeoutWithinLinger {
        /// The time-out.
        timeout: Duration,
        /// The linger.
        linger: Duration,
    },
    /// A time-out below the resolution of the engine's clock.
    #[error("the time-out of {timeout:?} is shorter than 10 ms")]
    TimeoutTooShort {
        /// The time-out.
        timeout: Duration,
    },
    /// A first wait between attempts above the longest one.
    #[error("the backoff of {backoff:?} is longer than the max_backoff of {max_backoff:?}")]
    BackoffAboveMax {
        /// The wait before the second attempt.
        backoff: Duration,
        /// The longest wait.
        max_backoff: Duration,
    },
    /// The checking mode where it would check nothing.
    #[error(
        "check_ppm is {check_ppm}, but only exactly once is checked, and the guarantee is {guarantee}"
    )]
    NothingToCheck {
        /// Roots in a million that were to be tried twice.
        check_ppm: u32,
        /// What is promised.
        guarantee: Guarantee,
    },
}

/// All that is wrong, at least one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildErrors(pub(crate) Vec<BuildError>);

impl BuildErrors {
    /// What is wrong, components first, in the order of their declaration.
    #[must_use]
    pub fn errors(&self) -> &[BuildError] {
        &self.0
    }
}

impl fmt::Display for BuildErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str("; ")?;
            }
            error.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for BuildErrors {}
