//! Messages to a tracker as values, for batches.

use crate::{Delta, Error, RootId, Update};

/// A message about one root, as [`Tracker::apply`](crate::Tracker::apply) takes them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Op {
    /// The root in question.
    pub root: RootId,
    /// What is told of it.
    pub message: Message,
}

/// What a message tells of its root.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Message {
    /// As [`Tracker::init`](crate::Tracker::init).
    Init {
        /// The task that announces the root.
        task: u32,
        /// The root's children.
        produced: Delta,
    },
    /// As [`Tracker::update`](crate::Tracker::update).
    Update(Update),
    /// As [`Tracker::fail`](crate::Tracker::fail).
    Fail,
    /// As [`Tracker::touch`](crate::Tracker::touch).
    Touch,
}

impl Op {
    /// `task` announces `root` with its children `produced`. O(1).
    #[must_use]
    pub const fn init(root: RootId, task: u32, produced: Delta) -> Self {
        Self { root, message: Message::Init { task, produced } }
    }

    /// A tuple of the tree of `root` is finished. O(1).
    #[must_use]
    pub const fn ack(root: RootId, consumed: Delta, produced: Delta) -> Self {
        Self { root, message: Message::Update(Update::new(consumed, produced)) }
    }

    /// A tuple of the tree of `root` failed. O(1).
    #[must_use]
    pub const fn fail(root: RootId) -> Self {
        Self { root, message: Message::Fail }
    }

    /// The tree of `root` is alive. O(1).
    #[must_use]
    pub const fn touch(root: RootId) -> Self {
        Self { root, message: Message::Touch }
    }
}

/// A message of a batch that was refused; it changed nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refused {
    /// Its index in the batch.
    pub at: usize,
    /// Why.
    pub error: Error,
}
