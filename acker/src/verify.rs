//! Checks the log of a run with exact sets of ids, sharing no code with the tracker.
//!
//! Write down every message that a tracker accepts, in the order in which it does, and
//! every verdict, at the moment it is handed out. [`verify`] then replays the log: it keeps
//! all ids of all trees, in memory that the tracker exists to avoid.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::fmt;

use crate::{EdgeId, Outcome, RootId, Verdict};

/// One line of the log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// An init was accepted (one that was refused is not logged).
    Init {
        /// The root that was announced.
        root: RootId,
        /// The task that announced it.
        task: u32,
        /// The ids of its children.
        produced: Vec<EdgeId>,
    },
    /// A tuple was finished.
    Ack {
        /// The root of its tree.
        root: RootId,
        /// The ids it came by.
        consumed: Vec<EdgeId>,
        /// The ids of every copy it sent.
        produced: Vec<EdgeId>,
    },
    /// A tuple failed.
    Fail {
        /// The root of its tree.
        root: RootId,
    },
    /// The tracker handed out a verdict.
    Verdict(Verdict),
}

/// What is wrong with a log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Violation {
    /// A second init of the same root was accepted. A replay needs a new track id.
    InitTwice {
        /// The root in question.
        root: RootId,
    },
    /// An id was announced twice, so that XOR would cancel it.
    ProducedTwice {
        /// The root in question.
        root: RootId,
        /// The id in question.
        id: EdgeId,
    },
    /// An id was consumed twice, so that XOR would cancel it.
    ConsumedTwice {
        /// The root in question.
        root: RootId,
        /// The id in question.
        id: EdgeId,
    },
    /// A verdict without an init.
    VerdictBeforeInit {
        /// The root in question.
        root: RootId,
    },
    /// A second verdict for one init.
    VerdictTwice {
        /// The root in question.
        root: RootId,
    },
    /// A verdict that names another task than its init.
    WrongTask {
        /// The root in question.
        root: RootId,
        /// The task of the verdict.
        task: u32,
    },
    /// Done, though this id is announced and not consumed, or the other way round.
    DoneTooEarly {
        /// The root in question.
        root: RootId,
        /// The smallest id that is open.
        open: EdgeId,
    },
    /// Done, though a tuple had failed.
    DoneAfterFail {
        /// The root in question.
        root: RootId,
    },
    /// Failed, though no tuple had.
    FailedWithoutFail {
        /// The root in question.
        root: RootId,
    },
    /// The log ends and an accepted init has no verdict.
    NoVerdict {
        /// The smallest such root.
        root: RootId,
    },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::InitTwice { root } => write!(f, "root {root} was announced twice"),
            Self::ProducedTwice { root, id } => write!(f, "root {root}: {id} was produced twice"),
            Self::ConsumedTwice { root, id } => write!(f, "root {root}: {id} was consumed twice"),
            Self::VerdictBeforeInit { root } => write!(f, "root {root} ended before its init"),
            Self::VerdictTwice { root } => write!(f, "root {root} ended twice"),
            Self::WrongTask { root, task } => {
                write!(f, "root {root} did not come from task {task}")
            }
            Self::DoneTooEarly { root, open } => {
                write!(f, "root {root} was done while {open} was open")
            }
            Self::DoneAfterFail { root } => write!(f, "root {root} was done after a failure"),
            Self::FailedWithoutFail { root } => write!(f, "root {root} failed without a failure"),
            Self::NoVerdict { root } => write!(f, "root {root} never ended"),
        }
    }
}

impl core::error::Error for Violation {}

/// A log in the making: a plain list of [`Event`]s.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Ledger {
    events: Vec<Event>,
}

impl Ledger {
    /// An empty log.
    #[must_use]
    pub const fn new() -> Self {
        Self { events: Vec::new() }
    }

    /// Writes one line. O(1), amortised.
    pub fn push(&mut self, event: Event) {
        self.events.push(event);
    }

    /// The lines so far.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// [`verify`] of the lines so far.
    ///
    /// # Errors
    ///
    /// The first [`Violation`].
    pub fn verify(&self) -> Result<(), Violation> {
        verify(&self.events)
    }
}

/// One tree, id by id.
#[derive(Default)]
struct Tree {
    task: Option<u32>,
    produced: BTreeSet<EdgeId>,
    consumed: BTreeSet<EdgeId>,
    failed: bool,
    ended: bool,
}

impl Tree {
    fn produce(&mut self, root: RootId, ids: &[EdgeId]) -> Result<(), Violation> {
        match ids.iter().find(|&&id| !self.produced.insert(id)) {
            Some(&id) => Err(Violation::ProducedTwice { root, id }),
            None => Ok(()),
        }
    }

    fn consume(&mut self, root: RootId, ids: &[EdgeId]) -> Result<(), Violation> {
        match ids.iter().find(|&&id| !self.consumed.insert(id)) {
            Some(&id) => Err(Violation::ConsumedTwice { root, id }),
            None => Ok(()),
        }
    }

    fn end(&mut self, Verdict { root, task, outcome }: Verdict) -> Result<(), Violation> {
        let Some(announced_by) = self.task else {
            return Err(Violation::VerdictBeforeInit { root });
        };
        if core::mem::replace(&mut self.ended, true) {
            return Err(Violation::VerdictTwice { root });
        }
        if task != announced_by {
            return Err(Violation::WrongTask { root, task });
        }
        let open = self.produced.symmetric_difference(&self.consumed).next();
        match (outcome, open) {
            (Outcome::Done, Some(&open)) => Err(Violation::DoneTooEarly { root, open }),
            (Outcome::Done, None) if self.failed => Err(Violation::DoneAfterFail { root }),
            (Outcome::Failed, _) if !self.failed => Err(Violation::FailedWithoutFail { root }),
            _ => Ok(()),
        }
    }
}

/// Replays a finished run and checks every verdict.
///
/// The rules: a root is announced once and ends once, at its own task; it is done only
/// when every id announced has been consumed and no tuple has failed (paper section 2, "one
/// complete processing"); it fails only if a
/// tuple has; every id is produced once and consumed once in its tree. A time-out is
/// legal at any moment, as the log has no clock, and so are messages after the verdict
/// and messages whose init never came. O(ids · log ids) time, O(ids) space.
///
/// # Errors
///
/// The first [`Violation`] in the order of the log; then [`Violation::NoVerdict`].
pub fn verify(events: &[Event]) -> Result<(), Violation> {
    let mut trees = BTreeMap::<RootId, Tree>::new();
    for event in events {
        match event {
            Event::Init { root, task, produced } => {
                let tree = trees.entry(*root).or_default();
                if tree.task.replace(*task).is_some() {
                    return Err(Violation::InitTwice { root: *root });
                }
                tree.produce(*root, produced)?;
            }
            Event::Ack { root, consumed, produced } => {
                let tree = trees.entry(*root).or_default();
                tree.consume(*root, consumed)?;
                tree.produce(*root, produced)?;
            }
            Event::Fail { root } => trees.entry(*root).or_default().failed = true,
            Event::Verdict(verdict) => trees.entry(verdict.root).or_default().end(*verdict)?,
        }
    }
    match trees.iter().find(|(_, tree)| tree.task.is_some() && !tree.ended) {
        Some((&root, _)) => Err(Violation::NoVerdict { root }),
        None => Ok(()),
    }
}
