//! Event time, by every policy, beside the definition of lateness.

#![allow(clippy::unwrap_used)]

mod common;
#[path = "common/late.rs"]
mod late;

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use common::{List, cases, specs};
use keywindow::aggregates::{Count, First, Last, Max};
use keywindow::{Aggregate, Emit, KeyWindow, Late, Outcome, WindowSpec};
use late::{Oracle, Setting, Step, check};
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
    let emit = prop_oneof![Just(Emit::ContentChange), Just(Emit::ValueChange)];
    let beat = prop_oneof![3 => Just(None), 1 => (1..6_u64).prop_map(NonZeroU64::new)];
    (specs(), emit, policies(), beat).prop_map(|(spec, emit, late, beat)| Setting {
        spec,
        emit,
        late,
        beat,
    })
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

proptest! {
    #![proptest_config(cases(6_000))]

    #[test]
    fn every_policy_tells_what_its_definition_says(setting in settings(), steps in steps(40)) {
        check(&List, setting, &steps);
        check(&Residue, setting, &steps);
        check(&(First::new(), Last::<u32>::new()), setting, &steps);
        check(&(Count::new(), Max::<u32>::new()), setting, &steps);
    }
}
