//! RTMR(x): a record is mapped once, and what comes of it goes to the owners of its keys. RTMR(0)
//! needs no router: all nodes map everything and keep what [`Owners::owns`].

use std::fmt;
use std::hash::Hash;

use super::fold::Partial;
use super::queue::Queue;
use super::traits::{Mapper, Reducer, StateOf};
use crate::error::Error;
use crate::store::Place;

/// Which node owns which entry: σ_K of each node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owners<P> {
    place: P,
    bits: u32,
    nodes: u32,
    owner: Vec<u32>,
}

impl<P> Owners<P> {
    /// The owners of 2^b entries, by entry, among `nodes` nodes.
    ///
    /// # Errors
    /// `Count` when their number is no power of two from 2 on, `UnknownNode`.
    pub fn new(place: P, nodes: u32, owner: Vec<u32>) -> Result<Self, Error> {
        let count = owner.len();
        if !count.is_power_of_two() || !(2..=1 << 31).contains(&count) {
            let rule = "must be 2^b with b from 1 to 31";
            return Err(Error::Count { what: "entries", count, rule });
        }
        if let Some(entry) = owner.iter().position(|&owner| owner >= nodes) {
            let owner = owner[entry];
            return Err(Error::UnknownNode { entry, owner, nodes: nodes as usize });
        }
        Ok(Self { place, bits: count.trailing_zeros(), nodes, owner })
    }

    /// The owner of a key. O(1).
    pub fn of<K>(&self, key: &K) -> u32
    where
        P: Place<K>,
    {
        self.owner[self.place.place(key, self.bits) as usize]
    }

    /// Whether a node owns a key: the filter of RTMR(0).
    pub fn owns<K>(&self, node: u32, key: &K) -> bool
    where
        P: Place<K>,
    {
        self.of(key) == node
    }

    /// Gives an entry to another node, as a plan says. What is on its way already still goes to
    /// the old one.
    ///
    /// # Errors
    /// `UnknownNode`, also for an entry that is not there.
    pub fn give(&mut self, entry: u32, node: u32) -> Result<(), Error> {
        let (entry, nodes) = (entry as usize, self.nodes as usize);
        match self.owner.get_mut(entry).filter(|_| node < self.nodes) {
            Some(owner) => *owner = node,
            None => return Err(Error::UnknownNode { entry, owner: node, nodes }),
        }
        Ok(())
    }

    /// The owners by entry.
    #[must_use]
    pub fn by_entry(&self) -> &[u32] {
        &self.owner
    }
}

/// The queue of this node is full: take something off it, and call again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the queue of node {node} is full")]
pub struct Blocked {
    /// The node.
    pub node: u32,
}

/// What a router sends: keys of one owner and what was made of their values.
type Batch<R> = Vec<(<R as Reducer>::Key, StateOf<R>)>;

/// A Map node: combines what it emits by owner, and sends it in batches of keys.
pub struct Router<M, R: Reducer> {
    mapper: M,
    reducer: R,
    batch: usize,
    /// By node: what is being combined, and a batch that found its queue full.
    open: Vec<Partial<R>>,
    stuck: Vec<Option<Batch<R>>>,
}

impl<M, R: Reducer> fmt::Debug for Router<M, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Router").field("open", &self.open).finish_non_exhaustive()
    }
}

impl<M, R> Router<M, R>
where
    M: Mapper<Key = R::Key, Value = R::Value>,
    R: Reducer,
    R::Key: Hash,
{
    /// A Map node that sends batches of `batch` keys to `nodes` Reduce nodes.
    ///
    /// # Errors
    /// `Count` when either is 0.
    pub fn new(mapper: M, reducer: R, nodes: u32, batch: usize) -> Result<Self, Error> {
        for (what, count) in [("nodes", nodes as usize), ("keys a batch", batch)] {
            if count == 0 {
                return Err(Error::Count { what, count, rule: "must be 1 or more" });
            }
        }
        let open = (0..nodes).map(|_| Partial::default()).collect();
        let stuck = (0..nodes).map(|_| None).collect();
        Ok(Self { mapper, reducer, batch, open, stuck })
    }

    /// Maps a record and combines what it emits; batches that are full are sent.
    ///
    /// The record is taken, unless a batch of an earlier one is still stuck: then nothing is done.
    /// So no more than a batch a node waits here, and the values of one record.
    ///
    /// # Errors
    /// The node whose queue is full, before the record was looked at.
    pub fn push<P: Place<R::Key>>(
        &mut self,
        record: &M::In,
        owners: &Owners<P>,
        queues: &mut [impl Queue<Batch<R>>],
    ) -> Result<(), Blocked> {
        self.unstick(queues)?;
        let Self { mapper, reducer, open, .. } = self;
        mapper.map(record, &mut |key, time, value| {
            // Owners of more nodes than there are here would be a mistake of the caller's: the
            // last one gets it.
            let node = (owners.of(&key) as usize).min(open.len() - 1);
            open[node].add(reducer, key, time, value);
        });
        for node in 0..self.open.len() {
            if self.open[node].len() >= self.batch && self.stuck[node].is_none() {
                self.stuck[node] = Some(self.open[node].take());
            }
        }
        // What is stuck from here on is told by the next call.
        let _ = self.unstick(queues);
        Ok(())
    }

    /// Sends all that waits, full or not.
    ///
    /// # Errors
    /// The node whose queue is full; what was not sent waits on.
    pub fn flush(&mut self, queues: &mut [impl Queue<Batch<R>>]) -> Result<(), Blocked> {
        self.unstick(queues)?;
        for node in 0..self.open.len() {
            if !self.open[node].is_empty() {
                self.stuck[node] = Some(self.open[node].take());
            }
        }
        self.unstick(queues)
    }

    fn unstick(&mut self, queues: &mut [impl Queue<Batch<R>>]) -> Result<(), Blocked> {
        let mut blocked = Ok(());
        for ((node, stuck), queue) in (0_u32..).zip(&mut self.stuck).zip(queues) {
            if let Some(batch) = stuck.take()
                && let Err(back) = queue.offer(batch)
            {
                *stuck = Some(back);
                blocked = blocked.and(Err(Blocked { node }));
            }
        }
        blocked
    }
}
