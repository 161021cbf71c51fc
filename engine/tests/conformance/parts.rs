//! The spouts and bolts of a case. They do what [`truth`](crate::truth) computes, and write down
//! what they saw in the [`Book`].

use std::collections::BTreeMap;
use std::time::Duration;

use streamwright::{
    Bolt, BoxError, Emitter, Epoch, Execute, Poll, Seek, Spout, SpoutEmitter, TaskContext,
    Timeliness, Watermark, hash_key,
};

use crate::book::{Book, Place};
use crate::case::{BoltCase, Fails, Items, Kind, Record, SpoutCase};

/// A record or what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// The record it comes of; [`TOTAL`] for what comes of many.
    pub root: u64,
    pub key: u64,
    /// Components and copies on its way, mixed.
    pub path: u64,
    /// Records that it stands for.
    pub weight: u64,
    /// Its event time; the largest where it is late or comes of many.
    pub time: i64,
}

/// What an item is, whatever the attempt: root, key, path.
pub type Id = (u64, u64, u64);

/// The root of totals, which come of many records.
pub const TOTAL: u64 = 0;

/// The root of record `i` of a spout's task.
pub fn root_of(spout: usize, task: u32, i: u64) -> u64 {
    ((spout as u64 + 1) << 40) | (u64::from(task) << 32) | i
}

/// Spout and task of a root.
pub fn origin(root: u64) -> (usize, u32) {
    ((root >> 40) as usize - 1, (root >> 32 & 0xff) as u32)
}

impl Item {
    pub fn of((&(root, key, path), &weight): (&Id, &u64)) -> Self {
        Item { root, key, path, weight, time: i64::MAX }
    }

    pub fn id(&self) -> Id {
        (self.root, self.key, self.path)
    }

    /// A total that a bolt emits as an epoch closes.
    pub fn total(node: usize, key: u64, weight: u64) -> Self {
        Item { root: TOTAL, key, path: step(0, node, 0), weight, time: i64::MAX }
    }

    /// What a bolt makes of it in `execute`.
    pub fn copies(self, node: usize, kind: Kind) -> impl Iterator<Item = Item> {
        let copies = match kind {
            Kind::Map { skip: Some(n), .. } if self.key.is_multiple_of(n) => 0,
            Kind::Map { copies, .. } => copies,
            Kind::Count => 1,
            Kind::Window | Kind::Global | Kind::Sink => 0,
        };
        (0..copies).map(move |copy| Item { path: step(self.path, node, copy), ..self })
    }

    /// The task that direct grouping names.
    pub fn direct(&self, tasks: u32) -> u32 {
        u32::try_from((self.root + self.key) % u64::from(tasks)).unwrap()
    }
}

/// A path extended by a copy made at a component.
fn step(path: u64, node: usize, copy: u64) -> u64 {
    hash_key(&(path, node, copy))
}

/// Emits its records, one a call.
pub struct Source {
    book: Book,
    place: Place,
    records: Vec<Record>,
    next: usize,
    /// Whether the gap before the next record is over.
    rested: bool,
}

impl Source {
    pub fn new(book: &Book, node: usize, case: &SpoutCase, cx: &TaskContext) -> Self {
        let place = Place::new(node, cx);
        book.opened(place);
        let records = case.records.clone();
        Source { book: book.clone(), place, records, next: 0, rested: false }
    }
}

impl Spout for Source {
    type Out = Items;

    fn next(&mut self, out: &mut SpoutEmitter<'_, Items>) -> Result<Poll, BoxError> {
        let Some(record) = self.records.get(self.next) else { return Ok(Poll::End) };
        if record.gap > 0 && !self.rested {
            self.rested = true;
            return Ok(Poll::Idle(Some(Duration::from_micros(record.gap))));
        }
        self.rested = false;
        let time = match out.stamp(record.time) {
            Timeliness::InTime => record.time,
            Timeliness::Late => i64::MAX,
        };
        let root = root_of(self.place.node, self.place.task, self.next as u64);
        out.emit(Item { root, key: record.key, path: 0, weight: 1, time });
        self.book.emitted(self.place, out.epoch(), root);
        if record.mark {
            out.watermark(record.time);
        }
        self.next += 1;
        Ok(Poll::More)
    }

    fn position(&self) -> Option<Vec<u8>> {
        Some(self.next.to_le_bytes().to_vec())
    }

    fn seek(&mut self, to: Seek<'_>) -> Result<(), BoxError> {
        self.next = match to {
            Seek::To(position) => usize::from_le_bytes(position.try_into()?),
            _ => self.book.behind_all(self.place) as usize,
        };
        Ok(())
    }
}

/// Any bolt of a case.
pub struct Part {
    book: Book,
    place: Place,
    kind: Kind,
    fails: Option<Fails>,
    breaks_at: Option<Epoch>,
    /// Totals by epoch, then key, of bolts that emit them in `close`.
    totals: BTreeMap<Epoch, BTreeMap<u64, u64>>,
}

impl Part {
    pub fn new(book: &Book, node: usize, case: &BoltCase, cx: &TaskContext) -> Self {
        let place = Place::new(node, cx);
        book.opened(place);
        let BoltCase { kind, fails, breaks_at, .. } = *case;
        Part { book: book.clone(), place, kind, fails, breaks_at, totals: BTreeMap::new() }
    }

    /// Fails where the case says so, before anything is changed.
    fn meet(&self, item: &Item) -> Result<(), BoxError> {
        let Some(fails) = self.fails else { return Ok(()) };
        if !hash_key(&(item.root, item.key)).is_multiple_of(fails.one_in) {
            return Ok(());
        }
        // What comes of many records would take them all with it.
        let times = fails.times.or((item.root == TOTAL).then_some(1));
        let met = self.book.met(self.place.node, item.id());
        if times.is_some_and(|times| met > times) {
            return Ok(());
        }
        if fails.panic {
            panics();
        }
        Err("it fails".into())
    }
}

/// As `panic!`, but the hook prints nothing.
fn panics() -> ! {
    std::panic::resume_unwind(Box::new("it panics"))
}

impl Bolt for Part {
    type Out = Items;

    fn close(
        &mut self,
        epoch: Epoch,
        watermark: Watermark,
        out: &mut Emitter<'_, Items>,
    ) -> Result<(), BoxError> {
        // Once in all lives: its identity here is the epoch.
        if self.breaks_at == Some(epoch) && self.book.met(self.place.node, (TOTAL, epoch, 0)) == 1 {
            panics();
        }
        self.book.closed(self.place, epoch, watermark);
        for (key, weight) in self.totals.remove(&epoch).unwrap_or_default() {
            let total = Item::total(self.place.node, key, weight);
            self.book.total(self.place, epoch, total);
            out.emit(total);
        }
        Ok(())
    }
}

impl Execute<Items> for Part {
    fn execute(&mut self, item: &Item, out: &mut Emitter<'_, Items>) -> Result<(), BoxError> {
        self.book.came(self.place, out.epoch(), *item);
        self.meet(item)?;
        self.book.executed(self.place, *item);
        let key = match self.kind {
            Kind::Map { .. } | Kind::Count | Kind::Sink => {
                item.copies(self.place.node, self.kind).for_each(|copy| out.emit(copy));
                return Ok(());
            }
            Kind::Window => item.key,
            Kind::Global => 0,
        };
        let totals = self.totals.entry(out.epoch()).or_default();
        *totals.entry(key).or_default() += item.weight;
        Ok(())
    }
}
