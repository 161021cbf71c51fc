//! What the components of a run saw, and what was wrong with it as they saw it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use streamwright::{Epoch, TaskContext, Watermark};

use crate::case::Case;
use crate::parts::{Id, Item, root_of};
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
    /// Roots that spouts emitted, with their epochs, by incarnation.
    roots: BTreeMap<u64, BTreeMap<u64, Epoch>>,
    /// The last incarnation that opened a task.
    last: u64,
    met: BTreeMap<(usize, Id), u32>,
    /// By task, the next epoch to close and the last watermark.
    next: BTreeMap<Place, (Epoch, Watermark)>,
    /// By component and incarnation, what no tuple may be below any more.
    closed: BTreeMap<(usize, u64), Epoch>,
    /// Tasks of bolts.
    tasks: usize,
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
        pages.tasks = pages.next.len();
        Book(Arc::new(Mutex::new(pages)))
    }

    fn with<T>(&self, f: impl FnOnce(&mut Pages) -> T) -> T {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn emitted(&self, place: Place, epoch: Epoch, root: u64) {
        self.with(|pages| {
            let mine = pages.next.iter().filter(|(of, _)| of.incarnation == place.incarnation);
            let closes = mine.map(|(_, (next, _))| *next);
            // A later incarnation begins somewhere: it is known when all have closed something.
            let known = closes.clone().count() == pages.tasks;
            let closed = closes.min().filter(|_| known).unwrap_or(epoch);
            if epoch >= closed + pages.window {
                pages.wrong.push(format!("{place:?} stamps {epoch} where {closed} is not closed"));
            }
            pages.roots.entry(place.incarnation).or_default().insert(root, epoch);
        });
    }

    /// A task is opened.
    pub fn opened(&self, place: Place) {
        self.with(|pages| pages.last = place.incarnation.max(pages.last));
    }

    /// Where a record of a spout's task stands that none was emitted behind, of any incarnation.
    pub fn behind_all(&self, place: Place) -> u64 {
        let from = root_of(place.node, place.task, 0);
        self.with(|pages| {
            let of_task = |roots: &BTreeMap<u64, Epoch>| {
                roots.range(from..from + (1 << 32)).next_back().map(|(root, _)| root - from + 1)
            };
            pages.roots.values().filter_map(of_task).max().unwrap_or(0)
        })
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

    /// Roots that the spouts of the last incarnation emitted.
    pub fn roots(&self) -> BTreeSet<u64> {
        self.with(|pages| {
            let last = pages.roots.get(&pages.last);
            last.map(|roots| roots.keys().copied().collect()).unwrap_or_default()
        })
    }

    /// Roots that the spouts of an incarnation emitted, with their epochs.
    pub fn roots_of(&self, incarnation: u64) -> BTreeMap<u64, Epoch> {
        self.with(|pages| pages.roots.get(&incarnation).cloned().unwrap_or_default())
    }

    /// The last incarnation that opened a task.
    pub fn last(&self) -> u64 {
        self.with(|pages| pages.last)
    }

    /// What each task of a component has in the last incarnation.
    pub fn by_task(&self, node: usize) -> BTreeMap<u32, Bag> {
        self.with(|pages| {
            let mine = |place: &Place| place.node == node && place.incarnation == pages.last;
            let states = pages.states.iter().filter(|(place, _)| mine(place));
            states.map(|(place, state)| (place.task, state.clone())).collect()
        })
    }

    /// What a component has had in all incarnations together.
    pub fn state_of_all(&self, node: usize) -> Bag {
        self.with(|pages| {
            let mine = pages.states.iter().filter(|(place, _)| place.node == node);
            merged(mine.map(|(_, bag)| bag.clone()))
        })
    }

    /// What a component has in its last incarnation, all tasks together.
    pub fn state(&self, node: usize) -> Bag {
        merged(self.by_task(node).into_values())
    }

    /// What a component emitted in `close`, all epochs of the last incarnation together.
    pub fn totals(&self, node: usize) -> Bag {
        self.totals_of(node, self.last(), 0..Epoch::MAX)
    }

    /// What a component of an incarnation emitted as it closed these epochs.
    pub fn totals_of(&self, node: usize, incarnation: u64, epochs: Range<Epoch>) -> Bag {
        let (from, to) = ((node, incarnation, epochs.start), (node, incarnation, epochs.end));
        self.with(|pages| merged(pages.totals.range(from..to).map(|(_, bag)| bag.clone())))
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
