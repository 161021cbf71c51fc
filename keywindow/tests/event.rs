//! Event time, by every policy, beside the definition of lateness.

#![allow(clippy::unwrap_used)]

mod common;
#[path = "common/late.rs"]
mod late;

use std::collections::BTreeMap;

use common::{List, cases, specs, streams};
use keywindow::aggregates::{Count, First, Last, Max};
use keywindow::oracle::changes;
use keywindow::{
    Aggregate, Change, Emit, Error, EventWindow, KeyWindow, Late, MultiWindow, Outcome, Said,
    Update, WindowSpec,
};
use late::{Setting, Step, check};
use proptest::prelude::*;

/// The sum modulo 3: a result that comes and goes with any record.
#[derive(Clone, Debug)]
pub struct Residue;

impl Aggregate for Residue {
    type In = u32;
    type Acc = u32;
    type Out = u32;

    const COMMUTATIVE: bool = true;

    fn create(&self) -> u32 {
        0
    }
    fn add(&self, acc: &mut u32, record: &u32) {
        *acc = (*acc + record) % 3;
    }
    fn merge(&self, older: &u32, newer: &u32) -> u32 {
        (older + newer) % 3
    }
    fn get(&self, acc: &u32) -> u32 {
        *acc
    }
    fn same(&self, a: &u32, b: &u32) -> bool {
        a == b
    }
}

fn policies() -> impl Strategy<Value = Late> {
    prop_oneof![
        Just(Late::Drop),
        Just(Late::Partial),
        (0..60_i64).prop_map(|allowed| Late::Correct { allowed }),
        Just(Late::Correct { allowed: i64::MAX }),
    ]
}

fn settings() -> impl Strategy<Value = Setting> {
    late::settings(specs(), policies())
}

/// Records around a watermark that goes on by leaps.
fn steps(most: usize) -> impl Strategy<Value = Vec<Step<u32>>> {
    let leap = prop_oneof![3 => Just(0_i64), 3 => 0..5_i64, 1 => 0..40_i64];
    let apart = prop_oneof![4 => 0..12_i64, 4 => -12..0_i64, 1 => -60..60_i64];
    let step = (leap, apart, 0..4_u32, prop::bool::weighted(0.3));
    (-60..60_i64, proptest::collection::vec(step, 0..=most)).prop_map(|(mut now, steps)| {
        let steps = steps.into_iter().map(|(leap, apart, value, watermark)| {
            now += leap;
            if watermark { Step::Watermark(now) } else { Step::Record(now + apart, value) }
        });
        let mut steps: Vec<_> = steps.collect();
        steps.push(Step::Watermark(2_000));
        steps
    })
}

/// Updates of one key as a reader keeps them.
fn read<O>(updates: impl IntoIterator<Item = Update<O>>) -> BTreeMap<i64, Option<O>> {
    let mut told = BTreeMap::new();
    updates.into_iter().for_each(|update| update.apply(&mut told));
    told
}

/// All updates of all steps, and the outcomes.
fn run<A: Aggregate<In: Sized>>(
    agg: A,
    setting: Setting,
    steps: &[Step<A::In>],
) -> (Vec<Update<A::Out>>, Vec<Outcome>) {
    let mut window = setting.window(agg);
    let (mut told, mut outcomes) = (Vec::new(), Vec::new());
    for step in steps {
        match step {
            Step::Record(time, record) => {
                outcomes.push(window.push(*time, record, |update| told.push(update)).unwrap());
            }
            Step::Watermark(time) => window.advance_to(*time, |update| told.push(update)),
        }
    }
    (told, outcomes)
}

fn on_time<O>(changes: Vec<Change<O>>) -> Vec<Update<O>> {
    let said = |change: Change<O>| {
        Update::new(change.end, change.value.map_or(Said::Empty, Said::Value), 0)
    };
    changes.into_iter().map(said).collect()
}

/// Records in some order, and watermarks that none of them is late for.
fn disordered() -> impl Strategy<Value = (Vec<Step<u32>>, Vec<(i64, u32)>)> {
    let lag = 15_i64;
    let record = (0..8_i64, 0..4_u32, 0..lag);
    proptest::collection::vec(record, 0..40).prop_map(move |records| {
        let mut now = -20;
        let records = records.into_iter().map(|(gap, value, delay)| {
            now += gap;
            (now, value, now + delay)
        });
        let mut by_arrival: Vec<_> = records.collect();
        by_arrival.sort_by_key(|record| record.2);
        let mut steps = Vec::new();
        for &(time, value, arrives) in &by_arrival {
            steps.extend([Step::Watermark(arrives - lag), Step::Record(time, value)]);
        }
        steps.push(Step::Watermark(2_000));
        let mut sorted: Vec<_> = by_arrival.iter().map(|record| (record.0, record.1)).collect();
        sorted.sort_by_key(|record| record.0);
        (steps, sorted)
    })
}

proptest! {
    #![proptest_config(cases(1_000))]

    #[test]
    fn every_policy_tells_what_its_definition_says(setting in settings(), steps in steps(40)) {
        check(&List, setting, &steps);
        check(&Residue, setting, &steps);
        check(&(First::new(), Last::<u32>::new()), setting, &steps);
        check(&(Count::new(), Max::<u32>::new()), setting, &steps);
    }
}

proptest! {
    #![proptest_config(cases(4_000))]

    /// Within the lateness that the watermark leaves, the order of arrival makes no difference: results
    /// are those of the records in the order of their time, of one time in the order of arrival.
    #[test]
    fn a_permutation_within_the_bound_changes_nothing(
        setting in settings(), (steps, sorted) in disordered(),
    ) {
        let setting = Setting { beat: None, ..setting };
        let (told, outcomes) = run(List, setting, &steps);
        prop_assert_eq!(told, on_time(changes(&setting.spec, &List, &sorted, setting.emit, 2_000)));
        prop_assert!(outcomes.iter().all(|&outcome| matches!(outcome, Outcome::Accepted | Outcome::Gap)));
        let (told, _) = run(Residue, setting, &steps);
        prop_assert_eq!(told, on_time(changes(&setting.spec, &Residue, &sorted, setting.emit, 2_000)));
    }

    /// A reader that applies all corrections ends with what the sorted stream gives, and revisions of one end
    /// ascend.
    #[test]
    fn corrections_lead_to_the_output_of_the_sorted_stream(setting in settings(), steps in steps(40)) {
        let late = Late::Correct { allowed: 5_000 };
        let setting = Setting { late, beat: None, ..setting };
        let mut sorted: Vec<_> = steps.iter().filter_map(|step| match step {
            Step::Record(time, value) => Some((*time, *value)),
            Step::Watermark(_) => None,
        }).collect();
        sorted.sort_by_key(|record| record.0);
        let (told, outcomes) = run(List, setting, &steps);
        prop_assert!(outcomes.iter().all(|&outcome| matches!(outcome, Outcome::Accepted | Outcome::Gap)));
        let mut newest = BTreeMap::new();
        for update in &told {
            let before = newest.insert(update.end, update.revision);
            prop_assert!(before.is_none_or(|before| before < update.revision));
        }
        let right = changes(&setting.spec, &List, &sorted, setting.emit, 2_000);
        prop_assert_eq!(read(told), read(on_time(right)));
        let (told, _) = run(Residue, setting, &steps);
        let right = changes(&setting.spec, &Residue, &sorted, setting.emit, 2_000);
        prop_assert_eq!(read(told), read(on_time(right)));
    }

    /// Where the watermark is the time of each record there is no lateness, and no policy.
    #[test]
    fn the_time_of_the_record_as_the_watermark_is_the_order_of_time(
        setting in settings(), records in streams(60),
    ) {
        let setting = Setting { beat: None, ..setting };
        let mut window = KeyWindow::new(List, setting.spec).emit(setting.emit);
        let mut event = setting.window(List);
        let (mut told, mut updates) = (Vec::new(), Vec::new());
        for (time, record) in &records {
            let outcome = window.push(*time, record, |change| told.push(change)).unwrap();
            event.advance_to(*time, |update| updates.push(update));
            prop_assert_eq!(event.push(*time, record, |_| unreachable!()), Ok(outcome));
            prop_assert_eq!(window.next_deadline(), event.next_deadline());
            prop_assert_eq!(window.current(), event.current());
        }
        window.advance_to(5_000, |change| told.push(change));
        event.advance_to(5_000, |update| updates.push(update));
        prop_assert_eq!(updates, on_time(told));
    }

    /// Every window of several tells what it would alone.
    #[test]
    fn several_windows_tell_what_each_tells(
        specs in proptest::collection::vec(specs(), 0..4), value in any::<bool>(), steps in steps(40),
    ) {
        let emit = if value { Emit::ValueChange } else { Emit::ContentChange };
        fn several<A: Aggregate<In = u32, Out: PartialEq + std::fmt::Debug> + Copy>(
            agg: A, specs: &[WindowSpec], emit: Emit, steps: &[Step<u32>],
        ) {
            let mut windows = MultiWindow::new(agg, specs.iter().copied()).emit(emit);
            let each = specs.iter().map(|&spec| EventWindow::new(agg, spec).emit(emit));
            let mut each: Vec<_> = each.collect();
            for step in steps {
                match step {
                    Step::Record(time, record) => {
                        let right: Vec<_> = each.iter_mut()
                            .map(|window| window.push(*time, record, |_| unreachable!()).unwrap()).collect();
                        assert_eq!(windows.push(*time, record).unwrap(), right);
                    }
                    Step::Watermark(time) => {
                        let mut told = Vec::new();
                        windows.advance_to(*time, |at, update| told.push((update.end, at, update)));
                        let mut right = Vec::new();
                        for (at, window) in each.iter_mut().enumerate() {
                            window.advance_to(*time, |update| right.push((update.end, at, update)));
                        }
                        right.sort_by_key(|told| (told.0, told.1));
                        assert_eq!(told, right);
                    }
                }
                let next = each.iter().filter_map(EventWindow::next_deadline).min();
                assert_eq!(windows.next_deadline(), next);
            }
            assert_eq!(windows.slices(), 0);
        }
        several(List, &specs, emit, &steps);
        several(Count::<u32>::new(), &specs, emit, &steps);
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let spec = WindowSpec::sliding(10, 5).unwrap();
    let window = || EventWindow::new(Count::<()>::new(), spec);
    let allowed = -1;
    assert_eq!(
        window().late(Late::Correct { allowed }).err(),
        Some(Error::BadAllowance { allowed })
    );
    assert_eq!(window().max_ahead(-3).err(), Some(Error::BadReach { ahead: -3 }));
    let never = window().push(i64::MAX, &(), |_| unreachable!());
    assert_eq!(never, Err(Error::NeverEnters { time: i64::MAX }));
}

/// Both ends of time, with every policy.
#[test]
fn the_ends_of_time_overflow_nothing() {
    let times =
        [i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX - 12, i64::MAX - 4, i64::MAX - 1, i64::MAX];
    let sizes = [1, 2, 7, i64::MAX / 2, i64::MAX];
    for (size, slide) in sizes.into_iter().flat_map(|size| sizes.map(|slide| (size, slide))) {
        // Too many native windows for the definition.
        if slide < size / 8 {
            continue;
        }
        for late in [
            Late::Drop,
            Late::Partial,
            Late::Correct { allowed: 3 },
            Late::Correct { allowed: i64::MAX },
        ] {
            for phase in [0, 1, i64::MIN, i64::MAX] {
                let setting =
                    Setting::new(WindowSpec::sliding(size, slide).unwrap().with_phase(phase), late);
                for (i, step) in times.iter().enumerate() {
                    let records = |times: &[i64]| -> Vec<_> {
                        times.iter().map(|&time| Step::Record(time, 1)).collect()
                    };
                    let mut steps = records(&times);
                    steps.push(Step::Watermark(*step));
                    steps.extend(records(&times));
                    steps.push(Step::Watermark(times[(i + 3) % times.len()]));
                    steps.extend(records(&times[i..]));
                    steps.push(Step::Watermark(i64::MAX));
                    steps.extend(records(&times));
                    check(&List, setting, &steps);
                    check(&Residue, setting, &steps);
                }
            }
        }
    }
}
