//! The spouts and bolts of a case. They do what [`truth`](crate::truth) computes, and write down
//! what they saw in the [`Book`].

use std::collections::BTreeMap;
use std::time::Duration;

use streamwright::{
    Bolt, BoxError, Emitter, Epoch, Execute, Nanos, Poll, Seek, Spout, SpoutEmitter, TaskContext,
    Ticket, Timeliness, Watermark, hash_key,
};

use crate::book::{Book, Place};
use crate::case::{BoltCase, Defers, Fails, Items, Kind, Record, SpoutCase};

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
    defers: Option<Defers>,
    breaks_at: Option<Epoch>,
    /// Deferred tuples, with the times at which they are given back.
    held: Vec<(Item, Nanos, Ticket)>,
    /// Totals by epoch, then key, of bolts that emit them in `close`.
    totals: BTreeMap<Epoch, BTreeMap<u64, u64>>,
}

impl Part {
    pub fn new(book: &Book, node: usize, case: &BoltCase, cx: &TaskContext) -> Self {
        let place = Place::new(node, cx);
        book.opened(place);
        let BoltCase { kind, fails, defers, breaks_at, .. } = *case;
        let (book, totals) = (book.clone(), BTreeMap::new());
        Part { book, place, kind, fails, defers, breaks_at, held: Vec::new(), totals }
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

    /// Whether a deferred tuple fails only as its ticket is given back.
    fn fails_late(&self, item: &Item) -> bool {
        let late = self.defers.is_some_and(|defers| !defers.early);
        late && self.fails.is_some_and(|fails| !fails.panic) && item.root.is_multiple_of(2)
    }

    /// Counts an item, and emits what it leads to.
    fn apply(&mut self, item: &Item, out: &mut Emitter<'_, Items>) {
        self.book.executed(self.place, *item);
        let key = match self.kind {
            Kind::Map { .. } | Kind::Count | Kind::Sink => {
                item.copies(self.place.node, self.kind).for_each(|copy| out.emit(copy));
                return;
            }
            Kind::Window => item.key,
            Kind::Global => 0,
        };
        let totals = self.totals.entry(out.epoch()).or_default();
        *totals.entry(key).or_default() += item.weight;
    }

    /// Gives back the tickets that are due.
    fn give_back(&mut self, now: Nanos, out: &mut Emitter<'_, Items>) {
        let early = self.defers.is_some_and(|defers| defers.early);
        for (item, at, ticket) in std::mem::take(&mut self.held) {
            if at > now {
                out.wake_at(at);
                self.held.push((item, at, ticket));
            } else if early {
                out.release(ticket);
            } else if self.fails_late(&item)
                && let Err(error) = self.meet(&item)
            {
                out.fail(ticket, error);
            } else {
                out.release_with(ticket, |out| self.apply(&item, out));
            }
        }
    }
}

/// As `panic!`, but the hook prints nothing.
fn panics() -> ! {
    std::panic::resume_unwind(Box::new("it panics"))
}

impl Bolt for Part {
    type Out = Items;

    fn flush(&mut self, _: Epoch, out: &mut Emitter<'_, Items>) -> Result<(), BoxError> {
        if self.defers.is_some_and(|defers| defers.wait.is_none()) {
            self.give_back(Nanos::MAX, out);
        }
        Ok(())
    }

    fn timer(&mut self, now: Nanos, out: &mut Emitter<'_, Items>) -> Result<(), BoxError> {
        self.give_back(now, out);
        Ok(())
    }

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
        if !self.fails_late(item) {
            self.meet(item)?;
        }
        let Some(Defers { wait, early }) = self.defers else {
            self.apply(item, out);
            return Ok(());
        };
        if early {
            self.apply(item, out);
        }
        let at = wait.map_or(0, |wait| out.now() + wait * 1000);
        if wait.is_some() {
            out.wake_at(at);
        }
        let ticket = out.defer();
        self.held.push((*item, at, ticket));
        Ok(())
    }
}
