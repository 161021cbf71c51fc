//! The bounds, by counting.

#![allow(clippy::unwrap_used)]

mod common;

use std::cell::Cell;
use std::collections::BTreeSet;

use common::{Counted, Records, cases, specs, streams};
use keywindow::aggregates::Count;
use keywindow::kernel::{Daba, Few, Kernel, TwoStacks};
use keywindow::{Emit, KeyWindow, Tick, WindowSpec};
use proptest::prelude::*;

type Agg = Counted<Count<u32>>;

fn counted() -> Agg {
    Counted { agg: Count::new(), adds: Cell::new(0), merges: Cell::new(0) }
}

struct Run {
    /// Records that a window holds, and distinct pairs of their ends.
    held: u64,
    slices: u64,
    changes: u64,
    adds: u64,
    merges: u64,
    /// Most slices at any time, and the greatest number of merges of one window end.
    most: usize,
    worst: u64,
}

fn run<Q: Kernel<Agg, Tick>>(spec: WindowSpec, emit: Emit, records: &Records) -> Run {
    let mut window = KeyWindow::<Agg, Q>::with_kernel(counted(), spec).emit(emit);
    let pairs: Vec<_> = records
        .iter()
        .filter_map(|&(time, _)| spec.enter(time).map(|enter| (enter, spec.leave(time))))
        .collect();
    let (mut changes, mut most, mut worst) = (0, 0, 0);
    let mut to = |window: &mut KeyWindow<Agg, Q>, time: i64| {
        while let Some(deadline) = window.next_deadline().filter(|&deadline| deadline <= time) {
            let before = window.aggregate().merges.get();
            window.advance_to(deadline, |_| changes += 1);
            worst = worst.max(window.aggregate().merges.get() - before);
        }
        most = most.max(window.slices());
    };
    for (time, record) in records {
        to(&mut window, *time);
        let _ = window.push(*time, record, |_| unreachable!()).unwrap();
        to(&mut window, *time);
    }
    to(&mut window, i64::MAX);
    assert_eq!(window.slices(), 0);
    let agg = window.aggregate();
    Run {
        held: pairs.len() as u64,
        slices: pairs.iter().collect::<BTreeSet<_>>().len() as u64,
        changes,
        adds: agg.adds.get(),
        merges: agg.merges.get(),
        most,
        worst,
    }
}

/// Live partial results of a key: correction 1.
fn most_slices(spec: &WindowSpec) -> usize {
    let whole = usize::try_from(spec.size() / spec.slide()).unwrap();
    match spec.size() % spec.slide() {
        0 => whole + 1,
        _ => 2 * (whole + 1) + 1,
    }
}

fn check(spec: WindowSpec, records: &Records) {
    for (emit, looks) in [(Emit::ContentChange, 0), (Emit::ValueChange, 2)] {
        for run in [
            run::<TwoStacks<_>>(spec, emit, records),
            run::<Few<_>>(spec, emit, records),
            run::<Daba<_>>(spec, emit, records),
        ] {
            assert_eq!(run.adds, run.held, "one add a record");
            assert!(run.changes <= 2 * run.slices);
            assert!(run.most <= most_slices(&spec), "{} slices, {spec:?} {records:?}", run.most);
        }
        let stacks = run::<TwoStacks<_>>(spec, emit, records);
        assert!(stacks.merges <= (4 + looks) * stacks.slices, "{} merges", stacks.merges);
        let few = run::<Few<_>>(spec, emit, records);
        assert!(few.merges <= (4 + looks) * few.slices, "{} merges", few.merges);
        // At one end at most two slices leave and two enter; DABA takes 2 and 3 merges each, and 1 a
        // look.
        let daba = run::<Daba<_>>(spec, emit, records);
        assert!(daba.worst <= 2 * 2 + 2 * 3 + 1 + looks / 2, "{} merges at once", daba.worst);
    }
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn records_cost_one_add_and_slices_four_merges(spec in specs(), records in streams(150)) {
        check(spec, &records);
    }
}

#[test]
fn the_bounds_hold_and_are_met_on_long_streams() {
    for (size, slide) in [(3, 2), (120, 2), (120, 7), (1_000, 1), (5, 5), (7, 10)] {
        let spec = WindowSpec::sliding(size, slide).unwrap();
        for (apart, per) in [(1, 1), (1, 3), (3, 1), (50, 2)] {
            let times = (0..6_000_i64).flat_map(|i| std::iter::repeat_n(i / per * apart, 1));
            check(spec, &times.map(|time| (time, 1)).collect());
        }
    }
    // The example of correction 1, which meets its bound.
    let spec = WindowSpec::sliding(3, 2).unwrap();
    let dense: Records = (0..100).map(|time| (time, 1)).collect();
    assert_eq!(run::<TwoStacks<_>>(spec, Emit::ContentChange, &dense).most, most_slices(&spec));
    // Merges come near four a slice.
    let stacks = run::<TwoStacks<_>>(
        WindowSpec::sliding(1_000, 1).unwrap(),
        Emit::ContentChange,
        &(0..20_000).map(|i| (i * 3 / 2, 1)).collect(),
    );
    assert!(stacks.merges * 10 > 35 * stacks.slices, "{} of {}", stacks.merges, stacks.slices);
}
