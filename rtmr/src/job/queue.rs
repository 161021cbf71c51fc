//! Queues between Map and Reduce. They are the caller's; a full one says so.

use std::collections::VecDeque;
use std::sync::mpsc::{SyncSender, TrySendError};

/// A queue that may be full.
pub trait Queue<T> {
    /// Adds an item at the end, or gives it back.
    ///
    /// # Errors
    /// The item, if there is no room for it now.
    fn offer(&mut self, item: T) -> Result<(), T>;
}

/// A queue of so many items at most, within one thread.
#[derive(Clone, Debug)]
pub struct Bounded<T> {
    items: VecDeque<T>,
    most: usize,
}

impl<T> Bounded<T> {
    /// An empty queue of at most `most` items.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { items: VecDeque::new(), most }
    }

    /// Takes the first item.
    pub fn take(&mut self) -> Option<T> {
        self.items.pop_front()
    }

    /// How many items wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether none waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

impl<T> Queue<T> for Bounded<T> {
    fn offer(&mut self, item: T) -> Result<(), T> {
        if self.items.len() >= self.most {
            return Err(item);
        }
        self.items.push_back(item);
        Ok(())
    }
}

/// To another thread. A receiver that is gone takes nothing any more.
impl<T> Queue<T> for SyncSender<T> {
    fn offer(&mut self, item: T) -> Result<(), T> {
        self.try_send(item).map_err(|error| match error {
            TrySendError::Full(item) | TrySendError::Disconnected(item) => item,
        })
    }
}
