//! Which windows there are: the lattice of their ends.

use crate::Error;

/// The number of a window end, counted from the first end after `i64::MIN`.
pub type Tick = u64;

/// The tick of what lies after `i64::MAX`. No end has this number: there are at most 2⁶⁴ − 1.
pub(crate) const NEVER: Tick = Tick::MAX;

/// The windows `[start, start + size)` whose start is `phase` and any multiple of `slide` from it.
///
/// Times are whole numbers in the caller's unit, from `i64::MIN` to `i64::MAX`. The slide need not
/// divide the size. Where it is greater, some times lie in no window. Where it is smaller, windows
/// overlap. Nothing overflows: a window whose end is no `i64` does not exist, and one whose start is
/// none does.
///
/// ```
/// use keywindow::WindowSpec;
///
/// let spec = WindowSpec::sliding(10, 3)?;
/// // A record at 4 is in [-3, 7), [0, 10) and [3, 13), and [6, 16) is the first without it.
/// assert_eq!(spec.enter(4), Some(7));
/// assert_eq!(spec.leave(4), Some(16));
/// assert!(spec.ends(4).eq([7, 10, 13]));
/// # Ok::<(), keywindow::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WindowSpec {
    size: u64,
    slide: u64,
    /// The first end after `i64::MIN`, as its distance from there, in `1..=slide`.
    first: u64,
    /// size = whole · slide + rest.
    whole: u64,
    rest: u64,
    /// The tick of the last end that is an `i64`.
    last: Tick,
}

const fn from_min(time: i64) -> u64 {
    time.cast_unsigned() ^ (1 << 63)
}

impl WindowSpec {
    /// Windows of `size`, one every `slide`; one of them starts at 0.
    ///
    /// # Errors
    ///
    /// [`Error::BadSize`] or [`Error::BadSlide`] if one of them is below 1.
    pub const fn sliding(size: i64, slide: i64) -> Result<Self, Error> {
        if size < 1 {
            return Err(Error::BadSize { size });
        }
        if slide < 1 {
            return Err(Error::BadSlide { slide });
        }
        let (size, slide) = (size.cast_unsigned(), slide.cast_unsigned());
        let (whole, rest) = (size / slide, size % slide);
        Ok(Self { size, slide, first: 0, whole, rest, last: 0 }.with_phase(0))
    }

    /// Windows of `size`, one after the other.
    ///
    /// # Errors
    ///
    /// [`Error::BadSize`] if it is below 1.
    pub const fn tumbling(size: i64) -> Result<Self, Error> {
        match Self::sliding(size, 1) {
            Ok(_) => Self::sliding(size, size),
            Err(error) => Err(error),
        }
    }

    /// Windows of records that are at most `difference` apart, both ends included, at every
    /// instant: those of Kafka Streams, with its window's end one before ours.
    ///
    /// # Errors
    ///
    /// [`Error::BadDifference`] unless it is in `0..i64::MAX`.
    pub const fn closed(difference: i64) -> Result<Self, Error> {
        if difference < 0 || difference == i64::MAX {
            return Err(Error::BadDifference { difference });
        }
        Self::sliding(difference + 1, 1)
    }

    /// The same windows moved so that one of them starts at `phase`, of any sign and size.
    #[must_use]
    pub const fn with_phase(mut self, phase: i64) -> Self {
        let from_min = phase as i128 + self.size as i128 - i64::MIN as i128;
        let past = from_min.rem_euclid(self.slide as i128).cast_unsigned() as u64;
        self.first = if past == 0 { self.slide } else { past };
        // The first end is not after `slide`, and so before `i64::MAX`.
        self.last = self.passed(i64::MAX) - 1;
        self
    }

    /// The length of a window.
    #[must_use]
    pub const fn size(&self) -> i64 {
        self.size.cast_signed()
    }

    /// From the start of a window to that of the next.
    #[must_use]
    pub const fn slide(&self) -> i64 {
        self.slide.cast_signed()
    }

    /// The start of a window, in `0..slide`.
    #[must_use]
    pub const fn phase(&self) -> i64 {
        let start = self.first as i128 + i64::MIN as i128 - self.size as i128;
        start.rem_euclid(self.slide as i128) as i64
    }

    /// The end of the first window that holds the time; `None` if no window does, or none that
    /// ends by `i64::MAX`.
    #[must_use]
    pub fn enter(&self, time: i64) -> Option<i64> {
        let (enter, _) = self.place(time, self.passed(time)).ok()??;
        Some(self.end(enter))
    }

    /// The end of the first window after those that hold the time, and so the first without it;
    /// `None` if no window holds it, or if it stays in the windows up to `i64::MAX`.
    #[must_use]
    pub fn leave(&self, time: i64) -> Option<i64> {
        let (_, leave) = self.place(time, self.passed(time)).ok()??;
        (leave != NEVER).then(|| self.end(leave))
    }

    /// The ends of all windows that hold the time, ascending: size / slide of them.
    pub fn ends(&self, time: i64) -> impl Iterator<Item = i64> + use<> {
        let spec = *self;
        let ticks = match spec.place(time, spec.passed(time)) {
            Ok(Some((enter, leave))) => enter..leave.min(spec.last + 1),
            Ok(None) | Err(_) => 0..0,
        };
        ticks.map(move |tick| spec.end(tick))
    }

    /// How many ends are not after the time: the ticks below this number are due then.
    #[inline]
    pub(crate) const fn passed(&self, time: i64) -> Tick {
        let time = from_min(time);
        if time < self.first { 0 } else { (time - self.first) / self.slide + 1 }
    }

    /// The ticks at which a record of this time enters and leaves, given [`passed`](Self::passed)
    /// of it; `None` in a gap.
    #[inline]
    pub(crate) const fn place(
        &self,
        time: i64,
        passed: Tick,
    ) -> Result<Option<(Tick, Tick)>, Error> {
        let enter = passed;
        if enter > self.last {
            return Err(Error::NeverEnters { time });
        }
        let time = from_min(time);
        // How far the time lies after the last end, which may be one before `i64::MIN`.
        let since = match enter {
            0 => time + (self.slide - self.first),
            _ => time - self.first - (enter - 1) * self.slide,
        };
        let held = self.whole + (since + self.rest >= self.slide) as u64;
        if held == 0 {
            return Ok(None);
        }
        match enter.checked_add(held) {
            Some(leave) if leave <= self.last => Ok(Some((enter, leave))),
            _ => Ok(Some((enter, NEVER))),
        }
    }

    /// The end with this tick, which must be one.
    #[inline]
    pub(crate) const fn end(&self, tick: Tick) -> i64 {
        let time = self.first.wrapping_add(tick.wrapping_mul(self.slide));
        (time ^ (1 << 63)).cast_signed()
    }

    /// The start of the window with this tick, or `i64::MIN` if it is before.
    #[inline]
    pub(crate) const fn start(&self, tick: Tick) -> i64 {
        let end = from_min(self.end(tick));
        (end.saturating_sub(self.size) ^ (1 << 63)).cast_signed()
    }

    /// The first time with the same windows as this one: records from there to here are one slice.
    #[inline]
    pub(crate) const fn slice(&self, time: i64) -> i64 {
        let time = from_min(time);
        // How far the last end and the last start are behind.
        let (end, slide) = (self.first % self.slide, self.slide);
        let since_end = (time % slide + (slide - end)) % slide;
        let since_start = (since_end + self.rest) % slide;
        let since = if since_end < since_start { since_end } else { since_start };
        (time.saturating_sub(since) ^ (1 << 63)).cast_signed()
    }

    /// The tick at which a record of this time leaves, which must lie in a window.
    #[inline]
    pub(crate) const fn leave_tick(&self, time: i64) -> Tick {
        match self.place(time, self.passed(time)) {
            Ok(Some((_, leave))) => leave,
            Ok(None) | Err(_) => NEVER,
        }
    }

    /// The tick of the last end.
    #[inline]
    pub(crate) const fn last_tick(&self) -> Tick {
        self.last
    }
}
