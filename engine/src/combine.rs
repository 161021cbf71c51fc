//! Combiners: what several tuples come to is made of them before they travel.

use core::borrow::Borrow;
use core::fmt;
use core::marker::PhantomData;

use crate::batch::{Batch, CloneBatch, Push};
use crate::key::{Key, KeyHasher, hash_key};
use crate::text::{Tagged, Text};

/// Makes partial results of the items of `B`: one for each key.
///
/// A partial result is an item of [`Out`](Self::Out), and what has come to a key is kept in the batch
/// that will travel: nothing is built a second time. [`Combiner`] has the usual ones ready.
///
/// The order in which items are merged is not fixed, and after a failure an item may count twice:
/// merging must commute. A panic in any of the calls fails all that the batch under way holds.
pub trait Combine<B: Batch>: Send + Sync + 'static {
    /// The batch type of the partial results.
    type Out: CloneBatch;

    /// The hash of item `i`'s key: equal for equal keys.
    fn hash(&self, items: &B, i: usize) -> u64;
    /// Whether item `i` has the key of partial result `at`.
    fn same(&self, items: &B, i: usize, partials: &Self::Out, at: usize) -> bool;
    /// Appends the partial result of item `i` alone: exactly one.
    fn start(&self, items: &B, i: usize, partials: &mut Self::Out);
    /// Merges item `i` into partial result `at`.
    fn merge(&self, items: &B, i: usize, partials: &mut Self::Out, at: usize);
}

/// A [`Combine`] with its bound; give it to
/// [`BoltBuilder::input_combined`](crate::BoltBuilder::input_combined).
pub struct Combiner<C> {
    pub(crate) combine: C,
    pub(crate) keys: usize,
}

/// Keys held at most where nothing is said.
const KEYS: usize = 1 << 14;

impl<C> Combiner<C> {
    /// A combiner of one's own.
    #[must_use]
    pub fn new(combine: C) -> Self {
        Combiner { combine, keys: KEYS }
    }

    /// Lets go of what is held as soon as there are so many keys of an epoch at one worker; 16,384
    /// where nothing is said. At least 1: `build` checks.
    #[must_use]
    pub fn keys(self, keys: usize) -> Self {
        Combiner { keys, ..self }
    }
}

impl<C> fmt::Debug for Combiner<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Combiner").field("keys", &self.keys).finish_non_exhaustive()
    }
}

impl<V, F> Combiner<TextFold<V, F>>
where
    V: Copy + Send + Sync + 'static,
    F: Fn(&mut V) + Send + Sync + 'static,
{
    /// Byte strings of a [`Text`], each with a value: `first` as it comes the first time, and `again`
    /// each further time.
    ///
    /// ```
    /// # use streamwright::Combiner;
    /// let count = Combiner::text(1_u64, |n| *n += 1);
    /// ```
    #[must_use]
    pub fn text(first: V, again: F) -> Self {
        Combiner::new(TextFold { first, again })
    }
}

impl<V, F> Combiner<TaggedFold<V, F>>
where
    V: Copy + Send + Sync + 'static,
    F: Fn(&mut V, V) + Send + Sync + 'static,
{
    /// Byte strings with values, merged: partial results of partial results.
    ///
    /// ```
    /// # use streamwright::Combiner;
    /// let sum = Combiner::tagged(|n: &mut u64, more| *n += more);
    /// ```
    #[must_use]
    pub fn tagged(merge: F) -> Self {
        Combiner::new(TaggedFold { merge, values: PhantomData })
    }
}

impl<T, Q, A, KF, S, M> Combiner<Keyed<T, Q, A, KF, S, M>>
where
    T: Send + 'static,
    Q: Key + Eq + ToOwned + ?Sized + 'static,
    Q::Owned: Clone + Send,
    A: Clone + Send + 'static,
    KF: Fn(&T) -> &Q + Send + Sync + 'static,
    S: Fn(&T) -> A + Send + Sync + 'static,
    M: Fn(&mut A, &T) + Send + Sync + 'static,
{
    /// Items of a `Vec<T>` by a key that they hold: `Vec<(key, value)>`. The key is made one's own
    /// once for each partial result, not for each item.
    ///
    /// ```
    /// # use streamwright::Combiner;
    /// let count = Combiner::keyed(|word: &String| word.as_str(), |_| 1_u64, |n, _| *n += 1);
    /// ```
    #[must_use]
    pub fn keyed(key: KF, start: S, merge: M) -> Self {
        Combiner::new(Keyed { key, start, merge, types: PhantomData })
    }
}

impl<T, K, A, KF, S, M> Combiner<By<T, K, A, KF, S, M>>
where
    T: Send + 'static,
    K: Key + Eq + Clone + Send + 'static,
    A: Clone + Send + 'static,
    KF: Fn(&T) -> K + Send + Sync + 'static,
    S: Fn(&T) -> A + Send + Sync + 'static,
    M: Fn(&mut A, &T) + Send + Sync + 'static,
{
    /// Items of a `Vec<T>` by a key that is made of them: `Vec<(key, value)>`. The key is made for
    /// each item: for keys that take memory [`keyed`](Self::keyed) is faster.
    ///
    /// ```
    /// # use streamwright::Combiner;
    /// let sum = Combiner::by(|n: &u64| n % 10, |n| *n, |sum, n| *sum += n);
    /// ```
    #[must_use]
    pub fn by(key: KF, start: S, merge: M) -> Self {
        Combiner::new(By { key, start, merge, types: PhantomData })
    }
}

/// See [`Combiner::text`].
#[derive(Debug)]
pub struct TextFold<V, F> {
    first: V,
    again: F,
}

fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut hasher = KeyHasher::default();
    hasher.bytes(bytes);
    hasher.finish()
}

impl<V, F> Combine<Text> for TextFold<V, F>
where
    V: Copy + Send + Sync + 'static,
    F: Fn(&mut V) + Send + Sync + 'static,
{
    type Out = Tagged<V>;

    #[inline]
    fn hash(&self, items: &Text, i: usize) -> u64 {
        hash_bytes(items.item(i))
    }

    #[inline]
    fn same(&self, items: &Text, i: usize, partials: &Tagged<V>, at: usize) -> bool {
        items.item(i) == partials.text(at)
    }

    fn start(&self, items: &Text, i: usize, partials: &mut Tagged<V>) {
        partials.push_item((items.item(i), self.first));
    }

    #[inline]
    fn merge(&self, _: &Text, _: usize, partials: &mut Tagged<V>, at: usize) {
        if let Some(value) = partials.value_mut(at) {
            (self.again)(value);
        }
    }
}

/// See [`Combiner::tagged`].
#[derive(Debug)]
pub struct TaggedFold<V, F> {
    merge: F,
    values: PhantomData<fn() -> V>,
}

impl<V, F> Combine<Tagged<V>> for TaggedFold<V, F>
where
    V: Copy + Send + Sync + 'static,
    F: Fn(&mut V, V) + Send + Sync + 'static,
{
    type Out = Tagged<V>;

    #[inline]
    fn hash(&self, items: &Tagged<V>, i: usize) -> u64 {
        hash_bytes(items.text(i))
    }

    #[inline]
    fn same(&self, items: &Tagged<V>, i: usize, partials: &Tagged<V>, at: usize) -> bool {
        items.text(i) == partials.text(at)
    }

    fn start(&self, items: &Tagged<V>, i: usize, partials: &mut Tagged<V>) {
        partials.push_item(items.item(i));
    }

    #[inline]
    fn merge(&self, items: &Tagged<V>, i: usize, partials: &mut Tagged<V>, at: usize) {
        if let Some(value) = partials.value_mut(at) {
            (self.merge)(value, items.item(i).1);
        }
    }
}

/// See [`Combiner::keyed`].
pub struct Keyed<T, Q: ?Sized, A, KF, S, M> {
    key: KF,
    start: S,
    merge: M,
    #[allow(clippy::type_complexity)]
    types: PhantomData<fn(&T, &Q) -> A>,
}

impl<T, Q: ?Sized, A, KF, S, M> fmt::Debug for Keyed<T, Q, A, KF, S, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyed").finish_non_exhaustive()
    }
}

impl<T, Q, A, KF, S, M> Combine<Vec<T>> for Keyed<T, Q, A, KF, S, M>
where
    T: Send + 'static,
    Q: Key + Eq + ToOwned + ?Sized + 'static,
    Q::Owned: Clone + Send,
    A: Clone + Send + 'static,
    KF: Fn(&T) -> &Q + Send + Sync + 'static,
    S: Fn(&T) -> A + Send + Sync + 'static,
    M: Fn(&mut A, &T) + Send + Sync + 'static,
{
    type Out = Vec<(Q::Owned, A)>;

    #[inline]
    fn hash(&self, items: &Vec<T>, i: usize) -> u64 {
        hash_key((self.key)(&items[i]))
    }

    #[inline]
    fn same(&self, items: &Vec<T>, i: usize, partials: &Self::Out, at: usize) -> bool {
        (self.key)(&items[i]) == partials[at].0.borrow()
    }

    fn start(&self, items: &Vec<T>, i: usize, partials: &mut Self::Out) {
        partials.push(((self.key)(&items[i]).to_owned(), (self.start)(&items[i])));
    }

    #[inline]
    fn merge(&self, items: &Vec<T>, i: usize, partials: &mut Self::Out, at: usize) {
        (self.merge)(&mut partials[at].1, &items[i]);
    }
}

/// See [`Combiner::by`].
pub struct By<T, K, A, KF, S, M> {
    key: KF,
    start: S,
    merge: M,
    #[allow(clippy::type_complexity)]
    types: PhantomData<fn(&T) -> (K, A)>,
}

impl<T, K, A, KF, S, M> fmt::Debug for By<T, K, A, KF, S, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("By").finish_non_exhaustive()
    }
}

impl<T, K, A, KF, S, M> Combine<Vec<T>> for By<T, K, A, KF, S, M>
where
    T: Send + 'static,
    K: Key + Eq + Clone + Send + 'static,
    A: Clone + Send + 'static,
    KF: Fn(&T) -> K + Send + Sync + 'static,
    S: Fn(&T) -> A + Send + Sync + 'static,
    M: Fn(&mut A, &T) + Send + Sync + 'static,
{
    type Out = Vec<(K, A)>;

    #[inline]
    fn hash(&self, items: &Vec<T>, i: usize) -> u64 {
        hash_key(&(self.key)(&items[i]))
    }

    #[inline]
    fn same(&self, items: &Vec<T>, i: usize, partials: &Self::Out, at: usize) -> bool {
        (self.key)(&items[i]) == partials[at].0
    }

    fn start(&self, items: &Vec<T>, i: usize, partials: &mut Self::Out) {
        partials.push(((self.key)(&items[i]), (self.start)(&items[i])));
    }

    #[inline]
    fn merge(&self, items: &Vec<T>, i: usize, partials: &mut Self::Out, at: usize) {
        (self.merge)(&mut partials[at].1, &items[i]);
    }
}
