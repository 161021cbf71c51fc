//! When records are due: an open-loop schedule of rates.

mod parse;

use core::fmt;

pub use parse::ScheduleError;

use crate::core::Nanos;

/// Rates are whole thousandths of a record a second.
pub(crate) const PER_RECORD: u64 = 1000;
/// One record: in thousandths of a record a second, times nanoseconds.
const RECORD: u128 = PER_RECORD as u128 * 1_000_000_000;
/// The highest rate that can be said: 10⁹ records a second.
pub(crate) const MAX_RATE: u64 = 1_000_000_000 * PER_RECORD;

/// One part of a schedule, as it was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Segment {
    /// This rate, for this time; for ever, or for the time of the step that follows, where none is
    /// said.
    Hold { rate: u64, time: Option<Nanos> },
    /// This much more (or less) after every such time; so many times, or for ever.
    Step { by: i64, every: Nanos, times: Option<u32> },
}

/// Pieces of one length, each of a rate higher by `step` than the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stairs {
    from: Nanos,
    /// Due before it, in parts of a [`RECORD`].
    base: u128,
    rate: u64,
    step: i64,
    /// `Nanos::MAX` where there is but one, for ever.
    length: Nanos,
    pieces: Option<u32>,
}

/// A time of one rate.
#[derive(Clone, Copy, Debug)]
struct Piece {
    from: Nanos,
    base: u128,
    rate: u64,
    /// Due at its end.
    upto: u128,
}

/// When records are due: rates that change with time, whatever becomes of the records.
///
/// A load in an *open loop*: records are due by the clock, not by the answers to those before. Where
/// the engine falls behind, latency is counted from the time that a record was due
/// ([`SpoutEmitter::emit_due`](crate::SpoutEmitter::emit_due)), so that a standstill is seen in every
/// record that it held up (no *coordinated omission*). [`Pace`](crate::Pace) holds a spout to it.
///
/// Written as segments with commas between:
///
/// | | |
/// |---|---|
/// | `40k` | 40,000 records a second, for ever; only as the last segment, or before a step |
/// | `40k/5m` | 40,000 a second for five minutes |
/// | `+10k/60s` | after every 60 seconds 10,000 a second more, for ever; only as the last segment |
/// | `+10k/60sx3` | three times; the last rate holds for 60 seconds, too |
/// | `-5k/1sx4` | less; never below 0 |
///
/// A rate is a decimal number of records a second, with `k`, `M` or `G` for a thousand, a million or
/// 10⁹, and exact to a thousandth of a record. A time is a decimal number and `ns`, `us`, `ms`, `s`,
/// `m` or `h`. `40k,+10k/60s` holds 40,000 a second for 60 seconds, then 50,000 for 60 seconds, and
/// so on. A schedule whose last segment has a time ends with it.
///
/// # Examples
/// ```
/// # use streamwright::Schedule;
/// let schedule: Schedule = "100,+50/2s".parse()?;
/// assert_eq!(schedule.due(1_000_000_000), 100);
/// assert_eq!(schedule.due(3_000_000_000), 200 + 150);
/// assert_eq!(schedule.time_of(0), Some(10_000_000)); // record 0 is due after 10 ms
/// assert_eq!(schedule.to_string(), "100,+50/2s");
/// # Ok::<(), streamwright::ScheduleError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    segments: Vec<Segment>,
    stairs: Vec<Stairs>,
}

impl Schedule {
    /// Of segments that make sense.
    fn of(segments: Vec<Segment>) -> Self {
        let mut schedule = Schedule { segments, stairs: Vec::new() };
        let mut last = 0;
        for at in 0..schedule.segments.len() {
            let stairs = match schedule.segments[at] {
                Segment::Hold { rate, time } => {
                    let next = schedule.segments.get(at + 1);
                    let length = time.or(match next {
                        Some(Segment::Step { every, .. }) => Some(*every),
                        _ => None,
                    });
                    last = rate;
                    let (length, pieces) = (length.unwrap_or(Nanos::MAX), length.map(|_| 1));
                    Stairs { from: 0, base: 0, rate, step: 0, length, pieces }
                }
                Segment::Step { by, every, times } => {
                    let rate = last.saturating_add_signed(by);
                    let more = i64::from(times.unwrap_or(1).saturating_sub(1));
                    last = rate.saturating_add_signed(by.saturating_mul(more));
                    Stairs { from: 0, base: 0, rate, step: by, length: every, pieces: times }
                }
            };
            let (from, base) = match schedule.stairs.last() {
                None => (0, 0),
                Some(before) => (before.end().unwrap_or(Nanos::MAX), before.total()),
            };
            schedule.stairs.push(Stairs { from, base, ..stairs });
        }
        schedule
    }

    /// How many records are due `at` so long after the start; it never falls, and stays at
    /// `u64::MAX` where it came there. Time: O(log segments).
    #[must_use]
    pub fn due(&self, at: Nanos) -> u64 {
        let after = self.stairs.partition_point(|stairs| stairs.from <= at);
        let parts = match after.checked_sub(1) {
            Some(place) => self.stairs[place].due(at),
            None => 0,
        };
        u64::try_from(parts / RECORD).unwrap_or(u64::MAX)
    }

    /// When record number `record`, from 0, is due: the first time at which more than so many are.
    /// `None` where it never is. Time: O(segments + log steps).
    #[must_use]
    pub fn time_of(&self, record: u64) -> Option<Nanos> {
        let need = need(record);
        self.piece(need)?.time(need)
    }

    /// When it ends; `None` where it goes on for ever.
    #[must_use]
    pub fn end(&self) -> Option<Nanos> {
        self.stairs.last().and_then(Stairs::end)
    }

    /// How many records are ever due; `None` where it goes on for ever.
    #[must_use]
    pub fn total(&self) -> Option<u64> {
        self.end().map(|end| self.due(end))
    }

    /// The piece in which so much is due for the first time.
    fn piece(&self, need: u128) -> Option<Piece> {
        self.stairs.iter().find(|stairs| stairs.total() >= need)?.piece(need)
    }

    /// What asks it for one record after the other.
    pub(crate) fn cursor(&self) -> Cursor {
        Cursor { piece: None }
    }
}

fn need(record: u64) -> u128 {
    (u128::from(record) + 1) * RECORD
}

impl Stairs {
    /// Due within the first `pieces` pieces.
    fn sum(&self, pieces: u64) -> u128 {
        let n = u128::from(pieces);
        let level = n.saturating_mul(u128::from(self.rate));
        let slope = (n * n.saturating_sub(1) / 2).saturating_mul(self.step.unsigned_abs().into());
        let sum =
            if self.step < 0 { level.saturating_sub(slope) } else { level.saturating_add(slope) };
        sum.saturating_mul(u128::from(self.length))
    }

    fn rate(&self, piece: u64) -> u64 {
        let change = self.step.unsigned_abs().saturating_mul(piece);
        if self.step < 0 {
            self.rate.saturating_sub(change)
        } else {
            self.rate.saturating_add(change)
        }
    }

    /// Pieces that end within all of time.
    fn pieces(&self) -> u64 {
        let fit = (Nanos::MAX - self.from) / self.length;
        self.pieces.map_or(fit, |pieces| fit.min(pieces.into()))
    }

    fn end(&self) -> Option<Nanos> {
        let pieces = u64::from(self.pieces?);
        self.length.checked_mul(pieces)?.checked_add(self.from)
    }

    /// Due at its end, with all before it.
    fn total(&self) -> u128 {
        match self.end() {
            Some(_) => self.base.saturating_add(self.sum(self.pieces())),
            None => self.due(Nanos::MAX),
        }
    }

    fn due(&self, at: Nanos) -> u128 {
        let time = at - self.from;
        let whole = (time / self.length).min(self.pieces());
        let mut due = self.base.saturating_add(self.sum(whole));
        if self.pieces.is_none_or(|pieces| whole < pieces.into()) {
            let rest = u128::from(time - whole * self.length);
            due = due.saturating_add(rest * u128::from(self.rate(whole)));
        }
        due
    }

    fn piece(&self, need: u128) -> Option<Piece> {
        let before = |n: u64| self.base.saturating_add(self.sum(n));
        // The last piece that begins with less than that.
        let (mut low, mut high) = (0, self.pieces());
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if before(middle) < need {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        let from = self.length.checked_mul(low)?.checked_add(self.from)?;
        let (base, rate) = (before(low), self.rate(low));
        let upto = base.saturating_add(u128::from(rate) * u128::from(self.length));
        Some(Piece { from, base, rate, upto })
    }
}

impl Piece {
    fn time(&self, need: u128) -> Option<Nanos> {
        let wait = (need - self.base).checked_div(u128::from(self.rate))?;
        let late = u128::from(!(need - self.base).is_multiple_of(u128::from(self.rate)));
        self.from.checked_add(u64::try_from(wait + late).ok()?)
    }
}

/// Asks a schedule for one record after the other: it remembers the piece it is in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor {
    piece: Option<Piece>,
}

impl Cursor {
    /// As [`Schedule::time_of`].
    pub(crate) fn time_of(&mut self, record: u64, schedule: &Schedule) -> Option<Nanos> {
        let need = need(record);
        if self.piece.is_none_or(|piece| need <= piece.base || need > piece.upto) {
            self.piece = Some(schedule.piece(need)?);
        }
        self.piece?.time(need)
    }
}

impl core::str::FromStr for Schedule {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Self, ScheduleError> {
        parse::segments(text).map(Schedule::of)
    }
}

/// As it is read again.
impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, segment) in self.segments.iter().enumerate() {
            if at > 0 {
                f.write_str(",")?;
            }
            parse::write(segment, f)?;
        }
        Ok(())
    }
}
