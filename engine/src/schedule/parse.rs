//! Schedules as people write them: `40k,+10k/60s`.

use core::fmt;

use super::{MAX_RATE, PER_RECORD, Segment};
use crate::core::Nanos;

/// Units of a rate, in thousandths of a record a second; none is one record.
const RATES: [(&str, u64); 4] = [
    ("G", 1_000_000_000 * PER_RECORD),
    ("M", 1_000_000 * PER_RECORD),
    ("k", 1000 * PER_RECORD),
    ("", PER_RECORD),
];
/// Units of a time, in nanoseconds. `s` and `m` come after those that end in them.
const TIMES: [(&str, u64); 6] = [
    ("ns", 1),
    ("us", 1000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// What is wrong with a schedule, and where: `at` is a byte of the text, from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// A segment is empty.
    #[error("at byte {at}: a segment is empty: write a rate, as 40k, or a step, as +10k/60s")]
    Empty {
        /// Where it should be.
        at: usize,
    },
    /// Not a rate.
    #[error("at byte {at}: {text:?} is no rate: write records a second, as 500, 2.5k or 1M")]
    Rate {
        /// Where it begins.
        at: usize,
        /// What stands there.
        text: String,
    },
    /// Not a time.
    #[error("at byte {at}: {text:?} is no time: write a number and ns, us, ms, s, m or h, as 60s")]
    Time {
        /// Where it begins.
        at: usize,
        /// What stands there.
        text: String,
    },
    /// Not a number of steps.
    #[error("at byte {at}: {text:?} is no number of steps: write 1 or more, as x3")]
    Times {
        /// Where it begins.
        at: usize,
        /// What stands there.
        text: String,
    },
    /// A number is finer than can be kept.
    #[error("at byte {at}: {text:?} is finer than {grain}")]
    TooFine {
        /// Where it begins.
        at: usize,
        /// What stands there.
        text: String,
        /// What can be kept.
        grain: &'static str,
    },
    /// A number, or a rate that steps lead to, is too large.
    #[error("at byte {at}: {text:?} is, or leads to, more than {limit}")]
    TooLarge {
        /// Where it begins.
        at: usize,
        /// What stands there.
        text: String,
        /// The limit.
        limit: &'static str,
    },
    /// A step or a time is zero.
    #[error("at byte {at}: {text:?} is 0: a step and a time must be more")]
    Zero {
        /// Where it begins.
        at: usize,
        /// What stands there.
        text: String,
    },
    /// The first segment is a step.
    #[error(
        "at byte {at}: a sign makes it a step, but from what? Begin with a rate, as 40k,+10k/60s"
    )]
    StepFirst {
        /// Where it begins.
        at: usize,
    },
    /// A step without a time.
    #[error("at byte {at}: the step has no time: say after how long, as +10k/60s")]
    StepWithoutTime {
        /// Where it ends.
        at: usize,
    },
    /// A segment that goes on for ever is not the last.
    #[error("at byte {at}: this segment never comes, since the one before it has no end")]
    Unreached {
        /// Where it begins.
        at: usize,
    },
    /// Steps lead below 0.
    #[error("at byte {at}: {text:?} leads below 0 records a second")]
    BelowZero {
        /// Where it begins.
        at: usize,
        /// What stands there.
        text: String,
    },
    /// A last rate of 0, without a time: nothing would ever be due again.
    #[error("at byte {at}: 0 records a second for ever: give it a time, or leave it out")]
    Nothing {
        /// Where it begins.
        at: usize,
    },
}

const RATE_LIMIT: &str = "10^9 records a second";
const TIME_LIMIT: &str = "584 years";

enum Wrong {
    NoNumber,
    TooFine,
    TooLarge,
}

/// A decimal number in one of several units, exactly.
fn exact(text: &str, units: &[(&str, u64)]) -> Result<u64, Wrong> {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let (number, unit) = units
        .iter()
        .find_map(|&(name, unit)| {
            let number = text.strip_suffix(name)?;
            // `5m` is no number before the `s` of `5ms`.
            number.ends_with(|c: char| c.is_ascii_digit()).then_some((number, unit))
        })
        .ok_or(Wrong::NoNumber)?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    if !digits(whole) || !digits(fraction) {
        return Err(Wrong::NoNumber);
    }
    let whole: u64 = whole.parse().map_err(|_| Wrong::TooLarge)?;
    let whole = whole.checked_mul(unit).ok_or(Wrong::TooLarge)?;
    let fraction = fraction.trim_end_matches('0');
    // The largest unit has 13 decimal places of the smallest at the most.
    let places = u32::try_from(fraction.len()).ok().filter(|&n| n <= 15).ok_or(Wrong::TooFine)?;
    let parts = fraction.bytes().fold(0, |sum, digit| sum * 10 + u128::from(digit - b'0'));
    let (parts, scale) = (parts * u128::from(unit), 10u128.pow(places));
    if !parts.is_multiple_of(scale) {
        return Err(Wrong::TooFine);
    }
    let part = u64::try_from(parts / scale).map_err(|_| Wrong::TooLarge)?;
    whole.checked_add(part).ok_or(Wrong::TooLarge)
}

fn rate(text: &str, at: usize) -> Result<u64, ScheduleError> {
    let limit = RATE_LIMIT;
    let large = || ScheduleError::TooLarge { at, text: text.to_owned(), limit };
    match exact(text, &RATES) {
        Ok(rate) if rate <= MAX_RATE => Ok(rate),
        Ok(_) | Err(Wrong::TooLarge) => Err(large()),
        Err(Wrong::NoNumber) => Err(ScheduleError::Rate { at, text: text.to_owned() }),
        Err(Wrong::TooFine) => {
            let grain = "a thousandth of a record a second";
            Err(ScheduleError::TooFine { at, text: text.to_owned(), grain })
        }
    }
}

fn time(text: &str, at: usize) -> Result<Nanos, ScheduleError> {
    let text_of = || text.to_owned();
    match exact(text, &TIMES) {
        Ok(0) => Err(ScheduleError::Zero { at, text: text_of() }),
        Ok(time) => Ok(time),
        Err(Wrong::NoNumber) => Err(ScheduleError::Time { at, text: text_of() }),
        Err(Wrong::TooFine) => {
            Err(ScheduleError::TooFine { at, text: text_of(), grain: "a nanosecond" })
        }
        Err(Wrong::TooLarge) => {
            Err(ScheduleError::TooLarge { at, text: text_of(), limit: TIME_LIMIT })
        }
    }
}

/// The segments of a schedule that makes sense.
pub(super) fn segments(text: &str) -> Result<Vec<Segment>, ScheduleError> {
    let mut segments = Vec::new();
    let (mut at, mut last, mut begun) = (0, 0, 0u64);
    let mut last_at = 0;
    let parts: Vec<&str> = text.split(',').collect();
    for (number, part) in parts.iter().enumerate() {
        if number == 0 && part.starts_with(['+', '-']) {
            return Err(ScheduleError::StepFirst { at });
        }
        let segment = segment(part, at)?;
        match segment {
            Segment::Hold { .. } if endless(segments.last()) => {
                return Err(ScheduleError::Unreached { at });
            }
            Segment::Step { .. }
                if matches!(segments.last(), Some(Segment::Step { times: None, .. })) =>
            {
                return Err(ScheduleError::Unreached { at });
            }
            Segment::Step { every, .. } => {
                if let Some(Segment::Hold { time: None, .. }) = segments.last() {
                    begun = lasts(begun, every, 1).ok_or_else(|| too_long(part, at))?;
                }
            }
            Segment::Hold { .. } => {}
        }
        last = leads_to(&segment, last, part, at)?;
        let length = match segment {
            Segment::Hold { time, .. } => time.map(|time| (time, 1)),
            Segment::Step { every, times, .. } => times.map(|times| (every, times)),
        };
        if let Some((time, times)) = length {
            begun = lasts(begun, time, times).ok_or_else(|| too_long(part, at))?;
        }
        segments.push(segment);
        last_at = at;
        at += part.len() + 1;
    }
    if last == 0 && endless(segments.last()) {
        return Err(ScheduleError::Nothing { at: last_at });
    }
    Ok(segments)
}

fn endless(segment: Option<&Segment>) -> bool {
    matches!(segment, Some(Segment::Hold { time: None, .. } | Segment::Step { times: None, .. }))
}

fn lasts(begun: Nanos, time: Nanos, times: u32) -> Option<Nanos> {
    time.checked_mul(times.into())?.checked_add(begun)
}

fn too_long(part: &str, at: usize) -> ScheduleError {
    ScheduleError::TooLarge { at, text: part.to_owned(), limit: TIME_LIMIT }
}

/// The rate that a segment leads to from `last`.
fn leads_to(segment: &Segment, last: u64, part: &str, at: usize) -> Result<u64, ScheduleError> {
    let text = || part.to_owned();
    match *segment {
        Segment::Hold { rate, .. } => Ok(rate),
        // For ever: up without end, which no limit stops; down only to 0.
        Segment::Step { by, times: None, .. } if by < 0 => {
            Err(ScheduleError::BelowZero { at, text: text() })
        }
        Segment::Step { by, times, .. } => {
            let change = i128::from(by) * i128::from(times.unwrap_or(1));
            match u64::try_from(i128::from(last) + change) {
                Err(_) => Err(ScheduleError::BelowZero { at, text: text() }),
                Ok(rate) if rate > MAX_RATE => {
                    Err(ScheduleError::TooLarge { at, text: text(), limit: RATE_LIMIT })
                }
                Ok(rate) => Ok(rate),
            }
        }
    }
}

fn segment(part: &str, at: usize) -> Result<Segment, ScheduleError> {
    if part.is_empty() {
        return Err(ScheduleError::Empty { at });
    }
    let sign = part.strip_prefix(['+', '-']).map(|_| part.starts_with('-'));
    let Some(down) = sign else {
        return Ok(match part.split_once('/') {
            None => Segment::Hold { rate: rate(part, at)?, time: None },
            Some((of, long)) => {
                let time = time(long, at + of.len() + 1)?;
                Segment::Hold { rate: rate(of, at)?, time: Some(time) }
            }
        });
    };
    let Some((of, rest)) = part[1..].split_once('/') else {
        rate(&part[1..], at + 1)?;
        return Err(ScheduleError::StepWithoutTime { at: at + part.len() });
    };
    let by = rate(of, at + 1)?;
    if by == 0 {
        return Err(ScheduleError::Zero { at: at + 1, text: of.to_owned() });
    }
    let rest_at = at + 1 + of.len() + 1;
    let (long, times) = match rest.split_once('x') {
        None => (rest, None),
        Some((long, number)) => {
            let digits = number.bytes().all(|b| b.is_ascii_digit());
            let times = number.parse().ok().filter(|&times: &u32| digits && times > 0);
            let (at, text) = (rest_at + long.len() + 1, number.to_owned());
            (long, Some(times.ok_or(ScheduleError::Times { at, text })?))
        }
    };
    let every = time(long, rest_at)?;
    // A rate is at most 10¹², so it fits.
    let by = i64::try_from(by).unwrap_or(i64::MAX);
    Ok(Segment::Step { by: if down { -by } else { by }, every, times })
}

/// Writes a segment so that it is read again.
pub(super) fn write(segment: &Segment, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match *segment {
        Segment::Hold { rate, time } => {
            number(rate, &RATES, f)?;
            if let Some(time) = time {
                f.write_str("/")?;
                number(time, &TIMES, f)?;
            }
        }
        Segment::Step { by, every, times } => {
            f.write_str(if by < 0 { "-" } else { "+" })?;
            number(by.unsigned_abs(), &RATES, f)?;
            f.write_str("/")?;
            number(every, &TIMES, f)?;
            if let Some(times) = times {
                write!(f, "x{times}")?;
            }
        }
    }
    Ok(())
}

/// In the largest unit of which it is a whole number; of none, in thousandths.
fn number(value: u64, units: &[(&str, u64)], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let fits = |unit: &&(&str, u64)| value.is_multiple_of(unit.1) && value > 0;
    match units.iter().filter(fits).max_by_key(|(_, unit)| *unit) {
        Some((name, unit)) => write!(f, "{}{name}", value / unit),
        None if value == 0 => f.write_str("0"),
        // Only rates have a part of their smallest unit.
        None => {
            let (whole, part) = (value / PER_RECORD, value % PER_RECORD);
            write!(f, "{whole}.{}", format!("{part:03}").trim_end_matches('0'))
        }
    }
}
