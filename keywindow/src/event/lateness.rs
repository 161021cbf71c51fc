//! What becomes of records that come late.

use crate::lattice::NEVER;
use crate::{Error, Outcome, Tick, WindowSpec};

/// What becomes of a record when windows that hold it have been told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Late {
    /// A window is final when it is told. A record counts in all windows that hold it, or in none
    /// if one of them is final.
    Drop,
    /// A window is final when it is told. A record counts in each window that holds it and is not
    /// final.
    #[default]
    Partial,
    /// A window is final when the watermark is `allowed` past its end, and until then what was told is
    /// corrected. A record counts in each window that holds it and is not final.
    Correct {
        /// The time for which a window that has been told is corrected; 0 or more.
        allowed: i64,
    },
}

/// The windows that have been told and those that are final, by the number of the first that is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Horizon {
    pub(crate) told: Tick,
    /// At most `told`.
    pub(crate) last: Tick,
}

/// The windows in which a record counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// The first window that holds it, which may be final.
    pub(crate) first: Tick,
    /// The first in which it counts.
    pub(crate) enter: Tick,
    pub(crate) leave: Tick,
}

impl Late {
    pub(crate) const fn checked(self) -> Result<Self, Error> {
        match self {
            Self::Correct { allowed } if allowed < 0 => Err(Error::BadAllowance { allowed }),
            _ => Ok(self),
        }
    }

    pub(crate) const fn allowed(self) -> i64 {
        match self {
            Self::Drop | Self::Partial => 0,
            Self::Correct { allowed } => allowed,
        }
    }

    pub(crate) const fn horizon(self, spec: &WindowSpec, watermark: i64) -> Horizon {
        let told = spec.passed(watermark);
        let last = match watermark.checked_sub(self.allowed()) {
            Some(time) => spec.passed(time),
            None => 0,
        };
        Horizon { told, last }
    }

    /// What becomes of a record that enters and leaves at these ticks, and where it counts.
    #[inline]
    pub(crate) const fn judge(
        self,
        spec: &WindowSpec,
        horizon: Horizon,
        (enter, leave): (Tick, Tick),
    ) -> (Outcome, Option<Span>) {
        let last = horizon.last;
        if enter >= last {
            return (Outcome::Accepted, Some(Span { first: enter, enter, leave }));
        }
        let end = if leave == NEVER { spec.last_tick() + 1 } else { leave };
        if matches!(self, Self::Drop) || end <= last {
            return (Outcome::Late, None);
        }
        (Outcome::Partial { missed: last - enter }, Some(Span { first: enter, enter: last, leave }))
    }
}
