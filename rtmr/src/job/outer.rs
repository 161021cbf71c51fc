//! Results written through to a store outside: a database, a cache, a file.

use std::collections::{BTreeMap, VecDeque};

/// A store of results outside of the job.
pub trait Outer<K, O> {
    /// Why a result was not taken.
    type Error;

    /// Sets the result of a key; a later one of the same key takes its place.
    ///
    /// # Errors
    /// When it is not taken; it is offered again.
    fn put(&mut self, key: &K, result: &O) -> Result<(), Self::Error>;
}

impl<K: Ord + Clone, O: Clone> Outer<K, O> for BTreeMap<K, O> {
    type Error = std::convert::Infallible;

    fn put(&mut self, key: &K, result: &O) -> Result<(), Self::Error> {
        self.insert(key.clone(), result.clone());
        Ok(())
    }
}

/// Results on their way out, in order. What the outer store refuses waits, and nothing is lost or
/// overtaken; a result that is taken was offered once, and one that is refused again and again.
#[derive(Clone, Debug)]
pub struct WriteThrough<K, O> {
    waiting: VecDeque<(K, O)>,
}

impl<K, O> Default for WriteThrough<K, O> {
    fn default() -> Self {
        Self { waiting: VecDeque::new() }
    }
}

impl<K, O> WriteThrough<K, O> {
    /// Adds a result, behind those that wait. O(1).
    pub fn push(&mut self, key: K, result: O) {
        self.waiting.push_back((key, result));
    }

    /// Writes what waits, in order, and tells how many were taken.
    ///
    /// # Errors
    /// The first refusal; that result and those behind it wait on.
    pub fn flush<S: Outer<K, O>>(&mut self, outer: &mut S) -> Result<usize, S::Error> {
        let mut taken = 0;
        while let Some((key, result)) = self.waiting.front() {
            outer.put(key, result)?;
            self.waiting.pop_front();
            taken += 1;
        }
        Ok(taken)
    }

    /// How many results wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }
}
