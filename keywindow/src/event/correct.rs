//! Corrections: what a late record changes in windows that have been told.

use alloc::vec::Vec;

use super::lateness::Span;
use super::rules::Rules;
use super::state::{State, same};
use super::update::{Said, Update};
use crate::{Aggregate, Emit, Tick};

impl<Acc: Clone> State<Acc> {
    /// Adds a record that counts in windows that have been told. To `sink` goes the least that makes a
    /// reader's list that of the records in order: what changes, what is new, and what is no change any
    /// longer. Whether that was anything.
    ///
    /// Takes O(log n) for each end, between the record's first and last window, at which a slice enters or
    /// leaves, and a step for each heartbeat that is told anew.
    pub(crate) fn correct<A: Aggregate<Acc = Acc>>(
        &mut self,
        agg: &A,
        rules: &Rules,
        (time, record): (i64, &A::In),
        span: Span,
        revision: u64,
        sink: &mut impl FnMut(Update<A::Out>),
    ) -> bool {
        let told = rules.horizon.told;
        let until = span.leave.min(told);
        let base = span.enter.checked_sub(1).and_then(|tick| self.base_of(tick)).cloned();
        // Between these ticks no record enters or leaves.
        let mut ticks: Vec<Tick> = Vec::from([span.enter]);
        ticks.extend(
            self.rare()
                .points
                .range(span.enter + 1..until.max(span.enter + 1))
                .map(|point| *point.0),
        );
        if span.leave < told {
            ticks.push(span.leave);
        }
        let tree = self.slices.tree(agg);
        let mut previous = match (rules.emit, span.enter.checked_sub(1)) {
            (Emit::ContentChange, _) | (_, None) => None,
            (Emit::ValueChange, Some(tick)) => base.unwrap_or_else(|| tree.at(agg, rules, tick)),
        };
        let before: Vec<Option<Acc>> =
            ticks.iter().map(|&tick| tree.at(agg, rules, tick)).collect();
        tree.tree.add(agg, time, record);
        let after: Vec<Option<Acc>> = ticks.iter().map(|&tick| tree.at(agg, rules, tick)).collect();

        let mut any = false;
        let mut tell = |tick, said| {
            any = true;
            sink(Update { end: rules.spec.end(tick), said, revision });
        };
        let said = |acc: Option<&Acc>| acc.map_or(Said::Empty, |acc| Said::Value(agg.get(acc)));
        let points = &mut self.rare().points;
        for (i, (before, after)) in before.iter().zip(&after).enumerate() {
            let (before, after, tick) = (before.as_ref(), after.as_ref(), ticks[i]);
            let alike = same(agg, before, after);
            let changes = match rules.emit {
                Emit::ContentChange => true,
                Emit::ValueChange => !same(agg, previous.as_ref(), after),
            };
            let changed = points.insert(tick, changes).unwrap_or(false);
            let beats = rules.beats(tick);
            let was_told = changed || (beats && before.is_some());
            let is_told = changes || (beats && after.is_some());
            if is_told && !(was_told && alike) {
                tell(tick, said(after));
            } else if was_told && !is_told {
                tell(tick, Said::Withdrawn);
            }
            if !alike {
                // The record is in all windows up to the next tick, so that none is empty.
                let next = ticks.get(i + 1).copied().unwrap_or(until);
                let mut beat = rules.next_beat(tick + 1);
                while let Some(tick) = beat.filter(|&beat| beat < next) {
                    tell(tick, said(after));
                    beat = rules.next_beat(tick + 1);
                }
            }
            previous = after.cloned();
        }
        any
    }
}
