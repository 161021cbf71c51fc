//! The one error type of the crate.

use core::fmt;

/// Why a call was refused. Nothing has changed when a call returns one of these, apart from the
/// passing of time: what was due before has been given to the sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A window must be at least one unit of time long.
    BadSize {
        /// The size that was asked for.
        size: i64,
    },
    /// Windows must be at least one unit of time apart.
    BadSlide {
        /// The slide that was asked for.
        slide: i64,
    },
    /// The greatest difference of a closed window must be from 0 to `i64::MAX - 1`.
    BadDifference {
        /// The difference that was asked for.
        difference: i64,
    },
    /// The width of the paper's buckets must be at least 1 and divide the size.
    BadWidth {
        /// The width that was asked for.
        width: i64,
    },
    /// The record is older than what has been seen; records must come in the order of their time.
    OutOfOrder {
        /// The time of the record.
        time: i64,
        /// The time that has been reached.
        now: i64,
    },
    /// All windows that hold the record end after `i64::MAX`, so that it could never be counted.
    NeverEnters {
        /// The time of the record.
        time: i64,
    },
    /// Corrections can be allowed for 0 units of time or more.
    BadAllowance {
        /// The time that was asked for.
        allowed: i64,
    },
    /// A record can be 0 units of time or more ahead of the watermark.
    BadReach {
        /// The distance that was asked for.
        ahead: i64,
    },
    /// The record is further ahead of the watermark than was allowed.
    TooFarAhead {
        /// The time of the record.
        time: i64,
        /// The greatest time that would have been accepted.
        limit: i64,
    },
    /// There are 2³¹ − 2 live keys already.
    TooManyKeys,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::BadSize { size } => write!(f, "a window of size {size}: choose 1 or more"),
            Self::BadSlide { slide } => write!(f, "a slide of {slide}: choose 1 or more"),
            Self::BadDifference { difference } => {
                write!(f, "a greatest difference of {difference}: choose 0 to 2^63 - 2")
            }
            Self::BadWidth { width } => {
                write!(f, "buckets {width} wide: choose a width that divides the size")
            }
            Self::OutOfOrder { time, now } => {
                write!(f, "a record at {time} came when the time was {now}: bring records in order")
            }
            Self::NeverEnters { time } => {
                write!(f, "every window with the record at {time} ends after the last time")
            }
            Self::BadAllowance { allowed } => {
                write!(f, "corrections for a time of {allowed}: choose 0 or more")
            }
            Self::BadReach { ahead } => {
                write!(f, "records up to {ahead} ahead: choose 0 or more")
            }
            Self::TooFarAhead { time, limit } => {
                write!(f, "a record at {time} is too far ahead: {limit} is the greatest time now")
            }
            Self::TooManyKeys => f.write_str("there are 2147483646 live keys: use several maps"),
        }
    }
}

impl core::error::Error for Error {}
