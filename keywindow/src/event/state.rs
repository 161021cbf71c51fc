//! What one key has, and what one window end does to it.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;

use super::lateness::Span;
use super::pending::Pending;
use super::rules::Rules;
use super::slices::Slices;
use super::update::Update;
use crate::lattice::NEVER;
use crate::{Aggregate, Emit, Tick};

#[derive(Clone, Debug)]
pub(crate) struct State<Acc> {
    /// Slices that enter at a tick that has not been told.
    pub(crate) pending: Pending<Acc>,
    /// Those that have entered.
    pub(crate) slices: Slices<Acc>,
    /// When the first of the former enters, and the first of the latter leaves; or [`NEVER`].
    pub(crate) enter: Tick,
    pub(crate) leave: Tick,
    /// The tick at which records count for the first time that are late for the ones before.
    pub(crate) touched: Tick,
    /// Whether the window that was reached last holds anything.
    pub(crate) live: bool,
    pub(crate) rare: Option<Box<Rare<Acc>>>,
}

/// What only late records and corrections need.
#[derive(Clone, Debug)]
pub(crate) struct Rare<Acc> {
    /// The last final window as it was told, where records that came later lie in it as well.
    pub(crate) base: Option<(Tick, Option<Acc>)>,
    /// Ticks that are not final at which records entered or left, and whether that was a change.
    pub(crate) points: BTreeMap<Tick, bool>,
}

impl<Acc> Rare<Acc> {
    pub(crate) const fn new() -> Self {
        Self { base: None, points: BTreeMap::new() }
    }
}

/// Whether two results are the same, `None` that of the empty window.
pub(crate) fn same<A: Aggregate>(agg: &A, a: Option<&A::Acc>, b: Option<&A::Acc>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => agg.same(&agg.get(a), &agg.get(b)),
        _ => false,
    }
}

impl<Acc: Clone> State<Acc> {
    pub(crate) const fn new() -> Self {
        Self {
            pending: Pending::new(),
            slices: Slices::new(),
            enter: NEVER,
            leave: NEVER,
            touched: NEVER,
            live: false,
            rare: None,
        }
    }

    /// Whether nothing is left to be told of the key but corrections.
    #[cfg(feature = "keys")]
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.enter == NEVER && self.touched == NEVER && !self.live
    }

    /// The last tick that may be corrected at which records entered or left.
    #[cfg(feature = "keys")]
    pub(crate) fn last_point(&self) -> Option<Tick> {
        self.rare.as_ref()?.points.last_key_value().map(|point| *point.0)
    }

    pub(crate) fn rare(&mut self) -> &mut Rare<Acc> {
        self.rare.get_or_insert_with(|| Box::new(Rare::new()))
    }

    /// The next tick that is due, from this one on, or [`NEVER`].
    #[inline]
    pub(crate) fn next(&self, rules: &Rules, from: Tick) -> Tick {
        self.enter.min(self.leave).min(self.touched).min(self.beat(rules, from))
    }

    /// The next heartbeat from this tick on, or [`NEVER`].
    #[inline]
    pub(crate) fn beat(&self, rules: &Rules, from: Tick) -> Tick {
        if self.live { rules.next_beat(from).unwrap_or(NEVER) } else { NEVER }
    }

    /// Bytes on the heap, without those that partial results may have there; those of maps about.
    #[cfg(feature = "keys")]
    pub(crate) fn heap_bytes(&self) -> usize {
        let rare = self.rare.as_ref().map_or(0, |rare| {
            size_of::<Rare<Acc>>() + rare.points.len() * 3 * size_of::<Tick>() / 2
        });
        self.pending.heap_bytes() + self.slices.heap_bytes() + rare
    }

    /// Adds a record that counts in the windows of this span. What corrects windows that have been told
    /// goes to `sink`, under `revision`; whether there was anything.
    #[inline]
    pub(crate) fn add<A: Aggregate<Acc = Acc>>(
        &mut self,
        agg: &A,
        rules: &Rules,
        (time, record): (i64, &A::In),
        span: Span,
        revision: u64,
        sink: &mut impl FnMut(Update<A::Out>),
    ) -> bool {
        let time = if A::COMMUTATIVE { rules.spec.slice(time) } else { time };
        let told = rules.horizon.told;
        if span.first >= told {
            self.pending.add(agg, time, record);
            self.enter = self.enter.min(span.first);
            return false;
        }
        if span.first < span.enter && rules.emit == Emit::ValueChange {
            self.keep_base(agg, rules, span.enter - 1);
        }
        let corrects =
            span.enter < told && self.correct(agg, rules, (time, record), span, revision, sink);
        if span.enter == told {
            self.slices.add_late(agg, time, record);
            self.touched = told;
        }
        if span.leave >= told {
            self.leave = self.leave.min(span.leave);
            // A record that counts from here on only is in no window that was reached.
            self.live |= span.enter < told;
        }
        corrects
    }

    /// Remembers the last final window before a record comes into it that it does not count.
    fn keep_base<A: Aggregate<Acc = Acc>>(&mut self, agg: &A, rules: &Rules, tick: Tick) {
        if self.base_of(tick).is_some() {
            return;
        }
        let merged = match &self.slices {
            Slices::Line(line) if tick + 1 == rules.horizon.told => line.query(agg),
            _ => self.slices.tree(agg).at(agg, rules, tick),
        };
        self.rare().base = Some((tick, merged));
    }

    /// The window of this tick, if it was remembered.
    pub(crate) fn base_of(&self, tick: Tick) -> Option<&Option<Acc>> {
        let (of, merged) = self.rare.as_ref()?.base.as_ref()?;
        (*of == tick).then_some(merged)
    }

    /// Goes to the tick, the next that is due. Returns what is to be told.
    pub(crate) fn turn<A: Aggregate<Acc = Acc>>(
        &mut self,
        agg: &A,
        rules: &Rules,
        tick: Tick,
    ) -> Option<Update<A::Out>> {
        let (start, end) = (rules.spec.start(tick), rules.spec.end(tick));
        let last = rules.horizon.last;
        let before = match (rules.emit, tick.checked_sub(1)) {
            (Emit::ContentChange, _) | (_, None) => None,
            (Emit::ValueChange, Some(before)) => match self.base_of(before) {
                Some(base) => base.clone(),
                None => self.slices.window(agg, rules, Some(before)),
            },
        };
        let left = tick == self.leave;
        if left {
            let keep = rules.spec.start(tick.min(last.saturating_sub(1)));
            self.slices.leave(agg, start, keep);
        }
        let mut moved = left || self.touched == tick;
        self.touched = NEVER;
        if self.enter == tick {
            moved = true;
            while let Some((time, acc)) = self.pending.take_before(end) {
                self.slices.enter(agg, time, acc);
            }
            self.enter = self.pending.first().map_or(NEVER, |time| rules.spec.passed(time));
        }
        self.slices.calm(agg, start);
        let oldest = self.slices.oldest(start);
        self.live = oldest.is_some();
        self.leave = oldest.map_or(NEVER, |oldest| rules.spec.leave_tick(oldest));
        let after = self.slices.window(agg, rules, Some(tick));
        let changed = match rules.emit {
            Emit::ContentChange => moved,
            Emit::ValueChange => !same(agg, before.as_ref(), after.as_ref()),
        };
        if moved && rules.late.allowed() > 0 && tick >= last {
            self.rare().points.insert(tick, changed);
        }
        let told = changed || (after.is_some() && rules.beats(tick));
        told.then(|| Update::on_time(end, after.map(|acc| agg.get(&acc))))
    }

    /// Forgets what only windows need that are final by now, as far as this tick, which has been reached.
    #[inline]
    pub(crate) fn purge<A: Aggregate<Acc = Acc>>(&mut self, agg: &A, rules: &Rules, tick: Tick) {
        let last = rules.horizon.last;
        if rules.late.allowed() > 0 && last > 0 {
            self.slices.forget_before(agg, rules.spec.start(tick.min(last - 1)));
        }
        if let Some(rare) = &mut self.rare {
            if rare.points.first_key_value().is_some_and(|first| *first.0 < last) {
                rare.points = rare.points.split_off(&last);
            }
            rare.base = rare.base.take().filter(|base| base.0 + 1 == last);
            if rare.base.is_none() && rare.points.is_empty() {
                self.rare = None;
            }
        }
    }
}
