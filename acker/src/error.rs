//! The one error type of the crate.

use core::fmt;

use crate::RootId;

/// Why a call was refused. Nothing has changed when a call returns one of these,
/// apart from the counter [`Stats::duplicate_inits`](crate::Stats::duplicate_inits).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The root is already being tracked. Drop the message when it is a repeat;
    /// give a replay an id of its own with [`mix`](crate::mix).
    DuplicateRoot {
        /// The root that is still pending.
        root: RootId,
    },
    /// The task number does not fit the 27 bits that a record has for it, or the 24 where
    /// time-outs follow progress.
    TaskTooLarge {
        /// The task that was asked for.
        task: u32,
        /// The largest legal one.
        largest: u32,
    },
    /// The number of generations must lie in 3..=8.
    BadGenerations {
        /// The number that was asked for.
        generations: u8,
    },
    /// A time-out of zero ticks would end a root at its birth; use at least one tick.
    BadTimeout,
    /// The member is on the ring already; remove it first to place it anew.
    MemberExists {
        /// The member that was to be added.
        member: u32,
    },
    /// The member is not on the ring.
    UnknownMember {
        /// The member that was asked for.
        member: u32,
    },
    /// An acker hears of every epoch once and in order: bring it the ring and the moves of this
    /// one.
    EpochOutOfTurn {
        /// The epoch of the moves that came.
        epoch: u64,
        /// The one that comes next.
        next: u64,
    },
    /// A policy of replay must allow at least one attempt.
    NoAttempts,
    /// The weight of the member asks for more than 2²⁴ points.
    TooManyPoints {
        /// The member that was to be placed.
        member: u32,
        /// The number of points that it would have.
        points: u64,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::DuplicateRoot { root } => {
                write!(f, "root {root} is still pending: drop the repeat, or mix in an attempt")
            }
            Self::TaskTooLarge { task, largest } => {
                write!(f, "task {task} is above the largest legal task {largest}")
            }
            Self::BadGenerations { generations } => {
                write!(f, "{generations} generations asked for: choose 3 to 8")
            }
            Self::BadTimeout => f.write_str("a time-out must be at least one tick"),
            Self::MemberExists { member } => {
                write!(f, "member {member} is on the ring already")
            }
            Self::EpochOutOfTurn { epoch, next } => {
                write!(f, "epoch {epoch} is out of turn: epoch {next} with its own ring is next")
            }
            Self::NoAttempts => f.write_str("a policy of replay needs at least one attempt"),
            Self::TooManyPoints { member, points } => {
                write!(f, "member {member} would have {points} points: 16777216 are the most")
            }
            Self::UnknownMember { member } => write!(f, "member {member} is not on the ring"),
        }
    }
}

impl core::error::Error for Error {}
