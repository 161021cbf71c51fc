//! The state of a key as bytes.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::{Codec, Input, RestoreError};
use crate::event::{Line, Pending, Rare, Rules, Slices, State, Tree};
use crate::kernel::Finger;
use crate::lattice::NEVER;
use crate::{Aggregate, Tick};

const LINE: u8 = 0;
const TREE: u8 = 1;

type Slice<Acc> = (i64, Acc);

fn write_list<'a, Acc: Codec + 'a>(
    len: usize,
    list: impl Iterator<Item = (i64, &'a Acc)>,
    out: &mut Vec<u8>,
) {
    (len as u64).encode(out);
    for (time, acc) in list {
        time.encode(out);
        acc.encode(out);
    }
}

pub(super) fn write<Acc: Codec + Clone>(state: &State<Acc>, out: &mut Vec<u8>) {
    let len = state.pending.len();
    match &state.pending {
        Pending::Few(list) => write_list(len, list.iter().map(|slot| (slot.0, &slot.1)), out),
        Pending::Many(map) => write_list(len, map.iter().map(|(time, acc)| (*time, acc)), out),
    }
    match &state.slices {
        Slices::Line(line) => {
            let (start, front) = line.cuts();
            (LINE, start as u64, front as u64).encode(out);
            let elements = line.elements();
            write_list(elements.len(), elements.iter().map(|slot| (slot.0, &slot.1)), out);
        }
        Slices::Tree(tree) => {
            (TREE, tree.calm).encode(out);
            tree.tree.encode(out);
        }
    }
    state.touched.encode(out);
    state.rare.is_some().encode(out);
    if let Some(rare) = &state.rare {
        rare.base.is_some().encode(out);
        if let Some((tick, merged)) = &rare.base {
            tick.encode(out);
            merged.is_some().encode(out);
            merged.iter().for_each(|acc| acc.encode(out));
        }
        (rare.points.len() as u64).encode(out);
        rare.points.iter().for_each(|(tick, changed)| (*tick, *changed).encode(out));
    }
}

/// Slices in the order of their time, each of which lies in a window; those that have not entered in
/// windows from `told` on, others only before.
fn read_list<Acc: Codec>(
    rules: &Rules,
    pending: bool,
    input: &mut Input<'_>,
) -> Result<VecDeque<Slice<Acc>>, RestoreError> {
    let mut list = VecDeque::<Slice<Acc>>::new();
    for _ in 0..input.count()? {
        let slice = <Slice<Acc>>::decode(input)?;
        let after = list.back().is_none_or(|last| last.0 < slice.0);
        if !after || !fits(rules, pending, slice.0) {
            return Err(input.corrupt());
        }
        list.push_back(slice);
    }
    Ok(list)
}

fn fits(rules: &Rules, pending: bool, time: i64) -> bool {
    let entered = rules.spec.passed(time) < rules.horizon.told;
    entered != pending && matches!(rules.spec.place(time, rules.spec.passed(time)), Ok(Some(_)))
}

pub(super) fn read<A: Aggregate<Acc: Codec>>(
    agg: &A,
    rules: &Rules,
    input: &mut Input<'_>,
) -> Result<State<A::Acc>, RestoreError> {
    let told = rules.horizon.told;
    let mut state = State::new();
    state.pending = Pending::of(read_list(rules, true, input)?);
    state.enter = state.pending.first().map_or(NEVER, |time| rules.spec.passed(time));
    // The start of the window that was reached last.
    let start = told.checked_sub(1).map_or(i64::MIN, |tick| rules.spec.start(tick));
    match u8::decode(input)? {
        LINE => {
            let (left, front): (u64, u64) = Codec::decode(input)?;
            let elements = read_list(rules, false, input)?;
            let cut = elements.partition_point(|slot| slot.0 < start) as u64;
            if left != cut || front > elements.len() as u64 - cut {
                return Err(input.corrupt());
            }
            let line = Line::of(agg, elements, left as usize, front as usize);
            state.slices = Slices::Line(line);
        }
        TREE => {
            let calm = u64::decode(input)?;
            let tree = Finger::decode(agg, input)?;
            if !tree.iter().all(|slot| fits(rules, false, slot.0)) {
                return Err(input.corrupt());
            }
            state.slices = Slices::Tree(Box::new(Tree { tree, calm }));
        }
        _ => return Err(input.corrupt()),
    }
    let oldest = state.slices.oldest(start);
    state.live = oldest.is_some();
    state.leave = oldest.map_or(NEVER, |oldest| rules.spec.leave_tick(oldest));
    state.touched = Codec::decode(input)?;
    if state.touched != NEVER && state.touched != told {
        return Err(input.corrupt());
    }
    if bool::decode(input)? {
        state.rare = Some(Box::new(read_rare(rules, input)?));
    }
    Ok(state)
}

fn read_rare<Acc: Codec>(rules: &Rules, input: &mut Input<'_>) -> Result<Rare<Acc>, RestoreError> {
    let mut rare = Rare::new();
    let told = rules.horizon.told;
    // A key that was not visited for long has more than it needs.
    rare.base = Codec::decode(input)?;
    if rare.base.as_ref().is_some_and(|base| base.0 >= told) {
        return Err(input.corrupt());
    }
    let mut least = 0;
    for _ in 0..input.count()? {
        let (tick, changed): (Tick, bool) = Codec::decode(input)?;
        if tick < least || tick >= told {
            return Err(input.corrupt());
        }
        least = tick + 1;
        rare.points.insert(tick, changed);
    }
    Ok(rare)
}
