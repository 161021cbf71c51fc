//! What a user writes: Map, Reduce, and where results go.

use crate::store::{Codec, Footprint};

/// Map: what a record means, as keys and values.
pub trait Mapper {
    /// A record.
    type In;
    /// k2.
    type Key;
    /// v2.
    type Value;

    /// Gives the keys and values of a record to `emit`, each with its time. It must be a function
    /// of the record alone: M(D ⊎ Δ) = M(D) ⊎ M(Δ).
    fn map(&self, record: &Self::In, emit: &mut impl FnMut(Self::Key, u64, Self::Value));
}

/// Reduce: what is kept of the values of a key, and what comes of it.
///
/// `Acc` with `zero`, `add` and `merge` must be a commutative monoid: `merge` is associative and
/// commutative, `zero` its neutral element, and adding a value to a merge is merging with what it
/// was added to. That is what property (2) of the paper asks of a combiner, and Theorem 1 of P.
/// A function without such an accumulator, as a median, keeps its values instead: [`LISTS`].
///
/// [`LISTS`]: Reducer::LISTS
pub trait Reducer {
    /// k2.
    type Key: Ord + Clone + Codec + Footprint;
    /// v2.
    type Value: Codec + Footprint;
    /// What is made of values; `()` if only the list counts.
    type Acc: Codec + Footprint;
    /// A result.
    type Out;

    /// Whether the values are kept (holistic), in order of time, those of one time as they came.
    /// If not, the accumulator is all there is.
    const LISTS: bool = false;

    /// What no value makes.
    fn zero(&self) -> Self::Acc;

    /// Adds a value.
    fn add(&self, acc: &mut Self::Acc, value: &Self::Value);

    /// Adds all that another was made of.
    fn merge(&self, acc: &mut Self::Acc, other: Self::Acc);

    /// Takes a value out again, if that can be done: true. If not, evicting values makes the
    /// accumulator anew from those that stay.
    fn subtract(&self, acc: &mut Self::Acc, value: &Self::Value) -> bool {
        let _ = (acc, value);
        false
    }

    /// What a value finds among those kept before it came; called only with [`LISTS`], before the
    /// value joins them, in order of arrival.
    ///
    /// [`LISTS`]: Reducer::LISTS
    fn arrive(
        &self,
        key: &Self::Key,
        time: u64,
        value: &Self::Value,
        history: &[Timed<Self::Value>],
        emit: &mut impl FnMut(Self::Out),
    ) {
        let _ = (key, time, value, history, emit);
    }

    /// The result of a key, from all that is known of it; `None` if there is nothing to say.
    fn result(&self, key: &Self::Key, state: &State<Self::Value, Self::Acc>) -> Option<Self::Out>;
}

/// A value and its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timed<V> {
    /// When it happened, in the user's unit.
    pub time: u64,
    /// What happened.
    pub value: V,
}

impl<V: Codec> Codec for Timed<V> {
    const LEAST: usize = 8 + V::LEAST;

    fn encode(&self, out: &mut Vec<u8>) {
        self.time.encode(out);
        self.value.encode(out);
    }

    fn decode(from: &mut &[u8]) -> Option<Self> {
        Some(Self { time: u64::decode(from)?, value: V::decode(from)? })
    }
}

impl<V: Footprint> Footprint for Timed<V> {
    const FLAT: bool = V::FLAT;

    fn heap(&self) -> usize {
        self.value.heap()
    }
}

/// What is kept of a key: an intermediate result (definition 4).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State<V, A> {
    /// What was made of the values.
    pub acc: A,
    /// The time of the latest value.
    pub latest: u64,
    /// The values in order of time, if the reducer keeps them.
    pub list: Vec<Timed<V>>,
}

impl<V: Codec, A: Codec> Codec for State<V, A> {
    const LEAST: usize = A::LEAST + 8 + 1;

    fn encode(&self, out: &mut Vec<u8>) {
        self.acc.encode(out);
        self.latest.encode(out);
        self.list.encode(out);
    }

    fn decode(from: &mut &[u8]) -> Option<Self> {
        let (acc, latest) = (A::decode(from)?, u64::decode(from)?);
        Some(Self { acc, latest, list: Vec::decode(from)? })
    }
}

impl<V: Footprint, A: Footprint> Footprint for State<V, A> {
    fn heap(&self) -> usize {
        self.acc.heap() + self.list.heap()
    }
}

/// The state of a key of a reducer.
pub type StateOf<R> = State<<R as Reducer>::Value, <R as Reducer>::Acc>;
