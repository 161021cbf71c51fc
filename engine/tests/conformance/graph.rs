//! Strategies for whole cases. They shrink: fewer bolts, records, copies, workers.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use streamwright::Epoch;

use crate::case::{BoltCase, Case, Defers, Ends, Fails, How, Kind, Record, Settings, SpoutCase};
use crate::truth::Truth;

/// How large cases are.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub records: usize,
    pub bolts: usize,
    pub workers: usize,
    /// Tuples that are executed in all, without faults.
    pub tuples: u64,
}

pub const LARGE: Size = Size { records: 30, bolts: 6, workers: 5, tuples: 1500 };
pub const SMALL: Size = Size { records: 12, bolts: 4, workers: 3, tuples: 400 };

fn record() -> impl Strategy<Value = Record> {
    // A gap is rare, and may be longer than an epoch.
    let gap = prop_oneof![8 => Just(0), 1 => 1..4000_u64];
    (0..6_u64, gap, 0..20_i64, any::<bool>()).prop_map(|(key, gap, time, mark)| Record {
        key,
        gap,
        time,
        mark,
    })
}

fn spout(size: Size) -> impl Strategy<Value = SpoutCase> {
    (1..=3_u32, vec(record(), 0..=size.records))
        .prop_map(|(tasks, records)| SpoutCase { tasks, records })
}

fn how() -> impl Strategy<Value = How> {
    prop_oneof![
        Just(How::Shuffle),
        Just(How::Fields),
        Just(How::Global),
        Just(How::Direct),
        Just(How::Local),
        Just(How::All),
        // As long as a bolt has tasks; cut to their number, and the first one is never 0.
        vec(0..4_u64, 4).prop_map(How::Weighted),
        (1..8_usize).prop_map(How::Combined),
    ]
}

fn kind() -> impl Strategy<Value = Kind> {
    let skip = option::of(2..5_u64);
    prop_oneof![
        2 => Just(Kind::Sink),
        2 => Just(Kind::Count),
        3 => (0..=3_u64, skip).prop_map(|(copies, skip)| Kind::Map { copies, skip }),
        3 => Just(Kind::Window),
        1 => Just(Kind::Global),
    ]
}

fn fails() -> impl Strategy<Value = Fails> {
    let times = option::weighted(0.8, 1..3_u32);
    (1..12_u64, times, any::<bool>()).prop_map(|(one_in, times, panic)| Fails {
        one_in,
        times,
        panic,
    })
}

fn defers() -> impl Strategy<Value = Defers> {
    (option::of(0..3000_u64), any::<bool>()).prop_map(|(wait, early)| Defers { wait, early })
}

/// Inputs are drawn as any number and folded to one of a component that stands before: so every
/// part of a shrunk case is a case. The same stream twice, and two ways of one root to one key,
/// come by themselves.
fn bolt() -> impl Strategy<Value = BoltCase> {
    let inputs = vec((0..10_usize, how()), 1..=3);
    let (fails, defers) = (option::weighted(0.25, fails()), option::weighted(0.3, defers()));
    (1..=4_u32, kind(), inputs, fails, defers).prop_map(|(tasks, kind, inputs, fails, defers)| {
        BoltCase { tasks, kind, inputs, fails, defers, breaks_at: None }
    })
}

fn ends() -> impl Strategy<Value = Ends> {
    prop_oneof![(1..10_u64).prop_map(Ends::Records), (50..3000_u64).prop_map(Ends::Every)]
}

/// Changes of the ring, up to so many, each some epochs after the one before.
pub fn acker_changes(gap: Epoch, most: usize) -> impl Strategy<Value = Vec<(Epoch, u32)>> {
    vec((1..=gap, 1..=5_u32), 0..=most).prop_map(|mut changes| {
        let mut epoch = 0;
        for (from, _) in &mut changes {
            epoch += *from;
            *from = epoch;
        }
        changes
    })
}

prop_compose! {
    fn settings(size: Size)(
        nodes in vec(0..4_u32, 1..=size.workers),
        (ackers, acker_changes) in (1..=5_u32, acker_changes(5, 5)),
        (queue, batch, window, max_pending) in (1..=3_usize, 1..=6_usize, 1..=3_u32, 1..=8_usize),
        turn in 1..=8_u32,
        slot_bits in 2..=6_u32,
        linger in 0..5000_u64,
        epoch in ends(),
        seed in any::<u64>().no_shrink(),
    ) -> Settings {
        Settings {
            nodes, ackers, acker_changes, queue, batch, window, max_pending, turn, slot_bits, linger,
            epoch, seed,
        }
    }
}

/// Any case of this size.
pub fn case(size: Size) -> impl Strategy<Value = Case> {
    let graph = (vec(spout(size), 1..=3), vec(bolt(), 1..=size.bolts), settings(size));
    graph.prop_map(move |(spouts, bolts, settings)| {
        fit(Case { spouts, bolts, settings }, size.tuples)
    })
}

/// Makes any draw a case: inputs come from before, weights are one a task, a global counter has
/// one task. Bolts beyond the bound of tuples are left out, and what would be no bolt is a sink.
fn fit(mut case: Case, most: u64) -> Case {
    for (at, bolt) in case.bolts.iter_mut().enumerate() {
        if bolt.kind == Kind::Global {
            bolt.tasks = 1;
        }
        for (from, how) in &mut bolt.inputs {
            *from %= case.spouts.len() + at;
            if let How::Weighted(weights) = how {
                weights.truncate(bolt.tasks as usize);
                weights[0] += 1;
            }
        }
    }
    while case.bolts.len() > 1 && Truth::of(&case).executed() > most {
        case.bolts.pop();
    }
    while Truth::of(&case).executed() > most {
        case.spouts.iter_mut().for_each(|spout| spout.records.truncate(spout.records.len() / 2));
    }
    case
}
