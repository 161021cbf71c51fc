//! Ids of roots and edges, and the XOR sums that stand for sets of edges.

use core::fmt;
use core::num::NonZeroU64;

use crate::mixing::{E, PHI, PI, scramble};

/// The track id of one attempt at one root tuple ("springId", paper section 2).
///
/// Never zero. Two attempts at the same root are two ids; see [`mix`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RootId(NonZeroU64);

/// The id of one delivered copy of a tuple: an edge of the tuple tree ("tupleId",
/// paper section 2).
///
/// Never zero, since XOR cannot see zero. A tuple that is sent to all tasks of a bolt
/// has one id for each copy.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EdgeId(NonZeroU64);

macro_rules! id {
    ($name:ident) => {
        impl $name {
            /// The id with these bits; `None` for zero. O(1).
            #[must_use]
            pub const fn new(bits: u64) -> Option<Self> {
                match NonZeroU64::new(bits) {
                    Some(bits) => Some(Self(bits)),
                    None => None,
                }
            }

            /// The bits of the id, never zero. O(1).
            #[must_use]
            pub const fn get(self) -> u64 {
                self.0.get()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:016x}", self.0)
            }
        }
    };
}

id!(RootId);
id!(EdgeId);

/// The XOR of a set of edge ids: 8 bytes, whatever the size of the set.
///
/// The ids of a set are distinct. The same id twice cancels, as XOR does.
#[derive(Clone, Copy, PartialEq, Eq, Default, Hash, Debug)]
pub struct Delta(u64);

impl Delta {
    /// The empty set.
    pub const EMPTY: Self = Self(0);

    /// The sum of some distinct ids. O(ids).
    #[must_use]
    pub fn of(ids: &[EdgeId]) -> Self {
        ids.iter().copied().collect()
    }

    /// This set and one id more. O(1).
    #[must_use]
    pub const fn with(self, id: EdgeId) -> Self {
        Self(self.0 ^ id.get())
    }

    /// The union of two disjoint sets. O(1).
    #[must_use]
    pub const fn merge(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }

    /// The sum, for the wire. O(1).
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// The sum as read from the wire. O(1).
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }
}

impl FromIterator<EdgeId> for Delta {
    fn from_iter<I: IntoIterator<Item = EdgeId>>(ids: I) -> Self {
        ids.into_iter().fold(Self::EMPTY, Self::with)
    }
}

/// What one or more finished tuples of one root consumed and produced, together.
///
/// The type exists so that a consumed id cannot be announced apart from its products:
/// if it were, the check value could pass through zero while a product is on its way,
/// and the root would be called done too early. There is no way to make an `Update` out
/// of one bare sum, save for the wire.
#[derive(Clone, Copy, PartialEq, Eq, Default, Hash, Debug)]
pub struct Update(u64);

impl Update {
    /// One finished tuple: the ids it consumed (several for a join) and the ids of every
    /// copy it produced. O(1).
    #[must_use]
    pub const fn new(consumed: Delta, produced: Delta) -> Self {
        Self(consumed.0 ^ produced.0)
    }

    /// Two updates of the same root as one message. O(1).
    #[must_use]
    pub const fn merge(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }

    /// The sum, for the wire. O(1).
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// An update as read from the wire. O(1).
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }
}

/// A source of edge ids: a keyed permutation applied to a counter.
///
/// The ids of one generator are distinct and not zero for 2⁶⁴ − 1 calls. Two generators
/// with different `(seed, stream)` are different permutations, but for a chance of 2⁻⁶⁴; an id
/// of one equals an id of the other with a chance of about 2⁻⁶⁴ for each pair.
///
/// The paper's example counts 01001, 01010, …; ids in such a relation make the check
/// value zero too early (section 3.3, figure 3, in another order of arrival). These ids have no
/// linear relation that a tree would meet by design. They are not secret: whoever sees
/// many of them may be able to predict more.
///
/// ```
/// use acker::IdGen;
///
/// let mut ids = IdGen::from_seed(7, 0);
/// let (a, b) = (ids.next_id(), ids.next_id());
/// assert_ne!(a, b);
/// assert_eq!(IdGen::from_seed(7, 0).next_id(), a); // the seed decides
/// ```
#[derive(Clone, Debug)]
pub struct IdGen {
    counter: u64,
    whiten: u64,
    first: u64,
    second: u64,
}

impl IdGen {
    /// A generator for one `stream` (say, a task) of one run with the given `seed`. O(1).
    #[must_use]
    pub const fn from_seed(seed: u64, stream: u64) -> Self {
        // The keys are a chain that depends on both words; the multipliers must be odd.
        let base = scramble(scramble(seed ^ PI).wrapping_add(stream));
        let whiten = scramble(base ^ E);
        let first = scramble(whiten.wrapping_add(PHI));
        let second = scramble(first.wrapping_add(PI));
        Self { counter: 0, whiten, first: first | 1, second: second | 1 }
    }

    /// The next id. O(1): three multiplications, no branch that is ever missed.
    #[inline]
    pub fn next_id(&mut self) -> EdgeId {
        loop {
            let x = scramble_keyed(self.counter ^ self.whiten, self.first, self.second);
            self.counter = self.counter.wrapping_add(1);
            // A permutation meets zero once in 2⁶⁴ calls.
            if let Some(id) = EdgeId::new(x) {
                return id;
            }
        }
    }
}

/// A bijection for every pair of odd multipliers.
const fn scramble_keyed(x: u64, first: u64, second: u64) -> u64 {
    let x = (x ^ (x >> 32)).wrapping_mul(PHI);
    let x = (x ^ (x >> 29)).wrapping_mul(first);
    let x = (x ^ (x >> 31)).wrapping_mul(second);
    x ^ (x >> 32)
}

/// The track id of attempt number `attempt` at the root that its spout calls `root`.
///
/// A late ack of the first attempt must not enter the sum of the second, so each attempt
/// is a root of its own. Never zero. O(1).
///
/// # Collisions
///
/// Ids of the same root, or of the same attempt, differ (save that the one input that
/// maps to zero is moved onto another id). Any other two pairs meet with a chance of
/// 2⁻⁶⁴, so a new root meets one of P pending roots with P·2⁻⁶⁴: for a million pending
/// roots and a million new ones a second that is 0.005 a day. The tracker refuses such a
/// root with [`Error::DuplicateRoot`](crate::Error::DuplicateRoot) and its spout tries
/// the next attempt. The function has no key: do not let an adversary choose `root`.
#[must_use]
pub const fn mix(root: u64, attempt: u32) -> RootId {
    let attempt = scramble(attempt as u64 ^ E);
    match RootId::new(scramble(scramble(root ^ PI) ^ attempt)) {
        Some(id) => id,
        None => RootId(NonZeroU64::MAX),
    }
}
