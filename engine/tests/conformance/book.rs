//! What the components of a run saw, and what was wrong with it as they saw it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use streamwright::{Epoch, TaskContext, Watermark};

use crate::case::Case;
use crate::parts::{Id, Item};
use crate::truth::{Bag, add};

/// Who writes: component, task, incarnation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub node: usize,
    pub task: u32,
    pub incarnation: u64,
}

impl Place {
    pub fn new(node: usize, cx: &TaskContext) -> Self {
        Place { node, task: cx.index(), incarnation: cx.incarnation() }
    }
}

#[derive(Debug, Default)]
struct Pages {
    /// What each task has executed without failure.
    states: BTreeMap<Place, Bag>,
    /// What each component emitted in `close`, by incarnation and epoch.
    totals: BTreeMap<(usize, u64, Epoch), Bag>,
    /// Roots that spouts emitted.
    roots: BTreeSet<u64>,
    met: BTreeMap<(usize, Id), u32>,
    /// By task, the next epoch to close and the last watermark.
    next: BTreeMap<Place, (Epoch, Watermark)>,
    /// By component and incarnation, what no tuple may be below any more.
    closed: BTreeMap<(usize, u64), Epoch>,
    /// Epochs that a spout may be ahead.
    window: u64,
    wrong: Vec<String>,
}

/// What the components of a run saw; clones share it.
#[derive(Clone, Debug)]
pub struct Book(Arc<Mutex<Pages>>);

impl Book {
    pub fn new(case: &Case) -> Self {
        let mut pages = Pages { window: u64::from(case.settings.window), ..Pages::default() };
        for (node, bolt) in case.bolts() {
            for task in 0..bolt.tasks {
                pages.next.insert(Place { node, task, incarnation: 0 }, (0, None));
            }
        }
        Book(Arc::new(Mutex::new(pages)))
    }

    fn with<T>(&self, f: impl FnOnce(&mut Pages) -> T) -> T {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn emitted(&self, place: Place, epoch: Epoch, root: u64) {
        self.with(|pages| {
            let first = pages.next.iter().filter(|(of, _)| of.incarnation == place.incarnation);
            let closed = first.map(|(_, (next, _))| *next).min().unwrap_or(0);
            if epoch >= closed + pages.window {
                pages.wrong.push(format!("{place:?} stamps {epoch} where {closed} is not closed"));
            }
            pages.roots.insert(root);
        });
    }

    /// Says how often a component has met an item, this time included.
    pub fn met(&self, node: usize, id: Id) -> u32 {
        self.with(|pages| {
            let met = pages.met.entry((node, id)).or_default();
            *met += 1;
            *met
        })
    }

    pub fn came(&self, place: Place, epoch: Epoch, item: Item) {
        self.with(|pages| {
            let closed = pages.closed.get(&(place.node, place.incarnation));
            if closed.is_some_and(|&closed| epoch < closed) {
                pages.wrong.push(format!("{item:?} of {epoch} came to {place:?} after its close"));
            }
            let mark = pages.next.get(&place).and_then(|(_, mark)| *mark);
            if mark.is_some_and(|mark| item.time < mark) {
                pages.wrong.push(format!("{item:?} came to {place:?} below {mark:?}"));
            }
        });
    }

    pub fn executed(&self, place: Place, item: Item) {
        self.with(|pages| add(pages.states.entry(place).or_default(), item));
    }

    pub fn closed(&self, place: Place, epoch: Epoch, mark: Watermark) {
        self.with(|pages| {
            let (next, last) = pages.next.entry(place).or_insert((epoch, None));
            if *next != epoch {
                pages.wrong.push(format!("{place:?} closes {epoch} where {next} is next"));
            }
            if mark < *last {
                pages.wrong.push(format!("the watermark of {place:?} fell: {last:?}, {mark:?}"));
            }
            (*next, *last) = (epoch + 1, mark);
            let closed = pages.closed.entry((place.node, place.incarnation)).or_default();
            *closed = (epoch + 1).max(*closed);
        });
    }

    pub fn total(&self, place: Place, epoch: Epoch, total: Item) {
        self.with(|pages| {
            add(pages.totals.entry((place.node, place.incarnation, epoch)).or_default(), total);
        });
    }

    /// What was wrong as the components saw it.
    pub fn wrong(&self) -> Vec<String> {
        self.with(|pages| pages.wrong.clone())
    }

    /// Roots that spouts emitted.
    pub fn roots(&self) -> BTreeSet<u64> {
        self.with(|pages| pages.roots.clone())
    }

    /// What each task of a component has in its last incarnation.
    pub fn by_task(&self, node: usize) -> BTreeMap<u32, Bag> {
        self.with(|pages| {
            let mut tasks = BTreeMap::new();
            // In order of incarnation: the last one stays.
            for (place, state) in pages.states.iter().filter(|(place, _)| place.node == node) {
                tasks.insert(place.task, state.clone());
            }
            tasks
        })
    }

    /// What a component has in its last incarnation, all tasks together.
    pub fn state(&self, node: usize) -> Bag {
        merged(self.by_task(node).into_values())
    }

    /// What a component emitted in `close`, all epochs of the last incarnation together.
    pub fn totals(&self, node: usize) -> Bag {
        self.with(|pages| {
            let of = |(n, _, _): &&(usize, u64, Epoch)| *n == node;
            let last = pages.totals.keys().filter(of).map(|(_, incarnation, _)| *incarnation).max();
            let mine = pages.totals.iter().filter(|((n, i, _), _)| *n == node && Some(*i) == last);
            merged(mine.map(|(_, bag)| bag.clone()))
        })
    }
}

/// The sum of some bags.
pub fn merged(bags: impl IntoIterator<Item = Bag>) -> Bag {
    let mut all = Bag::new();
    for bag in bags {
        bag.iter().map(Item::of).for_each(|item| add(&mut all, item));
    }
    all
}
