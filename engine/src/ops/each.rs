//! Bolts that look at one tuple at a time: map, filter, flat map.

use core::fmt;
use core::marker::PhantomData;

use crate::{Batch, Bolt, BoxError, CloneBatch, Emitter, Execute, Tagged, Text};

/// A bolt that calls a closure on each tuple, in the way `W`; made by [`map`], [`filter`], [`each`] and
/// their like.
pub struct Each<B, O, F, W = Emits> {
    call: F,
    #[allow(clippy::type_complexity)]
    types: PhantomData<fn(&B, W) -> O>,
}

impl<B, O, F, W> fmt::Debug for Each<B, O, F, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Each").finish_non_exhaustive()
    }
}

impl<B, O, F, W> Bolt for Each<B, O, F, W>
where
    B: Batch,
    O: Batch,
    F: Send + 'static,
    W: 'static,
{
    type Out = O;
}

impl<B, O, F, W> Execute<B> for Each<B, O, F, W>
where
    B: Batch,
    O: Batch,
    F: Send + 'static,
    W: Way<B, O, F>,
{
    #[inline]
    fn execute(&mut self, item: B::Item<'_>, out: &mut Emitter<'_, O>) -> Result<(), BoxError> {
        W::run(&mut self.call, item, out)
    }
}

fn new<B, O, F, W>(call: F) -> Each<B, O, F, W> {
    Each { call, types: PhantomData }
}

/// How an [`Each`] calls its closure.
pub trait Way<B: Batch, O: Batch, F>: 'static {
    /// Works on one item.
    ///
    /// # Errors
    /// That of the closure.
    fn run(call: &mut F, item: B::Item<'_>, out: &mut Emitter<'_, O>) -> Result<(), BoxError>;
}

/// What a closure answers: a value, or a result.
pub trait Answer: 'static {
    /// The answer that holds a `T`.
    type Of<T>;
    /// The answer as a result.
    ///
    /// # Errors
    /// That of the answer.
    fn result<T>(of: Self::Of<T>) -> Result<T, BoxError>;
}

/// A value.
#[derive(Debug)]
pub struct Always(());

impl Answer for Always {
    type Of<T> = T;
    #[inline]
    fn result<T>(of: T) -> Result<T, BoxError> {
        Ok(of)
    }
}

/// A result.
#[derive(Debug)]
pub struct Maybe(());

impl Answer for Maybe {
    type Of<T> = Result<T, BoxError>;
    #[inline]
    fn result<T>(of: Result<T, BoxError>) -> Result<T, BoxError> {
        of
    }
}

/// The way of [`each`]: the closure emits.
#[derive(Debug)]
pub struct Emits(());

impl<B: Batch, O: Batch, F> Way<B, O, F> for Emits
where
    F: for<'a> FnMut(B::Item<'a>, &mut Emitter<'_, O>) -> Result<(), BoxError>,
{
    #[inline]
    fn run(call: &mut F, item: B::Item<'_>, out: &mut Emitter<'_, O>) -> Result<(), BoxError> {
        call(item, out)
    }
}

/// The way of [`map`] and [`try_map`].
#[derive(Debug)]
pub struct Maps<A>(PhantomData<A>);

impl<B: Batch, U, F, A: Answer> Way<B, Vec<U>, F> for Maps<A>
where
    U: Send + 'static,
    F: for<'a> FnMut(B::Item<'a>) -> A::Of<U>,
{
    #[inline]
    fn run(call: &mut F, item: B::Item<'_>, out: &mut Emitter<'_, Vec<U>>) -> Result<(), BoxError> {
        out.emit(A::result(call(item))?);
        Ok(())
    }
}

/// The way of [`flat_map`] and [`try_flat_map`], with an iterator `I`.
#[derive(Debug)]
pub struct Flattens<A, I>(PhantomData<(A, I)>);

impl<B: Batch, I, F, A: Answer> Way<B, Vec<I::Item>, F> for Flattens<A, I>
where
    I: IntoIterator + 'static,
    I::Item: Send + 'static,
    F: for<'a> FnMut(B::Item<'a>) -> A::Of<I>,
{
    #[inline]
    fn run(
        call: &mut F,
        item: B::Item<'_>,
        out: &mut Emitter<'_, Vec<I::Item>>,
    ) -> Result<(), BoxError> {
        A::result(call(item))?.into_iter().for_each(|item| out.emit(item));
        Ok(())
    }
}

/// The way of [`filter`] and [`try_filter`].
#[derive(Debug)]
pub struct Keeps<A>(PhantomData<A>);

impl<B: Forward, F, A: Answer> Way<B, B, F> for Keeps<A>
where
    for<'a> B::Item<'a>: Copy,
    F: for<'a> FnMut(B::Item<'a>) -> A::Of<bool>,
{
    #[inline]
    fn run(call: &mut F, item: B::Item<'_>, out: &mut Emitter<'_, B>) -> Result<(), BoxError> {
        if A::result(call(item))? {
            B::forward(item, out);
        }
        Ok(())
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
    new(call)
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
pub fn map<B, U, F>(f: F) -> Each<B, Vec<U>, F, Maps<Always>>
where
    B: Batch,
    U: Clone + Send + 'static,
    F: for<'a> FnMut(B::Item<'a>) -> U + Send + 'static,
{
    new(f)
}

/// As [`map`]; an `Err` fails the root.
///
/// ```
/// use streamwright::{Text, ops};
/// let lengths = ops::try_map::<Text, usize, _>(|line: &[u8]| Ok(std::str::from_utf8(line)?.chars().count()));
/// ```
pub fn try_map<B, U, F>(f: F) -> Each<B, Vec<U>, F, Maps<Maybe>>
where
    B: Batch,
    U: Clone + Send + 'static,
    F: for<'a> FnMut(B::Item<'a>) -> Result<U, BoxError> + Send + 'static,
{
    new(f)
}

/// Emits `f(item)` for each item that has one: every item of an iterator.
///
/// ```
/// use streamwright::ops;
/// let divisors = ops::flat_map::<Vec<u64>, _, _>(|n: &u64| {
///     let n = *n;
///     (1..=n).filter(move |d| n % d == 0)
/// });
/// ```
pub fn flat_map<B, I, F>(f: F) -> Each<B, Vec<I::Item>, F, Flattens<Always, I>>
where
    B: Batch,
    I: IntoIterator + 'static,
    I::Item: Clone + Send + 'static,
    F: for<'a> FnMut(B::Item<'a>) -> I + Send + 'static,
{
    new(f)
}

/// As [`flat_map`]; an `Err` fails the root, and nothing of the item leaves.
///
/// ```
/// use streamwright::{Text, ops};
/// let numbers = ops::try_flat_map::<Text, _, _>(|line: &[u8]| {
///     let line = std::str::from_utf8(line)?;
///     Ok(line.split(' ').map(str::parse).collect::<Result<Vec<u64>, _>>()?)
/// });
/// ```
pub fn try_flat_map<B, I, F>(f: F) -> Each<B, Vec<I::Item>, F, Flattens<Maybe, I>>
where
    B: Batch,
    I: IntoIterator + 'static,
    I::Item: Clone + Send + 'static,
    F: for<'a> FnMut(B::Item<'a>) -> Result<I, BoxError> + Send + 'static,
{
    new(f)
}

/// Emits each item together with its key: what [`fold`](super::fold) takes in.
///
/// ```
/// use streamwright::ops;
/// let by_digit = ops::key_by::<u64, u64, _>(|n: &u64| n % 10);
/// ```
pub fn key_by<T, K, F>(key: F) -> Each<Vec<T>, Vec<(K, T)>, F, Keys>
where
    T: Clone + Send + 'static,
    K: Clone + Send + 'static,
    F: for<'a> FnMut(&'a T) -> K + Send + 'static,
{
    new(key)
}

/// The way of [`key_by`].
#[derive(Debug)]
pub struct Keys(());

impl<T, K, F> Way<Vec<T>, Vec<(K, T)>, F> for Keys
where
    T: Clone + Send + 'static,
    K: Send + 'static,
    F: for<'a> FnMut(&'a T) -> K,
{
    #[inline]
    fn run(key: &mut F, item: &T, out: &mut Emitter<'_, Vec<(K, T)>>) -> Result<(), BoxError> {
        out.emit((key(item), item.clone()));
        Ok(())
    }
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
pub fn filter<B, F>(keep: F) -> Each<B, B, F, Keeps<Always>>
where
    B: Forward,
    for<'a> B::Item<'a>: Copy,
    F: for<'a> FnMut(B::Item<'a>) -> bool + Send + 'static,
{
    new(keep)
}

/// As [`filter`]; an `Err` fails the root.
///
/// ```
/// use streamwright::{Text, ops};
/// let short = ops::try_filter::<Text, _>(|line: &[u8]| Ok(std::str::from_utf8(line)?.len() < 80));
/// ```
pub fn try_filter<B, F>(keep: F) -> Each<B, B, F, Keeps<Maybe>>
where
    B: Forward,
    for<'a> B::Item<'a>: Copy,
    F: for<'a> FnMut(B::Item<'a>) -> Result<bool, BoxError> + Send + 'static,
{
    new(keep)
}
