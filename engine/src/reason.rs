//! Why attempts fail.

use core::fmt;
use core::time::Duration;

/// Why a root's attempt failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// A bolt returned an error; the text holds its whole chain.
    #[error("{component}[{task}] failed: {message}")]
    Failed {
        /// The bolt.
        component: String,
        /// Its task's number, from 0.
        task: u32,
        /// The error and what it says caused it.
        message: String,
    },
    /// A bolt panicked.
    #[error("{component}[{task}] panicked: {message}")]
    Panicked {
        /// The bolt.
        component: String,
        /// Its task's number, from 0.
        task: u32,
        /// The panic's message, if it had one.
        message: String,
    },
    /// No sign of life within the time-out: something of it was lost or is stuck.
    #[error("no sign of life for {}{}", Human(*.timeout), Seen(.last_seen.as_deref()))]
    TimedOut {
        /// The time-out in force.
        timeout: Duration,
        /// The component where it was last known to wait, if any.
        last_seen: Option<String>,
    },
    /// A record was larger than the limit.
    #[error("{component}[{task}] emitted a record of {size} bytes, over the limit of {limit}")]
    TooLarge {
        /// The component that emitted it.
        component: String,
        /// Its task's number, from 0.
        task: u32,
        /// Its size in bytes.
        size: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// The bolt deferred the tuple and did not give its ticket back in time.
    #[error(
        "{component}[{task}] left a ticket open for {} after a flush: it was dropped, or what it \
         waits for did not come", Human(*.limit)
    )]
    TicketExpired {
        /// The bolt.
        component: String,
        /// Its task's number, from 0.
        task: u32,
        /// The limit in force.
        limit: Duration,
    },
    /// The combiner of a stream panicked on a tuple, or what it made of several cannot be had.
    #[error("the combiner of the stream into {component} failed: {message}")]
    Combiner {
        /// The component it was for.
        component: String,
        /// The panic's message, if it had one, or why what was combined failed.
        message: String,
    },
    /// The grouping of a stream panicked on the tuple.
    #[error("the grouping of the stream into {component} panicked: {message}")]
    Grouping {
        /// The component it was for.
        component: String,
        /// The panic's message, if it had one.
        message: String,
    },
    /// Direct grouping named a task that there is not.
    #[error("direct grouping named task {task} of {component}, which has {tasks}")]
    NoSuchTask {
        /// The component it was for.
        component: String,
        /// The task named.
        task: u32,
        /// The tasks there are.
        tasks: u32,
    },
}

impl Reason {
    /// Whether another attempt may end otherwise. A record over the limit stays over it.
    #[must_use]
    pub fn worth_a_retry(&self) -> bool {
        !matches!(self, Reason::TooLarge { .. })
    }
}

struct Human(Duration);

impl fmt::Display for Human {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

struct Seen<'a>(Option<&'a str>);

impl fmt::Display for Seen<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(component) => write!(f, ", last seen waiting at {component}"),
            None => Ok(()),
        }
    }
}

/// Causes of an error that are told: an error may name itself as its cause.
const CHAIN: usize = 32;

/// An error with all that it says caused it, in one line.
pub(crate) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    for _ in 0..CHAIN {
        let Some(cause) = source else { break };
        let cause_text = cause.to_string();
        // Errors that already quote their cause are not quoted twice.
        if !text.ends_with(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}
