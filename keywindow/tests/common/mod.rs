//! What the tests share: an aggregate that forgets nothing, and every way to run a stream.

#![allow(dead_code, missing_docs, unreachable_pub, clippy::unwrap_used)]

use std::cell::Cell;

use keywindow::aggregates::{Count, Max};
use keywindow::kernel::{
    Daba, Few, Finger, Kernel, Monotone, Recalculate, SubtractOnEvict, TwoStacks,
};
use keywindow::paper::{LeftRight, Reading};
use keywindow::{Aggregate, Change, Emit, KeyWindow, Tick, WindowSpec};
use proptest::prelude::*;
use proptest::test_runner::Config;

/// `cases` cases, or as many as the environment variable `KEYWINDOW_CASES` says.
pub fn cases(cases: u32) -> Config {
    let asked = std::env::var("KEYWINDOW_CASES").ok().and_then(|text| text.parse().ok());
    Config { cases: asked.unwrap_or(cases), failure_persistence: None, ..Config::default() }
}

/// The list of all records in order: the free monoid, which tells every order and grouping apart.
#[derive(Clone, Copy, Debug, Default)]
pub struct List;

impl Aggregate for List {
    type In = u32;
    type Acc = Vec<u32>;
    type Out = Vec<u32>;

    fn create(&self) -> Vec<u32> {
        Vec::new()
    }
    fn add(&self, acc: &mut Vec<u32>, record: &u32) {
        acc.push(*record);
    }
    fn merge(&self, older: &Vec<u32>, newer: &Vec<u32>) -> Vec<u32> {
        [older.as_slice(), newer].concat()
    }
    fn get(&self, acc: &Vec<u32>) -> Vec<u32> {
        acc.clone()
    }
    fn same(&self, a: &Vec<u32>, b: &Vec<u32>) -> bool {
        a == b
    }
}

/// An aggregate that counts its calls.
#[derive(Clone, Debug, Default)]
pub struct Counted<A> {
    pub agg: A,
    pub adds: Cell<u64>,
    pub merges: Cell<u64>,
}

impl<A: Aggregate> Aggregate for Counted<A> {
    type In = A::In;
    type Acc = A::Acc;
    type Out = A::Out;

    fn create(&self) -> A::Acc {
        self.agg.create()
    }
    fn add(&self, acc: &mut A::Acc, record: &A::In) {
        self.adds.set(self.adds.get() + 1);
        self.agg.add(acc, record);
    }
    fn merge(&self, older: &A::Acc, newer: &A::Acc) -> A::Acc {
        self.merges.set(self.merges.get() + 1);
        self.agg.merge(older, newer)
    }
    fn get(&self, acc: &A::Acc) -> A::Out {
        self.agg.get(acc)
    }
    fn same(&self, a: &A::Out, b: &A::Out) -> bool {
        self.agg.same(a, b)
    }
}

pub type Records = Vec<(i64, u32)>;

/// Records at these times, numbered from 1.
pub fn at(times: impl IntoIterator<Item = i64>) -> Records {
    times.into_iter().zip(1..).collect()
}

pub fn run_on<A: Aggregate<In: Sized>, Q: Kernel<A, Tick>>(
    agg: A,
    spec: WindowSpec,
    emit: Emit,
    records: &[(i64, A::In)],
    until: i64,
) -> Vec<Change<A::Out>> {
    let mut told = Vec::new();
    let mut window = KeyWindow::<A, Q>::with_kernel(agg, spec).emit(emit);
    for (time, record) in records {
        let _ = window.push(*time, record, |change| told.push(change)).unwrap();
    }
    window.advance_to(until, |change| told.push(change));
    told
}

/// The lists of each window with a change of content, by the default kernel.
pub fn lists(spec: WindowSpec, records: &[(i64, u32)]) -> Vec<Change<Vec<u32>>> {
    run_on::<List, TwoStacks<_>>(List, spec, Emit::ContentChange, records, i64::MAX)
}

/// The results of the default kernel, as pairs.
pub fn pairs<A: Aggregate<In: Sized>>(
    agg: A,
    spec: WindowSpec,
    emit: Emit,
    records: &[(i64, A::In)],
) -> Vec<(i64, Option<A::Out>)> {
    let told = run_on::<A, TwoStacks<_>>(agg, spec, emit, records, i64::MAX);
    told.into_iter().map(|change| (change.end, change.value)).collect()
}

/// What every kernel that can hold lists tells, with its name.
pub fn every_kernel(
    spec: WindowSpec,
    emit: Emit,
    records: &[(i64, u32)],
    until: i64,
) -> Vec<(&'static str, Vec<Change<Vec<u32>>>)> {
    type Acc = Vec<u32>;
    let mut all = vec![
        ("two stacks", run_on::<_, TwoStacks<Acc>>(List, spec, emit, records, until)),
        ("DABA", run_on::<_, Daba<Acc>>(List, spec, emit, records, until)),
        ("few, two stacks", run_on::<_, Few<Acc>>(List, spec, emit, records, until)),
        ("few, DABA", run_on::<_, Few<Acc, Tick, Daba<Acc>, 3>>(List, spec, emit, records, until)),
        ("finger", run_on::<_, Finger<Acc>>(List, spec, emit, records, until)),
        ("recalculate", run_on::<_, Recalculate<Acc>>(List, spec, emit, records, until)),
    ];
    if emit == Emit::ContentChange {
        all.push(("paper", left_right(Reading::Corrected, spec, records, until)));
    }
    all
}

pub fn left_right(
    reading: Reading,
    spec: WindowSpec,
    records: &[(i64, u32)],
    until: i64,
) -> Vec<Change<Vec<u32>>> {
    let mut told = Vec::new();
    let mut windows = LeftRight::new(List, spec, reading);
    for (time, record) in records {
        let _ = windows.push(*time, record, |change| told.push(change)).unwrap();
    }
    windows.advance_to(until, |change| told.push(change));
    told
}

/// What the kernels tell that need more of an aggregate: a count, and a maximum.
pub fn special_kernels(
    spec: WindowSpec,
    emit: Emit,
    records: &[(i64, u32)],
    until: i64,
) -> (Vec<Change<u64>>, Vec<Change<Option<u32>>>) {
    (
        run_on::<_, SubtractOnEvict<u64>>(Count::new(), spec, emit, records, until),
        run_on::<_, Monotone<Option<u32>>>(Max::new(), spec, emit, records, until),
    )
}

/// Windows of any shape, with times around which something happens.
pub fn specs() -> impl Strategy<Value = WindowSpec> {
    (1..=30_i64, 1..=12_i64, -50..50_i64).prop_map(|(size, slide, phase)| {
        WindowSpec::sliding(size, slide).unwrap().with_phase(phase)
    })
}

/// Records in the order of their time, sparse and dense, with small values.
pub fn streams(most: usize) -> impl Strategy<Value = Records> {
    let gap = prop_oneof![3 => Just(0_i64), 5 => 0..4_i64, 2 => 0..40_i64];
    (-60..60_i64, proptest::collection::vec((gap, 0..20_u32), 0..=most)).prop_map(
        |(start, gaps)| {
            let times = gaps.into_iter().scan(start, |time, (gap, value)| {
                *time += gap;
                Some((*time, value))
            });
            times.collect()
        },
    )
}
