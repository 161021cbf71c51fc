//! Schedules: what is due when, and every way of writing one that makes no sense.

#![allow(clippy::unwrap_used, reason = "a test reports a failure by panicking")]

use proptest::prelude::*;
use streamwright::{Schedule, ScheduleError};

const SECOND: u64 = 1_000_000_000;

fn schedule(text: &str) -> Schedule {
    text.parse().unwrap()
}

/// Runs a property so many times, or as often as the environment says.
fn cases(number: u32) -> ProptestConfig {
    let said = std::env::var("STREAMWRIGHT_CASES").ok().and_then(|text| text.parse().ok());
    ProptestConfig::with_cases(said.unwrap_or(number))
}

#[test]
fn a_rate_and_its_steps() {
    let s = schedule("40k,+10k/60s");
    assert_eq!((s.due(0), s.time_of(0)), (0, Some(25_000)));
    assert_eq!(s.due(60 * SECOND), 2_400_000);
    assert_eq!(s.due(120 * SECOND), 2_400_000 + 3_000_000);
    assert_eq!(s.due(600 * SECOND), (0..10).map(|i| 60 * (40_000 + 10_000 * i)).sum::<u64>());
    assert_eq!(s.time_of(2_400_000), Some(60 * SECOND + 20_000));
    assert_eq!((s.end(), s.total()), (None, None));
}

#[test]
fn several_segments_and_an_end() {
    let s = schedule("10/1s,0/2s,20/500ms,-5/1sx3,+1/1sx2");
    let at = |tenths: u64| s.due(tenths * SECOND / 10);
    assert_eq!([at(10), at(20), at(30), at(35)], [10, 10, 10, 20]);
    // 15, 10, 5, then 6, 7.
    assert_eq!([at(45), at(55), at(65), at(75), at(85)], [35, 45, 50, 56, 63]);
    assert_eq!((s.end(), s.total()), (Some(8_500_000_000), Some(63)));
    assert_eq!((s.due(u64::MAX), s.time_of(62), s.time_of(63)), (63, Some(8_500_000_000), None));
    // None is due in the pause: the eleventh is that of its end.
    assert_eq!((s.time_of(9), s.time_of(10)), (Some(SECOND), Some(3 * SECOND + SECOND / 20)));
}

#[test]
fn the_ends_of_time_and_of_numbers() {
    let s = schedule("500M,+500M/1ns");
    assert_eq!(s.due(u64::MAX), u64::MAX);
    assert!(s.due(1) <= s.due(2) && s.time_of(u64::MAX - 1).is_some());
    let s = schedule("0.001");
    assert_eq!(s.time_of(0), Some(1000 * SECOND));
    assert_eq!((s.due(1000 * SECOND - 1), s.due(u64::MAX)), (0, u64::MAX / SECOND / 1000));
    assert_eq!(s.time_of(u64::MAX), None);
    let s = schedule("0.001,+0.001/584y".replace("584y", "5000000h").as_str());
    assert!(s.due(u64::MAX) > 0);
}

#[test]
fn what_makes_no_sense_is_named_with_its_place() {
    let text = |text: &str| text.to_owned();
    type E = ScheduleError;
    let rate = "10^9 records a second";
    for (written, error) in [
        ("", E::Empty { at: 0 }),
        ("5,", E::Empty { at: 2 }),
        ("5/1s,,7", E::Empty { at: 5 }),
        ("x", E::Rate { at: 0, text: text("x") }),
        ("5K", E::Rate { at: 0, text: text("5K") }),
        (" 5", E::Rate { at: 0, text: text(" 5") }),
        ("1.", E::Rate { at: 0, text: text("1.") }),
        (".5", E::Rate { at: 0, text: text(".5") }),
        ("1e3", E::Rate { at: 0, text: text("1e3") }),
        ("NaN", E::Rate { at: 0, text: text("NaN") }),
        ("5,+x/1s", E::Rate { at: 3, text: text("x") }),
        ("5,--1/1s", E::Rate { at: 3, text: text("-1") }),
        ("٣", E::Rate { at: 0, text: text("٣") }),
        ("5/", E::Time { at: 2, text: text("") }),
        ("5/7", E::Time { at: 2, text: text("7") }),
        ("5/7d", E::Time { at: 2, text: text("7d") }),
        ("5/1s/1s", E::Time { at: 2, text: text("1s/1s") }),
        ("5,+1/-1s", E::Time { at: 5, text: text("-1s") }),
        ("5,+1/1sx", E::Times { at: 8, text: text("") }),
        ("5,+1/1sx0", E::Times { at: 8, text: text("0") }),
        ("5,+1/1sx+2", E::Times { at: 8, text: text("+2") }),
        ("5,+1/1sx9999999999", E::Times { at: 8, text: text("9999999999") }),
        (
            "0.0001",
            E::TooFine { at: 0, text: text("0.0001"), grain: "a thousandth of a record a second" },
        ),
        ("5/0.5ns", E::TooFine { at: 2, text: text("0.5ns"), grain: "a nanosecond" }),
        ("1001M", E::TooLarge { at: 0, text: text("1001M"), limit: rate }),
        (
            "99999999999999999999",
            E::TooLarge { at: 0, text: text("99999999999999999999"), limit: rate },
        ),
        ("5/9999999h", E::TooLarge { at: 2, text: text("9999999h"), limit: "584 years" }),
        (
            "5/5000000h,6/5000000h",
            E::TooLarge { at: 11, text: text("6/5000000h"), limit: "584 years" },
        ),
        ("1G,+1/1sx1", E::TooLarge { at: 3, text: text("+1/1sx1"), limit: rate }),
        ("5/0s", E::Zero { at: 2, text: text("0s") }),
        ("5,+0/1s", E::Zero { at: 3, text: text("0") }),
        ("+5/1s", E::StepFirst { at: 0 }),
        ("-5", E::StepFirst { at: 0 }),
        ("-5k,6", E::StepFirst { at: 0 }),
        ("+", E::StepFirst { at: 0 }),
        ("5,+5", E::StepWithoutTime { at: 4 }),
        ("5,6", E::Unreached { at: 2 }),
        ("5,+1/1s,9", E::Unreached { at: 8 }),
        ("5,+1/1s,+2/1s", E::Unreached { at: 8 }),
        ("5,-1/1s", E::BelowZero { at: 2, text: text("-1/1s") }),
        ("5,-3/1sx2", E::BelowZero { at: 2, text: text("-3/1sx2") }),
        ("0", E::Nothing { at: 0 }),
        ("5/1s,0", E::Nothing { at: 5 }),
    ] {
        let got = written.parse::<Schedule>();
        assert_eq!(got, Err(error.clone()), "{written:?}");
        let said = error.to_string();
        let at = said.strip_prefix("at byte ").unwrap().split(':').next().unwrap();
        assert!(at.parse::<usize>().unwrap() <= written.len(), "{said}");
    }
}

#[test]
fn no_kind_of_mistake_is_left_out_above() {
    let source = include_str!("../src/schedule/parse.rs");
    let body =
        source.split("pub enum ScheduleError {").nth(1).unwrap().split("\n}").next().unwrap();
    let here = include_str!("schedule.rs");
    let mut variants = 0;
    for line in body.lines() {
        let Some(name) = line.strip_prefix("    ").and_then(|line| line.strip_suffix(" {")) else {
            continue;
        };
        if name.starts_with(|c: char| c.is_ascii_uppercase()) {
            assert!(here.contains(&format!("E::{name} {{")), "{name} has no test");
            variants += 1;
        }
    }
    assert!(variants >= 12, "{variants}");
}

/// A segment as text, with its pieces: thousandths of a record a second, nanoseconds.
type Said = (String, Vec<(u64, u64)>);

/// Schedules with an end, spelt out piece by piece.
fn said() -> impl Strategy<Value = Said> {
    let hold = (0u64..5_000_000, 1u64..3_000_000_000).prop_map(|hold| (hold, None));
    let step = (any::<bool>(), 1u64..100_000, 1u64..2_000_000_000, 1u32..5);
    let step = step.prop_map(|step| ((0, 0), Some(step)));
    let parts = prop::collection::vec(prop_oneof![hold.clone(), step], 0..5);
    (hold, parts).prop_map(|(first, rest)| {
        let mut text = Vec::new();
        let mut pieces: Vec<(u64, u64)> = Vec::new();
        for ((rate, time), step) in std::iter::once(first).chain(rest) {
            let written = |rate: u64| format!("{}.{:03}", rate / 1000, rate % 1000);
            let Some((down, by, every, times)) = step else {
                text.push(format!("{}/{time}ns", written(rate)));
                pieces.push((rate, time));
                continue;
            };
            let last = pieces.last().unwrap().0;
            let down = down && last >= by * u64::from(times);
            let sign = if down { '-' } else { '+' };
            text.push(format!("{sign}{}/{every}nsx{times}", written(by)));
            for n in 1..=u64::from(times) {
                pieces.push((if down { last - n * by } else { last + n * by }, every));
            }
        }
        (text.join(","), pieces)
    })
}

/// What is due, added up piece by piece.
fn naive(pieces: &[(u64, u64)], at: u64) -> u64 {
    let (mut from, mut due) = (0, 0u128);
    for &(rate, time) in pieces {
        let here = at.saturating_sub(from).min(time);
        due += u128::from(rate) * u128::from(here);
        from += time;
    }
    u64::try_from(due / 1_000_000_000_000).unwrap()
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn due_is_the_sum_over_the_pieces((text, pieces) in said(), at in 0u64..20_000_000_000) {
        let schedule = schedule(&text);
        prop_assert_eq!(schedule.due(at), naive(&pieces, at), "{}", text);
        let end = pieces.iter().map(|(_, time)| time).sum();
        prop_assert_eq!((schedule.end(), schedule.total()), (Some(end), Some(naive(&pieces, end))));
    }

    #[test]
    fn a_record_is_due_at_the_first_time_that_more_are((text, _) in said(), share in 0.0f64..1.2) {
        let schedule = schedule(&text);
        let total = schedule.total().unwrap();
        #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let record = (total as f64 * share) as u64;
        match schedule.time_of(record) {
            None => prop_assert!(record >= total),
            Some(at) => {
                prop_assert!(schedule.due(at) > record && schedule.due(at - 1) <= record, "{}", text);
            }
        }
    }

    #[test]
    fn what_is_written_is_read_again((text, _) in said(), tail in prop_oneof![
        Just(""), Just(",7k"), Just(",0.5"), Just(",+3M/7m"), Just(",9,+1.25/90s"),
    ]) {
        let schedule = schedule(&format!("{text}{tail}"));
        prop_assert_eq!(&schedule.to_string().parse::<Schedule>().unwrap(), &schedule);
    }

    #[test]
    fn no_text_makes_it_panic(text in "[-+0-9.kMGx/smhnu,]{0,24}") {
        if let Ok(schedule) = text.parse::<Schedule>() {
            prop_assert!(schedule.due(SECOND) <= schedule.due(u64::MAX));
            if let Some(at) = schedule.time_of(12345) {
                prop_assert!(schedule.due(at) > 12345);
            }
        }
    }
}
