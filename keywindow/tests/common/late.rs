//! Lateness by its definition: every native window with its own records, and whether it is final.

#![allow(dead_code, missing_docs, unreachable_pub, clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU64;

use keywindow::{Aggregate, Emit, Error, EventWindow, Late, Outcome, Said, Update, WindowSpec};
use proptest::prelude::*;

/// What a window is and how it is told.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    pub spec: WindowSpec,
    pub emit: Emit,
    pub late: Late,
    pub beat: Option<NonZeroU64>,
}

impl Setting {
    pub fn new(spec: WindowSpec, late: Late) -> Self {
        Self { spec, emit: Emit::ContentChange, late, beat: None }
    }

    pub fn window<A: Aggregate>(&self, agg: A) -> EventWindow<A> {
        let window = EventWindow::new(agg, self.spec).emit(self.emit).late(self.late).unwrap();
        match self.beat {
            Some(every) => window.heartbeat(every),
            None => window,
        }
    }
}

/// Windows of these kinds under these policies, with every emission, with heartbeats and without.
pub fn settings(
    specs: impl Strategy<Value = WindowSpec>,
    policies: impl Strategy<Value = Late>,
) -> impl Strategy<Value = Setting> {
    let emit = prop_oneof![Just(Emit::ContentChange), Just(Emit::ValueChange)];
    let beat = prop_oneof![3 => Just(None), 1 => (1..6_u64).prop_map(NonZeroU64::new)];
    (specs, emit, policies, beat).prop_map(|(spec, emit, late, beat)| Setting {
        spec,
        emit,
        late,
        beat,
    })
}

/// A record or a watermark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<X> {
    Record(i64, X),
    Watermark(i64),
}

type Told<A> = BTreeMap<i64, Option<<A as Aggregate>::Out>>;

pub struct Oracle<A: Aggregate<In: Sized>> {
    agg: A,
    setting: Setting,
    watermark: i64,
    arrived: usize,
    revision: u64,
    /// The records of each window that has any, by time and arrival.
    windows: BTreeMap<i128, BTreeMap<(i64, usize), A::In>>,
    told: Told<A>,
}

impl<A: Aggregate<In: Clone, Out: Clone>> Oracle<A> {
    pub fn new(agg: A, setting: Setting) -> Self {
        let (windows, told) = (BTreeMap::new(), BTreeMap::new());
        Self { agg, setting, watermark: i64::MIN, arrived: 0, revision: 0, windows, told }
    }

    fn slide(&self) -> i128 {
        self.setting.spec.slide().into()
    }

    /// The least end after the time.
    fn after(&self, time: i128) -> i128 {
        let spec = &self.setting.spec;
        let end = i128::from(spec.phase()) + i128::from(spec.size());
        time + self.slide() - (time - end).rem_euclid(self.slide())
    }

    fn is_final(&self, end: i128) -> bool {
        let allowed = match self.setting.late {
            Late::Correct { allowed } => allowed,
            _ => 0,
        };
        end + i128::from(allowed) <= i128::from(self.watermark)
    }

    pub fn push(
        &mut self,
        time: i64,
        record: &A::In,
    ) -> (Result<Outcome, Error>, Vec<Update<A::Out>>) {
        let first = self.after(time.into());
        if first > i64::MAX.into() {
            return (Err(Error::NeverEnters { time }), vec![]);
        }
        let holds = |end: &i128| end - i128::from(self.setting.spec.size()) <= time.into();
        let ends = (0..).map(|n| first + n * self.slide()).take_while(holds);
        let ends: Vec<i128> = ends.take_while(|&end| end <= i64::MAX.into()).collect();
        let missed = ends.iter().filter(|&&end| self.is_final(end)).count();
        let outcome = match (missed, self.setting.late) {
            _ if ends.is_empty() => Outcome::Gap,
            (0, _) => Outcome::Accepted,
            (_, Late::Drop) => Outcome::Late,
            _ if missed == ends.len() => Outcome::Late,
            _ => Outcome::Partial { missed: missed as u64 },
        };
        if matches!(outcome, Outcome::Late | Outcome::Gap) {
            return (Ok(outcome), vec![]);
        }
        for end in ends.into_iter().skip(missed) {
            self.windows.entry(end).or_default().insert((time, self.arrived), record.clone());
        }
        self.arrived += 1;
        let updates = self.news(self.revision + 1);
        self.revision += u64::from(!updates.is_empty());
        (Ok(outcome), updates)
    }

    pub fn advance_to(&mut self, watermark: i64) -> Vec<Update<A::Out>> {
        let before = self.watermark;
        self.watermark = self.watermark.max(watermark);
        let news = self.news(0);
        assert!(news.iter().all(|update| update.end > before && update.said_is_no_withdrawal()));
        news
    }

    fn value(&self, end: i128) -> Option<A::Out> {
        let records = self.windows.get(&end)?;
        let mut acc = self.agg.create();
        records.values().for_each(|record| self.agg.add(&mut acc, record));
        Some(self.agg.get(&acc))
    }

    fn same(&self, a: &Option<A::Out>, b: &Option<A::Out>) -> bool {
        match (a, b) {
            (Some(a), Some(b)) => self.agg.same(a, b),
            (a, b) => a.is_none() && b.is_none(),
        }
    }

    /// All that is to be told of windows that end by the watermark.
    pub fn list(&self) -> Told<A> {
        let mut ends: BTreeSet<i128> = self.windows.keys().copied().collect();
        ends.extend(self.windows.keys().map(|end| end + self.slide()));
        let content =
            |end: i128| self.windows.get(&end).map(|window| window.keys().collect::<Vec<_>>());
        let told = ends.into_iter().filter(|&end| end <= self.watermark.into()).filter_map(|end| {
            let (value, before) = (self.value(end), end - self.slide());
            let changed = match self.setting.emit {
                Emit::ValueChange => !self.same(&self.value(before), &value),
                _ => content(before) != content(end),
            };
            let tick = (end - self.after(i64::MIN.into())) / self.slide();
            let every = self.setting.beat.map_or(0, |every| i128::from(every.get()));
            let beats = every > 0 && tick % every == 0 && value.is_some();
            (changed || beats).then_some((end.try_into().unwrap(), value))
        });
        told.collect()
    }

    /// What makes the list that was told into the one that is right now.
    fn news(&mut self, revision: u64) -> Vec<Update<A::Out>> {
        let (old, new) = (std::mem::take(&mut self.told), self.list());
        let ends: BTreeSet<i64> = old.keys().chain(new.keys()).copied().collect();
        let mut news = Vec::new();
        for end in ends {
            let said = match (old.get(&end), new.get(&end)) {
                (Some(old), Some(new)) if self.same(old, new) => continue,
                (_, Some(Some(value))) => Said::Value(value.clone()),
                (_, Some(None)) => Said::Empty,
                (_, None) => Said::Withdrawn,
            };
            news.push(update(end, said, revision));
        }
        self.told = new;
        news
    }
}

trait NoWithdrawal {
    fn said_is_no_withdrawal(&self) -> bool;
}

impl<O> NoWithdrawal for Update<O> {
    fn said_is_no_withdrawal(&self) -> bool {
        !matches!(self.said, Said::Withdrawn)
    }
}

pub fn update<O>(end: i64, said: Said<O>, revision: u64) -> Update<O> {
    Update::new(end, said, revision)
}

/// Runs the steps beside the oracle, which must agree at each of them.
pub fn check<A>(agg: &A, setting: Setting, steps: &[Step<A::In>])
where
    A: Aggregate<In: Clone + std::fmt::Debug, Out: Clone + PartialEq + std::fmt::Debug> + Clone,
{
    let (mut oracle, mut window) = (Oracle::new(agg.clone(), setting), setting.window(agg.clone()));
    for (i, step) in steps.iter().enumerate() {
        let mut told = Vec::new();
        match step {
            Step::Record(time, record) => {
                let outcome = window.push(*time, record, |update| told.push(update));
                let (right, updates) = oracle.push(*time, record);
                assert_eq!(outcome, right, "step {i} of {steps:?} under {setting:?}");
                assert_eq!(told, updates, "step {i} of {steps:?} under {setting:?}");
            }
            Step::Watermark(time) => {
                // What it tells until then, it tells on time.
                if let Some(next) = window.next_deadline().filter(|&next| next <= *time) {
                    window.advance_to(next - 1, |update| panic!("early: {update:?}"));
                }
                window.advance_to(*time, |update| told.push(update));
                let right = oracle.advance_to(*time);
                assert_eq!(told, right, "step {i} of {steps:?} under {setting:?}");
            }
        }
    }
}
