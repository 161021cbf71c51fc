//! What can be wrong with an input.

/// A stage of the pipeline, where a queue may grow without end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// The Map stage.
    Map,
    /// The connections from Map to Reduce nodes.
    Net,
    /// The Reduce stage, or its hottest partition.
    Reduce,
}

/// Why there is no result: the culprit, and the rule that it breaks.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A number that breaks a rule.
    #[error("{what} is {value}: {rule}")]
    Number {
        /// What the number is.
        what: &'static str,
        /// The number; may be NaN.
        value: f64,
        /// The rule.
        rule: &'static str,
    },
    /// A number of a list that breaks a rule.
    #[error("{what} of {index} is {value}: {rule}")]
    Item {
        /// What the number is.
        what: &'static str,
        /// Its place in the list, from 0.
        index: usize,
        /// The number; may be NaN.
        value: f64,
        /// The rule.
        rule: &'static str,
    },
    /// A count that breaks a rule.
    #[error("{count} {what}: {rule}")]
    Count {
        /// What is counted.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// The rule.
        rule: &'static str,
    },
    /// An entry is owned by a node that is not there.
    #[error("entry {entry} is owned by node {owner}, there are {nodes} nodes")]
    UnknownNode {
        /// The entry.
        entry: usize,
        /// Its owner.
        owner: u32,
        /// Number of nodes.
        nodes: usize,
    },
    /// A sum is larger than its type holds.
    #[error("the sum of {what} overflows: use a larger unit")]
    Overflow {
        /// What is summed.
        what: &'static str,
    },
    /// More arrives at a stage than it can do: its queue grows without end, and no latency is
    /// true of it.
    #[error("{stage:?} gets {arrivals} and can do {service}: the queue grows without end")]
    Unstable {
        /// The stage.
        stage: Stage,
        /// What arrives, a unit of time.
        arrivals: f64,
        /// What can be done, a unit of time.
        service: f64,
    },
    /// No split gives the nodes what is asked.
    #[error("no split: {rule}")]
    NoSplit {
        /// What is missing.
        rule: &'static str,
    },
}

/// `value`, if it is finite and not below zero.
pub(crate) fn non_negative(what: &'static str, value: f64) -> Result<f64, Error> {
    if value.is_finite() && value >= 0.0 {
        return Ok(value);
    }
    Err(Error::Number { what, value, rule: "must be finite and not below 0" })
}

/// `value`, if it is finite and above zero.
pub(crate) fn positive(what: &'static str, value: f64) -> Result<f64, Error> {
    if value.is_finite() && value > 0.0 {
        return Ok(value);
    }
    Err(Error::Number { what, value, rule: "must be finite and above 0" })
}
