//! How a root ends, and how that is told.

use crate::RootId;

/// How a root ended. Every accepted init ends in exactly one of these.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Outcome {
    /// Every tuple of the tree has been processed (the check value is zero).
    Done,
    /// Some task said so with [`Tracker::fail`](crate::Tracker::fail).
    Failed,
    /// The tree was not complete in time.
    TimedOut,
}

/// The end of one root, to be told to the task that announced it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Verdict {
    /// The root, as given to [`Tracker::init`](crate::Tracker::init).
    pub root: RootId,
    /// The task, as given to [`Tracker::init`](crate::Tracker::init).
    pub task: u32,
    /// How it ended.
    pub outcome: Outcome,
}

/// What a message did to its root.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use = "a verdict is handed out once"]
pub enum Applied {
    /// The root is known and goes on.
    Pending,
    /// No init has been seen for the root: early, or late after the verdict.
    Orphan,
    /// The root has ended and is forgotten.
    Verdict(Verdict),
}
