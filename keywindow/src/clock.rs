//! The order of time, on a lattice of windows.

use crate::{Error, Tick, WindowSpec};

/// How far the time has come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    pub(crate) spec: WindowSpec,
    pub(crate) now: i64,
}

impl Clock {
    pub(crate) const fn new(spec: WindowSpec) -> Self {
        Self { spec, now: i64::MIN }
    }

    /// Lets the time come to that of a record. The ticks below the number that is returned are due,
    /// and [`WindowSpec::place`] finds the record's own from it.
    #[inline]
    pub(crate) const fn reach(&mut self, time: i64) -> Result<Tick, Error> {
        if time < self.now {
            return Err(Error::OutOfOrder { time, now: self.now });
        }
        self.now = time;
        Ok(self.spec.passed(time))
    }

    /// Lets the time come to this one, unless it has passed already, and tells the same of it.
    pub(crate) fn advance(&mut self, time: i64) -> Tick {
        self.now = self.now.max(time);
        self.spec.passed(self.now)
    }
}
