//! Why bytes are no snapshot, or not the one that is wanted.

use core::fmt;

/// Why a snapshot was not restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RestoreError {
    /// The bytes do not begin as a snapshot does, or are too few for one.
    NoSnapshot,
    /// The checksum is wrong: bytes were changed, or cut off.
    Checksum,
    /// The snapshot has a version that this crate does not read.
    Version {
        /// The version.
        found: u16,
    },
    /// It is a snapshot of one key where many are wanted, or the other way round.
    Kind,
    /// It was taken under another label: of another aggregate, or another version of it.
    Aggregate,
    /// It was taken of other windows, or under another emission, lateness, heartbeat or reach.
    Rules,
    /// The checksum is right, but what is there is none of what this crate writes, or what its codecs
    /// do.
    Corrupt {
        /// Where, in bytes from the start.
        at: usize,
    },
}

impl fmt::Display for RestoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NoSnapshot => f.write_str("these bytes are no snapshot of windows"),
            Self::Checksum => f.write_str("the checksum is wrong: the bytes were changed or cut"),
            Self::Version { found } => {
                write!(f, "a snapshot of version {found}: this crate reads version 1")
            }
            Self::Kind => f.write_str("one key where many are wanted, or many where one is"),
            Self::Aggregate => f.write_str("it was taken under another label: restore under that"),
            Self::Rules => f.write_str("it was taken of other windows, or under other rules"),
            Self::Corrupt { at } => write!(f, "what is at byte {at} is in no snapshot"),
        }
    }
}

impl core::error::Error for RestoreError {}
