//! Folding by key, epoch by epoch.

use core::fmt;
use std::collections::VecDeque;
use std::sync::Arc;

use hashbrown::HashTable;

use crate::{Bolt, BoxError, Emitter, Epoch, Execute, Key, Watermark, hash_key};

/// The values of one epoch.
struct Page<K, A> {
    epoch: Epoch,
    places: HashTable<u32>,
    values: Vec<(K, A)>,
}

/// The bolt of [`fold`].
pub struct Fold<K, V, A> {
    start: Arc<dyn Fn() -> A + Send + Sync>,
    #[allow(clippy::type_complexity)]
    add: Arc<dyn Fn(&mut A, &V) + Send + Sync>,
    pages: VecDeque<Page<K, A>>,
}

impl<K, V, A> fmt::Debug for Fold<K, V, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fold").field("epochs", &self.pages.len()).finish_non_exhaustive()
    }
}

/// Folds pairs of key and value into one value a key and epoch: as an epoch closes, every key that
/// came in it with the fold of its values, in the order of the keys. Give it a keyed grouping.
///
/// Values of an epoch are added in the order in which they come, which is not fixed: `add` must
/// commute. At least once a replayed value may be added twice; exactly once each is added once, and a
/// panic of `add` starts a new incarnation, since it may have torn the state. Epochs are cut by time
/// or by the number of records ([`Config::epoch`](crate::Config::epoch)), not by what is in them.
///
/// O(1) a tuple, one probe; memory O(keys of the open epochs); O(n log n) as an epoch of n keys closes.
///
/// ```
/// use std::collections::BTreeMap;
/// use std::sync::mpsc;
/// use streamwright::{BoxError, Config, Grouping, Poll, Spout, SpoutEmitter, Topology, ops, threads};
/// # struct Numbers(u64);
/// # impl Spout for Numbers {
/// #     type Out = Vec<u64>;
/// #     fn next(&mut self, out: &mut SpoutEmitter<'_, Vec<u64>>) -> Result<Poll, BoxError> {
/// #         self.0 += 1;
/// #         out.emit(self.0);
/// #         Ok(if self.0 < 99 { Poll::More } else { Poll::End })
/// #     }
/// # }
///
/// let (results, received) = mpsc::sync_channel(100);
/// let mut builder = Topology::builder();
/// let numbers = builder.spout("numbers", 1, |_| Ok(Numbers(0))); // 1 to 99
/// let keyed = builder
///     .bolt("by last digit", 2, |_| Ok(ops::key_by(|n: &u64| n % 10)))
///     .input(numbers, Grouping::shuffle())
///     .done();
/// let sums = builder
///     .bolt("sums", 2, |_| Ok(ops::fold(|| 0, |sum: &mut u64, n: &u64| *sum += n)))
///     .input(keyed, Grouping::fields(|pair: &(u64, u64)| pair.0))
///     .done();
/// builder
///     .bolt("results", 1, move |_| Ok(ops::ChannelSink::new(results.clone(), |one: &(u64, u64)| *one)))
///     .input(sums, Grouping::global())
///     .done();
/// threads::run(builder.build(Config::default())?)?;
///
/// let mut sums = BTreeMap::new(); // there may have been several epochs
/// received.try_iter().for_each(|(digit, sum)| *sums.entry(digit).or_insert(0) += sum);
/// assert_eq!(sums[&3], 3 + 13 + 23 + 33 + 43 + 53 + 63 + 73 + 83 + 93);
/// # Ok::<(), BoxError>(())
/// ```
pub fn fold<K, V, A>(
    start: impl Fn() -> A + Send + Sync + 'static,
    add: impl Fn(&mut A, &V) + Send + Sync + 'static,
) -> Fold<K, V, A>
where
    K: Key + Ord + Clone + Send + 'static,
    V: Send + 'static,
    A: Clone + Send + 'static,
{
    Fold { start: Arc::new(start), add: Arc::new(add), pages: VecDeque::new() }
}

/// A key's hash for a table. All keys of a task agree in the first bits of the stable hash, and a
/// table tells keys apart by the first bits first.
fn turned<K: Key + ?Sized>(key: &K) -> u64 {
    hash_key(key).rotate_left(32)
}

impl<K, V, A> Bolt for Fold<K, V, A>
where
    K: Key + Ord + Clone + Send + 'static,
    V: Send + 'static,
    A: Clone + Send + 'static,
{
    type Out = Vec<(K, A)>;

    fn close(
        &mut self,
        epoch: Epoch,
        _: Watermark,
        out: &mut Emitter<'_, Vec<(K, A)>>,
    ) -> Result<(), BoxError> {
        while self.pages.front().is_some_and(|page| page.epoch <= epoch) {
            let Some(mut page) = self.pages.pop_front() else { break };
            page.values.sort_unstable_by(|a, b| a.0.cmp(&b.0));
            page.values.into_iter().for_each(|one| out.emit(one));
        }
        Ok(())
    }
}

impl<K, V, A> Execute<Vec<(K, V)>> for Fold<K, V, A>
where
    K: Key + Ord + Clone + Send + 'static,
    V: Send + 'static,
    A: Clone + Send + 'static,
{
    fn execute(
        &mut self,
        (key, value): &(K, V),
        out: &mut Emitter<'_, Vec<(K, A)>>,
    ) -> Result<(), BoxError> {
        let epoch = out.epoch();
        let at = self.pages.partition_point(|page| page.epoch < epoch);
        if self.pages.get(at).is_none_or(|page| page.epoch != epoch) {
            let page = Page { epoch, places: HashTable::new(), values: Vec::new() };
            self.pages.insert(at, page);
        }
        let Page { places, values, .. } = &mut self.pages[at];
        let hash = turned(key);
        if let Some(&place) = places.find(hash, |&place| values[place as usize].0 == *key) {
            (self.add)(&mut values[place as usize].1, value);
            return Ok(());
        }
        let place = u32::try_from(values.len()).map_err(|_| "over 2^32 keys in one epoch")?;
        let mut first = (self.start)();
        (self.add)(&mut first, value);
        values.push((key.clone(), first));
        places.insert_unique(hash, place, |&place| turned(&values[place as usize].0));
        Ok(())
    }
}
