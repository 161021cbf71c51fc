//! Bolts that look at one tuple at a time: map, filter, flat map.

use core::fmt;
use core::marker::PhantomData;

use crate::{Batch, Bolt, BoxError, CloneBatch, Emitter, Execute, Tagged, Text};

/// A bolt that calls a closure on each tuple; see [`each`].
pub struct Each<B, O, F> {
    call: F,
    types: PhantomData<fn(&B) -> O>,
}

impl<B, O, F> fmt::Debug for Each<B, O, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Each").finish_non_exhaustive()
    }
}

impl<B, O, F> Bolt for Each<B, O, F>
where
    B: Batch,
    O: Batch,
    F: Send + 'static,
{
    type Out = O;
}

impl<B, O, F> Execute<B> for Each<B, O, F>
where
    B: Batch,
    O: Batch,
    F: for<'a> FnMut(B::Item<'a>, &mut Emitter<'_, O>) -> Result<(), BoxError> + Send + 'static,
{
    #[inline]
    fn execute(&mut self, item: B::Item<'_>, out: &mut Emitter<'_, O>) -> Result<(), BoxError> {
        (self.call)(item, out)
    }
}

/// Calls `call` on each tuple with the emitter itself: what all the others here are made of.
///
/// An `Err` or a panic fails the tuple's root. Exactly once asks that what it emits is a function of
/// the tuple. O(1) a tuple beside what `call` does; nothing is allocated.
///
/// ```
/// use streamwright::{Emitter, Text, ops};
/// let words = ops::each::<Text, Text, _>(|line: &[u8], out: &mut Emitter<'_, Text>| {
///     line.split(|&b| b == b' ').for_each(|word| out.emit(word));
///     Ok(())
/// });
/// ```
pub fn each<B, O, F>(call: F) -> Each<B, O, F>
where
    B: Batch,
    O: Batch,
    F: for<'a> FnMut(B::Item<'a>, &mut Emitter<'_, O>) -> Result<(), BoxError> + Send + 'static,
{
    Each { call, types: PhantomData }
}

/// Emits `f(item)` for each item.
///
/// ```
/// use std::sync::mpsc;
/// use streamwright::{BoxError, Config, Grouping, Poll, Spout, SpoutEmitter, Topology, ops, threads};
/// # struct Numbers(u64);
/// # impl Spout for Numbers {
/// #     type Out = Vec<u64>;
/// #     fn next(&mut self, out: &mut SpoutEmitter<'_, Vec<u64>>) -> Result<Poll, BoxError> {
/// #         self.0 += 1;
/// #         out.emit(self.0);
/// #         Ok(if self.0 < 9 { Poll::More } else { Poll::End })
/// #     }
/// # }
///
/// let (results, received) = mpsc::sync_channel(100);
/// let mut builder = Topology::builder();
/// let numbers = builder.spout("numbers", 1, |_| Ok(Numbers(0))); // 1 to 9
/// let squares = builder
///     .bolt("squares", 2, |_| Ok(ops::map(|n: &u64| n * n)))
///     .input(numbers, Grouping::shuffle())
///     .done();
/// let odd = builder
///     .bolt("odd", 2, |_| Ok(ops::filter(|n: &u64| n % 2 == 1)))
///     .input(squares, Grouping::shuffle())
///     .done();
/// builder
///     .bolt("results", 1, move |_| Ok(ops::ChannelSink::new(results.clone(), |n: &u64| *n)))
///     .input(odd, Grouping::global())
///     .done();
/// threads::run(builder.build(Config::default())?)?;
/// let mut all: Vec<u64> = received.try_iter().collect();
/// all.sort();
/// assert_eq!(all, [1, 9, 25, 49, 81]);
/// # Ok::<(), BoxError>(())
/// ```
pub fn map<B, U, F>(mut f: F) -> impl Bolt<Out = Vec<U>> + Execute<B>
where
    B: Batch,
    U: Clone + Send + 'static,
    F: for<'a> FnMut(B::Item<'a>) -> U + Send + 'static,
{
    try_map(move |item: B::Item<'_>| Ok(f(item)))
}

/// As [`map`]; an `Err` fails the root.
///
/// ```
/// use streamwright::{Text, ops};
/// let lengths = ops::try_map::<Text, usize, _>(|line: &[u8]| Ok(std::str::from_utf8(line)?.chars().count()));
/// ```
pub fn try_map<B, U, F>(mut f: F) -> impl Bolt<Out = Vec<U>> + Execute<B>
where
    B: Batch,
    U: Clone + Send + 'static,
    F: for<'a> FnMut(B::Item<'a>) -> Result<U, BoxError> + Send + 'static,
{
    each(move |item: B::Item<'_>, out: &mut Emitter<'_, Vec<U>>| {
        out.emit(f(item)?);
        Ok(())
    })
}

/// Emits `f(item)` for each item that has one: every item of an iterator.
///
/// ```
/// use streamwright::ops;
/// let divisors = ops::flat_map::<Vec<u64>, u64, _, _>(|n: &u64| {
///     let n = *n;
///     (1..=n).filter(move |d| n % d == 0)
/// });
/// ```
pub fn flat_map<B, U, I, F>(mut f: F) -> impl Bolt<Out = Vec<U>> + Execute<B>
where
    B: Batch,
    U: Clone + Send + 'static,
    I: IntoIterator<Item = U>,
    F: for<'a> FnMut(B::Item<'a>) -> I + Send + 'static,
{
    try_flat_map(move |item: B::Item<'_>| Ok(f(item)))
}

/// As [`flat_map`]; an `Err` fails the root, and nothing of the item leaves.
///
/// ```
/// use streamwright::{Text, ops};
/// let numbers = ops::try_flat_map::<Text, u64, _, _>(|line: &[u8]| {
///     let line = std::str::from_utf8(line)?;
///     Ok(line.split(' ').map(str::parse).collect::<Result<Vec<u64>, _>>()?)
/// });
/// ```
pub fn try_flat_map<B, U, I, F>(mut f: F) -> impl Bolt<Out = Vec<U>> + Execute<B>
where
    B: Batch,
    U: Clone + Send + 'static,
    I: IntoIterator<Item = U>,
    F: for<'a> FnMut(B::Item<'a>) -> Result<I, BoxError> + Send + 'static,
{
    each(move |item: B::Item<'_>, out: &mut Emitter<'_, Vec<U>>| {
        f(item)?.into_iter().for_each(|item| out.emit(item));
        Ok(())
    })
}

/// Emits each item together with its key: what [`fold`](super::fold) takes in.
///
/// ```
/// use streamwright::ops;
/// let by_digit = ops::key_by::<u64, u64, _>(|n: &u64| n % 10);
/// ```
pub fn key_by<T, K, F>(mut key: F) -> impl Bolt<Out = Vec<(K, T)>> + Execute<Vec<T>>
where
    T: Clone + Send + 'static,
    K: Clone + Send + 'static,
    F: for<'a> FnMut(&'a T) -> K + Send + 'static,
{
    map::<Vec<T>, (K, T), _>(move |item: &T| (key(item), item.clone()))
}

/// A batch whose items can be handed on as they are.
pub trait Forward: CloneBatch {
    /// Emits one item.
    fn forward(item: Self::Item<'_>, out: &mut Emitter<'_, Self>);
}

impl<T: Clone + Send + 'static> Forward for Vec<T> {
    #[inline]
    fn forward(item: &T, out: &mut Emitter<'_, Self>) {
        out.emit(item.clone());
    }
}

impl Forward for Text {
    #[inline]
    fn forward(item: &[u8], out: &mut Emitter<'_, Self>) {
        out.emit(item);
    }
}

impl<V: Copy + Send + 'static> Forward for Tagged<V> {
    #[inline]
    fn forward(item: (&[u8], V), out: &mut Emitter<'_, Self>) {
        out.emit(item);
    }
}

/// Hands on the items for which `keep` is true. The example of [`map`] shows it.
pub fn filter<B, F>(mut keep: F) -> impl Bolt<Out = B> + Execute<B>
where
    B: Forward,
    for<'a> B::Item<'a>: Copy,
    F: for<'a> FnMut(B::Item<'a>) -> bool + Send + 'static,
{
    try_filter(move |item: B::Item<'_>| Ok(keep(item)))
}

/// As [`filter`]; an `Err` fails the root.
///
/// ```
/// use streamwright::{Text, ops};
/// let short = ops::try_filter::<Text, _>(|line: &[u8]| Ok(std::str::from_utf8(line)?.len() < 80));
/// ```
pub fn try_filter<B, F>(mut keep: F) -> impl Bolt<Out = B> + Execute<B>
where
    B: Forward,
    for<'a> B::Item<'a>: Copy,
    F: for<'a> FnMut(B::Item<'a>) -> Result<bool, BoxError> + Send + 'static,
{
    each(move |item: B::Item<'_>, out: &mut Emitter<'_, B>| {
        if keep(item)? {
            B::forward(item, out);
        }
        Ok(())
    })
}
