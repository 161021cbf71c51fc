//! What holds for all keys: the windows, what is told of them, and how far the watermark has come.

use core::num::NonZeroU64;

use super::lateness::{Horizon, Late, Span};
#[cfg(feature = "keys")]
use crate::lattice::NEVER;
use crate::{Emit, Error, Outcome, Tick, WindowSpec};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rules {
    pub(crate) spec: WindowSpec,
    pub(crate) emit: Emit,
    /// Every so many windows one is told though nothing changes.
    pub(crate) beat: Option<NonZeroU64>,
    pub(crate) late: Late,
    /// How far a record may be ahead of the watermark.
    pub(crate) ahead: Option<i64>,
    pub(crate) watermark: i64,
    pub(crate) horizon: Horizon,
}

impl Rules {
    pub(crate) fn new(spec: WindowSpec) -> Self {
        Self {
            spec,
            emit: Emit::default(),
            beat: None,
            late: Late::default(),
            ahead: None,
            watermark: i64::MIN,
            horizon: Horizon { told: 0, last: 0 },
        }
    }

    pub(crate) const fn ahead(ahead: i64) -> Result<i64, Error> {
        if ahead < 0 { Err(Error::BadReach { ahead }) } else { Ok(ahead) }
    }

    /// What becomes of a record of this time, and in which windows it counts.
    #[inline]
    pub(crate) fn judge(&self, time: i64) -> Result<(Outcome, Option<Span>), Error> {
        if let Some(ahead) = self.ahead {
            let limit = self.watermark.saturating_add(ahead);
            // Before the first watermark there is nothing to be ahead of.
            if time > limit && self.watermark > i64::MIN {
                return Err(Error::TooFarAhead { time, limit });
            }
        }
        match self.spec.place(time, self.spec.passed(time))? {
            Some(ticks) => Ok(self.late.judge(&self.spec, self.horizon, ticks)),
            None => Ok((Outcome::Gap, None)),
        }
    }

    /// Lets the watermark come to this time; whether it moved.
    pub(crate) fn advance(&mut self, watermark: i64) -> bool {
        let moves = watermark > self.watermark;
        if moves {
            self.watermark = watermark;
        }
        moves
    }

    /// The horizon at the watermark.
    pub(crate) fn horizon_now(&self) -> Horizon {
        self.late.horizon(&self.spec, self.watermark)
    }

    /// Whether a window that is not empty is told in any case.
    pub(crate) fn beats(&self, tick: Tick) -> bool {
        self.beat.is_some_and(|every| tick.is_multiple_of(every.get()))
    }

    /// The first tick from this one on at which there is a beat.
    pub(crate) fn next_beat(&self, tick: Tick) -> Option<Tick> {
        tick.checked_next_multiple_of(self.beat?.get()).filter(|&beat| beat < Tick::MAX)
    }

    /// The tick by which the window of this one is final, or [`NEVER`].
    #[cfg(feature = "keys")]
    pub(crate) fn final_by(&self, tick: Tick) -> Tick {
        let end = self.spec.end(tick).checked_add(self.late.allowed());
        let by = end.and_then(|end| end.checked_sub(1)).map(|before| self.spec.passed(before));
        by.filter(|&by| by <= self.spec.last_tick()).unwrap_or(NEVER)
    }
}
