//! All small inputs in event time: every order of up to four records in seven cells, with every watermark
//! before each of them, under every window of size and slide up to three.
//!
//! Two streams that differ by a shift in time, phase included, are one: the earliest record is in cell 0.
//! Two watermarks between the same ends are one: they are the ends themselves, and none.

#![allow(clippy::cast_sign_loss, clippy::unwrap_used)]

use std::collections::BTreeMap;

use keywindow::{Aggregate, Emit, EventWindow, Late, Outcome, Said, Update, WindowSpec};

const CELLS: i64 = 7;

/// The list of all records, four at most, as digits: their number, and two bits for each.
#[derive(Clone, Copy, Debug)]
struct Digits;

type List = (u8, u8);

impl Aggregate for Digits {
    type In = u8;
    type Acc = List;
    type Out = List;

    fn create(&self) -> List {
        (0, 0)
    }
    fn add(&self, acc: &mut List, record: &u8) {
        *acc = self.merge(acc, &(1, *record));
    }
    fn merge(&self, older: &List, newer: &List) -> List {
        let shifted = u16::from(older.1) << (2 * newer.0);
        (older.0 + newer.0, shifted as u8 | newer.1)
    }
    fn get(&self, acc: &List) -> List {
        *acc
    }
    fn same(&self, a: &List, b: &List) -> bool {
        a == b
    }
}

/// Every list of `length` times from 0 on, with a 0 among them.
fn streams(length: u32) -> Vec<Vec<i64>> {
    let all = (0..CELLS.pow(length)).map(|number| {
        (0..length).map(|place| number / CELLS.pow(place) % CELLS).collect::<Vec<_>>()
    });
    all.filter(|times| times.contains(&0)).collect()
}

/// Every list of `length` of these that does not descend.
fn ascending(values: &[i64], length: u32) -> Vec<Vec<i64>> {
    if length == 0 {
        return vec![vec![]];
    }
    let shorter = ascending(values, length - 1);
    let longer = shorter.into_iter().flat_map(|list| {
        let least = list.last().copied().unwrap_or(i64::MIN);
        values
            .iter()
            .filter(move |&&value| value >= least)
            .map(move |&value| [list.clone(), vec![value]].concat())
    });
    longer.collect()
}

struct Case<'a> {
    spec: WindowSpec,
    late: Late,
    emit: Emit,
    ends: &'a [i64],
    times: &'a [i64],
    watermarks: &'a [i64],
}

impl Case<'_> {
    /// By definition: what becomes of each record, and the list of each window.
    fn right(&self) -> (Vec<Outcome>, Vec<List>) {
        let allowed = match self.late {
            Late::Correct { allowed } => allowed,
            _ => 0,
        };
        let mut order: Vec<usize> = (0..self.times.len()).collect();
        order.sort_by_key(|&record| self.times[record]);
        let mut lists = vec![(0, 0); self.ends.len()];
        let mut outcomes = vec![Outcome::Gap; order.len()];
        for record in order {
            let (time, watermark) = (self.times[record], self.watermarks[record]);
            let holds = |end: i64| end - self.spec.size() <= time && time < end;
            let is_final = |end: i64| end.saturating_add(allowed) <= watermark;
            let held = self.ends.iter().filter(|&&end| holds(end)).count();
            let missed = self.ends.iter().filter(|&&end| holds(end) && is_final(end)).count();
            outcomes[record] = match missed {
                _ if held == 0 => Outcome::Gap,
                0 => Outcome::Accepted,
                _ if missed == held || self.late == Late::Drop => Outcome::Late,
                _ => Outcome::Partial { missed: missed as u64 },
            };
            if outcomes[record] == Outcome::Late {
                continue;
            }
            for (list, &end) in lists.iter_mut().zip(self.ends) {
                if holds(end) && !is_final(end) {
                    Digits.add(list, &(record as u8));
                }
            }
        }
        (outcomes, lists)
    }

    fn check(&self, told: &mut Vec<Update<List>>) {
        let (outcomes, lists) = self.right();
        told.clear();
        let mut window =
            EventWindow::new(Digits, self.spec).emit(self.emit).late(self.late).unwrap();
        for (record, (&time, &watermark)) in self.times.iter().zip(self.watermarks).enumerate() {
            window.advance_to(watermark, |update| told.push(update));
            let outcome = window.push(time, &(record as u8), |update| told.push(update));
            assert_eq!(outcome, Ok(outcomes[record]), "{self:?}");
        }
        window.advance_to(100, |update| told.push(update));
        let mut before = (0, 0);
        let right = self.ends.iter().zip(lists).filter_map(|(&end, list)| {
            let changes = list != before;
            before = list;
            let said = if list.0 == 0 { Said::Empty } else { Said::Value(list) };
            changes.then_some((end, said))
        });
        if let Late::Correct { .. } = self.late {
            let mut read = BTreeMap::new();
            for update in told.iter() {
                assert_ne!(read.insert(update.end, update.said), Some(update.said), "{self:?}");
            }
            assert!(read.into_iter().eq(right), "{self:?}: {told:?}");
        } else {
            assert!(
                told.iter().map(|update| (update.end, update.said)).eq(right),
                "{self:?}: {told:?}"
            );
        }
    }
}

impl std::fmt::Debug for Case<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { spec, late, emit, times, watermarks, .. } = self;
        write!(f, "{times:?} after {watermarks:?} in {spec:?}, {late:?}, {emit:?}")
    }
}

#[test]
fn every_order_under_every_watermark() {
    let (mut cases, mut told) = (0_u64, Vec::new());
    for (size, slide) in (1..=3).flat_map(|size| (1..=3).map(move |slide| (size, slide))) {
        for phase in 0..slide {
            let spec = WindowSpec::sliding(size, slide).unwrap().with_phase(phase);
            // From the first that may hold a record to the first that holds none.
            let ends = (1..=CELLS + size + slide).filter(|end| (end - size - phase) % slide == 0);
            let ends: Vec<i64> = ends.collect();
            let watermarks = [&[i64::MIN], &ends[..ends.len() - 1]].concat();
            for length in 1..=4 {
                let watermarks = ascending(&watermarks, length);
                for times in &streams(length) {
                    for watermarks in &watermarks {
                        let mut check = |late, emit| {
                            let ends = &ends;
                            Case { spec, late, emit, ends, times, watermarks }.check(&mut told);
                            cases += 1;
                        };
                        check(Late::Partial, Emit::ContentChange);
                        check(Late::Correct { allowed: 2 * slide }, Emit::ContentChange);
                        if length <= 3 {
                            check(Late::Drop, Emit::ContentChange);
                            check(Late::Partial, Emit::ValueChange);
                            check(Late::Correct { allowed: slide }, Emit::ValueChange);
                        }
                    }
                }
            }
        }
    }
    assert!(cases > 1_000_000, "{cases}");
    println!("{cases} cases");
}
