//! The associated tasks of a growing node, by gain (steps 3 and 4 of Algorithm 1).
//!
//! The gain of a task only rises while a node grows, so an entry that is out of date is lower
//! than the live one and is dropped when met. Entries of the same gain are ordered by CPU, and
//! the one that fits best is found by search, so that ties, which are the rule where rates are
//! equal, cost a logarithm and no scan.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// What is missing to the target, `missing / parts`, as a fraction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gap {
    pub(crate) missing: i128,
    pub(crate) parts: i128,
}

impl Gap {
    /// How far from the target a task with so much CPU leaves the node, times `parts`.
    pub(crate) fn distance(self, cpu: u64) -> u128 {
        (self.missing - i128::from(cpu) * self.parts).unsigned_abs()
    }
}

#[derive(Debug, Default)]
pub(crate) struct Frontier {
    heap: BinaryHeap<(i64, Reverse<u32>)>,
    /// Gains that several entries had when one of them was on top, by CPU and task.
    ties: BTreeMap<i64, BTreeSet<(u64, u32)>>,
}

impl Frontier {
    pub(crate) fn clear(&mut self) {
        self.heap.clear();
        self.ties.clear();
    }

    pub(crate) fn push(&mut self, gain: i64, task: u32, cpu: u64) {
        match self.ties.get_mut(&gain) {
            Some(class) => {
                class.insert((cpu, task));
            }
            None => self.heap.push((gain, Reverse(task))),
        }
    }

    /// Takes out the task of the largest gain; of several the one that leaves the node nearest
    /// to its target; of those the first. `live` is the gain of a task that is still to be had.
    pub(crate) fn pop(
        &mut self,
        gap: Gap,
        live: impl Fn(u32) -> Option<i64>,
        cpu: impl Fn(u32) -> u64,
    ) -> Option<u32> {
        loop {
            let in_ties = self.ties.last_key_value().map(|(&gain, _)| gain);
            let on_top = self.heap.peek().map(|&(gain, _)| gain);
            if on_top > in_ties {
                let (gain, Reverse(task)) = self.heap.pop()?;
                if live(task) != Some(gain) {
                    continue;
                }
                if self.heap.peek().is_none_or(|&(next, _)| next < gain) {
                    return Some(task);
                }
                let class = self.ties.entry(gain).or_default();
                class.insert((cpu(task), task));
                while self.heap.peek().is_some_and(|&(next, _)| next == gain) {
                    if let Some((_, Reverse(task))) = self.heap.pop()
                        && live(task) == Some(gain)
                    {
                        class.insert((cpu(task), task));
                    }
                }
            } else {
                let gain = in_ties?;
                let class = self.ties.get_mut(&gain)?;
                let Some(entry) = nearest(class, gap) else {
                    self.ties.remove(&gain);
                    continue;
                };
                class.remove(&entry);
                if live(entry.1) == Some(gain) {
                    return Some(entry.1);
                }
            }
        }
    }
}

/// The entry whose CPU is nearest to the gap, the first task if several are.
fn nearest(class: &BTreeSet<(u64, u32)>, gap: Gap) -> Option<(u64, u32)> {
    let split = u64::try_from(gap.missing.max(0) / gap.parts.max(1)).unwrap_or(u64::MAX);
    let above = split.checked_add(1).and_then(|from| class.range((from, 0)..).next().copied());
    let below = class.range(..=(split, u32::MAX)).next_back().map(|&(cpu, _)| cpu);
    let below = below.and_then(|cpu| class.range((cpu, 0)..).next().copied());
    [below, above].into_iter().flatten().min_by_key(|&(cpu, task)| (gap.distance(cpu), task))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A hundred thousand tasks of the same gain all the time, as around one hub: each is looked
    /// at twice at most. A scan of the ties would take five thousand million looks.
    #[test]
    fn ties_cost_no_scan() {
        let count = 100_000;
        let mut frontier = Frontier::default();
        (0..count).for_each(|task| frontier.push(5, task, 1 + u64::from(task % 7)));
        let (looks, gone) = (Cell::new(0_u32), std::cell::RefCell::new(vec![false; 100_000]));
        let live = |task: u32| {
            looks.set(looks.get() + 1);
            (!gone.borrow()[task as usize]).then_some(5)
        };
        for missing in 0..count {
            let gap = Gap { missing: i128::from(missing % 9), parts: 1 };
            let task = frontier.pop(gap, live, |task| 1 + u64::from(task % 7));
            let Some(task) = task else { panic!("task {missing} of {count} is not there") };
            gone.borrow_mut()[task as usize] = true;
        }
        assert_eq!(frontier.pop(Gap { missing: 1, parts: 1 }, live, |_| 1), None);
        assert!(looks.get() <= 2 * count, "{}", looks.get());
    }

    /// Against a scan of all: the largest gain, then the nearest, then the first.
    #[test]
    fn it_gives_what_a_scan_of_all_gives_though_gains_rise() {
        let mut rng = crate::rng::SplitMix64::new(1);
        for _ in 0..300 {
            let cpu: Vec<u64> = (0..20).map(|_| rng.below(6)).collect();
            let mut gain: Vec<Option<i64>> = vec![None; 20];
            let mut frontier = Frontier::default();
            for _ in 0..60 {
                let task = rng.index(20);
                let higher = gain[task].map_or(0, |gain| gain + 1) + rng.below(3).cast_signed();
                gain[task] = Some(higher);
                frontier.push(higher, task as u32, cpu[task]);
                if rng.below(3) > 0 {
                    continue;
                }
                let gap = Gap { missing: i128::from(rng.below(13)), parts: 2 };
                let there = (0..20_u32).filter(|&task| gain[task as usize].is_some());
                let best = there.min_by_key(|&task| {
                    let place = task as usize;
                    (Reverse(gain[place]), gap.distance(cpu[place]), task)
                });
                let live = |task: u32| gain[task as usize];
                let found = frontier.pop(gap, live, |task| cpu[task as usize]);
                assert_eq!(found, best);
                found.into_iter().for_each(|task| gain[task as usize] = None);
            }
        }
    }
}
