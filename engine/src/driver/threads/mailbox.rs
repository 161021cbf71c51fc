//! One worker's mailbox: bounded queues for batches, an unbounded lane for everything else.
//!
//! Nobody waits for room: a batch that finds its queue full is given back, and its sender is woken
//! once there is room. Lock order: one mailbox at a time.

use std::time::Duration;

use super::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A mailbox of posts of type `P`, with a bounded queue for each of several components.
#[derive(Debug)]
pub(crate) struct Mailbox<P> {
    inner: Mutex<Inner<P>>,
    arrived: Condvar,
    capacity: usize,
}

#[derive(Debug)]
struct Inner<P> {
    posts: Vec<P>,
    /// Batches of each component taken in and not yet done.
    taken: Vec<usize>,
    /// Senders that found the queue of a component full.
    refused: Vec<Vec<u32>>,
    woken: bool,
    /// Whether the owner sleeps: else there is nobody to notify, and no call of the kernel.
    parked: bool,
}

impl<P> Mailbox<P> {
    /// Posts that a list holds before it grows.
    pub(crate) const ROOM: usize = 512;

    pub(crate) fn new(components: usize, capacity: usize) -> Self {
        Mailbox {
            inner: Mutex::new(Inner {
                posts: Vec::with_capacity(Self::ROOM),
                taken: vec![0; components],
                refused: vec![Vec::new(); components],
                woken: false,
                parked: false,
            }),
            arrived: Condvar::new(),
            capacity,
        }
    }

    /// A panic elsewhere must not make this one: the state is whole between any two statements.
    fn lock(&self) -> MutexGuard<'_, Inner<P>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a batch into the queue of `component`, or gives it back and notes whom to wake.
    pub(crate) fn offer(&self, component: u32, from: u32, post: P) -> Result<(), P> {
        let mut inner = self.lock();
        let c = component as usize;
        if inner.taken[c] >= self.capacity {
            if !inner.refused[c].contains(&from) {
                inner.refused[c].push(from);
            }
            return Err(post);
        }
        inner.taken[c] += 1;
        inner.posts.push(post);
        self.notify(inner);
        Ok(())
    }

    /// Puts in a post that is not bounded.
    pub(crate) fn post(&self, post: P) {
        let mut inner = self.lock();
        inner.posts.push(post);
        self.notify(inner);
    }

    fn notify(&self, inner: MutexGuard<'_, Inner<P>>) {
        let parked = inner.parked;
        drop(inner);
        if parked {
            self.arrived.notify_one();
        }
    }

    /// Puts in a post that nobody needs to be woken for.
    pub(crate) fn leave(&self, post: P) {
        self.lock().posts.push(post);
    }

    /// Wakes the owner, or keeps it from its next sleep.
    pub(crate) fn wake(&self) {
        let mut inner = self.lock();
        inner.woken = true;
        self.notify(inner);
    }

    /// The owner is done with a batch of `component`: fills `wake` with the senders to wake.
    pub(crate) fn consumed(&self, component: u32, wake: &mut Vec<u32>) {
        let mut inner = self.lock();
        let c = component as usize;
        inner.taken[c] = inner.taken[c].saturating_sub(1);
        wake.append(&mut inner.refused[c]);
    }

    /// Batches of each component that were put in and are not done.
    pub(crate) fn held(&self) -> Vec<usize> {
        self.lock().taken.clone()
    }

    /// Takes all posts, in order; leaves `into`'s memory in their place.
    pub(crate) fn take(&self, into: &mut Vec<P>) {
        std::mem::swap(&mut self.lock().posts, into);
    }

    /// Drops all posts and forgets who waits for room: nobody will take them, or nobody does yet.
    pub(crate) fn clear(&self) {
        let mut inner = self.lock();
        let posts = std::mem::take(&mut inner.posts);
        inner.taken.fill(0);
        inner.refused.iter_mut().for_each(Vec::clear);
        inner.woken = false;
        drop(inner);
        drop(posts);
    }

    /// Sleeps until something arrives, someone wakes the owner, or `timeout` has passed.
    pub(crate) fn park(&self, timeout: Duration) {
        let mut inner = self.lock();
        if inner.posts.is_empty() && !inner.woken {
            inner.parked = true;
            inner = self
                .arrived
                .wait_timeout(inner, timeout)
                .map_or_else(|poison| poison.into_inner().0, |(inner, _)| inner);
        }
        inner.woken = false;
        inner.parked = false;
    }
}
