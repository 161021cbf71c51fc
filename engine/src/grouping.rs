//! Which task of a component gets a tuple.

use core::fmt;
use std::sync::Arc;

use crate::batch::{Batch, CloneBatch};
use crate::key::{Key, KeyHasher, hash_key};

/// Hashes the items of a batch from number `out.len()` on: one dynamic call a batch, the loop
/// inside is monomorphic.
pub(crate) type HashAll<B> = Arc<dyn Fn(&B, &mut Vec<u64>) + Send + Sync>;
/// Names the tasks of the items of a batch from number `out.len()` on.
pub(crate) type TaskAll<B> = Arc<dyn Fn(&B, u32, &mut Vec<u32>) + Send + Sync>;
/// Copies one item.
pub(crate) type CopyItem<B> = fn(&B, usize, &mut B);

/// How a stream's tuples are spread over the tasks of the component that takes them in.
pub struct Grouping<B: Batch>(pub(crate) Rule<B>, pub(crate) Option<HashAll<B>>);

pub(crate) enum Rule<B: Batch> {
    Shuffle,
    Fields(HashAll<B>),
    All(CopyItem<B>),
    Global,
    Direct(TaskAll<B>),
    LocalOrShuffle,
    Weighted(Vec<u64>),
}

impl<B: Batch> Clone for Rule<B> {
    fn clone(&self) -> Self {
        match self {
            Rule::Shuffle => Rule::Shuffle,
            Rule::Fields(hash) => Rule::Fields(Arc::clone(hash)),
            Rule::All(copy) => Rule::All(*copy),
            Rule::Global => Rule::Global,
            Rule::Direct(task) => Rule::Direct(Arc::clone(task)),
            Rule::LocalOrShuffle => Rule::LocalOrShuffle,
            Rule::Weighted(weights) => Rule::Weighted(weights.clone()),
        }
    }
}

impl<B: Batch> fmt::Debug for Grouping<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Hashes the items of a batch that have no hash yet.
fn hash_all<B: Batch>(
    hash: impl for<'a> Fn(B::Item<'a>) -> u64 + Send + Sync + 'static,
) -> HashAll<B> {
    Arc::new(move |batch: &B, out: &mut Vec<u64>| {
        for i in out.len()..batch.len() {
            out.push(hash(batch.item(i)));
        }
    })
}

impl<B: Batch> Grouping<B> {
    /// Each task in turn.
    #[must_use]
    pub fn shuffle() -> Self {
        Grouping(Rule::Shuffle, None)
    }

    /// The same task for the same key, whatever the run and the platform.
    ///
    /// ```
    /// # use streamwright::Grouping;
    /// let by_user = Grouping::<Vec<(u64, i32)>>::fields(|order| order.0);
    /// ```
    pub fn fields<K, F>(key: F) -> Self
    where
        K: Key,
        F: for<'a> Fn(B::Item<'a>) -> K + Send + Sync + 'static,
    {
        Self::hashed(move |item| hash_key(&key(item)))
    }

    /// As [`fields`](Self::fields), for keys that borrow from the item.
    pub fn fields_with<F>(key: F) -> Self
    where
        F: for<'a> Fn(B::Item<'a>, &mut KeyHasher) + Send + Sync + 'static,
    {
        Self::hashed(move |item| {
            let mut hasher = KeyHasher::default();
            key(item, &mut hasher);
            hasher.finish()
        })
    }

    /// As [`fields`](Self::fields), the whole item being the key.
    #[must_use]
    pub fn whole() -> Self
    where
        for<'a> B::Item<'a>: Key,
    {
        Self::hashed(|item| hash_key(&item))
    }

    fn hashed(hash: impl for<'a> Fn(B::Item<'a>) -> u64 + Send + Sync + 'static) -> Self {
        Grouping(Rule::Fields(hash_all(hash)), None)
    }

    /// Every task, a copy each.
    #[must_use]
    pub fn all() -> Self
    where
        B: CloneBatch,
    {
        Grouping(Rule::All(B::copy_to), None)
    }

    /// Always task 0.
    #[must_use]
    pub fn global() -> Self {
        Grouping(Rule::Global, None)
    }

    /// The task that `task(item, tasks)` names. A number not below `tasks` fails the tuple's root.
    pub fn direct<F>(task: F) -> Self
    where
        F: for<'a> Fn(B::Item<'a>, u32) -> u32 + Send + Sync + 'static,
    {
        let all = move |batch: &B, tasks, out: &mut Vec<u32>| {
            for i in out.len()..batch.len() {
                out.push(task(batch.item(i), tasks));
            }
        };
        Grouping(Rule::Direct(Arc::new(all)), None)
    }

    /// Tasks of the sender's worker in turn, else of its node, else all.
    #[must_use]
    pub fn local_or_shuffle() -> Self {
        Grouping(Rule::LocalOrShuffle, None)
    }

    /// Tasks in proportion to their weights, evenly interleaved (smooth weighted round robin).
    /// One weight a task, at least one above zero, their sum at most `2^53`; `build` checks.
    #[must_use]
    pub fn weighted(weights: impl Into<Vec<u64>>) -> Self {
        Grouping(Rule::Weighted(weights.into()), None)
    }

    /// Lets the checking mode of exactly once see the items themselves: a replay that leads to items
    /// of other hashes, or to the same in another order, names the bolt that emitted them. Without it
    /// the mode sees how many tuples there are, and the keys of a keyed stream. Costs nothing where
    /// [`Config::check_ppm`](crate::Config::check_ppm) is 0.
    ///
    /// ```
    /// # use streamwright::{Grouping, hash_key};
    /// let orders = Grouping::<Vec<(u64, i32)>>::fields(|order| order.0)
    ///     .checked_by(|order| hash_key(order));
    /// ```
    #[must_use]
    pub fn checked_by<F>(mut self, hash: F) -> Self
    where
        F: for<'a> Fn(B::Item<'a>) -> u64 + Send + Sync + 'static,
    {
        self.1 = Some(hash_all(hash));
        self
    }

    /// The grouping's name, as in drawings and reports.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self.0 {
            Rule::Shuffle => "shuffle",
            Rule::Fields(_) => "fields",
            Rule::All(_) => "all",
            Rule::Global => "global",
            Rule::Direct(_) => "direct",
            Rule::LocalOrShuffle => "local-or-shuffle",
            Rule::Weighted(_) => "weighted",
        }
    }
}
