//! What is true of a case: computed in one pass, component by component, without epochs, tasks in
//! parallel, or attempts.

use std::collections::BTreeMap;

use streamwright::{hash_key, slot_of};

use crate::case::{BoltCase, Case, How, Kind, SpoutCase};
use crate::parts::{Id, Item, root_of};

/// Items by identity, with the sum of their weights.
pub type Bag = BTreeMap<Id, u64>;

pub fn add(bag: &mut Bag, item: Item) {
    *bag.entry(item.id()).or_default() += item.weight;
}

/// The final state of every bolt.
#[derive(Clone, Debug)]
pub struct Truth {
    /// What each bolt has taken in, by its number among all components.
    pub taken: BTreeMap<usize, Bag>,
    /// The same by task, of bolts whose every input is routed by a function of the tuple.
    pub by_task: BTreeMap<usize, Vec<Bag>>,
    /// What each bolt emits in `close`, all epochs together.
    pub closed: BTreeMap<usize, Bag>,
}

impl Truth {
    pub fn of(case: &Case) -> Self {
        Self::of_roots(case, |_| true)
    }

    /// The truth if only these roots had ever been emitted.
    pub fn of_roots(case: &Case, emitted: impl Fn(u64) -> bool) -> Self {
        let mut streams: Vec<Bag> = (0..case.spouts.len())
            .map(|spout| {
                let mut bag = Bag::new();
                records(case, spout).filter(|i| emitted(i.root)).for_each(|i| add(&mut bag, i));
                bag
            })
            .collect();
        let (mut taken, mut by_task, mut closed) =
            (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for (node, bolt) in case.bolts() {
            let (mut all, mut tasks) = (Bag::new(), Some(vec![Bag::new(); bolt.tasks as usize]));
            for (from, how) in &bolt.inputs {
                for item in streams[*from].iter().map(Item::of) {
                    match route(how, bolt.tasks, case.settings.slot_bits, item) {
                        Some(to) => {
                            for task in to {
                                add(&mut all, item);
                                if let Some(tasks) = &mut tasks {
                                    add(&mut tasks[task as usize], item);
                                }
                            }
                        }
                        None => {
                            tasks = None;
                            add(&mut all, item);
                        }
                    }
                }
                if !routed_by_tuple(how) {
                    tasks = None;
                }
            }
            let (now, at_close) = emits(node, bolt, &all);
            let mut stream = now;
            at_close.iter().map(Item::of).for_each(|item| add(&mut stream, item));
            streams.push(stream);
            taken.insert(node, all);
            closed.insert(node, at_close);
            by_task.extend(tasks.map(|tasks| (node, tasks)));
        }
        Truth { taken, by_task, closed }
    }

    /// Tuples that bolts execute, where every total of an epoch counts for one record of it.
    pub fn executed(&self) -> u64 {
        self.taken.values().flat_map(BTreeMap::values).sum()
    }
}

/// All records of a spout.
fn records(case: &Case, spout: usize) -> impl Iterator<Item = Item> + '_ {
    let SpoutCase { tasks, records } = &case.spouts[spout];
    (0..*tasks).flat_map(move |task| {
        (0..).zip(records).map(move |(i, record)| Item {
            root: root_of(spout, task, i),
            key: record.key,
            path: 0,
            weight: 1,
            time: record.time,
        })
    })
}

fn routed_by_tuple(how: &How) -> bool {
    matches!(how, How::Fields | How::Combined(_) | How::All | How::Global | How::Direct)
}

/// The tasks that a tuple goes to, where that is a function of the tuple.
fn route(how: &How, tasks: u32, bits: u32, item: Item) -> Option<Vec<u32>> {
    match how {
        How::Fields | How::Combined(_) => {
            // Slots are dealt to the tasks in equal stretches.
            let slot = u64::from(slot_of(hash_key(&item.key), bits));
            Some(vec![u32::try_from((slot * u64::from(tasks)) >> bits).unwrap()])
        }
        How::All => Some((0..tasks).collect()),
        How::Global => Some(vec![0]),
        How::Direct => Some(vec![item.direct(tasks)]),
        How::Shuffle | How::Local | How::Weighted(_) => None,
    }
}

/// What a bolt emits for these items in `execute`, and in `close`.
fn emits(node: usize, bolt: &BoltCase, taken: &Bag) -> (Bag, Bag) {
    let (mut now, mut at_close) = (Bag::new(), Bag::new());
    for item in taken.iter().map(Item::of) {
        match bolt.kind {
            Kind::Map { .. } | Kind::Count => {
                item.copies(node, bolt.kind).for_each(|copy| add(&mut now, copy));
            }
            Kind::Window => add(&mut at_close, Item::total(node, item.key, item.weight)),
            Kind::Global => add(&mut at_close, Item::total(node, 0, item.weight)),
            Kind::Sink => {}
        }
    }
    (now, at_close)
}
