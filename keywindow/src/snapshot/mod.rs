//! Snapshots: all that windows in event time hold, as bytes.
//!
//! What is restored tells, from then on, what the original would have told, to the last bit: also of
//! sums of floats, since the order of merges is kept. The same windows give the same bytes on every
//! machine. A restore checks the checksum, the version, the windows and rules, and a label of the caller's
//! for the aggregate; then that all is such as a snapshot has it. Bytes of any other kind are a
//! [`RestoreError`], take no more memory than a few times their own length, and never panic.
//!
//! ```
//! use keywindow::aggregates::Count;
//! use keywindow::{EventWindow, RestoreError, WindowSpec};
//!
//! let empty = || -> Result<_, keywindow::Error> {
//!     Ok(EventWindow::new(Count::new(), WindowSpec::sliding(60, 1)?))
//! };
//! let mut window = empty()?;
//! let _ = window.push(5, &(), |_| ())?;
//! window.advance_to(10, |_| ());
//! let bytes = window.snapshot("count, version 1");
//!
//! let restored = empty()?.restore("count, version 1", &bytes)?;
//! assert_eq!(restored.current(), Some(1));
//! assert_eq!(restored.next_deadline(), Some(66));
//! let other = empty()?.restore("count, version 2", &bytes);
//! assert!(matches!(other, Err(RestoreError::Aggregate)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Format, version 1
//!
//! Numbers are little-endian. `kwev`, the version as `u16`, 1 for one key and 2 for many, the label,
//! size, slide, phase, emission, heartbeat, lateness and reach; the watermark and the number of the last
//! correction; the state of the key, or the number of keys and of each the key, the number of
//! the end by which it is forgotten, and its state; CRC-32 of
//! all before.

mod codec;
mod error;
mod parts;
mod state;

use alloc::vec::Vec;

pub use codec::{Codec, Input};
pub use error::RestoreError;

use crate::{Aggregate, EventWindow};
use parts::{open, seal};

const ONE_KEY: u8 = 1;
#[cfg(feature = "keys")]
const MANY_KEYS: u8 = 2;

impl<A: Aggregate<Acc: Codec>> EventWindow<A> {
    /// All that the window holds, as bytes. `label` names the aggregate and its version; a restore must
    /// bring the same.
    #[must_use]
    pub fn snapshot(&self, label: &str) -> Vec<u8> {
        let mut out = parts::head(ONE_KEY, label, &self.rules, self.revision);
        state::write(&self.state, &mut out);
        seal(out)
    }

    /// This window with what a snapshot holds in the place of what it has. It must have been made as that
    /// of the snapshot was: the same windows, emission, lateness, heartbeat and reach.
    ///
    /// # Errors
    ///
    /// [`RestoreError`], which says what is wrong with the bytes.
    pub fn restore(mut self, label: &str, bytes: &[u8]) -> Result<Self, RestoreError> {
        let mut input = open(bytes)?;
        self.revision = parts::read_head(ONE_KEY, label, &mut self.rules, &mut input)?;
        self.state = state::read(&self.agg, &self.rules, &mut input)?;
        input.finish()?;
        Ok(self)
    }
}

#[cfg(feature = "keys")]
impl<K, A, S> crate::EventWindows<K, A, S>
where
    K: core::hash::Hash + Eq + Codec,
    A: Aggregate<Acc: Codec>,
    S: core::hash::BuildHasher,
{
    /// All that the windows hold, as bytes, whatever the hasher. `label` names the aggregate and its version;
    /// a restore must bring the same.
    #[must_use]
    pub fn snapshot(&self, label: &str) -> Vec<u8> {
        let mut out = parts::head(MANY_KEYS, label, &self.rules, self.revision);
        let mut keys: Vec<_> = self.keys.iter().collect();
        keys.sort_unstable_by_key(|keyed| keyed.born);
        (keys.len() as u64).encode(&mut out);
        for keyed in keys {
            keyed.key.encode(&mut out);
            keyed.forgetting.encode(&mut out);
            state::write(&keyed.state, &mut out);
        }
        seal(out)
    }

    /// These windows with what a snapshot holds in the place of what they have. They must have been made
    /// as those of the snapshot were: the same windows, emission, lateness, heartbeat and reach.
    /// [`stats`](Self::stats) count from here.
    ///
    /// # Errors
    ///
    /// [`RestoreError`], which says what is wrong with the bytes.
    pub fn restore(mut self, label: &str, bytes: &[u8]) -> Result<Self, RestoreError> {
        let mut input = open(bytes)?;
        let revision = parts::read_head(MANY_KEYS, label, &mut self.rules, &mut input)?;
        let mut keys = Vec::new();
        for _ in 0..input.count()? {
            let (key, by): (K, u64) = Codec::decode(&mut input)?;
            if by < self.rules.horizon.told {
                return Err(input.corrupt());
            }
            keys.push((key, by, state::read(&self.agg, &self.rules, &mut input)?));
        }
        input.finish()?;
        let corrupt = input.corrupt();
        self.restart(revision, keys).ok_or(corrupt)
    }
}
