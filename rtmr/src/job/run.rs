//! A job: its mapper, its reducer, and the store of its history.

use std::fmt;

use super::fold::{add, empty, join, merge};
use super::traits::{Mapper, Reducer, StateOf};
use crate::store::{Fate, Mixed, NoSpill, Place, Spill, Store, StoreError};

/// The store of a reducer's history.
pub type StoreOf<R, S = NoSpill, P = Mixed> = Store<<R as Reducer>::Key, StateOf<R>, S, P>;

/// What an eviction took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Expired {
    /// Values, if they are kept.
    pub values: u64,
    /// Keys of which nothing is left.
    pub keys: u64,
}

/// MR(Δ | I): records are mapped, each value is merged into what is known of its key.
pub struct Job<M, R: Reducer, S = NoSpill, P = Mixed> {
    mapper: M,
    reducer: R,
    store: StoreOf<R, S, P>,
    /// Values before this time are gone, and new ones are not taken.
    horizon: u64,
    late: u64,
    /// Where sweeping goes on.
    next: u32,
}

impl<M, R: Reducer, S, P> fmt::Debug for Job<M, R, S, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Job");
        shown.field("horizon", &self.horizon).field("late", &self.late).finish_non_exhaustive()
    }
}

impl<M, R, S, P> Job<M, R, S, P>
where
    M: Mapper<Key = R::Key, Value = R::Value>,
    R: Reducer,
    S: Spill,
    P: Place<R::Key>,
{
    /// A job over the history that `store` holds. The horizon is not part of a checkpoint: after a
    /// store was reopened, [`advance`](Self::advance) to where it was.
    pub fn new(mapper: M, reducer: R, store: StoreOf<R, S, P>) -> Self {
        Self { mapper, reducer, store, horizon: 0, late: 0, next: 0 }
    }

    /// Merges `records` into the history. What a value finds there goes to `emit` as it comes.
    ///
    /// Each value is combined into the store as it is emitted: one look-up a value.
    ///
    /// # Errors
    /// What the store says, and how many records were merged whole: of the one that failed the
    /// values before the failure were merged, too, so that only the values of a record that has
    /// one key are all or nothing.
    pub fn feed<'a>(
        &mut self,
        records: impl IntoIterator<Item = &'a M::In>,
        emit: impl FnMut(&R::Key, R::Out),
    ) -> Result<(), (usize, StoreError)>
    where
        M::In: 'a,
    {
        self.feed_where(records, |_| true, emit)
    }

    /// The same of those keys only that `keep` picks, MR(σ_K(M(Δ)) | I): RTMR(0), where every
    /// node maps every record and keeps its own keys.
    ///
    /// # Errors
    /// Those of [`feed`](Self::feed).
    pub fn feed_where<'a>(
        &mut self,
        records: impl IntoIterator<Item = &'a M::In>,
        keep: impl Fn(&R::Key) -> bool,
        mut emit: impl FnMut(&R::Key, R::Out),
    ) -> Result<(), (usize, StoreError)>
    where
        M::In: 'a,
    {
        let Self { mapper, reducer, store, horizon, late, .. } = self;
        for (at, record) in records.into_iter().enumerate() {
            let mut failed = None;
            mapper.map(record, &mut |key, time, value| {
                if failed.is_some() || !keep(&key) {
                    return;
                }
                if time < *horizon {
                    *late += 1;
                    return;
                }
                let arrive = |key: &R::Key, state: &mut StateOf<R>| {
                    if R::LISTS {
                        expire(&*reducer, state, *horizon);
                        reducer.arrive(key, time, &value, &state.list, &mut |out| emit(key, out));
                    }
                    add(&*reducer, state, time, value);
                };
                failed = store.update(key, || empty(&*reducer), arrive).err();
            });
            if let Some(failed) = failed {
                return Err((at, failed));
            }
        }
        Ok(())
    }

    /// Merges what other nodes have made of their records, P(I, I_Δ): the Reduce side of RTMR(x).
    ///
    /// # Errors
    /// What the store says, and how many of the states were merged; the rest is given back.
    #[allow(clippy::type_complexity, reason = "what is left, and why")]
    pub fn absorb(
        &mut self,
        partial: Vec<(R::Key, StateOf<R>)>,
        mut emit: impl FnMut(&R::Key, R::Out),
    ) -> Result<(), (Vec<(R::Key, StateOf<R>)>, StoreError)>
    where
        R::Key: Clone,
    {
        let Self { reducer, store, horizon, late, .. } = self;
        let mut rest = partial.into_iter();
        while let Some((key, mut other)) = rest.next() {
            if other.latest < *horizon {
                *late += other.list.len().max(1) as u64;
                continue;
            }
            *late += expire(&*reducer, &mut other, *horizon);
            let mut other = Some(other);
            let done = store.update(
                key.clone(),
                || empty(&*reducer),
                |key, state| {
                    let Some(other) = other.take() else { return };
                    if !R::LISTS {
                        return merge(&*reducer, state, other);
                    }
                    expire(&*reducer, state, *horizon);
                    reducer.merge(&mut state.acc, other.acc);
                    state.latest = state.latest.max(other.latest);
                    for timed in other.list {
                        let (time, value) = (timed.time, &timed.value);
                        reducer.arrive(key, time, value, &state.list, &mut |out| emit(key, out));
                        join(&mut state.list, timed);
                    }
                },
            );
            if let Err(error) = done {
                let first = other.map(|other| (key, other));
                return Err((first.into_iter().chain(rest).collect(), error));
            }
        }
        Ok(())
    }

    /// Merges history in bulk, without results: entry by entry, so that each is read and written
    /// once a call, however large it is. O(n log n) for n values.
    ///
    /// # Errors
    /// What the store says; an unknown part was merged then.
    pub fn preload<'a>(
        &mut self,
        history: impl IntoIterator<Item = &'a M::In>,
    ) -> Result<(), StoreError>
    where
        M::In: 'a,
    {
        let mut values = Vec::new();
        let (store, horizon, late) = (&self.store, self.horizon, &mut self.late);
        for record in history {
            self.mapper.map(record, &mut |key, time, value| {
                if time < horizon {
                    *late += 1;
                } else {
                    values.push((store.entry_of(&key), key, time, value));
                }
            });
        }
        // Stable: values of one time stay as they came.
        values.sort_by(|a, b| (a.0, &a.1, a.2).cmp(&(b.0, &b.1, b.2)));
        for (_, key, time, value) in values {
            let reducer = &self.reducer;
            let change = |_: &R::Key, state: &mut StateOf<R>| add(reducer, state, time, value);
            self.store.update(key, || empty(reducer), change)?;
        }
        Ok(())
    }

    /// Lets values before `time` go, and takes none any more. A reducer that keeps no lists loses
    /// the keys whose latest value is before it, and no part of any other.
    ///
    /// Lists forget at once when their key is next used; this call visits all the rest, and reads
    /// back what was spilled: see [`sweep`](Self::sweep) for a bounded share of that.
    ///
    /// # Errors
    /// Those of [`sweep`](Self::sweep).
    pub fn evict_before(&mut self, time: u64) -> Result<Expired, (Expired, StoreError)> {
        self.horizon = self.horizon.max(time);
        self.next = 0;
        self.sweep(1 << self.store.bits())
    }

    /// Moves the horizon without visiting anything.
    pub fn advance(&mut self, time: u64) {
        self.horizon = self.horizon.max(time);
    }

    /// Visits the next `entries` entries in turn, and lets go what is before the horizon.
    ///
    /// # Errors
    /// What the store says, and what has expired. An entry that is larger than the budget or
    /// damaged is passed over, the first of them is told, and the others are visited all the same;
    /// after any other error the call ends, and the next one tries that entry again.
    pub fn sweep(&mut self, entries: u32) -> Result<Expired, (Expired, StoreError)> {
        let (mut expired, mut passed) = (Expired::default(), None);
        for _ in 0..entries {
            let (reducer, horizon) = (&self.reducer, self.horizon);
            let visited = self.store.retain(self.next, |_, state| {
                if state.latest < horizon {
                    expired.keys += 1;
                    expired.values += state.list.len() as u64;
                    return Fate::Drop;
                }
                let gone = expire(reducer, state, horizon);
                expired.values += gone;
                if gone == 0 { Fate::Keep } else { Fate::Changed }
            });
            if let Err(error) = visited {
                use StoreError::{Corrupt, Entry, EntryExceedsBudget};
                if !matches!(error, EntryExceedsBudget { .. } | Corrupt { .. } | Entry { .. }) {
                    return Err((expired, error));
                }
                passed.get_or_insert(error);
            }
            self.next = (self.next + 1) & ((1 << self.store.bits()) - 1);
        }
        match passed {
            None => Ok(expired),
            Some(error) => Err((expired, error)),
        }
    }

    /// The result of a key; `None` if nothing is known of it, or there is nothing to say.
    ///
    /// # Errors
    /// What the store says.
    pub fn result(&mut self, key: &R::Key) -> Result<Option<R::Out>, StoreError> {
        let (reducer, horizon) = (&self.reducer, self.horizon);
        let Some(state) = self.store.get(key)?.filter(|state| state.latest >= horizon) else {
            return Ok(None);
        };
        if state.list.first().is_none_or(|first| first.time >= horizon) {
            return Ok(reducer.result(key, state));
        }
        // Some values have expired since the key was used last.
        self.store.update(
            key.clone(),
            || empty(reducer),
            |key, state| {
                expire(reducer, state, horizon);
                reducer.result(key, state)
            },
        )
    }

    /// The results of all keys: by entry, and ascending within each.
    ///
    /// # Errors
    /// What the store says; the results before were given.
    pub fn results(&mut self, mut emit: impl FnMut(&R::Key, R::Out)) -> Result<(), StoreError> {
        self.sweep(1 << self.store.bits()).map_err(|(_, error)| error)?;
        let reducer = &self.reducer;
        self.store.for_each(|key, state| {
            if let Some(out) = reducer.result(key, state) {
                emit(key, out);
            }
        })
    }

    /// The store: loads and bytes of entries, hand-over, checkpoints.
    pub fn store(&mut self) -> &mut StoreOf<R, S, P> {
        &mut self.store
    }

    /// The reducer.
    pub fn reducer(&self) -> &R {
        &self.reducer
    }

    /// The mapper.
    pub fn mapper(&self) -> &M {
        &self.mapper
    }

    /// How many values came too late to be taken.
    pub fn late(&self) -> u64 {
        self.late
    }
}

/// Lets the values before `horizon` go; how many there were.
fn expire<R: Reducer>(reducer: &R, state: &mut StateOf<R>, horizon: u64) -> u64 {
    if state.list.first().is_none_or(|first| first.time >= horizon) {
        return 0;
    }
    let gone = state.list.partition_point(|timed| timed.time < horizon);
    let mut subtracted = true;
    for timed in state.list.drain(..gone) {
        subtracted = subtracted && reducer.subtract(&mut state.acc, &timed.value);
    }
    if !subtracted {
        state.acc = reducer.zero();
        state.list.iter().for_each(|timed| reducer.add(&mut state.acc, &timed.value));
    }
    if state.list.len() < state.list.capacity() / 2 {
        state.list.shrink_to(state.list.len() * 3 / 2);
    }
    gone as u64
}
