//! Joining two streams by key, within a window of epochs.

use core::fmt;
use std::collections::{BTreeMap, VecDeque};

use super::map;
use crate::{
    Bolt, BoxError, Emitter, Epoch, Execute, Grouping, Key, Stream, TopologyBuilder, Watermark,
};

/// A record of one of two streams, on its way to where they meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side<L, R> {
    /// Of the first.
    Left(L),
    /// Of the second.
    Right(R),
}

/// The records of one key and epoch.
struct Both<L, R> {
    left: Vec<L>,
    right: Vec<R>,
}

/// The records of an epoch, by key.
type Page<K, L, R> = BTreeMap<K, Both<L, R>>;

/// The bolt of [`join`].
pub struct Join<K, L, R> {
    window: Epoch,
    pages: VecDeque<(Epoch, Page<K, L, R>)>,
}

impl<K, L, R> fmt::Debug for Join<K, L, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Join")
            .field("window", &self.window)
            .field("epochs", &self.pages.len())
            .finish_non_exhaustive()
    }
}

/// Pairs the records of two streams that have equal keys and whose epochs are at most `window` apart
/// (0: the same epoch). A pair leaves as the later of its two epochs closes: pairs of one key come
/// together, keys in their order.
///
/// Declares the bolt `name` of `tasks` tasks, and before it `name.left` and `name.right`, which find
/// the keys. The join is keyed state: at least once a replayed record may be paired twice; exactly
/// once each pair comes once. A record waits for its partner in that state, not by a ticket: its root
/// is done as soon as it is there, and after a crash records of closed epochs are gone from it, as
/// [`Report::crashes`](crate::Report::crashes) says.
///
/// O(log keys) a tuple; memory O(records of the open epochs and of `window` epochs before); as an
/// epoch closes, O(window · log keys) for each of its keys, and the pairs.
///
/// ```
/// use std::sync::mpsc;
/// use streamwright::{BoxError, Config, Grouping, Poll, Spout, SpoutEmitter, Topology, ops, threads};
/// # struct List<T>(Vec<T>);
/// # impl<T: Send + 'static> Spout for List<T> {
/// #     type Out = Vec<T>;
/// #     fn next(&mut self, out: &mut SpoutEmitter<'_, Vec<T>>) -> Result<Poll, BoxError> {
/// #         self.0.drain(..).for_each(|one| out.emit(one));
/// #         Ok(Poll::End)
/// #     }
/// # }
///
/// let (results, received) = mpsc::sync_channel(100);
/// let mut builder = Topology::builder();
/// let orders = builder.spout("orders", 1, |_| Ok(List(vec![(1, "ham"), (2, "jam"), (1, "tea")])));
/// let names = builder.spout("names", 1, |_| Ok(List(vec![(1, "Ann"), (3, "Bob")])));
/// let pairs = ops::join(
///     &mut builder, "pairs", 2, 1,
///     (orders, |order: &(u32, &'static str)| order.0),
///     (names, |name: &(u32, &'static str)| name.0),
/// );
/// builder
///     .bolt("results", 1, move |_| {
///         Ok(ops::ChannelSink::new(results.clone(), |pair: &(u32, (u32, &str), (u32, &'static str))| {
///             (pair.2.1, pair.1.1.to_owned())
///         }))
///     })
///     .input(pairs, Grouping::global())
///     .done();
/// threads::run(builder.build(Config::default())?)?;
/// let mut all: Vec<_> = received.try_iter().collect();
/// all.sort();
/// assert_eq!(all, [("Ann", "ham".to_owned()), ("Ann", "tea".to_owned())]);
/// # Ok::<(), BoxError>(())
/// ```
pub fn join<K, L, R>(
    builder: &mut TopologyBuilder,
    name: &str,
    tasks: u32,
    window: u32,
    (left, left_key): (Stream<Vec<L>>, impl Fn(&L) -> K + Clone + Send + Sync + 'static),
    (right, right_key): (Stream<Vec<R>>, impl Fn(&R) -> K + Clone + Send + Sync + 'static),
) -> Stream<Vec<(K, L, R)>>
where
    K: Key + Ord + Clone + Send + 'static,
    L: Clone + Send + 'static,
    R: Clone + Send + 'static,
{
    let left = builder
        .bolt(&format!("{name}.left"), tasks, move |_| {
            let key = left_key.clone();
            Ok(map::<Vec<L>, (K, Side<L, R>), _>(move |item: &L| {
                (key(item), Side::Left(item.clone()))
            }))
        })
        .input(left, Grouping::local_or_shuffle())
        .done();
    let right = builder
        .bolt(&format!("{name}.right"), tasks, move |_| {
            let key = right_key.clone();
            Ok(map::<Vec<R>, (K, Side<L, R>), _>(move |item: &R| {
                (key(item), Side::Right(item.clone()))
            }))
        })
        .input(right, Grouping::local_or_shuffle())
        .done();
    let by_key = || Grouping::fields_with(|(key, _): &(K, Side<L, R>), to| key.key(to));
    builder
        .bolt(name, tasks, move |_| {
            Ok(Join { window: Epoch::from(window), pages: VecDeque::new() })
        })
        .input(left, by_key())
        .input(right, by_key())
        .done()
}

impl<K, L, R> Join<K, L, R>
where
    K: Ord + Clone,
    L: Clone,
    R: Clone,
{
    /// The pairs of which the later one is of the epoch of page `at`.
    fn pairs(&self, at: usize, emit: &mut impl FnMut((K, L, R))) {
        let mut cross = |key: &K, left: &[L], right: &[R]| {
            for l in left {
                right.iter().for_each(|r| emit((key.clone(), l.clone(), r.clone())));
            }
        };
        let Some((epoch, page)) = self.pages.get(at) else { return };
        for (key, here) in page {
            cross(key, &here.left, &here.right);
            for (of, before) in self.pages.range(..at) {
                if let Some(there) = before.get(key).filter(|_| epoch - of <= self.window) {
                    cross(key, &here.left, &there.right);
                    cross(key, &there.left, &here.right);
                }
            }
        }
    }
}

impl<K, L, R> Bolt for Join<K, L, R>
where
    K: Key + Ord + Clone + Send + 'static,
    L: Clone + Send + 'static,
    R: Clone + Send + 'static,
{
    type Out = Vec<(K, L, R)>;

    fn close(
        &mut self,
        epoch: Epoch,
        _: Watermark,
        out: &mut Emitter<'_, Self::Out>,
    ) -> Result<(), BoxError> {
        if let Ok(at) = self.pages.binary_search_by_key(&epoch, |(of, _)| *of) {
            self.pairs(at, &mut |pair| out.emit(pair));
        }
        // The next epoch to close is one further.
        while self.pages.front().is_some_and(|(of, _)| *of <= epoch && epoch - of >= self.window) {
            self.pages.pop_front();
        }
        Ok(())
    }
}

impl<K, L, R> Execute<Vec<(K, Side<L, R>)>> for Join<K, L, R>
where
    K: Key + Ord + Clone + Send + 'static,
    L: Clone + Send + 'static,
    R: Clone + Send + 'static,
{
    fn execute(
        &mut self,
        (key, side): &(K, Side<L, R>),
        out: &mut Emitter<'_, Self::Out>,
    ) -> Result<(), BoxError> {
        let epoch = out.epoch();
        // Cloned first: a clone that panics leaves the state as it was.
        let (key, side) = (key.clone(), side.clone());
        let at = self.pages.partition_point(|(of, _)| *of < epoch);
        if self.pages.get(at).is_none_or(|(of, _)| *of != epoch) {
            self.pages.insert(at, (epoch, BTreeMap::new()));
        }
        let both = self.pages[at]
            .1
            .entry(key)
            .or_insert_with(|| Both { left: Vec::new(), right: Vec::new() });
        match side {
            Side::Left(left) => both.left.push(left),
            Side::Right(right) => both.right.push(right),
        }
        Ok(())
    }
}
