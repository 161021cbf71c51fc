//! Snapshots: exact wherever they are taken, and whatever the bytes no panic.

#![cfg(all(feature = "keys", feature = "snapshot"))]
#![allow(clippy::cast_sign_loss, clippy::unwrap_used)]

mod common;
#[path = "common/late.rs"]
mod late;
#[path = "common/restore.rs"]
mod restore;

use std::path::PathBuf;
use std::{env, fs};

use common::{List, cases, specs};
use keywindow::aggregates::{Count, FloatSum, Max, MomentsOf, Sum, TopK, Total};
use keywindow::{
    Aggregate, Codec, Emit, EventWindow, EventWindows, Late, RestoreError, Update, WindowSpec,
};
use late::{Setting, Step};
use proptest::prelude::*;
use restore::{LABEL, check, many, one, sealed};

fn settings() -> impl Strategy<Value = Setting> {
    let policies = prop_oneof![
        1 => Just(Late::Drop),
        2 => Just(Late::Partial),
        3 => (0..80_i64).prop_map(|allowed| Late::Correct { allowed }),
    ];
    late::settings(specs(), policies)
}

/// Records about a watermark, some of them late, with values for sums that depend on their order.
fn steps(most: usize) -> impl Strategy<Value = Vec<Step<u32>>> {
    let step = (0..6_i64, -14..10_i64, 0..1_000_u32, prop::bool::weighted(0.3));
    proptest::collection::vec(step, 0..=most).prop_map(|steps| {
        let mut now = -40;
        let steps = steps.into_iter().map(|(leap, apart, value, watermark)| {
            now += leap;
            if watermark { Step::Watermark(now) } else { Step::Record(now + apart, value) }
        });
        steps.chain([Step::Watermark(1_000)]).collect()
    })
}

/// The bits of a float sum of thirds, which show any other order of merges.
#[derive(Clone, Copy, Debug)]
struct Thirds;

impl Aggregate for Thirds {
    type In = u32;
    type Acc = f64;
    type Out = u64;

    fn create(&self) -> f64 {
        0.0
    }
    fn add(&self, acc: &mut f64, record: &u32) {
        *acc += f64::from(*record) / 3.0;
    }
    fn merge(&self, older: &f64, newer: &f64) -> f64 {
        older + newer
    }
    fn get(&self, acc: &f64) -> u64 {
        acc.to_bits()
    }
    fn same(&self, a: &u64, b: &u64) -> bool {
        a == b
    }
}

/// A stream, and the same with a restore before every step: outcomes, updates and bytes are the same.
fn interrupted<A>(agg: A, setting: Setting, steps: &[Step<u32>])
where
    A: Aggregate<In = u32, Acc: Codec, Out: PartialEq + std::fmt::Debug> + Copy,
{
    let (mut through, mut window) = (setting.window(agg), setting.window(agg));
    for step in steps {
        let bytes = window.snapshot("v1");
        assert_eq!(through.snapshot("v1"), bytes);
        window = setting.window(agg).restore("v1", &bytes).unwrap();
        assert_eq!(window.snapshot("v1"), bytes);
        assert_eq!(window.next_deadline(), through.next_deadline());
        assert_eq!(window.current(), through.current());
        let (mut told, mut right) = (Vec::new(), Vec::new());
        match step {
            Step::Record(time, record) => assert_eq!(
                window.push(*time, record, |update| told.push(update)),
                through.push(*time, record, |update| right.push(update)),
            ),
            Step::Watermark(time) => {
                window.advance_to(*time, |update| told.push(update));
                through.advance_to(*time, |update| right.push(update));
            }
        }
        assert_eq!(told, right, "{setting:?} {steps:?}");
    }
}

proptest! {
    #![proptest_config(cases(1_000))]

    #[test]
    fn a_restore_before_every_step_changes_nothing(setting in settings(), steps in steps(60)) {
        interrupted(List, setting, &steps);
        interrupted(Thirds, setting, &steps);
        interrupted(Max::<u32>::new(), setting, &steps);
    }

    #[test]
    fn many_keys_are_restored_in_their_order(setting in settings(), steps in steps(60)) {
        type Windows = EventWindows<u8, Thirds>;
        let new = || -> Windows {
            let windows = Windows::new(Thirds, setting.spec).emit(setting.emit).late(setting.late).unwrap();
            match setting.beat {
                Some(every) => windows.heartbeat(every),
                None => windows,
            }
        };
        let (mut through, mut windows) = (new(), new());
        for step in &steps {
            let bytes = windows.snapshot("v1");
            prop_assert_eq!(&through.snapshot("v1"), &bytes);
            windows = new().restore("v1", &bytes).unwrap();
            prop_assert_eq!(windows.snapshot("v1"), bytes);
            prop_assert_eq!(windows.next_deadline(), through.next_deadline());
            let mut told = Vec::<(u8, Update<u64>)>::new();
            let mut right = told.clone();
            match step {
                Step::Record(time, record) => {
                    let key = (record % 5) as u8;
                    prop_assert_eq!(
                        windows.push(&key, *time, record, |key, update| told.push((*key, update))),
                        through.push(&key, *time, record, |key, update| right.push((*key, update))),
                    );
                }
                Step::Watermark(time) => {
                    windows.advance_to(*time, |key, update| told.push((*key, update)));
                    through.advance_to(*time, |key, update| right.push((*key, update)));
                }
            }
            prop_assert_eq!(told, right);
        }
    }
}

/// A tree of three levels, and a map of what waits.
#[test]
fn large_states_come_back() {
    let spec = WindowSpec::sliding(2_000, 1).unwrap();
    let new = || EventWindow::new(Thirds, spec);
    let mut window = new();
    for i in 0..3_000_i64 {
        let _ = window.push(i, &(i as u32), |_| ()).unwrap();
        if i % 3 == 0 {
            window.advance_to(i - 500, |_| ());
            let _ = window.push(i - 700 - i % 1_000, &(i as u32), |_| ()).unwrap();
        }
    }
    assert!(window.slices() > 2_000);
    let bytes = window.snapshot("v1");
    let mut restored = new().restore("v1", &bytes).unwrap();
    assert_eq!(restored.snapshot("v1"), bytes);
    for i in 3_000..6_000_i64 {
        for window in [&mut window, &mut restored] {
            let _ = window.push(i - i * 7 % 900, &(i as u32), |_| ()).unwrap();
        }
        let (mut told, mut right) = (Vec::new(), Vec::new());
        restored.advance_to(i - 500, |update| told.push(update));
        window.advance_to(i - 500, |update| right.push(update));
        assert_eq!(told, right);
    }
}

#[test]
fn what_is_no_such_snapshot_is_named() {
    let mut windows = many();
    let _ = windows.push("a", 5, &3, |_, _| ()).unwrap();
    let bytes = windows.snapshot(LABEL);
    let restored = |bytes: &[u8]| many().restore(LABEL, bytes).map(|_| ()).unwrap_err();
    assert_eq!(restored(&[]), RestoreError::NoSnapshot);
    assert_eq!(restored(b"kwev"), RestoreError::Checksum);
    assert_eq!(restored(&bytes[1..]), RestoreError::NoSnapshot);
    for at in 4..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0x10;
        assert_eq!(restored(&changed), RestoreError::Checksum);
        assert!(matches!(
            restored(&bytes[..at]),
            RestoreError::Checksum | RestoreError::NoSnapshot
        ));
    }
    let mut newer = bytes.clone();
    newer[4] = 2;
    assert_eq!(restored(&sealed(&newer)), RestoreError::Version { found: 2 });
    assert_eq!(many().restore("check 2", &bytes).err(), Some(RestoreError::Aggregate));
    assert_eq!(
        many().emit(Emit::ValueChange).restore(LABEL, &bytes).err(),
        Some(RestoreError::Rules)
    );
    assert_eq!(
        many().late(Late::Drop).unwrap().restore(LABEL, &bytes).err(),
        Some(RestoreError::Rules)
    );
    assert_eq!(
        many().max_ahead(9).unwrap().restore(LABEL, &bytes).err(),
        Some(RestoreError::Rules)
    );
    let spec = WindowSpec::sliding(100, 5).unwrap();
    let other = EventWindows::<String, _>::new((Count::<u32>::new(), Max::<u32>::new()), spec);
    assert_eq!(other.restore(LABEL, &bytes).err(), Some(RestoreError::Rules));
    assert_eq!(one().restore(LABEL, &bytes).err(), Some(RestoreError::Kind));
    let mut longer = bytes.clone();
    longer.push(0);
    assert!(matches!(restored(&sealed(&longer)), RestoreError::Corrupt { .. }));
    assert!(many().restore(LABEL, &bytes).is_ok());
}

/// Two keys that are the same, and lengths that nothing follows.
#[test]
fn a_key_comes_once_and_lengths_allocate_nothing() {
    let mut windows = many();
    for key in ["a", "b"] {
        let _ = windows.push(key, 5, &3, |_, _| ()).unwrap();
    }
    let mut bytes = windows.snapshot(LABEL);
    let at = bytes.windows(9).position(|nine| nine == b"\x01\0\0\0\0\0\0\0b").unwrap() + 8;
    bytes[at] = b'a';
    assert!(matches!(many().restore(LABEL, &sealed(&bytes)), Err(RestoreError::Corrupt { .. })));
    bytes[at] = b'b';
    assert!(many().restore(LABEL, &sealed(&bytes)).is_ok());
    let mut refused = 0;
    for length in 0..bytes.len() - 12 {
        let mut long = bytes.clone();
        long[length..length + 8].copy_from_slice(&(u64::MAX >> 8).to_le_bytes());
        refused += usize::from(many().restore(LABEL, &sealed(&long)).is_err());
    }
    assert!(refused > bytes.len() / 2, "{refused} of {}", bytes.len());
}

#[test]
fn partial_results_come_back() {
    fn check<A: Aggregate<Acc: Codec, Out: PartialEq + std::fmt::Debug> + Clone>(
        agg: A,
        records: &[A::In],
    ) where
        A::In: Sized,
    {
        let new = || EventWindow::new(agg.clone(), WindowSpec::sliding(10, 1).unwrap());
        let mut window = new();
        for record in records {
            let _ = window.push(3, record, |_| ()).unwrap();
        }
        window.advance_to(5, |_| ());
        let restored = new().restore("", &window.snapshot("")).unwrap();
        assert!(window.current().is_some());
        assert_eq!(restored.current(), window.current());
    }
    check(Sum::<i64>::new(), &[i64::MAX, i64::MAX, -3]);
    check(Sum::<u8>::new(), &[200, 200]);
    check((Count::new(), FloatSum, MomentsOf), &[1e300, 0.1, -1e300]);
    check(TopK::new(2), &[String::from("ä"), String::from("b"), String::new()]);
    check(Max::new(), &[Total(f64::NAN), Total(-0.0)]);
    check((Max::new(), keywindow::aggregates::Last::new()), &[('x', true), ('\u{10FFFF}', false)]);
}

fn corpus() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

/// The fuzz target's corpus, each file as it is and with bytes changed.
#[test]
fn restores_take_the_corpus_and_what_is_near_it() {
    let mut files: Vec<_> =
        fs::read_dir(corpus()).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 4, "{}", files.len());
    let mut random = 1_u64;
    let mut next = |below: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (random >> 33) as usize % below
    };
    let (mut taken, mut refused) = (0, 0);
    for file in files {
        let input = fs::read(&file).unwrap();
        assert_eq!(check(&input), None, "{}", file.display());
        for _ in 0..4_000 {
            let mut near = input.clone();
            // So that the checksum is made right.
            near[0] |= 0x80;
            for _ in 0..=next(3) {
                let at = 1 + next(near.len() - 1);
                match next(4) {
                    0 => near[at] ^= 1 << next(8),
                    1 => near[at] = [0, 1, 0x7F, 0x80, 0xFF][next(5)],
                    2 if next(8) == 0 => near.truncate(at + 1),
                    _ => near.insert(at, next(256) as u8),
                }
            }
            *if check(&near).is_none() { &mut taken } else { &mut refused } += 1;
        }
    }
    assert!(taken > 100 && refused > 100, "{taken} taken, {refused} refused");
}

/// Writes the seeds of the corpus anew: `cargo test -p keywindow --test snapshot -- --ignored`.
#[test]
#[ignore = "it writes files"]
fn write_seeds() {
    let write = |name: &str, which: u8, bytes: Vec<u8>| {
        fs::create_dir_all(corpus()).unwrap();
        fs::write(corpus().join(name), [vec![which], bytes].concat()).unwrap();
    };
    let (mut window, mut windows) = (one(), many());
    for i in 0..90_i64 {
        let time = i * 2 - i * 7 % 20;
        let _ = window.push(time, &(i as f64 / 3.0), |_| ()).unwrap();
        let key = ["a", "b", "long key"][i as usize % 3];
        let _ = windows.push(key, time * 3, &(i as u32), |_, _| ()).unwrap();
        if i == 3 {
            write("one-line", 0, window.snapshot(LABEL));
            write("many-waiting", 1, windows.snapshot(LABEL));
        }
        if i > 3 {
            window.advance_to(i * 2 - 12, |_| ());
            windows.advance_to(i * 6 - 30, |_, _| ());
        }
    }
    let _ = windows.push("a", 490, &9, |_, _| ()).unwrap();
    write("one-tree", 0, window.snapshot(LABEL));
    write("many-tree", 1, windows.snapshot(LABEL));
    window.advance_to(250, |_| ());
    write("one-points", 0, window.snapshot(LABEL));
}
