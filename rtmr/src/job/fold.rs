//! I: the intermediate results, and P, which merges them.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;

use super::traits::{Mapper, Reducer, State, StateOf, Timed};
use crate::store::Mixed;

/// The state of a key without values.
pub(super) fn empty<R: Reducer>(reducer: &R) -> StateOf<R> {
    State { acc: reducer.zero(), latest: 0, list: Vec::new() }
}

/// Adds one value to a state.
pub(super) fn add<R: Reducer>(reducer: &R, state: &mut StateOf<R>, time: u64, value: R::Value) {
    reducer.add(&mut state.acc, &value);
    state.latest = state.latest.max(time);
    if R::LISTS {
        join(&mut state.list, Timed { time, value });
    }
}

/// Puts a value behind those of its time and before later ones; most come in order.
pub(super) fn join<V>(list: &mut Vec<Timed<V>>, new: Timed<V>) {
    if list.len() == list.capacity() {
        // Many lists are short, and one that was just read back is full: little of it is unused.
        list.reserve_exact((list.len() / 4).max(1));
    }
    let at = match list.last() {
        Some(last) if last.time > new.time => list.partition_point(|held| held.time <= new.time),
        _ => list.len(),
    };
    list.insert(at, new);
}

/// P(I, J): merges what is known of one key. The lists are merged by time, those of `other` behind
/// those of the same time.
pub fn merge<R: Reducer>(reducer: &R, state: &mut StateOf<R>, other: StateOf<R>) {
    reducer.merge(&mut state.acc, other.acc);
    state.latest = state.latest.max(other.latest);
    other.list.into_iter().for_each(|timed| join(&mut state.list, timed));
}

/// I_Δ of the records of a batch, by key: each value is combined as it is emitted.
///
/// Keys are given out in the order in which they first came, whatever their hash.
pub struct Partial<R: Reducer> {
    at: HashMap<R::Key, usize, Mixed>,
    states: Vec<(R::Key, StateOf<R>)>,
}

impl<R: Reducer> fmt::Debug for Partial<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Partial").field("keys", &self.states.len()).finish_non_exhaustive()
    }
}

impl<R: Reducer> Default for Partial<R> {
    fn default() -> Self {
        Self { at: HashMap::default(), states: Vec::new() }
    }
}

impl<R: Reducer> Partial<R>
where
    R::Key: Hash,
{
    /// I_Δ of `records`, of those keys only that `keep` picks: σ_K(M(Δ)), Theorem 2's selection.
    pub fn of<'a, M>(
        mapper: &M,
        reducer: &R,
        records: impl IntoIterator<Item = &'a M::In>,
        keep: impl Fn(&R::Key) -> bool,
    ) -> Self
    where
        M: Mapper<Key = R::Key, Value = R::Value>,
        M::In: 'a,
    {
        let mut partial = Self::default();
        for record in records {
            mapper.map(record, &mut |key, time, value| {
                if keep(&key) {
                    partial.add(reducer, key, time, value);
                }
            });
        }
        partial
    }

    /// Combines one more value. O(1), and what the reducer takes.
    pub fn add(&mut self, reducer: &R, key: R::Key, time: u64, value: R::Value) {
        let at = match self.at.get(&key) {
            Some(&at) => at,
            None => {
                self.at.insert(key.clone(), self.states.len());
                self.states.push((key, empty(reducer)));
                self.states.len() - 1
            }
        };
        add(reducer, &mut self.states[at].1, time, value);
    }

    /// How many keys there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// The states by key, in the order in which the keys came; nothing is left.
    pub fn take(&mut self) -> Vec<(R::Key, StateOf<R>)> {
        self.at.clear();
        std::mem::take(&mut self.states)
    }
}
