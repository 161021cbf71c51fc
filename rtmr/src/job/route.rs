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
pub struct Router<M, R: Reducer, P> {
    mapper: M,
    reducer: R,
    owners: Owners<P>,
    batch: usize,
    /// By node: what is being combined, and a batch that found its queue full.
    open: Vec<Partial<R>>,
    stuck: Vec<Option<Batch<R>>>,
}

impl<M, R: Reducer, P> fmt::Debug for Router<M, R, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Router").field("open", &self.open).finish_non_exhaustive()
    }
}

impl<M, R, P> Router<M, R, P>
where
    M: Mapper<Key = R::Key, Value = R::Value>,
    R: Reducer,
    R::Key: Hash,
    P: Place<R::Key>,
{
    /// A Map node that sends batches of `batch` keys to the owners of them.
    ///
    /// # Errors
    /// `Count` when a batch is to have no key.
    pub fn new(mapper: M, reducer: R, owners: Owners<P>, batch: usize) -> Result<Self, Error> {
        if batch == 0 {
            let (what, rule) = ("keys a batch", "must be 1 or more");
            return Err(Error::Count { what, count: 0, rule });
        }
        let open = (0..owners.nodes).map(|_| Partial::default()).collect();
        let stuck = (0..owners.nodes).map(|_| None).collect();
        Ok(Self { mapper, reducer, owners, batch, open, stuck })
    }

    /// Gives an entry to another node; see [`Owners::give`].
    ///
    /// # Errors
    /// Those of that call.
    pub fn give(&mut self, entry: u32, node: u32) -> Result<(), Error> {
        self.owners.give(entry, node)
    }

    /// Maps a record and combines what it emits; batches that are full are sent.
    ///
    /// The record is taken, unless a batch of an earlier one is still stuck: then nothing is done.
    /// So no more than a batch a node waits here, and the values of one record.
    ///
    /// # Errors
    /// The node whose queue is full, or is not there, before the record was looked at.
    pub fn push(
        &mut self,
        record: &M::In,
        queues: &mut [impl Queue<Batch<R>>],
    ) -> Result<(), Blocked> {
        self.unstick(queues)?;
        let Self { mapper, reducer, owners, open, .. } = self;
        mapper.map(record, &mut |key, time, value| {
            open[owners.of(&key) as usize].add(reducer, key, time, value);
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
    /// The node whose queue is full, or is not there; what was not sent waits on.
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
        for (node, stuck) in (0_u32..).zip(&mut self.stuck) {
            let Some(batch) = stuck.take() else { continue };
            let refused = match queues.get_mut(node as usize) {
                Some(queue) => queue.offer(batch).err(),
                None => Some(batch),
            };
            if refused.is_some() {
                *stuck = refused;
                blocked = blocked.and(Err(Blocked { node }));
            }
        }
        blocked
    }
}
