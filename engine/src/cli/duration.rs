//! Durations as people write them: `500ms`, `2s`, `1.5m`.

use std::time::Duration;

/// Units with their microseconds, the largest first. `s` comes after those that end in it.
const UNITS: [(&str, u64); 5] =
    [("h", 3_600_000_000), ("ms", 1_000), ("us", 1), ("m", 60_000_000), ("s", 1_000_000)];

/// Reads a duration: a decimal number and a unit, `us`, `ms`, `s`, `m` or `h`. A bare `0` needs
/// no unit. What is finer than a microsecond is refused rather than dropped.
pub(super) fn parse(text: &str) -> Result<Duration, String> {
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let wrong =
        || format!("{text:?} is no duration: write a number and us, ms, s, m or h, as 500ms");
    let unit = UNITS.iter().find_map(|&(unit, micros)| Some((text.strip_suffix(unit)?, micros)));
    let (number, micros) = unit.ok_or_else(wrong)?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return Err(wrong());
    }
    let long = || format!("{text:?} is too long");
    let whole: u64 = whole.parse().map_err(|_| long())?;
    let whole = whole.checked_mul(micros).ok_or_else(long)?;
    let finer = || format!("{text:?} is finer than a microsecond");
    let fraction = fraction.trim_end_matches('0');
    // An hour has 10 decimal places of whole microseconds at the most.
    let places = u32::try_from(fraction.len()).ok().filter(|&n| n <= 10).ok_or_else(finer)?;
    let parts = fraction.bytes().fold(0, |sum, digit| sum * 10 + u128::from(digit - b'0'));
    let parts = parts * u128::from(micros);
    let scale = 10u128.pow(places);
    if !parts.is_multiple_of(scale) {
        return Err(finer());
    }
    let part = u64::try_from(parts / scale).map_err(|_| long())?;
    let sum = whole.checked_add(part).ok_or_else(long)?;
    Ok(Duration::from_micros(sum))
}

/// Writes a duration so that [`parse`] reads it again, microseconds and all.
pub(super) fn format(time: Duration) -> String {
    let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    if micros == 0 {
        return "0s".to_owned();
    }
    let mut units = UNITS;
    units.sort_unstable_by_key(|&(_, micros)| std::cmp::Reverse(micros));
    let fits = units.iter().find(|&&(_, unit)| micros.is_multiple_of(unit));
    let &(unit, size) = fits.unwrap_or(&("us", 1));
    format!("{}{unit}", micros / size)
}

/// Writes a measured time to three or four digits.
pub(super) fn measured(time: Duration) -> String {
    let micros = time.as_secs_f64() * 1e6;
    if micros < 1e3 {
        format!("{micros:.0} us")
    } else if micros < 1e6 {
        format!("{:.2} ms", micros / 1e3)
    } else {
        format!("{:.3} s", micros / 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_people_write() {
        for (text, micros) in [
            ("500ms", 500_000),
            ("2s", 2_000_000),
            ("1m", 60_000_000),
            ("1.5m", 90_000_000),
            ("0.25s", 250_000),
            ("3h", 10_800_000_000),
            ("7us", 7),
            ("0", 0),
            ("0s", 0),
            ("1.000001s", 1_000_001),
            ("0.125ms", 125),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_micros(micros)), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_no_duration() {
        for text in [
            "",
            "s",
            "5",
            "-1s",
            "+1s",
            "1,5s",
            "1.s",
            ".5s",
            "1e3s",
            "5 s",
            "1d",
            "0.5us",
            "1.000000001m",
            "NaNs",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        for text in ["99999999999999999999s", "18446744073709551615h"] {
            assert!(parse(text).unwrap_err().contains("too long"), "{text}");
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        for micros in [0, 1, 999, 1_000, 1_500, 60_000_000, 90_000_000, 3_600_000_000, u64::MAX] {
            let time = Duration::from_micros(micros);
            assert_eq!(parse(&format(time)), Ok(time));
        }
        assert_eq!(format(Duration::from_secs(60)), "1m");
        assert_eq!(format(Duration::from_millis(1500)), "1500ms");
    }
}
